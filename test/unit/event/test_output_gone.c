/* SPDX-License-Identifier: MIT */
/* Scripted: rings that events share when some targets have ended, when the ring
 * is damaged, and in a forked child. */
#include "scripted_event.h"

#include <poll.h>

#include "fake_clock.h"
#include "make_record.h"

#define SHARED    UVPERF_EVENT_IDENTIFY
#define WRITER    (UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING)
#define SECOND_NS UINT64_C(1000000000)

/* Scripted events with the ids 7, 8 and 9: an owner and two writers. */
typedef struct trio_s {
  live_collector_t owner;
  uvperf_event_t writers[2];
  fake_event_t *fakes[3];
  int rc; /* result of a call in a callback */
} trio_t;

static void init(uv_loop_t *loop, uvperf_event_t *event, uint32_t flags) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  scripted_event_attr(&attr);
  options.flags = flags;
  assert_int_equal(uvperf_event_init(loop, event, &attr, &options, NULL), 0);
}

static void init_trio(uv_loop_t *loop, trio_t *trio) {
  int i;

  memset(trio, 0, sizeof(*trio));
  delivered[0] = '\0';
  for (i = 0; i < 3; i++)
    trio->fakes[i] = fake_event_add((uint64_t)(7 + i));
  init(loop, &trio->owner.event, SHARED);
  init(loop, &trio->writers[0], WRITER);
  init(loop, &trio->writers[1], WRITER);
  trio->owner.event.handle.data = trio;
}

static int redirect(trio_t *trio, int writer) {
  return uvperf_event_set_output(&trio->writers[writer], &trio->owner.event,
                                 NULL);
}

static void start(trio_t *trio, uint32_t flags, uvperf_record_cb cb) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  options.flush_ms = -1;
  options.slice_us = LIVE_SLICE_US;
  options.flags = flags;
  assert_int_equal(uvperf_start(&trio->owner.event.handle, &options, cb, NULL),
                   0);
}

/* A record of the event with that id. */
static void append_type(fake_event_t *ring, uint32_t type, uint64_t id) {
  static record_builder_t builder;
  record_values_t values;

  record_values_init(&values);
  values.id = id;
  record_build(&builder, type, &ring->attr, &values);
  fake_ring_append(ring, builder.words, builder.size);
}

static void append_of(fake_event_t *ring, uint64_t id) {
  append_type(ring, PERF_RECORD_COMM, id);
}

/* Its target has ended: perf_poll() reports that, and wakes the poller. */
static void hang_up(fake_event_t *fake) {
  fake->revents = POLLHUP;
  fake_event_wake(fake);
}

static void close_all(uv_loop_t *loop, trio_t *trio) {
  uvperf_close(&trio->writers[0].handle, NULL);
  uvperf_close(&trio->writers[1].handle, NULL);
  uvperf_close(&trio->owner.event.handle, NULL);
  scripted_event_turns(loop, 3);
}

/* -- an event that comes as the last of the others goes ------------------- */

static void append_once(fake_event_t *fake) {
  fake->on_poll = NULL;
  scripted_event_append(fake, PERF_RECORD_COMM);
}

static void redirect_at_slice_end(uvperf_handle_t *handle, int status,
                                  const uvperf_record_t *record) {
  trio_t *trio = handle->data;

  scripted_event_on_slice(handle, status, record);
  if (record->type == UVPERF_RECORD_NONE && status == 0)
    trio->rc = redirect(trio, 0);
}

/* The slice's end may be after the last record, but it is not the end yet. */
static void output_joined_at_the_last_slices_end_goes_on(void **state) {
  trio_t trio;

  init_trio(*state, &trio);
  start(&trio, UVPERF_START_SLICE_END, redirect_at_slice_end);
  scripted_event_turns(*state, 3);
  trio.fakes[0]->on_poll = append_once;
  hang_up(trio.fakes[0]);
  scripted_event_turns(*state, 6);
  assert_string_equal(delivered, "COMM slice");
  assert_int_equal(trio.rc, 0);
  append_of(trio.fakes[0], 8);
  fake_event_wake(trio.fakes[1]);
  scripted_event_turns(*state, 2);
  fake_event_quiet(trio.fakes[1]);
  assert_string_equal(delivered, "COMM slice COMM slice");
  hang_up(trio.fakes[1]);
  scripted_event_turns(*state, 6);
  assert_string_equal(delivered, "COMM slice COMM slice EOF");
  close_all(*state, &trio);
}

