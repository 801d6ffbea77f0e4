/* SPDX-License-Identifier: MIT */
/* Live: random sequences of the calls for a set's records, outside of the
 * callbacks and inside, against a model of what it promises: each record of
 * each target once and in order, after any stops, flushes, removals and ends in
 * between, and then each end once. UVPERF_RANDOM_SEEDS=first:last selects other
 * seeds. */
#include "live_stream.h"

#include <sched.h>

#include "fake_kernel.h"
#include "live_thread.h"
#include "model_run.h"

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
  int ended; /* its end was reported */
  uint64_t written;
  uint64_t delivered;
  uint64_t last; /* the number of the last that came, and one more */
} model_t;

typedef struct fixture_s {
  model_run_t run;
  uv_loop_t *loop;
  live_plan_t plan;
  actor_t actors[ACTORS];
  uvperf_set_t *set; /* NULL: none is open */
  int in_order;
  int enabled, started, was_switched, ever_started, eof, closing;
  int in_callback;
  int is_taking;  /* inside of uvperf_next */
  uint64_t calls; /* of end callbacks */
  uint64_t sessions;
  uint64_t last; /* in the order of time, for all targets */
  model_t models[MODELS];
  size_t nr_models;
  size_t nr_targets; /* not removed */
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
  model_t *model = &fixture->models[fixture->nr_models++];

  memset(model, 0, sizeof(*model));
  model->actor = actor;
  model->life = fixture->actors[actor].life;
  fixture->nr_targets += 1;
}

static int is_alive(const fixture_t *fixture, const model_t *model) {
  const actor_t *actor = &fixture->actors[model->actor];

  return actor->life == model->life && (model->actor == 0 || actor->lives);
}

static void model_write(fixture_t *fixture, size_t actor, uint64_t nr) {
  model_t *model;
  size_t i;

  for (i = 0; fixture->enabled && i < fixture->nr_models; i++) {
    model = &fixture->models[i];
    if (model->actor == actor && !model->removed && is_alive(fixture, model))
      model->written += nr;
  }
}

static int is_all_delivered(const fixture_t *fixture) {
  size_t i;

  for (i = 0; i < fixture->nr_models; i++)
    if (fixture->models[i].delivered != fixture->models[i].written)
      return 0;
  return 1;
}

static int has_ended(const fixture_t *fixture) {
  size_t i;

  for (i = 0; i < fixture->nr_models; i++)
    if (!fixture->models[i].removed && !fixture->models[i].ended)
      return 0;
  return fixture->nr_targets > 0;
}

/* -- callbacks ------------------------------------------------------------ */

static void one_call(fixture_t *fixture);

static void calls_inside(fixture_t *fixture) {
  uint64_t calls;

  fixture->in_callback = 1;
  for (calls = draw(fixture, 12); calls > 9 && !fixture->closing; calls--)
    one_call(fixture);
  fixture->in_callback = 0;
}

static void deliver(fixture_t *fixture, const uvperf_record_t *record) {
  model_t *model = &fixture->models[record->source->target_index];
  unsigned number;

  expect(fixture, record->source->target_index < fixture->nr_models, "target",
         record->source->target_index);
  if (record->type != PERF_RECORD_COMM ||
      sscanf(record->comm.comm, "live%u", &number) != 1)
    return;
  model->delivered += 1;
  expect(fixture, model->delivered <= model->written, "one too many",
         record->source->target_index);
  expect(fixture, !model->ended, "one after the end",
         record->source->target_index);
  expect(fixture, number >= model->last, "an order", number);
  model->last = number + 1;
  expect(fixture, !fixture->in_order || record->time >= fixture->last, "a time",
         number);
  fixture->last = record->time;
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  fixture_t *fixture = handle->data;

  expect(fixture, !fixture->closing, "a callback", status);
  if (record->type != UVPERF_RECORD_NONE) {
    expect(fixture, status == 0 && record->source != NULL, "a record", status);
    if (status == 0 && record->source != NULL)
      deliver(fixture, record);
  } else if (status != 0) {
    expect(fixture, status == UV_EOF && fixture->started, "a status", status);
    expect(fixture, has_ended(fixture), "an end", status);
    expect(fixture, is_all_delivered(fixture), "records before the end", 0);
    fixture->started = 0;
    fixture->sessions += 1;
    fixture->eof = 1;
  }
  calls_inside(fixture);
}

