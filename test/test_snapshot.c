/* SPDX-License-Identifier: MIT */
/* Snapshots of overwritable rings whose contents are scripted. */
#include "support.h"

#include <errno.h>

#include "uvperf/stream.h"

#include "fake_kernel.h"
#include "snapshot.h"
#include "sys.h"

#define RINGS 3
#define LARGE ((size_t)512 * 1024)

static fake_event_t *fakes[RINGS];
static uvperf__ring_t rings[RINGS];
static uvperf__snapshot_t shots[RINGS];
static int paused[RINGS]; /* as the kernel has been told */

static int on_ioctl(fake_event_t *fake, unsigned long request,
                    uintptr_t argument) {
  assert_int_equal(request, PERF_EVENT_IOC_PAUSE_OUTPUT);
  *(int *)fake->data = (int)argument;
  return 0;
}

static void no_writers(void) {
}

/* New rings of so many bytes, of which others are not writing. */
static void map(size_t nr, size_t bytes) {
  struct perf_event_attr attr;
  size_t i;

  fake_kernel_reset();
  fake_on_membarrier(no_writers);
  memset(&attr, 0, sizeof(attr));
  memset(shots, 0, sizeof(shots));
  attr.size = sizeof(attr);
  for (i = 0; i < nr; i++) {
    fakes[i] = fake_event_add(i + 1);
    fakes[i]->on_ioctl = on_ioctl;
    fakes[i]->data = &paused[i];
    paused[i] = 0;
    shots[i].fd = uvperf__sys_open(&attr, 0, -1, -1, 0);
    shots[i].ring = &rings[i];
    assert_int_equal(uvperf__ring_map(&rings[i], shots[i].fd, bytes, 1), 0);
    memset(fakes[i]->ring, 0xdd, bytes);
  }
  fake_log_clear();
}

/* One of one page. */
static void map_page(void) {
  map(1, support_page_bytes());
}

/* A record's type tells its number, and is none of the kernel's. */
#define TYPE(number) (100 + (number))

static void write_into(size_t ring, uint32_t number, size_t size) {
  static uint8_t bytes[65536];
  struct perf_event_header header = {TYPE(number), 0, (uint16_t)size};

  memset(bytes, (uint8_t)header.type, size);
  memcpy(bytes, &header, sizeof(header));
  fake_ring_prepend(fakes[ring], bytes, size);
}

static void write_records(uint32_t first, uint32_t last, size_t size) {
  uint32_t number;

  for (number = first; number <= last; number++)
    write_into(0, number, size);
}

/* Takes one record of an image, which must be whole, and gives its type; 0 for
 * none. */
static uint32_t take_record(uvperf__ring_t *image) {
  struct perf_event_header header;
  const uint8_t *body;
  const void *bytes;
  size_t size, i;
  int rc;

  rc = uvperf__ring_next(image, NULL, &bytes, &size);
  assert_true(rc >= 0);
  if (rc == 0)
    return 0;
  memcpy(&header, bytes, sizeof(header));
  assert_int_equal(size, header.size);
  body = bytes;
  for (i = sizeof(header); i < size; i++)
    assert_int_equal(body[i], (uint8_t)header.type);
  uvperf__ring_consume(image, size);
  return header.type;
}

/* An image must have exactly these, from the first to the last, up or down; 0
 * for none. */
static void expect_image(size_t ring, uint32_t first, uint32_t last) {
  uvperf__ring_t *image = &shots[ring].image;
  uint32_t number;

  assert_int_equal(uvperf__ring_begin(image), 0);
  for (number = first; number != 0; number += first < last ? 1u : -1u) {
    assert_int_equal(take_record(image), TYPE(number));
    if (number == last)
      break;
  }
  assert_int_equal(take_record(image), 0);
  uvperf__ring_end(image);
}

/* A snapshot of the first ring must be exactly these. */
static void expect(uint32_t flags, uint32_t first, uint32_t last,
                   uint64_t cut) {
  uint64_t before = rings[0].cut;

  assert_int_equal(uvperf__snapshots_take(shots, 1, flags), 0);
  assert_int_equal(shots[0].code, 0);
  expect_image(0, first, last);
  assert_int_equal(rings[0].cut - before, cut);
  uvperf__snapshots_free(shots, 1);
  assert_int_equal(fake_live_allocations(), 0);
}

