/* SPDX-License-Identifier: MIT */
/* What `go tool pprof` makes of a profile, for tests that compare with it. */
#ifndef UVPERF_TEST_GO_PPROF_H
#define UVPERF_TEST_GO_PPROF_H

#include "tool_run.h"

/* Skips the test if there is none. */
void go_pprof_need(const char *test);

/* Runs it on a file; options such as "-top". Nothing is left out as too small,
 * and it must end well. */
void go_pprof_run(tool_run_t *run, const char *options, const char *path);

#endif
