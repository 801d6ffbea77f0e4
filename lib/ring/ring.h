/* SPDX-License-Identifier: MIT */
/* One mapped ring of 1 + 2^n pages that the kernel writes and we read. It knows
 * heads, tails and sizes, not the meaning of records.
 *
 * One pass is: begin (one acquire-load of data_head), then next and consume for
 * each record, then end (one release-store of data_tail).
 *
 * An overwritable ring (attr.write_backward) is written from its end to its
 * start, the kernel never waits for a reader, and there is no data_tail. It is
 * read with the same calls, newest record first. begin makes a snapshot of the
 * records since the last snapshot, so the output must be paused. Records that
 * snapshot.c has copied are read with the same calls, as a ring that is not
 * overwritable. */
#ifndef UVPERF_LIB_RING_RING_H
#define UVPERF_LIB_RING_RING_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "ring/leftovers.h"
#include "util/bytes.h"

/* The size of the scratch into which a record that wraps is copied. No record
 * is longer, because header.size has 16 bits. */
#define UVPERF__RING_SCRATCH_BYTES 65536

/* The default size. If so much memory cannot be locked, the size is halved,
 * down to one page. */
#define UVPERF__RING_DEFAULT_BYTES (512 * 1024)

/* A run: samples that lie one after the other in a ring, without a wrap, and
 * are delivered without moving the tail between them. Until the run ends, the
 * tail stays at the first sample. (loop/drain.h makes them.) */
typedef struct uvperf__run_s {
  const uint8_t *start;
  const uint8_t *at; /* the sample that is being delivered */
  /* NULL, or where the address of that sample's data is, 8 bytes after the
   * sample's start; `at` is not kept then. */
  const void *const *data;
} uvperf__run_t;

typedef struct uvperf__ring_s {
  struct perf_event_mmap_page *page; /* NULL while not mapped */
  uint64_t *head_at;                 /* data_head in that page */
  uint64_t *tail_at;                 /* data_tail in that page */
  const uint8_t *data;
  size_t size;         /* bytes of the data part, a power of two */
  size_t map_bytes;    /* bytes of the whole mapping */
  uint64_t head;       /* end of the records that begin saw; 64 bits, no wrap */
  uint64_t tail;       /* start of the next record; 64 bits, no wrap */
  uint64_t published;  /* the data_tail that the kernel sees */
  uint64_t high_water; /* most bytes that begin ever found */
  const uvperf__run_t *run; /* the one being delivered, or NULL */
  int overwrite;            /* an overwritable ring */
  uint64_t newest;   /* overwritable: data_head at the last begin or copy */
  uint64_t cut;      /* overwritable: records lost in part */
  uint32_t unwaited; /* snapshots that should have waited for writers */
  uint64_t skipped;  /* bytes that could not be read */
  /* A BPF ring buffer: see bpf_ring.h. Head and tail are the positions of the
   * producer and the consumer, each in a page of its own. `page` is the
   * producer's, whatever its type says. */
  int is_bpf;
  uint32_t length; /* the first word of the record that was found last */
} uvperf__ring_t;

/* Makes this page, whose fields the kernel or a test fills, the ring's. */
static inline void uvperf__ring_set_page(uvperf__ring_t *ring,
                                         struct perf_event_mmap_page *page) {
  ring->page = page;
  ring->head_at = (uint64_t *)&page->data_head;
  ring->tail_at = (uint64_t *)&page->data_tail;
}

/* Returns where the byte at this position is. */
static inline const uint8_t *uvperf__ring_at(const uvperf__ring_t *ring,
                                             uint64_t position) {
  return ring->data + (position & (ring->size - 1));
}

/* Rounds a size in bytes up to 2^n pages. Returns 0 on overflow. */
size_t uvperf__ring_round(size_t bytes);

/* Maps the ring of an event. `overwrite` says that its attr has write_backward.
 * `bytes` is the size of the data part, already rounded. The size is not
 * reduced. Returns 0, or the -errno of mmap(2) with the ring zeroed. */
int uvperf__ring_map(uvperf__ring_t *ring, int fd, size_t bytes, int overwrite);

/* Maps a ring of the default size. On EPERM (perf_event_mlock_kb) the size is
 * halved, down to one page. The size always stays above `least` bytes (a
 * watermark; 0: none). cpu_rings.c halves its rings itself, as each size needs
 * another event there. Returns 0, or the -errno of the last attempt, or -EINVAL
 * if `least` is not below the default size. */
int uvperf__ring_map_default(uvperf__ring_t *ring, int fd, uint32_t least,
                             int overwrite);

