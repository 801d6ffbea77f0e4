/* SPDX-License-Identifier: MIT */
/* One mapped ring: maps it, walks from tail to head with the right barriers,
 * makes each record contiguous and publishes the tail. */
#include "ring/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "sys/sys.h"

/* header.size has 16 bits, and is a multiple of 8. */
#define LARGEST_RECORD 65528
#define HEADER_SIZE    sizeof(struct perf_event_header)

/* The kernel's own head is an `unsigned long`. A kernel of 32 bits starts again
 * at 0 after 4 GiB, and the upper half of data_head stays 0. A program of 32
 * bits uses the lower half under any kernel: no ring is that large, and not all
 * of its CPUs can load 64 bits at once. A kernel of 64 bits does not need the
 * upper half of data_tail either, because it masks the tail with the ring's
 * size (ring_buffer_has_space). unit/ring/test_ring_word.c defines
 * UVPERF__RING_WORD too. */
#ifndef UVPERF__RING_WORD
#define UVPERF__RING_WORD unsigned long
#endif
typedef UVPERF__RING_WORD __attribute__((may_alias)) word_t;

static size_t page_size(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

size_t uvperf__ring_round(size_t bytes) {
  size_t rounded;

  rounded = page_size();
  while (rounded != 0 && rounded < bytes)
    rounded *= 2; /* 0 on overflow, because it was a power of two */
  return rounded;
}

/* Finds the data. data_offset and data_size are 0 before Linux 4.1; later
 * perf_event_init_userpage sets them. The mapping is one page larger than the
 * data, so only one value is right. If the tail were unaligned, the ring's end
 * could split a header, which next does not expect. */
static int ring_locate(uvperf__ring_t *ring, size_t bytes) {
  const uint8_t *page = (const uint8_t *)ring->page;
  uint64_t offset =
      uvperf__u64(page + offsetof(struct perf_event_mmap_page, data_offset));
  uint64_t size =
      uvperf__u64(page + offsetof(struct perf_event_mmap_page, data_size));
  uint64_t tail =
      uvperf__u64(page + offsetof(struct perf_event_mmap_page, data_tail));
  size_t first = page_size();

  if ((offset != 0 && offset != first) || (size != 0 && size != bytes) ||
      tail % sizeof(uint64_t) != 0)
    return -EPROTO;
  ring->data = page + first;
  ring->size = bytes;
  ring->tail = tail;
  ring->published = ring->tail;
  ring->head = ring->tail;
  return 0;
}

int uvperf__ring_map(uvperf__ring_t *ring, int fd, size_t bytes,
                     int overwrite) {
  int prot = overwrite ? PROT_READ : PROT_READ | PROT_WRITE;
  size_t map_bytes;
  void *address;
  int rc;

  memset(ring, 0, sizeof(*ring));
  /* The size is also 0 after an overflow in uvperf__ring_round. With 0 the
   * kernel would map a single page, without a ring. */
  if (bytes == 0)
    return -EINVAL;
  map_bytes = page_size() + bytes;
  /* If the mapping is writable, the kernel respects data_tail and never
   * overwrites unread records. If the mapping is read-only, it does not:
   * perf_event_open(2), "MMAP layout". */
  rc = uvperf__sys_mmap(&address, map_bytes, prot, fd, 0);
  if (rc != 0)
    return rc;
  uvperf__ring_set_page(ring, address);
  ring->map_bytes = map_bytes;
  ring->overwrite = overwrite;
  rc = ring_locate(ring, bytes);
  if (rc != 0)
    uvperf__ring_unmap(ring);
  return rc;
}

int uvperf__ring_map_default(uvperf__ring_t *ring, int fd, uint32_t least,
                             int overwrite) {
  size_t bytes;
  int rc;

  memset(ring, 0, sizeof(*ring));
  bytes = uvperf__ring_round(UVPERF__RING_DEFAULT_BYTES);
  if (least >= bytes)
    return -EINVAL;
  for (;;) {
    rc = uvperf__ring_map(ring, fd, bytes, overwrite);
    /* perf_mmap returns EPERM above perf_event_mlock_kb. This is the only
     * failure that a smaller ring can avoid. */
    if (rc != -EPERM)
      return rc;
    bytes /= 2;
    if (bytes < page_size() || bytes <= least)
      return rc;
  }
}

void uvperf__ring_unmap(uvperf__ring_t *ring) {
  uvperf__ring_give_up(ring, NULL);
}

void uvperf__ring_give_up(uvperf__ring_t *ring,
                          uvperf__leftovers_t *leftovers) {
  uvperf__leftovers_add(leftovers, ring->page, ring->map_bytes, -1);
  if (ring->is_bpf)
    uvperf__leftovers_add(leftovers, ring->tail_at, page_size(), -1);
  uvperf__ring_forget(ring);
}

void uvperf__ring_forget(uvperf__ring_t *ring) {
  memset(ring, 0, sizeof(*ring));
}

static word_t *low_word(uint64_t *position) {
  word_t *words = (word_t *)position;

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  words += sizeof(*position) / sizeof(*words) - 1;
#endif
  return words;
}

/* Pairs with the smp_wmb() before the store of data_head in
 * perf_output_put_handle, kernel/events/ring_buffer.c: everything before this
 * head is written. (In an overwritable ring, everything after it is.) The head
 * is computed from the last known position and the distance from there, so that
 * it has 64 bits. */
uint64_t uvperf__ring_head(const uvperf__ring_t *ring) {
  word_t head = __atomic_load_n(low_word(ring->head_at), __ATOMIC_ACQUIRE);

  if (ring->overwrite)
    return ring->newest - (word_t)((word_t)ring->newest - head);
  return ring->tail + (word_t)(head - (word_t)ring->tail);
}

/* The head of an overwritable ring moves down from 0. Reading upwards from the
 * head goes from the newest record to older records. The reading ends where the
 * head was at the last snapshot, or at the records that newer records have
 * overwritten. */
static int begin_snapshot(uvperf__ring_t *ring) {
  uint64_t waiting;
  uint64_t head;

  if (ring->tail != ring->head)
    return 0;
  head = uvperf__ring_head(ring);
  if (head % sizeof(uint64_t) != 0)
    return -EPROTO;
  ring->tail = head;
  waiting = ring->newest - ring->tail;
  if (waiting > ring->size)
    waiting = ring->size;
  ring->head = ring->tail + waiting;
  ring->newest = ring->tail;
  if (waiting > ring->high_water)
    ring->high_water = waiting;
  return 0;
}

int uvperf__ring_begin(uvperf__ring_t *ring) {
  uint64_t head;
  uint64_t waiting;

  if (ring->overwrite)
    return begin_snapshot(ring);
  head = uvperf__ring_head(ring);
  waiting = head - ring->tail;
  if (waiting > ring->size)
    return -EPROTO;
  ring->head = head;
  if (waiting > ring->high_water)
    ring->high_water = waiting;
  return 0;
}

static void ring_unwrap(const uvperf__ring_t *ring, size_t at, void *scratch,
                        size_t size) {
  size_t first = ring->size - at;

  memcpy(scratch, ring->data + at, first);
  memcpy((uint8_t *)scratch + first, ring->data, size - first);
}

/* Returns the number of bytes from the tail on that hold whole records. The
 * kernel may write into an overwritable ring for a moment after its output was
 * paused. */
static uint64_t bytes_left(const uvperf__ring_t *ring) {
  uint64_t left = ring->head - ring->tail;
  uint64_t gone;

  if (!ring->overwrite)
    return left;
  gone = ring->tail + left - uvperf__ring_head(ring);
  gone = gone > ring->size ? gone - ring->size : 0;
  return gone < left ? left - gone : 0;
}

/* Whether the kernel may be writing over the record at the tail of a snapshot.
 * This happens if the output was paused in the middle of a record that the head
 * does not include yet. begin may have read the head during an earlier
 * pause. */
static int may_be_spoilt(const uvperf__ring_t *ring) {
  return ring->overwrite &&
         ring->tail - uvperf__ring_head(ring) + LARGEST_RECORD + HEADER_SIZE >
             ring->size;
}

/* Ends a snapshot at the record at its tail. Newer records have overwritten the
 * end of that record, and no older record is whole. */
static int drop_cut(uvperf__ring_t *ring) {
  ring->cut += 1;
  ring->tail = ring->head;
  return 0;
}

int uvperf__ring_next(uvperf__ring_t *ring, void *scratch, const void **bytes,
                      size_t *size) {
  uint64_t left;
  size_t at, whole;

  if (ring->tail == ring->head)
    return 0;
  left = bytes_left(ring);
  if (left < HEADER_SIZE)
    return ring->overwrite ? drop_cut(ring) : -EPROTO;
  /* Records and the ring are multiples of 8 bytes, so a header is never split
   * by the ring's end. */
  at = (size_t)(ring->tail & (ring->size - 1));
  whole = uvperf__header_size(uvperf__u64(ring->data + at));
  if (whole < HEADER_SIZE || whole % sizeof(uint64_t) != 0)
    return may_be_spoilt(ring) ? drop_cut(ring) : -EPROTO;
  if (whole > left)
    return ring->overwrite ? drop_cut(ring) : -EPROTO;
  *bytes = ring->data + at;
  *size = whole;
  if (whole > ring->size - at) {
    ring_unwrap(ring, at, scratch, whole);
    *bytes = scratch;
  }
  return 1;
}

size_t uvperf__ring_contiguous(const uvperf__ring_t *ring,
                               const uint8_t **bytes) {
  size_t at = (size_t)(ring->tail & (ring->size - 1));
  uint64_t piece = ring->head - ring->tail;
  uint64_t quarter = ring->published + ring->size / 4 - ring->tail;

  *bytes = ring->data + at;
  if (ring->overwrite)
    return 0;
  if (piece > ring->size - at)
    piece = ring->size - at;
  if (piece > quarter)
    piece = quarter;
  /* next reports a head that is not a multiple of 8. */
  return (size_t)piece & ~(sizeof(uint64_t) - 1);
}

/* Returns the size of a record whose header was sound. */
static size_t record_size(const uvperf__ring_t *ring, const uint8_t *at) {
  return ring->is_bpf ? uvperf__bpf_record_size(uvperf__u32(at))
                      : uvperf__header_size(uvperf__u64(at));
}

static const uint8_t *run_at(const uvperf__run_t *run) {
  return run->data == NULL ? run->at
                           : (const uint8_t *)*run->data - HEADER_SIZE;
}

uint64_t uvperf__ring_run_delivered(const uvperf__ring_t *ring,
                                    uint64_t *bytes) {
  const uint8_t *at, *last;
  uint64_t nr = 0;
  size_t size;

  *bytes = 0;
  if (ring->run == NULL)
    return 0;
  last = run_at(ring->run);
  for (at = ring->run->start; at <= last; at += size) {
    size = record_size(ring, at);
    /* Another process's record has been written over this record. */
    if (size < HEADER_SIZE)
      break;
    *bytes += size;
    nr++;
  }
  return nr;
}

static void ring_publish(uvperf__ring_t *ring) {
  /* Pairs with the load of data_tail in __perf_output_begin, and with the
   * kernel's branch on data_tail. So our reads of the data are done before the
   * kernel writes there again: see perf_output_put_handle in
   * kernel/events/ring_buffer.c. For a BPF ring buffer all 64 bits are stored,
   * because a kernel of 64 bits subtracts them from its own position. */
  if (sizeof(word_t) == sizeof(uint64_t) || !ring->is_bpf)
    __atomic_store_n(low_word(ring->tail_at), (word_t)ring->tail,
                     __ATOMIC_RELEASE);
  else
    __atomic_store_n(ring->tail_at, ring->tail, __ATOMIC_RELEASE);
  ring->published = ring->tail;
}

void uvperf__ring_consume(uvperf__ring_t *ring, size_t size) {
  ring->tail += size;
  if (ring->tail - ring->published >= ring->size / 4 && !ring->overwrite)
    ring_publish(ring);
}

void uvperf__ring_end(uvperf__ring_t *ring) {
  if (ring->tail != ring->published && !ring->overwrite)
    ring_publish(ring);
}

/* Reads the head again: bytes written since begin lie after the damage and may
 * be part of it. */
int uvperf__ring_skip(uvperf__ring_t *ring) {
  uint64_t head = uvperf__ring_head(ring);
  int rc = head % sizeof(uint64_t) == 0 ? 0 : -EPROTO;

  if (!ring->overwrite && rc != 0)
    return rc;
  if (!ring->overwrite)
    ring->head = head;
  ring->skipped += ring->head - ring->tail;
  ring->tail = ring->head;
  uvperf__ring_end(ring);
  return rc;
}

uint64_t uvperf__ring_waiting(const uvperf__ring_t *ring) {
  uint64_t head = uvperf__ring_head(ring);
  uint64_t waiting;

  if (!ring->overwrite) {
    waiting = head - ring->tail;
    if (ring->run != NULL)
      waiting -= (uint64_t)(run_at(ring->run) - ring->run->start);
    return waiting;
  }
  waiting = ring->newest - head;
  return waiting < ring->size ? waiting : ring->size;
}

/* The size in a header has 16 bits. */
#define LONGEST_RECORD 65536

/* Records that are written while the ring is drained are added to those that
 * the drain has found, until the next drain finds them. So the ring never has
 * more than twice the most bytes that were found. */
int uvperf__ring_may_have_lost(const uvperf__ring_t *ring) {
  uint64_t most = uvperf__ring_waiting(ring);

  if (most < ring->high_water)
    most = ring->high_water;
  return ring->overwrite || 2 * most + LONGEST_RECORD > ring->size;
}

int uvperf__ring_has_data(const uvperf__ring_t *ring) {
  return __atomic_load_n(low_word(ring->head_at), __ATOMIC_RELAXED) !=
         (word_t)ring->tail;
}

int uvperf__ring_has_grown(const uvperf__ring_t *ring, uint64_t bytes) {
  word_t head = __atomic_load_n(low_word(ring->head_at), __ATOMIC_RELAXED);

  return head != (word_t)ring->head &&
         (word_t)(head - (word_t)ring->tail) >= bytes;
}

int uvperf__ring_has_record(const uvperf__ring_t *ring, size_t lent) {
  uint64_t waiting = uvperf__ring_waiting(ring);

  if (ring->overwrite)
    return waiting != 0 || ring->head - ring->tail != lent;
  return waiting != lent;
}

int uvperf__ring_has_several(const uvperf__ring_t *ring) {
  uint64_t waiting = uvperf__ring_head(ring) - ring->tail;
  const uint8_t *at = uvperf__ring_at(ring, ring->tail);

  return waiting > HEADER_SIZE && waiting > record_size(ring, at);
}
