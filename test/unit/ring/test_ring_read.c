/* SPDX-License-Identifier: MIT */
/* Reading a ring whose contents are scripted: records that wrap, invalid sizes
 * and heads, counters that overflow, and when the tail is published. */
#include "support.h"

#include <stdalign.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "ring/ring.h"
#include "sys/sys.h"

typedef struct fixture_s {
  fake_event_t *fake;
  uvperf__ring_t ring;
  uint64_t start;
  alignas(8) uint64_t scratch[UVPERF__RING_SCRATCH_BYTES / sizeof(uint64_t)];
} fixture_t;

static fixture_t fx;

static int setup(void **state) {
  fake_kernel_reset();
  memset(&fx, 0, sizeof(fx));
  return 0;
}

static void start_there(fake_event_t *fake) {
  fake->page->data_head = fx.start;
  fake->page->data_tail = fx.start;
  memset(fake->ring, 0xdd, fake->ring_size);
}

/* A new ring whose head and tail both are `start`. */
static void map_at(size_t bytes, uint64_t start) {
  struct perf_event_attr attr;
  int fd;

  fake_kernel_reset();
  memset(fx.scratch, 0xee, sizeof(fx.scratch));
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  fx.start = start;
  fx.fake = fake_event_add(1);
  fx.fake->on_map = start_there;
  fd = uvperf__sys_open(&attr, 0, -1, -1, 0);
  assert_int_equal(uvperf__ring_map(&fx.ring, fd, bytes, 0), 0);
}

/* A record in which the seed determines every byte after the header. */
static void fill_record(uint8_t *bytes, size_t size, unsigned seed) {
  struct perf_event_header header;
  size_t i;

  header.type = seed;
  header.misc = 0;
  header.size = (uint16_t)size;
  memcpy(bytes, &header, sizeof(header));
  for (i = sizeof(header); i < size; i++)
    bytes[i] = (uint8_t)(seed * 31 + i * 7 + (i >> 8));
}

static void append(size_t size, unsigned seed) {
  static uint8_t bytes[UVPERF__RING_SCRATCH_BYTES];

  fill_record(bytes, size, seed);
  fake_ring_append(fx.fake, bytes, size);
}

static const void *expect_record(size_t size, unsigned seed) {
  static uint8_t expected[UVPERF__RING_SCRATCH_BYTES];
  const void *bytes;
  size_t got;

  fill_record(expected, size, seed);
  bytes = NULL;
  got = 0;
  assert_int_equal(uvperf__ring_next(&fx.ring, fx.scratch, &bytes, &got), 1);
  assert_int_equal(got, size);
  assert_int_equal((uintptr_t)bytes % sizeof(uint64_t), 0);
  assert_memory_equal(bytes, expected, size);
  return bytes;
}

static int next(void) {
  const void *bytes;
  size_t size;

  return uvperf__ring_next(&fx.ring, fx.scratch, &bytes, &size);
}

static void next_wrapped_at_every_offset_is_contiguous(void **state) {
  const size_t size = 128;
  size_t left;

  for (left = 8; left < size; left += 8) {
    map_at(support_page_bytes(), support_page_bytes() - left);
    append(size, (unsigned)left);
    assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
    assert_ptr_equal(expect_record(size, (unsigned)left), fx.scratch);
    uvperf__ring_consume(&fx.ring, size);
    assert_int_equal(next(), 0);
  }
}

static void next_up_to_the_edge_is_not_copied(void **state) {
  const size_t size = 128;
  size_t left;

  for (left = size; left <= 2 * size; left += 8) {
    map_at(support_page_bytes(), support_page_bytes() - left);
    append(size, 5);
    assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
    assert_ptr_equal(expect_record(size, 5),
                     fx.fake->ring + support_page_bytes() - left);
  }
}

static void next_at_the_edge_begins_at_the_start(void **state) {
  map_at(support_page_bytes(), support_page_bytes() - 64);
  append(64, 1);
  append(32, 2);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  expect_record(64, 1);
  uvperf__ring_consume(&fx.ring, 64);
  assert_ptr_equal(expect_record(32, 2), fx.fake->ring);
}

static void next_of_the_longest_record_wraps_into_the_scratch(void **state) {
  const size_t longest = 65528;
  size_t bytes = uvperf__ring_round(2 * longest);

  map_at(bytes, bytes - 8);
  append(longest, 3);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  assert_ptr_equal(expect_record(longest, 3), fx.scratch);
  /* Not a byte more than the record. */
  assert_int_equal(((uint8_t *)fx.scratch)[longest], 0xee);
}

static void next_of_a_record_as_long_as_the_ring_wraps(void **state) {
  map_at(support_page_bytes(), 8);
  append(support_page_bytes() < 65536 ? support_page_bytes() : 65528, 3);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  expect_record(support_page_bytes() < 65536 ? support_page_bytes() : 65528, 3);
}

static void next_twice_returns_the_same_record(void **state) {
  map_at(support_page_bytes(), 0);
  append(64, 1);
  append(64, 2);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  expect_record(64, 1);
  expect_record(64, 1);
}

