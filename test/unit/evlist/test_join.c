/* SPDX-License-Identifier: MIT */
/* Scripted: a target that libuv's pool opens joins a running set, or leaves it
 * unchanged. */
#include "opened_set.h"

#include <errno.h>

#include "fake_clock.h"
#include "fake_pool.h"
#include "evlist/internal.h"
#include "sys/sys.h"

/* -- a call that hangs ----------------------------------------------------- */

/* One of its calls does not return before the handle has given it up. */
typedef struct hanging_open_s {
  uv_loop_t *loop;
  const int *opened;        /* calls of the handle's open callback */
  unsigned hangs_at;        /* the number of this call, from 1 */
  int code;                 /* what it returns then; 0: an event */
  uvperf_handle_t *handle;  /* is closed meanwhile, unless it is NULL */
  uvperf_close_cb close_cb; /* then */
  const int *closed;        /* calls of close_cb */
  unsigned calls;
} hanging_open_t;

/* Much longer than any test needs. */
#define MOST_MS 20000

static void run_until(uv_loop_t *loop, const int *counter) {
  int ms;

  for (ms = 0; *counter == 0 && ms < MOST_MS; ms++) {
    live_run_ms(loop, 1);
    fake_pool_finish();
  }
  assert_int_equal(*counter, 1);
}

static void hang(const hanging_open_t *hanging) {
  fake_pool_hang();
  if (hanging->handle != NULL)
    uvperf_close(hanging->handle, hanging->close_cb);
  run_until(hanging->loop, hanging->opened);
  if (hanging->handle != NULL)
    run_until(hanging->loop, hanging->closed);
}

/* The value of options.open; open_arg is a hanging_open_t. The call that hangs
 * runs the loop, and other requests of the pool, until the open callback was
 * called, and the close callback, if the handle is closed. */
static int hanging_open(const struct perf_event_attr *attr, int32_t pid,
                        int32_t cpu, int group_fd, unsigned long flags,
                        void *arg) {
  hanging_open_t *hanging = arg;
  struct perf_event_attr own = *attr;

  hanging->calls += 1;
  if (hanging->calls == hanging->hangs_at) {
    hang(hanging);
    if (hanging->code != 0)
      return hanging->code;
  }
  return uvperf__sys_open(&own, pid, cpu, group_fd, flags);
}

typedef struct added_s {
  opened_set_t opened;
  int added; /* calls of its callback */
  int status;
  uint32_t index;
  uvperf_error_t error;
} added_t;

static void on_target(uvperf_set_t *set, int status, void *data, uint32_t index,
                      const uvperf_error_t *error) {
  added_t *added = data;

  assert_ptr_equal(set, &added->opened.set);
  assert_int_equal(added->opened.closed, 0);
  assert_int_equal(status == 0, error == NULL);
  added->added += 1;
  added->status = status;
  added->index = index;
  if (error != NULL)
    added->error = *error;
}

/* A set of one target, with another one that is being opened. Its index is
 * known at once. */
static int begin_target(uv_loop_t *loop, added_t *added, uint32_t flags) {
  opened_set_t *opened = &added->opened;
  uvperf_target_t target;
  int rc;

  opened_set_plan(opened, flags | UVPERF_SET_ENABLED);
  opened->opened = 1;
  assert_int_equal(
      uvperf_set_init(loop, &opened->set, &opened->make.options, NULL), 0);
  opened->events[6] = fake_event_add(200);
  opened->events[7] = fake_event_add(201);
  added->added = 0;
  target = opened->make.targets[0];
  target.cpus = "1";
  target.data = added;
  fake_log_clear();
  added->index = 99;
  rc = uvperf_set_add(&opened->set, &target, on_target, &added->index,
                      &added->error);
  assert_int_equal(added->index, rc == 0 ? 1 : 99);
  return rc;
}

