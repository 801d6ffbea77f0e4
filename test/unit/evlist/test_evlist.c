/* SPDX-License-Identifier: MIT */
/* Scripted: the options of an evlist, and which are refused; forks; and memory
 * that runs out at any moment. */
#include "scripted_evlist.h"
#include "make_host.h"

#include "evlist/internal.h"
#include "name/list.h"

static const scripted_row_t rows[] = {
    {"attr_of_no_size_is_refused",
     "attrs 2; attr 1 size=63; open -> EINVAL argument a1 t0\n"
     "attrs 2; attr 1 size=0x100000; open -> E2BIG argument a1 t0\n"},
    {"options_with_unknown_bits_are_refused",
     "attrs 1; flags 0x80000000; open -> EINVAL argument a0 t0\n"
     "attrs 1; fallbacks 0x80000000; open -> EINVAL argument a0 t0\n"},
    /* Members need not follow their leader. */
    {"items_of_attrs_are_known_by_them",
     "attrs 5; leader 3 1; leader 4 0; open; "
     "item 0 -> task-clock ns group 1 leader 0\n"
     "item 1 -> page-faults group 0 leader 1\n"
     "item 2 -> dummy\n"
     "item 3 -> context-switches group 0 leader 1\n"
     "item 4 -> cpu-migrations group 1 leader 0\n"
     "item 5 -> none\n"
     "fields 3 config -> 3\n"},
    {"items_of_a_list_are_its_own",
     "names dummy,{task-clock/name=x/,page-faults}; open; item 0 -> dummy\n"
     "item 1 -> x ns group 0 leader 1\n"
     "item 2 -> page-faults group 0 leader 1\n"},
    {"forked_child_may_only_free",
     "attrs 1; attr 0 sample_period=7; cpus 0; open; fork; "
     "enable -> EPERM argument a0 t0\n"
     "disable -> EPERM argument a0 t0\n"
     "reset -> EPERM\n"
     "read -> EPERM\n"
     "filter 0 x -> EPERM argument a0 t0\n"
     "period 0 9 -> EPERM argument a0 t0\n"
     "program 0 -> EPERM argument a0 t0\n"
     "add cpus 1 -> EPERM argument a0 t0\n"
     "remove 0 -> EPERM argument a0 t0\n"
     "nr -> 1\n"
     "close -> close e0\n"},
    /* The existing events work as before. */
    {"every_failing_calloc_is_survived",
     "each calloc ENOMEM; task 4711 4711 77; attrs 3; group 0 2; "
     "attr 2 type=0 config=0; fallbacks clock; cpus 0-1; process 99; "
     "process 4711; refuse hardware ENOENT; open; filter 0 'pid == 7'; "
     "add cpus 2-9; add cpus 2-9; enable\n"},
};

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

static void options_that_contradict_themselves_are_refused(void **state) {
  uvperf_event_list_t *list;
  uvperf_error_t error;

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

static void attrs_are_copied(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[1];

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

  assert_int_equal(make_host_setup(state), 0);
  make_host_write("/sys/bus/event_source/devices/uprobe/type", "99\n");
  assert_int_equal(uvperf_event_list_parse(
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
  assert_int_equal(make_host_teardown(state), 0);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(options_that_contradict_themselves_are_refused,
                             evlist_make_setup),
      cmocka_unit_test_setup(names_are_parsed_as_a_list, evlist_make_setup),
      cmocka_unit_test_setup(attrs_are_copied, evlist_make_setup),
      cmocka_unit_test_setup(attrs_keep_their_size, evlist_make_setup),
      cmocka_unit_test_setup(strings_of_probes_outlive_their_list,
                             evlist_make_setup),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
