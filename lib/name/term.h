/* SPDX-License-Identifier: MIT */
/* The terms between the slashes of an event's name that any event can
 * have, as "period=1000". */
#ifndef UVPERF_LIB_NAME_TERM_H
#define UVPERF_LIB_NAME_TERM_H

#include "name/build.h"
#include "util/near_miss.h"

/* Applies one term. 0; -ENOENT: no such term, nothing is explained; or another
 * -errno, explained. */
int uvperf__term_apply(uvperf__event_build_t *build,
                       const uvperf__term_t *term);

/* Applies all of a text, where there are no others than these. 0 or -errno,
 * explained. */
int uvperf__terms_apply(uvperf__event_build_t *build, uvperf__span_t span);

/* What follows branch_type= to set these bits, NULL: nothing does; static. */
const char *uvperf__branch_type_name(uint64_t bits);

/* Tries the names of these terms. */
void uvperf__term_near_miss(uvperf__near_miss_t *miss);

/* The number of a term; one that has none is 1. 0 or -EINVAL, explained. */
int uvperf__term_number(const uvperf__parse_t *parse,
                        const uvperf__term_t *term, uint64_t most,
                        uint64_t *value);

#endif
