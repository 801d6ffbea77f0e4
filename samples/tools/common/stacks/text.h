/* SPDX-License-Identifier: MIT */
/* Writes a profile as text: a table for people, folded stacks for programs. */
#ifndef STACKS_TEXT_H
#define STACKS_TEXT_H

#include <stdio.h>

#include "common/stacks/rank.h"

/* The hottest rows, and how many more there are. */
void stacks_text_table(FILE *file, const stacks_t *stacks, stacks_by_t by,
                       size_t most_rows);

/* A line for each stack: "process;outer;…;inner count", as flamegraph.pl and
 * others read it. The count is of samples; of off-CPU time, microseconds. */
void stacks_text_folded(FILE *file, const stacks_t *stacks);

#endif
