/* SPDX-License-Identifier: MIT */
/* Runs trace -s as a user would and checks its counts against a program whose
 * system calls are known, and against strace -c. */
#include "json_pick.h"
#include "trace_lines.h"

#include <sys/stat.h>
#include <unistd.h>

static trace_lines_t lines; /* of the last run */

#define ENTER "raw_syscalls:sys_enter"

typedef struct sums_s {
  size_t rows;
  long calls, errors, interrupted, running, ended, no_begin, no_end;
} sums_t;

static void run_summary(const char *test, tool_run_t *run) {
  support_need_tracepoint(test, ENTER);
  support_need_kernel_side(test);
  trace_lines_run(&lines, run, 0);
}

/* Adds up the rows of this call (all if it is "") and this process (all if it
 * is 0). */
static sums_t sum_of(const char *call, long pid) {
  sums_t sums = {0};
  char name[64];
  size_t i;

  for (i = 0; i + 1 < lines.nr; i++) {
    const trace_lines_line_t *line = &lines.lines[i];

    json_pick_string(line->text, "syscall", name, sizeof(name));
    if ((call[0] != '\0' && strcmp(name, call) != 0) ||
        (pid != 0 && line->pid != pid))
      continue;
    sums.rows++;
    sums.calls += trace_lines_number(line, "calls");
    sums.errors += trace_lines_number(line, "errors");
    sums.interrupted += trace_lines_number(line, "interrupted");
    sums.running += trace_lines_number(line, "running");
    sums.ended += trace_lines_number(line, "ended");
    sums.no_begin += trace_lines_number(line, "no_begin");
    sums.no_end += trace_lines_number(line, "no_end");
  }
  return sums;
}

/* Returns the row of a call with this text in its name. */
static const trace_lines_line_t *row_of(const char *call) {
  char name[64];
  size_t i;

  for (i = 0; i + 1 < lines.nr; i++) {
    json_pick_string(lines.lines[i].text, "syscall", name, sizeof(name));
    if (strstr(name, call) != NULL)
      return &lines.lines[i];
  }
  fail_msg("no call %s", call);
  return NULL;
}

/* Each sleep takes 30 ms or longer. */
static void expect_sleeps(const trace_lines_line_t *row) {
  assert_int_equal(trace_lines_number(row, "calls"), 2);
  assert_true(trace_lines_number(row, "min_ns") >= 30000000);
  assert_true(trace_lines_number(row, "p50_ns") >= 30000000);
  assert_true(trace_lines_number(row, "total_ns") >= 60000000);
}

static void known_calls_are_counted_with_errors_and_times(void **state) {
  static tool_run_t run = {
      .args = {TRACE_PATH, "-s", "--json", TARGET_PATH, "mixed", "x"}};
  sums_t sums;

  run_summary(__func__, &run);
  sums = sum_of("getpriority", 0);
  assert_int_equal(sums.rows, 1);
  assert_int_equal(sums.calls, 5 + 3 + 1);
  assert_int_equal(sums.errors, 3);
  expect_sleeps(row_of("nanosleep"));
  sums = sum_of("readv", row_of("getpriority")->pid);
  assert_int_equal(sums.calls, 2);
  assert_int_equal(sums.errors, 0);
  assert_int_equal(sums.interrupted, 1);
  sums = sum_of("rt_sigreturn", 0);
  assert_int_equal(sums.calls, 3);
  assert_int_equal(sums.errors, 0);
  assert_int_equal(sum_of("execve", 0).calls, 1);
  /* Both processes end, so no call still runs at the end. */
  assert_int_equal(sum_of("exit_group", 0).ended, 2);
  sums = sum_of("", 0);
  assert_int_equal(sums.running, 0);
  assert_int_equal(sums.no_begin, 0);
  assert_int_equal(sums.no_end, 0);
  assert_int_equal(trace_lines_number(trace_lines_end(&lines), "hits"),
                   sums.calls);
}

