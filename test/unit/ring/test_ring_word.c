/* SPDX-License-Identifier: MIT */
/* Rings of a 32-bit program, whose kernel publishes heads of 32 or 64 bits.
 * ring.c is compiled here for such a program, whatever this one is. The linker
 * prefers these functions to the library's, so snapshot.c uses them too. */
#include "support.h"

#define UVPERF__RING_WORD uint32_t
#include "ring/ring.c"

#include "fake_kernel.h"
#include "scripted_snapshot.h"
#include "uvperf/stream.h"

#define FOUR_GIB (UINT64_C(1) << 32)

static fake_event_t *fake;
static uvperf__ring_t ring;
static uint64_t scratch[UVPERF__RING_SCRATCH_BYTES / sizeof(uint64_t)];
static uint64_t start;
/* The bits of the head that the kernel has. */
static uint64_t kernel_bits;

static void start_there(fake_event_t *event) {
  event->page->data_head = start & kernel_bits;
  event->page->data_tail = start & kernel_bits;
}

/* A new ring of one page whose head and tail are at `position`. */
static void map(uint64_t position, uint64_t bits, int overwrite) {
  struct perf_event_attr attr;
  int fd;

  fake_kernel_reset();
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  start = position;
  kernel_bits = bits;
  fake = fake_event_add(1);
  fake->on_map = start_there;
  fd = uvperf__sys_open(&attr, 0, -1, -1, 0);
  assert_int_equal(uvperf__ring_map(&ring, fd, support_page_bytes(), overwrite),
                   0);
}

/* A record whose type is its number. The kernel of 32 bits reads the lower half
 * of our tail, and so does this. */
static void write_record(uint32_t number, uint16_t size) {
  struct perf_event_header header = {number, 0, size};
  uint8_t bytes[64] = {0};

  assert_true(size <= sizeof(bytes));
  memcpy(bytes, &header, sizeof(header));
  if (ring.overwrite) {
    fake_ring_prepend(fake, bytes, size);
  } else {
    fake->page->data_tail =
        fake->page->data_head -
        (uint32_t)(fake->page->data_head - fake->page->data_tail);
    fake_ring_append(fake, bytes, size);
  }
  fake->page->data_head &= kernel_bits;
}

/* Reads one record; 0 if there is none. */
static uint32_t take(uvperf__ring_t *from) {
  struct perf_event_header header;
  const void *bytes;
  size_t size;
  int rc;

  rc = uvperf__ring_next(from, scratch, &bytes, &size);
  assert_true(rc >= 0);
  if (rc == 0)
    return 0;
  memcpy(&header, bytes, sizeof(header));
  uvperf__ring_consume(from, size);
  return header.type;
}

static void pass_4_gib_forward(uint64_t bits) {
  uint64_t head = FOUR_GIB - 16;
  uint32_t number;

  map(head, bits, 0);
  for (number = 1; number <= 1000; number++) {
    assert_false(uvperf__ring_has_data(&ring));
    write_record(number, 40);
    write_record(number, 24);
    head += 64;
    assert_true(uvperf__ring_has_data(&ring));
    assert_true(uvperf__ring_has_several(&ring));
    assert_int_equal(uvperf__ring_waiting(&ring), 64);
    assert_int_equal(uvperf__ring_head(&ring), head);
    assert_int_equal(uvperf__ring_begin(&ring), 0);
    assert_int_equal(take(&ring), number);
    assert_int_equal(take(&ring), number);
    assert_int_equal(take(&ring), 0);
    uvperf__ring_end(&ring);
    assert_int_equal(ring.tail, head);
    assert_int_equal((uint32_t)fake->page->data_tail, (uint32_t)head);
  }
  assert_int_equal(ring.high_water, 64);
  uvperf__ring_unmap(&ring);
}

static void ring_passes_4_gib_on_a_kernel_of_32_bits(void **state) {
  pass_4_gib_forward(UINT32_MAX);
}

static void ring_passes_4_gib_on_a_kernel_of_64_bits(void **state) {
  pass_4_gib_forward(UINT64_MAX);
}

