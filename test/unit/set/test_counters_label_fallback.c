/* SPDX-License-Identifier: MIT */
/* Scripted: after a fallback an attr has the label and unit of the event that
 * was opened. */
#include "counters_make.h"
#include "temp_tree.h"

#include <errno.h>

#include "uvperf/name.h"

static counters_make_t make;
static fake_event_t *events[8];
static uvperf_event_list_t *list;

static void setup_list(const char *names, uint32_t fallbacks) {
  uvperf_error_t error;

  assert_int_equal(uvperf_event_list_parse(&list, names, &error), 0);
  counters_script(events, 8);
  counters_make(&make, 0);
  make.options.events = list;
  make.options.fallbacks = fallbacks;
}

static void expect(const uvperf__counters_t *counters, size_t attr,
                   const char *label, const char *unit) {
  const uvperf_event_item_t *item = uvperf__counters_item(counters, attr);

  assert_string_equal(item->label, label);
  assert_string_equal(item->unit, unit);
  assert_true(item->scale == 1);
}

static int add_target(uvperf__counters_t *counters, uint32_t type) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = type;
  target.cpus = type == UVPERF_TARGET_CPUS ? "0" : NULL;
  return uvperf__counters_add_target(counters, &target, NULL, NULL);
}

static void finish(uvperf__counters_t *counters) {
  uvperf__counters_free(counters);
  uvperf_event_list_free(list);
  list = NULL;
  fake_assert_clean();
}

static int no_hardware(struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_HARDWARE ? -ENOENT : 0;
}

static int no_kernel_side(struct perf_event_attr *attr) {
  return attr->exclude_kernel ? 0 : -EACCES;
}

static int no_precision(struct perf_event_attr *attr) {
  return attr->precise_ip > 1 ? -EOPNOTSUPP : 0;
}

static void item_after_a_clock_has_its_name_and_unit(void **state) {
  uvperf__counters_t *counters;

  (void)state;
  setup_list("cycles,cycles/name=mine/,cycles:u,page-faults",
             UVPERF_FALLBACK_CLOCK);
  counters_add(&make, UVPERF_TARGET_SELF);
  fake_on_open(no_hardware);
  counters = counters_open(&make);
  expect(counters, 0, "task-clock", "ns");
  expect(counters, 1, "task-clock", "ns");
  expect(counters, 2, "task-clock:u", "ns");
  expect(counters, 3, "page-faults", "");
  assert_ptr_equal(uvperf__counters_item(counters, 0)->label,
                   uvperf__counters_item(counters, 0)->label);
  assert_int_equal(counters_add_elsewhere(counters, &make.targets[0], NULL), 0);
  finish(counters);
}

static void item_after_the_clock_of_a_cpu_has_its_name(void **state) {
  uvperf__counters_t *counters;

  (void)state;
  setup_list("cycles", UVPERF_FALLBACK_CLOCK);
  counters_add_cpus(&make, "0");
  fake_on_open(no_hardware);
  counters = counters_open(&make);
  expect(counters, 0, "cpu-clock", "ns");
  finish(counters);
}

static void item_after_the_user_side_has_a_u(void **state) {
  uvperf__counters_t *counters;

  (void)state;
  setup_list("cycles,cycles:pp,page-faults/name=mine/,faults:u",
             UVPERF_FALLBACK_USER);
  counters_add(&make, UVPERF_TARGET_SELF);
  fake_on_open(no_kernel_side);
  counters = counters_open(&make);
  expect(counters, 0, "cycles:u", "");
  expect(counters, 1, "cycles:ppu", "");
  expect(counters, 2, "mine:u", "");
  expect(counters, 3, "faults:u", "");
  finish(counters);
}

