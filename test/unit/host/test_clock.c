/* SPDX-License-Identifier: MIT */
/* One moment on two clocks. */
#include "support.h"

#include <time.h>

#include "uvperf/system.h"

static uint64_t now(clockid_t clock) {
  struct timespec time;

  assert_int_equal(clock_gettime(clock, &time), 0);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void
clock_pair_lies_between_what_was_read_before_and_after(void **state) {
  uvperf_clock_pair_t pair;
  uint64_t before[2], after[2];

  memset(&pair, 0xff, sizeof(pair));
  before[0] = now(CLOCK_MONOTONIC);
  before[1] = now(CLOCK_REALTIME);
  assert_int_equal(uvperf_clock_pair(&pair), 0);
  after[1] = now(CLOCK_REALTIME);
  after[0] = now(CLOCK_MONOTONIC);
  assert_in_range(pair.monotonic, before[0], after[0]);
  assert_in_range(pair.realtime, before[1], after[1]);
  assert_in_range(pair.error, 0, (after[0] - before[0]) / 2 + 1);
  assert_int_equal(pair.reserved[0] | pair.reserved[1], 0);
}

static void clock_realtime_is_as_far_away_as_the_time(void **state) {
  const uvperf_clock_pair_t pair = {5000, 1700000000000000000, 10, {0}};

  assert_int_equal(uvperf_clock_realtime(&pair, 5000), 1700000000000000000);
  assert_int_equal(uvperf_clock_realtime(&pair, 5007), 1700000000000000007);
  assert_int_equal(uvperf_clock_realtime(&pair, 0), 1699999999999995000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clock_pair_lies_between_what_was_read_before_and_after),
      cmocka_unit_test(clock_realtime_is_as_far_away_as_the_time),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
