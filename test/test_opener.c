/* SPDX-License-Identifier: MIT */
/* A forked child is told from its parent, and another thread is none. */
#include "fake_kernel.h"
#include "support.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <uv.h>

#include "opener.h"
#include "sys.h"

static int is_forked(void *arg) {
  return uvperf__opener_is_forked(arg) && uvperf__opener_seems_forked(arg) ? 0
                                                                           : 1;
}

static void opener_of_a_forked_child_is_another_process(void **state) {
  uvperf__opener_t opener;

  (void)state;
  uvperf__opener_init(&opener);
  assert_int_equal(uvperf__opener_is_forked(&opener), 0);
  assert_int_equal(uvperf__opener_seems_forked(&opener), 0);
  assert_int_equal(support_wait(support_fork(is_forked, &opener)), 0);
}

/* The C library knows nothing of such a child, and has the number of the
 * thread from the parent. */
static void opener_of_a_cloned_child_is_another_process(void **state) {
  uvperf__opener_t opener;
  pid_t child;

  (void)state;
  uvperf__opener_init(&opener);
  child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (child == 0)
    _exit(uvperf__opener_is_forked(&opener) ? 0 : 1);
  assert_int_equal(support_wait(child), 0);
}

static void opener_in_its_own_thread_makes_no_system_call(void **state) {
  uvperf__opener_t opener;
  unsigned calls;

  (void)state;
  uvperf__opener_init(&opener);
  calls = fake_count(FAKE_GETPID);
  assert_int_equal(uvperf__opener_seems_forked(&opener), 0);
  assert_int_equal(fake_count(FAKE_GETPID), calls);
}

static void is_not_forked(void *arg) {
  assert_int_equal(uvperf__opener_seems_forked(arg), 0);
}

static void opener_in_another_thread_is_the_same_process(void **state) {
  uvperf__opener_t opener;
  uv_thread_t thread;
  unsigned calls;

  (void)state;
  uvperf__opener_init(&opener);
  calls = fake_count(FAKE_GETPID);
  assert_int_equal(uv_thread_create(&thread, is_not_forked, &opener), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
  assert_int_equal(fake_count(FAKE_GETPID), calls + 1);
}

static void is_forked_in_spite_of_its_number(void *arg) {
  uvperf__opener_t *opener = arg;

  opener->pid += 1;
  opener->thread.number = uvperf__sys_thread();
  assert_int_equal(uvperf__opener_seems_forked(opener), 1);
}

/* The number of a thread that has ended is given again, also to a child. */
static void opener_with_the_number_of_an_older_thread_is_not_it(void **state) {
  uvperf__opener_t opener;
  uv_thread_t thread;

  (void)state;
  uvperf__opener_init(&opener);
  assert_int_equal(
      uv_thread_create(&thread, is_forked_in_spite_of_its_number, &opener), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(opener_of_a_forked_child_is_another_process,
                             fake_kernel_setup),
      cmocka_unit_test_setup(opener_of_a_cloned_child_is_another_process,
                             fake_kernel_setup),
      cmocka_unit_test_setup(opener_in_its_own_thread_makes_no_system_call,
                             fake_kernel_setup),
      cmocka_unit_test_setup(opener_in_another_thread_is_the_same_process,
                             fake_kernel_setup),
      cmocka_unit_test_setup(
          opener_with_the_number_of_an_older_thread_is_not_it,
          fake_kernel_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
