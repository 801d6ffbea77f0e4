/* SPDX-License-Identifier: MIT */
/* Scripted: overwritable rings while another CPU writes, and rings smaller than
 * a record. The misc of a record is its number. */
#include "scripted_event.h"
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    /* The largest value means no wakeups. */
    {"overwrite_watermark_may_be_beyond_the_ring",
     "attr recorder watermark=1 wakeup_events=0xffffffff; init\n"
     "fields h0 wakeup_events -> 0xffffffff\n"
     "options ring_bytes=1; init; fields h1 wakeup_events -> 0xffffffff\n"},
    /* It would come after older ones, in what promises the newest first. */
    {"overwrite_record_finished_after_the_pause_is_of_the_next",
     "attr recorder; options ring_bytes=1; init\n"
     "header e0 SWITCH 64 64 1; header e0 SWITCH 64 64 2; pause h0\n"
     "has_record h0 -> 1\n"
     "next h0 -> SWITCH 2\n"
     "header e0 SWITCH 64 64 3; has_record h0 -> 1\n"
     "next h0 -> SWITCH 1\n"
     "times 3 next h0 -> EAGAIN, poll e0, EAGAIN, poll e0, EAGAIN\n"
     "resume h0; header e0 SWITCH 64 64 4; pause h0; next h0 -> SWITCH 4\n"
     "next h0 -> SWITCH 3\n"
     "next h0 -> EAGAIN\n"},
    /* There is no next snapshot of a target that has ended. */
    {"overwrite_record_finished_after_the_pause_comes_before_eof",
     "attr recorder; options ring_bytes=1; init; header e0 SWITCH 64 64 1\n"
     "pause h0; next h0 -> SWITCH 1\n"
     "header e0 SWITCH 64 64 2; hup e0; next h0 -> EAGAIN\n"
     "has_record h0 -> 1\n"
     "next h0 -> poll e0, SWITCH 2\n"
     "next h0 -> EAGAIN\n"
     "next h0 -> poll e0, EOF\n"},
    /* In the next four a writer comes, writes one record and goes. */
    {"overwrite_ring_forgets_writers_whose_records_are_overwritten",
     "attr recorder; options ring_bytes=1 identify; init; options identify "
     "no_ring; loop_clock 1\n"
     "init; output h1 h0; header e0 SWITCH 64 64 1 e1; close h1; turn 2\n"
     "init; output h2 h0; header e0 SWITCH 64 64 2 e2; close h2; turn 2\n"
     /* Here the records of both end. */
     "loop_clock 1000000001\n"
     "init; output h3 h0; header e0 SWITCH 64 64 3 e3; close h3; turn 2\n"
     "memory mark; fill_ring e0 SWITCH 64\n"
     "init; output h4 h0; header e0 SWITCH 64 64 4 e4; close h4; turn 2\n"
     "memory less\n"},
    {"overwrite_ring_forgets_no_writer_that_has_a_record",
     "attr recorder; options ring_bytes=1 identify; init; options identify "
     "no_ring; loop_clock 1\n"
     "init; output h1 h0; header e0 SWITCH 64 64 1 e1; close h1; turn 2\n"
     "init; output h2 h0; header e0 SWITCH 64 64 2 e2; close h2; turn 2\n"
     "loop_clock 1000000001; memory mark\n"
     "init; output h3 h0; header e0 SWITCH 64 64 3 e3; close h3; turn 2\n"
     "memory more; pause h0; next h0 -> SWITCH 3 of closed e3\n"
     "next h0 -> SWITCH 2 of closed e2\n"
     "next h0 -> SWITCH 1 of closed e1\n"},
    /* Until the next call that delivers, whatever is written meanwhile. */
    {"overwrite_record_in_hand_keeps_its_writer",
     "attr recorder; options ring_bytes=1 identify; init; options identify "
     "no_ring; loop_clock 1\n"
     "init; output h1 h0; header e0 SWITCH 64 64 1 e1; close h1; turn 2\n"
     "loop_clock 1000000001; pause h0; next h0 -> SWITCH 1 of closed e1\n"
     "resume h0\n"
     "init; output h2 h0; header e0 SWITCH 64 64 2 e2; close h2; turn 2\n"
     "fill_ring e0 SWITCH 64\n"
     "init; output h3 h0; header e0 SWITCH 64 64 3 e3; close h3; turn 2\n"
     "in_hand h0 -> SWITCH 1 of closed e1\n"},
    /* Of records that the thread pool has copied, and that are no longer in the
     * ring. */
    {"overwrite_snapshot_begun_keeps_its_writers",
     "attr recorder; options ring_bytes=1 identify; init; start h0; options "
     "identify no_ring; loop_clock 1\n"
     "init; output h1 h0; header e0 SWITCH 64 64 1 e1; close h1; turn 2\n"
     "loop_clock 1000000001\n"
     "init; output h2 h0; header e0 SWITCH 64 64 2 e2; close h2; turn 2\n"
     "snapshot h0 later ->\n"
     "pool 1 -> PAUSE_OUTPUT e0, membarrier, RESUME_OUTPUT e0\n"
     "fill_ring e0 SWITCH 64\n"
     "init; output h3 h0; header e0 SWITCH 64 64 3 e3; close h3\n"
     "turn -> SWITCH 2 of closed e2, SWITCH 1 of closed e1, snapshot 0, h3 "
     "closed, close e3\n"},
    /* The ring is paused by the pool, whichever event writes into it. */
    {"overwrite_snapshot_begun_leaves_the_pause_to_the_pool",
     "attr recorder; options ring_bytes=1 identify; init; start h0; options "
     "identify no_ring; init; output h1 h0; snapshot h0 later ->\n"
     "pause h1 -> EBUSY argument\n"
     "stop h0; pool\n"},
};

