/* SPDX-License-Identifier: MIT */
/* What every sample does with input that cannot be right and with targets that
 * it cannot have. Each of these runs the sample at `path` and asserts. */
#ifndef UVPERF_TEST_TOOL_USAGE_H
#define UVPERF_TEST_TOOL_USAGE_H

#include <stddef.h>

#include "tool_run.h"

/* A command line that is refused, and part of what is said. */
typedef struct tool_usage_s {
  const char *args[5];
  const char *message;
} tool_usage_t;

void tool_usage_refused(const char *path, const tool_usage_t *cases, size_t nr);
/* Each of perf's options, "-x --name" for example, is taken, or a message says
 * why it is not there. */
void tool_usage_knows(const char *path, const char *options);

/* The help has these parts. Each ends with "|". */
void tool_usage_in_help(const char *path, const char *parts);

/* These add -o and a file to the arguments of a run. */

/* It ends with status 1 and a message that begins with its name. */
void tool_usage_bad_file(const tool_run_t *with, const char *name);

/* The sample's own lines are in `text`, of at least 64 KB; its command's are on
 * stdout: "hello". */
void tool_usage_good_file(tool_run_t *run, char *text, size_t size);

/* It has more to write than the 1,024 bytes that a file may have. */
void tool_usage_limited_file(tool_run_t *run);

/* The reader of stdout is there until the sample has ended, and does not read:
 * the sample says so, counts what is lost, and ends with status 1. */
void tool_usage_never_read(tool_run_t *run);

#endif
