/* SPDX-License-Identifier: MIT */
/* Scripted: samples of every kind after one another in a ring, of one event or
 * of several that share it, with other records between them, in slices of any
 * size or one by one by uvperf_next. Each arrives once, whole, with only its
 * own fields, and its statistics are right in each callback and after each
 * call. */
#include "live.h"

#include "fake_kernel.h"
#include "model_run.h"
#include "check_record.h"

#define EVENTS      4
#define MOST        4096
#define RING_BYTES  65536
#define UNKNOWN_BIT (UINT64_C(1) << 40)

enum kind {
  SOUND,
  NOBODYS, /* the id is no event's */
  EMPTY,   /* no field is there */
  NEWER    /* of a type that no kernel has */
};

typedef struct expected_s {
  enum kind kind;
  uint32_t type;
  size_t event;
  record_values_t values;
  size_t size;
  uint8_t *bytes;
} expected_t;

typedef struct fixture_s {
  model_run_t random;
  uvperf_event_t events[EVENTS]; /* the first owns the ring */
  fake_event_t *fakes[EVENTS];
  struct perf_event_attr known[EVENTS]; /* without unknown bits */
  size_t nr;
  expected_t queue[MOST];
  size_t first, last;
  uvperf_stats_t stats; /* as counted here */
} fixture_t;

static fixture_t fixture;

static uint64_t draw(uint64_t below) {
  return model_run_draw(&fixture.random, below);
}

static uint64_t any(void) {
  return draw(UINT64_C(1) << 32) << 32 | draw(UINT64_C(1) << 32);
}

/* -- delivery -------------------------------------------------------------- */

static void check_stats(const uvperf_event_t *event) {
  uvperf_stats_t stats;

  uvperf_stats(&event->handle, &stats);
  assert_int_equal(stats.records, fixture.stats.records);
  assert_int_equal(stats.bytes, fixture.stats.bytes);
  assert_int_equal(stats.corrupt, fixture.stats.corrupt);
  assert_int_equal(stats.lost_records, fixture.stats.lost_records);
  assert_int_equal(stats.surplus_bytes, fixture.stats.surplus_bytes);
}

static void count(const expected_t *expected, int status,
                  const uvperf_record_t *record) {
  fixture.stats.records += 1;
  fixture.stats.bytes += expected->size;
  fixture.stats.corrupt += status != 0;
  if (status == 0 && expected->type == PERF_RECORD_SAMPLE)
    fixture.stats.surplus_bytes += expected->values.surplus_bytes;
  if (status == 0 && expected->type == PERF_RECORD_LOST)
    fixture.stats.lost_records += record->lost.lost;
  if (status == 0 && expected->type == PERF_RECORD_LOST_SAMPLES)
    fixture.stats.lost_records += record->lost_samples.lost;
}

static void check_record(const expected_t *expected, int status,
                         const uvperf_record_t *record) {
  const uvperf_source_t *source = record->source;
  int is_nobodys = expected->kind == NOBODYS;
  int is_broken = expected->kind == EMPTY || (is_nobodys && status != 0);

  assert_int_equal(status, is_broken ? UV_EPROTO : 0);
  if (is_nobodys)
    assert_null(source);
  assert_int_equal(record->size, expected->size);
  assert_memory_equal(record->bytes, expected->bytes, expected->size);
  /* A record without a source is decoded if all layouts agree. */
  if (expected->kind == SOUND || (is_nobodys && !is_broken)) {
    check_record_fields(record, expected->type, &fixture.known[expected->event],
                        &expected->values, record->bytes);
    check_record_bounds(record);
  } else if (is_broken) {
    check_record_raw(record, record->bytes, source);
  }
  if (expected->kind == SOUND || expected->kind == NEWER)
    assert_int_equal(source->ids[0], fixture.fakes[expected->event]->id);
}

static void attach(size_t i) {
  assert_int_equal(
      uvperf_event_set_output(&fixture.events[i], &fixture.events[0], NULL), 0);
}

