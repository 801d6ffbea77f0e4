/* SPDX-License-Identifier: MIT */
/* The attr of the events through which BPF programs write: the user's attr,
 * with the fields that the rings and the map need. */
#include "bpf/attr.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "uvperf/attr.h"

#include "attr/attr.h"
#include "host/system.h"
#include "util/error.h"

/* The kernel writes a LOST record only before the next record that fits, but
 * read(2) returns the number at once. PERF_FORMAT_LOST is not added with
 * PERF_SAMPLE_READ, because the number would be in each sample. */
void uvperf__bpf_attr_ask_format(struct perf_event_attr *attr, int may_ask) {
  if (!(attr->sample_type & PERF_SAMPLE_READ) &&
      !(attr->read_format & PERF_FORMAT_GROUP) &&
      uvperf__system_has_lost(may_ask))
    attr->read_format |= UVPERF_FORMAT_LOST;
}

/* Refuses attrs that the kernel accepts but that programs or the ring cannot
 * use. */
static const char *attr_fault(const struct perf_event_attr *attr) {
  if (attr->type != PERF_TYPE_SOFTWARE ||
      attr->config != PERF_COUNT_SW_BPF_OUTPUT)
    return "a type or config other than PERF_TYPE_SOFTWARE and "
           "PERF_COUNT_SW_BPF_OUTPUT, for which bpf_perf_event_output() "
           "returns -EINVAL";
  /* perf_event_fd_array_get_ptr in kernel/bpf/arraymap.c calls
   * perf_event_read_local in kernel/events/core.c, which refuses events with
   * inherit. */
  if (attr->inherit)
    return "inherit, and the kernel does not put such events into maps; clear "
           "it";
  return uvperf__attr_fault(attr);
}

/* The kernel has two kinds of wakeups. perf_output_sample in
 * kernel/events/core.c counts the wakeup_events (a signed number there) of the
 * event that writes, unless this event has `watermark`. __perf_output_begin in
 * ring_buffer.c uses the watermark of the ring, which is the watermark of the
 * ring's owner. An overwritable ring needs no wakeup: a wakeup would only cause
 * an interrupt. */
int uvperf__bpf_attr_make(struct perf_event_attr **made,
                          const uvperf_bpf_reader_options_t *options,
                          uvperf_error_t *error) {
  int overwrite = (options->flags & UVPERF_BPF_READER_OVERWRITE) != 0;
  uint32_t wakeup_events = options->wakeup_events;
  struct perf_event_attr own, *attr;
  const char *fault;
  int rc;

  if (wakeup_events != 0 && options->wakeup_bytes != 0)
    return uvperf__error_argument(
        error,
        "options.wakeup_events is %u and options.wakeup_bytes %u, but "
        "the kernel can use only one; leave the other 0",
        wakeup_events, options->wakeup_bytes);
  uvperf_attr_init(&own, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  own.sample_type = PERF_SAMPLE_RAW;
  own.sample_period = 1;
  rc = uvperf__attr_copy(made, options->attr != NULL ? options->attr : &own,
                         error);
  if (rc != 0)
    return rc;
  attr = *made;
  fault = attr_fault(attr);
  if (fault != NULL)
    return uvperf__error_argument(error, "attr has %s", fault);
  attr->disabled = 1;
  attr->write_backward = overwrite != 0;
  if (options->attr != NULL &&
      !(options->flags & UVPERF_BPF_READER_PERF_CLOCK) &&
      uvperf__attr_clock(attr) == -1)
    uvperf__attr_set_clock(attr, CLOCK_MONOTONIC);
  attr->watermark = wakeup_events == 0 || overwrite;
  if (attr->watermark)
    attr->wakeup_watermark = options->wakeup_bytes;
  else
    attr->wakeup_events = wakeup_events < INT32_MAX ? wakeup_events : INT32_MAX;
  return 0;
}

/* If a record is larger than an overwritable ring, the kernel overwrites the
 * record's header with the rest of the record (__perf_output_begin in
 * kernel/events/ring_buffer.c). The size of payloads is not known here, but the
 * size of a stack dump is. */
int uvperf__bpf_attr_rings(uvperf__cpu_rings_options_t *rings,
                           const uvperf_bpf_reader_options_t *options,
                           const struct perf_event_attr *attr,
                           uvperf_error_t *error) {
  int rc;

  memset(rings, 0, sizeof(*rings));
  rings->ring_bytes = options->ring_bytes;
  /* Only samples count as wakeup events. If each sample must wake the loop,
   * there is no flush timer, so other records wake the loop with their first
   * byte. */
  rings->wakeup_bytes = options->wakeup_bytes;
  if (options->wakeup_events == 1 && !uvperf__attr_wakes_each(attr))
    rings->wakeup_bytes = 1;
  rings->clockid = uvperf__attr_clock(attr);
  rings->overwrite = attr->write_backward;
  rings->above_bytes = attr->write_backward ? uvperf__attr_stack(attr) : 0;
  rc = uvperf__cpu_rings_check(rings, error);
  if (rc != 0 || uvperf__cpu_rings_fit(rings))
    return rc;
  return uvperf__error_argument(
      error,
      "attr.sample_stack_user %zu does not fit overwritable rings of %zu "
      "bytes, so no record would be whole; raise options.ring_bytes",
      rings->above_bytes, rings->ring_bytes);
}
