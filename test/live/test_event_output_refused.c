/* SPDX-License-Identifier: MIT */
/* Which events cannot share a ring on the running kernel. */
#include "live.h"

#include <time.h>

static void expect_refused(uv_loop_t *loop, const struct perf_event_attr *attr,
                           const uvperf_event_options_t *options,
                           uvperf_event_t *output, const char *named) {
  uvperf_error_t error = {0};
  uvperf_event_t writer;

  assert_int_equal(uvperf_event_init(loop, &writer, attr, options, NULL), 0);
  assert_int_equal(uvperf_event_set_output(&writer, output, &error), UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  if (strstr(error.reason, named) == NULL)
    fail_msg("'%s' does not say '%s'", error.reason, named);
  /* It has its breakpoint slot until the loop has run. */
  uvperf_close(&writer.handle, NULL);
  uv_run(loop, UV_RUN_NOWAIT);
}

static void output_that_cannot_be_is_einval(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  live_worker_t worker;
  uvperf_event_t owner;

  support_need_breakpoints(__func__);
  live_worker_fork(&worker, NULL, NULL);
  live_write_attr(&attr, PERF_SAMPLE_ADDR);
  options.flags = UVPERF_EVENT_IDENTIFY;
  assert_int_equal(uvperf_event_init(*state, &owner, &attr, &options, NULL), 0);
  options.flags = UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING;
  options.cpu = 0;
  options.flags |= UVPERF_EVENT_CPU;
  expect_refused(*state, &attr, &options, &owner, "CPU");
  options.flags &= ~UVPERF_EVENT_CPU;
  options.pid = worker.pid;
  expect_refused(*state, &attr, &options, &owner, "thread");
  options.pid = 0;
  attr.write_backward = 1;
  expect_refused(*state, &attr, &options, &owner, "write_backward");
  attr.write_backward = 0;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC_RAW;
  expect_refused(*state, &attr, &options, &owner, "clock");
  attr.use_clockid = 0;
  options.flags = UVPERF_EVENT_NO_RING;
  expect_refused(*state, &attr, &options, &owner, "UVPERF_EVENT_IDENTIFY");
  options.flags = UVPERF_EVENT_IDENTIFY;
  expect_refused(*state, &attr, &options, &owner, "UVPERF_EVENT_NO_RING");
  live_worker_end(&worker);
  uvperf_close(&owner.handle, NULL);
  live_run_ms(*state, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(output_that_cannot_be_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
