/* SPDX-License-Identifier: MIT */
/* Live: tasks of this kernel, their threads, and when they are gone. */
#include "fake_kernel.h"
#include "live.h"

#include <signal.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live_chosen_id.h"
#include "host/task.h"
#include "live_thread.h"

static uint64_t start_of(int id) {
  uvperf__task_t task;

  assert_int_equal(uvperf__task_read(id, &task), 0);
  assert_int_equal(task.has_ended, 0);
  assert_int_not_equal(task.start, 0);
  return task.start;
}

/* No longer than the test, whatever happens to that. */
static int wait_for_ever(void *arg) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (pause() < 0)
    continue;
  return 1;
}

static void end_child(pid_t child) {
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(support_wait(child), 128 + SIGKILL);
}

static void task_of_any_name_is_read(void **state) {
  static const char *const names[] = {") Z 0 (", "a\nb) X", "))) ) )", ""};
  char before[17] = "";
  uint64_t start;
  size_t i;

  start = start_of(getpid());
  assert_int_equal(prctl(PR_GET_NAME, before), 0);
  for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    assert_int_equal(prctl(PR_SET_NAME, names[i]), 0);
    assert_true(start_of(getpid()) == start);
  }
  assert_int_equal(prctl(PR_SET_NAME, before), 0);
  assert_int_equal(uvperf__task_is_gone(getpid(), start), 0);
  assert_int_equal(uvperf__task_proc_is_own(), 1);
}

static void child_is_gone_once_it_has_ended(void **state) {
  pid_t child = support_fork(wait_for_ever, NULL);
  uint64_t start = start_of(child);
  uvperf__tasks_t threads;
  uvperf__task_t task;
  siginfo_t info;

  assert_int_equal(uvperf__task_is_gone(child, start), 0);
  assert_int_equal(uvperf__task_is_gone(child, 0), 0);
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
  /* A zombie. */
  assert_int_equal(uvperf__task_read(child, &task), 0);
  assert_int_equal(task.has_ended, 1);
  assert_int_equal(uvperf__task_is_gone(child, start), 1);
  assert_int_equal(uvperf__task_threads(child, &threads), -ESRCH);
  assert_int_equal(support_wait(child), 128 + SIGKILL);
  assert_int_equal(uvperf__task_read(child, &task), -ESRCH);
  assert_int_equal(uvperf__task_is_gone(child, start), 1);
  assert_int_equal(uvperf__task_is_gone(child, 0), 1);
  assert_int_equal(uvperf__task_threads(child, &threads), -ESRCH);
}

static void child_is_gone_though_another_has_its_id(void **state) {
  uvperf_error_t error;
  uint64_t start;
  pid_t child;

  live_chosen_id_need(__func__);
  child = live_chosen_id_begin(__func__, 0);
  start = start_of(child);
  assert_int_equal(uvperf__task_check(child, start, NULL), 0);
  live_chosen_id_replace(__func__, child);
  assert_int_equal(uvperf__task_is_gone(child, start), 1);
  assert_int_equal(uvperf__task_is_gone(child, start_of(child)), 0);
  assert_int_equal(uvperf__task_check(child, start, &error), -ESRCH);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_TASK);
  live_chosen_id_end(child);
}

static void nothing(void *arg) {
}

static void thread_is_gone_once_it_has_ended(void **state) {
  live_thread_t thread;
  uint64_t start;
  int tid;

  live_thread_start(&thread, nothing, NULL);
  tid = (int)thread.tid;
  start = start_of(tid);
  assert_int_equal(uvperf__task_process(tid), getpid());
  assert_int_equal(uvperf__task_is_gone(tid, start), 0);
  live_thread_end(&thread);
  /* pthread_join(3) returns a bit before the kernel has let go of it. */
  while (uvperf__task_is_gone(tid, start) == 0)
    sched_yield();
  assert_int_equal(uvperf__task_is_gone(tid, start), 1);
}

/* What a child with another thread reports about it. */
typedef struct scenario_s {
  int ids[2]; /* a pipe */
  int go[2];  /* a pipe, for what it does next */
} scenario_t;

