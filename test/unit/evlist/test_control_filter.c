/* SPDX-License-Identifier: MIT */
/* Scripted: filters and periods of all events, also of targets that come
 * later. */
#include "evlist_make.h"

#include <errno.h>
#include <sys/ioctl.h>

static evlist_make_t make;

static uvperf__evlist_t *open_on_cpus(fake_event_t **events, size_t nr_attrs,
                                      const char *cpus, size_t nr_events) {
  counters_script(events, nr_events);
  evlist_make(&make, nr_attrs);
  evlist_add_cpus(&make, cpus);
  return evlist_open(&make);
}

static int add_cpu(uvperf__evlist_t *evlist, const char *cpu, uint32_t *index,
                   uvperf_error_t *error) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = cpu;
  return uvperf__evlist_add_target(evlist, &target, index, error);
}

static void finish(uvperf__evlist_t *evlist) {
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- filters -------------------------------------------------------------- */

static char last_filter[64];
static uint64_t last_number;
static int refuse_setting;

/* Notes the argument of an ioctl. */
static int note_ioctl(fake_event_t *fake, unsigned long request,
                      uintptr_t argument) {
  (void)fake;
  if (refuse_setting != 0 && request != PERF_EVENT_IOC_ENABLE)
    return refuse_setting;
  if (request == PERF_EVENT_IOC_SET_FILTER)
    snprintf(last_filter, sizeof(last_filter), "%s", (const char *)argument);
  else if (request == PERF_EVENT_IOC_PERIOD)
    memcpy(&last_number, (void *)argument, sizeof(last_number));
  return 0;
}

static void note_ioctls(fake_event_t **events, size_t nr) {
  size_t i;

  last_filter[0] = '\0';
  last_number = 0;
  refuse_setting = 0;
  for (i = 0; i < nr; i++)
    events[i]->on_ioctl = note_ioctl;
}

static void filter_is_set_at_all_places_and_later_ones(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  fake_event_t *events[8];
  uvperf__evlist_t *evlist;
  char filter[] = "pid == 7";

  (void)state;
  evlist = open_on_cpus(events, 2, "0-1", 8);
  note_ioctls(events, 8);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 1, filter, NULL), 0);
  assert_string_equal(fake_log(), "ioctl SET_FILTER, ioctl SET_FILTER");
  memset(filter, 'x', sizeof(filter) - 1); /* it is a copy that is kept */
  last_filter[0] = '\0';
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  fake_log_clear();
  assert_int_equal(add_cpu(evlist, "2", NULL, NULL), 0);
  assert_string_equal(fake_log(), "open, open, ioctl SET_FILTER, ioctl "
                                  "ENABLE, ioctl ENABLE");
  assert_string_equal(last_filter, "pid == 7");
  last_filter[0] = '\0';
  fake_log_clear();
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "3";
  assert_int_equal(evlist_add_elsewhere(evlist, &target, NULL), 0);
  /* The other thread enables it, and no call is made twice. */
  assert_string_equal(fake_log(), "open, open, ioctl SET_FILTER, ioctl "
                                  "ENABLE, ioctl ENABLE");
  assert_string_equal(last_filter, "pid == 7");
  finish(evlist);
}

/* Without the filter it would count unwanted hits. */
static void later_event_that_takes_no_filter_is_a_failure(void **state) {
  fake_event_t *events[5];
  uvperf__evlist_t *evlist;

  (void)state;
  counters_script(events, 5);
  evlist_make(&make, 2);
  evlist_group(&make, 0, 2);
  make.attrs[0].type = PERF_TYPE_TRACEPOINT;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  note_ioctls(events, 5);
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 0, "pid == 7", NULL), 0);
  refuse_setting = -EINVAL;
  assert_int_equal(add_cpu(evlist, "1", NULL, NULL), 0);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_int_equal(evlist_failure(evlist, 0)->error.attr_index, 0);
  assert_int_equal(evlist_failure(evlist, 0)->error.target_index, 1);
  assert_int_equal(evlist_failure(evlist, 0)->error.cause,
                   UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(events[2]->fd, -1);
  /* Its sibling leads. */
  assert_int_equal(events[3]->group_fd, -1);
  assert_int_equal(events[3]->attr.disabled, 1);
  finish(evlist);
}

static void filter_that_nothing_takes_is_forgotten(void **state) {
  fake_event_t *events[3];
  uvperf__evlist_t *evlist;
  uvperf_error_t error;

  (void)state;
  evlist = open_on_cpus(events, 1, "0-1", 3);
  note_ioctls(events, 3);
  refuse_setting = -EINVAL;
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 0, "pid == 7", &error),
                   -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_NOT_SUPPORTED);
  refuse_setting = 0;
  fake_log_clear();
  assert_int_equal(add_cpu(evlist, "2", NULL, NULL), 0);
  assert_string_equal(fake_log(), "open");
  finish(evlist);
}

static void filter_that_some_take_is_kept(void **state) {
  fake_event_t *events[4];
  uvperf__evlist_t *evlist;
  uvperf_error_t error;

  (void)state;
  evlist = open_on_cpus(events, 1, "0-2", 4);
  note_ioctls(events, 4);
  fake_fail(FAKE_IOCTL_PTR, 2, -EEXIST);
  fake_fail(FAKE_IOCTL_PTR, 3, -EINVAL);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 0, "pid == 7", &error),
                   -EEXIST);
  assert_int_equal(error.code, -EEXIST);
  assert_string_equal(fake_log(), "ioctl SET_FILTER, ioctl SET_FILTER failed, "
                                  "ioctl SET_FILTER failed");
  last_filter[0] = '\0';
  assert_int_equal(add_cpu(evlist, "3", NULL, NULL), 0);
  assert_string_equal(last_filter, "pid == 7");
  finish(evlist);
}

