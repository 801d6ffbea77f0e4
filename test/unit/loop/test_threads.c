/* SPDX-License-Identifier: MIT */
/* Scripted: a thread finds out whether libuv's pool can be made.
 * The program is linked with --wrap for uv_thread_create, uv_thread_create_ex,
 * uv_thread_join, uv_sleep, uv_version, atexit and uvperf__process_is_cloned.
 */
#include "fake_kernel.h"
#include "fake_pool.h"
#include "support.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop/threads.h"
#include "sys/fork.h"

/* fake_pool.c has others for the other programs. */
int __real_uvperf__threads_begin(void);
int __real_uvperf__threads_check(void);
int __real_uvperf__threads_wait(void);

#define ALL   5000u
#define STACK (UINT32_C(8) << 20)

static struct {
  pthread_t caller;
  _Atomic(unsigned) made; /* by the thread that the library made */
  _Atomic(unsigned) joined;
  unsigned made_here;
  unsigned most;    /* threads that can be made */
  uint32_t process; /* the last one */
  int has_slept;
  unsigned libuv; /* its version */
  size_t stack;   /* of a thread that the library's thread makes */
  pthread_mutex_t gate;
  int is_closed;          /* the gate, by the caller */
  _Atomic(unsigned) came; /* to the gate */
  int begins_twice;
  uv_thread_t first;     /* the caller's */
  int exits;             /* this thread, when it makes another one */
  int has_joined_itself; /* then */
  void (*at_exit)(void); /* the library's handler */
  int nr_at_exit;        /* how often it was registered */
  int is_exiting;        /* the caller opens the gate when it joins */
} threads = {
    .process = 1000, .libuv = 0x012d00, .gate = PTHREAD_MUTEX_INITIALIZER};

int __real_uv_thread_create(uv_thread_t *thread, uv_thread_cb entry, void *arg);
int __real_uv_thread_create_ex(uv_thread_t *thread,
                               const uv_thread_options_t *options,
                               uv_thread_cb entry, void *arg);
int __real_uv_thread_join(uv_thread_t *thread);
int __real_uvperf__process_is_cloned(void);

int __wrap_uv_thread_create(uv_thread_t *thread, uv_thread_cb entry,
                            void *arg) {
  int rc;

  assert_true(pthread_equal(pthread_self(), threads.caller));
  if (threads.most == 0)
    return UV_EPERM;
  threads.made_here += 1;
  rc = __real_uv_thread_create(thread, entry, arg);
  threads.first = *thread;
  return rc;
}

static void close_gate(void) {
  pthread_mutex_lock(&threads.gate);
  threads.is_closed = 1;
  threads.came = 0;
}

static void open_gate(void) {
  threads.is_closed = 0;
  pthread_mutex_unlock(&threads.gate);
}

static void wait_at_gate(void) {
  while (threads.came == 0)
    sched_yield();
}

/* The thread that makes the others waits while the gate is closed. Their stacks
 * are small: 32 bits have no room for 1,024 of the size that is asked for. */
int __wrap_uv_thread_create_ex(uv_thread_t *thread,
                               const uv_thread_options_t *options,
                               uv_thread_cb entry, void *arg) {
  const uv_thread_options_t small = {.flags = UV_THREAD_HAS_STACK_SIZE,
                                     .stack_size = 256 << 10};

  threads.came += 1;
  pthread_mutex_lock(&threads.gate);
  pthread_mutex_unlock(&threads.gate);
  if (threads.exits)
    threads.at_exit();
  threads.exits = 0;
  if (1 + threads.made == threads.most)
    return UV_EAGAIN;
  threads.made += 1;
  threads.stack = options->flags & UV_THREAD_HAS_STACK_SIZE
                      ? options->stack_size
                      : SIZE_MAX;
  return __real_uv_thread_create_ex(thread, &small, entry, arg);
}

/* Opens the gate, which the caller has closed. */
void __wrap_uv_sleep(unsigned ms) {
  assert_int_equal(ms, 1);
  if (!threads.has_slept)
    open_gate();
  threads.has_slept = 1;
  sched_yield();
}

int __wrap_atexit(void (*handler)(void)) {
  threads.at_exit = handler;
  threads.nr_at_exit += 1;
  return 0;
}

int __wrap_uvperf__process_is_cloned(void) {
  if (threads.begins_twice) {
    threads.begins_twice = 0;
    assert_int_equal(__real_uvperf__threads_begin(), UV_EBUSY);
  }
  return __real_uvperf__process_is_cloned();
}

unsigned __wrap_uv_version(void) {
  return threads.libuv;
}

