/* SPDX-License-Identifier: MIT */
/* The process makes a known number of page faults while the reader of the
 * sample's output sleeps. */
#include "live.h"
#include "tool_run.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct target_s {
  pid_t pid;
  int go[2];
  size_t pages;
} target_t;

static int run_target(void *arg) {
  const target_t *target = arg;
  size_t page = support_page_bytes();
  size_t size = target->pages * page;
  volatile char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  size_t i;
  char byte;

  close(target->go[1]);
  if (memory == MAP_FAILED ||
      madvise((void *)(uintptr_t)memory, size, MADV_NOHUGEPAGE) != 0 ||
      read(target->go[0], &byte, 1) < 0)
    return 1;
  for (i = 0; i < size; i += page)
    memory[i] = 1;
  return 0;
}

static void let_go(tool_run_t *run) {
  target_t *target = run->data;

  close(target->go[1]);
}

/* The output in the pipe, and the last message of the sample. */
typedef struct result_s {
  unsigned long lines; /* samples, except LOST records */
  unsigned long long faults, lost;
  unsigned int pauses;
} result_t;

/* The reader sleeps until the target has ended. */
static void run_with(result_t *result, size_t pages) {
  char command[512];
  tool_run_t run = {.args = {"/bin/sh", "-c", command},
                    .interrupt_at = "reader",
                    .interrupt_with = TOOL_RUN_NO_SIGNAL,
                    .work = let_go};
  target_t target = {.pages = pages};
  const char *end;

  assert_int_equal(pipe2(target.go, O_CLOEXEC), 0);
  target.pid = support_fork(run_target, &target);
  assert_true(target.pid > 0);
  close(target.go[0]);
  run.data = &target;
  snprintf(command, sizeof(command),
           "%s %d page-faults/period=1/u | "
           "{ sleep 1; echo reader >&2; "
           "until grep -q '^State:.Z' /proc/%d/status; do sleep 0.1; done; "
           "wc -l; }",
           SAMPLE_PATH, (int)target.pid, (int)target.pid);
  tool_run(&run);
  assert_int_equal(support_wait(target.pid), 0);
  tool_run_expect_status(&run, 0);
  end = strstr(run.err, "end; ");
  assert_non_null(end);
  result->lost = 0;
  assert_in_range(
      sscanf(end, "end; %u pauses %llu page-faults/period=1/u (%llu records",
             &result->pauses, &result->faults, &result->lost),
      2, 3);
  assert_int_equal(sscanf(run.out, "%lu", &result->lines), 1);
}

/* 5000 samples fit into one ring. */
static void slow_reader_pauses_the_set_and_gets_all_records(void **state) {
  result_t result;

  support_need_own_events(__func__);
  run_with(&result, 5000);
  assert_true(result.pauses > 0);
  assert_int_equal(result.lost, 0);
  assert_true(result.faults >= 5000);
  assert_int_equal(result.lines, result.faults);
}

static void lost_records_of_a_full_ring_are_reported(void **state) {
  result_t result;

  support_need_own_events(__func__);
  run_with(&result, 60000);
  assert_true(result.pauses > 0);
  assert_true(result.lost > 0);
  assert_true(result.faults >= 60000);
  assert_in_range(result.lines + result.lost, result.faults,
                  result.faults + 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slow_reader_pauses_the_set_and_gets_all_records),
      cmocka_unit_test(lost_records_of_a_full_ring_are_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
