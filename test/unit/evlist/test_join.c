/* SPDX-License-Identifier: MIT */
/* Scripted: a target that another thread opens joins the list, or leaves it
 * unchanged. */
#include "scripted_evlist.h"
#include "fake_clock.h"
#include "fake_pool.h"
#include "scripted_opening.h"

#include <errno.h>

#include "sys/sys.h"

static const scripted_row_t rows[] = {
    /* Both have been opened before one of them joins. A target that fails does
     * not undo their fallback. */
    {"targets_that_were_opened_alike_join",
     "attrs 1; attr 0 sig_data=7; flags targets_later; fallbacks kernel; open; "
     "begin 0 cpus 0-1; begin 1 cpus 0-1; fail open 1 E2BIG; steps 0; "
     "fail open 1 E2BIG; steps 1; join 0; changes 0 -> sig_data 7 to 0\n"
     "join 1; nr -> 4\n"
     "fail open 1 EMFILE; add cpus 0-1 -> open @0 EMFILE, EMFILE files a0 t2\n"
     "changes 0 -> sig_data 7 to 0\n"},
    {"targets_that_were_opened_with_other_fallbacks_do_not_join",
     "attrs 1; attr 0 sig_data=7; flags targets_later; fallbacks kernel; open; "
     "begin 0 cpus 0-1; begin 1 cpus 0-1; fail open 1 E2BIG; steps 0; steps 1; "
     "join 0; join 1 -> EAGAIN argument a0 t0, close e2 e3\n"
     "nr -> 2\n"},
    {"target_without_memory_does_not_join",
     "each calloc ENOMEM; attrs 1; attr 0 sig_data=7; flags targets_later; "
     "fallbacks kernel; open; begin 0 cpus 0-1; fail open 1 E2BIG; steps 0; "
     "join 0; item 0; sweep; elsewhere cpus 0-1; nr\n"},
    /* They were those of the set when it began to be opened. */
    {"target_with_fallbacks_that_are_gone_does_not_join",
     "attrs 1; attr 0 sig_data=7; flags targets_later; fallbacks kernel; open; "
     "fail open 1 E2BIG; add cpus 0-1; begin 0 cpus 0-1; remove 0; "
     "fail open 1 EMFILE; add cpus 0-1 -> open @0 EMFILE, EMFILE files a0 t2\n"
     "changes 0 ->\n"
     "steps 0; join 0 -> EAGAIN argument a0 t0, close e2 e3\n"},
    {"target_that_is_cancelled_closes_an_event_in_each_step",
     "attrs 1; cpus 0-3; open; begin 0 cpus 0-3; "
     "steps 0 7 -> open e4@0 e5@1 e6@2\n"
     "cancel 0 -> close e4 e5 e6\n"
     "drop 0 -> ECANCELED argument a0 t0\n"},
    {"target_with_another_period_does_not_join",
     "attrs 1; attr 0 sample_period=100; cpus 0; open; begin 0 cpus 1; "
     "period 0 200; steps 0; join 0 -> EAGAIN argument a0 t0, close e1\n"},
    {"target_with_another_filter_does_not_join",
     "attrs 1; cpus 0; open; begin 0 cpus 1; filter 0 'pid == 7'; steps 0; "
     "join 0 -> EAGAIN argument a0 t0, close e1\n"},
    {"first_target_with_another_period_does_not_join",
     "attrs 1; attr 0 sample_period=100; flags targets_later; open; "
     "begin 0 cpus 1; period 0 200; steps 0; "
     "join 0 -> EAGAIN argument a0 t0, close e0\n"},
    {"first_target_with_a_fallback_and_another_period_does_not_join",
     "attrs 1; attr 0 sample_period=100 sig_data=7; flags targets_later; "
     "fallbacks kernel; open; begin 0 cpus 1; period 0 200; fail open 1 E2BIG; "
     "steps 0; join 0 -> EAGAIN argument a0 t0, close e0\n"},
    /* Only its own event is enabled. */
    {"target_that_was_overtaken_keeps_its_place",
     "records 2; cpus 0; open; enable; begin 0 cpus 1; fail open 1 ENODEV; "
     "add cpus 0 -> open @0 ENODEV, open e3@0, SET_OUTPUT e3 e1, ENABLE e3\n"
     "fail open 1 ENODEV; steps 0 -> open @1 ENODEV, open e4@1\n"
     "join 0 -> open e5@me:1, mmap e5, SET_OUTPUT e4 e5, ENABLE e4\n"
     "places -> t0 cpu0 #0 e0, t1 cpu1 #2, t2 cpu0 #1\n"
     "failures -> a0 t1 cpu1 ENODEV no_event, a0 t2 cpu0 ENODEV no_event\n"
     "rings -> cpu0 e1 of 3, cpu1 e5 of 1\n"
     "sources e7 -> -\n"},
    {"target_that_was_overtaken_fails_alone",
     "records 2; cpus 0; open; begin 0 cpus 1; add cpus 0; steps 0; "
     "fail ioctl 1 EINVAL; "
     "join 0 -> open e7@me:1, mmap e7, SET_OUTPUT e5 e7 EINVAL, close e5 e6, "
     "munmap e7, close e7, EINVAL unknown a0 t1\n"
     "places -> t0 cpu0 #0 e0, t2 cpu0 #1 e3\n"
     "remove 2; nr -> 2\n"},
    {"target_that_is_opened_while_it_is_enabled_is_enabled_there",
     "attrs 1; cpus 0; open; enable; begin 0 cpus 1; "
     "steps 0 -> open e1@1, ENABLE e1\n"
     "join 0 ->\n"},
    {"set_target_opened_by_the_pool_joins_on_the_loop",
     "records 2; attr 0 sample_period=0; cpus 0-1; set; later cpus 1 ->\n"
     "enable -> ENABLE e0 e1 e3 e4\n"
     "pool -> open e6@1 e7@1, SET_OUTPUT e7 e5, ENABLE e6 e7, t1 added 0\n"
     "nr -> 6\n"
     "sources e7 -> a1 t1 cpu1 #2\n"
     "remove 1 -> read e6 e7, DISABLE e7 e6 e7, close e6 e7\n"
     "nr -> 4\n"},
    {"set_target_that_cannot_be_opened_leaves_the_set_as_it_was",
     "records 2; cpus 0-1; set; fail open 1+ EACCES; later cpus 1; "
     "pool -> open @1 EACCES, open @1 EACCES, t1 added EACCES permission\n"
     "nr -> 4\n"
     "remove 1 -> ENOENT argument a0 t0\n"},
    {"set_target_without_fds_leaves_the_set_as_it_was",
     "records 2; cpus 0-1; set; fail open 2 EMFILE; later cpus 1; "
     "pool -> open e6@1 @1 EMFILE, close e6, t1 added EMFILE files\n"
     "nr -> 4\n"},
    {"set_target_that_is_bad_fails_at_once",
     "records 1; cpus 0; set; later cpus nine -> EINVAL argument a0 t1\n"},
    /* Its index is not used again. */
    {"set_target_removed_while_it_is_opened_is_cancelled",
     "slow; records 2; cpus 0-1; set; later cpus 1; "
     "pool 1 -> open e6@1, waits\n"
     "take 1 -> none, none\n"
     "remove 1 -> ENOENT argument a0 t0\n"
     "later cpus nine -> EINVAL argument a0 t2\n"
     "pool -> close e6, t1 added ECANCELED argument\n"
     "nr -> 4\n"
     "rings -> cpu0 e1 of 2, cpu1 e4 of 2\n"},
    {"set_target_removed_before_it_is_opened_is_cancelled",
     "slow; records 2; cpus 0-1; set; later cpus 1; remove 1; "
     "pool -> t1 added ECANCELED argument\n"
     "nr -> 4\n"},
    {"set_target_removed_when_its_last_event_is_open_is_cancelled",
     "records 2; cpus 0-1; set; later cpus 1; "
     "pool work -> open e6@1 e7@1, waits\n"
     "remove 1; pool -> DISABLE e6 e7, close e6 e7, "
     "t1 added ECANCELED argument\n"
     "nr -> 4\n"},
    {"set_target_that_fails_and_was_removed_is_cancelled",
     "records 2; cpus 0-1; set; fail open 1+ EACCES; later cpus 1; "
     "pool work -> open @1 EACCES, open @1 EACCES, waits\n"
     "remove 1; pool -> t1 added ECANCELED argument\n"},
    {"set_target_without_memory_to_be_removed_goes_on",
     "slow; records 2; cpus 0-1; set; later cpus 1; pool 1; "
     "fail calloc 2 ENOMEM; take 1 -> ENOMEM memory a0 t0\n"
     "pool -> open e7@1, SET_OUTPUT e6 e4 e7 e4, t1 added 0\n"},
    {"set_closed_while_a_target_is_opened_leaves_nothing",
     "slow; records 2; cpus 0-1; set; later cpus 1; "
     "pool 1 -> open e6@1, waits\n"
     "close -> read e0 e2 e3 e5, DISABLE e0 e2 e3 e5\n"
     "pool -> close e6, t1 added ECANCELED argument\n"
     "turn -> closed, close e0 e2 e3 e5, munmap e4, close e4, munmap e1, "
     "close e1\n"},
    {"set_closed_before_a_target_is_opened_leaves_nothing",
     "slow; records 2; cpus 0-1; set; later cpus 1; "
     "close -> read e0 e2 e3 e5, DISABLE e0 e2 e3 e5\n"
     "pool -> t1 added ECANCELED argument\n"
     "turn -> closed, close e0 e2 e3 e5, munmap e4, close e4, munmap e1, "
     "close e1\n"},
    {"set_target_without_memory_is_not_added",
     "each calloc ENOMEM; records 2; cpus 0-1; set; start; sweep; "
     "later cpus 1; pool; nr\n"},
    {"set_first_target_that_cannot_join_leaves_no_ring",
     "records 2; flags targets_later; set; start; later cpus 0-1; "
     "fail ioctl 1 EINVAL; "
     "pool -> open e0@0 e1@0 e2@1 e3@1 e4@me:0, mmap e4, "
     "SET_OUTPUT e0 e4 EINVAL, munmap e4, close e4, DISABLE e0 e1 e2 e3, "
     "close e0 e1 e2 e3, t0 added EINVAL unknown\n"
     "nr -> 0\n"
     "rings ->\n"},
};

