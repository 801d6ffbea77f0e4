/* SPDX-License-Identifier: MIT */
/* Live: the end of a set's targets, ring by ring and in the order of time: each
 * is reported once, after all of its records were delivered, and UV_EOF when
 * the last is gone. */
#include "live_stream.h"

#include <sys/wait.h>
#include <unistd.h>

/* Children that make COMM records on request, each a target. */
typedef struct family_s {
  live_plan_t plan;
  live_child_t children[LIVE_SET_MOST];
  size_t nr;
  live_child_t other; /* no target yet, and makes records if there are any */
} family_t;

static void make_family(family_t *family, size_t mode, size_t nr,
                        uint64_t records, uint64_t others) {
  size_t i;

  live_stream_plan(&family->plan);
  live_stream_plan_mode(&family->plan, mode);
  live_stream_plan_comm(&family->plan);
  family->nr = nr;
  for (i = 0; i < nr; i++) {
    live_child_fork(&family->children[i], records);
    live_stream_plan_target(&family->plan, UVPERF_TARGET_THREAD,
                            family->children[i].pid);
  }
  if (others > 0)
    live_child_fork(&family->other, others);
}

static void end_child(family_t *family, size_t i) {
  live_child_go(&family->children[i]);
  live_child_wait(&family->children[i]);
}

static void check_ended(live_stream_t *stream) {
  uvperf_error_t error;

  assert_int_equal(stream->eofs, 1);
  assert_int_equal(stream->foreign, 0);
  assert_int_equal(uvperf_is_active(&stream->live.set.handle), 0);
  assert_int_equal(uv_loop_alive(stream->live.set.handle.loop), 0);
  assert_int_equal(uvperf_start(&stream->live.set.handle, NULL,
                                live_stream_on_record, &error),
                   UV_EOF);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_TASK);
  assert_int_equal(uvperf_stop(&stream->live.set.handle), 0);
  assert_int_equal(stream->after_end, 0);
}

/* -- one target ----------------------------------------------------------- */

/* No record wakes, and none becomes old enough for long. */
static void set_target_exits_with_records_that_wait(void **state) {
  live_stream_t stream;
  family_t family;
  size_t mode;

  support_need_own_events(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    make_family(&family, mode, 1, 20, 0);
    family.plan.options.wakeup_bytes = 0;
    family.plan.options.slack_us = mode == 1 ? 100000 : 0;
    live_stream_begin(*state, &stream, &family.plan);
    live_run_ms(*state, 10);
    end_child(&family, 0);
    assert_true(live_run_until(*state, &stream.eofs, 1));
    assert_int_equal(stream.comms, 20);
    assert_int_equal(stream.nr_ends, 1);
    assert_int_equal(stream.ended[0], 0);
    assert_int_equal(stream.records_at_end[0], stream.records);
    check_ended(&stream);
    live_stream_close(&stream);
  }
}

/* The end does not wait for the flush timer. */
static void set_target_exits_with_a_long_flush_ends_after_the_slack(void **s) {
  uvperf_stream_options_t options = live_stream_plain;
  uint64_t start;
  live_stream_t stream;
  family_t family;

  support_need_own_events(__func__);
  make_family(&family, 1, 1, 20, 0);
  family.plan.options.wakeup_bytes = 0;
  family.plan.options.slack_us = 200000;
  options.flush_ms = 15000;
  live_stream_open(*s, &stream, &family.plan.options);
  live_stream_start(&stream, &options);
  live_run_ms(*s, 10);
  start = live_now();
  end_child(&family, 0);
  assert_true(live_run_until(*s, &stream.eofs, 1));
  assert_true(live_now() - start < UINT64_C(10000000000));
  assert_int_equal(stream.comms, 20);
  live_stream_close(&stream);
}

static void touch(void *region) {
  live_touch(region);
}

/* Only the periodic check finds this one: it has no EXIT record. */
static void set_target_without_exit_records_ends_too(void **state) {
  live_worker_t worker;
  live_stream_t stream;
  live_plan_t plan;
  char *region;

  support_need_own_events(__func__);
  live_stream_plan(&plan);
  live_touch_attr(live_plan_attr(&plan), PERF_SAMPLE_TID);
  region = live_region();
  live_worker_fork(&worker, touch, region);
  live_stream_plan_target(&plan, UVPERF_TARGET_PROCESS, worker.pid);
  live_stream_begin(*state, &stream, &plan);
  live_worker_do(&worker);
  assert_true(live_run_until(*state, &stream.samples, LIVE_PAGES));
  live_run_ms(*state, 150);
  assert_int_equal(stream.nr_ends, 0);
  live_worker_end(&worker);
  assert_true(live_run_until(*state, &stream.eofs, 1));
  assert_int_equal(stream.nr_ends, 1);
  check_ended(&stream);
  live_stream_close(&stream);
  live_region_free(region);
}

