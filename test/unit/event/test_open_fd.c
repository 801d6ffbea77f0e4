/* SPDX-License-Identifier: MIT */
/* Scripted: a handle takes over a perf event that the caller has opened. If
 * that fails, it stays the caller's. */
#include "scripted_event.h"
#include "scripted_handles.h"

#include <fcntl.h>
#include <unistd.h>

static const scripted_row_t rows[] = {
    {"given_event_is_the_handles",
     "attr comm; give_fd; init -> mmap e0\n"
     "cloexec h0 -> 1\n"
     "start h0; append e0 COMM; wake e0; turn 3 -> COMM, poll e0\n"
     "quiet e0\n"},
    {"given_event_is_the_handles_by_the_pool",
     "attr comm; options later; give_fd; init ->\n"
     "pool -> mmap e0, h0 opened 0\n"},
    {"ioctl_that_is_forbidden_does_not_blame_the_fd",
     "attr comm; give_fd; fail ioctl_ptr 1 EPERM; init -> ID e0 EPERM, EPERM "
     "permission\n"},
    /* -- it is returned ---------------------------------------------------- */
    {"each_failing_ioctl_releases_it",
     "attr comm; give_fd; fail ioctl_ptr 1 ENOMEM; init -> ID e0 ENOMEM, "
     "ENOTTY argument\n"
     "fail ioctl_ptr 2 ENOMEM; init -> mmap e0, ID e0 ENOMEM, munmap e0, "
     "ENOMEM memory\n"},
    {"failing_mmap_releases_it",
     "attr comm; give_fd; fail mmap 1 ENOMEM; init -> mmap e0 ENOMEM, ENOMEM "
     "memory\n"},
    /* Another handle takes it, while the failed one is still to be closed. A
     * scripted event has one mapping. */
    {"failing_ioctl_on_the_pool_releases_it",
     "attr comm; options later; give_fd; init; fail ioctl_ptr 1 ENOMEM; pool "
     "-> ID e0 ENOMEM, h0 opened ENOTTY argument\n"
     "more_options no_ring now; init ->\n"},
    {"failing_mmap_on_the_pool_releases_it",
     "attr comm; options later; give_fd; init; fail mmap 1 ENOMEM; pool -> "
     "mmap e0 ENOMEM, h0 opened ENOMEM memory\n"
     "more_options no_ring now; init ->\n"},
    {"close_while_it_is_taken_returns_it",
     "attr comm; options later; give_fd; init; close h0; pool -> h0 opened "
     "ECANCELED argument\n"
     "turn; take_back\n"},
    /* The first one continues. */
    {"event_of_another_handle_is_eexist",
     "attr comm; give_fd; init; more_options no_ring; init -> EEXIST argument\n"
     "says 'another handle of the loop'\n"
     "enable h0 -> ENABLE e0\n"},
    /* -- refusals ---------------------------------------------------------- */
    {"options_for_opening_are_refused",
     "attr comm; give_fd; fallbacks user; init -> EINVAL argument\n"
     "says 'options.open or options.fallbacks'\n"
     "fallbacks 0; more_options identify; init -> EINVAL argument\n"
     "says 'would change the attr'\n"},
    {"attr_of_a_group_without_ids_is_refused",
     "attr comm read_format=8; give_fd; init -> EINVAL argument\n"
     "says PERF_FORMAT_ID\n"},
    {"fd_without_its_flag_is_refused",
     "attr comm; give_fd; more_options flags=0; init -> EINVAL argument\n"
     "says 'lacks UVPERF_EVENT_FD'\n"},
    /* The fd is closed by its handle, or by the row. */
    {"each_failing_allocation_releases_it",
     "each calloc ENOMEM; attr comm; give_fd; sweep; init\n"},
    {"each_failing_allocation_on_the_pool_releases_it",
     "each calloc ENOMEM; attr comm; options later; give_fd; sweep; init; "
     "pool; take_back\n"},
};

static void fd_that_is_no_perf_event_is_refused(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_error_t error;
  int ends[2];

  scripted_event_attr(&attr);
  assert_int_equal(pipe(ends), 0);
  options.flags = UVPERF_EVENT_FD;
  options.fd = ends[0];
  assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, &error),
                   UV_ENOTTY);
  assert_int_equal(fcntl(ends[0], F_GETFD), 0);
  close(ends[0]);
  close(ends[1]);
  assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, &error),
                   UV_EBADF);
  assert_non_null(strstr(error.reason, "is not the fd of an open perf"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(fd_that_is_no_perf_event_is_refused),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_handles, rows, tests);
}
