/* SPDX-License-Identifier: MIT */
/* Snapshots of an overwritable ring of this kernel into the callback: which
 * records come when, and what a callback may do with its handle. */
#include "live.h"

#include "fake_kernel.h"

/* Records of the names that this thread sets. */
typedef struct recorder_s {
  live_collector_t collector;
  uint64_t next;
  char seen[256]; /* numbers of names, "lost3" */
  void (*act)(struct recorder_s *recorder);
  uint64_t act_at; /* the number of the record */
  uint64_t records;
  uint64_t ends;
  const void *writer; /* whose records are counted */
  uint64_t of_writer;
  int code; /* the test's */
} recorder_t;

static void append(recorder_t *recorder, const char *what, uint64_t number) {
  size_t used = strlen(recorder->seen);

  snprintf(recorder->seen + used, sizeof(recorder->seen) - used, "%s%s%u",
           used > 0 ? " " : "", what, (unsigned int)number);
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  recorder_t *recorder = handle->data;
  unsigned int number = 0;

  if (status != 0 || record->type == UVPERF_RECORD_NONE) {
    recorder->ends += 1;
    return;
  }
  /* Comes with COMM, without a request. */
  if (record->type == PERF_RECORD_FORK)
    return;
  if (record->type == PERF_RECORD_LOST)
    append(recorder, "lost", record->lost.lost);
  else if (record->type == PERF_RECORD_COMM &&
           sscanf(record->comm.comm, "live%u", &number) == 1)
    append(recorder, "", number);
  else
    append(recorder, "type", record->type);
  recorder->records += 1;
  recorder->of_writer += record->source->data == recorder->writer;
  if (recorder->act != NULL && recorder->records == recorder->act_at)
    recorder->act(recorder);
}

static void recorder_attr(struct perf_event_attr *attr) {
  live_comm_attr(attr);
  uvperf_attr_set_wakeup_events(attr, 0);
  attr->write_backward = 1;
}

static void open_recorder(uv_loop_t *loop, recorder_t *recorder) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  memset(recorder, 0, sizeof(*recorder));
  recorder_attr(&attr);
  options.ring_bytes = 1;
  live_init(loop, &recorder->collector, &attr, &options);
  recorder->collector.event.handle.data = recorder;
}

static int start(recorder_t *recorder) {
  return uvperf_start(&recorder->collector.event.handle, NULL, on_record, NULL);
}

static void begin(uv_loop_t *loop, recorder_t *recorder) {
  open_recorder(loop, recorder);
  assert_int_equal(start(recorder), 0);
}

static void name(recorder_t *recorder, uint64_t nr) {
  live_comm(&recorder->next, nr);
}

static int take(recorder_t *recorder, uint32_t flags) {
  recorder->seen[0] = '\0';
  return uvperf_snapshot(&recorder->collector.event.handle, flags, NULL, NULL);
}

static void expect(recorder_t *recorder, uint32_t flags, const char *seen) {
  assert_int_equal(take(recorder, flags), 0);
  assert_string_equal(recorder->seen, seen);
}

/* Writes `nr` names into the ring; the callback acts with one of the
 * records. */
static void begin_acting(uv_loop_t *loop, recorder_t *recorder, uint64_t names,
                         uint64_t at, void (*act)(recorder_t *recorder)) {
  begin(loop, recorder);
  recorder->act = act;
  recorder->act_at = at;
  name(recorder, names);
}

static void end(recorder_t *recorder) {
  assert_int_equal(recorder->ends, 0);
  recorder->collector.event.handle.data = &recorder->collector;
  live_close(&recorder->collector);
}

/* -- delivery ------------------------------------------------------------- */

/* Output that the user has paused stays so. */
static void event_snapshot_while_paused_leaves_it_so(void **state) {
  uvperf_stats_t stats;
  recorder_t recorder;

  support_need_own_events(__func__);
  begin(*state, &recorder);
  name(&recorder, 2);
  assert_int_equal(uvperf_event_pause(&recorder.collector.event, 1, NULL), 0);
  expect(&recorder, 0, "1 0");
  name(&recorder, 5);
  expect(&recorder, 0, "");
  assert_int_equal(uvperf_event_pause(&recorder.collector.event, 0, NULL), 0);
  name(&recorder, 1);
  expect(&recorder, 0, "lost5 7");
  uvperf_stats(&recorder.collector.event.handle, &stats);
  assert_int_equal(stats.lost_records, 5);
  name(&recorder, 1);
  expect(&recorder, UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_OLDEST_FIRST,
         "0 1 lost5 7 8");
  end(&recorder);
}

