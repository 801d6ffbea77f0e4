/* SPDX-License-Identifier: MIT */
#include "fake_ringbuf.h"

#include <sys/mman.h>
#include <unistd.h>

#include "support.h"

#define RINGBUF      27
#define HEADER       8
#define RB_OVERWRITE (1u << 19)

void fake_ringbuf_begin(fake_ringbuf_t *ring, size_t bytes) {
  size_t page = support_page_bytes();
  uint8_t *at;

  memset(ring, 0, sizeof(*ring));
  ring->bytes = bytes;
  ring->map_bytes = 2 * page + bytes;
  ring->map = fake_map_add(0);
  ring->map->info.type = RINGBUF;
  ring->map->info.key_size = 0;
  ring->map->info.value_size = 0;
  ring->map->info.max_entries = (uint32_t)bytes;
  ring->map->memory = memfd_create("ringbuf", MFD_CLOEXEC);
  assert_true(ring->map->memory > 0);
  assert_int_equal(ftruncate(ring->map->memory, (off_t)ring->map_bytes), 0);
  at = mmap(NULL, ring->map_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
            ring->map->memory, 0);
  assert_true(at != MAP_FAILED);
  ring->consumer = (uint64_t *)(void *)at;
  ring->producer = (uint64_t *)(void *)(at + page);
  ring->data = at + 2 * page;
}

void fake_ringbuf_end(fake_ringbuf_t *ring) {
  assert_int_equal(munmap(ring->consumer, ring->map_bytes), 0);
  assert_int_equal(close(ring->map->memory), 0);
  ring->map->memory = 0;
}

void fake_ringbuf_move(fake_ringbuf_t *ring, uint64_t position) {
  *ring->consumer = *ring->producer = position;
}

uint32_t *fake_ringbuf_word(const fake_ringbuf_t *ring, uint64_t position) {
  return (uint32_t *)(void *)(ring->data + (position & (ring->bytes - 1)));
}

static uint64_t fake_size(uint32_t word) {
  uint32_t size = word & (FAKE_RINGBUF_DISCARD - 1);

  return ((uint64_t)size + HEADER + 7) & ~(uint64_t)7;
}

/* As __bpf_ringbuf_reserve and bpf_ringbuf_commit. The data may wrap. A busy
 * record must not be overwritten. */
uint64_t fake_ringbuf_put(fake_ringbuf_t *ring, const void *data, uint32_t size,
                          uint32_t bits) {
  uint64_t at = *ring->producer;
  uint64_t end = at + fake_size(size), oldest;
  uint32_t i;

  if (ring->map->info.map_flags & RB_OVERWRITE) {
    for (oldest = ring->producer[2]; end - oldest > ring->bytes - 1;)
      oldest += fake_size(*fake_ringbuf_word(ring, oldest));
    __atomic_store_n(&ring->producer[2], oldest, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
  } else if (end - __atomic_load_n(ring->consumer, __ATOMIC_ACQUIRE) >
             ring->bytes - 1)
    return UINT64_MAX;
  for (i = 0; i < size; i++)
    ring->data[(at + HEADER + i) & (ring->bytes - 1)] =
        ((const uint8_t *)data)[i];
  *fake_ringbuf_word(ring, at) = size | bits;
  __atomic_store_n(ring->producer, end, __ATOMIC_RELEASE);
  return at;
}
