/* SPDX-License-Identifier: MIT */
/* Scripted: uvperf_next of an event, a set and a reader. Most samples are taken
 * by its cursor. Other calls come between. Each record is returned once and
 * whole, and stays until the next call. The kernel gets its bytes back after a
 * quarter of the ring. */
#include "scripted_reader.h"
#include "scripted_set.h"

#include "loop/handle.h"
#include "loop/hub.h"
#include "loop/rings.h"
#include "model_run.h"
#include "check_record.h"

#define MOST  8192
#define RINGS 2
#define WHERE                                                                  \
  (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |     \
   PERF_SAMPLE_PERIOD)

enum kind {
  EVENT,
  SET,
  SET_IN_ORDER,
  READER,
  KINDS
};

enum state {
  SOUND,
  FOREIGN,  /* has the id of another process's event, and an earlier time */
  NEWER,    /* of a type that no kernel has */
  CUT,      /* a sample without its fields */
  SENSELESS /* not a header */
};

typedef struct expected_s {
  enum state state;
  uint32_t type;
  record_values_t values;
  size_t size;
  uint64_t at; /* where it begins in its ring */
  uint8_t *bytes;
} expected_t;

typedef struct queue_s {
  fake_event_t *ring;
  const struct perf_event_attr *attr; /* of the event that writes into it */
  uint64_t id;
  expected_t all[MOST];
  size_t first, last;
  uint64_t bytes; /* of the records that were returned */
} queue_t;

typedef struct subject_s {
  model_run_t random;
  enum kind kind;
  live_collector_t event;
  scripted_set_t set;
  scripted_reader_t reader;
  uvperf_handle_t *handle;
  queue_t queues[RINGS];
  size_t nr_rings;
  uint64_t time; /* of the last record that was written */
  /* As counted here. */
  uvperf_stats_t stats;
  uint64_t newest[2]; /* by next, and by callbacks: each has its own merge */
  int in_callback;
  const expected_t *in_hand; /* NULL: no record */
  uint8_t *borrowed;         /* the hub's buffer for another handle, or NULL */
} subject_t;

static subject_t subject;

static uint64_t draw(uint64_t below) {
  return model_run_draw(&subject.random, below);
}

/* The number of records that were not taken by the cursor. */
static uint64_t checked;

int __real_uvperf__decode(uvperf_decoder_t *decoder,
                          const uvperf_source_t *alone, const void *bytes,
                          size_t size, const uvperf_record_t **record);

int __wrap_uvperf__decode(uvperf_decoder_t *decoder,
                          const uvperf_source_t *alone, const void *bytes,
                          size_t size, const uvperf_record_t **record) {
  checked += 1;
  return __real_uvperf__decode(decoder, alone, bytes, size, record);
}

static int is_out_of_memory;

void *__real_uvperf__hub_lend(uvperf__hub_t *hub);

void *__wrap_uvperf__hub_lend(uvperf__hub_t *hub) {
  return is_out_of_memory ? NULL : __real_uvperf__hub_lend(hub);
}

/* -- records --------------------------------------------------------------- */

static queue_t *queue_of(const uvperf_record_t *record) {
  queue_t *queue;
  size_t i;

  for (i = 0; i < subject.nr_rings; i++) {
    queue = &subject.queues[i];
    if (subject.kind == READER
            ? record->cpu == (uint32_t)queue->ring->cpu
            : queue->first < queue->last &&
                  queue->all[queue->first].size == record->size &&
                  memcmp(queue->all[queue->first].bytes, record->bytes,
                         record->size) == 0)
      return queue;
  }
  fail_msg("the record is the first of no ring");
  return NULL;
}

static void check_record(const queue_t *queue, const expected_t *expected,
                         int status, const uvperf_record_t *record) {
  uvperf_record_t copy = *record;

  assert_int_equal(status, expected->state == CUT ? UV_EPROTO : 0);
  assert_int_equal(record->size, expected->size);
  assert_memory_equal(record->bytes, expected->bytes, expected->size);
  if (subject.kind == READER) {
    copy.cpu = 0;
    copy.remaining = 0;
  }
  if (expected->state > FOREIGN)
    return;
  check_record_fields(&copy, expected->type, queue->attr, &expected->values,
                      record->bytes);
  /* A ring has one source. */
  if (expected->type == PERF_RECORD_SAMPLE && subject.kind != READER)
    assert_int_equal(record->source->ids[0], queue->id);
}