/* Next finishes what it has begun; neither returns the other's records. */
static void event_snapshot_between_next_goes_on_with_both(void **state) {
  const uvperf_record_t *record;
  uvperf_event_t *event;
  recorder_t recorder;

  support_need_own_events(__func__);
  begin(*state, &recorder);
  event = &recorder.collector.event;
  name(&recorder, 3);
  assert_int_equal(uvperf_event_pause(event, 1, NULL), 0);
  assert_int_equal(uvperf_next(&event->handle, &record), 0);
  assert_string_equal(record->comm.comm, "live2");
  expect(&recorder, 0, "");
  assert_int_equal(uvperf_next(&event->handle, &record), 0);
  assert_string_equal(record->comm.comm, "live1");
  assert_int_equal(uvperf_event_pause(event, 0, NULL), 0);
  name(&recorder, 2);
  expect(&recorder, 0, "4 3");
  assert_int_equal(uvperf_event_pause(event, 1, NULL), 0);
  assert_int_equal(uvperf_next(&event->handle, &record), 0);
  assert_string_equal(record->comm.comm, "live0");
  assert_int_equal(uvperf_next(&event->handle, &record), UV_EAGAIN);
  end(&recorder);
}

/* A ring that several write into. */
static void event_snapshot_of_a_shared_ring_names_the_writer(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  live_collector_t writer;
  recorder_t recorder;

  support_need_own_events(__func__);
  memset(&recorder, 0, sizeof(recorder));
  recorder_attr(&attr);
  options.flags = UVPERF_EVENT_IDENTIFY;
  options.ring_bytes = 1;
  live_init(*state, &recorder.collector, &attr, &options);
  recorder.collector.event.handle.data = &recorder;
  options.flags |= UVPERF_EVENT_NO_RING;
  options.ring_bytes = 0;
  live_init(*state, &writer, &attr, &options);
  assert_int_equal(
      uvperf_event_set_output(&writer.event, &recorder.collector.event, NULL),
      0);
  assert_int_equal(start(&recorder), 0);
  name(&recorder, 1);
  assert_int_equal(uvperf_enable(&writer.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_disable(&recorder.collector.event.handle, 0, NULL),
                   0);
  name(&recorder, 2);
  /* The ring is not the writer's. */
  assert_int_equal(uvperf_start(&writer.event.handle, NULL, NULL, NULL), 0);
  assert_int_equal(uvperf_snapshot(&writer.event.handle, 0, NULL, NULL),
                   UV_EINVAL);
  recorder.writer = &writer.event;
  expect(&recorder, 0, "2 1 0");
  assert_int_equal(recorder.of_writer, 2);
  live_close(&writer);
  recorder.writer = NULL;
  expect(&recorder, UVPERF_SNAPSHOT_ALL, "2 1 0");
  assert_int_equal(recorder.of_writer, 4);
  end(&recorder);
}

/* -- calls in callbacks --------------------------------------------------- */

static void start_without_cb_inside(recorder_t *recorder) {
  recorder->code =
      uvperf_start(&recorder->collector.event.handle, NULL, NULL, NULL);
}

static void event_snapshot_started_inside_without_cb_ends_there(void **state) {
  recorder_t recorder;

  support_need_own_events(__func__);
  begin_acting(*state, &recorder, 4, 2, start_without_cb_inside);
  assert_int_equal(uvperf_stop(&recorder.collector.event.handle), 0);
  expect(&recorder, 0, "3 2");
  assert_int_equal(recorder.code, 0);
  assert_int_equal(take(&recorder, 0), UV_EINVAL);
  end(&recorder);
}

#define TEST(f)                                                                \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(event_snapshot_while_paused_leaves_it_so),
      TEST(event_snapshot_between_next_goes_on_with_both),
      TEST(event_snapshot_of_a_shared_ring_names_the_writer),
      TEST(event_snapshot_started_inside_without_cb_ends_there),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
