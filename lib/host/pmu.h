/* SPDX-License-Identifier: MIT */
/* PMUs in sysfs.
 * Reads one file at a time into the caller's memory. Keeps no memory and no fd.
 *
 * A file of more than one page is -EFBIG. A file with a zero byte is -EINVAL.
 * Other errors of open(2) and read(2) are returned (-ELOOP, -EISDIR). Each name
 * of a PMU, a term or an event must be one path component. Any other name is
 * -EINVAL. */
#ifndef UVPERF_LIB_HOST_PMU_H
#define UVPERF_LIB_HOST_PMU_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/attr.h"
#include "uvperf/system.h"

#include "host/system.h"
#include "util/file.h"

#define UVPERF__PMU_TEXT_BYTES UVPERF__TEXT_BYTES
/* Enough for any name: NAME_MAX and the NUL. */
#define UVPERF__PMU_NAME_BYTES 256

/* Calls `each` with each PMU's name, in the order of the directory. Returns
 * -ENOENT if sysfs has no PMUs. */
int uvperf__pmu_each(uvperf__name_fn each, void *data);

/* Finds the name of the PMU with this type, cut to `size`. Returns -ENOENT if
 * there is no such PMU. */
int uvperf__pmu_name(uint32_t type, char *name, size_t size);

/* Whether a type belongs to the PMU of this name. Used for PMUs whose type is
 * not fixed ("kprobe", "uprobe"). */
int uvperf__pmu_is(uint32_t type, const char *pmu);

/* Whether a type belongs to the PMU uprobe or kprobe. Returns 1 or 0. After a
 * shortage of fds or memory the answer is unknown, and its code is returned. */
int uvperf__pmu_is_probe(uint32_t type);

/* The PMUs for the kinds of cores of this machine, by ascending type. They are
 * the PMUs that have a file `cpus`. If all cores are alike there are 0 or 1
 * such PMUs, because a PMU "cpu" belongs to all cores. No known machine has
 * more PMUs than this array holds. If there are more, they are left out. */
#define UVPERF__CORE_PMUS 8
typedef struct uvperf__core_pmus_s {
  int is_read; /* for the owner, which reads them once */
  size_t nr;
  struct {
    char name[UVPERF__PMU_NAME_BYTES];
    uint32_t type;
  } pmus[UVPERF__CORE_PMUS];
  /* The PMUs accept generic events with the PMU's type in the upper half of
   * config. */
  int has_extended_type;
} uvperf__core_pmus_t;

/* Finds the PMUs of the kinds of cores. Returns 0, or the code of a shortage of
 * fds or memory. After a shortage the PMUs are unknown. */
int uvperf__pmu_cores(uvperf__core_pmus_t *cores);

/* The bits of an attr that a term of format/ sets. For example,
 * "config1:0-7,32-35" becomes UVPERF_ATTR_CONFIG1 and the mask 0xf000000ff. The
 * bits of a value go to the bits of the mask, from the lowest bit on, as in
 * pmu_format_value() of perf(1). */
typedef struct uvperf__pmu_format_s {
  enum uvperf_attr_field field; /* UVPERF_ATTR_CONFIG … CONFIG4 */
  uint64_t mask;
} uvperf__pmu_format_t;

/* Reads the format of a term. Returns 0, -ENOENT if the term or the PMU does
 * not exist, or -EINVAL if the text is not a format. */
int uvperf__pmu_format(const char *pmu, const char *term,
                       uvperf__pmu_format_t *format);

/* Calls `each` with each term of format/. A PMU may have no terms. Returns
 * -ENOENT if there is no such PMU. */
int uvperf__pmu_each_format(const char *pmu, uvperf__name_fn each, void *data);

/* Spreads a value over the bits of a mask. Returns -ERANGE if the value does
 * not fit. */
int uvperf__pmu_spread(uint64_t mask, uint64_t value, uint64_t *bits);
/* Does the inverse of uvperf__pmu_spread. */
uint64_t uvperf__pmu_gather(uint64_t mask, uint64_t bits);

/* Reads the terms of a named event without the newline: "event=0x3c,umask=0x1".
 * Returns 0, -ENOENT if the event or the PMU does not exist, or -EINVAL if the
 * event has no terms. */
int uvperf__pmu_event(const char *pmu, const char *event,
                      char terms[UVPERF__PMU_TEXT_BYTES]);
/* Does the same for an event in upper or lower case. If the event is found,
 * `event` receives its name in sysfs. */
int uvperf__pmu_event_of_any_case(const char *pmu,
                                  char event[UVPERF__PMU_NAME_BYTES],
                                  char terms[UVPERF__PMU_TEXT_BYTES]);
/* Calls `each` with each named event, but not with the files EVENT.scale,
 * .unit, .per-pkg and .snapshot that belong to an event. A PMU may have no
 * named events. Returns -ENOENT if there is no such PMU. */
int uvperf__pmu_each_event(const char *pmu, uvperf__name_fn each, void *data);

/* What the counts of a named event mean. */
typedef struct uvperf__pmu_measure_s {
  double scale;  /* 1 without EVENT.scale */
  char unit[64]; /* "" without EVENT.unit */
  int is_per_package;
  int is_snapshot; /* a momentary value: differences mean nothing */
} uvperf__pmu_measure_t;

/* Reads the meaning of an event's counts. Returns 0, -ENOENT if the event or
 * the PMU does not exist, or -EINVAL if the scale is not a number or the unit
 * is too long. */
int uvperf__pmu_measure(const char *pmu, const char *event,
                        uvperf__pmu_measure_t *measure);

/* Reads a list of CPUs as the kernel writes it. The file cpumask lists the CPUs
 * on which to open the PMU's events. The file cpus of hybrid PMUs lists the
 * CPUs to which the PMU belongs. *is_mask is 1 if the list is from cpumask.
 * Returns -ENOENT if the events can be opened on any CPU, or if there is no
 * such PMU. */
int uvperf__pmu_cpus(const char *pmu, char list[UVPERF__PMU_TEXT_BYTES],
                     int *is_mask);

/* Reads caps/max_precise. Returns 0, -ENOENT if the kernel does not have the
 * file, or -EINVAL if its text is not a number. */
int uvperf__pmu_max_precise(const char *pmu, uint32_t *max);

#endif
