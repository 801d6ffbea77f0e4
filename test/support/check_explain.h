/* SPDX-License-Identifier: MIT */
/* Shared by the tests of explanations: children that fail because they lack
 * something, and checks of the reported error. */
#ifndef UVPERF_TEST_CHECK_EXPLAIN_H
#define UVPERF_TEST_CHECK_EXPLAIN_H

#include "support.h"

#include "explain/explain.h"

/* The user and group of a child without privileges. */
#define EXPLAIN_NOBODY 65534

/* An attr of the user side only, which any user may open. */
void explain_user_clock(struct perf_event_attr *attr);
void explain_user_dummy(struct perf_event_attr *attr);

/* A call without a cgroup and a leader. */
uvperf__open_call_t explain_open_call(uvperf_error_t *error, int code,
                                      const struct perf_event_attr *attr,
                                      int pid, int cpu);

/* Fails the test unless the error has this code and cause, its reason contains
 * the piece, and the reason is not cut off and has the form of check_reason.h.
 * Except in unit/explain/ the piece is one name or number, or "". */
void explain_check(const uvperf_error_t *error, int code, int cause,
                   const char *piece);

/* Opens, and explains a failure. Returns the fd or a -errno. */
int explain_try(uvperf_error_t *error, struct perf_event_attr *attr, int pid,
                int cpu, int group);
/* The same with PERF_FLAG_PID_CGROUP. */
int explain_try_cgroup(uvperf_error_t *error, struct perf_event_attr *attr,
                       int cgroup, int cpu, int group);

/* Runs a function in a child, so that its limits, uid and fds do not stay.
 * Returns the error that it filled in; code 0 if it did not. The function must
 * not assert. */
typedef void (*explain_provoke_cb)(uvperf_error_t *error);
uvperf_error_t explain_in_child(explain_provoke_cb provoke);

/* The same, with explain_check. */
void explain_expect(explain_provoke_cb provoke, int code, int cause,
                    const char *piece);

/* For children: root becomes EXPLAIN_NOBODY without groups and capabilities,
 * but stays dumpable, as a program that this user had started. Root of a user
 * namespace only loses its capabilities. */
void explain_drop_privileges(void);
/* Sets the effective, permitted and inheritable capabilities, one bit each. */
void explain_set_capabilities(uint64_t capabilities);
/* explain_drop_privileges for root, but keeps these capabilities, also across
 * execve(2). */
void explain_drop_all_but(uint64_t capabilities);
void explain_drop_all_but_perfmon(void);
/* Makes perf_event_open and bpf fail with an errno, as containers do. 0 lets
 * them pass; EXPLAIN_FILTER_KILLS makes them end the process. */
#define EXPLAIN_FILTER_KILLS (-1)
void explain_filter(int code);
/* The same for one system call, SYS_…. */
void explain_filter_call(long call, int code);

/* Skips unless perf_event_paranoid is from least to most, and the process has
 * no capabilities or can drop them. */
void explain_need_paranoid(const char *test, int least, int most);

#endif
