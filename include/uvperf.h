/* SPDX-License-Identifier: MIT */
/* uvperf: perf_event_open(2) for libuv programs. This header includes all the
 * others, of which event.h, event_control.h, set.h, set_stream.h, measure.h and
 * bpf.h alone need libuv.
 *
 * Threads: a handle belongs to the thread of its loop. Any thread, and several
 * at once, may call the functions of these headers: attr.h, cpu_list.h,
 * error.h, event_list.h, event_name.h, fallback.h, pmu.h, system.h, tracefs.h,
 * version.h; and uvperf_measure_event and uvperf_meter_new; the meter belongs
 * to its thread. So may it call those of count.h,
 * reading.h, record.h and tracepoint.h, with a decoder, reading or format that
 * no other thread changes meanwhile. Only uvperf_replace_allocator must be
 * called while no other thread is in the library. */
#ifndef UVPERF_H
#define UVPERF_H

#include "uvperf/version.h"
#include "uvperf/allocator.h"
#include "uvperf/error.h"
#include "uvperf/attr.h"
#include "uvperf/event_list.h"
#include "uvperf/cpu_list.h"
#include "uvperf/pmu.h"
#include "uvperf/fallback.h"
#include "uvperf/record.h"
#include "uvperf/count.h"
#include "uvperf/set_options.h"
#include "uvperf/reading.h"
#include "uvperf/system.h"
#include "uvperf/tracefs.h"
#include "uvperf/event_name.h"
#include "uvperf/stream.h"
#include "uvperf/event.h"
#include "uvperf/event_control.h"
#include "uvperf/set.h"
#include "uvperf/set_stream.h"
#include "uvperf/measure.h"
#include "uvperf/bpf.h"

#endif
