/* SPDX-License-Identifier: MIT */
/* Overwritable rings of a set on this kernel: the contents of their snapshots,
 * while targets come and go, and after their end. */
#include "live_flight.h"
#include "live_offline_cpu.h"

/* -- rings that have gone round ------------------------------------------- */

static void begin_own(uv_loop_t *loop, live_flight_t *flight, uint32_t flags) {
  live_plan_t plan;

  live_flight_plan(&plan, 1);
  live_stream_plan_comm(&plan);
  live_stream_plan_target(&plan, UVPERF_TARGET_SELF, 0);
  plan.options.flags |= flags;
  live_flight_begin(loop, flight, &plan);
}

/* COMM: header, task, "live<n>" in 8 or 16 bytes, its id twice or its time; at
 * least and at most this number fit. */
static void expect_full(const live_flight_track_t *track) {
  assert_in_range(track->comms, support_page_bytes() / 72 - 1,
                  support_page_bytes() / 40);
  assert_int_equal(track->missing, 0);
  assert_int_equal(track->disordered, 0);
  assert_int_equal(track->inversions, 0);
}

static void set_snapshot_holds_the_newest_of_each_cpu(void **state) {
  uvperf_stats_t stats;
  live_flight_t flight;
  uint64_t next;
  size_t order, cpu;

  support_need_own_events(__func__);
  for (order = 0; order < 2; order++) {
    next = 1000;
    begin_own(*state, &flight, 0);
    for (cpu = 0; cpu < flight.nr_cpus; cpu++)
      live_flight_comm_on(&flight, cpu, &next, 1000);
    live_flight_snap(&flight, order == 0 ? 0 : UVPERF_SNAPSHOT_OLDEST_FIRST);
    for (cpu = 0; cpu < flight.nr_cpus; cpu++) {
      expect_full(&flight.tracks[cpu]);
      assert_int_equal(order == 0 ? flight.tracks[cpu].first
                                  : flight.tracks[cpu].last,
                       1999 + 1000 * cpu);
    }
    uvperf_stats(&flight.stream.live.set.handle, &stats);
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
  live_flight_t flight;
  uint64_t next = 1000;
  int i;

  support_need_own_events(__func__);
  begin_own(*state, &flight, UVPERF_SET_TIME_ORDER);
  for (i = 0; i < 400; i++)
    live_flight_comm_on(&flight, (size_t)i, &next, 1);
  live_flight_snap(&flight, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(flight.all.last, 1399);
  assert_int_equal(flight.all.inversions, 0);
  assert_int_equal(flight.all.disordered, 0);
  assert_in_range(flight.all.comms,
                  flight.nr_cpus * (support_page_bytes() / 72 - 1),
                  flight.nr_cpus * (support_page_bytes() / 40));
  /* The oldest record of one ring may be older than the other ring's. */
  assert_in_range(flight.all.missing, 0, 4);
  uvperf_stats(&flight.stream.live.set.handle, &stats);
  assert_int_equal(stats.late_records, 0);
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

  if (record->type == UVPERF_RECORD_NONE)
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

static void set_snapshot_of_the_side_band_shows_fork_to_exit(void **state) {
  live_child_t child;
  live_plan_t plan;
  live_flight_t flight;
  life_t life = {0};

  support_need_cpu_wide(__func__);
  live_flight_plan(&plan, 1024 * 1024);
  plan.options.side_band = UVPERF_SIDE_BAND_TASKS;
  plan.options.flags |= UVPERF_SET_TIME_ORDER;
  live_stream_plan_target(&plan, UVPERF_TARGET_CPUS, 0);
  live_flight_begin(*state, &flight, &plan);
  live_child_fork(&child, 4);
  live_child_go(&child);
  live_child_wait(&child);
  life.pid = (uint32_t)child.pid;
  flight.stream.on_record = see_life;
  flight.stream.hook_data = &life;
  live_flight_snap(&flight, 0);
  assert_int_equal(life.forks, 1);
  assert_int_equal(life.comms, 4);
  assert_int_equal(life.exits, 1);
  live_stream_close(&flight.stream);
}

/* The loop reports the end. Its records are still there then, and when the
 * target is removed. */
static void set_of_a_process_that_ended_has_its_records(void **state) {
  live_child_t child;
  live_plan_t plan;
  live_flight_t flight;
  size_t mode;

  support_need_own_events(__func__);
  for (mode = 0; mode < 2; mode++) {
    live_child_fork(&child, 40);
    live_flight_plan(&plan, 16384);
    live_stream_plan_comm(&plan);
    live_stream_plan_target(&plan, UVPERF_TARGET_PROCESS, child.pid);
    plan.options.flags |= UVPERF_SET_TIME_ORDER;
    live_flight_begin(*state, &flight, &plan);
    live_child_go(&child);
    assert_true(live_run_until(*state, &flight.stream.eofs, 1));
    assert_int_equal(flight.stream.nr_ends, 1);
    assert_int_equal(flight.stream.records, 0);
    flight.stream.eofs = 0;
    live_child_wait(&child);
    if (mode == 1)
      assert_int_equal(
          uvperf_set_remove(&flight.stream.live.set, 0, NULL, NULL), 0);
    live_flight_snap(&flight, UVPERF_SNAPSHOT_OLDEST_FIRST);
    assert_int_equal(flight.stream.comms, 40);
    assert_int_equal(flight.stream.out_of_order, 0);
    assert_true(flight.stream.by_target[0] >= 40);
    live_stream_close(&flight.stream);
  }
}

/* -- CPUs that are away --------------------------------------------------- */

static void set_snapshot_has_what_an_offline_cpu_wrote(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  live_plan_t plan;
  live_flight_t flight;
  uint64_t next = 1000;
  uvperf_stats_t stats;

  /* With room for other renames when a CPU changes. */
  live_flight_plan(&plan, 1 << 20);
  live_stream_plan_mode(&plan, 1);
  live_stream_plan_comm(&plan);
  live_stream_plan_target(&plan, UVPERF_TARGET_CPUS, 0);
  live_flight_begin(*state, &flight, &plan);
  flight.cpus[0] = cpu;
  flight.nr_cpus = 1;
  live_flight_comm_on(&flight, 0, &next, 1000);
  live_offline_cpu_take(cpu);
  live_flight_snap(&flight, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(flight.tracks[0].last, 1999);
  assert_int_equal(flight.tracks[0].missing, 0);
  do {
    live_run_ms(*state, 5); /* the set keeps no loop alive */
    uvperf_stats(&flight.stream.live.set.handle, &stats);
  } while (stats.cpus_gone == 0);
  live_offline_cpu_give_back(cpu);
  do {
    live_run_ms(*state, 5); /* the set keeps no loop alive */
    uvperf_stats(&flight.stream.live.set.handle, &stats);
  } while (stats.cpus_come == 0);
  live_flight_comm_on(&flight, 0, &next, 3);
  live_flight_snap(&flight, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(flight.tracks[0].first, 2000);
  assert_int_equal(flight.tracks[0].last, 2002);
  live_flight_snap(&flight, UVPERF_SNAPSHOT_OLDEST_FIRST | UVPERF_SNAPSHOT_ALL);
  assert_int_equal(flight.tracks[0].last, 2002);
  assert_true(flight.tracks[0].comms > 20);
  live_stream_close(&flight.stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_snapshot_holds_the_newest_of_each_cpu),
      support_loop_test(set_snapshot_in_time_order_is_of_all_cpus),
      support_loop_test(set_snapshot_of_the_side_band_shows_fork_to_exit),
      support_loop_test(set_of_a_process_that_ended_has_its_records),
      support_loop_test(set_snapshot_has_what_an_offline_cpu_wrote),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
