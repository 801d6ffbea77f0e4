/* SPDX-License-Identifier: MIT */
/* Live: random sequences of the calls for a set's records, outside of the
 * callbacks and inside, against a model of what it promises: each record of
 * each target once and in order, whichever was stopped, flushed, removed or
 * gone between, and each end once, after them. UVPERF_RANDOM_SEEDS=first:last
 * chooses other seeds than the usual. */
#include "live_stream.h"

#include <sched.h>

#include "fake_kernel.h"
#include "live_thread.h"
#include "random_run.h"

#define STEPS   300
#define ACTORS  4 /* the first is the thread of the loop */
#define TARGETS 8
#define MODELS  512 /* of all targets of a set */

typedef struct actor_s {
  live_thread_t thread;
  uint64_t next; /* the number of its next COMM record */
  uint64_t nr;
  int cpu;
  int lives;
  uint64_t life; /* how many there were */
} actor_t;

/* What the model knows of a target, by its index. */
typedef struct model_s {
  size_t actor;
  uint64_t life;
  int removed;
  int ended; /* it was told */
  uint64_t written;
  uint64_t delivered;
  uint64_t last; /* the number of the last that came, and one more */
} model_t;

typedef struct world_s {
  random_run_t run;
  uv_loop_t *loop;
  live_plan_t plan;
  actor_t actors[ACTORS];
  uvperf_set_t *set; /* NULL: none is open */
  int in_order;
  int enabled, started, enabled_by_start, ever_started, eof, closing;
  int in_callback;
  int is_taking;  /* inside of uvperf_set_next */
  uint64_t calls; /* of end callbacks */
  uint64_t sessions;
  uint64_t last; /* as of a target, in the order of time */
  model_t models[MODELS];
  size_t nr_models;
  size_t nr_targets; /* not removed */
} world_t;

static uint64_t draw(world_t *world, uint64_t below) {
  return random_run_draw(&world->run, below);
}

static void expect(world_t *world, int is_so, const char *what, int64_t value) {
  random_run_expect(&world->run, is_so, what, value);
}

/* -- the model ------------------------------------------------------------ */

static void model_add(world_t *world, size_t actor) {
  model_t *model = &world->models[world->nr_models++];

  memset(model, 0, sizeof(*model));
  model->actor = actor;
  model->life = world->actors[actor].life;
  world->nr_targets += 1;
}

static int is_alive(const world_t *world, const model_t *model) {
  const actor_t *actor = &world->actors[model->actor];

  return actor->life == model->life && (model->actor == 0 || actor->lives);
}

static void model_write(world_t *world, size_t actor, uint64_t nr) {
  model_t *model;
  size_t i;

  for (i = 0; world->enabled && i < world->nr_models; i++) {
    model = &world->models[i];
    if (model->actor == actor && !model->removed && is_alive(world, model))
      model->written += nr;
  }
}

static int is_all_delivered(const world_t *world) {
  size_t i;

  for (i = 0; i < world->nr_models; i++)
    if (world->models[i].delivered != world->models[i].written)
      return 0;
  return 1;
}

static int has_ended(const world_t *world) {
  size_t i;

  for (i = 0; i < world->nr_models; i++)
    if (!world->models[i].removed && !world->models[i].ended)
      return 0;
  return world->nr_targets > 0;
}

/* -- callbacks ------------------------------------------------------------ */

static void one_call(world_t *world);

static void calls_inside(world_t *world) {
  uint64_t calls;

  world->in_callback = 1;
  for (calls = draw(world, 12); calls > 9 && !world->closing; calls--)
    one_call(world);
  world->in_callback = 0;
}

static void deliver(world_t *world, const uvperf_record_t *record) {
  model_t *model = &world->models[record->source->target_index];
  unsigned number;

  expect(world, record->source->target_index < world->nr_models, "target",
         record->source->target_index);
  if (record->type != PERF_RECORD_COMM ||
      sscanf(record->comm.comm, "live%u", &number) != 1)
    return;
  model->delivered += 1;
  expect(world, model->delivered <= model->written, "one too many",
         record->source->target_index);
  expect(world, !model->ended, "one after the end",
         record->source->target_index);
  expect(world, number >= model->last, "an order", number);
  model->last = number + 1;
  expect(world, !world->in_order || record->time >= world->last, "a time",
         number);
  world->last = record->time;
}

