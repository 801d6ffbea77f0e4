/* SPDX-License-Identifier: MIT */
/* How begins and ends of system calls become calls. The numbers are those of
 * this machine, but the test needs no kernel. */
#include "support.h"

#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "trace/calls.h"
#include "trace/syscalls.h"
#include "trace/table.h"

#define READ  SYS_readv
#define WRITE SYS_writev

static trace_calls_t calls;

static int reset(void **state) {
  trace_calls_free(&calls);
  return 0;
}

static void begin(uint64_t time, uint32_t pid, uint32_t tid, int64_t nr) {
  const trace_caller_now_t now = {pid, tid, "sh", time};

  trace_calls_begin(&calls, &now, nr, NULL, 0);
}

static void end(uint64_t time, uint32_t pid, uint32_t tid, int64_t nr,
                int64_t result) {
  const trace_caller_now_t now = {pid, tid, "sh", time};

  trace_calls_end(&calls, &now, nr, NULL, 0, result);
}

static trace_call_t no_call;

static const trace_call_t *call_of(uint32_t pid, int64_t nr) {
  const trace_call_t *call = NULL;
  size_t i;

  for (i = 0; i < calls.nr; i++) {
    if (calls.groups[i]->tid != pid)
      continue;
    while ((call = common_by_id_next(&calls.groups[i]->calls, call)) != NULL) {
      if (call->nr == nr)
        return call;
    }
  }
  return &no_call;
}

static void calls_of_threads_are_measured_apart(void **state) {
  begin(100, 7, 7, READ);
  begin(200, 7, 8, READ);
  end(300, 7, 7, READ, 1);
  end(1200, 7, 8, READ, -11);
  assert_int_equal(call_of(7, READ)->latency.nr, 2);
  assert_int_equal(call_of(7, READ)->latency.min, 200);
  assert_int_equal(call_of(7, READ)->latency.max, 1000);
  assert_int_equal(call_of(7, READ)->latency.total, 1200);
  assert_int_equal(call_of(7, READ)->errors, 1);
  assert_string_equal(call_of(7, READ)->name, "readv");
}

static void result_is_an_error_from_minus_4095_on(void **state) {
  static const struct {
    int64_t result;
    uint64_t errors, interrupted;
  } cases[] = {{-1, 1, 0},   {-4095, 1, 0}, {-4096, 0, 0}, {0, 0, 0},
               {-512, 0, 1}, {-513, 0, 1},  {-514, 0, 1},  {-515, 1, 0},
               {-516, 0, 1}, {4095, 0, 0}};
  size_t i;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    trace_calls_free(&calls);
    begin(1, 7, 7, READ);
    end(2, 7, 7, READ, cases[i].result);
    assert_int_equal(call_of(7, READ)->errors, cases[i].errors);
    assert_int_equal(call_of(7, READ)->interrupted, cases[i].interrupted);
  }
}

static void call_with_one_end_is_not_measured(void **state) {
  end(1, 7, 7, READ, 0); /* its begin was not traced */
  begin(2, 7, 7, READ);  /* its end is lost */
  begin(3, 7, 7, WRITE);
  end(4, 7, 7, READ, 0); /* its begin is lost, too */
  begin(5, 7, 7, READ);  /* still runs at the end */
  begin(6, 7, 8, WRITE); /* ends with its thread */
  trace_calls_exit(&calls, 8);
  trace_calls_finish(&calls);
  assert_int_equal(calls.groups[0]->sum.nr, 0);
  assert_int_equal(call_of(7, READ)->no_begin, 2);
  assert_int_equal(call_of(7, READ)->no_end, 1);
  assert_int_equal(call_of(7, READ)->running, 1);
  assert_int_equal(call_of(7, WRITE)->no_end, 1);
  assert_int_equal(call_of(7, WRITE)->ended, 1);
}

/* The end of the first call may have been lost, and the end that came may be of
 * the next call. */
static void
call_that_runs_while_records_are_lost_is_not_measured(void **state) {
  begin(1, 7, 7, READ);
  trace_calls_lost(&calls);
  end(2, 7, 7, READ, 0);
  begin(3, 7, 7, READ);
  end(4, 7, 7, READ, 0);
  begin(5, 7, 7, WRITE);
  trace_calls_lost(&calls);
  trace_calls_finish(&calls);
  assert_int_equal(call_of(7, READ)->latency.nr, 1);
  assert_int_equal(call_of(7, READ)->no_end, 1);
  assert_int_equal(call_of(7, WRITE)->running, 0);
  assert_int_equal(call_of(7, WRITE)->no_end, 1);
}

