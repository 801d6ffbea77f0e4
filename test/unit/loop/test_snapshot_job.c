/* SPDX-License-Identifier: MIT */
/* Scripted: snapshots of an event on the thread pool, step by step: what is
 * called where, how records are delivered, and what ends a snapshot. */
#include "scripted_event.h"

#include <errno.h>

#include "fake_pool.h"

#define TAKEN "ioctl PAUSE_OUTPUT, membarrier, ioctl PAUSE_OUTPUT"

static live_collector_t collector;
static fake_event_t *fake;
/* Called in each record callback and when the snapshot has ended; or NULL. */
static void (*on_record)(void);
static void (*on_end)(void);

/* -- the event ------------------------------------------------------------- */

static void append(const char *what) {
  size_t used = strlen(delivered);

  snprintf(delivered + used, sizeof(delivered) - used, "%s%s", used ? " " : "",
           what);
}

static void on_anything(uvperf_handle_t *handle, int status,
                        const uvperf_record_t *record) {
  scripted_event_on_slice(handle, status, record);
  if (on_record != NULL)
    on_record();
}

static void on_done(uvperf_handle_t *handle, int status) {
  uvperf_event_t *event = uvperf_handle_event(handle);
  assert_ptr_equal(event, &collector.event);
  append(status == 0 ? "done" : uv_err_name(status));
  if (on_end != NULL)
    on_end();
}

static void on_closed(uvperf_handle_t *handle) {
  (void)handle;
  append("closed");
  collector.closed += 1;
}

static void no_writers(void) {
}

static void write_switches(int nr) {
  const struct perf_event_header header = {PERF_RECORD_SWITCH, 0, 24};
  uint8_t bytes[24] = {0};

  memcpy(bytes, &header, sizeof(header));
  while (nr-- > 0)
    fake_ring_prepend(fake, bytes, sizeof(bytes));
}

/* Slices have two records at most, and their ends are reported. */
static void begin(uv_loop_t *loop, int nr) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_stream_options_t stream = UVPERF_STREAM_OPTIONS_INIT;
  struct perf_event_attr attr;

  fake_kernel_reset();
  fake_pool_hold();
  fake_on_membarrier(no_writers);
  fake = fake_event_add(7);
  on_record = on_end = NULL;
  scripted_event_attr(&attr);
  uvperf_attr_set_wakeup_events(&attr, 0);
  attr.write_backward = 1;
  options.ring_bytes = 1;
  live_init(loop, &collector, &attr, &options);
  stream.slice_records = 2;
  stream.slice_us = LIVE_SLICE_US;
  stream.flags = UVPERF_START_SLICE_END;
  assert_int_equal(
      uvperf_start(&collector.event.handle, &stream, on_anything, NULL), 0);
  write_switches(nr);
  fake_log_clear();
  delivered[0] = '\0';
}

static int snap(uint32_t flags) {
  delivered[0] = '\0';
  return uvperf_snapshot(&collector.event.handle, flags, on_done, NULL);
}

static void expect(const char *expected) {
  assert_string_equal(delivered, expected);
  delivered[0] = '\0';
}

/* Another snapshot, of the new records. */
static void expect_next(uv_loop_t *loop, const char *expected) {
  assert_int_equal(snap(0), 0);
  fake_pool_run();
  uv_run(loop, UV_RUN_DEFAULT);
  expect(expected);
}

static void end(void) {
  live_close(&collector);
  fake_assert_clean();
}

/* -- delivery -------------------------------------------------------------- */

static void
snapshot_is_taken_on_the_pool_and_delivered_in_slices(void **state) {
  uvperf_stats_t stats;

  begin(*state, 3);
  assert_int_equal(snap(0), 0);
  scripted_event_turns(*state, 3);
  assert_string_equal(fake_log(), "");
  write_switches(2); /* before it is taken */
  fake_pool_run();
  assert_string_equal(fake_log(), TAKEN);
  write_switches(1); /* after it */
  expect("");
  scripted_event_turns(*state, 1);
  expect("SWITCH SWITCH slice");
  scripted_event_turns(*state, 1);
  expect("SWITCH SWITCH slice");
  scripted_event_turns(*state, 1);
  expect("SWITCH slice done");
  assert_int_equal(uv_run(*state, UV_RUN_NOWAIT), 0);
  expect("");
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.records, 5);
  assert_int_equal(stats.slices, 3);
  assert_int_equal(stats.unwaited_snapshots, 0);
  expect_next(*state, "SWITCH slice done");
  expect_next(*state, "done");
  end();
}