/* -- what is in it -------------------------------------------------------- */

static void snapshot_gives_the_newest_first(void **state) {
  (void)state;
  map_page();
  write_records(1, 5, 48);
  expect(0, 5, 1, 0);
}

static void snapshot_gives_the_oldest_first_if_asked(void **state) {
  (void)state;
  map_page();
  write_records(1, 5, 48);
  write_into(0, 6, 8);
  write_into(0, 7, 1000);
  expect(UVPERF_SNAPSHOT_OLDEST_FIRST, 1, 7, 0);
}

/* As the kernel writes them: at one go, the LOST in front. */
static void write_after_loss(uint32_t number) {
  struct perf_event_header headers[2] = {{PERF_RECORD_LOST, 0, 8},
                                         {TYPE(number), 0, 8}};

  fake_ring_prepend(fakes[0], headers, sizeof(headers));
}

static void expect_types(uint32_t flags, const uint32_t *types, size_t nr) {
  size_t i;

  assert_int_equal(uvperf__snapshots_take(shots, 1, flags), 0);
  assert_int_equal(uvperf__ring_begin(&shots[0].image), 0);
  for (i = 0; i < nr; i++)
    assert_int_equal(take_record(&shots[0].image), types[i]);
  assert_int_equal(take_record(&shots[0].image), 0);
  uvperf__snapshots_free(shots, 1);
}

static void snapshot_has_a_lost_before_what_follows_it(void **state) {
  static const uint32_t newest[] = {PERF_RECORD_LOST, TYPE(3), PERF_RECORD_LOST,
                                    TYPE(2), TYPE(1)};
  static const uint32_t oldest[] = {TYPE(1), PERF_RECORD_LOST, TYPE(2),
                                    PERF_RECORD_LOST, TYPE(3)};
  static const uint32_t cut[] = {PERF_RECORD_LOST, TYPE(5)};

  (void)state;
  map_page();
  write_into(0, 1, 64);
  write_after_loss(2);
  write_after_loss(3);
  expect_types(0, newest, 5);
  expect_types(UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_OLDEST_FIRST, oldest, 5);
  /* What the older LOST was in front of is cut. */
  write_after_loss(4);
  write_into(0, 5, support_page_bytes() - 8);
  expect_types(UVPERF_SNAPSHOT_OLDEST_FIRST, cut, 2);
}

static void snapshot_of_an_empty_ring_has_nothing(void **state) {
  (void)state;
  map_page();
  expect(0, 0, 0, 0);
  expect(UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_OLDEST_FIRST, 0, 0, 0);
  assert_int_equal(fake_count(FAKE_MEMBARRIER), 0);
}

static void snapshot_has_only_what_came_since(void **state) {
  (void)state;
  map_page();
  write_records(1, 5, 48);
  expect(0, 5, 1, 0);
  expect(0, 0, 0, 0);
  write_records(6, 7, 64);
  expect(0, 7, 6, 0);
  expect(UVPERF_SNAPSHOT_ALL, 7, 1, 0);
  expect(0, 0, 0, 0);
  expect(UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_OLDEST_FIRST, 1, 7, 0);
}

/* A record size that does not divide the page: the oldest is cut. */
static void snapshot_of_a_ring_gone_round_drops_the_cut_one(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 48);

  (void)state;
  map_page();
  write_records(1, 10000, 48);
  expect(0, 10000, 10000 - whole + 1, 1);
  write_records(10001, 30000, 48);
  expect(UVPERF_SNAPSHOT_OLDEST_FIRST, 30000 - whole + 1, 30000, 1);
}

static void snapshot_of_a_ring_exactly_full_cuts_nothing(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 64);

  (void)state;
  map_page();
  write_records(1, whole, 64);
  expect(0, whole, 1, 0);
  write_records(whole + 1, 3 * whole, 64);
  expect(0, 3 * whole, 2 * whole + 1, 0);
}