/* Unmaps the ring, if it is mapped. */
void uvperf__ring_unmap(uvperf__ring_t *ring);

/* Unmaps the ring later: see leftovers.h. */
void uvperf__ring_give_up(uvperf__ring_t *ring, uvperf__leftovers_t *leftovers);

/* Forgets the mapping without touching it: a forked child does not have it. */
void uvperf__ring_forget(uvperf__ring_t *ring);

/* Reads the head. Returns 0, or -EPROTO if the head makes no sense: it is ahead
 * of the tail by more than the ring's size, or (in an overwritable ring) it is
 * not a multiple of 8. In an overwritable ring, uvperf__ring_begin does nothing
 * until the last snapshot has been read to its end. */
int uvperf__ring_begin(uvperf__ring_t *ring);

/* Call it after begin or next has returned -EPROTO. Moves the tail to the head
 * and publishes it, so that the kernel goes on writing. The bytes between tail
 * and head count as skipped. In an overwritable ring the tail moves to the end
 * of the snapshot. Returns 0, or -EPROTO if the head is not a multiple of 8. In
 * that case the ring cannot be read any more, and its bytes stay in it. */
int uvperf__ring_skip(uvperf__ring_t *ring);

/* Finds the record at the tail. The record is in place, or copied to the
 * scratch of UVPERF__RING_SCRATCH_BYTES if it wraps. Does not move the tail.
 * Returns
 * - 1, *bytes (8-byte aligned) and *size;
 * - 0 if the tail has reached the head that begin saw, or, in an overwritable
 *   ring, the records that newer records have overwritten;
 * - -EPROTO if the header makes no sense. */
int uvperf__ring_next(uvperf__ring_t *ring, void *scratch, const void **bytes,
                      size_t *size);

/* Whether there is a record of this type at the tail. */
static inline int uvperf__ring_starts_with(const uvperf__ring_t *ring,
                                           uint32_t type) {
  if (ring->tail == ring->head)
    return 0;
  /* The end of the ring never splits a header: see uvperf__ring_next. */
  return uvperf__header_type(uvperf__u64(uvperf__ring_at(ring, ring->tail))) ==
         type;
}

/* Returns the number of bytes from the tail on that lie in place, without a
 * wrap, and that may be consumed before the tail must be published. Returns 0
 * for an overwritable ring. The headers of the records in these bytes are not
 * checked, and the last record may reach beyond these bytes. */
size_t uvperf__ring_contiguous(const uvperf__ring_t *ring,
                               const uint8_t **bytes);

/* Moves the tail past records whose callbacks have returned. Publishes it after
 * each quarter of the ring, so that a slow reader does not starve the
 * writer. */
void uvperf__ring_consume(uvperf__ring_t *ring, size_t size);

/* Publishes the tail. Does nothing in an overwritable ring, which has no
 * data_tail. */
void uvperf__ring_end(uvperf__ring_t *ring);

/* Returns how many samples of the current run were delivered, and their *bytes.
 * The sample in the callback is included. Both are 0 without a run. Reads the
 * samples' headers, so it must not be called in a forked child, which does not
 * have the mapping. */
uint64_t uvperf__ring_run_delivered(const uvperf__ring_t *ring,
                                    uint64_t *bytes);

/* Reads and returns the head: the position where the kernel writes next. */
uint64_t uvperf__ring_head(const uvperf__ring_t *ring);

/* Returns how many bytes are still to be read, including the record in the
 * callback. For an overwritable ring it returns how many were written since the
 * last snapshot. Reads the head now. */
uint64_t uvperf__ring_waiting(const uvperf__ring_t *ring);

/* Whether the ring may have been too full for a record, or may have been paused
 * for a snapshot. */
int uvperf__ring_may_have_lost(const uvperf__ring_t *ring);

/* Whether the kernel has written anything after the tail. Reads the head
 * now. */
int uvperf__ring_has_data(const uvperf__ring_t *ring);

/* Whether the kernel has written anything since the head was last read, and at
 * least `bytes` bytes wait now. Must not be used for an overwritable ring. */
int uvperf__ring_has_grown(const uvperf__ring_t *ring, uint64_t bytes);

/* Whether a record follows the `lent` bytes at the tail, which the user has. In
 * an overwritable ring a record that the next snapshot would find counts too.
 * Reads the head now. */
int uvperf__ring_has_record(const uvperf__ring_t *ring, size_t lent);

/* Whether the kernel has written more than one record after the tail. Must not
 * be used for an overwritable ring. */
int uvperf__ring_has_several(const uvperf__ring_t *ring);

#endif