static void target_opened_on_the_pool_joins_on_the_loop(void **state) {
  const uvperf_source_t *source;
  added_t added;

  assert_int_equal(begin_target(*state, &added, 0), 0);
  assert_string_equal(fake_log(), "");
  assert_int_equal(uvperf_disable(&added.opened.set.handle, UVPERF_ALL, NULL),
                   0);
  assert_int_equal(uvperf_enable(&added.opened.set.handle, UVPERF_ALL, NULL),
                   0);
  fake_log_clear();
  fake_pool_finish();
  assert_int_equal(added.added, 1);
  if (added.status != 0)
    fail_msg("%s", added.error.reason);
  assert_string_equal(fake_log(), "open, ioctl ID, open, ioctl ID, "
                                  "ioctl SET_OUTPUT, ioctl ENABLE, "
                                  "ioctl ENABLE");
  assert_int_equal(added.index, 1);
  assert_int_equal(uvperf_set_nr_open(&added.opened.set), 6);
  assert_int_equal(uvperf_nr_rings(&added.opened.set.handle), 2);
  source = uvperf_set_source(&added.opened.set, added.opened.events[7]->id);
  assert_non_null(source);
  assert_int_equal(source->target_index, 1);
  assert_int_equal(source->serial, 2);
  assert_int_equal(uvperf_set_remove(&added.opened.set, 1, NULL, NULL), 0);
  assert_int_equal(uvperf_set_nr_open(&added.opened.set), 4);
  opened_set_close(*state, &added.opened);
}

static void set_closed_while_a_target_is_opened_leaves_nothing(void **state) {
  unsigned steps, i;
  added_t added;

  fake_clock_set(1);
  for (steps = 0;; steps++) {
    assert_int_equal(begin_target(*state, &added, 0), 0);
    fake_on_open(opened_set_take_time);
    for (i = 0; i < steps && fake_pool_waits(); i++)
      fake_pool_run();
    if (added.added)
      break;
    opened_set_close(*state, &added.opened);
    assert_int_equal(added.added, 1);
    assert_int_equal(added.status, UV_ECANCELED);
  }
  assert_in_range(steps, 2, 9);
  opened_set_close(*state, &added.opened);
  fake_clock_set(0);
}

/* -- removed while it is opened -------------------------------------------- */