static void check_stats(void) {
  uvperf_ring_info_t info;
  uvperf_stats_t stats;
  size_t i;

  for (i = 0; i < subject.nr_rings; i++) {
    assert_int_equal(uvperf_ring(subject.handle, i, &info), 0);
    assert_int_equal(info.stats.bytes, subject.queues[i].bytes);
  }
  uvperf_stats(subject.handle, &stats);
  assert_int_equal(stats.records, subject.stats.records);
  assert_int_equal(stats.bytes, subject.stats.bytes);
  assert_int_equal(stats.corrupt, subject.stats.corrupt);
  assert_int_equal(stats.lost_records, subject.stats.lost_records);
  assert_int_equal(stats.skipped_bytes, subject.stats.skipped_bytes);
  if (subject.kind == SET_IN_ORDER)
    assert_int_equal(stats.late_records, subject.stats.late_records);
}

/* Counts the queue's first record, and removes it. */
static const expected_t *count(queue_t *queue, int status,
                               const uvperf_record_t *record) {
  const expected_t *expected = &queue->all[queue->first++];
  uint64_t *newest;

  queue->bytes += expected->size;
  subject.stats.records += 1;
  subject.stats.bytes += expected->size;
  subject.stats.corrupt += status != 0;
  if (status == 0 && record->type == PERF_RECORD_LOST)
    subject.stats.lost_records += record->lost.lost;
  if (expected->state != CUT) {
    newest = &subject.newest[subject.in_callback];
    subject.stats.late_records += record->time < *newest;
    if (record->time > *newest)
      *newest = record->time;
  }
  return expected;
}

/* A ring made no sense, and was skipped to its end. */
static void skip_ring(const uvperf_record_t *record) {
  queue_t *queue = NULL;
  size_t i;

  for (i = 0; i < subject.nr_rings; i++)
    if (subject.kind == EVENT ||
        record->cpu == (uint32_t)subject.queues[i].ring->cpu)
      queue = &subject.queues[i];
  assert_non_null(queue);
  assert_true(queue->first < queue->last);
  assert_int_equal(queue->all[queue->first].state, SENSELESS);
  subject.stats.skipped_bytes +=
      queue->ring->page->data_head - queue->all[queue->first].at;
  subject.stats.corrupt += 1;
  queue->first = queue->last;
}

/* The position of the record in hand, or else of the next record. */
static uint64_t position_of(const queue_t *queue) {
  const expected_t *in_hand = subject.in_hand;

  if (in_hand >= queue->all && in_hand < queue->all + MOST)
    return in_hand->at;
  return queue->first < queue->last ? queue->all[queue->first].at
                                    : queue->ring->page->data_head;
}

/* The kernel got back all quarters that were read, but not the record in
 * hand. */
static void check_tails(void) {
  const queue_t *queue;
  uint64_t tail;
  size_t i;

  for (i = 0; i < subject.nr_rings; i++) {
    queue = &subject.queues[i];
    tail = fake_ring_tail(queue->ring->page);
    assert_true(tail <= position_of(queue));
    assert_true(position_of(queue) - tail < queue->ring->ring_size / 4);
    if (subject.in_hand == NULL)
      assert_int_equal(tail, position_of(queue));
  }
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  queue_t *queue;

  assert_ptr_equal(handle, subject.handle);
  if (record->type == UVPERF_RECORD_NONE) {
    assert_int_equal(status, UV_EPROTO);
    skip_ring(record);
    return;
  }
  queue = queue_of(record);
  subject.in_callback = 1;
  check_record(queue, count(queue, status, record), status, record);
  subject.in_callback = 0;
}

/* The handle keeps no buffer if the record lies in place. */
static void check_room(const uvperf_record_t *record) {
  const uvperf__handle_t *self = subject.handle->impl;

  if (self->room != NULL)
    assert_ptr_equal(self->room, record->bytes);
  if (subject.borrowed != NULL)
    assert_int_equal(subject.borrowed[0], 0xee);
}

