/* SPDX-License-Identifier: MIT */
/* Scripted: the calls of uvperf_event_measure. Any failure leaves the event
 * disabled. */
#include "live.h"

#include "fake_kernel.h"

typedef struct measured_s {
  live_collector_t collector;
  fake_event_t *fake;
  uint64_t words[3];
  int calls;
} measured_t;

static void open_event(uv_loop_t *loop, measured_t *measured) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  memset(measured, 0, sizeof(*measured));
  measured->fake = fake_event_add(7);
  measured->fake->read_data = measured->words;
  measured->fake->read_size = sizeof(measured->words);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  attr.read_format =
      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  live_init(loop, &measured->collector, &attr, &options);
  fake_log_clear();
}

/* 30 events, in 2 us of which it was on a counter for 1 us. */
static void work(void *arg) {
  measured_t *measured = arg;

  assert_int_equal(measured->fake->enabled, 1);
  measured->calls++;
  measured->words[0] += 30;
  measured->words[1] += 2000;
  measured->words[2] += 1000;
}

static int measure(measured_t *measured, uvperf_count_t *count,
                   uvperf_error_t *error) {
  return uvperf_event_measure(&measured->collector.event, work, measured, count,
                              1, error);
}

static void event_measure_reads_enables_calls_disables_reads(void **state) {
  measured_t measured;
  uvperf_count_t count;

  open_event(*state, &measured);
  assert_int_equal(measure(&measured, &count, NULL), 0);
  assert_string_equal(fake_log(), "read, ioctl ENABLE, ioctl DISABLE, read");
  assert_int_equal(measure(&measured, &count, NULL), 0);
  assert_int_equal(measured.calls, 2);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.value, 30);
  assert_int_equal(count.scaled, 60);
  assert_true(count.ratio == 0.5);
  live_close(&measured.collector);
}

static void never_scheduled(void *arg) {
  measured_t *measured = arg;

  measured->words[1] += 2000;
}

/* It was on a counter in the call before. */
static void event_measure_that_never_ran_is_no_count_of_0(void **state) {
  measured_t measured;
  uvperf_count_t count;

  open_event(*state, &measured);
  assert_int_equal(measure(&measured, &count, NULL), 0);
  assert_int_equal(uvperf_event_measure(&measured.collector.event,
                                        never_scheduled, &measured, &count, 1,
                                        NULL),
                   0);
  assert_int_equal(count.state, UVPERF_COUNT_NEVER_SCHEDULED);
  assert_int_equal(count.nr_missing, 1);
  live_close(&measured.collector);
}

static void event_measure_that_fails_before_does_not_call(void **state) {
  static const struct {
    enum fake_call call;
    int code;
  } failures[] = {{FAKE_READ, -EIO}, {FAKE_IOCTL, -EIO}, {FAKE_CALLOC, 0}};
  uvperf_count_t count, same;
  uvperf_error_t error;
  measured_t measured;
  size_t i;

  open_event(*state, &measured);
  memset(&count, 0xa5, sizeof(count));
  memset(&same, 0xa5, sizeof(same));
  for (i = 0; i < 3; i++) {
    memset(&error, 0, sizeof(error));
    fake_fail(failures[i].call, 1, failures[i].code);
    assert_int_equal(measure(&measured, &count, &error),
                     failures[i].code != 0 ? failures[i].code : UV_ENOMEM);
    assert_int_not_equal(error.code, 0);
    assert_true(error.reason[0] != '\0');
    assert_int_equal(measured.fake->enabled, 0);
  }
  assert_int_equal(measured.calls, 0);
  assert_memory_equal(&count, &same, sizeof(count));
  assert_int_equal(measure(&measured, &count, NULL), 0);
  live_close(&measured.collector);
}

static void event_measure_that_fails_afterwards_returns_its_code(void **state) {
  uvperf_count_t count;
  uvperf_error_t error;
  measured_t measured;

  open_event(*state, &measured);
  fake_fail(FAKE_IOCTL, 2, -EIO);
  assert_int_equal(measure(&measured, &count, &error), UV_EIO);
  assert_int_equal(measured.calls, 1);
  assert_int_equal(uvperf_disable(&measured.collector.event.handle, 0, NULL),
                   0);
  fake_fail(FAKE_READ, 2, -EIO);
  assert_int_equal(measure(&measured, &count, &error), UV_EIO);
  assert_int_equal(measured.calls, 2);
  assert_int_equal(measured.fake->enabled, 0);
  live_close(&measured.collector);
}

static void event_measure_of_bad_arguments_is_einval(void **state) {
  uvperf_count_t count;
  measured_t measured;
  uvperf_event_t *event = &measured.collector.event;
  uvperf_error_t error;

  open_event(*state, &measured);
  assert_int_equal(uvperf_event_measure(NULL, work, &measured, &count, 1, NULL),
                   UV_EINVAL);
  assert_int_equal(
      uvperf_event_measure(event, NULL, &measured, &count, 1, NULL), UV_EINVAL);
  assert_int_equal(uvperf_event_measure(event, work, &measured, NULL, 1, NULL),
                   UV_EINVAL);
  assert_int_equal(
      uvperf_event_measure(event, work, &measured, &count, 2, &error),
      UV_EINVAL);
  assert_non_null(strstr(error.reason, "the group has 1 events, but nr is 2; "
                                       "pass one count per event"));
  fake_process(4711);
  assert_int_equal(measure(&measured, &count, NULL), UV_EPERM);
  fake_process(0);
  assert_string_equal(fake_log(), "");
  assert_int_equal(uvperf_enable(&event->handle, 0, NULL), 0);
  assert_int_equal(measure(&measured, &count, &error), UV_EBUSY);
  assert_non_null(strstr(error.reason, "the event is enabled; disable it "
                                       "before the measurement"));
  live_close(&measured.collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(event_measure_reads_enables_calls_disables_reads),
      fake_kernel_test(event_measure_that_never_ran_is_no_count_of_0),
      fake_kernel_test(event_measure_that_fails_before_does_not_call),
      fake_kernel_test(event_measure_that_fails_afterwards_returns_its_code),
      fake_kernel_test(event_measure_of_bad_arguments_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
