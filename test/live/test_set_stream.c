/* SPDX-License-Identifier: MIT */
/* Live: the records of a set on a loop, ring by ring and in the order of time:
 * their sources, start and stop. When they come is in test_set_stream_turn.c,
 * how targets end in test_set_stream_end.c. */
#include "live_stream.h"

#include <sys/syscall.h>

/* -- records -------------------------------------------------------------- */

static void set_records_come_with_their_attr_and_target(void **state) {
  live_stream_t stream;
  uvperf_stats_t stats;
  uint64_t next = 0;
  live_plan_t plan;
  size_t mode;

  support_need_own_events(__func__);
  live_stream_plan(&plan);
  live_touch_attr(live_plan_attr(&plan), PERF_SAMPLE_TID);
  live_stream_plan_comm(&plan);
  live_stream_plan_target(&plan, UVPERF_TARGET_SELF, 0);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    live_stream_plan_mode(&plan, mode);
    next = 0;
    live_stream_begin(*state, &stream, &plan);
    live_stream_comm(&next, 5);
    assert_true(live_run_until(*state, &stream.comms, 5));
    assert_int_equal(stream.out_of_order, 0);
    assert_int_equal(stream.foreign, 0);
    assert_int_equal(stream.by_attr[1], 5);
    assert_int_equal(stream.by_attr[0], stream.samples);
    assert_int_equal(stream.by_target[0], stream.records);
    uvperf_stats(&stream.live.set.handle, &stats);
    assert_int_equal(stats.records, stream.records);
    assert_int_equal(stats.corrupt, 0);
    assert_true(stats.bytes >= stream.records * 16);
    assert_true(stats.slices >= 1);
    assert_true(stats.high_water_bytes >= 16);
    live_stream_close(&stream);
  }
}

/* How many of these fds the loop polls: proc_pid_fdinfo(5). */
static size_t count_polled(uv_loop_t *loop, const int *fds, size_t nr_fds) {
  char path[64], line[256];
  size_t nr = 0;
  FILE *file;
  size_t i;
  int fd;

  snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", uv_backend_fd(loop));
  file = fopen(path, "r");
  assert_non_null(file);
  while (fgets(line, sizeof(line), file) != NULL)
    if (sscanf(line, "tfd: %d", &fd) == 1)
      for (i = 0; i < nr_fds; i++)
        nr += fds[i] == fd;
  fclose(file);
  return nr;
}

/* P10: each ring has one reader, and the events' fds are not polled. */
static void check_polled(live_stream_t *stream) {
  uvperf_set_t *set = &stream->live.set;
  size_t nr_rings = uvperf_nr_rings(&set->handle);
  uvperf_ring_info_t ring;
  uint64_t serial;
  size_t nr = 0;
  int fds[1000];
  size_t attr;
  size_t i;

  for (i = 0; i < nr_rings; i++) {
    assert_int_equal(uvperf_ring(&set->handle, i, &ring), 0);
    fds[i] = ring.fd;
  }
  assert_int_equal(count_polled(stream->live.set.handle.loop, fds, nr_rings),
                   nr_rings);
  for (attr = 0; attr < uvperf_set_nr_attrs(set); attr++)
    for (serial = 0; serial < 1000 && nr < 1000; serial++) {
      fds[nr] = uvperf_set_fd(set, attr, serial);
      nr += fds[nr] >= 0;
    }
  assert_int_equal(nr, uvperf_set_nr_open(set));
  assert_int_equal(count_polled(stream->live.set.handle.loop, fds, nr), 0);
}

/* On two CPUs it is 200. */
static void set_of_200_events_polls_one_fd_for_each_cpu(void **state) {
  uvperf_ring_info_t ring;
  live_stream_t stream;
  uvperf_set_t *set = &stream.live.set;
  uint64_t next = 0;
  live_plan_t plan;
  size_t i;

  support_need_own_events(__func__);
  live_stream_plan(&plan);
  for (i = 0; i < 10; i++)
    live_stream_plan_comm(&plan);
  for (i = 0; i < 10; i++)
    live_stream_plan_target(&plan, UVPERF_TARGET_SELF, 0);
  live_stream_begin(*state, &stream, &plan);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(uvperf_set_nr_open(set),
                   100 * uvperf_nr_rings(&set->handle));
  check_polled(&stream);
  for (i = 0; i < uvperf_nr_rings(&set->handle); i++) {
    assert_int_equal(uvperf_ring(&set->handle, i, &ring), 0);
    assert_int_equal(ring.nr_events, 100);
    assert_true(ring.bytes >= support_page_bytes());
  }
  assert_int_equal(uvperf_ring(&set->handle, i, &ring), UV_EINVAL);
  live_stream_comm(&next, 3);
  assert_true(live_run_until(*state, &stream.records, 300));
  live_run_ms(*state, 10);
  assert_int_equal(stream.records, 300);
  for (i = 0; i < 10; i++) {
    assert_int_equal(stream.by_attr[i], 30);
    assert_int_equal(stream.by_target[i], 30);
  }
  live_stream_close(&stream);
}

