/* SPDX-License-Identifier: MIT */
/* Live: a process without privileges samples its own page faults with a clock
 * of its own, beside a set of root's in the order of time that samples all page
 * faults. */
#include "live_stream.h"

#include <time.h>

#include "live_neighbour.h"

#define NS_PER_MS UINT64_C(1000000)

/* No two clocks of the kernel are this far apart by chance. */
#define FAR_NS (UINT64_C(3600000) * NS_PER_MS)

#define BEATS   100
#define BEAT_MS 3

/* What the callbacks received. A beat is a system call of the test. */
typedef struct seen_s {
  uint64_t beats;
  uint64_t longest_ns; /* from a beat to its callback */
  uint64_t far;        /* records that the kernel wrote a time into that is far
                        * from now */
  uint64_t newest;     /* time */
  uint64_t late;       /* that came after a later one */
} seen_t;

static int is_far(uint64_t time, uint64_t now) {
  return time > now + FAR_NS || time + FAR_NS < now;
}

/* The time that the kernel wrote: after the header, the id and the task. */
static uint64_t written_time(const uvperf_record_t *record) {
  uint64_t time;

  memcpy(&time, (const uint8_t *)record->bytes + 24, sizeof(time));
  return time;
}

static void see(live_stream_t *stream, const uvperf_record_t *record) {
  seen_t *seen = stream->hook_data;
  uint64_t now = live_now();

  if (record->type == UVPERF_RECORD_NONE ||
      !(record->present & PERF_SAMPLE_TIME))
    return;
  assert_false(is_far(record->time, now));
  if (record->type == PERF_RECORD_SAMPLE && is_far(written_time(record), now)) {
    seen->far += 1;
    return;
  }
  seen->late += record->time < seen->newest;
  if (seen->newest < record->time)
    seen->newest = record->time;
  if (record->type != PERF_RECORD_SAMPLE || record->source == NULL ||
      record->source->attr_index != 1)
    return;
  seen->beats += 1;
  if (now > record->time && now - record->time > seen->longest_ns)
    seen->longest_ns = now - record->time;
}

/* Page faults of all, system calls of this thread. */
static void open_set(uv_loop_t *loop, live_stream_t *stream, live_plan_t *plan,
                     seen_t *seen, uint64_t tracepoint) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_error_t error;
  char filter[64];

  live_stream_plan(plan);
  live_stream_plan_mode(plan, 1);
  plan->options.wakeup_bytes = 0;
  live_touch_attr(live_plan_attr(plan), PERF_SAMPLE_TID);
  live_syscall_attr(live_plan_attr(plan), tracepoint, PERF_SAMPLE_TID);
  live_stream_plan_target(plan, UVPERF_TARGET_CPUS, 0);
  live_stream_open(loop, stream, &plan->options);
  snprintf(filter, sizeof(filter), "common_pid == %u", live_tid());
  assert_int_equal(
      uvperf_apply_filter(&stream->live.set.handle, 1, filter, &error), 0);
  memset(seen, 0, sizeof(*seen));
  stream->on_record = see;
  stream->hook_data = seen;
  live_stream_start(stream, &options);
}

/* On one CPU after the other, one of which is the neighbour's. */
static void beat(uv_loop_t *loop, const int *cpus, size_t nr) {
  cpu_set_t old;
  int i;

  for (i = 0; i < BEATS; i++) {
    live_pin(cpus[(size_t)i % nr], &old);
    live_syscall(1);
    live_unpin(&old);
    live_run_ms(loop, BEAT_MS);
  }
}

/* Without a flush. */
static void wait_for_beats(uv_loop_t *loop, live_stream_t *stream,
                           uint64_t nr) {
  const seen_t *seen = stream->hook_data;
  uint64_t lost = live_set_read(&stream->live, 1).lost;

  assert_true(live_run_until(loop, &seen->beats, nr - lost));
}

static uvperf_stats_t stats_of(const live_stream_t *stream) {
  uvperf_stats_t stats;

  uvperf_stats(&stream->live.set.handle, &stats);
  return stats;
}

static void run_beside(uv_loop_t *loop, uint64_t tracepoint, int clockid,
                       int clock_is_far) {
  live_neighbour_plan_t how = {0, clockid, PERF_SAMPLE_TID, 0};
  live_neighbour_t neighbour;
  live_stream_t stream;
  uvperf_stats_t stats;
  live_plan_t plan;
  uint64_t late, records;
  seen_t seen;
  int cpus[2];
  size_t nr;

  nr = live_cpus(cpus, 2);
  how.cpu = cpus[0];
  live_neighbour_start(&neighbour, &how);
  open_set(loop, &stream, &plan, &seen, tracepoint);
  beat(loop, cpus, nr);
  wait_for_beats(loop, &stream, BEATS);
  live_neighbour_end(&neighbour);
  assert_int_equal(uvperf_flush(&stream.live.set.handle), 0);
  late = stats_of(&stream).late_records;
  records = stream.records;
  beat(loop, cpus, nr);
  wait_for_beats(loop, &stream, 2 * BEATS);
  assert_int_equal(uvperf_flush(&stream.live.set.handle), 0);
  stats = stats_of(&stream);
  print_message(
      "clock %d: %llu records, %llu bad times, %llu late while the "
      "neighbour was there and %llu after it; longest delay %llu us\n",
      clockid, (unsigned long long)stream.records,
      (unsigned long long)stats.bad_times, (unsigned long long)late,
      (unsigned long long)(stats.late_records - late),
      (unsigned long long)(seen.longest_ns / 1000));
  assert_true(stream.by_attr[0] > 0);
  assert_int_equal(seen.beats + live_set_read(&stream.live, 1).lost, 2 * BEATS);
  /* Records of other processes can now be late for other reasons, but that is
   * rare. A loaded machine has many records. */
  assert_true(stats.late_records - late <
              BEATS / 10 + (stream.records - records) / 1000);
  if (clock_is_far) {
    assert_true(stats.bad_times > 0);
    assert_int_equal(stats.bad_times, seen.far);
    assert_int_equal(stats.late_records, seen.late);
  }
  live_stream_close(&stream);
}

/* Decades ahead. */
static void set_beside_far_clocks_goes_on_in_order(void **state) {
  uint64_t tracepoint;

  support_need_root(__func__);
  live_neighbour_need_shared_samples(__func__);
  support_need_cpu_wide(__func__);
  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  run_beside(*state, tracepoint, CLOCK_REALTIME, 1);
  run_beside(*state, tracepoint, CLOCK_TAI, 1);
}

/* These clocks may be ahead of the set's or behind it, but by no more than the
 * machine's uptime. */
static void set_beside_near_clocks_goes_on(void **state) {
  uint64_t tracepoint;

  support_need_root(__func__);
  support_need_cpu_wide(__func__);
  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  run_beside(*state, tracepoint, CLOCK_BOOTTIME, 0);
  run_beside(*state, tracepoint, CLOCK_MONOTONIC_RAW, 0);
  run_beside(*state, tracepoint, LIVE_NEIGHBOUR_NO_CLOCK, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_beside_far_clocks_goes_on_in_order),
      support_loop_test(set_beside_near_clocks_goes_on),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
