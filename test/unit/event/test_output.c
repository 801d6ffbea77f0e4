/* SPDX-License-Identifier: MIT */
/* Scripted: the ioctls of set_output, what it refuses, and that a failure
 * changes nothing. */
#include "scripted_event.h"

#include <errno.h>
#include <time.h>

#include "explain/explain.h"

#define SHARED UVPERF_EVENT_IDENTIFY
#define WRITER (UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING)

static uvperf_error_t error;

static void init(uv_loop_t *loop, uvperf_event_t *event,
                 const struct perf_event_attr *attr, uint32_t flags, int cpu) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  options.flags = flags;
  if (cpu >= 0) {
    options.cpu = cpu;
    options.flags |= UVPERF_EVENT_CPU;
  }
  options.pid = cpu == -1 ? 0 : -1;
  assert_int_equal(uvperf_event_init(loop, event, attr, &options, NULL), 0);
}

/* A scripted owner (id 7) and writer (id 8), not yet redirected. */
static void init_pair(uv_loop_t *loop, uvperf_event_t *owner,
                      uvperf_event_t *writer) {
  struct perf_event_attr attr;

  fake_event_add(7);
  fake_event_add(8);
  scripted_event_attr(&attr);
  init(loop, owner, &attr, SHARED, -1);
  init(loop, writer, &attr, WRITER, -1);
  fake_log_clear();
}

static void close_both(uv_loop_t *loop, uvperf_event_t *one,
                       uvperf_event_t *other) {
  uvperf_close(&one->handle, NULL);
  uvperf_close(&other->handle, NULL);
  scripted_event_turns(loop, 2);
  fake_assert_clean();
}

static void assert_refused(uvperf_event_t *event, uvperf_event_t *output,
                           int code, int cause, const char *reason) {
  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf_event_set_output(event, output, &error), code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, cause);
  if (strstr(error.reason, reason) == NULL)
    fail_msg("'%s' does not say '%s'", error.reason, reason);
  assert_int_equal(uvperf_event_set_output(event, output, NULL), code);
}

static void set_output_asks_once_and_detaches_by_minus_1(void **state) {
  uvperf_event_t owner, writer;

  init_pair(*state, &owner, &writer);
  assert_int_equal(uvperf_event_set_output(&writer, &owner, &error), 0);
  assert_int_equal(uvperf_event_set_output(&writer, &owner, &error), 0);
  assert_string_equal(fake_log(), "ioctl SET_OUTPUT");
  assert_int_equal(uvperf_event_set_output(&writer, NULL, &error), 0);
  assert_string_equal(fake_log(), "ioctl SET_OUTPUT, ioctl SET_OUTPUT");
  close_both(*state, &owner, &writer);
}

static void set_output_writer_closed_detaches_first(void **state) {
  uvperf_event_t owner, writer;

  init_pair(*state, &owner, &writer);
  assert_int_equal(uvperf_event_set_output(&writer, &owner, &error), 0);
  fake_log_clear();
  uvperf_close(&writer.handle, NULL);
  scripted_event_turns(*state, 2);
  assert_string_equal(fake_log(), "ioctl DISABLE, ioctl SET_OUTPUT, close");
  uvperf_close(&owner.handle, NULL);
  scripted_event_turns(*state, 2);
}

static void set_output_of_an_event_with_a_ring_is_refused(void **state) {
  uvperf_event_t owner, writer;

  init_pair(*state, &owner, &writer);
  assert_refused(&owner, NULL, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "NO_RING");
  assert_refused(&owner, &writer, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "NO_RING");
  assert_string_equal(fake_log(), "");
  close_both(*state, &owner, &writer);
}

static void set_output_to_an_event_without_a_ring_is_refused(void **state) {
  uvperf_event_t owner, writer, third;
  struct perf_event_attr attr;

  init_pair(*state, &owner, &writer);
  fake_event_add(9);
  scripted_event_attr(&attr);
  init(*state, &third, &attr, WRITER, -1);
  assert_refused(&writer, &third, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "no ring");
  assert_refused(&writer, &writer, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "another");
  uvperf_close(&third.handle, NULL);
  close_both(*state, &owner, &writer);
}

static void set_output_to_a_closed_event_is_refused(void **state) {
  uvperf_event_t owner, writer, zeroed;

  init_pair(*state, &owner, &writer);
  memset(&zeroed, 0, sizeof(zeroed));
  assert_refused(&writer, &zeroed, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "closed");
  uvperf_close(&owner.handle, NULL);
  assert_refused(&writer, &owner, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "closed");
  uvperf_close(&writer.handle, NULL);
  scripted_event_turns(*state, 2);
}