static void detach(size_t i) {
  assert_int_equal(uvperf_event_set_output(&fixture.events[i], NULL, NULL), 0);
}

/* New decoders while a record is in hand, once or several times. */
static void change_outputs(void) {
  uint64_t nr = draw(4);
  size_t i;

  for (; nr > 0 && fixture.nr > 1; nr--) {
    i = 1 + (size_t)draw(fixture.nr - 1);
    detach(i);
    attach(i);
  }
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record);

static void restart(uvperf_event_t *event) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  assert_int_equal(uvperf_stop(&event->handle), 0);
  options.slice_records = (uint32_t)draw(8);
  options.slice_bytes = draw(3) > 0 ? 0 : 1 + draw(2000);
  options.slice_us = draw(3) > 0 ? UINT32_MAX : 1;
  assert_int_equal(uvperf_start(&event->handle, &options, on_record, NULL), 0);
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  uvperf_event_t *event = uvperf_handle_event(handle);
  const expected_t *expected = &fixture.queue[fixture.first];

  assert_non_null(record);
  assert_true(fixture.first < fixture.last);
  count(expected, status, record);
  check_stats(event);
  check_record(expected, status, record);
  if (draw(10) == 0) {
    change_outputs();
    check_record(expected, status, record);
  }
  if (draw(40) == 0) {
    restart(event);
    check_record(expected, status, record);
  }
  check_stats(event);
  fixture.first += 1;
}

/* -- writing --------------------------------------------------------------- */

static void draw_values(record_values_t *values, uint64_t id) {
  record_values_init(values);
  values->misc = (uint16_t)draw(0x1000);
  values->pid = (uint32_t)any();
  values->tid = (uint32_t)any();
  values->cpu = (uint32_t)any();
  values->time = any();
  values->id = id;
  values->stream_id = any();
  values->ip = any();
  values->addr = any();
  values->period = any();
  values->group_nr = draw(4);
  values->callchain_nr = draw(3) * draw(20);
  values->raw_size = (uint32_t)(4 + 8 * draw(3) * draw(10));
  values->branch_nr = draw(4);
  values->hw_idx = any();
  values->abi_user = draw(3);
  values->abi_intr = draw(3);
  values->stack_size = 8 * draw(3) * draw(10);
  values->dyn_size = values->stack_size / 2;
  values->weight = any();
  values->data_src = any();
  values->transaction = any();
  values->phys_addr = any();
  values->cgroup = any();
  values->aux_size = 8 * draw(4);
}

static uint32_t draw_type(void) {
  static const uint32_t others[] = {PERF_RECORD_LOST, PERF_RECORD_COMM,
                                    PERF_RECORD_EXIT, PERF_RECORD_MMAP2, 13};

  return draw(5) > 0 ? PERF_RECORD_SAMPLE : others[draw(5)];
}

/* A record with what makes it wrong, if anything does. */
static void build(record_builder_t *builder, expected_t *expected) {
  const fake_event_t *fake = fixture.fakes[expected->event];
  const struct perf_event_attr *attr = &fixture.known[expected->event];

  draw_values(&expected->values, expected->kind == NOBODYS ? 99 : fake->id);
  /* A branch stack may be read in two ways, and its sample is never longer. */
  if (!(attr->sample_type & PERF_SAMPLE_BRANCH_STACK) && draw(4) == 0)
    expected->values.surplus_bytes = 8 * draw(6);
  record_build(builder, expected->type, attr, &expected->values);
  /* With fields that are newer than the library. */
  if (fake->attr.sample_type != attr->sample_type &&
      expected->type == PERF_RECORD_SAMPLE) {
    record_put_u64(builder, any());
    expected->values.surplus_bytes += 8;
  }
  record_end(builder);
  if (expected->kind != EMPTY)
    return;
  record_begin(builder, expected->type, expected->values.misc);
  record_end(builder);
}