/* The callback comes later, and its index is not used again. */
static void remove_pending(added_t *added) {
  uvperf_set_t *set = &added->opened.set;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_reading_t *last;
  uvperf_count_t count;

  assert_int_equal(uvperf_reading_new(&last), 0);
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf_set_remove(set, 1, last, &added->error), UV_ENOMEM);
  assert_int_equal(added->error.cause, UVPERF_CAUSE_MEMORY);
  assert_int_equal(uvperf_set_remove(set, 1, last, NULL), 0);
  assert_int_equal(uvperf_reading_info(last)->nr_places, 0);
  assert_int_equal(uvperf_reading_total(last, 1, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_NONE);
  assert_int_equal(uvperf_set_remove(set, 1, last, NULL), UV_ENOENT);
  uvperf_reading_free(last);
  assert_int_equal(added->added, 0);
  target.cpus = "nine";
  assert_int_equal(uvperf_set_add(set, &target, NULL, NULL, &added->error),
                   UV_EINVAL);
  assert_int_equal(added->error.target_index, 2);
  fake_pool_finish();
  assert_int_equal(added->added, 1);
  assert_int_equal(added->status, UV_ECANCELED);
  assert_int_equal(added->error.code, UV_ECANCELED);
  assert_int_equal(added->error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(added->index, 1);
  assert_int_equal(uvperf_set_nr_open(set), 4);
  assert_int_equal(uvperf_nr_rings(&added->opened.set.handle), 2);
}

/* In the last round the pool has nothing left to do. */
static void remove_at_each_step(uv_loop_t *loop, int fails) {
  unsigned steps, i;
  added_t added;

  fake_clock_set(1);
  for (steps = 0;; steps++) {
    assert_int_equal(begin_target(loop, &added, 0), 0);
    fake_on_open(opened_set_take_time);
    if (fails)
      fake_fail_from(FAKE_OPEN, 1, -EACCES);
    for (i = 0; i < steps && fake_pool_waits(); i++)
      fake_pool_run();
    if (added.added)
      break;
    fake_pool_work();
    remove_pending(&added);
    assert_int_equal(added.opened.events[6]->fd, -1);
    assert_int_equal(added.opened.events[7]->fd, -1);
    opened_set_close(loop, &added.opened);
  }
  assert_int_equal(added.status, fails ? UV_EACCES : 0);
  assert_in_range(steps, fails ? 1 : 2, 9);
  opened_set_close(loop, &added.opened);
  fake_clock_set(0);
}

static void target_removed_while_it_is_opened_is_cancelled(void **state) {
  remove_at_each_step(*state, 0);
  remove_at_each_step(*state, 1);
}

static void remove_in_callback(uvperf_set_t *set, int status, void *data,
                               uint32_t index, const uvperf_error_t *error) {
  on_target(set, status, data, index, error);
  assert_int_equal(uvperf_set_remove(set, index, NULL, NULL),
                   status == 0 ? 0 : UV_ENOENT);
}

static void target_may_be_removed_in_its_callback(void **state) {
  uvperf_target_t target;
  added_t added;
  int fails;

  for (fails = 0; fails < 2; fails++) {
    assert_int_equal(begin_target(*state, &added, 0), 0);
    fake_pool_finish();
    assert_int_equal(added.status, 0);
    target = added.opened.make.targets[0];
    target.data = &added;
    if (fails)
      fake_fail_from(FAKE_OPEN, 1, -EACCES);
    fake_event_add(300);
    fake_event_add(301);
    fake_event_add(302);
    fake_event_add(303);
    assert_int_equal(uvperf_set_add(&added.opened.set, &target,
                                    remove_in_callback, NULL, NULL),
                     0);
    fake_pool_finish();
    assert_int_equal(added.added, 2);
    assert_int_equal(added.index, 2);
    assert_int_equal(added.status, fails ? UV_EACCES : 0);
    assert_int_equal(uvperf_set_nr_open(&added.opened.set), 6);
    opened_set_close(*state, &added.opened);
  }
}

/* -- targets that overtake ------------------------------------------------- */

/* A second target is added while the first is being opened. */
static void overtake(uv_loop_t *loop, added_t *added, uint32_t flags) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint32_t index;

  assert_int_equal(begin_target(loop, added, flags), 0);
  fake_event_add(300);
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0";
  fake_fail(FAKE_OPEN, 1, -ENODEV);
  assert_int_equal(
      uvperf_set_add(&added->opened.set, &target, NULL, &index, NULL), 0);
  assert_int_equal(index, 2);
  assert_int_equal(uvperf_set_nr_open(&added->opened.set), 5);
  fake_log_clear();
}

static void target_that_was_overtaken_keeps_its_place(void **state) {
  const uvperf_set_failure_t *failures;
  uvperf_reading_t *reading;
  added_t added;
  size_t i, nr;

  overtake(*state, &added, 0);
  assert_int_equal(uvperf_reading_new(&reading), 0);
  fake_fail(FAKE_OPEN, 1, -ENODEV);
  fake_pool_finish();
  assert_int_equal(added.status, 0);
  assert_int_equal(added.index, 1);
  /* Only its own event is enabled. */
  assert_string_equal(fake_log(), "open failed, open, ioctl ID, "
                                  "ioctl SET_OUTPUT, ioctl ENABLE");
  assert_int_equal(uvperf_set_read(&added.opened.set, reading, NULL), 0);
  assert_int_equal(uvperf_reading_info(reading)->nr_places, 4);
  for (i = 0; i < 4; i++)
    assert_int_equal(uvperf_reading_place(reading, i)->target,
                     i < 2 ? 0 : i - 1);
  failures = uvperf_set_failures(&added.opened.set, &nr);
  assert_int_equal(nr, 2);
  assert_int_equal(failures[0].error.target_index, 1);
  assert_int_equal(failures[0].cpu, 1);
  assert_int_equal(failures[0].pid, -1);
  assert_int_equal(failures[1].error.target_index, 2);
  assert_int_equal(uvperf_set_remove(&added.opened.set, 1, reading, NULL), 0);
  assert_int_equal(uvperf_reading_place(reading, 0)->cpu, 1);
  assert_int_equal(uvperf_set_nr_open(&added.opened.set), 5);
  uvperf_reading_free(reading);
  opened_set_close(*state, &added.opened);
}

