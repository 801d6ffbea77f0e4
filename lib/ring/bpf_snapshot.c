/* SPDX-License-Identifier: MIT */
/* A snapshot of a BPF ring buffer that overwrites its oldest records
 * (BPF_F_RB_OVERWRITE, Linux 6.19). It cannot be paused. So the bytes are
 * copied first, and then the position after the last overwritten record shows
 * which of them were still valid. */
#include "ring/bpf_snapshot.h"

#include <errno.h>
#include <string.h>

#include "ring/bpf_ring.h"
#include "util/alloc.h"

/* Each attempt that the programs overtake copies half as much as the one
 * before. */
#define ATTEMPTS 16

/* The positions of a copy. */
typedef struct window_s {
  uint64_t begin; /* of the oldest record */
  uint64_t end;   /* of the newest record that is not busy */
} window_t;

/* __bpf_ringbuf_reserve in kernel/bpf/ringbuf.c stores this position before the
 * producer's. They are three words: the second is not needed. */
static uint64_t ring_overwritten(const uvperf__ring_t *ring) {
  return __atomic_load_n(ring->head_at + 2, __ATOMIC_ACQUIRE);
}

/* Finds the end of the record at this position. Returns 1, or 0 if it is busy,
 * -EAGAIN if it was overwritten before or while it was read, or -EPROTO. */
static int record_end(const uvperf__ring_t *ring, uint64_t position,
                      uint64_t head, uint64_t *end) {
  uint32_t length = uvperf__bpf_ring_length(uvperf__ring_at(ring, position));
  size_t size = uvperf__bpf_record_size(length);

  if (ring_overwritten(ring) > position)
    return -EAGAIN;
  if (size > head - position)
    return -EPROTO;
  *end = position + size;
  return (length & UVPERF__BPF_BUSY) == 0;
}

/* Finds the records from `since` on, and not more than `most` bytes. Begins
 * again where the programs have overtaken it. */
static int window_find(const uvperf__ring_t *ring, uint64_t since,
                       uint64_t most, window_t *window) {
  uint64_t head = __atomic_load_n(ring->head_at, __ATOMIC_ACQUIRE);
  uint64_t oldest = ring_overwritten(ring);
  uint64_t end = 0;
  int rc = 1;

  if (oldest > head)
    return -EAGAIN;
  window->begin = since > oldest && since <= head ? since : oldest;
  if (head - window->begin > ring->size)
    return -EPROTO;
  for (window->end = window->begin; window->end != head && rc == 1;) {
    rc = record_end(ring, window->end, head, &end);
    if (rc == -EAGAIN) {
      oldest = ring_overwritten(ring);
      if (oldest > head)
        return -EAGAIN;
      window->begin = window->end = oldest;
      rc = 1;
    } else if (rc == 1) {
      window->end = end;
    }
    /* Older records make room. */
    while (rc == 1 && window->end - window->begin > most &&
           record_end(ring, window->begin, head, &end) == 1)
      window->begin = end;
  }
  return rc < 0 ? rc : 0;
}

/* Copies the window, and leaves out what was overwritten meanwhile. Returns
 * -EAGAIN if that was everything. */
static int window_copy(const uvperf__ring_t *ring, window_t *window,
                       uint8_t *to) {
  size_t bytes = (size_t)(window->end - window->begin);
  uint64_t oldest;
  size_t gone;

  memcpy(to, uvperf__ring_at(ring, window->begin), bytes);
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  oldest = ring_overwritten(ring);
  if (oldest <= window->begin)
    return 0;
  if (oldest > window->end)
    return -EAGAIN;
  gone = (size_t)(oldest - window->begin);
  memmove(to, to + gone, bytes - gone);
  window->begin = oldest;
  return 0;
}

/* Puts the newest record first: reverses all words, then those of each record,
 * whose header is last then. */
static void reverse_records(uint64_t *words, size_t nr) {
  size_t size;

  uvperf__reverse_words(words, nr);
  while (nr > 0) {
    size =
        uvperf__bpf_record_size(uvperf__u32((const uint8_t *)&words[nr - 1])) /
        sizeof(*words);
    if (size > nr) /* the image is not sound: its reader finds that too */
      return;
    nr -= size;
    uvperf__reverse_words(words + nr, size);
  }
}

int uvperf__bpf_snapshot_copy(uvperf__snapshot_t *snapshot, uint32_t flags) {
  uvperf__ring_t *own = &snapshot->own;
  uint64_t since = flags & UVPERF_SNAPSHOT_ALL ? 0 : own->tail;
  /* A run reads a header after the last record. */
  struct perf_event_mmap_page *page =
      uvperf__calloc(1, sizeof(*page) + own->size + sizeof(uint64_t));
  window_t window = {since, since};
  int attempt, rc = -EAGAIN;
  size_t bytes;

  if (page == NULL)
    return -ENOMEM;
  for (attempt = 0; rc == -EAGAIN && attempt < ATTEMPTS; attempt++) {
    rc = window_find(own, since, own->size >> attempt, &window);
    if (rc == 0)
      rc = window_copy(own, &window, (uint8_t *)(page + 1));
  }
  bytes = rc == 0 ? (size_t)(window.end - window.begin) : 0;
  if (!(flags & UVPERF_SNAPSHOT_OLDEST_FIRST))
    reverse_records((uint64_t *)(void *)(page + 1), bytes / sizeof(uint64_t));
  page->data_head = bytes;
  memset(&snapshot->image, 0, sizeof(snapshot->image));
  uvperf__ring_set_page(&snapshot->image, page);
  snapshot->image.data = (const uint8_t *)(page + 1);
  snapshot->image.size = own->size;
  snapshot->image.is_bpf = 1;
  snapshot->memory = page;
  snapshot->code = rc == -EAGAIN ? 0 : rc;
  snapshot->resumed = 0;
  own->high_water = bytes;
  if (rc == 0)
    own->tail = window.end;
  else if (rc != -EAGAIN)
    own->tail = __atomic_load_n(own->head_at, __ATOMIC_ACQUIRE);
  return 0;
}
