/* SPDX-License-Identifier: MIT */
/* The attr of the events through which BPF programs write: the user's attr,
 * with the fields that the rings and the map need. The other options of a
 * reader become the options of an evlist. */
#include "bpf/attr.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "uvperf/attr.h"
#include "uvperf/system.h"

#include "attr/attr.h"
#include "util/alloc.h"
#include "util/error.h"

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
static int attr_make(struct perf_event_attr **made,
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

static int check_cpus(const char *cpus, uvperf_error_t *error) {
  size_t nr = 0;

  if (cpus == NULL || uvperf_cpu_list_parse(cpus, NULL, &nr) == -ENOBUFS)
    return 0;
  return uvperf__error_argument(error,
                                "options.cpus \"%.64s\" is not a list of CPUs; "
                                "write it as in \"0-3,8\"",
                                cpus);
}

/* Only samples count as wakeup events. If each sample must wake the loop, there
 * is no flush timer, so other records wake the loop with their first byte. An
 * overwritable ring wakes nothing. */
static uint32_t ring_wakeup_bytes(const uvperf_bpf_reader_options_t *options,
                                  const struct perf_event_attr *attr) {
  if (attr->write_backward)
    return 0;
  if (options->wakeup_events == 1 && !uvperf__attr_wakes_each(attr))
    return 1;
  return options->wakeup_bytes;
}

int uvperf__bpf_evlist_new(uvperf__evlist_t **evlist, uvperf__bpf_map_t *map,
                           const uvperf_bpf_reader_options_t *options,
                           uvperf__adding_t *adding, uvperf_error_t *error) {
  uvperf_set_options_t set = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  struct perf_event_attr *attr = NULL;
  int rc = attr_make(&attr, options, error);

  *evlist = NULL;
  if (rc == 0)
    rc = check_cpus(options->cpus, error);
  if (rc == 0) {
    target.type = UVPERF_TARGET_CPUS;
    target.cpus = options->cpus;
    set.targets = &target;
    set.nr_targets = 1;
    set.attrs = (const struct perf_event_attr *const *)&attr;
    set.nr_attrs = 1;
    set.flags = UVPERF_SET_RECORDS | UVPERF_SET_STRICT | UVPERF_SET_PERF_CLOCK;
    if (options->flags & UVPERF_BPF_READER_OVERWRITE)
      set.flags |= UVPERF_SET_OVERWRITE;
    if (options->flags & UVPERF_BPF_READER_FIXED_CPUS)
      set.flags |= UVPERF_SET_FIXED_CPUS;
    set.ring_bytes = options->ring_bytes;
    set.wakeup_bytes = ring_wakeup_bytes(options, attr);
    set.open = options->open;
    set.open_arg = options->open_arg;
    rc = uvperf__evlist_new_adding(evlist, &set, map, adding, error);
  }
  uvperf__free(attr);
  return rc;
}
