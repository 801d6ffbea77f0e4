/* SPDX-License-Identifier: MIT */
/* A forked child has another number than its ancestors, whatever its pid is,
 * and its threads have the same number. */
#include "fake_kernel.h"
#include "support.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <uv.h>

#include "sys/fork.h"

/* -- the kernel cannot mark ----------------------------------------------- */

/* The mark is made once, so these come first and make it in children. */

static int has_the_pid(void *arg) {
  return uvperf__process() == (uint32_t)getpid() &&
                 *uvperf__process_number() == 0
             ? 0
             : 1;
}

static int goes_without_mark(void *arg) {
  enum fake_call call = *(enum fake_call *)arg;

  fake_fail(call, 1, call == FAKE_MADVISE ? -EINVAL : -ENOMEM);
  if (uvperf__process_is_marked())
    return 1;
  /* The second call would succeed, but both rules must not mix. */
  if (uvperf__process_is_marked() || has_the_pid(NULL) != 0)
    return 2;
  if (support_wait(support_fork(has_the_pid, NULL)) != 0)
    return 3;
  return fake_count(FAKE_MUNMAP) == (call == FAKE_MADVISE ? 1 : 0) ? 0 : 4;
}

static void process_that_cannot_be_wiped_has_its_pid(void **state) {
  enum fake_call call = FAKE_MADVISE;

  assert_int_equal(support_wait(support_fork(goes_without_mark, &call)), 0);
}

static void process_without_memory_for_a_mark_has_its_pid(void **state) {
  enum fake_call call = FAKE_MMAP_PRIVATE;

  assert_int_equal(support_wait(support_fork(goes_without_mark, &call)), 0);
}

/* -- threads -------------------------------------------------------------- */

enum {
  THREADS = 8
};

typedef struct crowd_s {
  atomic_int ready;
  uint32_t numbers[THREADS];
  atomic_int next;
} crowd_t;

static void take_number(void *arg) {
  crowd_t *crowd = arg;
  int mine = atomic_fetch_add(&crowd->next, 1);

  atomic_fetch_add(&crowd->ready, 1);
  while (atomic_load(&crowd->ready) < THREADS)
    sched_yield();
  crowd->numbers[mine] = uvperf__process();
}

/* How much of the memory a fork would wipe. */
static size_t wiped_bytes(void) {
  FILE *maps = fopen("/proc/self/smaps", "r");
  unsigned long kb = 0;
  size_t bytes = 0;
  char line[512];

  if (maps == NULL)
    return 0;
  while (fgets(line, sizeof(line), maps) != NULL) {
    sscanf(line, "Size: %lu kB", &kb);
    if (strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " wf") != NULL)
      bytes += kb * 1024;
  }
  fclose(maps);
  return bytes;
}

/* In a process without a mark. */
static int be_a_crowd(void *arg) {
  uv_thread_t threads[THREADS];
  crowd_t crowd = {0};
  int i;

  for (i = 0; i < THREADS; i++)
    if (uv_thread_create(&threads[i], take_number, &crowd) != 0)
      return 1;
  for (i = 0; i < THREADS; i++)
    uv_thread_join(&threads[i]);
  for (i = 0; i < THREADS; i++)
    if (crowd.numbers[i] == 0 || crowd.numbers[i] != uvperf__process())
      return 2;
  return wiped_bytes() == support_page_bytes() ? 0 : 3;
}

static void threads_at_the_same_time_make_one_mark(void **state) {
  int i;

  for (i = 0; i < 20; i++)
    assert_int_equal(support_wait(support_fork(be_a_crowd, NULL)), 0);
}

/* While a thread makes its mark, another makes one. The program is linked with
 * --wrap for pthread_atfork. */
static int is_overtaken;

int __real_pthread_atfork(void (*prepare)(void), void (*parent)(void),
                          void (*child)(void));

int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void),
                          void (*child)(void)) {
  if (is_overtaken) {
    is_overtaken = 0;
    uvperf__process();
  }
  return __real_pthread_atfork(prepare, parent, child);
}

static int be_overtaken(void *arg) {
  uint32_t mine;

  is_overtaken = 1;
  mine = uvperf__process();
  if (is_overtaken || mine == 0 || mine != uvperf__process())
    return 1;
  return wiped_bytes() == support_page_bytes() ? 0 : 2;
}

static void mark_that_is_made_twice_is_unmapped_once(void **state) {
  assert_int_equal(support_wait(support_fork(be_overtaken, NULL)), 0);
}

typedef struct look_s {
  uvperf__thread_t thread;
  int is_mine; /* for the thread that looks */
} look_t;

static void look(void *arg) {
  look_t *at = arg;

  at->is_mine = uvperf__thread_is_mine(&at->thread);
}

