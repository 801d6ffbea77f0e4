/* SPDX-License-Identifier: MIT */
/* Live: sets in the order of time in a time namespace, whose clocks differ from
 * those of the kernel's records. */
#include "live_stream.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define OWN      "/proc/self/ns/time"
#define CHILDREN "/proc/self/ns/time_for_children"
#define OFFSETS  "/proc/self/timens_offsets"

/* More than a set allows a clock to be off, and less than this machine is
 * up. */
#define AHEAD  "monotonic 1000 500000000\nboottime 2000 0\n"
#define BEHIND "monotonic -2 0\nboottime -3 500000000\n"

#define ROUNDS 20

/* The namespace in which the test program began, -1 while it is there. */
static int first_ns = -1;

static int setup(void **state) {
  first_ns = -1;
  /* With io_uring, libuv 1.45 to 1.48 has a thread, and only a process without
   * threads may enter a time namespace. */
  setenv("UV_USE_IO_URING", "0", 1);
  return support_loop_setup(state);
}

static int teardown(void **state) {
  int rc = first_ns >= 0 ? setns(first_ns, CLONE_NEWTIME) : 0;

  if (first_ns >= 0)
    close(first_ns);
  return support_loop_teardown(state) != 0 || rc != 0 ? -1 : 0;
}

/* Makes a namespace for the children to come. */
static void make_namespace(const char *test, const char *offsets) {
  size_t length = strlen(offsets);
  int fd;

  support_need_own_events(test);
  support_need_root(test);
  fd = open(OWN, O_RDONLY | O_CLOEXEC);
  if (fd < 0 && errno == ENOENT)
    support_skip(test, "time namespaces");
  assert_true(fd >= 0);
  if (unshare(CLONE_NEWTIME) != 0) {
    close(fd);
    support_skip(test, "time namespaces");
  }
  first_ns = fd;
  fd = open(OFFSETS, O_WRONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, offsets, length), length);
  close(fd);
}

static void enter_namespace(uv_loop_t *loop, const char *test,
                            const char *offsets) {
  int fd;

  make_namespace(test, offsets);
  fd = open(CHILDREN, O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(setns(fd, CLONE_NEWTIME), 0);
  close(fd);
  uv_update_time(loop);
}

/* On one CPU after the other, so that ring by ring they are out of order. */
static void make_records(uint64_t *next) {
  int cpus[2];
  size_t nr = live_cpus(cpus, 2);
  cpu_set_t old;
  size_t i;

  for (i = 0; i < ROUNDS; i++) {
    live_pin(cpus[i % nr], &old);
    live_comm(next, 1);
    live_unpin(&old);
  }
}

static void check_clock(uv_loop_t *loop, int clockid) {
  struct perf_event_attr *attr;
  live_stream_t stream;
  uvperf_stats_t stats;
  live_plan_t plan;
  uint64_t next = 0;

  live_stream_plan(&plan);
  live_stream_plan_mode(&plan, 1);
  attr = live_stream_plan_comm(&plan);
  attr->use_clockid = 1;
  attr->clockid = clockid;
  live_stream_plan_target(&plan, UVPERF_TARGET_SELF, 0);
  live_stream_begin(loop, &stream, &plan);
  make_records(&next);
  assert_true(live_run_until(loop, &stream.comms, ROUNDS));
  make_records(&next);
  assert_int_equal(uvperf_flush(&stream.live.set.handle), 0);
  uvperf_stats(&stream.live.set.handle, &stats);
  assert_int_equal(stats.bad_times, 0);
  assert_int_equal(stats.late_records, 0);
  assert_int_equal(stream.comms, 2 * ROUNDS);
  assert_int_equal(stream.out_of_order, 0);
  assert_int_equal(stream.inversions, 0);
  live_stream_close(&stream);
}

static void check_clocks(uv_loop_t *loop) {
  check_clock(loop, CLOCK_MONOTONIC);
  check_clock(loop, CLOCK_MONOTONIC_RAW);
  check_clock(loop, CLOCK_BOOTTIME);
  check_clock(loop, CLOCK_REALTIME);
}

static void set_in_a_time_namespace_ahead_is_in_order(void **state) {
  enter_namespace(*state, __func__, AHEAD);
  check_clocks(*state);
}

static void set_in_a_later_time_namespace_is_in_order(void **state) {
  enter_namespace(*state, __func__, BEHIND);
  check_clocks(*state);
}

static void set_beside_a_time_namespace_for_children_is_in_order(void **state) {
  make_namespace(__func__, AHEAD);
  check_clocks(*state);
}

#define IN_NAMESPACE(test)                                                     \
  support_loop_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      IN_NAMESPACE(set_in_a_time_namespace_ahead_is_in_order),
      IN_NAMESPACE(set_in_a_later_time_namespace_is_in_order),
      IN_NAMESPACE(set_beside_a_time_namespace_for_children_is_in_order),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
