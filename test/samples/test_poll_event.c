/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

#include <time.h>
#include <unistd.h>

/* Computes for half a second of its own CPU time. */
static int spin(void *arg) {
  struct timespec used;

  (void)arg;
  do
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  while (used.tv_sec == 0 && used.tv_nsec < 500000000);
  return 0;
}

static void poll_event_prints_samples_until_the_thread_ends(void **state) {
  char tid[16];
  tool_run_t run = {.args = {SAMPLE_PATH, tid}};
  unsigned long long ip;
  const char *line;
  size_t nr = 0;
  pid_t child;
  int size;

  (void)state;
  support_need_own_events(__func__);
  child = support_fork(spin, NULL);
  assert_true(child > 0);
  snprintf(tid, sizeof(tid), "%d", (int)child);
  tool_run(&run);
  assert_int_equal(support_wait(child), 0);
  tool_run_expect_status(&run, 0);
  for (line = run.out; *line != '\0'; line += size, nr++) {
    size = 0;
    sscanf(line, "%llx\n%n", &ip, &size);
    assert_true(size > 0);
  }
  assert_in_range(nr, 10, 501); /* samples of the user side only */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(poll_event_prints_samples_until_the_thread_ends),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