static void set_output_on_another_loop_is_refused(void **state) {
  uvperf_event_t owner, writer, elsewhere;
  struct perf_event_attr attr;
  uv_loop_t loop;

  init_pair(*state, &owner, &writer);
  assert_int_equal(uv_loop_init(&loop), 0);
  fake_event_add(9);
  scripted_event_attr(&attr);
  init(&loop, &elsewhere, &attr, SHARED, -1);
  assert_refused(&writer, &elsewhere, UV_EINVAL, UVPERF_CAUSE_ARGUMENT, "loop");
  uvperf_close(&elsewhere.handle, NULL);
  scripted_event_turns(&loop, 2);
  assert_int_equal(uv_loop_close(&loop), 0);
  close_both(*state, &owner, &writer);
}

/* Without ids records cannot be matched, on either side. */
static void set_output_without_ids_is_refused(void **state) {
  static const uint32_t flags[][2] = {{0, WRITER},
                                      {SHARED, UVPERF_EVENT_NO_RING}};
  uvperf_event_t owner, writer;
  struct perf_event_attr attr;
  size_t i;

  scripted_event_attr(&attr);
  for (i = 0; i < 2; i++) {
    fake_kernel_reset();
    fake_event_add(7);
    fake_event_add(8);
    init(*state, &owner, &attr, flags[i][0], -1);
    init(*state, &writer, &attr, flags[i][1], -1);
    assert_refused(&writer, &owner, UV_EINVAL, UVPERF_CAUSE_ARGUMENT,
                   "UVPERF_EVENT_IDENTIFY");
    assert_null(strstr(fake_log(), "SET_OUTPUT"));
    close_both(*state, &owner, &writer);
  }
}

static void identify_adds_the_identifier_and_the_trailer(void **state) {
  const struct perf_event_attr *own;
  uvperf_event_t owner, writer;

  init_pair(*state, &owner, &writer);
  own = uvperf_handle_attr(&owner.handle, 0);
  assert_true(own->sample_type & PERF_SAMPLE_IDENTIFIER);
  assert_int_equal(own->sample_id_all, 1);
  close_both(*state, &owner, &writer);
}

static void set_output_in_a_forked_child_is_eperm(void **state) {
  uvperf_event_t owner, writer;

  init_pair(*state, &owner, &writer);
  fake_process(4711);
  assert_refused(&writer, &owner, UV_EPERM, UVPERF_CAUSE_ARGUMENT, "parent");
  assert_string_equal(fake_log(), "");
  fake_process(0);
  assert_int_equal(uvperf_event_set_output(&writer, &owner, NULL), 0);
  fake_log_clear();
  fake_process(4711);
  uvperf_close(&writer.handle, NULL);
  uvperf_close(&owner.handle, NULL);
  scripted_event_turns(*state, 2);
  assert_string_equal(fake_log(), "close, close");
  fake_kernel_reset(); /* the mappings are the parent's */
}

/* -- refused by the kernel ------------------------------------------------ */

typedef struct refusal_s {
  int cpu;
  int clock;    /* use_clockid */
  int backward; /* write_backward */
  int code;
  int cause;
  const char *reason;
} refusal_t;

static void set_output_that_the_kernel_refuses_is_explained(void **state) {
  static const refusal_t refusals[] = {
      {1, 0, 0, -EINVAL, UVPERF_CAUSE_ARGUMENT,
       "both events must be on the same CPU"},
      {-1, 0, 1, -EINVAL, UVPERF_CAUSE_ARGUMENT,
       "both events must have attr.write_backward, or none"},
      {-1, 1, 0, -EINVAL, UVPERF_CAUSE_ARGUMENT, "with the same clock"},
      {-1, 0, 0, -EINVAL, UVPERF_CAUSE_ARGUMENT,
       "without a CPU both events must measure the same thread"},
      {-1, 0, 0, -EACCES, UVPERF_CAUSE_PERMISSION, ""},
      {-1, 0, 0, -ENODEV, UVPERF_CAUSE_NO_EVENT, ""},
      {-1, 0, 0, -EIO, UVPERF_CAUSE_UNKNOWN, "errno 5"},
  };
  uvperf_event_t owner, writer;
  struct perf_event_attr attr;
  size_t i;

  for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
    const refusal_t *refusal = &refusals[i];

    fake_kernel_reset();
    fake_event_add(7);
    fake_event_add(8);
    scripted_event_attr(&attr);
    init(*state, &owner, &attr, SHARED, -1);
    attr.write_backward = (unsigned int)refusal->backward & 1;
    attr.use_clockid = (unsigned int)refusal->clock & 1;
    attr.clockid = CLOCK_MONOTONIC;
    init(*state, &writer, &attr, WRITER, refusal->cpu);
    fake_fail_from(FAKE_IOCTL, 1, refusal->code);
    assert_refused(&writer, &owner, refusal->code, refusal->cause,
                   refusal->reason);
    close_both(*state, &owner, &writer);
  }
}

