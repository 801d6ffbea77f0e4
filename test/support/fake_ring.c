/* SPDX-License-Identifier: MIT */
/* The part of the scripted kernel that writes into the rings of scripted
 * events. */
#include "support.h"

#include "fake_kernel.h"

/* Wraps as the kernel does. */
static void write_ring(fake_event_t *fake, uint64_t from, const void *bytes,
                       size_t size) {
  size_t at = (size_t)(from & (fake->ring_size - 1));
  size_t first = fake->ring_size - at;

  if (first > size)
    first = size;
  memcpy(fake->ring + at, bytes, first);
  memcpy(fake->ring, (const uint8_t *)bytes + first, size - first);
}

uint64_t fake_ring_tail(const struct perf_event_mmap_page *page) {
  unsigned long tail =
      (unsigned long)__atomic_load_n(&page->data_tail, __ATOMIC_ACQUIRE);

  return page->data_head - ((unsigned long)page->data_head - tail);
}

void fake_ring_append(fake_event_t *fake, const void *bytes, size_t size) {
  uint64_t head;
  uint64_t tail;

  assert_non_null(fake->page);
  head = fake->page->data_head;
  tail = fake_ring_tail(fake->page);
  if (head - tail + size > fake->ring_size)
    fail_msg("no room for %zu bytes in the scripted ring", size);
  write_ring(fake, head, bytes, size);
  __atomic_store_n(&fake->page->data_head, head + size, __ATOMIC_RELEASE);
}

void fake_ring_prepend(fake_event_t *fake, const void *bytes, size_t size) {
  uint64_t head;

  assert_non_null(fake->page);
  assert_true(size <= fake->ring_size);
  head = fake->page->data_head - size;
  write_ring(fake, head, bytes, size);
  __atomic_store_n(&fake->page->data_head, head, __ATOMIC_RELEASE);
}
