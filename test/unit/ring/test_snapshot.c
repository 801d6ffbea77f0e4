/* SPDX-License-Identifier: MIT */
/* Snapshots of overwritable rings with scripted contents: which records they
 * have. */
#include "scripted_snapshot.h"

#include "uvperf/stream.h"

/* -- contents ------------------------------------------------------------- */

static void snapshot_delivers_the_newest_first(void **state) {
  scripted_snapshot_map_page();
  scripted_snapshot_write_records(1, 5, 48);
  scripted_snapshot_expect(0, 5, 1, 0);
}

static void snapshot_delivers_the_oldest_first_if_asked(void **state) {
  scripted_snapshot_map_page();
  scripted_snapshot_write_records(1, 5, 48);
  scripted_snapshot_write(0, 6, 8);
  scripted_snapshot_write(0, 7, 1000);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_OLDEST_FIRST, 1, 7, 0);
}

/* As the kernel writes them: at once, with the LOST before it. */
static void write_after_loss(uint32_t number) {
  struct perf_event_header headers[2] = {
      {PERF_RECORD_LOST, 0, 8}, {SCRIPTED_SNAPSHOT_TYPE(number), 0, 8}};

  fake_ring_prepend(shots.fakes[0], headers, sizeof(headers));
}

static void expect_types(uint32_t flags, const uint32_t *types, size_t nr) {
  size_t i;

  assert_int_equal(scripted_snapshot_take(shots.list, 1, flags), 0);
  assert_int_equal(uvperf__ring_begin(&shots.list[0].image), 0);
  for (i = 0; i < nr; i++)
    assert_int_equal(scripted_snapshot_take_record(&shots.list[0].image),
                     types[i]);
  assert_int_equal(scripted_snapshot_take_record(&shots.list[0].image), 0);
  uvperf__snapshots_free(shots.list, 1);
}

static void snapshot_has_a_lost_before_what_follows_it(void **state) {
  static const uint32_t newest[] = {PERF_RECORD_LOST, SCRIPTED_SNAPSHOT_TYPE(3),
                                    PERF_RECORD_LOST, SCRIPTED_SNAPSHOT_TYPE(2),
                                    SCRIPTED_SNAPSHOT_TYPE(1)};
  static const uint32_t oldest[] = {SCRIPTED_SNAPSHOT_TYPE(1), PERF_RECORD_LOST,
                                    SCRIPTED_SNAPSHOT_TYPE(2), PERF_RECORD_LOST,
                                    SCRIPTED_SNAPSHOT_TYPE(3)};
  static const uint32_t cut[] = {PERF_RECORD_LOST, SCRIPTED_SNAPSHOT_TYPE(5)};

  scripted_snapshot_map_page();
  scripted_snapshot_write(0, 1, 64);
  write_after_loss(2);
  write_after_loss(3);
  expect_types(0, newest, 5);
  expect_types(UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_OLDEST_FIRST, oldest, 5);
  /* The record after the older LOST is cut. */
  write_after_loss(4);
  scripted_snapshot_write(0, 5, support_page_bytes() - 8);
  expect_types(UVPERF_SNAPSHOT_OLDEST_FIRST, cut, 2);
}

static void snapshot_of_an_empty_ring_has_nothing(void **state) {
  scripted_snapshot_map_page();
  scripted_snapshot_expect(0, 0, 0, 0);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_OLDEST_FIRST,
                           0, 0, 0);
  assert_int_equal(fake_count(FAKE_MEMBARRIER), 0);
}

static void snapshot_has_only_what_came_since(void **state) {
  scripted_snapshot_map_page();
  scripted_snapshot_write_records(1, 5, 48);
  scripted_snapshot_expect(0, 5, 1, 0);
  scripted_snapshot_expect(0, 0, 0, 0);
  scripted_snapshot_write_records(6, 7, 64);
  scripted_snapshot_expect(0, 7, 6, 0);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_ALL, 7, 1, 0);
  scripted_snapshot_expect(0, 0, 0, 0);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_OLDEST_FIRST,
                           1, 7, 0);
}

/* A record size that does not divide the page: the oldest is cut. */
static void snapshot_of_a_ring_gone_round_drops_the_cut_one(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 48);

  scripted_snapshot_map_page();
  scripted_snapshot_write_records(1, 10000, 48);
  scripted_snapshot_expect(0, 10000, 10000 - whole + 1, 1);
  scripted_snapshot_write_records(10001, 30000, 48);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_OLDEST_FIRST, 30000 - whole + 1,
                           30000, 1);
}

