/* SPDX-License-Identifier: MIT */
/* Live: the cost of a function, by an event that is open and by its group.
 * Scripted failures are in unit/event/test_measure.c. */
#include "live_thread.h"
#include "live_measure.h"

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

static void count_writes(struct perf_event_attr *attr, uint64_t format) {
  live_write_attr(attr, 0);
  uvperf_attr_set_period(attr, 0);
  attr->read_format = format;
}

/* Each measurement is of one call, however often it is repeated, and whatever
 * happens in between. */
static void event_measure_is_of_the_call_alone(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_count_t count;
  uint64_t nr;

  support_need_breakpoints(__func__);
  count_writes(&attr, TIMES);
  live_init(*state, &collector, &attr, NULL);
  for (nr = 0; nr < 20; nr++) {
    live_write(3);
    assert_int_equal(uvperf_event_measure(&collector.event, live_measure_writes,
                                          &nr, &count, 1, NULL),
                     0);
    live_measure_count_is(&count, nr);
    assert_int_equal(count.nr_counts, 1);
  }
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_event_measure(&collector.event, live_measure_writes,
                                        &nr, &count, 1, NULL),
                   UV_EBUSY);
  live_close(&collector);
}

typedef struct group_s {
  live_collector_t leader, dummy, calls;
} group_t;

static void open_group(uv_loop_t *loop, group_t *group, uint64_t format) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  count_writes(&attr, format);
  live_init(loop, &group->leader, &attr, NULL);
  options.leader = &group->leader.event;
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.exclude_kernel = 1;
  attr.read_format = TIMES;
  live_init(loop, &group->dummy, &attr, &options);
  live_called_attr(&attr, 0);
  uvperf_attr_set_period(&attr, 0);
  attr.read_format = TIMES;
  live_init(loop, &group->calls, &attr, &options);
}

static void close_group(group_t *group) {
  live_close(&group->calls);
  live_close(&group->dummy);
  live_close(&group->leader);
}

static void write_and_call(void *nr) {
  live_write(*(const uint64_t *)nr);
  live_called(1);
  live_called(2);
}

/* By one read(2) of the group, or by one for each event. */
static void event_measure_of_a_group_is_in_the_order_of_opening(void **state) {
  const uint64_t formats[] = {TIMES, TIMES | PERF_FORMAT_GROUP};
  uvperf_count_t counts[3];
  uvperf_error_t error;
  group_t group;
  uint64_t nr;
  size_t i;

  support_need_breakpoints(__func__);
  for (i = 0; i < 2; i++) {
    open_group(*state, &group, formats[i]);
    for (nr = 5; nr < 8; nr++) {
      assert_int_equal(uvperf_event_measure(&group.leader.event, write_and_call,
                                            &nr, counts, 3, NULL),
                       0);
      live_measure_count_is(&counts[0], nr);
      live_measure_count_is(&counts[1], 0);
      live_measure_count_is(&counts[2], 2);
    }
    assert_int_equal(uvperf_event_measure(&group.calls.event, write_and_call,
                                          &nr, counts, 1, &error),
                     UV_EINVAL);
    assert_non_null(strstr(error.reason, "leader"));
    close_group(&group);
  }
}

/* A closed sibling is no longer part of it. */
static void event_measure_of_a_group_that_shrinks(void **state) {
  uvperf_count_t counts[3];
  uvperf_error_t error;
  uint64_t nr = 4;
  group_t group;

  support_need_breakpoints(__func__);
  open_group(*state, &group, TIMES | PERF_FORMAT_GROUP);
  live_close(&group.dummy);
  assert_int_equal(uvperf_event_measure(&group.leader.event, write_and_call,
                                        &nr, counts, 3, &error),
                   UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(uvperf_event_measure(&group.leader.event, write_and_call,
                                        &nr, counts, 2, NULL),
                   0);
  live_measure_count_is(&counts[0], 4);
  live_measure_count_is(&counts[1], 2);
  live_close(&group.calls);
  live_close(&group.leader);
}

static void do_in_thread(void *thread) {
  live_thread_do(thread);
}

static void event_measure_of_another_thread_counts_what_it_does(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_count_t count;
  live_thread_t thread;
  uint64_t nr = 6;

  support_need_breakpoints(__func__);
  live_thread_start(&thread, live_measure_writes, &nr);
  live_thread_do(&thread);
  count_writes(&attr, TIMES);
  options.pid = (int)thread.tid;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(uvperf_event_measure(&collector.event, do_in_thread, &thread,
                                        &count, 1, NULL),
                   0);
  assert_int_equal(count.value, 6);
  live_close(&collector);
  live_thread_end(&thread);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_measure_is_of_the_call_alone),
      support_loop_test(event_measure_of_a_group_is_in_the_order_of_opening),
      support_loop_test(event_measure_of_a_group_that_shrinks),
      support_loop_test(event_measure_of_another_thread_counts_what_it_does),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
