/* SPDX-License-Identifier: MIT */
/* What makes other tests fail: tests that go wrong on purpose run in a child,
 * and cmocka's output is compared. */
#include "live.h"

#include <signal.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "util/alloc.h"

static void leave_a_timer(uv_loop_t *loop) {
  static uv_timer_t timer;

  assert_int_equal(uv_timer_init(loop, &timer), 0);
}

static void body_that_is_clean(void **state) {
  assert_non_null(*state);
}

static void body_that_leaves_a_handle(void **state) {
  leave_a_timer(*state);
}

static void body_that_fails_with_a_handle(void **state) {
  leave_a_timer(*state);
  fail();
}

static void body_that_skips(void **state) {
  leave_a_timer(*state);
  support_skip(__func__, "the moon");
}

static void fail_in_callback(uv_idle_t *idle) {
  fail();
}

static void body_that_fails_in_a_callback(void **state) {
  static uv_idle_t idle;

  assert_int_equal(uv_idle_init(*state, &idle), 0);
  assert_int_equal(uv_idle_start(&idle, fail_in_callback), 0);
  uv_run(*state, UV_RUN_NOWAIT);
}

static void body_that_leaks_memory(void **state) {
  fake_kernel_reset();
  uvperf__calloc(1, 1);
  fake_assert_clean();
}

static void body_that_leaves_an_event_open(void **state) {
  fake_event_t *fake;

  fake_kernel_reset();
  fake = fake_event_add(1);
  fake->fd = dup(0);
  fake_assert_clean();
}

typedef struct trial_s {
  struct CMUnitTest test;
  int output;
} trial_t;

static int run_trial(void *arg) {
  trial_t *trial = arg;
  const struct CMUnitTest tests[] = {trial->test};
  int failed;

  dup2(trial->output, STDOUT_FILENO);
  dup2(trial->output, STDERR_FILENO);
  /* Whatever format the surrounding tests are reported in. */
  cmocka_set_message_output(CM_OUTPUT_STDOUT);
  unsetenv("CMOCKA_MESSAGE_OUTPUT");
  failed = cmocka_run_group_tests(tests, NULL, NULL);
  fflush(NULL);
  return failed;
}

static char text[4096]; /* the output of the last one */

/* Runs one test in a child. Returns its exit status. */
static int try_test(struct CMUnitTest test) {
  trial_t trial = {test, -1};
  ssize_t got;
  size_t used;
  int fd[2];
  pid_t pid;

  assert_int_equal(pipe(fd), 0);
  trial.output = fd[1];
  pid = support_fork(run_trial, &trial);
  close(fd[1]);
  used = 0;
  while ((got = read(fd[0], text + used, sizeof(text) - 1 - used)) > 0)
    used += (size_t)got;
  text[used] = '\0';
  close(fd[0]);
  return support_wait(pid);
}

