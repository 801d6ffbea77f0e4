/* SPDX-License-Identifier: MIT */
/* The places of probes, for the PMUs uprobe and kprobe. */
#ifndef UVPERF_LIB_NAME_PROBE_H
#define UVPERF_LIB_NAME_PROBE_H

#include "name/text.h"
#include "util/near_miss.h"
#include "uvperf/attr.h"

/* The values of the terms; `at` is NULL for a missing term. */
typedef struct uvperf__probe_s {
  uvperf__span_t path;   /* uprobe */
  uvperf__span_t symbol; /* uprobe */
  uvperf__span_t func;   /* kprobe */
  uvperf__span_t addr;   /* kprobe */
  uvperf__span_t offset; /* both */
} uvperf__probe_t;

/* Whether a PMU is "uprobe" or "kprobe". */
int uvperf__probe_is_pmu(const char *pmu);

/* Stores the value of a term if it is a term of probes. Returns 1 if so, 0 if
 * it is another term. On failure fills the error and returns -EINVAL. */
int uvperf__probe_take(const uvperf__parse_t *parse, const char *pmu,
                       const uvperf__term_t *term, uvperf__probe_t *probe);

/* Adds the names of the terms of probes to the search. */
void uvperf__probe_near_miss(const char *pmu, uvperf__near_miss_t *miss);

/* Writes config2, after finding a symbol in its file if the terms name one. If
 * config1 must point to a text, *string receives this text. If a symbol was
 * found, *file receives an fd of its file, which the caller must close;
 * otherwise *file is unchanged. `at` is the place of the PMU. Returns 0, or
 * fills the error and returns -errno. */
int uvperf__probe_finish(const uvperf__parse_t *parse, const char *at,
                         const char *pmu, const uvperf__probe_t *probe,
                         struct perf_event_attr *attr, uvperf__span_t *string,
                         int *file);

#endif