static void new_thread_leaves_the_call_that_made_it(void **state) {
  begin(1, 7, 7, SYS_clone);
  trace_calls_fork(&calls, 9, 9);
  end(2, 9, 9, SYS_clone, 0);
  end(3, 7, 7, SYS_clone, 9);
  assert_int_equal(call_of(7, SYS_clone)->latency.nr, 1);
  assert_int_equal(call_of(9, SYS_clone)->no_begin, 0);
}

/* Some machines clear the number of the call during execve(2). */
static void execve_ends_in_the_first_thread(void **state) {
  begin(1, 7, 7, READ);
  begin(2, 7, 8, SYS_execve);
  trace_calls_exit(&calls, 7);
  trace_calls_exec(&calls, 7, 7);
  trace_calls_comm(&calls, 7, 7, "ls");
  end(9, 7, 7, -1, 0);
  assert_int_equal(call_of(7, SYS_execve)->latency.total, 7);
  assert_int_equal(call_of(7, SYS_execve)->no_end, 0);
  assert_int_equal(call_of(7, READ)->ended, 1);
  assert_string_equal(calls.groups[0]->comm, "ls");
  assert_int_equal(calls.nr, 1);
}

/* If only some calls are traced, execve(2) is not traced. */
static void process_that_executes_is_the_same(void **state) {
  begin(1, 7, 7, READ);
  end(2, 7, 7, READ, 0);
  trace_calls_exit(&calls, 7);
  trace_calls_exec(&calls, 7, 7);
  begin(3, 7, 7, READ);
  end(4, 7, 7, READ, 0);
  assert_int_equal(calls.nr, 1);
  assert_int_equal(call_of(7, READ)->latency.nr, 2);
}

/* After sigreturn the registers are those of the interrupted code, so they hold
 * no result. */
static void result_of_sigreturn_is_none(void **state) {
  begin(1, 7, 7, SYS_rt_sigreturn);
  end(2, 7, 7, READ, -4);
  assert_int_equal(call_of(7, SYS_rt_sigreturn)->latency.nr, 1);
  assert_int_equal(call_of(7, SYS_rt_sigreturn)->errors, 0);
  assert_int_equal(call_of(7, READ)->no_begin, 0);
}

static void number_of_another_abi_has_no_name_of_ours(void **state) {
  const trace_caller_now_t now = {7, 7, "sh", 1};
  common_buffer_t buffer = {NULL, 0, 0};

  trace_calls_begin(&calls, &now, READ, NULL, 1);
  trace_calls_end(&calls, &now, READ, NULL, 1, 0);
  trace_calls_finish(&calls);
  trace_table_text(&buffer, &calls);
  common_buffer_add(&buffer, "", 1);
  assert_non_null(strstr(buffer.text, "bit call "));
  assert_null(strstr(buffer.text, "readv"));
  common_buffer_free(&buffer);
}

/* `uname -m` of the recorded machine decides, and this machine is one of
 * them. */
static void number_of_another_machine_has_no_name_of_ours(void **state) {
  static const char *const machines[] = {"x86_64",  "i686",  "aarch64",
                                         "riscv64", "s390x", "no-machine"};
  const trace_caller_now_t now = {7, 7, "sh", 1};
  struct utsname here;
  size_t i;

  assert_int_equal(uname(&here), 0);
  for (i = 0; i < sizeof(machines) / sizeof(*machines); i++)
    assert_int_equal(trace_syscalls_are_of(machines[i]),
                     strcmp(machines[i], here.machine) == 0);
  calls.is_foreign = 1;
  trace_calls_begin(&calls, &now, READ, NULL, 0);
  trace_calls_end(&calls, &now, READ, NULL, 0, 0);
  assert_null(call_of(7, READ)->name);
}

static void id_that_is_used_again_is_another_process(void **state) {
  begin(1, 7, 7, READ);
  end(2, 7, 7, READ, 0);
  trace_calls_exit(&calls, 7);
  trace_calls_fork(&calls, 7, 7);
  begin(3, 7, 7, READ);
  end(4, 7, 7, READ, 0);
  assert_int_equal(calls.nr, 2);
  assert_int_equal(calls.groups[1]->sum.nr, 1);
}

