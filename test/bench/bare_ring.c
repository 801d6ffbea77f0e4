/* SPDX-License-Identifier: MIT */
#include "bare_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* BARE_RING_SAMPLE_TYPE, as the kernel writes it. */
typedef struct raw_sample_s {
  struct perf_event_header header;
  uint64_t ip;
  uint32_t pid, tid;
  uint64_t time;
  uint64_t id;
  uint32_t cpu, reserved;
  uint64_t period;
  uint32_t raw_size;
  uint8_t raw[];
} raw_sample_t;

/* -- open and close ------------------------------------------------------- */

int bare_event_open(const struct perf_event_attr *attr, pid_t pid) {
  struct perf_event_attr own = *attr;
  long fd;

  own.disabled = 1;
  fd = syscall(SYS_perf_event_open, &own, pid, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return fd >= 0 ? (int)fd : -errno;
}

int bare_ring_open(bare_ring_t *ring, const struct perf_event_attr *attr,
                   pid_t pid, size_t size, bare_sample_cb cb, void *arg) {
  size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
  int code;

  memset(ring, 0, sizeof(*ring));
  ring->cb = cb;
  ring->arg = arg;
  ring->size = size;
  ring->fd = bare_event_open(attr, pid);
  if (ring->fd < 0)
    return ring->fd;
  ring->page = mmap(NULL, page_bytes + size, PROT_READ | PROT_WRITE, MAP_SHARED,
                    ring->fd, 0);
  if (ring->page == MAP_FAILED) {
    code = -errno;
    close(ring->fd);
    return code;
  }
  ring->data = (const uint8_t *)ring->page + page_bytes;
  if (ioctl(ring->fd, PERF_EVENT_IOC_ENABLE, 0) == 0)
    return 0;
  code = -errno;
  bare_ring_close(ring);
  return code;
}

void bare_ring_close(bare_ring_t *ring) {
  munmap(ring->page, (size_t)sysconf(_SC_PAGESIZE) + ring->size);
  close(ring->fd);
}

int bare_ring_count(const bare_ring_t *ring, bare_count_t *count) {
  ssize_t nr = read(ring->fd, count, sizeof(*count));

  if (nr < 0)
    return -errno;
  return nr == (ssize_t)sizeof(*count) ? 0 : -EPROTO;
}

/* -- reading -------------------------------------------------------------- */

/* A record that goes round the end of the ring, in one piece. */
static const void *join(const bare_ring_t *ring, size_t offset, size_t size) {
  static _Alignas(8) uint8_t scratch[UINT16_MAX + 1];
  size_t first = ring->size - offset;

  memcpy(scratch, ring->data + offset, first);
  memcpy(scratch + first, ring->data, size - first);
  return scratch;
}

static inline void hand_out(const bare_ring_t *ring, const raw_sample_t *raw) {
  bare_sample_t sample;

  sample.ip = raw->ip;
  sample.pid = raw->pid;
  sample.tid = raw->tid;
  sample.time = raw->time;
  sample.id = raw->id;
  sample.cpu = raw->cpu;
  sample.period = raw->period;
  sample.raw.size = raw->raw_size;
  sample.raw.data = raw->raw;
  ring->cb(ring->arg, &sample);
}

/* The tail is published at each quarter of the ring, so that the kernel has
 * room again while a full ring is read. */
void bare_ring_drain(bare_ring_t *ring) {
  uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
  const struct perf_event_header *header;
  uint64_t tail = ring->tail;
  uint64_t stop;
  size_t offset, size;

  while (tail != head) {
    stop = head - tail < ring->size / 4 ? head : tail + ring->size / 4;
    while (tail < stop) {
      offset = tail & (ring->size - 1);
      header = (const struct perf_event_header *)(ring->data + offset);
      size = header->size;
      if (__builtin_expect(offset + size > ring->size, 0))
        header = join(ring, offset, size);
      if (header->type == PERF_RECORD_SAMPLE)
        hand_out(ring, (const raw_sample_t *)header);
      else if (ring->other != NULL)
        ring->other(ring->arg, header);
      tail += size;
    }
    __atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
  }
  ring->tail = tail;
}