static void target_that_was_overtaken_fails_alone(void **state) {
  added_t added;

  overtake(*state, &added, 0);
  fake_fail(FAKE_IOCTL, 1, -EINVAL); /* SET_OUTPUT */
  fake_pool_finish();
  assert_int_equal(added.status, UV_EINVAL);
  assert_int_equal(added.error.target_index, 1);
  assert_int_equal(uvperf_set_nr_open(&added.opened.set), 5);
  assert_int_equal(uvperf_set_remove(&added.opened.set, 2, NULL, NULL), 0);
  opened_set_close(*state, &added.opened);
}

/* -- failures -------------------------------------------------------------- */

static void fail_target(uv_loop_t *loop, enum fake_call call, int code,
                        uint32_t flags) {
  unsigned nth = 0;
  unsigned failures;
  added_t added;
  int rc;

  do {
    nth += 1;
    rc = begin_target(loop, &added, flags);
    assert_int_equal(rc, 0);
    fake_fail(call, nth, code);
    fake_pool_finish();
    failures = fake_failures();
    assert_int_equal(added.added, 1);
    if (added.status != 0) {
      assert_int_equal(added.error.code, added.status);
      assert_int_equal(uvperf_set_nr_open(&added.opened.set), 4);
      assert_int_equal(uvperf_set_remove(&added.opened.set, 1, NULL, NULL),
                       UV_ENOENT);
    }
    opened_set_close(loop, &added.opened);
  } while (failures != 0);
  assert_true(nth > 1);
}

static void
target_that_cannot_be_opened_leaves_the_set_as_it_was(void **state) {
  fail_target(*state, FAKE_OPEN, -EACCES, UVPERF_SET_STRICT);
  fail_target(*state, FAKE_OPEN, -EMFILE, 0);
  fail_target(*state, FAKE_IOCTL, -EINVAL, UVPERF_SET_STRICT);
  fail_target(*state, FAKE_IOCTL_PTR, -EFAULT, UVPERF_SET_STRICT);
  fail_target(*state, FAKE_CALLOC, 0, 0);
}

static void target_with_another_period_must_be_reopened(void **state) {
  added_t added;

  assert_int_equal(begin_target(*state, &added, 0), 0);
  assert_int_equal(
      uvperf_change_period(&added.opened.set.handle, 1, 2000, NULL), 0);
  fake_pool_finish();
  assert_int_equal(added.status, UV_EAGAIN);
  assert_int_equal(added.error.attr_index, 1);
  assert_int_equal(uvperf_set_nr_open(&added.opened.set), 4);
  opened_set_close(*state, &added.opened);
}

static void target_with_another_filter_must_be_reopened(void **state) {
  added_t added;

  assert_int_equal(begin_target(*state, &added, 0), 0);
  assert_int_equal(
      uvperf_apply_filter(&added.opened.set.handle, 0, "common_pid == 1", NULL),
      0);
  fake_pool_finish();
  assert_int_equal(added.status, UV_EAGAIN);
  assert_int_equal(added.error.attr_index, 0);
  assert_int_equal(uvperf_set_nr_open(&added.opened.set), 4);
  opened_set_close(*state, &added.opened);
}

/* Members of a group without their leader would never be read. */
static void event_that_cannot_join_takes_the_target_along(void **state) {
  added_t added;

  assert_int_equal(begin_target(*state, &added, 0), 0);
  fake_fail(FAKE_IOCTL, 1, -EINVAL); /* SET_OUTPUT */
  fake_pool_finish();
  assert_int_equal(added.status, UV_EINVAL);
  assert_int_equal(added.error.attr_index, 1);
  assert_int_equal(uvperf_set_nr_open(&added.opened.set), 4);
  assert_int_equal(uvperf_set_remove(&added.opened.set, 1, NULL, NULL),
                   UV_ENOENT);
  opened_set_close(*state, &added.opened);
}

typedef struct removing_open_s {
  hanging_open_t hanging;
  uvperf_set_t *set;
} removing_open_t;

