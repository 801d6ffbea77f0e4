/* SPDX-License-Identifier: MIT */
/* A handle that is opened on libuv's pool makes the same calls as init, there,
 * and they fail as in init. It may be closed at each step. The codes that it
 * returns meanwhile are in test_life_states.c. */
#include "life.h"

#include "fake_clock.h"
#include "sys/sys.h"

static void handle_opened_on_the_pool_makes_the_calls_of_init(life_t *life) {
  char by_init[1024];
  size_t rings;

  life->set_flags = UVPERF_SET_ENABLED;
  life_open(life);
  snprintf(by_init, sizeof(by_init), "%s", fake_log());
  rings = uvperf_nr_rings(life->handle);
  life_end(life);
  life->set_flags = UVPERF_SET_ENABLED;
  assert_int_equal(life_begin(life), 0);
  assert_int_equal(fake_count(FAKE_OPEN), 0);
  life_turns(life, 3);
  life_expect_now(life, "%s", "");
  fake_pool_finish();
  life_expect(life, "open");
  assert_string_equal(fake_log(), by_init);
  assert_int_equal(uvperf_nr_rings(life->handle), rings);
}

/* By the loop's thread. */
static void handle_opened_without_a_pool_makes_them_too(life_t *life) {
  char by_init[1024];

  life_open(life);
  snprintf(by_init, sizeof(by_init), "%s", fake_log());
  life_end(life);
  fake_pool_make(UV_EAGAIN);
  assert_int_equal(life_begin(life), 0);
  life_turns(life, 3);
  assert_int_equal(fake_count(FAKE_OPEN), 0);
  fake_pool_made();
  life_expect(life, "open");
  assert_string_equal(fake_log(), by_init);
}

/* Ref and unref have no effect yet, but are kept. */
static void handle_being_opened_keeps_the_loop_alive(life_t *life) {
  assert_int_equal(life_begin(life), 0);
  assert_int_equal(uvperf_is_active(life->handle), 1);
  uvperf_unref(life->handle);
  assert_int_equal(uvperf_has_ref(life->handle), 0);
  fake_pool_finish();
  life_expect(life, "open");
  assert_int_equal(uvperf_is_active(life->handle), 0);
  life_start(life);
  assert_int_equal(uv_loop_alive(life->loop), 0);
  uvperf_ref(life->handle);
  assert_int_equal(uv_loop_alive(life->loop), 1);
}

static void open_it(void *arg) {
  life_open(arg);
}

