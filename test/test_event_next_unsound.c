/* SPDX-License-Identifier: MIT */
/* Scripted: a ring that next has found to be unsound is told once; whoever
 * starts then is told that delivery has ended. */
#include "story.h"

static void event_started_after_next_found_it_unsound_is_eof(void **state) {
  live_collector_t collector;
  const uvperf_record_t *record;
  fake_event_t *fake;

  fake = story_open(*state, &collector);
  assert_int_equal(uvperf_event_stop(&collector.event), 0);
  story_append_header(fake, PERF_RECORD_SAMPLE, 4, 8);
  assert_int_equal(uvperf_event_next(&collector.event, &record), UV_EPROTO);
  assert_null(record);
  assert_int_equal(uvperf_event_next(&collector.event, &record), UV_EOF);
  assert_int_equal(
      uvperf_event_start(&collector.event, NULL, story_on_record, NULL),
      UV_EOF);
  story_turns(*state, 5);
  assert_string_equal(story, "");
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_started_after_next_found_it_unsound_is_eof),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
