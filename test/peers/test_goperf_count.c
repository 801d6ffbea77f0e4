/* SPDX-License-Identifier: MIT */
/* The checks of the counting tests of go-perf, and of the library that it comes
 * from: on a scripted PMU, and live if this machine has the events. The whole
 * list is in ORIGINS. */
#include "measure_run.h"
#include "other_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IPC     "{instructions:u,cycles:u}"
#define WITH_ME "{cycles:u,instructions:u,dummy:u}"
#define L1      "{L1-dcache-load-misses:u,L1-icache-load-misses:u}"

/* -- hardware, scripted --------------------------------------------------- */

/* Checks the count of each member, and that its time is the group's. */
static void check_group(uv_loop_t *loop, const char *names, size_t nr) {
  uvperf_count_t count;
  measure_pmu_t pmu;
  measure_run_t run;
  size_t i;
  int turn;

  other_kernel();
  measure_pmu_add(&pmu, nr, 10);
  measure_open(loop, &run, names, NULL);
  for (i = 1; i < nr; i++)
    assert_int_equal(pmu.events[i]->group_fd, pmu.events[0]->fd);
  measure_pmu_work(&pmu); /* not measured */
  for (turn = 0; turn < 3; turn++) {
    measure_do(&run, measure_pmu_work, &pmu);
    for (i = 0; i < nr; i++) {
      count = measure_total(&run, i);
      assert_int_equal(count.value, 1000 + i);
      assert_int_equal(count.scaled, 2000 + 2 * i);
      assert_int_equal(count.time_enabled, 2000);
      assert_int_equal(count.time_running, 1000);
    }
  }
  measure_close(&run);
  fake_assert_clean();
}

/* TestCount/Hardware/IPC, ExampleHardwareCounter_iPC */
static void group_of_instructions_and_cycles_counts_both(void **state) {
  check_group(*state, IPC, 2);
}

/* TestGroup/Count */
static void group_of_cycles_instructions_and_dummy_counts(void **state) {
  check_group(*state, WITH_ME, 3);
}

/* TestCount/HardwareCache/L1Group */
static void group_of_both_l1_caches_counts(void **state) {
  check_group(*state, L1, 2);
}

/* TestCount/HardwareCache/L1DataMisses…Locality */
static void l1_data_misses_are_counted_by_name(void **state) {
  uvperf_count_t count;
  measure_pmu_t pmu;

  (void)state;
  other_kernel();
  measure_pmu_add(&pmu, 1, 10);
  assert_int_equal(uvperf_measure_events("L1-dcache-load-misses:u",
                                         measure_pmu_work, &pmu, &count, 1,
                                         NULL),
                   0);
  assert_int_equal(count.value, 1000);
  fake_assert_clean();
}

/* Swaps the second and the third value of a group of three in the result of
 * read(2). */
static void count_in_another_order(void *arg) {
  measure_pmu_t *pmu = arg;
  size_t words;
  uint64_t kept[3];

  measure_pmu_work(pmu);
  words = (pmu->events[0]->read_size / sizeof(uint64_t) - 3) / 3;
  memcpy(kept, pmu->words + 3 + words, words * sizeof(kept[0]));
  memmove(pmu->words + 3 + words, pmu->words + 3 + 2 * words,
          words * sizeof(kept[0]));
  memcpy(pmu->words + 3 + 2 * words, kept, words * sizeof(kept[0]));
}

static void group_values_are_matched_by_id_and_not_by_order(void **state) {
  measure_pmu_t pmu;
  measure_run_t run;
  size_t i;

  other_kernel();
  measure_pmu_add(&pmu, 3, 10);
  measure_open(*state, &run, WITH_ME, NULL);
  measure_do(&run, count_in_another_order, &pmu);
  for (i = 0; i < 3; i++)
    assert_int_equal(measure_total(&run, i).value, 1000 + i);
  measure_close(&run);
  fake_assert_clean();
}

/* A follower counts only while its leader does: otherwise the first measurement
 * would include its counts since it was opened. */
static void group_is_opened_so_that_its_leader_holds_it(void **state) {
  measure_pmu_t pmu;
  measure_run_t run;

  other_kernel();
  measure_pmu_add(&pmu, 2, 10);
  measure_open(*state, &run, IPC, NULL);
  assert_int_equal(pmu.events[0]->attr.disabled, 1);
  assert_int_equal(pmu.events[0]->enabled, 0);
  assert_int_equal(pmu.events[0]->flags, PERF_FLAG_FD_CLOEXEC);
  assert_int_equal(pmu.events[1]->flags, PERF_FLAG_FD_CLOEXEC);
  measure_close(&run);
  fake_assert_clean();
}