int __wrap_uv_thread_join(uv_thread_t *thread) {
  if (pthread_equal(pthread_self(), *thread)) {
    threads.has_joined_itself = 1;
  } else if (!pthread_equal(pthread_self(), threads.caller)) {
    threads.joined += 1;
  } else if (threads.is_exiting) {
    threads.is_exiting = 0;
    open_gate();
  } else if (threads.is_closed) {
    fail_msg("the loop waits for a thread that has not ended");
  }
  return __real_uv_thread_join(thread);
}

/* A process that knows nothing yet. */
static void begin_process(unsigned most) {
  threads.caller = pthread_self();
  threads.made = threads.joined = threads.made_here = 0;
  threads.most = most;
  fake_process(++threads.process);
}

static unsigned nr_tasks(void) {
  DIR *directory = opendir("/proc/self/task");
  const struct dirent *entry;
  unsigned nr = 0;

  assert_non_null(directory);
  while ((entry = readdir(directory)) != NULL)
    nr += entry->d_name[0] != '.';
  closedir(directory);
  return nr;
}

static void *wait_beside(void *arg) {
  assert_int_equal(__real_uvperf__threads_wait(), 0);
  return NULL;
}

/* If its priority is higher, the other one would not get the CPU. */
static void thread_sleeps_while_another_one_waits(void **state) {
  pthread_t beside;

  begin_process(ALL);
  close_gate();
  assert_int_equal(__real_uvperf__threads_begin(), UV_EBUSY);
  assert_int_equal(pthread_create(&beside, NULL, wait_beside, NULL), 0);
  while (threads.joined == 0)
    sched_yield();
  threads.has_slept = 0;
  assert_int_equal(__real_uvperf__threads_wait(), 0);
  assert_int_equal(threads.has_slept, 1);
  pthread_join(beside, NULL);
}

/* None of them stays. */
static void caller_makes_one_thread(void **state) {
  unsigned before = nr_tasks();

  setenv("UV_THREADPOOL_SIZE", "7", 1);
  fake_pool_pass();
  begin_process(ALL);
  close_gate();
  assert_int_equal(__real_uvperf__threads_begin(), UV_EBUSY);
  assert_int_equal(__real_uvperf__threads_begin(), UV_EBUSY);
  wait_at_gate();
  assert_int_equal(__real_uvperf__threads_check(), UV_EBUSY);
  open_gate();
  while (__real_uvperf__threads_check() == UV_EBUSY)
    sched_yield();
  assert_int_equal(__real_uvperf__threads_check(), 0);
  assert_int_equal(__real_uvperf__threads_begin(), 0);
  assert_int_equal(__real_uvperf__threads_wait(), 0);
  assert_int_equal(threads.made_here, 1);
  assert_int_equal(threads.made, 7);
  assert_int_equal(nr_tasks(), before);
}

static void wait_for_go(uv_work_t *work) {
  uv_sem_wait(work->data);
}

static void forget(uv_work_t *work, int status) {
  assert_int_equal(status, 0);
}

/* The program has made the pool before, and all its threads are busy. */
static void busy_pool_is_not_waited_for(void **state) {
  uv_work_t works[7];
  uv_loop_t loop;
  uv_sem_t go;
  size_t i;

  fake_pool_pass();
  assert_int_equal(uv_loop_init(&loop), 0);
  assert_int_equal(uv_sem_init(&go, 0), 0);
  for (i = 0; i < 7; i++) {
    works[i].data = &go;
    assert_int_equal(uv_queue_work(&loop, &works[i], wait_for_go, forget), 0);
  }
  begin_process(ALL);
  assert_int_equal(__real_uvperf__threads_wait(), 0);
  for (i = 0; i < 7; i++)
    uv_sem_post(&go);
  uv_run(&loop, UV_RUN_DEFAULT);
  assert_int_equal(uv_loop_close(&loop), 0);
  uv_sem_destroy(&go);
}

static void as_many_threads_are_tried_as_libuv_makes(void **state) {
  static const struct {
    const char *size; /* UV_THREADPOOL_SIZE */
    unsigned nr;
  } rows[] = {{NULL, 4}, {"0", 1}, {"-1", 1024},   {"x", 1},
              {"1", 1},  {"7", 7}, {"1025", 1024}, {"5000", 1024}};
  size_t i;

  for (i = 0; i < COUNT_OF(rows); i++) {
    if (rows[i].size == NULL)
      unsetenv("UV_THREADPOOL_SIZE");
    else
      setenv("UV_THREADPOOL_SIZE", rows[i].size, 1);
    begin_process(ALL);
    assert_int_equal(__real_uvperf__threads_wait(), 0);
    assert_int_equal(threads.made, rows[i].nr);
    assert_int_equal(threads.joined, rows[i].nr);
    assert_int_equal(__real_uvperf__threads_begin(), 0);
    assert_int_equal(threads.made_here, 1); /* once is enough */
  }
  unsetenv("UV_THREADPOOL_SIZE");
}

