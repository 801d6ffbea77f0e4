/* SPDX-License-Identifier: MIT */
/* Scripted: jobs of a loop, whose requests the test runs. Rows of text;
 * scripted_row.h explains them. Words for jobs:
 *
 *   a N [WORD...]     begins the job a with N steps of 50 ms; also b, c and d.
 *                     It cannot wait, except with "open" or "close", or from
 *                     its step N on with "close_after N". "short": a step takes
 *                     0.1 ms. "calls": a step calls options.open, with a limit
 *                     of 1 ms
 *   call 'STEP|...'   what the next call of options.open does
 *   hangs             in such a call, until it is late; other requests follow
 *   code a            what its last call returned
 *   closes a [b]      the handles of these jobs close
 *   make CODE         it is not known yet whether there is a pool; CODE when it
 *                     has been waited for. "made": it is known
 *   known             whether it is known
 *   settle, loop (until it is empty), close_timer (by other code)
 *   said TEXT         in a callback: all that was printed in this step
 *   new_queue         as a forked child makes one
 *   done a            its last step was done before the fork
 *   began             the call of the job that runs began long ago
 *
 * Printed are a step of a job as "a", its end as "A", and "!" when a call of it
 * is late. "pool 0" prints whether a request waits. */
#include "scripted_kernel.h"

#include "fake_clock.h"
#include "fake_pool.h"
#include "live.h"
#include "loop/job.h"
#include "loop/threads.h"

#define MS UINT64_C(1000000)

typedef struct task_s {
  uvperf__job_t job;
  char name;
  uint64_t steps; /* that are left */
  uint64_t step_ns;
  uint64_t soon_steps; /* the first of them, if the job closes */
  /* With limit_ms each step makes a call, until one is refused. */
  uvperf__calls_t calls;
  int code; /* of the last call */
} task_t;

static task_t tasks[4];
static uvperf__jobs_t jobs;
static uvperf__flush_timer_t timer;
static uint64_t now;
static char next_call[64];

static int program_open(const struct perf_event_attr *attr, int32_t pid,
                        int32_t cpu, int group_fd, unsigned long flags,
                        void *arg) {
  char what[sizeof(next_call)];

  memcpy(what, next_call, sizeof(what));
  next_call[0] = '\0';
  if (what[0] != '\0')
    row_step(what);
  return -EACCES;
}

static int make_step(uvperf__job_t *job) {
  task_t *task = (task_t *)job;
  const uvperf__opener_t opener = {program_open, task, &task->calls};

  say("%c", task->name);
  if (job->limit_ms != 0)
    task->code = uvperf__open(&opener, NULL, 1, -1, -1, 0);
  now += task->step_ns;
  fake_clock_set(now);
  if (--task->soon_steps == 0)
    job->kind = UVPERF__JOB_CLOSE;
  return --task->steps != 0;
}

static void on_done(uvperf__job_t *job) {
  size_t before = say_length();

  say("%c", ((task_t *)job)->name - 'a' + 'A');
  row_callback(before);
}

/* The next job runs already. */
static void on_late(uvperf__job_t *job) {
  assert_int_equal(jobs.running != NULL, fake_pool_waits());
  say("!");
}

static task_t *task_of(const step_t *step, size_t nr) {
  size_t task = (size_t)(step_word(step, nr)[0] - 'a');

  assert_true(task < 4);
  return &tasks[task];
}

static void do_job(const step_t *step) {
  task_t *task = task_of(step, 0);
  size_t i;

  memset(task, 0xa5, sizeof(*task));
  task->job.step = make_step; /* and nothing else of the job */
  task->job.done = on_done;
  task->job.limit_ms = 0;
  task->job.kind = UVPERF__JOB_SOON;
  task->job.closes = 0;
  task->name = step_word(step, 0)[0];
  task->steps = step_value(step, 1);
  task->step_ns = 50 * MS;
  task->soon_steps = 0;
  for (i = 2; i < step->nr; i++)
    if (step_is(step, i, "open")) {
      task->job.kind = UVPERF__JOB_OPEN;
    } else if (step_is(step, i, "close")) {
      task->job.kind = UVPERF__JOB_CLOSE;
    } else if (step_is(step, i, "close_after")) {
      task->soon_steps = step_value(step, ++i);
    } else if (step_is(step, i, "short")) {
      task->step_ns = MS / 10;
    } else if (step_is(step, i, "calls")) {
      task->job.kind = UVPERF__JOB_OPEN;
      task->job.limit_ms = 1;
      task->job.late = on_late;
      task->job.calls = &task->calls;
      memset(&task->calls, 0, sizeof(task->calls));
    } else {
      step_fail(step->text, "no such word");
    }
  row_returned(uvperf__job_begin(&jobs, &kernel_loop, &task->job));
}

