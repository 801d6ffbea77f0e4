/* SPDX-License-Identifier: MIT */
/* Live: what a set opens, and what it counts, exactly. Events that could not be
 * opened are in test_set_partial.c, readings on the loop in
 * test_set_read_interval.c. */
#include "live_set.h"

#include <unistd.h>

#include "check_explain.h"
#include "fake_kernel.h"
#include "live_thread.h"

static void syscalls(void *arg) {
  live_syscall(*(const uint64_t *)arg);
}

static uvperf_count_t count_at(const live_set_t *live, size_t attr,
                               size_t place) {
  uvperf_count_t count;

  assert_int_equal(
      uvperf_reading_get(live->reading, attr, UVPERF_ALL, place, &count), 0);
  return count;
}

/* -- what is counted ------------------------------------------------------ */

static void set_counts_the_calling_threads_calls_exactly(void **state) {
  live_plan_t plan;
  live_set_t live;

  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(__func__, LIVE_SYSCALL));
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_open(*state, &live, &plan.options);
  live_syscall(10);
  assert_int_equal(live_set_read(&live, 0).value, 0);
  assert_int_equal(live_set_read(&live, 0).state, UVPERF_COUNT_NOT_ENABLED);
  assert_int_equal(uvperf_enable(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_syscall(1000);
  assert_int_equal(live_set_read(&live, 0).value, 1000);
  assert_int_equal(live_set_read(&live, 0).state, UVPERF_COUNT_COUNTING);
  assert_int_equal(uvperf_disable(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_syscall(10);
  assert_int_equal(live_set_read(&live, 0).value, 1000);
  assert_int_equal(uvperf_reset(&live.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(live_set_read(&live, 0).value, 0);
  assert_int_equal(uvperf_enable(&live.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_enable(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_syscall(7);
  assert_int_equal(live_set_read(&live, 0).value, 7);
  live_set_close(&live);
}

/* With inherit the kernel refuses PERF_SAMPLE_READ, which modifier S requests
 * for records. A set without records has none. */
static void set_of_a_group_that_samples_its_leader_is_inherited(void **state) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  live_set_t live;

  support_need_own_events(__func__);
  target.type = UVPERF_TARGET_PROCESS;
  target.pid = getpid();
  options.names = "{task-clock:u,page-faults:u}:S";
  options.targets = &target;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_STRICT;
  live_set_begin(*state, &live, &options);
  assert_int_equal(live_set_read(&live, 0).state, UVPERF_COUNT_COUNTING);
  assert_int_equal(live_set_read(&live, 1).state, UVPERF_COUNT_COUNTING);
  live_set_close(&live);
}

/* Two attrs at three places, the thread itself, and two others. */
static void set_reports_each_attr_at_each_place(void **state) {
  live_thread_t threads[2];
  uint64_t work[2] = {20, 30};
  const uvperf_place_t *place;
  live_plan_t plan;
  live_set_t live;
  size_t i;

  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_DUMMY);
  live_plan_syscall(&plan, support_need_tracepoint(__func__, LIVE_SYSCALL));
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  for (i = 0; i < 2; i++) {
    live_thread_start(&threads[i], syscalls, &work[i]);
    live_plan_target(&plan, UVPERF_TARGET_THREAD)->pid =
        (int32_t)threads[i].tid;
  }
  live_set_begin(*state, &live, &plan.options);
  live_syscall(10);
  live_thread_do(&threads[0]);
  live_thread_do(&threads[1]);
  assert_int_equal(live_set_read(&live, 1).value, 60);
  assert_int_equal(uvperf_reading_info(live.reading)->nr_attrs, 2);
  assert_int_equal(uvperf_reading_info(live.reading)->nr_places, 3);
  for (i = 0; i < 3; i++) {
    assert_int_equal(count_at(&live, 1, i).value, 10 * (i + 1));
    assert_int_equal(count_at(&live, 0, i).value, 0);
    place = uvperf_reading_place(live.reading, i);
    assert_int_equal(place->target, i);
    assert_int_equal(place->cpu, -1);
    assert_int_equal(place->pid, i == 0 ? live_tid() : threads[i - 1].tid);
    assert_true(uvperf_set_fd(&live.set, 1, place->serial) >= 0);
  }
  assert_int_equal(uvperf_set_fd(&live.set, 2, 0), -1);
  assert_int_equal(uvperf_set_fd(&live.set, 0, 77), -1);
  assert_int_equal(uvperf_set_nr_attrs(&live.set), 2);
  assert_int_equal(uvperf_set_nr_open(&live.set), 6);
  live_thread_end(&threads[0]);
  live_thread_end(&threads[1]);
  live_set_close(&live);
}

/* A set has the labels and groups of a list, also after the list is freed. */
static void set_of_a_list_has_its_labels_and_groups(void **state) {
  live_plan_t plan;
  live_set_t live;

  support_need_kernel_side(__func__);
  live_plan_begin(&plan);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  plan.options.attrs = NULL;
  plan.options.names = "mine{page-faults,context-switches/name=cs/},dummy";
  live_set_begin(*state, &live, &plan.options);
  assert_int_equal(uvperf_set_nr_attrs(&live.set), 3);
  assert_string_equal(uvperf_set_item(&live.set, 0)->label, "page-faults");
  assert_string_equal(uvperf_set_item(&live.set, 1)->label, "cs");
  assert_string_equal(uvperf_set_item(&live.set, 1)->group_name, "mine");
  assert_int_equal(uvperf_set_item(&live.set, 1)->leader, 0);
  assert_int_equal(uvperf_set_item(&live.set, 2)->leader, 2);
  assert_null(uvperf_set_item(&live.set, 3));
  assert_int_equal(live_set_read(&live, 2).state, UVPERF_COUNT_COUNTING);
  live_set_close(&live);
}

/* Each CPU has its own fd and its own event. */
static void set_of_all_cpus_reads_a_group_of_5_once_a_cpu(void **state) {
  int cpus[1024];
  size_t nr_cpus = live_cpus(cpus, 1024);
  uint64_t ids[1024];
  live_plan_t plan;
  live_set_t live;
  size_t i, j;
  unsigned reads;

  support_need_cpu_wide(__func__);
  live_plan_begin(&plan);
  for (i = 0; i < 5; i++)
    live_plan_software(&plan, PERF_COUNT_SW_DUMMY);
  live_plan_group(&plan, 5);
  live_plan_target(&plan, UVPERF_TARGET_CPUS);
  live_set_begin(*state, &live, &plan.options);
  uvperf_event_list_free(plan.list);
  reads = fake_count(FAKE_READ);
  assert_int_equal(live_set_read(&live, 4).state, UVPERF_COUNT_COUNTING);
  assert_int_equal(fake_count(FAKE_READ) - reads,
                   uvperf_reading_info(live.reading)->nr_places);
  assert_true(uvperf_reading_info(live.reading)->nr_places >= nr_cpus);
  assert_int_equal(uvperf_set_nr_open(&live.set),
                   5 * uvperf_reading_info(live.reading)->nr_places);
  for (i = 0; i < nr_cpus; i++) {
    assert_int_equal(uvperf_reading_place(live.reading, i)->pid, -1);
    ids[i] = (uint64_t)uvperf_set_fd(
        &live.set, 0, uvperf_reading_place(live.reading, i)->serial);
    for (j = 0; j < i; j++)
      assert_true(ids[i] != ids[j] &&
                  uvperf_reading_place(live.reading, i)->cpu !=
                      uvperf_reading_place(live.reading, j)->cpu);
  }
  live_set_close(&live);
}

/* -- targets that are added and removed ----------------------------------- */

static void set_without_targets_gets_them_later(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  live_plan_t plan;
  uint32_t index;
  live_set_t live;

  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(__func__, LIVE_SYSCALL));
  live_set_begin(*state, &live, &plan.options);
  assert_int_equal(live_set_read(&live, 0).state, UVPERF_COUNT_NONE);
  assert_int_equal(uvperf_reading_info(live.reading)->nr_places, 0);
  assert_int_equal(uvperf_set_nr_open(&live.set), 0);
  /* Enabled before: it counts from here on. */
  assert_int_equal(uvperf_set_add(&live.set, &target, NULL, &index, NULL), 0);
  assert_int_equal(index, 0);
  live_syscall(3);
  assert_int_equal(live_set_read(&live, 0).value, 3);
  assert_int_equal(uvperf_set_remove(&live.set, 0, NULL, NULL), 0);
  assert_int_equal(uvperf_set_nr_open(&live.set), 0);
  assert_int_equal(live_set_read(&live, 0).state, UVPERF_COUNT_NONE);
  /* Disabled before: it waits. */
  assert_int_equal(uvperf_disable(&live.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_set_add(&live.set, &target, NULL, &index, NULL), 0);
  assert_int_equal(index, 1);
  live_syscall(4);
  assert_int_equal(live_set_read(&live, 0).value, 0);
  assert_int_equal(uvperf_enable(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_syscall(5);
  assert_int_equal(live_set_read(&live, 0).value, 5);
  assert_int_equal(uvperf_set_remove(&live.set, 0, NULL, NULL), UV_ENOENT);
  live_set_close(&live);
}

/* On a machine without a PMU "cycles" is a clock, also before it is opened. */
static void set_item_is_the_same_after_the_first_target(void **state) {
  const uvperf_event_item_t *items[2];
  uvperf_event_item_t before[2];
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  live_set_t live;
  size_t i;

  support_need_own_events(__func__);
  options.names = "cycles,page-faults";
  options.fallbacks = UVPERF_FALLBACK_ALL;
  options.flags = UVPERF_SET_TARGETS_LATER;
  live_set_open(*state, &live, &options);
  assert_int_equal(uvperf_set_nr_open(&live.set), 0);
  for (i = 0; i < 2; i++) {
    items[i] = uvperf_set_item(&live.set, i);
    before[i] = *items[i];
  }
  assert_int_equal(uvperf_set_add(&live.set, &target, NULL, NULL, NULL), 0);
  assert_int_equal(uvperf_set_nr_open(&live.set), 2);
  for (i = 0; i < 2; i++) {
    assert_ptr_equal(uvperf_set_item(&live.set, i), items[i]);
    assert_memory_equal(items[i], &before[i], sizeof(before[i]));
  }
  assert_string_equal(before[0].unit,
                      before[0].attr->type == PERF_TYPE_SOFTWARE ? "ns" : "");
  live_set_close(&live);
}

/* An index, and a place's serial, mean one thing for ever. */
static void set_target_that_cannot_be_added_leaves_it_as_it_was(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  size_t fds = support_count_fds();
  uvperf_error_t error;
  live_plan_t plan;
  uint32_t index = 4711;
  live_set_t live;
  size_t nr;

  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(__func__, LIVE_SYSCALL));
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  live_set_begin(*state, &live, &plan.options);
  live_syscall(2);
  assert_int_equal(uvperf_set_add(&live.set, NULL, NULL, &index, &error),
                   UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  target.type = UVPERF_TARGET_THREAD;
  target.pid = INT32_MAX;
  assert_int_equal(uvperf_set_add(&live.set, &target, NULL, &index, &error),
                   UV_ESRCH);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_TASK);
  assert_int_equal(index, 4711);
  assert_null(uvperf_set_failures(&live.set, &nr));
  assert_int_equal(nr, 0);
  live_syscall(3);
  assert_int_equal(live_set_read(&live, 0).value, 5);
  assert_int_equal(support_count_fds(), fds + 1);
  live_set_close(&live);
}

/* -- arguments ------------------------------------------------------------ */

static void refused(uv_loop_t *loop, const uvperf_set_options_t *options,
                    int code, const char *piece) {
  uvperf_error_t error;
  uvperf_set_t set;

  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf_set_init(loop, &set, options, &error), code);
  explain_check(&error, code, UVPERF_CAUSE_ARGUMENT, piece);
  assert_int_equal(uvperf_set_init(loop, &set, options, NULL), code);
}

static void set_init_refuses_invalid_options(void **state) {
  uvperf_set_options_t *options;
  uvperf_error_t error;
  live_plan_t plan;
  uvperf_set_t set;

  support_need_own_events(__func__);
  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_DUMMY);
  live_plan_software(&plan, PERF_COUNT_SW_DUMMY);
  plan.attrs[0].exclude_kernel = plan.attrs[1].exclude_kernel = 1;
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  options = &plan.options;
  assert_int_equal(uvperf_set_init(NULL, &set, options, NULL), UV_EINVAL);
  assert_int_equal(uvperf_set_init(*state, NULL, options, NULL), UV_EINVAL);
  assert_int_equal(uvperf_set_init(*state, &set, NULL, &error), UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  options->size = offsetof(uvperf_set_options_t, side_band) - 8;
  refused(*state, options, UV_EINVAL, "uvperf_set_options_t.size");
  options->size = sizeof(*options);
  options->flags = 1u << 31;
  refused(*state, options, UV_EINVAL, "flags");
  options->flags = 0;
  options->fallbacks = 1u << 31;
  refused(*state, options, UV_EINVAL, "fallbacks");
  options->fallbacks = 0;
  options->nr_attrs = 0;
  refused(*state, options, UV_EINVAL, "attrs");
  options->nr_attrs = 2;
  options->targets = NULL;
  refused(*state, options, UV_EINVAL, "target");
  options->nr_targets = 0;
  refused(*state, options, UV_EINVAL, "UVPERF_SET_TARGETS_LATER");
  options->targets = plan.targets;
  refused(*state, options, UV_EINVAL, "options.nr_targets");
  options->nr_targets = 1;
  plan.targets[0].size = offsetof(uvperf_target_t, data) - 8;
  refused(*state, options, UV_EINVAL, "uvperf_target_t.size");
  plan.targets[0].size = sizeof(plan.targets[0]);
  plan.targets[0].pid = 17;
  refused(*state, options, UV_EINVAL, "pid");
}

/* Structs of a program that was built with later headers. */
static void set_init_takes_longer_structs_whose_tail_is_zero(void **state) {
  struct {
    uvperf_set_options_t options;
    uint64_t later;
  } longer;
  struct {
    uvperf_target_t target;
    uint64_t later;
  } targets[2];
  uvperf_target_t init = UVPERF_TARGET_INIT;
  uvperf_error_t error;
  live_plan_t plan;
  live_set_t live;
  uvperf_set_t set;
  size_t i;

  support_need_own_events(__func__);
  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_DUMMY);
  plan.attrs[0].exclude_kernel = 1;
  memset(targets, 0, sizeof(targets));
  for (i = 0; i < 2; i++) {
    targets[i].target = init;
    targets[i].target.size = sizeof(targets[i]);
  }
  longer.options = plan.options;
  longer.later = 0;
  longer.options.size = sizeof(longer);
  longer.options.targets = &targets[0].target;
  longer.options.nr_targets = 2;
  live_set_begin(*state, &live, &longer.options);
  assert_int_equal(uvperf_set_nr_open(&live.set), 2);
  live_set_close(&live);
  targets[1].later = 1;
  assert_int_equal(uvperf_set_init(*state, &set, &longer.options, &error),
                   UV_E2BIG);
  assert_int_equal(error.target_index, 1);
  targets[1].later = 0;
  longer.later = 1;
  assert_int_equal(uvperf_set_init(*state, &set, &longer.options, &error),
                   UV_E2BIG);
}

#define SET(test)                                                              \
  support_loop_test_setup_teardown(test, fake_kernel_loop_setup,               \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      SET(set_counts_the_calling_threads_calls_exactly),
      SET(set_reports_each_attr_at_each_place),
      SET(set_of_a_list_has_its_labels_and_groups),
      SET(set_of_a_group_that_samples_its_leader_is_inherited),
      SET(set_of_all_cpus_reads_a_group_of_5_once_a_cpu),
      SET(set_without_targets_gets_them_later),
      SET(set_item_is_the_same_after_the_first_target),
      SET(set_target_that_cannot_be_added_leaves_it_as_it_was),
      SET(set_init_refuses_invalid_options),
      SET(set_init_takes_longer_structs_whose_tail_is_zero),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
