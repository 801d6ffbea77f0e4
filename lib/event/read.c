/* SPDX-License-Identifier: MIT */
/* What an open event tells: counts and getters. Opening, delivery and closing
 * are in event.c, what can be done to it in control.c. */
#include "event/internal.h"

#include <assert.h>

#include "decode/read_format.h"
#include "loop/stream.h"
#include "sys/fork.h"
#include "sys/sys.h"
#include "util/error.h"

/* What a group's read can be at most: perf_event_validate_size() in
 * kernel/events/core.c. */
#define MOST_READ_BYTES (16 * 1024)

event_t *uvperf__event_impl(const uvperf_event_t *event) {
  event_t *impl = event->impl;

  assert(impl != NULL && !impl->closing);
  return impl;
}

int uvperf__event_is_forked(const event_t *impl) {
  return uvperf__process() != impl->process;
}

int uvperf__event_check_process(const event_t *impl, uvperf_error_t *error) {
  if (!uvperf__event_is_forked(impl))
    return 0;
  return uvperf__error_set(error, UV_EPERM, UVPERF_CAUSE_ARGUMENT,
                           "the event belongs to the parent process");
}

int uvperf_event_id(uvperf_event_t *event, uint64_t *id) {
  event_t *impl = uvperf__event_impl(event);

  if (id == NULL)
    return UV_EINVAL;
  if (uvperf__event_is_forked(impl))
    return UV_EPERM;
  *id = impl->id;
  return 0;
}

int uvperf_event_fd(const uvperf_event_t *event) {
  return uvperf__event_impl(event)->fd;
}

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

const struct perf_event_attr *uvperf_event_attr(const uvperf_event_t *event) {
  return uvperf__event_impl(event)->attr;
}

const uvperf_change_t *uvperf_event_changes(const uvperf_event_t *event,
                                            size_t *nr) {
  const event_t *impl = uvperf__event_impl(event);

  *nr = impl->nr_changes;
  return impl->changes;
}

size_t uvperf_event_ring_bytes(const uvperf_event_t *event) {
  return uvperf__event_impl(event)->ring.size;
}

void uvperf_event_stats(const uvperf_event_t *event, uvperf_stats_t *stats) {
  event_t *impl = uvperf__event_impl(event);

  *stats = impl->stats;
  if (impl->drained != NULL && !uvperf__event_is_forked(impl))
    uvperf__stream_add_given(stats, impl->drained);
  stats->wakeups = uvperf__watch_wakeups(impl->watch);
  stats->slices = uvperf__watch_slices(impl->watch);
  stats->high_water_bytes = impl->ring.high_water;
  stats->cut_records = impl->ring.cut;
  stats->skipped_bytes = impl->ring.skipped;
}

/* These five may be asked of a closing handle too, and of one that is closed
 * (impl NULL) while its memory lives. */

void uvperf_event_ref(uvperf_event_t *event) {
  event_t *impl = event->impl;

  if (impl != NULL && !impl->closing)
    uvperf__watch_set_ref(impl->watch, 1);
}

void uvperf_event_unref(uvperf_event_t *event) {
  event_t *impl = event->impl;

  if (impl != NULL && !impl->closing)
    uvperf__watch_set_ref(impl->watch, 0);
}

int uvperf_event_has_ref(const uvperf_event_t *event) {
  const event_t *impl = event->impl;

  return impl != NULL && uvperf__watch_has_ref(impl->watch);
}

int uvperf_event_is_active(const uvperf_event_t *event) {
  const event_t *impl = event->impl;

  return impl != NULL && !impl->closing && uvperf__watch_is_active(impl->watch);
}

int uvperf_event_is_closing(const uvperf_event_t *event) {
  const event_t *impl = event->impl;

  return impl == NULL || impl->closing;
}

size_t uvperf_event_size(void) {
  return sizeof(uvperf_event_t);
}
