/* SPDX-License-Identifier: MIT */
/* Records taken one by one, by programs that drive a loop of their own: there
 * is no uv_run before the handle is closed. */
#include "scripted_event.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -- against the running kernel ------------------------------------------- */

static void expect_code(uvperf_event_t *event, int code) {
  const uvperf_record_t *record = (const uvperf_record_t *)event;

  assert_int_equal(uvperf_next(&event->handle, &record), code);
  if (code == UV_EPROTO)
    assert_int_equal(record->type, UVPERF_RECORD_NONE);
  else
    assert_null(record);
}

/* The kernel must not overwrite the record that the user still uses. */
static void next_keeps_the_record_until_the_next_call(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  const uvperf_record_t *record;
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t next = 0;
  char before[64];
  size_t size;

  support_need_own_events(__func__);
  live_comm_attr(&attr);
  options.ring_bytes = 1;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_comm(&next, 1);
  assert_int_equal(uvperf_next(&collector.event.handle, &record), 0);
  size = record->size;
  assert_in_range(size, 8, sizeof(before));
  memcpy(before, record->bytes, size);
  live_comm(&next, 1000); /* far more than a page */
  assert_memory_equal(record->bytes, before, size);
  assert_string_equal(record->comm.comm, "live0");
  assert_null(record->source->item);
  live_close(&collector);
}

/* A program with its own epoll loop. */
typedef struct own_loop_s {
  int epoll;
  live_collector_t collector;
  uint64_t samples;
  uint64_t wrong;
  uint64_t lost;
  int status; /* the last code that was not 0 */
} own_loop_t;

static void take_all(own_loop_t *own) {
  const uvperf_record_t *record;

  while ((own->status = uvperf_next(&own->collector.event.handle, &record)) ==
         0) {
    if (record->type == PERF_RECORD_LOST)
      own->lost += record->lost.lost;
    else if (record->type == PERF_RECORD_SAMPLE &&
             record->addr == (uintptr_t)&live_word)
      own->samples += 1;
    else
      own->wrong += 1;
  }
}

static void own_loop_begin(uv_loop_t *loop, own_loop_t *own,
                           const struct perf_event_attr *attr,
                           const uvperf_event_options_t *options) {
  struct epoll_event event;

  memset(own, 0, sizeof(*own));
  live_init(loop, &own->collector, attr, options);
  own->epoll = epoll_create1(EPOLL_CLOEXEC);
  assert_true(own->epoll >= 0);
  memset(&event, 0, sizeof(event));
  event.events = EPOLLIN;
  assert_int_equal(epoll_ctl(own->epoll, EPOLL_CTL_ADD,
                             uvperf_event_fd(&own->collector.event), &event),
                   0);
  assert_int_equal(uvperf_enable(&own->collector.event.handle, 0, NULL), 0);
  take_all(own);
}

/* EINTR comes without a signal too. If libuv has an io_uring (1.45 and later),
 * the kernel's remaining work for a closed loop runs as task work, which ends
 * the wait; epoll_wait(2) is never restarted. */
static int own_loop_wait(const own_loop_t *own) {
  struct epoll_event event;
  int rc;

  do
    rc = epoll_wait(own->epoll, &event, 1, 20000);
  while (rc < 0 && errno == EINTR);
  return rc;
}

/* Until the target is gone. Returns the number of wakeups. */
static uint64_t own_loop_run(own_loop_t *own) {
  uint64_t wakeups = 0;

  while (own->status == UV_EAGAIN) {
    if (own_loop_wait(own) != 1)
      break;
    wakeups += 1;
    take_all(own);
  }
  return wakeups;
}

static void own_loop_end(own_loop_t *own) {
  close(own->epoll);
  live_close(&own->collector);
}

static void need_format_lost(const char *test) {
  struct perf_event_attr attr;
  int fd;

  live_write_attr(&attr, 0);
  attr.read_format = UVPERF_FORMAT_LOST;
  fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
  if (fd < 0 && errno == EINVAL)
    support_skip(test, "PERF_FORMAT_LOST (Linux 6.0)");
  assert_true(fd >= 0);
  close(fd);
}

#define STORM 200000

static void storm(void *arg) {
  live_write(STORM);
}

/* A child writes as fast as it can; the ring wakes at half its size. Each hit
 * is delivered or reported as lost: by LOST, or, at the end of the stream, by
 * the kernel's count of lost records. */
static void next_from_an_own_epoll_loop_gets_a_whole_storm(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  live_worker_t worker;
  uvperf_count_t count;
  own_loop_t own;

  support_need_breakpoints(__func__);
  need_format_lost(__func__);
  live_worker_fork(&worker, storm, NULL);
  live_write_attr(&attr, PERF_SAMPLE_ADDR);
  uvperf_attr_set_wakeup_bytes(&attr, 32768);
  attr.read_format = UVPERF_FORMAT_LOST;
  options.pid = worker.pid;
  options.ring_bytes = 65536;
  own_loop_begin(*state, &own, &attr, &options);
  /* Work, then end: the storm continues while this reads. */
  assert_int_equal(write(worker.go, "we", 2), 2);
  assert_true(own_loop_run(&own) > 1);
  assert_int_equal(own.status, UV_EOF);
  assert_int_equal(own.wrong, 0);
  assert_int_equal(uvperf_event_read(&own.collector.event, &count, NULL), 0);
  assert_int_equal(count.value, STORM);
  assert_int_equal(own.samples + count.lost, STORM);
  assert_true(own.lost <= count.lost);
  assert_true(own.samples > 0);
  live_worker_end(&worker);
  own_loop_end(&own);
}

