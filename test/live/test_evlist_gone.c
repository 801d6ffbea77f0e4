/* SPDX-License-Identifier: MIT */
/* Targets that end while their events write into rings of this kernel: threads,
 * and processes. The records before the end are in test_set_stream_*.c. */
#include "make_evlist.h"
#include "live_thread.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/sys.h"

static evlist_make_t make;

/* Attrs with comm, which need no privileges. */
static void begin(const char *test, size_t nr_attrs) {
  size_t i;

  support_need_own_events(test);
  evlist_make(&make, nr_attrs);
  make.options.flags = UVPERF_SET_RECORDS;
  make.options.ring_bytes = support_page_bytes();
  for (i = 0; i < nr_attrs; i++) {
    uvperf_attr_software(&make.attrs[i], PERF_COUNT_SW_DUMMY);
    make.attrs[i].exclude_kernel = 1;
    make.attrs[i].comm = 1;
  }
}

static uvperf__evlist_t *open_enabled(void) {
  uvperf__evlist_t *evlist = evlist_open(&make);

  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  return evlist;
}

static void assert_alive(uvperf__evlist_t *evlist) {
  assert_int_equal(uvperf__evlist_probe(evlist), 0);
  assert_int_equal(uvperf__evlist_can_end(evlist), 1);
  assert_int_equal(uvperf__evlist_have_ended(evlist), 0);
}

/* Asks until this target has ended. Other signs of a task's end may come
 * earlier. */
static void wait_for_end(uvperf__evlist_t *evlist, uint32_t target) {
  uint32_t index;

  while (uvperf__evlist_probe(evlist) == 0)
    sched_yield();
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 1);
  assert_int_equal(index, target);
}

/* The same for a target that has ended as in wait_zombie. */
static void assert_ended(uvperf__evlist_t *evlist, uint32_t target) {
  uint32_t index;

  assert_int_equal(uvperf__evlist_probe(evlist), 1);
  assert_int_equal(uvperf__evlist_take_ended(evlist, &index), 1);
  assert_int_equal(index, target);
  assert_int_equal(uvperf__evlist_probe(evlist), 0);
}

/* Until it is killed, or the test ends, which may fail earlier. */
static int stay(void *arg) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  return pause();
}

/* After perf_event_exit_task() in do_exit(): exit_notify() comes later. */
static void wait_zombie(pid_t pid) {
  siginfo_t info;

  assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
}

static void end_child(pid_t pid) {
  assert_int_equal(kill(pid, SIGKILL), 0);
  wait_zombie(pid);
}

/* -- threads -------------------------------------------------------------- */

static void do_nothing(void *arg) {
}

static void thread_that_ends_is_found_gone(void **state) {
  uvperf__evlist_t *evlist;
  live_thread_t thread;

  begin(__func__, 2);
  live_thread_start(&thread, do_nothing, NULL);
  evlist_add_thread(&make, (int32_t)thread.tid);
  evlist = open_enabled();
  assert_alive(evlist);
  live_thread_do(&thread);
  assert_alive(evlist);
  live_thread_end(&thread);
  wait_for_end(evlist, 0);
  assert_int_equal(uvperf__evlist_have_ended(evlist), 1);
  uvperf__evlist_free(evlist);
}

/* A process whose first thread ends while another continues: the first is a
 * zombie until the other ends. */
static void *stay_on(void *arg) {
  char byte = 0;

  if (write(*(int *)arg, &byte, 1) == 1)
    pause();
  return NULL;
}

static int end_before_others(void *arg) {
  pthread_attr_t attr;
  pthread_t thread;

  prctl(PR_SET_PDEATHSIG, SIGKILL);
  pthread_attr_init(&attr);
  pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
  if (pthread_create(&thread, &attr, stay_on, arg) != 0)
    return 1;
  pause();
  return 2;
}

static void end_this_thread(int signal) {
  /* Not pthread_exit, which unwinds and may load a library for that. */
  syscall(SYS_exit, 0);
}

static void process_lives_on_without_its_first_thread(void **state) {
  uvperf__evlist_t *evlist;
  int report[2];
  char byte, path[64], line[512];
  pid_t pid;
  FILE *file;

  begin(__func__, 1);
  assert_int_equal(pipe(report), 0);
  assert_true(signal(SIGUSR1, end_this_thread) != SIG_ERR);
  pid = support_fork(end_before_others, &report[1]);
  assert_true(signal(SIGUSR1, SIG_DFL) != SIG_ERR);
  assert_int_equal(read(report[0], &byte, 1), 1);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = pid;
  evlist = open_enabled();
  assert_alive(evlist);
  /* Only to the first thread, until it is a zombie. */
  assert_int_equal(syscall(SYS_tgkill, pid, pid, SIGUSR1), 0);
  snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, pid);
  do {
    file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
  } while (strstr(line, ") Z ") == NULL);
  assert_alive(evlist);
  end_child(pid);
  assert_ended(evlist, 0);
  uvperf__evlist_free(evlist);
  assert_int_equal(support_wait(pid), 128 + SIGKILL);
  close(report[0]);
  close(report[1]);
}

