/* SPDX-License-Identifier: MIT */
/* Live: random sequences of calls on events that share rings, outside of
 * callbacks and inside, against a model of what event.h promises.
 * UVPERF_RANDOM_SEEDS=first:last chooses other seeds than the usual. */
#include "ring_model.h"

#include <signal.h>
#include <unistd.h>

#define STEPS 600

/* -- a forked child ------------------------------------------------------- */

static int close_in_child(ring_world_t *world) {
  size_t i;

  signal(SIGSEGV, SIG_DFL); /* not cmocka's: that goes on with the tests */
  signal(SIGBUS, SIG_DFL);
  world->is_child = 1;
  if (uv_loop_fork(world->loop) != 0)
    return 1;
  for (i = 0; i < EVENTS; i++) {
    ring_slot_t *slot = &world->slots[i];

    if (slot->phase == RING_OPEN &&
        uvperf_event_set_output(slot->event, NULL, NULL) != UV_EPERM)
      return 2;
    if (slot->phase == RING_OPEN || slot->phase == RING_WALKED)
      ring_close(slot);
  }
  return 0;
}

static int end_child(ring_world_t *world) {
  size_t i;

  while (uv_run(world->loop, UV_RUN_DEFAULT) != 0)
    continue;
  for (i = 0; i < EVENTS; i++)
    if (world->slots[i].phase != RING_FREE)
      return 3;
  if (world->run.fault[0] != '\0')
    fprintf(stderr, "%s\n", world->run.fault);
  return world->run.fault[0] == '\0' && uv_loop_close(world->loop) == 0 ? 0 : 4;
}

static int run_child(void *arg) {
  int code = close_in_child(arg);

  return code != 0 ? code : end_child(arg);
}

/* With wakeups under way, which are not the child's. */
static void fork_child(ring_world_t *world) {
  int code;
  size_t i;

  for (i = 0; i < TARGETS; i++)
    ring_hit(&world->targets[i]);
  ring_hear_of_a_fork(world);
  code = support_wait(support_fork(run_child, world));
  ring_expect(world, code == 0, "a forked child", code);
}

/* The child closes all that is on its stack, and returns. */
static void fork_in_callback(ring_world_t *world) {
  pid_t pid;
  int code;

  if (ring_draw(world, 4) != 0)
    return;
  ring_hear_of_a_fork(world);
  pid = fork();
  if (pid > 0) {
    code = support_wait(pid);
    ring_expect(world, code == 0, "a forked child", code);
    return;
  }
  code = pid == 0 ? close_in_child(world) : 1;
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

static size_t owed(const ring_world_t *world) {
  size_t nr = 0;
  size_t i;

  for (i = 0; i < EVENTS; i++)
    nr += (size_t)is_owed(&world->slots[i]);
  return nr;
}

static uint64_t wakeups(const ring_world_t *world) {
  uvperf_stats_t stats;
  uint64_t sum = 0;
  size_t i;

  for (i = 0; i < EVENTS; i++) {
    if (world->slots[i].phase != RING_OPEN || world->slots[i].ruined)
      continue;
    uvperf_event_stats(world->slots[i].event, &stats);
    sum += stats.wakeups;
    ring_expect((ring_world_t *)world, stats.corrupt == 0, "corrupt ones", 0);
  }
  return sum;
}

static void turns(ring_world_t *world, int nr) {
  while (nr-- > 0)
    uv_run(world->loop, UV_RUN_NOWAIT);
}

static void settle(ring_world_t *world) {
  uint64_t deadline = live_now() + UINT64_C(5000000000);
  uint64_t before;

  world->run.call = "settling";
  world->is_quiet = 1;
  while (owed(world) > 0 && world->run.fault[0] == '\0' &&
         live_now() < deadline)
    turns(world, 1);
  ring_expect(world, owed(world) == 0, "rings that stall",
              (int64_t)owed(world));
  turns(world, 20);
  before = wakeups(world);
  turns(world, 20);
  ring_expect(world, wakeups(world) == before, "wakeups of nothing",
              (int64_t)(wakeups(world) - before));
  world->is_quiet = 0;
}

/* Whatever woke the loop before the fork still does. */
static void fork_child_and_settle(ring_world_t *world) {
  fork_child(world);
  settle(world);
}

/* -- the end -------------------------------------------------------------- */

static void finish(ring_world_t *world) {
  size_t i;

  settle(world);
  world->is_quiet = 1;
  world->run.call = "the end";
  for (i = 0; i < TARGETS; i++)
    ring_target_end(&world->targets[i]);
  for (i = 0; i < EVENTS; i++)
    if (world->slots[i].phase == RING_OPEN && !world->slots[i].started &&
        !world->slots[i].ended)
      ring_start(&world->slots[i]);
  settle(world);
  world->is_quiet = 1;
  for (i = 0; i < EVENTS; i++)
    if (world->slots[i].phase == RING_OPEN ||
        world->slots[i].phase == RING_WALKED)
      ring_close(&world->slots[i]);
  while (uv_run(world->loop, UV_RUN_DEFAULT) != 0)
    continue;
  for (i = 0; i < EVENTS; i++)
    ring_expect(world, world->slots[i].phase == RING_FREE,
                "a close callback that never came", world->slots[i].phase);
}

static void one_step(ring_world_t *world) {
  uint64_t choice = ring_draw(world, 10);

  world->run.call = "a turn";
  if (choice < 3)
    uv_run(world->loop, UV_RUN_NOWAIT);
  else if (choice == 3 && ring_draw(world, 12) == 0)
    fork_child_and_settle(world);
  else if (choice == 3 && ring_draw(world, 5) == 0)
    settle(world);
  else
    ring_one_call(world);
  if (world->is_child)
    _exit(end_child(world));
}

static void begin(ring_world_t *world, uv_loop_t *loop, uint64_t tracepoint,
                  uint64_t seed) {
  size_t i;

  memset(world, 0, sizeof(*world));
  world->loop = loop;
  world->tracepoint = tracepoint;
  world->fork_in_callback = fork_in_callback;
  random_run_seed(&world->run, seed);
  world->number = 1000000;
  world->targets[0].lives = 1;
  for (i = 0; i < EVENTS; i++)
    world->slots[i].world = world;
  for (i = 0; i < TARGETS; i++)
    world->targets[i].world = world;
}

static void run_world(uv_loop_t *loop, uint64_t tracepoint, uint64_t seed) {
  static ring_world_t world;
  size_t fds = support_count_fds();
  size_t bytes;

  begin(&world, loop, tracepoint, seed);
  for (; world.run.step < STEPS && world.run.fault[0] == '\0'; world.run.step++)
    one_step(&world);
  finish(&world);
  random_run_check(&world.run, seed);
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(support_count_rings(&bytes), 0);
}

static void output_of_random_calls_keeps_its_promises(void **state) {
  uint64_t first, last;
  uint64_t tracepoint;
  cpu_set_t old;

  support_need_cpu_wide(__func__);
  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  random_run_seeds(60, &first, &last);
  live_pin(0, &old);
  for (; first <= last; first++)
    run_world(*state, tracepoint, first);
  live_unpin(&old);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(output_of_random_calls_keeps_its_promises),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
