/* SPDX-License-Identifier: MIT */
/* Overwritable rings of a set on this kernel: what snapshots of them hold,
 * while CPUs write as fast as they can, targets come and go, and after their
 * end. */
#include "live_stream.h"
#include "live_thread.h"
#include "offline_cpu.h"

#include <unistd.h>

/* What came of one ring in one snapshot: COMM records "live<n>" of one thread
 * of this process, that stays on its CPU. */
typedef struct track_s {
  int has_comm;
  uint64_t first; /* in the order in which they came */
  uint64_t last;
  uint64_t comms;
  uint64_t missing; /* numbers between two that came of one target */
  uint32_t target;
  uint64_t lost;
  uint64_t disordered;
  uint64_t time;
  uint64_t inversions;
} track_t;

#define CPUS 2

typedef struct flight_s {
  live_stream_t stream; /* first: the set's `data` is its address */
  int newest_first;
  size_t nr_cpus;
  int cpus[CPUS];
  track_t tracks[CPUS];
  uint64_t strange; /* what no test has caused, or is not whole */
  /* In the order in which it came, of whatever ring. */
  track_t all;
} flight_t;

/* Between two targets nobody has written. */
static void follow_number(track_t *track, uint64_t number, uint32_t target,
                          int newest_first) {
  uint64_t older = newest_first ? number : track->last;
  uint64_t newer = newest_first ? track->last : number;

  if (!track->has_comm)
    track->first = number;
  else if (newer <= older)
    track->disordered += 1;
  else if (target == track->target)
    track->missing += newer - older - 1;
  track->has_comm = 1;
  track->last = number;
  track->target = target;
  track->comms += 1;
}

static void follow(track_t *track, const uvperf_record_t *record,
                   int newest_first) {
  if (record->type == PERF_RECORD_LOST)
    track->lost += record->lost.lost;
  if (track->time != 0)
    track->inversions +=
        newest_first ? record->time > track->time : record->time < track->time;
  track->time = record->time;
  if (record->type == PERF_RECORD_COMM && record->pid == (uint32_t)getpid() &&
      strncmp(record->comm.comm, "live", 4) == 0)
    follow_number(track, strtoull(record->comm.comm + 4, NULL, 10),
                  record->source->target_index, newest_first);
}

static size_t cpu_index(const flight_t *flight, int32_t cpu) {
  size_t i;

  for (i = 0; i < flight->nr_cpus; i++)
    if (flight->cpus[i] == cpu)
      return i;
  return CPUS;
}

static void on_record(live_stream_t *stream, const uvperf_record_t *record) {
  flight_t *flight = (flight_t *)stream;
  size_t cpu;

  if (record == NULL)
    return;
  flight->strange += record->source == NULL;
  if (record->source == NULL)
    return;
  cpu = cpu_index(flight, record->source->cpu);
  if (cpu < CPUS)
    follow(&flight->tracks[cpu], record, flight->newest_first);
  follow(&flight->all, record, flight->newest_first);
}