static void item_of_an_attr_after_the_user_side_has_a_u(void **state) {
  const temp_tree_t *tree = *state;
  uvperf__counters_t *counters;

  counters_make_setup(NULL);
  counters_script(events, 8);
  counters_make(&make, 5);
  uvperf_attr_tracepoint(&make.attrs[0], 316);
  uvperf_attr_breakpoint(&make.attrs[1], 2, 0x1000, 8);
  uvperf_attr_hardware(&make.attrs[2], PERF_COUNT_HW_CPU_CYCLES);
  uvperf_attr_set_period(&make.attrs[2], 1000);
  uvperf_attr_init(&make.attrs[3], PERF_TYPE_MAX + 90, 7);
  uvperf_attr_tracepoint(&make.attrs[4], 316);
  make.attrs[4].pinned = 1;
  make.options.fallbacks = UVPERF_FALLBACK_USER;
  counters_add(&make, UVPERF_TARGET_SELF);
  fake_on_open(no_kernel_side);
  counters = counters_open_on(tree->root, &make);
  expect(counters, 0, "sched:sched_switch:u", "");
  expect(counters, 1, "mem:0x1000/8:w:u", "");
  expect(counters, 2, "cpu-cycles/period=1000/u", "");
  expect(counters, 3, "type=96,config=0x7:u", "");
  expect(counters, 4, "sched:sched_switch:Du", "");
  finish(counters);
}

static void item_after_less_precision_says_how_much(void **state) {
  uvperf__counters_t *counters;

  (void)state;
  setup_list("cycles:ppp,cycles:P,cycles:p", UVPERF_FALLBACK_PRECISE);
  counters_add(&make, UVPERF_TARGET_SELF);
  fake_on_open(no_precision);
  counters = counters_open(&make);
  expect(counters, 0, "cpu-cycles:p", "");
  /* It asks for the most that there is, which it has. */
  expect(counters, 1, "cycles:P", "");
  expect(counters, 2, "cycles:p", "");
  finish(counters);
}

static void item_without_memory_for_its_label_asks_again(void **state) {
  uvperf__counters_t *counters;

  (void)state;
  setup_list("cycles", UVPERF_FALLBACK_CLOCK);
  counters_add(&make, UVPERF_TARGET_SELF);
  fake_on_open(no_hardware);
  counters = counters_open(&make);
  fake_fail(FAKE_CALLOC, 1, -ENOMEM);
  expect(counters, 0, "cycles", "");
  expect(counters, 0, "task-clock", "ns");
  finish(counters);
}

/* -- before the first target ----------------------------------------------- */

static int neither_hardware_nor_kernel_side(struct perf_event_attr *attr) {
  return !attr->exclude_kernel ? -EACCES : no_hardware(attr);
}

/* The events of the trial are closed at once, and the label stays. */
static void item_does_not_change_with_the_first_target(void **state) {
  const uvperf_event_item_t *items[3];
  uvperf__counters_t *counters;
  const char *labels[3];
  size_t i;

  (void)state;
  setup_list("cycles,page-faults,faults:u", UVPERF_FALLBACK_ALL);
  fake_on_open(neither_hardware_nor_kernel_side);
  counters = counters_open(&make);
  assert_string_equal(fake_log(), "open failed, open failed, open, close, "
                                  "open failed, open, close, open, close");
  expect(counters, 0, "cpu-clock:u", "ns");
  expect(counters, 1, "page-faults:u", "");
  expect(counters, 2, "faults:u", "");
  for (i = 0; i < 3; i++) {
    items[i] = uvperf__counters_item(counters, i);
    labels[i] = items[i]->label;
  }
  fake_log_clear();
  /* A task gets the clock that was chosen without knowing the target. */
  assert_int_equal(add_target(counters, UVPERF_TARGET_SELF), 0);
  assert_int_equal(add_target(counters, UVPERF_TARGET_CPUS), 0);
  assert_string_equal(fake_log(), "open, open, open, open, open, open");
  for (i = 0; i < 3; i++) {
    assert_ptr_equal(uvperf__counters_item(counters, i), items[i]);
    assert_ptr_equal(items[i]->label, labels[i]);
  }
  assert_int_equal(items[0]->attr->config, PERF_COUNT_SW_CPU_CLOCK);
  finish(counters);
}

static int no_slow_event(struct perf_event_attr *attr) {
  assert_int_not_equal(attr->type, PERF_TYPE_TRACEPOINT);
  return no_kernel_side(attr);
}

/* Closing the last event of a tracepoint takes the kernel long. */
static void item_of_a_tracepoint_is_known_without_opening_it(void **state) {
  const temp_tree_t *tree = *state;
  uvperf__counters_t *counters;

  counters_make_setup(NULL);
  counters_script(events, 8);
  counters_make(&make, 1);
  uvperf_attr_tracepoint(&make.attrs[0], 316);
  make.options.fallbacks = UVPERF_FALLBACK_USER;
  fake_on_open(no_slow_event);
  counters = counters_open_on(tree->root, &make);
  expect(counters, 0, "sched:sched_switch:u", "");
  fake_on_open(no_kernel_side);
  assert_int_equal(add_target(counters, UVPERF_TARGET_SELF), 0);
  expect(counters, 0, "sched:sched_switch:u", "");
  finish(counters);
}

