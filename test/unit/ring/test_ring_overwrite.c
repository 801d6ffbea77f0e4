/* SPDX-License-Identifier: MIT */
/* An overwritable ring whose contents are scripted, read record by record;
 * snapshots of one are in test_snapshot*.c. */
#include "support.h"

#include <sys/mman.h>

#include "fake_kernel.h"
#include "ring/ring.h"
#include "sys/sys.h"

static fake_event_t *fake;
static uvperf__ring_t ring;
static uint64_t scratch[UVPERF__RING_SCRATCH_BYTES / sizeof(uint64_t)];

/* A new ring of `bytes` bytes. */
static void map_bytes(size_t bytes) {
  struct perf_event_attr attr;
  int fd;

  fake_kernel_reset();
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  fake = fake_event_add(1);
  fd = uvperf__sys_open(&attr, 0, -1, -1, 0);
  assert_int_equal(uvperf__ring_map(&ring, fd, bytes, 1), 0);
  memset(fake->ring, 0xdd, fake->ring_size);
}

/* One of one page. */
static void map(void) {
  map_bytes(support_page_bytes());
}

/* The record's type is its number. */
static void write_record(uint32_t number, size_t size) {
  static uint8_t bytes[65536];
  struct perf_event_header header = {number, 0, (uint16_t)size};

  memset(bytes, (uint8_t)number, size);
  memcpy(bytes, &header, sizeof(header));
  fake_ring_prepend(fake, bytes, size);
}

static void write_records(uint32_t first, uint32_t last, size_t size) {
  uint32_t number;

  for (number = first; number <= last; number++)
    write_record(number, size);
}

/* Takes one record, which must be whole, and returns its number; 0 if there is
 * none. */
static uint32_t take(void) {
  struct perf_event_header header;
  const uint8_t *body;
  const void *bytes;
  size_t size, i;
  int rc;

  rc = uvperf__ring_next(&ring, scratch, &bytes, &size);
  assert_true(rc >= 0);
  if (rc == 0)
    return 0;
  memcpy(&header, bytes, sizeof(header));
  body = bytes;
  for (i = sizeof(header); i < size; i++)
    assert_int_equal(body[i], (uint8_t)header.type);
  uvperf__ring_consume(&ring, size);
  return header.type;
}

/* A snapshot must have exactly these records, newest first, and this number
 * cut. */
static void expect_snapshot(uint32_t newest, uint32_t oldest, uint64_t cut) {
  uint64_t before = ring.cut;
  uint32_t number;

  assert_int_equal(uvperf__ring_begin(&ring), 0);
  for (number = newest; number >= oldest; number--)
    assert_int_equal(take(), number);
  assert_int_equal(take(), 0);
  uvperf__ring_end(&ring);
  assert_int_equal(ring.cut - before, cut);
}

static void overwrite_ring_returns_the_newest_first(void **state) {
  map();
  write_records(1, 5, 48);
  expect_snapshot(5, 1, 0);
}

static void overwrite_ring_that_is_empty_returns_nothing(void **state) {
  map();
  assert_int_equal(uvperf__ring_begin(&ring), 0);
  assert_int_equal(take(), 0);
  assert_int_equal(ring.cut, 0);
}

static void overwrite_ring_returns_only_records_since_the_last(void **state) {
  map();
  write_records(1, 5, 48);
  expect_snapshot(5, 1, 0);
  assert_int_equal(uvperf__ring_begin(&ring), 0);
  assert_int_equal(take(), 0);
  write_records(6, 7, 64);
  expect_snapshot(7, 6, 0);
}

/* A record size that does not divide the page: the oldest is cut. */
static void overwrite_ring_gone_round_drops_the_cut_one(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 48);

  map();
  write_records(1, 200, 48);
  expect_snapshot(200, 200 - whole + 1, 1);
  write_records(201, 1000, 48);
  expect_snapshot(1000, 1000 - whole + 1, 1);
}

static void overwrite_ring_exactly_full_cuts_nothing(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 64);

  map();
  write_records(1, whole, 64);
  expect_snapshot(whole, 1, 0);
  write_records(whole + 1, 3 * whole, 64);
  expect_snapshot(3 * whole, 2 * whole + 1, 0);
}

/* Records of every size, so that each offset of the page is one at which the
 * oldest is cut and one at which a record wraps. */
static void overwrite_ring_cut_at_every_offset_keeps_whole_ones(void **state) {
  size_t last;

  for (last = 16; last <= 1024; last += 8) {
    uint32_t number = 60;
    size_t left;

    map();
    write_records(1, number, 104);
    write_record(++number, last);
    left = support_page_bytes() - last;
    expect_snapshot(number, number - (uint32_t)(left / 104),
                    left % 104 != 0 ? 1 : 0);
  }
}