static void do_call(const step_t *step) {
  snprintf(next_call, sizeof(next_call), "%s", step_word(step, 1));
}

static void do_hangs(const step_t *step) {
  int ms;

  fake_pool_hang();
  for (ms = 0; strchr(say_line(), '!') == NULL && ms < 20000; ms++)
    live_run_ms(&kernel_loop, 1);
  fake_pool_finish();
}

static void do_code(const step_t *step) {
  say("%s", step_code_name(task_of(step, 1)->code));
}

static void do_closes(const step_t *step) {
  size_t i;

  for (i = 1; i < step->nr; i++)
    task_of(step, i)->job.closes = 1;
}

static void do_make(const step_t *step) {
  fake_pool_make(step_code(step_word(step, 1)));
}

static void do_made(const step_t *step) {
  fake_pool_made();
}

static void do_known(const step_t *step) {
  row_returned(uvperf__threads_check());
}

static void do_settle(const step_t *step) {
  uvperf__jobs_settle(&jobs);
}

static void do_said(const step_t *step) {
  assert_string_equal(say_line(), step_word(step, 1));
}

static void do_loop(const step_t *step) {
  uv_run(&kernel_loop, UV_RUN_DEFAULT);
}

static void do_close_timer(const step_t *step) {
  uv_close((uv_handle_t *)&timer.timer, NULL);
}

static void do_new_queue(const step_t *step) {
  uvperf__jobs_init(&jobs, &timer);
}

static void do_done(const step_t *step) {
  task_of(step, 1)->job.is_done = 1;
}

static void do_began(const step_t *step) {
  jobs.running->calls->began_ms = 1;
}

static const scripted_verb_t job_verbs[] = {
    {"a", do_job},       {"b", do_job},
    {"c", do_job},       {"d", do_job},
    {"call", do_call},   {"hangs", do_hangs},
    {"code", do_code},   {"closes", do_closes},
    {"make", do_make},   {"made", do_made},
    {"known", do_known}, {"settle", do_settle},
    {"loop", do_loop},   {"close_timer", do_close_timer},
    {"done", do_done},   {"new_queue", do_new_queue},
    {"began", do_began}, {"said", do_said},
    {NULL, NULL}};

static void on_fired(uvperf__flush_timer_t *fired) {
  uvperf__jobs_check(&jobs, fired->timer.loop);
}

static void begin(void) {
  now = 1000 * MS;
  fake_clock_set(now);
  next_call[0] = '\0';
  uvperf__flush_timer_init(&timer, &kernel_loop, on_fired);
  uvperf__jobs_init(&jobs, &timer);
  fake_pool_hold();
}

static int is_open(void) {
  return 1;
}

static void close_all(void) {
  if (!uv_is_closing((const uv_handle_t *)&timer.timer))
    do_close_timer(NULL);
}

static void end(void) {
}

static const scripted_subject_t scripted_jobs = {
    {job_verbs, NULL}, NULL, begin, NULL, is_open, close_all, end};

