/* SPDX-License-Identifier: MIT */
/* Scripted: the ioctls of set_output, what it refuses, and that a failure
 * changes nothing. */
#include "scripted_event.h"
#include "scripted_handles.h"

#define SHARED UVPERF_EVENT_IDENTIFY
#define WRITER (UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING)

/* In most of them h0 is the owner and h1 the writer. */
static const scripted_row_t rows[] = {
    {"set_output_asks_once_and_detaches_by_minus_1",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "output h1 h0 -> SET_OUTPUT e1 e0\n"
     "output h1 h0 ->\n"
     "output h1 none -> SET_OUTPUT e1 none\n"},
    {"set_output_writer_closed_detaches_first",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "output h1 h0; close h1 -> DISABLE e1, SET_OUTPUT e1 none\n"
     "turn 2 -> h1 closed, close e1\n"},
    {"set_output_of_an_event_with_a_ring_is_refused",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "output h0 none -> EINVAL argument\n"
     "says NO_RING\n"
     "output h0 h1 -> EINVAL argument\n"
     "says NO_RING\n"
     "no_error output h0 h1 -> EINVAL\n"},
    {"set_output_to_an_event_without_a_ring_is_refused",
     "attr comm; options identify no_ring; init; init\n"
     "output h0 h1 -> EINVAL argument\n"
     "says 'no ring'\n"
     "output h0 h0 -> EINVAL argument\n"
     "says another\n"},
    {"set_output_to_a_closed_event_is_refused",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "output h1 h7 -> EINVAL argument\n"
     "says closed\n"
     "close h0; output h1 h0 -> EINVAL argument\n"
     "says closed\n"},
    /* Without ids records cannot be matched, on either side. */
    {"set_output_to_an_event_without_ids_is_refused",
     "attr comm; init; options identify no_ring; init\n"
     "output h1 h0 -> EINVAL argument\n"
     "says UVPERF_EVENT_IDENTIFY\n"},
    {"set_output_of_an_event_without_ids_is_refused",
     "attr comm; options identify; init; options no_ring; init\n"
     "output h1 h0 -> EINVAL argument\n"
     "says UVPERF_EVENT_IDENTIFY\n"},
    {"identify_adds_the_identifier_and_the_trailer",
     "attr comm sample_id_all=0; options identify; init\n"
     "fields h0 sample_type sample_id_all -> 0x10007 1\n"},
    {"set_output_in_a_forked_child_is_eperm",
     "attr comm; options identify; init; options identify no_ring; init; fork\n"
     "output h1 h0 -> EPERM argument\n"
     "says parent\n"
     "unfork; output h1 h0; fork; close h1; close h0 ->\n"
     "turn 2 -> h0 closed, close e0, h1 closed, close e1\n"},
    /* -- refused by the kernel ------------------------------------------ */
    {"set_output_to_another_cpu_is_explained",
     "attr comm; options identify; init\n"
     "options identify no_ring cpu cpu=1; init; fail ioctl 1+ EINVAL\n"
     "output h1 h0 -> SET_OUTPUT e1 e0 EINVAL, EINVAL argument\n"
     "says 'both events must be on the same CPU'\n"},
    {"set_output_of_a_ring_that_is_not_overwritable_is_explained",
     "attr comm; options identify; init; attr comm write_backward=1\n"
     "options identify no_ring; init; fail ioctl 1+ EINVAL\n"
     "output h1 h0 -> SET_OUTPUT e1 e0 EINVAL, EINVAL argument\n"
     "says 'both events must have attr.write_backward, or none'\n"},
    {"set_output_with_another_clock_is_explained",
     "attr comm; options identify; init; attr comm use_clockid=1 clockid=7\n"
     "options identify no_ring; init; fail ioctl 1+ EINVAL\n"
     "output h1 h0 -> SET_OUTPUT e1 e0 EINVAL, EINVAL argument\n"
     "says 'with the same clock'\n"},
    {"set_output_of_another_thread_is_explained",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "fail ioctl 1+ EINVAL\n"
     "output h1 h0 -> SET_OUTPUT e1 e0 EINVAL, EINVAL argument\n"
     "says 'without a CPU both events must measure the same thread'\n"},
    {"set_output_that_fails_by_any_code_is_explained",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "fail ioctl 1 EACCES; output h1 h0 -> SET_OUTPUT e1 e0 EACCES, EACCES "
     "permission\n"
     "fail ioctl 1 ENODEV; output h1 h0 -> SET_OUTPUT e1 e0 ENODEV, ENODEV "
     "no_event\n"
     "fail ioctl 1 EIO; output h1 h0 -> SET_OUTPUT e1 e0 EIO, EIO unknown\n"
     "says 'errno 5'\n"},
    {"set_output_to_none_that_fails_changes_nothing",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "output h1 h0; fail ioctl 1 EIO\n"
     "output h1 none -> SET_OUTPUT e1 none EIO, EIO unknown\n"
     "says 'errno 5'\n"
     /* It is its output still. */
     "output h1 h0 ->\n"},
    {"set_output_out_of_memory_changes_nothing",
     "each calloc ENOMEM; attr comm; options identify; init\n"
     "options identify no_ring; init; start h0; sweep; output h1 h0\n"
     "append e0 COMM; wake e0; turn 2 -> COMM\n"
     "quiet e0\n"},
    /* A writer that has written, left and joins again: its records keep their
     * source. */
    {"set_output_again_out_of_memory_changes_nothing",
     "each calloc ENOMEM; attr comm; options identify; init\n"
     "options identify no_ring; init; start h0; output h1 h0\n"
     "append e0 COMM e1; output h1 none; sweep; output h1 h0\n"
     "wake e0; turn 2 -> COMM of h1\n"
     "quiet e0\n"},
    {"set_output_to_a_ring_that_has_ended_is_eof",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "start h0; head e0 4; wake e0; turn 3 -> EPROTO\n"
     "output h1 h0 -> EOF no_task\n"
     "says ended\n"},
    /* The owner's ring is paused through a writer too. */
    {"pause_of_a_writer_is_the_owners",
     "attr recorder; options identify; init; options identify no_ring; init\n"
     "output h1 h0; next h0 -> EBUSY\n"
     "pause h1 -> PAUSE_OUTPUT e1\n"
     "next h0 -> EAGAIN\n"
     "resume h1; next h0 -> EBUSY\n"},
    /* Each time the owner has a new decoder. */
    {"set_output_in_a_callback_keeps_the_record",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "output h1 h0; start h0 slice_end; append e0 COMM; append e0 EXIT; wake "
     "e0\n"
     "on COMM 'output h1 none'\n"
     "turn 2 -> COMM, SET_OUTPUT e1 none, EXIT, slice\n"
     "append e0 COMM; append e0 EXIT; on COMM 'output h1 h0'\n"
     "turn 2 -> COMM, SET_OUTPUT e1 e0, EXIT, slice\n"
     "quiet e0\n"},
    {"set_output_at_the_end_of_a_slice_keeps_the_next_record",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "output h1 h0; start h0 slice_end; append e0 COMM; wake e0\n"
     "on slice 'output h1 none'\n"
     "turn 2 -> COMM, slice, SET_OUTPUT e1 none\n"
     "append e0 COMM; on slice 'output h1 h0'\n"
     "turn 2 -> COMM, slice, SET_OUTPUT e1 e0\n"
     "append e0 COMM; turn 2 -> COMM, slice\n"
     "quiet e0\n"},
};

