/* SPDX-License-Identifier: MIT */
/* Where the probes of the PMUs uprobe and kprobe are. */
#ifndef UVPERF_LIB_NAME_PROBE_H
#define UVPERF_LIB_NAME_PROBE_H

#include "name/text.h"
#include "util/near_miss.h"
#include "uvperf/attr.h"

/* What the terms say; `at` is NULL where they do not. */
typedef struct uvperf__probe_s {
  uvperf__span_t path;   /* uprobe */
  uvperf__span_t symbol; /* uprobe */
  uvperf__span_t func;   /* kprobe */
  uvperf__span_t addr;   /* kprobe */
  uvperf__span_t offset; /* both */
} uvperf__probe_t;

/* Whether a PMU is one of the two. */
int uvperf__probe_is_pmu(const char *pmu);

/* Takes a term if it is one of these: 1; 0: it is not; -EINVAL, explained. */
int uvperf__probe_take(const uvperf__parse_t *parse, const char *pmu,
                       const uvperf__term_t *term, uvperf__probe_t *probe);

/* Tries the names of these terms. */
void uvperf__probe_near_miss(const char *pmu, uvperf__near_miss_t *miss);

/* Writes config2, finding the symbol in its file; *string is what config1 has
 * to point to, if it has to. *file is an fd of the file in which a symbol was
 * found, the caller's; it is left alone otherwise. `at` is where the PMU
 * stands. 0 or -errno, explained. */
int uvperf__probe_finish(const uvperf__parse_t *parse, const char *at,
                         const char *pmu, const uvperf__probe_t *probe,
                         struct perf_event_attr *attr, uvperf__span_t *string,
                         int *file);

#endif