static void filter_before_any_target_is_for_the_first(void **state) {
  fake_event_t *events[1];
  uvperf__evlist_t *evlist;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  evlist = evlist_open(&make);
  note_ioctls(events, 1);
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 0, "a", NULL), 0);
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 0, "pid == 8", NULL), 0);
  assert_int_equal(add_cpu(evlist, "2", NULL, NULL), 0);
  assert_string_equal(last_filter, "pid == 8");
  finish(evlist);
}

static void settings_with_bad_arguments_are_refused(void **state) {
  fake_event_t *events[1];
  uvperf__evlist_t *evlist;
  uvperf_error_t error;

  (void)state;
  evlist = open_on_cpus(events, 1, "0", 1);
  fake_log_clear();
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 1, "x", &error),
                   -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(uvperf__evlist_change_period(evlist, 1, 5, &error), -EINVAL);
  assert_int_equal(uvperf__evlist_attach_bpf(evlist, 1, 0, 0, &error), -EINVAL);
  assert_int_equal(uvperf__evlist_attach_bpf(evlist, 0, -1, 0, &error), -EBADF);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_string_equal(fake_log(), "");
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf__evlist_apply_filter(evlist, 0, "x", &error),
                   -ENOMEM);
  assert_string_equal(fake_log(), "");
  finish(evlist);
}

/* -- periods -------------------------------------------------------------- */

static void period_is_set_at_all_places_and_later_ones(void **state) {
  fake_event_t *events[3];
  uvperf__evlist_t *evlist;

  (void)state;
  counters_script(events, 3);
  evlist_make(&make, 1);
  make.attrs[0].sample_period = 100;
  evlist_add_cpus(&make, "0-1");
  evlist = evlist_open(&make);
  note_ioctls(events, 3);
  assert_int_equal(uvperf__evlist_change_period(evlist, 0, 700, NULL), 0);
  assert_int_equal(last_number, 700);
  assert_int_equal(uvperf__evlist_item(evlist, 0)->attr->sample_period, 700);
  assert_int_equal(add_cpu(evlist, "2", NULL, NULL), 0);
  assert_int_equal(events[2]->attr.sample_period, 700);
  finish(evlist);
}

static void frequency_of_a_clock_is_set_in_nanoseconds(void **state) {
  fake_event_t *events[1];
  uvperf__evlist_t *evlist;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  make.attrs[0].sample_freq = 10;
  make.attrs[0].freq = 1;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  note_ioctls(events, 1);
  assert_int_equal(uvperf__evlist_change_period(evlist, 0, 100, NULL), 0);
  assert_int_equal(last_number, 10000000);
  finish(evlist);
}

static void period_of_what_only_counts_is_refused(void **state) {
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;
  uvperf_error_t error;

  (void)state;
  counters_script(events, 2);
  evlist_make(&make, 2);
  make.attrs[1].sample_period = 100;
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_change_period(evlist, 0, 700, &error),
                   -EINVAL);
  assert_non_null(strstr(error.reason, "attr.sample_period"));
  assert_int_equal(uvperf__evlist_change_period(evlist, 1, 0, &error), -EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.attr_index, 1);
  assert_int_equal(uvperf__evlist_change_period(evlist, 1, 700, &error), 0);
  assert_int_equal(add_cpu(evlist, "2", NULL, NULL), 0);
  assert_int_equal(events[0]->attr.sample_period, 0);
  assert_int_equal(events[1]->attr.sample_period, 700);
  finish(evlist);
}

/* Undoing a fallback does not undo it. */
static void period_outlives_a_target_that_could_not_be_added(void **state) {
  fake_event_t *events[1];
  uvperf__evlist_t *evlist;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  make.attrs[0].sample_period = 100;
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_change_period(evlist, 0, 700, NULL), 0);
  fake_fail(FAKE_OPEN, 1, -ENODEV);
  assert_int_equal(add_cpu(evlist, "1", NULL, NULL), -ENODEV);
  assert_int_equal(add_cpu(evlist, "2", NULL, NULL), 0);
  assert_int_equal(events[0]->attr.sample_period, 700);
  finish(evlist);
}

static void period_that_nothing_takes_is_forgotten(void **state) {
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;

  (void)state;
  counters_script(events, 2);
  evlist_make(&make, 1);
  make.attrs[0].sample_period = 100;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  note_ioctls(events, 2);
  refuse_setting = -EINVAL;
  assert_int_equal(uvperf__evlist_change_period(evlist, 0, 700, NULL), -EINVAL);
  assert_int_equal(add_cpu(evlist, "1", NULL, NULL), 0);
  assert_int_equal(events[1]->attr.sample_period, 100);
  finish(evlist);
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(filter_is_set_at_all_places_and_later_ones),
      TEST(later_event_that_takes_no_filter_is_a_failure),
      TEST(filter_that_nothing_takes_is_forgotten),
      TEST(filter_that_some_take_is_kept),
      TEST(filter_before_any_target_is_for_the_first),
      TEST(settings_with_bad_arguments_are_refused),
      TEST(period_is_set_at_all_places_and_later_ones),
      TEST(frequency_of_a_clock_is_set_in_nanoseconds),
      TEST(period_of_what_only_counts_is_refused),
      TEST(period_outlives_a_target_that_could_not_be_added),
      TEST(period_that_nothing_takes_is_forgotten),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
