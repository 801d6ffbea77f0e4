/* SPDX-License-Identifier: MIT */
/* If the kernel refused an attr, changes the attr so that the kernel may accept
 * it. Opens nothing. */
#ifndef UVPERF_LIB_EXPLAIN_FALLBACK_H
#define UVPERF_LIB_EXPLAIN_FALLBACK_H

#include <stddef.h>

#include "uvperf/error.h"
#include "uvperf/attr.h"

/* The most changes of an attr. Each field and flag is changed once, by one
 * fallback, except precise_ip and exclude_*: two fallbacks may change these. */
#define UVPERF__CHANGES_MOST 72

/* The fallbacks of one event (or of several that must stay alike): the allowed
 * ones, and the changes so far. The caller fills the first three fields; the
 * rest starts as 0. */
typedef struct uvperf__fallback_s {
  uint32_t allowed;  /* enum uvperf_fallback */
  int is_of_cpu;     /* measures a whole CPU or a cgroup, not a task */
  int is_by_program; /* a uvperf_open_fn opens: the kernel cannot be asked */
  /* Of the call of uvperf__fallback_next. */
  uint32_t tried; /* the fallback that is being tried */
  uint32_t asked_size;
  size_t nr;
  uvperf_change_t changes[UVPERF__CHANGES_MOST];
} uvperf__fallback_t;

/* Changes the attr with the next fallback that is allowed and fits the failure.
 *   attr        as the kernel left it: E2BIG has put its own size into it;
 *   asked_size  its size before the call;
 *   failed      code and cause, from uvperf__explain_open.
 * Returns 1 if the attr was changed and can be tried again, or 0 if no fallback
 * helps. Repeated calls come to an end, because each change takes something
 * away. */
int uvperf__fallback_next(uvperf__fallback_t *fallback,
                          struct perf_event_attr *attr, uint32_t asked_size,
                          const uvperf_error_t *failed);

/* Chooses the error to report for an event that cannot be opened. *error is the
 * error of the first try. This error usually stays. If there is room, its
 * reason gets the list of fallbacks that did not help. If the error of the last
 * try shows that the first error is not the real problem, the last error
 * replaces it. */
void uvperf__fallback_report(const uvperf__fallback_t *fallback,
                             const uvperf_error_t *last, uvperf_error_t *error);

/* Copies the changes of an event that was opened, if there are any, into memory
 * that the caller frees. Returns 0, or -ENOMEM and the error. */
int uvperf__fallback_keep(const uvperf__fallback_t *fallback,
                          uvperf_change_t **changes, size_t *nr,
                          uvperf_error_t *error);

#endif
