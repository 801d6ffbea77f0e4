/* SPDX-License-Identifier: MIT */
/* Live: the number of samples with a limit of overflows, and with a period that
 * changes. */
#include "live_control.h"

#include "host/system.h"

static volatile uint64_t other_word;

/* Runs steps:
 * e: enable     r: refresh, so many times   h: so many hits
 * d: disable    p: set the period           =: so many records have come */
static void run_steps(live_collector_t *collector, const char *steps) {
  uvperf_handle_t *handle = &collector->event.handle;
  uint32_t type = uvperf_handle_attr(handle, 0)->type;
  uint64_t nr;
  char what, *end;
  int rc;

  for (; *steps != '\0'; steps = end + strspn(end, " ")) {
    what = *steps++;
    nr = strtoull(steps, &end, 10);
    rc = 0;
    if (what == 'e')
      rc = uvperf_enable(handle, 0, NULL);
    else if (what == 'd')
      rc = uvperf_disable(handle, 0, NULL);
    else if (what == 'r')
      rc = uvperf_event_refresh(&collector->event, (uint32_t)nr, NULL);
    else if (what == 'p')
      rc = uvperf_change_period(handle, 0, nr, NULL);
    else if (what == '=')
      live_control_expect_records(collector, nr);
    else if (type == PERF_TYPE_BREAKPOINT)
      live_write(nr);
    else
      live_syscall(nr);
    if (rc != 0)
      fail_msg("%d at %c%s", rc, what, steps);
  }
}

/* -- REFRESH -------------------------------------------------------------- */

/* go-perf's TestPoll/DisabledByRefresh. */
static void event_refresh_delivers_that_number_of_samples(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;

  live_need_syscall(__func__, &attr, PERF_SAMPLE_IP);
  live_control_begin(*state, &collector, &attr);
  run_steps(&collector, "h5 =0 r3 h10 =3");
  /* It is disabled, which is no end. */
  live_run_ms(*state, 20);
  assert_int_equal(collector.ends, 0);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  assert_int_equal(live_control_count(&collector), 3);
  run_steps(&collector, "r2 h10 =5");
  assert_int_equal(collector.ends, 0);
  live_close(&collector);
}

/* Linux 6.16 leaves it stopped, whatever call enables it. */
static void event_whose_overflows_ran_out_is_started_again(void **state) {
  live_collector_t collector, sibling;
  uvperf_event_t *event = &collector.event;
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_IP);
  live_control_begin(*state, &collector, &attr);
  attr.bp_addr = (uintptr_t)&other_word;
  options.leader = event;
  options.flags = UVPERF_EVENT_NO_RING;
  live_init(*state, &sibling, &attr, &options);
  run_steps(&collector, "r1 h5 =1 e h5 =6 r1 h5 =7");
  assert_int_equal(uvperf_enable(&sibling.event.handle, UVPERF_ALL, NULL), 0);
  run_steps(&collector, "h5 =12 r1 h5 =13 d e h5 =18 r1 h5 =19");
  assert_int_equal(
      uvperf_event_modify(event, uvperf_handle_attr(&event->handle, 0), NULL),
      0);
  run_steps(&collector, "h5 =24");
  live_close(&sibling);
  live_close(&collector);
}

static void restart_by(uv_loop_t *loop, const struct perf_event_attr *attr,
                       const uvperf_event_options_t *options,
                       const char *steps) {
  live_collector_t collector;
  uint64_t count;
  char own[64];

  live_init(loop, &collector, attr, options);
  snprintf(own, sizeof(own), "common_pid == %u", live_tid());
  assert_int_equal(uvperf_apply_filter(&collector.event.handle, 0, own, NULL),
                   0);
  live_start(&collector, NULL);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  run_steps(&collector, "d r3 h10");
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(collector.records, 3);
  count = live_control_count(&collector);
  run_steps(&collector, steps);
  run_steps(&collector, "h20");
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_in_range(collector.records, 3 + 4, 3 + 6);
  /* Up to the last overflow. Samples come each 5, but the first ones early. */
  assert_in_range(live_control_count(&collector) - count, 10, 20);
  live_close(&collector);
}

/* Since Linux 6.16 it stays stopped until it gets a period while it is
 * scheduled in: for a thread, and for a CPU. */
static void event_whose_overflows_ran_out_restarts_in_any_order(void **state) {
  static const char *const steps[] = {"p5 e", "e p5", "d p5 e", "p5 d e",
                                      "p5 r4"};
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  cpu_set_t old;
  size_t i;

  support_need_cpu_wide(__func__);
  live_need_syscall(__func__, &attr, PERF_SAMPLE_IP);
  for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
    restart_by(*state, &attr, NULL, steps[i]);
  options.pid = -1;
  options.cpu = live_last_cpu();
  options.flags |= UVPERF_EVENT_CPU;
  live_pin(options.cpu, &old);
  for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
    restart_by(*state, &attr, &options, steps[i]);
  live_unpin(&old);
}

/* Enabled while its leader of another PMU runs it waits for a tick, which is
 * too late for its period. */
