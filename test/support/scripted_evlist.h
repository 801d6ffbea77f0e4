/* SPDX-License-Identifier: MIT */
/* The words for an evlist, or for a set on a loop, in a row of scripted_row.h.
 * a0 is an attr, t0 a target; a failure ends with both.
 *
 * The options
 *   attrs N, records N        as evlist_make, evlist_make_records
 *   names TEXT                events by name; the PMUs are in scripted_kernel.c
 *   group FIRST N, leader A LEADER
 *   attr A FIELD=VALUE...     sets fields; so does "sample", in options.sample
 *   flags, side_band, fallbacks WORD...; ring_bytes, wakeup_bytes, slack_us N
 *   by_program [MS]           with options.open, and how long it may take
 *   TARGET                    cpus LIST | cpus all | self | thread, process or
 *                             command PID [LIST] [alone]; PID may be "me" or
 *                             "parent", "alone" is UVPERF_TARGET_NO_INHERIT
 * The calls
 *   open, close, enable, disable, read [totals], base, reset, gone, come or
 *   back CPU
 *   add TARGET, elsewhere TARGET (opened in a list of its own), remove T, take
 *   T (prints the last counts), churn N SAMPLES (targets that come and go)
 *   begin N TARGET, steps N [MOST], cancel N, join N, drop N: "elsewhere" in
 *   steps, at most two at a time
 *   filter A TEXT, period A N, program A [COOKIE], noprogram A, detach
 *   fill A (the map), leave, probe, ended, drain, free_sources, writers
 *   set [pool | follow] (uvperf_set_init; from then on add, remove and close
 *   are calls of the set; with "follow" it follows the CPUs), later TARGET (the
 *   pool opens it), start [RECORDS] (in a slice), stop, flush, next,
 *   has_record, samples E E TIME..., snapshot [WORD...] [later], stats,
 *   ring_stats, active, follow, ref, unref, walk (uvperf_walk_close),
 *   read_start [MS], read_stop
 *   work E N R V..., meter NAMES, measure N [NAMES], repeat TIMES N, free_meter
 *   pages and others of scripted_pages.h
 * What there is
 *   totals, counts A (at each place), mark and delta A, places, failures, nr
 *   failure N TEXT (what the reason must contain)
 *   item A, fields A FIELD..., nonzero A, changes A, enabled
 *   sources E..., rings */
#ifndef UVPERF_TEST_SCRIPTED_EVLIST_H
#define UVPERF_TEST_SCRIPTED_EVLIST_H

#include "make_evlist.h"
#include "scripted_row.h"

extern const scripted_subject_t scripted_evlist;

#endif
