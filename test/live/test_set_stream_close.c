/* SPDX-License-Identifier: MIT */
/* Live: a set that delivers is closed, by the user at every moment, by other
 * code, and in a forked child. */
#include "live_stream.h"

#include <sys/wait.h>
#include <unistd.h>

#include "fake_kernel.h"

static void begin_own(uv_loop_t *loop, live_stream_t *stream, size_t mode) {
  live_plan_t plan;

  live_stream_plan_own(&plan);
  live_stream_plan_mode(&plan, mode);
  plan.options.flags |= UVPERF_SET_FIXED_CPUS;
  live_stream_begin(loop, stream, &plan);
}

static void run_to_end(uv_loop_t *loop) {
  int turns;

  for (turns = 0; uv_run(loop, UV_RUN_ONCE) != 0 && turns < 100; turns++)
    continue;
  assert_in_range(turns, 0, 99);
}

typedef struct before_s {
  size_t fds;
  size_t rings;
  size_t bytes; /* of those */
} before_t;

static void look(before_t *before) {
  before->fds = support_count_fds();
  before->rings = support_count_rings(&before->bytes);
}

static void assert_as(const before_t *before) {
  before_t now;

  look(&now);
  assert_int_equal(now.fds, before->fds);
  assert_int_equal(now.rings, before->rings);
  assert_int_equal(now.bytes, before->bytes);
  fake_assert_clean();
}

/* -- at every moment ------------------------------------------------------ */

static void close_at_third(live_stream_t *stream,
                           const uvperf_record_t *record) {
  (void)record;
  if (stream->comms == 3)
    uvperf_close(&stream->live.set.handle, live_set_on_close);
}

static void set_closed_in_its_record_callback_delivers_no_more(void **state) {
  live_stream_t stream;
  before_t before;
  uint64_t next;
  size_t mode;

  support_need_own_events(__func__);
  look(&before);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    next = 0;
    begin_own(*state, &stream, mode);
    stream.on_record = close_at_third;
    live_stream_comm(&next, 10);
    run_to_end(*state);
    assert_int_equal(stream.comms, 3);
    assert_int_equal(stream.live.closed, 1);
    uvperf_reading_free(stream.live.reading);
    assert_as(&before);
  }
}

static void set_closed_in_a_flush_delivers_no_more(void **state) {
  live_stream_t stream;
  before_t before;
  uint64_t next;
  size_t mode;

  support_need_own_events(__func__);
  look(&before);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    next = 0;
    begin_own(*state, &stream, mode);
    stream.on_record = close_at_third;
    live_stream_comm(&next, 10);
    assert_int_equal(uvperf_flush(&stream.live.set.handle), 0);
    assert_int_equal(stream.comms, 3);
    live_set_wait_closed(&stream.live);
    assert_as(&before);
  }
}

static void close_at_slice_end(live_stream_t *stream,
                               const uvperf_record_t *record) {
  if (record->type == UVPERF_RECORD_NONE)
    uvperf_close(&stream->live.set.handle, live_set_on_close);
}

static void set_closed_at_the_end_of_a_slice_is_clean(void **state) {
  uvperf_stream_options_t options = live_stream_plain;
  live_stream_t stream;
  live_plan_t plan;
  before_t before;
  uint64_t next;
  size_t mode;

  support_need_own_events(__func__);
  look(&before);
  options.flags = UVPERF_START_SLICE_END;
  live_stream_plan_own(&plan);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    next = 0;
    live_stream_plan_mode(&plan, mode);
    live_stream_open(*state, &stream, &plan.options);
    live_stream_start(&stream, &options);
    stream.on_record = close_at_slice_end;
    live_stream_comm(&next, 3);
    run_to_end(*state);
    assert_int_equal(stream.slice_ends, 1);
    assert_int_equal(stream.live.closed, 1);
    uvperf_reading_free(stream.live.reading);
    assert_as(&before);
  }
}

/* Started, run for a few turns, stopped, or not: each is closed in the end. */
static void set_closed_after_any_number_of_turns_is_clean(void **state) {
  live_stream_t stream;
  before_t before;
  uint64_t next;
  int turns, i;

  support_need_own_events(__func__);
  look(&before);
  for (turns = 0; turns < 8; turns++) {
    next = 0;
    begin_own(*state, &stream, (size_t)turns % 2);
    live_stream_comm(&next, 3);
    for (i = 0; i < turns / 2; i++)
      uv_run(*state, UV_RUN_NOWAIT);
    if (turns % 4 > 1)
      assert_int_equal(uvperf_stop(&stream.live.set.handle), 0);
    uvperf_close(&stream.live.set.handle, live_set_on_close);
    assert_int_equal(uvperf_is_active(&stream.live.set.handle), 0);
    assert_int_equal(uvperf_is_closing(&stream.live.set.handle), 1);
    stream.records = 0;
    live_set_wait_closed(&stream.live);
    assert_int_equal(stream.records, 0);
    assert_as(&before);
  }
}

