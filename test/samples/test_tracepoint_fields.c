/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "live.h"
#include "tool_run.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define FAILURES 5

/* getpid() succeeds, so the filter drops it. */
static void fail_often(void *arg) {
  int i;

  for (i = 0; i < FAILURES; i++) {
    syscall(SYS_close, -1);
    syscall(SYS_getpid);
  }
}

static void work(tool_run_t *run) {
  live_worker_do(run->data);
  live_worker_end(run->data);
}

static void
tracepoint_fields_prints_system_calls_that_fail_by_name(void **state) {
  live_worker_t worker;
  char tid[16], failed[64], other[64];
  tool_run_t run = {.args = {SAMPLE_PATH, tid},
                    .interrupt_at = "watching ",
                    .interrupt_with = TOOL_RUN_NO_SIGNAL,
                    .work = work,
                    .data = &worker};
  struct tm date = {0};
  const char *line;
  int nr = 0;

  support_need_tracepoint(__func__, "raw_syscalls:sys_exit");
  live_worker_fork(&worker, fail_often, NULL);
  snprintf(tid, sizeof(tid), "%d", worker.pid);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  snprintf(failed, sizeof(failed), "system call %d: Bad file descriptor\n",
           SYS_close);
  snprintf(other, sizeof(other), "system call %d:", SYS_getpid);
  for (line = run.out; (line = strstr(line, failed)) != NULL; line++)
    nr++;
  assert_int_equal(nr, FAILURES);
  assert_null(strstr(run.out, other));
  assert_non_null(strptime(run.out, "%FT%T.", &date));
  assert_true(labs((long)(timegm(&date) - time(NULL))) < 60);
}

static void tracepoint_fields_without_tracefs_says_so(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "1"}, .as_nobody = 1};

  support_need_root(__func__);
  tool_run_ends(&run, 1, "tracefs");
}

/* The sanitizers report memory that is not freed. */
static void tracepoint_fields_of_no_thread_frees_all(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH, "99999999"}};

  support_need_tracepoint(__func__, "raw_syscalls:sys_exit");
  tool_run_ends(&run, 1, "99999999");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tracepoint_fields_prints_system_calls_that_fail_by_name),
      cmocka_unit_test(tracepoint_fields_without_tracefs_says_so),
      cmocka_unit_test(tracepoint_fields_of_no_thread_frees_all),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
