/* SPDX-License-Identifier: MIT */
/* Scripted: the calls of an event's snapshot, how it reports damaged records,
 * and each call that fails. */
#include "scripted_event.h"

#include <errno.h>

static live_collector_t collector;

static void no_writers(void) {
}

static fake_event_t *begin(uv_loop_t *loop, uvperf_record_cb cb) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  fake_event_t *fake = fake_event_add(7);
  struct perf_event_attr attr;

  delivered[0] = '\0';
  fake_on_membarrier(no_writers);
  scripted_event_attr(&attr);
  uvperf_attr_set_wakeup_events(&attr, 0);
  attr.write_backward = 1;
  options.ring_bytes = 1;
  live_init(loop, &collector, &attr, &options);
  assert_int_equal(uvperf_start(&collector.event.handle, NULL, cb, NULL), 0);
  fake_log_clear();
  return fake;
}

/* A record of a type without a body, except its sample_id. */
static void prepend(fake_event_t *fake, uint32_t type, uint16_t size) {
  struct perf_event_header header = {type, 0, size};
  uint8_t bytes[64] = {0};

  memcpy(bytes, &header, sizeof(header));
  fake_ring_prepend(fake, bytes, 24);
}

/* With TID and TIME that is all of it. */
static void prepend_switch(fake_event_t *fake) {
  prepend(fake, PERF_RECORD_SWITCH, 24);
}

static int take(uint32_t flags) {
  delivered[0] = '\0';
  return uvperf_snapshot(&collector.event.handle, flags, NULL, NULL);
}

static void expect(uint32_t flags, const char *expected) {
  assert_int_equal(take(flags), 0);
  assert_string_equal(delivered, expected);
}

static void expect_corrupt(uint64_t nr) {
  uvperf_stats_t stats;

  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.corrupt, nr);
}

static void end(void) {
  live_close(&collector);
  fake_assert_clean();
}

/* -- damage --------------------------------------------------------------- */

static void event_snapshot_of_an_unsound_body_comes_raw(void **state) {
  fake_event_t *fake = begin(*state, scripted_event_on_record);

  prepend_switch(fake);
  prepend(fake, PERF_RECORD_COMM, 24);
  prepend_switch(fake);
  expect(0, "SWITCH EPROTO+raw SWITCH");
  expect_corrupt(1);
  end();
}

static void
event_snapshot_of_an_unsound_header_has_what_is_newer(void **state) {
  uvperf_stats_t stats;
  uint64_t skipped;
  fake_event_t *fake = begin(*state, scripted_event_on_record);

  prepend_switch(fake);
  prepend(fake, PERF_RECORD_SWITCH, 20);
  skipped = 0 - fake->page->data_head;
  prepend_switch(fake);
  prepend_switch(fake);
  expect(UVPERF_SNAPSHOT_OLDEST_FIRST, "SWITCH SWITCH EPROTO");
  expect_corrupt(1);
  /* It has not ended by that. */
  expect(0, "");
  prepend_switch(fake);
  expect(0, "SWITCH");
  expect(UVPERF_SNAPSHOT_ALL, "SWITCH SWITCH SWITCH EPROTO");
  expect_corrupt(2);
  /* Skipped bytes are counted once. */
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.skipped_bytes, skipped);
  end();
}

static void stop_with_the_second(uvperf_handle_t *handle, int status,
                                 const uvperf_record_t *record) {
  scripted_event_on_record(handle, status, record);
  if (strcmp(delivered, "SWITCH SWITCH") == 0)
    assert_int_equal(uvperf_stop(handle), 0);
}

static void event_snapshot_that_was_stopped_calls_back_no_more(void **state) {
  fake_event_t *fake = begin(*state, stop_with_the_second);

  prepend(fake, PERF_RECORD_SWITCH, 20);
  prepend_switch(fake);
  prepend_switch(fake);
  expect(0, "SWITCH SWITCH");
  expect_corrupt(0);
  end();
}

static void start_without_cb(uvperf_handle_t *handle, int status,
                             const uvperf_record_t *record) {
  scripted_event_on_record(handle, status, record);
  assert_int_equal(uvperf_start(handle, NULL, NULL, NULL), 0);
}

/* After its last record, when only the end is left to report. */
static void event_snapshot_without_a_callback_is_silent(void **state) {
  fake_event_t *fake = begin(*state, start_without_cb);

  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  prepend(fake, PERF_RECORD_SWITCH, 20);
  prepend_switch(fake);
  expect(0, "SWITCH");
  expect_corrupt(0);
  end();
}

static void on_closed(uvperf_handle_t *handle) {
  (void)handle;
  collector.closed += 1;
}

static void close_at_end(uvperf_handle_t *handle, int status,
                         const uvperf_record_t *record) {
  scripted_event_on_record(handle, status, record);
  if (record->type == UVPERF_RECORD_NONE)
    uvperf_close(handle, on_closed);
}

static void event_snapshot_closed_at_its_end_is_clean(void **state) {
  fake_event_t *fake = begin(*state, close_at_end);

  prepend(fake, PERF_RECORD_SWITCH, 20);
  expect(0, "EPROTO");
  scripted_event_turns(*state, 2);
  assert_int_equal(collector.closed, 1);
  fake_assert_clean();
}

