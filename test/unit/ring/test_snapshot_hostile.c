/* SPDX-License-Identifier: MIT */
/* Snapshots of overwritable rings with any contents and heads, which change
 * while they are read. */
#include "support.h"

#include "uvperf/stream.h"

#include "fake_kernel.h"
#include "scripted_snapshot.h"
#include "sys/sys.h"

#define ROUNDS 4000

static fake_event_t *fake;
static uvperf__ring_t ring;
static uvperf__snapshot_t shot;
static uint64_t seed;

static uint64_t any(void) {
  seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return seed >> 24;
}

static int on_ioctl(fake_event_t *event, unsigned long request,
                    uintptr_t argument) {
  return 0;
}

/* -- any contents --------------------------------------------------------- */

static void put(uint64_t at, uint64_t word) {
  memcpy(fake->ring + at % fake->ring_size / 8 * 8, &word, 8);
}

/* Records as they may be, of which some are not. */
static void put_records(uint64_t head) {
  struct perf_event_header header = {0, 0, 0};
  uint64_t at = 0;
  uint64_t word;

  while (at < fake->ring_size) {
    header.type = (uint32_t)(any() % 4); /* PERF_RECORD_LOST is 2 */
    header.size = (uint16_t)(8 + any() % 40 * 8);
    if (any() % 500 == 0)
      header.size = (uint16_t)any();
    memcpy(&word, &header, 8);
    put(head + at, word);
    at += header.size < 8 ? 8 : header.size;
  }
}

static void put_anything(void) {
  uint64_t nr = any() % 20;

  while (nr-- > 0)
    put(any(), any() << any() % 64);
}

static void move_head(void) {
  uint64_t head = fake->page->data_head;

  if (any() % 16 == 0)
    head = any() << any() % 64;
  else if (any() % 16 == 0)
    head += any() % 64 * 8;
  else
    head -= any() % (3 * fake->ring_size) / 8 * 8;
  fake->page->data_head = head;
}

static void change(void) {
  if (any() % 4 == 0)
    move_head();
  if (any() % 4 == 0)
    put_records(fake->page->data_head);
  if (any() % 4 == 0)
    put_anything();
}

/* -- possible results ----------------------------------------------------- */

/* The records lie one after another in the image. Returns 0 if there is
 * none. */
static size_t take_record(uint32_t *type) {
  struct perf_event_header header;
  const void *bytes;
  size_t size;

  if (uvperf__ring_next(&shot.image, NULL, &bytes, &size) == 0)
    return 0;
  assert_ptr_equal(bytes, shot.image.data + shot.image.tail);
  assert_true(size <= shot.image.size - shot.image.tail);
  memcpy(&header, bytes, sizeof(header));
  assert_int_equal(header.size, size);
  uvperf__ring_consume(&shot.image, size);
  *type = header.type;
  return size;
}

static void expect_whole_records(void) {
  size_t all = 0;
  uint32_t type;
  size_t size;

  assert_true(shot.code == 0 || shot.code == -EPROTO);
  assert_int_equal(uvperf__ring_begin(&shot.image), 0);
  while ((size = take_record(&type)) > 0)
    all += size;
  assert_true(all <= ring.size);
  assert_int_equal(all, shot.image.page->data_head);
}

/* Newest first they are as they lie in the ring, from its head on. */
static void expect_bytes_of_the_ring(void) {
  size_t at = (size_t)(fake->page->data_head % fake->ring_size);
  size_t whole = (size_t)shot.image.page->data_head;
  size_t first = fake->ring_size - at;

  if (first > whole)
    first = whole;
  assert_memory_equal(shot.image.data, fake->ring + at, first);
  assert_memory_equal(shot.image.data + first, fake->ring, whole - first);
}

static void map(size_t bytes) {
  struct perf_event_attr attr;

  fake_kernel_reset();
  fake_on_membarrier(change);
  memset(&attr, 0, sizeof(attr));
  memset(&shot, 0, sizeof(shot));
  attr.size = sizeof(attr);
  fake = fake_event_add(1);
  fake->on_ioctl = on_ioctl;
  shot.fd = uvperf__sys_open(&attr, 0, -1, -1, 0);
  shot.ring = &ring;
  assert_int_equal(uvperf__ring_map(&ring, shot.fd, bytes, 1), 0);
}

static void snapshot_of_anything_has_whole_records_of_the_ring(void **state) {
  size_t size;
  uint32_t flags;
  int round;

  for (size = 0; size < 2; size++) {
    seed = size;
    map(support_page_bytes() << 4 * size);
    for (round = 0; round < ROUNDS >> 3 * size; round++) {
      change();
      flags = (uint32_t)any() % 8;
      fake_log_clear();
      assert_int_equal(scripted_snapshot_take(&shot, 1, flags), 0);
      if (!(flags & UVPERF_SNAPSHOT_OLDEST_FIRST))
        expect_bytes_of_the_ring();
      expect_whole_records();
      uvperf__snapshots_free(&shot, 1);
      assert_int_equal(fake_live_allocations(), 0);
    }
    uvperf__ring_unmap(&ring);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(snapshot_of_anything_has_whole_records_of_the_ring),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
