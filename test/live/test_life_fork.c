/* SPDX-License-Identifier: MIT */
/* A process forks while it has a handle, in each state and in its callbacks.
 * The child has the parent's fds and epoll but not its rings: it closes the
 * handle, and the parent delivers all. */
#include "life.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* -- in each state --------------------------------------------------------- */

static int is_refused(life_t *life) {
  uvperf_handle_t *handle = life->handle;
  const uvperf_record_t *record;
  uvperf_stats_t stats;

  uvperf_stats(handle, &stats);
  return life_try_start(life) == UV_EPERM &&
         life->error.cause == UVPERF_CAUSE_ARGUMENT &&
         uvperf_stop(handle) == UV_EPERM && uvperf_flush(handle) == UV_EPERM &&
         uvperf_next(handle, &record) == UV_EPERM &&
         life_snap(life, 0) == UV_EPERM &&
         life_snap_later(life, 0) == UV_EPERM &&
         uvperf_enable(handle, UVPERF_ALL, NULL) == UV_EPERM &&
         uvperf_disable(handle, UVPERF_ALL, NULL) == UV_EPERM &&
         uvperf_reset(handle, UVPERF_ALL, NULL) == UV_EPERM &&
         uvperf_change_period(handle, 0, 1, NULL) == UV_EPERM &&
         uvperf_has_record(handle) == 0 && uvperf_is_closing(handle) == 0;
}

/* Returns the callbacks of a close in the child. The pool is the parent's, so
 * a handle that it opens never opens there. */
static const char *end_in_child(enum life_stage stage) {
  static char text[64];

  if (stage <= LIFE_OPENING_WORKED)
    return "";
  snprintf(text, sizeof(text), "%sclosed", life_cancelled(stage));
  return text;
}

static enum life_stage stage_now;

/* The rest for a child that has closed the handle. */
static int end_child(life_t *life, const char *expected) {
  int turns;

  for (turns = 0; turns < 100 && strcmp(life_seen(life), expected) != 0;
       turns++)
    life_turns(life, 1);
  life_turns(life, 3);
  if (strcmp(life_seen(life), expected) != 0) {
    fprintf(stderr, "a %s in state %d: \"%s\" in the child, not \"%s\"\n",
            life_name(life), stage_now, life_seen(life), expected);
    return 10;
  }
  return uv_loop_close(life->loop) == 0 || expected[0] == '\0' ? 0 : 11;
}

static int child_by_the_rules(void *arg) {
  life_t *life = arg;

  if (uv_loop_fork(life->loop) != 0)
    return 1;
  if (!is_refused(life))
    return 2;
  life_close(life);
  return end_child(life, end_in_child(stage_now));
}

/* One that forgets to close at first: it delivers nothing, and does not die of
 * the ring that it has not got. */
static int child_that_runs(void *arg) {
  life_t *life = arg;

  if (uv_loop_fork(life->loop) != 0)
    return 1;
  life_turns(life, 20);
  if (life_seen(life)[0] != '\0')
    return 3;
  return child_by_the_rules(life);
}

/* The records from before the fork, and later ones. */
static void expect_rest(life_t *life, enum life_stage stage) {
  const int is_flight = (life->kind & LIFE_FLIGHTS) != 0;
  const int is_new = stage == LIFE_OPEN || stage < LIFE_FAILED;
  uint64_t nr = is_new ? 0 : LIFE_WRITTEN;

  if (stage == LIFE_OPENING_EARLY || stage == LIFE_SNAP_EARLY) {
    fake_pool_made();
    while (!fake_pool_waits())
      life_turns(life, 1);
  }
  fake_pool_finish();
  if (stage < LIFE_FAILED)
    life_expect(life, "open");
  if (stage == LIFE_FAILED || stage == LIFE_ENDED)
    return;
  if (stage >= LIFE_SNAP_EARLY) {
    life_expect(life, stage == LIFE_SNAP_SLICES ? "3 done" : "5 done");
    nr = 0;
  }
  if (is_new || stage == LIFE_STOPPED)
    life_start(life);
  life_write(life, 2);
  if (is_flight)
    assert_int_equal(life_snap(life, 0), 0);
  life_expect(life, "%d", (int)nr + 2 - (stage == LIFE_BACKLOG));
}

static void fork_in_each_state(life_t *life, support_child_fn run) {
  int stage;

  for (stage = 0; stage < LIFE_STAGES; stage++) {
    if (!life_reach(life, (enum life_stage)stage))
      continue;
    stage_now = (enum life_stage)stage;
    assert_int_equal(support_wait(support_fork(run, life)), 0);
    expect_rest(life, (enum life_stage)stage);
    life_end(life);
  }
}

static void child_forked_in_any_state_closes_and_parent_goes_on(life_t *life) {
  fork_in_each_state(life, child_by_the_rules);
}

static void child_that_does_not_close_delivers_nothing(life_t *life) {
  fork_in_each_state(life, child_that_runs);
}

static void child_of_clone_closes_and_parent_goes_on(life_t *life) {
  stage_now = LIFE_STARTED;
  life_reach(life, LIFE_STARTED);
  assert_int_equal(support_wait(support_clone(child_by_the_rules, life)), 0);
  expect_rest(life, LIFE_STARTED);
}

static void child_with_the_same_pid_closes_and_parent_goes_on(life_t *life) {
  stage_now = LIFE_STARTED;
  life_reach(life, LIFE_STARTED);
  assert_int_equal(
      support_run_with_same_pid(life->test, child_by_the_rules, life), 0);
  expect_rest(life, LIFE_STARTED);
}