/* Each CPU's records are in its own ring, and that is counted. */
static void set_stats_of_rings_add_up_to_the_sets(void **state) {
  uvperf_stats_t stats, sum;
  uvperf_ring_info_t ring;
  int cpus[CPU_SETSIZE];
  live_stream_t stream;
  uint64_t next = 0;
  live_plan_t plan;
  size_t nr_cpus;
  cpu_set_t old;
  size_t i;
  size_t mode;

  support_need_own_events(__func__);
  nr_cpus = live_cpus(cpus, CPU_SETSIZE);
  live_stream_plan_own(&plan);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    live_stream_plan_mode(&plan, mode);
    next = 0;
    memset(&sum, 0, sizeof(sum));
    live_stream_begin(*state, &stream, &plan);
    for (i = 0; i < nr_cpus; i++) {
      live_pin(cpus[i], &old);
      live_stream_comm(&next, i + 1);
      live_unpin(&old);
      assert_true(live_run_until(*state, &stream.comms, next));
    }
    uvperf_stats(&stream.live.set.handle, &stats);
    for (i = 0; i < uvperf_nr_rings(&stream.live.set.handle); i++) {
      assert_int_equal(uvperf_ring(&stream.live.set.handle, i, &ring), 0);
      sum.records += ring.stats.records;
      sum.bytes += ring.stats.bytes;
      sum.wakeups += ring.stats.wakeups;
      assert_int_equal(ring.waiting, 0);
      assert_true(ring.stats.high_water_bytes <= stats.high_water_bytes);
      assert_true(ring.stats.slices <= stats.slices);
      assert_int_equal(ring.stats.slices > 0, ring.stats.records > 0);
      if (i < nr_cpus && ring.cpu == cpus[i])
        assert_int_equal(ring.stats.records, i + 1);
    }
    assert_int_equal(sum.records, next);
    assert_int_equal(sum.records, stats.records);
    assert_int_equal(sum.bytes, stats.bytes);
    assert_int_equal(sum.wakeups, stats.wakeups);
    live_stream_close(&stream);
  }
}

static void set_source_finds_events_by_their_ids(void **state) {
  const uvperf_source_t *source;
  live_stream_t stream;
  live_plan_t plan;
  uint64_t id;
  int fd;

  support_need_own_events(__func__);
  live_stream_plan_own(&plan);
  live_stream_open(*state, &stream, &plan.options);
  /* The first place of all. */
  fd = uvperf_set_fd(&stream.live.set, 0, 0);
  if (fd < 0)
    fd = uvperf_set_fd(&stream.live.set, 0, 1);
  assert_true(fd >= 0);
  assert_int_equal(syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &id), 0);
  source = uvperf_set_source(&stream.live.set, id);
  assert_non_null(source);
  assert_int_equal(source->attr_index, 0);
  assert_ptr_equal(source->data, (void *)1);
  assert_null(uvperf_set_source(&stream.live.set, ~id));
  live_stream_close(&stream);
}

/* -- start ---------------------------------------------------------------- */

static void set_without_records_cannot_start(void **state) {
  uvperf_error_t error;
  uvperf_stats_t stats;
  live_stream_t stream;
  uvperf_set_t *set = &stream.live.set;
  uvperf_ring_info_t ring;
  live_plan_t plan;

  support_need_own_events(__func__);
  live_stream_plan_own(&plan);
  plan.options.flags = 0;
  plan.options.wakeup_bytes = 0;
  live_stream_open(*state, &stream, &plan.options);
  assert_int_equal(
      uvperf_start(&set->handle, NULL, live_stream_on_record, &error),
      UV_EINVAL);
  assert_non_null(strstr(error.reason, "UVPERF_SET_RECORDS"));
  assert_int_equal(uvperf_flush(&set->handle), UV_EINVAL);
  assert_int_equal(uvperf_nr_rings(&set->handle), 0);
  assert_int_equal(uvperf_ring(&set->handle, 0, &ring), UV_EINVAL);
  assert_null(uvperf_set_source(set, 1));
  uvperf_stats(&set->handle, &stats);
  assert_int_equal(stats.records, 0);
  live_stream_close(&stream);
}

static void set_without_targets_starts_and_waits_for_one(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  live_stream_t stream;
  uint64_t next;
  live_plan_t plan;
  uint32_t index;
  size_t mode;

  support_need_own_events(__func__);
  live_stream_plan(&plan);
  live_stream_plan_comm(&plan);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    live_stream_plan_mode(&plan, mode);
    next = 0;
    live_stream_begin(*state, &stream, &plan);
    assert_true(live_run_ms(*state, 50) < 20);
    assert_int_equal(uv_loop_alive(*state), 1);
    assert_int_equal(uvperf_nr_rings(&stream.live.set.handle), 0);
    target.data = (void *)1;
    assert_int_equal(
        uvperf_set_add(&stream.live.set, &target, NULL, &index, NULL), 0);
    live_stream_comm(&next, 3);
    assert_true(live_run_until(*state, &stream.comms, 3));
    assert_int_equal(stream.eofs, 0);
    assert_int_equal(uvperf_set_remove(&stream.live.set, index, NULL, NULL), 0);
    live_stream_comm(&next, 3);
    assert_true(live_run_ms(*state, 50) < 20);
    assert_int_equal(stream.comms, 3);
    assert_int_equal(stream.eofs, 0);
    assert_int_equal(uv_loop_alive(*state), 1);
    live_stream_close(&stream);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_records_come_with_their_attr_and_target),
      support_loop_test(set_of_200_events_polls_one_fd_for_each_cpu),
      support_loop_test(set_stats_of_rings_add_up_to_the_sets),
      support_loop_test(set_source_finds_events_by_their_ids),
      support_loop_test(set_without_records_cannot_start),
      support_loop_test(set_without_targets_starts_and_waits_for_one),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