static void next_stops_at_the_head_that_begin_saw(void **state) {
  map_at(support_page_bytes(), 0);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  append(64, 1);
  assert_int_equal(next(), 0);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  expect_record(64, 1);
}

static void next_of_an_impossible_size_is_eproto(void **state) {
  static const uint16_t sizes[] = {0,  1,  4,  7,   9,     12,   20,
                                   63, 68, 72, 128, 65528, 65535};
  struct perf_event_header header;
  size_t i;

  for (i = 0; i < COUNT_OF(sizes); i++) {
    map_at(support_page_bytes(), support_page_bytes() - 16);
    append(64, 1);
    header.type = 1;
    header.misc = 0;
    header.size = sizes[i];
    memcpy(fx.fake->ring + support_page_bytes() - 16, &header, sizeof(header));
    assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
    assert_int_equal(next(), -EPROTO);
    assert_int_equal(fx.ring.tail, support_page_bytes() - 16);
  }
}

static void next_of_the_shortest_record_returns_it(void **state) {
  map_at(support_page_bytes(), 0);
  append(8, 9);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  expect_record(8, 9);
}

static void next_of_a_head_within_a_header_is_eproto(void **state) {
  map_at(support_page_bytes(), 0);
  append(8, 1);
  fx.fake->page->data_head = 4;
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  assert_int_equal(next(), -EPROTO);
}

static void begin_of_an_impossible_head_is_eproto(void **state) {
  const uint64_t start = 40 * support_page_bytes();
  const uint64_t heads[] = {start + support_page_bytes() + 8, start - 8, 0,
                            UINT64_MAX, start + support_page_bytes() + 1};
  size_t i;

  for (i = 0; i < COUNT_OF(heads); i++) {
    map_at(support_page_bytes(), start);
    fx.fake->page->data_head = heads[i];
    assert_int_equal(uvperf__ring_begin(&fx.ring), -EPROTO);
    /* With such a head nothing can be read. */
    assert_int_equal(next(), 0);
    assert_int_equal(fx.ring.high_water, 0);
  }
}

static void skip_moves_to_the_head_and_counts(void **state) {
  const uint64_t start = 40 * support_page_bytes();
  const uint64_t heads[] = {start + 8, start + support_page_bytes() + 8,
                            start - 8, 0};
  size_t i;

  for (i = 0; i < COUNT_OF(heads); i++) {
    map_at(support_page_bytes(), start);
    fx.fake->page->data_head = heads[i];
    assert_int_equal(uvperf__ring_skip(&fx.ring), 0);
    assert_int_equal(fx.ring.skipped, (unsigned long)(heads[i] - start));
    assert_int_equal(fake_ring_tail(fx.fake->page), heads[i]);
    assert_int_equal(next(), 0);
    append(64, 1);
    assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
    expect_record(64, 1);
  }
}

/* The waiting bytes stay there, and count as waiting. */
static void skip_to_a_split_head_is_eproto_and_moves_nothing(void **state) {
  map_at(support_page_bytes(), 0);
  fx.fake->page->data_head = 20;
  assert_int_equal(uvperf__ring_skip(&fx.ring), -EPROTO);
  assert_int_equal(fx.ring.skipped, 0);
  assert_int_equal(fx.ring.tail, 0);
  assert_int_equal(uvperf__ring_waiting(&fx.ring), 20);
}

static void begin_of_a_full_ring_returns_all(void **state) {
  size_t quarter = support_page_bytes() / 4;
  unsigned i;

  map_at(support_page_bytes(), 8);
  for (i = 0; i < 4; i++)
    append(quarter, i);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  for (i = 0; i < 4; i++) {
    expect_record(quarter, i);
    uvperf__ring_consume(&fx.ring, quarter);
  }
  assert_int_equal(next(), 0);
}

static void begin_works_across_the_end_of_64_bits(void **state) {
  const uint64_t start = UINT64_MAX - 71; /* 72 bytes before 0 */
  unsigned i;

  map_at(support_page_bytes(), start);
  for (i = 0; i < 5; i++)
    append(48, i);
  assert_int_equal(fx.fake->page->data_head, 5 * 48 - 72);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  assert_int_equal(fx.ring.high_water, 5 * 48);
  for (i = 0; i < 5; i++) {
    expect_record(48, i);
    uvperf__ring_consume(&fx.ring, 48);
  }
  assert_int_equal(next(), 0);
  uvperf__ring_end(&fx.ring);
  assert_int_equal(fake_ring_tail(fx.fake->page), 5 * 48 - 72);
}

static void end_publishes_only_consumed_records(void **state) {
  map_at(support_page_bytes(), 0);
  append(64, 1);
  append(64, 2);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  expect_record(64, 1);
  assert_int_equal(fx.fake->page->data_tail, 0);
  uvperf__ring_consume(&fx.ring, 64);
  assert_int_equal(fx.fake->page->data_tail, 0);
  expect_record(64, 2);
  uvperf__ring_end(&fx.ring);
  assert_int_equal(fx.fake->page->data_tail, 64);
}