/* Removes the target that is being opened, and then hangs. */
static int removing_open(const struct perf_event_attr *attr, int32_t pid,
                         int32_t cpu, int group_fd, unsigned long flags,
                         void *arg) {
  removing_open_t *removing = arg;

  if (removing->hanging.calls + 1 == removing->hanging.hangs_at) {
    assert_int_equal(uvperf_set_remove(removing->set, 1, NULL, NULL), 0);
    assert_int_equal(*removing->hanging.opened, 0);
  }
  return hanging_open(attr, pid, cpu, group_fd, flags, &removing->hanging);
}

/* The program knows that it was removed, so this is no timeout. */
static void target_removed_while_its_call_hangs_is_cancelled(void **state) {
  removing_open_t removing = {{.loop = *state, .hangs_at = 7}, NULL};
  uvperf_set_options_t *options;
  uvperf_target_t target;
  added_t added;

  opened_set_plan(&added.opened, UVPERF_SET_ENABLED);
  fake_event_add(200);
  added.opened.opened = 1;
  added.added = 0;
  removing.hanging.opened = &added.added;
  removing.set = &added.opened.set;
  options = &added.opened.make.options;
  options->open = removing_open;
  options->open_arg = &removing;
  options->open_timeout_ms = 1;
  assert_int_equal(uvperf_set_init(*state, &added.opened.set, options, NULL),
                   0);
  target = added.opened.make.targets[0];
  target.cpus = "1";
  target.data = &added;
  assert_int_equal(
      uvperf_set_add(&added.opened.set, &target, on_target, NULL, NULL), 0);
  fake_pool_finish();
  assert_int_equal(added.added, 1);
  assert_int_equal(added.status, UV_ECANCELED);
  assert_int_equal(added.error.code, UV_ECANCELED);
  assert_int_equal(removing.hanging.calls, 7);
  assert_int_equal(uvperf_set_nr_open(&added.opened.set), 4);
  opened_set_close(*state, &added.opened);
}

/* The set goes on, and takes another target. */
static void target_whose_call_hangs_times_out(void **state) {
  hanging_open_t hanging = {.loop = *state};
  uvperf_target_t target;
  unsigned nth;
  added_t added;

  for (nth = 1;; nth++) {
    opened_set_plan(&added.opened, UVPERF_SET_ENABLED);
    fake_event_add(200);
    fake_event_add(201);
    added.opened.opened = 1;
    added.added = 0;
    hanging.opened = &added.added;
    hanging.calls = 0;
    hanging.hangs_at = 6 + nth;
    added.opened.make.options.open = hanging_open;
    added.opened.make.options.open_arg = &hanging;
    added.opened.make.options.open_timeout_ms = 1;
    assert_int_equal(uvperf_set_init(*state, &added.opened.set,
                                     &added.opened.make.options, NULL),
                     0);
    assert_int_equal(hanging.calls, 6);
    target = added.opened.make.targets[0];
    target.cpus = "1";
    target.data = &added;
    assert_int_equal(
        uvperf_set_add(&added.opened.set, &target, on_target, NULL, NULL), 0);
    fake_pool_finish();
    assert_int_equal(added.added, 1);
    if (hanging.calls < hanging.hangs_at)
      break;
    assert_int_equal(added.status, UV_ETIMEDOUT);
    assert_int_equal(added.error.code, UV_ETIMEDOUT);
    assert_int_equal(added.error.cause, UVPERF_CAUSE_ARGUMENT);
    assert_int_equal(hanging.calls, 6 + nth);
    assert_int_equal(uvperf_set_nr_open(&added.opened.set), 4);
    fake_event_add(300);
    fake_event_add(301);
    assert_int_equal(
        uvperf_set_add(&added.opened.set, &target, on_target, NULL, NULL), 0);
    fake_pool_finish();
    assert_int_equal(added.added, 2);
    assert_int_equal(added.status, 0);
    assert_int_equal(uvperf_set_nr_open(&added.opened.set), 6);
    opened_set_close(*state, &added.opened);
  }
  assert_int_equal(nth, 3);
  opened_set_close(*state, &added.opened);
}

static void close_handle(uv_handle_t *handle, void *arg) {
  (void)arg;
  uv_close(handle, NULL);
}