static void snapshot_of_a_record_as_large_as_the_ring_has_it(void **state) {
  (void)state;
  map_page();
  write_into(0, 1, support_page_bytes());
  write_into(0, 2, support_page_bytes());
  expect(0, 2, 2, 0);
  write_into(0, 3, 8);
  expect(UVPERF_SNAPSHOT_ALL, 3, 3, 0); /* 2 was given */
}

/* Each offset of the page is one at which the oldest is cut and one at which a
 * record wraps. */
static void snapshot_cut_at_every_offset_keeps_whole_ones(void **state) {
  size_t last;

  (void)state;
  for (last = 16; last <= 1024; last += 8) {
    size_t left = support_page_bytes() - last;
    uint32_t oldest = 61 - (uint32_t)(left / 104);

    map_page();
    write_records(1, 60, 104);
    write_into(0, 61, last);
    if (last % 16 == 0)
      expect(0, 61, oldest, left % 104 != 0 ? 1 : 0);
    else
      expect(UVPERF_SNAPSHOT_OLDEST_FIRST, oldest, 61, left % 104 != 0 ? 1 : 0);
  }
}

/* A record that was given, or counted, is not counted when it is cut later. */
static void snapshot_of_all_counts_no_cut_record_twice(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 48);

  (void)state;
  map_page();
  write_records(1, 200, 48);
  expect(UVPERF_SNAPSHOT_ALL, 200, 200 - whole + 1, 1);
  expect(UVPERF_SNAPSHOT_ALL, 200, 200 - whole + 1, 0);
  write_records(201, 202, 48);
  expect(UVPERF_SNAPSHOT_ALL, 202, 202 - whole + 1, 0);
  write_records(203, 400, 48);
  expect(UVPERF_SNAPSHOT_ALL, 400, 400 - whole + 1, 1);
}

/* What was written, by a random choice, and what must come. */
static void snapshot_of_random_records_is_what_the_model_says(void **state) {
  static size_t sizes[100000];
  uint32_t newest = 0;
  uint32_t given = 0;
  uint32_t seed = 1;
  int round;

  (void)state;
  map_page();
  for (round = 0; round < 2000; round++) {
    uint32_t flags = (uint32_t)round % 4;
    uint32_t until = flags & UVPERF_SNAPSHOT_ALL ? 0 : given;
    uint32_t oldest, i;
    size_t bytes = 0;

    for (i = 0; i < (uint32_t)round % 41; i++) {
      seed = seed * 1103515245 + 12345;
      sizes[++newest] = 8 + (seed >> 16) % 64 * 8;
      write_into(0, newest, sizes[newest]);
    }
    for (oldest = newest; oldest > until; oldest--) {
      if (bytes + sizes[oldest] > support_page_bytes())
        break;
      bytes += sizes[oldest];
    }
    i = oldest > given && bytes < support_page_bytes();
    if (oldest == newest)
      expect(flags, 0, 0, i);
    else if (flags & UVPERF_SNAPSHOT_OLDEST_FIRST)
      expect(flags, oldest + 1, newest, i);
    else
      expect(flags, newest, oldest + 1, i);
    given = newest;
  }
}

/* -- what is not sound ---------------------------------------------------- */

/* The header of the nth newest of records of 64 bytes. */
static void spoil(uint32_t nth, uint16_t size) {
  struct perf_event_header header = {1, 0, size};
  uint64_t at = fakes[0]->page->data_head + (nth - 1) * 64;

  memcpy(fakes[0]->ring + at % fakes[0]->ring_size, &header, sizeof(header));
}

static void expect_unsound(uint32_t flags, uint32_t first, uint32_t last) {
  assert_int_equal(uvperf__snapshots_take(shots, 1, flags), 0);
  assert_int_equal(shots[0].code, -EPROTO);
  expect_image(0, first, last);
  uvperf__snapshots_free(shots, 1);
  assert_int_equal(rings[0].cut, 0);
}

static void snapshot_with_an_unsound_header_has_what_is_newer(void **state) {
  static const uint16_t sizes[] = {0, 4, 12, 67, 65535};
  uint32_t newest, nth;
  size_t i;

  (void)state;
  for (nth = 1; nth <= 20; nth++) {
    map_page();
    newest = 0;
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
      write_records(newest + 1, newest + 20, 64);
      newest += 20;
      spoil(nth, sizes[i]);
      if (nth == 1)
        expect_unsound((uint32_t)i % 2, 0, 0);
      else if (i % 2 == 0)
        expect_unsound(0, newest, newest - nth + 2);
      else
        expect_unsound(UVPERF_SNAPSHOT_OLDEST_FIRST, newest - nth + 2, newest);
      /* The next one is of other records. */
      expect(0, 0, 0, 0);
    }
  }
}

