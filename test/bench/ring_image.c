/* SPDX-License-Identifier: MIT */
#include "ring_image.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"

/* A type that the kernel does not have. */
#define FILLER_TYPE 0xfffffff0u

/* The library does not publish where it maps a ring; /proc does. */
static void *find_mapping(void) {
  FILE *maps = fopen("/proc/self/maps", "r");
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned long start, end;
  void *found = NULL;
  char line[512];

  if (maps == NULL)
    return NULL;
  while (found == NULL && fgets(line, sizeof(line), maps) != NULL)
    if (strstr(line, "[perf_event]") != NULL &&
        sscanf(line, "%lx-%lx", &start, &end) == 2 &&
        end - start == RING_IMAGE_BYTES + page)
      found = (void *)start;
  fclose(maps);
  return found;
}

static int open_event(ring_image_t *image, size_t index,
                      const struct perf_event_attr *attr, int is_shared) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_error_t error;

  if (index == 0)
    options.ring_bytes = RING_IMAGE_BYTES;
  else
    options.flags |= UVPERF_EVENT_NO_RING;
  if (is_shared)
    options.flags |= UVPERF_EVENT_IDENTIFY;
  if (uvperf_event_init(&image->loop, &image->events[index], attr, &options,
                        &error) != 0)
    return bench_fail("a dummy event", error.reason);
  image->nr_events += 1;
  if (index > 0 && uvperf_event_set_output(&image->events[index],
                                           &image->events[0], &error) != 0)
    return bench_fail("the output of a dummy event", error.reason);
  return 0;
}

/* Puts plain memory in the place of the ring, because the kernel lets no
 * process write to its data pages: perf_mmap_fault() in
 * kernel/events/core.c. */
static int replace_ring(ring_image_t *image) {
  size_t first = (size_t)sysconf(_SC_PAGESIZE);
  struct perf_event_mmap_page page;
  void *ring = find_mapping();

  if (ring == NULL)
    return bench_fail("/proc/self/maps", "the ring is not in it");
  memcpy(&page, ring, sizeof(page));
  if (mmap(ring, first + RING_IMAGE_BYTES, PROT_READ | PROT_WRITE,
           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != ring)
    return bench_fail("mmap", "refused");
  memcpy(ring, &page, sizeof(page));
  image->page = ring;
  image->data = (uint8_t *)ring + first;
  return 0;
}

/* Started so that there is a callback, and stopped, so that the loop is not
 * needed: what there is comes by flush. */
static int take_callback(ring_image_t *image, uvperf_record_cb cb, void *data) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_error_t error;

  options.flags = UVPERF_START_NO_ENABLE;
  image->events[0].handle.data = data;
  if (uvperf_start(&image->events[0].handle, &options, cb, &error) != 0)
    return bench_fail("a dummy event", error.reason);
  uvperf_stop(&image->events[0].handle);
  return replace_ring(image);
}

int ring_image_open(ring_image_t *image, const struct perf_event_attr *attrs,
                    size_t nr_attrs, uvperf_record_cb cb, void *data) {
  size_t i;
  int rc = 0;

  memset(image, 0, sizeof(*image));
  uv_loop_init(&image->loop);
  for (i = 0; i < nr_attrs && rc == 0; i++)
    rc = open_event(image, i, &attrs[i], nr_attrs > 1);
  if (rc == 0)
    rc = take_callback(image, cb, data);
  if (rc != 0)
    ring_image_close(image);
  return rc;
}

uint64_t ring_image_id(ring_image_t *image, size_t event) {
  uint64_t id = 0;

  uvperf_event_id(&image->events[event], &id);
  return id;
}

int ring_image_put(ring_image_t *image, const record_builder_t *record) {
  if (record->size > RING_IMAGE_BYTES - image->filled)
    return 0;
  memcpy(image->data + image->filled, record->words, record->size);
  image->filled += record->size;
  image->nr += 1;
  return 1;
}

void ring_image_fill(ring_image_t *image) {
  struct perf_event_header header = {
      FILLER_TYPE, 0, (uint16_t)(RING_IMAGE_BYTES - image->filled)};

  if (header.size == 0)
    return;
  memcpy(image->data + image->filled, &header, sizeof(header));
  image->filled = RING_IMAGE_BYTES;
  image->nr += 1;
  image->nr_fillers = 1;
}

void ring_image_offer(ring_image_t *image) {
  image->passes += 1;
  __atomic_store_n(&image->page->data_head, image->passes * RING_IMAGE_BYTES,
                   __ATOMIC_RELEASE);
}

void ring_image_close(ring_image_t *image) {
  size_t i;

  for (i = 0; i < image->nr_events; i++)
    uvperf_close(&image->events[i].handle, NULL);
  uv_run(&image->loop, UV_RUN_DEFAULT);
  uv_loop_close(&image->loop);
}
