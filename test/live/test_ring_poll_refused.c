/* SPDX-License-Identifier: MIT */
/* Live: libuv refuses to poll the fd of a ring. The error says why, and a later
 * start works. */
#include "live_stream.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

static int has_no_watches;

/* Takes the place of the C library's, also for libuv. The limit is one for all
 * processes of a user, so no test lowers it. */
int epoll_ctl(int epoll_fd, int op, int fd, struct epoll_event *event) {
  if (has_no_watches && op == EPOLL_CTL_ADD) {
    errno = ENOSPC;
    return -1;
  }
  return (int)syscall(SYS_epoll_ctl, epoll_fd, op, fd, event);
}

static void expect_no_watches(int rc, const uvperf_error_t *error) {
  has_no_watches = 0;
  assert_int_equal(rc, UV_ENOSPC);
  assert_int_equal(error->code, UV_ENOSPC);
  assert_int_equal(error->cause, UVPERF_CAUSE_LOOP);
  assert_non_null(strstr(error->reason, "fs/epoll/max_user_watches"));
}

static void event_init_without_epoll_watches_says_so(void **state) {
  size_t fds = support_count_fds();
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;
  int rc;

  support_need_own_events(__func__);
  live_comm_attr(&attr);
  has_no_watches = 1;
  rc = uvperf_event_init(*state, &event, &attr, NULL, &error);
  expect_no_watches(rc, &error);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(support_count_fds(), fds);
}

static void set_start_without_epoll_watches_says_so(void **state) {
  live_stream_t stream;
  uvperf_error_t error;
  live_plan_t plan;
  uint64_t next = 0;
  int rc;

  support_need_own_events(__func__);
  live_stream_plan_own(&plan);
  live_stream_open(*state, &stream, &plan.options);
  has_no_watches = 1;
  rc = uvperf_start(&stream.live.set.handle, NULL, live_stream_on_record,
                    &error);
  expect_no_watches(rc, &error);
  live_stream_start(&stream, NULL);
  live_stream_comm(&next, 3);
  assert_true(live_run_until(*state, &stream.comms, 3));
  live_stream_close(&stream);
}

static void on_other(uv_poll_t *poll, int status, int events) {
}

/* libuv has an fd in one handle of a loop only. */
static void event_start_while_others_poll_its_fd_is_eexist(void **state) {
  live_collector_t collector;
  uvperf_error_t error;
  uint64_t next = 0;
  uv_poll_t other;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  assert_int_equal(
      uv_poll_init(*state, &other, uvperf_event_fd(&collector.event)), 0);
  assert_int_equal(uv_poll_start(&other, UV_READABLE, on_other), 0);
  assert_int_equal(
      uvperf_start(&collector.event.handle, NULL, live_on_record, &error),
      UV_EEXIST);
  assert_int_equal(error.cause, UVPERF_CAUSE_LOOP);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  uv_close((uv_handle_t *)&other, NULL);
  uv_run(*state, UV_RUN_NOWAIT);
  live_start(&collector, NULL);
  live_comm(&next, 3);
  assert_true(live_run_until(*state, &collector.comms, 3));
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_init_without_epoll_watches_says_so),
      support_loop_test(set_start_without_epoll_watches_says_so),
      support_loop_test(event_start_while_others_poll_its_fd_is_eexist),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