/* Between a drain and a probe, as append_once. */
static void append_damage(fake_event_t *fake) {
  static const struct perf_event_header damaged = {PERF_RECORD_COMM, 0, 0};

  fake->on_poll = NULL;
  fake_ring_append(fake, &damaged, sizeof(damaged));
}

static void redirect_at_damage(uvperf_handle_t *handle, int status,
                               const uvperf_record_t *record) {
  trio_t *trio = handle->data;

  scripted_event_on_slice(handle, status, record);
  if (status == UV_EPROTO)
    trio->rc = redirect(trio, 0);
}

/* The callback for a damaged ring is the last one, and gets no record. */
static void output_joined_as_the_last_bytes_are_skipped_goes_on(void **state) {
  trio_t trio;

  init_trio(*state, &trio);
  start(&trio, 0, redirect_at_damage);
  scripted_event_turns(*state, 3);
  trio.fakes[0]->on_poll = append_damage;
  hang_up(trio.fakes[0]);
  scripted_event_turns(*state, 6);
  assert_string_equal(delivered, "EPROTO");
  assert_int_equal(trio.rc, 0);
  hang_up(trio.fakes[1]);
  scripted_event_turns(*state, 6);
  assert_string_equal(delivered, "EPROTO EOF");
  close_all(*state, &trio);
}

/* -- a record that comes late -------------------------------------------- */

/* Another CPU was in the middle of it when the writer left. */
static void
output_record_finished_after_its_writer_left_is_its_own(void **state) {
  const uvperf_record_t *record;
  trio_t trio;

  init_trio(*state, &trio);
  assert_int_equal(redirect(&trio, 0), 0);
  assert_int_equal(uvperf_event_set_output(&trio.writers[0], NULL, NULL), 0);
  assert_int_equal(redirect(&trio, 1), 0);
  append_of(trio.fakes[0], 8);
  assert_int_equal(uvperf_next(&trio.owner.event.handle, &record), 0);
  assert_ptr_equal(record->source->data, &trio.writers[0]);
  close_all(*state, &trio);
}

/* -- a forked child ------------------------------------------------------- */

/* Asking whether an event lives eats the wakeup that is the parent's. */
static void output_closed_in_a_forked_child_polls_nothing(void **state) {
  trio_t trio;

  init_trio(*state, &trio);
  assert_int_equal(redirect(&trio, 0), 0);
  assert_int_equal(redirect(&trio, 1), 0);
  start(&trio, 0, scripted_event_on_record);
  scripted_event_turns(*state, 3);
  hang_up(trio.fakes[0]);
  scripted_event_turns(*state, 6);
  fake_process(4711);
  fake_log_clear();
  close_all(*state, &trio);
  assert_string_equal(fake_log(), "close, close, close");
  fake_kernel_reset(); /* the mappings are the parent's */
}

/* The ring is the parent's, and so are the records in it. */
static void output_of_the_parent_is_refused_in_the_child(void **state) {
  uvperf_error_t error = {0};
  uvperf_event_t owner, writer;

  fake_event_add(7);
  fake_event_add(8);
  init(*state, &owner, SHARED);
  fake_process(4711);
  init(*state, &writer, WRITER);
  fake_log_clear();
  assert_int_equal(uvperf_event_set_output(&writer, &owner, &error), UV_EPERM);
  assert_non_null(strstr(error.reason, "parent"));
  assert_string_equal(fake_log(), "");
  uvperf_close(&writer.handle, NULL);
  uvperf_close(&owner.handle, NULL);
  scripted_event_turns(*state, 3);
  fake_kernel_reset(); /* the mappings are the parent's */
}

/* -- an unsound ring ------------------------------------------------------ */

static void output_to_a_ring_that_next_found_unsound_is_eof(void **state) {
  const uvperf_record_t *record;
  uvperf_error_t error = {0};
  trio_t trio;

  init_trio(*state, &trio);
  trio.fakes[0]->page->data_head += 4;
  assert_int_equal(uvperf_next(&trio.owner.event.handle, &record), UV_EPROTO);
  assert_int_equal(
      uvperf_event_set_output(&trio.writers[0], &trio.owner.event, &error),
      UV_EOF);
  assert_non_null(strstr(error.reason, "ended"));
  close_all(*state, &trio);
}

/* -- an attr that changes ------------------------------------------------- */