static void close_in_callback(uvperf_set_t *set, int status, void *data,
                              uint32_t index, const uvperf_error_t *error) {
  on_target(set, status, data, index, error);
  uvperf_close(&set->handle, opened_set_on_close);
}

/* No inner handle is left: the close ends before it returns. */
static void set_closed_in_the_callback_after_uv_close_is_clean(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  added_t added;

  opened_set_plan(&added.opened, 0);
  assert_int_equal(uvperf_set_init(*state, &added.opened.set,
                                   &added.opened.make.options, NULL),
                   0);
  fake_event_add(200);
  fake_event_add(201);
  added.added = 0;
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "1";
  target.data = &added;
  assert_int_equal(
      uvperf_set_add(&added.opened.set, &target, close_in_callback, NULL, NULL),
      0);
  uv_walk(*state, close_handle, NULL);
  uv_run(*state, UV_RUN_NOWAIT);
  fake_pool_finish();
  assert_int_equal(added.added, 1);
  assert_int_equal(added.status, 0);
  assert_int_equal(added.opened.closed, 1);
  fake_assert_clean();
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  (void)handle;
  (void)status;
  (void)record;
}

/* A started set without targets, and its first one, which is being opened. The
 * nth allocation fails from now on. With 0 the pool refuses the target. Returns
 * what uvperf_set_add returns. */
static int begin_first(uv_loop_t *loop, added_t *added, unsigned nth) {
  opened_set_t *opened = &added->opened;
  uvperf_target_t target;

  opened_set_plan(opened, UVPERF_SET_TARGETS_LATER);
  opened->opened = 1;
  added->added = 0;
  added->error.code = 0;
  target = opened->make.targets[0];
  target.data = added;
  opened->make.options.nr_targets = 0;
  opened->make.options.fallbacks = UVPERF_FALLBACK_KERNEL;
  assert_int_equal(
      uvperf_attr_set(&opened->make.attrs[1], UVPERF_ATTR_SIG_DATA, 7), 0);
  assert_int_equal(
      uvperf_set_init(loop, &opened->set, &opened->make.options, NULL), 0);
  assert_int_equal(uvperf_start(&opened->set.handle, NULL, on_record, NULL), 0);
  if (nth == 0)
    fake_pool_reset();
  else
    fake_fail(FAKE_CALLOC, nth, 0);
  return uvperf_set_add(&opened->set, &target, on_target, NULL, &added->error);
}

/* Its rings are new: they may be opened and not watched. */
static void first_target_without_memory_leaves_the_set_empty(void **state) {
  unsigned failures, nth = 0;
  added_t added;
  int rc;

  do {
    rc = begin_first(*state, &added, nth);
    fake_pool_finish();
    failures = fake_failures();
    assert_int_equal(added.added, rc == 0);
    if (rc == 0)
      rc = added.status;
    assert_int_equal(added.error.code, rc);
    if (rc != 0)
      assert_int_equal(rc, UV_ENOMEM);
    assert_int_equal(uvperf_set_nr_open(&added.opened.set), rc != 0 ? 0 : 4);
    opened_set_close(*state, &added.opened);
  } while (nth++ == 0 || failures != 0);
  assert_int_equal(rc, 0);
  assert_true(nth > 10);
}

static void first_target_that_cannot_join_leaves_no_ring(void **state) {
  added_t added;

  assert_int_equal(begin_first(*state, &added, 999), 0);
  fake_fail(FAKE_IOCTL, 1, -EINVAL); /* SET_OUTPUT */
  fake_pool_finish();
  assert_int_equal(added.status, UV_EINVAL);
  assert_int_equal(uvperf_set_nr_open(&added.opened.set), 0);
  assert_int_equal(uvperf_nr_rings(&added.opened.set.handle), 0);
  opened_set_close(*state, &added.opened);
}

/* There is no event of the set yet that has the period. With `fails` a fallback
 * has changed the event. */