/* Returns the same as uvperf_next, which is called again if it was short of
 * memory. */
static int call_next(const uvperf_record_t **record) {
  int rc;

  is_out_of_memory = subject.borrowed != NULL && draw(4) == 0;
  rc = uvperf_next(subject.handle, record);
  if (is_out_of_memory && rc == UV_ENOMEM) {
    assert_null(*record);
    is_out_of_memory = 0;
    rc = uvperf_next(subject.handle, record);
  }
  is_out_of_memory = 0;
  return rc;
}

/* The record of the last take, and its ring. */
static const uvperf_record_t *taken;
static queue_t *taken_from;

/* Takes a record in hand. Returns the same as uvperf_next. */
static int take(void) {
  int rc = call_next(&taken);

  subject.in_hand = NULL;
  check_room(taken);
  if (taken == NULL) {
    check_tails();
    return rc;
  }
  if (taken->type == UVPERF_RECORD_NONE) {
    assert_int_equal(rc, UV_EPROTO);
    skip_ring(taken);
    return rc;
  }
  taken_from = queue_of(taken);
  subject.in_hand = count(taken_from, rc, taken);
  check_record(taken_from, subject.in_hand, rc, taken);
  check_tails();
  if (subject.kind == READER)
    assert_true(taken->remaining <=
                taken_from->ring->page->data_head - subject.in_hand->at);
  return rc;
}

static int any_waits(void) {
  size_t i;

  for (i = 0; i < subject.nr_rings; i++)
    if (subject.queues[i].first < subject.queues[i].last)
      return 1;
  return 0;
}

/* -- writing --------------------------------------------------------------- */

static void build(const queue_t *queue, expected_t *expected,
                  record_builder_t *builder) {
  const struct perf_event_header cut = {PERF_RECORD_SAMPLE, 0, 16};

  record_values_init(&expected->values);
  expected->values.id = queue->id;
  subject.time += draw(100);
  expected->values.time = subject.time;
  if (expected->state == FOREIGN) {
    expected->values.time -= draw(500);
    if (draw(2)) /* else 0, as a free slot of a table of ids */
      expected->values.id += 10 + draw(1000);
    else
      expected->values.id = 0;
  }
  expected->values.pid = (uint32_t)draw(1000000);
  expected->values.callchain_nr = draw(12);
  expected->values.raw_size = (uint32_t)(4 + 8 * draw(12));
  if (expected->state == SENSELESS) {
    builder->words[0] = 0;
    builder->size = sizeof(builder->words[0]);
  } else if (expected->state == CUT) {
    memcpy(builder->words, &cut, sizeof(cut));
    builder->words[1] = subject.kind == READER ? 1000 : queue->id;
    builder->size = cut.size;
  } else {
    record_build(builder, expected->type, queue->attr, &expected->values);
  }
}

/* Returns 0 if there is no room. */
static int write_record(queue_t *queue, enum state state, uint32_t type) {
  static record_builder_t builder;
  expected_t *expected = &queue->all[queue->last];
  const struct perf_event_mmap_page *page = queue->ring->page;

  assert_true(queue->last < MOST);
  memset(expected, 0, sizeof(*expected));
  expected->state = state;
  expected->type = type;
  build(queue, expected, &builder);
  if (page->data_head - fake_ring_tail(page) + builder.size >
      queue->ring->ring_size)
    return 0;
  expected->size = builder.size;
  expected->at = page->data_head;
  expected->bytes = malloc(builder.size);
  memcpy(expected->bytes, builder.words, builder.size);
  fake_ring_append(queue->ring, builder.words, builder.size);
  queue->last += 1;
  return 1;
}

static queue_t *any_queue(void) {
  return &subject.queues[draw(subject.nr_rings)];
}

/* Records after such bytes are skipped. */
static int is_senseless(const queue_t *queue) {
  return queue->first < queue->last &&
         queue->all[queue->last - 1].state == SENSELESS;
}

