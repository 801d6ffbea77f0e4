/* SPDX-License-Identifier: MIT */
/* The timeline with made-up records, without a kernel. */
#include "make_record.h"
#include "support.h"

#include "watch/timeline.h"

/* A timeline, and the attr and source for its records. */
typedef struct scenario_s {
  struct perf_event_attr attr;
  uvperf_source_t source;
  watch_timeline_t timeline;
  common_buffer_t buffer;
} scenario_t;

static int alive; /* the result of is_alive */

static int is_alive(watch_process_t *process) {
  (void)process;
  return alive;
}

static void scenario_init(scenario_t *scenario) {
  memset(scenario, 0, sizeof(*scenario));
  uvperf_attr_software(&scenario->attr, PERF_COUNT_SW_DUMMY);
  scenario->attr.sample_type =
      PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  scenario->attr.sample_id_all = 1;
  scenario->source.size = sizeof(scenario->source);
  scenario->source.attr = &scenario->attr;
  scenario->timeline.tasks.show_all = 1;
  scenario->timeline.is_alive = is_alive;
  scenario->timeline.kinds =
      ~(WATCH_BIT(WATCH_THREAD) | WATCH_BIT(WATCH_THREAD_EXIT));
  scenario->timeline.buffer = &scenario->buffer;
  alive = 1;
}

static void scenario_free(scenario_t *scenario) {
  watch_timeline_free(&scenario->timeline);
  common_buffer_free(&scenario->buffer);
}

/* Passes the record to the timeline as a handle would. */
static void add(scenario_t *scenario, record_builder_t *builder, uint64_t time,
                uint32_t cpu) {
  const uvperf_source_t *source = &scenario->source;
  const uvperf_record_t *record;
  uvperf_decoder_t *decoder;
  record_values_t values;

  memset(&values, 0, sizeof(values));
  values.time = time;
  values.cpu = cpu;
  record_put_trailer(builder, &scenario->attr, &values);
  record_end(builder);
  assert_int_equal(uvperf_decoder_new(&decoder, &source, 1), 0);
  assert_int_equal(
      uvperf_decode(decoder, builder->words, builder->size, &record), 0);
  watch_timeline_record(&scenario->timeline, record);
  uvperf_decoder_free(decoder);
}

static void add_task(scenario_t *scenario, uint32_t type, uint64_t time,
                     uint32_t pid, uint32_t tid, uint32_t ppid) {
  static record_builder_t builder;

  record_begin(&builder, type, 0);
  record_put_u32(&builder, pid);
  record_put_u32(&builder, ppid);
  record_put_u32(&builder, tid);
  record_put_u32(&builder, ppid);
  record_put_u64(&builder, time);
  add(scenario, &builder, time, 0);
}

