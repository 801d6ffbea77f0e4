/* SPDX-License-Identifier: MIT */
/* Scripted: a ring that next has found unreadable. It is reported once, and
 * start fails. */
#include "scripted_event.h"

static void
event_started_after_next_found_a_split_head_is_eproto(void **state) {
  live_collector_t collector;
  const uvperf_record_t *record;
  fake_event_t *fake;

  fake = scripted_event_open(*state, &collector);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  fake->page->data_head += 4;
  assert_int_equal(uvperf_next(&collector.event.handle, &record), UV_EPROTO);
  assert_int_equal(record->type, UVPERF_RECORD_NONE);
  assert_int_equal(uvperf_next(&collector.event.handle, &record), UV_EOF);
  assert_int_equal(uvperf_start(&collector.event.handle, NULL,
                                scripted_event_on_record, NULL),
                   UV_EPROTO);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  scripted_event_turns(*state, 5);
  assert_string_equal(delivered, "");
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_started_after_next_found_a_split_head_is_eproto),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