/* -- several -------------------------------------------------------------- */

/* P10: the dead do not spin the loop, stall the living, or end the stream. */
static void let_all_but_one_die(uv_loop_t *loop, live_stream_t *stream,
                                family_t *family) {
  uint64_t i;

  live_run_ms(loop, 10);
  for (i = 0; i < 3; i++) {
    end_child(family, (size_t)i);
    assert_true(live_run_until(loop, &stream->nr_ends, i + 1));
    assert_int_equal(stream->ended[i], i);
    /* Without a spin, not even one each millisecond. */
    assert_true(live_run_ms(loop, 250) < 250);
  }
  assert_int_equal(stream->eofs, 0);
  assert_int_equal(stream->comms, 30);
  assert_int_equal(uvperf_is_active(&stream->live.set.handle), 1);
  end_child(family, 3);
  assert_true(live_run_until(loop, &stream->eofs, 1));
  assert_int_equal(stream->comms, 40);
  assert_int_equal(stream->nr_ends, 4);
}

static void end_together(uv_loop_t *loop, live_stream_t *stream,
                         family_t *family) {
  size_t i;

  for (i = 0; i < 12; i++)
    live_child_go(&family->children[i]);
  assert_true(live_run_until(loop, &stream->eofs, 1));
  assert_int_equal(stream->comms, 120);
  assert_int_equal(stream->nr_ends, 12);
  for (i = 0; i < 12; i++) {
    live_child_wait(&family->children[i]);
    assert_true(stream->by_target[i] >= 10);
  }
}

/* The last living target is removed, and the others were reported before. */
static void remove_the_last(uv_loop_t *loop, live_stream_t *stream,
                            family_t *family) {
  int turn;

  end_child(family, 0);
  assert_true(live_run_until(loop, &stream->nr_ends, 1));
  assert_int_equal(uvperf_set_remove(&stream->live.set, 1, NULL, NULL), 0);
  /* At once: it waits for no question. */
  for (turn = 0; turn < 3; turn++)
    uv_run(loop, UV_RUN_NOWAIT);
  assert_int_equal(stream->eofs, 1);
  assert_int_equal(stream->nr_ends, 1);
  end_child(family, 1);
}

static void remove_all(uv_loop_t *loop, live_stream_t *stream,
                       family_t *family) {
  assert_int_equal(uvperf_set_remove(&stream->live.set, 0, NULL, NULL), 0);
  end_child(family, 0);
  live_run_ms(loop, 150);
  assert_int_equal(stream->nr_ends, 0);
  assert_int_equal(stream->eofs, 0);
  assert_int_equal(uvperf_is_active(&stream->live.set.handle), 1);
}

/* -- in the callback ------------------------------------------------------ */

static void stop_at_end(live_stream_t *stream, uint32_t target) {
  assert_int_equal(uvperf_flush(&stream->live.set.handle), UV_EBUSY);
  assert_int_equal(uvperf_stop(&stream->live.set.handle), 0);
}

static void stop_at_each_end(uv_loop_t *loop, live_stream_t *stream,
                             family_t *family) {
  uint64_t i;

  stream->on_end = stop_at_end;
  for (i = 0; i < 3; i++)
    end_child(family, (size_t)i);
  for (i = 0; i < 3; i++) {
    assert_true(live_run_until(loop, &stream->nr_ends, i + 1));
    live_run_ms(loop, 10);
    assert_int_equal(stream->nr_ends, i + 1);
    assert_int_equal(stream->eofs, 0);
    assert_int_equal(uvperf_is_active(&stream->live.set.handle), 0);
    live_stream_start(stream, NULL);
  }
  assert_true(live_run_until(loop, &stream->eofs, 1));
  assert_int_equal(stream->comms, 15);
  assert_int_equal(stream->nr_ends, 3);
}

/* How often the loop has polled. */
typedef struct polls_s {
  uv_prepare_t prepare;
  uint64_t nr;
  uint64_t at_last_end;
} polls_t;