static void ring_passes_4_gib_again_and_its_position_runs_on(void **state) {
  map(FOUR_GIB - 16, UINT32_MAX, 0);
  ring.tail += 6 * FOUR_GIB;
  ring.published = ring.tail;
  write_record(1, 40);
  assert_int_equal(uvperf__ring_begin(&ring), 0);
  assert_int_equal(take(&ring), 1);
  assert_int_equal(ring.tail, 7 * FOUR_GIB + 24);
  assert_int_equal(uvperf__ring_head(&ring), 7 * FOUR_GIB + 24);
  uvperf__ring_unmap(&ring);
}

static void overwrite_ring_starts_below_0(void **state) {
  map(0, UINT32_MAX, 1);
  assert_int_equal(uvperf__ring_waiting(&ring), 0);
  write_record(1, 16);
  assert_int_equal(uvperf__ring_waiting(&ring), 16);
  assert_int_equal(uvperf__ring_begin(&ring), 0);
  assert_int_equal(take(&ring), 1);
  assert_int_equal(take(&ring), 0);
  write_record(2, 24);
  write_record(3, 24);
  assert_int_equal(uvperf__ring_begin(&ring), 0);
  assert_int_equal(take(&ring), 3);
  assert_int_equal(take(&ring), 2);
  assert_int_equal(take(&ring), 0);
  assert_int_equal(ring.cut, 0);
  assert_int_equal(ring.high_water, 48);
  assert_true(uvperf__ring_head(&ring) == (uint64_t)-64);
  uvperf__ring_unmap(&ring);
}

static void overwrite_ring_passes_4_gib(void **state) {
  map(16, UINT32_MAX, 1);
  ring.newest = (uint64_t)0 - FOUR_GIB + 16;
  write_record(1, 40);
  write_record(2, 40);
  assert_int_equal(uvperf__ring_begin(&ring), 0);
  assert_int_equal(take(&ring), 2);
  assert_int_equal(take(&ring), 1);
  assert_int_equal(take(&ring), 0);
  assert_true(ring.newest == (uint64_t)0 - FOUR_GIB - 64);
  assert_int_equal(ring.high_water, 80);
  assert_int_equal(ring.cut, 0);
  uvperf__ring_unmap(&ring);
}

/* Takes a snapshot, which must have these records and have seen this number of
 * bytes. */
static void expect_snapshot(uint32_t flags, uint32_t newest, uint32_t oldest) {
  uvperf__snapshot_t snapshot;

  memset(&snapshot, 0, sizeof(snapshot));
  snapshot.ring = &ring;
  snapshot.fd = fake->fd;
  assert_int_equal(scripted_snapshot_take(&snapshot, 1, flags), 0);
  assert_int_equal(snapshot.code, 0);
  assert_int_equal(uvperf__ring_begin(&snapshot.image), 0);
  for (; newest >= oldest; newest--)
    assert_int_equal(take(&snapshot.image), newest);
  assert_int_equal(take(&snapshot.image), 0);
  uvperf__snapshots_free(&snapshot, 1);
}

static void snapshot_has_what_came_since_and_all_if_asked(void **state) {
  map(0, UINT32_MAX, 1);
  write_record(1, 24);
  write_record(2, 24);
  expect_snapshot(0, 2, 1);
  assert_int_equal(ring.high_water, 48);
  write_record(3, 64);
  expect_snapshot(0, 3, 3);
  assert_int_equal(ring.high_water, 64);
  assert_int_equal(ring.cut, 0);
  expect_snapshot(UVPERF_SNAPSHOT_ALL, 3, 1);
  uvperf__ring_unmap(&ring);
}

static void more_than_the_ring_holds_is_still_eproto(void **state) {
  map(FOUR_GIB - 16, UINT32_MAX, 0);
  fake->page->data_head = support_page_bytes();
  assert_int_equal(uvperf__ring_begin(&ring), -EPROTO);
  uvperf__ring_unmap(&ring);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ring_passes_4_gib_on_a_kernel_of_32_bits),
      cmocka_unit_test(ring_passes_4_gib_on_a_kernel_of_64_bits),
      cmocka_unit_test(ring_passes_4_gib_again_and_its_position_runs_on),
      cmocka_unit_test(overwrite_ring_starts_below_0),
      cmocka_unit_test(overwrite_ring_passes_4_gib),
      cmocka_unit_test(snapshot_has_what_came_since_and_all_if_asked),
      cmocka_unit_test(more_than_the_ring_holds_is_still_eproto),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
