/* SPDX-License-Identifier: MIT */
/* Tasks and threads, read from files of /proc below a scripted root. */
#include "fake_kernel.h"
#include "support.h"
#include "make_host.h"
#include "make_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/task.h"

/* The fields between the state and the start, and those after it. */
#define FIELDS_4_TO_21 "1 2 3 0 -1 4194560 5 6 7 8 9 10 11 12 20 0 1 0"
#define FIELDS_23_ON   "1 2 18446744073709551615 0 0"

static void write_file(int process, int id, const char *text) {
  char path[64];

  snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", process, id);
  make_host_write(path, text);
}

static void write_stat(int process, int id, const char *name, char state,
                       uint64_t start) {
  char text[512];

  snprintf(text, sizeof(text), "%d (%s) %c " FIELDS_4_TO_21 " %llu %s\n", id,
           name, state, (unsigned long long)start, FIELDS_23_ON);
  write_file(process, id, text);
}

static void write_status(int process, int id, unsigned threads) {
  char text[128], path[64];

  snprintf(text, sizeof(text), "Name:\tx\nTgid:\t%d\nPid:\t%d\nThreads:\t%u\n",
           process, id, threads);
  snprintf(path, sizeof(path), "/proc/%d/status", id);
  make_host_write(path, text);
}

/* -- one task ------------------------------------------------------------- */

static uvperf__task_t task;

static void task_name_may_hold_anything(void **state) {
  static const char *const names[] = {"a",
                                      "(sd-pam)",
                                      ") Z 1 2 3",
                                      "(",
                                      ")",
                                      "a) Z 1 (b",
                                      "a b\n1 (x) Z 0",
                                      "   ",
                                      "))))",
                                      "",
                                      "0123456789abcdef0123456789abcdef"};
  size_t i;

  for (i = 0; i < COUNT_OF(names); i++) {
    write_stat(12, 12, names[i], 'S', 1000 + i);
    assert_int_equal(uvperf__task_read(12, &task), 0);
    assert_int_equal(task.id, 12);
    assert_int_equal(task.has_ended, 0);
    assert_true(task.start == 1000 + i);
  }
}

static void task_has_ended_in_two_states(void **state) {
  static const char states[] = "RSDTtIPZX";
  size_t i;

  for (i = 0; i + 1 < sizeof(states); i++) {
    write_stat(12, 12, "a", states[i], 7);
    assert_int_equal(uvperf__task_read(12, &task), 0);
    assert_int_equal(task.has_ended, states[i] == 'Z' || states[i] == 'X');
    assert_int_equal(uvperf__task_is_gone(12, 7), task.has_ended);
  }
}

static void task_start_has_64_bits(void **state) {
  write_stat(12, 12, "a", 'R', UINT64_MAX);
  assert_int_equal(uvperf__task_read(12, &task), 0);
  assert_true(task.start == UINT64_MAX);
  /* The last field, and no newline. */
  write_file(12, 12, "12 (a) R " FIELDS_4_TO_21 " 77");
  assert_int_equal(uvperf__task_read(12, &task), 0);
  assert_true(task.start == 77);
}

static void invalid_task_stat_is_an_error(void **state) {
  static const char *const bad[] = {
      "",
      "12",
      "12 (a",
      "12 (a)",
      "12 (a)R " FIELDS_4_TO_21 " 77",
      "12 (a) R",
      "12 (a) R " FIELDS_4_TO_21,
      "12 (a) R " FIELDS_4_TO_21 " ",
      "12 (a) R " FIELDS_4_TO_21 " x",
      "12 (a) R " FIELDS_4_TO_21 " -7 0",
      "12 (a) R " FIELDS_4_TO_21 " 77x 0",
  };
  char much[3000];
  size_t i;

  for (i = 0; i < COUNT_OF(bad); i++) {
    write_file(12, 12, bad[i]);
    assert_int_equal(uvperf__task_read(12, &task), -EINVAL);
    assert_int_equal(uvperf__task_is_gone(12, 77), -EINVAL);
  }
  memset(much, '1', sizeof(much));
  much[sizeof(much) - 1] = '\0';
  write_file(12, 12, much);
  assert_int_equal(uvperf__task_read(12, &task), -EFBIG);
  make_host_write("/proc/13/task/13/stat/is/a/directory", "");
  assert_int_equal(uvperf__task_read(13, &task), -EISDIR);
}

