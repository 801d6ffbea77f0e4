/* SPDX-License-Identifier: MIT */
/* Overwritable rings of a set on this kernel, into which CPUs write as fast as
 * they can: the contents of their snapshots. */
#include "live_flight.h"
#include "live_thread.h"

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

static void writers_begin(const live_flight_t *flight, writer_t *writers) {
  size_t i;

  memset(writers, 0, LIVE_FLIGHT_CPUS * sizeof(*writers));
  for (i = 0; i < flight->nr_cpus; i++) {
    writers[i].cpu = flight->cpus[i];
    live_thread_start(&writers[i].thread, write_until_stopped, &writers[i]);
    live_thread_go(&writers[i].thread);
  }
}

static void writers_end(const live_flight_t *flight, writer_t *writers) {
  size_t i;

  for (i = 0; i < flight->nr_cpus; i++) {
    __atomic_store_n(&writers[i].stop, 1, __ATOMIC_RELAXED);
    live_thread_wait(&writers[i].thread);
    live_thread_end(&writers[i].thread);
  }
}

/* Missing records were written during a snapshot, and are reported. */
static void check_tracks(const live_flight_t *flight, int is_ordered) {
  uvperf_stats_t stats;
  size_t i;

  for (i = 0; i < flight->nr_cpus; i++) {
    assert_int_equal(flight->tracks[i].disordered, 0);
    assert_true(flight->tracks[i].missing <= flight->tracks[i].lost);
  }
  uvperf_stats(&flight->stream.live.set.handle, &stats);
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
  live_flight_plan(plan, ring_bytes);
  live_stream_plan_mode(plan, mode);
  live_stream_plan_comm(plan);
  live_stream_plan_target(plan, UVPERF_TARGET_CPUS, 0);
}

/* Replaces the only target: all records are then of the new one. */
static void change_target(live_flight_t *flight) {
  uvperf_set_t *set = &flight->stream.live.set;
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = UVPERF_TARGET_CPUS;
  assert_int_equal(uvperf_set_remove(set, flight->target, NULL, NULL), 0);
  target.data = (void *)(uintptr_t)(flight->target + 2);
  assert_int_equal(uvperf_set_add(set, &target, NULL, &flight->target, NULL),
                   0);
}

/* Until each ring of a writer has news, or has wrapped. */
static void wait_for_news(const live_flight_t *flight, int is_for_all) {
  uvperf_ring_info_t ring;
  uint64_t enough;
  size_t i;

  for (i = 0; i < uvperf_nr_rings(&flight->stream.live.set.handle); i++) {
    do {
      assert_int_equal(uvperf_ring(&flight->stream.live.set.handle, i, &ring),
                       0);
      enough = is_for_all ? ring.bytes : 1;
      if (live_flight_cpu_index(flight, ring.cpu) == LIVE_FLIGHT_CPUS ||
          ring.waiting >= enough)
        break;
      sched_yield();
    } while (1);
  }
}

static void churn(live_flight_t *flight, size_t mode, size_t nr) {
  uint32_t flags;
  size_t i;

  for (i = 0; i < nr; i++) {
    wait_for_news(flight, i % 2 == 1);
    flags = snapshot_flags[i % (sizeof(snapshot_flags) / sizeof(flags))];
    if (mode == 1)
      flags |= UVPERF_SNAPSHOT_OLDEST_FIRST;
    live_flight_snap(flight, flags);
    check_tracks(flight, mode == 1);
  }
}

static void fly(uv_loop_t *loop, size_t ring_bytes, size_t mode,
                int is_on_pool) {
  uvperf_stats_t stats;
  writer_t writers[LIVE_FLIGHT_CPUS];
  live_plan_t plan;
  live_flight_t flight;

  churn_plan(&plan, ring_bytes, mode);
  live_flight_begin(loop, &flight, &plan);
  flight.is_on_pool = is_on_pool;
  writers_begin(&flight, writers);
  churn(&flight, mode, 14);
  if (is_on_pool)
    flight.meanwhile = change_target;
  while (flight.target < 4) {
    change_target(&flight);
    churn(&flight, mode, 2);
  }
  writers_end(&flight, writers);
  assert_true(flight.stream.by_target[0] > 0);
  assert_true(flight.stream.records > flight.stream.by_target[0]);
  uvperf_stats(&flight.stream.live.set.handle, &stats);
  assert_int_equal(stats.corrupt, 0);
  live_stream_close(&flight.stream);
}

static void set_snapshots_of_hot_rings_are_whole(void **state) {
  const size_t sizes[] = {1, 65536, 256 * 1024};
  size_t mode, size;

  support_need_cpu_wide(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++)
    for (size = 0; size < 3; size++)
      fly(*state, sizes[size], mode, 0);
}

static void set_snapshots_of_hot_rings_on_the_pool_are_whole(void **state) {
  size_t mode;

  support_need_cpu_wide(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    fly(*state, 1, mode, 1);
    fly(*state, 256 * 1024, mode, 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_snapshots_of_hot_rings_are_whole),
      support_loop_test(set_snapshots_of_hot_rings_on_the_pool_are_whole),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
