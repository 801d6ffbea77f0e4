/* SPDX-License-Identifier: MIT */
/* Live: random sequences of the calls of set.h, outside of the callback and
 * inside, against a model of what it promises: each count of each target, since
 * the last reset and since the last tick, exactly.
 * UVPERF_RANDOM_SEEDS=first:last selects other seeds. */
#include "live_set.h"

#include "fake_clock.h"
#include "fake_kernel.h"
#include "live_thread.h"
#include "model_run.h"
#include "sys/sys.h"
#include "util/alloc.h"

#define STEPS   400
#define ACTORS  4 /* the first is the thread of the loop */
#define TARGETS 8

/* Attr 0 leads a group, attr 1 is in it, attr 2 is alone: 0 and 2 are the same
 * event, and 1 counts nothing. */
#define ATTRS 3

typedef struct actor_s {
  live_thread_t thread;
  uint64_t work;
  int lives;
} actor_t;

/* What the model knows of a target. */
typedef struct model_s {
  size_t actor;
  uint32_t tid;
  uint32_t index;
  uint64_t count; /* since it was added, or the last reset */
  uint64_t delta; /* since the last tick, too */
} model_t;

typedef struct fixture_s {
  model_run_t run;
  uv_loop_t *loop;
  live_plan_t plan;
  actor_t actors[ACTORS];
  uvperf_set_t *set; /* NULL: none is open */
  uvperf_reading_t *reading;
  int enabled;
  int closing;
  uint32_t next_index;
  model_t targets[TARGETS];
  size_t nr_targets;
  /* For readings on the loop. */
  int started;
  int in_callback;
  int wants_failure; /* this tick has no memory, if it takes some */
  unsigned failures; /* before it */
  uint64_t now_ns;
  uint64_t start_ns;
  uint64_t interval_ns;
  uint64_t due_ns;
  uint64_t callbacks;
} fixture_t;

static uint64_t draw(fixture_t *fixture, uint64_t below) {
  return model_run_draw(&fixture->run, below);
}

static void expect(fixture_t *fixture, int is_so, const char *what,
                   int64_t value) {
  model_run_expect(&fixture->run, is_so, what, value);
}

/* -- the model ------------------------------------------------------------ */

static void model_add(fixture_t *fixture, size_t actor) {
  model_t *model = &fixture->targets[fixture->nr_targets++];

  memset(model, 0, sizeof(*model));
  model->actor = actor;
  model->tid = actor == 0 ? live_tid() : fixture->actors[actor].thread.tid;
  model->index = fixture->next_index++;
}

static void model_work(fixture_t *fixture, size_t actor, uint64_t nr) {
  size_t i;

  for (i = 0; i < fixture->nr_targets && fixture->enabled; i++) {
    if (fixture->targets[i].actor != actor ||
        (actor != 0 &&
         fixture->targets[i].tid != fixture->actors[actor].thread.tid))
      continue;
    fixture->targets[i].count += nr;
    fixture->targets[i].delta += nr;
  }
}

static void expect_count(fixture_t *fixture, const uvperf_count_t *count,
                         uint64_t value, const char *what) {
  expect(fixture, count->value == value, what, (int64_t)count->value);
  expect(fixture, count->value == count->scaled, "scaled",
         (int64_t)count->scaled);
  expect(fixture, count->nr_missing == 0, "missing", count->nr_missing);
}