/* If the id of any member cannot be read, no fd is left. */
static void group_of_which_one_has_no_id_leaves_no_fd(void **state) {
  measure_pmu_t pmu;
  measure_run_t run;
  unsigned nth;

  for (nth = 1; nth <= 3; nth++) {
    fake_kernel_reset();
    other_kernel();
    measure_pmu_add(&pmu, 3, 10);
    fake_fail(FAKE_IOCTL_PTR, nth, -EIO);
    measure_open(*state, &run, WITH_ME, NULL);
    assert_int_equal(uvperf_set_nr_open(&run.set), 2);
    measure_close(&run);
    fake_assert_clean();
  }
}

/* -- hardware, live ------------------------------------------------------- */

#define TURNS 1000000

static void work_hard(void *arg) {
  uint64_t *sum = arg;
  volatile uint64_t i;

  for (i = 0; i < TURNS; i++)
    *sum += i;
}

/* TestCount/Hardware/IPC and TestGroup/Count, on the PMU of this machine. */
static void live_instructions_and_cycles_of_a_group_are_counted(void **state) {
  static const char *const groups[] = {IPC, WITH_ME};
  uvperf_count_t count;
  measure_run_t run;
  uint64_t sum = 0;
  size_t group, i;

  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  support_need_hardware(__func__, PERF_COUNT_HW_CPU_CYCLES, 0);
  for (group = 0; group < 2; group++) {
    measure_open(*state, &run, groups[group], NULL);
    measure_do(&run, work_hard, &sum);
    for (i = 0; i < 2; i++) {
      count = measure_total(&run, i);
      assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
      /* Each turn has a few of these, whatever the compiler and the CPU are. */
      assert_in_range(count.scaled, TURNS / 4, 100 * TURNS);
    }
    measure_close(&run);
  }
}

/* Counts each event, or checks why an event cannot be counted. An event that
 * shares the PMU with others may never have run. */
static void check_live(uv_loop_t *loop, const char *names) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t self = UVPERF_TARGET_INIT;
  uvperf_count_t count;
  uvperf_error_t error;
  measure_run_t run;
  uint64_t sum = 0;
  size_t i;
  int rc;

  options.names = names;
  options.targets = &self;
  options.nr_targets = 1;
  memset(&error, 0, sizeof(error));
  rc = uvperf_set_init(loop, &run.set, &options, &error);
  if (rc != 0) {
    assert_int_equal(error.code, rc);
    assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
    assert_true(error.reason[0] != '\0');
    uv_run(loop, UV_RUN_NOWAIT);
    return;
  }
  assert_int_equal(uvperf_reading_new(&run.reading), 0);
  measure_do(&run, work_hard, &sum);
  for (i = 0; i < uvperf_set_nr_attrs(&run.set); i++) {
    count = measure_total(&run, i);
    if (count.state == UVPERF_COUNT_NOT_AVAILABLE)
      assert_int_not_equal(count.code, 0);
    else if (count.state == UVPERF_COUNT_COUNTING &&
             uvperf_set_item(&run.set, i)->attr->type == PERF_TYPE_HARDWARE)
      assert_in_range(count.scaled, 1000, UINT64_MAX / 2);
    else
      assert_int_not_equal(count.state, UVPERF_COUNT_ERROR);
  }
  measure_close(&run);
}

static void live_hardware_counts_or_names_why_not(void **state) {
  support_need_own_events(__func__);
  check_live(*state, IPC);
  check_live(*state, WITH_ME);
  check_live(*state, L1);
  check_live(*state, "L1-dcache-load-misses:u");
}

/* -- system calls --------------------------------------------------------- */

typedef struct once_s {
  const char *name;
  long number;
  const char *path;
  int flags;
  int fd;
} once_t;

static void call_once(void *arg) {
  const once_t *once = arg;
  char byte = 0;

  syscall(once->number, once->fd, &byte, sizeof(byte));
}