static void task_without_a_file_differs_from_a_hidden_one(void **state) {
  uvperf__tasks_t threads;

  fake_fail_from(FAKE_HAS_TASK, 1, -ESRCH);
  assert_int_equal(uvperf__task_read(12, &task), -ESRCH);
  assert_int_equal(uvperf__task_process(12), -ESRCH);
  assert_int_equal(uvperf__task_threads(12, &threads), -ESRCH);
  fake_kernel_reset();
  fake_fail_from(FAKE_HAS_TASK, 1, -EPERM);
  assert_int_equal(uvperf__task_read(12, &task), -EACCES);
  assert_int_equal(uvperf__task_process(12), -EACCES);
  assert_int_equal(uvperf__task_threads(12, &threads), -EACCES);
  fake_kernel_reset();
  fake_fail_from(FAKE_HAS_TASK, 1, 0);
  assert_int_equal(uvperf__task_read(12, &task), -EACCES);
}

static void task_process_is_the_one_that_it_is_of(void **state) {
  write_status(12, 12, 2);
  write_status(12, 15, 2);
  assert_int_equal(uvperf__task_process(12), 12);
  assert_int_equal(uvperf__task_process(15), 12);
  make_host_write("/proc/16/status", "Tgid:\tx\n");
  assert_int_equal(uvperf__task_process(16), -EINVAL);
  make_host_write("/proc/16/status", "Name:\tx\n");
  assert_int_equal(uvperf__task_process(16), -ENODATA);
}

static void proc_is_own_if_a_task_has_one_id(void **state) {
  static const struct {
    const char *status;
    int is_own;
  } files[] = {
      {"Name:\tx\nNSpid:\t12\nThreads:\t1\n", 1},
      {"NSpid:\t12", 1},
      {"NSpid:\t12\t1\n", 0},
      {"NSpid:\t4711\t12\t1\n", 0},
      {"Name:\tx\nPid:\t12\n", 1}, /* before Linux 4.1 */
  };
  size_t i;

  assert_int_equal(uvperf__task_proc_is_own(), 0);
  for (i = 0; i < COUNT_OF(files); i++) {
    make_host_write("/proc/self/status", files[i].status);
    assert_int_equal(uvperf__task_proc_is_own(), files[i].is_own);
  }
}

/* -- whether it is gone --------------------------------------------------- */

static void task_is_gone_when_its_id_is_anothers(void **state) {
  write_stat(12, 12, "a", 'S', 100);
  assert_int_equal(uvperf__task_is_gone(12, 100), 0);
  assert_int_equal(uvperf__task_is_gone(12, 99), 1);
  assert_int_equal(uvperf__task_is_gone(12, 101), 1);
  assert_int_equal(fake_count(FAKE_HAS_TASK), 0);
}

static void task_is_gone_only_if_no_task_has_its_id(void **state) {
  fake_fail(FAKE_HAS_TASK, 1, -ESRCH);
  assert_int_equal(uvperf__task_is_gone(12, 100), 1);
  assert_int_equal(fake_count(FAKE_HAS_TASK), 1);
  /* Hidden: asked again, as it might have been made in between. */
  fake_fail_from(FAKE_HAS_TASK, 1, -EPERM);
  assert_int_equal(uvperf__task_is_gone(12, 100), -EACCES);
  assert_int_equal(fake_count(FAKE_HAS_TASK), 3);
  fake_kernel_reset();
  fake_fail(FAKE_HAS_TASK, 1, 0);
  fake_fail(FAKE_HAS_TASK, 2, -ESRCH);
  assert_int_equal(uvperf__task_is_gone(12, 100), 1);
}

static void task_of_unknown_start_is_gone_only_without_its_id(void **state) {
  write_stat(12, 12, "a", 'Z', 100);
  fake_fail(FAKE_HAS_TASK, 1, 0);
  fake_fail(FAKE_HAS_TASK, 2, -EPERM);
  fake_fail(FAKE_HAS_TASK, 3, -ESRCH);
  assert_int_equal(uvperf__task_is_gone(12, 0), 0);
  assert_int_equal(uvperf__task_is_gone(12, 0), 0);
  assert_int_equal(uvperf__task_is_gone(12, 0), 1);
}