static void send_tid(const scenario_t *scenario, int tid) {
  if (write(scenario->ids[1], &tid, sizeof(tid)) != sizeof(tid))
    abort();
}

static void outlive_the_first(void *arg) {
  send_tid(arg, (int)live_tid());
  wait_for_ever(NULL);
}

/* Ends its first thread alone. */
static int end_first_thread(void *arg) {
  uv_thread_t thread;

  if (uv_thread_create(&thread, outlive_the_first, arg) != 0)
    return 1;
  syscall(SYS_exit, 0);
  return 2;
}

static void process_is_listed_without_its_first_thread(void **state) {
  uvperf__tasks_t threads;
  uvperf__task_t first;
  scenario_t scenario;
  pid_t child;
  int tid;

  assert_int_equal(pipe(scenario.ids), 0);
  child = support_fork(end_first_thread, &scenario);
  assert_int_equal(read(scenario.ids[0], &tid, sizeof(tid)), sizeof(tid));
  do
    assert_int_equal(uvperf__task_read(child, &first), 0);
  while (!first.has_ended);
  assert_int_equal(uvperf__task_threads(child, &threads), 0);
  assert_int_equal(threads.nr, 1);
  assert_int_equal(threads.tasks[0].id, tid);
  assert_int_equal(uvperf__task_is_gone(tid, threads.tasks[0].start), 0);
  assert_int_equal(uvperf__task_is_gone(child, first.start), 1);
  uvperf__tasks_free(&threads);
  end_child(child);
  close(scenario.ids[0]);
  close(scenario.ids[1]);
}

static void execute(void *arg) {
  const scenario_t *scenario = arg;
  char go;

  prctl(PR_SET_PDEATHSIG, SIGKILL);
  send_tid(scenario, (int)live_tid());
  if (read(scenario->go[0], &go, 1) != 1)
    abort();
  execl("/bin/sleep", "sleep", "1000", (char *)NULL);
  abort();
}

static int execute_in_thread(void *arg) {
  uv_thread_t thread;

  if (uv_thread_create(&thread, execute, arg) != 0)
    return 1;
  return wait_for_ever(NULL);
}

/* de_thread of fs/exec.c. */
static void thread_that_calls_execve_becomes_the_first(void **state) {
  uint64_t start;
  scenario_t scenario;
  pid_t child;
  int tid;

  assert_int_equal(pipe(scenario.ids), 0);
  assert_int_equal(pipe(scenario.go), 0);
  child = support_fork(execute_in_thread, &scenario);
  start = start_of(child);
  assert_int_equal(read(scenario.ids[0], &tid, sizeof(tid)), sizeof(tid));
  assert_int_not_equal(tid, child);
  assert_int_equal(write(scenario.go[1], "", 1), 1);
  /* Not by its start time, which may be one tick after the first's. */
  while (uvperf__task_is_gone(tid, 0) == 0)
    sched_yield();
  assert_int_equal(uvperf__task_is_gone(tid, start), 1);
  assert_int_equal(uvperf__task_is_gone(child, start), 0);
  end_child(child);
  close(scenario.ids[0]);
  close(scenario.ids[1]);
  close(scenario.go[0]);
  close(scenario.go[1]);
}

/* -- threads that come and go --------------------------------------------- */

#define LEAVING 100
#define STAYING 100
/* An emulated machine makes threads slowly. */
#define ENOUGH_NS UINT64_C(10000000000)

/* Some threads that end, and after them in the kernel's list some that stay. A
 * listing lacks those if it stops at a thread that ends just then. */
typedef struct crowd_s {
  uv_sem_t leave;
  uv_sem_t stay;
  uv_sem_t ready;
  uv_thread_t threads[LEAVING + STAYING + 1];
  int ids[STAYING];
  int nr_ids;
  int have_left;
} crowd_t;

static void leave(void *arg) {
  crowd_t *crowd = arg;

  uv_sem_post(&crowd->ready);
  uv_sem_wait(&crowd->leave);
}