static void set_output_to_none_that_fails_changes_nothing(void **state) {
  uvperf_event_t owner, writer;

  init_pair(*state, &owner, &writer);
  assert_int_equal(uvperf_event_set_output(&writer, &owner, NULL), 0);
  fake_fail(FAKE_IOCTL, 1, -EIO);
  fake_fail(FAKE_IOCTL, 2, -EIO);
  assert_refused(&writer, NULL, UV_EIO, UVPERF_CAUSE_UNKNOWN, "errno 5");
  fake_log_clear();
  /* It is its output still. */
  assert_int_equal(uvperf_event_set_output(&writer, &owner, NULL), 0);
  assert_string_equal(fake_log(), "");
  close_both(*state, &owner, &writer);
}

/* -- failures on the way -------------------------------------------------- */

/* A writer that has written, left and joins again: if any allocation fails
 * then, its records keep their source and the output is as before. */
static void fail_each_allocation(void **state, int again) {
  live_collector_t collector;
  uvperf_event_t writer;
  struct perf_event_attr attr;
  fake_event_t *fakes[2];
  unsigned nth;

  for (nth = 1;; nth++) {
    uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
    int rc;

    fake_kernel_reset();
    fakes[0] = fake_event_add(7);
    fakes[1] = fake_event_add(8);
    scripted_event_attr(&attr);
    options.flags = SHARED;
    live_init(*state, &collector, &attr, &options);
    init(*state, &writer, &attr, WRITER, -1);
    live_start(&collector, NULL);
    if (again) {
      assert_int_equal(uvperf_event_set_output(&writer, &collector.event, NULL),
                       0);
      assert_int_equal(uvperf_event_set_output(&writer, NULL, NULL), 0);
    }
    fake_fail(FAKE_CALLOC, nth, 0);
    memset(&error, 0, sizeof(error));
    rc = uvperf_event_set_output(&writer, &collector.event, &error);
    assert_int_equal(rc, fake_failures() > 0 ? UV_ENOMEM : 0);
    if (rc != 0)
      assert_int_equal(error.cause, UVPERF_CAUSE_MEMORY);
    scripted_event_append(fakes[0], PERF_RECORD_COMM);
    fake_event_wake(fakes[0]);
    scripted_event_turns(*state, 2);
    assert_int_equal(collector.records, 1);
    fake_event_quiet(fakes[0]);
    close_both(*state, &collector.event, &writer);
    if (rc == 0)
      break;
  }
  assert_true(nth > 3);
}

static void set_output_out_of_memory_changes_nothing(void **state) {
  fail_each_allocation(state, 0);
  fail_each_allocation(state, 1);
}

/* Their records may still be waiting for a while; each set_output checks. */
static void until_forgotten(uvperf_event_t *writer, uvperf_event_t *owner,
                            size_t kept) {
  uint64_t deadline = live_now() + UINT64_C(20000000000);

  while (fake_live_allocations() > kept && live_now() < deadline) {
    assert_int_equal(uvperf_event_set_output(writer, NULL, NULL), 0);
    assert_int_equal(uvperf_event_set_output(writer, owner, NULL), 0);
  }
  assert_int_equal(fake_live_allocations(), kept);
}

/* A writer that has left is forgotten when its records have been read. */
static void set_output_forgets_writers_that_have_left(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_event_t stays, writer;
  fake_event_t *owner;
  size_t kept;
  uint64_t id;

  owner = fake_event_add(7);
  scripted_event_attr(&attr);
  options.flags = SHARED;
  live_init(*state, &collector, &attr, &options);
  live_start(&collector, NULL);
  fake_event_add(8);
  init(*state, &stays, &attr, WRITER, -1);
  assert_int_equal(uvperf_event_set_output(&stays, &collector.event, NULL), 0);
  kept = fake_live_allocations();
  for (id = 9; id < 50; id++) {
    fake_event_t *fake = fake_event_add(id);

    init(*state, &writer, &attr, WRITER, -1);
    assert_int_equal(uvperf_event_set_output(&writer, &collector.event, NULL),
                     0);
    assert_int_equal(fake->id, id);
    scripted_event_append(owner, PERF_RECORD_COMM);
    uvperf_close(&writer.handle, NULL);
    scripted_event_turns(*state, 2);
    fake_event_wake(owner);
    scripted_event_turns(*state, 2);
    fake_event_quiet(owner);
    assert_int_equal(collector.records, id - 8);
  }
  until_forgotten(&stays, &collector.event, kept);
  uvperf_close(&stays.handle, NULL);
  live_close(&collector);
}

/* A writer's end is reported when the others have ended too; each is
 * checked. */
