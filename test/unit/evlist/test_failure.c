/* SPDX-License-Identifier: MIT */
/* Scripted: events of counters that cannot be opened, and how that is
 * reported. */
#include "evlist_make.h"
#include "live.h"

#include <errno.h>
#include <sys/resource.h>
#include <unistd.h>

/* A kernel that refuses one software event. */
static struct {
  uint64_t config;
  int code;
} refused;

static int refuse(struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_SOFTWARE && attr->config == refused.config
             ? refused.code
             : 0;
}

static void script_refusal(uint64_t config, int code) {
  refused.config = config;
  refused.code = code;
  fake_on_open(refuse);
}

/* -- events that cannot be opened ----------------------------------------- */

static void offline_cpu_is_reported_and_the_rest_is_open(void **state) {
  const uvperf_set_failure_t *failure;
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[4];
  size_t i;

  (void)state;
  counters_script(events, 4);
  evlist_make(&make, 2);
  evlist_add_cpus(&make, "0-2");
  fake_fail(FAKE_OPEN, 3, -ENODEV);
  fake_fail(FAKE_OPEN, 4, -ENODEV);
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 4);
  assert_int_equal(evlist_nr_failures(evlist), 2);
  for (i = 0; i < 2; i++) {
    failure = evlist_failure(evlist, i);
    assert_int_equal(failure->pid, -1);
    assert_int_equal(failure->cpu, 1);
    assert_int_equal(failure->error.code, -ENODEV);
    assert_int_equal(failure->error.attr_index, i);
    assert_int_equal(failure->error.target_index, 0);
    assert_non_null(strstr(failure->error.reason, "CPU 1"));
    assert_int_equal(evlist_at(evlist, i, 1).state, UVPERF_COUNT_NOT_AVAILABLE);
    assert_int_equal(evlist_at(evlist, i, 1).code, -ENODEV);
    assert_int_equal(evlist_total(evlist, i).nr_missing, 3);
  }
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void thread_that_ended_after_it_was_listed_is_reported(void **state) {
  const uvperf_set_failure_t *failure;
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[1];

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  evlist_add_thread(&make, getpid());
  evlist_add_thread(&make, getppid());
  fake_fail(FAKE_OPEN, 2, -ESRCH);
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 1);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  failure = evlist_failure(evlist, 0);
  assert_int_equal(failure->pid, getppid());
  assert_int_equal(failure->cpu, -1);
  assert_int_equal(failure->error.cause, UVPERF_CAUSE_NO_TASK);
  assert_int_equal(failure->error.target_index, 1);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void unknown_pmu_of_three_attrs_is_reported(void **state) {
  const uvperf_set_failure_t *failure;
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[4];

  (void)state;
  counters_script(events, 4);
  evlist_make(&make, 3);
  make.attrs[1].type = 4711;
  evlist_add_cpus(&make, "0-1");
  fake_fail(FAKE_OPEN, 2, -ENOENT);
  fake_fail(FAKE_OPEN, 5, -ENOENT);
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 4);
  assert_int_equal(evlist_nr_failures(evlist), 2);
  failure = evlist_failure(evlist, 1);
  assert_int_equal(failure->error.attr_index, 1);
  assert_int_equal(failure->cpu, 1);
  assert_int_equal(failure->error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(evlist_total(evlist, 1).state, UVPERF_COUNT_NOT_AVAILABLE);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* Also if its target does not even exist. */
static void target_that_is_not_there_is_reported_for_each_attr(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[2];
  size_t i;

  (void)state;
  counters_script(events, 2);
  evlist_make(&make, 2);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = INT32_MAX;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 2);
  assert_int_equal(evlist_nr_places(evlist), 2);
  assert_int_equal(evlist_nr_failures(evlist), 2);
  for (i = 0; i < 2; i++) {
    assert_int_equal(evlist_failure(evlist, i)->pid, INT32_MAX);
    assert_int_equal(evlist_failure(evlist, i)->error.attr_index, i);
    assert_int_equal(evlist_failure(evlist, i)->error.target_index, 0);
    assert_int_equal(evlist_failure(evlist, i)->error.cause,
                     UVPERF_CAUSE_NO_TASK);
    assert_int_equal(evlist_at(evlist, i, 0).state, UVPERF_COUNT_NOT_AVAILABLE);
    assert_int_equal(evlist_at(evlist, i, 0).code, -ESRCH);
  }
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void strict_refuses_an_incomplete_set(void **state) {
  fake_event_t *events[3];
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  counters_script(events, 3);
  evlist_make(&make, 2);
  make.options.flags = UVPERF_SET_STRICT;
  evlist_add_cpus(&make, "0-1");
  fake_fail(FAKE_OPEN, 4, -ENODEV);
  evlist_refused(&make, &error, -ENODEV, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(error.attr_index, 1);
  assert_int_equal(fake_count(FAKE_CLOSE), 3);
}

static void strict_refuses_a_target_that_is_not_there(void **state) {
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  evlist_make(&make, 1);
  make.options.flags = UVPERF_SET_STRICT;
  evlist_add_cpus(&make, "0");
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = INT32_MAX;
  evlist_refused(&make, &error, -ESRCH, UVPERF_CAUSE_NO_TASK);
  assert_int_equal(error.target_index, 1);
  assert_int_equal(fake_count(FAKE_OPEN), 0);
}

/* -- reports if nothing could be opened ----------------------------------- */

/* Checks which of these failures of three attrs is reported. */
static void check_reported(const int codes[3], size_t reported) {
  evlist_make_t make;
  uvperf_error_t error;
  unsigned i;

  evlist_make_setup(NULL);
  evlist_make(&make, 3);
  evlist_add_cpus(&make, "0");
  for (i = 0; i < 3; i++)
    fake_fail(FAKE_OPEN, i + 1, codes[i]);
  memset(&error, 0, sizeof(error));
  assert_int_equal(
      uvperf__evlist_new(&(uvperf__evlist_t *){NULL}, &make.options, &error),
      codes[reported]);
  assert_int_equal(error.code, codes[reported]);
  assert_int_equal(error.attr_index, reported);
  fake_assert_clean();
}

static void the_most_specific_of_many_failures_is_reported(void **state) {
  static const struct {
    int codes[3];
    size_t reported;
  } failures[] = {
      {{-EACCES, -EACCES, -EACCES}, 0}, {{-ENOENT, -EACCES, -ENODEV}, 1},
      {{-ENOENT, -EBUSY, -EACCES}, 2},  {{-ENOENT, -EBUSY, -ESRCH}, 1},
      {{-ESRCH, -ENODEV, -ENOENT}, 1},  {{-ESRCH, -EOPNOTSUPP, -ENOENT}, 1},
      {{-EINVAL, -ESRCH, -EUCLEAN}, 1},
  };
  size_t i;

  (void)state;
  for (i = 0; i < sizeof(failures) / sizeof(failures[0]); i++)
    check_reported(failures[i].codes, failures[i].reported);
}

/* -- shortages ------------------------------------------------------------ */

/* The RLIMIT_NOFILE needed for 8 more fds, which get the lowest numbers. */
static uint64_t needed_for_eight(void) {
  uint64_t most = 0;
  int fds[8];
  size_t i;

  for (i = 0; i < 8; i++) {
    fds[i] = dup(0);
    assert_true(fds[i] >= 0);
    if (most < (uint64_t)fds[i])
      most = (uint64_t)fds[i];
  }
  for (i = 0; i < 8; i++)
    close(fds[i]);
  return most + 1;
}

static void lack_of_fds_is_never_partial(void **state) {
  fake_event_t *events[5];
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  counters_script(events, 5);
  evlist_make(&make, 2);
  evlist_add_cpus(&make, "0");
  evlist_add_cpus(&make, "1-3");
  fake_fail_from(FAKE_OPEN, 6, -EMFILE);
  evlist_refused(&make, &error, -EMFILE, UVPERF_CAUSE_FILES);
  assert_int_equal(error.target_index, 1);
  assert_int_equal(error.attr_index, 1);
  assert_int_equal(error.needed, needed_for_eight());
  assert_int_equal(error.limit, (uint64_t)sysconf(_SC_OPEN_MAX));
  assert_non_null(strstr(error.reason, "8 events"));
  assert_int_equal(fake_count(FAKE_CLOSE), 5);
}

/* The fds run out when the event is tried with less. */
static void lack_of_fds_in_a_fallback_is_never_partial(void **state) {
  fake_event_t *events[1];
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 2);
  uvperf_attr_hardware(&make.attrs[1], PERF_COUNT_HW_CPU_CYCLES);
  make.options.fallbacks = UVPERF_FALLBACK_CLOCK;
  evlist_add_cpus(&make, "0");
  fake_fail(FAKE_OPEN, 2, -ENOENT);
  fake_fail(FAKE_OPEN, 3, -EMFILE);
  evlist_refused(&make, &error, -EMFILE, UVPERF_CAUSE_FILES);
  assert_int_equal(error.attr_index, 1);
  assert_non_null(strstr(error.reason, "2 events"));
  assert_int_equal(fake_count(FAKE_CLOSE), 1);
}

/* How many fds an unlisted target needs is not known. */
static void lack_of_fds_for_the_list_is_reported_as_that(void **state) {
  struct rlimit old, low;
  evlist_make_t make;
  uvperf_error_t error;
  int rc;

  (void)state;
  evlist_make(&make, 1);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = getpid();
  memset(&error, 0, sizeof(error));
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
  low = old;
  low.rlim_cur = 0;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
  rc = uvperf__evlist_new(&(uvperf__evlist_t *){NULL}, &make.options, &error);
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
  assert_int_equal(rc, -EMFILE);
  assert_int_equal(error.cause, UVPERF_CAUSE_FILES);
  assert_null(strstr(error.reason, "0 events"));
  assert_true(error.needed > 0);
  fake_assert_clean();
}

/* While a cgroup's events are opened its directory is open too. */
static void lack_of_fds_counts_the_directory_of_a_cgroup(void **state) {
  live_cgroup_t cgroup;
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  live_cgroup_make(__func__, &cgroup);
  evlist_make(&make, 7);
  evlist_add(&make, UVPERF_TARGET_CGROUP)->cgroup = cgroup.path;
  make.targets[0].cpus = "0";
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  evlist_refused(&make, &error, -EMFILE, UVPERF_CAUSE_FILES);
  assert_int_equal(error.needed, needed_for_eight());
  live_cgroup_remove(&cgroup);
}

static void lack_of_memory_in_the_kernel_is_never_partial(void **state) {
  fake_event_t *events[1];
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 1);
  evlist_add_cpus(&make, "0-3");
  fake_fail(FAKE_OPEN, 2, -ENOMEM);
  evlist_refused(&make, &error, -ENOMEM, UVPERF_CAUSE_MEMORY);
}