static const scripted_row_t rows[] = {
    {"jobs_with_long_steps_take_turns",
     "a 3; b 2; pool 1 -> a, waits; pool -> babBaA"},
    {"steps_that_are_short_share_a_request",
     "a 15 short; pool 1 -> aaaaaaaaaa, waits; pool -> aaaaaA"},
    {"job_can_begin_when_another_is_done",
     "a 1; b 1; on A 'c 1'; pool -> aAbBcC"},
    /* The closing job has begun first. It is not interrupted within a step. */
    {"jobs_that_cannot_wait_come_first",
     "a 3 close; b 2 close; c 2 open; pool 2 -> ac, waits; d 1\n"
     "pool -> cCdDbabBaA"},
    /* It disables events before it closes them. */
    {"job_that_has_done_what_cannot_wait_goes_on_as_closing",
     "a 3 close_after 2; b 2 open; pool -> aabbBaA"},
    {"job_that_is_refused_leaves_nothing",
     "refuse_work; a 1 -> ENOMEM; hold; b 1; pool -> bB"},

    /* Calls that hang. The job's own steps follow when the call has returned,
     * without another call. */
    {"job_whose_call_hangs_does_not_hold_up_others",
     "a 3 calls; call hangs; b 2 close; c 1; pool 1 -> a!cCbbB, waits\n"
     "code a -> EACCES; pool -> aaA; code a -> ECANCELED"},
    /* The queue has another request in the pool when the call returns. */
    {"job_that_was_late_ends_beside_the_queue",
     "a 1 calls; call 'hangs|b 1'; pool 1 -> a!A, waits; c 1; pool -> bBcC"},
    /* The pool may be busy. The timer of a's last request comes for b. */
    {"job_is_not_late_without_a_call_of_its_own",
     "a 2 calls; wait 5 ->; pool 1 -> a, waits; wait 5 ->; pool -> aA\n"
     "code a -> EACCES; b 1; wait 5 ->; pool -> bB"},
    {"call_of_the_parent_is_not_late_in_a_forked_child",
     "a 1 calls; fork; began; wait 5 ->"},

    /* Before the pool exists. Only the jobs keep the loop alive. */
    {"first_jobs_wait_for_the_pool",
     "make 0; alive -> 0; a 2; b 1; wait 5 ->; pool 0 ->; alive -> 1; made\n"
     "loop ->; pool 0 -> waits; pool -> abBaA"},
    /* Another loop knows already that there is a pool. */
    {"job_waits_behind_those_that_wait",
     "make 0; a 1; made; b 1; pool 0 ->; loop; pool -> aAbB"},
    /* They take turns. A job that begins meanwhile waits too. */
    {"loop_makes_the_steps_if_there_is_no_pool",
     "make EAGAIN; a 3; b 1; c 1; made; loop -> abBcCaaA; c 1 -> EAGAIN\n"
     "pool 0 ->"},
    /* The end of a job runs the loop, where the next job gets a pool. A second
     * request for c would be a failure. */
    {"end_of_a_job_may_run_the_loop",
     "make EAGAIN; a 1; on A 'make 0|b 1|made|loop'; made; loop -> aA\n"
     "pool 0 -> waits; c 1; pool -> bBcC"},
    /* Nothing is left when the timer fires. */
    {"end_of_the_last_job_may_run_the_loop",
     "make EAGAIN; a 1; on A 'wait 5|loop'; made; loop -> aA"},
    /* Without a timer the loop may not exist any more, but there is a pool. */
    {"no_job_begins_while_jobs_are_settled",
     "make EAGAIN; a 1; closes a; on A 'b 1|loop'; settle -> aA, EAGAIN\n"
     "make 0; a 1; closes a; on A 'b 1|loop'; close_timer\n"
     "settle -> aA, ECANCELED; pool 0 ->"},
    /* So that many handles which close each other need little of the stack. */
    {"end_of_a_job_that_closes_others_settles_them_later",
     "make 0; a 1; b 1; close_timer; on A 'closes b|settle|said aA|loop'\n"
     "closes a; settle -> aAbB"},
    /* Their handles stay open. They keep their order, and another joins them.
     * Nobody has waited for the pool. */
    {"jobs_of_other_handles_go_on_waiting",
     "make EAGAIN; a 1; b 1; c 2; settle ->; known -> EBUSY; closes c\n"
     "settle -> ccC; alive -> 1; make 0; d 1; made; loop ->; pool -> aAbBdD"},
    /* First there are none. At the end the timer may be closed next. */
    {"jobs_of_a_handle_that_closes_wait_at_once",
     "settle; make 0; a 1; closes a; settle ->; pool 0 -> waits; settle ->\n"
     "pool -> aA; alive -> 0\n"
     "make EAGAIN; a 1; closes a; settle -> aA; alive -> 0"},
    /* The loop may not exist any more. */
    {"jobs_whose_timer_others_have_closed_end_in_the_call",
     "make 0; a 3; b 1; close_timer; loop ->; closes a b; settle -> abBaaA\n"
     "pool 0 ->"},
    /* It cannot wait by the timer, and takes along those that waited by it,
     * which settle then does not wait for. */
    {"job_without_a_timer_waits_in_the_call",
     "make 0; a 1; close_timer; b 1; pool 0 -> waits; closes a; settle ->\n"
     "pool -> bBaA; make EAGAIN; b 1 -> EAGAIN"},

    /* A forked child has the parent's requests, but none of its fds. */
    {"child_leaves_alone_the_jobs_that_wait",
     "make 0; a 1; closes a; fork; settle; made; loop ->; pool 0 ->"},
    {"job_of_the_parent_is_left_alone",
     "a 3; pool 1 -> a, waits; fork; pool 1 ->; new_queue; b 1; pool -> bB"},
    /* The parent's request was finished when it forked. */
    {"job_of_the_parent_that_is_done_is_left_alone",
     "a 1; done a; fork; pool 1 ->; new_queue; b 1; pool -> bB"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_jobs, rows);
}
