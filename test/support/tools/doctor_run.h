/* SPDX-License-Identifier: MIT */
/* Runs the doctor, and reads what it said as JSON. */
#ifndef UVPERF_TEST_DOCTOR_RUN_H
#define UVPERF_TEST_DOCTOR_RUN_H

#include "tool_run.h"

/* Runs `path --json` as described, and fails the test unless that ends well
 * with one object. `prepare` may be NULL. */
void doctor_run(tool_run_t *run, const char *path, void (*prepare)(void),
                int as_nobody);

/* Runs it with this limit of fds, however that ends. */
void doctor_run_with_fds(tool_run_t *run, const char *path, int nr);

/* A member of an answer ("result", "errno", …) as it is written, without
 * quotes; "" if there is none. Of a fact if `member` is NULL. */
const char *doctor_member(const tool_run_t *run, const char *group,
                          const char *key, const char *member);

/* A number of /proc/sys/kernel. */
long long doctor_setting(const char *name);

/* These fail the test, and show what the doctor wrote. */
void doctor_expect(const tool_run_t *run, const char *group, const char *key,
                   const char *member, const char *text);
void doctor_expect_part(const tool_run_t *run, const char *group,
                        const char *key, const char *member, const char *part);
/* The same of several answers, which are of a group and a key: each member that
 * is not NULL, and a part of the remedy. */
void doctor_expect_all(const tool_run_t *run, const char *const (*answers)[2],
                       size_t nr, const char *result, const char *code,
                       const char *cause, const char *remedy);
/* Each no has a remedy. */
void doctor_expect_remedies(const tool_run_t *run);

#endif
