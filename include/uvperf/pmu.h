/* SPDX-License-Identifier: MIT */
/* What this machine can measure with: its PMUs, the terms that say which event
 * of theirs, and the events that have names. Nothing is kept between calls:
 * each reads sysfs, which takes some microseconds for each file. Any thread may
 * call, several at once. Needs no libuv.
 *
 * All three walks leave out what cannot be read or has no sense, as perf(1)
 * does: a PMU without a type, a term that is of no field of struct
 * perf_event_attr, an event whose scale is no number. They end early, and
 * return what the callback returned, if that is not 0; a positive value is told
 * from their own errors, which are negative. */
#ifndef UVPERF_PMU_H
#define UVPERF_PMU_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/attr.h"
#include "uvperf/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One PMU. It and what it points to are valid during the callback. */
typedef struct uvperf_pmu_s {
  /* "cpu", "cpu_core", "uncore_imc_0", "msr", …; one path component. */
  const char *name;
  /* The list of CPUs in its file cpumask or cpus, for uvperf_cpu_list_parse;
   * NULL where it has none: its events can be opened on any CPU. */
  const char *cpus;
  /* For attr.type. */
  uint32_t type;
  /* 1: the list is a cpumask. The PMU counts for more than one CPU (uncore),
   * and an event has to be opened once on each CPU of the list. 0: the list is
   * of the CPUs that have this PMU (hybrid machines), or there is none. */
  int is_cpumask;
  /* The highest attr.precise_ip it can do; -1: the kernel does not tell. */
  int max_precise;
} uvperf_pmu_t;

/* Returns 0 to go on. May call any function of the library. */
typedef int (*uvperf_pmu_cb)(const uvperf_pmu_t *pmu, void *arg);

/** Shows each PMU of this machine, in the order of sysfs, which is none.
 *  @param cb   Called for each, before the function returns.
 *  @param arg  Caller's, for cb.
 *  @return 0 after the last one; what cb returned other than 0; or
 *    -EINVAL  cb is NULL;
 *    -ENOENT  sysfs is not mounted, or the kernel has no perf events;
 *    -EMFILE, -ENFILE, -ENOMEM  files cannot be opened now;
 *    or what else open(2) says of the directory.
 *  Source: /sys/bus/event_source/devices. */
UVPERF_EXTERN int uvperf_pmu_walk(uvperf_pmu_cb cb, void *arg);

/* One term of a PMU's events. It and what it points to are valid during the
 * callback. */
typedef struct uvperf_pmu_format_s {
  /* "event", "umask", "ldlat", … */
  const char *name;
  /* As sysfs has it, "config:0-7,32-35", without the newline. */
  const char *text;
  /* UVPERF_ATTR_CONFIG or UVPERF_ATTR_CONFIG1 to CONFIG4. */
  enum uvperf_attr_field field;
  /* The bits of that field, never 0. A value's lowest bit goes to the lowest of
   * them, and so on. */
  uint64_t mask;
} uvperf_pmu_format_t;

/* Returns 0 to go on. May call any function of the library. */
typedef int (*uvperf_pmu_format_cb)(const uvperf_pmu_format_t *format,
                                    void *arg);

/** Shows each term that the events of a PMU can be made of.
 *  @param pmu  Caller's: the PMU's name.
 *  @param cb   Called for each, before the function returns; never for a PMU
 *    without terms, such as software.
 *  @param arg  Caller's, for cb.
 *  @return 0 after the last one; what cb returned other than 0; or
 *    -EINVAL  pmu or cb is NULL, or pmu is no name: empty, "..", with a slash,
 *      longer than 255 bytes;
 *    -ENOENT  there is no such PMU;
 *    -EMFILE, -ENFILE, -ENOMEM  files cannot be opened now;
 *    or what else open(2) says of the directory.
 *  Source: /sys/bus/event_source/devices/<pmu>/format. */
UVPERF_EXTERN int uvperf_pmu_walk_formats(const char *pmu,
                                          uvperf_pmu_format_cb cb, void *arg);

/* One event that the kernel has a name for. It and what it points to are valid
 * during the callback. */
typedef struct uvperf_pmu_event_s {
  /* "cpu-cycles", "mem-loads", "energy-pkg", … */
  const char *name;
  /* What it is of the PMU's terms, "event=0xcd,umask=0x1,ldlat=3"; a value of ?
   * is for the user to give. Not empty. */
  const char *terms;
  /* Of what, "Joules"; "" for a plain count. */
  const char *unit;
  /* What one count is in that unit; 1 for a plain count. */
  double scale;
  /* 1: one CPU of each package counts for all. */
  int is_per_package;
  /* 1: a value at a time and no sum, so that differences mean nothing. */
  int is_snapshot;
} uvperf_pmu_event_t;

/* Returns 0 to go on. May call any function of the library. */
typedef int (*uvperf_pmu_event_cb)(const uvperf_pmu_event_t *event, void *arg);

/** Shows each event of a PMU that the kernel has a name for. perf(1) knows more
 *  names, from tables of its own.
 *  @param pmu  Caller's: the PMU's name.
 *  @param cb   Called for each, before the function returns; never for a PMU
 *    without named events.
 *  @param arg  Caller's, for cb.
 *  @return as uvperf_pmu_walk_formats.
 *  Source: /sys/bus/event_source/devices/<pmu>/events. */
UVPERF_EXTERN int uvperf_pmu_walk_events(const char *pmu,
                                         uvperf_pmu_event_cb cb, void *arg);

#ifdef __cplusplus
}
#endif

#endif
