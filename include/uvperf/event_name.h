/* SPDX-License-Identifier: MIT */
/* Which names of events this machine has, for uvperf_attr_parse: those of every
 * machine, those that PMUs have in sysfs, and tracepoints. Nothing is kept
 * between calls, and any thread may call, several at once. Needs no libuv. */
#ifndef UVPERF_EVENT_NAME_H
#define UVPERF_EVENT_NAME_H

#include <stdint.h>

#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kinds of names, of which a walk may want several. */
enum uvperf_name_kind {
  UVPERF_NAME_HARDWARE = 1,   /* "cpu-cycles" */
  UVPERF_NAME_SOFTWARE = 2,   /* "context-switches" */
  UVPERF_NAME_CACHE = 4,      /* "LLC-load-misses" */
  UVPERF_NAME_PMU = 8,        /* "msr/tsc/" */
  UVPERF_NAME_TRACEPOINT = 16 /* "sched:sched_switch" */
};

/* One event that has a name. It and what it points to are valid during the
 * callback. What is only of PMUs' events is NULL or 0 for the others. */
typedef struct uvperf_event_name_s {
  /* One of enum uvperf_name_kind. */
  uint32_t kind;
  /* For attr.type: PERF_TYPE_*, or the number of the PMU. */
  uint32_t type;
  /* For attr.config. 0 for events of PMUs, whose terms may be of several
   * fields: uvperf_attr_parse tells them. */
  uint64_t config;
  /* The name as it is to be parsed. */
  const char *name;
  /* The other name of the same event that perf(1) lists, "cycles"; or NULL.
   * uvperf_attr_parse takes more spellings of cache events. */
  const char *alias;
  /* Of PMUs' events: the PMU, "msr"; the event's own name, "tsc"; its terms,
   * "event=0x00", never empty; in which unit it counts, "" for a plain count;
   * and the list of CPUs on each of which it has to be opened, for
   * uvperf_cpu_list_parse, NULL if it can be opened on any. */
  const char *pmu;
  const char *event;
  const char *terms;
  const char *unit;
  const char *cpus;
  /* What one count is in that unit; 1 for a plain count, and for all that are
   * not of PMUs. */
  double scale;
  /* As in uvperf_pmu_event_t. */
  int is_per_package;
  int is_snapshot;
  /* 1: the name has terms with a value of ?, "hv_gpci/tb,core=?/", which must
   * be given a number before it can be parsed. */
  int needs_value;
  int reserved_int;
  const void *reserved[4];
} uvperf_event_name_t;

/* Returns 0 to go on. May call any function of the library. */
typedef int (*uvperf_event_name_cb)(const uvperf_event_name_t *name, void *arg);

/** Tells the names of events that uvperf_attr_parse takes on this machine, each
 *  event once: hardware, software and cache events in the order of their
 *  numbers, whether or not this machine can count them; then events of PMUs and
 *  tracepoints in the order of the kernel's directories, which is none. Opening
 *  an event tells whether this process may measure it.
 *
 *  Only names are told, not all that can be written with them or without: raw
 *  events, breakpoints, probes, further terms and modifiers; see
 *  uvperf_attr_parse. All of some 2,300 tracepoints take about 20 ms.
 *  @param pattern  Which: a pattern as fnmatch(3) has it with FNM_NOESCAPE,
 *    byte for byte (*, ?, [a-z], [!a-z]), of the whole name, the alias, or the
 *    own name of a PMU's event. One without *, ? and [ fits only itself. NULL:
 *    all.
 *  @param kinds    Which kinds: UVPERF_NAME_*, or several joined by |. 0: all.
 *  @param cb       Called for each, before the function returns.
 *  @param arg      Caller's, for cb.
 *  @return 0 after the last one, also if nothing fits; what cb returned other
 *    than 0, which ends the walk (a positive value is told from these errors);
 *    or
 *    -EINVAL  cb is NULL, or kinds has a bit that is no kind;
 *    or, after all that could be read was told, the first that could not:
 *    -ENOENT  of PMUs: sysfs is not mounted, or the kernel has no perf events;
 *    -ENODEV  of tracepoints: tracefs is not mounted;
 *    -EACCES  of tracepoints: tracefs, or some of what fits, is not for this
 *             process (by default it is for root alone);
 *    -EMFILE, -ENFILE, -ENOMEM  files cannot be opened now;
 *    or what else open(2) says. A pattern that is no tracepoint's does not need
 *    tracefs. To know which kind it is of, ask for one kind at a time.
 *  Source: perf-list(1); as uvperf_pmu_walk and uvperf_tracefs_walk. */
UVPERF_EXTERN int uvperf_event_name_walk(const char *pattern, uint32_t kinds,
                                         uvperf_event_name_cb cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