static void set_stream_200_cycles_leave_all_as_it_was(void **state) {
  live_stream_t stream;
  before_t before;
  uint64_t next;
  size_t i;

  support_need_own_events(__func__);
  look(&before);
  for (i = 0; i < 200; i++) {
    next = 0;
    begin_own(*state, &stream, i % 2);
    live_stream_comm(&next, 2);
    assert_true(live_run_until(*state, &stream.comms, i % 3));
    live_stream_close(&stream);
  }
  assert_as(&before);
}

/* -- teardown by others --------------------------------------------------- */

static void walk_close(uv_handle_t *handle, void *arg) {
  *(size_t *)arg += (size_t)uvperf_walk_close(handle);
}

/* An interval timer's one, a watch's one, the hub's three, and one for each
 * ring. */
static void walk_close_finds_each_inner_handle_of_a_stream(void **state) {
  live_stream_t stream;
  before_t before;
  size_t nr_rings;
  size_t ours;
  size_t mode;

  support_need_own_events(__func__);
  look(&before);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    begin_own(*state, &stream, mode);
    nr_rings = uvperf_nr_rings(&stream.live.set.handle);
    ours = 0;
    uv_walk(*state, walk_close, &ours);
    assert_int_equal(ours, 1 + 1 + 3 + nr_rings);
    assert_int_equal(uvperf_is_closing(&stream.live.set.handle), 1);
    uvperf_close(&stream.live.set.handle, live_set_on_close);
    live_set_wait_closed(&stream.live);
    assert_as(&before);
  }
}

