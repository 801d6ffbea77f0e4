/* SPDX-License-Identifier: MIT */
/* trace and perf(1) print the same for each hit of the same work. */
#include "tool_run.h"

#include <unistd.h>

#define EVENTS "syscalls:sys_enter_getpriority,syscalls:sys_exit_getpriority"

/* Records the command with perf record, and prints it with perf script. Each
 * hit is a line with the name, the event and its fields. */
static char *perf_lines(void) {
  static tool_run_t run = {
      .args = {"/bin/sh", "-c",
               "file=$(mktemp) && trap 'rm -f $file' EXIT &&"
               "perf record -q -o $file -e \"$1\" \"$0\" calls 300 && "
               "perf script -i $file -F comm,event,trace | tr -s ' ' | "
               "sed 's/^ //; s/ $//; s/: / /'",
               TARGET_PATH, EVENTS}};

  tool_run_exits(&run, 0);
  return run.out;
}

/* Prints the same lines with trace: without time, CPU and pid. */
static char *trace_lines(void) {
  static tool_run_t run = {
      .args = {"/bin/sh", "-c",
               "\"$0\" --print-fmt -e \"$2\" \"$1\" calls 300 | "
               "cut -d ' ' -f 3,5- | sed 's/ $//'",
               TRACE_PATH, TARGET_PATH, EVENTS}};

  tool_run_exits(&run, 0);
  return run.out;
}

static void hits_are_printed_as_by_perf_script(void **state) {
  const char *perf, *trace;

  support_need_own_events(__func__);
  support_need_tracepoint(__func__, "syscalls:sys_enter_getpriority");
  if (system("perf --version >/dev/null 2>&1") != 0)
    support_skip(__func__, "perf(1)");
  trace = trace_lines();
  perf = perf_lines();
  tool_run_expect_text(trace, "trace_target syscalls:sys_enter_getpriority "
                              "which: 0x00000002, who: 0x0000012b\n");
  assert_string_equal(trace, perf);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(hits_are_printed_as_by_perf_script),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