/* -- scripted ------------------------------------------------------------- */

static fake_event_t *open_scripted(uv_loop_t *loop,
                                   live_collector_t *collector) {
  fake_event_t *fake;
  struct perf_event_attr attr;

  fake_kernel_reset();
  fake = fake_event_add(7);
  scripted_event_attr(&attr);
  live_init(loop, collector, &attr, NULL);
  fake_log_clear();
  return fake;
}

/* A system call for each record would cost more than the record. */
static void next_asks_for_a_hangup_only_when_empty_twice(void **state) {
  const uvperf_record_t *record;
  live_collector_t collector;
  fake_event_t *fake;

  fake = open_scripted(*state, &collector);
  scripted_event_append(fake, PERF_RECORD_COMM);
  scripted_event_append(fake, PERF_RECORD_COMM);
  assert_int_equal(uvperf_next(&collector.event.handle, &record), 0);
  assert_int_equal(uvperf_next(&collector.event.handle, &record), 0);
  expect_code(&collector.event, UV_EAGAIN);
  assert_string_equal(fake_log(), "");
  expect_code(&collector.event, UV_EAGAIN);
  assert_string_equal(fake_log(), "poll");
  scripted_event_append(fake, PERF_RECORD_COMM);
  assert_int_equal(uvperf_next(&collector.event.handle, &record), 0);
  expect_code(&collector.event, UV_EAGAIN);
  assert_string_equal(fake_log(), "poll");
  live_close(&collector);
}

static void append_comm(fake_event_t *fake) {
  fake->on_poll = NULL;
  scripted_event_append(fake, PERF_RECORD_COMM);
}

/* The question eats the wakeup of a record that comes at that moment. */
static void next_checks_again_after_it_has_polled(void **state) {
  const uvperf_record_t *record;
  live_collector_t collector;
  fake_event_t *fake;

  fake = open_scripted(*state, &collector);
  fake->revents = POLLHUP;
  expect_code(&collector.event, UV_EAGAIN);
  fake->on_poll = append_comm;
  assert_int_equal(uvperf_next(&collector.event.handle, &record), 0);
  assert_int_equal(record->type, PERF_RECORD_COMM);
  expect_code(&collector.event, UV_EAGAIN);
  expect_code(&collector.event, UV_EOF);
  live_close(&collector);
}

static void next_of_an_event_in_error_state_is_ebadf(void **state) {
  live_collector_t collector;
  fake_event_t *fake;

  fake = open_scripted(*state, &collector);
  fake->revents = POLLERR | POLLHUP;
  expect_code(&collector.event, UV_EAGAIN);
  expect_code(&collector.event, UV_EBADF);
  live_close(&collector);
}

/* Below the quarter at which the tail is published anyway. */
static void next_that_finds_nothing_has_published_the_tail(void **state) {
  const uvperf_record_t *record;
  live_collector_t collector;
  fake_event_t *fake;

  fake = open_scripted(*state, &collector);
  scripted_event_append(fake, PERF_RECORD_COMM);
  assert_int_equal(uvperf_next(&collector.event.handle, &record), 0);
  assert_int_equal(fake->page->data_tail, 0);
  expect_code(&collector.event, UV_EAGAIN);
  assert_int_equal(fake->page->data_tail, fake->page->data_head);
  live_close(&collector);
}

static void next_without_a_ring_is_einval(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;

  fake_kernel_reset();
  fake_event_add(7);
  scripted_event_attr(&attr);
  options.flags = UVPERF_EVENT_NO_RING;
  live_init(*state, &collector, &attr, &options);
  expect_code(&collector.event, UV_EINVAL);
  assert_int_equal(uvperf_has_record(&collector.event.handle), 0);
  live_close(&collector);
}

/* Read records are given back to the kernel at the latest when the ring is
 * empty, and after each quarter of the ring. */
static void next_publishes_the_tail(void **state) {
  const uvperf_record_t *record;
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  fake_event_t *fake;
  uint64_t taken = 0;

  fake_kernel_reset();
  fake = fake_event_add(7);
  scripted_event_attr(&attr);
  options.ring_bytes = 1;
  live_init(*state, &collector, &attr, &options);
  while (fake->page->data_head < fake->ring_size * 3 / 4)
    scripted_event_append(fake, PERF_RECORD_COMM);
  while (uvperf_next(&collector.event.handle, &record) == 0) {
    assert_in_range(fake->page->data_tail, taken < 1024 ? 0 : taken - 1023,
                    taken);
    taken += record->size;
  }
  assert_int_equal(fake->page->data_tail, fake->page->data_head);
  live_close(&collector);
}

#define SCRIPTED(f)                                                            \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(next_keeps_the_record_until_the_next_call),
      support_loop_test(next_from_an_own_epoll_loop_gets_a_whole_storm),
      SCRIPTED(next_asks_for_a_hangup_only_when_empty_twice),
      SCRIPTED(next_checks_again_after_it_has_polled),
      SCRIPTED(next_of_an_event_in_error_state_is_ebadf),
      SCRIPTED(next_that_finds_nothing_has_published_the_tail),
      SCRIPTED(next_without_a_ring_is_einval),
      SCRIPTED(next_publishes_the_tail),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
