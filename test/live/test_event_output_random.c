/* SPDX-License-Identifier: MIT */
/* Live: random sequences of calls on events that share rings, outside of
 * callbacks and inside, against a model of what event.h promises.
 * UVPERF_RANDOM_SEEDS=first:last selects other seeds. */
#include "model_ring.h"

#include <signal.h>
#include <unistd.h>

#define STEPS 600

/* -- a forked child ------------------------------------------------------- */

static int close_in_child(ring_model_t *model) {
  size_t i;

  signal(SIGSEGV, SIG_DFL); /* not cmocka's handler, which continues with the
                             * tests */
  signal(SIGBUS, SIG_DFL);
  model->is_child = 1;
  if (uv_loop_fork(model->loop) != 0)
    return 1;
  for (i = 0; i < EVENTS; i++) {
    ring_slot_t *slot = &model->slots[i];

    if (slot->phase == RING_OPEN &&
        uvperf_event_set_output(slot->event, NULL, NULL) != UV_EPERM)
      return 2;
    if (slot->phase == RING_OPEN || slot->phase == RING_WALKED)
      ring_close(slot);
  }
  return 0;
}

static int end_child(ring_model_t *model) {
  size_t i;

  while (uv_run(model->loop, UV_RUN_DEFAULT) != 0)
    continue;
  for (i = 0; i < EVENTS; i++)
    if (model->slots[i].phase != RING_FREE)
      return 3;
  if (model->run.fault[0] != '\0')
    fprintf(stderr, "%s\n", model->run.fault);
  return model->run.fault[0] == '\0' && uv_loop_close(model->loop) == 0 ? 0 : 4;
}

static int run_child(void *arg) {
  int code = close_in_child(arg);

  return code != 0 ? code : end_child(arg);
}

/* Forks while the parent's wakeups are pending. */
static void fork_child(ring_model_t *model) {
  int code;
  size_t i;

  for (i = 0; i < TARGETS; i++)
    ring_hit(&model->targets[i]);
  ring_hear_of_a_fork(model);
  code = support_wait(support_fork(run_child, model));
  ring_expect(model, code == 0, "a forked child", code);
}

/* The child closes everything on its stack, and returns. */
static void fork_in_callback(ring_model_t *model) {
  pid_t pid;
  int code;

  if (ring_draw(model, 4) != 0)
    return;
  ring_hear_of_a_fork(model);
  pid = fork();
  if (pid > 0) {
    code = support_wait(pid);
    ring_expect(model, code == 0, "a forked child", code);
    return;
  }
  code = pid == 0 ? close_in_child(model) : 1;
  if (code != 0)
    _exit(code);
}

/* -- nothing stalls, nothing spins ---------------------------------------- */

static int is_owed(const ring_slot_t *slot) {
  if (slot->phase != RING_OPEN || !slot->started || slot->room == 0 ||
      slot->ruined)
    return 0;
  return ring_waiting(slot) > 0 || (ring_is_over(slot) && !slot->ended);
}

static size_t owed(const ring_model_t *model) {
  size_t nr = 0;
  size_t i;

  for (i = 0; i < EVENTS; i++)
    nr += (size_t)is_owed(&model->slots[i]);
  return nr;
}

static uint64_t wakeups(const ring_model_t *model) {
  uvperf_stats_t stats;
  uint64_t sum = 0;
  size_t i;

  for (i = 0; i < EVENTS; i++) {
    if (model->slots[i].phase != RING_OPEN || model->slots[i].ruined)
      continue;
    uvperf_stats(&model->slots[i].event->handle, &stats);
    sum += stats.wakeups;
    ring_expect((ring_model_t *)model, stats.corrupt == 0, "corrupt ones", 0);
  }
  return sum;
}

static void turns(ring_model_t *model, int nr) {
  while (nr-- > 0)
    uv_run(model->loop, UV_RUN_NOWAIT);
}

