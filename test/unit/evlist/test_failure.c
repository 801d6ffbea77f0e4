/* SPDX-License-Identifier: MIT */
/* Scripted: events that cannot be opened, and how that is reported. */
#include "scripted_evlist.h"
#include "live.h"

#include <sys/resource.h>
#include <unistd.h>

static const scripted_row_t rows[] = {
    {"offline_cpu_is_reported_and_the_rest_is_open",
     "attrs 2; cpus 0-2; fail open 3-4 ENODEV; "
     "open -> open e0@0 e1@0 @1 ENODEV, open @1 ENODEV, open e2@2 e3@2\n"
     "nr -> 4\n"
     "failures -> a0 t0 cpu1 ENODEV no_event, a1 t0 cpu1 ENODEV no_event\n"
     "failure 0 'CPU 1'\n"
     "counts 1 -> error EBADF -1, not available ENODEV -1, error EBADF -1\n"
     "totals -> error EBADF -3, error EBADF -3\n"},
    {"thread_that_ended_after_it_was_listed_is_reported",
     "attrs 1; thread me; thread parent; fail open 2 ESRCH; "
     "open -> open e0@me @parent ESRCH\n"
     "failures -> a0 t1 parent ESRCH no_task\n"},
    {"unknown_pmu_of_three_attrs_is_reported",
     "attrs 3; attr 1 type=4711; cpus 0-1; fail open 2 ENOENT; "
     "fail open 5 ENOENT; "
     "open -> open e0@0 @0 ENOENT, open e1@0 e2@1 @1 ENOENT, open e3@1\n"
     "failures -> a1 t0 cpu0 ENOENT no_event, a1 t0 cpu1 ENOENT no_event\n"
     "totals -> error EBADF -2, not available ENOENT -2, error EBADF -2\n"},
    /* Also if its target does not even exist. */
    {"target_that_is_not_there_is_reported_for_each_attr",
     "attrs 2; process 4711; cpus 0; open -> open e0@0 e1@0\n"
     "places -> t0 4711 #0, t1 cpu0 #1 e0\n"
     "failures -> a0 t0 4711 ESRCH no_task, a1 t0 4711 ESRCH no_task\n"
     "counts 0 -> not available ESRCH -1, error EBADF -1\n"},
    {"strict_refuses_an_incomplete_set",
     "attrs 2; flags strict; cpus 0-1; fail open 4 ENODEV; "
     "open -> open e0@0 e1@0 e2@1 @1 ENODEV, close e0 e1 e2, "
     "ENODEV no_event a1 t0\n"},
    {"strict_refuses_a_target_that_is_not_there",
     "attrs 1; flags strict; cpus 0; process 4711; "
     "open -> ESRCH no_task a0 t1\n"},
    {"failure_is_reported_if_all_are_alike",
     "attrs 3; cpus 0; fail open 1-3 EACCES; "
     "open -> open @0 EACCES, open @0 EACCES, open @0 EACCES, "
     "EACCES permission a0 t0\n"},
    {"failure_of_permission_is_reported_first",
     "attrs 3; cpus 0; fail open 1 ENOENT; fail open 2 EACCES; "
     "fail open 3 ENODEV; "
     "open -> open @0 ENOENT, open @0 EACCES, open @0 ENODEV, "
     "EACCES permission a1 t0\n"},
    {"failure_of_permission_is_reported_before_a_busy_pmu",
     "attrs 3; cpus 0; fail open 1 ENOENT; fail open 2 EBUSY; "
     "fail open 3 EACCES; "
     "open -> open @0 ENOENT, open @0 EBUSY, open @0 EACCES, "
     "EACCES permission a2 t0\n"},
    {"failure_of_a_busy_pmu_is_reported_before_a_task",
     "attrs 3; cpus 0; fail open 1 ENOENT; fail open 2 EBUSY; "
     "fail open 3 ESRCH; open "
     "-> open @0 ENOENT, open @0 EBUSY, open @0 ESRCH, EBUSY busy a1 t0\n"},
    {"failure_of_a_cpu_is_reported_before_an_event",
     "attrs 3; cpus 0; fail open 1 ESRCH; fail open 2 ENODEV; "
     "fail open 3 ENOENT; "
     "open -> open @0 ESRCH, open @0 ENODEV, open @0 ENOENT, "
     "ENODEV no_event a1 t0\n"},
    {"failure_of_support_is_reported_before_an_event",
     "attrs 3; cpus 0; fail open 1 ESRCH; fail open 2 EOPNOTSUPP; "
     "fail open 3 ENOENT; "
     "open -> open @0 ESRCH, open @0 EOPNOTSUPP, open @0 ENOENT, "
     "EOPNOTSUPP not_supported a1 t0\n"},
    {"failure_of_a_task_is_reported_before_an_unknown_one",
     "attrs 3; cpus 0; fail open 1 EINVAL; fail open 2 ESRCH; "
     "fail open 3 EUCLEAN; "
     "open -> open @0 EINVAL, open @0 ESRCH, open @0 EUCLEAN, "
     "ESRCH no_task a1 t0\n"},
    /* The fds run out when the event is tried with less. */
    {"lack_of_fds_in_a_fallback_is_never_partial",
     "attrs 2; attr 1 type=0 config=0; fallbacks clock; cpus 0; "
     "fail open 2 ENOENT; fail open 3 EMFILE; "
     "open -> open e0@0 @0 ENOENT, open @0 EMFILE, close e0, "
     "EMFILE files a1 t0\n"
     "says '2 events'\n"},
    {"lack_of_memory_in_the_kernel_is_never_partial",
     "attrs 1; cpus 0-3; fail open 2 ENOMEM; "
     "open -> open e0@0 @1 ENOMEM, close e0, ENOMEM memory a0 t0\n"},
    /* A stack that is too deep is the attr's fault. */
    {"enomem_of_the_attr_is_a_failure_as_any",
     "file /proc/sys/kernel/perf_event_max_stack 127; attrs 2; "
     "attr 0 sample_max_stack=60000; cpus 0; fail open 1 ENOMEM; open; "
     "failures -> a0 t0 cpu0 ENOMEM max_stack\n"},
    {"id_that_cannot_be_read_is_a_failure",
     "attrs 2; group 0 2; cpus 0; fail ioctl_ptr 1 ENOTTY; "
     "open -> open e0@0, ID e0 ENOTTY, close e0, open e1@0\n"
     "failures -> a0 t0 cpu0 ENOTTY old_kernel\n"},
    {"id_that_may_not_be_read_is_a_failure",
     "attrs 2; group 0 2; cpus 0; fail ioctl_ptr 1 EPERM; open; "
     "failures -> a0 t0 cpu0 EPERM permission\n"},
    {"failure_of_a_sibling_is_explained_by_its_leaders_attr",
     "attrs 2; group 0 2; attr 0 use_clockid=1 clockid=1; cpus 0; "
     "fail open 2 EINVAL; open; failure 0 use_clockid\n"},
    /* Not every failure of a leader hides that the sibling was refused because
     * of it. */
    {"failure_of_a_sibling_is_explained_with_its_leader",
     "attrs 2; group 0 2; attr 1 pinned=1; cpus 0; fail open 2 EINVAL; open; "
     "failure 0 pinned\n"},
    {"refusal_of_one_event_everywhere_is_reported_per_place",
     "attrs 2; cpus 0-9; refuse page_faults ENOENT; open; "
     "failures -> a1 t0 cpu0 ENOENT no_event, a1 t0 cpu1 ENOENT no_event, "
     "a1 t0 cpu2 ENOENT no_event, a1 t0 cpu3 ENOENT no_event, "
     "a1 t0 cpu4 ENOENT no_event, a1 t0 cpu5 ENOENT no_event, "
     "a1 t0 cpu6 ENOENT no_event, a1 t0 cpu7 ENOENT no_event, "
     "a1 t0 cpu8 ENOENT no_event, a1 t0 cpu9 ENOENT no_event\n"},
};

/* -- shortages of fds ------------------------------------------------------ */
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

static uvperf_error_t error;

static void lack_of_fds_is_never_partial(void **state) {
  fake_event_t *events[5];
  evlist_make_t make;

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

/* How many fds an unlisted target needs is not known. */
static void lack_of_fds_for_the_list_is_reported_as_that(void **state) {
  struct rlimit old, low;
  evlist_make_t make;
  int rc;

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

  live_cgroup_make(__func__, &cgroup);
  evlist_make(&make, 7);
  evlist_add(&make, UVPERF_TARGET_CGROUP)->cgroup = cgroup.path;
  make.targets[0].cpus = "0";
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  evlist_refused(&make, &error, -EMFILE, UVPERF_CAUSE_FILES);
  assert_int_equal(error.needed, needed_for_eight());
  live_cgroup_remove(&cgroup);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(lack_of_fds_is_never_partial, evlist_make_setup),
      cmocka_unit_test_setup(lack_of_fds_for_the_list_is_reported_as_that,
                             evlist_make_setup),
      cmocka_unit_test_setup(lack_of_fds_counts_the_directory_of_a_cgroup,
                             evlist_make_setup),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