static void snap(flight_t *flight, uint32_t flags) {
  memset(flight->tracks, 0, sizeof(flight->tracks));
  memset(&flight->all, 0, sizeof(flight->all));
  flight->newest_first = !(flags & UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(uvperf_set_snapshot(&flight->stream.live.set, flags), 0);
  assert_int_equal(flight->strange, 0);
  assert_int_equal(flight->stream.foreign, 0);
  assert_int_equal(flight->stream.corrupt, 0);
  assert_int_equal(flight->stream.faults, 0);
}

static void plan_flight(live_plan_t *plan, size_t ring_bytes) {
  live_stream_plan(plan);
  plan->options.flags |= UVPERF_SET_OVERWRITE;
  plan->options.wakeup_bytes = 0;
  plan->options.ring_bytes = ring_bytes;
}

static void begin(uv_loop_t *loop, flight_t *flight, const live_plan_t *plan) {
  memset(flight, 0, sizeof(*flight));
  live_stream_begin(loop, &flight->stream, plan);
  flight->stream.on_record = on_record;
  flight->nr_cpus = live_cpus(flight->cpus, CPUS);
}

/* So many COMM records of the calling thread on one CPU. */
static void comm_on(const flight_t *flight, size_t cpu, uint64_t *next,
                    uint64_t nr) {
  cpu_set_t old;

  live_pin(flight->cpus[cpu % flight->nr_cpus], &old);
  live_comm(next, nr);
  live_unpin(&old);
}

/* -- rings that have gone round ------------------------------------------- */

static void begin_own(uv_loop_t *loop, flight_t *flight, uint32_t flags) {
  live_plan_t plan;

  plan_flight(&plan, 1);
  live_stream_plan_comm(&plan);
  live_stream_plan_target(&plan, UVPERF_TARGET_SELF, 0);
  plan.options.flags |= flags;
  begin(loop, flight, &plan);
}

/* COMM: header, task, "live<n>" in 8 or 16 bytes, its id twice or its time;
 * so many fit at least, and at most. */
static void expect_full(const track_t *track) {
  assert_in_range(track->comms, support_page_bytes() / 72 - 1,
                  support_page_bytes() / 40);
  assert_int_equal(track->missing, 0);
  assert_int_equal(track->disordered, 0);
  assert_int_equal(track->inversions, 0);
}

static void set_snapshot_holds_the_newest_of_each_cpu(void **state) {
  uvperf_stats_t stats;
  flight_t flight;
  uint64_t next;
  size_t order, cpu;

  support_need_own_events(__func__);
  for (order = 0; order < 2; order++) {
    next = 1000;
    begin_own(*state, &flight, 0);
    for (cpu = 0; cpu < flight.nr_cpus; cpu++)
      comm_on(&flight, cpu, &next, 1000);
    snap(&flight, order == 0 ? 0 : UVPERF_SNAPSHOT_OLDEST_FIRST);
    for (cpu = 0; cpu < flight.nr_cpus; cpu++) {
      expect_full(&flight.tracks[cpu]);
      assert_int_equal(order == 0 ? flight.tracks[cpu].first
                                  : flight.tracks[cpu].last,
                       1999 + 1000 * cpu);
    }
    uvperf_set_stats(&flight.stream.live.set, &stats);
    assert_int_equal(stats.records, flight.stream.records);
    assert_int_equal(stats.high_water_bytes, support_page_bytes());
    assert_in_range(stats.cut_records, 0, flight.nr_cpus);
    assert_int_equal(stats.wakeups, 0);
    live_stream_close(&flight.stream);
  }
}

/* Each is of one CPU more than the one before it. */
static void set_snapshot_in_time_order_is_of_all_cpus(void **state) {
  uvperf_stats_t stats;
  flight_t flight;
  uint64_t next = 1000;
  int i;

  support_need_own_events(__func__);
  begin_own(*state, &flight, UVPERF_SET_TIME_ORDER);
  for (i = 0; i < 400; i++)
    comm_on(&flight, (size_t)i, &next, 1);
  snap(&flight, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(flight.all.last, 1399);
  assert_int_equal(flight.all.inversions, 0);
  assert_int_equal(flight.all.disordered, 0);
  assert_in_range(flight.all.comms,
                  flight.nr_cpus * (support_page_bytes() / 72 - 1),
                  flight.nr_cpus * (support_page_bytes() / 40));
  /* The oldest of one ring may be older than those of the other. */
  assert_in_range(flight.all.missing, 0, 4);
  uvperf_set_stats(&flight.stream.live.set, &stats);
  assert_int_equal(stats.late_records, 0);
  live_stream_close(&flight.stream);
}

static void set_snapshots_give_what_is_new_or_all(void **state) {
  flight_t flight;
  uint64_t next = 1000;
  uint64_t full;

  support_need_own_events(__func__);
  begin_own(*state, &flight, 0);
  comm_on(&flight, 0, &next, 1000);
  snap(&flight, 0);
  expect_full(&flight.tracks[0]);
  full = flight.tracks[0].comms;
  comm_on(&flight, 0, &next, 3);
  snap(&flight, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(flight.tracks[0].comms, 3);
  assert_int_equal(flight.tracks[0].first, 2000);
  assert_int_equal(flight.tracks[0].last, 2002);
  snap(&flight, 0);
  assert_int_equal(flight.all.comms, 0);
  snap(&flight, UVPERF_SNAPSHOT_ALL);
  expect_full(&flight.tracks[0]);
  assert_int_equal(flight.tracks[0].first, 2002);
  assert_in_range(flight.tracks[0].comms, full - 1, full + 1);
  /* Also when it is stopped, and nothing more is written. */
  assert_int_equal(uvperf_set_stop(&flight.stream.live.set), 0);
  comm_on(&flight, 0, &next, 3);
  snap(&flight, UVPERF_SNAPSHOT_ALL);
  assert_int_equal(flight.tracks[0].first, 2002);
  live_stream_close(&flight.stream);
}

/* -- side-band, and the end of targets ------------------------------------ */

typedef struct life_s {
  uint32_t pid;
  uint64_t forks;
  uint64_t comms;
  uint64_t exits;
} life_t;

static void see_life(live_stream_t *stream, const uvperf_record_t *record) {
  life_t *life = stream->hook_data;

  if (record == NULL)
    return;
  if (record->type == PERF_RECORD_FORK)
    life->forks += record->task.pid == life->pid;
  if (record->type == PERF_RECORD_EXIT && record->task.pid == life->pid) {
    life->exits += 1;
    assert_int_equal(life->forks, 1);
  }
  if (record->type == PERF_RECORD_COMM)
    life->comms += record->pid == life->pid;
}

static void set_snapshot_of_the_side_band_tells_a_life(void **state) {
  live_child_t child;
  live_plan_t plan;
  flight_t flight;
  life_t life = {0};

  support_need_cpu_wide(__func__);
  plan_flight(&plan, 1024 * 1024);
  plan.options.side_band = UVPERF_SIDE_BAND_TASKS;
  plan.options.flags |= UVPERF_SET_TIME_ORDER;
  live_stream_plan_target(&plan, UVPERF_TARGET_CPUS, 0);
  begin(*state, &flight, &plan);
  live_child_fork(&child, 4);
  live_child_go(&child);
  live_child_wait(&child);
  life.pid = (uint32_t)child.pid;
  flight.stream.on_record = see_life;
  flight.stream.hook_data = &life;
  snap(&flight, 0);
  assert_int_equal(life.forks, 1);
  assert_int_equal(life.comms, 4);
  assert_int_equal(life.exits, 1);
  live_stream_close(&flight.stream);
}

/* It is told by the loop; what it wrote is still there then, and when the
 * target is removed. */
static void set_of_a_process_that_ended_has_its_records(void **state) {
  live_child_t child;
  live_plan_t plan;
  flight_t flight;
  size_t mode;

  support_need_own_events(__func__);
  for (mode = 0; mode < 2; mode++) {
    live_child_fork(&child, 40);
    plan_flight(&plan, 16384);
    live_stream_plan_comm(&plan);
    live_stream_plan_target(&plan, UVPERF_TARGET_PROCESS, child.pid);
    plan.options.flags |= UVPERF_SET_TIME_ORDER;
    begin(*state, &flight, &plan);
    live_child_go(&child);
    assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
    assert_int_equal(flight.stream.eofs, 1);
    assert_int_equal(flight.stream.nr_ends, 1);
    assert_int_equal(flight.stream.records, 0);
    flight.stream.eofs = 0;
    live_child_wait(&child);
    if (mode == 1)
      assert_int_equal(uvperf_set_remove_target(&flight.stream.live.set, 0), 0);
    snap(&flight, UVPERF_SNAPSHOT_OLDEST_FIRST);
    assert_int_equal(flight.stream.comms, 40);
    assert_int_equal(flight.stream.out_of_order, 0);
    assert_true(flight.stream.by_target[0] >= 40);
    live_stream_close(&flight.stream);
  }
}

/* -- as fast as they can -------------------------------------------------- */

typedef struct writer_s {
  live_thread_t thread;
  int cpu;
  int stop;
  uint64_t next;
} writer_t;

static void write_until_stopped(void *arg) {
  writer_t *writer = arg;
  cpu_set_t old;

  live_pin(writer->cpu, &old);
  while (!__atomic_load_n(&writer->stop, __ATOMIC_RELAXED))
    live_comm(&writer->next, 16);
  live_unpin(&old);
}

static void writers_begin(const flight_t *flight, writer_t *writers) {
  size_t i;

  memset(writers, 0, CPUS * sizeof(*writers));
  for (i = 0; i < flight->nr_cpus; i++) {
    writers[i].cpu = flight->cpus[i];
    live_thread_start(&writers[i].thread, write_until_stopped, &writers[i]);
    live_thread_go(&writers[i].thread);
  }
}

static void writers_end(const flight_t *flight, writer_t *writers) {
  size_t i;

  for (i = 0; i < flight->nr_cpus; i++) {
    __atomic_store_n(&writers[i].stop, 1, __ATOMIC_RELAXED);
    live_thread_wait(&writers[i].thread);
    live_thread_end(&writers[i].thread);
  }
}

/* What is missing was written while a snapshot was taken, and is told. */
static void check_tracks(const flight_t *flight, int is_ordered) {
  uvperf_stats_t stats;
  size_t i;

  for (i = 0; i < flight->nr_cpus; i++) {
    assert_int_equal(flight->tracks[i].disordered, 0);
    assert_true(flight->tracks[i].missing <= flight->tracks[i].lost);
  }
  uvperf_set_stats(&flight->stream.live.set, &stats);
  if (is_ordered)
    assert_true(flight->all.inversions <= stats.late_records);
}

static const uint32_t snapshot_flags[] = {
    UVPERF_SNAPSHOT_OLDEST_FIRST,
    0,
    UVPERF_SNAPSHOT_OLDEST_FIRST | UVPERF_SNAPSHOT_NO_WAIT,
    UVPERF_SNAPSHOT_NO_WAIT,
    UVPERF_SNAPSHOT_OLDEST_FIRST | UVPERF_SNAPSHOT_ALL,
    UVPERF_SNAPSHOT_ALL,
    UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_NO_WAIT,
};

static void churn_plan(live_plan_t *plan, size_t ring_bytes, size_t mode) {
  plan_flight(plan, ring_bytes);
  live_stream_plan_mode(plan, mode);
  live_stream_plan_comm(plan);
  live_stream_plan_target(plan, UVPERF_TARGET_CPUS, 0);
}

/* With no target but its events another, and all of what is there is its. */
static void change_target(flight_t *flight, uint32_t *index) {
  uvperf_set_t *set = &flight->stream.live.set;
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = UVPERF_TARGET_CPUS;
  assert_int_equal(uvperf_set_remove_target(set, *index), 0);
  target.data = (void *)(uintptr_t)(*index + 2);
  assert_int_equal(uvperf_set_add_target(set, &target, index, NULL), 0);
}

/* Until each ring of a writer has news, or has gone round. */
static void wait_for_news(const flight_t *flight, int is_for_all) {
  uvperf_ring_info_t ring;
  uint64_t enough;
  size_t i;

  for (i = 0; i < uvperf_set_nr_rings(&flight->stream.live.set); i++) {
    do {
      assert_int_equal(uvperf_set_ring(&flight->stream.live.set, i, &ring), 0);
      enough = is_for_all ? ring.bytes : 1;
      if (cpu_index(flight, ring.cpu) == CPUS || ring.waiting >= enough)
        break;
      sched_yield();
    } while (1);
  }
}

static void churn(flight_t *flight, size_t mode, size_t nr) {
  uint32_t flags;
  size_t i;

  for (i = 0; i < nr; i++) {
    wait_for_news(flight, i % 2 == 1);
    flags = snapshot_flags[i % (sizeof(snapshot_flags) / sizeof(flags))];
    if (mode == 1)
      flags |= UVPERF_SNAPSHOT_OLDEST_FIRST;
    snap(flight, flags);
    check_tracks(flight, mode == 1);
  }
}

static void set_snapshots_of_hot_rings_are_whole(void **state) {
  const size_t sizes[] = {1, 65536, 1024 * 1024};
  uvperf_stats_t stats;
  writer_t writers[CPUS];
  live_plan_t plan;
  flight_t flight;
  size_t mode, size;
  uint32_t index;

  support_need_cpu_wide(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++)
    for (size = 0; size < 3; size++) {
      churn_plan(&plan, sizes[size], mode);
      begin(*state, &flight, &plan);
      writers_begin(&flight, writers);
      churn(&flight, mode, 14);
      for (index = 0; index < 4;) {
        change_target(&flight, &index);
        churn(&flight, mode, 2);
      }
      writers_end(&flight, writers);
      assert_true(flight.stream.by_target[0] > 0);
      assert_true(flight.stream.by_target[1] > 0);
      uvperf_set_stats(&flight.stream.live.set, &stats);
      assert_int_equal(stats.corrupt, 0);
      live_stream_close(&flight.stream);
    }
}

/* -- CPUs that are away --------------------------------------------------- */

static void set_snapshot_has_what_an_offline_cpu_wrote(void **state) {
  int cpu = offline_cpu_need(__func__);
  live_plan_t plan;
  flight_t flight;
  uint64_t next = 1000;
  uvperf_stats_t stats;

  churn_plan(&plan, 1, 1);
  plan.options.flags |= UVPERF_SET_FOLLOW_CPUS;
  begin(*state, &flight, &plan);
  flight.cpus[0] = cpu;
  flight.nr_cpus = 1;
  comm_on(&flight, 0, &next, 1000);
  offline_cpu_take(cpu);
  snap(&flight, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(flight.tracks[0].last, 1999);
  assert_int_equal(flight.tracks[0].missing, 0);
  do {
    uv_run(*state, UV_RUN_ONCE);
    uvperf_set_stats(&flight.stream.live.set, &stats);
  } while (stats.cpus_gone == 0);
  offline_cpu_give_back(cpu);
  do {
    uv_run(*state, UV_RUN_ONCE);
    uvperf_set_stats(&flight.stream.live.set, &stats);
  } while (stats.cpus_come == 0);
  comm_on(&flight, 0, &next, 3);
  snap(&flight, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(flight.tracks[0].first, 2000);
  assert_int_equal(flight.tracks[0].last, 2002);
  snap(&flight, UVPERF_SNAPSHOT_OLDEST_FIRST | UVPERF_SNAPSHOT_ALL);
  assert_int_equal(flight.tracks[0].last, 2002);
  assert_true(flight.tracks[0].comms > 20);
  live_stream_close(&flight.stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_snapshot_holds_the_newest_of_each_cpu),
      support_loop_test(set_snapshot_in_time_order_is_of_all_cpus),
      support_loop_test(set_snapshots_give_what_is_new_or_all),
      support_loop_test(set_snapshot_of_the_side_band_tells_a_life),
      support_loop_test(set_of_a_process_that_ended_has_its_records),
      support_loop_test(set_snapshots_of_hot_rings_are_whole),
      support_loop_test(set_snapshot_has_what_an_offline_cpu_wrote),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