static void drain_until_idle(ring_model_t *model) {
  uint64_t deadline = live_now() + UINT64_C(5000000000);
  uint64_t before;

  model->run.call = "settling";
  model->is_quiet = 1;
  while (owed(model) > 0 && model->run.fault[0] == '\0' &&
         live_now() < deadline)
    turns(model, 1);
  ring_expect(model, owed(model) == 0, "rings that stall",
              (int64_t)owed(model));
  turns(model, 20);
  before = wakeups(model);
  turns(model, 20);
  ring_expect(model, wakeups(model) == before, "wakeups of nothing",
              (int64_t)(wakeups(model) - before));
  model->is_quiet = 0;
}

/* Whatever woke the loop before the fork still does. */
static void fork_child_and_drain(ring_model_t *model) {
  fork_child(model);
  drain_until_idle(model);
}

/* -- the end -------------------------------------------------------------- */

static void finish(ring_model_t *model) {
  size_t i;

  drain_until_idle(model);
  model->is_quiet = 1;
  model->run.call = "the end";
  for (i = 0; i < TARGETS; i++)
    ring_target_end(&model->targets[i]);
  for (i = 0; i < EVENTS; i++)
    if (model->slots[i].phase == RING_OPEN && !model->slots[i].started &&
        !model->slots[i].ended)
      ring_start(&model->slots[i]);
  drain_until_idle(model);
  model->is_quiet = 1;
  for (i = 0; i < EVENTS; i++)
    if (model->slots[i].phase == RING_OPEN ||
        model->slots[i].phase == RING_WALKED)
      ring_close(&model->slots[i]);
  while (uv_run(model->loop, UV_RUN_DEFAULT) != 0)
    continue;
  for (i = 0; i < EVENTS; i++)
    ring_expect(model, model->slots[i].phase == RING_FREE,
                "a close callback that never came", model->slots[i].phase);
}

static void one_step(ring_model_t *model) {
  uint64_t choice = ring_draw(model, 10);

  model->run.call = "a turn";
  if (choice < 3)
    uv_run(model->loop, UV_RUN_NOWAIT);
  else if (choice == 3 && ring_draw(model, 12) == 0)
    fork_child_and_drain(model);
  else if (choice == 3 && ring_draw(model, 5) == 0)
    drain_until_idle(model);
  else
    ring_one_call(model);
  if (model->is_child)
    _exit(end_child(model));
}

static void begin(ring_model_t *model, uv_loop_t *loop, uint64_t tracepoint,
                  uint64_t seed) {
  size_t i;

  memset(model, 0, sizeof(*model));
  model->loop = loop;
  model->tracepoint = tracepoint;
  model->fork_in_callback = fork_in_callback;
  model_run_seed(&model->run, seed);
  model->number = 1000000;
  model->targets[0].lives = 1;
  for (i = 0; i < EVENTS; i++)
    model->slots[i].model = model;
  for (i = 0; i < TARGETS; i++)
    model->targets[i].model = model;
}

static void run_seed(uv_loop_t *loop, uint64_t tracepoint, uint64_t seed) {
  static ring_model_t model;
  size_t fds = support_count_fds();
  size_t bytes;

  begin(&model, loop, tracepoint, seed);
  for (; model.run.step < STEPS && model.run.fault[0] == '\0'; model.run.step++)
    one_step(&model);
  finish(&model);
  model_run_check(&model.run, seed);
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(support_count_rings(&bytes), 0);
}

static void output_of_random_calls_keeps_its_promises(void **state) {
  uint64_t first, last;
  uint64_t tracepoint;
  cpu_set_t old;

  support_need_cpu_wide(__func__);
  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  model_run_seeds(40, &first, &last);
  live_pin(0, &old);
  for (; first <= last; first++)
    run_seed(*state, tracepoint, first);
  live_unpin(&old);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(output_of_random_calls_keeps_its_promises),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