/* TestCount/Tracepoint/getpid, read, write */
static void one_system_call_is_one_hit(void **state) {
  once_t calls[] = {
      {"syscalls:sys_enter_getpid", SYS_getpid, "/dev/null", O_RDONLY, -1},
      {"syscalls:sys_enter_read", SYS_read, "/dev/zero", O_RDONLY, -1},
      {"syscalls:sys_enter_write", SYS_write, "/dev/null", O_WRONLY, -1},
  };
  uvperf_count_t count;
  size_t i;

  (void)state;
  support_need_tracepoint(__func__, calls[0].name);
  for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
    calls[i].fd = open(calls[i].path, calls[i].flags | O_CLOEXEC);
    assert_true(calls[i].fd >= 0);
    assert_int_equal(uvperf_measure_events(calls[i].name, call_once, &calls[i],
                                           &count, 1, NULL),
                     0);
    measure_count_is(&count, 1);
    close(calls[i].fd);
  }
}

static void call_getpid(void *arg) {
  uint64_t i;

  for (i = 0; i < *(const uint64_t *)arg; i++)
    syscall(SYS_getpid);
}

/* ExampleTracepoint_getpid */
static void three_system_calls_are_three_hits(void **state) {
  uvperf_count_t count;
  uint64_t nr = 3;

  (void)state;
  support_need_tracepoint(__func__, "syscalls:sys_enter_getpid");
  syscall(SYS_getpid); /* not measured */
  assert_int_equal(uvperf_measure_events("syscalls:sys_enter_getpid",
                                         call_getpid, &nr, &count, 1, NULL),
                   0);
  measure_count_is(&count, 3);
}

static void call_each_once(void *arg) {
  once_t *once = arg;
  uint64_t nr = 1;

  call_getpid(&nr);
  call_once(once);
}

/* TestGroup/Record: its counts. Its records are in test_goperf_set.c. */
static void group_of_two_system_calls_is_one_hit_each(void **state) {
  once_t once = {.number = SYS_write};
  measure_run_t run;
  int i;

  support_need_tracepoint(__func__, "syscalls:sys_enter_getpid");
  once.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  measure_open(*state, &run,
               "{syscalls:sys_enter_getpid,syscalls:sys_enter_write}", NULL);
  for (i = 0; i < 3; i++) {
    measure_do(&run, call_each_once, &once);
    measure_is(&run, 0, 1);
    measure_is(&run, 1, 1);
  }
  measure_close(&run);
  close(once.fd);
}

/* -- ids ------------------------------------------------------------------ */

static uint64_t id_by_ioctl(int fd) {
  uint64_t id = 0;

  assert_int_equal(syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &id), 0);
  return id;
}

/* Returns the fd of an attr at a place of the reading. */
static int fd_of(const measure_run_t *run, size_t attr, size_t place) {
  const uvperf_place_t *at = uvperf_reading_place(run->reading, place);

  return uvperf_set_fd(&run->set, attr, at->serial);
}

/* TestCount/IoctlAndCountIDsMatch, for a group. read(2) returns nr, two times,
 * and then the value, the id and perhaps the lost count of each member. */
static void ids_by_ioctl_equal_the_ids_of_read(void **state) {
  uint64_t words[16];
  measure_run_t run;
  ssize_t size;
  size_t each;
  size_t i;

  support_need_own_events(__func__);
  measure_open(*state, &run, "{page-faults:u,dummy:u,cs:u}", NULL);
  measure_do(&run, measure_nothing, NULL);
  size = read(fd_of(&run, 0, 0), words, sizeof(words));
  assert_true(size > 0);
  assert_int_equal(words[0], 3);
  each = ((size_t)size / sizeof(words[0]) - 3) / 3;
  for (i = 0; i < 3; i++)
    assert_int_equal(words[3 + i * each + 1], id_by_ioctl(fd_of(&run, i, 0)));
  measure_close(&run);
}

/* TestOpen/EventIDsDifferentByCPU */
static void ids_of_one_attr_differ_by_cpu(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  measure_run_t run;
  size_t nr;
  size_t i;
  size_t j;

  support_need_cpu_wide(__func__);
  target.type = UVPERF_TARGET_CPUS;
  measure_open(*state, &run, "context-switches,dummy", &target);
  assert_int_equal(uvperf_set_read(&run.set, run.reading, NULL), 0);
  nr = uvperf_reading_info(run.reading)->nr_places;
  assert_int_equal(nr, sysconf(_SC_NPROCESSORS_ONLN));
  for (i = 0; i < 2 * nr; i++)
    for (j = 0; j < i; j++)
      assert_int_not_equal(id_by_ioctl(fd_of(&run, i % 2, i / 2)),
                           id_by_ioctl(fd_of(&run, j % 2, j / 2)));
  measure_close(&run);
}

/* -- commands ------------------------------------------------------------- */