static void
snapshot_keeps_a_loop_alive_for_a_handle_that_is_unrefd(void **state) {
  begin(*state, 3);
  uvperf_unref(&collector.event.handle);
  expect_next(*state, "SWITCH SWITCH slice SWITCH slice done");
  assert_int_equal(uvperf_has_ref(&collector.event.handle), 0);
  end();
}

static void snapshot_of_a_paused_ring_leaves_it_so(void **state) {
  begin(*state, 1);
  assert_int_equal(uvperf_event_pause(&collector.event, 1, NULL), 0);
  fake_log_clear();
  expect_next(*state, "SWITCH slice done");
  assert_string_equal(fake_log(), "membarrier");
  end();
}

static void
snapshot_of_an_unsound_ring_reports_that_before_its_end(void **state) {
  const struct perf_event_header header = {PERF_RECORD_SWITCH, 0, 20};
  uint8_t bytes[24] = {0};

  begin(*state, 1);
  memcpy(bytes, &header, sizeof(header));
  fake_ring_prepend(fake, bytes, sizeof(bytes));
  write_switches(1);
  expect_next(*state, "SWITCH EPROTO slice done");
  expect_next(*state, "done");
  end();
}

/* -- refusals -------------------------------------------------------------- */

static void expect_busy(int code) {
  const uvperf_record_t *record;
  uvperf_event_t *event = &collector.event;
  uvperf_error_t error;

  assert_int_equal(uvperf_snapshot(&event->handle, 0, on_done, &error), code);
  assert_int_equal(error.code, code);
  assert_int_not_equal(error.reason[0], '\0');
  assert_int_equal(uvperf_snapshot(&event->handle, 0, NULL, NULL), UV_EBUSY);
  assert_int_equal(uvperf_next(&event->handle, &record), UV_EBUSY);
  assert_int_equal(uvperf_event_pause(event, 1, &error), UV_EBUSY);
  assert_int_equal(error.code, UV_EBUSY);
  assert_int_equal(uvperf_event_pause(event, 0, NULL), UV_EBUSY);
}

static void expect_busy_with_record(void) {
  expect_busy(UV_EBUSY);
}

static void use_all_when_done(void) {
  const uvperf_record_t *record;
  uvperf_event_t *event = &collector.event;

  on_end = NULL;
  assert_int_equal(
      uvperf_snapshot(&event->handle, UVPERF_SNAPSHOT_ALL, NULL, NULL), 0);
  assert_int_equal(uvperf_event_pause(event, 1, NULL), 0);
  assert_int_equal(uvperf_next(&event->handle, &record), UV_EAGAIN);
  assert_int_equal(uvperf_event_pause(event, 0, NULL), 0);
  assert_int_equal(uvperf_snapshot(&event->handle, 0, on_done, NULL), 0);
}

static void snapshot_under_way_refuses_others_until_it_is_done(void **state) {
  begin(*state, 3);
  on_record = expect_busy_with_record;
  on_end = use_all_when_done;
  assert_int_equal(snap(0), 0);
  expect_busy(UV_EBUSY);
  fake_pool_run();
  expect_busy(UV_EBUSY);
  scripted_event_turns(*state, 1);
  expect_busy(UV_EBUSY);
  on_record = NULL;
  scripted_event_turns(*state, 1);
  expect("SWITCH SWITCH slice SWITCH slice done SWITCH SWITCH SWITCH");
  fake_pool_run();
  uv_run(*state, UV_RUN_DEFAULT);
  expect("done");
  end();
}