/* A stack that is too deep is the attr's fault. */
static void enomem_of_the_attr_is_a_failure_as_any(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[1];

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 2);
  make.attrs[0].sample_max_stack = 60000;
  evlist_add_cpus(&make, "0");
  fake_fail(FAKE_OPEN, 1, -ENOMEM);
  evlist = evlist_open(&make);
  assert_int_equal(evlist_failure(evlist, 0)->error.cause,
                   UVPERF_CAUSE_MAX_STACK);
  uvperf__evlist_free(evlist);
}

static void expect_id_failure(int code, int cause) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[2];

  fake_kernel_reset();
  counters_script(events, 2);
  evlist_make(&make, 2);
  evlist_group(&make, 0, 2);
  evlist_add_cpus(&make, "0");
  fake_fail(FAKE_IOCTL_PTR, 1, code);
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 1);
  assert_int_equal(evlist_failure(evlist, 0)->error.code, code);
  assert_int_equal(evlist_failure(evlist, 0)->error.cause, cause);
  assert_int_equal(events[0]->fd, -1);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void id_that_cannot_be_read_is_a_failure(void **state) {
  (void)state;
  expect_id_failure(-ENOTTY, UVPERF_CAUSE_OLD_KERNEL);
  expect_id_failure(-EPERM, UVPERF_CAUSE_PERMISSION);
}