static void snapshot_of_a_ring_exactly_full_cuts_nothing(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 64);

  scripted_snapshot_map_page();
  scripted_snapshot_write_records(1, whole, 64);
  scripted_snapshot_expect(0, whole, 1, 0);
  scripted_snapshot_write_records(whole + 1, 3 * whole, 64);
  scripted_snapshot_expect(0, 3 * whole, 2 * whole + 1, 0);
}

static void snapshot_of_a_record_as_large_as_the_ring_has_it(void **state) {
  scripted_snapshot_map_page();
  scripted_snapshot_write(0, 1, support_page_bytes());
  scripted_snapshot_write(0, 2, support_page_bytes());
  scripted_snapshot_expect(0, 2, 2, 0);
  scripted_snapshot_write(0, 3, 8);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_ALL, 3, 3, 0); /* 2 was given */
}

/* Each offset of the page is one at which the oldest is cut and one at which a
 * record wraps. */
static void snapshot_cut_at_every_offset_keeps_whole_ones(void **state) {
  size_t last;

  for (last = 16; last <= 1024; last += 8) {
    size_t left = support_page_bytes() - last;
    uint32_t oldest = 61 - (uint32_t)(left / 104);

    scripted_snapshot_map_page();
    scripted_snapshot_write_records(1, 60, 104);
    scripted_snapshot_write(0, 61, last);
    if (last % 16 == 0)
      scripted_snapshot_expect(0, 61, oldest, left % 104 != 0 ? 1 : 0);
    else
      scripted_snapshot_expect(UVPERF_SNAPSHOT_OLDEST_FIRST, oldest, 61,
                               left % 104 != 0 ? 1 : 0);
  }
}

/* A record that was given, or counted, is not counted when it is cut later. */
static void snapshot_of_all_counts_no_cut_record_twice(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 48);

  scripted_snapshot_map_page();
  scripted_snapshot_write_records(1, 200, 48);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_ALL, 200, 200 - whole + 1, 1);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_ALL, 200, 200 - whole + 1, 0);
  scripted_snapshot_write_records(201, 202, 48);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_ALL, 202, 202 - whole + 1, 0);
  scripted_snapshot_write_records(203, 400, 48);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_ALL, 400, 400 - whole + 1, 1);
}

/* Random records, and which of them must come. */
static void snapshot_of_random_records_is_as_in_the_model(void **state) {
  static size_t sizes[100000];
  uint32_t newest = 0;
  uint32_t given = 0;
  uint32_t seed = 1;
  int round;

  scripted_snapshot_map_page();
  for (round = 0; round < 2000; round++) {
    uint32_t flags = (uint32_t)round % 4;
    uint32_t until = flags & UVPERF_SNAPSHOT_ALL ? 0 : given;
    uint32_t oldest, i;
    size_t bytes = 0;

    for (i = 0; i < (uint32_t)round % 41; i++) {
      seed = seed * 1103515245 + 12345;
      sizes[++newest] = 8 + (seed >> 16) % 64 * 8;
      scripted_snapshot_write(0, newest, sizes[newest]);
    }
    for (oldest = newest; oldest > until; oldest--) {
      if (bytes + sizes[oldest] > support_page_bytes())
        break;
      bytes += sizes[oldest];
    }
    i = oldest > given && bytes < support_page_bytes();
    if (oldest == newest)
      scripted_snapshot_expect(flags, 0, 0, i);
    else if (flags & UVPERF_SNAPSHOT_OLDEST_FIRST)
      scripted_snapshot_expect(flags, oldest + 1, newest, i);
    else
      scripted_snapshot_expect(flags, newest, oldest + 1, i);
    given = newest;
  }
}

/* -- damage --------------------------------------------------------------- */

static void expect_unsound(uint32_t flags, uint32_t first, uint32_t last) {
  assert_int_equal(scripted_snapshot_take(shots.list, 1, flags), 0);
  assert_int_equal(shots.list[0].code, -EPROTO);
  scripted_snapshot_expect_image(0, first, last);
  uvperf__snapshots_free(shots.list, 1);
  assert_int_equal(shots.rings[0].cut, 0);
}

static void snapshot_with_an_unsound_header_has_what_is_newer(void **state) {
  static const uint16_t sizes[] = {0, 4, 12, 67, 65535};
  uint32_t newest, nth, skipped;
  size_t i;

  for (nth = 1; nth <= 20; nth++) {
    scripted_snapshot_map_page();
    newest = 0;
    skipped = 0;
    for (i = 0; i < COUNT_OF(sizes); i++) {
      scripted_snapshot_write_records(newest + 1, newest + 20, 64);
      newest += 20;
      scripted_snapshot_spoil(nth, sizes[i]);
      if (nth == 1)
        expect_unsound((uint32_t)i % 2, 0, 0);
      else if (i % 2 == 0)
        expect_unsound(0, newest, newest - nth + 2);
      else
        expect_unsound(UVPERF_SNAPSHOT_OLDEST_FIRST, newest - nth + 2, newest);
      skipped += (20 - nth + 1) * 64;
      assert_int_equal(shots.rings[0].skipped, skipped);
      /* The next one is of other records. */
      scripted_snapshot_expect(0, 0, 0, 0);
    }
  }
}