static void on_end(uvperf_set_t *set, uint32_t target) {
  fixture_t *fixture = set->handle.data;
  model_t *model = &fixture->models[target];

  expect(fixture,
         target < fixture->nr_models && !model->removed && !model->ended,
         "the end of a target", target);
  expect(fixture, !is_alive(fixture, model), "the end of one that lives",
         target);
  expect(fixture, model->delivered == model->written, "an end before a record",
         target);
  expect(fixture, (fixture->started || fixture->is_taking) && !fixture->closing,
         "an end callback", target);
  fixture->calls += 1;
  model->ended = 1;
  calls_inside(fixture);
}

/* -- delivery ------------------------------------------------------------- */

static void call_start(fixture_t *fixture) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  int rc, expected = 0;

  options.slice_records =
      draw(fixture, 2) == 0 ? 1 + (uint32_t)draw(fixture, 5) : 0;
  options.flush_ms = (int32_t)draw(fixture, 3) - 1;
  if (draw(fixture, 4) == 0)
    options.flags |= UVPERF_START_NO_ENABLE;
  if (draw(fixture, 2) == 0)
    options.flags |= UVPERF_START_SLICE_END;
  if (fixture->started)
    expected = UV_EALREADY;
  else if (fixture->eof && has_ended(fixture))
    expected = UV_EOF;
  rc = uvperf_start(&fixture->set->handle, &options, on_record, NULL);
  expect(fixture, rc == expected, "start", rc);
  if (rc != 0)
    return;
  fixture->started = fixture->ever_started = 1;
  fixture->sessions += 1;
  fixture->eof = 0;
  if (!(options.flags & UVPERF_START_NO_ENABLE) && !fixture->was_switched)
    fixture->enabled = fixture->was_switched = 1;
}

static void call_stop(fixture_t *fixture) {
  int rc = uvperf_stop(&fixture->set->handle);

  expect(fixture, rc == 0, "stop", rc);
  fixture->sessions += 1;
  fixture->started = 0;
}

static void call_flush(fixture_t *fixture) {
  int expected = !fixture->ever_started ? UV_EINVAL
                 : fixture->in_callback ? UV_EBUSY
                                        : 0;
  uint64_t sessions = fixture->sessions;
  int was_callback = fixture->in_callback;
  int rc;

  if (was_callback && !fixture->ever_started)
    return;
  rc = uvperf_flush(&fixture->set->handle);
  expect(fixture, rc == expected, "flush", rc);
  /* A callback may also have written more. */
  if (rc == 0 && fixture->sessions == sessions && !fixture->closing) {
    sessions = fixture->sessions;
    rc = uvperf_flush(&fixture->set->handle);
    expect(fixture, rc == 0, "flush again", rc);
  }
}

/* Checks a record, or that there is none. Returns 1 if it was expected. */
static int take(fixture_t *fixture) {
  int is_refused = fixture->in_callback || fixture->started;
  int has_record = uvperf_has_record(&fixture->set->handle);
  int was_taking = fixture->is_taking;
  uint64_t calls = fixture->calls;
  const uvperf_record_t *record;
  int rc;

  fixture->is_taking = 1;
  rc = uvperf_next(&fixture->set->handle, &record);
  fixture->is_taking = was_taking;
  expect(fixture, (rc == UV_EBUSY) == is_refused, "next", rc);
  expect(fixture, (rc == 0 || rc == UV_EPROTO) == (record != NULL),
         "next and its record", rc);
  if (is_refused)
    return 0;
  expect(fixture, has_record == (rc == 0), "has_record", has_record);
  if (rc == 0)
    deliver(fixture, record);
  else if (rc == UV_EOF)
    expect(fixture, has_ended(fixture), "an end by next", rc);
  else
    expect(fixture, rc == (fixture->closing ? UV_ECANCELED : UV_EAGAIN),
           "no next", rc);
  fixture->eof |= rc == UV_EOF;
  /* Inside of end callbacks more may have been written. */
  if (rc != 0 && fixture->calls == calls)
    expect(fixture, is_all_delivered(fixture), "a record is missing", rc);
  return rc == 0;
}

