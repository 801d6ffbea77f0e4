/* SPDX-License-Identifier: MIT */
#include "support.h"

#include "loop/slice.h"

static uvperf__slice_t slice;

/* Takes records until the slice ends, or at most `most`. */
static uint64_t take_all(size_t size, uint64_t most) {
  uint64_t nr;

  for (nr = 1; nr < most; nr++)
    if (uvperf__slice_take(&slice, size) != UVPERF__DRAINED)
      break;
  return nr;
}

static void slice_ends_with_the_first_bound(void **state) {
  uint64_t session = 1;

  uvperf__slice_begin(&slice, &session, 10, 1000, UINT64_MAX);
  uvperf__slice_start_clock(&slice);
  assert_int_equal(take_all(8, 100), 10);
  uvperf__slice_begin(&slice, &session, 10, 1000, UINT64_MAX);
  uvperf__slice_start_clock(&slice);
  assert_int_equal(take_all(500, 100), 2);
  uvperf__slice_begin(&slice, &session, 1, 1, 1);
  assert_int_equal(take_all(8, 100), 1);
  assert_int_equal(slice.records, 1);
  assert_int_equal(slice.bytes, 8);
}

static void slice_of_another_session_is_stopped(void **state) {
  uint64_t session = 1;

  uvperf__slice_begin(&slice, &session, 10, 1000, UINT64_MAX);
  uvperf__slice_start_clock(&slice);
  assert_int_equal(uvperf__slice_take(&slice, 8), UVPERF__DRAINED);
  session += 1;
  assert_int_equal(uvperf__slice_take(&slice, 8), UVPERF__STOPPED);
}

static void slice_without_bounds_never_ends(void **state) {
  uint64_t session = 1;

  uvperf__slice_unbounded(&slice, &session);
  assert_int_equal(take_all(65528, 100000), 100000);
}

/* The time of the start is moved instead of waiting. */
static void slice_whose_time_is_up_ends_within_128_records(void **state) {
  uint64_t session = 1;

  uvperf__slice_begin(&slice, &session, 1000000, UINT64_MAX, 3600000000000);
  uvperf__slice_start_clock(&slice);
  assert_int_equal(take_all(8, 1001), 1001);
  slice.start_ns -= 3600000000000;
  assert_in_range(take_all(8, 1000), 1, 129);
}

static void
slice_that_has_begun_reads_the_clock_within_32_records(void **state) {
  uint64_t session = 1;

  uvperf__slice_begin(&slice, &session, 1000000, UINT64_MAX, 3600000000000);
  uvperf__slice_start_clock(&slice);
  assert_int_equal(take_all(8, 2), 2);
  slice.start_ns -= 3600000000000;
  assert_in_range(take_all(8, 1000), 1, 33);
}

/* Ten records have taken half of the time, so that ten more would fit. */
static void slice_checks_again_after_half_of_what_fits(void **state) {
  uint64_t session = 1;

  uvperf__slice_begin(&slice, &session, 1000000, UINT64_MAX, 7200000000000);
  uvperf__slice_start_clock(&slice);
  slice.start_ns -= 3600000000000;
  slice.records = 10;
  assert_int_equal(uvperf__slice_time_over(&slice), 0);
  assert_in_range(slice.next_clock_read, 14, 15);
}

static void slice_without_a_clock_ends_with_its_first_record(void **state) {
  uint64_t session = 1;

  uvperf__slice_begin(&slice, &session, 1000000, UINT64_MAX, UINT64_MAX);
  assert_int_equal(take_all(8, 1000), 1);
}

static void slice_of_slow_records_reads_the_clock_for_each(void **state) {
  uint64_t session = 1;

  uvperf__slice_begin(&slice, &session, 1000000, UINT64_MAX, 3600000000000);
  uvperf__slice_start_clock(&slice);
  /* As if the first record had taken 40 minutes of the hour. */
  slice.start_ns -= 2400000000000;
  assert_int_equal(uvperf__slice_take(&slice, 8), UVPERF__DRAINED);
  slice.start_ns -= 2400000000000;
  assert_int_equal(uvperf__slice_take(&slice, 8), UVPERF__CUT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slice_ends_with_the_first_bound),
      cmocka_unit_test(slice_of_another_session_is_stopped),
      cmocka_unit_test(slice_without_bounds_never_ends),
      cmocka_unit_test(slice_whose_time_is_up_ends_within_128_records),
      cmocka_unit_test(slice_that_has_begun_reads_the_clock_within_32_records),
      cmocka_unit_test(slice_checks_again_after_half_of_what_fits),
      cmocka_unit_test(slice_without_a_clock_ends_with_its_first_record),
      cmocka_unit_test(slice_of_slow_records_reads_the_clock_for_each),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