/* Either can be reused: the number, which all threads have here, and the
 * pthread_t. */
static void thread_is_known_by_number_and_pthread(void **state) {
  uv_thread_t other;
  look_t at;

  fake_thread(5);
  uvperf__thread_init(&at.thread);
  look(&at);
  assert_true(at.is_mine);
  assert_int_equal(uv_thread_create(&other, look, &at), 0);
  uv_thread_join(&other);
  assert_false(at.is_mine);
  fake_thread(6);
  look(&at);
  assert_false(at.is_mine);
  fake_thread(0);
}

/* -- children ------------------------------------------------------------- */

static int is_another(void *arg) {
  const uint32_t *parent = arg;
  uint32_t mine = uvperf__process();

  return mine != 0 && mine != *parent && uvperf__process() == mine ? 0 : 1;
}

static void forked_child_is_another_process(void **state) {
  uint32_t mine = uvperf__process();

  assert_int_not_equal(mine, 0);
  assert_int_equal(support_wait(support_fork(is_another, &mine)), 0);
  assert_int_equal(uvperf__process(), mine);
}

static int has_no_number_yet(void *arg) {
  const _Atomic uint32_t *number = uvperf__process_number();

  return *number == 0 && uvperf__process() == *number ? 0 : 1;
}

static void number_is_0_until_a_child_asks(void **state) {
  assert_int_equal(uvperf__process(), *uvperf__process_number());
  assert_int_equal(support_wait(support_fork(has_no_number_yet, NULL)), 0);
  assert_int_equal(support_wait(support_clone(has_no_number_yet, NULL)), 0);
}

static int has_another_child(void *arg) {
  const uint32_t *old = arg;
  uint32_t numbers[2] = {*old, uvperf__process()};

  if (is_another(&numbers[0]) != 0)
    return 1;
  if (support_wait(support_fork(is_another, &numbers[0])) != 0)
    return 2;
  return support_wait(support_fork(is_another, &numbers[1])) == 0 ? 0 : 3;
}

static void grandchild_is_neither_of_its_ancestors(void **state) {
  uint32_t mine = uvperf__process();

  assert_int_equal(support_wait(support_fork(has_another_child, &mine)), 0);
}

/* The first that asks is the grandchild. */
static int has_a_child_that_asks(void *arg) {
  return support_wait(support_fork(is_another, arg));
}

static void grandchild_of_a_silent_child_is_another_process(void **state) {
  uint32_t mine = uvperf__process();

  assert_int_equal(support_wait(support_fork(has_a_child_that_asks, &mine)), 0);
}

static void cloned_child_is_another_process(void **state) {
  uint32_t mine = uvperf__process();

  assert_int_equal(support_wait(support_clone(is_another, &mine)), 0);
}

static void child_with_the_same_pid_is_another_process(void **state) {
  uint32_t mine = uvperf__process();

  assert_int_equal(support_run_with_same_pid(__func__, is_another, &mine), 0);
}

static int is_the_same(void *arg) {
  const uint32_t *parent = arg;

  return uvperf__process() == *parent ? 0 : 1;
}

/* Like vfork(2), but with a stack of its own. */
static void child_that_shares_the_memory_is_the_same_process(void **state) {
  static _Alignas(16) char stack[256 * 1024];
  uint32_t mine = uvperf__process();
  pid_t child;

  child = clone(is_the_same, stack + sizeof(stack),
                CLONE_VM | CLONE_VFORK | SIGCHLD, &mine);
  assert_true(child > 0);
  assert_int_equal(support_wait(child), 0);
}

static void process_asks_the_kernel_nothing(void **state) {
  unsigned calls;

  uvperf__process();
  calls = fake_count(FAKE_GETPID) + fake_count(FAKE_MMAP_PRIVATE);
  assert_int_equal(uvperf__process_is_marked(), 1);
  uvperf__process();
  assert_int_equal(fake_count(FAKE_GETPID) + fake_count(FAKE_MMAP_PRIVATE),
                   calls);
}

#define TEST(f) cmocka_unit_test_setup(f, fake_kernel_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(process_that_cannot_be_wiped_has_its_pid),
      TEST(process_without_memory_for_a_mark_has_its_pid),
      TEST(threads_at_the_same_time_make_one_mark),
      TEST(mark_that_is_made_twice_is_unmapped_once),
      TEST(thread_is_known_by_number_and_pthread),
      TEST(forked_child_is_another_process),
      TEST(number_is_0_until_a_child_asks),
      TEST(grandchild_is_neither_of_its_ancestors),
      TEST(grandchild_of_a_silent_child_is_another_process),
      TEST(cloned_child_is_another_process),
      TEST(child_with_the_same_pid_is_another_process),
      TEST(child_that_shares_the_memory_is_the_same_process),
      TEST(process_asks_the_kernel_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
