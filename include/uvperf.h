/* SPDX-License-Identifier: MIT */
/* uvperf: perf_event_open(2) for libuv programs. This header includes all the
 * others. Only event.h, set.h, measure.h and bpf.h need libuv.
 *
 * Time: these functions may wait for the kernel for longer than a millisecond.
 * What stands beside them does not stop the loop:
 *
 *   uvperf_event_init           uvperf_event_open
 *   uvperf_set_init             uvperf_set_open
 *   uvperf_set_add_target       uvperf_set_open_target
 *   uvperf_bpf_reader_init      uvperf_bpf_reader_open
 *   uvperf_*_snapshot           uvperf_*_snapshot_start
 *   uvperf_set_enable           UVPERF_SET_ENABLED, for thousands of threads
 *   uvperf_set_read             uvperf_set_read_start, which reads in slices
 *   uvperf_measure_events       uvperf_meter_new, once: uvperf_meter_measure
 *   uvperf_event_list_parse     the same on another thread, by uv_queue_work
 *   and others that look up names
 *
 * The first four call back when they are done (samples/open_on_pool.c).
 * Closing a handle and uvperf_set_remove_target leave what is slow to libuv's
 * thread pool. A process that may make no threads gets UV_EAGAIN or UV_EPERM
 * from the forms that need the pool, and handles are closed on the loop.
 *
 * Threads: a handle belongs to the thread of its loop. Any thread, and several
 * at once, may call the functions of these headers: attr.h, error.h, name.h,
 * system.h, version.h; and uvperf_measure_events and uvperf_meter_new, whose
 * meter belongs to that thread. Any thread may also call those of count.h,
 * record.h and tracepoint.h, with a decoder, reading or format that no other
 * thread changes meanwhile. Only uvperf_replace_allocator must be called while
 * no other thread is in the library. */
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
#include "uvperf/event.h"
#include "uvperf/set.h"
#include "uvperf/measure.h"
#include "uvperf/bpf.h"

#endif