static void write_any(void) {
  queue_t *queue = any_queue();

  if (is_senseless(queue))
    return;
  switch (draw(40)) {
    case 0:
      write_record(queue, NEWER, 1000);
      break;
    case 1:
      write_record(queue, CUT, PERF_RECORD_SAMPLE);
      break;
    case 2:
      write_record(queue, SENSELESS, 0);
      break;
    case 3:
    case 4:
      write_record(queue, SOUND, PERF_RECORD_LOST);
      break;
    default:
      write_record(queue, draw(6) == 0 ? FOREIGN : SOUND, PERF_RECORD_SAMPLE);
      break;
  }
}

/* -- subjects -------------------------------------------------------------- */

static void open_event(uv_loop_t *loop, uint64_t sample_type) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  fake_kernel_reset();
  subject.queues[0].ring = fake_event_add(7);
  subject.queues[0].attr = &subject.queues[0].ring->attr;
  subject.queues[0].id = 7;
  subject.nr_rings = 1;
  live_comm_attr(&attr);
  attr.sample_type = sample_type | (draw(2) ? PERF_SAMPLE_ID : 0);
  options.ring_bytes = 1;
  live_init(loop, &subject.event, &attr, &options);
  subject.handle = &subject.event.event.handle;
}

static void open_set(uv_loop_t *loop, uint64_t sample_type) {
  uint64_t more = draw(8); /* so that the slot of id 0 may be free */
  size_t i;

  scripted_set_plan(&subject.set, subject.kind == SET_IN_ORDER);
  for (i = 0; i < 4; i++)
    subject.set.events[i]->id += more;
  subject.set.make.attrs[0].sample_type = sample_type;
  subject.set.make.attrs[0].sample_id_all = 1;
  scripted_set_open_planned(loop, &subject.set);
  subject.handle = &subject.set.stream.live.set.handle;
  subject.time = subject.set.base + 1000;
  subject.nr_rings = 2;
  for (i = 0; i < 2; i++) {
    subject.queues[i].ring = subject.set.events[2 * i + 1];
    subject.queues[i].attr = &subject.set.events[2 * i]->attr;
    subject.queues[i].id = 100 + more + 2 * i;
  }
}

static void open_reader(uv_loop_t *loop) {
  size_t i;

  scripted_reader_plan(&subject.reader, 8);
  scripted_reader_open(loop, &subject.reader);
  subject.handle = &subject.reader.live.reader.handle;
  subject.nr_rings = 2;
  for (i = 0; i < 2; i++) {
    subject.queues[i].ring = subject.reader.events[2 * i + 1];
    subject.queues[i].attr = &subject.reader.events[2 * i]->attr;
  }
}

static void open_kind(uv_loop_t *loop, enum kind kind, uint64_t seed) {
  static const uint64_t types[] = {WHERE, WHERE | PERF_SAMPLE_RAW,
                                   WHERE | PERF_SAMPLE_CALLCHAIN,
                                   PERF_SAMPLE_TID | PERF_SAMPLE_TIME};
  uint64_t type;

  memset(&subject, 0, sizeof(subject));
  model_run_seed(&subject.random, seed);
  subject.kind = kind;
  type = types[draw(4)];
  if (kind == EVENT)
    open_event(loop, type);
  else if (kind == READER)
    open_reader(loop);
  else
    open_set(loop, type);
  fake_log_clear();
}

static void close_kind(uv_loop_t *loop) {
  size_t i, j;

  if (subject.kind == EVENT)
    live_close(&subject.event);
  else if (subject.kind == READER)
    scripted_reader_close(&subject.reader);
  else
    scripted_set_close(&subject.set);
  for (i = 0; i < subject.nr_rings; i++)
    for (j = 0; j < subject.queues[i].last; j++)
      free(subject.queues[i].all[j].bytes);
  uv_run(loop, UV_RUN_NOWAIT);
}

static void start(void) {
  assert_int_equal(
      uvperf_start(subject.handle, &live_stream_plain, on_record, NULL), 0);
}

/* -- at random ------------------------------------------------------------- */

/* As if another handle had a record that wraps. */
static void borrow_or_give_back(void) {
  const uvperf__handle_t *self = subject.handle->impl;

  if (subject.borrowed == NULL) {
    subject.borrowed = uvperf__hub_lend(self->teardown.hub);
    subject.borrowed[0] = 0xee; /* no record begins so */
  } else {
    uvperf__hub_give_back(self->teardown.hub, subject.borrowed);
    subject.borrowed = NULL;
  }
}