static int room_for(size_t size) {
  const struct perf_event_mmap_page *page = fixture.fakes[0]->page;

  return page->data_head - page->data_tail + size <= RING_BYTES;
}

/* If one event has the ring alone, all records are its own, whatever their
 * id. */
static void spoil(expected_t *expected) {
  if (fixture.nr == 1 && draw(2) == 0) {
    expected->kind = NEWER;
    expected->type = 1000;
  } else if (fixture.nr > 1) {
    expected->kind = NOBODYS;
  } else if (expected->type == PERF_RECORD_SAMPLE &&
             fixture.known[0].sample_type != 0) {
    expected->kind = EMPTY;
  }
}

static void write_one(void) {
  static record_builder_t builder;
  expected_t *expected = &fixture.queue[fixture.last];

  assert_true(fixture.last < MOST - 1);
  memset(expected, 0, sizeof(*expected));
  expected->event = (size_t)draw(fixture.nr);
  expected->type = draw_type();
  if (draw(20) == 0)
    spoil(expected);
  build(&builder, expected);
  if (!room_for(builder.size))
    return;
  expected->size = builder.size;
  expected->bytes = malloc(builder.size);
  memcpy(expected->bytes, builder.words, builder.size);
  fake_ring_append(fixture.fakes[0], builder.words, builder.size);
  fixture.last += 1;
}

/* -- one by one ------------------------------------------------------------ */

/* The kernel got back all quarters of the ring that were read, but not the
 * record in hand. */
static void check_tail(uint64_t taken) {
  uint64_t tail = fixture.fakes[0]->page->data_tail;

  assert_true(tail <= taken);
  assert_true(taken - tail < RING_BYTES / 4);
}

static void disturb(uvperf_event_t *event) {
  uvperf_ring_info_t ring;

  switch (draw(10)) {
    case 0:
      change_outputs();
      break;
    case 1:
      write_one();
      break;
    case 2:
      assert_int_equal(uvperf_ring(&event->handle, 0, &ring), 0);
      assert_int_equal(ring.waiting, fixture.fakes[0]->page->data_head -
                                         (fixture.stats.bytes -
                                          fixture.queue[fixture.first].size));
      break;
    case 3:
      assert_int_equal(uvperf_has_record(&event->handle),
                       fixture.first + 1 < fixture.last);
      break;
    default:
      break;
  }
}

static void take_one(uvperf_event_t *event) {
  const expected_t *expected = &fixture.queue[fixture.first];
  const uvperf_record_t *record;
  uint64_t taken = fixture.stats.bytes;
  int rc = uvperf_next(&event->handle, &record);

  check_tail(taken);
  if (rc == UV_EAGAIN) {
    assert_int_equal(fixture.first, fixture.last);
    assert_int_equal(fixture.fakes[0]->page->data_tail, taken);
    return;
  }
  assert_non_null(record);
  assert_true(fixture.first < fixture.last);
  count(expected, rc, record);
  disturb(event);
  check_record(expected, rc, record);
  check_stats(event);
  fixture.first += 1;
}

static void take_some(uvperf_event_t *event) {
  uint64_t nr;

  for (nr = draw(60); nr > 0; nr--) {
    /* Callbacks may have started it. */
    assert_int_equal(uvperf_stop(&event->handle), 0);
    take_one(event);
    if (draw(60) == 0)
      assert_int_equal(uvperf_flush(&event->handle), 0);
  }
  uvperf_stop(&event->handle);
  assert_int_equal(uvperf_start(&event->handle, NULL, on_record, NULL), 0);
}

/* -- a run ---------------------------------------------------------------- */

