/* SPDX-License-Identifier: MIT */
#include "tool_run.h"

#include <fcntl.h>
#include <unistd.h>

/* Computes until the other end is closed. */
static int spin(void *arg) {
  const int *go = arg;
  char byte;

  close(go[1]);
  while (read(go[0], &byte, 1) < 0)
    continue;
  return 0;
}

static void let_go(tool_run_t *run) {
  const int *go = run->data;

  close(go[1]);
}

/* The thread ends when the sample has printed something. */
static void poll_event_prints_samples_until_the_thread_ends(void **state) {
  char tid[16];
  tool_run_t run = {.args = {SAMPLE_PATH, tid},
                    .interrupt_at = "0x",
                    .interrupt_with = TOOL_RUN_NO_SIGNAL,
                    .work = let_go};
  unsigned long long ip;
  const char *line;
  int go[2];
  size_t nr = 0;
  pid_t child;
  int size;

  support_need_own_events(__func__);
  assert_int_equal(pipe2(go, O_CLOEXEC | O_NONBLOCK), 0);
  child = support_fork(spin, go);
  assert_true(child > 0);
  close(go[0]);
  run.data = go;
  snprintf(tid, sizeof(tid), "%d", (int)child);
  tool_run(&run);
  assert_int_equal(support_wait(child), 0);
  tool_run_expect_status(&run, 0);
  for (line = run.out; *line != '\0'; line += size, nr++) {
    size = 0;
    sscanf(line, "%llx\n%n", &ip, &size);
    assert_true(size > 0);
  }
  assert_true(nr >= 10); /* samples of the user side only */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(poll_event_prints_samples_until_the_thread_ends),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