static void add_comm(scenario_t *scenario, uint64_t time, uint32_t pid,
                     int is_exec, const char name[8]) {
  static record_builder_t builder;

  record_begin(&builder, PERF_RECORD_COMM,
               is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
  record_put_u32(&builder, pid);
  record_put_u32(&builder, pid);
  record_put(&builder, name, 8);
  add(scenario, &builder, time, 1);
}

static void add_map(scenario_t *scenario, uint64_t time, uint32_t pid,
                    const char name[8]) {
  static record_builder_t builder;
  size_t i;

  record_begin(&builder, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
  record_put_u32(&builder, pid);
  record_put_u32(&builder, pid);
  record_put_u64(&builder, 0x1000);
  record_put_u64(&builder, 0x2000);
  for (i = 0; i < 5; i++)
    record_put_u64(&builder, 0);
  record_put(&builder, name, 8);
  add(scenario, &builder, time, 1);
}

static void add_lost(scenario_t *scenario, uint64_t time, uint32_t cpu,
                     uint64_t lost) {
  static record_builder_t builder;

  record_begin(&builder, PERF_RECORD_LOST, 0);
  record_put_u64(&builder, 0);
  record_put_u64(&builder, lost);
  add(scenario, &builder, time, cpu);
}

static void expect_lines(scenario_t *scenario, uint64_t until,
                         const char *expected) {
  watch_timeline_until(&scenario->timeline, until);
  common_buffer_add(&scenario->buffer, "", 1);
  assert_string_equal(scenario->buffer.text, expected);
  scenario->buffer.used = 0;
}

static void late_record_is_printed_and_counted(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  add_task(&scenario, PERF_RECORD_FORK, 5000, 7, 7, 6);
  expect_lines(&scenario, 6000, "0.000005 fork   6 -> 7 ?\n");
  add_task(&scenario, PERF_RECORD_FORK, 4000, 8, 8, 6);
  expect_lines(&scenario, 6000, "0.000004 fork   6 -> 8 ?\n");
  assert_int_equal(scenario.timeline.counts.late, 1);
  assert_int_equal(scenario.timeline.counts.forks, 2);
  scenario_free(&scenario);
}

static void process_exits_with_its_last_thread(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  add_task(&scenario, PERF_RECORD_FORK, 1000, 7, 7, 6);
  add_task(&scenario, PERF_RECORD_FORK, 2000, 7, 8, 7);
  add_task(&scenario, PERF_RECORD_EXIT, 3000, 7, 7, 6);
  expect_lines(&scenario, 3500, "0.000001 fork   6 -> 7 ?\n");
  add_task(&scenario, PERF_RECORD_EXIT, 4000, 7, 8, 6);
  expect_lines(&scenario, UINT64_MAX, "0.000004 exit   7 ?\n");
  scenario_free(&scenario);
}

/* A thread that calls execve(2) takes the id of the first thread (fs/exec.c,
 * de_thread). */
static void exec_leaves_one_thread(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  scenario.timeline.kinds = ~0u;
  add_task(&scenario, PERF_RECORD_FORK, 1000, 7, 7, 6);
  add_task(&scenario, PERF_RECORD_FORK, 2000, 7, 8, 7);
  add_task(&scenario, PERF_RECORD_EXIT, 3000, 7, 7, 6);
  add_comm(&scenario, 4000, 7, 1, "ls\0\0\0\0\0");
  add_task(&scenario, PERF_RECORD_EXIT, 5000, 7, 7, 6);
  expect_lines(&scenario, UINT64_MAX,
               "0.000001 fork   6 -> 7 ?\n"
               "0.000002 thread 7 -> 7/8 ?\n"
               "0.000003 thread_exit 7 ?\n"
               "0.000004 exec   7 ls\n"
               "0.000005 exit   7 ls\n");
  scenario_free(&scenario);
}

static void exec_waits_for_its_executable_but_not_forever(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  add_comm(&scenario, 1000, 7, 1, "ls\0\0\0\0\0");
  add_task(&scenario, PERF_RECORD_FORK, 2000, 9, 9, 6);
  expect_lines(&scenario, 900000000, "");
  /* Later events are not written before the exec. */
  expect_lines(&scenario, 1100000000,
               "0.000001 exec   7 ls\n0.000002 fork   6 -> 9 ?\n");
  scenario_free(&scenario);
}

/* The mapping after the gap need not be the first one. */
static void executable_is_not_guessed_after_a_loss(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  add_comm(&scenario, 1000, 7, 1, "ls\0\0\0\0\0");
  add_lost(&scenario, 3001, 1, 5);
  add_map(&scenario, 3000, 7, "/lib/ld");
  expect_lines(&scenario, UINT64_MAX,
               "0.000001 exec   7 ls\n"
               "0.000001 lost   5 records on CPU 1\n"
               "0.000003 mmap   7 /lib/ld 0x1000+0x2000\n");
  assert_int_equal(scenario.timeline.counts.lost, 5);
  scenario_free(&scenario);
}

/* The mapping may be one of the lost records. */
static void exec_does_not_wait_after_a_loss(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  add_comm(&scenario, 1000, 7, 1, "ls\0\0\0\0\0");
  add_lost(&scenario, 2000, 0, 5);
  expect_lines(&scenario, 3000,
               "0.000001 exec   7 ls\n0.000001 lost   5 records on CPU 0\n");
  scenario_free(&scenario);
}

/* Newer events of other CPUs were already written. */
static void loss_on_a_quiet_cpu_is_not_late(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  add_comm(&scenario, 1000, 7, 0, "ls\0\0\0\0\0");
  add_task(&scenario, PERF_RECORD_FORK, 5000, 8, 8, 7);
  expect_lines(&scenario, 6000,
               "0.000001 comm   7 ls\n0.000005 fork   7 -> 8 ls\n");
  add_lost(&scenario, 7001, 1, 2);
  add_comm(&scenario, 7000, 7, 0, "cp\0\0\0\0\0");
  expect_lines(&scenario, 8000,
               "0.000005 lost   2 records on CPU 1\n0.000007 comm   7 cp\n");
  assert_int_equal(scenario.timeline.counts.late, 0);
  scenario_free(&scenario);
}

/* Mappings are not printed, but one is the executable of an exec. */
static void unwanted_kinds_are_left_out(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  scenario.timeline.kinds = WATCH_BIT(WATCH_EXEC) | WATCH_BIT(WATCH_LOST);
  add_task(&scenario, PERF_RECORD_FORK, 1000, 7, 7, 6);
  add_comm(&scenario, 2000, 7, 1, "ls\0\0\0\0\0");
  add_map(&scenario, 3000, 7, "/bin/ls");
  add_comm(&scenario, 4000, 7, 0, "cp\0\0\0\0\0");
  add_lost(&scenario, 5000, 0, 2);
  add_task(&scenario, PERF_RECORD_EXIT, 6000, 7, 7, 6);
  expect_lines(&scenario, UINT64_MAX,
               "0.000002 exec   7 ls /bin/ls\n"
               "0.000004 lost   2 records on CPU 0\n");
  /* An exec that is not wanted delays nothing. */
  scenario.timeline.kinds = WATCH_BIT(WATCH_EXIT);
  add_comm(&scenario, 7000, 8, 1, "ls\0\0\0\0\0");
  add_task(&scenario, PERF_RECORD_EXIT, 8000, 9, 9, 6);
  expect_lines(&scenario, 9000, "0.000008 exit   9 ?\n");
  /* The sanitizers would report if the process still pointed to the exec. */
  add_map(&scenario, 9000, 8, "/bin/ls");
  add_task(&scenario, PERF_RECORD_EXIT, 10000, 8, 8, 6);
  expect_lines(&scenario, 11000, "0.000010 exit   8 ls\n");
  scenario_free(&scenario);
}

static int known; /* the status to report; -1: none yet */

static int add_status(void *arg, watch_event_t *event) {
  assert_ptr_equal(arg, &known);
  assert_int_equal(event->tid, 8);
  if (known < 0)
    return 0;
  event->has_status = 1;
  event->status = (uint32_t)known;
  return 1;
}

/* The status of a process is that of its last thread. It comes later than the
 * record. */
static void exit_waits_for_its_status_but_not_forever(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  scenario.timeline.add_status = add_status;
  scenario.timeline.arg = &known;
  known = -1;
  add_task(&scenario, PERF_RECORD_FORK, 1000, 7, 7, 6);
  add_task(&scenario, PERF_RECORD_FORK, 2000, 7, 8, 7);
  add_task(&scenario, PERF_RECORD_EXIT, 3000, 7, 7, 6);
  add_task(&scenario, PERF_RECORD_EXIT, 4000, 7, 8, 6);
  add_task(&scenario, PERF_RECORD_FORK, 5000, 9, 9, 6);
  expect_lines(&scenario, 100000000, "0.000001 fork   6 -> 7 ?\n");
  known = 0x300;
  expect_lines(&scenario, 100000001,
               "0.000004 exit   7 ? status 3\n0.000005 fork   6 -> 9 ?\n");
  known = -1;
  add_task(&scenario, PERF_RECORD_EXIT, 100000000, 8, 8, 6);
  expect_lines(&scenario, 200000000, "");
  expect_lines(&scenario, 300000000, "0.100000 exit   8 ?\n");
  add_task(&scenario, PERF_RECORD_EXIT, 300000000, 8, 8, 6);
  expect_lines(&scenario, UINT64_MAX, "0.300000 exit   8 ?\n");
  scenario_free(&scenario);
}

static void exit_without_a_fork_is_printed_once(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  add_task(&scenario, PERF_RECORD_EXIT, 1000, 7, 7, 6);
  add_task(&scenario, PERF_RECORD_EXIT, 2000, 9, 10, 6);
  expect_lines(&scenario, UINT64_MAX, "0.000001 exit   7 ?\n");
  scenario_free(&scenario);
}

/* The exit of thread 10 was lost. The exit of the process is printed when the
 * process is found to have ended. It is not printed again at the exits of the
 * other threads. */
static void lost_exit_of_a_thread_does_not_hide_the_exit(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  add_task(&scenario, PERF_RECORD_FORK, 1000, 7, 7, 6);
  add_task(&scenario, PERF_RECORD_FORK, 2000, 7, 8, 7);
  add_task(&scenario, PERF_RECORD_FORK, 3000, 7, 9, 7);
  add_task(&scenario, PERF_RECORD_FORK, 3500, 7, 10, 7);
  expect_lines(&scenario, 4000, "0.000001 fork   6 -> 7 ?\n");
  alive = 0;
  add_lost(&scenario, 5000, 1, 1);
  add_task(&scenario, PERF_RECORD_EXIT, 6000, 7, 9, 6);
  add_task(&scenario, PERF_RECORD_EXIT, 6500, 7, 8, 6);
  add_task(&scenario, PERF_RECORD_EXIT, 7000, 7, 7, 6);
  expect_lines(&scenario, UINT64_MAX,
               "0.000003 lost   1 record on CPU 1\n"
               "0.000006 exit   7 ?\n");
  watch_timeline_sweep(&scenario.timeline);
  watch_timeline_sweep(&scenario.timeline);
  assert_null(watch_tasks_find(&scenario.timeline.tasks, 7));
  scenario_free(&scenario);
}

/* Everything is known about processes that were forked or did exec after the
 * loss, so is_alive is not called. */
static void process_created_after_the_loss_is_trusted(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  alive = 0;
  add_task(&scenario, PERF_RECORD_FORK, 500, 5, 5, 6);
  add_lost(&scenario, 1000, 1, 1);
  add_task(&scenario, PERF_RECORD_FORK, 2000, 7, 7, 6);
  add_task(&scenario, PERF_RECORD_FORK, 3000, 7, 8, 7);
  add_task(&scenario, PERF_RECORD_EXIT, 4000, 7, 7, 6);
  add_comm(&scenario, 5000, 5, 1, "ls\0\0\0\0\0");
  add_task(&scenario, PERF_RECORD_FORK, 6000, 5, 9, 5);
  add_task(&scenario, PERF_RECORD_EXIT, 7000, 5, 5, 6);
  expect_lines(&scenario, UINT64_MAX,
               "0.000000 fork   6 -> 5 ?\n"
               "0.000000 lost   1 record on CPU 1\n"
               "0.000002 fork   6 -> 7 ?\n"
               "0.000005 exec   5 ls\n");
  scenario_free(&scenario);
}

/* Without its removal a tree would never end. */
static void process_whose_exit_was_lost_is_removed(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  add_task(&scenario, PERF_RECORD_FORK, 1000, 7, 7, 6);
  add_lost(&scenario, 2000, 1, 1);
  watch_timeline_until(&scenario.timeline, 3000);
  watch_timeline_sweep(&scenario.timeline);
  assert_int_equal(scenario.timeline.tasks.nr_shown, 1);
  alive = 0;
  watch_timeline_sweep(&scenario.timeline);
  assert_int_equal(scenario.timeline.tasks.nr_shown, 1);
  watch_timeline_sweep(&scenario.timeline);
  assert_int_equal(scenario.timeline.tasks.nr_shown, 0);
  scenario_free(&scenario);
}

static void tasks_of_other_pid_namespaces_are_counted(void **state) {
  scenario_t scenario;

  scenario_init(&scenario);
  add_task(&scenario, PERF_RECORD_FORK, 1000, 0, 0, 0);
  add_task(&scenario, PERF_RECORD_EXIT, 2000, 0, 0, 0);
  expect_lines(&scenario, UINT64_MAX, "");
  assert_int_equal(scenario.timeline.counts.hidden, 1);
  scenario_free(&scenario);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(late_record_is_printed_and_counted),
      cmocka_unit_test(process_exits_with_its_last_thread),
      cmocka_unit_test(exec_leaves_one_thread),
      cmocka_unit_test(exec_waits_for_its_executable_but_not_forever),
      cmocka_unit_test(executable_is_not_guessed_after_a_loss),
      cmocka_unit_test(exec_does_not_wait_after_a_loss),
      cmocka_unit_test(loss_on_a_quiet_cpu_is_not_late),
      cmocka_unit_test(unwanted_kinds_are_left_out),
      cmocka_unit_test(exit_waits_for_its_status_but_not_forever),
      cmocka_unit_test(exit_without_a_fork_is_printed_once),
      cmocka_unit_test(lost_exit_of_a_thread_does_not_hide_the_exit),
      cmocka_unit_test(process_created_after_the_loss_is_trusted),
      cmocka_unit_test(process_whose_exit_was_lost_is_removed),
      cmocka_unit_test(tasks_of_other_pid_namespaces_are_counted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