static void on_record(uvperf_set_t *set, int status,
                      const uvperf_record_t *record) {
  world_t *world = set->data;

  expect(world, !world->closing, "a callback", status);
  if (record != NULL) {
    expect(world, status == 0 && record->source != NULL, "a record", status);
    if (status == 0 && record->source != NULL)
      deliver(world, record);
  } else if (status != 0) {
    expect(world, status == UV_EOF && world->started, "a status", status);
    expect(world, has_ended(world), "an end", status);
    expect(world, is_all_delivered(world), "records before the end", 0);
    world->started = 0;
    world->sessions += 1;
    if (world->enabled_by_start)
      world->enabled = 0;
    world->enabled_by_start = 0;
    world->eof = 1;
  }
  calls_inside(world);
}

static void on_end(uvperf_set_t *set, uint32_t target) {
  world_t *world = set->data;
  model_t *model = &world->models[target];

  expect(world, target < world->nr_models && !model->removed && !model->ended,
         "the end of a target", target);
  expect(world, !is_alive(world, model), "the end of one that lives", target);
  expect(world, model->delivered == model->written, "an end before a record",
         target);
  expect(world, (world->started || world->is_taking) && !world->closing,
         "an end callback", target);
  world->calls += 1;
  model->ended = 1;
  calls_inside(world);
}

/* -- delivery ------------------------------------------------------------- */

static void call_start(world_t *world) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  int rc, expected = 0;

  options.slice_records =
      draw(world, 2) == 0 ? 1 + (uint32_t)draw(world, 5) : 0;
  options.flush_ms = (int32_t)draw(world, 3) - 1;
  if (draw(world, 4) == 0)
    options.flags |= UVPERF_START_NO_ENABLE;
  if (draw(world, 2) == 0)
    options.flags |= UVPERF_START_SLICE_END;
  if (world->started)
    expected = UV_EALREADY;
  else if (world->eof && has_ended(world))
    expected = UV_EOF;
  rc = uvperf_set_start(world->set, &options, on_record, NULL);
  expect(world, rc == expected, "start", rc);
  if (rc != 0)
    return;
  world->started = world->ever_started = 1;
  world->sessions += 1;
  world->eof = 0;
  world->enabled_by_start = !(options.flags & UVPERF_START_NO_ENABLE);
  world->enabled |= world->enabled_by_start;
}

static void call_stop(world_t *world) {
  int rc = uvperf_set_stop(world->set);

  expect(world, rc == 0, "stop", rc);
  world->sessions += 1;
  world->started = 0;
  if (world->enabled_by_start)
    world->enabled = 0;
  world->enabled_by_start = 0;
}

static void call_flush(world_t *world) {
  int expected = !world->ever_started ? UV_EINVAL
                 : world->in_callback ? UV_EBUSY
                                      : 0;
  uint64_t sessions = world->sessions;
  int was_callback = world->in_callback;
  int rc;

  if (was_callback && !world->ever_started)
    return;
  rc = uvperf_set_flush(world->set);
  expect(world, rc == expected, "flush", rc);
  /* A callback may also have written more. */
  if (rc == 0 && world->sessions == sessions && !world->closing) {
    sessions = world->sessions;
    rc = uvperf_set_flush(world->set);
    expect(world, rc == 0, "flush again", rc);
  }
}

/* A record, or none: 1, and it was given. */
static int take(world_t *world) {
  int is_refused = world->in_callback || world->started;
  int has_record = uvperf_set_has_record(world->set);
  int was_taking = world->is_taking;
  uint64_t calls = world->calls;
  const uvperf_record_t *record;
  int rc;

  world->is_taking = 1;
  rc = uvperf_set_next(world->set, &record);
  world->is_taking = was_taking;
  expect(world, (rc == UV_EBUSY) == is_refused, "next", rc);
  expect(world, (rc == 0) == (record != NULL), "next and its record", rc);
  if (is_refused)
    return 0;
  expect(world, has_record == (rc == 0), "has_record", has_record);
  if (rc == 0)
    deliver(world, record);
  else if (rc == UV_EOF)
    expect(world, has_ended(world), "an end by next", rc);
  else
    expect(world, rc == (world->closing ? UV_ECANCELED : UV_EAGAIN), "no next",
           rc);
  world->eof |= rc == UV_EOF;
  /* Inside of end callbacks more may have been written. */
  if (rc != 0 && world->calls == calls)
    expect(world, is_all_delivered(world), "a record is missing", rc);
  return rc == 0;
}