/* A record that is longer than all that was written. */
static void snapshot_with_a_record_that_is_too_long_is_eproto(void **state) {
  (void)state;
  map_page();
  write_records(1, 2, 64);
  spoil(2, 72);
  expect_unsound(0, 2, 2);
}

static void snapshot_with_a_split_head_is_eproto(void **state) {
  (void)state;
  map_page();
  write_records(1, 2, 64);
  fakes[0]->page->data_head -= 12;
  expect_unsound(0, 0, 0);
  fakes[0]->page->data_head += 12;
  expect(0, 2, 1, 0);
}

/* -- who is writing ------------------------------------------------------- */

static void write_another(void) {
  write_into(0, 1001, 48);
}

/* What was begun before the pause is the newest of this one. */
static void snapshot_has_what_is_finished_while_it_waits(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 48);

  (void)state;
  map_page();
  write_records(1, 1000, 48);
  fake_on_membarrier(write_another);
  expect(0, 1001, 1001 - whole + 1, 1);
  assert_string_equal(fake_log(),
                      "ioctl PAUSE_OUTPUT, membarrier, ioctl PAUSE_OUTPUT");
  fake_on_membarrier(no_writers);
  expect(0, 0, 0, 0);
}

static void snapshot_that_nobody_can_touch_does_not_wait(void **state) {
  uint32_t most = (uint32_t)((LARGE - 4 * 65536) / 64);

  (void)state;
  map(1, LARGE);
  write_records(1, most, 64);
  expect(0, most, 1, 0);
  assert_int_equal(fake_count(FAKE_MEMBARRIER), 0);
  write_records(most + 1, 2 * most + 1, 64);
  expect(0, 2 * most + 1, most + 1, 0);
  assert_int_equal(fake_count(FAKE_MEMBARRIER), 1);
}

/* A quarter of a page, and 64 KiB of a large ring. */
static void expect_left_out(uint32_t flags, size_t bytes, size_t left_out) {
  uint32_t newest = (uint32_t)(3 * bytes / 64);
  uint32_t whole = (uint32_t)((bytes - left_out) / 64);

  map(1, bytes);
  if (!(flags & UVPERF_SNAPSHOT_NO_WAIT))
    fake_fail_from(FAKE_MEMBARRIER, 1, -ENOSYS);
  write_records(1, newest, 64);
  expect(flags, newest, newest - whole + 1, 0);
  /* Nothing that could be spoilt is of what is new. */
  write_records(newest + 1, newest + whole, 64);
  expect(flags, newest + whole, newest + 1, 0);
  write_into(0, newest + whole + 1, 56); /* 8 bytes short of the quarter */
  expect(flags | UVPERF_SNAPSHOT_ALL, newest + whole + 1, newest + 2, 0);
  assert_int_equal(fake_count(FAKE_MEMBARRIER),
                   flags & UVPERF_SNAPSHOT_NO_WAIT ? 0 : 3);
}

static void snapshot_that_must_not_wait_leaves_a_quarter_out(void **state) {
  (void)state;
  expect_left_out(UVPERF_SNAPSHOT_NO_WAIT, support_page_bytes(),
                  support_page_bytes() / 4);
  expect_left_out(UVPERF_SNAPSHOT_NO_WAIT, LARGE, 65536);
}

static void snapshot_that_cannot_wait_leaves_a_quarter_out(void **state) {
  (void)state;
  expect_left_out(0, support_page_bytes(), support_page_bytes() / 4);
  expect_left_out(0, LARGE, 65536);
}

/* More than a quarter is spoilt: nobody knows what it was. */
static void snapshot_that_did_not_wait_counts_what_was_spoilt(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 64);

  (void)state;
  map_page();
  write_records(1, whole, 64);
  spoil(whole / 2, 0);
  expect(UVPERF_SNAPSHOT_NO_WAIT, whole, whole - whole / 2 + 2, 1);
}

