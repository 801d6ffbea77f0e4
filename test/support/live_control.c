/* SPDX-License-Identifier: MIT */
#include "live_control.h"

#include "check_explain.h"

void live_control_begin(uv_loop_t *loop, live_collector_t *collector,
                        const struct perf_event_attr *attr) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  live_init(loop, collector, attr, NULL);
  options.flush_ms = -1;
  options.slice_us = LIVE_SLICE_US;
  options.flags = UVPERF_START_NO_ENABLE;
  live_start(collector, &options);
}

void live_control_expect_records(live_collector_t *collector, uint64_t nr) {
  uv_loop_t *loop = collector->event.handle.loop;

  live_run_until(loop, &collector->records, nr);
  live_run_ms(loop, 1);
  assert_int_equal(collector->records, nr);
}

void live_control_expect_refused(int rc, const uvperf_error_t *error, int code,
                                 int cause, const char *piece) {
  assert_int_equal(rc, code);
  explain_check(error, code, cause, piece);
}

uint64_t live_control_count(live_collector_t *collector) {
  uvperf_count_t count;

  assert_int_equal(uvperf_event_read(&collector->event, &count, NULL), 0);
  return count.value;
}