/* -- by the set, on libuv's pool ------------------------------------------- */

typedef struct added_s {
  scripted_opening_t opened;
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
  scripted_opening_t *opened = &added->opened;
  uvperf_target_t target;
  int rc;

  scripted_opening_plan(opened, flags | UVPERF_SET_ENABLED);
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
    scripted_opening_close(*state, &added.opened);
  }
}

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

  scripted_opening_plan(&added.opened, UVPERF_SET_ENABLED);
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
  scripted_opening_close(*state, &added.opened);
}

/* The set goes on, and takes another target. */
static void target_whose_call_hangs_times_out(void **state) {
  hanging_open_t hanging = {.loop = *state};
  uvperf_target_t target;
  unsigned nth;
  added_t added;

  for (nth = 1;; nth++) {
    scripted_opening_plan(&added.opened, UVPERF_SET_ENABLED);
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
    scripted_opening_close(*state, &added.opened);
  }
  assert_int_equal(nth, 3);
  scripted_opening_close(*state, &added.opened);
}

static void close_handle(uv_handle_t *handle, void *arg) {
  (void)arg;
  uv_close(handle, NULL);
}

static void close_in_callback(uvperf_set_t *set, int status, void *data,
                              uint32_t index, const uvperf_error_t *error) {
  on_target(set, status, data, index, error);
  uvperf_close(&set->handle, scripted_opening_on_close);
}

/* No inner handle is left: the close ends before it returns. */
static void set_closed_in_the_callback_after_uv_close_is_clean(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  added_t added;

  scripted_opening_plan(&added.opened, 0);
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
  scripted_opening_t *opened = &added->opened;
  uvperf_target_t target;

  scripted_opening_plan(opened, UVPERF_SET_TARGETS_LATER);
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
    scripted_opening_close(*state, &added.opened);
  } while (nth++ == 0 || failures != 0);
  assert_int_equal(rc, 0);
  assert_true(nth > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(target_may_be_removed_in_its_callback),
      scripted_set_test(target_removed_while_its_call_hangs_is_cancelled),
      scripted_set_test(target_whose_call_hangs_times_out),
      scripted_set_test(first_target_without_memory_leaves_the_set_empty),
      scripted_set_test(set_closed_in_the_callback_after_uv_close_is_clean),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