static void sibling_whose_overflows_ran_out_is_started_again(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t leader, sibling;
  struct perf_event_attr attr;

  support_need_breakpoints(__func__);
  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  attr.exclude_kernel = 1;
  live_init(*state, &leader, &attr, NULL);
  live_write_attr(&attr, PERF_SAMPLE_IP);
  options.leader = &leader.event;
  live_init(*state, &sibling, &attr, &options);
  live_start(&sibling, NULL);
  assert_int_equal(uvperf_stop(&sibling.event.handle), 0);
  run_steps(&sibling, "d r3");
  assert_int_equal(uvperf_start(&leader.event.handle, NULL, NULL, NULL), 0);
  run_steps(&sibling, "r1 h10");
  assert_int_equal(uvperf_flush(&sibling.event.handle), 0);
  assert_int_equal(sibling.records, 4);
  sibling.records = 0;
  run_steps(&sibling, "r2 h10");
  assert_int_equal(uvperf_flush(&sibling.event.handle), 0);
  assert_int_equal(sibling.records, 2);
  live_close(&sibling);
  live_close(&leader);
}

static void call_once(void *arg) {
  live_syscall(5);
}

/* A period starts it while the thread is on a CPU, at an unknown time. */
static void event_of_another_thread_that_ran_out_says_so(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uint64_t id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;
  struct perf_event_attr attr;
  live_worker_t worker;
  uvperf_error_t error;

  if (uvperf__system_is_before(6, 16) != 0)
    support_skip(__func__, "Linux 6.16");
  live_worker_fork(&worker, call_once, NULL);
  live_syscall_attr(&attr, id, PERF_SAMPLE_IP);
  options.pid = worker.pid;
  live_init(*state, &collector, &attr, &options);
  live_start(&collector, NULL);
  assert_int_equal(uvperf_stop(&event->handle), 0);
  run_steps(&collector, "d r3");
  run_steps(&collector, "r4"); /* some are left */
  live_worker_do(&worker);
  assert_int_equal(uvperf_flush(&event->handle), 0);
  assert_int_equal(collector.records, 5);
  run_steps(&collector, "d e");
  live_worker_do(&worker);
  assert_int_equal(uvperf_flush(&event->handle), 0);
  assert_int_equal(collector.records, 7);
  live_control_expect_refused(uvperf_event_refresh(event, 3, &error), &error,
                              UV_ENOTSUP, UVPERF_CAUSE_NOT_SUPPORTED, "");
  assert_int_equal(uvperf_change_period(&event->handle, 0, 5, NULL), 0);
  live_control_expect_refused(uvperf_enable(&event->handle, 0, &error), &error,
                              UV_ENOTSUP, UVPERF_CAUSE_NOT_SUPPORTED, "");
  live_worker_end(&worker);
  live_close(&collector);
}

static void event_refresh_adds_to_what_is_left(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;

  live_need_syscall(__func__, &attr, PERF_SAMPLE_IP);
  live_control_begin(*state, &collector, &attr);
  /* The remaining number outlives disable and enable. */
  run_steps(&collector, "r3 h1 r2 h1 d h4 e h10 =5");
  /* Used up, it is no limit any more. */
  run_steps(&collector, "e h10 =15");
  live_close(&collector);
}

static void event_refresh_of_what_has_no_overflows_is_einval(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  live_need_syscall(__func__, &attr, PERF_SAMPLE_IP);
  attr.inherit = 1;
  options.flags = UVPERF_EVENT_NO_RING;
  live_init(*state, &collector, &attr, &options);
  live_control_expect_refused(uvperf_event_refresh(&collector.event, 3, &error),
                              &error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                              "attr.inherit");
  live_close(&collector);
  attr.inherit = 0;
  uvperf_attr_set_period(&attr, 0);
  live_init(*state, &collector, &attr, NULL);
  live_control_expect_refused(uvperf_event_refresh(&collector.event, 3, &error),
                              &error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                              "attr.sample_period");
  live_close(&collector);
}

/* -- PERIOD --------------------------------------------------------------- */

/* The counts at which samples came. */
typedef struct beats_s {
  uint64_t counts[64];
  size_t nr;
} beats_t;

static void on_beat(live_collector_t *collector,
                    const uvperf_record_t *record) {
  beats_t *beats = collector->hook_data;
  uvperf_count_t count;

  if (record->type == PERF_RECORD_SAMPLE && beats->nr < 64 &&
      uvperf_values_get(&record->sample.read, 0, &count) == 0)
    beats->counts[beats->nr++] = count.value;
}

static void event_set_period_while_running_changes_the_samples(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  beats_t beats = {{0}, 0};
  size_t i;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_READ);
  live_begin(*state, &collector, &attr, NULL, on_beat, &beats);
  run_steps(&collector, "h10 =10 p5");
  assert_int_equal(
      uvperf_handle_attr(&collector.event.handle, 0)->sample_period, 5);
  live_write(30);
  live_run_ms(*state, 1);
  /* Here the samples come at 11, 11, 12 and then each 5: __perf_event_period
   * sets period_left to 0, and perf_swevent_set_period takes the old period
   * once more. If the thread loses its CPU in between they come at 15, 20 … */
  assert_in_range(beats.nr, 10 + 6, 10 + 8);
  for (i = beats.nr - 4; i < beats.nr; i++)
    assert_int_equal(beats.counts[i] - beats.counts[i - 1], 5);
  run_steps(&collector, "p1");
  beats.nr = 0;
  live_write(7);
  live_run_ms(*state, 1);
  assert_int_equal(beats.nr, 7);
  assert_int_equal(live_control_count(&collector), 47);
  live_close(&collector);
}