/* -- several -------------------------------------------------------------- */

static void snapshots_of_several_rings_wait_once(void **state) {
  size_t i;

  (void)state;
  map(RINGS, support_page_bytes());
  for (i = 0; i < RINGS; i++)
    write_into(i, (uint32_t)i + 1, 64);
  assert_int_equal(uvperf__snapshots_take(shots, RINGS, 0), 0);
  for (i = 0; i < RINGS; i++) {
    assert_int_equal(shots[i].code, 0);
    expect_image(i, (uint32_t)i + 1, (uint32_t)i + 1);
    assert_int_equal(paused[i], 0);
  }
  assert_string_equal(
      fake_log(), "ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT, "
                  "membarrier, "
                  "ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT");
  uvperf__snapshots_free(shots, RINGS);
  assert_int_equal(fake_live_allocations(), 0);
}

static void snapshots_of_none_are_none(void **state) {
  (void)state;
  map(0, 0);
  assert_int_equal(uvperf__snapshots_take(shots, 0, 0), 0);
  uvperf__snapshots_free(shots, 0);
  assert_string_equal(fake_log(), "");
}

static int fail_to_pause(fake_event_t *fake, unsigned long request,
                         uintptr_t argument) {
  return argument == 1 ? -EIO : on_ioctl(fake, request, argument);
}

static void snapshots_of_which_one_is_not_paused_are_none(void **state) {
  size_t i;

  (void)state;
  map(RINGS, support_page_bytes());
  for (i = 0; i < RINGS; i++)
    write_into(i, 1, 64);
  fakes[1]->on_ioctl = fail_to_pause;
  assert_int_equal(uvperf__snapshots_take(shots, RINGS, 0), -EIO);
  assert_int_equal(paused[0], 0);
  assert_string_equal(
      fake_log(),
      "ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT failed, ioctl PAUSE_OUTPUT");
  assert_int_equal(fake_live_allocations(), 0);
  /* As if it had not been tried. */
  fakes[1]->on_ioctl = on_ioctl;
  assert_int_equal(uvperf__snapshots_take(shots, RINGS, 0), 0);
  for (i = 0; i < RINGS; i++)
    expect_image(i, 1, 1);
  uvperf__snapshots_free(shots, RINGS);
}

static int fail_to_resume(fake_event_t *fake, unsigned long request,
                          uintptr_t argument) {
  return argument == 0 ? -EIO : on_ioctl(fake, request, argument);
}

static void
snapshots_of_which_one_is_not_resumed_resume_the_rest(void **state) {
  (void)state;
  map(RINGS, support_page_bytes());
  fakes[0]->on_ioctl = fail_to_resume;
  assert_int_equal(uvperf__snapshots_take(shots, RINGS, 0), 0);
  assert_int_equal(paused[1], 0);
  assert_int_equal(paused[2], 0);
  uvperf__snapshots_free(shots, RINGS);
}

static void snapshot_of_a_paused_ring_leaves_it_paused(void **state) {
  (void)state;
  map(2, support_page_bytes());
  write_into(0, 1, 64);
  shots[0].is_paused = 1;
  paused[0] = 1;
  assert_int_equal(uvperf__snapshots_take(shots, 2, 0), 0);
  assert_string_equal(fake_log(),
                      "ioctl PAUSE_OUTPUT, membarrier, ioctl PAUSE_OUTPUT");
  assert_int_equal(paused[0], 1);
  assert_int_equal(paused[1], 0);
  expect_image(0, 1, 1);
  uvperf__snapshots_free(shots, 2);
}

static void snapshots_without_memory_touch_nothing(void **state) {
  unsigned nth;

  (void)state;
  map(RINGS, support_page_bytes());
  write_into(0, 1, 64);
  for (nth = 1; nth <= RINGS; nth++) {
    fake_fail(FAKE_CALLOC, nth, -ENOMEM);
    assert_int_equal(uvperf__snapshots_take(shots, RINGS, 0), -ENOMEM);
    assert_string_equal(fake_log(), "");
    assert_int_equal(fake_live_allocations(), 0);
  }
  expect(0, 1, 1, 0);
}

