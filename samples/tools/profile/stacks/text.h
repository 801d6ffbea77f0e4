/* SPDX-License-Identifier: MIT */
/* Writes a profile as text: a table for people, folded stacks for programs. */
#ifndef STACKS_TEXT_H
#define STACKS_TEXT_H

#include <stdio.h>

#include "profile/stacks/rank.h"

/* How rows are written. */
typedef struct stacks_layout_s {
  stacks_by_t by;
  size_t columns;      /* 0: no limit; else columns left out, lines cut */
  const char *counted; /* "samples" */
  uint64_t weight;     /* of the whole profile */
  int is_whole;        /* names are not cut */
} stacks_layout_t;

/* These write the line of column names, and the line of a row. */
void stacks_text_head(FILE *file, const stacks_layout_t *layout);
void stacks_text_row(FILE *file, const stacks_layout_t *layout,
                     const stacks_row_t *row);

/* Which rows a table has. */
typedef struct stacks_view_s {
  stacks_by_t by;
  stacks_sort_t sort;
  uint64_t rows;  /* at most */
  size_t columns; /* of the terminal; 0: no limit */
} stacks_view_t;

/* Writes at most the first `columns` characters of a text, and returns their
 * number. */
size_t stacks_text_cut(FILE *file, const char *text, size_t columns);

/* Writes the first rows, and the number of the others. If the names of two rows
 * would be equal after they are cut, no name is cut. */
void stacks_text_table(FILE *file, const stacks_t *stacks,
                       const stacks_view_t *view);

/* Writes a line for each stack: "process;outer;…;inner count", as flamegraph.pl
 * and others read it. The count is in samples, or in microseconds for off-CPU
 * time. */
void stacks_text_folded(FILE *file, const stacks_t *stacks);

#endif