static void event_set_period_while_stopped_is_exact(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_IP);
  live_control_begin(*state, &collector, &attr);
  run_steps(&collector, "p4 e h43 =10");
  live_close(&collector);
}

static void event_set_period_that_cannot_be_is_einval(void **state) {
  live_collector_t collector;
  uvperf_event_t *event = &collector.event;
  struct perf_event_attr attr;
  uvperf_error_t error;

  live_need_syscall(__func__, &attr, PERF_SAMPLE_IP);
  live_init(*state, &collector, &attr, NULL);
  live_control_expect_refused(
      uvperf_change_period(&event->handle, 0, 0, &error), &error, UV_EINVAL,
      UVPERF_CAUSE_ARGUMENT, "");
  live_control_expect_refused(
      uvperf_change_period(&event->handle, 0, UINT64_C(1) << 63, &error),
      &error, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "2^63");
  assert_int_equal(uvperf_handle_attr(&event->handle, 0)->sample_period, 1);
  assert_int_equal(
      uvperf_change_period(&event->handle, 0, (UINT64_C(1) << 63) - 1, NULL),
      0);
  live_close(&collector);
  uvperf_attr_set_period(&attr, 0);
  live_init(*state, &collector, &attr, NULL);
  live_control_expect_refused(
      uvperf_change_period(&event->handle, 0, 5, &error), &error, UV_EINVAL,
      UVPERF_CAUSE_ARGUMENT, "attr.sample_period");
  live_close(&collector);
}

static void event_set_frequency_above_the_rate_is_einval(void **state) {
  static const uint64_t configs[] = {PERF_COUNT_SW_PAGE_FAULTS,
                                     PERF_COUNT_SW_CPU_CLOCK};
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < 2; i++) {
    uvperf_attr_software(&attr, configs[i]);
    uvperf_attr_set_frequency(&attr, 100);
    attr.exclude_kernel = 1;
    live_init(*state, &collector, &attr, NULL);
    assert_int_equal(
        uvperf_change_period(&collector.event.handle, 0, 200, NULL), 0);
    live_control_expect_refused(
        uvperf_change_period(&collector.event.handle, 0, INT64_MAX, &error),
        &error, UV_EINVAL, UVPERF_CAUSE_SAMPLE_RATE, "max_sample_rate");
    assert_int_equal(error.needed, INT64_MAX);
    assert_true(error.limit > 0 && error.limit < INT64_MAX);
    assert_int_equal(
        uvperf_handle_attr(&collector.event.handle, 0)->sample_freq, 200);
    live_close(&collector);
  }
}

/* Uses 100 ms of the thread's CPU time, as the event counts it, most of it on
 * the user side. */
static void burn(live_collector_t *collector) {
  uint64_t start = live_control_count(collector);
  volatile int spin;

  while (live_control_count(collector) - start < 100000000)
    for (spin = 0; spin < 100000; spin++)
      continue;
}

/* A clock skips ticks, but never adds any: 100 Hz and 1000 Hz have a known
 * maximum of samples, whatever the machine does. */
static void event_set_frequency_of_a_clock_changes_the_rate(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t slow, fast;

  support_need_own_events(__func__);
  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  uvperf_attr_set_frequency(&attr, 100);
  uvperf_attr_set_wakeup_bytes(&attr, 1);
  attr.sample_type = PERF_SAMPLE_IP;
  attr.exclude_kernel = 1;
  live_control_begin(*state, &collector, &attr);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  burn(&collector);
  live_run_ms(*state, 1);
  slow = collector.records;
  run_steps(&collector, "p1000");
  burn(&collector);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  live_run_ms(*state, 1);
  fast = collector.records - slow;
  assert_in_range(slow, 1, 12);
  assert_in_range(fast, 13, 110);
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_refresh_delivers_that_number_of_samples),
      support_loop_test(event_whose_overflows_ran_out_is_started_again),
      support_loop_test(event_whose_overflows_ran_out_restarts_in_any_order),
      support_loop_test(sibling_whose_overflows_ran_out_is_started_again),
      support_loop_test(event_of_another_thread_that_ran_out_says_so),
      support_loop_test(event_refresh_adds_to_what_is_left),
      support_loop_test(event_refresh_of_what_has_no_overflows_is_einval),
      support_loop_test(event_set_period_while_running_changes_the_samples),
      support_loop_test(event_set_period_while_stopped_is_exact),
      support_loop_test(event_set_period_that_cannot_be_is_einval),
      support_loop_test(event_set_frequency_above_the_rate_is_einval),
      support_loop_test(event_set_frequency_of_a_clock_changes_the_rate),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
