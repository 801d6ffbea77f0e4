/* SPDX-License-Identifier: MIT */
/* The terms that any event can have between the slashes of its name, such as
 * "period=1000". */
#ifndef UVPERF_LIB_NAME_TERM_H
#define UVPERF_LIB_NAME_TERM_H

#include "name/build.h"
#include "util/near_miss.h"

/* Applies one term. Returns 0, or fills the error and returns -errno. The error
 * is not filled for -ENOENT, which means that the term is unknown. */
int uvperf__term_apply(uvperf__event_build_t *build,
                       const uvperf__term_t *term);

/* Applies all terms of a text. The text must contain no other terms. Returns 0,
 * or fills the error and returns -errno. */
int uvperf__terms_apply(uvperf__event_build_t *build, uvperf__span_t span);

/* Returns the value of branch_type= that sets these bits, as a static text, or
 * NULL if there is no such value. */
const char *uvperf__branch_type_name(uint64_t bits);

/* Adds the names of the terms of any event to the search. */
void uvperf__term_near_miss(uvperf__near_miss_t *miss);

/* Reads the number of a term. A term without a value means 1. Returns 0, or
 * fills the error and returns -EINVAL. */
int uvperf__term_number(const uvperf__parse_t *parse,
                        const uvperf__term_t *term, uint64_t most,
                        uint64_t *value);

#endif
