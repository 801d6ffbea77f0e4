/* SPDX-License-Identifier: MIT */
/* The story that records tell, without a kernel: the records are made here. */
#include "record_builder.h"
#include "support.h"

#include "watch/story.h"

/* A story of records that are made here. */
typedef struct tale_s {
  struct perf_event_attr attr;
  uvperf_source_t source;
  watch_story_t story;
  common_buffer_t buffer;
} tale_t;

static int alive; /* what the story is told if it asks */

static int is_alive(watch_process_t *process) {
  (void)process;
  return alive;
}

static void tale_init(tale_t *tale) {
  memset(tale, 0, sizeof(*tale));
  uvperf_attr_software(&tale->attr, PERF_COUNT_SW_DUMMY);
  tale->attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  tale->attr.sample_id_all = 1;
  tale->source.size = sizeof(tale->source);
  tale->source.attr = &tale->attr;
  tale->story.tasks.show_all = 1;
  tale->story.is_alive = is_alive;
  tale->story.kinds = ~(WATCH_BIT(WATCH_THREAD) | WATCH_BIT(WATCH_THREAD_EXIT));
  tale->story.buffer = &tale->buffer;
  alive = 1;
}

static void tale_free(tale_t *tale) {
  watch_story_free(&tale->story);
  common_buffer_free(&tale->buffer);
}

/* As the handle gives it. */
static void add(tale_t *tale, record_builder_t *builder, uint64_t time,
                uint32_t cpu) {
  const uvperf_source_t *source = &tale->source;
  const uvperf_record_t *record;
  uvperf_decoder_t *decoder;
  record_values_t values;

  memset(&values, 0, sizeof(values));
  values.time = time;
  values.cpu = cpu;
  record_put_trailer(builder, &tale->attr, &values);
  record_end(builder);
  assert_int_equal(uvperf_decoder_new(&decoder, &source, 1), 0);
  assert_int_equal(
      uvperf_decode(decoder, builder->words, builder->size, &record), 0);
  watch_story_record(&tale->story, record);
  uvperf_decoder_free(decoder);
}

static void add_task(tale_t *tale, uint32_t type, uint64_t time, uint32_t pid,
                     uint32_t tid, uint32_t ppid) {
  static record_builder_t builder;

  record_begin(&builder, type, 0);
  record_put_u32(&builder, pid);
  record_put_u32(&builder, ppid);
  record_put_u32(&builder, tid);
  record_put_u32(&builder, ppid);
  record_put_u64(&builder, time);
  add(tale, &builder, time, 0);
}

