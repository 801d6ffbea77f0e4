/* SPDX-License-Identifier: MIT */
/* Live: READ, which an inherited event with inherit_stat writes when a child
 * ends, in every read_format. */
#include "live_sideband.h"

#include <linux/hw_breakpoint.h>
#include <time.h>

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

#define CHILDREN 2

typedef struct reads_s {
  live_truth_t truth;
  uint64_t leader, sibling; /* ids; sibling 0 if there is none */
  pid_t pids[CHILDREN];
} reads_t;

/* The work of the i-th child, which its parent does not do. */
static uint64_t writes_of(uint64_t child) {
  return 7 + child;
}

static uint64_t calls_of(uint64_t child) {
  return 3 + child;
}

static void check_times(const reads_t *reads, uint64_t format,
                        const uvperf_count_t *count) {
  uint64_t age = live_now() - reads->truth.before;

  if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
    assert_true(count->time_enabled > 0 && count->time_enabled < age);
  if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
    assert_true(count->time_running > 0 && count->time_running < age);
  if ((format & TIMES) == TIMES)
    assert_true(count->time_running == count->time_enabled);
}

/* Children have the id of their parent's event: primary_event_id(). */
static void check_value(const uvperf_count_t *count, uint64_t format,
                        uint64_t value, uint64_t id) {
  assert_true(count->value == value);
  assert_true(count->id == (format & PERF_FORMAT_ID ? id : 0));
  assert_true(count->lost == 0);
}

static void check_one(const reads_t *reads, uint64_t format, uint64_t child,
                      const uvperf_count_t *count) {
  if (reads->sibling != 0 && count->id == reads->sibling)
    check_value(count, format, calls_of(child), reads->sibling);
  else
    check_value(count, format, writes_of(child), reads->leader);
  check_times(reads, format, count);
}

/* A group falls apart as its events leave the child one by one, the last that
 * joined first: READ of the leader has its own value alone. */
static void check_read(live_collector_t *collector,
                       const uvperf_record_t *record) {
  uint64_t format =
      uvperf_handle_attr(&collector->event.handle, 0)->read_format;
  const uvperf_values_t *values = &record->read.values;
  const reads_t *reads = collector->hook_data;
  uint64_t child = collector->records;
  live_truth_t truth = reads->truth;
  uvperf_count_t count;
  uint64_t id;
  uint64_t i;

  assert_int_equal(record->type, PERF_RECORD_READ);
  assert_true(child < CHILDREN);
  truth.pid = truth.tid = reads->pids[child];
  assert_int_equal(record->read.pid, truth.pid);
  assert_int_equal(record->read.tid, truth.tid);
  live_assert_trailer(collector, record, &truth);
  assert_true(values->format == format);
  assert_in_range(values->nr, 1, reads->sibling != 0 ? 2 : 1);
  for (i = 0; i < values->nr; i++) {
    assert_int_equal(uvperf_values_get(values, i, &count), 0);
    check_one(reads, format, child, &count);
  }
  if (reads->sibling == 0)
    return;
  assert_int_equal(uvperf_event_id(&collector->event, &id), 0);
  assert_int_equal(uvperf_values_find(values, id, &count), 0);
  assert_int_equal(uvperf_values_find(values, reads->leader, &count), 0);
}

static int write_and_call(void *arg) {
  const uint64_t *child = arg;
  uint64_t i;

  live_write(writes_of(*child));
  for (i = 0; i < calls_of(*child); i++)
    live_called(i);
  return 0;
}

static void run_children(reads_t *reads) {
  uint64_t child;

  for (child = 0; child < CHILDREN; child++) {
    reads->pids[child] = support_fork(write_and_call, &child);
    assert_int_equal(support_wait(reads->pids[child]), 0);
  }
}

/* Writes are counted, and calls if there is a sibling: here and in children,
 * each of which records its count when it ends. */
typedef struct reader_s {
  uvperf_event_options_t options;
  struct perf_event_attr attr;
  live_collector_t leader, sibling, own;
  reads_t reads;
  cpu_set_t old;
} reader_t;

static void reader_prepare(reader_t *reader, int has_trailer, uint64_t format) {
  static const uvperf_event_options_t defaults = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr *attr = &reader->attr;

  memset(reader, 0, sizeof(*reader));
  live_truth_pin(&reader->reads.truth, &reader->old);
  reader->options = defaults;
  reader->options.cpu = reader->reads.truth.cpu;
  reader->options.flags |= UVPERF_EVENT_CPU;
  reader->options.ring_bytes = support_page_bytes();
  live_write_attr(attr, LIVE_TRAILER);
  uvperf_attr_set_period(attr, 0);
  attr->sample_id_all = has_trailer != 0;
  attr->use_clockid = 1;
  attr->clockid = CLOCK_MONOTONIC;
  attr->read_format = format;
  attr->inherit = 1;
  attr->inherit_stat = 1;
}