static void snapshot_that_is_refused_begins_nothing(void **state) {
  begin(*state, 1);
  assert_int_equal(snap(8), UV_EINVAL);
  fake_process(4711);
  assert_int_equal(snap(0), UV_EPERM);
  fake_process(0);
  fake_fail(FAKE_CALLOC, 1, -ENOMEM);
  assert_int_equal(snap(0), UV_ENOMEM);
  fake_pool_reset(); /* which refuses */
  assert_int_equal(snap(0), UV_ENOMEM);
  fake_pool_hold();
  assert_int_equal(fake_pool_waits(), 0);
  assert_string_equal(fake_log(), "");
  expect_next(*state, "SWITCH slice done");
  end();
}

/* Ten records of the ring are overwritten in part, or whole, while output is
 * paused. They are counted once, though the records come in many slices. */
static void snapshot_in_slices_counts_cut_records_once(void **state) {
  uvperf_stats_t stats;
  uint64_t cut;

  begin(*state, 200);
  assert_int_equal(snap(0), 0);
  fake_pool_run();
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.cut_records, 0);
  scripted_event_turns(*state, 1);
  uvperf_stats(&collector.event.handle, &stats);
  cut = stats.cut_records;
  assert_true(cut > 0);
  scripted_event_turns(*state, 2);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.cut_records, cut);
  end();
}

/* -- failures -------------------------------------------------------------- */

static void snapshot_that_cannot_pause_has_delivered_nothing(void **state) {
  begin(*state, 1);
  fake_fail(FAKE_IOCTL, 1, -EIO);
  expect_next(*state, "EIO");
  assert_string_equal(fake_log(), "ioctl PAUSE_OUTPUT failed");
  expect_next(*state, "SWITCH slice done");
  end();
}

static void snapshot_that_cannot_resume_has_delivered_all(void **state) {
  begin(*state, 1);
  fake_fail(FAKE_IOCTL, 2, -EIO);
  expect_next(*state, "SWITCH slice EIO");
  fake_log_clear();
  expect_next(*state, "done"); /* tries again */
  assert_string_equal(fake_log(), "ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT");
  end();
}

static void snapshot_that_cannot_wait_is_counted(void **state) {
  uvperf_stats_t stats;

  begin(*state, 1);
  fake_fail(FAKE_MEMBARRIER, 1, -EINVAL);
  expect_next(*state, "SWITCH slice done");
  write_switches(1);
  fake_fail(FAKE_MEMBARRIER, 1, -EPERM);
  assert_int_equal(uvperf_snapshot(&collector.event.handle, 0, NULL, NULL), 0);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.unwaited_snapshots, 2);
  /* It is not if nothing had to be waited for. */
  fake_fail_from(FAKE_MEMBARRIER, 1, -EPERM);
  assert_int_equal(uvperf_snapshot(&collector.event.handle, 0, NULL, NULL), 0);
  write_switches(1);
  assert_int_equal(uvperf_snapshot(&collector.event.handle,
                                   UVPERF_SNAPSHOT_NO_WAIT, NULL, NULL),
                   0);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.unwaited_snapshots, 2);
  end();
}

static void snapshot_without_memory_for_a_copy_loses_nothing(void **state) {
  begin(*state, 1);
  assert_int_equal(snap(0), 0);
  fake_fail(FAKE_CALLOC, 1, -ENOMEM);
  fake_pool_run();
  uv_run(*state, UV_RUN_DEFAULT);
  expect("ENOMEM");
  assert_string_equal(fake_log(), "");
  expect_next(*state, "SWITCH slice done");
  end();
}

/* -- stop ------------------------------------------------------------------ */

static void stop(void) {
  on_record = NULL;
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  append("stopped");
}

static void restart(void) {
  stop();
  assert_int_equal(
      uvperf_start(&collector.event.handle, NULL, on_anything, NULL), 0);
}

static void snapshot_stopped_before_its_delivery_is_in_the_next(void **state) {
  void (*const acts[])(void) = {stop, restart};
  size_t act, is_taken;

  for (act = 0; act < 2; act++)
    for (is_taken = 0; is_taken < 2; is_taken++) {
      begin(*state, 2);
      assert_int_equal(snap(0), 0);
      if (!is_taken)
        acts[act]();
      scripted_event_turns(*state, 1);
      fake_pool_run();
      if (is_taken)
        acts[act]();
      uv_run(*state, UV_RUN_DEFAULT);
      expect("stopped ECANCELED");
      expect_next(*state,
                  act == 0 ? "SWITCH SWITCH slice done" : "SWITCH SWITCH done");
      end();
    }
}

