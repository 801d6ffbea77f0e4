/* SPDX-License-Identifier: MIT */
/* Scripted: jobs of a loop, whose requests the test runs. */
#include "support.h"

#include <errno.h>

#include "fake_clock.h"
#include "fake_kernel.h"
#include "fake_pool.h"
#include "live.h"
#include "loop/job.h"
#include "loop/threads.h"
#include "sys/fork.h"

#define MS UINT64_C(1000000)

typedef struct task_s {
  uvperf__job_t job;
  char name;
  int steps; /* that are left */
  uint64_t step_ns;
  int soon_steps;      /* the first of them, if the job closes */
  struct task_s *then; /* begins when this is done */
  void (*at_end)(struct task_s *task);
  uv_loop_t *loop;
  /* With limit_ms each step makes a call, until one is refused. */
  uvperf__calls_t calls;
  int code;           /* of the last call */
  void (*call)(void); /* what the first call does */
} task_t;

static uvperf__jobs_t jobs;
static uvperf__flush_timer_t timer;
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
  if (task->at_end != NULL) {
    task->at_end(task);
    uv_run(task->loop, UV_RUN_DEFAULT);
  }
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
  task->job.step = step; /* and nothing else of the job */
  task->job.limit_ms = 0;
  task->job.kind = UVPERF__JOB_SOON;
  task->job.closes = 0;
  task->job.done = done;
  task->then = NULL;
  task->at_end = NULL;
  task->soon_steps = 0;
  task->name = name;
  task->steps = steps;
  task->step_ns = step_ns;
  task->loop = loop;
}

static void on_fired(uvperf__flush_timer_t *fired) {
  uvperf__jobs_check(&jobs, fired->timer.loop);
}

static int setup(void **state) {
  memset(trace, 0, sizeof(trace));
  now = 1000 * MS;
  fake_clock_set(now);
  if (fake_kernel_loop_setup(state) != 0)
    return -1;
  uvperf__flush_timer_init(&timer, *state, on_fired);
  uvperf__jobs_init(&jobs, &timer);
  fake_pool_hold();
  return 0;
}