static void call_next(fixture_t *fixture) {
  uint64_t nr = draw(fixture, 30);

  while (nr-- > 0 && take(fixture))
    continue;
}

/* All that was written comes by itself. */
static void call_run(fixture_t *fixture) {
  uint64_t sessions = fixture->sessions;
  uint64_t end = uv_hrtime() + UINT64_C(20000000000);

  if (fixture->in_callback)
    return;
  while (fixture->started && fixture->sessions == sessions &&
         !is_all_delivered(fixture) && uv_hrtime() < end) {
    /* A loop that nothing keeps alive does not turn. */
    uvperf_ref(&fixture->set->handle);
    uv_run(fixture->loop, UV_RUN_NOWAIT);
  }
  if (fixture->started && fixture->sessions == sessions)
    expect(fixture, is_all_delivered(fixture), "a record is missing", 0);
}

static void call_turn(fixture_t *fixture) {
  if (!fixture->in_callback)
    uv_run(fixture->loop, UV_RUN_NOWAIT);
}

/* -- targets and work ----------------------------------------------------- */

static void comms(void *arg) {
  actor_t *actor = arg;

  live_comm(&actor->next, actor->nr);
}

static void call_work(fixture_t *fixture) {
  size_t index = (size_t)draw(fixture, ACTORS);
  actor_t *actor = &fixture->actors[index];

  actor->nr = draw(fixture, 10);
  if (index == 0)
    comms(actor);
  else if (actor->lives)
    live_thread_do(&actor->thread);
  else
    return;
  model_write(fixture, index, actor->nr);
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

static void call_end_thread(fixture_t *fixture) {
  size_t index = 1 + (size_t)draw(fixture, ACTORS - 1);

  end_actor(&fixture->actors[index]);
}

static void call_add(fixture_t *fixture) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  size_t actor = (size_t)draw(fixture, ACTORS);
  uint32_t index = UINT32_MAX;
  int rc;

  if (fixture->nr_targets == TARGETS || fixture->nr_models == MODELS)
    return;
  if (actor != 0) {
    start_actor(&fixture->actors[actor]);
    target.type = UVPERF_TARGET_THREAD;
    target.pid = (int32_t)fixture->actors[actor].thread.tid;
  }
  rc = uvperf_set_add(fixture->set, &target, NULL, &index, NULL);
  expect(fixture, rc == 0 && index == fixture->nr_models, "add_target", rc);
  if (rc == 0)
    model_add(fixture, actor);
}

static void call_remove(fixture_t *fixture) {
  size_t index;
  int rc;

  if (fixture->nr_models == 0)
    return;
  index = (size_t)draw(fixture, fixture->nr_models);
  rc = uvperf_set_remove(fixture->set, (uint32_t)index, NULL, NULL);
  expect(fixture, rc == (fixture->models[index].removed ? UV_ENOENT : 0),
         "remove_target", rc);
  if (rc != 0)
    return;
  fixture->models[index].removed = 1;
  fixture->nr_targets -= 1;
}

/* -- all the rest --------------------------------------------------------- */

static void call_enable(fixture_t *fixture) {
  int rc = uvperf_enable(&fixture->set->handle, UVPERF_ALL, NULL);

  expect(fixture, rc == 0, "enable", rc);
  fixture->enabled = fixture->was_switched = 1;
}

static void call_disable(fixture_t *fixture) {
  int rc = uvperf_disable(&fixture->set->handle, UVPERF_ALL, NULL);

  expect(fixture, rc == 0, "disable", rc);
  fixture->enabled = 0;
  fixture->was_switched = 1;
}

