/* SPDX-License-Identifier: MIT */
/* Reads the count of an event, or those of its group by one read(2). */
#include "event/internal.h"

#include "decode/read_format.h"
#include "sys/sys.h"
#include "util/alloc.h"

/* A group of 84 events with their ids and lost records fits. A larger one is
 * read into memory from the allocator. */
#define USUAL_WORDS 256

/* The most that a group's read can return: perf_event_validate_size() in
 * kernel/events/core.c. */
#define MOST_WORDS (16 * 1024 / sizeof(uint64_t))

/* __perf_read(): end-of-file is an event in error state. */
static int failure_of(ssize_t size) {
  return size == 0 ? UV_EBADF : (int)size;
}

/* Reads the group of events[0] into `words`. Returns 0, or a code; -ENOSPC if
 * they are too few. Mostly the events are given in the order in which they were
 * opened, which is that of the kernel's answer. */
static int read_group(uvperf_event_t *const *events, size_t nr, uint64_t *words,
                      size_t nr_words, uvperf_count_t *counts) {
  const event_t *impl = uvperf__event_impl(events[0]);
  uvperf_values_t read;
  ssize_t size;
  size_t used, i;
  int rc = 0;

  size = uvperf__sys_read(impl->fd, words, nr_words * sizeof(words[0]));
  if (size <= 0)
    return failure_of(size);
  if (uvperf__read_format_parse(impl->attr->read_format, words, (size_t)size,
                                &used, &read) != 0 ||
      used != (size_t)size)
    return UV_EPROTO;
  for (i = 0; i < nr && rc == 0; i++)
    rc = uvperf__read_format_find(&read, uvperf__event_impl(events[i])->id, i,
                                  &counts[i]);
  return rc;
}

int uvperf_event_read_group(uvperf_event_t *const *events, size_t nr,
                            uvperf_count_t *counts) {
  uint64_t words[USUAL_WORDS];
  const event_t *impl;
  uint64_t *many;
  int rc;

  if (events == NULL || nr == 0 || counts == NULL)
    return UV_EINVAL;
  impl = uvperf__event_impl(events[0]);
  if ((impl->attr->read_format & PERF_FORMAT_GROUP) == 0)
    return UV_EINVAL;
  rc = uvperf__event_check(impl, NULL);
  if (rc != 0)
    return rc;
  rc = read_group(events, nr, words, USUAL_WORDS, counts);
  if (rc != UV_ENOSPC)
    return rc;
  many = uvperf__calloc(MOST_WORDS, sizeof(many[0]));
  if (many == NULL)
    return UV_ENOMEM;
  rc = read_group(events, nr, many, MOST_WORDS, counts);
  uvperf__free(many);
  return rc;
}

/* Little is left to be done after read(2), as that is where time counts. */
int uvperf_event_read(uvperf_event_t *event, uvperf_count_t *count) {
  event_t *impl = uvperf__event_impl(event);
  uint64_t words[UVPERF__READ_FORMAT_SINGLE];
  ssize_t size;
  int rc;

  if (impl->attr->read_format & PERF_FORMAT_GROUP)
    return uvperf_event_read_group(&event, 1, count);
  if (count == NULL)
    return UV_EINVAL;
  rc = uvperf__event_check(impl, NULL);
  if (rc != 0)
    return rc;
  size = uvperf__sys_read(impl->fd, words, sizeof(words));
  if (size <= 0)
    return failure_of(size);
  return uvperf__read_format_single(impl->attr->read_format, words,
                                    (size_t)size, count);
}
