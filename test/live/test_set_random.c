/* SPDX-License-Identifier: MIT */
/* Live: random sequences of the calls of set.h, outside of the callback and
 * inside, against a model of what it promises: each count of each target, since
 * the last reset and since the last tick, exactly. UVPERF_RANDOM_SEEDS=
 * first:last chooses other seeds than the usual. */
#include "live_set.h"

#include "fake_clock.h"
#include "fake_kernel.h"
#include "live_thread.h"
#include "random_run.h"
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

typedef struct world_s {
  random_run_t run;
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
  /* Of readings on the loop. */
  int started;
  int in_callback;
  int wants_failure; /* this tick has no memory, if it takes some */
  unsigned failures; /* before it */
  uint64_t now_ns;
  uint64_t start_ns;
  uint64_t interval_ns;
  uint64_t due_ns;
  uint64_t callbacks;
} world_t;

static uint64_t draw(world_t *world, uint64_t below) {
  return random_run_draw(&world->run, below);
}

static void expect(world_t *world, int is_so, const char *what, int64_t value) {
  random_run_expect(&world->run, is_so, what, value);
}

/* -- the model ------------------------------------------------------------ */

static void model_add(world_t *world, size_t actor) {
  model_t *model = &world->targets[world->nr_targets++];

  memset(model, 0, sizeof(*model));
  model->actor = actor;
  model->tid = actor == 0 ? live_tid() : world->actors[actor].thread.tid;
  model->index = world->next_index++;
}

static void model_work(world_t *world, size_t actor, uint64_t nr) {
  size_t i;

  for (i = 0; i < world->nr_targets && world->enabled; i++) {
    if (world->targets[i].actor != actor ||
        (actor != 0 &&
         world->targets[i].tid != world->actors[actor].thread.tid))
      continue;
    world->targets[i].count += nr;
    world->targets[i].delta += nr;
  }
}

static void expect_count(world_t *world, const uvperf_count_t *count,
                         uint64_t value, const char *what) {
  expect(world, count->value == value, what, (int64_t)count->value);
  expect(world, count->value == count->scaled, "scaled",
         (int64_t)count->scaled);
  expect(world, count->nr_missing == 0, "missing", count->nr_missing);
}

/* A reading, or a delta, has each target of now once, in order. */
static void expect_reading(world_t *world, const uvperf_reading_t *reading,
                           int is_delta) {
  uvperf_count_t count;
  const model_t *model;
  uint64_t value;
  uint64_t sum = 0;
  size_t i;

  expect(world, uvperf_reading_nr_places(reading) == world->nr_targets,
         "places", (int64_t)uvperf_reading_nr_places(reading));
  if (world->run.fault[0] != '\0')
    return;
  for (i = 0; i < world->nr_targets; i++) {
    const uvperf_place_t *place = uvperf_reading_place(reading, i);

    model = &world->targets[i];
    value = is_delta ? model->delta : model->count;
    sum += value;
    expect(world, place->target == model->index, "target", place->target);
    expect(world, place->pid == (int32_t)model->tid, "pid", place->pid);
    uvperf_reading_count(reading, 0, i, &count);
    expect_count(world, &count, value, is_delta ? "a delta" : "a count");
    uvperf_reading_count(reading, 2, i, &count);
    expect_count(world, &count, value, "one in no group");
  }
  uvperf_reading_total(reading, 0, &count);
  expect_count(world, &count, sum, is_delta ? "the delta" : "the total");
  uvperf_reading_total(reading, 1, &count);
  expect_count(world, &count, 0, "a dummy");
}

/* -- readings on the loop ------------------------------------------------- */

static void one_call(world_t *world);

static void forget_deltas(world_t *world) {
  size_t i;

  for (i = 0; i < world->nr_targets; i++)
    world->targets[i].delta = 0;
}

/* Lets the failure fail something, if the tick took no memory. */
static void use_up_failure(world_t *world) {
  while (world->wants_failure && fake_failures() == world->failures)
    uvperf__free(uvperf__calloc(1, 1));
}

static void on_read(uvperf_set_t *set, int status,
                    const uvperf_reading_t *reading,
                    const uvperf_reading_t *delta) {
  world_t *world = set->data;
  uint64_t calls;

  use_up_failure(world);
  world->callbacks += 1;
  expect(world, world->started && !world->closing, "a callback", status);
  if (status == 0) {
    expect_reading(world, reading, 0);
    expect_reading(world, delta, 1);
    forget_deltas(world);
  } else {
    expect(world, status == UV_ENOMEM && world->wants_failure, "status",
           status);
    expect(world, reading == NULL && delta == NULL, "a reading", 0);
  }
  world->in_callback = 1;
  for (calls = draw(world, 4); calls > 0 && !world->closing; calls--)
    one_call(world);
  world->in_callback = 0;
}