static void add_comm(tale_t *tale, uint64_t time, uint32_t pid, int is_exec,
                     const char name[8]) {
  static record_builder_t builder;

  record_begin(&builder, PERF_RECORD_COMM,
               is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
  record_put_u32(&builder, pid);
  record_put_u32(&builder, pid);
  record_put(&builder, name, 8);
  add(tale, &builder, time, 1);
}

static void add_map(tale_t *tale, uint64_t time, uint32_t pid,
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
  add(tale, &builder, time, 1);
}

static void add_lost(tale_t *tale, uint64_t time, uint32_t cpu, uint64_t lost) {
  static record_builder_t builder;

  record_begin(&builder, PERF_RECORD_LOST, 0);
  record_put_u64(&builder, 0);
  record_put_u64(&builder, lost);
  add(tale, &builder, time, cpu);
}

static void expect_tale(tale_t *tale, uint64_t until, const char *expected) {
  watch_story_until(&tale->story, until);
  common_buffer_add(&tale->buffer, "", 1);
  assert_string_equal(tale->buffer.text, expected);
  tale->buffer.used = 0;
}

static void record_that_comes_too_late_is_told_and_counted(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  add_task(&tale, PERF_RECORD_FORK, 5000, 7, 7, 6);
  expect_tale(&tale, 6000, "0.000005 fork   6 -> 7 ?\n");
  add_task(&tale, PERF_RECORD_FORK, 4000, 8, 8, 6);
  expect_tale(&tale, 6000, "0.000004 fork   6 -> 8 ?\n");
  assert_int_equal(tale.story.counts.late, 1);
  assert_int_equal(tale.story.counts.forks, 2);
  tale_free(&tale);
}

static void exit_is_that_of_the_last_thread(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  add_task(&tale, PERF_RECORD_FORK, 1000, 7, 7, 6);
  add_task(&tale, PERF_RECORD_FORK, 2000, 7, 8, 7);
  add_task(&tale, PERF_RECORD_EXIT, 3000, 7, 7, 6);
  expect_tale(&tale, 3500, "0.000001 fork   6 -> 7 ?\n");
  add_task(&tale, PERF_RECORD_EXIT, 4000, 7, 8, 6);
  expect_tale(&tale, UINT64_MAX, "0.000004 exit   7 ?\n");
  tale_free(&tale);
}

/* The kernel gives the thread that execs the id of the first (fs/exec.c,
 * de_thread). */
static void exec_leaves_one_thread(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  tale.story.kinds = ~0u;
  add_task(&tale, PERF_RECORD_FORK, 1000, 7, 7, 6);
  add_task(&tale, PERF_RECORD_FORK, 2000, 7, 8, 7);
  add_task(&tale, PERF_RECORD_EXIT, 3000, 7, 7, 6);
  add_comm(&tale, 4000, 7, 1, "ls\0\0\0\0\0");
  add_task(&tale, PERF_RECORD_EXIT, 5000, 7, 7, 6);
  expect_tale(&tale, UINT64_MAX,
              "0.000001 fork   6 -> 7 ?\n"
              "0.000002 thread 7 -> 7/8 ?\n"
              "0.000003 thread_exit 7 ?\n"
              "0.000004 exec   7 ls\n"
              "0.000005 exit   7 ls\n");
  tale_free(&tale);
}

static void exec_waits_for_its_executable_but_not_for_ever(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  add_comm(&tale, 1000, 7, 1, "ls\0\0\0\0\0");
  add_task(&tale, PERF_RECORD_FORK, 2000, 9, 9, 6);
  expect_tale(&tale, 900000000, "");
  /* What comes after the exec does not go before it. */
  expect_tale(&tale, 1100000000,
              "0.000001 exec   7 ls\n0.000002 fork   6 -> 9 ?\n");
  tale_free(&tale);
}

/* The record behind the gap need not be the first mapping. */
static void executable_is_not_guessed_after_a_loss(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  add_comm(&tale, 1000, 7, 1, "ls\0\0\0\0\0");
  add_lost(&tale, 3001, 1, 5);
  add_map(&tale, 3000, 7, "/lib/ld");
  expect_tale(&tale, UINT64_MAX,
              "0.000001 exec   7 ls\n"
              "0.000001 lost   5 records on CPU 1\n"
              "0.000003 mmap   7 /lib/ld 0x1000+0x2000\n");
  assert_int_equal(tale.story.counts.lost, 5);
  tale_free(&tale);
}

/* The mapping can be among what was lost. */
static void exec_does_not_wait_after_a_loss(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  add_comm(&tale, 1000, 7, 1, "ls\0\0\0\0\0");
  add_lost(&tale, 2000, 0, 5);
  expect_tale(&tale, 3000,
              "0.000001 exec   7 ls\n0.000001 lost   5 records on CPU 0\n");
  tale_free(&tale);
}

/* What other CPUs did meanwhile has been told. */
static void loss_on_a_quiet_cpu_is_not_late(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  add_comm(&tale, 1000, 7, 0, "ls\0\0\0\0\0");
  add_task(&tale, PERF_RECORD_FORK, 5000, 8, 8, 7);
  expect_tale(&tale, 6000, "0.000001 comm   7 ls\n0.000005 fork   7 -> 8 ls\n");
  add_lost(&tale, 7001, 1, 2);
  add_comm(&tale, 7000, 7, 0, "cp\0\0\0\0\0");
  expect_tale(&tale, 8000,
              "0.000005 lost   2 records on CPU 1\n0.000007 comm   7 cp\n");
  assert_int_equal(tale.story.counts.late, 0);
  tale_free(&tale);
}

/* The mapping that is not told is the executable of what is. */
static void kinds_that_are_not_wanted_are_left_out(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  tale.story.kinds = WATCH_BIT(WATCH_EXEC) | WATCH_BIT(WATCH_LOST);
  add_task(&tale, PERF_RECORD_FORK, 1000, 7, 7, 6);
  add_comm(&tale, 2000, 7, 1, "ls\0\0\0\0\0");
  add_map(&tale, 3000, 7, "/bin/ls");
  add_comm(&tale, 4000, 7, 0, "cp\0\0\0\0\0");
  add_lost(&tale, 5000, 0, 2);
  add_task(&tale, PERF_RECORD_EXIT, 6000, 7, 7, 6);
  expect_tale(&tale, UINT64_MAX,
              "0.000002 exec   7 ls /bin/ls\n"
              "0.000004 lost   2 records on CPU 0\n");
  /* An exec that is not wanted holds nothing up. */
  tale.story.kinds = WATCH_BIT(WATCH_EXIT);
  add_comm(&tale, 7000, 8, 1, "ls\0\0\0\0\0");
  add_task(&tale, PERF_RECORD_EXIT, 8000, 9, 9, 6);
  expect_tale(&tale, 9000, "0.000008 exit   9 ?\n");
  /* The process does not point to it: else the sanitizers report it. */
  add_map(&tale, 9000, 8, "/bin/ls");
  add_task(&tale, PERF_RECORD_EXIT, 10000, 8, 8, 6);
  expect_tale(&tale, 11000, "0.000010 exit   8 ls\n");
  tale_free(&tale);
}

static int known; /* the status that the story gets, -1 for none yet */

static int add_status(void *arg, watch_event_t *event) {
  assert_ptr_equal(arg, &known);
  assert_int_equal(event->tid, 8);
  if (known < 0)
    return 0;
  event->has_status = 1;
  event->status = (uint32_t)known;
  return 1;
}

/* It is asked of the last thread, and comes later than the record. */
static void exit_waits_for_its_status_but_not_for_ever(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  tale.story.add_status = add_status;
  tale.story.arg = &known;
  known = -1;
  add_task(&tale, PERF_RECORD_FORK, 1000, 7, 7, 6);
  add_task(&tale, PERF_RECORD_FORK, 2000, 7, 8, 7);
  add_task(&tale, PERF_RECORD_EXIT, 3000, 7, 7, 6);
  add_task(&tale, PERF_RECORD_EXIT, 4000, 7, 8, 6);
  add_task(&tale, PERF_RECORD_FORK, 5000, 9, 9, 6);
  expect_tale(&tale, 100000000, "0.000001 fork   6 -> 7 ?\n");
  known = 0x300;
  expect_tale(&tale, 100000001,
              "0.000004 exit   7 ? status 3\n0.000005 fork   6 -> 9 ?\n");
  known = -1;
  add_task(&tale, PERF_RECORD_EXIT, 100000000, 8, 8, 6);
  expect_tale(&tale, 200000000, "");
  expect_tale(&tale, 300000000, "0.100000 exit   8 ?\n");
  add_task(&tale, PERF_RECORD_EXIT, 300000000, 8, 8, 6);
  expect_tale(&tale, UINT64_MAX, "0.300000 exit   8 ?\n");
  tale_free(&tale);
}

static void exit_without_a_fork_is_told_once(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  add_task(&tale, PERF_RECORD_EXIT, 1000, 7, 7, 6);
  add_task(&tale, PERF_RECORD_EXIT, 2000, 9, 10, 6);
  expect_tale(&tale, UINT64_MAX, "0.000001 exit   7 ?\n");
  tale_free(&tale);
}

/* That of thread 10 was lost. The exit of the process is told when it is seen
 * to be gone, and not again when its other threads' come. */
static void lost_exit_of_a_thread_does_not_hide_the_exit(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  add_task(&tale, PERF_RECORD_FORK, 1000, 7, 7, 6);
  add_task(&tale, PERF_RECORD_FORK, 2000, 7, 8, 7);
  add_task(&tale, PERF_RECORD_FORK, 3000, 7, 9, 7);
  add_task(&tale, PERF_RECORD_FORK, 3500, 7, 10, 7);
  expect_tale(&tale, 4000, "0.000001 fork   6 -> 7 ?\n");
  alive = 0;
  add_lost(&tale, 5000, 1, 1);
  add_task(&tale, PERF_RECORD_EXIT, 6000, 7, 9, 6);
  add_task(&tale, PERF_RECORD_EXIT, 6500, 7, 8, 6);
  add_task(&tale, PERF_RECORD_EXIT, 7000, 7, 7, 6);
  expect_tale(&tale, UINT64_MAX,
              "0.000003 lost   1 record on CPU 1\n"
              "0.000006 exit   7 ?\n");
  watch_story_sweep(&tale.story);
  watch_story_sweep(&tale.story);
  assert_null(watch_tasks_find(&tale.story.tasks, 7));
  tale_free(&tale);
}

/* Of those that were forked, or did exec, since the loss all is known again:
 * nobody is asked. */
static void process_younger_than_the_loss_is_trusted(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  alive = 0;
  add_task(&tale, PERF_RECORD_FORK, 500, 5, 5, 6);
  add_lost(&tale, 1000, 1, 1);
  add_task(&tale, PERF_RECORD_FORK, 2000, 7, 7, 6);
  add_task(&tale, PERF_RECORD_FORK, 3000, 7, 8, 7);
  add_task(&tale, PERF_RECORD_EXIT, 4000, 7, 7, 6);
  add_comm(&tale, 5000, 5, 1, "ls\0\0\0\0\0");
  add_task(&tale, PERF_RECORD_FORK, 6000, 5, 9, 5);
  add_task(&tale, PERF_RECORD_EXIT, 7000, 5, 5, 6);
  expect_tale(&tale, UINT64_MAX,
              "0.000000 fork   6 -> 5 ?\n"
              "0.000000 lost   1 record on CPU 1\n"
              "0.000002 fork   6 -> 7 ?\n"
              "0.000005 exec   5 ls\n");
  tale_free(&tale);
}

/* Its end comes all the same, or the tree would never be gone. */
static void process_whose_exit_was_lost_is_swept_away(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  add_task(&tale, PERF_RECORD_FORK, 1000, 7, 7, 6);
  add_lost(&tale, 2000, 1, 1);
  watch_story_until(&tale.story, 3000);
  watch_story_sweep(&tale.story);
  assert_int_equal(tale.story.tasks.nr_shown, 1);
  alive = 0;
  watch_story_sweep(&tale.story);
  assert_int_equal(tale.story.tasks.nr_shown, 1);
  watch_story_sweep(&tale.story);
  assert_int_equal(tale.story.tasks.nr_shown, 0);
  tale_free(&tale);
}

static void tasks_of_other_pid_namespaces_are_counted(void **state) {
  tale_t tale;

  (void)state;
  tale_init(&tale);
  add_task(&tale, PERF_RECORD_FORK, 1000, 0, 0, 0);
  add_task(&tale, PERF_RECORD_EXIT, 2000, 0, 0, 0);
  expect_tale(&tale, UINT64_MAX, "");
  assert_int_equal(tale.story.counts.hidden, 1);
  tale_free(&tale);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(record_that_comes_too_late_is_told_and_counted),
      cmocka_unit_test(exit_is_that_of_the_last_thread),
      cmocka_unit_test(exec_leaves_one_thread),
      cmocka_unit_test(exec_waits_for_its_executable_but_not_for_ever),
      cmocka_unit_test(executable_is_not_guessed_after_a_loss),
      cmocka_unit_test(exec_does_not_wait_after_a_loss),
      cmocka_unit_test(loss_on_a_quiet_cpu_is_not_late),
      cmocka_unit_test(kinds_that_are_not_wanted_are_left_out),
      cmocka_unit_test(exit_waits_for_its_status_but_not_for_ever),
      cmocka_unit_test(exit_without_a_fork_is_told_once),
      cmocka_unit_test(lost_exit_of_a_thread_does_not_hide_the_exit),
      cmocka_unit_test(process_younger_than_the_loss_is_trusted),
      cmocka_unit_test(process_whose_exit_was_lost_is_swept_away),
      cmocka_unit_test(tasks_of_other_pid_namespaces_are_counted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
