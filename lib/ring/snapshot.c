/* SPDX-License-Identifier: MIT */
/* Takes snapshots of overwritable rings: pauses them, waits for CPUs that are
 * writing, copies, and finds out which records are whole. Taking a snapshot
 * changes only data of the snapshot, so any thread may do it while other
 * threads use the ring. */
#include "ring/snapshot.h"

#include <errno.h>
#include <string.h>

#include <sys/ioctl.h>

#include <linux/perf_event.h>

#include "ring/bpf_snapshot.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/bytes.h"

/* The maximum number of bytes that a CPU may still be writing below the head
 * when the output is paused. These are one record in each of the four contexts
 * that interrupt one another (PERF_NR_CONTEXTS in kernel/events/internal.h).
 * header.size has 16 bits. */
#define BEING_WRITTEN_BYTES (4 * 65536)

/* If the snapshot does not wait for writers, this number of the oldest bytes is
 * left out, but at most a quarter of the ring. */
#define LEFT_OUT_BYTES 65536

/* -- pausing -------------------------------------------------------------- */

static void snapshots_resume(uvperf__snapshot_t *snapshots, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++)
    if (!snapshots[i].is_paused)
      snapshots[i].resumed =
          uvperf__sys_ioctl(snapshots[i].fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
}

/* Pauses all rings or none. */
static int pause_all(uvperf__snapshot_t *snapshots, size_t nr) {
  size_t i;
  int rc;

  for (i = 0; i < nr; i++) {
    if (snapshots[i].is_paused)
      continue;
    rc = uvperf__sys_ioctl(snapshots[i].fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
    if (rc < 0) {
      snapshots_resume(snapshots, i);
      return rc;
    }
  }
  return 0;
}

/* Returns the number of bytes written since the snapshot that began at `since`,
 * at most `limit`. The head of an overwritable ring moves down, starting with 0
 * when the ring is mapped. */
static uint64_t bytes_since(uint64_t since, uint64_t head, uint64_t limit) {
  uint64_t written = since - head;

  return written < limit ? written : limit;
}

static uint64_t first_head(const uvperf__ring_t *ring, uint32_t flags) {
  return flags & UVPERF_SNAPSHOT_ALL ? 0 : ring->newest;
}

/* Whether a CPU may still be writing to the bytes that will be copied. */
static int may_be_touched(const uvperf__ring_t *ring, uint32_t flags) {
  uint64_t wanted =
      bytes_since(first_head(ring, flags), uvperf__ring_head(ring), ring->size);

  return wanted > 0 && wanted + BEING_WRITTEN_BYTES > ring->size;
}

/* PERF_EVENT_IOC_PAUSE_OUTPUT does not wait for records that other CPUs have
 * begun. The kernel writes these records inside rcu_read_lock()
 * (perf_output_begin in kernel/events/ring_buffer.c), so a grace period ends
 * after all of them. Returns whether it has waited for a grace period. */
static int wait_for_writers(uvperf__snapshot_t *snapshots, size_t nr,
                            uint32_t flags) {
  size_t waiting = 0;
  size_t i;

  if (flags & UVPERF_SNAPSHOT_NO_WAIT)
    return 0;
  for (i = 0; i < nr; i++) {
    snapshots[i].own.unwaited =
        (uint32_t)may_be_touched(&snapshots[i].own, flags);
    waiting += snapshots[i].own.unwaited;
  }
  if (waiting == 0 || uvperf__sys_membarrier() != 0)
    return 0;
  for (i = 0; i < nr; i++)
    snapshots[i].own.unwaited = 0;
  return 1;
}

/* -- copying -------------------------------------------------------------- */

static void copy_bytes(uint8_t *to, const uvperf__ring_t *ring, uint64_t head,
                       size_t bytes) {
  size_t at = (size_t)(head & (ring->size - 1));
  size_t first = ring->size - at;

  if (first > bytes)
    first = bytes;
  memcpy(to, ring->data + at, first);
  memcpy(to + first, ring->data, bytes - first);
}

/* Returns the number of bytes from `head` on that no CPU can have overwritten
 * while they were copied. */
static uint64_t ring_held(const uvperf__ring_t *ring, uint64_t head,
                          int is_quiet) {
  uint64_t limit = ring->size;
  uint64_t moved;

  /* The copy is done before the head is read again: a record that was finished
   * meanwhile lies where the oldest records were. */
  __atomic_thread_fence(__ATOMIC_ACQUIRE);
  moved = head - uvperf__ring_head(ring);
  if (!is_quiet)
    limit -= ring->size / 4 < LEFT_OUT_BYTES ? ring->size / 4 : LEFT_OUT_BYTES;
  return moved < limit ? limit - moved : 0;
}

static void snapshot_copy(uvperf__snapshot_t *snapshot, uint32_t flags,
                          int is_quiet) {
  uvperf__ring_t *ring = &snapshot->own;
  uint64_t head = uvperf__ring_head(ring);
  uint64_t since = first_head(ring, flags);
  uint64_t unseen = bytes_since(ring->newest, head, ring->size);
  uint64_t bytes = bytes_since(since, head, ring->size);

  if (head % sizeof(uint64_t) != 0) {
    snapshot->code = -EPROTO;
    return;
  }
  copy_bytes((uint8_t *)snapshot->image.data, ring, head, (size_t)bytes);
  bytes = bytes_since(since, head, ring_held(ring, head, is_quiet));
  snapshot->copied = (size_t)bytes;
  snapshot->unseen = ring->newest - head;
  snapshot->is_limited = bytes < since - head;
  ring->newest = head;
  ring->high_water = unseen;
}

/* -- whole records -------------------------------------------------------- */

/* There is no whole record at `at`. The record is damaged, or newer records
 * have overwritten its end, or it is not known whether they have overwritten
 * it. */
static void note_end(uvperf__snapshot_t *snapshot, size_t at, int is_header,
                     int is_quiet) {
  int is_left_out = is_header && snapshot->is_limited && !is_quiet;
  int is_cut = (is_header && snapshot->is_limited) ||
               (!is_quiet && at + BEING_WRITTEN_BYTES > snapshot->own.size);

  if (is_left_out)
    return;
  if (!is_cut)
    snapshot->code = -EPROTO;
  if (at >= snapshot->unseen) /* counted by the snapshot before */
    return;
  if (is_cut)
    snapshot->own.cut += 1;
  else
    snapshot->own.skipped +=
        bytes_since(snapshot->unseen, at, snapshot->copied - at);
}

/* Returns how many bytes the whole records have, counted from the newest record
 * on. */
static size_t find_whole(uvperf__snapshot_t *snapshot, int is_quiet) {
  struct perf_event_header header;
  size_t at = 0;
  size_t left;
  int is_header;

  while (at < snapshot->copied) {
    left = snapshot->copied - at;
    is_header = 1;
    if (left >= sizeof(header)) {
      memcpy(&header, snapshot->image.data + at, sizeof(header));
      is_header =
          header.size >= sizeof(header) && header.size % sizeof(uint64_t) == 0;
    }
    if (left < sizeof(header) || !is_header || header.size > left) {
      note_end(snapshot, at, is_header, is_quiet);
      break;
    }
    at += header.size;
  }
  return at;
}

/* Returns the number of words of a record whose words are in reverse order,
 * with its header last. A LOST record stays together with the record after it,
 * if there is one, because the kernel writes LOST before that record in either
 * kind of ring. */
static size_t reversed_size(const uint64_t *words, size_t nr) {
  struct perf_event_header header;
  size_t size;

  memcpy(&header, &words[nr - 1], sizeof(header));
  size = header.size / sizeof(*words);
  if (header.type != PERF_RECORD_LOST || size == nr)
    return size;
  memcpy(&header, &words[nr - 1 - size], sizeof(header));
  return size + header.size / sizeof(*words);
}

/* Reverses the order of the records. Reverses all words first, then the words
 * of each record. */
static void reverse_records(uint64_t *words, size_t nr) {
  size_t size;

  uvperf__reverse_words(words, nr);
  while (nr > 0) {
    size = reversed_size(words, nr);
    nr -= size;
    uvperf__reverse_words(words + nr, size);
  }
}

static void snapshot_finish(uvperf__snapshot_t *snapshot, uint32_t flags,
                            int is_quiet) {
  size_t whole = find_whole(snapshot, is_quiet);

  if (flags & UVPERF_SNAPSHOT_OLDEST_FIRST)
    reverse_records((uint64_t *)(void *)snapshot->image.data,
                    whole / sizeof(uint64_t));
  snapshot->image.page->data_head = whole;
}

/* -- all of it ------------------------------------------------------------ */

static int make_images(uvperf__snapshot_t *snapshots, size_t nr) {
  struct perf_event_mmap_page *page;
  uvperf__snapshot_t *snapshot;
  size_t i;

  for (i = 0; i < nr; i++) {
    snapshot = &snapshots[i];
    page = uvperf__calloc(1, sizeof(*page) + snapshot->own.size);
    if (page == NULL) {
      uvperf__snapshots_free(snapshots, i);
      return -ENOMEM;
    }
    /* Faults the pages in before the output is paused. */
    memset(page + 1, 0, snapshot->own.size);
    memset(&snapshot->image, 0, sizeof(snapshot->image));
    snapshot->memory = page;
    uvperf__ring_set_page(&snapshot->image, page);
    snapshot->image.data = (const uint8_t *)(page + 1);
    snapshot->image.size = snapshot->own.size;
    snapshot->code = 0;
    snapshot->resumed = 0;
    snapshot->copied = 0;
  }
  return 0;
}

void uvperf__snapshots_begin(uvperf__snapshot_t *snapshots, size_t nr) {
  uvperf__ring_t *own;
  size_t i;

  for (i = 0; i < nr; i++) {
    own = &snapshots[i].own;
    *own = *snapshots[i].ring;
    own->high_water = own->cut = own->skipped = 0;
    own->unwaited = 0;
  }
}

int uvperf__snapshots_copy(uvperf__snapshot_t *snapshots, size_t nr,
                           uint32_t flags) {
  int is_quiet;
  size_t i;
  int rc;

  if (nr == 1 && snapshots[0].own.is_bpf)
    return uvperf__bpf_snapshot_copy(&snapshots[0], flags);
  rc = make_images(snapshots, nr);
  if (rc != 0)
    return rc;
  rc = pause_all(snapshots, nr);
  if (rc != 0) {
    uvperf__snapshots_free(snapshots, nr);
    return rc;
  }
  is_quiet = wait_for_writers(snapshots, nr, flags);
  for (i = 0; i < nr; i++)
    snapshot_copy(&snapshots[i], flags, is_quiet);
  snapshots_resume(snapshots, nr);
  for (i = 0; i < nr; i++)
    snapshot_finish(&snapshots[i], flags, is_quiet);
  return 0;
}

void uvperf__snapshots_install(const uvperf__snapshot_t *snapshots, size_t nr) {
  const uvperf__ring_t *own;
  uvperf__ring_t *ring;
  size_t i;

  for (i = 0; i < nr; i++) {
    own = &snapshots[i].own;
    ring = snapshots[i].ring;
    ring->newest = own->newest;
    if (ring->is_bpf)
      ring->tail = ring->head = ring->published = own->tail;
    ring->cut += own->cut;
    ring->skipped += own->skipped;
    ring->unwaited += own->unwaited;
    if (own->high_water > ring->high_water)
      ring->high_water = own->high_water;
  }
}

int uvperf__snapshots_resumed(const uvperf__snapshot_t *snapshots, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++)
    if (snapshots[i].resumed != 0)
      return snapshots[i].resumed;
  return 0;
}

void uvperf__snapshots_free(uvperf__snapshot_t *snapshots, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++) {
    uvperf__free(snapshots[i].memory);
    uvperf__ring_forget(&snapshots[i].image);
    snapshots[i].memory = NULL;
  }
}