static uint64_t draw_sample_type(void) {
  static const uint64_t usual[] = {
      PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
          PERF_SAMPLE_PERIOD,
      PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_RAW,
      PERF_SAMPLE_TID | PERF_SAMPLE_TIME, PERF_SAMPLE_READ};
  uint64_t type = draw(3) > 0 ? usual[draw(5)] : any() & any();

  if (draw(3) == 0)
    type |= usual[draw(5)];
  type &= BUILD_SAMPLE_ALL;
  /* One field in two readings: the kernel refuses both. */
  if (type & BUILD_SAMPLE_WEIGHT_STRUCT)
    type &= ~(uint64_t)PERF_SAMPLE_WEIGHT;
  return draw(8) == 0 ? type | UNKNOWN_BIT : type;
}

static void open_event(uv_loop_t *loop, size_t i) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_error_t error;
  int rc;

  fixture.fakes[i] = fake_event_add(7 + i);
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  attr.sample_period = 1;
  attr.sample_type = draw_sample_type();
  attr.sample_id_all = draw(2) & 1;
  attr.read_format = BUILD_FORMAT_ALL;
  attr.branch_sample_type = BUILD_BRANCH_HW_INDEX;
  attr.sample_regs_user = 0xff;
  attr.sample_regs_intr = 0xf0f;
  attr.sample_stack_user = 8;
  if (i == 0)
    options.ring_bytes = RING_BYTES;
  if (fixture.nr > 1)
    options.flags = UVPERF_EVENT_IDENTIFY;
  if (i > 0)
    options.flags |= UVPERF_EVENT_NO_RING;
  error.reason[0] = '\0';
  rc = uvperf_event_init(loop, &fixture.events[i], &attr, &options, &error);
  if (rc != 0)
    fail_msg("init %llx: %d %s", (unsigned long long)attr.sample_type, rc,
             error.reason);
  fixture.known[i] = fixture.fakes[i]->attr;
  fixture.known[i].sample_type &= BUILD_SAMPLE_ALL;
}

static void open_fixture(uv_loop_t *loop, uint64_t seed) {
  size_t i;

  fake_kernel_reset();
  memset(&fixture, 0, sizeof(fixture));
  model_run_seed(&fixture.random, seed);
  fixture.nr = draw(2) == 0 ? 1 : 2 + (size_t)draw(EVENTS - 1);
  for (i = 0; i < fixture.nr; i++)
    open_event(loop, i);
  for (i = 1; i < fixture.nr; i++)
    attach(i);
  assert_int_equal(
      uvperf_start(&fixture.events[0].handle, NULL, on_record, NULL), 0);
}

static void close_fixture(uv_loop_t *loop) {
  size_t i;

  for (i = 0; i < fixture.nr; i++)
    uvperf_close(&fixture.events[fixture.nr - 1 - i].handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  for (i = 0; i < fixture.last; i++)
    free(fixture.queue[i].bytes);
  fake_assert_clean();
}

static void run_at_random(uv_loop_t *loop, uint64_t seed) {
  uint64_t nr;
  int step;

  open_fixture(loop, seed);
  for (step = 0; step < 100; step++) {
    for (nr = draw(30); nr > 0; nr--)
      write_one();
    fake_event_wake(fixture.fakes[0]);
    if (draw(3) == 0)
      take_some(&fixture.events[0]);
    else if (draw(4) == 0)
      assert_int_equal(uvperf_flush(&fixture.events[0].handle), 0);
    else
      uv_run(loop, UV_RUN_NOWAIT);
    fake_event_quiet(fixture.fakes[0]);
    check_stats(&fixture.events[0]);
  }
  while (fixture.first < fixture.last)
    assert_int_equal(uvperf_flush(&fixture.events[0].handle), 0);
  assert_true(fixture.last > 200);
  close_fixture(loop);
}

static void samples_of_all_kinds_come_whole_and_once(void **state) {
  uint64_t seed, last;

  model_run_seeds(60, &seed, &last);
  for (; seed <= last; seed++)
    run_at_random(*state, seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test_setup_teardown(samples_of_all_kinds_come_whole_and_once,
                                       fake_kernel_loop_setup,
                                       fake_kernel_loop_teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