/* Returns 1 if the task is found to be gone at this time, and -1 if it is not
 * and /proc was not read: there another task has its id. */
static int look_at(uint64_t ms, uint64_t *looked_up) {
  uint64_t before = *looked_up;
  int rc = uvperf__task_is_gone_now(12, 99, ms * 1000000, looked_up);

  if (rc == 0)
    assert_int_equal(*looked_up, before);
  return rc == 0 ? -1 : rc;
}

static void process_is_looked_up_once_a_second(void **state) {
  uint64_t looked_up = 0;

  write_stat(12, 12, "a", 'S', 100);
  fake_fail_from(FAKE_HAS_TASK, 1, 0);
  assert_int_equal(look_at(5, &looked_up), 1);
  assert_int_equal(look_at(1004, &looked_up), -1);
  assert_int_equal(look_at(1005, &looked_up), 1);
  assert_int_equal(look_at(2004, &looked_up), -1);
  assert_int_equal(look_at(9000, &looked_up), 1);
  fake_kernel_reset();
  fake_fail_from(FAKE_HAS_TASK, 1, -EPERM); /* of another user */
  assert_int_equal(look_at(9999, &looked_up), -1);
  assert_int_equal(look_at(10000, &looked_up), 1);
}

/* The first call asks for any task of this id, the second for a process. */
static void thread_is_looked_up_every_ten_seconds(void **state) {
  uint64_t looked_up = 5000000;
  unsigned i;

  write_stat(12, 12, "a", 'S', 100);
  for (i = 1; i < 8; i++)
    fake_fail(FAKE_HAS_TASK, i, i == 1 || i == 2 || i == 4 ? 0 : -ESRCH);
  assert_int_equal(look_at(1000, &looked_up), -1);
  assert_int_equal(look_at(5005, &looked_up), -1);
  assert_int_equal(look_at(10005, &looked_up), 1);
  assert_int_equal(fake_count(FAKE_HAS_TASK), 4);
  assert_int_equal(looked_up, 10005000000);
}

static void task_without_its_id_is_gone_at_once(void **state) {
  uint64_t looked_up = 5000000;

  write_stat(12, 12, "a", 'S', 100);
  fake_fail(FAKE_HAS_TASK, 1, -ESRCH);
  assert_int_equal(look_at(6, &looked_up), 1);
  assert_int_equal(looked_up, 5000000);
  assert_int_equal(uvperf__task_is_gone_now(-1, 0, 6, &looked_up), 0);
}

static void task_that_is_every_task_is_never_gone(void **state) {
  fake_fail_from(FAKE_HAS_TASK, 1, -ESRCH);
  assert_int_equal(uvperf__task_is_gone(-1, 0), 0);
  assert_int_equal(uvperf__task_is_gone(-1, 5), 0);
  assert_int_equal(fake_count(FAKE_HAS_TASK), 0);
}

/* -- ids that are used again ---------------------------------------------- */

static void task_check_fails_when_the_id_is_anothers(void **state) {
  uvperf_error_t error;
  uint64_t start;

  write_stat(12, 12, "a", 'Z', 7);
  assert_int_equal(uvperf__task_start(12, &start), 0);
  assert_true(start == 7);
  assert_int_equal(uvperf__task_check(12, 7, NULL), 0);
  assert_int_equal(uvperf__task_check(12, 0, NULL), 0);
  assert_int_equal(uvperf__task_check(12, 8, &error), -ESRCH);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_TASK);
  fake_fail_from(FAKE_HAS_TASK, 1, -ESRCH);
  assert_int_equal(uvperf__task_start(13, &start), 0);
  assert_true(start == UVPERF__TASK_ENDED);
  assert_int_equal(uvperf__task_check(13, 7, NULL), -ESRCH);
  /* Another user's task, which /proc hides, has the id. */
  fake_kernel_reset();
  fake_fail_from(FAKE_HAS_TASK, 1, -EPERM);
  assert_int_equal(uvperf__task_start(13, &start), 0);
  assert_true(start == 0);
  assert_int_equal(uvperf__task_check(13, 7, NULL), -ESRCH);
}

/* The next stat file that is opened belongs to another task: the task of the
 * pidfd was waited for. */