static void
failure_of_a_sibling_is_explained_by_its_leaders_attr(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[1];

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 2);
  evlist_group(&make, 0, 2);
  make.attrs[0].use_clockid = 1;
  make.attrs[0].clockid = 1;
  evlist_add_cpus(&make, "0");
  fake_fail(FAKE_OPEN, 2, -EINVAL);
  evlist = evlist_open(&make);
  assert_non_null(
      strstr(evlist_failure(evlist, 0)->error.reason, "use_clockid"));
  uvperf__evlist_free(evlist);
}

/* Not every failure of a leader hides that the sibling was refused because of
 * it. */
static void failure_of_a_sibling_is_explained_with_its_leader(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[1];

  (void)state;
  counters_script(events, 1);
  evlist_make(&make, 2);
  evlist_group(&make, 0, 2);
  make.attrs[1].pinned = 1;
  evlist_add_cpus(&make, "0");
  fake_fail(FAKE_OPEN, 2, -EINVAL);
  evlist = evlist_open(&make);
  assert_non_null(strstr(evlist_failure(evlist, 0)->error.reason, "pinned"));
  uvperf__evlist_free(evlist);
}

static void
refusal_of_one_event_everywhere_is_reported_per_place(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  fake_event_t *events[20];
  size_t i;

  (void)state;
  counters_script(events, 20);
  evlist_make(&make, 2);
  evlist_add_cpus(&make, "0-19");
  script_refusal(make.attrs[1].config, -ENOENT);
  evlist = evlist_open(&make);
  assert_int_equal(evlist_nr_failures(evlist), 20);
  for (i = 0; i < 20; i++) {
    assert_int_equal(evlist_failure(evlist, i)->cpu, i);
    assert_int_equal(evlist_failure(evlist, i)->error.attr_index, 1);
  }
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(offline_cpu_is_reported_and_the_rest_is_open),
      TEST(thread_that_ended_after_it_was_listed_is_reported),
      TEST(unknown_pmu_of_three_attrs_is_reported),
      TEST(target_that_is_not_there_is_reported_for_each_attr),
      TEST(strict_refuses_an_incomplete_set),
      TEST(strict_refuses_a_target_that_is_not_there),
      TEST(the_most_specific_of_many_failures_is_reported),
      TEST(lack_of_fds_is_never_partial),
      TEST(lack_of_fds_in_a_fallback_is_never_partial),
      TEST(lack_of_fds_for_the_list_is_reported_as_that),
      TEST(lack_of_fds_counts_the_directory_of_a_cgroup),
      TEST(lack_of_memory_in_the_kernel_is_never_partial),
      TEST(enomem_of_the_attr_is_a_failure_as_any),
      TEST(id_that_cannot_be_read_is_a_failure),
      TEST(failure_of_a_sibling_is_explained_by_its_leaders_attr),
      TEST(failure_of_a_sibling_is_explained_with_its_leader),
      TEST(refusal_of_one_event_everywhere_is_reported_per_place),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
