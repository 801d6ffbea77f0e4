/* SPDX-License-Identifier: MIT */
/* What every sample does with input that cannot be right and with targets that
 * it cannot have. Each of these runs the sample at `path` and asserts. */
#ifndef UVPERF_TEST_SAMPLE_USAGE_H
#define UVPERF_TEST_SAMPLE_USAGE_H

#include <stddef.h>

/* A command line that is refused, and part of what is said. */
typedef struct sample_usage_s {
  const char *args[5];
  const char *message;
} sample_usage_t;

void sample_usage_refused(const char *path, const sample_usage_t *cases,
                          size_t nr);
void sample_usage_help(const char *path, const char *first_words);
void sample_usage_missing_command(const char *path);
void sample_usage_missing_process(const char *path);

/* Skips where the whole machine is open to everybody. */
void sample_usage_unprivileged(const char *path, const char *remedy,
                               const char *test);

#endif