static void end_without_progress_does_not_write(void **state) {
  map_at(support_page_bytes(), 0);
  append(64, 1);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  fx.fake->page->data_tail = 0x5555;
  uvperf__ring_end(&fx.ring);
  assert_int_equal(fx.fake->page->data_tail, 0x5555);
}

static void consume_publishes_at_each_quarter(void **state) {
  size_t size = support_page_bytes() / 16;
  uint64_t start = 2 * support_page_bytes();
  unsigned i;

  map_at(support_page_bytes(), start);
  for (i = 0; i < 16; i++)
    append(size, i);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  for (i = 0; i < 16; i++) {
    /* Quarters are 4 records; nothing is published while one is read. */
    expect_record(size, i);
    assert_int_equal(fx.fake->page->data_tail, start + size * (i - i % 4));
    uvperf__ring_consume(&fx.ring, size);
  }
  assert_int_equal(fx.fake->page->data_tail, start + support_page_bytes());
}

static void begin_keeps_the_high_water_mark(void **state) {
  map_at(support_page_bytes(), 0);
  append(64, 1);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  assert_int_equal(fx.ring.high_water, 64);
  uvperf__ring_consume(&fx.ring, 64);
  append(32, 2);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  assert_int_equal(fx.ring.high_water, 64);
  append(128, 3);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  assert_int_equal(fx.ring.high_water, 160);
}

static void has_data_sees_records_after_the_head_of_begin(void **state) {
  map_at(support_page_bytes(), 64);
  assert_int_equal(uvperf__ring_has_data(&fx.ring), 0);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  append(64, 1);
  assert_int_equal(uvperf__ring_has_data(&fx.ring), 1);
  assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
  /* What begin saw counts until it is consumed. */
  assert_int_equal(uvperf__ring_has_data(&fx.ring), 1);
  uvperf__ring_consume(&fx.ring, 64);
  assert_int_equal(uvperf__ring_has_data(&fx.ring), 0);
}

/* By another process's record that is longer than its header says. */
static void given_of_a_run_that_is_overwritten_ends(void **state) {
  struct perf_event_header none = {0, 0, 0};
  uvperf__run_t run = {0};
  uint64_t bytes;

  map_at(support_page_bytes(), 0);
  append(64, 1);
  append(32, 2);
  append(32, 3);
  run.start = fx.ring.data;
  run.at = fx.ring.data + 96;
  fx.ring.run = &run;
  assert_int_equal(uvperf__ring_run_delivered(&fx.ring, &bytes), 3);
  assert_int_equal(bytes, 128);
  memcpy(fx.fake->ring + 64, &none, sizeof(none));
  assert_int_equal(uvperf__ring_run_delivered(&fx.ring, &bytes), 1);
  assert_int_equal(bytes, 64);
}

/* Sizes from 8 to 512 in a fixed but irregular order. */
static size_t irregular(unsigned i) {
  return 8 + 8 * ((i * 2654435761u >> 16) % 64);
}

static void stream_of_irregular_sizes_arrives_whole(void **state) {
  unsigned written;
  unsigned seen;

  map_at(support_page_bytes(), UINT64_MAX - 16 * support_page_bytes() + 1);
  written = 0;
  for (seen = 0; seen < 5000;) {
    while (fx.fake->page->data_head - fake_ring_tail(fx.fake->page) +
               irregular(written) <=
           support_page_bytes()) {
      append(irregular(written), written);
      written++;
    }
    assert_int_equal(uvperf__ring_begin(&fx.ring), 0);
    for (; seen < written; seen++) {
      expect_record(irregular(seen), seen);
      uvperf__ring_consume(&fx.ring, irregular(seen));
    }
    assert_int_equal(next(), 0);
    uvperf__ring_end(&fx.ring);
  }
}

#define TEST(f) cmocka_unit_test_setup(f, setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(next_wrapped_at_every_offset_is_contiguous),
      TEST(next_up_to_the_edge_is_not_copied),
      TEST(next_at_the_edge_begins_at_the_start),
      TEST(next_of_the_longest_record_wraps_into_the_scratch),
      TEST(next_of_a_record_as_long_as_the_ring_wraps),
      TEST(next_twice_returns_the_same_record),
      TEST(next_stops_at_the_head_that_begin_saw),
      TEST(next_of_an_impossible_size_is_eproto),
      TEST(next_of_the_shortest_record_returns_it),
      TEST(next_of_a_head_within_a_header_is_eproto),
      TEST(begin_of_an_impossible_head_is_eproto),
      TEST(skip_moves_to_the_head_and_counts),
      TEST(skip_to_a_split_head_is_eproto_and_moves_nothing),
      TEST(begin_of_a_full_ring_returns_all),
      TEST(begin_works_across_the_end_of_64_bits),
      TEST(end_publishes_only_consumed_records),
      TEST(end_without_progress_does_not_write),
      TEST(consume_publishes_at_each_quarter),
      TEST(begin_keeps_the_high_water_mark),
      TEST(given_of_a_run_that_is_overwritten_ends),
      TEST(has_data_sees_records_after_the_head_of_begin),
      TEST(stream_of_irregular_sizes_arrives_whole),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