/* A reading, or a delta, has each target of now once, in order. */
static void expect_reading(fixture_t *fixture, const uvperf_reading_t *reading,
                           int is_delta) {
  uvperf_count_t count;
  const model_t *model;
  uint64_t value;
  uint64_t sum = 0;
  size_t i;

  expect(fixture,
         uvperf_reading_info(reading)->nr_places == fixture->nr_targets,
         "places", (int64_t)uvperf_reading_info(reading)->nr_places);
  if (fixture->run.fault[0] != '\0')
    return;
  for (i = 0; i < fixture->nr_targets; i++) {
    const uvperf_place_t *place = uvperf_reading_place(reading, i);

    model = &fixture->targets[i];
    value = is_delta ? model->delta : model->count;
    sum += value;
    expect(fixture, place->target == model->index, "target", place->target);
    expect(fixture, place->pid == (int32_t)model->tid, "pid", place->pid);
    uvperf_reading_get(reading, 0, UVPERF_ALL, i, &count);
    expect_count(fixture, &count, value, is_delta ? "a delta" : "a count");
    uvperf_reading_get(reading, 2, UVPERF_ALL, i, &count);
    expect_count(fixture, &count, value, "one in no group");
  }
  uvperf_reading_total(reading, 0, &count);
  expect_count(fixture, &count, sum, is_delta ? "the delta" : "the total");
  uvperf_reading_total(reading, 1, &count);
  expect_count(fixture, &count, 0, "a dummy");
}

/* -- readings on the loop ------------------------------------------------- */

static void one_call(fixture_t *fixture);

static void forget_deltas(fixture_t *fixture) {
  size_t i;

  for (i = 0; i < fixture->nr_targets; i++)
    fixture->targets[i].delta = 0;
}

/* Lets the failure fail something, if the tick took no memory. */
static void use_up_failure(fixture_t *fixture) {
  while (fixture->wants_failure && fake_failures() == fixture->failures)
    uvperf__free(uvperf__calloc(1, 1));
}

static void on_read(uvperf_set_t *set, int status,
                    const uvperf_reading_t *reading,
                    const uvperf_reading_t *delta) {
  fixture_t *fixture = set->handle.data;
  uint64_t calls;

  use_up_failure(fixture);
  fixture->callbacks += 1;
  expect(fixture, fixture->started && !fixture->closing, "a callback", status);
  if (status == 0) {
    expect_reading(fixture, reading, 0);
    expect_reading(fixture, delta, 1);
    forget_deltas(fixture);
  } else {
    expect(fixture, status == UV_ENOMEM && fixture->wants_failure, "status",
           status);
    expect(fixture, reading == NULL && delta == NULL, "a reading", 0);
  }
  fixture->in_callback = 1;
  for (calls = draw(fixture, 4); calls > 0 && !fixture->closing; calls--)
    one_call(fixture);
  fixture->in_callback = 0;
}

/* The first delta begins at the reading of the start. */
static void call_start(fixture_t *fixture) {
  uint64_t ms = draw(fixture, 20);
  int expected = ms == 0 ? UV_EINVAL : fixture->started ? UV_EALREADY : 0;
  int rc = uvperf_set_read_start(fixture->set, ms, on_read, NULL);

  expect(fixture, rc == expected, "read_start", rc);
  if (rc != 0)
    return;
  forget_deltas(fixture);
  fixture->started = 1;
  fixture->start_ns = fixture->now_ns;
  fixture->interval_ns = ms * 1000000;
  fixture->due_ns = fixture->start_ns + fixture->interval_ns;
}

static void call_stop(fixture_t *fixture) {
  int rc = uvperf_set_read_stop(fixture->set);

  expect(fixture, rc == 0, "read_stop", rc);
  fixture->started = 0;
}

/* Runs the loop once, even if the set is unref'd. */
static void run_once(fixture_t *fixture) {
  int has_ref = uvperf_has_ref(&fixture->set->handle);

  uvperf_ref(&fixture->set->handle);
  uv_run(fixture->loop, UV_RUN_NOWAIT);
  if (!has_ref && fixture->set != NULL)
    uvperf_unref(&fixture->set->handle);
}

