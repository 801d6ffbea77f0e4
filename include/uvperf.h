/* SPDX-License-Identifier: MIT */
/* uvperf: perf_event_open(2) for libuv programs. This header includes all other
 * headers except tracepoint.h. Only handle.h, event.h, set.h, measure.h and
 * bpf.h need libuv.
 *
 * The functions on the left wait for the kernel, perhaps for more than a
 * millisecond. The right side says how to do the same without blocking the
 * loop:
 *
 *   uvperf_event_init, uvperf_set_init,
 *   uvperf_bpf_reader_init  options.open_cb
 *   uvperf_set_add,
 *   uvperf_snapshot         a callback
 *   uvperf_enable           UVPERF_SET_ENABLED, for thousands of threads
 *   uvperf_set_read         uvperf_set_read_start, which reads in slices
 *   uvperf_measure_events   uvperf_meter_new once, then uvperf_meter_measure
 *   functions with names    call them on another thread with uv_queue_work
 *
 * A handle belongs to the thread of its loop. The functions of attr.h, error.h,
 * name.h, system.h and version.h may be called on any thread, and on several
 * threads at once. uvperf(7) has the details, and the rules for the other
 * headers. */
#ifndef UVPERF_H
#define UVPERF_H

#include "uvperf/version.h"
#include "uvperf/error.h"
#include "uvperf/attr.h"
#include "uvperf/name.h"
#include "uvperf/system.h"
#include "uvperf/count.h"
#include "uvperf/record.h"
#include "uvperf/stream.h"
#include "uvperf/set_options.h"
#include "uvperf/handle.h"
#include "uvperf/event.h"
#include "uvperf/set.h"
#include "uvperf/measure.h"
#include "uvperf/bpf.h"

#endif