static void call_questions(fixture_t *fixture) {
  uvperf_set_t *set = fixture->set;
  int ref = draw(fixture, 2) == 0;
  uvperf_stats_t stats;

  if (ref)
    uvperf_ref(&set->handle);
  else
    uvperf_unref(&set->handle);
  expect(fixture, uvperf_has_ref(&set->handle) == ref, "has_ref", ref);
  expect(fixture, uvperf_is_active(&set->handle) == fixture->started,
         "is_active", fixture->started);
  expect(fixture, !uvperf_is_closing(&set->handle), "is_closing", 0);
  expect(fixture, uv_loop_alive(fixture->loop) == (ref && fixture->started),
         "alive", fixture->started);
  uvperf_stats(&set->handle, &stats);
  expect(fixture, stats.corrupt == 0 && stats.lost_records == 0, "stats", 0);
  expect(fixture, stats.late_records == 0, "late", (int64_t)stats.late_records);
}

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
  if (draw(fixture, 4) != 0)
    return;
  fixture->closing = 1;
  fixture->started = 0;
  fixture->sessions += 1;
  if (draw(fixture, 3) == 0)
    uv_walk(fixture->loop, walk_close, fixture);
  uvperf_close(&fixture->set->handle, on_closed);
}

typedef struct call_s {
  const char *name;
  void (*call)(fixture_t *fixture);
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

static void one_call(fixture_t *fixture) {
  const call_t *call = &calls[draw(fixture, sizeof(calls) / sizeof(calls[0]))];

  fixture->run.call = call->name;
  call->call(fixture);
}

/* -- a run ---------------------------------------------------------------- */

static void init(fixture_t *fixture) {
  uvperf_error_t error;
  int rc;

  fixture->set = malloc(sizeof(*fixture->set));
  fixture->in_order = draw(fixture, 2) == 0;
  live_stream_plan_mode(&fixture->plan, (size_t)fixture->in_order);
  fixture->nr_models = fixture->nr_targets = 0;
  fixture->enabled = fixture->started = fixture->was_switched = 0;
  fixture->ever_started = fixture->eof = fixture->closing = 0;
  fixture->last = 0;
  error.reason[0] = '\0';
  fixture->plan.options.flags |= UVPERF_SET_TARGETS_LATER;
  rc = uvperf_set_init(fixture->loop, fixture->set, &fixture->plan.options,
                       &error);
  if (rc != 0)
    fail_msg("init: %d: %s", rc, error.reason);
  fixture->set->handle.data = fixture;
  uvperf_set_on_end(fixture->set, on_end);
}

static void run_until_closed(fixture_t *fixture) {
  int turns;

  for (turns = 0; fixture->set != NULL && turns < 100; turns++)
    uv_run(fixture->loop, UV_RUN_NOWAIT);
  expect(fixture, fixture->set == NULL, "no close_cb", turns);
}

static void step(fixture_t *fixture) {
  if (fixture->set != NULL && fixture->closing)
    run_until_closed(fixture);
  if (fixture->set == NULL)
    init(fixture);
  one_call(fixture);
}

static void run_seed(uv_loop_t *loop, uint64_t seed) {
  fixture_t *fixture = calloc(1, sizeof(*fixture));
  size_t fds = support_count_fds();
  int cpus[ACTORS];
  size_t nr_cpus = live_cpus(cpus, ACTORS);
  cpu_set_t old;
  size_t i;

  model_run_seed(&fixture->run, seed);
  fixture->loop = loop;
  live_stream_plan(&fixture->plan);
  live_stream_plan_comm(&fixture->plan);
  for (i = 0; i < ACTORS; i++)
    fixture->actors[i].cpu = cpus[i % nr_cpus];
  live_pin(fixture->actors[0].cpu, &old);
  for (fixture->run.step = 0;
       fixture->run.step < STEPS && fixture->run.fault[0] == '\0';
       fixture->run.step++)
    step(fixture);
  if (fixture->set != NULL) {
    if (!fixture->closing) {
      fixture->closing = 1;
      uvperf_close(&fixture->set->handle, on_closed);
    }
    run_until_closed(fixture);
  }
  for (i = 1; i < ACTORS; i++)
    end_actor(&fixture->actors[i]);
  live_unpin(&old);
  model_run_check(&fixture->run, seed);
  assert_int_equal(support_count_fds(), fds);
  fake_assert_clean();
  free(fixture);
}

static void set_stream_random_calls_deliver_each_record_once(void **state) {
  uint64_t seed, last;

  support_need_own_events(__func__);
  model_run_seeds(40, &seed, &last);
  for (; seed <= last; seed++)
    run_seed(*state, seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_stream_random_calls_deliver_each_record_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
