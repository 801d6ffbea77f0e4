/* SPDX-License-Identifier: MIT */
/* The scripted kernel itself: what other tests would not notice if it went
 * wrong. Most of it makes them fail. */
#include "support.h"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "sys/bpf.h"
#include "sys/fork.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "uvperf/attr.h"

static int open_event(void) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  return uvperf__sys_open(&attr, 0, 3, 7, PERF_FLAG_FD_CLOEXEC);
}

static void *map(int fd, size_t pages) {
  void *address = NULL;

  assert_int_equal(uvperf__sys_mmap(&address, pages * support_page_bytes(),
                                    PROT_READ | PROT_WRITE, fd, 0),
                   0);
  return address;
}

static void fail_reaches_every_function(void **state) {
  void *address = NULL;
  uint64_t id;

  fake_fail(FAKE_OPEN, 1, -E2BIG);
  fake_fail(FAKE_IOCTL, 1, -1001);
  fake_fail(FAKE_IOCTL_PTR, 1, -1002);
  fake_fail(FAKE_MMAP, 1, -1003);
  fake_fail(FAKE_MUNMAP, 1, -1004);
  fake_fail(FAKE_POLL, 1, -1005);
  fake_fail(FAKE_READ, 1, -1006);
  fake_fail(FAKE_CLOSE, 1, -1007);
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(open_event(), -E2BIG);
  assert_int_equal(uvperf__sys_ioctl(-1, PERF_EVENT_IOC_RESET, 0), -1001);
  assert_int_equal(uvperf__sys_ioctl_ptr(-1, PERF_EVENT_IOC_ID, &id), -1002);
  assert_int_equal(uvperf__sys_mmap(&address, 1, 0, -1, 0), -1003);
  assert_int_equal(uvperf__sys_munmap(NULL, 0), -1004);
  assert_int_equal(uvperf__sys_poll(-1, 0), -1005);
  assert_int_equal(uvperf__sys_read(-1, NULL, 0), -1006);
  assert_int_equal(uvperf__sys_close(-1), -1007);
  assert_null(uvperf__calloc(1, 1));
  assert_int_equal(fake_failures(), 9);
  assert_string_equal(fake_log(),
                      "open failed, ioctl RESET failed, ioctl ID failed, "
                      "mmap failed, munmap failed, poll failed, read failed, "
                      "close failed");
}

static void open_returns_scripted_events_first_then_real_ones(void **state) {
  fake_event_t *one;
  fake_event_t *two;
  uint64_t id;
  int fd[2];

  one = fake_event_add(71);
  two = fake_event_add(72);
  fd[0] = open_event();
  fd[1] = open_event();
  assert_int_equal(one->fd, fd[0]);
  assert_int_equal(two->fd, fd[1]);
  assert_int_equal(uvperf__sys_ioctl_ptr(fd[1], PERF_EVENT_IOC_ID, &id), 0);
  assert_int_equal(id, 72);
  /* The real kernel refuses this group fd. */
  assert_int_equal(open_event(), -EBADF);
}

static int refuse_all(struct perf_event_attr *attr) {
  return -EINVAL;
}

static int refuse_nothing(struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_SOFTWARE ? 0 : -EINVAL;
}

/* A script that makes a call fail has precedence. */
static void on_open_may_refuse_by_the_attr(void **state) {
  int fd;

  fake_event_add(1);
  fake_on_open(refuse_all);
  fake_fail(FAKE_OPEN, 2, -EBUSY);
  assert_int_equal(open_event(), -EINVAL);
  assert_int_equal(open_event(), -EBUSY);
  assert_int_equal(open_event(), -EINVAL);
  fake_on_open(refuse_nothing);
  fd = open_event();
  assert_true(fd >= 0);
  assert_int_equal(uvperf__sys_close(fd), 0);
  assert_string_equal(fake_log(),
                      "open failed, open failed, open failed, open, close");
  fake_kernel_reset();
  fake_event_add(1);
  fd = open_event();
  assert_true(fd >= 0);
  assert_int_equal(uvperf__sys_close(fd), 0);
}

static void poll_clears_a_wake_but_not_the_scripted_revents(void **state) {
  fake_event_t *fake;
  int fd;

  fake = fake_event_add(1);
  fd = open_event();
  assert_int_equal(uvperf__sys_poll(fd, POLLIN), 0);
  fake_event_wake(fake);
  assert_int_equal(uvperf__sys_poll(fd, POLLIN), POLLIN);
  assert_int_equal(uvperf__sys_poll(fd, POLLIN), 0);
  fake->revents = POLLHUP;
  assert_int_equal(uvperf__sys_poll(fd, 0), POLLHUP);
  assert_int_equal(uvperf__sys_poll(fd, 0), POLLHUP);
}

static void count_polled(uv_poll_t *handle, int status, int events) {
  uv_poll_stop(handle);
  *(int *)handle->data += 1;
}

static void wake_reaches_a_loop(void **state) {
  static uv_poll_t handle;
  uv_loop_t *loop = *state;
  fake_event_t *fake;
  int polled = 0;

  fake_kernel_reset();
  fake = fake_event_add(1);
  assert_int_equal(uv_poll_init(loop, &handle, open_event()), 0);
  handle.data = &polled;
  assert_int_equal(uv_poll_start(&handle, UV_READABLE, count_polled), 0);
  uv_run(loop, UV_RUN_NOWAIT);
  assert_int_equal(polled, 0);
  fake_event_wake(fake);
  uv_run(loop, UV_RUN_DEFAULT);
  assert_int_equal(polled, 1);
  uv_close((uv_handle_t *)&handle, NULL);
}

