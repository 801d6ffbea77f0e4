/* SPDX-License-Identifier: MIT */
/* Tests of explanations as tables of text. A row is a test: its name, and lines
 * with a step each, on the host of make_host_machine_setup.
 *
 *   {"offline_cpu_is_no_cpu",
 *    "attr cpu_clock\n"
 *    "ENODEV pid -1 cpu 3 -> no_cpu the CPU is offline; the online CPUs are"},
 *
 * A line that begins with an errno is a call that failed with it. After "->"
 * come the cause and a part of the reason. The words of a call are listed below
 * and in the files of the rows. The other steps:
 *
 *   attr KIND [FIELD=VALUE...]  a new attr: cpu_clock, user_clock (without the
 *                 kernel side), dummy, cycles, "tracepoint ID" or "TYPE CONFIG"
 *   set FIELD=VALUE...          changes it. A value is a number, or bits:
 *                 sample_type=READ|TID. If the headers lack a field, all is
 *                 left out until the next attr
 *   file PATH [TEXT]            a file of the host, with "|" for a newline. It
 *                 may be paranoid, release, status or lockdown
 *   capabilities HEX [filter]   of this process, which is the user 1000's and
 *                 may have a seccomp filter
 *   no_file PATH, no_host       without this file, or all files
 *   lacks TEXT                  the last reason does not have this
 *   limit N needed N            of the last error; or only one of them
 *
 * Words of a failed open
 *   pid N, cpu N, cgroup FD     the target; without them the calling thread
 *   asked N                     attr.size before the call
 *   program                     it was options.open that failed
 *   group                       with the leader of the last "leader" step
 * and steps
 *   leader [pid N...] [group]   the attr and these words are a leader's
 *   probe CODE                  the open that the next call may try */
#ifndef UVPERF_TEST_CHECK_EXPLAIN_ROWS_H
#define UVPERF_TEST_CHECK_EXPLAIN_ROWS_H

#include "check_explain.h"
#include "make_host.h"
#include "scripted_step.h"

typedef struct explain_row_s {
  const char *name;
  const char *text;
} explain_row_t;

/* What the rows of a program test. */
typedef struct explain_subject_s {
  void (*begin)(void); /* of a row; or NULL */
  /* Explains that a call with the step's words has failed with the code.
   * Returns what the library returned. */
  int (*call)(const step_t *step, int code, struct perf_event_attr *attr,
              uvperf_error_t *error);
  /* Runs a step that is not listed above; or NULL. */
  void (*run)(const step_t *step, const struct perf_event_attr *attr);
} explain_subject_t;

/* perf_event_open(2). */
extern const explain_subject_t explain_opens;

/* Runs the rows and then other tests, as a main function. */
int explain_rows_run(const explain_subject_t *subject,
                     const explain_row_t *rows, size_t nr,
                     const struct CMUnitTest *tests, size_t nr_tests);

#define EXPLAIN_ROWS(subject, rows)                                            \
  explain_rows_run(subject, rows, COUNT_OF(rows), NULL, 0)
#define EXPLAIN_ROWS_AND_TESTS(subject, rows, tests)                           \
  explain_rows_run(subject, rows, COUNT_OF(rows), tests, COUNT_OF(tests))

#endif
