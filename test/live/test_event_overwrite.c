/* SPDX-License-Identifier: MIT */
/* Overwritable rings of this kernel: the contents of a snapshot, and what is
 * reported about the missing records. */
#include "live.h"

/* A ring of one page that keeps the newest writes to live_word. */
static void open_recorder(uv_loop_t *loop, live_collector_t *collector) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  live_write_attr(&attr, PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
  attr.write_backward = 1;
  attr.watermark = 0;
  attr.wakeup_events = 0;
  options.ring_bytes = 1;
  live_init(loop, collector, &attr, &options);
}

/* header, time, address */
#define RECORD_BYTES 24

typedef struct snapshot_s {
  uint64_t samples;
  uint64_t lost;
  uint64_t disordered; /* not older than the one before */
  uint64_t others;
  uint64_t newest; /* time */
  uint64_t oldest;
} snapshot_t;

static void take(live_collector_t *collector, snapshot_t *snapshot) {
  const uvperf_record_t *record;
  int rc;

  memset(snapshot, 0, sizeof(*snapshot));
  while ((rc = uvperf_next(&collector->event.handle, &record)) == 0) {
    if (record->type == PERF_RECORD_LOST) {
      snapshot->lost += record->lost.lost;
      continue;
    }
    if (record->type != PERF_RECORD_SAMPLE || record->size != RECORD_BYTES ||
        record->addr != (uintptr_t)&live_word) {
      snapshot->others += 1;
      continue;
    }
    if (snapshot->samples == 0)
      snapshot->newest = record->time;
    else
      snapshot->disordered += record->time >= snapshot->oldest;
    snapshot->oldest = record->time;
    snapshot->samples += 1;
  }
  assert_int_equal(rc, UV_EAGAIN);
  assert_int_equal(snapshot->disordered, 0);
  assert_int_equal(snapshot->others, 0);
}

static void take_paused(live_collector_t *collector, snapshot_t *snapshot) {
  assert_int_equal(uvperf_event_pause(&collector->event, 1, NULL), 0);
  take(collector, snapshot);
  assert_int_equal(uvperf_event_pause(&collector->event, 0, NULL), 0);
}

static void overwrite_snapshot_holds_the_newest_in_order(void **state) {
  uint64_t fit = support_page_bytes() / RECORD_BYTES;
  live_collector_t collector;
  snapshot_t first, second, third;
  uvperf_stats_t stats;

  support_need_breakpoints(__func__);
  open_recorder(*state, &collector);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  /* It has gone round many times, and 24 bytes do not divide a page. */
  live_write(10000);
  take_paused(&collector, &first);
  assert_int_equal(first.samples, fit);
  /* Only the records since then. */
  live_write(3);
  take_paused(&collector, &second);
  assert_int_equal(second.samples, 3);
  assert_true(second.oldest > first.newest);
  live_write(5000);
  take_paused(&collector, &third);
  assert_int_equal(third.samples, fit);
  assert_true(third.oldest > second.newest);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.cut_records,
                   support_page_bytes() % RECORD_BYTES != 0 ? 2 : 0);
  assert_int_equal(stats.high_water_bytes, support_page_bytes());
  assert_int_equal(stats.corrupt, 0);
  live_close(&collector);
}

static void overwrite_next_while_not_paused_is_ebusy(void **state) {
  const uvperf_record_t *record;
  live_collector_t collector;

  support_need_breakpoints(__func__);
  open_recorder(*state, &collector);
  assert_int_equal(uvperf_next(&collector.event.handle, &record), UV_EBUSY);
  assert_null(record);
  assert_int_equal(uvperf_event_pause(&collector.event, 1, NULL), 0);
  assert_int_equal(uvperf_next(&collector.event.handle, &record), UV_EAGAIN);
  live_close(&collector);
}

/* The first start enables it; nothing is delivered by itself. */
static void overwrite_ring_is_started_without_a_callback(void **state) {
  live_collector_t collector;
  snapshot_t snapshot;

  support_need_breakpoints(__func__);
  open_recorder(*state, &collector);
  assert_int_equal(uvperf_start(&collector.event.handle, NULL, NULL, NULL), 0);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 0);
  live_write(5);
  live_run_ms(*state, 1);
  assert_int_equal(uvperf_flush(&collector.event.handle), UV_EINVAL);
  take_paused(&collector, &snapshot);
  assert_int_equal(snapshot.samples, 5);
  live_write(3);
  assert_int_equal(uvperf_stop(&collector.event.handle), 0);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  live_write(5);
  take_paused(&collector, &snapshot);
  assert_int_equal(snapshot.samples, 3);
  live_close(&collector);
}

static void some_writes(void *arg) {
  live_write(4);
}

static void
overwrite_ring_of_a_target_that_ended_is_read_then_eof(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  const uvperf_record_t *record;
  live_collector_t collector;
  struct perf_event_attr attr;
  live_worker_t worker;
  snapshot_t snapshot;

  support_need_breakpoints(__func__);
  live_worker_fork(&worker, some_writes, NULL);
  live_write_attr(&attr, PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR);
  attr.write_backward = 1;
  options.pid = worker.pid;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_worker_do(&worker);
  live_worker_end(&worker);
  assert_int_equal(uvperf_event_pause(&collector.event, 1, NULL), 0);
  take(&collector, &snapshot);
  assert_int_equal(snapshot.samples, 4);
  assert_int_equal(uvperf_next(&collector.event.handle, &record), UV_EOF);
  live_close(&collector);
}

/* Records of every size, in a ring that wraps: each is whole. */
static void overwrite_snapshot_of_call_chains_is_whole(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  const uvperf_record_t *record;
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t samples, bytes;
  int round;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_ADDR | PERF_SAMPLE_CALLCHAIN |
                             PERF_SAMPLE_STACK_USER);
  attr.write_backward = 1;
  attr.sample_stack_user = 200;
  options.ring_bytes = 1;
  live_init(*state, &collector, &attr, &options);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  for (round = 1; round <= 50; round++) {
    live_write((uint64_t)round);
    assert_int_equal(uvperf_event_pause(&collector.event, 1, NULL), 0);
    samples = 0;
    bytes = 0;
    while (uvperf_next(&collector.event.handle, &record) == 0) {
      if (record->type != PERF_RECORD_SAMPLE)
        continue;
      assert_int_equal(record->addr, (uintptr_t)&live_word);
      assert_int_equal(record->sample.stack_user.size, 200);
      samples += 1;
      bytes = record->size;
    }
    assert_int_equal(uvperf_event_pause(&collector.event, 0, NULL), 0);
    if ((uint64_t)round * bytes <= support_page_bytes())
      assert_int_equal(samples, round);
    else
      assert_in_range(samples, support_page_bytes() / bytes - 1, round);
  }
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(overwrite_snapshot_holds_the_newest_in_order),
      support_loop_test(overwrite_next_while_not_paused_is_ebusy),
      support_loop_test(overwrite_ring_is_started_without_a_callback),
      support_loop_test(overwrite_ring_of_a_target_that_ended_is_read_then_eof),
      support_loop_test(overwrite_snapshot_of_call_chains_is_whole),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
