/* SPDX-License-Identifier: MIT */
/* Live: a program takes the records of a set one by one, waits with poll(2) and
 * never runs the loop. */
#include "live_stream.h"

#include <poll.h>
#include <unistd.h>

#define MOST_CPU 64

/* Waits until any ring wakes, at most ms. Returns how many did. */
static int wait_for_rings(const uvperf_set_t *set, int ms) {
  size_t nr = uvperf_nr_rings(&set->handle);
  struct pollfd fds[MOST_CPU];
  uvperf_ring_info_t ring;
  size_t i;

  assert_in_range(nr, 1, MOST_CPU);
  for (i = 0; i < nr; i++) {
    assert_int_equal(uvperf_ring(&set->handle, i, &ring), 0);
    fds[i] = (struct pollfd){ring.fd, POLLIN, 0};
  }
  return poll(fds, (nfds_t)nr, ms);
}

static void take_all(live_stream_t *stream) {
  const uvperf_record_t *record;
  int rc;

  do {
    rc = uvperf_next(&stream->live.set.handle, &record);
    if (record != NULL)
      live_stream_on_record(&stream->live.set.handle, rc, record);
    stream->eofs += rc == UV_EOF;
  } while (rc != UV_EAGAIN && rc != UV_EOF);
}

/* Both attrs record each child: the one with COMM records and the
 * side-band's. */
static void take_storm(uv_loop_t *loop, size_t mode) {
  uvperf_stats_t stats;
  live_stream_t stream;
  live_plan_t plan;
  int wakeups = 0;
  int go[2];
  pid_t pid;

  assert_int_equal(pipe(go), 0);
  pid = support_fork(live_stream_be_storm, &go[0]);
  live_stream_plan(&plan);
  live_stream_plan_mode(&plan, mode);
  live_stream_plan_comm(&plan);
  plan.options.ring_bytes = 1 << 20;
  plan.options.side_band = UVPERF_SIDE_BAND_TASKS;
  live_stream_plan_target(&plan, UVPERF_TARGET_PROCESS, pid);
  live_stream_open(loop, &stream, &plan.options);
  assert_int_equal(uvperf_enable(&stream.live.set.handle, UVPERF_ALL, NULL), 0);
  take_all(&stream);
  assert_int_equal(write(go[1], "", 1), 1);
  while (stream.eofs == 0) {
    wakeups += wait_for_rings(&stream.live.set, 50) > 0;
    take_all(&stream);
  }
  uvperf_stats(&stream.live.set.handle, &stats);
  assert_true(wakeups > 0);
  assert_int_equal(stats.lost_records, 0);
  assert_int_equal(stats.records, stream.records);
  assert_int_equal(stream.comms, 2 * LIVE_STREAM_STORM_COMMS);
  assert_int_equal(stream.by_attr[0], stream.by_attr[1]);
  assert_int_equal(stream.nr_ends, 1);
  assert_int_equal(stream.records_at_end[0], stream.records);
  assert_int_equal(stream.foreign, 0);
  assert_int_equal(stream.corrupt + stream.faults, 0);
  if (mode == 1)
    assert_int_equal(stream.inversions, stats.late_records);
  assert_int_equal(support_wait(pid), 0);
  live_stream_close(&stream);
  close(go[0]);
  close(go[1]);
}

static void set_next_takes_a_storm_of_children_to_its_end(void **state) {
  size_t mode;

  support_need_own_events(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++)
    take_storm(*state, mode);
}

/* A ring wraps several times: no record is lost while they are taken as they
 * come. */
static void set_next_of_a_small_ring_takes_all(void **state) {
  const uvperf_record_t *record;
  live_stream_t stream;
  live_plan_t plan;
  uint64_t next = 0;
  size_t mode;
  int i;

  support_need_own_events(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    next = 0;
    live_stream_plan_own(&plan);
    live_stream_plan_mode(&plan, mode);
    plan.options.ring_bytes = 1;
    live_stream_open(*state, &stream, &plan.options);
    assert_int_equal(uvperf_enable(&stream.live.set.handle, UVPERF_ALL, NULL),
                     0);
    for (i = 0; i < 300; i++) {
      live_stream_comm(&next, 5);
      assert_int_equal(uvperf_has_record(&stream.live.set.handle), 1);
      while (uvperf_next(&stream.live.set.handle, &record) == 0)
        live_stream_on_record(&stream.live.set.handle, 0, record);
    }
    assert_int_equal(uvperf_has_record(&stream.live.set.handle), 0);
    assert_int_equal(stream.comms, 1500);
    assert_int_equal(stream.out_of_order + stream.foreign, 0);
    live_stream_close(&stream);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_next_takes_a_storm_of_children_to_its_end),
      support_loop_test(set_next_of_a_small_ring_takes_all),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