static void snapshot_stopped_in_its_delivery_ends(void **state) {
  void (*const acts[])(void) = {stop, restart};
  size_t act;

  for (act = 0; act < 2; act++) {
    begin(*state, 5);
    assert_int_equal(snap(0), 0);
    fake_pool_run();
    scripted_event_turns(*state, 1);
    on_record = acts[act]; /* with the next record */
    uv_run(*state, UV_RUN_DEFAULT);
    expect("SWITCH SWITCH slice SWITCH stopped ECANCELED");
    expect_next(*state, "done");
    end();
  }
}

static void snapshot_stopped_between_its_slices_ends(void **state) {
  begin(*state, 5);
  assert_int_equal(snap(0), 0);
  fake_pool_run();
  scripted_event_turns(*state, 1);
  stop();
  uv_run(*state, UV_RUN_DEFAULT);
  expect("SWITCH SWITCH slice stopped ECANCELED");
  expect_next(*state, "done");
  end();
}

/* At the end of the last slice, when everything is delivered. */
static void stop_at_slice_end(void) {
  const char *slice = strstr(delivered, "slice");

  if (slice != NULL)
    stop();
}

static void
snapshot_stopped_at_its_last_slice_leaves_the_loop_asleep(void **state) {
  begin(*state, 1);
  on_record = stop_at_slice_end;
  assert_int_equal(snap(0), 0);
  fake_pool_run();
  scripted_event_turns(*state, 3);
  expect("SWITCH slice stopped ECANCELED");
  assert_int_equal(uv_loop_alive(*state), 0);
  end();
}

/* -- close ----------------------------------------------------------------- */

static void close_it(void) {
  on_record = on_end = NULL;
  append("close");
  uvperf_close(&collector.event.handle, on_closed);
}

static void walk_close(uv_handle_t *handle, void *arg) {
  (void)arg;
  uvperf_walk_close(handle);
}

static void close_by_walk(void) {
  uv_walk(collector.event.handle.loop, walk_close, NULL);
  close_it();
}

static void uv_close_each(uv_handle_t *handle, void *arg) {
  (void)arg;
  uv_close(handle, NULL);
}

static void close_by_others(void) {
  uv_walk(collector.event.handle.loop, uv_close_each, NULL);
  close_it();
}

static void (*const closers[])(void) = {close_it, close_by_walk,
                                        close_by_others};
#define CLOSERS (sizeof(closers) / sizeof(closers[0]))

static void expect_end(uv_loop_t *loop, const char *expected) {
  uv_run(loop, UV_RUN_DEFAULT);
  expect(expected);
  fake_assert_clean();
}

static void
snapshot_closed_on_the_pool_keeps_the_ring_until_it_is_taken(void **state) {
  size_t i;

  for (i = 0; i < CLOSERS; i++) {
    begin(*state, 3);
    assert_int_equal(snap(0), 0);
    closers[i]();
    scripted_event_turns(*state, 5);
    expect("close");
    assert_non_null(fake->page);
    assert_true(fake->fd >= 0);
    fake_pool_run();
    expect_end(*state, "ECANCELED closed");
  }
}

static void snapshot_closed_before_its_delivery_is_cancelled(void **state) {
  size_t i;

  for (i = 0; i < CLOSERS; i++) {
    begin(*state, 3);
    assert_int_equal(snap(0), 0);
    fake_pool_run();
    closers[i]();
    expect_end(*state, "close ECANCELED closed");
  }
}

static void snapshot_closed_between_its_slices_is_cancelled(void **state) {
  size_t i;

  for (i = 0; i < CLOSERS; i++) {
    begin(*state, 3);
    assert_int_equal(snap(0), 0);
    fake_pool_run();
    scripted_event_turns(*state, 1);
    closers[i]();
    expect_end(*state, "SWITCH SWITCH slice close ECANCELED closed");
  }
}