/* With a record in hand. */
static void disturb(const queue_t *queue) {
  uvperf_ring_info_t info;
  uint64_t nr;
  size_t i;

  switch (draw(8)) {
    case 0:
      for (nr = draw(20); nr > 0; nr--)
        write_any();
      break;
    case 1:
      assert_int_equal(uvperf_has_record(subject.handle), any_waits());
      break;
    case 2:
      for (i = 0; i < subject.nr_rings; i++) {
        queue = &subject.queues[i];
        assert_int_equal(uvperf_ring(subject.handle, i, &info), 0);
        assert_int_equal(info.waiting,
                         queue->ring->page->data_head - position_of(queue));
      }
      break;
    case 3:
      assert_int_equal(uvperf_stop(subject.handle), 0);
      break;
    case 4:
      if (subject.kind != READER) {
        assert_int_equal(uvperf_disable(subject.handle, UVPERF_ALL, NULL), 0);
        assert_int_equal(uvperf_enable(subject.handle, UVPERF_ALL, NULL), 0);
      }
      break;
    case 5:
      assert_int_equal(uvperf_next(subject.handle, NULL), UV_EINVAL);
      borrow_or_give_back();
      break;
    default:
      break;
  }
}

static void take_one(void) {
  int rc = take();

  check_stats();
  if (subject.in_hand != NULL) {
    disturb(taken_from);
    check_record(taken_from, subject.in_hand, rc, taken);
  } else if (rc != UV_EPROTO) {
    assert_int_equal(rc, UV_EAGAIN);
    assert_int_equal(any_waits(), 0);
  }
}

/* The remaining records come by callbacks. */
static void flush_or_start(uv_loop_t *loop) {
  subject.in_hand = NULL;
  if (draw(2) == 0) {
    assert_int_equal(uvperf_flush(subject.handle), 0);
  } else {
    start();
    live_run_ms(loop, 1);
    assert_int_equal(uvperf_flush(subject.handle), 0);
    assert_int_equal(uvperf_stop(subject.handle), 0);
  }
  assert_int_equal(any_waits(), 0);
  check_stats();
}

static void run_at_random(uv_loop_t *loop, enum kind kind, uint64_t seed) {
  uint64_t nr;
  uvperf_stats_t stats;

  open_kind(loop, kind, seed);
  start();
  assert_int_equal(uvperf_stop(subject.handle), 0);
  for (subject.random.step = 0; subject.random.step < 200;
       subject.random.step++) {
    for (nr = draw(2) ? draw(30) : draw(4); nr > 0; nr--)
      write_any();
    for (nr = draw(20); nr > 0; nr--)
      take_one();
    if (draw(20) == 0)
      flush_or_start(loop);
  }
  while (any_waits())
    take_one();
  if (subject.borrowed != NULL)
    borrow_or_give_back();
  uvperf_stats(subject.handle, &stats);
  assert_true(stats.bytes >
              4 * subject.queues[0].ring->ring_size * subject.nr_rings);
  close_kind(loop);
}

static void next_returns_each_record_whole_and_once(void **state) {
  uint64_t seed, last;
  enum kind kind;

  model_run_seeds(20, &seed, &last);
  for (; seed <= last; seed++)
    for (kind = EVENT; kind < KINDS; kind++)
      run_at_random(*state, kind, seed);
}

/* -- between two calls ----------------------------------------------------- */

/* Samples alternate between the rings, until the rings are nearly full. */
static void fill(void) {
  size_t i;

  while (subject.queues[0].ring->page->data_head <
         subject.queues[0].ring->ring_size * 9 / 10)
    for (i = 0; i < subject.nr_rings; i++)
      assert_int_equal(
          write_record(&subject.queues[i], SOUND, PERF_RECORD_SAMPLE), 1);
}

/* Opens it, and has a sample in hand; others follow. */
static void begin_run(uv_loop_t *loop, enum kind kind) {
  int i;

  open_kind(loop, kind, 1);
  fill();
  for (i = 0; i < 2; i++)
    assert_int_equal(take(), 0);
}

