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
  int soon_steps;      /* the first of them, if the job closes */
  struct task_s *then; /* begins when this is done */
  uv_loop_t *loop;
} task_t;

static uvperf__jobs_t jobs;
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
  if (--task->soon_steps == 0)
    job->kind = UVPERF__JOB_CLOSE;
  return --task->steps != 0;
}

static void done(uvperf__job_t *job) {
  task_t *task = (task_t *)job;

  note((char)(task->name - 'a' + 'A'));
  if (task->then != NULL)
    assert_int_equal(uvperf__job_begin(&jobs, task->loop, &task->then->job), 0);
}

static void prepare(uv_loop_t *loop, task_t *task, char name, int steps,
                    uint64_t step_ns) {
  memset(task, 0xa5, sizeof(*task));
  task->job.step = step; /* and nothing else of the job, but its kind */
  task->job.kind = UVPERF__JOB_SOON;
  task->job.done = done;
  task->then = NULL;
  task->soon_steps = 0;
  task->name = name;
  task->steps = steps;
  task->step_ns = step_ns;
  task->loop = loop;
}

static int setup(void **state) {
  memset(trace, 0, sizeof(trace));
  memset(&jobs, 0, sizeof(jobs));
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
  assert_int_equal(uvperf__job_begin(&jobs, *state, &a.job), 0);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &b.job), 0);
  fake_pool_run();
  assert_string_equal(trace, "a");
  run_all();
  assert_string_equal(trace, "ababBaA");
}

static void steps_that_are_short_share_a_request(void **state) {
  task_t a;

  prepare(*state, &a, 'a', 15, MS / 10);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &a.job), 0);
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
  assert_int_equal(uvperf__job_begin(&jobs, *state, &a.job), 0);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &b.job), 0);
  run_all();
  assert_string_equal(trace, "aAbBcC");
}

/* The closing job has begun first. It is not interrupted within a step. */
static void jobs_that_cannot_wait_come_first(void **state) {
  task_t a, b, c, d;

  prepare(*state, &a, 'a', 3, 50 * MS);
  prepare(*state, &b, 'b', 2, 50 * MS);
  prepare(*state, &c, 'c', 2, 50 * MS);
  prepare(*state, &d, 'd', 1, 50 * MS);
  a.job.kind = b.job.kind = UVPERF__JOB_CLOSE;
  c.job.kind = UVPERF__JOB_OPEN;
  d.job.kind = UVPERF__JOB_SOON;
  assert_int_equal(uvperf__job_begin(&jobs, *state, &a.job), 0);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &b.job), 0);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &c.job), 0);
  fake_pool_run();
  fake_pool_run();
  assert_int_equal(uvperf__job_begin(&jobs, *state, &d.job), 0);
  run_all();
  assert_string_equal(trace, "accCdDbabBaA");
}

/* It disables events before it closes them. */
static void
job_that_has_done_what_cannot_wait_goes_on_as_closing(void **state) {
  task_t a, b;

  prepare(*state, &a, 'a', 3, 50 * MS);
  prepare(*state, &b, 'b', 2, 50 * MS);
  a.soon_steps = 2;
  b.job.kind = UVPERF__JOB_OPEN;
  assert_int_equal(uvperf__job_begin(&jobs, *state, &a.job), 0);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &b.job), 0);
  run_all();
  assert_string_equal(trace, "aabbBaA");
}

static void job_that_is_refused_leaves_nothing(void **state) {
  task_t a, b;

  fake_pool_reset();
  prepare(*state, &a, 'a', 1, 0);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &a.job), UV_ENOMEM);
  fake_pool_hold();
  prepare(*state, &b, 'b', 1, 0);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &b.job), 0);
  run_all();
  assert_string_equal(trace, "bB");
}

/* In a forked child, which has the parent's requests, but none of its fds. */
static void job_of_the_parent_is_left_alone(void **state) {
  task_t a, b;

  prepare(*state, &a, 'a', 3, 50 * MS);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &a.job), 0);
  fake_pool_run();
  fake_process(uvperf__process() + 1);
  fake_pool_run();
  assert_string_equal(trace, "a");
  assert_int_equal(fake_pool_waits(), 0);
  memset(&jobs, 0, sizeof(jobs)); /* the child's hub has a queue of its own */
  prepare(*state, &b, 'b', 1, 0);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &b.job), 0);
  run_all();
  assert_string_equal(trace, "abB");
}

/* The parent's request was finished when it forked. */
static void job_of_the_parent_that_is_done_is_left_alone(void **state) {
  task_t a, b;

  prepare(*state, &a, 'a', 1, 0);
  prepare(*state, &b, 'b', 1, 0);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &a.job), 0);
  a.job.is_done = 1;
  fake_process(uvperf__process() + 1);
  fake_pool_run();
  assert_string_equal(trace, "");
  memset(&jobs, 0, sizeof(jobs));
  assert_int_equal(uvperf__job_begin(&jobs, *state, &b.job), 0);
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
      support_loop_test_setup_teardown(jobs_that_cannot_wait_come_first, setup,
                                       teardown),
      support_loop_test_setup_teardown(
          job_that_has_done_what_cannot_wait_goes_on_as_closing, setup,
          teardown),
      support_loop_test_setup_teardown(job_that_is_refused_leaves_nothing,
                                       setup, teardown),
      support_loop_test_setup_teardown(job_of_the_parent_is_left_alone, setup,
                                       teardown),
      support_loop_test_setup_teardown(
          job_of_the_parent_that_is_done_is_left_alone, setup, teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