/* What was read at the start is where the first delta begins. */
static void call_start(world_t *world) {
  uint64_t ms = draw(world, 20);
  int expected = ms == 0 ? UV_EINVAL : world->started ? UV_EALREADY : 0;
  int rc = uvperf_set_read_start(world->set, ms, on_read, NULL);

  expect(world, rc == expected, "read_start", rc);
  if (rc != 0)
    return;
  forget_deltas(world);
  world->started = 1;
  world->start_ns = world->now_ns;
  world->interval_ns = ms * 1000000;
  world->due_ns = world->start_ns + world->interval_ns;
}

static void call_stop(world_t *world) {
  int rc = uvperf_set_read_stop(world->set);

  expect(world, rc == 0, "read_stop", rc);
  world->started = 0;
}

/* Some time passes, and the timer fires: early, in time or late. */
static void fire(world_t *world) {
  uint64_t before = world->callbacks;
  uint64_t passed = draw(world, 3 * world->interval_ns);
  int is_due;

  world->now_ns += passed;
  fake_clock_set(world->now_ns);
  is_due = world->now_ns >= world->due_ns;
  if (is_due)
    world->due_ns =
        world->start_ns +
        ((world->now_ns - world->start_ns) / world->interval_ns + 1) *
            world->interval_ns;
  world->wants_failure = draw(world, 4) == 0;
  world->failures = fake_failures();
  if (world->wants_failure)
    fake_fail(FAKE_CALLOC, 1, 0);
  fake_clock_fire(fake_clock_timer(world->loop));
  use_up_failure(world);
  expect(world, world->callbacks == before + (uint64_t)is_due, "ticks",
         (int64_t)(world->callbacks - before));
}

static void call_fire(world_t *world) {
  if (world->started && !world->in_callback)
    fire(world);
}

/* -- targets -------------------------------------------------------------- */

static void call_add(world_t *world) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  size_t actor = (size_t)draw(world, ACTORS);
  uint32_t index = UINT32_MAX;
  int expected = 0;
  int rc;

  if (world->nr_targets == TARGETS)
    return;
  if (actor != 0) {
    target.type = UVPERF_TARGET_THREAD;
    target.pid = (int32_t)world->actors[actor].thread.tid;
    expected = world->actors[actor].lives ? 0 : UV_ESRCH;
  }
  rc = uvperf_set_add_target(world->set, &target, &index, NULL);
  expect(world, rc == expected, "add_target", rc);
  if (rc != 0) {
    expect(world, index == UINT32_MAX, "the index of none", index);
    return;
  }
  expect(world, index >= world->next_index, "an old index", index);
  world->next_index = index;
  model_add(world, actor);
}

static void call_remove(world_t *world) {
  size_t at;
  int rc;

  if (world->nr_targets == 0)
    return;
  at = (size_t)draw(world, world->nr_targets);
  rc = uvperf_set_remove_target(world->set, world->targets[at].index);
  expect(world, rc == 0, "remove_target", rc);
  rc = uvperf_set_remove_target(world->set, world->targets[at].index);
  expect(world, rc == UV_ENOENT, "remove_target again", rc);
  world->nr_targets -= 1;
  memmove(&world->targets[at], &world->targets[at + 1],
          (world->nr_targets - at) * sizeof(world->targets[0]));
}

/* -- work ----------------------------------------------------------------- */

static void syscalls(void *arg) {
  live_syscall(*(const uint64_t *)arg);
}