static void call_next(world_t *world) {
  uint64_t nr = draw(world, 30);

  while (nr-- > 0 && take(world))
    continue;
}

/* All that was written comes by itself. */
static void call_run(world_t *world) {
  uint64_t sessions = world->sessions;
  uint64_t end = uv_hrtime() + UINT64_C(20000000000);

  if (world->in_callback)
    return;
  while (world->started && world->sessions == sessions &&
         !is_all_delivered(world) && uv_hrtime() < end) {
    /* A loop that nothing keeps alive does not turn. */
    uvperf_set_ref(world->set);
    uv_run(world->loop, UV_RUN_NOWAIT);
  }
  if (world->started && world->sessions == sessions)
    expect(world, is_all_delivered(world), "a record is missing", 0);
}

static void call_turn(world_t *world) {
  if (!world->in_callback)
    uv_run(world->loop, UV_RUN_NOWAIT);
}

/* -- targets and work ----------------------------------------------------- */

static void comms(void *arg) {
  actor_t *actor = arg;

  live_comm(&actor->next, actor->nr);
}

static void call_work(world_t *world) {
  size_t index = (size_t)draw(world, ACTORS);
  actor_t *actor = &world->actors[index];

  actor->nr = draw(world, 10);
  if (index == 0)
    comms(actor);
  else if (actor->lives)
    live_thread_do(&actor->thread);
  else
    return;
  model_write(world, index, actor->nr);
}

static void pin(const actor_t *actor) {
  cpu_set_t cpus;

  CPU_ZERO(&cpus);
  CPU_SET((size_t)actor->cpu, &cpus);
  if (sched_setaffinity((pid_t)actor->thread.tid, sizeof(cpus), &cpus) != 0)
    abort();
}

static void start_actor(actor_t *actor) {
  if (actor->lives)
    return;
  live_thread_start(&actor->thread, comms, actor);
  pin(actor);
  actor->lives = 1;
  actor->life += 1;
}

static void end_actor(actor_t *actor) {
  if (actor->lives)
    live_thread_end(&actor->thread);
  actor->lives = 0;
}

static void call_end_thread(world_t *world) {
  size_t index = 1 + (size_t)draw(world, ACTORS - 1);

  end_actor(&world->actors[index]);
}

static void call_add(world_t *world) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  size_t actor = (size_t)draw(world, ACTORS);
  uint32_t index = UINT32_MAX;
  int rc;

  if (world->nr_targets == TARGETS || world->nr_models == MODELS)
    return;
  if (actor != 0) {
    start_actor(&world->actors[actor]);
    target.type = UVPERF_TARGET_THREAD;
    target.pid = (int32_t)world->actors[actor].thread.tid;
  }
  rc = uvperf_set_add_target(world->set, &target, &index, NULL);
  expect(world, rc == 0 && index == world->nr_models, "add_target", rc);
  if (rc == 0)
    model_add(world, actor);
}

static void call_remove(world_t *world) {
  size_t index;
  int rc;

  if (world->nr_models == 0)
    return;
  index = (size_t)draw(world, world->nr_models);
  rc = uvperf_set_remove_target(world->set, (uint32_t)index);
  expect(world, rc == (world->models[index].removed ? UV_ENOENT : 0),
         "remove_target", rc);
  if (rc != 0)
    return;
  world->models[index].removed = 1;
  world->nr_targets -= 1;
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

static void call_questions(world_t *world) {
  uvperf_set_t *set = world->set;
  int ref = draw(world, 2) == 0;
  uvperf_stats_t stats;

  if (ref)
    uvperf_set_ref(set);
  else
    uvperf_set_unref(set);
  expect(world, uvperf_set_has_ref(set) == ref, "has_ref", ref);
  expect(world, uvperf_set_is_active(set) == world->started, "is_active",
         world->started);
  expect(world, !uvperf_set_is_closing(set), "is_closing", 0);
  expect(world, uv_loop_alive(world->loop) == (ref && world->started), "alive",
         world->started);
  uvperf_set_stats(set, &stats);
  expect(world, stats.corrupt == 0 && stats.lost_records == 0, "stats", 0);
  expect(world, stats.late_records == 0, "late", (int64_t)stats.late_records);
}

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
  if (draw(world, 4) != 0)
    return;
  world->closing = 1;
  world->started = 0;
  world->sessions += 1;
  if (draw(world, 3) == 0)
    uv_walk(world->loop, walk_close, world);
  uvperf_set_close(world->set, on_closed);
}

