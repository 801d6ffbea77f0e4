/* SPDX-License-Identifier: MIT */
#include "live_sideband.h"

#include <time.h>
#include <unistd.h>

void live_sideband_attr(struct perf_event_attr *attr, int has_trailer) {
  live_comm_attr(attr);
  attr->comm = 0;
  attr->sample_type = LIVE_TRAILER;
  attr->sample_id_all = has_trailer != 0;
  attr->use_clockid = 1;
  attr->clockid = CLOCK_MONOTONIC;
}

static void assert_no_trailer(const uvperf_record_t *record) {
  assert_true(record->present == 0);
  assert_int_equal(record->pid, 0);
  assert_int_equal(record->tid, 0);
  assert_true(record->time == 0);
  assert_true(record->id == 0);
  assert_true(record->stream_id == 0);
  assert_int_equal(record->cpu, 0);
}

void live_assert_trailer(live_collector_t *collector,
                         const uvperf_record_t *record,
                         const live_truth_t *truth) {
  const struct perf_event_attr *attr =
      uvperf_handle_attr(&collector->event.handle, 0);
  uint64_t id;

  assert_ptr_not_equal(record->source, NULL);
  if (!attr->sample_id_all) {
    assert_no_trailer(record);
    return;
  }
  assert_int_equal(uvperf_event_id(&collector->event, &id), 0);
  assert_true(record->present == LIVE_TRAILER);
  assert_int_equal(record->pid, (uint32_t)truth->pid);
  assert_int_equal(record->tid, (uint32_t)truth->tid);
  assert_true(record->time >= truth->before && record->time <= live_now());
  assert_true(record->id == id);
  /* An inherited event has a stream of its own. */
  if (attr->inherit)
    assert_true(record->stream_id != 0);
  else
    assert_true(record->stream_id == id);
  assert_int_equal(record->cpu, truth->cpu);
}

void live_truth_pin(live_truth_t *truth, cpu_set_t *old) {
  truth->cpu = live_last_cpu();
  live_pin(truth->cpu, old);
  truth->pid = getpid();
  truth->tid = (pid_t)live_tid();
  truth->before = live_now();
}

void live_end_among_others(live_collector_t *collector, const uint64_t *counter,
                           uint64_t nr) {
  uv_loop_t *loop = collector->event.handle.loop;
  uvperf_stats_t stats;

  assert_int_equal(uvperf_disable(&collector->event.handle, 0, NULL), 0);
  live_run_until(loop, counter, nr);
  /* Any other record is one too many. */
  assert_int_equal(uvperf_flush(&collector->event.handle), 0);
  uvperf_stats(&collector->event.handle, &stats);
  assert_int_equal(*counter, nr);
  assert_int_equal(stats.lost_records, 0);
  assert_int_equal(stats.corrupt, 0);
  live_close(collector);
}