static void call_work(world_t *world) {
  size_t index = (size_t)draw(world, ACTORS);
  actor_t *actor = &world->actors[index];

  actor->work = draw(world, 50);
  if (index == 0)
    live_syscall(actor->work);
  else if (actor->lives)
    live_thread_do(&actor->thread);
  else
    return;
  model_work(world, index, actor->work);
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

static void call_end_thread(world_t *world) {
  end_actor(&world->actors[1 + draw(world, ACTORS - 1)]);
}

static void call_start_thread(world_t *world) {
  start_actor(&world->actors[1 + draw(world, ACTORS - 1)]);
}

/* -- all the rest --------------------------------------------------------- */

static void call_enable(world_t *world) {
  int rc = uvperf_set_enable(world->set, NULL);

  expect(world, rc == 0, "enable", rc);
  world->enabled = 1;
}

static void call_disable(world_t *world) {
  int rc = uvperf_set_disable(world->set, NULL);

  expect(world, rc == 0, "disable", rc);
  world->enabled = 0;
}

static void call_reset(world_t *world) {
  int rc = uvperf_set_reset(world->set, NULL);
  size_t i;

  expect(world, rc == 0, "reset", rc);
  for (i = 0; i < world->nr_targets; i++)
    world->targets[i].count = world->targets[i].delta = 0;
}

static void call_read(world_t *world) {
  int rc = uvperf_set_read(world->set, world->reading, NULL);

  expect(world, rc == 0, "read", rc);
  expect_reading(world, world->reading, 0);
}

static void call_questions(world_t *world) {
  uvperf_set_t *set = world->set;
  int ref = draw(world, 2) == 0;
  size_t nr;

  expect(world, uvperf_set_is_active(set) == world->started, "is_active", 0);
  expect(world, !uvperf_set_is_closing(set), "is_closing", 0);
  if (ref)
    uvperf_set_ref(set);
  else
    uvperf_set_unref(set);
  expect(world, uvperf_set_has_ref(set) == ref, "has_ref", ref);
  expect(world, uv_loop_alive(world->loop) == (ref && world->started), "alive",
         ref);
  expect(world, uvperf_set_failures(set, &nr) == NULL && nr == 0, "failures",
         (int64_t)nr);
  expect(world, uvperf_set_nr_open(set) == ATTRS * world->nr_targets, "nr_open",
         (int64_t)uvperf_set_nr_open(set));
}

/* -- init and close ------------------------------------------------------- */

static void on_closed(uvperf_set_t *set) {
  world_t *world = set->data;

  expect(world, world->closing, "close_cb", 0);
  world->set = NULL;
  free(set);
}

static void walk_close(uv_handle_t *handle, void *arg) {
  world_t *world = arg;

  expect(world, uvperf_walk_close(handle), "walk_close", handle->type);
}

static void call_close(world_t *world) {
  world->closing = 1;
  world->started = 0;
  if (draw(world, 3) == 0)
    uv_walk(world->loop, walk_close, world);
  uvperf_set_close(world->set, on_closed);
}

/* With the targets that there are room for, of threads that live. */
static void init(world_t *world) {
  size_t nr = (size_t)draw(world, 3);
  uvperf_error_t error;
  size_t actor;
  int rc;

  world->set = malloc(sizeof(*world->set));
  world->nr_targets = world->plan.options.nr_targets = 0;
  world->next_index = 0;
  world->enabled = world->closing = world->started = 0;
  while (nr-- > 0) {
    actor = (size_t)draw(world, ACTORS);
    if (actor != 0)
      start_actor(&world->actors[actor]);
    live_plan_target(&world->plan,
                     actor == 0 ? UVPERF_TARGET_SELF : UVPERF_TARGET_THREAD)
        ->pid = actor == 0 ? 0 : (int32_t)world->actors[actor].thread.tid;
    model_add(world, actor);
  }
  error.reason[0] = '\0';
  world->plan.options.flags |= UVPERF_SET_TARGETS_LATER;
  rc = uvperf_set_init(world->loop, world->set, &world->plan.options, &error);
  if (rc != 0)
    fail_msg("init: %d: %s", rc, error.reason);
  world->set->data = world;
}

typedef struct call_s {
  const char *name;
  void (*call)(world_t *world);
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

static void one_call(world_t *world) {
  const call_t *call = &calls[draw(world, sizeof(calls) / sizeof(calls[0]))];
  const char *outer = world->run.call;

  world->run.call = call->name;
  if (draw(world, 50) == 0)
    call_close(world);
  else
    call->call(world);
  world->run.call = outer;
}

static void run_to_end(world_t *world) {
  int turns;

  for (turns = 0; uv_run(world->loop, UV_RUN_NOWAIT) != 0 && turns < 100;
       turns++)
    continue;
  expect(world, world->set == NULL, "a set that does not close", turns);
}

static void step(world_t *world) {
  if (world->set == NULL)
    init(world);
  else if (world->closing)
    run_to_end(world);
  else
    one_call(world);
}

static void run_seed(uv_loop_t *loop, uint64_t tracepoint, uint64_t seed) {
  world_t *world = calloc(1, sizeof(*world));
  size_t i;

  random_run_seed(&world->run, seed);
  world->loop = loop;
  world->now_ns = 1000000000;
  fake_clock_set(world->now_ns);
  live_plan_begin(&world->plan);
  live_plan_syscall(&world->plan, tracepoint);
  live_plan_software(&world->plan, PERF_COUNT_SW_DUMMY);
  live_plan_syscall(&world->plan, tracepoint);
  world->plan.leaders[1] = 0;
  assert_int_equal(uvperf_reading_new(&world->reading), 0);
  for (i = 1; i < ACTORS; i++)
    start_actor(&world->actors[i]);
  for (world->run.step = 0;
       world->run.step < STEPS && world->run.fault[0] == '\0';
       world->run.step++)
    step(world);
  if (world->set != NULL && !world->closing)
    call_close(world);
  if (world->set != NULL)
    run_to_end(world);
  for (i = 1; i < ACTORS; i++)
    end_actor(&world->actors[i]);
  uvperf_reading_free(world->reading);
  random_run_check(&world->run, seed);
  free(world);
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

  random_run_seeds(20, &first, &last);
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
