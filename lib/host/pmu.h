/* SPDX-License-Identifier: MIT */
/* What sysfs says of PMUs, under a root path that tests can set ("" is
 * the real one). Reads one file at a time into the caller's room; keeps no
 * memory and no fd. A file of more than one page is -EFBIG, one with a zero
 * byte -EINVAL; what open(2) and read(2) say is passed on (-ELOOP, -EISDIR).
 * Names of PMUs, terms and events must be one path component: others are
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
/* Room for any name: NAME_MAX and its end. */
#define UVPERF__PMU_NAME_BYTES 256

/* Each PMU's name, in the order of the directory; -ENOENT where sysfs has no
 * PMUs. */
int uvperf__pmu_each(const char *root, uvperf__name_fn each, void *data);

/* Its type. -ENOENT: no such PMU; -ENODATA: a PMU without a type file; -EINVAL:
 * a type that is no number. */
int uvperf__pmu_type(const char *root, const char *pmu, uint32_t *type);

/* The name of the PMU of a type, cut to `size`. -ENOENT: there is none. */
int uvperf__pmu_name(const char *root, uint32_t type, char *name, size_t size);

/* Whether a type is that of the PMU of this name, of those whose type is not
 * fixed ("kprobe", "uprobe"). */
int uvperf__pmu_is(const char *root, uint32_t type, const char *pmu);

/* The PMUs of the kinds of cores of this machine, by ascending type: those that
 * have a file `cpus`. 0 or 1 of them where all cores are alike: a PMU "cpu" is
 * of all. No machine has more than there is room for: the rest is left out. */
#define UVPERF__CORE_PMUS 8
typedef struct uvperf__core_pmus_s {
  int is_read; /* for the owner, who reads them once */
  size_t nr;
  struct {
    char name[UVPERF__PMU_NAME_BYTES];
    uint32_t type;
  } pmus[UVPERF__CORE_PMUS];
  /* They take generic events that have the PMU's type in the upper half of
   * config. */
  int has_extended_type;
} uvperf__core_pmus_t;

/* 0, or want of fds or memory, by which nothing is known. */
int uvperf__pmu_cores(const char *root, uvperf__core_pmus_t *cores);

/* Where a term of format/ goes: "config1:0-7,32-35" is UVPERF_ATTR_CONFIG1 and
 * 0xf000000ff. The value's bits go to the mask's, lowest to lowest, as
 * pmu_format_value() of perf(1) has it. */
typedef struct uvperf__pmu_format_s {
  enum uvperf_attr_field field; /* UVPERF_ATTR_CONFIG … CONFIG4 */
  uint64_t mask;
} uvperf__pmu_format_t;

/* -ENOENT: the PMU has no such term, or there is no such PMU; -EINVAL: text
 * that is no format. */
int uvperf__pmu_format(const char *root, const char *pmu, const char *term,
                       uvperf__pmu_format_t *format);

/* Each term of format/, of which a PMU may have none. -ENOENT: no such PMU. */
int uvperf__pmu_each_format(const char *root, const char *pmu,
                            uvperf__name_fn each, void *data);

/* Spreads a value over the bits of a mask; -ERANGE: it does not fit. */
int uvperf__pmu_spread(uint64_t mask, uint64_t value, uint64_t *bits);
/* The inverse. */
uint64_t uvperf__pmu_gather(uint64_t mask, uint64_t bits);

/* The terms of a named event, "event=0x3c,umask=0x1", without the newline.
 * -ENOENT: no such event, or PMU; -EINVAL: an event without terms. */
int uvperf__pmu_event(const char *root, const char *pmu, const char *event,
                      char terms[UVPERF__PMU_TEXT_BYTES]);
/* The same for an event in upper or lower case; receives its name as sysfs has
 * it, where there is one. */
int uvperf__pmu_event_of_any_case(const char *root, const char *pmu,
                                  char event[UVPERF__PMU_NAME_BYTES],
                                  char terms[UVPERF__PMU_TEXT_BYTES]);
/* Each named event, without the files EVENT.scale, .unit, .per-pkg and
 * .snapshot that go with it; a PMU may have none. -ENOENT: no such PMU. */
int uvperf__pmu_each_event(const char *root, const char *pmu,
                           uvperf__name_fn each, void *data);

/* What one count of a named event is worth. */
typedef struct uvperf__pmu_measure_s {
  double scale;  /* 1 where there is no EVENT.scale */
  char unit[64]; /* "" where there is no EVENT.unit */
  int is_per_package;
  int is_snapshot; /* a value and no sum: deltas mean nothing */
} uvperf__pmu_measure_t;

/* -ENOENT: no such event, or PMU; -EINVAL: a scale that is no number, or a unit
 * that is too long. */
int uvperf__pmu_measure(const char *root, const char *pmu, const char *event,
                        uvperf__pmu_measure_t *measure);

/* The CPUs to open its events on (cpumask), or that it is of (cpus, of hybrid
 * PMUs), as the kernel's list; *is_mask tells which. -ENOENT: any CPU, or no
 * such PMU. */
int uvperf__pmu_cpus(const char *root, const char *pmu,
                     char list[UVPERF__PMU_TEXT_BYTES], int *is_mask);

/* caps/max_precise; -ENOENT where the kernel does not tell; -EINVAL: no
 * number. */
int uvperf__pmu_max_precise(const char *root, const char *pmu, uint32_t *max);

/* The walks of uvperf/system.h under a root. */
int uvperf__pmu_walk(const char *root, uvperf_pmu_cb cb, void *arg);
int uvperf__pmu_walk_formats(const char *root, const char *pmu,
                             uvperf_pmu_format_cb cb, void *arg);
int uvperf__pmu_walk_events(const char *root, const char *pmu,
                            uvperf_pmu_event_cb cb, void *arg);

#endif
