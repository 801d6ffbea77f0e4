/* SPDX-License-Identifier: MIT */
/* The rdpmc instructions, on this CPU. */
#include "support.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "sys/sys.h"

/* The kernel's sigset_t. */
#define SIGSET_BYTES 8

static void need_instructions(const char *test) {
#if !defined(__x86_64__) && !defined(__i386__) && !defined(__aarch64__)
  support_skip(test, "an architecture that sys/rdpmc.c knows");
#endif
}

static void cycles_pass(void **state) {
  uint64_t before = uvperf__sys_cycles();

  need_instructions(__func__);
  while (uvperf__sys_cycles() == before)
    continue;
}

/* Whether an administrator has allowed it for every process, whatever it has
 * open. */
static int rdpmc_is_free(void) {
  FILE *file = fopen("/sys/devices/cpu/rdpmc", "re");
  int c;

  if (file == NULL)
    return 0;
  c = fgetc(file);
  fclose(file);
  return c == '2';
}

static int read_counter(void *arg) {
  /* The kernel's struct sigaction of SIG_DFL. */
  static const unsigned long none[8] = {0};

  /* The handlers of sanitizers, which may not allow signal(3) to replace
   * theirs, and of cmocka must not run. */
  syscall(SYS_rt_sigaction, SIGSEGV, none, NULL, SIGSET_BYTES);
  syscall(SYS_rt_sigaction, SIGILL, none, NULL, SIGSET_BYTES);
  uvperf__sys_rdpmc(0);
  return 0;
}

static void rdpmc_without_a_page_ends_the_process(void **state) {
  int status;

  need_instructions(__func__);
  if (rdpmc_is_free())
    support_skip(__func__, "less than 2 in /sys/devices/cpu/rdpmc");
  status = support_wait(support_fork(read_counter, NULL));
  assert_true(status == 128 + SIGSEGV || status == 128 + SIGILL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(cycles_pass, fake_kernel_setup),
      cmocka_unit_test_setup(rdpmc_without_a_page_ends_the_process,
                             fake_kernel_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