static int end_with_stat(const char *path) {
  if (strstr(path, "/stat") != NULL && strstr(path, "/status") == NULL) {
    make_host_write("/proc/thread-self/fdinfo/0", "Pid:\t-1\n");
    fake_host_opens = NULL;
  }
  return 0;
}

static void task_of_a_pidfd_that_ends_meanwhile_is_esrch(void **state) {
  make_host_write("/proc/self/status", "NSpid:\t12\n");
  make_host_write("/proc/thread-self/fdinfo/0", "Pid:\t12\n");
  write_stat(12, 12, "a", 'S', 7);
  fake_host_opens = end_with_stat;
  assert_int_equal(uvperf__task_of_pidfd(0, &task, NULL), -ESRCH);
  assert_true(fake_host_opens == NULL);
}

static void task_of_a_pidfd_is_found_or_reported(void **state) {
  static const struct {
    const char *fdinfo; /* NULL: no such fd */
    const char *nspid;
    int code;
    int cause;
  } rows[] = {
      {"pos:\t0\nflags:\t02\nPid:\t12\nNSpid:\t12\n", "12", 0, 0},
      {"pos:\t0\nPid:\t-1\n", "12", -ESRCH, UVPERF_CAUSE_NO_TASK},
      {"pos:\t0\nPid:\t0\n", "12", -ESRCH, UVPERF_CAUSE_NO_TASK},
      {"pos:\t0\nPid:\t13\n", "12", -EACCES, UVPERF_CAUSE_PERMISSION},
      {"pos:\t0\nPid:\tx\n", "12", -EINVAL, UVPERF_CAUSE_UNKNOWN},
      {"pos:\t0\n", "12", -EBADF, UVPERF_CAUSE_ARGUMENT},
      {NULL, "12", -EBADF, UVPERF_CAUSE_ARGUMENT},
      {"pos:\t0\nPid:\t12\n", "12\t1", -ENOENT, UVPERF_CAUSE_NO_TASK},
  };
  uvperf_error_t error;
  char path[64], text[64];
  size_t i;

  write_stat(12, 12, "a", 'S', 7);
  fake_fail_from(FAKE_HAS_TASK, 1, -EPERM);
  for (i = 0; i < COUNT_OF(rows); i++) {
    snprintf(text, sizeof(text), "NSpid:\t%s\n", rows[i].nspid);
    make_host_write("/proc/self/status", text);
    snprintf(path, sizeof(path), "/proc/thread-self/fdinfo/%zu", i);
    if (rows[i].fdinfo != NULL)
      make_host_write(path, rows[i].fdinfo);
    memset(&error, 0, sizeof(error));
    assert_int_equal(uvperf__task_of_pidfd((int)i, &task, &error),
                     rows[i].code);
    assert_int_equal(error.code, rows[i].code);
    assert_int_equal(error.cause, rows[i].cause);
  }
  make_host_write("/proc/self/status", "NSpid:\t12\n");
  assert_int_equal(uvperf__task_of_pidfd(0, &task, NULL), 0);
  assert_int_equal(task.id, 12);
  assert_true(task.start == 7);
}

/* -- the threads of a process --------------------------------------------- */

static void expect_threads(int process, size_t nr, const int *ids) {
  size_t fds = support_count_fds();
  uvperf__tasks_t threads;
  size_t i;

  assert_int_equal(uvperf__task_threads(process, &threads), 0);
  assert_int_equal(threads.nr, nr);
  for (i = 0; i < nr; i++) {
    assert_int_equal(threads.tasks[i].id, ids[i]);
    assert_true(threads.tasks[i].start == 1000 + (uint64_t)ids[i]);
    assert_int_equal(threads.tasks[i].has_ended, 0);
  }
  uvperf__tasks_free(&threads);
  uvperf__tasks_free(&threads);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
}

static void write_thread(int process, int id, char state) {
  write_stat(process, id, "a", state, 1000 + (uint64_t)id);
}

