/* SPDX-License-Identifier: MIT */
/* Scripted: the calls of uvperf_event_measure. Any failure leaves the event
 * disabled. */
#include "fake_kernel.h"
#include "live.h"
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    {"event_measure_reads_enables_calls_disables_reads",
     "attr cycles read_format=3; init; words e0 0 0 0; work e0 30 2000 1000\n"
     "measure h0 1 -> read e0, ENABLE e0, called, DISABLE e0, read e0, "
     "30@2000/1000=60\n"
     "measure h0 1 -> read e0, ENABLE e0, called, DISABLE e0, read e0, "
     "30@2000/1000=60\n"},
    /* It was on a counter in the call before. */
    {"event_measure_that_never_ran_is_no_count_of_0",
     "attr cycles read_format=3; init; words e0 0 0 0; work e0 30 2000 1000\n"
     "measure h0 1; work e0 0 2000 0\n"
     "measure h0 1 -> read e0, ENABLE e0, called, DISABLE e0, read e0, "
     "never scheduled -1\n"},
    {"event_measure_that_fails_before_does_not_call",
     "attr cycles read_format=3; init; words e0 0 0 0; work e0 30 2000 1000\n"
     "fail read 1 EIO; measure h0 1 -> read e0 EIO, EIO unknown\n"
     "fail ioctl 1 EIO\n"
     "measure h0 1 -> read e0, ENABLE e0 EIO, EIO unknown\n"
     "fail calloc 1 ENOMEM; measure h0 1 -> ENOMEM memory\n"
     "running ->\n"
     "measure h0 1\n"},
    {"event_measure_that_fails_afterwards_returns_its_code",
     "attr cycles read_format=3; init; words e0 0 0 0; work e0 30 2000 1000\n"
     "fail ioctl 2 EIO; measure h0 1 -> read e0, ENABLE e0, called, "
     "DISABLE e0 EIO, EIO unknown\n"
     "disable h0; fail read 2 EIO\n"
     "measure h0 1 -> read e0, ENABLE e0, called, DISABLE e0, read e0 EIO, "
     "EIO unknown\n"
     "running ->\n"},
    {"event_measure_of_another_number_of_counts_is_einval",
     "attr cycles read_format=3; init; words e0 0 0 0; work e0 30 2000 1000\n"
     "measure h0 2 -> EINVAL argument\n"
     "says 'the group has 1 events, but nr is 2'\n"},
    {"event_measure_in_a_forked_child_is_eperm",
     "attr cycles read_format=3; init; fork; measure h0 1 -> EPERM argument\n"
     "unfork\n"},
    {"event_measure_of_an_enabled_event_is_ebusy",
     "attr cycles read_format=3; init; enable h0\n"
     "measure h0 1 -> EBUSY busy\n"
     "says 'the event is enabled'\n"},
};

static void do_nothing(void *arg) {
}

static void event_measure_of_bad_arguments_is_einval(void **state) {
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;
  struct perf_event_attr attr;
  uvperf_count_t count;

  fake_event_add(7);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  live_init(*state, &collector, &attr, NULL);
  fake_log_clear();
  assert_int_equal(
      uvperf_event_measure(NULL, do_nothing, NULL, &count, 1, NULL), UV_EINVAL);
  assert_int_equal(uvperf_event_measure(event, NULL, NULL, &count, 1, NULL),
                   UV_EINVAL);
  assert_int_equal(uvperf_event_measure(event, do_nothing, NULL, NULL, 1, NULL),
                   UV_EINVAL);
  assert_string_equal(fake_log(), "");
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(event_measure_of_bad_arguments_is_einval),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_handles, rows, tests);
}