static void event_snapshot_of_a_split_head_is_reported_each_time(void **state) {
  fake_event_t *fake = begin(*state, scripted_event_on_record);

  prepend_switch(fake);
  fake->page->data_head -= 4;
  expect(0, "EPROTO");
  expect(0, "EPROTO");
  fake->page->data_head += 4;
  expect(0, "SWITCH");
  end();
}

/* next has found a header of it to be unsound, and ended. */
static void event_snapshot_after_next_has_ended_goes_on(void **state) {
  fake_event_t *fake = begin(*state, scripted_event_on_record);
  uvperf_event_t *event = &collector.event;
  const uvperf_record_t *record;

  /* The ring is one page, so that next takes an unsound header for one that is
   * being written over: it can only be the head. */
  fake->page->data_head -= 4;
  assert_int_equal(uvperf_event_pause(event, 1, NULL), 0);
  assert_int_equal(uvperf_next(&event->handle, &record), UV_EPROTO);
  assert_int_equal(uvperf_next(&event->handle, &record), UV_EOF);
  assert_int_equal(uvperf_event_pause(event, 0, NULL), 0);
  fake->page->data_head += 4;
  prepend_switch(fake);
  expect(0, "SWITCH");
  end();
}

/* -- calls and failures --------------------------------------------------- */

static void event_snapshot_pauses_waits_and_resumes(void **state) {
  fake_event_t *fake = begin(*state, scripted_event_on_record);

  prepend_switch(fake);
  expect(0, "SWITCH");
  assert_string_equal(fake_log(),
                      "ioctl PAUSE_OUTPUT, membarrier, ioctl PAUSE_OUTPUT");
  fake_log_clear();
  prepend_switch(fake);
  expect(UVPERF_SNAPSHOT_NO_WAIT, "SWITCH");
  assert_string_equal(fake_log(), "ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT");
  fake_log_clear();
  assert_int_equal(take(8), UV_EINVAL);
  assert_string_equal(fake_log(), "");
  end();
}

static void event_snapshot_that_cannot_pause_delivers_nothing(void **state) {
  static const struct {
    int code;
    int cause;
  } rows[] = {{-EINVAL, UVPERF_CAUSE_UNKNOWN},
              {-EPERM, UVPERF_CAUSE_PERMISSION},
              {-EACCES, UVPERF_CAUSE_PERMISSION}};
  fake_event_t *fake;
  uvperf_error_t error;
  size_t i;

  for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    fake = begin(*state, scripted_event_on_record);
    prepend_switch(fake);
    fake_fail(FAKE_IOCTL, 1, rows[i].code);
    assert_int_equal(uvperf_snapshot(&collector.event.handle, 0, NULL, &error),
                     rows[i].code);
    assert_int_equal(error.cause, rows[i].cause);
    assert_string_equal(delivered, "");
    assert_string_equal(fake_log(), "ioctl PAUSE_OUTPUT failed");
    expect(0, "SWITCH");
    end();
  }
}

static void event_snapshot_that_cannot_wait_delivers(void **state) {
  fake_event_t *fake = begin(*state, scripted_event_on_record);

  prepend_switch(fake);
  fake_fail(FAKE_MEMBARRIER, 1, -EPERM);
  expect(0, "SWITCH");
  end();
}

static void event_snapshot_that_cannot_resume_delivers_and_fails(void **state) {
  fake_event_t *fake = begin(*state, scripted_event_on_record);

  prepend_switch(fake);
  fake_fail(FAKE_IOCTL, 2, -EIO);
  assert_int_equal(take(0), UV_EIO);
  assert_string_equal(delivered, "SWITCH");
  /* The next one tries again. */
  fake_log_clear();
  expect(UVPERF_SNAPSHOT_NO_WAIT, "");
  assert_string_equal(fake_log(), "ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT");
  end();
}

static void event_snapshot_without_memory_calls_nothing(void **state) {
  fake_event_t *fake = begin(*state, scripted_event_on_record);

  prepend_switch(fake);
  fake_fail(FAKE_CALLOC, 1, -ENOMEM);
  assert_int_equal(take(0), UV_ENOMEM);
  assert_string_equal(fake_log(), "");
  expect(0, "SWITCH");
  end();
}

#define TEST(f)                                                                \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(event_snapshot_of_an_unsound_body_comes_raw),
      TEST(event_snapshot_of_an_unsound_header_has_what_is_newer),
      TEST(event_snapshot_that_was_stopped_calls_back_no_more),
      TEST(event_snapshot_without_a_callback_is_silent),
      TEST(event_snapshot_closed_at_its_end_is_clean),
      TEST(event_snapshot_of_a_split_head_is_reported_each_time),
      TEST(event_snapshot_after_next_has_ended_goes_on),
      TEST(event_snapshot_pauses_waits_and_resumes),
      TEST(event_snapshot_that_cannot_pause_delivers_nothing),
      TEST(event_snapshot_that_cannot_wait_delivers),
      TEST(event_snapshot_that_cannot_resume_delivers_and_fails),
      TEST(event_snapshot_without_memory_calls_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