/* Takes all, and closes it. */
static void end_run(uv_loop_t *loop) {
  while (any_waits())
    assert_int_equal(take(), 0);
  assert_int_equal(take(), UV_EAGAIN);
  check_stats();
  close_kind(loop);
}

static void next_takes_most_samples_by_its_cursor(void **state) {
  enum kind kind;

  for (kind = 0; kind < KINDS; kind++) {
    checked = 0;
    begin_run(*state, kind);
    end_run(*state);
    assert_in_range(checked, 3 * subject.nr_rings, 10 * subject.nr_rings);
  }
}

static int take_in_child(void *arg) {
  return uvperf_next(subject.handle, &taken) != UV_EPERM || taken != NULL;
}

static void next_in_a_child_forked_between_two_calls_is_eperm(void **state) {
  enum kind kind;

  for (kind = 0; kind < KINDS; kind++) {
    begin_run(*state, kind);
    assert_int_equal(support_wait(support_fork(take_in_child, NULL)), 0);
    end_run(*state);
  }
}

static void next_after_close_between_two_calls_is_ecanceled(void **state) {
  const uvperf_record_t *record;
  enum kind kind;

  for (kind = 0; kind < KINDS; kind++) {
    begin_run(*state, kind);
    /* As a walk would. */
    uvperf__handle_begin_close(subject.handle->impl);
    assert_int_equal(uvperf_next(subject.handle, &record), UV_ECANCELED);
    assert_null(record);
    close_kind(*state);
  }
}

static uint64_t refusals;

static void expect_ebusy(uvperf_handle_t *handle) {
  const uvperf_record_t *record;

  assert_int_equal(uvperf_next(handle, &record), UV_EBUSY);
  assert_null(record);
  refusals += 1;
}

static void on_cpu(uvperf_handle_t *handle, int cpu, int status,
                   const uvperf_error_t *error) {
  expect_ebusy(handle);
}

static void next_in_the_callback_for_a_cpu_is_ebusy(void **state) {
  uvperf__handle_t *self;
  enum kind kind;

  refusals = 0;
  for (kind = 0; kind < KINDS; kind++) {
    begin_run(*state, kind);
    self = subject.handle->impl;
    self->cpu_cb = on_cpu;
    uvperf__rings_report_cpu(self, 1, 0, NULL);
    check_tails();
    end_run(*state);
  }
  assert_int_equal(refusals, KINDS);
}

static void on_read(uvperf_set_t *set, int status,
                    const uvperf_reading_t *reading,
                    const uvperf_reading_t *delta) {
  expect_ebusy(&set->handle);
}

static void next_in_the_callback_for_a_reading_is_ebusy(void **state) {
  uvperf_set_t *set = &subject.set.stream.live.set;
  enum kind kind;

  for (kind = SET; kind <= SET_IN_ORDER; kind++) {
    refusals = 0;
    begin_run(*state, kind);
    assert_int_equal(uvperf_set_read_start(set, 1, on_read, NULL), 0);
    while (refusals == 0)
      uv_run(*state, UV_RUN_ONCE);
    assert_int_equal(uvperf_set_read_stop(set), 0);
    check_tails();
    end_run(*state);
  }
}

static void next_after_its_target_was_removed_has_the_source(void **state) {
  uvperf_set_t *set = &subject.set.stream.live.set;
  enum kind kind;

  for (kind = SET; kind <= SET_IN_ORDER; kind++) {
    begin_run(*state, kind);
    assert_int_equal(uvperf_set_remove(set, 0, NULL, NULL), 0);
    while (any_waits()) {
      assert_int_equal(take(), 0);
      assert_ptr_equal(taken->source->data, (void *)1);
    }
    close_kind(*state);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_reader_test(next_returns_each_record_whole_and_once),
      scripted_reader_test(next_takes_most_samples_by_its_cursor),
      scripted_reader_test(next_in_a_child_forked_between_two_calls_is_eperm),
      scripted_reader_test(next_after_close_between_two_calls_is_ecanceled),
      scripted_reader_test(next_in_the_callback_for_a_cpu_is_ebusy),
      scripted_reader_test(next_in_the_callback_for_a_reading_is_ebusy),
      scripted_reader_test(next_after_its_target_was_removed_has_the_source),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
