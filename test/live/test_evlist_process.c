/* SPDX-License-Identifier: MIT */
/* Counters of processes and commands with all their tasks: the number of their
 * getpgid calls is known exactly. */
#include "evlist_make.h"
#include "live_thread.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Longer than any thread of the tests has to wait for a CPU. */
#define LONGEST_NS UINT64_C(20000000000)
/* An emulated machine opens and closes slowly. */
#define ENOUGH_NS UINT64_C(10000000000)

static evlist_make_t make;

/* Counts calls of getpgid by the first attr. */
static void count_calls(const char *test) {
  uint64_t id = support_need_tracepoint(test, LIVE_SYSCALL);

  support_need_own_events(test);
  evlist_make(&make, 1);
  live_syscall_attr(&make.attrs[0], id, 0);
  make.attrs[0].sample_period = 0;
}

static void enable(uvperf__evlist_t *evlist) {
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
}

static void disable(uvperf__evlist_t *evlist) {
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
}

static void assert_counted(uvperf__evlist_t *evlist, uint64_t value) {
  uvperf_count_t count = evlist_total(evlist, 0);

  if (count.state != UVPERF_COUNT_COUNTING || count.value != value ||
      count.nr_missing != 0)
    fail_msg("%s, %u missing: %llu, not %llu",
             uvperf_count_state_name(count.state), count.nr_missing,
             (unsigned long long)count.value, (unsigned long long)value);
  assert_int_equal(count.scaled, value);
}

static void make_calls(void *arg) {
  live_syscall(*(uint64_t *)arg);
}

/* -- processes ------------------------------------------------------------ */

static void call_twice(void *arg) {
  (void)arg;
  live_syscall(2);
}

static int call_thrice(void *arg) {
  (void)arg;
  live_syscall(3);
  return 0;
}

/* Three threads with 2 calls each and a child with 3, and 1 of its own: 10. */
static void make_ten_calls(void *arg) {
  live_thread_t threads[3];
  size_t i;

  (void)arg;
  for (i = 0; i < 3; i++) {
    live_thread_start(&threads[i], call_twice, NULL);
    live_thread_do(&threads[i]);
  }
  waitpid(support_fork(call_thrice, NULL), NULL, 0);
  live_syscall(1);
  for (i = 0; i < 3; i++)
    live_thread_end(&threads[i]);
}

static void process_counts_all_that_it_makes(void **state) {
  uvperf__evlist_t *evlist;
  live_worker_t worker;

  (void)state;
  count_calls(__func__);
  live_worker_fork(&worker, make_ten_calls, NULL);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = worker.pid;
  evlist = evlist_open(&make);
  live_worker_do(&worker); /* inherited while it is disabled */
  enable(evlist);
  live_worker_do(&worker);
  live_worker_do(&worker);
  assert_counted(evlist, 20);
  /* Also what those have counted that are gone. */
  assert_int_equal(uvperf__evlist_reset(evlist), 0);
  live_worker_do(&worker);
  assert_counted(evlist, 10);
  live_worker_end(&worker);
  uvperf__evlist_free(evlist);
}

static void process_without_inherit_counts_what_it_has(void **state) {
  uvperf__evlist_t *evlist;
  live_worker_t worker;

  (void)state;
  count_calls(__func__);
  live_worker_fork(&worker, make_ten_calls, NULL);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = worker.pid;
  make.targets[0].flags = UVPERF_TARGET_NO_INHERIT;
  evlist = evlist_open(&make);
  enable(evlist);
  live_worker_do(&worker);
  assert_counted(evlist, 1);
  live_worker_end(&worker);
  uvperf__evlist_free(evlist);
}

static void process_has_a_place_for_each_thread(void **state) {
  uint64_t calls = 6;
  uvperf__evlist_t *evlist;
  uvperf_reading_t *reading;
  live_thread_t thread;
  size_t i;

  (void)state;
  count_calls(__func__);
  live_thread_start(&thread, make_calls, &calls);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = getpid();
  evlist = evlist_open(&make);
  enable(evlist);
  live_thread_do(&thread);
  live_syscall(2);
  disable(evlist);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  for (i = 0; i < uvperf_reading_info(reading)->nr_places; i++) {
    int32_t tid = uvperf_reading_place(reading, i)->pid;
    uvperf_count_t count;

    assert_int_equal(uvperf_reading_get(reading, 0, UVPERF_ALL, i, &count), 0);
    assert_int_equal(count.value, tid == (int32_t)thread.tid   ? 6
                                  : tid == (int32_t)live_tid() ? 2
                                                               : 0);
  }
  assert_true(i >= 2);
  uvperf_reading_free(reading);
  uvperf__evlist_free(evlist);
  live_thread_end(&thread);
}