static void threads_come_by_ascending_ids(void **state) {
  static const int ids[] = {9, 10, 12, 99, 100, 101, 32768, INT32_MAX};
  static const int order[] = {3, 7, 0, 6, 5, 1, 4, 2};
  size_t i;

  for (i = 0; i < 8; i++)
    write_thread(100, ids[order[i]], 'S');
  write_status(100, 100, 8);
  make_host_write("/proc/100/task/12x/stat", "");
  make_host_write("/proc/100/task/0/stat", "");
  make_host_write("/proc/100/task/2147483648/stat", "");
  make_host_write("/proc/100/task/99999999999999999999/stat", "");
  make_host_write("/proc/100/task/x", "");
  expect_threads(100, 8, ids);
}

#define MANY 700

static void threads_of_any_number_are_listed(void **state) {
  int ids[MANY];
  int i;

  /* Each once, as 11 does not divide MANY, and out of order. */
  for (i = 0; i < MANY; i++) {
    ids[i] = 50 + i;
    write_thread(50, 50 + i * 11 % MANY, 'S');
  }
  write_status(50, 50, MANY);
  expect_threads(50, MANY, ids);
}

static void threads_that_have_ended_are_left_out(void **state) {
  static const int ids[] = {13, 15};
  uvperf__tasks_t threads;

  write_thread(12, 12, 'Z');
  write_thread(12, 13, 'S');
  write_thread(12, 14, 'X');
  write_thread(12, 15, 'R');
  make_host_write("/proc/12/task/16/comm", "gone when looked at\n");
  write_status(12, 12, 4);
  expect_threads(12, 2, ids);
  write_thread(12, 13, 'Z');
  write_thread(12, 15, 'Z');
  assert_int_equal(uvperf__task_threads(12, &threads), -ESRCH);
  assert_null(threads.tasks);
  fake_assert_clean();
}

static int exit_at_once(void *arg) {
  return 0;
}

/* The thread ends after its file was opened: read(2) fails with ESRCH. */
static void thread_that_ends_while_it_is_read_is_left_out(void **state) {
  static const int ids[] = {12};
  pid_t pid = support_fork(exit_at_once, NULL);
  char path[48];
  int fd;

  snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(support_wait(pid), 0);
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  write_thread(12, 12, 'S');
  make_host_link("/proc/12/task/13/stat", path);
  write_status(12, 12, 1);
  expect_threads(12, 1, ids);
  close(fd);
}

/* Changes the threads of a process while they are listed. The file with their
 * number is a pipe: when it is read, the directory has been listed. */
static void change_threads(void *arg) {
  static const char status[] = "Tgid:\t12\nThreads:\t4\n";
  const char *pipe = arg;
  char gone[160];
  int fd = open(pipe, O_WRONLY | O_CLOEXEC);

  write_thread(12, 14, 'S');
  write_thread(12, 15, 'S');
  write_thread(12, 16, 'S');
  snprintf(gone, sizeof(gone), "%s/proc/12/task/13/stat", make_host_root());
  unlink(gone);
  /* The next read finds a file. */
  unlink(pipe);
  make_host_write("/proc/12/status", status);
  if (fd < 0 || write(fd, status, sizeof(status) - 1) < 0)
    abort();
  close(fd);
}