/* Before 1.45 libuv leaves the size to the limit of the process. */
static void threads_have_stacks_as_large_as_those_of_the_pool(void **state) {
  static const struct {
    unsigned libuv;
    size_t stack;
  } rows[] = {{0x012c02, 0}, {0x012d00, STACK}, {0x013300, STACK}};
  size_t i;

  for (i = 0; i < COUNT_OF(rows); i++) {
    begin_process(ALL);
    threads.libuv = rows[i].libuv;
    assert_int_equal(__real_uvperf__threads_wait(), 0);
    assert_int_equal(threads.stack, rows[i].stack);
  }
}

/* Only threads that were made are joined, and the next call tries again. */
static void threads_that_cannot_be_made_are_known_later(void **state) {
  unsigned most;

  for (most = 1; most < 5; most++) {
    begin_process(most);
    assert_int_equal(__real_uvperf__threads_wait(), UV_EAGAIN);
    assert_int_equal(__real_uvperf__threads_check(), UV_EAGAIN);
    assert_int_equal(threads.made, most - 1);
    assert_int_equal(threads.joined, most - 1);
    threads.made = 0;
    threads.most = 5;
    close_gate();
    assert_int_equal(__real_uvperf__threads_begin(), UV_EBUSY);
    wait_at_gate();
    assert_int_equal(__real_uvperf__threads_check(), UV_EBUSY);
    open_gate();
    assert_int_equal(__real_uvperf__threads_wait(), 0);
    assert_int_equal(__real_uvperf__threads_check(), 0);
  }
}

static void process_without_threads_knows_at_once(void **state) {
  begin_process(0);
  assert_int_equal(__real_uvperf__threads_begin(), UV_EPERM);
  assert_int_equal(__real_uvperf__threads_check(), UV_EPERM);
  assert_int_equal(__real_uvperf__threads_wait(), UV_EPERM);
  threads.most = ALL;
  assert_int_equal(__real_uvperf__threads_wait(), 0);
}

/* Another thread begins when this one has seen that nothing is known yet. */
static void threads_that_begin_at_once_make_one(void **state) {
  begin_process(ALL);
  threads.begins_twice = 1;
  assert_int_equal(__real_uvperf__threads_begin(), UV_EBUSY);
  assert_int_equal(threads.begins_twice, 0);
  assert_int_equal(threads.made_here, 1);
  assert_int_equal(__real_uvperf__threads_wait(), 0);
}

/* Also at the end of dlclose(3). One handler is enough. */
static void thread_is_joined_at_exit(void **state) {
  begin_process(ALL);
  close_gate();
  assert_int_equal(__real_uvperf__threads_begin(), UV_EBUSY);
  threads.is_exiting = 1;
  threads.at_exit();
  assert_int_equal(threads.is_exiting, 0);
  assert_int_equal(__real_uvperf__threads_check(), 0);
  threads.at_exit();
  assert_int_equal(threads.nr_at_exit, 1);
}

/* All others have ended by pthread_exit(3). With musl, a thread that joins
 * itself waits for ever. */
static void thread_that_exits_does_not_join_itself(void **state) {
  begin_process(ALL);
  close_gate();
  assert_int_equal(__real_uvperf__threads_begin(), UV_EBUSY);
  threads.exits = 1;
  open_gate();
  assert_int_equal(__real_uv_thread_join(&threads.first), 0);
  assert_int_equal(threads.exits, 0);
  assert_int_equal(threads.has_joined_itself, 0);
}

/* The C library knows another id of the thread than the kernel. */
static void child_of_a_bare_clone_is_enotsup(void **state) {
  begin_process(ALL);
  fake_fail(FAKE_GETTID, 1, (int)getpid() + 1);
  assert_int_equal(__real_uvperf__threads_begin(), UV_ENOTSUP);
  assert_int_equal(threads.made_here, 0);
}

#define TEST(f) cmocka_unit_test_setup(f, fake_kernel_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(caller_makes_one_thread),
      TEST(busy_pool_is_not_waited_for),
      TEST(thread_sleeps_while_another_one_waits),
      TEST(as_many_threads_are_tried_as_libuv_makes),
      TEST(threads_have_stacks_as_large_as_those_of_the_pool),
      TEST(threads_that_cannot_be_made_are_known_later),
      TEST(process_without_threads_knows_at_once),
      TEST(threads_that_begin_at_once_make_one),
      TEST(thread_is_joined_at_exit),
      TEST(thread_that_exits_does_not_join_itself),
      TEST(child_of_a_bare_clone_is_enotsup),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