static void recorder_attr(struct perf_event_attr *attr) {
  scripted_event_attr(attr);
  attr->watermark = 0;
  attr->wakeup_watermark = 0;
  attr->write_backward = 1;
}

static int init(uv_loop_t *loop, uvperf_event_t *event,
                const struct perf_event_attr *attr, size_t ring_bytes,
                uint32_t flags, uvperf_error_t *error) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  options.ring_bytes = ring_bytes;
  options.flags = flags;
  return uvperf_event_init(loop, event, attr, &options, error);
}

static void close_event(uv_loop_t *loop, uvperf_event_t *event) {
  uvperf_close(&event->handle, NULL);
  scripted_event_turns(loop, 2);
  fake_assert_clean();
}

/* The kernel writes such a record over its own header. */
static void overwrite_ring_below_the_stack_dump_is_refused(void **state) {
  uint32_t page = (uint32_t)support_page_bytes();
  struct perf_event_attr attr;
  uvperf_error_t error = {0};
  uvperf_event_t event;

  recorder_attr(&attr);
  attr.sample_type |= PERF_SAMPLE_STACK_USER;
  attr.sample_stack_user = page;
  assert_int_equal(init(*state, &event, &attr, page, 0, &error), UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(error.reason, "sample_stack_user"));
  assert_string_equal(fake_log(), "");
  /* The default is not made that small. */
  fake_event_add(7);
  fake_fail_from(FAKE_MMAP, 1, -EPERM);
  assert_int_equal(init(*state, &event, &attr, 0, 0, &error), UV_EPERM);
  assert_null(strstr(fake_log(), "munmap"));
  assert_int_equal(fake_count(FAKE_MMAP),
                   __builtin_ctz(512 * 1024 / page)); /* down to two pages */
  fake_kernel_reset();
  fake_event_add(7);
  assert_int_equal(init(*state, &event, &attr, 2 * page, 0, &error), 0);
  close_event(*state, &event);
}

static void overwrite_ring_below_a_writers_stack_dump_is_refused(void **state) {
  struct perf_event_attr attr;
  uvperf_error_t error = {0};
  uvperf_event_t owner, writer;

  fake_event_add(7);
  fake_event_add(8);
  recorder_attr(&attr);
  assert_int_equal(
      init(*state, &owner, &attr, 1, UVPERF_EVENT_IDENTIFY, &error), 0);
  attr.sample_type |= PERF_SAMPLE_STACK_USER;
  attr.sample_stack_user = (uint32_t)support_page_bytes();
  assert_int_equal(init(*state, &writer, &attr, 0,
                        UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING, &error),
                   0);
  assert_int_equal(uvperf_event_set_output(&writer, &owner, &error), UV_EINVAL);
  assert_non_null(strstr(error.reason, "sample_stack_user"));
  uvperf_close(&writer.handle, NULL);
  close_event(*state, &owner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(overwrite_ring_below_the_stack_dump_is_refused),
      fake_kernel_test(overwrite_ring_below_a_writers_stack_dump_is_refused),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_handles, rows, tests);
}
