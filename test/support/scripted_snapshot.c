/* SPDX-License-Identifier: MIT */
#include "scripted_snapshot.h"

#include <sys/mman.h>

#include "sys/sys.h"
#include "uvperf/attr.h"

scripted_snapshot_t shots;

/* Whether all whole pages of an image are in memory. */
static int is_in_memory(const uvperf__ring_t *image) {
  size_t page = support_page_bytes();
  const uint8_t *end = image->data + image->size;
  const uint8_t *at = image->data + (page - (uintptr_t)image->data % page);
  unsigned char is_in = 1;

  for (; is_in & 1 && at + page <= end; at += page)
    assert_int_equal(mincore((void *)(uintptr_t)at, page, &is_in), 0);
  return is_in & 1;
}

/* While the output is paused, bytes are copied, and nothing else is done. */
int scripted_snapshot_on_ioctl(fake_event_t *fake, unsigned long request,
                               uintptr_t argument) {
  size_t ring = (size_t)((int *)fake->data - shots.paused);
  const uvperf__ring_t *image = &shots.list[ring].image;

  assert_int_equal(request, PERF_EVENT_IOC_PAUSE_OUTPUT);
  if (argument == 1)
    assert_true(is_in_memory(image));
  else
    assert_int_equal(image->page->data_head, 0); /* no record was looked at */
  *(int *)fake->data = (int)argument;
  return 0;
}

void scripted_snapshot_no_writers(void) {
}

void scripted_snapshot_map(size_t nr, size_t bytes) {
  struct perf_event_attr attr;
  size_t i;

  fake_kernel_reset();
  fake_on_membarrier(scripted_snapshot_no_writers);
  memset(&shots, 0, sizeof(shots));
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  for (i = 0; i < nr; i++) {
    shots.fakes[i] = fake_event_add(i + 1);
    shots.fakes[i]->on_ioctl = scripted_snapshot_on_ioctl;
    shots.fakes[i]->data = &shots.paused[i];
    shots.list[i].fd = uvperf__sys_open(&attr, 0, -1, -1, 0);
    shots.list[i].ring = &shots.rings[i];
    assert_int_equal(
        uvperf__ring_map(&shots.rings[i], shots.list[i].fd, bytes, 1), 0);
    memset(shots.fakes[i]->ring, 0xdd, bytes);
  }
  fake_log_clear();
}

void scripted_snapshot_map_page(void) {
  scripted_snapshot_map(1, support_page_bytes());
}

void scripted_snapshot_write(size_t ring, uint32_t number, size_t size) {
  static uint8_t bytes[65536];
  struct perf_event_header header = {SCRIPTED_SNAPSHOT_TYPE(number), 0,
                                     (uint16_t)size};

  memset(bytes, (uint8_t)header.type, size);
  memcpy(bytes, &header, sizeof(header));
  fake_ring_prepend(shots.fakes[ring], bytes, size);
}

void scripted_snapshot_write_records(uint32_t first, uint32_t last,
                                     size_t size) {
  uint32_t number;

  for (number = first; number <= last; number++)
    scripted_snapshot_write(0, number, size);
}

int scripted_snapshot_take(uvperf__snapshot_t *snapshots, size_t nr,
                           uint32_t flags) {
  int rc;

  uvperf__snapshots_begin(snapshots, nr);
  rc = uvperf__snapshots_copy(snapshots, nr, flags);
  if (rc == 0)
    uvperf__snapshots_install(snapshots, nr);
  return rc;
}

uint32_t scripted_snapshot_take_record(uvperf__ring_t *image) {
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

void scripted_snapshot_expect_image(size_t ring, uint32_t first,
                                    uint32_t last) {
  uvperf__ring_t *image = &shots.list[ring].image;
  uint32_t number;

  assert_int_equal(uvperf__ring_begin(image), 0);
  for (number = first; number != 0; number += first < last ? 1u : -1u) {
    assert_int_equal(scripted_snapshot_take_record(image),
                     SCRIPTED_SNAPSHOT_TYPE(number));
    if (number == last)
      break;
  }
  assert_int_equal(scripted_snapshot_take_record(image), 0);
  uvperf__ring_end(image);
}

void scripted_snapshot_expect(uint32_t flags, uint32_t first, uint32_t last,
                              uint64_t cut) {
  uint64_t before = shots.rings[0].cut;

  assert_int_equal(scripted_snapshot_take(shots.list, 1, flags), 0);
  assert_int_equal(shots.list[0].code, 0);
  scripted_snapshot_expect_image(0, first, last);
  assert_int_equal(shots.rings[0].cut - before, cut);
  uvperf__snapshots_free(shots.list, 1);
  assert_int_equal(fake_live_allocations(), 0);
}

void scripted_snapshot_spoil(uint32_t nth, uint16_t size) {
  struct perf_event_header header = {1, 0, size};
  uint64_t at = shots.fakes[0]->page->data_head + (nth - 1) * 64;

  memcpy(shots.fakes[0]->ring + at % shots.fakes[0]->ring_size, &header,
         sizeof(header));
}