static void set_output_to_a_ring_that_has_ended_is_eof(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_event_t writer;
  fake_event_t *fake;

  fake = fake_event_add(7);
  fake_event_add(8);
  scripted_event_attr(&attr);
  options.flags = SHARED;
  live_init(*state, &collector, &attr, &options);
  init(*state, &writer, &attr, WRITER, -1);
  live_start(&collector, NULL);
  fake->page->data_head += 4; /* It cannot be read again. */
  fake_event_wake(fake);
  scripted_event_turns(*state, 3);
  assert_int_equal(collector.ends, 1);
  assert_refused(&writer, &collector.event, UV_EOF, UVPERF_CAUSE_NO_TASK,
                 "ended");
  close_both(*state, &collector.event, &writer);
}

/* The owner's ring is paused through a writer too. */
static void pause_of_a_writer_is_the_owners(void **state) {
  const uvperf_record_t *record;
  uvperf_event_t owner, writer;
  struct perf_event_attr attr;

  fake_event_add(7);
  fake_event_add(8);
  scripted_event_attr(&attr);
  attr.write_backward = 1;
  init(*state, &owner, &attr, SHARED, -1);
  init(*state, &writer, &attr, WRITER, -1);
  assert_int_equal(uvperf_event_set_output(&writer, &owner, NULL), 0);
  assert_int_equal(uvperf_next(&owner.handle, &record), UV_EBUSY);
  assert_int_equal(uvperf_event_pause(&writer, 1, NULL), 0);
  assert_int_equal(uvperf_next(&owner.handle, &record), UV_EAGAIN);
  assert_int_equal(uvperf_event_pause(&writer, 0, NULL), 0);
  assert_int_equal(uvperf_next(&owner.handle, &record), UV_EBUSY);
  close_both(*state, &owner, &writer);
}

typedef struct redirector_s {
  uvperf_event_t writer;
  uint64_t records;
  uint64_t slices;
} redirector_t;

/* Each time the owner has a new decoder. */
static void redirect_always(uvperf_handle_t *base, int status,
                            const uvperf_record_t *record) {
  uvperf_event_t *owner = uvperf_handle_event(base);
  redirector_t *redirector = base->data;
  uvperf_record_t before;

  (void)status;
  if (record->type != UVPERF_RECORD_NONE)
    before = *record;
  assert_int_equal(uvperf_event_set_output(&redirector->writer, NULL, NULL), 0);
  assert_int_equal(uvperf_event_set_output(&redirector->writer, owner, NULL),
                   0);
  redirector->records += record->type != UVPERF_RECORD_NONE;
  redirector->slices += record->type == UVPERF_RECORD_NONE;
  if (record->type != UVPERF_RECORD_NONE)
    assert_memory_equal(record, &before, sizeof(before));
}

static void
set_output_at_the_end_of_a_slice_keeps_the_next_record(void **state) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  redirector_t redirector = {.records = 0};
  struct perf_event_attr attr;
  uvperf_event_t owner;
  fake_event_t *fake;
  uint64_t nr;

  fake = fake_event_add(7);
  fake_event_add(8);
  scripted_event_attr(&attr);
  init(*state, &owner, &attr, SHARED, -1);
  init(*state, &redirector.writer, &attr, WRITER, -1);
  owner.handle.data = &redirector;
  options.flags = UVPERF_START_SLICE_END;
  options.flush_ms = -1;
  assert_int_equal(uvperf_start(&owner.handle, &options, redirect_always, NULL),
                   0);
  for (nr = 1; nr <= 3; nr++) {
    scripted_event_append(fake, PERF_RECORD_COMM);
    fake_event_wake(fake);
    scripted_event_turns(*state, 2);
    fake_event_quiet(fake);
    assert_int_equal(redirector.records, nr);
    assert_int_equal(redirector.slices, nr);
  }
  close_both(*state, &owner, &redirector.writer);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(set_output_asks_once_and_detaches_by_minus_1),
      fake_kernel_test(set_output_writer_closed_detaches_first),
      fake_kernel_test(set_output_of_an_event_with_a_ring_is_refused),
      fake_kernel_test(set_output_to_an_event_without_a_ring_is_refused),
      fake_kernel_test(set_output_to_a_closed_event_is_refused),
      fake_kernel_test(set_output_on_another_loop_is_refused),
      fake_kernel_test(set_output_without_ids_is_refused),
      fake_kernel_test(identify_adds_the_identifier_and_the_trailer),
      fake_kernel_test(set_output_in_a_forked_child_is_eperm),
      fake_kernel_test(set_output_that_the_kernel_refuses_is_explained),
      fake_kernel_test(set_output_to_none_that_fails_changes_nothing),
      fake_kernel_test(set_output_out_of_memory_changes_nothing),
      fake_kernel_test(set_output_forgets_writers_that_have_left),
      fake_kernel_test(set_output_to_a_ring_that_has_ended_is_eof),
      fake_kernel_test(pause_of_a_writer_is_the_owners),
      fake_kernel_test(set_output_at_the_end_of_a_slice_keeps_the_next_record),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
