/* SPDX-License-Identifier: MIT */
/* Scripted: what an event handle does if the ring holds bytes that no kernel
 * writes, and if the end comes in ways that cannot be produced here. How a perf
 * fd wakes a loop needs live tests. */
#include "scripted_event.h"
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    {"event_unsound_with_a_gone_target_reports_both",
     "attr comm; init; start h0; turn 3; hup e0; wake e0; turn 1\n"
     "header e0 COMM 0 64; turn 6 -> EPROTO, poll e0, EOF\n"},
    /* P8: poll(2) consumes the wakeup of records written since the drain. */
    {"event_record_between_drain_and_probe_comes_before_eof",
     "attr comm; init; start h0; turn 3; hup e0; at poll e0 'append e0 EXIT'\n"
     "wake e0; turn 6 -> poll e0, EXIT, EOF\n"},
    /* P8, P18: one empty wakeup is normal and costs no poll(2). The second one
     * asks and finds no error. */
    {"event_empty_wakeup_is_silent",
     "attr comm; init; start h0; turn 3; wake e0\n"
     "turn 1 ->\n"
     "turn 1 -> poll e0\n"
     "turn 4 ->\n"
     "active h0 -> 1\n"
     "append e0 COMM; wake e0; turn 2 -> COMM\n"
     "quiet e0\n"},
    /* P9: perf_poll() says POLLERR for a pinned event in error state. */
    {"event_pinned_in_error_state_ends_with_ebadf",
     "attr comm; init; start h0; turn 3; err e0; wake e0\n"
     "turn 6 -> poll e0, EBADF\n"
     "active h0 -> 0\n"},
    /* P9: before Linux 6.15 only read(2) reports it. */
    {"event_pinned_in_error_state_ends_without_pollerr",
     "attr comm pinned=1; words e0 0; init; start h0\n"
     "turn 6 -> read e0 ENOSPC\n"
     "append e0 COMM; size e0 0\n"
     "flush h0 -> COMM\n"
     "flush h0 -> read e0, EBADF\n"
     "active h0 -> 0\n"},
    /* PERF_EVENT_IOC_ENABLE ends the error state: start tries again. */
    {"event_pinned_in_error_state_is_started_after_a_flush",
     "attr comm pinned=1; words e0 0; init; start h0; turn 6; stop h0\n"
     "size e0 0; flush h0 -> \n"
     "size e0 8; start h0; turn 6; active h0 -> 1\n"},
    {"event_probe_fails_ends_with_its_error",
     "attr comm; init; start h0; turn 3; fail poll 1 ENOMEM; wake e0\n"
     "turn 6 -> poll e0 ENOMEM, ENOMEM\n"
     "quiet e0\n"},
};

/* P9: its task was asleep when delivery began, say. */
static void event_pinned_in_error_state_later_ends_by_itself(void **state) {
  static const uint64_t value;
  fake_event_t *fake = fake_event_add(1);
  live_collector_t collector;
  struct perf_event_attr attr;

  delivered[0] = '\0';
  deliveries = 0;
  scripted_event_attr(&attr);
  attr.pinned = 1;
  fake->read_data = &value;
  fake->read_size = sizeof(value);
  live_init(*state, &collector, &attr, NULL);
  assert_int_equal(uvperf_start(&collector.event.handle, NULL,
                                scripted_event_on_record, NULL),
                   0);
  scripted_event_turns(*state, 6);
  fake->read_size = 0;
  assert_int_equal(live_run_until(*state, &deliveries, 1), 1);
  assert_string_equal(delivered, "EBADF");
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(event_pinned_in_error_state_later_ends_by_itself),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_handles, rows, tests);
}
