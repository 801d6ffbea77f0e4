/* SPDX-License-Identifier: MIT */
/* Each kind of handle is closed in each state, by its user and by others, and
 * nothing of it is left. Closes in callbacks are in test_life_callbacks.c, and
 * more by others in test_walk_close.c. */
#include "life.h"

#include <signal.h>

/* -- in each state -------------------------------------------------------- */

static void wait_closed(life_t *life) {
  while (life->closed == 0) {
    fake_pool_finish();
    life_turns(life, 1);
  }
}

static void handle_closed_in_any_state_leaves_nothing(life_t *life) {
  size_t i;
  int stage;

  for (stage = 0; stage < LIFE_STAGES; stage++)
    for (i = 0; i < LIFE_CLOSERS; i++) {
      if (!life_reach(life, (enum life_stage)stage))
        break;
      life_closers[i](life);
      assert_int_equal(life->closed, life_closers[i] == life_walk_run ||
                                         (life_closers[i] == life_brute_run &&
                                          !fake_pool_waits()));
      if (life->handle != NULL) {
        assert_int_equal(uvperf_is_closing(life->handle), 1);
        assert_int_equal(uvperf_is_active(life->handle), 0);
      }
      wait_closed(life);
      life_expect(life, "%sclosed", life_cancelled((enum life_stage)stage));
      life_end(life);
    }
}

/* It has work for libuv's pool, which cannot be made. */
static void handle_closed_without_a_pool_leaves_nothing(life_t *life) {
  const enum life_stage stages[] = {LIFE_OPENING_EARLY, LIFE_SNAP_EARLY};
  size_t i, stage;

  for (stage = 0; stage < 2; stage++)
    for (i = 0; i < LIFE_CLOSERS; i++) {
      if (!life_reach(life, stages[stage]))
        break;
      fake_pool_make(UV_EAGAIN);
      life_closers[i](life);
      wait_closed(life);
      life_expect(life, "%sclosed", life_cancelled(stages[stage]));
      life_end(life);
    }
}

/* Others have closed the inner handles, and the loop does not exist any more.
 * The other handle is not opened there, and waits until it is closed too. */
static void handle_closed_without_a_loop_leaves_others_alone(life_t *life) {
  life_t *other = life_add(life, LIFE_EVENT);

  life_reach(life, LIFE_OPENING_EARLY);
  life_reach(other, LIFE_OPENING_EARLY);
  life_uv_close_all(life->loop);
  life_free_loop(life);
  other->loop = NULL;
  life_close(life);
  life_expect_now(life, "open ECANCELED closed");
  life_expect_now(other, "%s", "");
  life_close(other);
  life_expect_now(other, "open ECANCELED closed");
  life_end(life);
}

/* Events count until close, and not afterwards; their fds are closed by the
 * loop. */
static void handle_that_closes_disables_at_once(life_t *life) {
  int i;

  life_open(life);
  life_start(life);
  for (i = 0; i < 4 && life->events[i] != NULL; i++)
    assert_int_equal(life->events[i]->enabled,
                     life->kind & LIFE_EVENTS || i % 2 == 0);
  fake_log_clear();
  life_close(life);
  for (i = 0; i < 4 && life->events[i] != NULL; i++) {
    assert_int_equal(life->events[i]->enabled, 0);
    assert_true(life->events[i]->fd >= 0);
  }
  assert_null(strstr(fake_log(), "munmap"));
  life_expect(life, "closed");
  life_end(life);
}

/* The kernel does not write any more, and nothing wakes the loop. */
static void handle_that_is_closed_hears_of_no_record(life_t *life) {
  uint64_t next = 0;

  life_open(life);
  life_start(life);
  life_write(life, 3);
  life_expect(life, life->kind & LIFE_PLAIN ? "3" : "%s", "");
  life_close(life);
  if (life->kind & LIFE_READERS)
    assert_int_equal(live_bpf_reader_send(&life->source, life->cpus[0], 24),
                     -ENOENT);
  else
    live_comm(&next, 3);
  wait_closed(life);
  assert_true(live_run_ms(life->loop, 20) < 20);
  life_expect(life, "closed");
  life_end(life);
}