/* -- in a callback --------------------------------------------------------- */

static pid_t pid;
static life_fn closer;

static void fork_here(life_t *life) {
  fflush(NULL);
  pid = fork();
  assert_true(pid >= 0);
  if (pid > 0)
    return;
  signal(SIGSEGV, SIG_DFL); /* not cmocka's handler, which continues with the
                             * tests */
  signal(SIGBUS, SIG_DFL);
  if (uv_loop_fork(life->loop) != 0)
    _exit(1);
}

static void fork_and_close(life_t *life) {
  fork_here(life);
  if (pid == 0 && !is_refused(life))
    _exit(2);
  if (pid == 0)
    closer(life);
}

static void close_and_fork(life_t *life) {
  closer(life);
  fork_here(life);
}

/* The record itself is in a ring that the child lacks. */
static void fork_each_way(life_t *life, life_fn act) {
  const char *cut;
  size_t i;
  int way;

  for (way = 0; way < LIFE_WAYS; way++)
    for (i = 0; i < LIFE_CLOSERS_ANY; i++) {
      if (!life_has(life, (enum life_way)way))
        continue;
      cut = way == LIFE_POOL ? "2 done ECANCELED closed" : "2 closed";
      closer = life_closers[i];
      pid = -1;
      life_reach(life, LIFE_STARTED);
      life_act(life, LIFE_RECORD, 2, act);
      life_deliver(life, (enum life_way)way);
      while (pid == -1)
        life_turns(life, 1);
      if (pid == 0)
        _exit(end_child(life, cut));
      assert_int_equal(support_wait(pid), 0);
      if (act == close_and_fork)
        life_expect(life, "%s", cut);
      else
        life_expect(life, way == LIFE_POOL ? "5 done" : "5");
      life_end(life);
    }
}

static void child_forked_in_a_callback_closes_and_parent_goes_on(life_t *life) {
  fork_each_way(life, fork_and_close);
}

static void handle_closed_and_forked_in_a_callback_is_clean(life_t *life) {
  fork_each_way(life, close_and_fork);
}

/* -- while it is closing --------------------------------------------------- */

#define MOST_RINGS 64

typedef struct rings_s {
  life_t *life;
  size_t nr;
  uintptr_t start[MOST_RINGS];
  uintptr_t end[MOST_RINGS];
} rings_t;

static void find_rings(rings_t *rings) {
  char line[512];
  FILE *maps;

  rings->nr = 0;
  maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  while (rings->nr < MOST_RINGS && fgets(line, sizeof(line), maps) != NULL) {
    if (strstr(line, "anon_inode:[perf_event]") == NULL)
      continue;
    assert_int_equal(sscanf(line, "%" SCNxPTR "-%" SCNxPTR,
                            &rings->start[rings->nr], &rings->end[rings->nr]),
                     2);
    rings->nr += 1;
  }
  fclose(maps);
  assert_true(rings->nr > 0);
}

/* The child maps its own memory where the parent has its rings, as any
 * allocator may; the memory must survive. */
static int run_with_memory_there(void *arg) {
  const rings_t *rings = arg;
  size_t i, bytes;

  for (i = 0; i < rings->nr; i++) {
    bytes = rings->end[i] - rings->start[i];
    if (mmap((void *)rings->start[i], bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
             0) != (void *)rings->start[i])
      return 4;
  }
  if (uv_loop_fork(rings->life->loop) != 0)
    return 5;
  while (rings->life->closed == 0)
    life_turns(rings->life, 1);
  for (i = 0; i < rings->nr; i++)
    /* ENOMEM: memory was not mapped. */
    if (msync((void *)rings->start[i], rings->end[i] - rings->start[i],
              MS_ASYNC) != 0)
      return errno == ENOMEM ? 6 : 7;
  return 0;
}

static void child_forked_while_closing_unmaps_nothing_of_its_own(life_t *life) {
  rings_t rings;

  life_reach(life, LIFE_STARTED);
  rings.life = life;
  find_rings(&rings);
  life_close(life);
  assert_int_equal(support_wait(support_fork(run_with_memory_there, &rings)),
                   0);
  life_expect(life, "closed");
}

static void child_that_closes_makes_no_call_but_close(life_t *life) {
  life_reach(life, LIFE_STARTED);
  fake_process(4711);
  life_turns(life, 5);
  life_expect(life, "%s", "");
  assert_int_equal(uvperf_is_active(life->handle), 0);
  life_end_child(life);
}

int main(void) {
  const life_test_t tests[] = {
      LIFE_TEST(child_forked_in_any_state_closes_and_parent_goes_on, LIFE_ANY),
      LIFE_TEST(child_that_does_not_close_delivers_nothing, LIFE_ANY),
      LIFE_TEST(child_of_clone_closes_and_parent_goes_on, LIFE_ANY | LIFE_LIVE),
      LIFE_TEST(child_with_the_same_pid_closes_and_parent_goes_on,
                LIFE_ANY | LIFE_LIVE),
      LIFE_TEST(child_forked_in_a_callback_closes_and_parent_goes_on, LIFE_ANY),
      LIFE_TEST(handle_closed_and_forked_in_a_callback_is_clean, LIFE_ANY),
      /* A child has the mapping of a ring buffer. */
      LIFE_TEST(child_forked_while_closing_unmaps_nothing_of_its_own,
                (LIFE_ANY & ~LIFE_RINGBUF) | LIFE_LIVE),
      LIFE_TEST(child_that_closes_makes_no_call_but_close,
                LIFE_ANY | LIFE_SCRIPTED),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
