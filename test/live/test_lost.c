/* SPDX-License-Identifier: MIT */
/* Lost records as one number, whether or not a LOST record reports them. A
 * reader's are in test_bpf_reader.c. */
#include "live_stream.h"

#define WRITTEN 1000 /* more than fit into a page */

static void need_lost(const char *test) {
  support_need_own_events(test);
  if (uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST) != 1)
    support_skip(test, "PERF_FORMAT_LOST, Linux 6.0");
}

static uint64_t lost_of(const uvperf_handle_t *handle) {
  uvperf_stats_t stats;

  uvperf_stats(handle, &stats);
  assert_int_equal(stats.lost_is_read, 1);
  return stats.lost_records;
}

/* Also of a target that is removed, and of one that is asked for the last time
 * when the set closes. */
static void set_counts_losses_that_no_record_reports(void **state) {
  live_stream_t stream;
  live_plan_t plan;
  uvperf_set_t *set = &stream.live.set;
  uint64_t next;
  uint64_t lost;
  size_t mode;

  need_lost(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    next = 0;
    live_stream_plan_own(&plan);
    live_stream_plan_mode(&plan, mode);
    plan.options.ring_bytes = 1;
    live_stream_begin(*state, &stream, &plan);
    assert_int_equal(lost_of(&set->handle), 0);
    live_stream_comm(&next, WRITTEN);
    assert_int_equal(uvperf_stop(&set->handle), 0); /* asks anew */
    lost = lost_of(&set->handle);
    assert_int_equal(uvperf_flush(&set->handle), 0);
    assert_int_equal(stream.records, stream.comms); /* no LOST record */
    assert_int_equal(stream.comms + lost, WRITTEN);
    assert_int_equal(lost_of(&set->handle), lost);
    live_stream_comm(&next, WRITTEN);
    assert_int_equal(uvperf_set_remove(set, 0, NULL, NULL), 0);
    assert_int_equal(uvperf_flush(&set->handle), 0);
    assert_int_equal(stream.comms + lost_of(&set->handle), 2 * WRITTEN);
    live_stream_close(&stream);
  }
}

/* The library does not add PERF_FORMAT_LOST to the attr of an event. */
static void init(uv_loop_t *loop, live_collector_t *collector, uint32_t flags) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  attr.read_format = UVPERF_FORMAT_LOST;
  options.flags = UVPERF_EVENT_IDENTIFY | flags;
  options.ring_bytes = flags == 0;
  live_init(loop, collector, &attr, &options);
}

/* Both events write each record. A writer that leaves takes nothing with it,
 * and its later losses are not the ring's. */
static void event_counts_losses_of_all_writers_of_its_ring(void **state) {
  live_collector_t owner, writer;
  uint64_t next = 0;
  uint64_t lost;

  need_lost(__func__);
  init(*state, &owner, 0);
  init(*state, &writer, UVPERF_EVENT_NO_RING);
  assert_int_equal(uvperf_event_set_output(&writer.event, &owner.event, NULL),
                   0);
  live_start(&owner, NULL);
  assert_int_equal(uvperf_enable(&writer.event.handle, 0, NULL), 0);
  live_comm(&next, WRITTEN);
  assert_int_equal(uvperf_event_set_output(&writer.event, NULL, NULL), 0);
  assert_int_equal(uvperf_stop(&owner.event.handle), 0);
  lost = lost_of(&owner.event.handle);
  assert_int_equal(uvperf_flush(&owner.event.handle), 0);
  assert_int_equal(owner.records + lost, 2 * WRITTEN);
  live_comm(&next, WRITTEN);
  assert_int_equal(uvperf_flush(&owner.event.handle), 0);
  /* With a LOST record, which reports the first losses. */
  assert_int_equal(owner.records - owner.others + lost_of(&owner.event.handle),
                   3 * WRITTEN);
  live_close(&writer);
  live_close(&owner);
}

#define LIVE(test) support_loop_test(test)

int main(void) {
  const struct CMUnitTest tests[] = {
      LIVE(set_counts_losses_that_no_record_reports),
      LIVE(event_counts_losses_of_all_writers_of_its_ring),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
