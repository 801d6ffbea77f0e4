/* SPDX-License-Identifier: MIT */
/* Live: records in the order of time, read in a time namespace whose clocks are
 * not those that the kernel stamps records with. */
#include "live_stream.h"

#include <fcntl.h>
#include <sched.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* Later and earlier than the kernel's. */
static const int offsets_s[] = {1000, -1};

static int enter(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  int rc;

  assert_true(fd >= 0);
  rc = setns(fd, CLONE_NEWTIME);
  close(fd);
  return rc;
}

static void enter_with_offset(int seconds) {
  FILE *file;

  assert_int_equal(unshare(CLONE_NEWTIME), 0);
  file = fopen("/proc/self/timens_offsets", "we");
  assert_non_null(file);
  fprintf(file, "monotonic %d 0\n", seconds);
  assert_int_equal(fclose(file), 0);
  assert_int_equal(enter("/proc/self/ns/time_for_children"), 0);
}

/* Each has a time of its own. */
static void expect_times(uv_loop_t *loop) {
  live_stream_t stream;
  uvperf_stats_t stats;
  uint64_t next = 0;
  live_plan_t plan;

  live_stream_plan_own(&plan);
  live_stream_plan_mode(&plan, 1);
  live_stream_begin(loop, &stream, &plan);
  live_stream_comm(&next, 20);
  assert_true(live_run_until(loop, &stream.comms, 20));
  uvperf_set_stats(&stream.live.set, &stats);
  assert_int_equal(stats.bad_times, 0);
  assert_int_equal(stats.late_records, 0);
  assert_int_equal(stream.out_of_order, 0);
  live_stream_close(&stream);
}

static void set_in_time_order_in_a_time_namespace_keeps_times(void **state) {
  uv_loop_t loop;
  size_t i;
  int own;

  (void)state;
  support_need_root(__func__);
  own = open("/proc/self/ns/time", O_RDONLY | O_CLOEXEC);
  if (own < 0)
    support_skip(__func__, "time namespaces");
  for (i = 0; i < sizeof(offsets_s) / sizeof(offsets_s[0]); i++) {
    enter_with_offset(offsets_s[i]);
    assert_int_equal(uv_loop_init(&loop), 0);
    expect_times(&loop);
    assert_int_equal(uv_loop_close(&loop), 0);
    assert_int_equal(setns(own, CLONE_NEWTIME), 0);
  }
  close(own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(set_in_time_order_in_a_time_namespace_keeps_times),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
