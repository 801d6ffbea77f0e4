/* SPDX-License-Identifier: MIT */
/* Which branches -j records. */
#ifndef RECORD_BRANCHES_H
#define RECORD_BRANCHES_H

#include <stdint.h>

/* "any_call,u" as PERF_SAMPLE_BRANCH_*: 0, or COMMON_EXIT_USAGE after a
 * message. Sides alone mean any branch there. */
int record_branches_parse(const char *text, uint64_t *bits);

#endif
