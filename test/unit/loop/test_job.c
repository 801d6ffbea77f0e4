/* SPDX-License-Identifier: MIT */
/* Scripted: jobs of a loop, whose requests the test runs. */
#include "support.h"

#include <errno.h>

#include "fake_clock.h"
#include "fake_kernel.h"
#include "fake_pool.h"
#include "live.h"
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
  /* With limit_ms each step makes a call, until one is refused. */
  uvperf__calls_t calls;
  int code;           /* of the last call */
  void (*call)(void); /* what the first call does */
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

static int program_open(const struct perf_event_attr *attr, int32_t pid,
                        int32_t cpu, int group_fd, unsigned long flags,
                        void *arg) {
  task_t *task = arg;

  (void)attr;
  (void)pid;
  (void)cpu;
  (void)group_fd;
  (void)flags;
  if (task->call != NULL)
    task->call();
  task->call = NULL;
  return -EACCES;
}

static int step(uvperf__job_t *job) {
  task_t *task = (task_t *)job;
  const uvperf__opener_t opener = {program_open, task, &task->calls};

  note(task->name);
  if (job->limit_ms != 0)
    task->code = uvperf__open(&opener, NULL, 1, -1, -1, 0);
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

/* The next job runs already. */
static void late(uvperf__job_t *job) {
  (void)job;
  assert_int_equal(jobs.running != NULL, fake_pool_waits());
  note('!');
}

static void prepare(uv_loop_t *loop, task_t *task, char name, int steps,
                    uint64_t step_ns) {
  memset(task, 0xa5, sizeof(*task));
  task->job.step = step; /* and nothing else of the job, but its kind */
  task->job.limit_ms = 0;
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
  fake_pool_finish();
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

/* -- calls that hang ------------------------------------------------------- */

static uvperf__flush_timer_t timer;

static void on_fired(uvperf__flush_timer_t *fired) {
  uvperf__jobs_check(&jobs, fired->timer.loop);
}

static void prepare_call(uv_loop_t *loop, task_t *task, int steps,
                         void (*call)(void)) {
  uvperf__flush_timer_init(&timer, loop, on_fired);
  uvperf__jobs_init(&jobs, &timer);
  prepare(loop, task, 'a', steps, 50 * MS);
  task->job.kind = UVPERF__JOB_OPEN;
  task->job.limit_ms = 1;
  task->job.late = late;
  task->job.calls = &task->calls;
  memset(&task->calls, 0, sizeof(task->calls));
  task->code = 0;
  task->call = call;
  assert_int_equal(uvperf__job_begin(&jobs, loop, &task->job), 0);
}

static void end_calls(uv_loop_t *loop) {
  uv_close((uv_handle_t *)&timer.timer, NULL);
  uv_run(loop, UV_RUN_NOWAIT);
}

static void hang(void) {
  int ms;

  fake_pool_hang();
  for (ms = 0; strchr(trace, '!') == NULL && ms < 20000; ms++)
    live_run_ms(timer.timer.loop, 1);
  run_all();
}

/* Its own steps follow when the call has returned, without another call. */
static void job_whose_call_hangs_does_not_hold_up_others(void **state) {
  task_t a, b, c;

  prepare_call(*state, &a, 3, hang);
  prepare(*state, &b, 'b', 2, 50 * MS);
  prepare(*state, &c, 'c', 1, 50 * MS);
  b.job.kind = UVPERF__JOB_CLOSE;
  assert_int_equal(uvperf__job_begin(&jobs, *state, &b.job), 0);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &c.job), 0);
  fake_pool_run();
  assert_string_equal(trace, "a!cCbbB");
  assert_int_equal(a.code, -EACCES);
  run_all();
  assert_string_equal(trace, "a!cCbbBaaA");
  assert_int_equal(a.code, -ECANCELED);
  end_calls(*state);
}

static task_t other;

/* The queue has another request in the pool when the call returns. */
static void hang_with_another(void) {
  hang();
  prepare(timer.timer.loop, &other, 'b', 1, 50 * MS);
  assert_int_equal(uvperf__job_begin(&jobs, timer.timer.loop, &other.job), 0);
}

static void job_that_was_late_ends_beside_the_queue(void **state) {
  task_t a, c;

  prepare_call(*state, &a, 1, hang_with_another);
  fake_pool_run();
  assert_string_equal(trace, "a!A");
  prepare(*state, &c, 'c', 1, 50 * MS);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &c.job), 0);
  run_all();
  assert_string_equal(trace, "a!AbBcC");
  end_calls(*state);
}

static void wait_in_vain(void) {
  live_run_ms(timer.timer.loop, 5);
}

/* The pool may be busy, and in a forked child the call does not go on. */
static void job_is_not_late_without_a_call_of_its_own(void **state) {
  task_t a, b;

  prepare_call(*state, &a, 2, NULL);
  wait_in_vain();
  fake_pool_run();
  wait_in_vain();
  run_all();
  assert_string_equal(trace, "aaA");
  assert_int_equal(a.code, -EACCES);
  prepare(*state, &b, 'b', 1, 0); /* the timer of a's last request comes */
  assert_int_equal(uvperf__job_begin(&jobs, *state, &b.job), 0);
  wait_in_vain();
  run_all();
  assert_string_equal(trace, "aaAbB");
  end_calls(*state);

  memset(trace, 0, sizeof(trace));
  prepare_call(*state, &a, 1, NULL);
  fake_process(uvperf__process() + 1);
  jobs.running->calls->began_ms = 1;
  wait_in_vain();
  assert_string_equal(trace, "");
  end_calls(*state);
}

/* -- fork ------------------------------------------------------------------ */

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
      support_loop_test_setup_teardown(
          job_whose_call_hangs_does_not_hold_up_others, setup, teardown),
      support_loop_test_setup_teardown(job_that_was_late_ends_beside_the_queue,
                                       setup, teardown),
      support_loop_test_setup_teardown(
          job_is_not_late_without_a_call_of_its_own, setup, teardown),
      support_loop_test_setup_teardown(job_of_the_parent_is_left_alone, setup,
                                       teardown),
      support_loop_test_setup_teardown(
          job_of_the_parent_that_is_done_is_left_alone, setup, teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
