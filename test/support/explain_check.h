/* SPDX-License-Identifier: MIT */
/* What the tests of explanations share: failures in children that lack
 * something, and looks at what was told. */
#ifndef UVPERF_TEST_EXPLAIN_CHECK_H
#define UVPERF_TEST_EXPLAIN_CHECK_H

#include "support.h"

#include "explain/explain.h"

/* The user and group of a child without privileges. */
#define EXPLAIN_NOBODY 65534

/* Attrs of the user side alone, which anybody may open. */
void explain_user_clock(struct perf_event_attr *attr);
void explain_user_dummy(struct perf_event_attr *attr);

/* A call without cgroup and leader. */
uvperf__open_call_t explain_open_call(uvperf_error_t *error, int code,
                                      const char *root,
                                      const struct perf_event_attr *attr,
                                      int pid, int cpu);

/* Fails the test unless code and cause are these, the piece is in the reason,
 * and the reason is whole. */
void explain_check(const uvperf_error_t *error, int code, int cause,
                   const char *piece);

/* Opens and explains a failure: the fd, or a -errno. */
int explain_try(uvperf_error_t *error, struct perf_event_attr *attr, int pid,
                int cpu, int group);
/* The same with PERF_FLAG_PID_CGROUP. */
int explain_try_cgroup(uvperf_error_t *error, struct perf_event_attr *attr,
                       int cgroup, int cpu, int group);

/* Runs a function in a child, so that no limit, uid or fd of it stays, and
 * gives what it filled; code 0 if nothing. It must not assert. */
typedef void (*explain_provoke_cb)(uvperf_error_t *error);
uvperf_error_t explain_in_child(explain_provoke_cb provoke);

/* The same, with explain_check. */
void explain_expect(explain_provoke_cb provoke, int code, int cause,
                    const char *piece);

/* For children: root becomes EXPLAIN_NOBODY without any group or capability,
 * and stays dumpable, as a program that this user had started. Root of a user
 * namespace only loses its capabilities. */
void explain_drop_privileges(void);
/* Sets the effective, permitted and inheritable capabilities, one bit each. */
void explain_set_capabilities(uint64_t capabilities);
/* explain_drop_privileges for root, which keeps these capabilities, also by
 * execve(2). */
void explain_drop_all_but(uint64_t capabilities);
void explain_drop_all_but_perfmon(void);
/* Makes perf_event_open and bpf return an errno, as containers do; 0: lets them
 * pass; EXPLAIN_FILTER_KILLS: they end the process. */
#define EXPLAIN_FILTER_KILLS (-1)
void explain_filter(int code);

/* Skips unless perf_event_paranoid is from least to most, and the process has
 * no capability or can drop it. */
void explain_need_paranoid(const char *test, int least, int most);

#endif