static uvperf_target_t command(const live_worker_t *worker) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = UVPERF_TARGET_COMMAND;
  target.pid = worker->pid;
  return target;
}

/* In its second turn the worker executes another program. */
static void echo(void *arg) {
  int *turn = arg;

  live_syscall(5);
  if (++*turn == 2)
    execl("/bin/sh", "sh", "-c",
          "echo hello world >/dev/null; :", (char *)NULL);
}

/* TestCommand, TestCommandGroup: a command is counted from its exec to its
 * end. */
static void live_command_counts_from_its_exec(void **state) {
  uvperf_target_t target;
  live_worker_t worker;
  measure_run_t run;
  int turn = 0;

  support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_worker_fork(&worker, echo, &turn);
  target = command(&worker);
  measure_open(*state, &run,
               "{syscalls:sys_exit_execve,syscalls:sys_enter_execve,"
               "syscalls:sys_enter_exit_group},page-faults:u,task-clock:u",
               &target);
  assert_int_equal(uvperf_enable(&run.set.handle, UVPERF_ALL, NULL), 0);
  live_worker_do(&worker);
  assert_int_equal(uvperf_set_read(&run.set, run.reading, NULL), 0);
  assert_int_equal(measure_total(&run, 3).state, UVPERF_COUNT_NOT_ENABLED);
  live_worker_do(&worker);
  live_worker_end(&worker);
  /* The second read finds that the counts have not changed, so it checks
   * whether the command is gone. */
  assert_int_equal(uvperf_set_read(&run.set, run.reading, NULL), 0);
  assert_int_equal(uvperf_set_read(&run.set, run.reading, NULL), 0);
  assert_int_equal(measure_total(&run, 0).value, 1);
  assert_int_equal(measure_total(&run, 1).value, 0);
  assert_int_equal(measure_total(&run, 2).value, 1);
  assert_in_range(measure_total(&run, 3).value, 10, 100000);
  assert_in_range(measure_total(&run, 4).value, 1000, UINT64_MAX / 2);
  assert_int_equal(measure_total(&run, 0).state, UVPERF_COUNT_GONE);
  measure_close(&run);
}

/* go-perf stops its command by ptrace(2) after the exec, and counts only its
 * first thread. */
static void command_is_enabled_by_its_exec_with_its_children(void **state) {
  uvperf_target_t target;
  live_worker_t worker;
  measure_pmu_t pmu;
  measure_run_t run;
  int turn = 0;

  other_kernel();
  measure_pmu_add(&pmu, 2, 10);
  live_worker_fork(&worker, echo, &turn);
  target = command(&worker);
  measure_open(*state, &run, IPC, &target);
  assert_int_equal(pmu.events[0]->pid, worker.pid);
  assert_int_equal(pmu.events[0]->attr.enable_on_exec, 1);
  assert_int_equal(pmu.events[0]->attr.inherit, 1);
  assert_int_equal(pmu.events[1]->attr.enable_on_exec, 0);
  assert_int_equal(pmu.events[1]->attr.inherit, 1);
  measure_pmu_work(&pmu); /* the command calls exec */
  assert_int_equal(uvperf_set_read(&run.set, run.reading, NULL), 0);
  assert_int_equal(measure_total(&run, 0).value, 1000);
  assert_int_equal(measure_total(&run, 1).value, 1001);
  measure_close(&run);
  live_worker_end(&worker);
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      other_kernel_loop_test(group_of_instructions_and_cycles_counts_both),
      other_kernel_loop_test(group_of_cycles_instructions_and_dummy_counts),
      other_kernel_loop_test(group_of_both_l1_caches_counts),
      other_kernel_loop_test(l1_data_misses_are_counted_by_name),
      other_kernel_loop_test(group_values_are_matched_by_id_and_not_by_order),
      other_kernel_loop_test(group_is_opened_so_that_its_leader_holds_it),
      other_kernel_loop_test(group_of_which_one_has_no_id_leaves_no_fd),
      support_loop_test(live_instructions_and_cycles_of_a_group_are_counted),
      support_loop_test(live_hardware_counts_or_names_why_not),
      support_loop_test(one_system_call_is_one_hit),
      support_loop_test(three_system_calls_are_three_hits),
      support_loop_test(group_of_two_system_calls_is_one_hit_each),
      support_loop_test(ids_by_ioctl_equal_the_ids_of_read),
      support_loop_test(ids_of_one_attr_differ_by_cpu),
      support_loop_test(live_command_counts_from_its_exec),
      other_kernel_loop_test(command_is_enabled_by_its_exec_with_its_children),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
