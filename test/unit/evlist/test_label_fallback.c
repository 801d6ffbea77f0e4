/* SPDX-License-Identifier: MIT */
/* Scripted: after a fallback an attr has the label and unit of the event that
 * was opened. */
#include "evlist_make.h"
#include "host_tree.h"

#include <errno.h>

#include "uvperf/name.h"

static evlist_make_t make;
static fake_event_t *events[8];
static uvperf_event_list_t *list;

static void setup_list(const char *names, uint32_t fallbacks) {
  uvperf_error_t error;

  assert_int_equal(uvperf_event_list_parse(&list, names, &error), 0);
  counters_script(events, 8);
  evlist_make(&make, 0);
  make.options.events = list;
  make.options.fallbacks = fallbacks;
}

static void expect(const uvperf__evlist_t *evlist, size_t attr,
                   const char *label, const char *unit) {
  const uvperf_event_item_t *item = uvperf__evlist_item(evlist, attr);

  assert_string_equal(item->label, label);
  assert_string_equal(item->unit, unit);
  assert_true(item->scale == 1);
}

static int add_target(uvperf__evlist_t *evlist, uint32_t type) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = type;
  target.cpus = type == UVPERF_TARGET_CPUS ? "0" : NULL;
  return uvperf__evlist_add_target(evlist, &target, NULL, NULL);
}

static void finish(uvperf__evlist_t *evlist) {
  uvperf__evlist_free(evlist);
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
  uvperf__evlist_t *evlist;

  (void)state;
  setup_list("cycles,cycles/name=mine/,cycles:u,page-faults",
             UVPERF_FALLBACK_CLOCK);
  evlist_add(&make, UVPERF_TARGET_SELF);
  fake_on_open(no_hardware);
  evlist = evlist_open(&make);
  expect(evlist, 0, "task-clock", "ns");
  expect(evlist, 1, "task-clock", "ns");
  expect(evlist, 2, "task-clock:u", "ns");
  expect(evlist, 3, "page-faults", "");
  assert_ptr_equal(uvperf__evlist_item(evlist, 0)->label,
                   uvperf__evlist_item(evlist, 0)->label);
  assert_int_equal(evlist_add_elsewhere(evlist, &make.targets[0], NULL), 0);
  finish(evlist);
}

static void item_after_the_clock_of_a_cpu_has_its_name(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  setup_list("cycles", UVPERF_FALLBACK_CLOCK);
  evlist_add_cpus(&make, "0");
  fake_on_open(no_hardware);
  evlist = evlist_open(&make);
  expect(evlist, 0, "cpu-clock", "ns");
  finish(evlist);
}

static void item_after_the_user_side_has_a_u(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  setup_list("cycles,cycles:pp,page-faults/name=mine/,faults:u",
             UVPERF_FALLBACK_USER);
  evlist_add(&make, UVPERF_TARGET_SELF);
  fake_on_open(no_kernel_side);
  evlist = evlist_open(&make);
  expect(evlist, 0, "cycles:u", "");
  expect(evlist, 1, "cycles:ppu", "");
  expect(evlist, 2, "mine:u", "");
  expect(evlist, 3, "faults:u", "");
  finish(evlist);
}

static void item_of_an_attr_after_the_user_side_has_a_u(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist_make_setup(NULL);
  counters_script(events, 8);
  evlist_make(&make, 5);
  uvperf_attr_tracepoint(&make.attrs[0], 316);
  uvperf_attr_breakpoint(&make.attrs[1], 2, 0x1000, 8);
  uvperf_attr_hardware(&make.attrs[2], PERF_COUNT_HW_CPU_CYCLES);
  uvperf_attr_set_period(&make.attrs[2], 1000);
  uvperf_attr_init(&make.attrs[3], PERF_TYPE_MAX + 90, 7);
  uvperf_attr_tracepoint(&make.attrs[4], 316);
  make.attrs[4].pinned = 1;
  make.options.fallbacks = UVPERF_FALLBACK_USER;
  evlist_add(&make, UVPERF_TARGET_SELF);
  fake_on_open(no_kernel_side);
  evlist = evlist_open(&make);
  expect(evlist, 0, "sched:sched_switch:u", "");
  expect(evlist, 1, "mem:0x1000/8:w:u", "");
  expect(evlist, 2, "cpu-cycles/period=1000/u", "");
  expect(evlist, 3, "type=96,config=0x7:u", "");
  expect(evlist, 4, "sched:sched_switch:Du", "");
  finish(evlist);
}