/* A record that is longer than everything written. */
static void snapshot_with_a_record_that_is_too_long_is_eproto(void **state) {
  scripted_snapshot_map_page();
  scripted_snapshot_write_records(1, 2, 64);
  scripted_snapshot_spoil(2, 72);
  expect_unsound(0, 2, 2);
}

static void snapshot_with_a_split_head_is_eproto(void **state) {
  scripted_snapshot_map_page();
  scripted_snapshot_write_records(1, 2, 64);
  shots.fakes[0]->page->data_head -= 12;
  expect_unsound(0, 0, 0);
  shots.fakes[0]->page->data_head += 12;
  scripted_snapshot_expect(0, 2, 1, 0);
}

/* -- beside uvperf__ring_next --------------------------------------------- */

static void snapshot_does_not_touch_a_record_of_next(void **state) {
  static uint64_t scratch[UVPERF__RING_SCRATCH_BYTES / sizeof(uint64_t)];
  const void *bytes;
  size_t size;
  int i;

  scripted_snapshot_map_page();
  scripted_snapshot_write_records(1, 3, 64);
  assert_int_equal(uvperf__ring_begin(&shots.rings[0]), 0);
  assert_int_equal(uvperf__ring_next(&shots.rings[0], scratch, &bytes, &size),
                   1);
  uvperf__ring_consume(&shots.rings[0], size);
  scripted_snapshot_write_records(4, 5, 64);
  scripted_snapshot_expect(0, 5, 4, 0);
  for (i = 2; i > 0; i--) {
    assert_int_equal(uvperf__ring_next(&shots.rings[0], scratch, &bytes, &size),
                     1);
    assert_int_equal(((const struct perf_event_header *)bytes)->type,
                     SCRIPTED_SNAPSHOT_TYPE((uint32_t)i));
    uvperf__ring_consume(&shots.rings[0], size);
  }
  assert_int_equal(uvperf__ring_waiting(&shots.rings[0]), 0);
  assert_int_equal(uvperf__ring_begin(&shots.rings[0]), 0);
  assert_int_equal(uvperf__ring_next(&shots.rings[0], scratch, &bytes, &size),
                   0);
}

static void snapshot_reports_at_most_what_it_found(void **state) {
  scripted_snapshot_map_page();
  scripted_snapshot_write_records(1, 4, 64);
  assert_int_equal(uvperf__ring_waiting(&shots.rings[0]), 256);
  scripted_snapshot_expect(0, 4, 1, 0);
  scripted_snapshot_write(0, 5, 64);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_ALL, 5, 1, 0);
  assert_int_equal(shots.rings[0].high_water, 256);
  scripted_snapshot_write_records(6, 1000, 64);
  scripted_snapshot_expect(0, 1000,
                           1001 - (uint32_t)(support_page_bytes() / 64), 0);
  assert_int_equal(shots.rings[0].high_water, support_page_bytes());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(snapshot_delivers_the_newest_first),
      cmocka_unit_test(snapshot_delivers_the_oldest_first_if_asked),
      cmocka_unit_test(snapshot_has_a_lost_before_what_follows_it),
      cmocka_unit_test(snapshot_of_an_empty_ring_has_nothing),
      cmocka_unit_test(snapshot_has_only_what_came_since),
      cmocka_unit_test(snapshot_of_a_ring_gone_round_drops_the_cut_one),
      cmocka_unit_test(snapshot_of_a_ring_exactly_full_cuts_nothing),
      cmocka_unit_test(snapshot_of_a_record_as_large_as_the_ring_has_it),
      cmocka_unit_test(snapshot_cut_at_every_offset_keeps_whole_ones),
      cmocka_unit_test(snapshot_of_all_counts_no_cut_record_twice),
      cmocka_unit_test(snapshot_of_random_records_is_as_in_the_model),
      cmocka_unit_test(snapshot_with_an_unsound_header_has_what_is_newer),
      cmocka_unit_test(snapshot_with_a_record_that_is_too_long_is_eproto),
      cmocka_unit_test(snapshot_with_a_split_head_is_eproto),
      cmocka_unit_test(snapshot_does_not_touch_a_record_of_next),
      cmocka_unit_test(snapshot_reports_at_most_what_it_found),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
