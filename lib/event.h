/* SPDX-License-Identifier: MIT */
/* Layer 5: what the two files of the event handle share. */
#ifndef UVPERF_LIB_EVENT_H
#define UVPERF_LIB_EVENT_H

#include "uvperf/event.h"

#include "ring.h"
#include "watch.h"

/* What uvperf_event_t.impl points to; freed in the last inner close callback. */
typedef struct event_s {
  uvperf_event_t *handle; /* NULL until init has succeeded */
  uvperf__watch_t *watch;
  struct perf_event_attr *attr;
  uvperf_decoder_t *decoder;
  void *scratch; /* UVPERF__RING_SCRATCH_BYTES, NULL without a ring */
  uvperf__ring_t ring;
  uvperf_source_t source;
  uint64_t id;
  int fd;
  uvperf_record_cb cb; /* of the last start */
  uint32_t start_flags;
  int started;
  int enabled_by_start;
  int closing;
  int closed_by_user;
  int forked; /* when it was closed, this was a forked child */
  uvperf_stats_t stats;
} event_t;

/* The impl of a handle that must not be closing: anything else is a programming
 * error, as with libuv's handles. */
event_t *uvperf__event_impl(const uvperf_event_t *event);

#endif