static void item_after_less_precision_says_how_much(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  setup_list("cycles:ppp,cycles:P,cycles:p", UVPERF_FALLBACK_PRECISE);
  evlist_add(&make, UVPERF_TARGET_SELF);
  fake_on_open(no_precision);
  evlist = evlist_open(&make);
  expect(evlist, 0, "cpu-cycles:p", "");
  /* It asks for the most that there is, which it has. */
  expect(evlist, 1, "cycles:P", "");
  expect(evlist, 2, "cycles:p", "");
  finish(evlist);
}

static void item_without_memory_for_its_label_asks_again(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  setup_list("cycles", UVPERF_FALLBACK_CLOCK);
  evlist_add(&make, UVPERF_TARGET_SELF);
  fake_on_open(no_hardware);
  evlist = evlist_open(&make);
  fake_fail(FAKE_CALLOC, 1, -ENOMEM);
  expect(evlist, 0, "cycles", "");
  expect(evlist, 0, "task-clock", "ns");
  finish(evlist);
}

/* -- before the first target ----------------------------------------------- */

static int neither_hardware_nor_kernel_side(struct perf_event_attr *attr) {
  return !attr->exclude_kernel ? -EACCES : no_hardware(attr);
}

/* The events of the trial are closed at once, and the label stays. */
static void item_does_not_change_with_the_first_target(void **state) {
  const uvperf_event_item_t *items[3];
  uvperf__evlist_t *evlist;
  const char *labels[3];
  size_t i;

  (void)state;
  setup_list("cycles,page-faults,faults:u", UVPERF_FALLBACK_ALL);
  fake_on_open(neither_hardware_nor_kernel_side);
  evlist = evlist_open(&make);
  assert_string_equal(fake_log(), "open failed, open failed, open, close, "
                                  "open failed, open, close, open, close");
  expect(evlist, 0, "cpu-clock:u", "ns");
  expect(evlist, 1, "page-faults:u", "");
  expect(evlist, 2, "faults:u", "");
  for (i = 0; i < 3; i++) {
    items[i] = uvperf__evlist_item(evlist, i);
    labels[i] = items[i]->label;
  }
  fake_log_clear();
  /* A task gets the clock that was chosen without knowing the target. */
  assert_int_equal(add_target(evlist, UVPERF_TARGET_SELF), 0);
  assert_int_equal(add_target(evlist, UVPERF_TARGET_CPUS), 0);
  assert_string_equal(fake_log(), "open, open, open, open, open, open");
  for (i = 0; i < 3; i++) {
    assert_ptr_equal(uvperf__evlist_item(evlist, i), items[i]);
    assert_ptr_equal(items[i]->label, labels[i]);
  }
  assert_int_equal(items[0]->attr->config, PERF_COUNT_SW_CPU_CLOCK);
  finish(evlist);
}

static int no_slow_event(struct perf_event_attr *attr) {
  assert_int_not_equal(attr->type, PERF_TYPE_TRACEPOINT);
  return no_kernel_side(attr);
}

/* Closing the last event of a tracepoint takes the kernel long. */
static void item_of_a_tracepoint_is_known_without_opening_it(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  evlist_make_setup(NULL);
  counters_script(events, 8);
  evlist_make(&make, 1);
  uvperf_attr_tracepoint(&make.attrs[0], 316);
  make.options.fallbacks = UVPERF_FALLBACK_USER;
  fake_on_open(no_slow_event);
  evlist = evlist_open(&make);
  expect(evlist, 0, "sched:sched_switch:u", "");
  fake_on_open(no_kernel_side);
  assert_int_equal(add_target(evlist, UVPERF_TARGET_SELF), 0);
  expect(evlist, 0, "sched:sched_switch:u", "");
  finish(evlist);
}