static long run_strace(const char *command) {
  static tool_run_t run = {
      .args = {"/bin/sh", "-c",
               "file=$(mktemp) && trap 'rm -f $file' EXIT && "
               "strace -f -c -o $file sh -c \"$0\" && "
               "awk 'NF > 4 && $NF !~ /^(total|syscall|-+)$/ "
               "{ print $NF, $4, (NF > 5 ? $5 : 0) }' $file"}};
  long calls, errors, all = 0;
  char name[64], *line, *rest;
  sums_t sums;

  run.args[3] = command;
  tool_run_exits(&run, 0);
  for (line = strtok_r(run.out, "\n", &rest); line != NULL;
       line = strtok_r(NULL, "\n", &rest)) {
    assert_int_equal(sscanf(line, "%63s %ld %ld", name, &calls, &errors), 3);
    /* The first execve(2) began before tracing did. */
    if (strcmp(name, "execve") == 0)
      calls--;
    sums = sum_of(name, 0);
    if (sums.calls != calls || sums.errors != errors)
      fail_msg("%s: %ld calls and %ld errors, not %ld and %ld", name,
               sums.calls, sums.errors, calls, errors);
    all += calls;
  }
  return all;
}

static void calls_and_errors_match_strace(void **state) {
  static const char command[] = "ls / >/dev/null; ls /none 2>/dev/null; true";
  static tool_run_t run = {.args = {TRACE_PATH, "-s", "--json",
                                    "--summary-mode", "total", "sh", "-c",
                                    command}};

  if (system("strace -c -o /dev/null true 2>/dev/null") != 0)
    support_skip(__func__, "strace(1), and that it may trace");
  run_summary(__func__, &run);
  assert_int_equal(sum_of("", 0).calls, run_strace(command));
}

#ifdef __x86_64__
/* i386 and x86-64 have different numbers: 20 is getpid or writev. */
static void calls_of_32_bit_tasks_have_no_64_bit_names(void **state) {
  /* An ELF file that makes call number 20 five times, and then exits. */
  static const char program[] =
      /* the header */
      "\x7f\x45\x4c\x46\x01\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"
      "\x02\x00\x03\x00\x01\x00\x00\x00\x54\x80\x04\x08\x34\x00\x00\x00"
      "\x00\x00\x00\x00\x00\x00\x00\x00\x34\x00\x20\x00\x01\x00\x00\x00"
      "\x00\x00\x00\x00"
      /* the segment */
      "\x01\x00\x00\x00\x00\x00\x00\x00\x00\x80\x04\x08\x00\x80\x04\x08"
      "\x74\x00\x00\x00\x74\x00\x00\x00\x05\x00\x00\x00\x00\x10\x00\x00"
      /* mov $5, %ecx */
      "\xb9\x05\x00\x00\x00"
      /* mov $20, %eax; int $0x80; dec %ecx; jnz */
      "\xb8\x14\x00\x00\x00\xcd\x80\x49\x75\xf6"
      /* mov $1, %eax; xor %ebx, %ebx; int $0x80 */
      "\xb8\x01\x00\x00\x00\x31\xdb\xcd\x80";
  static char path[] = "/tmp/uvperf-XXXXXX";
  static tool_run_t run = {.args = {TRACE_PATH, "-s", "--json", path}};
  int fd = mkstemp(path), status;

  assert_true(fd >= 0);
  assert_int_equal(write(fd, program, sizeof(program) - 1),
                   sizeof(program) - 1);
  assert_int_equal(fchmod(fd, 0700), 0);
  close(fd);
  status = system(path);
  if (status == 0)
    run_summary(__func__, &run);
  unlink(path);
  if (status != 0)
    support_skip(__func__, "a kernel that runs 32-bit programs");
  assert_int_equal(sum_of("32-bit call 20", 0).calls, 5);
  assert_int_equal(sum_of("32-bit call 1", 0).ended, 1);
  assert_int_equal(sum_of("", 0).calls, 5);
}
#endif

/* If trace counted itself, each record that it reads would cause more
 * records. */
