/* SPDX-License-Identifier: MIT */
/* Scripted: a handle takes over a perf event that the caller has opened. If
 * that fails, it stays the caller's. */
#include "scripted_event.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "fake_pool.h"
#include "sys/sys.h"

typedef struct given_s {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_event_options_t options;
  fake_event_t *fake;
  uvperf_error_t error;
} given_t;

/* An open event with id 7, of which nothing is in the log. */
static void give(given_t *given) {
  const uvperf_event_options_t init = UVPERF_EVENT_OPTIONS_INIT;

  fake_kernel_reset();
  memset(given, 0, sizeof(*given));
  given->fake = fake_event_add(7);
  scripted_event_attr(&given->attr);
  given->options = init;
  given->options.flags = UVPERF_EVENT_FD;
  given->options.fd = uvperf__sys_open(&given->attr, 0, -1, -1, 0);
  assert_true(given->options.fd >= 0);
  assert_int_equal(fcntl(given->options.fd, F_SETFD, 0), 0);
  given->collector.event.handle.data = &given->collector;
  fake_log_clear();
}

static int init(uv_loop_t *loop, given_t *given) {
  return uvperf_event_init(loop, &given->collector.event, &given->attr,
                           &given->options, &given->error);
}

/* It is open, not mapped, and the caller's to close. */
static void expect_given_back(uv_loop_t *loop, const given_t *given) {
  assert_int_equal(given->fake->fd, given->options.fd);
  assert_null(given->fake->page);
  scripted_event_turns(loop, 2);
  assert_int_equal(uvperf__sys_close(given->options.fd), 0);
  fake_assert_clean();
}

static void refused(uv_loop_t *loop, given_t *given, int code,
                    const char *piece) {
  assert_int_equal(init(loop, given), code);
  assert_int_equal(given->error.code, code);
  if (strstr(given->error.reason, piece) == NULL)
    fail_msg("%s", given->error.reason);
  expect_given_back(loop, given);
}

/* -- it works -------------------------------------------------------------- */

static void given_event_is_the_handles(void **state) {
  given_t given;

  give(&given);
  assert_int_equal(init(*state, &given), 0);
  assert_string_equal(fake_log(), "ioctl ID, mmap, ioctl ID");
  assert_int_equal(uvperf_event_fd(&given.collector.event), given.options.fd);
  assert_int_equal(fcntl(given.options.fd, F_GETFD), FD_CLOEXEC);
  delivered[0] = '\0';
  assert_int_equal(uvperf_start(&given.collector.event.handle, NULL,
                                scripted_event_on_record, NULL),
                   0);
  scripted_event_append(given.fake, PERF_RECORD_COMM);
  fake_event_wake(given.fake);
  scripted_event_turns(*state, 3);
  assert_string_equal(delivered, "COMM");
  live_close(&given.collector);
}

static int opened;

static void on_open(uvperf_handle_t *handle, int status,
                    const uvperf_error_t *error) {
  (void)handle;
  assert_int_equal(status == 0, error == NULL);
  opened = status;
}

static void begin(uv_loop_t *loop, given_t *given) {
  opened = 1;
  fake_pool_hold();
  given->options.open_cb = on_open;
  assert_int_equal(uvperf_event_init(loop, &given->collector.event,
                                     &given->attr, &given->options,
                                     &given->error),
                   0);
}

static void given_event_is_the_handles_by_the_pool(void **state) {
  given_t given;

  give(&given);
  begin(*state, &given);
  fake_pool_finish();
  assert_int_equal(opened, 0);
  assert_string_equal(fake_log(), "ioctl ID, mmap, ioctl ID");
  fake_pool_reset();
  live_close(&given.collector);
}

static void ioctl_that_is_forbidden_does_not_blame_the_fd(void **state) {
  given_t given;

  give(&given);
  fake_fail(FAKE_IOCTL_PTR, 1, -EPERM);
  refused(*state, &given, UV_EPERM, "");
  assert_int_equal(given.error.cause, UVPERF_CAUSE_PERMISSION);
}

/* -- it is returned -------------------------------------------------------- */

static void each_failing_call_releases_it(void **state) {
  static const enum fake_call calls[] = {FAKE_IOCTL_PTR, FAKE_MMAP,
                                         FAKE_CALLOC};
  given_t given;
  unsigned nth;
  size_t i;
  int rc;

  for (i = 0; i < 3; i++) {
    for (nth = 1;; nth++) {
      give(&given);
      fake_fail(calls[i], nth, -ENOMEM);
      rc = init(*state, &given);
      if (fake_failures() == 0)
        break;
      assert_true(rc < 0);
      expect_given_back(*state, &given);
    }
    assert_int_equal(rc, 0);
    assert_true(nth > 1);
    live_close(&given.collector);
    fake_assert_clean();
  }
}

