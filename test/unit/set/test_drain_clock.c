/* SPDX-License-Identifier: MIT */
/* Scripted: records in the order of a clock that is set back. The program is
 * linked with --wrap for clock_gettime. */
#include "scripted_set.h"

#include <time.h>

#define NS_PER_S UINT64_C(1000000000)

/* By how many nanoseconds CLOCK_REALTIME is behind. */
static uint64_t behind;

int __real_clock_gettime(clockid_t clock, struct timespec *time);

int __wrap_clock_gettime(clockid_t clock, struct timespec *time) {
  int rc = __real_clock_gettime(clock, time);

  if (clock == CLOCK_REALTIME)
    time->tv_sec -= (time_t)(behind / NS_PER_S);
  return rc;
}

static uint64_t now(void) {
  struct timespec time;

  clock_gettime(CLOCK_REALTIME, &time);
  return (uint64_t)time.tv_sec * NS_PER_S + (uint64_t)time.tv_nsec;
}

static void open_set(uv_loop_t *loop, scripted_set_t *scripted) {
  behind = 0;
  scripted_set_plan(scripted, 1);
  scripted->make.attrs[0].use_clockid = 1;
  scripted->make.attrs[0].clockid = CLOCK_REALTIME;
  live_stream_open(loop, &scripted->stream, &scripted->make.options);
}

static void begin(uv_loop_t *loop, scripted_set_t *scripted) {
  open_set(loop, scripted);
  live_stream_start(&scripted->stream, NULL);
  live_run_ms(loop, 5);
}

static void expect_stats(const scripted_set_t *scripted, uint64_t bad) {
  uvperf_stats_t stats;

  uvperf_stats(&scripted->stream.live.set.handle, &stats);
  assert_int_equal(stats.bad_times, bad);
  assert_int_equal(stats.late_records, 0);
}

/* Records from before then are from the future: they need not wait until that
 * is reached. Those from after it are from before the opening: they come in
 * their order all the same, and are not late. */
static void set_in_time_order_of_a_clock_set_back_goes_on(void **state) {
  scripted_set_t scripted;
  uint64_t time;

  begin(*state, &scripted);
  scripted_set_sample(&scripted, 0, 100, now());
  scripted_set_wake(&scripted, 0);
  assert_true(live_run_until(*state, &scripted.stream.samples, 1));
  scripted_set_sample(&scripted, 0, 100, now());
  behind = 3600 * NS_PER_S;
  scripted_set_sample(&scripted, 1, 102, now());
  scripted_set_wake(&scripted, 0);
  assert_true(live_run_until(*state, &scripted.stream.samples, 3));
  expect_stats(&scripted, 1);
  scripted.stream.last_time = scripted.stream.inversions = 0;
  time = now();
  scripted_set_sample(&scripted, 1, 102, time + 1);
  scripted_set_sample(&scripted, 1, 102, time + 3);
  scripted_set_sample(&scripted, 0, 100, time);
  scripted_set_sample(&scripted, 0, 100, time + 2);
  scripted_set_wake(&scripted, 0);
  assert_true(live_run_until(*state, &scripted.stream.samples, 7));
  assert_int_equal(scripted.stream.inversions, 0);
  expect_stats(&scripted, 1);
  scripted_set_close(&scripted);
}

/* All records seem to be from before the opening. */
static void set_whose_clock_is_set_back_before_its_start_goes_on(void **state) {
  scripted_set_t scripted;

  open_set(*state, &scripted);
  behind = 3600 * NS_PER_S;
  live_stream_start(&scripted.stream, NULL);
  scripted_set_sample(&scripted, 0, 100, now());
  scripted_set_wake(&scripted, 0);
  assert_true(live_run_until(*state, &scripted.stream.samples, 1));
  expect_stats(&scripted, 0);
  scripted_set_close(&scripted);
}

/* While other records are written all the time. */
static void set_ring_of_the_future_beside_a_busy_one_comes(void **state) {
  scripted_set_t scripted;
  uint64_t n;

  begin(*state, &scripted);
  for (n = 0; n < 20; n++)
    scripted_set_sample(&scripted, 0, 100, now());
  behind = 3600 * NS_PER_S;
  scripted_set_sample(&scripted, 1, 102, now() - NS_PER_S);
  scripted_set_wake(&scripted, 1);
  assert_true(live_run_until(*state, &scripted.stream.samples, n + 1));
  for (n = 0; n < 5; n++)
    scripted_set_sample(&scripted, 1, 102, now() - NS_PER_S);
  scripted_set_wake(&scripted, 1);
  assert_true(live_run_until(*state, &scripted.stream.samples, 26));
  expect_stats(&scripted, 20);
  scripted_set_close(&scripted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_in_time_order_of_a_clock_set_back_goes_on),
      scripted_set_test(set_whose_clock_is_set_back_before_its_start_goes_on),
      scripted_set_test(set_ring_of_the_future_beside_a_busy_one_comes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
