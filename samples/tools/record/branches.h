/* SPDX-License-Identifier: MIT */
/* The branches that -j records. */
#ifndef RECORD_BRANCHES_H
#define RECORD_BRANCHES_H

#include <stdint.h>

/* Parses "any_call,u" to PERF_SAMPLE_BRANCH_*. Returns 0, or COMMON_EXIT_USAGE
 * after a message. If the text names only sides, such as "u", it means any
 * branch on those sides. */
int record_branches_parse(const char *text, uint64_t *bits);

#endif
