/* SPDX-License-Identifier: MIT */
/* The attr of the events by which BPF programs write: the user's, with what the
 * rings and the map ask for. */
#include "bpf/attr.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "uvperf/attr.h"

#include "attr/attr.h"
#include "host/system.h"
#include "util/error.h"

/* perf_output_sample in kernel/events/core.c wakes by the wakeup_events of the
 * event that writes, which is signed there, unless that has `watermark`;
 * __perf_output_begin in ring_buffer.c wakes by the watermark of the ring,
 * which is its owner's. Nobody is woken for an overwritable ring, and a wakeup
 * would only cost the interrupt. */
static void set_wakeup(struct perf_event_attr *attr,
                       const uvperf__bpf_outputs_options_t *options) {
  attr->watermark = options->wakeup_events == 0 || options->overwrite;
  if (attr->watermark)
    attr->wakeup_watermark = options->wakeup_bytes;
  else
    attr->wakeup_events =
        options->wakeup_events < INT32_MAX ? options->wakeup_events : INT32_MAX;
}

/* The kernel writes a LOST record only before the next one that fits; read(2)
 * has the number at once. With PERF_SAMPLE_READ it would be in each sample. */
void uvperf__bpf_attr_ask_format(struct perf_event_attr *attr, const char *root,
                                 int may_ask) {
  if (!(attr->sample_type & PERF_SAMPLE_READ) &&
      !(attr->read_format & PERF_FORMAT_GROUP) &&
      uvperf__system_has_lost(root, may_ask))
    attr->read_format |= UVPERF_FORMAT_LOST;
}

static int check_wakeups(const uvperf__bpf_outputs_options_t *options,
                         uvperf_error_t *error) {
  if (options->wakeup_events == 0 || options->wakeup_bytes == 0)
    return 0;
  return uvperf__error_set(
      error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
      "options.wakeup_events %u and options.wakeup_bytes "
      "%u: the kernel wakes by one of them, so one must be "
      "0",
      options->wakeup_events, options->wakeup_bytes);
}

/* What the kernel takes, and programs, or the ring, do not. */
static int check_attr(const struct perf_event_attr *attr,
                      uvperf_error_t *error) {
  const char *why;

  if (attr->type != PERF_TYPE_SOFTWARE ||
      attr->config != PERF_COUNT_SW_BPF_OUTPUT)
    why = "attr is not PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT: of any "
          "other event bpf_perf_event_output() gives programs -EINVAL";
  else if (attr->inherit)
    /* perf_event_read_local in kernel/events/core.c, which
     * perf_event_fd_array_get_ptr in kernel/bpf/arraymap.c asks. */
    why = "the kernel takes no event with attr.inherit into a map";
  else
    why = uvperf__attr_fault(attr);
  if (why == NULL)
    return 0;
  return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT, "%s", why);
}

int uvperf__bpf_attr_make(struct perf_event_attr **attr,
                          const uvperf__bpf_outputs_options_t *options,
                          uvperf_error_t *error) {
  struct perf_event_attr own;
  int rc = check_wakeups(options, error);

  if (rc != 0)
    return rc;
  uvperf_attr_init(&own, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  own.sample_type = PERF_SAMPLE_RAW;
  own.sample_period = 1;
  rc = uvperf__attr_copy(attr, options->attr != NULL ? options->attr : &own,
                         error);
  if (rc == 0)
    rc = check_attr(*attr, error);
  if (rc != 0)
    return rc;
  (*attr)->disabled = 1;
  (*attr)->write_backward = options->overwrite != 0;
  if (options->attr != NULL && !options->perf_clock &&
      uvperf__attr_clock(*attr) == -1)
    uvperf__attr_set_clock(*attr, CLOCK_MONOTONIC);
  set_wakeup(*attr, options);
  return 0;
}

/* A record that is larger than an overwritable ring is written over its own
 * header (__perf_output_begin in kernel/events/ring_buffer.c). How large a
 * payload is to be is not known here, a dump of the stack is. */
int uvperf__bpf_attr_rings(uvperf__cpu_rings_options_t *rings,
                           const uvperf__bpf_outputs_options_t *options,
                           const struct perf_event_attr *attr,
                           uvperf_error_t *error) {
  int rc;

  memset(rings, 0, sizeof(*rings));
  rings->root = options->root;
  rings->ring_bytes = options->ring_bytes;
  /* Of the records beside the samples none counts as an event: where each
   * sample is to wake the loop, and would find no timer, they do by the first
   * byte. */
  rings->wakeup_bytes = options->wakeup_bytes;
  if (options->wakeup_events == 1 && !uvperf__attr_wakes_each(attr))
    rings->wakeup_bytes = 1;
  rings->clockid = uvperf__attr_clock(attr);
  rings->overwrite = options->overwrite;
  rings->opener = options->opener;
  rings->above_bytes = options->overwrite ? uvperf__attr_stack(attr) : 0;
  rc = uvperf__cpu_rings_check(rings, error);
  if (rc != 0 || uvperf__cpu_rings_fit(rings))
    return rc;
  return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                           "attr.sample_stack_user %zu is not below the "
                           "overwritable rings of options.ring_bytes %zu: no "
                           "record would be whole",
                           rings->above_bytes, rings->ring_bytes);
}
