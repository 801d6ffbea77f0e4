/* SPDX-License-Identifier: MIT */
/* Scripted: jobs of a loop, whose requests the test runs. */
#include "support.h"

#include "fake_clock.h"
#include "fake_kernel.h"
#include "fake_pool.h"
#include "loop/job.h"
#include "sys/fork.h"

#define MS UINT64_C(1000000)

typedef struct task_s {
  uvperf__job_t job;
  char name;
  int steps; /* that are left */
  uint64_t step_ns;
  struct task_s *then; /* begins when this is done */
  uv_loop_t *loop;
} task_t;

/* Steps in small letters, the end of a job in a capital one. */
static char trace[32];
static uint64_t now;

static void note(char c) {
  size_t used = strlen(trace);

  assert_true(used + 1 < sizeof(trace));
  trace[used] = c;
}

static int step(uvperf__job_t *job) {
  task_t *task = (task_t *)job;

  note(task->name);
  now += task->step_ns;
  fake_clock_set(now);
  return --task->steps != 0;
}

static void done(uvperf__job_t *job) {
  task_t *task = (task_t *)job;

  note((char)(task->name - 'a' + 'A'));
  if (task->then != NULL)
    assert_int_equal(uvperf__job_begin(task->loop, &task->then->job), 0);
}

static void prepare(uv_loop_t *loop, task_t *task, char name, int steps,
                    uint64_t step_ns) {
  memset(task, 0xa5, sizeof(*task));
  task->job.step = step; /* and nothing else of the job */
  task->job.done = done;
  task->then = NULL;
  task->name = name;
  task->steps = steps;
  task->step_ns = step_ns;
  task->loop = loop;
}

static int setup(void **state) {
  memset(trace, 0, sizeof(trace));
  now = 1000 * MS;
  fake_clock_set(now);
  if (fake_kernel_loop_setup(state) != 0)
    return -1;
  fake_pool_hold();
  return 0;
}

static int teardown(void **state) {
  fake_clock_set(0);
  return fake_kernel_loop_teardown(state);
}

static void run_all(void) {
  while (fake_pool_waits())
    fake_pool_run();
}

static void jobs_with_long_steps_take_turns(void **state) {
  task_t a, b;

  prepare(*state, &a, 'a', 3, 50 * MS);
  prepare(*state, &b, 'b', 2, 50 * MS);
  assert_int_equal(uvperf__job_begin(*state, &a.job), 0);
  assert_int_equal(uvperf__job_begin(*state, &b.job), 0);
  fake_pool_run();
  assert_string_equal(trace, "a");
  run_all();
  assert_string_equal(trace, "ababBaA");
}

static void steps_that_are_short_share_a_request(void **state) {
  task_t a;

  prepare(*state, &a, 'a', 15, MS / 10);
  assert_int_equal(uvperf__job_begin(*state, &a.job), 0);
  fake_pool_run();
  assert_string_equal(trace, "aaaaaaaaaa");
  run_all();
  assert_string_equal(trace, "aaaaaaaaaaaaaaaA");
}

static void job_can_begin_when_another_is_done(void **state) {
  task_t a, b, c;

  prepare(*state, &a, 'a', 1, 0);
  prepare(*state, &b, 'b', 1, 0);
  prepare(*state, &c, 'c', 1, 0);
  a.then = &c;
  assert_int_equal(uvperf__job_begin(*state, &a.job), 0);
  assert_int_equal(uvperf__job_begin(*state, &b.job), 0);
  run_all();
  assert_string_equal(trace, "aAbBcC");
}

static void job_that_is_refused_leaves_nothing(void **state) {
  task_t a, b;

  fake_pool_reset();
  prepare(*state, &a, 'a', 1, 0);
  assert_int_equal(uvperf__job_begin(*state, &a.job), UV_ENOMEM);
  fake_pool_hold();
  prepare(*state, &b, 'b', 1, 0);
  assert_int_equal(uvperf__job_begin(*state, &b.job), 0);
  run_all();
  assert_string_equal(trace, "bB");
}

/* Two jobs of this loop take turns. Without a queue both would be requests. */
static void expect_turns(uv_loop_t *loop) {
  task_t a, b;

  memset(trace, 0, sizeof(trace));
  prepare(loop, &a, 'a', 2, 50 * MS);
  prepare(loop, &b, 'b', 2, 50 * MS);
  assert_int_equal(uvperf__job_begin(loop, &a.job), 0);
  assert_int_equal(uvperf__job_begin(loop, &b.job), 0);
  run_all();
  assert_string_equal(trace, "abaAbB");
}

/* More loops than queues, one after another, and none of them is used. */
static void loops_without_jobs_have_no_queue(void **state) {
  static uv_loop_t loops[70];
  task_t refused;
  size_t i;

  (void)state;
  for (i = 0; i < 70; i++)
    expect_turns(&loops[i]);
  fake_pool_reset(); /* which refuses */
  for (i = 0; i < 70; i++) {
    prepare(&loops[i], &refused, 'x', 1, 0);
    assert_int_equal(uvperf__job_begin(&loops[i], &refused.job), UV_ENOMEM);
  }
  fake_pool_hold();
  /* The last loops first: a queue that was kept would be another loop's. */
  for (i = 70; i-- > 0;)
    expect_turns(&loops[i]);
}

/* In a forked child, which has the parent's requests, but none of its fds. */
static void job_of_the_parent_is_left_alone(void **state) {
  task_t a, b;

  prepare(*state, &a, 'a', 3, 50 * MS);
  assert_int_equal(uvperf__job_begin(*state, &a.job), 0);
  fake_pool_run();
  fake_process(uvperf__process() + 1);
  fake_pool_run();
  assert_string_equal(trace, "a");
  assert_int_equal(fake_pool_waits(), 0);
  prepare(*state, &b, 'b', 1, 0);
  assert_int_equal(uvperf__job_begin(*state, &b.job), 0);
  run_all();
  assert_string_equal(trace, "abB");
}

/* The parent's request was finished when it forked. */
static void job_of_the_parent_that_is_done_is_left_alone(void **state) {
  task_t a, b;

  prepare(*state, &a, 'a', 1, 0);
  prepare(*state, &b, 'b', 1, 0);
  assert_int_equal(uvperf__job_begin(*state, &a.job), 0);
  a.job.is_done = 1;
  fake_process(uvperf__process() + 1);
  fake_pool_run();
  assert_string_equal(trace, "");
  assert_int_equal(uvperf__job_begin(*state, &b.job), 0);
  run_all();
  assert_string_equal(trace, "bB");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test_setup_teardown(jobs_with_long_steps_take_turns, setup,
                                       teardown),
      support_loop_test_setup_teardown(steps_that_are_short_share_a_request,
                                       setup, teardown),
      support_loop_test_setup_teardown(job_can_begin_when_another_is_done,
                                       setup, teardown),
      support_loop_test_setup_teardown(job_that_is_refused_leaves_nothing,
                                       setup, teardown),
      support_loop_test_setup_teardown(loops_without_jobs_have_no_queue, setup,
                                       teardown),
      support_loop_test_setup_teardown(job_of_the_parent_is_left_alone, setup,
                                       teardown),
      support_loop_test_setup_teardown(
          job_of_the_parent_that_is_done_is_left_alone, setup, teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