static void uv_close_all(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void uv_close_type(uv_handle_t *handle, void *arg) {
  if (handle->type == *(uv_handle_type *)arg && !uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void set_stream_uv_closed_by_others_is_survived(void **state) {
  live_stream_t stream;
  uvperf_set_t *set = &stream.live.set;
  before_t before;
  uint64_t next;
  int turns;

  support_need_own_events(__func__);
  look(&before);
  for (turns = 0; turns < 4; turns++) {
    next = 0;
    begin_own(*state, &stream, (size_t)turns % 2);
    live_stream_comm(&next, 3);
    uv_walk(*state, uv_close_all, NULL);
    if (turns > 1)
      run_to_end(*state);
    assert_int_equal(uvperf_stop(&set->handle), 0);
    assert_int_equal(
        uvperf_start(&set->handle, NULL, live_stream_on_record, NULL),
        UV_EINVAL);
    assert_int_equal(uvperf_flush(&set->handle), 0);
    assert_int_equal(uvperf_is_closing(&set->handle), 0);
    live_stream_close(&stream);
    assert_as(&before);
  }
}

/* All rings of the set end together. */
static void
set_stream_whose_hub_is_closed_by_others_is_cancelled(void **state) {
  uv_handle_type type = UV_CHECK;
  live_stream_t stream;
  before_t before;
  uint64_t next;
  size_t mode;

  support_need_own_events(__func__);
  look(&before);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    next = 0;
    begin_own(*state, &stream, mode);
    live_run_ms(*state, 5);
    uv_walk(*state, uv_close_type, &type);
    live_stream_comm(&next, 1);
    assert_true(live_run_until(*state, &stream.faults, 1));
    assert_int_equal(stream.faults, 1);
    assert_int_equal(stream.fault, UV_ECANCELED);
    assert_int_equal(stream.records, 0);
    assert_int_equal(uvperf_is_active(&stream.live.set.handle), 0);
    live_stream_close(&stream);
    assert_as(&before);
  }
}

/* Each of the others alone: without one of them records would wait for ever, or
 * targets end unseen. */
static void set_stream_of_a_closed_inner_handle_is_not_started(void **state) {
  const uv_handle_type types[] = {UV_IDLE, UV_CHECK, UV_TIMER};
  live_stream_t stream;
  live_plan_t plan;
  before_t before;
  size_t i;

  support_need_own_events(__func__);
  look(&before);
  for (i = 0; i < 2 * sizeof(types) / sizeof(types[0]); i++) {
    live_stream_plan_own(&plan);
    plan.options.nr_targets = i / 3;
    live_stream_begin(*state, &stream, &plan);
    live_run_ms(*state, 5);
    assert_int_equal(uvperf_stop(&stream.live.set.handle), 0);
    uv_walk(*state, uv_close_type, (void *)&types[i % 3]);
    assert_int_equal(uvperf_start(&stream.live.set.handle, NULL,
                                  live_stream_on_record, NULL),
                     UV_EINVAL);
    assert_int_equal(uvperf_is_active(&stream.live.set.handle), 0);
    live_stream_close(&stream);
    assert_as(&before);
  }
}

/* -- a forked child ------------------------------------------------------- */

static int is_refused(uvperf_set_t *set) {
  uvperf_ring_info_t ring;
  uvperf_error_t error;
  uvperf_stats_t stats;

  uvperf_stats(&set->handle, &stats);
  return uvperf_start(&set->handle, NULL, live_stream_on_record, &error) ==
             UV_EPERM &&
         error.cause == UVPERF_CAUSE_ARGUMENT &&
         uvperf_stop(&set->handle) == UV_EPERM &&
         uvperf_flush(&set->handle) == UV_EPERM &&
         uvperf_nr_rings(&set->handle) > 0 &&
         uvperf_ring(&set->handle, 0, &ring) == 0 && ring.fd >= 0 &&
         uvperf_set_source(set, 0) == NULL;
}

static int child_by_the_rules(void *arg) {
  live_stream_t *stream = arg;
  uv_loop_t *loop = stream->live.set.handle.loop;

  if (uv_loop_fork(loop) != 0)
    return 1;
  if (!is_refused(&stream->live.set))
    return 2;
  uvperf_close(&stream->live.set.handle, NULL);
  while (uv_run(loop, UV_RUN_DEFAULT) != 0)
    continue;
  if (stream->records != 0 || stream->live.set.handle.impl != NULL)
    return 3;
  return uv_loop_close(loop) == 0 ? 0 : 4;
}

static void set_stream_forked_child_leaves_the_parent_alone(void **state) {
  live_stream_t stream;
  uint64_t next;
  size_t mode;

  support_need_own_events(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    next = 0;
    begin_own(*state, &stream, mode);
    live_stream_comm(&next, 3);
    assert_int_equal(support_wait(support_fork(child_by_the_rules, &stream)),
                     0);
    live_stream_comm(&next, 3);
    assert_true(live_run_until(*state, &stream.comms, 6));
    live_stream_comm(&next, 3);
    assert_true(live_run_until(*state, &stream.comms, 9));
    assert_int_equal(stream.out_of_order, 0);
    live_stream_close(&stream);
  }
}

/* One that forgets to close. */
static int run_without_close(void *arg) {
  live_stream_t *stream = arg;
  uv_loop_t *loop = stream->live.set.handle.loop;

  if (uv_loop_fork(loop) != 0)
    return 1;
  live_run_ms(loop, 20);
  return stream->records != 0 || uvperf_is_active(&stream->live.set.handle);
}

static void set_stream_forked_child_delivers_nothing(void **state) {
  live_stream_t stream;
  uint64_t next;
  size_t mode;

  support_need_own_events(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    next = 0;
    begin_own(*state, &stream, mode);
    live_stream_comm(&next, 3);
    assert_int_equal(support_wait(support_fork(run_without_close, &stream)), 0);
    assert_true(live_run_until(*state, &stream.comms, 3));
    live_stream_close(&stream);
  }
}

static void fork_in_callback(live_stream_t *stream,
                             const uvperf_record_t *record) {
  pid_t *pid = stream->hook_data;

  (void)record;
  if (*pid != -1)
    return;
  fflush(NULL);
  *pid = fork();
  if (*pid != 0)
    return;
  if (uv_loop_fork(stream->live.set.handle.loop) != 0)
    _exit(1);
  uvperf_close(&stream->live.set.handle, NULL);
}

static void set_stream_forked_in_its_callback_is_clean(void **state) {
  uv_loop_t *loop = *state;
  live_stream_t stream;
  uint64_t next;
  size_t mode;
  pid_t pid;

  support_need_own_events(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    next = 0;
    pid = -1;
    begin_own(loop, &stream, mode);
    stream.on_record = fork_in_callback;
    stream.hook_data = &pid;
    live_stream_comm(&next, 5);
    while (pid == -1)
      uv_run(loop, UV_RUN_ONCE);
    if (pid == 0) {
      while (uv_run(loop, UV_RUN_DEFAULT) != 0)
        continue;
      _exit(stream.comms == 1 && stream.live.set.handle.impl == NULL &&
                    uv_loop_close(loop) == 0
                ? 0
                : 2);
    }
    assert_int_equal(support_wait(pid), 0);
    assert_true(live_run_until(loop, &stream.comms, 5));
    live_stream_comm(&next, 2);
    assert_true(live_run_until(loop, &stream.comms, 7));
    assert_int_equal(stream.out_of_order, 0);
    live_stream_close(&stream);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_closed_in_its_record_callback_delivers_no_more),
      support_loop_test(set_closed_in_a_flush_delivers_no_more),
      support_loop_test(set_closed_at_the_end_of_a_slice_is_clean),
      support_loop_test(set_closed_after_any_number_of_turns_is_clean),
      support_loop_test(set_stream_200_cycles_leave_all_as_it_was),
      support_loop_test(walk_close_finds_each_inner_handle_of_a_stream),
      support_loop_test(set_stream_uv_closed_by_others_is_survived),
      support_loop_test(set_stream_whose_hub_is_closed_by_others_is_cancelled),
      support_loop_test(set_stream_of_a_closed_inner_handle_is_not_started),
      support_loop_test(set_stream_forked_child_leaves_the_parent_alone),
      support_loop_test(set_stream_forked_child_delivers_nothing),
      support_loop_test(set_stream_forked_in_its_callback_is_clean),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
