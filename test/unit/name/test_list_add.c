/* SPDX-License-Identifier: MIT */
/* Attrs that are added to lists of events. */
#include "support.h"

#include "fake_kernel.h"
#include "make_names.h"
#include "make_host.h"

#include "name/list.h"

static int setup(void **state) {
  fake_kernel_reset();
  return make_host_setup(state);
}

static void software(struct perf_event_attr *attr, uint64_t config) {
  uvperf_attr_software(attr, config);
  attr->exclude_kernel = 1;
}

static int add(uvperf_event_list_t **list, uint64_t config, const char *label,
               int leader) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  int index;

  software(&attr, config);
  index = uvperf_event_list_add(list, &attr, label, leader, &error);
  memset(&attr, 0xff, sizeof(attr)); /* it is copied */
  return index;
}

static void expect(const uvperf_event_list_t *list, size_t index,
                   uint64_t config, const char *label, int group,
                   size_t leader) {
  const uvperf_event_item_t *item = uvperf_event_list_get(list, index);

  assert_non_null(item);
  assert_int_equal(item->attr->config, config);
  assert_int_equal(item->attr->exclude_kernel, 1);
  assert_string_equal(item->label, label);
  assert_int_equal(item->group, group);
  assert_int_equal(item->leader, leader);
  assert_int_equal(item->first, index);
  assert_int_equal(item->flags, UVPERF_ITEM_ATTR);
  assert_true(item->scale == 1);
}

static void list_add_makes_a_list_of_attrs_and_groups(void **state) {
  uvperf_event_list_t *list = NULL;
  char label[] = "mine";

  assert_int_equal(add(&list, PERF_COUNT_SW_TASK_CLOCK, NULL, -1), 0);
  assert_int_equal(add(&list, PERF_COUNT_SW_PAGE_FAULTS, label, -1), 1);
  memset(label, 'x', sizeof(label) - 1);
  assert_int_equal(add(&list, PERF_COUNT_SW_DUMMY, "third", 1), 2);
  assert_int_equal(add(&list, PERF_COUNT_SW_CPU_CLOCK, "fourth", 0), 3);
  assert_int_equal(add(&list, PERF_COUNT_SW_DUMMY, "fifth", 1), 4);
  assert_int_equal(uvperf_event_list_count(list), 5);
  expect(list, 0, PERF_COUNT_SW_TASK_CLOCK, "task-clock:uh", 1, 0);
  expect(list, 1, PERF_COUNT_SW_PAGE_FAULTS, "mine", 0, 1);
  expect(list, 2, PERF_COUNT_SW_DUMMY, "third", 0, 1);
  expect(list, 3, PERF_COUNT_SW_CPU_CLOCK, "fourth", 1, 0);
  expect(list, 4, PERF_COUNT_SW_DUMMY, "fifth", 0, 1);
  assert_string_equal(uvperf_event_list_get(list, 0)->unit, "ns");
  assert_string_equal(uvperf_event_list_get(list, 1)->unit, "");
  assert_null(uvperf_event_list_get(list, 5));
  uvperf_event_list_free(list);
  fake_assert_clean();
}

static void list_add_joins_a_group_of_names(void **state) {
  uvperf_event_list_t *list;

  assert_int_equal(
      uvperf_event_list_parse(&list, "dummy,mine{task-clock:u,cs:u}", NULL), 0);
  assert_int_equal(add(&list, PERF_COUNT_SW_PAGE_FAULTS, "own", 1), 3);
  expect(list, 3, PERF_COUNT_SW_PAGE_FAULTS, "own", 0, 1);
  assert_string_equal(uvperf_event_list_get(list, 3)->group_name, "mine");
  assert_int_equal(uvperf_event_list_get(list, 2)->leader, 1);
  uvperf_event_list_free(list);
}

