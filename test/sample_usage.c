/* SPDX-License-Identifier: MIT */
/* Runs samples with bad input. Does not know what they are for. */
#include "sample_usage.h"

#include <errno.h>

#include "sample_run.h"

void sample_usage_refused(const char *path, const sample_usage_t *cases,
                          size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++) {
    sample_run_t run = {.args = {path}};

    memcpy(run.args + 1, cases[i].args, sizeof(cases[i].args));
    sample_run(&run);
    sample_run_expect_status(&run, 2);
    sample_run_expect_text(run.err, cases[i].message);
    sample_run_expect_text(run.err, "--help");
    assert_string_equal(run.out, "");
  }
}

void sample_usage_help(const char *path, const char *first_words) {
  sample_run_t run = {.args = {path, "--help"}};

  sample_run(&run);
  sample_run_expect_status(&run, 0);
  sample_run_expect_text(run.out, first_words);
  assert_string_equal(run.err, "");
}

void sample_usage_missing_command(const char *path) {
  sample_run_t run = {.args = {path, "--", "/nonexistent/command"}};

  sample_run(&run);
  sample_run_expect_status(&run, 127);
  sample_run_expect_text(run.err, "/nonexistent/command");
  sample_run_expect_text(run.err, strerror(ENOENT));
  assert_string_equal(run.out, "");
}

void sample_usage_missing_process(const char *path) {
  sample_run_t run = {.args = {path, "-p", "2147483647"}};

  sample_run(&run);
  sample_run_expect_status(&run, 1);
  sample_run_expect_text(run.err, "no process 2147483647");
}

void sample_usage_unprivileged(const char *path, const char *remedy,
                               const char *test) {
  sample_run_t run = {.args = {path}, .as_nobody = 1};

  if (sample_run_paranoid() <= 0)
    support_skip(test, "kernel.perf_event_paranoid above 0");
  sample_run(&run);
  sample_run_expect_status(&run, 2);
  sample_run_expect_text(run.err, "perf_event_paranoid");
  sample_run_expect_text(run.err, "CAP_PERFMON");
  sample_run_expect_text(run.err, remedy);
}