static void mmap_accepts_the_same_as_the_kernel(void **state) {
  void *address;
  int fd;

  fake_event_add(1);
  fd = open_event();
  assert_int_equal(uvperf__sys_mmap(&address, 1, PROT_READ, fd, 0), -EINVAL);
  assert_int_equal(
      uvperf__sys_mmap(&address, 4 * support_page_bytes(), PROT_READ, fd, 0),
      -EINVAL);
  assert_int_equal(
      uvperf__sys_mmap(&address, 3 * support_page_bytes(), PROT_READ, fd, 4096),
      -EINVAL);
  assert_int_equal(uvperf__sys_munmap(map(fd, 3), 3 * support_page_bytes()), 0);
}

static void link_is_an_fd_of_its_own_until_it_is_closed(void **state) {
  fake_event_t *fake;
  int fd, link;

  fake = fake_event_add(1);
  fd = open_event();
  link = uvperf__sys_bpf_link(0, fd, 0);
  assert_true(link >= 0);
  assert_int_equal(fake->link, link);
  assert_int_equal(uvperf__sys_bpf_link(0, fd, 0), -EEXIST);
  fake_log_clear();
  uvperf__sys_close(link);
  assert_int_equal(fake->link, -1);
  fake_fail(FAKE_BPF_LINK, 1, -ENOSYS);
  assert_int_equal(uvperf__sys_bpf_link(0, fd, 0), -ENOSYS);
  uvperf__sys_close(fd);
  assert_string_equal(fake_log(), "close link, bpf link failed, close");
  fake_assert_clean();
}

static void process_and_thread_are_the_scripted_ones(void **state) {
  uint32_t process = uvperf__process();
  int thread = uvperf__sys_thread();

  fake_process(process + 1);
  fake_thread(thread + 1);
  assert_int_equal(uvperf__process(), process + 1);
  assert_int_equal(uvperf__sys_thread(), thread + 1);
  fake_process(0);
  fake_thread(0);
  assert_int_equal(uvperf__process(), process);
  assert_int_equal(uvperf__sys_thread(), thread);
  fake_fail(FAKE_IS_MARKED, 1, 0);
  assert_int_equal(uvperf__process_is_marked(), 0);
  assert_int_equal(uvperf__process_is_marked(), 1);
  fake_fail(FAKE_GETPID, 1, 12);
  assert_int_equal(uvperf__sys_getpid(), 12);
  assert_int_equal(uvperf__sys_getpid(), getpid());
}

static void scripted_tasks_are_listed_once(void **state) {
  fake_fail(FAKE_GETTID, 1, 12);
  assert_int_equal(uvperf__sys_gettid(), 12);
  assert_int_equal(uvperf__sys_gettid(), getpid());
  fake_fail(FAKE_HAS_TASK, 1, -EPERM);
  assert_int_equal(uvperf__sys_has_task(-1, getpid()), -EPERM);
  assert_int_equal(uvperf__sys_has_task(-1, getpid()), 0);
}

static void live_allocations_are_counted(void **state) {
  void *memory;

  memory = uvperf__calloc(1, 1);
  assert_int_equal(fake_live_allocations(), 1);
  uvperf__free(NULL);
  assert_int_equal(fake_live_allocations(), 1);
  uvperf__free(memory);
  fake_assert_clean();
}

/* The rest fails on purpose, in a child, where the fake aborts. */
static int unmap_twice(void *arg) {
  void *page = map(open_event(), 2);

  uvperf__sys_munmap(page, 2 * support_page_bytes());
  uvperf__sys_munmap(page, 2 * support_page_bytes());
  return 0;
}

static int unmap_another_size(void *arg) {
  uvperf__sys_munmap(map(open_event(), 3), 2 * support_page_bytes());
  return 0;
}

static int close_twice(void *arg) {
  int fd = open_event();

  uvperf__sys_close(fd);
  uvperf__sys_close(fd);
  return 0;
}

static int touch_after_unmap(void *arg) {
  volatile uint8_t *page = map(open_event(), 2);

  uvperf__sys_munmap((void *)page, 2 * support_page_bytes());
  return page[0];
}

static int touch_behind_the_end(void *arg) {
  volatile uint8_t *page = map(open_event(), 2);

  return page[2 * support_page_bytes()];
}

static void misuse_is_noticed(void **state) {
  static const support_child_fn misuses[] = {
      unmap_twice,       unmap_another_size,   close_twice,
      touch_after_unmap, touch_behind_the_end,
  };
  size_t i;

  /* By a signal, or by the exit of a sanitizer that detected it. */
  for (i = 0; i < COUNT_OF(misuses); i++) {
    fake_kernel_reset();
    fake_event_add(1);
    if (support_wait(support_fork(misuses[i], NULL)) == 0)
      fail_msg("misuse %zu was not noticed", i);
  }
}

#define SCRIPTED(f) cmocka_unit_test_setup(f, fake_kernel_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      SCRIPTED(fail_reaches_every_function),
      SCRIPTED(open_returns_scripted_events_first_then_real_ones),
      SCRIPTED(on_open_may_refuse_by_the_attr),
      SCRIPTED(poll_clears_a_wake_but_not_the_scripted_revents),
      support_loop_test(wake_reaches_a_loop),
      SCRIPTED(mmap_accepts_the_same_as_the_kernel),
      SCRIPTED(link_is_an_fd_of_its_own_until_it_is_closed),
      SCRIPTED(process_and_thread_are_the_scripted_ones),
      SCRIPTED(scripted_tasks_are_listed_once),
      SCRIPTED(live_allocations_are_counted),
      SCRIPTED(misuse_is_noticed),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