/* A later target that would need a clock fails. */
static void item_stays_as_it_could_be_opened_at_first(void **state) {
  const uvperf_target_t self = UVPERF_TARGET_INIT;
  uvperf__counters_t *counters;

  (void)state;
  setup_list("cycles", UVPERF_FALLBACK_CLOCK);
  counters = counters_open(&make);
  fake_on_open(no_hardware);
  assert_int_equal(add_target(counters, UVPERF_TARGET_SELF), -ENOENT);
  assert_int_equal(counters_add_elsewhere(counters, &self, NULL), -ENOENT);
  expect(counters, 0, "cycles", "");
  finish(counters);
}

static int nothing(struct perf_event_attr *attr) {
  (void)attr;
  return -EPERM;
}

/* No form of it opens for this thread. */
static void item_of_what_this_thread_may_not_open_is_as_asked(void **state) {
  uvperf__counters_t *counters;
  size_t nr;

  (void)state;
  setup_list("cycles", UVPERF_FALLBACK_ALL);
  fake_on_open(nothing);
  counters = counters_open(&make);
  expect(counters, 0, "cycles", "");
  assert_null(uvperf__counters_changes(counters, 0, &nr));
  fake_on_open(no_kernel_side);
  assert_int_equal(add_target(counters, UVPERF_TARGET_SELF), -EACCES);
  expect(counters, 0, "cycles", "");
  finish(counters);
}

/* An event that measures CPUs only cannot be opened for a thread. */
static void item_without_fallbacks_opens_nothing(void **state) {
  uvperf__counters_t *counters;

  (void)state;
  setup_list("cycles,page-faults", UVPERF_FALLBACK_KERNEL);
  counters = counters_open(&make);
  assert_string_equal(fake_log(), "");
  finish(counters);
}

static void set_without_targets_needs_fds_to_choose(void **state) {
  uvperf_error_t error;

  (void)state;
  counters_script(events, 8);
  counters_make(&make, 2);
  make.options.fallbacks = UVPERF_FALLBACK_CLOCK;
  fake_fail(FAKE_OPEN, 2, -EMFILE);
  counters_refused(&make, &error, -EMFILE, UVPERF_CAUSE_FILES);
  assert_int_equal(error.attr_index, 1);
}

static void set_without_targets_and_memory_leaves_nothing(void **state) {
  uvperf__counters_t *counters;
  unsigned failures, nth = 0;
  int rc;

  (void)state;
  do {
    setup_list("cycles,page-faults", UVPERF_FALLBACK_ALL);
    fake_on_open(neither_hardware_nor_kernel_side);
    failures = fake_failures();
    fake_fail(FAKE_CALLOC, ++nth, 0);
    rc = uvperf__counters_new(&counters, &make.options, NULL);
    assert_int_equal(rc, fake_failures() > failures ? -ENOMEM : 0);
    finish(counters);
  } while (rc != 0);
  assert_true(nth > 3);
}

#define TEST(f) cmocka_unit_test_setup(f, counters_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(item_after_a_clock_has_its_name_and_unit),
      TEST(item_after_the_clock_of_a_cpu_has_its_name),
      TEST(item_after_the_user_side_has_a_u),
      cmocka_unit_test_setup_teardown(
          item_of_an_attr_after_the_user_side_has_a_u, temp_tree_machine_setup,
          temp_tree_teardown),
      TEST(item_after_less_precision_says_how_much),
      TEST(item_without_memory_for_its_label_asks_again),
      TEST(item_does_not_change_with_the_first_target),
      cmocka_unit_test_setup_teardown(
          item_of_a_tracepoint_is_known_without_opening_it,
          temp_tree_machine_setup, temp_tree_teardown),
      TEST(item_stays_as_it_could_be_opened_at_first),
      TEST(item_of_what_this_thread_may_not_open_is_as_asked),
      TEST(item_without_fallbacks_opens_nothing),
      TEST(set_without_targets_needs_fds_to_choose),
      TEST(set_without_targets_and_memory_leaves_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
