/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

#include <signal.h>
#include <sys/mman.h>

#define BYTES ((size_t)1 << 20)

static int fault_often(void *arg) {
  volatile int go = arg == NULL;
  volatile char *memory;
  size_t i;

  while (go) {
    memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (i = 0; memory != MAP_FAILED && i < BYTES; i += 1024)
      memory[i] = 1;
    munmap((void *)memory, BYTES);
  }
  return 0;
}

/* The sample itself has less than a hundred page faults meanwhile. */
static void measure_machine_counts_other_processes(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}};
  unsigned long long switches, migrations, faults;
  pid_t child;

  support_need_cpu_wide(__func__);
  child = support_fork(fault_often, NULL);
  assert_true(child > 0);
  tool_run(&run);
  kill(child, SIGKILL);
  support_wait(child);
  tool_run_expect_status(&run, 0);
  if (sscanf(run.out, "%llu cs\n%llu migrations\n%llu page-faults\n", &switches,
             &migrations, &faults) != 3)
    fail_msg("%s", run.out);
  assert_true(faults >= 500);
}

static void measure_machine_as_nobody_says_why_not(void **state) {
  tool_run_t run = {.args = {SAMPLE_PATH}};

  tool_run_is_refused(__func__, &run);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(measure_machine_counts_other_processes),
      cmocka_unit_test(measure_machine_as_nobody_says_why_not),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
