/* SPDX-License-Identifier: MIT */
/* Runs of a tool as rows of a table: a command line, and what comes of it. Each
 * row is a test of its own name. */
#ifndef UVPERF_TEST_TOOL_ROWS_H
#define UVPERF_TEST_TOOL_ROWS_H

#include "tool_run.h"

typedef struct tool_row_s {
  const char *name;
  void (*need)(const char *test); /* may skip the test; or NULL */
  /* The tool's arguments, separated by spaces. An argument that begins with '
   * or " ends at the next one. If the first begins with '/', it is the
   * program. */
  const char *words;
  int status;
  /* The parts that stderr and stdout have, separated by '|'. A part "!text"
   * must not be there, and "^text" must be at the start. "=text" is all that is
   * there. NULL: anything. */
  const char *err, *out;
  void (*check)(const tool_run_t *run); /* what the two tell besides; or NULL */
  const char *interrupt_at; /* and the next three: as in tool_run_t */
  int interrupt_with;
  void (*prepare)(void);
  int as_nobody;
} tool_row_t;

/* Runs the rows with the tool at `path`, and other tests after them, as main()
 * of a test program does. */
int tool_rows_main(const char *path, const tool_row_t *rows, size_t nr_rows,
                   const struct CMUnitTest *tests, size_t nr_tests);

#endif