/* A later target that would need a clock fails. */
static void item_stays_as_it_could_be_opened_at_first(void **state) {
  const uvperf_target_t self = UVPERF_TARGET_INIT;
  uvperf__evlist_t *evlist;

  (void)state;
  setup_list("cycles", UVPERF_FALLBACK_CLOCK);
  evlist = evlist_open(&make);
  fake_on_open(no_hardware);
  assert_int_equal(add_target(evlist, UVPERF_TARGET_SELF), -ENOENT);
  assert_int_equal(evlist_add_elsewhere(evlist, &self, NULL), -ENOENT);
  expect(evlist, 0, "cycles", "");
  finish(evlist);
}

static int nothing(struct perf_event_attr *attr) {
  (void)attr;
  return -EPERM;
}

/* No form of it opens for this thread. */
static void item_of_what_this_thread_may_not_open_is_as_asked(void **state) {
  uvperf__evlist_t *evlist;
  size_t nr;

  (void)state;
  setup_list("cycles", UVPERF_FALLBACK_ALL);
  fake_on_open(nothing);
  evlist = evlist_open(&make);
  expect(evlist, 0, "cycles", "");
  assert_null(uvperf__evlist_changes(evlist, 0, &nr));
  fake_on_open(no_kernel_side);
  assert_int_equal(add_target(evlist, UVPERF_TARGET_SELF), -EACCES);
  expect(evlist, 0, "cycles", "");
  finish(evlist);
}

/* An event that measures CPUs only cannot be opened for a thread. */
static void item_without_fallbacks_opens_nothing(void **state) {
  uvperf__evlist_t *evlist;

  (void)state;
  setup_list("cycles,page-faults", UVPERF_FALLBACK_KERNEL);
  evlist = evlist_open(&make);
  assert_string_equal(fake_log(), "");
  finish(evlist);
}

static void set_without_targets_needs_fds_to_choose(void **state) {
  uvperf_error_t error;

  (void)state;
  counters_script(events, 8);
  evlist_make(&make, 2);
  make.options.fallbacks = UVPERF_FALLBACK_CLOCK;
  fake_fail(FAKE_OPEN, 2, -EMFILE);
  evlist_refused(&make, &error, -EMFILE, UVPERF_CAUSE_FILES);
  assert_int_equal(error.attr_index, 1);
}

static void set_without_targets_and_memory_leaves_nothing(void **state) {
  uvperf__evlist_t *evlist;
  unsigned failures, nth = 0;
  int rc;

  (void)state;
  do {
    setup_list("cycles,page-faults", UVPERF_FALLBACK_ALL);
    fake_on_open(neither_hardware_nor_kernel_side);
    failures = fake_failures();
    fake_fail(FAKE_CALLOC, ++nth, 0);
    rc = uvperf__evlist_new(&evlist, &make.options, NULL);
    assert_int_equal(rc, fake_failures() > failures ? -ENOMEM : 0);
    finish(evlist);
  } while (rc != 0);
  assert_true(nth > 3);
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(item_after_a_clock_has_its_name_and_unit),
      TEST(item_after_the_clock_of_a_cpu_has_its_name),
      TEST(item_after_the_user_side_has_a_u),
      cmocka_unit_test_setup_teardown(
          item_of_an_attr_after_the_user_side_has_a_u, host_tree_machine_setup,
          host_tree_teardown),
      TEST(item_after_less_precision_says_how_much),
      TEST(item_without_memory_for_its_label_asks_again),
      TEST(item_does_not_change_with_the_first_target),
      cmocka_unit_test_setup_teardown(
          item_of_a_tracepoint_is_known_without_opening_it,
          host_tree_machine_setup, host_tree_teardown),
      TEST(item_stays_as_it_could_be_opened_at_first),
      TEST(item_of_what_this_thread_may_not_open_is_as_asked),
      TEST(item_without_fallbacks_opens_nothing),
      TEST(set_without_targets_needs_fds_to_choose),
      TEST(set_without_targets_and_memory_leaves_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