/* Records come by wakeups only, as there is no flush timer. */
static void handle_goes_on_without_its_opening_thread(life_t *life) {
  uv_thread_t thread;

  life->target = (pid_t)live_tid();
  assert_int_equal(uv_thread_create(&thread, open_it, life), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
  life_start(life);
  life_write(life, 5);
  life_expect(life, "5");
  life_write(life, 5);
  life_expect(life, "5");
}

/* -- close ---------------------------------------------------------------- */

/* Each system call needs a request of its own. */
static int take_time(struct perf_event_attr *attr) {
  static uint64_t now;

  now += UINT64_C(2000000);
  fake_clock_set(now);
  return 0;
}

static int take_time_too(fake_event_t *fake, unsigned long request,
                         uintptr_t argument) {
  return take_time(NULL);
}

/* Runs this number of steps. Returns whether it is still being opened. */
static int begin_steps(life_t *life, unsigned int steps) {
  size_t i;

  take_time(NULL);
  fake_on_open(take_time);
  life->set_flags = UVPERF_SET_ENABLED;
  assert_int_equal(life_begin(life), 0);
  for (i = 0; i < 4; i++)
    if (life->events[i] != NULL)
      life->events[i]->on_ioctl = take_time_too;
  for (; steps > 0 && fake_pool_waits(); steps--)
    fake_pool_run();
  return uvperf_is_active(life->handle);
}

/* Each closer comes twice: before the next step, and between that step and its
 * end on the loop. */
static void handle_closed_at_each_step_opens_no_more(life_t *life) {
  unsigned int steps = 0;
  unsigned int before;
  size_t i;

  while (begin_steps(life, steps)) {
    life_end(life);
    for (i = 0; i < 2 * LIFE_CLOSERS; i++) {
      begin_steps(life, steps);
      if (i % 2 != 0)
        fake_pool_work();
      before = fake_count(FAKE_OPEN);
      life_closers[i / 2](life);
      while (life->closed == 0) {
        fake_pool_finish();
        life_turns(life, 1);
      }
      assert_int_equal(fake_count(FAKE_OPEN), before);
      life_expect(life, "open ECANCELED closed");
      assert_int_equal(life->error.code, UV_ECANCELED);
      life_end(life);
    }
    steps++;
  }
  life_expect(life, "open");
  assert_in_range(steps, 1, 30);
}

static life_t *to_close;

static int close_meanwhile(struct perf_event_attr *attr) {
  if (!to_close->is_closing)
    life_close(to_close);
  return 0;
}

/* By the loop's thread, while a thread of the pool opens it. */
static void handle_closed_during_a_step_is_canceled(life_t *life) {
  to_close = life;
  fake_on_open(close_meanwhile);
  assert_int_equal(life_begin(life), 0);
  fake_pool_finish();
  life_expect(life, "open ECANCELED closed");
}

/* -- a call that hangs ---------------------------------------------------- */

typedef struct hanging_s {
  unsigned int calls;
  unsigned int hangs_at; /* the number of this call */
  int closes;            /* the handle is closed meanwhile */
  int code;              /* what it returns then; 0: an event */
} hanging_t;

static void hang(life_t *life, int closes) {
  const char *end = closes ? "open ECANCELED closed" : "open ETIMEDOUT";

  fake_pool_hang();
  if (closes)
    life_close(life);
  while (strcmp(life_seen(life), end) != 0) {
    live_run_ms(life->loop, 1); /* libuv does not know of the request */
    fake_pool_finish();         /* of another thread */
  }
}

static int open_or_hang(const struct perf_event_attr *attr, int32_t pid,
                        int32_t cpu, int group_fd, unsigned long flags,
                        void *arg) {
  hanging_t *hanging = ((life_t *)arg)->data;
  struct perf_event_attr own = *attr;

  hanging->calls += 1;
  if (hanging->calls == hanging->hangs_at) {
    hang(arg, hanging->closes);
    if (hanging->code != 0)
      return hanging->code;
  }
  return uvperf__sys_open(&own, pid, cpu, group_fd, flags);
}

/* Returns whether that many calls were made. */
static int try_hanging(life_t *life, hanging_t hanging) {
  int hung;

  life->data = &hanging;
  life->open = open_or_hang;
  assert_int_equal(life_begin(life), 0);
  fake_pool_finish();
  hung = hanging.calls >= hanging.hangs_at;
  assert_int_equal(hanging.calls, hung ? hanging.hangs_at : hanging.calls);
  if (!hung) {
    life_expect(life, "open");
  } else {
    life_expect(life,
                hanging.closes ? "open ECANCELED closed" : "open ETIMEDOUT");
    assert_int_equal(life->error.cause, UVPERF_CAUSE_ARGUMENT);
    if (!hanging.closes)
      assert_int_equal(uvperf_stop(life->handle), UV_EBADF);
  }
  life_end(life);
  return hung;
}

/* Each call in turn, also those for the output of the events of a CPU. */
static void handle_whose_call_hangs_does_not_wait_for_it(life_t *life) {
  const int codes[] = {0, -EACCES};
  hanging_t hanging;
  size_t i;

  for (i = 0; i < 4; i++) {
    memset(&hanging, 0, sizeof(hanging));
    hanging.closes = i % 2 == 1;
    hanging.code = codes[i / 2];
    do
      hanging.hangs_at += 1;
    while (try_hanging(life, hanging));
    assert_true(hanging.hangs_at > (life->kind & LIFE_EVENTS ? 1 : 4));
  }
}

/* -- failures ------------------------------------------------------------- */

/* Each call in turn fails, by init and then on the pool. */
static void fail_each_of(life_t *life, enum fake_call call, int code,
                         uint32_t flags) {
  char reason[sizeof(life->error.reason)];
  unsigned int nth = 0;
  unsigned int failures;
  int by_init, rc;

  do {
    nth += 1;
    life->set_flags = flags;
    fake_fail(call, nth, code);
    by_init = life_try(life);
    snprintf(reason, sizeof(reason), "%s", life->error.reason);
    if (by_init == UV_ENOMEM)
      assert_int_equal(life->error.cause, UVPERF_CAUSE_MEMORY);
    life_end(life);
    life->set_flags = flags;
    fake_fail(call, nth, code);
    life->error.code = 0;
    rc = life_begin(life);
    assert_int_equal(life->error.code, rc);
    fake_pool_finish();
    failures = fake_failures();
    if (rc == 0 && strcmp(life_seen(life), "open") != 0) {
      rc = life->error.code;
      life_expect_now(life, "open %s", uv_err_name(rc));
      assert_int_equal(uvperf_stop(life->handle), UV_EBADF);
    } else if (rc == 0) {
      life_expect_now(life, "open");
    }
    if (call == FAKE_CALLOC)
      assert_true(by_init == 0 || by_init == UV_ENOMEM);
    else
      assert_int_equal(rc, by_init);
    if (call != FAKE_CALLOC && rc != 0)
      assert_string_equal(life->error.reason, reason);
    life_end(life);
  } while (failures != 0);
  assert_true(nth > 1);
}

static void fail_each(life_t *life, enum fake_call call, int code) {
  fail_each_of(life, call, code, 0);
}

static void opening_fails_as_init_does(life_t *life) {
  fail_each(life, FAKE_OPEN, -EACCES);
  fail_each(life, FAKE_OPEN, -EMFILE);
  fail_each(life, FAKE_OPEN, -ENODEV);
  fail_each(life, FAKE_MMAP, -EPERM);
  fail_each(life, FAKE_MMAP, -ENOMEM);
  if (life->kind & LIFE_READERS) {
    fail_each(life, FAKE_IOCTL, -EINVAL);
    fail_each(life, FAKE_BPF_INFO, -EPERM);
  } else {
    fail_each(life, FAKE_IOCTL_PTR, -EFAULT);
  }
  if (life->kind & LIFE_SETS) {
    fail_each_of(life, FAKE_OPEN, -EACCES, UVPERF_SET_STRICT);
    fail_each_of(life, FAKE_IOCTL_PTR, -EFAULT, UVPERF_SET_STRICT);
    fail_each_of(life, FAKE_IOCTL, -EINVAL, UVPERF_SET_ENABLED);
  }
}

static void opening_without_memory_leaves_nothing(life_t *life) {
  fail_each(life, FAKE_CALLOC, 0);
}

static void opening_that_the_pool_refuses_leaves_nothing(life_t *life) {
  fake_pool_reset();
  assert_true(life_begin(life) < 0);
  assert_int_equal(life->error.cause, UVPERF_CAUSE_MEMORY);
  life_expect(life, "%s", "");
}

int main(void) {
  const unsigned int kinds =
      LIFE_EVENT | LIFE_SET | LIFE_ORDER | LIFE_READER | LIFE_SCRIPTED;
  const life_test_t tests[] = {
      LIFE_TEST(handle_opened_on_the_pool_makes_the_calls_of_init, kinds),
      LIFE_TEST(handle_opened_without_a_pool_makes_them_too, kinds),
      LIFE_TEST(handle_being_opened_keeps_the_loop_alive, kinds),
      LIFE_TEST(handle_goes_on_without_its_opening_thread,
                LIFE_PLAIN | LIFE_LIVE),
      LIFE_TEST(handle_closed_at_each_step_opens_no_more, kinds),
      LIFE_TEST(handle_closed_during_a_step_is_canceled, kinds),
      LIFE_TEST(handle_whose_call_hangs_does_not_wait_for_it, kinds),
      LIFE_TEST(opening_fails_as_init_does, kinds),
      /* The fixture of a set that follows CPUs needs memory itself. */
      LIFE_TEST(opening_without_memory_leaves_nothing,
                LIFE_EVENT | LIFE_SET | LIFE_READER | LIFE_SCRIPTED),
      LIFE_TEST(opening_that_the_pool_refuses_leaves_nothing, kinds),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
