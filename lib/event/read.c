/* SPDX-License-Identifier: MIT */
/* Reads the count of an event, or those of its group by one read(2). */
#include "event/internal.h"

#include "decode/read_format.h"
#include "sys/sys.h"

/* What a group's read can be at most: perf_event_validate_size() in
 * kernel/events/core.c. */
#define MOST_READ_BYTES (16 * 1024)

/* __perf_read(): end-of-file is an event in error state. */
static int failure_of(ssize_t size) {
  return size == 0 ? UV_EBADF : (int)size;
}

/* Mostly the events are given in the order in which they were opened, which is
 * that of the kernel's answer. */
int uvperf_event_read_group(uvperf_event_t *const *events, size_t nr,
                            uvperf_count_t *counts) {
  uint64_t words[MOST_READ_BYTES / sizeof(uint64_t)];
  const event_t *impl;
  uvperf_read_t read;
  ssize_t size;
  size_t used, i;
  int rc = 0;

  if (events == NULL || nr == 0 || counts == NULL)
    return UV_EINVAL;
  impl = uvperf__event_impl(events[0]);
  if ((impl->attr->read_format & PERF_FORMAT_GROUP) == 0)
    return UV_EINVAL;
  if (uvperf__event_is_forked(impl))
    return UV_EPERM;
  size = uvperf__sys_read(impl->fd, words, sizeof(words));
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

/* Little is left to be done after read(2), as that is where time counts. */
int uvperf_event_read(uvperf_event_t *event, uvperf_count_t *count) {
  event_t *impl = uvperf__event_impl(event);
  uint64_t words[UVPERF__READ_FORMAT_SINGLE];
  ssize_t size;

  if (impl->attr->read_format & PERF_FORMAT_GROUP)
    return uvperf_event_read_group(&event, 1, count);
  if (count == NULL)
    return UV_EINVAL;
  if (uvperf__event_is_forked(impl))
    return UV_EPERM;
  size = uvperf__sys_read(impl->fd, words, sizeof(words));
  if (size <= 0)
    return failure_of(size);
  return uvperf__read_format_single(impl->attr->read_format, words,
                                    (size_t)size, count);
}
