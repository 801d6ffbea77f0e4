/* SPDX-License-Identifier: MIT */
/* The checks of cilium/ebpf's tests of its perf rings, on made-up rings. This
 * file makes the page and the data, and acts as the kernel. The whole list is
 * in ORIGINS. */
#include "support.h"

#include <linux/perf_event.h>

#include "ring/ring.h"

#define RECORD  16 /* bytes: a header and a number */
#define RECORDS 4
#define NONE    UINT64_MAX

typedef struct hand_ring_s {
  struct perf_event_mmap_page page;
  _Alignas(8) uint8_t data[RECORDS * RECORD];
  uvperf__ring_t ring;
} hand_ring_t;

/* Each place of the ring has a record with the number of the place. */
static void make_ring(hand_ring_t *hand, uint64_t head, uint64_t tail,
                      int overwrite) {
  const struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, RECORD};
  uint64_t i;

  memset(hand, 0, sizeof(*hand));
  for (i = 0; i < RECORDS; i++) {
    memcpy(hand->data + i * RECORD, &header, sizeof(header));
    memcpy(hand->data + i * RECORD + sizeof(header), &i, sizeof(i));
  }
  hand->page.data_head = head;
  hand->page.data_tail = tail;
  hand->ring.page = &hand->page;
  hand->ring.data = hand->data;
  hand->ring.size = sizeof(hand->data);
  hand->ring.overwrite = overwrite;
  if (!overwrite)
    hand->ring.tail = hand->ring.head = hand->ring.published = tail;
}

static void make_forward(hand_ring_t *hand, uint64_t first) {
  make_ring(hand, (first + RECORDS) * RECORD, first * RECORD, 0);
}

/* Makes a ring that has gone round, with its newest record at this place. */
static void make_reverse(hand_ring_t *hand, uint64_t newest) {
  make_ring(hand, 0 - (2 * RECORDS - newest) * RECORD, 0, 1);
}

static uint64_t take(hand_ring_t *hand) {
  static _Alignas(8) uint8_t scratch[UVPERF__RING_SCRATCH_BYTES];
  const void *bytes;
  uint64_t number;
  size_t size;
  int rc;

  rc = uvperf__ring_next(&hand->ring, scratch, &bytes, &size);
  assert_in_range(rc, 0, 1);
  if (rc == 0)
    return NONE;
  assert_int_equal(size, RECORD);
  memcpy(&number, (const uint8_t *)bytes + 8, sizeof(number));
  uvperf__ring_consume(&hand->ring, size);
  return number;
}

static void expect(hand_ring_t *hand, uint64_t first, uint64_t nr) {
  uint64_t i;

  for (i = 0; i < nr; i++)
    assert_int_equal(take(hand), (first + i) % RECORDS);
}

static void expect_end(hand_ring_t *hand) {
  assert_int_equal(take(hand), NONE);
  assert_int_equal(take(hand), NONE);
}

/* cilium TestRingBufferReader: a full ring delivers all records, from any place
 * on, and then nothing. The tail is at the head then. */
static void ring_that_is_full_delivers_each_record_once(void **state) {
  hand_ring_t hand;
  uint64_t first;

  (void)state;
  for (first = 0; first < 2 * RECORDS; first++) {
    make_forward(&hand, first);
    assert_int_equal(uvperf__ring_begin(&hand.ring), 0);
    expect(&hand, first, RECORDS);
    expect_end(&hand);
    uvperf__ring_end(&hand.ring);
    assert_int_equal(hand.page.data_tail, hand.page.data_head);
    assert_int_equal(uvperf__ring_begin(&hand.ring), 0);
    expect_end(&hand);
  }
}

/* cilium TestRingBufferReverseReader, its first and last case: the ring has
 * gone round once or more often. */
static void reverse_ring_gone_round_returns_the_newest_first(void **state) {
  hand_ring_t hand;
  uint64_t newest;
  int laps;

  (void)state;
  for (newest = 0; newest < RECORDS; newest++) {
    make_reverse(&hand, newest);
    for (laps = 0; laps < 3; laps++) {
      assert_int_equal(uvperf__ring_begin(&hand.ring), 0);
      expect(&hand, newest, RECORDS);
      expect_end(&hand);
      uvperf__ring_end(&hand.ring);
      assert_int_equal(hand.page.data_tail, 0);
      hand.page.data_head -= sizeof(hand.data);
    }
  }
}

/* Only records since the last reading are new. */
static void reverse_ring_returns_nothing_twice(void **state) {
  hand_ring_t hand;

  (void)state;
  make_reverse(&hand, 2);
  assert_int_equal(uvperf__ring_begin(&hand.ring), 0);
  expect(&hand, 2, RECORDS);
  expect_end(&hand);
  hand.page.data_head -= RECORD;
  assert_int_equal(uvperf__ring_begin(&hand.ring), 0);
  expect(&hand, 1, 1);
  expect_end(&hand);
}

/* cilium TestRingBufferReverseReader, its second case: the kernel writes two
 * records over the oldest two while the ring is read. cilium drops the record
 * that is still whole. Here this record comes, then the end of the old records,
 * and then the new records. */
static void reverse_ring_overtaken_returns_whole_records(void **state) {
  hand_ring_t hand;

  (void)state;
  make_reverse(&hand, 2);
  assert_int_equal(uvperf__ring_begin(&hand.ring), 0);
  expect(&hand, 2, 1);
  hand.page.data_head -= 2 * RECORD;
  expect(&hand, 3, 1);
  expect_end(&hand);
  assert_int_equal(uvperf__ring_begin(&hand.ring), 0);
  expect(&hand, 0, 2);
  expect_end(&hand);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ring_that_is_full_delivers_each_record_once),
      cmocka_unit_test(reverse_ring_gone_round_returns_the_newest_first),
      cmocka_unit_test(reverse_ring_returns_nothing_twice),
      cmocka_unit_test(reverse_ring_overtaken_returns_whole_records),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
