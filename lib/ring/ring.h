/* SPDX-License-Identifier: MIT */
/* One mapped ring of 1 + 2^n pages that the kernel writes and we read.
 * Knows heads, tails and sizes; not what a record means, and no event loop.
 *
 * A slice of reading is: begin (one acquire-load of data_head), then next and
 * consume for each record, then end (one release-store of data_tail).
 *
 * An overwritable ring (attr.write_backward) is written from its end to its
 * start, the kernel never waits for a reader, and there is no data_tail. The
 * same calls read it, newest record first: begin takes a snapshot of what came
 * since the one before, so the output must be paused. What snapshot.c copies of
 * it counts as seen by that. */
#ifndef UVPERF_LIB_RING_RING_H
#define UVPERF_LIB_RING_RING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <linux/perf_event.h>

/* Records are at most this long, as header.size is 16 bits; so long is the
 * scratch into which a record that wraps is copied. */
#define UVPERF__RING_SCRATCH_BYTES 65536

/* The size that is asked for by default, and the one it is halved down to; the
 * latter is one page whatever the page size. */
#define UVPERF__RING_DEFAULT_BYTES (512 * 1024)

/* Records that lie behind each other in a ring and are delivered one by one,
 * while the ring's tail stays where the first of them starts. */
typedef struct uvperf__run_s {
  const uint8_t *start;
  const uint8_t *at; /* the one that is being delivered */
} uvperf__run_t;

typedef struct uvperf__ring_s {
  struct perf_event_mmap_page *page; /* NULL while not mapped */
  const uint8_t *data;
  size_t size;         /* bytes of the data part, a power of two */
  size_t map_bytes;    /* bytes of the whole mapping */
  uint64_t head;       /* where the records end that begin saw; runs free */
  uint64_t tail;       /* where the next record starts; runs free in 64 bits */
  uint64_t published;  /* the data_tail that the kernel sees */
  uint64_t high_water; /* most bytes that begin ever found */
  const uvperf__run_t *run; /* what of it is being delivered; NULL: nothing */
  int overwrite;            /* an overwritable ring */
  uint64_t newest;  /* of an overwritable one: data_head at the last begin,
                        * or when it was copied, if that is later */
  uint64_t cut;     /* of an overwritable one: records lost in part */
  uint64_t skipped; /* bytes that could not be read */
} uvperf__ring_t;

/* Rounds bytes up to a power of two of pages. 0 on overflow. */
size_t uvperf__ring_round(size_t bytes);

/* Maps the ring of an event, `overwrite` if its attr has write_backward.
 * `bytes` is the size of the data part, already rounded; it is not made
 * smaller. 0, or mmap's -errno; the ring is zeroed then. */
int uvperf__ring_map(uvperf__ring_t *ring, int fd, size_t bytes, int overwrite);

/* Maps a ring of the default size, halved on EPERM (perf_event_mlock_kb) down
 * to one page, but never to or below `least` bytes (a watermark; 0: none). 0,
 * or the -errno of the last attempt; -EINVAL if that is not below the default
 * size. */
int uvperf__ring_map_default(uvperf__ring_t *ring, int fd, uint32_t least,
                             int overwrite);

/* Unmaps; nothing if not mapped. */
void uvperf__ring_unmap(uvperf__ring_t *ring);

/* Forgets the mapping without touching it: a forked child has not got it. */
void uvperf__ring_forget(uvperf__ring_t *ring);

/* Looks at the head. 0, or -EPROTO if it cannot be right: it is further than
 * the ring is long, or in an overwritable ring not a multiple of 8. For an
 * overwritable ring it does nothing before the last snapshot is read to its
 * end. */
int uvperf__ring_begin(uvperf__ring_t *ring);

/* After -EPROTO of begin or next: moves the tail to the head and publishes it,
 * so that the kernel goes on writing. The bytes between count as skipped. In an
 * overwritable ring it moves to the end of the snapshot. 0; or -EPROTO if the
 * head is not a multiple of 8: the ring cannot be read any more, and its bytes
 * stay in it. */
int uvperf__ring_skip(uvperf__ring_t *ring);

/* Gives the record at the tail, contiguous: in place, or copied to the scratch
 * of UVPERF__RING_SCRATCH_BYTES if it wraps. 1 and *bytes (8-byte aligned) and
 * *size; 0 if the tail has reached the head that begin saw, or of an
 * overwritable ring what newer records have spoilt; -EPROTO if the header
 * cannot be right. Does not move the tail. */
int uvperf__ring_next(uvperf__ring_t *ring, void *scratch, const void **bytes,
                      size_t *size);

/* Whether the record at the tail, if there is one, has a type. */
static inline int uvperf__ring_starts_with(const uvperf__ring_t *ring,
                                           uint32_t type) {
  struct perf_event_header header;

  if (ring->tail == ring->head)
    return 0;
  /* Never split by the end of the ring: see uvperf__ring_next. */
  memcpy(&header, ring->data + (ring->tail & (ring->size - 1)), sizeof(header));
  return header.type == type;
}

/* The bytes from the tail on that lie in one piece and that may be consumed
 * before the tail has to be published: 0 of an overwritable ring. Their headers
 * are not checked, and the last record may be behind them in part. */
size_t uvperf__ring_piece(const uvperf__ring_t *ring, const uint8_t **bytes);

/* Moves the tail behind records that were given. Publishes it after each
 * quarter of the ring, so that a slow reader does not starve the writer. To be
 * called after the callback for the record has returned. */
void uvperf__ring_consume(uvperf__ring_t *ring, size_t size);

/* Publishes the tail, if there is one. */
void uvperf__ring_end(uvperf__ring_t *ring);

/* What of the run that is being delivered was given by now, the record in the
 * callback included: how many records, and *bytes. Looks at their headers, so
 * it is not for a forked child, which has not got the mapping. */
uint64_t uvperf__ring_given(const uvperf__ring_t *ring, uint64_t *bytes);

/* Where the kernel writes next: a fresh look. */
uint64_t uvperf__ring_head(const uvperf__ring_t *ring);

/* How many bytes wait to be read, with those of the record in the callback, of
 * an overwritable ring what was written since the last snapshot of it
 * (`newest`): a fresh look. */
uint64_t uvperf__ring_waiting(const uvperf__ring_t *ring);

/* Whether the kernel has written anything behind the tail: a fresh look. */
int uvperf__ring_has_data(const uvperf__ring_t *ring);

/* Whether it has written more than one record there. Of a ring that is not
 * overwritable. */
int uvperf__ring_has_several(const uvperf__ring_t *ring);

#endif
