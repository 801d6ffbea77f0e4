/* SPDX-License-Identifier: MIT */
/* Maps a BPF ring buffer, and finds its records. */
#include "ring/bpf_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/sys.h"

/* The first page of the mapping at offset 0 has the consumer's position, and
 * may be written. The page after it has the producer's position, and is
 * followed by the data, twice. Only reading is allowed there. */
int uvperf__bpf_ring_map(uvperf__ring_t *ring, int fd, size_t bytes) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  void *consumer, *producer;
  int rc;

  memset(ring, 0, sizeof(*ring));
  if (bytes > (SIZE_MAX - page) / 2)
    return -ENOMEM;
  rc = uvperf__sys_mmap(&consumer, page, PROT_READ | PROT_WRITE, fd, 0);
  if (rc != 0)
    return rc;
  rc =
      uvperf__sys_mmap(&producer, page + 2 * bytes, PROT_READ, fd, (off_t)page);
  if (rc != 0) {
    uvperf__sys_munmap(consumer, page);
    return rc;
  }
  ring->page = producer;
  ring->map_bytes = page + 2 * bytes;
  ring->head_at = producer;
  ring->tail_at = consumer;
  ring->data = (const uint8_t *)producer + page;
  ring->size = bytes;
  ring->is_bpf = 1;
  ring->tail = __atomic_load_n(ring->tail_at, __ATOMIC_RELAXED);
  ring->published = ring->tail;
  ring->head = ring->tail;
  if (ring->tail % sizeof(uint64_t) == 0)
    return 0;
  uvperf__ring_unmap(ring);
  return -EPROTO;
}

int uvperf__bpf_ring_next(uvperf__ring_t *ring, void *scratch,
                          const void **bytes, size_t *size) {
  uint64_t left = ring->head - ring->tail;

  (void)scratch;
  if (left == 0)
    return 0;
  if (left % UVPERF__BPF_HEADER != 0)
    return -EPROTO;
  *bytes = uvperf__ring_at(ring, ring->tail);
  ring->length = uvperf__bpf_ring_length(*bytes);
  *size = uvperf__bpf_record_size(ring->length);
  if (*size > left)
    return -EPROTO;
  return (ring->length & UVPERF__BPF_BUSY) == 0;
}

/* The store of the tail comes before the load of the length, and in
 * bpf_ringbuf_commit the store of the length before the load of the tail. So
 * either this function sees the record, or the kernel sees the tail and wakes
 * the reader. */
int uvperf__bpf_ring_is_ready(const uvperf__ring_t *ring, size_t lent) {
  uint64_t waiting;

  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  waiting = uvperf__ring_head(ring) - ring->tail;
  return waiting > lent &&
         (uvperf__bpf_ring_length(uvperf__ring_at(ring, ring->tail + lent)) &
          UVPERF__BPF_BUSY) == 0;
}
