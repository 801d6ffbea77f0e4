/* SPDX-License-Identifier: MIT */
/* Aside of the layers: what the files that explain a failed perf_event_open(2)
 * share. For them alone; the others call explain.h. */
#ifndef UVPERF_LIB_ATTEMPT_H
#define UVPERF_LIB_ATTEMPT_H

#include "uvperf/attr.h"
#include "uvperf/error.h"

/* One failed perf_event_open(2); the members are the parameters of
 * uvperf__explain_open, and error is not NULL. */
typedef struct uvperf__attempt_s {
  uvperf_error_t *error;
  const char *root;
  const struct perf_event_attr *attr;
  uint32_t asked_size;
  int code;
  int pid;
  int cpu;
  int cgroup;
} uvperf__attempt_t;

/* Fills the error: what was tried, a colon, and the reason. limit and needed
 * become 0. */
void uvperf__attempt_say(const uvperf__attempt_t *attempt, int cause,
                         const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* If the CPU is not in /sys/devices/system/cpu/`list`, fills the error and
 * gives 1; else 0. */
int uvperf__attempt_cpu(const uvperf__attempt_t *attempt, const char *list,
                        const char *why);

/* Fills the error for EINVAL. */
void uvperf__attempt_einval(const uvperf__attempt_t *attempt);

#endif
