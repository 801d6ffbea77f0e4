/* SPDX-License-Identifier: MIT */
/* A yardstick: a reader of a perf event's ring written for just one attr, whose
 * samples have BARE_RING_SAMPLE_TYPE, with nothing but the kernel. */
#ifndef UVPERF_BENCH_BARE_RING_H
#define UVPERF_BENCH_BARE_RING_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <linux/perf_event.h>

#define BARE_RING_SAMPLE_TYPE                                                  \
  (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |      \
   PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)
#define BARE_RING_READ_FORMAT (PERF_FORMAT_ID | PERF_FORMAT_LOST)

/* A decoded sample; it and its raw data are the reader's. */
typedef struct bare_sample_s {
  uint64_t ip;
  uint32_t pid, tid;
  uint64_t time;
  uint64_t id;
  uint32_t cpu;
  uint64_t period;
  struct {
    uint32_t size;
    const void *data;
  } raw;
} bare_sample_t;

typedef void (*bare_sample_cb)(void *arg, const bare_sample_t *sample);

/* A record of another type. */
typedef void (*bare_other_cb)(void *arg,
                              const struct perf_event_header *header);

typedef struct bare_ring_s {
  int fd;
  struct perf_event_mmap_page *page;
  const uint8_t *data;
  size_t size; /* of the data */
  uint64_t tail;
  bare_sample_cb cb;
  bare_other_cb other; /* NULL unless the caller sets it */
  void *arg;
} bare_ring_t;

/* read(2) by BARE_RING_READ_FORMAT. */
typedef struct bare_count_s {
  uint64_t value;
  uint64_t id;
  uint64_t lost;
} bare_count_t;

/* Opens an event without a ring, disabled: its fd, or a negative errno. */
int bare_event_open(const struct perf_event_attr *attr, pid_t pid);

/* Opens the event of a task, maps its ring and enables it: 0 or a negative
 * errno. */
int bare_ring_open(bare_ring_t *ring, const struct perf_event_attr *attr,
                   pid_t pid, size_t size, bare_sample_cb cb, void *arg);
void bare_ring_close(bare_ring_t *ring);

/* Delivers the records up to the current head. */
void bare_ring_drain(bare_ring_t *ring);

/* 0 or a negative errno. */
int bare_ring_count(const bare_ring_t *ring, bare_count_t *count);

#endif
