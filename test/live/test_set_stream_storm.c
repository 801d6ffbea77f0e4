/* SPDX-License-Identifier: MIT */
/* Live: a process with very many short-lived children, with each way of
 * delivery. All their records arrive, and then the end, once. */
#include "live_stream.h"

#include <unistd.h>

#define MOST_NS UINT64_C(20000000000)

typedef struct way_s {
  size_t mode;
  uint32_t wakeup_bytes;
  int32_t flush_ms;
  uint32_t slice_records;
  uv_run_mode run;
} way_t;

static const way_t ways[] = {
    {0, 1, 0, 0, UV_RUN_ONCE},      {1, 1, 0, 0, UV_RUN_ONCE},
    {0, 0, -1, 0, UV_RUN_ONCE},     {1, 0, -1, 0, UV_RUN_ONCE},
    {0, 1, 1, 1, UV_RUN_NOWAIT},    {1, 1, 1, 1, UV_RUN_NOWAIT},
    {0, 0, 1000, 7, UV_RUN_NOWAIT}, {1, 0, 1000, 7, UV_RUN_NOWAIT},
};

/* Both attrs record each child: the one with COMM records and the
 * side-band's. */
static void run_storm(uv_loop_t *loop, const way_t *way) {
  uvperf_stream_options_t options = live_stream_plain;
  uvperf_stats_t stats;
  live_stream_t stream;
  live_plan_t plan;
  uint64_t start;
  int go[2];
  pid_t pid;

  assert_int_equal(pipe(go), 0);
  pid = support_fork(live_stream_be_storm, &go[0]);
  live_stream_plan(&plan);
  live_stream_plan_mode(&plan, way->mode);
  live_stream_plan_comm(&plan);
  plan.options.wakeup_bytes = way->wakeup_bytes;
  plan.options.ring_bytes = 1 << 20;
  plan.options.side_band = UVPERF_SIDE_BAND_TASKS;
  live_stream_plan_target(&plan, UVPERF_TARGET_PROCESS, pid);
  live_stream_open(loop, &stream, &plan.options);
  options.flush_ms = way->flush_ms;
  options.slice_records = way->slice_records;
  live_stream_start(&stream, &options);
  assert_int_equal(write(go[1], "", 1), 1);
  start = live_now();
  while (stream.eofs == 0 && live_now() - start < MOST_NS)
    uv_run(loop, way->run);
  uvperf_stats(&stream.live.set.handle, &stats);
  assert_int_equal(stats.lost_records, 0);
  assert_int_equal(stream.comms, 2 * LIVE_STREAM_STORM_COMMS);
  assert_int_equal(stream.by_attr[0], stream.by_attr[1]);
  assert_int_equal(stream.eofs, 1);
  assert_int_equal(stream.nr_ends, 1);
  assert_int_equal(stream.foreign, 0);
  assert_int_equal(stream.corrupt, 0);
  assert_int_equal(support_wait(pid), 0);
  live_run_ms(loop, 20);
  assert_int_equal(stream.after_end, 0);
  live_stream_close(&stream);
  close(go[0]);
  close(go[1]);
}

static void set_storm_of_children_is_recorded_to_its_end(void **state) {
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
    run_storm(*state, &ways[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_storm_of_children_is_recorded_to_its_end),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