static void on_prepare(uv_prepare_t *prepare) {
  ((polls_t *)prepare->data)->nr += 1;
}

static void be_slow(live_stream_t *stream, uint32_t target) {
  polls_t *polls = stream->hook_data;
  uint64_t until = uv_hrtime() + 2000000;

  assert_true(polls->nr > polls->at_last_end);
  polls->at_last_end = polls->nr;
  while (uv_hrtime() < until)
    continue;
}

/* And UV_EOF is still the last. */
static void end_slowly(uv_loop_t *loop, live_stream_t *stream,
                       family_t *family) {
  polls_t polls;
  size_t i;

  memset(&polls, 0, sizeof(polls));
  uv_prepare_init(loop, &polls.prepare);
  uv_unref((uv_handle_t *)&polls.prepare);
  polls.prepare.data = &polls;
  stream->on_end = be_slow;
  stream->hook_data = &polls;
  for (i = 0; i < 5; i++)
    end_child(family, i);
  uv_prepare_start(&polls.prepare, on_prepare);
  assert_true(live_run_until(loop, &stream->eofs, 1));
  assert_int_equal(stream->nr_ends, 5);
  assert_int_equal(stream->comms, 10);
  uv_close((uv_handle_t *)&polls.prepare, NULL);
  uv_run(loop, UV_RUN_NOWAIT);
}

/* For a set that was closed in a callback: it may be done already. */
static void wait_closed(live_stream_t *stream) {
  live_run_ms(stream->live.set.handle.loop, 10);
  assert_int_equal(stream->live.closed, 1);
  uvperf_reading_free(stream->live.reading);
}

static void close_at_end(live_stream_t *stream, uint32_t target) {
  uvperf_close(&stream->live.set.handle, live_set_on_close);
}

static void set_closed_at_an_end_calls_back_no_more(void **state) {
  live_stream_t stream;
  family_t family;
  size_t mode;

  support_need_own_events(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    make_family(&family, mode, 2, 5, 0);
    live_stream_begin(*state, &stream, &family.plan);
    stream.on_end = close_at_end;
    end_child(&family, 0);
    end_child(&family, 1);
    assert_true(live_run_until(*state, &stream.nr_ends, 1));
    wait_closed(&stream);
    assert_int_equal(stream.nr_ends, 1);
    assert_int_equal(stream.eofs, 0);
  }
}

static void replace_at_end(live_stream_t *stream, uint32_t target) {
  uvperf_target_t other = UVPERF_TARGET_INIT;
  uint32_t index;

  stream->on_end = NULL;
  other.type = UVPERF_TARGET_THREAD;
  other.pid = *(pid_t *)stream->hook_data;
  other.data = (void *)2;
  assert_int_equal(
      uvperf_set_add(&stream->live.set, &other, NULL, &index, NULL), 0);
  assert_int_equal(index, 1);
  assert_int_equal(uvperf_set_remove(&stream->live.set, target, NULL, NULL), 0);
}

static void replace(uv_loop_t *loop, live_stream_t *stream, family_t *family) {
  stream->on_end = replace_at_end;
  stream->hook_data = &family->other.pid;
  end_child(family, 0);
  assert_true(live_run_until(loop, &stream->nr_ends, 1));
  live_run_ms(loop, 150);
  assert_int_equal(stream->eofs, 0);
  live_child_go(&family->other);
  live_child_wait(&family->other);
  assert_true(live_run_until(loop, &stream->eofs, 1));
  assert_int_equal(stream->comms, 12);
  assert_int_equal(stream->nr_ends, 2);
  assert_int_equal(stream->ended[1], 1);
}

static void start_again(uv_loop_t *loop, live_stream_t *stream,
                        family_t *family) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint64_t next;

  target.data = (void *)2;
  end_child(family, 0);
  assert_true(live_run_until(loop, &stream->eofs, 1));
  assert_int_equal(uvperf_set_add(&stream->live.set, &target, NULL, NULL, NULL),
                   0);
  live_stream_start(stream, NULL);
  next = 5;
  live_comm(&next, 3);
  assert_true(live_run_until(loop, &stream->comms, 8));
  live_run_ms(loop, 150);
  assert_int_equal(stream->eofs, 1);
  assert_int_equal(stream->nr_ends, 1);
}

