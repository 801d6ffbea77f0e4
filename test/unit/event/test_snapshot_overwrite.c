/* SPDX-License-Identifier: MIT */
/* Scripted: overwritable rings while another CPU writes, and rings smaller than
 * a record. */
#include "fake_clock.h"
#include "fake_pool.h"
#include "scripted_event.h"

#include <errno.h>
#include <poll.h>

/* The record's misc is its number; at its end is the id of its event, if the
 * event has that field. */
static void write_record_of(fake_event_t *fake, uint16_t number, uint64_t id) {
  const struct perf_event_header header = {PERF_RECORD_SWITCH, number, 64};
  uint8_t bytes[64] = {0};

  memcpy(bytes, &header, sizeof(header));
  memcpy(bytes + sizeof(bytes) - sizeof(id), &id, sizeof(id));
  fake_ring_prepend(fake, bytes, sizeof(bytes));
}

static void write_record(fake_event_t *fake, uint16_t number) {
  write_record_of(fake, number, 0);
}

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

static void expect_next(uvperf_event_t *event, uint16_t number) {
  const uvperf_record_t *record;

  assert_int_equal(uvperf_has_record(&event->handle), 1);
  assert_int_equal(uvperf_next(&event->handle, &record), 0);
  assert_int_equal(record->misc, number);
}

static void expect_none(uvperf_event_t *event, int code) {
  const uvperf_record_t *record;

  assert_int_equal(uvperf_next(&event->handle, &record), code);
  assert_null(record);
}

static void close_event(uv_loop_t *loop, uvperf_event_t *event) {
  uvperf_close(&event->handle, NULL);
  scripted_event_turns(loop, 2);
  fake_assert_clean();
}

/* The largest value means no wakeups. */
static void overwrite_watermark_may_be_beyond_the_ring(void **state) {
  static const size_t sizes[] = {0, 1};
  struct perf_event_attr attr;
  uvperf_event_t event;
  size_t i;

  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    fake_event_add(7);
    recorder_attr(&attr);
    attr.watermark = 1;
    attr.wakeup_watermark = UINT32_MAX;
    assert_int_equal(init(*state, &event, &attr, sizes[i], 0, NULL), 0);
    assert_int_equal(uvperf_handle_attr(&event.handle, 0)->wakeup_watermark,
                     UINT32_MAX);
    close_event(*state, &event);
  }
}

/* It would come after older ones, in what promises the newest first. */
static void
overwrite_record_finished_after_the_pause_is_of_the_next(void **state) {
  struct perf_event_attr attr;
  fake_event_t *fake = fake_event_add(7);
  uvperf_event_t event;

  recorder_attr(&attr);
  assert_int_equal(init(*state, &event, &attr, 1, 0, NULL), 0);
  write_record(fake, 1);
  write_record(fake, 2);
  assert_int_equal(uvperf_event_pause(&event, 1, NULL), 0);
  expect_next(&event, 2);
  write_record(fake, 3);
  expect_next(&event, 1);
  expect_none(&event, UV_EAGAIN);
  expect_none(&event, UV_EAGAIN);
  expect_none(&event, UV_EAGAIN);
  assert_int_equal(uvperf_event_pause(&event, 0, NULL), 0);
  write_record(fake, 4);
  assert_int_equal(uvperf_event_pause(&event, 1, NULL), 0);
  expect_next(&event, 4);
  expect_next(&event, 3);
  expect_none(&event, UV_EAGAIN);
  close_event(*state, &event);
}

