/* SPDX-License-Identifier: MIT */
/* What to change of an attr that the kernel refused, so that it may take it.
 * Opens nothing. */
#ifndef UVPERF_LIB_EXPLAIN_FALLBACK_H
#define UVPERF_LIB_EXPLAIN_FALLBACK_H

#include <stddef.h>

#include "uvperf/error.h"
#include "uvperf/attr.h"

/* Each field and flag is changed by one fallback, once; precise_ip and
 * exclude_* may be by two. */
#define UVPERF__CHANGES_MOST 72

/* Of one event (or of several that are to stay alike): what may be changed and
 * what was. The first four are the caller's to fill, the rest starts as 0. */
typedef struct uvperf__fallback_s {
  const char *root;  /* of /proc; "" is the real one */
  uint32_t allowed;  /* enum uvperf_fallback */
  int is_of_cpu;     /* a whole CPU or a cgroup, not a task */
  int is_by_program; /* a uvperf_open_fn opens: the kernel cannot be asked */
  size_t nr;
  uvperf_change_t changes[UVPERF__CHANGES_MOST];
} uvperf__fallback_t;

/* Applies to the attr the next fallback that is allowed and fits the failure.
 *   attr        as the kernel left it: E2BIG has put its own size into it;
 *   asked_size  its size before the call;
 *   failed      code and cause, by uvperf__explain_open.
 * 1: it was changed and can be tried again; 0: nothing helps. That comes to an
 * end, as each step takes something away. */
int uvperf__fallback_next(uvperf__fallback_t *fallback,
                          struct perf_event_attr *attr, uint32_t asked_size,
                          const uvperf_error_t *failed);

/* Chooses the error to report of an event that cannot be opened. *error is that
 * of the first try. It stays, and its reason gets the fallbacks that did not
 * help, if there is room. It becomes that of the last try if that one shows
 * that the first is not the matter. */
void uvperf__fallback_report(const uvperf__fallback_t *fallback,
                             const uvperf_error_t *last, uvperf_error_t *error);

#endif
