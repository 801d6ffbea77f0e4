/* SPDX-License-Identifier: MIT */
/* The formats of the recorded tracepoints, from tracefs. Without the formats
 * perf(1) refuses a file with tracepoints. The layout is version 0.5 of
 * tracing_data_get in tools/perf/util/trace-event-info.c. Later versions have
 * the names of tasks at the end; here the names are in the records. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uvperf.h>

#include "common/memory.h"
#include "common/small_file.h"
#include "record/features.h"

typedef struct tracepoint_s {
  char category[256];
  char name[256];
} tracepoint_t;

typedef struct tracepoints_s {
  const record_events_t *events;
  tracepoint_t *found;
  size_t nr;
  size_t capacity;
} tracepoints_t;

static int is_recorded(const record_events_t *events, uint64_t id) {
  struct perf_event_attr attr;
  size_t i;

  for (i = 0; i < events->nr; i++) {
    record_events_head(&events->events[i], &attr);
    if (attr.type == PERF_TYPE_TRACEPOINT && attr.config == id)
      return 1;
  }
  return 0;
}

static void add(tracepoints_t *tracepoints, const char *category,
                const char *name) {
  tracepoint_t *found;

  found =
      COMMON_ADD(tracepoints->found, tracepoints->nr, tracepoints->capacity);
  snprintf(found->category, sizeof(found->category), "%s", category);
  snprintf(found->name, sizeof(found->name), "%s", name);
}

static int find(const char *category, const char *name, uint64_t id,
                void *arg) {
  tracepoints_t *tracepoints = arg;

  if (is_recorded(tracepoints->events, id))
    add(tracepoints, category, name);
  return 0;
}

/* Finds tracepoints by the events' names. A name begins with "category:name",
 * except if the user chose another name. The id shows whether the tracepoint is
 * the right one. Returns 1 if all were found. */
static int find_by_names(tracepoints_t *tracepoints) {
  const record_events_t *events = tracepoints->events;
  char category[256], name[256];
  struct perf_event_attr attr;
  uint64_t id;
  size_t i;

  for (i = 0; i < events->nr; i++) {
    record_events_head(&events->events[i], &attr);
    if (attr.type != PERF_TYPE_TRACEPOINT)
      continue;
    if (sscanf(events->events[i].name, "%255[^:/]:%255[^:/]", category, name) !=
            2 ||
        uvperf_tracefs_id(category, name, &id) != 0 || id != attr.config)
      return 0;
    add(tracepoints, category, name);
  }
  return 1;
}

static int compare(const void *one, const void *other) {
  const tracepoint_t *a = one, *b = other;
  int order = strcmp(a->category, b->category);

  return order != 0 ? order : strcmp(a->name, b->name);
}

/* Sorts tracepoints by category and name, each once. */
static void sort(tracepoints_t *tracepoints) {
  size_t nr = 0, i;

  if (tracepoints->nr > 1)
    qsort(tracepoints->found, tracepoints->nr, sizeof(*tracepoints->found),
          compare);
  for (i = 0; i < tracepoints->nr; i++) {
    if (nr == 0 ||
        compare(&tracepoints->found[nr - 1], &tracepoints->found[i]) != 0)
      tracepoints->found[nr++] = tracepoints->found[i];
  }
  tracepoints->nr = nr;
}

/* Puts the size of a file, as a number of size_bytes bytes, then the file. */
static int put_file(const char *root, const char *path, size_t size_bytes,
                    common_buffer_t *bytes) {
  char whole[8192], *text;
  uint64_t size64;
  size_t size;

  snprintf(whole, sizeof(whole), "%s/%s", root, path);
  text = common_file_read(whole, &size);
  if (text == NULL)
    return 0;
  size64 = size;
  if (size_bytes == sizeof(size64))
    record_bytes_put_u64(bytes, size64);
  else
    record_bytes_put_u32(bytes, (uint32_t)size);
  common_buffer_add(bytes, text, size);
  free(text);
  return 1;
}

static void put_start(common_buffer_t *bytes) {
  const uint16_t one = 1;
  unsigned char is_big = *(const unsigned char *)&one == 0;
  unsigned char long_bytes = sizeof(long);

  common_buffer_add(bytes, "\027\010\104tracing0.5", 14); /* with the NUL */
  common_buffer_add(bytes, &is_big, 1);
  common_buffer_add(bytes, &long_bytes, 1);
  record_bytes_put_u32(bytes, (uint32_t)sysconf(_SC_PAGESIZE));
}

static size_t end_of_category(const tracepoints_t *tracepoints, size_t first) {
  size_t end = first + 1;

  while (end < tracepoints->nr &&
         strcmp(tracepoints->found[end].category,
                tracepoints->found[first].category) == 0)
    end++;
  return end;
}

static int put_category(const tracepoints_t *tracepoints, size_t first,
                        size_t end, const char *root, common_buffer_t *bytes) {
  const tracepoint_t *found = tracepoints->found + first;
  char path[1024];
  size_t i;

  common_buffer_add(bytes, found->category, strlen(found->category) + 1);
  record_bytes_put_u32(bytes, (uint32_t)(end - first));
  for (i = 0; i < end - first; i++) {
    snprintf(path, sizeof(path), "events/%s/%s/format", found[i].category,
             found[i].name);
    if (!put_file(root, path, sizeof(uint64_t), bytes))
      return 0;
  }
  return 1;
}

static int put_formats(const tracepoints_t *tracepoints, const char *root,
                       common_buffer_t *bytes) {
  size_t first, end, start = bytes->used;
  uint32_t nr = 0;

  record_bytes_put_u32(bytes, 0);
  for (first = 0; first < tracepoints->nr; first = end) {
    end = end_of_category(tracepoints, first);
    if (!put_category(tracepoints, first, end, root, bytes))
      return 0;
    nr++;
  }
  memcpy(bytes->text + start, &nr, sizeof(nr));
  return nr > 0;
}

static int put_all(const tracepoints_t *tracepoints, const char *root,
                   common_buffer_t *bytes) {
  put_start(bytes);
  common_buffer_add(bytes, "header_page", sizeof("header_page"));
  if (!put_file(root, "events/header_page", sizeof(uint64_t), bytes))
    return 0;
  common_buffer_add(bytes, "header_event", sizeof("header_event"));
  if (!put_file(root, "events/header_event", sizeof(uint64_t), bytes))
    return 0;
  record_bytes_put_u32(bytes, 0); /* no events of ftrace itself */
  if (!put_formats(tracepoints, root, bytes))
    return 0;
  record_bytes_put_u32(bytes, 0); /* kallsyms, which perf ignores */
  if (!put_file(root, "printk_formats", sizeof(uint32_t), bytes))
    record_bytes_put_u32(bytes, 0);
  return 1;
}

int record_put_tracing_data(const record_events_t *events,
                            common_buffer_t *bytes) {
  tracepoints_t tracepoints = {events, NULL, 0, 0};
  char root[4096];
  size_t size = sizeof(root);
  int found;

  if (uvperf_tracefs_path(root, &size) != 0)
    return 0;
  /* If the names are not enough, all ids of tracefs have to be read.
   * Tracepoints that may not be read have not been opened. */
  if (!find_by_names(&tracepoints)) {
    tracepoints.nr = 0;
    uvperf_tracefs_walk(NULL, NULL, find, &tracepoints);
  }
  sort(&tracepoints);
  found = tracepoints.nr > 0 && put_all(&tracepoints, root, bytes);
  free(tracepoints.found);
  return found;
}
