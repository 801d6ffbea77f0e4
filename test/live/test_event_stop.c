/* SPDX-License-Identifier: MIT */
/* Live: stop inside a flush: no callback runs afterwards until the next start
 * or flush, whether the handle was started or not. */
#include "live.h"

static void stop_at_3(live_collector_t *collector,
                      const uvperf_record_t *record) {
  (void)record;
  if (collector->records == 2)
    assert_int_equal(uvperf_stop(&collector->event.handle), 0);
}

static void flush_until_stopped(live_collector_t *collector) {
  collector->hook = stop_at_3;
  assert_int_equal(uvperf_flush(&collector->event.handle), 0);
  assert_int_equal(collector->comms, 3);
  assert_int_equal(uvperf_flush(&collector->event.handle), 0);
  assert_int_equal(collector->comms, 10);
  assert_int_equal(collector->out_of_order, 0);
  live_close(collector);
}

static void event_stopped_in_flush_keeps_the_rest(void **state) {
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  live_comm(&next, 10);
  flush_until_stopped(&collector);
}

static void event_stopped_in_flush_when_stopped_keeps_the_rest(void **state) {
  live_collector_t collector;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_init_comm(*state, &collector);
  live_start(&collector, NULL);
  live_comm(&next, 10);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  flush_until_stopped(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_stopped_in_flush_keeps_the_rest),
      support_loop_test(event_stopped_in_flush_when_stopped_keeps_the_rest),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