static void first_target_with_another_period_is_opened_again(void **state) {
  int is_changed, fails;
  added_t added;

  for (is_changed = 0; is_changed < 2; is_changed++)
    for (fails = 0; fails < 2; fails++) {
      assert_int_equal(begin_first(*state, &added, 999), 0);
      if (fails)
        fake_fail(FAKE_OPEN, 2, -E2BIG);
      if (is_changed)
        assert_int_equal(
            uvperf_change_period(&added.opened.set.handle, 1, 2000, NULL), 0);
      fake_pool_finish();
      assert_int_equal(fake_failures(), fails);
      assert_int_equal(added.status, is_changed ? UV_EAGAIN : 0);
      opened_set_close(*state, &added.opened);
    }
}

/* -- the evlist alone ---------------------------------------------------- */

static size_t nr_changes(const uvperf__evlist_t *evlist) {
  size_t nr;

  uvperf__evlist_changes(evlist, 0, &nr);
  return nr;
}

/* Without targets. A kernel that refuses the attr accepts it with a change. */
static uvperf__evlist_t *open_for_fallbacks(void **state, evlist_make_t *make) {
  fake_event_t *events[64];

  evlist_make_setup(state);
  counters_script(events, 64);
  evlist_make(make, 1);
  assert_int_equal(uvperf_attr_set(&make->attrs[0], UVPERF_ATTR_SIG_DATA, 7),
                   0);
  evlist_add_cpus(make, "0-1");
  make->options.nr_targets = 0;
  make->options.flags = UVPERF_SET_TARGETS_LATER;
  make->options.fallbacks = UVPERF_FALLBACK_KERNEL;
  return evlist_open(make);
}

/* Both have been opened before one of them joins. */
static void targets_that_join_have_the_same_fallbacks(void **state) {
  uvperf__evlist_t *evlist, *made[2];
  uvperf__adding_t adding[2];
  unsigned failures, nth;
  evlist_make_t make;
  uvperf_error_t error;
  int both, rc;
  size_t i;

  for (both = 0; both < 2; both++) {
    nth = 0;
    evlist = open_for_fallbacks(state, &make);
    for (i = 0; i < 2; i++)
      assert_int_equal(uvperf__evlist_new_for_target(&made[i], evlist,
                                                     &make.targets[0],
                                                     &adding[i], NULL),
                       0);
    for (i = 0; i < 2; i++) {
      if (i == 0 || both)
        fake_fail(FAKE_OPEN, 1, -E2BIG);
      while (uvperf__adding_step(&adding[i], 0))
        continue;
      assert_int_equal(uvperf__adding_end(&adding[i], NULL), 0);
    }
    assert_int_equal(uvperf__evlist_take_target(evlist, made[0], NULL), 0);
    assert_int_equal(nr_changes(evlist), 1);
    assert_int_equal(uvperf__evlist_take_target(evlist, made[1], &error),
                     both ? 0 : -EAGAIN);
    if (!both)
      assert_int_equal(error.attr_index, 0);
    uvperf__evlist_free(made[0]);
    uvperf__evlist_free(made[1]);
    fake_fail(FAKE_OPEN, 1, -EMFILE);
    assert_int_equal(
        uvperf__evlist_add_target(evlist, &make.targets[0], NULL, NULL),
        -EMFILE);
    assert_int_equal(nr_changes(evlist), 1);
    assert_non_null(uvperf__evlist_item(evlist, 0)); /* makes a label */
    do {
      fake_fail(FAKE_CALLOC, ++nth, 0);
      failures = fake_failures();
      rc = evlist_add_elsewhere(evlist, &make.targets[0], &error);
      assert_int_equal(rc, fake_failures() != failures ? -ENOMEM : 0);
    } while (rc != 0);
    assert_int_equal(uvperf__evlist_nr_open(evlist), both ? 6 : 4);
    uvperf__evlist_free(evlist);
    fake_assert_clean();
  }
}