static void init(uv_loop_t *loop, uvperf_event_t *event,
                 const struct perf_event_attr *attr, uint32_t flags) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  options.flags = flags;
  assert_int_equal(uvperf_event_init(loop, event, attr, &options, NULL), 0);
}

static void set_output_on_another_loop_is_refused(void **state) {
  uvperf_event_t writer, elsewhere;
  struct perf_event_attr attr;
  uvperf_error_t error;
  uv_loop_t loop;

  assert_int_equal(uv_loop_init(&loop), 0);
  fake_event_add(8);
  fake_event_add(9);
  scripted_event_attr(&attr);
  init(*state, &writer, &attr, WRITER);
  init(&loop, &elsewhere, &attr, SHARED);
  assert_int_equal(uvperf_event_set_output(&writer, &elsewhere, &error),
                   UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(error.reason, "loop"));
  uvperf_close(&elsewhere.handle, NULL);
  scripted_event_turns(&loop, 2);
  assert_int_equal(uv_loop_close(&loop), 0);
  uvperf_close(&writer.handle, NULL);
  scripted_event_turns(*state, 2);
}

static uint64_t nr_events(const uvperf_event_t *owner) {
  uvperf_ring_info_t info;

  assert_int_equal(uvperf_ring(&owner->handle, 0, &info), 0);
  return info.nr_events;
}

static void set_output_changes_how_many_events_the_ring_has(void **state) {
  uvperf_event_t owner, writer;
  struct perf_event_attr attr;

  fake_event_add(8);
  fake_event_add(9);
  scripted_event_attr(&attr);
  init(*state, &owner, &attr, SHARED);
  init(*state, &writer, &attr, WRITER);
  assert_int_equal(nr_events(&owner), 1);
  assert_int_equal(uvperf_event_set_output(&writer, &owner, NULL), 0);
  assert_int_equal(nr_events(&owner), 2);
  assert_int_equal(uvperf_event_set_output(&writer, NULL, NULL), 0);
  assert_int_equal(nr_events(&owner), 1);
  uvperf_close(&writer.handle, NULL);
  uvperf_close(&owner.handle, NULL);
  scripted_event_turns(*state, 2);
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
  init(*state, &stays, &attr, WRITER);
  assert_int_equal(uvperf_event_set_output(&stays, &collector.event, NULL), 0);
  kept = fake_live_allocations();
  for (id = 9; id < 50; id++) {
    fake_event_t *fake = fake_event_add(id);

    init(*state, &writer, &attr, WRITER);
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

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(set_output_on_another_loop_is_refused),
      fake_kernel_test(set_output_changes_how_many_events_the_ring_has),
      fake_kernel_test(set_output_forgets_writers_that_have_left),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_handles, rows, tests);
}