/* It is reported again, because other targets have come since. */
static void end_twice(uv_loop_t *loop, live_stream_t *stream,
                      family_t *family) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  end_child(family, 0);
  assert_true(live_run_until(loop, &stream->eofs, 1));
  target.type = UVPERF_TARGET_THREAD;
  target.pid = family->other.pid;
  assert_int_equal(uvperf_set_add(&stream->live.set, &target, NULL, NULL, NULL),
                   0);
  live_stream_start(stream, NULL);
  stream->eofs = 0;
  stream->on_end = stop_at_end;
  live_child_go(&family->other);
  live_child_wait(&family->other);
  assert_true(live_run_until(loop, &stream->nr_ends, 2));
  assert_int_equal(stream->eofs, 0);
  stream->on_end = NULL;
  live_stream_start(stream, NULL);
  assert_true(live_run_until(loop, &stream->eofs, 1));
}

/* -- no target yet -------------------------------------------------------- */

static void close_check(uv_handle_t *handle, void *arg) {
  if (handle->type == UV_CHECK)
    uv_close(handle, NULL);
}

static uint64_t calls;

static void expect_canceled(uvperf_handle_t *handle, int status,
                            const uvperf_record_t *record) {
  calls += 1;
  assert_int_equal(status, UV_ECANCELED);
  assert_int_equal(record->type, UVPERF_RECORD_NONE);
  assert_int_equal(record->cpu, UINT32_MAX);
}

/* Others close what all handles of the loop share. */
static void set_without_targets_hears_that_it_cannot_go_on(void **state) {
  live_stream_t stream;
  live_plan_t plan;

  support_need_own_events(__func__);
  live_stream_plan(&plan);
  live_stream_plan_comm(&plan);
  plan.options.flags |= UVPERF_SET_TARGETS_LATER;
  live_stream_open(*state, &stream, &plan.options);
  assert_int_equal(
      uvperf_start(&stream.live.set.handle, NULL, expect_canceled, NULL), 0);
  assert_int_equal(uvperf_nr_rings(&stream.live.set.handle), 0);
  uv_walk(*state, close_check, NULL);
  assert_true(live_run_until(*state, &calls, 1));
  assert_int_equal(uvperf_is_active(&stream.live.set.handle), 0);
  live_stream_close(&stream);
}

/* -- rows ------------------------------------------------------------------ */

typedef struct row_s {
  const char *name;
  void (*run)(uv_loop_t *loop, live_stream_t *stream, family_t *family);
  size_t nr_children;
  uint64_t records, others; /* of each child, and of one that is no target */
  int goes_on;              /* not all have ended */
} row_t;

static const row_t rows[] = {
    {"set_targets_die_while_another_lives", let_all_but_one_die, 4, 10, 0, 0},
    {"set_targets_that_end_together_are_reported_once_each", end_together, 12,
     10, 0, 0},
    {"set_last_living_target_removed_is_the_end", remove_the_last, 2, 5, 0, 0},
    {"set_all_targets_removed_waits_for_others", remove_all, 1, 5, 0, 1},
    {"set_stopped_at_an_end_reports_the_others_later", stop_at_each_end, 3, 5,
     0, 0},
    {"set_with_a_slow_end_callback_lets_others_run", end_slowly, 5, 2, 0, 0},
    {"set_target_replaced_when_it_ends_goes_on", replace, 1, 5, 7, 0},
    {"set_with_a_new_target_starts_again_after_eof", start_again, 1, 5, 0, 1},
    {"set_stopped_before_its_second_end_reports_it_later", end_twice, 1, 5, 3,
     1},
};

/* With each way of delivery. */
static void run_row(void **state) {
  uv_loop_t *loop = state[0];
  const row_t *row = state[1];
  live_stream_t stream;
  family_t family;
  size_t mode;

  support_need_own_events(row->name);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    make_family(&family, mode, row->nr_children, row->records, row->others);
    live_stream_begin(loop, &stream, &family.plan);
    row->run(loop, &stream, &family);
    if (!row->goes_on)
      check_ended(&stream);
    live_stream_close(&stream);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_target_exits_with_records_that_wait),
      support_loop_test(
          set_target_exits_with_a_long_flush_ends_after_the_slack),
      support_loop_test(set_target_without_exit_records_ends_too),
      support_loop_test(set_closed_at_an_end_calls_back_no_more),
      support_loop_test(set_without_targets_hears_that_it_cannot_go_on),
  };

  return SUPPORT_RUN_LOOP_ROWS_AND_TESTS(rows, run_row, tests);
}
