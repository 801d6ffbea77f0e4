/* SPDX-License-Identifier: MIT */
/* The output waits for a slow reader until a signal ends the wait. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/output.h"
#include "support.h"

#define TEXT_BYTES ((size_t)8 << 20)
#define PAGE_BYTES 4096
/* The number of pages to read before the signal. It is more than a pipe holds,
 * so that writing has begun. */
#define FIRST_PAGES 64

/* Reads everything. If `number` is not 0, sends this signal after FIRST_PAGES
 * pages and then reads slowly. */
static void read_pages(int fd, int number) {
  char page[PAGE_BYTES];
  size_t nr = 0;

  while (read(fd, page, sizeof(page)) > 0) {
    if (number == 0 || ++nr < FIRST_PAGES)
      continue;
    if (nr == FIRST_PAGES)
      kill(getppid(), number);
    usleep(1000);
  }
  _exit(0);
}

static int drain(common_output_t *output, int number) {
  static char text[TEXT_BYTES];
  int fds[2], rc;
  pid_t pid;

  assert_int_equal(pipe(fds), 0);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    close(fds[1]);
    read_pages(fds[0], number);
  }
  close(fds[0]);
  memset(output, 0, sizeof(*output));
  output->fd = fds[1];
  common_buffer_add(&output->buffer, text, sizeof(text));
  rc = common_output_drain(output);
  close(fds[1]);
  kill(pid, SIGKILL);
  assert_int_equal(waitpid(pid, NULL, 0), pid);
  return rc;
}

static void everything_is_written_for_a_reader(void **state) {
  common_output_t output;

  assert_int_equal(drain(&output, 0), 1);
  assert_int_equal(output.buffer.used, 0);
  assert_int_equal(output.error, 0);
  common_buffer_free(&output.buffer);
}

static void expect_end(int number) {
  common_output_t output;
  sigset_t set, old;
  int came;

  sigemptyset(&set);
  sigaddset(&set, number);
  assert_int_equal(sigprocmask(SIG_BLOCK, &set, &old), 0);
  assert_int_equal(drain(&output, number), 0);
  assert_true(output.buffer.used > 0);
  assert_true(output.buffer.used < TEXT_BYTES);
  common_buffer_free(&output.buffer);
  /* The signal stays pending for other code. */
  assert_int_equal(sigwait(&set, &came), 0);
  assert_int_equal(came, number);
  assert_int_equal(sigprocmask(SIG_SETMASK, &old, NULL), 0);
}

static void signal_ends_the_wait_for_a_slow_reader(void **state) {
  expect_end(SIGINT);
  expect_end(SIGTERM);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(everything_is_written_for_a_reader),
      cmocka_unit_test(signal_ends_the_wait_for_a_slow_reader),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
