/* SPDX-License-Identifier: MIT */
/* Live: THROTTLE and UNTHROTTLE of an event that overflows more often than
 * perf_event_max_sample_rate allows. */
#include "live_sideband.h"

#include <time.h>
#include <unistd.h>

#define TRACEPOINT "sched:sched_stat_runtime"
#define PAIRS      3

typedef struct throttles_s {
  live_truth_t truth;
  uint64_t id;
  uint64_t time; /* of the last record */
  uint64_t throttles, unthrottles;
} throttles_t;

static void check_throttle(live_collector_t *collector,
                           const uvperf_record_t *record) {
  throttles_t *throttles = collector->hook_data;
  const uvperf_throttle_t *throttle = &record->throttle;
  int is_on = throttles->throttles > throttles->unthrottles;

  if (record->type == PERF_RECORD_SAMPLE)
    return;
  assert_int_equal(record->type,
                   is_on ? PERF_RECORD_UNTHROTTLE : PERF_RECORD_THROTTLE);
  assert_true(throttle->id == throttles->id);
  assert_true(throttle->stream_id == throttles->id);
  assert_true(throttle->time >= throttles->time);
  assert_true(throttle->time <= live_now());
  live_assert_trailer(collector, record, &throttles->truth);
  /* The trailer is stamped after the body: perf_log_throttle(). */
  if (record->present != 0)
    assert_true(record->time >= throttle->time);
  throttles->time = throttle->time;
  if (is_on)
    throttles->unthrottles += 1;
  else
    throttles->throttles += 1;
}

/* Without PERF_SAMPLE_PERIOD an event whose value is a time overflows once for
 * each period in it, at once: perf_tp_event() and perf_swevent_overflow(). The
 * period is so short that a little time on the CPU is enough, even if other
 * tasks need the CPU. */
static void throttle_attr(struct perf_event_attr *attr, uint64_t tracepoint,
                          int has_trailer) {
  uvperf_attr_tracepoint(attr, tracepoint);
  uvperf_attr_set_period(attr, 500); /* ns */
  uvperf_attr_set_wakeup_bytes(attr, 1);
  attr->sample_type = LIVE_TRAILER;
  attr->sample_id_all = has_trailer != 0;
  attr->use_clockid = 1;
  attr->clockid = CLOCK_MONOTONIC;
}

static void spin_ms(uint64_t ms) {
  uint64_t end = live_now() + ms * 1000000;

  while (live_now() < end)
    continue;
}

/* Gives the pairs that came of one event. The next tick of the CPU ends the
 * throttling, perf_adjust_freq_unthr_context(), or the next switch to the task,
 * perf_event_sched_in(). After the latter a tracepoint of Linux 6.18 stays
 * stopped: perf_trace_add() leaves PERF_HES_STOPPED as it is. */
static uint64_t throttle_once(uv_loop_t *loop, uint64_t tracepoint,
                              int has_trailer) {
  live_collector_t collector;
  struct perf_event_attr attr;
  throttles_t throttles;
  uvperf_stats_t stats;
  cpu_set_t old;
  int slice;

  memset(&throttles, 0, sizeof(throttles));
  live_truth_pin(&throttles.truth, &old);
  throttles.time = throttles.truth.before;
  throttle_attr(&attr, tracepoint, has_trailer);
  live_begin(loop, &collector, &attr, NULL, check_throttle, &throttles);
  assert_int_equal(uvperf_event_id(&collector.event, &throttles.id), 0);
  for (slice = 0; slice < 32 && throttles.unthrottles < PAIRS; slice++) {
    spin_ms(1);
    uv_run(loop, UV_RUN_NOWAIT);
  }
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.lost_records, 0);
  assert_int_equal(stats.corrupt, 0);
  live_close(&collector);
  live_unpin(&old);
  assert_in_range(throttles.throttles, throttles.unthrottles,
                  throttles.unthrottles + 1);
  return throttles.unthrottles;
}

static void throttle(uv_loop_t *loop, uint64_t tracepoint, int has_trailer) {
  uint64_t deadline = live_now() + UINT64_C(20000000000);
  uint64_t pairs = 0;

  while (pairs < PAIRS && live_now() < deadline)
    pairs += throttle_once(loop, tracepoint, has_trailer);
  assert_true(pairs >= PAIRS);
}

static void sideband_throttle_and_unthrottle_come_in_turn(void **state) {
  uint64_t tracepoint;

  support_need_kernel_side(__func__);
  tracepoint = support_need_tracepoint(__func__, TRACEPOINT);
  throttle(*state, tracepoint, 1);
}

static void sideband_throttle_without_trailer_has_its_own_ids(void **state) {
  uint64_t tracepoint;

  support_need_kernel_side(__func__);
  tracepoint = support_need_tracepoint(__func__, TRACEPOINT);
  throttle(*state, tracepoint, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sideband_throttle_and_unthrottle_come_in_turn),
      support_loop_test(sideband_throttle_without_trailer_has_its_own_ids),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