/* Some time passes, and the timer fires: early, in time or late. */
static void fire(fixture_t *fixture) {
  uint64_t before = fixture->callbacks;
  uint64_t passed = draw(fixture, 3 * fixture->interval_ns);
  int is_due;

  fixture->now_ns += passed;
  fake_clock_set(fixture->now_ns);
  is_due = fixture->now_ns >= fixture->due_ns;
  if (is_due)
    fixture->due_ns =
        fixture->start_ns +
        ((fixture->now_ns - fixture->start_ns) / fixture->interval_ns + 1) *
            fixture->interval_ns;
  fixture->wants_failure = draw(fixture, 4) == 0;
  fixture->failures = fake_failures();
  if (fixture->wants_failure)
    fake_fail(FAKE_CALLOC, 1, 0);
  fake_clock_fire(fake_clock_timer(fixture->loop));
  run_once(fixture);
  use_up_failure(fixture);
  expect(fixture, fixture->callbacks == before + (uint64_t)is_due, "ticks",
         (int64_t)(fixture->callbacks - before));
}

static void call_fire(fixture_t *fixture) {
  if (fixture->started && !fixture->in_callback)
    fire(fixture);
}

/* -- targets -------------------------------------------------------------- */

static void call_add(fixture_t *fixture) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  size_t actor = (size_t)draw(fixture, ACTORS);
  uint32_t index = UINT32_MAX;
  int expected = 0;
  int rc;

  if (fixture->nr_targets == TARGETS)
    return;
  if (actor != 0) {
    target.type = UVPERF_TARGET_THREAD;
    target.pid = (int32_t)fixture->actors[actor].thread.tid;
    expected = fixture->actors[actor].lives ? 0 : UV_ESRCH;
  }
  rc = uvperf_set_add(fixture->set, &target, NULL, &index, NULL);
  expect(fixture, rc == expected, "add_target", rc);
  if (rc != 0) {
    expect(fixture, index == UINT32_MAX, "the index of none", index);
    return;
  }
  expect(fixture, index >= fixture->next_index, "an old index", index);
  fixture->next_index = index;
  model_add(fixture, actor);
}

static void call_remove(fixture_t *fixture) {
  size_t at;
  int rc;

  if (fixture->nr_targets == 0)
    return;
  at = (size_t)draw(fixture, fixture->nr_targets);
  rc = uvperf_set_remove(fixture->set, fixture->targets[at].index, NULL, NULL);
  expect(fixture, rc == 0, "remove_target", rc);
  rc = uvperf_set_remove(fixture->set, fixture->targets[at].index, NULL, NULL);
  expect(fixture, rc == UV_ENOENT, "remove_target again", rc);
  fixture->nr_targets -= 1;
  memmove(&fixture->targets[at], &fixture->targets[at + 1],
          (fixture->nr_targets - at) * sizeof(fixture->targets[0]));
}

/* -- work ----------------------------------------------------------------- */

static void syscalls(void *arg) {
  live_syscall(*(const uint64_t *)arg);
}

static void call_work(fixture_t *fixture) {
  size_t index = (size_t)draw(fixture, ACTORS);
  actor_t *actor = &fixture->actors[index];

  actor->work = draw(fixture, 50);
  if (index == 0)
    live_syscall(actor->work);
  else if (actor->lives)
    live_thread_do(&actor->thread);
  else
    return;
  model_work(fixture, index, actor->work);
}

static void end_actor(actor_t *actor) {
  if (actor->lives)
    live_thread_end(&actor->thread);
  actor->lives = 0;
}

static void start_actor(actor_t *actor) {
  if (!actor->lives)
    live_thread_start(&actor->thread, syscalls, &actor->work);
  actor->lives = 1;
}

static void call_end_thread(fixture_t *fixture) {
  end_actor(&fixture->actors[1 + draw(fixture, ACTORS - 1)]);
}

static void call_start_thread(fixture_t *fixture) {
  start_actor(&fixture->actors[1 + draw(fixture, ACTORS - 1)]);
}

/* -- all the rest --------------------------------------------------------- */

static void call_enable(fixture_t *fixture) {
  int rc = uvperf_enable(&fixture->set->handle, UVPERF_ALL, NULL);

  expect(fixture, rc == 0, "enable", rc);
  fixture->enabled = 1;
}

static void call_disable(fixture_t *fixture) {
  int rc = uvperf_disable(&fixture->set->handle, UVPERF_ALL, NULL);

  expect(fixture, rc == 0, "disable", rc);
  fixture->enabled = 0;
}

