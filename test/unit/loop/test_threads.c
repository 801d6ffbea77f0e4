/* SPDX-License-Identifier: MIT */
/* Scripted: how many threads are tried before libuv's pool is used. The program
 * is linked with --wrap for the functions of libuv that make threads. */
#include "fake_kernel.h"
#include "support.h"

#include <stdlib.h>
#include <unistd.h>

#include "loop/threads.h"
#include "sys/fork.h"

static struct {
  unsigned made;
  unsigned joined;
  unsigned most; /* that can be made */
} threads;

int __wrap_uv_thread_create(uv_thread_t *thread, uv_thread_cb entry, void *arg);
int __wrap_uv_thread_join(uv_thread_t *thread);

int __wrap_uv_thread_create(uv_thread_t *thread, uv_thread_cb entry,
                            void *arg) {
  (void)thread;
  (void)entry;
  (void)arg;
  if (threads.made == threads.most)
    return UV_EAGAIN;
  threads.made += 1;
  return 0;
}

int __wrap_uv_thread_join(uv_thread_t *thread) {
  (void)thread;
  threads.joined += 1;
  return 0;
}

/* Checks in a process that has not checked yet. */
static int check_first(unsigned most) {
  threads.made = threads.joined = 0;
  threads.most = most;
  fake_process(uvperf__process() + 1);
  return uvperf__threads_check();
}

static void as_many_threads_are_tried_as_libuv_makes(void **state) {
  static const struct {
    const char *size; /* UV_THREADPOOL_SIZE */
    unsigned nr;
  } rows[] = {{NULL, 4},      {"0", 1},       {"-1", 1},
              {"x", 1},       {"1", 1},       {"7", 7},
              {"1024", 1024}, {"1025", 1024}, {"5000", 1024}};
  size_t i;

  (void)state;
  for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    if (rows[i].size == NULL)
      unsetenv("UV_THREADPOOL_SIZE");
    else
      setenv("UV_THREADPOOL_SIZE", rows[i].size, 1);
    assert_int_equal(check_first(5000), 0);
    assert_int_equal(threads.made, rows[i].nr);
    assert_int_equal(threads.joined, rows[i].nr);
    assert_int_equal(uvperf__threads_check(), 0);
    assert_int_equal(threads.made, rows[i].nr); /* once is enough */
  }
  unsetenv("UV_THREADPOOL_SIZE");
}

/* Only threads that were made are joined, and the next call tries again. */
static void threads_that_cannot_be_made_are_eagain(void **state) {
  unsigned most;

  (void)state;
  for (most = 0; most < 4; most++) {
    assert_int_equal(check_first(most), UV_EAGAIN);
    assert_int_equal(threads.made, most);
    assert_int_equal(threads.joined, most);
    threads.made = 0;
    threads.most = 4;
    assert_int_equal(uvperf__threads_check(), 0);
  }
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(check_first(4), UV_ENOMEM);
  assert_int_equal(threads.made, 0);
}

/* The C library knows another id of the thread than the kernel. */
static void child_of_a_bare_clone_is_enotsup(void **state) {
  (void)state;
  fake_fail(FAKE_GETTID, 1, (int)getpid() + 1);
  assert_int_equal(check_first(4), UV_ENOTSUP);
  assert_int_equal(threads.made, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(as_many_threads_are_tried_as_libuv_makes,
                             fake_kernel_setup),
      cmocka_unit_test_setup(threads_that_cannot_be_made_are_eagain,
                             fake_kernel_setup),
      cmocka_unit_test_setup(child_of_a_bare_clone_is_enotsup,
                             fake_kernel_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
