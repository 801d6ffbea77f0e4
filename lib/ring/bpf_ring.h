/* SPDX-License-Identifier: MIT */
/* The ring of a BPF_MAP_TYPE_RINGBUF, into which BPF programs of all CPUs
 * write. It is a uvperf__ring_t: begin, consume, end, skip and waiting of
 * ring.h are the same. What differs is where head and tail are, and the headers
 * of the records.
 *
 * A header has the length of the data, and two bits: the program is still
 * writing the record, or it has discarded the record. Nothing after a record
 * that is being written can be read. The header has 8 bytes, like that of a
 * perf record, and records begin at multiples of 8. The kernel maps the data
 * twice, one after the other, so no record wraps.
 *
 * Source: kernel/bpf/ringbuf.c; Documentation/bpf/ringbuf.rst. */
#ifndef UVPERF_LIB_RING_BPF_RING_H
#define UVPERF_LIB_RING_BPF_RING_H

#include <stddef.h>
#include <stdint.h>

#include "ring/ring.h"

/* The bytes of a header. */
#define UVPERF__BPF_HEADER 8

/* Maps the ring of a map's fd, whose max_entries are `bytes`. Returns 0, or
 * -EPROTO if the positions are not multiples of 8, or the -errno of mmap(2),
 * with the ring zeroed. Unmap it by uvperf__ring_unmap. */
int uvperf__bpf_ring_map(uvperf__ring_t *ring, int fd, size_t bytes);

/* Reads the first word of the record at `at`. Pairs with the xchg() in
 * bpf_ringbuf_commit, kernel/bpf/ringbuf.c: the data of a record that is not
 * busy are written. */
static inline uint32_t uvperf__bpf_ring_length(const uint8_t *at) {
  return __atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_ACQUIRE);
}

/* Returns the same as uvperf__bpf_record_size. But with a record that is busy
 * or discarded the size is 1 GiB at least, which is more than the quarter of a
 * ring that a run has. */
static inline size_t uvperf__bpf_ring_run_size(uint32_t length) {
  /* The sum does not fit into 32 bits. */
  if (sizeof(size_t) < sizeof(uint64_t) && length >= UVPERF__BPF_DISCARD)
    return UVPERF__BPF_DISCARD;
  return ((size_t)length + 15) & ~(size_t)7;
}

/* Finds the record at the tail, as uvperf__ring_next does, and keeps its first
 * word in ring->length. The record may be a discarded one. Returns 0 also if
 * the record is busy. */
int uvperf__bpf_ring_next(uvperf__ring_t *ring, void *scratch,
                          const void **bytes, size_t *size);

/* Whether a record that is not busy follows the `lent` bytes at the tail. Call
 * it after the tail was published, before waiting for a wakeup: the kernel
 * wakes the reader only if the tail that it sees is at the record that is
 * finished. Reads the head now. */
int uvperf__bpf_ring_is_ready(const uvperf__ring_t *ring, size_t lent);

#endif