/* -- processes ------------------------------------------------------------ */

static void zombie_is_gone(void **state) {
  uvperf__evlist_t *evlist;
  pid_t pid;

  begin(__func__, 3);
  pid = support_fork(stay, NULL);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = pid;
  evlist = open_enabled();
  assert_alive(evlist);
  end_child(pid);
  assert_ended(evlist, 0);
  assert_int_equal(uvperf__evlist_can_end(evlist), 0);
  uvperf__evlist_free(evlist);
  assert_int_equal(support_wait(pid), 128 + SIGKILL);
}

/* Tells its id, and ends when the test closes its end of a pipe. */
typedef struct family_s {
  int report[2];
  int go[2];
} family_t;

static int stay_until_released(void *arg) {
  family_t *family = arg;
  pid_t own = getpid();
  char byte;

  close(family->go[1]);
  if (write(family->report[1], &own, sizeof(own)) != (ssize_t)sizeof(own))
    return 1;
  return read(family->go[0], &byte, 1) == 0 ? 0 : 1;
}

/* Makes a child on request, and then stays. */
static void make_child(void *arg) {
  support_fork(stay_until_released, arg);
}

/* is_event_hup() asks for the children that inherited the event. */
static void run_family(int is_inherited) {
  uvperf__evlist_t *evlist;
  live_worker_t worker;
  family_t family;
  pid_t child;

  assert_int_equal(pipe(family.report), 0);
  assert_int_equal(pipe(family.go), 0);
  live_worker_fork(&worker, make_child, &family);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = worker.pid;
  if (!is_inherited)
    make.targets[0].flags = UVPERF_TARGET_NO_INHERIT;
  evlist = open_enabled();
  live_worker_do(&worker);
  assert_int_equal(read(family.report[0], &child, sizeof(child)),
                   sizeof(child));
  assert_alive(evlist);
  end_child(worker.pid);
  if (is_inherited)
    assert_alive(evlist);
  else
    assert_ended(evlist, 0);
  close(family.go[1]);
  if (is_inherited)
    wait_for_end(evlist, 0);
  uvperf__evlist_free(evlist);
  assert_int_equal(support_wait(worker.pid), 128 + SIGKILL);
  close(worker.go);
  close(worker.done);
  close(family.report[0]);
  close(family.report[1]);
  close(family.go[0]);
}

static void process_without_inherit_ends_before_its_children(void **state) {
  begin(__func__, 2);
  run_family(0);
}

static void process_that_only_counts_is_found_gone(void **state) {
  uvperf__evlist_t *evlist;
  pid_t pid;

  begin(__func__, 1);
  make.attrs[0].comm = 0;
  pid = support_fork(stay, NULL);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = pid;
  evlist = open_enabled();
  assert_alive(evlist);
  end_child(pid);
  assert_ended(evlist, 0);
  uvperf__evlist_free(evlist);
  assert_int_equal(support_wait(pid), 128 + SIGKILL);
}

/* -- commands ------------------------------------------------------------- */

/* Becomes cat, which ends when its input does. */
static void become_cat(void *arg) {
  int *input = arg;

  dup2(input[0], 0);
  close(input[0]);
  close(input[1]);
  execlp("cat", "cat", (char *)NULL);
}

/* The kernel removes such an event from its task, which continues. */
static void event_that_is_removed_on_exec_ends_no_task(void **state) {
  uvperf__evlist_t *evlist;
  live_worker_t worker;
  int input[2];

  if (uvperf_kernel_knows(UVPERF_ATTR_REMOVE_ON_EXEC, 1) != 1)
    support_skip(__func__, "attr.remove_on_exec: Linux 5.13");
  begin(__func__, 2);
  assert_int_equal(
      uvperf_attr_set(&make.attrs[0], UVPERF_ATTR_REMOVE_ON_EXEC, 1), 0);
  assert_int_equal(pipe2(input, O_CLOEXEC), 0);
  live_worker_fork(&worker, become_cat, input);
  evlist_add_thread(&make, worker.pid);
  evlist = open_enabled();
  live_worker_do(&worker);
  assert_int_equal(
      uvperf__sys_poll(uvperf__evlist_fd(evlist, 0, 0), 0) & POLLHUP, POLLHUP);
  assert_alive(evlist);
  close(input[0]);
  close(input[1]);
  wait_zombie(worker.pid);
  assert_ended(evlist, 0);
  uvperf__evlist_free(evlist);
  live_worker_end(&worker);
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(thread_that_ends_is_found_gone),
      TEST(process_lives_on_without_its_first_thread),
      TEST(zombie_is_gone),
      TEST(process_without_inherit_ends_before_its_children),
      TEST(process_that_only_counts_is_found_gone),
      TEST(event_that_is_removed_on_exec_ends_no_task),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