/* Further parts of an event come after all events. */
static void list_add_keeps_the_indexes_of_events(void **state) {
  const uvperf_event_item_t *part;
  uvperf_event_list_t *list;

  assert_int_equal(make_names_plant(make_host_root(), "hybrid_tree.txt"), 0);
  assert_int_equal(uvperf_event_list_parse(&list, "cycles,dummy", NULL), 0);
  assert_int_equal(uvperf_event_list_count(list), 3);
  assert_int_equal(add(&list, PERF_COUNT_SW_PAGE_FAULTS, "own", -1), 2);
  assert_int_equal(add(&list, PERF_COUNT_SW_CPU_CLOCK, "next", 2), 3);
  assert_int_equal(uvperf__event_list_nr_whole(list), 4);
  assert_int_equal(uvperf_event_list_count(list), 5);
  expect(list, 2, PERF_COUNT_SW_PAGE_FAULTS, "own", 0, 2);
  expect(list, 3, PERF_COUNT_SW_CPU_CLOCK, "next", 0, 2);
  part = uvperf_event_list_get(list, 4);
  assert_int_equal(part->first, 0);
  assert_int_equal(part->leader, 4);
  /* A part is no leader. */
  assert_int_equal(add(&list, PERF_COUNT_SW_DUMMY, "last", 4), -EINVAL);
  uvperf_event_list_free(list);
}

static void refused(uvperf_event_list_t **list,
                    const struct perf_event_attr *attr, int leader, int code,
                    int cause) {
  uvperf_event_list_t *same = list != NULL ? *list : NULL;
  size_t nr = same != NULL ? uvperf_event_list_count(same) : 0;
  uvperf_error_t error;

  assert_int_equal(uvperf_event_list_add(list, attr, "label", leader, &error),
                   code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, cause);
  if (list != NULL)
    assert_ptr_equal(*list, same);
  assert_int_equal(same != NULL ? uvperf_event_list_count(same) : 0, nr);
}

static void list_add_that_is_refused_changes_nothing(void **state) {
  uvperf_event_list_t *list = NULL;
  struct perf_event_attr attr;
  unsigned nth;
  int turn;

  software(&attr, PERF_COUNT_SW_DUMMY);
  refused(NULL, &attr, -1, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  for (turn = 0; turn < 2; turn++) {
    refused(&list, NULL, -1, -EINVAL, UVPERF_CAUSE_ARGUMENT);
    refused(&list, &attr, -2, -EINVAL, UVPERF_CAUSE_ARGUMENT);
    refused(&list, &attr, 2 * turn, -EINVAL, UVPERF_CAUSE_ARGUMENT);
    refused(&list, &attr, 2, -EINVAL, UVPERF_CAUSE_ARGUMENT);
    attr.size = 63;
    refused(&list, &attr, -1, -EINVAL, UVPERF_CAUSE_ARGUMENT);
    attr.size = 1u << 20;
    refused(&list, &attr, -1, -E2BIG, UVPERF_CAUSE_ARGUMENT);
    attr.size = sizeof(attr);
    for (nth = 1; nth <= 3; nth++) {
      fake_fail(FAKE_CALLOC, nth, 0);
      refused(&list, &attr, -1, -ENOMEM, UVPERF_CAUSE_MEMORY);
    }
    if (turn == 0) {
      assert_int_equal(add(&list, PERF_COUNT_SW_DUMMY, "leader", -1), 0);
      assert_int_equal(add(&list, PERF_COUNT_SW_DUMMY, "member", 0), 1);
    }
  }
  /* A member leads no group. */
  refused(&list, &attr, 1, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  uvperf_event_list_free(list);
  fake_assert_clean();
}

#define test(f) cmocka_unit_test_setup_teardown(f, setup, make_host_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      test(list_add_makes_a_list_of_attrs_and_groups),
      test(list_add_joins_a_group_of_names),
      test(list_add_keeps_the_indexes_of_events),
      test(list_add_that_is_refused_changes_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
