/* SPDX-License-Identifier: MIT */
/* Shared by all test programs: cmocka with the headers that it needs before it,
 * a fixture with a loop, checks for what live tests need, and counts of what a
 * process holds. The scripted kernel is in fake_kernel.h. */
#ifndef UVPERF_TEST_SUPPORT_H
#define UVPERF_TEST_SUPPORT_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include <cmocka.h>
#include <uv.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The fixture: *state is a uv_loop_t *. The teardown runs the loop once more,
 * and fails unless uv_loop_close() then returns 0; it prints which handles were
 * left, and closes them.
 *
 * With support_loop_test(f) in the table of tests, the teardown knows whether
 * the test passed. After a test that failed or skipped it abandons the loop
 * without closing it, and does not fail. (An assert in a callback jumps out of
 * uv_run(), which leaves lists of the loop on a stack that is gone: touching
 * such a loop may crash and hide the failure.) With
 * cmocka_unit_test_setup_teardown the teardown is strict for every test.
 *
 * A test's own setup and teardown may call these two; use
 * support_loop_test_setup_teardown for it. Not for groups that have a state. */
int support_loop_setup(void **state);
int support_loop_teardown(void **state);

/* For such a teardown: whether the body returned. */
int support_loop_passed(void **state);

typedef struct support_body_s {
  CMUnitTestFunction run;
  const void *row; /* of support_run_loop_rows */
} support_body_t;

/* Runs the body that support_loop_test put into the table. */
void support_loop_run(void **state);

#define support_loop_test_setup_teardown(f, setup, teardown)                   \
  {                                                                            \
#f, support_loop_run, setup, teardown, &(support_body_t) {                 \
      f, NULL                                                                  \
    }                                                                          \
  }
#define support_loop_test(f)                                                   \
  support_loop_test_setup_teardown(f, support_loop_setup, support_loop_teardown)

/* Runs a table, and other tests after it, as main() of a test program does.
 * Each row begins with its name, and is a test: `run` gets it as *state. */
int support_run_rows(const void *rows, size_t row_bytes, size_t nr_rows,
                     CMUnitTestFunction run, const struct CMUnitTest *tests,
                     size_t nr_tests);

/* Each row is a test with a loop, as by support_loop_test: `run` gets the loop
 * as state[0], and the row as state[1]. */
int support_run_loop_rows(const void *rows, size_t row_bytes, size_t nr_rows,
                          CMUnitTestFunction run,
                          const struct CMUnitTest *tests, size_t nr_tests);

#define SUPPORT_RUN_ROWS(rows, run)                                            \
  support_run_rows(rows, sizeof((rows)[0]), COUNT_OF(rows), run, NULL, 0)
#define SUPPORT_RUN_ROWS_AND_TESTS(rows, run, tests)                           \
  support_run_rows(rows, sizeof((rows)[0]), COUNT_OF(rows), run, tests,        \
                   COUNT_OF(tests))

#define SUPPORT_RUN_LOOP_ROWS(rows, run)                                       \
  support_run_loop_rows(rows, sizeof((rows)[0]), COUNT_OF(rows), run, NULL, 0)
#define SUPPORT_RUN_LOOP_ROWS_AND_TESTS(rows, run, tests)                      \
  support_run_loop_rows(rows, sizeof((rows)[0]), COUNT_OF(rows), run, tests,   \
                        COUNT_OF(tests))

/* Each of these checks exactly one need, without the scripted kernel. If it is
 * missing they print "skipped: <test>: needs <what>" and skip the test; if the
 * check fails for any other reason (EMFILE, for example) they fail it. Call
 * them in the test's body before anything is opened; `test` is __func__. */

/* An event of the process's own user side: perf_event_paranoid up to 2. */
void support_need_own_events(const char *test);
/* An event of its own kernel side: paranoid up to 1, or CAP_PERFMON. */
void support_need_kernel_side(const char *test);
/* An event of every task on CPU 0: paranoid up to 0, or CAP_PERFMON. */
void support_need_cpu_wide(const char *test);
/* A breakpoint on the process's own data. */
void support_need_breakpoints(const char *test);
/* A hardware event of its own user side, PERF_COUNT_HW_*, that counts; or, if
 * sample_period is not 0, samples: PMUs without interrupts only count. */
void support_need_hardware(const char *test, uint64_t config,
                           uint64_t sample_period);
/* tracefs is readable and has "category:name". Returns its id. */
uint64_t support_need_tracefs(const char *test, const char *name);
/* The same, and an event of its own, to open the tracepoint. */
uint64_t support_need_tracepoint(const char *test, const char *name);
/* The uprobe PMU, and the privilege for it: CAP_SYS_ADMIN since Linux 6.16. */
void support_need_uprobes(const char *test);
/* Effective user 0 outside of user namespaces, to change sysctls, for
 * example. */
void support_need_root(const char *test);
/* Root there has the rights of a user. */
int support_is_in_user_namespace(void);
/* The same with CAP_SYS_ADMIN, which a container's root does not have. */
void support_need_admin(const char *test);

/* Every user may enter the directory of this program: not in a home directory
 * of mode 0700, for example. */
void support_need_public_build(const char *test);

/* Skips with the same line, for needs that only one test has. */
void support_skip(const char *test, const char *what);

/* The page size in bytes. */
size_t support_page_bytes(void);
/* The number of open fds of this process. */
size_t support_count_fds(void);
/* In a child: lowers RLIMIT_NOFILE so that it may open so many more fds.
 * Returns the limit, or 0 if it cannot be set. */
uint64_t support_limit_fds(unsigned more);
/* The size of the first ring of a handle in bytes, or 0 without a ring. */
struct uvperf_handle_s;
size_t support_ring_bytes(const struct uvperf_handle_s *handle);
/* The number of perf rings that this process has mapped, and their total size
 * in bytes. */
size_t support_count_rings(size_t *bytes);

/* Runs a function in a forked child, which then exits at once with its result;
 * no destructor or leak check runs there. It must not assert or skip: that
 * would continue with the parent's tests. */
typedef int (*support_child_fn)(void *arg);
pid_t support_fork(support_child_fn run, void *arg);
/* The same by clone(2), without the C library's knowledge. */
pid_t support_clone(support_child_fn run, void *arg);
/* Waits for it. Returns its exit status, or 128 + the signal that killed it. */
int support_wait(pid_t pid);

/* Runs it in a child that has the pid of its parent, in a pid namespace of its
 * own, and waits for it. Returns as support_wait. Skips the test if that is
 * impossible: it needs root and Linux 5.5. */
int support_run_with_same_pid(const char *test, support_child_fn run,
                              void *arg);

#endif
