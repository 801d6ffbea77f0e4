/* SPDX-License-Identifier: MIT */
/* Scripted: the options of counters, and which are refused; targets that come
 * and go; forks; and memory that runs out at any moment. */
#include "evlist_make.h"
#include "host_tree.h"
#include "temp_tree.h"

#include <errno.h>
#include <unistd.h>

#include "name/list.h"
#include "evlist/internal.h"

static evlist_make_t make;

static int add_cpus(uvperf__evlist_t *evlist, const char *cpus, uint32_t *index,
                    uvperf_error_t *error) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = cpus;
  return uvperf__evlist_add_target(evlist, &target, index, error);
}

/* Makes options of `nr` attrs and a list that must not be freed before. */
static uvperf_event_list_t *make_list(const char *names) {
  uvperf_event_list_t *list;

  assert_int_equal(uvperf_event_list_parse(&list, names, NULL), 0);
  evlist_make(&make, 0);
  make.options.events = list;
  return list;
}

static void finish(uvperf__evlist_t *evlist) {
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- arguments ------------------------------------------------------------ */

static void options_that_contradict_themselves_are_refused(void **state) {
  uvperf_event_list_t *list;
  uvperf_error_t error;

  (void)state;
  evlist_make(&make, 0);
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  evlist_make(&make, 1);
  make.options.attrs = NULL;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  evlist_make(&make, 3);
  make.pointers[2] = NULL;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.attr_index, 2);
  evlist_make(&make, 1);
  make.options.flags = 1u << 31;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  evlist_make(&make, 1);
  make.options.fallbacks = 1u << 31;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  evlist_make(&make, 1);
  make.options.nr_attrs = UVPERF__EVENT_LIST_MOST + 1;
  evlist_refused(&make, &error, -E2BIG, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.limit, UVPERF__EVENT_LIST_MOST);
  evlist_make(&make, 1);
  make.options.targets = NULL;
  make.options.nr_targets = 1;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  list = make_list("dummy");
  make.options.attrs = make.pointers;
  assert_int_equal(
      uvperf__evlist_new(&(uvperf__evlist_t *){NULL}, &make.options, NULL),
      -EINVAL);
  make.options.attrs = NULL;
  make.options.nr_attrs = 0;
  make.options.names = "dummy";
  assert_int_equal(
      uvperf__evlist_new(&(uvperf__evlist_t *){NULL}, &make.options, &error),
      -EINVAL);
  assert_non_null(strstr(error.reason, "both names and events"));
  uvperf_event_list_free(list);
  fake_assert_clean();
}

/* As the list of these names does; the text is not kept. */
static void names_are_parsed_as_a_list(void **state) {
  char names[] = "mine{task-clock,page-faults/name=faults/},dummy";
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  unsigned call;

  (void)state;
  evlist_make(&make, 0);
  make.options.names = names;
  assert_int_equal(uvperf__evlist_new(&evlist, &make.options, &error), 0);
  memset(names, 'x', sizeof(names) - 1);
  assert_int_equal(uvperf__evlist_nr_attrs(evlist), 3);
  assert_string_equal(uvperf__evlist_item(evlist, 1)->label, "faults");
  assert_string_equal(uvperf__evlist_item(evlist, 1)->group_name, "mine");
  assert_int_equal(uvperf__evlist_item(evlist, 1)->leader, 0);
  assert_int_equal(uvperf__evlist_item(evlist, 2)->leader, 2);
  finish(evlist);
  make.options.names = "dummy,page-fault";
  assert_int_equal(uvperf__evlist_new(&evlist, &make.options, &error), -ENOENT);
  assert_null(evlist);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(error.attr_index, 1);
  assert_int_equal(error.column, 7);
  make.options.names = "dummy";
  for (call = 1; call <= 4; call++) {
    fake_fail(FAKE_CALLOC, call, 0);
    assert_int_equal(uvperf__evlist_new(&evlist, &make.options, NULL), -ENOMEM);
  }
  fake_assert_clean();
}

static void attr_of_no_size_is_refused(void **state) {
  uvperf_error_t error;

  (void)state;
  evlist_make(&make, 2);
  make.attrs[1].size = 63;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.attr_index, 1);
  make.attrs[1].size = 1u << 20;
  evlist_refused(&make, &error, -E2BIG, UVPERF_CAUSE_ARGUMENT);
}