/* Code that compares record->source->attr must not see an old attr. */
static void output_source_has_the_period_that_was_set(void **state) {
  const uvperf_record_t *record;
  trio_t trio;

  init_trio(*state, &trio);
  assert_int_equal(redirect(&trio, 0), 0);
  assert_int_equal(uvperf_change_period(&trio.writers[0].handle, 0, 77, NULL),
                   0);
  assert_int_equal(
      uvperf_handle_attr(&trio.writers[0].handle, 0)->sample_period, 77);
  append_of(trio.fakes[0], 8);
  assert_int_equal(uvperf_next(&trio.owner.event.handle, &record), 0);
  assert_ptr_equal(record->source->data, &trio.writers[0]);
  assert_int_equal(record->source->attr->sample_period, 77);
  close_all(*state, &trio);
}

static void output_source_has_the_modified_attr(void **state) {
  const uvperf_record_t *record;
  struct perf_event_attr attr;
  trio_t trio;

  init_trio(*state, &trio);
  assert_int_equal(redirect(&trio, 0), 0);
  attr = *uvperf_handle_attr(&trio.writers[0].handle, 0);
  attr.bp_addr = 0x1000;
  assert_int_equal(uvperf_event_modify(&trio.writers[0], &attr, NULL), 0);
  append_of(trio.fakes[0], 8);
  assert_int_equal(uvperf_next(&trio.owner.event.handle, &record), 0);
  assert_ptr_equal(record->source->data, &trio.writers[0]);
  assert_int_equal(record->source->attr->bp_addr, 0x1000);
  close_all(*state, &trio);
}

/* Writers that left long ago are forgotten when another one joins. */
static void output_set_again_is_not_forgotten(void **state) {
  const uvperf_record_t *record;
  trio_t trio;

  init_trio(*state, &trio);
  fake_clock_set(SECOND_NS);
  assert_int_equal(redirect(&trio, 0), 0);
  assert_int_equal(uvperf_event_set_output(&trio.writers[0], NULL, NULL), 0);
  assert_int_equal(redirect(&trio, 0), 0);
  fake_clock_set(2 * SECOND_NS);
  assert_int_equal(redirect(&trio, 1), 0);
  append_of(trio.fakes[0], 8);
  assert_int_equal(uvperf_next(&trio.owner.event.handle, &record), 0);
  assert_ptr_equal(record->source->data, &trio.writers[0]);
  fake_clock_set(0);
  close_all(*state, &trio);
}

/* The writer with id 8 has left, and is forgotten when another event joins
 * while the user has a sample. The next sample has this id from another
 * process's event. */
static void output_forgotten_between_two_next_has_no_source(void **state) {
  const uint64_t ids[] = {8, 7, 8, 7};
  const uvperf_record_t *record;
  trio_t trio;
  size_t i;

  fake_clock_set(SECOND_NS);
  init_trio(*state, &trio);
  assert_int_equal(redirect(&trio, 0), 0);
  for (i = 0; i < 4; i++) {
    append_type(trio.fakes[0], PERF_RECORD_SAMPLE, ids[i]);
    if (i > 0)
      continue;
    uvperf_event_set_output(&trio.writers[0], NULL, NULL);
    fake_clock_set(2 * SECOND_NS);
    assert_int_equal(redirect(&trio, 1), 0);
  }
  for (i = 0; i < 4; i++) {
    assert_int_equal(uvperf_next(&trio.owner.event.handle, &record),
                     i == 2 ? UV_EPROTO : 0);
    if (i == 2)
      assert_null(record->source);
    else
      assert_int_equal(record->source->ids[0], ids[i]);
    if (i != 1)
      continue;
    uvperf_event_set_output(&trio.writers[1], NULL, NULL);
    assert_int_equal(redirect(&trio, 1), 0);
    assert_int_equal(record->source->ids[0], 7);
  }
  close_all(*state, &trio);
  fake_clock_set(0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(output_joined_at_the_last_slices_end_goes_on),
      fake_kernel_test(output_joined_as_the_last_bytes_are_skipped_goes_on),
      fake_kernel_test(output_record_finished_after_its_writer_left_is_its_own),
      fake_kernel_test(output_closed_in_a_forked_child_polls_nothing),
      fake_kernel_test(output_of_the_parent_is_refused_in_the_child),
      fake_kernel_test(output_to_a_ring_that_next_found_unsound_is_eof),
      fake_kernel_test(output_source_has_the_period_that_was_set),
      fake_kernel_test(output_source_has_the_modified_attr),
      fake_kernel_test(output_set_again_is_not_forgotten),
      fake_kernel_test(output_forgotten_between_two_next_has_no_source),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