static void stay(void *arg) {
  crowd_t *crowd = arg;

  crowd->ids[__atomic_fetch_add(&crowd->nr_ids, 1, __ATOMIC_RELAXED)] =
      (int)live_tid();
  uv_sem_post(&crowd->ready);
  uv_sem_wait(&crowd->stay);
}

static void let_leave(void *arg) {
  crowd_t *crowd = arg;
  size_t i;

  for (i = 0; i < LEAVING; i++) {
    uv_sem_post(&crowd->leave);
    sched_yield();
  }
  for (i = 0; i < LEAVING; i++)
    uv_thread_join(&crowd->threads[i]);
  __atomic_store_n(&crowd->have_left, 1, __ATOMIC_RELEASE);
}

static void start_thread(crowd_t *crowd, size_t i, void (*run)(void *)) {
  uv_thread_options_t options;

  options.flags = UV_THREAD_HAS_STACK_SIZE;
  options.stack_size = 128 * 1024;
  assert_int_equal(
      uv_thread_create_ex(&crowd->threads[i], &options, run, crowd), 0);
}

static void gather(crowd_t *crowd) {
  size_t i;

  crowd->nr_ids = 0;
  crowd->have_left = 0;
  for (i = 0; i < LEAVING + STAYING; i++) {
    start_thread(crowd, i, i < LEAVING ? leave : stay);
    uv_sem_wait(&crowd->ready);
  }
}

static void disperse(crowd_t *crowd) {
  size_t i;

  for (i = 0; i < STAYING; i++)
    uv_sem_post(&crowd->stay);
  for (i = LEAVING; i <= LEAVING + STAYING; i++)
    uv_thread_join(&crowd->threads[i]);
}

static int has(const uvperf__tasks_t *threads, int id) {
  size_t i;

  for (i = 0; i < threads->nr && threads->tasks[i].id != id; i++)
    continue;
  return i < threads->nr;
}

/* How many that stay are not in a listing. */
static size_t count_missing(const crowd_t *crowd) {
  uvperf__tasks_t threads;
  size_t missing, i;

  assert_int_equal(uvperf__task_threads(getpid(), &threads), 0);
  missing = !has(&threads, getpid());
  for (i = 0; i < STAYING; i++)
    missing += !has(&threads, crowd->ids[i]);
  for (i = 1; i < threads.nr; i++)
    assert_true(threads.tasks[i - 1].id < threads.tasks[i].id);
  uvperf__tasks_free(&threads);
  return missing;
}

static void threads_that_stay_are_always_listed(void **state) {
  size_t fds = support_count_fds();
  uint64_t enough = live_now() + ENOUGH_NS;
  unsigned listings = 0;
  size_t missing = 0;
  crowd_t crowd;

  uv_sem_init(&crowd.leave, 0);
  uv_sem_init(&crowd.stay, 0);
  uv_sem_init(&crowd.ready, 0);
  while (listings < 50 || (listings < 1000 && live_now() < enough)) {
    gather(&crowd);
    start_thread(&crowd, LEAVING + STAYING, let_leave);
    do {
      missing += count_missing(&crowd);
      listings += 1;
    } while (listings % 1000 != 0 &&
             !__atomic_load_n(&crowd.have_left, __ATOMIC_ACQUIRE));
    disperse(&crowd);
  }
  uv_sem_destroy(&crowd.leave);
  uv_sem_destroy(&crowd.stay);
  uv_sem_destroy(&crowd.ready);
  assert_int_equal(missing, 0);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(task_of_any_name_is_read, fake_kernel_setup),
      cmocka_unit_test_setup(child_is_gone_once_it_has_ended,
                             fake_kernel_setup),
      cmocka_unit_test_setup(child_is_gone_though_another_has_its_id,
                             fake_kernel_setup),
      cmocka_unit_test_setup(thread_is_gone_once_it_has_ended,
                             fake_kernel_setup),
      cmocka_unit_test_setup(process_is_listed_without_its_first_thread,
                             fake_kernel_setup),
      cmocka_unit_test_setup(thread_that_calls_execve_becomes_the_first,
                             fake_kernel_setup),
      cmocka_unit_test_setup(threads_that_stay_are_always_listed,
                             fake_kernel_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