/* -- what is measured ----------------------------------------------------- */

static void attrs_are_copied(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[1];

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 0);
  assert_int_equal(evlist_nr_places(evlist), 0);
  memset(&make, 0xff, sizeof(make));
  assert_int_equal(add_cpus(evlist, "0", NULL, NULL), 0);
  assert_int_equal(events[0]->attr.config, PERF_COUNT_SW_TASK_CLOCK);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 1);
  finish(evlist);
}

/* Longer than the struct of this header, and shorter. */
static void attrs_keep_their_size(void **state) {
  union {
    struct perf_event_attr attr;
    uint8_t bytes[300];
  } wide;
  uvperf__evlist_t *evlist;
  fake_event_t *events[2];

  (void)state;
  counters_script(events, 2);
  evlist_make(&make, 2);
  memset(&wide, 0, sizeof(wide));
  wide.attr = make.attrs[0];
  wide.attr.size = sizeof(wide);
  wide.bytes[299] = 7;
  make.pointers[0] = &wide.attr;
  make.attrs[1].size = PERF_ATTR_SIZE_VER0;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_int_equal(events[0]->attr.size, sizeof(wide));
  assert_int_equal(events[0]->attr_bytes[299], 7);
  assert_int_equal(events[1]->attr.size, PERF_ATTR_SIZE_VER0);
  finish(evlist);
}

static void items_of_attrs_are_known_by_them(void **state) {
  const uvperf_event_item_t *item;
  uvperf__evlist_t *evlist;

  (void)state;
  evlist_make(&make, 5);
  /* Members need not follow their leader. */
  make.leaders[3] = 1;
  make.leaders[4] = 0;
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_attrs(evlist), 5);
  item = uvperf__evlist_item(evlist, 3);
  assert_string_equal(item->label, "context-switches");
  assert_int_equal(item->leader, 1);
  assert_int_equal(item->group, 0);
  assert_int_equal(item->attr->config, PERF_COUNT_SW_CONTEXT_SWITCHES);
  assert_true(item->scale == 1);
  assert_string_equal(item->unit, "");
  assert_string_equal(item->group_name, "");
  assert_null(item->cpus);
  assert_int_equal(uvperf__evlist_item(evlist, 1)->group, 0);
  assert_int_equal(uvperf__evlist_item(evlist, 0)->group, 1);
  assert_int_equal(uvperf__evlist_item(evlist, 2)->group, -1);
  assert_null(uvperf__evlist_item(evlist, 5));
  finish(evlist);
}

static void items_of_a_list_are_its_own(void **state) {
  const uvperf_event_item_t *item;
  uvperf__evlist_t *evlist;
  uvperf_event_list_t *list;

  (void)state;
  list = make_list("dummy,{task-clock/name=x/,page-faults}");
  evlist = evlist_open(&make);
  item = uvperf__evlist_item(evlist, 2);
  assert_true(item->attr != uvperf_event_list_get(list, 2)->attr);
  uvperf_event_list_free(list);
  assert_string_equal(item->label, "page-faults");
  assert_string_equal(uvperf__evlist_item(evlist, 1)->label, "x");
  assert_int_equal(item->leader, 1);
  assert_int_equal(item->group, 0);
  finish(evlist);
}

/* The kernel reads the string at each open. */
static const char *seen_path;
static int see_path(struct perf_event_attr *attr) {
  if (attr->type == 99)
    seen_path = (const char *)(uintptr_t)attr->config1;
  return 0;
}

static void strings_of_probes_outlive_their_list(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_event_list_t *list;
  fake_event_t *events[1];

  (void)state;
  assert_int_equal(host_tree_setup(NULL), 0);
  host_tree_write("/sys/bus/event_source/devices/uprobe/type", "99\n");
  assert_int_equal(uvperf__event_list_parse(
                       &list, "uprobe/path=\"/bin/sh\",offset=64/", NULL),
                   0);
  counters_script(events, 1);
  evlist_make(&make, 0);
  make.options.events = list;
  evlist = evlist_open(&make);
  uvperf_event_list_free(list);
  fake_on_open(see_path);
  assert_int_equal(add_cpus(evlist, "0", NULL, NULL), 0);
  assert_string_equal(seen_path, "/bin/sh");
  finish(evlist);
  assert_int_equal(host_tree_teardown(NULL), 0);
}