/* Another handle takes it, while the failed one is still to be closed. */
static void expect_another_takes_it(uv_loop_t *loop, const given_t *given) {
  given_t other = *given;

  assert_int_equal(given->fake->fd, given->options.fd);
  assert_null(given->fake->page);
  other.collector.event.handle.data = &other.collector;
  other.options.flags |= UVPERF_EVENT_NO_RING; /* a fake has one mapping */
  other.options.open_cb = NULL;
  assert_int_equal(init(loop, &other), 0);
  live_close(&other.collector);
}

/* The nth of those calls fails, on the pool or then on the loop. Whether there
 * was one. */
static int fail_on_the_pool(uv_loop_t *loop, enum fake_call call,
                            unsigned nth) {
  given_t given;
  int has_failed;

  give(&given);
  begin(loop, &given);
  fake_fail(call, nth, -ENOMEM);
  fake_pool_finish();
  has_failed = opened != 0;
  assert_int_equal(has_failed, fake_failures() != 0);
  fake_pool_reset();
  if (has_failed)
    expect_another_takes_it(loop, &given);
  live_close(&given.collector);
  fake_assert_clean();
  return has_failed;
}

static void failure_on_the_pool_releases_it(void **state) {
  static const enum fake_call calls[] = {FAKE_IOCTL_PTR, FAKE_MMAP,
                                         FAKE_CALLOC};
  unsigned nth;
  size_t i;

  for (i = 0; i < 3; i++) {
    for (nth = 1; fail_on_the_pool(*state, calls[i], nth); nth++)
      continue;
    assert_true(nth > 1);
  }
}

static void close_while_it_is_taken_returns_it(void **state) {
  given_t given;

  give(&given);
  begin(*state, &given);
  uvperf_close(&given.collector.event.handle, NULL);
  fake_pool_finish();
  assert_int_equal(opened, UV_ECANCELED);
  expect_given_back(*state, &given);
}

static void event_of_another_handle_is_eexist(void **state) {
  given_t first, second;

  give(&first);
  assert_int_equal(init(*state, &first), 0);
  second = first;
  second.options.flags |= UVPERF_EVENT_NO_RING; /* a fake has one mapping */
  assert_int_equal(init(*state, &second), UV_EEXIST);
  assert_non_null(strstr(second.error.reason, "another handle of the loop"));
  /* The first one continues. */
  assert_int_equal(uvperf_event_fd(&first.collector.event), first.options.fd);
  assert_string_equal(fake_log(),
                      "ioctl ID, mmap, ioctl ID, ioctl ID, ioctl ID");
  live_close(&first.collector);
}

/* -- refusals -------------------------------------------------------------- */

static void fd_that_is_no_perf_event_is_refused(void **state) {
  given_t given;
  int ends[2];

  give(&given);
  assert_int_equal(uvperf__sys_close(given.options.fd), 0);
  assert_int_equal(pipe(ends), 0);
  given.options.fd = ends[0];
  assert_int_equal(init(*state, &given), UV_ENOTTY);
  assert_int_equal(fcntl(ends[0], F_GETFD), 0);
  close(ends[0]);
  close(ends[1]);
  assert_int_equal(init(*state, &given), UV_EBADF);
  assert_non_null(strstr(given.error.reason, "is not the fd of an open perf"));
}

static void options_for_opening_are_refused(void **state) {
  given_t given;

  give(&given);
  given.options.fallbacks = UVPERF_FALLBACK_USER;
  refused(*state, &given, UV_EINVAL, "options.open or options.fallbacks");
  give(&given);
  given.options.flags |= UVPERF_EVENT_IDENTIFY;
  refused(*state, &given, UV_EINVAL, "would change the attr");
  give(&given);
  given.attr.read_format = PERF_FORMAT_GROUP;
  refused(*state, &given, UV_EINVAL, "PERF_FORMAT_ID");
}

static void fd_without_its_flag_is_refused(void **state) {
  given_t given;

  give(&given);
  given.options.flags = 0;
  refused(*state, &given, UV_EINVAL, "lacks UVPERF_EVENT_FD");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(given_event_is_the_handles),
      fake_kernel_test(given_event_is_the_handles_by_the_pool),
      fake_kernel_test(ioctl_that_is_forbidden_does_not_blame_the_fd),
      fake_kernel_test(each_failing_call_releases_it),
      fake_kernel_test(failure_on_the_pool_releases_it),
      fake_kernel_test(close_while_it_is_taken_returns_it),
      fake_kernel_test(event_of_another_handle_is_eexist),
      fake_kernel_test(fd_that_is_no_perf_event_is_refused),
      fake_kernel_test(options_for_opening_are_refused),
      fake_kernel_test(fd_without_its_flag_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