typedef struct call_s {
  const char *name;
  void (*call)(world_t *world);
} call_t;

static const call_t calls[] = {
    {"work", call_work},       {"work", call_work},
    {"work", call_work},       {"turn", call_turn},
    {"turn", call_turn},       {"turn", call_turn},
    {"run", call_run},         {"start", call_start},
    {"start", call_start},     {"stop", call_stop},
    {"flush", call_flush},     {"add", call_add},
    {"add", call_add},         {"remove", call_remove},
    {"end", call_end_thread},  {"enable", call_enable},
    {"disable", call_disable}, {"questions", call_questions},
    {"close", call_close},     {"next", call_next},
    {"next", call_next},
};

static void one_call(world_t *world) {
  const call_t *call = &calls[draw(world, sizeof(calls) / sizeof(calls[0]))];

  world->run.call = call->name;
  call->call(world);
}

/* -- a run ---------------------------------------------------------------- */

static void init(world_t *world) {
  uvperf_error_t error;
  int rc;

  world->set = malloc(sizeof(*world->set));
  world->in_order = draw(world, 2) == 0;
  live_stream_plan_mode(&world->plan, (size_t)world->in_order);
  world->nr_models = world->nr_targets = 0;
  world->enabled = world->started = world->enabled_by_start = 0;
  world->ever_started = world->eof = world->closing = 0;
  world->last = 0;
  error.reason[0] = '\0';
  world->plan.options.flags |= UVPERF_SET_TARGETS_LATER;
  rc = uvperf_set_init(world->loop, world->set, &world->plan.options, &error);
  if (rc != 0)
    fail_msg("init: %d: %s", rc, error.reason);
  world->set->data = world;
  uvperf_set_on_end(world->set, on_end);
}

static void run_until_closed(world_t *world) {
  int turns;

  for (turns = 0; world->set != NULL && turns < 100; turns++)
    uv_run(world->loop, UV_RUN_NOWAIT);
  expect(world, world->set == NULL, "no close_cb", turns);
}

static void step(world_t *world) {
  if (world->set != NULL && world->closing)
    run_until_closed(world);
  if (world->set == NULL)
    init(world);
  one_call(world);
}

static void run_seed(uv_loop_t *loop, uint64_t seed) {
  world_t *world = calloc(1, sizeof(*world));
  size_t fds = support_count_fds();
  int cpus[ACTORS];
  size_t nr_cpus = live_cpus(cpus, ACTORS);
  cpu_set_t old;
  size_t i;

  random_run_seed(&world->run, seed);
  world->loop = loop;
  live_stream_plan(&world->plan);
  live_stream_plan_comm(&world->plan);
  for (i = 0; i < ACTORS; i++)
    world->actors[i].cpu = cpus[i % nr_cpus];
  live_pin(world->actors[0].cpu, &old);
  for (world->run.step = 0;
       world->run.step < STEPS && world->run.fault[0] == '\0';
       world->run.step++)
    step(world);
  if (world->set != NULL) {
    if (!world->closing) {
      world->closing = 1;
      uvperf_set_close(world->set, on_closed);
    }
    run_until_closed(world);
  }
  for (i = 1; i < ACTORS; i++)
    end_actor(&world->actors[i]);
  live_unpin(&old);
  random_run_check(&world->run, seed);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
  free(world);
}

static void set_stream_random_calls_deliver_each_record_once(void **state) {
  uint64_t seed, last;

  support_need_own_events(__func__);
  random_run_seeds(40, &seed, &last);
  for (; seed <= last; seed++)
    run_seed(*state, seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_stream_random_calls_deliver_each_record_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
