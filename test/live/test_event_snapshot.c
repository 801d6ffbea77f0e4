/* SPDX-License-Identifier: MIT */
/* Snapshots of an overwritable ring of this kernel into the callback: which
 * records come when, and what a callback may do with its handle. */
#include "live.h"

#include <errno.h>
#include <unistd.h>

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
  pid_t pid;
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

static void event_snapshot_is_repeated_in_either_order(void **state) {
  recorder_t recorder;

  support_need_own_events(__func__);
  begin(*state, &recorder);
  expect(&recorder, 0, "");
  name(&recorder, 4);
  expect(&recorder, 0, "3 2 1 0");
  expect(&recorder, 0, "");
  name(&recorder, 3);
  expect(&recorder, UVPERF_SNAPSHOT_OLDEST_FIRST, "4 5 6");
  expect(&recorder, UVPERF_SNAPSHOT_ALL, "6 5 4 3 2 1 0");
  name(&recorder, 1);
  expect(&recorder, UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_OLDEST_FIRST,
         "0 1 2 3 4 5 6 7");
  name(&recorder, 1);
  expect(&recorder, UVPERF_SNAPSHOT_NO_WAIT, "8");
  end(&recorder);
}

/* Nothing comes by itself, nor keeps the loop. */
static void event_snapshot_after_stop_has_all_records(void **state) {
  recorder_t recorder;

  support_need_own_events(__func__);
  begin(*state, &recorder);
  name(&recorder, 2);
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
  assert_int_equal(uvperf_stop(&recorder.collector.event.handle), 0);
  name(&recorder, 2);
  expect(&recorder, 0, "3 2 1 0");
  assert_int_equal(start(&recorder), 0);
  name(&recorder, 1);
  expect(&recorder, 0, "4");
  end(&recorder);
}

static void event_snapshot_counts_what_it_delivers(void **state) {
  uvperf_stats_t stats;
  recorder_t recorder;

  support_need_own_events(__func__);
  begin(*state, &recorder);
  name(&recorder, 3);
  expect(&recorder, 0, "2 1 0");
  expect(&recorder, UVPERF_SNAPSHOT_ALL, "2 1 0");
  uvperf_stats(&recorder.collector.event.handle, &stats);
  assert_int_equal(stats.records, 6);
  assert_int_equal(stats.bytes, 2 * stats.high_water_bytes);
  assert_int_equal(stats.cut_records, 0);
  name(&recorder, 1000);
  assert_int_equal(take(&recorder, 0), 0);
  uvperf_stats(&recorder.collector.event.handle, &stats);
  assert_int_equal(stats.high_water_bytes, support_page_bytes());
  assert_in_range(stats.cut_records, 0, 1);
  end(&recorder);
}

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

/* -- refusals ------------------------------------------------------------- */

static void event_snapshot_of_what_has_none_is_einval(void **state) {
  uvperf_event_t *event;
  recorder_t recorder;
  live_collector_t other;
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  open_recorder(*state, &recorder);
  event = &recorder.collector.event;
  assert_int_equal(uvperf_snapshot(&event->handle, 0, NULL, NULL), UV_EINVAL);
  assert_int_equal(uvperf_start(&event->handle, NULL, NULL, NULL), 0);
  name(&recorder, 1);
  assert_int_equal(uvperf_snapshot(&event->handle, 0, NULL, NULL), UV_EINVAL);
  assert_int_equal(uvperf_stop(&event->handle), 0);
  assert_int_equal(start(&recorder), 0);
  assert_int_equal(uvperf_snapshot(&event->handle, 8, NULL, NULL), UV_EINVAL);
  assert_int_equal(uvperf_snapshot(&event->handle, UINT32_MAX, NULL, NULL),
                   UV_EINVAL);
  expect(&recorder, 0, "0");
  end(&recorder);
  /* A ring that is not overwritable, and no ring. */
  live_init_comm(*state, &other);
  live_start(&other, NULL);
  assert_int_equal(uvperf_snapshot(&other.event.handle, 0, NULL, NULL),
                   UV_EINVAL);
  live_close(&other);
  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  attr.exclude_kernel = 1;
  live_init(*state, &other, &attr, NULL);
  live_start(&other, NULL);
  assert_int_equal(uvperf_snapshot(&other.event.handle, 0, NULL, NULL),
                   UV_EINVAL);
  live_close(&other);
}

static void snapshot_inside(recorder_t *recorder) {
  const uvperf_record_t *record;
  uvperf_event_t *event = &recorder->collector.event;

  recorder->code = uvperf_snapshot(&event->handle, 0, NULL, NULL) == UV_EBUSY &&
                   uvperf_next(&event->handle, &record) == UV_EBUSY &&
                   uvperf_flush(&event->handle) == UV_EINVAL;
}

static void event_snapshot_inside_its_callback_is_ebusy(void **state) {
  recorder_t recorder;

  support_need_own_events(__func__);
  begin_acting(*state, &recorder, 3, 2, snapshot_inside);
  expect(&recorder, 0, "2 1 0");
  assert_int_equal(recorder.code, 1);
  end(&recorder);
}

static void event_snapshot_without_memory_loses_nothing(void **state) {
  recorder_t recorder;

  support_need_own_events(__func__);
  begin(*state, &recorder);
  name(&recorder, 2);
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(take(&recorder, 0), UV_ENOMEM);
  assert_string_equal(recorder.seen, "");
  name(&recorder, 1);
  expect(&recorder, 0, "2 1 0");
  end(&recorder);
}