/* They were those of the set when it began to be opened. */
static void target_with_fallbacks_that_are_gone_does_not_join(void **state) {
  evlist_make_t make;
  uvperf__evlist_t *made, *evlist = open_for_fallbacks(state, &make);
  const uvperf_target_t *target = &make.targets[0];
  uvperf__adding_t adding;

  fake_fail(FAKE_OPEN, 1, -E2BIG);
  assert_int_equal(uvperf__evlist_add_target(evlist, target, NULL, NULL), 0);
  assert_int_equal(
      uvperf__evlist_new_for_target(&made, evlist, target, &adding, NULL), 0);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  assert_int_equal(uvperf__evlist_add_target(evlist, target, NULL, NULL),
                   -EMFILE);
  assert_int_equal(nr_changes(evlist), 0);
  while (uvperf__adding_step(&adding, 0))
    continue;
  assert_int_equal(uvperf__adding_end(&adding, NULL), 0);
  assert_int_equal(uvperf__evlist_take_target(evlist, made, NULL), -EAGAIN);
  uvperf__evlist_free(made);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* So that other jobs can run in between. */
static void step_closes_at_most_one_event(void **state) {
  uvperf__evlist_t *evlist, *made;
  uvperf__adding_t adding;
  evlist_make_t make;
  fake_event_t *events[8];
  unsigned steps = 0, closes;
  int more;

  evlist_make_setup(state);
  counters_script(events, 8);
  evlist_make(&make, 1);
  evlist_add_cpus(&make, "0-3");
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_new_for_target(
                       &made, evlist, &make.targets[0], &adding, NULL),
                   0);
  do {
    closes = fake_count(FAKE_CLOSE);
    more = uvperf__adding_step(&adding, events[7]->fd >= 0);
    steps += fake_count(FAKE_CLOSE) != closes;
    assert_in_range(fake_count(FAKE_CLOSE) - closes, 0, 1);
  } while (more);
  assert_int_equal(steps, 4);
  assert_int_equal(uvperf__adding_end(&adding, NULL), -ECANCELED);
  uvperf__evlist_free(made);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* The side band is opened first. */
static void side_band_alone_does_not_join(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uvperf_error_t error;
  fake_event_t *events[16];

  evlist_make_setup(state);
  counters_script(events, 16);
  evlist_make_records(&make, 2);
  make.options.side_band = UVPERF_SIDE_BAND_TASKS;
  evlist_add_cpus(&make, "0");
  evlist_add_cpus(&make, "1");
  make.options.nr_targets = 1;
  evlist = evlist_open(&make);
  fake_fail(FAKE_OPEN, 3, -ENODEV);
  assert_int_equal(evlist_add_elsewhere(evlist, &make.targets[1], &error), 0);
  assert_int_equal(evlist_nr_failures(evlist), 1);
  assert_int_equal(evlist_failure(evlist, 0)->error.target_index, 1);
  assert_int_equal(evlist_failure(evlist, 0)->error.attr_index, 1);
  fake_fail(FAKE_OPEN, 2, -ENODEV);
  fake_fail(FAKE_OPEN, 3, -ENODEV);
  assert_int_equal(evlist_add_elsewhere(evlist, &make.targets[1], &error),
                   -ENODEV);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 5);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(target_opened_on_the_pool_joins_on_the_loop),
      scripted_set_test(set_closed_while_a_target_is_opened_leaves_nothing),
      scripted_set_test(target_removed_while_it_is_opened_is_cancelled),
      scripted_set_test(target_may_be_removed_in_its_callback),
      scripted_set_test(target_that_was_overtaken_keeps_its_place),
      scripted_set_test(target_that_was_overtaken_fails_alone),
      scripted_set_test(target_that_cannot_be_opened_leaves_the_set_as_it_was),
      scripted_set_test(target_with_another_period_must_be_reopened),
      scripted_set_test(target_with_another_filter_must_be_reopened),
      scripted_set_test(target_removed_while_its_call_hangs_is_cancelled),
      scripted_set_test(target_whose_call_hangs_times_out),
      scripted_set_test(event_that_cannot_join_takes_the_target_along),
      cmocka_unit_test(targets_that_join_have_the_same_fallbacks),
      cmocka_unit_test(target_with_fallbacks_that_are_gone_does_not_join),
      cmocka_unit_test(step_closes_at_most_one_event),
      cmocka_unit_test(side_band_alone_does_not_join),
      scripted_set_test(first_target_without_memory_leaves_the_set_empty),
      scripted_set_test(first_target_that_cannot_join_leaves_no_ring),
      scripted_set_test(first_target_with_another_period_is_opened_again),
      scripted_set_test(set_closed_in_the_callback_after_uv_close_is_clean),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