static void smallest_that_ended_are_joined_beyond_the_bound(void **state) {
  uint32_t pid;
  uint64_t sum = 0;
  size_t i;

  begin(1, 1, 1, READ); /* lives */
  for (pid = 2; pid < 2 + 2 * TRACE_CALLS_GROUPS; pid++) {
    begin(2, pid, pid, READ);
    end(4, pid, pid, READ, 0);
    if (pid == 2) {
      begin(5, pid, pid, WRITE);
      end(6, pid, pid, WRITE, 0);
    }
    trace_calls_exit(&calls, pid);
  }
  trace_calls_finish(&calls);
  assert_int_equal(calls.nr, TRACE_CALLS_GROUPS + 1);
  assert_true(calls.groups[0]->nr_joined >= TRACE_CALLS_GROUPS);
  assert_int_equal(calls.groups[0]->sum.total, 2 * calls.groups[0]->sum.nr);
  assert_int_equal(calls.groups[1]->pid, 2);
  for (i = 0; i < calls.nr; i++)
    sum += calls.groups[i]->sum.nr;
  assert_int_equal(sum, 2 * TRACE_CALLS_GROUPS + 1);
  assert_int_equal(call_of(1, READ)->running, 1);
}

/* A percentile is an upper bound that is at most a quarter too large. */
static void percentiles_are_those_of_the_times(void **state) {
  static const uint64_t times[] = {0, 1, 2, 3, 5, 1000, 1023, 1024, UINT64_MAX};
  trace_latency_t latency = {0}, half = {0}, other = {0};
  uint64_t ns, nr = 0;
  size_t i;

  for (ns = 1; ns <= 1000; ns++) {
    trace_latency_add(&latency, ns * 1000);
    trace_latency_add(ns % 2 ? &half : &other, ns * 1000);
  }
  assert_true(trace_latency_percentile(&latency, 50) >= 500000 &&
              trace_latency_percentile(&latency, 50) < 625000);
  assert_true(trace_latency_percentile(&latency, 99) >= 990000 &&
              trace_latency_percentile(&latency, 99) <= 1000000);
  assert_true(trace_latency_stddev(&latency) > 288000 &&
              trace_latency_stddev(&latency) < 289000);
  trace_latency_join(&half, &other);
  assert_memory_equal(half.buckets, latency.buckets, sizeof(half.buckets));
  assert_int_equal(half.total, latency.total);
  assert_true(trace_latency_stddev(&half) - trace_latency_stddev(&latency) <
              0.001);
  memset(&latency, 0, sizeof(latency));
  for (i = 0; i < sizeof(times) / sizeof(times[0]); i++)
    trace_latency_add(&latency, times[i]);
  for (i = 0; i < sizeof(latency.buckets) / sizeof(latency.buckets[0]); i++)
    nr += latency.buckets[i];
  assert_int_equal(nr, sizeof(times) / sizeof(times[0]));
  assert_int_equal(latency.buckets[9 * TRACE_LATENCY_PARTS + 3], 2);
  assert_int_equal(latency.buckets[10 * TRACE_LATENCY_PARTS], 1);
  assert_true(trace_latency_percentile(&latency, 100) == UINT64_MAX);
}

static void table_has_80_columns(void **state) {
  common_buffer_t buffer = {NULL, 0, 0};
  uint32_t pid;
  size_t i, column = 0;

  for (pid = 1; pid < 40; pid++) {
    begin(1, 40, pid, 100 + pid);
    end(999400000000001, 40, pid, 100 + pid, -1);
    begin(2, 40, pid, pid);
  }
  trace_calls_finish(&calls);
  trace_table_text(&buffer, &calls);
  for (i = 0; i < buffer.used; i++) {
    column = buffer.text[i] == '\n' ? 0 : column + 1;
    assert_true(column <= 80);
  }
  common_buffer_add(&buffer, "", 1);
  assert_non_null(strstr(buffer.text, "\n  still running:"));
  common_buffer_free(&buffer);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, reset, reset)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(calls_of_threads_are_measured_apart),
      TEST(result_is_an_error_from_minus_4095_on),
      TEST(call_with_one_end_is_not_measured),
      TEST(call_that_runs_while_records_are_lost_is_not_measured),
      TEST(new_thread_leaves_the_call_that_made_it),
      TEST(execve_ends_in_the_first_thread),
      TEST(process_that_executes_is_the_same),
      TEST(result_of_sigreturn_is_none),
      TEST(number_of_another_abi_has_no_name_of_ours),
      TEST(number_of_another_machine_has_no_name_of_ours),
      TEST(id_that_is_used_again_is_another_process),
      TEST(smallest_that_ended_are_joined_beyond_the_bound),
      TEST(percentiles_are_those_of_the_times),
      TEST(table_has_80_columns),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