/* The kernel may still be writing for a moment after the pause. */
static void overwrite_ring_overtaken_while_read_drops_the_rest(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 64);

  map();
  write_records(1, whole, 64);
  assert_int_equal(uvperf__ring_begin(&ring), 0);
  assert_int_equal(take(), whole);
  /* Overwrites all but the two that are next. */
  write_records(whole + 1, 2 * whole - 3, 64);
  assert_int_equal(take(), whole - 1);
  assert_int_equal(take(), whole - 2);
  assert_int_equal(take(), 0);
  assert_int_equal(ring.cut, 1);
  /* They belong to the next snapshot. */
  expect_snapshot(2 * whole - 3, whole + 1, 0);
}

static void overwrite_ring_with_an_unsound_header_is_eproto(void **state) {
  const void *bytes;
  size_t size;

  map_bytes(128 * 1024);
  write_record(1, 64);
  memset(fake->ring + fake->ring_size - 64, 0, 64);
  assert_int_equal(uvperf__ring_begin(&ring), 0);
  assert_int_equal(uvperf__ring_next(&ring, scratch, &bytes, &size), -EPROTO);
  assert_int_equal(uvperf__ring_skip(&ring), 0);
  assert_int_equal(ring.skipped, 64);
  write_record(2, 64);
  expect_snapshot(2, 2, 0);
}

/* The kernel is in the middle of a record over the oldest one, whose header is
 * gone already: the head does not show that. */
static void overwrite_ring_spoilt_while_read_drops_the_oldest(void **state) {
  uint32_t last = 128 * 1024 / 64;
  uint64_t newest;

  map_bytes(128 * 1024);
  write_records(1, last, 64);
  newest = fake->page->data_head;
  memset(fake->ring + (newest - 64 * 3) % fake->ring_size, 0, 64 * 3);
  expect_snapshot(last, 4, 1);
  write_record(++last, 64);
  expect_snapshot(last, last, 0);
}

/* Writing was resumed during a snapshot, and paused again in the middle of a
 * record that overwrites the next one to be returned. */
static void overwrite_ring_spoilt_after_going_on_drops_the_rest(void **state) {
  uint32_t last = 128 * 1024 / 64;

  map_bytes(128 * 1024);
  write_records(1, 10, 64);
  assert_int_equal(uvperf__ring_begin(&ring), 0);
  assert_int_equal(take(), 10);
  write_records(11, last, 64);
  memset(fake->ring + fake->ring_size - 10 * 64, 0, 10 * 64);
  assert_int_equal(take(), 0);
  assert_int_equal(ring.cut, 1);
  expect_snapshot(last, 11, 0);
}

static void overwrite_ring_with_a_split_head_is_eproto(void **state) {
  map();
  fake->page->data_head -= 12;
  assert_int_equal(uvperf__ring_begin(&ring), -EPROTO);
  assert_int_equal(ring.tail, ring.head);
  assert_int_equal(uvperf__ring_skip(&ring), -EPROTO);
  assert_int_equal(uvperf__ring_begin(&ring), -EPROTO);
  assert_int_equal(take(), 0);
}

/* It is mapped read-only: a store would be a SIGSEGV. */
static void overwrite_ring_never_moves_a_tail(void **state) {
  map();
  write_records(1, 200, 48);
  assert_int_equal(mprotect(fake->page, support_page_bytes(), PROT_READ), 0);
  assert_int_equal(uvperf__ring_begin(&ring), 0);
  while (take() != 0)
    continue;
  uvperf__ring_end(&ring);
  assert_int_equal(fake->page->data_tail, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(overwrite_ring_returns_the_newest_first),
      cmocka_unit_test(overwrite_ring_that_is_empty_returns_nothing),
      cmocka_unit_test(overwrite_ring_returns_only_records_since_the_last),
      cmocka_unit_test(overwrite_ring_gone_round_drops_the_cut_one),
      cmocka_unit_test(overwrite_ring_exactly_full_cuts_nothing),
      cmocka_unit_test(overwrite_ring_cut_at_every_offset_keeps_whole_ones),
      cmocka_unit_test(overwrite_ring_overtaken_while_read_drops_the_rest),
      cmocka_unit_test(overwrite_ring_with_an_unsound_header_is_eproto),
      cmocka_unit_test(overwrite_ring_spoilt_while_read_drops_the_oldest),
      cmocka_unit_test(overwrite_ring_spoilt_after_going_on_drops_the_rest),
      cmocka_unit_test(overwrite_ring_with_a_split_head_is_eproto),
      cmocka_unit_test(overwrite_ring_never_moves_a_tail),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