static void threads_that_a_listing_lacked_are_in_the_next(void **state) {
  static const int ids[] = {12, 14, 15, 16};
  char path[128];
  uvperf__tasks_t threads;
  uv_thread_t thread;
  size_t i;

  write_thread(12, 12, 'S');
  write_thread(12, 13, 'S');
  snprintf(path, sizeof(path), "%s/proc/12/status", make_host_root());
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(uv_thread_create(&thread, change_threads, path), 0);
  assert_int_equal(uvperf__task_threads(12, &threads), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
  assert_int_equal(threads.nr, 4);
  for (i = 0; i < 4; i++)
    assert_int_equal(threads.tasks[i].id, ids[i]);
  uvperf__tasks_free(&threads);
}

/* A process whose threads come and go all the time is not listed for ever. */
static void threads_that_are_never_all_listed_are_as_listed(void **state) {
  static const int ids[] = {12, 13};

  write_thread(12, 12, 'S');
  write_thread(12, 13, 'S');
  write_status(12, 12, 3);
  expect_threads(12, 2, ids);
  /* Its number is missing. */
  make_host_write("/proc/12/status", "Tgid:\t12\n");
  expect_threads(12, 2, ids);
}

static void threads_that_cannot_be_read_are_an_error(void **state) {
  uvperf__tasks_t threads;

  write_thread(12, 12, 'S');
  write_status(12, 12, 2);
  write_file(12, 13, "no stat file");
  assert_int_equal(uvperf__task_threads(12, &threads), -EINVAL);
  make_host_write("/proc/14/task", "not the directory");
  assert_int_equal(uvperf__task_threads(14, &threads), -ENOTDIR);
  assert_null(threads.tasks);
  fake_assert_clean();
}

static void threads_without_memory_are_enomem(void **state) {
  uvperf__tasks_t threads;
  unsigned nth;
  int i, rc;

  for (i = 12; i < 212; i++)
    write_thread(12, i, 'S');
  write_status(12, 12, 200);
  for (nth = 1;; nth++) {
    fake_kernel_reset();
    fake_fail(FAKE_CALLOC, nth, -ENOMEM);
    rc = uvperf__task_threads(12, &threads);
    if (fake_failures() == 0)
      break;
    assert_int_equal(rc, -ENOMEM);
    assert_null(threads.tasks);
    assert_int_equal(fake_live_allocations(), 0);
  }
  assert_int_equal(rc, 0);
  assert_int_equal(nth, 4); /* for 64, 128 and 256 */
  uvperf__tasks_free(&threads);
}

/* In a child because of the limit: the result of a call that may open `more`
 * fds. */
static int is_honest(unsigned more) {
  uvperf__tasks_t threads;
  int rc = uvperf__task_threads(12, &threads);

  if (more == 0)
    return rc == -EMFILE && uvperf__task_read(12, &task) == -EMFILE &&
           uvperf__task_process(12) == -EMFILE &&
           uvperf__task_is_gone(12, 1012) == -EMFILE &&
           uvperf__task_proc_is_own() == -EMFILE;
  return rc == 0 && threads.nr == 1;
}

static int look_with_few_fds(void *arg) {
  unsigned more;

  for (more = 0; more < 2; more++)
    if (support_limit_fds(more) == 0 || !is_honest(more))
      return 1;
  return 0;
}

static void tasks_without_fds_are_emfile(void **state) {
  make_host_write("/proc/self/status", "NSpid:\t12\n");
  write_thread(12, 12, 'S');
  write_status(12, 12, 1);
  assert_int_equal(support_wait(support_fork(look_with_few_fds, *state)), 0);
}

static int tree_setup(void **state) {
  fake_kernel_reset();
  return make_host_setup(state);
}

#define WITH_TREE(test)                                                        \
  cmocka_unit_test_setup_teardown(test, tree_setup, make_host_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_TREE(task_name_may_hold_anything),
      WITH_TREE(task_has_ended_in_two_states),
      WITH_TREE(task_start_has_64_bits),
      WITH_TREE(invalid_task_stat_is_an_error),
      WITH_TREE(task_without_a_file_differs_from_a_hidden_one),
      WITH_TREE(task_process_is_the_one_that_it_is_of),
      WITH_TREE(proc_is_own_if_a_task_has_one_id),
      WITH_TREE(task_is_gone_when_its_id_is_anothers),
      WITH_TREE(task_is_gone_only_if_no_task_has_its_id),
      WITH_TREE(process_is_looked_up_once_a_second),
      WITH_TREE(thread_is_looked_up_every_ten_seconds),
      WITH_TREE(task_without_its_id_is_gone_at_once),
      WITH_TREE(task_of_unknown_start_is_gone_only_without_its_id),
      WITH_TREE(task_that_is_every_task_is_never_gone),
      WITH_TREE(task_check_fails_when_the_id_is_anothers),
      WITH_TREE(task_of_a_pidfd_that_ends_meanwhile_is_esrch),
      WITH_TREE(task_of_a_pidfd_is_found_or_reported),
      WITH_TREE(threads_come_by_ascending_ids),
      WITH_TREE(threads_of_any_number_are_listed),
      WITH_TREE(threads_that_have_ended_are_left_out),
      WITH_TREE(thread_that_ends_while_it_is_read_is_left_out),
      WITH_TREE(threads_that_a_listing_lacked_are_in_the_next),
      WITH_TREE(threads_that_are_never_all_listed_are_as_listed),
      WITH_TREE(threads_that_cannot_be_read_are_an_error),
      WITH_TREE(threads_without_memory_are_enomem),
      WITH_TREE(tasks_without_fds_are_emfile),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