static int teardown(void **state) {
  fake_clock_set(0);
  if (!uv_is_closing((const uv_handle_t *)&timer.timer))
    uv_close((uv_handle_t *)&timer.timer, NULL);
  uv_run(*state, UV_RUN_NOWAIT);
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

static void prepare_call(uv_loop_t *loop, task_t *task, int steps,
                         void (*call)(void)) {
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
  uvperf__jobs_init(&jobs, &timer);

  memset(trace, 0, sizeof(trace));
  prepare_call(*state, &a, 1, NULL);
  fake_process(uvperf__process() + 1);
  jobs.running->calls->began_ms = 1;
  wait_in_vain();
  assert_string_equal(trace, "");
}

/* -- before the pool exists ------------------------------------------------ */

static void begin_early(uv_loop_t *loop, task_t *task, char name, int steps) {
  prepare(loop, task, name, steps, 50 * MS);
  assert_int_equal(uvperf__job_begin(&jobs, loop, &task->job), 0);
}

/* Only the jobs keep the loop alive. */
static void first_jobs_wait_for_the_pool(void **state) {
  task_t a, b;

  fake_pool_make(0);
  assert_false(uv_loop_alive(*state));
  begin_early(*state, &a, 'a', 2);
  begin_early(*state, &b, 'b', 1);
  live_run_ms(*state, 5);
  assert_string_equal(trace, "");
  assert_false(fake_pool_waits());
  assert_true(uv_loop_alive(*state));
  fake_pool_made();
  uv_run(*state, UV_RUN_DEFAULT);
  assert_true(fake_pool_waits());
  run_all();
  assert_string_equal(trace, "abBaA");
}

/* Another loop knows already that there is a pool. */
static void job_waits_behind_those_that_wait(void **state) {
  task_t a, b;

  fake_pool_make(0);
  begin_early(*state, &a, 'a', 1);
  fake_pool_made();
  begin_early(*state, &b, 'b', 1);
  assert_false(fake_pool_waits());
  uv_run(*state, UV_RUN_DEFAULT);
  run_all();
  assert_string_equal(trace, "aAbB");
}

/* They take turns. A job that begins meanwhile waits too. */
static void loop_makes_the_steps_if_there_is_no_pool(void **state) {
  task_t a, b, c;

  fake_pool_make(UV_EAGAIN);
  begin_early(*state, &a, 'a', 3);
  begin_early(*state, &b, 'b', 1);
  begin_early(*state, &c, 'c', 1);
  fake_pool_made();
  uv_run(*state, UV_RUN_DEFAULT);
  assert_string_equal(trace, "abBcCaaA");
  assert_int_equal(uvperf__job_begin(&jobs, *state, &c.job), UV_EAGAIN);
  assert_false(fake_pool_waits());
}

static task_t later;

static void begin_later(task_t *task) {
  fake_pool_make(0);
  begin_early(task->loop, &later, 'b', 1);
  fake_pool_made();
}

/* The end of a job runs the loop, where the next job gets a pool. */
static void end_of_a_job_may_run_the_loop(void **state) {
  task_t a, c;

  fake_pool_make(UV_EAGAIN);
  begin_early(*state, &a, 'a', 1);
  a.at_end = begin_later;
  fake_pool_made();
  uv_run(*state, UV_RUN_DEFAULT);
  assert_true(fake_pool_waits());
  begin_early(*state, &c, 'c', 1); /* a second request would be a failure */
  run_all();
  assert_string_equal(trace, "aAbBcC");
}

static void run_a_while(task_t *task) {
  live_run_ms(task->loop, 5);
}

/* Nothing is left when the timer fires. */
static void end_of_the_last_job_may_run_the_loop(void **state) {
  task_t a;

  fake_pool_make(UV_EAGAIN);
  begin_early(*state, &a, 'a', 1);
  a.at_end = run_a_while;
  fake_pool_made();
  uv_run(*state, UV_RUN_DEFAULT);
  assert_string_equal(trace, "aA");
}

static void begin_in_vain(task_t *task) {
  assert_int_equal(uvperf__job_begin(&jobs, task->loop, &later.job),
                   task->code);
}

static void begin_closing(uv_loop_t *loop, task_t *task, int code) {
  begin_early(loop, task, 'a', 1);
  task->at_end = begin_in_vain;
  task->code = code;
  task->job.closes = 1;
}

/* Without a timer the loop may not exist any more, but there is a pool. */
static void no_job_begins_while_jobs_are_settled(void **state) {
  task_t a;

  prepare(*state, &later, 'b', 1, 0);
  fake_pool_make(UV_EAGAIN);
  begin_closing(*state, &a, UV_EAGAIN);
  uvperf__jobs_settle(&jobs);
  fake_pool_make(0);
  begin_closing(*state, &a, UV_ECANCELED);
  uv_close((uv_handle_t *)&timer.timer, NULL);
  uvperf__jobs_settle(&jobs);
  assert_string_equal(trace, "aAaA");
  assert_false(fake_pool_waits());
}

static void close_another(task_t *task) {
  (void)task;
  later.job.closes = 1;
  uvperf__jobs_settle(&jobs);
  assert_string_equal(trace, "aA");
}

/* So that many handles which close each other need little of the stack. */
static void end_of_a_job_that_closes_others_settles_them_later(void **state) {
  task_t a;

  fake_pool_make(0);
  begin_early(*state, &a, 'a', 1);
  begin_early(*state, &later, 'b', 1);
  uv_close((uv_handle_t *)&timer.timer, NULL);
  a.at_end = close_another;
  a.job.closes = 1;
  uvperf__jobs_settle(&jobs);
  assert_string_equal(trace, "aAbB");
}

/* Their handles stay open. They keep their order, and another joins them. */
static void jobs_of_other_handles_go_on_waiting(void **state) {
  task_t a, b, c, d;

  fake_pool_make(UV_EAGAIN);
  begin_early(*state, &a, 'a', 1);
  begin_early(*state, &b, 'b', 1);
  begin_early(*state, &c, 'c', 2);
  uvperf__jobs_settle(&jobs);
  assert_string_equal(trace, "");
  assert_int_equal(uvperf__threads_check(), UV_EBUSY); /* nobody has waited */
  c.job.closes = 1;
  uvperf__jobs_settle(&jobs);
  assert_string_equal(trace, "ccC");
  assert_true(uv_loop_alive(*state));
  fake_pool_make(0);
  begin_early(*state, &d, 'd', 1);
  fake_pool_made();
  uv_run(*state, UV_RUN_DEFAULT);
  run_all();
  assert_string_equal(trace, "ccCaAbBdD");
}

static void jobs_of_a_handle_that_closes_wait_at_once(void **state) {
  task_t a;

  uvperf__jobs_settle(&jobs); /* there are none */
  fake_pool_make(0);
  begin_early(*state, &a, 'a', 1);
  a.job.closes = 1;
  uvperf__jobs_settle(&jobs);
  assert_true(fake_pool_waits());
  uvperf__jobs_settle(&jobs);
  run_all();
  assert_string_equal(trace, "aA");
  assert_false(uv_loop_alive(*state));

  fake_pool_make(UV_EAGAIN);
  begin_early(*state, &a, 'a', 1);
  a.job.closes = 1;
  uvperf__jobs_settle(&jobs);
  assert_string_equal(trace, "aAaA"); /* the timer may be closed next */
  assert_false(uv_loop_alive(*state));
}

/* The loop may not exist any more. */
static void jobs_whose_timer_others_have_closed_end_in_the_call(void **state) {
  task_t a, b;

  fake_pool_make(0);
  begin_early(*state, &a, 'a', 3);
  begin_early(*state, &b, 'b', 1);
  uv_close((uv_handle_t *)&timer.timer, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  assert_string_equal(trace, "");
  a.job.closes = b.job.closes = 1;
  uvperf__jobs_settle(&jobs);
  assert_string_equal(trace, "abBaaA");
  assert_false(fake_pool_waits());
}

/* It cannot wait by the timer, and takes along those that waited by it. */
static void job_without_a_timer_waits_in_the_call(void **state) {
  task_t a, b;

  fake_pool_make(0);
  begin_early(*state, &a, 'a', 1);
  uv_close((uv_handle_t *)&timer.timer, NULL);
  begin_early(*state, &b, 'b', 1);
  assert_true(fake_pool_waits());
  a.job.closes = 1;
  uvperf__jobs_settle(&jobs); /* it does not wait any more */
  run_all();
  assert_string_equal(trace, "bBaA");
  fake_pool_make(UV_EAGAIN);
  assert_int_equal(uvperf__job_begin(&jobs, *state, &b.job), UV_EAGAIN);
}

static void child_leaves_alone_the_jobs_that_wait(void **state) {
  task_t a;

  fake_pool_make(0);
  begin_early(*state, &a, 'a', 1);
  a.job.closes = 1;
  fake_process(uvperf__process() + 1);
  uvperf__jobs_settle(&jobs);
  fake_pool_made();
  uv_run(*state, UV_RUN_DEFAULT);
  assert_string_equal(trace, "");
  assert_false(fake_pool_waits());
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
  uvperf__jobs_init(&jobs, &timer); /* the child has a queue of its own */
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
  uvperf__jobs_init(&jobs, &timer);
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
      support_loop_test_setup_teardown(first_jobs_wait_for_the_pool, setup,
                                       teardown),
      support_loop_test_setup_teardown(job_waits_behind_those_that_wait, setup,
                                       teardown),
      support_loop_test_setup_teardown(loop_makes_the_steps_if_there_is_no_pool,
                                       setup, teardown),
      support_loop_test_setup_teardown(end_of_a_job_may_run_the_loop, setup,
                                       teardown),
      support_loop_test_setup_teardown(
          jobs_of_a_handle_that_closes_wait_at_once, setup, teardown),
      support_loop_test_setup_teardown(
          jobs_whose_timer_others_have_closed_end_in_the_call, setup, teardown),
      support_loop_test_setup_teardown(job_without_a_timer_waits_in_the_call,
                                       setup, teardown),
      support_loop_test_setup_teardown(child_leaves_alone_the_jobs_that_wait,
                                       setup, teardown),
      support_loop_test_setup_teardown(end_of_the_last_job_may_run_the_loop,
                                       setup, teardown),
      support_loop_test_setup_teardown(no_job_begins_while_jobs_are_settled,
                                       setup, teardown),
      support_loop_test_setup_teardown(
          end_of_a_job_that_closes_others_settles_them_later, setup, teardown),
      support_loop_test_setup_teardown(jobs_of_other_handles_go_on_waiting,
                                       setup, teardown),
      support_loop_test_setup_teardown(job_of_the_parent_is_left_alone, setup,
                                       teardown),
      support_loop_test_setup_teardown(
          job_of_the_parent_that_is_done_is_left_alone, setup, teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