static void summary_of_the_machine_excludes_trace_itself(void **state) {
  static tool_run_t run = {
      .args = {TRACE_PATH, "-s", "-a", "--json", "-m", "16M", "sh", "-c",
               "echo pid=$$ >&2; exec \"$0\" calls 500", TARGET_PATH}};
  long pid;

  support_need_cpu_wide(__func__);
  run_summary(__func__, &run);
  tool_run_expect_text(run.err, "pid=");
  pid = atol(strstr(run.err, "pid=") + strlen("pid="));
  assert_int_equal(sum_of("getpriority", pid).calls, 500);
  assert_int_equal(sum_of("", run.pid).rows, 0);
}

/* perf trace -e and strace -e have the same names. */
static void calls_are_chosen_by_their_names(void **state) {
  static tool_run_t run = {.args = {TRACE_PATH, "-s", "--json", "-e",
                                    "getpriority,*nanosleep*", TARGET_PATH,
                                    "mixed", "x"}};

  support_need_tracepoint(__func__, "syscalls:sys_enter_getpriority");
  trace_lines_run(&lines, &run, 0);
  assert_int_equal(lines.nr, 2 + 1);
  assert_int_equal(sum_of("getpriority", 0).calls, 9);
  assert_int_equal(sum_of("getpriority", 0).errors, 3);
  assert_int_equal(sum_of("", 0).no_begin, 0);
  expect_sleeps(row_of("nanosleep"));
}

static void tables_have_rows(void **state) {
  static tool_run_t run = {
      .args = {TRACE_PATH, "-s", TARGET_PATH, "mixed", "x"}};

  support_need_tracepoint(__func__, ENTER);
  support_need_kernel_side(__func__);
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.out, "x ");
  tool_run_expect_text(run.out, "\n  getpriority               9       3 ");
  tool_run_expect_text(run.out, "\n  interrupted by a signal: ");
  tool_run_expect_text(run.out, " readv (1)"); /* or after futex */
  tool_run_expect_text(run.err, " calls in ");
  assert_null(strstr(run.out, "exit_group"));
}

static void summary_of_other_events_is_refused(void **state) {
  tool_run_t none = {
      .args = {TRACE_PATH, "-s", "-e", "sched:sched_switch", "true"}};
  tool_run_t begin = {.args = {TRACE_PATH, "-s", "-e", ENTER, "true"}};

  support_need_tracepoint(__func__, ENTER);
  tool_run_ends(&none, 2, "sched:sched_switch is not one");
  tool_run_ends(&begin, 2, "-s needs both the begin");
}

/* Provides ./prog, a program that is not stripped, and a loop that makes system
 * calls even on an idle machine. */
static void each_example_of_help_works(void **state) {
  static const char words[] =
      "while sleep 0.1; do :; done >/dev/null 2>&1 & "
      "dir=$(mktemp -d) && trap 'kill $!; rm -rf $dir' EXIT && cd $dir && "
      "ln -s \"$0\" uvperf-trace && ln -s \"$1\" prog && PATH=$dir:$PATH && "
      "\"$2\" -q -e raw_syscalls:sys_enter,raw_syscalls:sys_exit ls && "
      "uvperf-trace --help | sed -n '/^Examples:/,/^The /s/^  uvp/uvp/p' "
      ">lines "
      "&& "
      "test -s lines || exit 9; while read -r line; do echo \"$line\"; "
      "sh -c \"$line\" </dev/null >out 2>err; "
      "grep -E ' [1-9][0-9]* (hit|call)s? in ' err || { cat err; exit 1; }; "
      "done <lines";
  tool_run_t run = {
      .args = {"/bin/sh", "-c", words, TRACE_PATH, TARGET_PATH, RECORD_PATH}};

  support_need_cpu_wide(__func__);
  support_need_uprobes(__func__);
  support_need_tracepoint(__func__, ENTER);
  tool_run_exits(&run, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(known_calls_are_counted_with_errors_and_times),
      cmocka_unit_test(calls_and_errors_match_strace),
#ifdef __x86_64__
      cmocka_unit_test(calls_of_32_bit_tasks_have_no_64_bit_names),
#endif
      cmocka_unit_test(summary_of_the_machine_excludes_trace_itself),
      cmocka_unit_test(calls_are_chosen_by_their_names),
      cmocka_unit_test(summary_of_other_events_is_refused),
      cmocka_unit_test(each_example_of_help_works),
      cmocka_unit_test(tables_have_rows),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
