/* SPDX-License-Identifier: MIT */
/* An event whose ring is filled by the program instead of the kernel: the event
 * counts nothing, and plain memory lies at the address where its ring was
 * mapped, which the library cannot notice. Records are put in once and can be
 * read any number of times. */
#ifndef UVPERF_BENCH_RING_IMAGE_H
#define UVPERF_BENCH_RING_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <linux/perf_event.h>

#include "make_record.h"
#include "uvperf.h"

#define RING_IMAGE_BYTES (512 * 1024)

/* Two attrs at most, of which the first one's event has the ring. */
#define RING_IMAGE_ATTRS 2

typedef struct ring_image_s {
  uv_loop_t loop;
  uvperf_event_t events[RING_IMAGE_ATTRS];
  size_t nr_events;
  struct perf_event_mmap_page *page; /* the library's mapping */
  uint8_t *data;
  size_t filled;       /* bytes, up to RING_IMAGE_BYTES */
  uint64_t nr;         /* records, with the one that fills the rest */
  uint64_t nr_fillers; /* number of fillers: 1, or 0 if nothing was left */
  uint64_t passes;     /* how often it was offered */
} ring_image_t;

/* Opens dummy events with these attrs and starts the first of them with the
 * callback; `data` is the handles' data. Returns 0, or 1 after printing what
 * failed. */
int ring_image_open(ring_image_t *image, const struct perf_event_attr *attrs,
                    size_t nr_attrs, uvperf_record_cb cb, void *data);

/* The id of an event. */
uint64_t ring_image_id(ring_image_t *image, size_t event);

/* Appends a record: 1, or 0 if there is no room for it. */
int ring_image_put(ring_image_t *image, const record_builder_t *record);

/* Fills the rest, less than a record, with one of an unknown type: the image
 * has the size of the ring, so that it starts at the same place in every
 * pass. */
void ring_image_fill(ring_image_t *image);

/* Offers the whole image once more, as if the kernel had just written it.
 * Reading it moves data_tail. */
void ring_image_offer(ring_image_t *image);

void ring_image_close(ring_image_t *image);

#endif