/* Without an event of its own the parent is a clone to the kernel, which may
 * then swap the contexts of the two on a switch, and the child ends with the
 * parent's, which writes no READ: perf_event_context_sched_out(). */
static void reader_begin(reader_t *reader, uv_loop_t *loop) {
  live_init_comm(loop, &reader->own);
  live_begin(loop, &reader->leader, &reader->attr, &reader->options, check_read,
             &reader->reads);
  assert_int_equal(
      uvperf_event_id(&reader->leader.event, &reader->reads.leader), 0);
}

static void reader_add_sibling(reader_t *reader, uv_loop_t *loop) {
  uvperf_event_options_t options = reader->options;
  struct perf_event_attr attr = reader->attr;
  struct perf_event_attr called;

  live_called_attr(&called, 0);
  attr.bp_type = called.bp_type;
  attr.bp_addr = called.bp_addr;
  attr.bp_len = called.bp_len;
  options.leader = &reader->leader.event;
  live_begin(loop, &reader->sibling, &attr, &options, check_read,
             &reader->reads);
  assert_int_equal(
      uvperf_event_id(&reader->sibling.event, &reader->reads.sibling), 0);
  /* A sibling that joins later counts from the next switch on. */
  assert_int_equal(uvperf_disable(&reader->leader.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_enable(&reader->leader.event.handle, 0, NULL), 0);
}

static void reader_end(reader_t *reader) {
  if (reader->reads.sibling != 0)
    live_end(&reader->sibling, CHILDREN);
  live_end(&reader->leader, CHILDREN);
  live_close(&reader->own);
  live_unpin(&reader->old);
}

/* Linux 5.13 to 6.18 wrote none when a child ended: see upstream's "perf/core:
 * Fix missing read event generation on task exit", which stable kernels also
 * have. */
static void need_reads(const char *test, uv_loop_t *loop) {
  reader_t reader;
  uint64_t nr;

  support_need_breakpoints(test);
  reader_prepare(&reader, 1, 0);
  reader_begin(&reader, loop);
  run_children(&reader.reads);
  assert_int_equal(uvperf_flush(&reader.leader.event.handle), 0);
  nr = reader.leader.records;
  live_close(&reader.leader);
  live_close(&reader.own);
  live_unpin(&reader.old);
  if (nr == 0)
    support_skip(test, "READ records of children that end");
}

/* -- the tests ------------------------------------------------------------ */

/* Kernels before 6.0 refuse PERF_FORMAT_LOST, those before 4.13 a group that is
 * inherited. */
static int is_accepted(uv_loop_t *loop, const reader_t *reader) {
  uvperf_event_t event;

  if (reader->attr.read_format <= (TIMES | PERF_FORMAT_ID))
    return 1;
  if (uvperf_event_init(loop, &event, &reader->attr, &reader->options, NULL) !=
      0)
    return 0;
  uvperf_close(&event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  return 1;
}

static void read_format(uv_loop_t *loop, int has_trailer, uint64_t format) {
  reader_t reader;

  reader_prepare(&reader, has_trailer, format);
  if (!is_accepted(loop, &reader)) {
    live_unpin(&reader.old);
    return;
  }
  reader_begin(&reader, loop);
  run_children(&reader.reads);
  reader_end(&reader);
}

static void sideband_read_of_every_format_has_what_a_child_did(void **state) {
  uint64_t format;

  need_reads(__func__, *state);
  for (format = 0; format < 2 * UVPERF_FORMAT_LOST; format++) {
    read_format(*state, 1, format);
    read_format(*state, 0, format);
  }
}

static void sideband_read_of_a_group_has_what_a_child_did(void **state) {
  uint64_t format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | TIMES;
  reader_t reader;
  int has_trailer;

  need_reads(__func__, *state);
  for (has_trailer = 0; has_trailer <= 1; has_trailer++) {
    reader_prepare(&reader, has_trailer, format);
    reader_begin(&reader, *state);
    reader_add_sibling(&reader, *state);
    run_children(&reader.reads);
    reader_end(&reader);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sideband_read_of_every_format_has_what_a_child_did),
      support_loop_test(sideband_read_of_a_group_has_what_a_child_did),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