/* There is no next snapshot of a target that has ended. */
static void
overwrite_record_finished_after_the_pause_comes_before_eof(void **state) {
  struct perf_event_attr attr;
  fake_event_t *fake = fake_event_add(7);
  uvperf_event_t event;

  recorder_attr(&attr);
  assert_int_equal(init(*state, &event, &attr, 1, 0, NULL), 0);
  write_record(fake, 1);
  assert_int_equal(uvperf_event_pause(&event, 1, NULL), 0);
  expect_next(&event, 1);
  write_record(fake, 2);
  fake->revents = POLLHUP;
  expect_none(&event, UV_EAGAIN);
  expect_next(&event, 2);
  expect_none(&event, UV_EAGAIN);
  expect_none(&event, UV_EOF);
  close_event(*state, &event);
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

/* A writer that comes, writes one record and goes. */
static void come_and_go(uv_loop_t *loop, uvperf_event_t *owner,
                        fake_event_t *ring, uint64_t id) {
  struct perf_event_attr attr;
  uvperf_event_t writer;

  recorder_attr(&attr);
  fake_event_add(id);
  assert_int_equal(init(loop, &writer, &attr, 0,
                        UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING, NULL),
                   0);
  assert_int_equal(uvperf_event_set_output(&writer, owner, NULL), 0);
  write_record_of(ring, (uint16_t)id, id);
  uvperf_close(&writer.handle, NULL);
  scripted_event_turns(loop, 2);
}

/* A record that a snapshot could still deliver keeps its source, but no
 * others. */
static void overwrite_ring_forgets_writers_as_they_are_gone(void **state) {
  struct perf_event_attr attr;
  fake_event_t *ring = fake_event_add(7);
  uvperf_event_t owner;
  size_t before;
  uint64_t id, i;

  recorder_attr(&attr);
  assert_int_equal(init(*state, &owner, &attr, 1, UVPERF_EVENT_IDENTIFY, NULL),
                   0);
  fake_clock_set(1);
  come_and_go(*state, &owner, ring, 8);
  before = fake_live_allocations();
  for (id = 9; id < 20; id++) {
    come_and_go(*state, &owner, ring, id);
    assert_true(fake_live_allocations() > before);
    before = fake_live_allocations();
  }
  fake_clock_set(1 + 1000 * UINT64_C(1000000));
  come_and_go(*state, &owner, ring, 20); /* here the records of all end */
  assert_true(fake_live_allocations() > before);
  before = fake_live_allocations();
  for (i = 0; i < support_page_bytes() / 64; i++)
    write_record(ring, 0);
  come_and_go(*state, &owner, ring, 21);
  assert_true(fake_live_allocations() < before);
  fake_clock_set(0);
  close_event(*state, &owner);
}

/* Until the next call that delivers, whatever is written meanwhile. */
static void overwrite_record_in_hand_keeps_its_writer(void **state) {
  fake_event_t *ring = fake_event_add(7);
  const uvperf_record_t *record;
  struct perf_event_attr attr;
  uvperf_event_t owner;
  uint64_t i;

  recorder_attr(&attr);
  assert_int_equal(init(*state, &owner, &attr, 1, UVPERF_EVENT_IDENTIFY, NULL),
                   0);
  fake_clock_set(1);
  come_and_go(*state, &owner, ring, 8);
  fake_clock_set(1 + 1000 * UINT64_C(1000000));
  assert_int_equal(uvperf_event_pause(&owner, 1, NULL), 0);
  assert_int_equal(uvperf_next(&owner.handle, &record), 0);
  assert_non_null(record->source);
  assert_int_equal(uvperf_event_pause(&owner, 0, NULL), 0);
  come_and_go(*state, &owner, ring, 9);
  for (i = 0; i < support_page_bytes() / 64; i++)
    write_record(ring, 0);
  come_and_go(*state, &owner, ring, 10);
  assert_int_equal(record->source->nr_ids, 1);
  assert_int_equal(record->source->ids[0], 8);
  fake_clock_set(0);
  close_event(*state, &owner);
}

static uint64_t seen_ids[4];
static size_t nr_seen;

static void note_source(uvperf_handle_t *handle, int status,
                        const uvperf_record_t *record) {
  (void)handle;
  assert_int_equal(status, 0);
  assert_true(nr_seen < 4);
  seen_ids[nr_seen++] = record->source == NULL ? 0 : record->source->ids[0];
}

static int last_status;

static void note_done(uvperf_handle_t *handle, int status) {
  (void)handle;
  last_status = status;
}

static void no_writers(void) {
}

/* Of records that the thread pool has copied, and that are no longer in the
 * ring. */
static void overwrite_snapshot_begun_keeps_its_writers(void **state) {
  fake_event_t *ring = fake_event_add(7);
  struct perf_event_attr attr;
  uvperf_event_t owner, writer;
  uint64_t i;

  fake_pool_hold();
  fake_on_membarrier(no_writers);
  nr_seen = 0;
  recorder_attr(&attr);
  assert_int_equal(init(*state, &owner, &attr, 1, UVPERF_EVENT_IDENTIFY, NULL),
                   0);
  assert_int_equal(uvperf_start(&owner.handle, NULL, note_source, NULL), 0);
  fake_clock_set(1);
  come_and_go(*state, &owner, ring, 8);
  fake_clock_set(1 + 1000 * UINT64_C(1000000));
  come_and_go(*state, &owner, ring, 9); /* here the records of 8 end */
  assert_int_equal(uvperf_snapshot(&owner.handle, 0, note_done, NULL), 0);
  fake_pool_run();
  for (i = 0; i < support_page_bytes() / 64; i++)
    write_record(ring, 0);
  come_and_go(*state, &owner, ring, 10);
  uv_run(*state, UV_RUN_DEFAULT);
  assert_int_equal(last_status, 0);
  assert_int_equal(nr_seen, 2);
  assert_int_equal(seen_ids[0], 9);
  assert_int_equal(seen_ids[1], 8);
  /* The ring is paused by the pool, whichever event writes into it. */
  fake_event_add(11);
  assert_int_equal(init(*state, &writer, &attr, 0,
                        UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING, NULL),
                   0);
  assert_int_equal(uvperf_event_set_output(&writer, &owner, NULL), 0);
  assert_int_equal(uvperf_snapshot(&owner.handle, 0, note_done, NULL), 0);
  assert_int_equal(uvperf_event_pause(&writer, 1, NULL), UV_EBUSY);
  assert_int_equal(uvperf_stop(&owner.handle), 0);
  fake_pool_run();
  uvperf_close(&writer.handle, NULL);
  fake_clock_set(0);
  close_event(*state, &owner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(overwrite_watermark_may_be_beyond_the_ring),
      fake_kernel_test(
          overwrite_record_finished_after_the_pause_is_of_the_next),
      fake_kernel_test(
          overwrite_record_finished_after_the_pause_comes_before_eof),
      fake_kernel_test(overwrite_ring_below_the_stack_dump_is_refused),
      fake_kernel_test(overwrite_ring_below_a_writers_stack_dump_is_refused),
      fake_kernel_test(overwrite_ring_forgets_writers_as_they_are_gone),
      fake_kernel_test(overwrite_record_in_hand_keeps_its_writer),
      fake_kernel_test(overwrite_snapshot_begun_keeps_its_writers),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
