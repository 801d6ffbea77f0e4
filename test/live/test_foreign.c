/* SPDX-License-Identifier: MIT */
/* Live: other events that sample the same page faults, with more fields. The
 * kernel then makes our samples longer and gives them the other ids. Which
 * event is affected depends on the order of opening. */
#include "live_stream.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "live_neighbour.h"

#define PLAIN (PERF_SAMPLE_TID | PERF_SAMPLE_ADDR)
#define STACK (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER)

/* As in perf record -g, with a second event in the file. */
#define PERF_RECORD_G                                                          \
  (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |                 \
   PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |                   \
   PERF_SAMPLE_CALLCHAIN)

/* An event of the page faults of a task, or of a CPU with pid -1, that counts
 * from now on. It needs no ring. Past the library. */
static int open_foreign(pid_t pid, int cpu, uint64_t sample_type) {
  struct perf_event_attr attr;

  live_touch_attr(&attr, sample_type);
  attr.disabled = 0;
  attr.sample_id_all = 1;
  if (sample_type & PERF_SAMPLE_REGS_USER)
    attr.sample_regs_user = 7;
  if (sample_type & PERF_SAMPLE_STACK_USER)
    attr.sample_stack_user = 512;
  return (int)syscall(SYS_perf_event_open, &attr, pid, cpu, -1,
                      PERF_FLAG_FD_CLOEXEC);
}

/* The records of a touched region. */
typedef struct seen_s {
  const char *region;
  const uvperf_source_t *source; /* the event's, if it is known */
  uint64_t touches;
  uint64_t surplus;
  uint64_t wrong_ids;
} seen_t;

static void see(seen_t *seen, const uvperf_record_t *record) {
  uint64_t first = live_touched(seen->region, 0);
  uint64_t last = live_touched(seen->region, LIVE_PAGES - 1);

  if (record->type != PERF_RECORD_SAMPLE || record->addr < first ||
      record->addr > last)
    return;
  assert_int_equal(record->tid, live_tid());
  assert_int_equal(record->addr, live_touched(seen->region, seen->touches));
  assert_non_null(record->source);
  if (record->present & PERF_SAMPLE_CALLCHAIN)
    assert_in_range(record->sample.callchain.nr, 1, 200);
  if (record->present & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER))
    seen->wrong_ids += record->id != record->source->ids[0];
  seen->touches += 1;
  seen->surplus += record->sample.surplus_bytes;
}

static void begin(seen_t *seen) {
  memset(seen, 0, sizeof(*seen));
  seen->region = live_region();
}

/* -- an event ------------------------------------------------------------- */

static void see_of_event(live_collector_t *collector,
                         const uvperf_record_t *record) {
  see(collector->hook_data, record);
}

/* The other event is opened first, or last. Returns the surplus. */
static uint64_t run_event(uv_loop_t *loop, uint64_t ours, uint64_t theirs,
                          int is_first) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_stats_t stats;
  seen_t seen;
  int fd = -1;

  begin(&seen);
  live_touch_attr(&attr, ours);
  if (is_first)
    fd = open_foreign(0, -1, theirs);
  live_begin(loop, &collector, &attr, NULL, see_of_event, &seen);
  if (!is_first)
    fd = open_foreign(0, -1, theirs);
  assert_true(fd >= 0);
  live_touch((char *)(uintptr_t)seen.region);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(live_run_until(loop, &seen.touches, LIVE_PAGES), 1);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.corrupt, 0);
  assert_true(stats.surplus_bytes >= seen.surplus);
  assert_true(seen.surplus == 0 || stats.surplus_bytes > 0);
  live_close(&collector);
  close(fd);
  live_region_free((char *)(uintptr_t)seen.region);
  return seen.surplus;
}

static void event_beside_one_with_more_fields_loses_nothing(void **state) {
  static const uint64_t ours[] = {PLAIN, PLAIN | PERF_SAMPLE_IP,
                                  PLAIN | PERF_SAMPLE_ID,
                                  PLAIN | PERF_SAMPLE_CALLCHAIN};
  static const uint64_t theirs[] = {
      PLAIN | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW, PERF_RECORD_G | STACK,
      PERF_SAMPLE_ID | STACK};
  uint64_t surplus;
  size_t i, j;

  support_need_own_events(__func__);
  live_neighbour_need_shared_samples(__func__);
  for (i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
    for (j = 0; j < sizeof(theirs) / sizeof(theirs[0]); j++) {
      surplus = run_event(*state, ours[i], theirs[j], 0);
      surplus += run_event(*state, ours[i], theirs[j], 1);
      assert_true(surplus > 0);
    }
  }
}

/* -- a set ---------------------------------------------------------------- */

static void see_of_set(live_stream_t *stream, const uvperf_record_t *record) {
  if (record->type != UVPERF_RECORD_NONE)
    see(stream->hook_data, record);
}

static void open_set(uv_loop_t *loop, live_stream_t *stream, live_plan_t *plan,
                     seen_t *seen, size_t mode, uint32_t target) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  live_stream_plan(plan);
  live_stream_plan_mode(plan, mode);
  live_touch_attr(live_plan_attr(plan), PLAIN);
  live_stream_plan_target(plan, target, 0);
  live_stream_open(loop, stream, &plan->options);
  stream->on_record = see_of_set;
  stream->hook_data = seen;
  live_stream_start(stream, &options);
}

/* Touches, and expects each to be a sample of the set's own event. */
static void end_set(live_stream_t *stream, seen_t *seen,
                    uvperf_stats_t *stats) {
  uv_loop_t *loop = stream->live.set.handle.loop;
  cpu_set_t old;

  live_pin(live_last_cpu(), &old);
  live_touch((char *)(uintptr_t)seen->region);
  live_unpin(&old);
  assert_int_equal(live_run_until(loop, &seen->touches, LIVE_PAGES), 1);
  uvperf_stats(&stream->live.set.handle, stats);
  assert_int_equal(stream->corrupt, 0);
  assert_int_equal(stream->faults, 0);
  assert_int_equal(stream->foreign, 0);
  assert_int_equal(stats->corrupt, 0);
  live_stream_close(stream);
  live_region_free((char *)(uintptr_t)seen->region);
}

static void set_beside_one_with_another_id_knows_its_own_samples(void **state) {
  uint64_t wrong_ids = 0;
  live_stream_t stream;
  uvperf_stats_t stats;
  live_plan_t plan;
  size_t mode, is_first;
  seen_t seen;
  int fd = -1;

  support_need_own_events(__func__);
  live_neighbour_need_shared_samples(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    for (is_first = 0; is_first < 2; is_first++) {
      begin(&seen);
      if (is_first)
        fd = open_foreign(0, -1, PERF_RECORD_G);
      open_set(*state, &stream, &plan, &seen, mode, UVPERF_TARGET_SELF);
      if (!is_first)
        fd = open_foreign(0, -1, PERF_RECORD_G);
      assert_true(fd >= 0);
      end_set(&stream, &seen, &stats);
      close(fd);
      wrong_ids += seen.wrong_ids;
    }
  }
  assert_true(wrong_ids > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_beside_one_with_more_fields_loses_nothing),
      support_loop_test(set_beside_one_with_another_id_knows_its_own_samples),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
