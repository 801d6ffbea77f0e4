/* SPDX-License-Identifier: MIT */
/* Scripted: the calls of an event's snapshot. How it reports damage is in
 * live/test_life_damage.c. */
#include "scripted_event.h"

static live_collector_t collector;

static void no_writers(void) {
}

static fake_event_t *begin(uv_loop_t *loop) {
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
  assert_int_equal(uvperf_start(&collector.event.handle, NULL,
                                scripted_event_on_record, NULL),
                   0);
  fake_log_clear();
  return fake;
}

/* With TID and TIME its sample_id is all of it. */
static void prepend_switch(fake_event_t *fake) {
  const struct perf_event_header header = {PERF_RECORD_SWITCH, 0, 24};
  uint8_t bytes[24] = {0};

  memcpy(bytes, &header, sizeof(header));
  fake_ring_prepend(fake, bytes, sizeof(bytes));
}

static void expect(uint32_t flags, const char *expected) {
  delivered[0] = '\0';
  assert_int_equal(uvperf_snapshot(&collector.event.handle, flags, NULL, NULL),
                   0);
  assert_string_equal(delivered, expected);
}

static void end(void) {
  live_close(&collector);
  fake_assert_clean();
}

/* next has found a header of it to be unsound, and ended. */
static void event_snapshot_after_next_has_ended_goes_on(void **state) {
  fake_event_t *fake = begin(*state);
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

static void event_snapshot_pauses_waits_and_resumes(void **state) {
  fake_event_t *fake = begin(*state);

  prepend_switch(fake);
  expect(0, "SWITCH");
  assert_string_equal(fake_log(),
                      "ioctl PAUSE_OUTPUT, membarrier, ioctl PAUSE_OUTPUT");
  fake_log_clear();
  prepend_switch(fake);
  expect(UVPERF_SNAPSHOT_NO_WAIT, "SWITCH");
  assert_string_equal(fake_log(), "ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT");
  end();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(event_snapshot_after_next_has_ended_goes_on),
      fake_kernel_test(event_snapshot_pauses_waits_and_resumes),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