/* -- calls in callbacks --------------------------------------------------- */

static void stop_inside(recorder_t *recorder) {
  recorder->code = uvperf_stop(&recorder->collector.event.handle);
}

static void event_snapshot_stopped_inside_ends_there(void **state) {
  recorder_t recorder;

  support_need_own_events(__func__);
  begin_acting(*state, &recorder, 4, 2, stop_inside);
  expect(&recorder, 0, "3 2");
  assert_int_equal(recorder.code, 0);
  expect(&recorder, 0, "");
  expect(&recorder, UVPERF_SNAPSHOT_ALL, "3 2 1 0");
  end(&recorder);
}

static void restart_inside(recorder_t *recorder) {
  recorder->code = uvperf_stop(&recorder->collector.event.handle);
  recorder->code |= start(recorder);
}

static void event_snapshot_restarted_inside_ends_there(void **state) {
  recorder_t recorder;

  support_need_own_events(__func__);
  begin_acting(*state, &recorder, 4, 1, restart_inside);
  expect(&recorder, 0, "3");
  assert_int_equal(recorder.code, 0);
  name(&recorder, 1);
  expect(&recorder, 0, "4");
  end(&recorder);
}

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

/* The ring is written again by then. */
static void name_inside(recorder_t *recorder) {
  name(recorder, 2);
}

static void event_snapshot_has_nothing_of_its_callbacks(void **state) {
  recorder_t recorder;

  support_need_own_events(__func__);
  begin_acting(*state, &recorder, 2, 1, name_inside);
  expect(&recorder, 0, "1 0");
  expect(&recorder, 0, "3 2");
  end(&recorder);
}

static void on_closed(uvperf_handle_t *handle) {
  *(int *)handle->data += 1;
}

static void close_inside(recorder_t *recorder) {
  uvperf_event_t *event = &recorder->collector.event;

  event->handle.data = &recorder->collector.closed;
  uvperf_close(&event->handle, on_closed);
}

static void event_snapshot_closed_inside_ends_there(void **state) {
  recorder_t recorder;

  support_need_own_events(__func__);
  begin_acting(*state, &recorder, 4, 2, close_inside);
  expect(&recorder, 0, "3 2");
  assert_int_equal(recorder.collector.closed, 0);
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
  assert_int_equal(recorder.collector.closed, 1);
  assert_int_equal(fake_live_allocations(), 0);
}

static void fork_inside(recorder_t *recorder) {
  uvperf_event_t *event = &recorder->collector.event;

  recorder->pid = fork();
  if (recorder->pid != 0)
    return;
  if (uv_loop_fork(event->handle.loop) != 0)
    _exit(1);
  recorder->code = uvperf_snapshot(&event->handle, 0, NULL, NULL);
  uvperf_close(&event->handle, NULL);
}

/* The rest for a child that has closed the handle. */
static int child_after_close(recorder_t *recorder) {
  uv_loop_t *loop = recorder->collector.event.handle.loop;

  if (recorder->code != UV_EPERM || strcmp(recorder->seen, "3 2") != 0)
    return 2;
  uv_run(loop, UV_RUN_DEFAULT);
  if (fake_live_allocations() != 0)
    return 3;
  return uv_loop_close(loop) == 0 ? 0 : 4;
}

static void event_snapshot_forked_inside_goes_on_in_the_parent(void **state) {
  recorder_t recorder;

  support_need_own_events(__func__);
  begin_acting(*state, &recorder, 4, 2, fork_inside);
  assert_int_equal(take(&recorder, 0), 0);
  if (recorder.pid == 0)
    _exit(child_after_close(&recorder));
  assert_int_equal(support_wait(recorder.pid), 0);
  assert_string_equal(recorder.seen, "3 2 1 0");
  name(&recorder, 1);
  expect(&recorder, 0, "4");
  end(&recorder);
}

static void event_snapshot_in_a_forked_child_is_eperm(void **state) {
  recorder_t recorder;
  pid_t pid;

  support_need_own_events(__func__);
  begin(*state, &recorder);
  name(&recorder, 2);
  pid = fork();
  if (pid == 0)
    _exit(take(&recorder, 0) == UV_EPERM && recorder.records == 0 ? 0 : 1);
  assert_int_equal(support_wait(pid), 0);
  expect(&recorder, 0, "1 0");
  end(&recorder);
}

#define TEST(f)                                                                \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(event_snapshot_is_repeated_in_either_order),
      TEST(event_snapshot_after_stop_has_all_records),
      TEST(event_snapshot_counts_what_it_delivers),
      TEST(event_snapshot_while_paused_leaves_it_so),
      TEST(event_snapshot_between_next_goes_on_with_both),
      TEST(event_snapshot_of_a_shared_ring_names_the_writer),
      TEST(event_snapshot_of_what_has_none_is_einval),
      TEST(event_snapshot_inside_its_callback_is_ebusy),
      TEST(event_snapshot_without_memory_loses_nothing),
      TEST(event_snapshot_stopped_inside_ends_there),
      TEST(event_snapshot_restarted_inside_ends_there),
      TEST(event_snapshot_started_inside_without_cb_ends_there),
      TEST(event_snapshot_has_nothing_of_its_callbacks),
      TEST(event_snapshot_closed_inside_ends_there),
      TEST(event_snapshot_forked_inside_goes_on_in_the_parent),
      TEST(event_snapshot_in_a_forked_child_is_eperm),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