static void call_reset(fixture_t *fixture) {
  int rc = uvperf_reset(&fixture->set->handle, UVPERF_ALL, NULL);
  size_t i;

  expect(fixture, rc == 0, "reset", rc);
  for (i = 0; i < fixture->nr_targets; i++)
    fixture->targets[i].count = fixture->targets[i].delta = 0;
}

static void call_read(fixture_t *fixture) {
  int rc = uvperf_set_read(fixture->set, fixture->reading, NULL);

  expect(fixture, rc == 0, "read", rc);
  expect_reading(fixture, fixture->reading, 0);
}

static void call_questions(fixture_t *fixture) {
  uvperf_set_t *set = fixture->set;
  int ref = draw(fixture, 2) == 0;
  size_t nr;

  expect(fixture, uvperf_is_active(&set->handle) == fixture->started,
         "is_active", 0);
  expect(fixture, !uvperf_is_closing(&set->handle), "is_closing", 0);
  if (ref)
    uvperf_ref(&set->handle);
  else
    uvperf_unref(&set->handle);
  expect(fixture, uvperf_has_ref(&set->handle) == ref, "has_ref", ref);
  expect(fixture, uv_loop_alive(fixture->loop) == (ref && fixture->started),
         "alive", ref);
  expect(fixture, uvperf_set_failures(set, &nr) == NULL && nr == 0, "failures",
         (int64_t)nr);
  expect(fixture, uvperf_set_nr_open(set) == ATTRS * fixture->nr_targets,
         "nr_open", (int64_t)uvperf_set_nr_open(set));
}

/* -- init and close ------------------------------------------------------- */

static void on_closed(uvperf_handle_t *handle) {
  uvperf_set_t *set = uvperf_handle_set(handle);

  fixture_t *fixture = handle->data;

  expect(fixture, fixture->closing, "close_cb", 0);
  fixture->set = NULL;
  free(set);
}

static void walk_close(uv_handle_t *handle, void *arg) {
  fixture_t *fixture = arg;

  expect(fixture, uvperf_walk_close(handle), "walk_close", handle->type);
}

static void call_close(fixture_t *fixture) {
  fixture->closing = 1;
  fixture->started = 0;
  if (draw(fixture, 3) == 0)
    uv_walk(fixture->loop, walk_close, fixture);
  uvperf_close(&fixture->set->handle, on_closed);
}

/* Makes a set with random targets of living threads, as many as there is room
 * for. */
static void init(fixture_t *fixture) {
  size_t nr = (size_t)draw(fixture, 3);
  uvperf_error_t error;
  size_t actor;
  int rc;

  fixture->set = malloc(sizeof(*fixture->set));
  fixture->nr_targets = fixture->plan.options.nr_targets = 0;
  fixture->next_index = 0;
  fixture->enabled = fixture->closing = fixture->started = 0;
  while (nr-- > 0) {
    actor = (size_t)draw(fixture, ACTORS);
    if (actor != 0)
      start_actor(&fixture->actors[actor]);
    live_plan_target(&fixture->plan,
                     actor == 0 ? UVPERF_TARGET_SELF : UVPERF_TARGET_THREAD)
        ->pid = actor == 0 ? 0 : (int32_t)fixture->actors[actor].thread.tid;
    model_add(fixture, actor);
  }
  error.reason[0] = '\0';
  fixture->plan.options.flags |= UVPERF_SET_TARGETS_LATER;
  rc = uvperf_set_init(fixture->loop, fixture->set, &fixture->plan.options,
                       &error);
  if (rc != 0)
    fail_msg("init: %d: %s", rc, error.reason);
  fixture->set->handle.data = fixture;
}

typedef struct call_s {
  const char *name;
  void (*call)(fixture_t *fixture);
} call_t;