static void close_unseen(life_t *life) {
  uvperf_handle_t *handle = life->handle;

  uvperf_close(handle, NULL);
  life->handle = NULL;
  life_turns(life, 10);
  free(handle);
}

static void handle_closed_without_a_callback_leaves_nothing(life_t *life) {
  life_open(life);
  life_start(life);
  close_unseen(life);
  if (life->sibling != NULL)
    uvperf_close(&life->sibling->handle, NULL);
  life_end(life);
}

/* The struct is the caller's at once. After one turn the loop can be closed. */
static void init_that_fails_leaves_struct_and_loop(life_t *life) {
  fake_fail_from(life->kind == LIFE_RINGBUF ? FAKE_MMAP : FAKE_OPEN, 1,
                 -EACCES);
  assert_int_equal(life_try(life), UV_EACCES);
  assert_int_equal(life->error.code, UV_EACCES);
  life_turns(life, 1);
  life_free_loop(life);
  life_end(life);
}

/* -- programming errors ---------------------------------------------------- */

/* These run in a child. Its close has no callback, so the memory stays. */
static void close_in_child(life_t *life) {
  uv_loop_fork(life->loop);
  uvperf_close(life->handle, NULL);
  life_turns(life, 10);
}

static int close_twice(void *arg) {
  life_t *life = arg;

  uvperf_close(life->handle, NULL);
  uvperf_close(life->handle, NULL);
  return 0;
}

static int close_after_the_callback(void *arg) {
  close_in_child(arg);
  uvperf_close(((life_t *)arg)->handle, NULL);
  return 0;
}

static int start_after_the_callback(void *arg) {
  close_in_child(arg);
  life_try_start(arg);
  return 0;
}

static int walk_and_close_twice(void *arg) {
  life_t *life = arg;

  uv_loop_fork(life->loop);
  life_walk_close_all(life->loop);
  life_turns(life, 10);
  uvperf_close(life->handle, NULL);
  uvperf_close(life->handle, NULL);
  return 0;
}

/* These may be asked while the memory is there. */
static int ask_after_the_callback(void *arg) {
  uvperf_handle_t *handle = ((life_t *)arg)->handle;

  close_in_child(arg);
  uvperf_ref(handle);
  uvperf_unref(handle);
  return handle->impl != NULL || uvperf_has_ref(handle) ||
         uvperf_is_active(handle) || !uvperf_is_closing(handle);
}

static void handle_closed_twice_or_used_afterwards_aborts(life_t *life) {
  static const support_child_fn runs[] = {close_twice, close_after_the_callback,
                                          start_after_the_callback,
                                          walk_and_close_twice};
  size_t i;

#ifdef NDEBUG
  support_skip(life->test, "a build with asserts (no NDEBUG)");
#endif
  life_open(life);
  for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
    assert_int_equal(support_wait(support_fork(runs[i], life)), 128 + SIGABRT);
  assert_int_equal(support_wait(support_fork(ask_after_the_callback, life)), 0);
  life_end(life);
}

int main(void) {
  const life_test_t tests[] = {
      LIFE_TEST(handle_closed_in_any_state_leaves_nothing, LIFE_ANY),
      LIFE_TEST(handle_closed_without_a_pool_leaves_nothing, LIFE_ANY),
      LIFE_TEST(handle_closed_without_a_loop_leaves_others_alone,
                LIFE_ANY | LIFE_SCRIPTED),
      LIFE_TEST(handle_that_closes_disables_at_once, LIFE_ANY | LIFE_SCRIPTED),
      LIFE_TEST(handle_that_is_closed_hears_of_no_record, LIFE_ANY | LIFE_LIVE),
      LIFE_TEST(handle_closed_without_a_callback_leaves_nothing, LIFE_ANY),
      LIFE_TEST(init_that_fails_leaves_struct_and_loop, LIFE_ANY),
      LIFE_TEST(handle_closed_twice_or_used_afterwards_aborts, LIFE_ANY),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