#define STRICT(f)                                                              \
  { #f, f, support_loop_setup, support_loop_teardown, NULL }
#define PLAIN(f)                                                               \
  { #f, f, NULL, NULL, NULL }

static void test_with_a_loop_ends_as_its_body_did(void **state) {
  const struct {
    struct CMUnitTest test;
    int status;
    const char *says;
  } cases[] = {
      {support_loop_test(body_that_is_clean), 0, "[       OK ]"},
      {support_loop_test(body_that_leaves_a_handle), 1, "[  ERROR   ]"},
      {support_loop_test(body_that_fails_with_a_handle), 1, "[  FAILED  ]"},
      {support_loop_test(body_that_fails_in_a_callback), 1, "[  FAILED  ]"},
      {support_loop_test(body_that_skips), 0, "[  SKIPPED ]"},
      {STRICT(body_that_is_clean), 0, "[       OK ]"},
      {STRICT(body_that_leaves_a_handle), 1, "uv_loop_close: "},
      {PLAIN(body_that_leaks_memory), 1, "1 allocations are left"},
      {PLAIN(body_that_leaves_an_event_open), 1, "event 0 is still open"},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    int status = try_test(cases[i].test);

    if (status != cases[i].status || strstr(text, cases[i].says) == NULL)
      fail_msg("case %zu: %d\n%s", i, status, text);
  }
}

static void test_that_failed_has_no_second_failure(void **state) {
  struct CMUnitTest test = support_loop_test(body_that_fails_with_a_handle);

  assert_int_equal(try_test(test), 1);
  assert_null(strstr(text, "uv_loop_close"));
}

static void skip_names_the_test_and_the_need(void **state) {
  struct CMUnitTest test = support_loop_test(body_that_skips);

  assert_int_equal(try_test(test), 0);
  assert_non_null(strstr(text, "skipped: body_that_skips: needs the moon\n"));
}

static int exit_with(void *arg) {
  return *(int *)arg;
}

static int die(void *arg) {
  return raise(*(int *)arg);
}

static void wait_returns_the_status_or_the_signal(void **state) {
  int status = 42;
  int signal = SIGKILL;

  assert_int_equal(support_wait(support_fork(exit_with, &status)), 42);
  assert_int_equal(support_wait(support_fork(die, &signal)), 128 + SIGKILL);
}

static void need_of_an_absent_tracepoint_skips(void **state) {
  support_need_tracefs(__func__, "nosuch:tracepoint");
}

static void need_of_a_tracepoint_returns_its_id(void **state) {
  struct CMUnitTest test = PLAIN(need_of_an_absent_tracepoint_skips);

  assert_int_equal(try_test(test), 0);
  assert_non_null(strstr(text, "a readable tracefs with nosuch:tracepoint\n"));
  support_need_root(__func__);
  assert_int_not_equal(support_need_tracefs(__func__, "sched:sched_switch"), 0);
}

static void need_of_everything_is_met_for_root(void **state) {
  support_need_root(__func__);
  support_need_own_events(__func__);
  support_need_kernel_side(__func__);
  support_need_cpu_wide(__func__);
  support_need_breakpoints(__func__);
}

/* The same if the user may only measure user space: paranoid 2, without
 * privileges. */
static void need_of_the_kernel_side_as_nobody(void **state) {
  assert_int_equal(setuid(65534), 0);
  support_need_own_events(__func__);
  printf("allowed\n");
  support_need_kernel_side(__func__);
}

static void need_that_is_refused_skips(void **state) {
  struct CMUnitTest test = PLAIN(need_of_the_kernel_side_as_nobody);
  FILE *file;
  int level;

  support_need_root(__func__);
  file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%d", &level), 1);
  fclose(file);
  if (level != 2)
    support_skip(__func__, "perf_event_paranoid 2");
  assert_int_equal(try_test(test), 0);
  assert_non_null(strstr(text, "allowed\n"));
  assert_non_null(strstr(text, "needs events of the kernel side\n"));
}

static void no_wakeup(uv_async_t *async) {
}

/* A deadline that has passed before the loop checks it. */
static void turns_end_even_if_the_time_is_up_at_once(void **state) {
  uv_async_t async;

  uv_async_init(*state, &async, no_wakeup);
  assert_in_range(live_run_ms(*state, 0), 1, 100);
  uv_close((uv_handle_t *)&async, NULL);
  uv_run(*state, UV_RUN_NOWAIT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_with_a_loop_ends_as_its_body_did),
      cmocka_unit_test(test_that_failed_has_no_second_failure),
      cmocka_unit_test(skip_names_the_test_and_the_need),
      cmocka_unit_test(wait_returns_the_status_or_the_signal),
      cmocka_unit_test(need_of_a_tracepoint_returns_its_id),
      cmocka_unit_test(need_of_everything_is_met_for_root),
      cmocka_unit_test(need_that_is_refused_skips),
      support_loop_test(turns_end_even_if_the_time_is_up_at_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