/* -- beside uvperf__ring_next --------------------------------------------- */

static void snapshot_leaves_alone_what_next_has_begun(void **state) {
  static uint64_t scratch[UVPERF__RING_SCRATCH_BYTES / sizeof(uint64_t)];
  const void *bytes;
  size_t size;
  int i;

  (void)state;
  map_page();
  write_records(1, 3, 64);
  assert_int_equal(uvperf__ring_begin(&rings[0]), 0);
  assert_int_equal(uvperf__ring_next(&rings[0], scratch, &bytes, &size), 1);
  uvperf__ring_consume(&rings[0], size);
  write_records(4, 5, 64);
  expect(0, 5, 4, 0);
  for (i = 2; i > 0; i--) {
    assert_int_equal(uvperf__ring_next(&rings[0], scratch, &bytes, &size), 1);
    assert_int_equal(((const struct perf_event_header *)bytes)->type,
                     TYPE((uint32_t)i));
    uvperf__ring_consume(&rings[0], size);
  }
  assert_int_equal(uvperf__ring_waiting(&rings[0]), 0);
  assert_int_equal(uvperf__ring_begin(&rings[0]), 0);
  assert_int_equal(uvperf__ring_next(&rings[0], scratch, &bytes, &size), 0);
}

static void snapshot_tells_what_was_found_at_most(void **state) {
  (void)state;
  map_page();
  write_records(1, 4, 64);
  assert_int_equal(uvperf__ring_waiting(&rings[0]), 256);
  expect(0, 4, 1, 0);
  write_into(0, 5, 64);
  expect(UVPERF_SNAPSHOT_ALL, 5, 1, 0);
  assert_int_equal(rings[0].high_water, 256);
  write_records(6, 1000, 64);
  expect(0, 1000, 1001 - (uint32_t)(support_page_bytes() / 64), 0);
  assert_int_equal(rings[0].high_water, support_page_bytes());
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(snapshot_gives_the_newest_first),
      cmocka_unit_test(snapshot_gives_the_oldest_first_if_asked),
      cmocka_unit_test(snapshot_has_a_lost_before_what_follows_it),
      cmocka_unit_test(snapshot_of_an_empty_ring_has_nothing),
      cmocka_unit_test(snapshot_has_only_what_came_since),
      cmocka_unit_test(snapshot_of_a_ring_gone_round_drops_the_cut_one),
      cmocka_unit_test(snapshot_of_a_ring_exactly_full_cuts_nothing),
      cmocka_unit_test(snapshot_of_a_record_as_large_as_the_ring_has_it),
      cmocka_unit_test(snapshot_cut_at_every_offset_keeps_whole_ones),
      cmocka_unit_test(snapshot_of_all_counts_no_cut_record_twice),
      cmocka_unit_test(snapshot_of_random_records_is_what_the_model_says),
      cmocka_unit_test(snapshot_with_an_unsound_header_has_what_is_newer),
      cmocka_unit_test(snapshot_with_a_record_that_is_too_long_is_eproto),
      cmocka_unit_test(snapshot_with_a_split_head_is_eproto),
      cmocka_unit_test(snapshot_has_what_is_finished_while_it_waits),
      cmocka_unit_test(snapshot_that_nobody_can_touch_does_not_wait),
      cmocka_unit_test(snapshot_that_must_not_wait_leaves_a_quarter_out),
      cmocka_unit_test(snapshot_that_cannot_wait_leaves_a_quarter_out),
      cmocka_unit_test(snapshot_that_did_not_wait_counts_what_was_spoilt),
      cmocka_unit_test(snapshots_of_several_rings_wait_once),
      cmocka_unit_test(snapshots_of_none_are_none),
      cmocka_unit_test(snapshots_of_which_one_is_not_paused_are_none),
      cmocka_unit_test(snapshots_of_which_one_is_not_resumed_resume_the_rest),
      cmocka_unit_test(snapshot_of_a_paused_ring_leaves_it_paused),
      cmocka_unit_test(snapshots_without_memory_touch_nothing),
      cmocka_unit_test(snapshot_leaves_alone_what_next_has_begun),
      cmocka_unit_test(snapshot_tells_what_was_found_at_most),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
