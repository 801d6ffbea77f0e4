/* SPDX-License-Identifier: MIT */
/* A scripted BPF ring buffer: a map of fake_map.h, and the memory that the
 * kernel and BPF programs write.
 *
 *   fake_ringbuf_begin(&ring, support_page_bytes());
 *   fd = fake_map_open(ring.map);
 *   ... open it with the library ...
 *   fake_ringbuf_put(&ring, "abc", 3, 0);
 *   ...
 *   fake_ringbuf_end(&ring);  before fake_assert_clean */
#ifndef UVPERF_TEST_FAKE_RINGBUF_H
#define UVPERF_TEST_FAKE_RINGBUF_H

#include <stddef.h>
#include <stdint.h>

#include "fake_map.h"

#define FAKE_RINGBUF_BUSY    (UINT32_C(1) << 31)
#define FAKE_RINGBUF_DISCARD (UINT32_C(1) << 30)

typedef struct fake_ringbuf_s {
  fake_map_t *map;
  size_t bytes;
  uint64_t *consumer; /* the position that the library stores */
  uint64_t *producer;
  uint8_t *data;
  size_t map_bytes;
} fake_ringbuf_t;

/* A ring of 2^n pages, with both positions at 0. */
void fake_ringbuf_begin(fake_ringbuf_t *ring, size_t bytes);
void fake_ringbuf_end(fake_ringbuf_t *ring);

/* Moves both positions of an empty ring there, before the library maps it. */
void fake_ringbuf_move(fake_ringbuf_t *ring, uint64_t position);

/* Writes a record with these bits, if the kernel would have room for it.
 * Returns its position, or UINT64_MAX. */
uint64_t fake_ringbuf_put(fake_ringbuf_t *ring, const void *data, uint32_t size,
                          uint32_t bits);

/* The first word of the record at this position. */
uint32_t *fake_ringbuf_word(const fake_ringbuf_t *ring, uint64_t position);

#endif