/* It makes threads all the time: tasks inherit some of a group, and not the
 * rest, while it is being opened. */
static void rest(void *arg) {
  (void)arg;
}

static int make_threads(void *arg) {
  live_thread_t thread;

  (void)arg;
  while (getppid() != 1) {
    live_thread_start(&thread, rest, NULL);
    live_thread_do(&thread);
    live_thread_end(&thread);
  }
  return 0;
}

/* How many counts cannot be read. */
static size_t count_errors(uvperf__evlist_t *evlist) {
  uvperf_reading_t *reading;
  uvperf_count_t count;
  size_t attr, place;
  size_t nr = 0;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  for (place = 0; place < uvperf_reading_info(reading)->nr_places; place++)
    for (attr = 0; attr < 8; attr++) {
      assert_int_equal(
          uvperf_reading_get(reading, attr, UVPERF_ALL, place, &count), 0);
      nr += count.state == UVPERF_COUNT_ERROR;
    }
  uvperf_reading_free(reading);
  return nr;
}

/* Threads end while they are opened: that is no error. That one is being made
 * while the group is read is, until it is made. */
static void group_of_a_busy_process_can_be_read(void **state) {
  uint64_t end, enough = live_now() + ENOUGH_NS;
  uvperf__evlist_t *evlist;
  pid_t pid;
  size_t i;

  (void)state;
  support_need_own_events(__func__);
  pid = support_fork(make_threads, NULL);
  evlist_make(&make, 8);
  for (i = 0; i < 8; i++)
    make.attrs[i].exclude_kernel = 1;
  evlist_group(&make, 0, 8);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = pid;
  for (i = 0; i < 10 || (i < 100 && live_now() < enough); i++) {
    evlist = evlist_open(&make);
    enable(evlist);
    end = live_now() + LONGEST_NS;
    while (count_errors(evlist) != 0)
      assert_true(live_now() < end);
    uvperf__evlist_free(evlist);
  }
  kill(pid, SIGKILL);
  assert_int_equal(support_wait(pid), 128 + SIGKILL);
}

/* -- commands ------------------------------------------------------------- */

#define AS_COMMAND "--eleven-calls"

typedef struct command_s {
  int go[2];
} command_t;

static int execute(void *arg) {
  const command_t *command = arg;
  char *argv[] = {"live_evlist_process", AS_COMMAND, NULL};
  char byte;

  close(command->go[1]);
  if (read(command->go[0], &byte, 1) != 0)
    return 2;
  live_syscall(7);
  execv("/proc/self/exe", argv);
  return 3;
}

static void command_counts_from_its_exec_on(void **state) {
  uvperf__evlist_t *evlist;
  command_t command;
  uvperf_count_t count;
  pid_t pid;
  int i;

  (void)state;
  for (i = 0; i < 2; i++) {
    count_calls(__func__);
    assert_int_equal(pipe(command.go), 0);
    pid = support_fork(execute, &command);
    close(command.go[0]);
    evlist_add(&make, UVPERF_TARGET_COMMAND)->pid = pid;
    evlist = evlist_open(&make);
    assert_int_equal(evlist_total(evlist, 0).state, UVPERF_COUNT_NOT_ENABLED);
    /* Nothing is done to it, whatever came before. */
    if (i == 1) {
      enable(evlist);
      disable(evlist);
      enable(evlist);
    }
    close(command.go[1]);
    assert_int_equal(support_wait(pid), 0);
    count = evlist_total(evlist, 0);
    assert_int_equal(count.value, 11);
    count = evlist_total(evlist, 0);
    assert_int_equal(count.state, UVPERF_COUNT_GONE);
    assert_int_equal(count.value, 11);
    uvperf__evlist_free(evlist);
  }
}

#define TEST(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(int argc, char **argv) {
  const struct CMUnitTest tests[] = {
      TEST(process_counts_all_that_it_makes),
      TEST(process_without_inherit_counts_what_it_has),
      TEST(process_has_a_place_for_each_thread),
      TEST(group_of_a_busy_process_can_be_read),
      TEST(command_counts_from_its_exec_on),
  };

  if (argc == 2 && strcmp(argv[1], AS_COMMAND) == 0) {
    live_syscall(11);
    return 0;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