static const call_t calls[] = {
    {"work", call_work},
    {"work", call_work},
    {"work", call_work},
    {"work", call_work},
    {"fire", call_fire},
    {"fire", call_fire},
    {"fire", call_fire},
    {"fire", call_fire},
    {"start", call_start},
    {"start", call_start},
    {"stop", call_stop},
    {"add", call_add},
    {"add", call_add},
    {"remove", call_remove},
    {"enable", call_enable},
    {"enable", call_enable},
    {"disable", call_disable},
    {"reset", call_reset},
    {"read", call_read},
    {"read", call_read},
    {"questions", call_questions},
    {"end of a thread", call_end_thread},
    {"start of a thread", call_start_thread},
    {"start of a thread", call_start_thread},
};

static void one_call(fixture_t *fixture) {
  const call_t *call = &calls[draw(fixture, sizeof(calls) / sizeof(calls[0]))];
  const char *outer = fixture->run.call;

  fixture->run.call = call->name;
  if (draw(fixture, 50) == 0)
    call_close(fixture);
  else
    call->call(fixture);
  fixture->run.call = outer;
}

static void run_to_end(fixture_t *fixture) {
  int turns;

  for (turns = 0; uv_run(fixture->loop, UV_RUN_NOWAIT) != 0 && turns < 100;
       turns++)
    continue;
  expect(fixture, fixture->set == NULL, "a set that does not close", turns);
}

static void step(fixture_t *fixture) {
  if (fixture->set == NULL)
    init(fixture);
  else if (fixture->closing)
    run_to_end(fixture);
  else
    one_call(fixture);
}

static void run_seed(uv_loop_t *loop, uint64_t tracepoint, uint64_t seed) {
  fixture_t *fixture = calloc(1, sizeof(*fixture));
  size_t i;

  model_run_seed(&fixture->run, seed);
  fixture->loop = loop;
  fixture->now_ns = 1000000000;
  fake_clock_set(fixture->now_ns);
  live_plan_begin(&fixture->plan);
  fixture->plan.options.flags = UVPERF_SET_FIXED_CPUS; /* one timer */
  live_plan_syscall(&fixture->plan, tracepoint);
  live_plan_software(&fixture->plan, PERF_COUNT_SW_DUMMY);
  live_plan_syscall(&fixture->plan, tracepoint);
  live_plan_group(&fixture->plan, 2);
  assert_int_equal(uvperf_reading_new(&fixture->reading), 0);
  for (i = 1; i < ACTORS; i++)
    start_actor(&fixture->actors[i]);
  for (fixture->run.step = 0;
       fixture->run.step < STEPS && fixture->run.fault[0] == '\0';
       fixture->run.step++)
    step(fixture);
  if (fixture->set != NULL && !fixture->closing)
    call_close(fixture);
  if (fixture->set != NULL)
    run_to_end(fixture);
  for (i = 1; i < ACTORS; i++)
    end_actor(&fixture->actors[i]);
  uvperf_reading_free(fixture->reading);
  uvperf_event_list_free(fixture->plan.list);
  model_run_check(&fixture->run, seed);
  free(fixture);
}

/* One that stays open: closing a tracepoint's last event waits for the kernel
 * (perf_trace_event_unreg in kernel/trace/trace_event_perf.c), at each set. */
static int open_another(uint64_t tracepoint) {
  struct perf_event_attr attr;
  int fd;

  uvperf_attr_tracepoint(&attr, tracepoint);
  fd = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  return fd;
}

static void set_random_calls_agree_with_the_model(void **state) {
  uint64_t tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  int another = open_another(tracepoint);
  size_t fds = support_count_fds();
  uint64_t first, last;

  model_run_seeds(20, &first, &last);
  for (; first <= last; first++) {
    fake_kernel_reset();
    run_seed(*state, tracepoint, first);
    assert_int_equal(support_count_fds(), fds);
    fake_assert_clean();
  }
  fake_clock_set(0);
  uvperf__sys_close(another);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test_setup_teardown(set_random_calls_agree_with_the_model,
                                       fake_kernel_loop_setup,
                                       fake_kernel_loop_teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