static void snapshot_closed_in_its_callbacks_is_cancelled(void **state) {
  size_t i;

  for (i = 0; i < CLOSERS; i++) {
    begin(*state, 3);
    on_record = closers[i];
    assert_int_equal(snap(0), 0);
    fake_pool_run();
    expect_end(*state, "SWITCH close ECANCELED closed");
    begin(*state, 1);
    on_end = closers[i];
    assert_int_equal(snap(0), 0);
    fake_pool_run();
    expect_end(*state, "SWITCH slice done close closed");
  }
}

static void
close_after_others_have_closed_all_waits_for_the_thread(void **state) {
  begin(*state, 1);
  assert_int_equal(snap(0), 0);
  uv_walk(*state, uv_close_each, NULL);
  scripted_event_turns(*state, 2);
  close_it();
  expect("close");
  fake_pool_run();
  expect_end(*state, "ECANCELED closed");
  /* Nothing can be delivered any more. */
  begin(*state, 1);
  assert_int_equal(snap(0), 0);
  uv_walk(*state, uv_close_each, NULL);
  scripted_event_turns(*state, 2);
  fake_pool_run();
  scripted_event_turns(*state, 2);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  close_it();
  expect_end(*state, "ECANCELED close closed");
}

static void snapshot_without_inner_handles_is_refused(void **state) {
  begin(*state, 1);
  uv_walk(*state, uv_close_each, NULL);
  assert_int_equal(snap(0), UV_EINVAL);
  assert_int_equal(fake_pool_waits(), 0);
  scripted_event_turns(*state, 2);
  assert_int_equal(snap(0), UV_EINVAL);
  close_it();
  expect_end(*state, "close closed");
}

/* -- in a forked child ----------------------------------------------------- */

/* The request never ends there. Its memory is libuv's, and freed here. */
static void snapshot_in_a_forked_child_is_cancelled_by_close(void **state) {
  size_t is_taken;

  for (is_taken = 2; is_taken-- > 0;) {
    begin(*state, 3);
    assert_int_equal(snap(0), 0);
    if (is_taken)
      fake_pool_run();
    fake_process(4711);
    scripted_event_turns(*state, 2);
    expect("");
    assert_int_equal(uv_loop_alive(*state), 0);
    close_it();
    uv_run(*state, UV_RUN_DEFAULT);
    expect("close ECANCELED closed");
    fake_process(0);
    assert_int_equal(fake_live_allocations(), is_taken ? 0 : 1);
  }
}

#define TEST(f)                                                                \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(snapshot_is_taken_on_the_pool_and_delivered_in_slices),
      TEST(snapshot_keeps_a_loop_alive_for_a_handle_that_is_unrefd),
      TEST(snapshot_of_a_paused_ring_leaves_it_so),
      TEST(snapshot_of_an_unsound_ring_reports_that_before_its_end),
      TEST(snapshot_under_way_refuses_others_until_it_is_done),
      TEST(snapshot_that_is_refused_begins_nothing),
      TEST(snapshot_in_slices_counts_cut_records_once),
      TEST(snapshot_that_cannot_pause_has_delivered_nothing),
      TEST(snapshot_that_cannot_resume_has_delivered_all),
      TEST(snapshot_that_cannot_wait_is_counted),
      TEST(snapshot_without_memory_for_a_copy_loses_nothing),
      TEST(snapshot_stopped_before_its_delivery_is_in_the_next),
      TEST(snapshot_stopped_in_its_delivery_ends),
      TEST(snapshot_stopped_between_its_slices_ends),
      TEST(snapshot_stopped_at_its_last_slice_leaves_the_loop_asleep),
      TEST(snapshot_closed_on_the_pool_keeps_the_ring_until_it_is_taken),
      TEST(snapshot_closed_before_its_delivery_is_cancelled),
      TEST(snapshot_closed_between_its_slices_is_cancelled),
      TEST(snapshot_closed_in_its_callbacks_is_cancelled),
      TEST(close_after_others_have_closed_all_waits_for_the_thread),
      TEST(snapshot_without_inner_handles_is_refused),
      TEST(snapshot_in_a_forked_child_is_cancelled_by_close),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