/* -- targets -------------------------------------------------------------- */

/* -- forks ---------------------------------------------------------------- */

static void forked_child_may_only_free(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  fake_event_t *events[1];
  uvperf_error_t error;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  make.attrs[0].sample_period = 7;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  fake_process(4711);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_enable(evlist, &error), -EPERM);
  assert_int_equal(error.code, -EPERM);
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), -EPERM);
  assert_int_equal(uvperf__evlist_reset(evlist), -EPERM);
  assert_int_equal(uvperf__evlist_read(evlist, reading), -EPERM);
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 0, "x", NULL), -EPERM);
  assert_int_equal(uvperf__evlist_change_period(evlist, 0, 9, NULL), -EPERM);
  assert_int_equal(uvperf__evlist_attach_bpf(evlist, 0, 0, 0, NULL), -EPERM);
  assert_int_equal(add_cpus(evlist, "1", NULL, NULL), -EPERM);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), -EPERM);
  assert_string_equal(fake_log(), "");
  assert_int_equal(uvperf__evlist_nr_open(evlist), 1);
  uvperf__evlist_free(evlist);
  assert_string_equal(fake_log(), "close");
  uvperf_reading_free(reading);
  fake_assert_clean();
}

/* -- memory --------------------------------------------------------------- */

/* All that takes memory: 0, or what failed first. */
static int live_through(uvperf__evlist_t **evlist, uvperf_error_t *error) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  int rc;

  *evlist = NULL;
  evlist_make(&make, 3);
  evlist_group(&make, 0, 2);
  uvperf_attr_hardware(&make.attrs[2], PERF_COUNT_HW_CPU_CYCLES);
  make.options.fallbacks = UVPERF_FALLBACK_CLOCK;
  evlist_add_cpus(&make, "0-1");
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = INT32_MAX;
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = getpid();
  rc = evlist_try(&make, evlist, error);
  if (rc != 0)
    return rc;
  rc = uvperf__evlist_apply_filter(*evlist, 0, "pid == 7", error);
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "2-9";
  if (rc == 0)
    rc = uvperf__evlist_add_target(*evlist, &target, NULL, error);
  if (rc == 0)
    rc = uvperf__evlist_add_target(*evlist, &target, NULL, error);
  return rc;
}

static int no_cycles(struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_HARDWARE ? -ENOENT : 0;
}

static void every_failing_calloc_is_survived(void **state) {
  fake_event_t *events[64];
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  size_t fds = support_count_fds();
  unsigned nth;
  int rc = 0;

  (void)state;
  for (nth = 1; nth < 300; nth++) {
    evlist_make_setup(NULL);
    counters_script(events, 64);
    fake_fail(FAKE_CALLOC, nth, 0);
    fake_on_open(no_cycles);
    memset(&error, 0, sizeof(error));
    rc = live_through(&evlist, &error);
    if (fake_failures() != 0) {
      assert_int_equal(rc, -ENOMEM);
      assert_int_equal(error.code, -ENOMEM);
      assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
    }
    /* The existing ones work as before. */
    if (evlist != NULL)
      assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
    finish(evlist);
    assert_int_equal(support_count_fds(), fds);
    if (fake_failures() == 0)
      break;
  }
  assert_int_equal(rc, 0);
  assert_true(nth > 25);
}

static void free_of_nothing_is_nothing(void **state) {
  (void)state;
  uvperf__evlist_free(NULL);
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(options_that_contradict_themselves_are_refused),
      TEST(names_are_parsed_as_a_list),
      TEST(attr_of_no_size_is_refused),
      TEST(attrs_are_copied),
      TEST(attrs_keep_their_size),
      TEST(items_of_attrs_are_known_by_them),
      TEST(items_of_a_list_are_its_own),
      TEST(strings_of_probes_outlive_their_list),
      TEST(forked_child_may_only_free),
      TEST(every_failing_calloc_is_survived),
      TEST(free_of_nothing_is_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
