/* SPDX-License-Identifier: MIT */
/* Reads the count of an event, or all counts of its group with one read(2). */
#include "event/internal.h"

#include "count/count.h"
#include "decode/read_format.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"

/* A group of 84 events with their ids and lost records fits. A larger group is
 * read into memory from the allocator. */
#define USUAL_WORDS 256

/* The largest result of reading a group: perf_event_validate_size() in
 * kernel/events/core.c. */
#define MOST_WORDS (16 * 1024 / sizeof(uint64_t))

static int explain_read(uvperf_error_t *error, int code) {
  if (code == UV_EBADF)
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_BUSY,
        "the event is in error state, as it is pinned and the PMU could not "
        "hold it; close other events, or open it without attr.pinned");
  if (code == UV_ENOENT)
    return uvperf__error_set(
        error, code, UVPERF_CAUSE_ARGUMENT,
        "an event is not in the group, or no longer, as its leader was closed");
  if (code == UV_EPROTO)
    return uvperf__error_set(error, code, UVPERF_CAUSE_UNKNOWN,
                             "cannot read the event: read(2) returned another "
                             "size than attr.read_format means");
  if (code == UV_ENOMEM)
    return uvperf__error_shortage(error, code, "cannot read the group");
  return uvperf__error_set(error, code, UVPERF_CAUSE_UNKNOWN,
                           "cannot read the event: read(2) returned errno %d",
                           -code);
}

/* source.pid is the options' pid and never a cgroup's fd. */
static int is_of_task_on_cpu(const event_t *impl) {
  return impl->source.pid >= 0 && impl->source.cpu >= 0 && impl->cgroup < 0;
}

/* Reads the group of events[0] into `words`. Returns 0 or a code. -ENOSPC means
 * that there are too few words. The search for a value is short if the events
 * are in the order of opening, because the kernel returns the values in that
 * order. */
static int read_group(uvperf_event_t *const *events, size_t nr, uint64_t *words,
                      size_t nr_words, uvperf_count_t *counts) {
  const event_t *impl = uvperf__handle_impl(&events[0]->handle);
  const event_t *event;
  uvperf_values_t read;
  uvperf__value_t value;
  ssize_t size;
  size_t used, i;
  int rc = 0;

  size = uvperf__sys_read(impl->fd, words, nr_words * sizeof(words[0]));
  if (size <= 0)
    return size == 0 ? UV_EBADF : (int)size; /* see __perf_read() */
  if (uvperf__read_format_parse(impl->attr->read_format, words, (size_t)size,
                                &used, &read) != 0 ||
      used != (size_t)size)
    return UV_EPROTO;
  for (i = 0; i < nr && rc == 0; i++) {
    event = uvperf__handle_impl(&events[i]->handle);
    rc = uvperf__read_format_find(&read, event->id, i, &value);
    if (rc == 0)
      uvperf__count_of_value(&counts[i], read.format, &value,
                             is_of_task_on_cpu(event));
  }
  return rc;
}

int uvperf_event_read_group(uvperf_event_t *const *events, size_t nr,
                            uvperf_count_t *counts, uvperf_error_t *error) {
  uint64_t words[USUAL_WORDS];
  const event_t *impl;
  uint64_t *many;
  int rc;

  if (events == NULL || nr == 0 || counts == NULL)
    return uvperf__error_argument(
        error, "events and counts must not be NULL, nor nr 0");
  impl = uvperf__handle_impl(&events[0]->handle);
  if ((impl->attr->read_format & PERF_FORMAT_GROUP) == 0)
    return uvperf__error_argument(
        error, "the first event was opened without PERF_FORMAT_GROUP; set it "
               "in attr.read_format");
  rc = uvperf__handle_check(&impl->base, error);
  if (rc != 0)
    return rc;
  rc = read_group(events, nr, words, USUAL_WORDS, counts);
  if (rc == UV_ENOSPC) {
    many = uvperf__calloc(MOST_WORDS, sizeof(many[0]));
    if (many == NULL)
      return explain_read(error, UV_ENOMEM);
    rc = read_group(events, nr, many, MOST_WORDS, counts);
    uvperf__free(many);
  }
  return rc == 0 ? 0 : explain_read(error, rc);
}

/* Little work is done after read(2), because the event may count this work. */
int uvperf_event_read(uvperf_event_t *event, uvperf_count_t *count,
                      uvperf_error_t *error) {
  event_t *impl = uvperf__handle_impl(&event->handle);
  uint64_t format = impl->attr->read_format;
  uvperf__value_t value;
  int rc;

  if (format & PERF_FORMAT_GROUP)
    return uvperf_event_read_group(&event, 1, count, error);
  if (count == NULL)
    return uvperf__error_argument(error, "count must not be NULL");
  rc = uvperf__handle_check(&impl->base, error);
  if (rc != 0)
    return rc;
  rc = uvperf__read_format_fd(impl->fd, format, &value);
  if (rc != 0)
    return explain_read(error, rc);
  uvperf__count_of_value(count, format, &value, is_of_task_on_cpu(impl));
  return 0;
}
