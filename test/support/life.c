/* SPDX-License-Identifier: MIT */
#include "fake_host.h"
#include "life.h"

#include <sys/mman.h>

#include "make_cpus.h"
#include "fake_clock.h"
#include "fake_uevents.h"
#include "make_record.h"
#include "scripted_event.h"
#include "scripted_reader.h"
#include "loop/rings.h"
#include "sys/sys.h"

#define RING_BYTES  ((size_t)64 * 1024)
#define DEADLINE_NS UINT64_C(20000000000)

static const char *const names[LIFE_KINDS] = {
    "event",
    "leader",
    "event with an overwritable ring",
    "set",
    "set in time order",
    "set with overwritable rings",
    "set in time order with overwritable rings",
    "reader",
    "reader with overwritable rings",
    "reader of a ring buffer",
};

const char *life_name(const life_t *life) {
  return names[__builtin_ctz(life->kind)];
}

/* -- callbacks ------------------------------------------------------------ */

static void append(life_t *life, const char *what, const char *detail) {
  size_t used = strlen(life->seen);
  size_t room = sizeof(life->seen) - used;

  assert_in_range(snprintf(life->seen + used, room, "%s%s%s%s",
                           used == 0 ? "" : " ", what,
                           *what == '\0' || *detail == '\0' ? "" : " ", detail),
                  0, room - 1);
}

static void end_run(life_t *life) {
  char text[16];

  snprintf(text, sizeof(text), "%u", life->run);
  if (life->run > 0)
    append(life, "", text);
  life->run = 0;
}

static void called(life_t *life, enum life_place place, int status) {
  life_fn act = life->act;

  if (life->hook != NULL)
    life->hook(life, place, status);
  if (act == NULL || life->act_place != place || --life->act_left > 0)
    return;
  life->act = NULL;
  act(life);
}

static void note(life_t *life, enum life_place place, const char *what,
                 int status) {
  end_run(life);
  append(life, what, status == 0 ? "" : uv_err_name(status));
  if (life->hook != NULL)
    life->seen[0] = '\0';
  called(life, place, status);
}

/* The number of a record that life_write has written. Others are of the side
 * band, such as FORK. */
static int is_ours(const uvperf_record_t *record, uint64_t *number) {
  unsigned int parsed;

  if (record->type == PERF_RECORD_COMM &&
      sscanf(record->comm.comm, "live%u", &parsed) == 1)
    *number = parsed;
  else if (record->type != PERF_RECORD_SAMPLE)
    return 0;
  else if (record->sample.raw.size >= sizeof(*number))
    memcpy(number, record->sample.raw.data, sizeof(*number));
  else
    *number = record->tid;
  return 1;
}

/* Those of a CPU come in their order, and in time order all do. Another handle
 * may have records of this one too. */
static void check_order(life_t *life, uint64_t number) {
  uint64_t *last = &life->last[number % 2];

  if (life->kind & (LIFE_ORDER | LIFE_ORDER_FLIGHT))
    last = &life->last[0];
  if (life->is_other)
    return;
  if (number >= life->written ||
      (*last != 0 &&
       (life->is_newest_first ? number + 1 >= *last : number + 1 <= *last)))
    life->wrong += 1;
  *last = number + 1;
  if (life->run == 0 || number < life->least)
    life->least = number;
  if (life->run == 0 || number > life->most)
    life->most = number;
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  life_t *life = handle->data;
  uint64_t number;

  assert_ptr_equal(handle, life->handle);
  if (record->type == UVPERF_RECORD_NONE && status == 0) {
    assert_int_equal(record->cpu, UINT32_MAX);
    note(life, LIFE_SLICE, "slice", 0);
  } else if (record->type == UVPERF_RECORD_NONE) {
    life->cpu = record->cpu;
    note(life, LIFE_STATUS, "", status);
  } else if (status != 0) {
    assert_int_equal(status, UV_EPROTO);
    assert_int_equal(record->type, PERF_RECORD_SAMPLE);
    assert_int_equal(record->size, 16);
    assert_null(record->sample.raw.data);
    note(life, LIFE_RECORD, "raw", 0);
  } else if (is_ours(record, &number)) {
    check_order(life, number);
    life->run += 1;
    life->records += 1;
    called(life, LIFE_RECORD, 0);
  }
}

static void on_open(uvperf_handle_t *handle, int status,
                    const uvperf_error_t *error) {
  life_t *life = handle->data;

  assert_ptr_equal(handle, life->handle);
  assert_int_equal(status == 0, error == NULL);
  if (error != NULL) {
    assert_int_equal(error->code, status);
    life->error = *error;
  }
  note(life, LIFE_OPENED, "open", status);
}

static void on_done(uvperf_handle_t *handle, int status) {
  life_t *life = handle->data;

  assert_ptr_equal(handle, life->handle);
  note(life, LIFE_DONE, "done", status);
}

static void on_cpu(uvperf_handle_t *handle, int cpu, int status,
                   const uvperf_error_t *error) {
  life_t *life = handle->data;
  char text[16];

  if (error != NULL)
    life->error = *error;
  snprintf(text, sizeof(text), "cpu %d", cpu);
  note(life, LIFE_CPU, text, status);
}

/* After the test's function, which may still ask it. */
static void on_closed(uvperf_handle_t *handle) {
  life_t *life = handle->data;

  assert_ptr_equal(handle, life->handle);
  assert_int_equal(life->is_closing, 1);
  life->closed += 1;
  note(life, LIFE_CLOSED, "closed", 0);
  if (life->sibling != NULL)
    uvperf_close(&life->sibling->handle, NULL);
  life->handle = NULL;
  free(handle);
}

void life_act(life_t *life, enum life_place place, unsigned int nth,
              life_fn act) {
  life->act = act;
  life->act_place = place;
  life->act_left = nth;
}

/* -- opening -------------------------------------------------------------- */

static void no_writer(void) {
}

static int is_in(const life_t *life, unsigned int kinds) {
  return (life->kind & kinds) != 0;
}

static void event_attr(const life_t *life, struct perf_event_attr *attr) {
  live_comm_attr(attr);
  if (life->is_scripted) /* 40 bytes, which divide no ring */
    attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_CPU;
  if (is_in(life, LIFE_FLIGHTS)) {
    uvperf_attr_set_wakeup_events(attr, 0);
    attr->write_backward = 1;
  }
}

/* Three types of options. */
#define PLAN_OPENING(options, life, cb)                                        \
  ((options)->open_cb = (cb), (options)->open = (life)->open,                  \
   (options)->open_arg = (life), (options)->open_timeout_ms = 1)

static int open_event(life_t *life, uvperf_open_cb cb) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_event_t *event = (uvperf_event_t *)life->handle;
  struct perf_event_attr attr;
  int rc;

  if (life->is_scripted)
    life->events[1] = life->events[3] = fake_event_add(7);
  event_attr(life, &attr);
  options.ring_bytes = life->is_scripted ? 1 : RING_BYTES;
  options.pid = life->target;
  PLAN_OPENING(&options, life, cb);
  options.fallbacks = life->open == NULL ? 0 : UVPERF_FALLBACK_ALL;
  rc = uvperf_event_init(life->loop, event, &attr, &options, &life->error);
  if (rc != 0 || life->kind != LIFE_LEADER || cb != NULL)
    return rc;
  if (life->is_scripted)
    fake_event_add(8);
  options.leader = event;
  options.ring_bytes = 0;
  options.flags = UVPERF_EVENT_NO_RING;
  life->sibling = malloc(sizeof(*life->sibling));
  assert_non_null(life->sibling);
  return uvperf_event_init(life->loop, life->sibling, &attr, &options,
                           &life->error);
}

static void plan_set(life_t *life) {
  live_stream_plan_own(&life->plan);
  if (life->kind == LIFE_SET) {
    live_plan_software(&life->plan, PERF_COUNT_SW_DUMMY);
    life->plan.attrs[1].exclude_kernel = 1;
  }
  if (life->target != 0) {
    life->plan.targets[0].type = UVPERF_TARGET_PROCESS;
    life->plan.targets[0].pid = life->target;
  }
  life->plan.options.ring_bytes = RING_BYTES;
}

/* An attr on two CPUs: events with the ids 100 and 102, each before the owner
 * of its ring. */
static void script_set(life_t *life) {
  evlist_make_t *make = &life->make;
  size_t i;

  for (i = 0; i < 4; i++)
    life->events[i] = fake_event_add(100 + i);
  evlist_make(make, 1);
  make->attrs[0].config = PERF_COUNT_SW_CPU_CLOCK;
  make->attrs[0].sample_period = 1000;
  make->attrs[0].sample_type =
      PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  make->options.nr_targets = 0;
  evlist_add_cpus(make, "0-1");
  make->options.ring_bytes = 1;
  make->options.wakeup_bytes = 1;
}

void life_follow(life_t *life) {
  uvperf__handle_t *base = life->handle->impl;

  uvperf__hotplug_free(base->hotplug);
  assert_int_equal(uvperf__rings_make_hotplug(base), 0);
  uvperf__hotplug_note(base->hotplug);
}

static int open_set(life_t *life, uvperf_open_cb cb) {
  uvperf_set_t *set = (uvperf_set_t *)life->handle;
  uvperf_set_options_t *options;
  int rc;

  if (life->is_scripted)
    script_set(life);
  else
    plan_set(life);
  options = life->is_scripted ? &life->make.options : &life->plan.options;
  options->flags = UVPERF_SET_RECORDS | life->set_flags;
  if (is_in(life, LIFE_ORDER | LIFE_ORDER_FLIGHT))
    options->flags |= UVPERF_SET_TIME_ORDER;
  if (life->kind == LIFE_ORDER)
    options->slack_us = 1; /* no record is left for a later turn */
  if (life->is_other || !is_in(life, LIFE_ORDER | LIFE_ORDER_FLIGHT))
    options->flags |= UVPERF_SET_FIXED_CPUS;
  if (is_in(life, LIFE_FLIGHTS)) {
    options->flags |= UVPERF_SET_OVERWRITE;
    options->wakeup_bytes = 0;
  }
  PLAN_OPENING(options, life, cb);
  if (life->is_scripted && !(options->flags & UVPERF_SET_FIXED_CPUS))
    fake_uevents_begin(); /* a socket for one set */
  rc = uvperf_set_init(life->loop, set, options, &life->error);
  if (rc == 0 && life->is_scripted && !(options->flags & UVPERF_SET_FIXED_CPUS))
    life_follow(life);
  return rc;
}

static void make_ring(life_t *life) {
  life->ring = live_bpf_ring_make(life->test, RING_BYTES);
  live_bpf_reserve_open(&life->reserve, life->ring, 16, 0);
}

static void unmake_ring(life_t *life) {
  live_bpf_reserve_close(&life->reserve);
  close(life->ring);
}

/* What the last handle did not read is still in its map. */
static void renew_ring(life_t *life) {
  unmake_ring(life);
  make_ring(life);
}

static int open_reader(life_t *life, uvperf_open_cb cb) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  uvperf_bpf_reader_t *reader = (uvperf_bpf_reader_t *)life->handle;
  size_t i;

  if (is_in(life, LIFE_FLIGHTS))
    options.flags = UVPERF_BPF_READER_OVERWRITE;
  PLAN_OPENING(&options, life, cb);
  if (life->kind == LIFE_RINGBUF) {
    options.ring_bytes = 0;
    renew_ring(life);
  }
  if (!life->is_scripted)
    return uvperf_bpf_reader_init(
        life->loop, reader,
        life->kind == LIFE_RINGBUF ? life->ring : life->source.array, &options,
        &life->error);
  options.ring_bytes = 1;
  for (i = 0; i < 4; i++)
    life->events[i] = fake_event_add(100 + i);
  fake_uevents_begin(); /* a socket for one reader */
  life->map = fake_map_add(8);
  life->map_fd = fake_map_open(life->map);
  return uvperf_bpf_reader_init(life->loop, reader, life->map_fd, &options,
                                &life->error);
}

static int life_init(life_t *life, uvperf_open_cb cb) {
  int rc;

  assert_null(life->handle);
  life->handle = malloc(sizeof(*life->handle));
  assert_non_null(life->handle);
  memset(life->handle, 0x5a, sizeof(*life->handle));
  life->handle->data = life;
  life->error.reason[0] = '\0';
  if (life->kind & LIFE_EVENTS)
    rc = open_event(life, cb);
  else if (life->kind & LIFE_SETS)
    rc = open_set(life, cb);
  else
    rc = open_reader(life, cb);
  if (rc == 0) {
    assert_ptr_equal(life->handle->data, life);
    return 0;
  }
  /* The memory is the caller's at once. */
  free(life->handle);
  life->handle = NULL;
  return rc;
}

int life_try(life_t *life) {
  return life_init(life, NULL);
}

int life_begin(life_t *life) {
  return life_init(life, on_open);
}

void life_open(life_t *life) {
  int rc = life_try(life);

  if (rc != 0)
    fail_msg("init of a %s: %d: %s", life_name(life), rc, life->error.reason);
  uvperf_on_cpu(life->handle, on_cpu);
}

void life_open_child(life_t *life, live_child_t *child, uint64_t nr) {
  cpu_set_t old;

  live_pin(sched_getcpu(), &old);
  live_child_fork(child, nr);
  live_unpin(&old);
  life->target = child->pid;
  life->written = nr;
  life_open(life);
}

/* -- delivery ------------------------------------------------------------- */

int life_try_start_with(life_t *life, const uvperf_stream_options_t *options) {
  return uvperf_start(life->handle, options, on_record, &life->error);
}

static int start_with(life_t *life, uint32_t records, uint32_t flags) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;

  options.slice_records = records;
  options.slice_us = LIVE_SLICE_US;
  options.flush_ms = -1;
  options.flags = flags;
  return life_try_start_with(life, &options);
}

int life_try_start(life_t *life) {
  return start_with(life, 0, 0);
}

void life_start_with(life_t *life, uint32_t records, uint32_t flags) {
  int rc = start_with(life, records, flags);

  if (rc != 0)
    fail_msg("start of a %s: %d: %s", life_name(life), rc, life->error.reason);
}

void life_start(life_t *life) {
  life_start_with(life, 0, 0);
}

void life_stop(life_t *life) {
  assert_int_equal(uvperf_stop(life->handle), 0);
}

void life_enable(life_t *life) {
  int rc;

  if (life->kind & (LIFE_READERS | LIFE_RINGBUF))
    rc =
        uvperf_bpf_reader_publish(uvperf_handle_bpf_reader(life->handle), NULL);
  else
    rc = uvperf_enable(life->handle, UVPERF_ALL, NULL);
  assert_int_equal(rc, 0);
}

int life_is_enabled(const life_t *life) {
  if (life->map != NULL)
    return fake_map_at(life->map, 0) != FAKE_MAP_EMPTY &&
           fake_map_at(life->map, 1) != FAKE_MAP_EMPTY;
  return life->kind & LIFE_EVENTS
             ? life->events[1]->enabled
             : life->events[0]->enabled && life->events[2]->enabled;
}

static void append_to_ring(life_t *life, fake_event_t *ring, const void *bytes,
                           size_t size) {
  if (life->kind & LIFE_FLIGHTS)
    fake_ring_prepend(ring, bytes, size);
  else
    fake_ring_append(ring, bytes, size);
  fake_event_wake(ring);
}

static void write_script(life_t *life, size_t cpu) {
  struct {
    struct perf_event_header header;
    uint32_t size;
    uint32_t number[2];
    uint32_t rest;
  } raw = {{PERF_RECORD_SAMPLE, 0, 24}, 12, {(uint32_t)life->written, 0}, 0};
  fake_event_t *ring = life->events[2 * cpu + 1];
  static record_builder_t builder;
  record_values_t values;

  if (life->kind & LIFE_READERS) {
    append_to_ring(life, ring, &raw, sizeof(raw));
    return;
  }
  record_values_init(&values);
  values.id = 100 + 2 * cpu;
  values.tid = (uint32_t)life->written;
  values.time = live_now();
  record_build(&builder, PERF_RECORD_SAMPLE,
               life->kind & LIFE_EVENTS ? &ring->attr : &life->events[0]->attr,
               &values);
  append_to_ring(life, ring, builder.words, builder.size);
}

static void write_live(life_t *life, size_t cpu) {
  uint64_t payload[2] = {life->written, 0};
  uint64_t next = life->written;
  cpu_set_t old;

  if (life->kind & LIFE_READERS) {
    assert_int_equal(live_bpf_output_on(&life->source.output, life->cpus[cpu],
                                        payload, sizeof(payload)),
                     0);
    return;
  }
  if (life->kind == LIFE_RINGBUF) {
    life->reserve.state->number = life->written;
    assert_int_equal(live_bpf_reserve_run(&life->reserve, 1), 0);
    assert_int_equal(life->reserve.state->refused, 0);
    return;
  }
  live_pin(life->cpus[cpu], &old);
  live_comm(&next, 1);
  live_unpin(&old);
}

void life_write(life_t *life, uint64_t nr) {
  for (; nr > 0; nr--) {
    if (life->is_scripted)
      write_script(life, life->written % 2);
    else
      write_live(life, life->written % 2);
    life->written += 1;
  }
}

int life_next(life_t *life) {
  const uvperf_record_t *record = (const uvperf_record_t *)life;
  int rc = uvperf_next(life->handle, &record);
  uint64_t number;

  if (rc == 0 && is_ours(record, &number)) {
    check_order(life, number);
    life->run += 1;
  } else if (rc == 0) {
    return life_next(life); /* of the side band */
  } else if (rc == UV_EPROTO) {
    end_run(life);
    append(life, record->type == UVPERF_RECORD_NONE ? "EPROTO" : "raw", "");
  } else {
    assert_null(record);
  }
  return rc;
}

int life_has(const life_t *life, enum life_way way) {
  return is_in(life, LIFE_FLIGHTS) == (way >= LIFE_SNAPSHOT);
}

/* A snapshot has its own order. One that is refused changes nothing. */
static int snap(life_t *life, uint32_t flags, uvperf_snapshot_cb cb) {
  const uint64_t last[2] = {life->last[0], life->last[1]};
  int was_newest_first = life->is_newest_first;
  int rc;

  memset(life->last, 0, sizeof(life->last));
  life->is_newest_first = !(flags & UVPERF_SNAPSHOT_OLDEST_FIRST) &&
                          life->kind != LIFE_ORDER_FLIGHT;
  rc = uvperf_snapshot(life->handle, flags, cb, &life->error);
  if (rc == 0)
    return 0;
  memcpy(life->last, last, sizeof(last));
  life->is_newest_first = was_newest_first;
  return rc;
}

int life_snap(life_t *life, uint32_t flags) {
  return snap(life, flags, NULL);
}

int life_snap_later(life_t *life, uint32_t flags) {
  return snap(life, flags, on_done);
}

void life_deliver(life_t *life, enum life_way way) {
  assert_true(life_has(life, way));
  switch (way) {
    case LIFE_FLUSH_STOPPED:
      life_stop(life); /* falls through */
    case LIFE_FLUSH:
      assert_int_equal(uvperf_flush(life->handle), 0);
      break;
    case LIFE_SNAPSHOT_STOPPED:
      life_stop(life); /* falls through */
    case LIFE_SNAPSHOT:
      assert_int_equal(life_snap(life, UVPERF_SNAPSHOT_OLDEST_FIRST), 0);
      break;
    case LIFE_POOL:
      assert_int_equal(life_snap_later(life, UVPERF_SNAPSHOT_OLDEST_FIRST), 0);
      fake_pool_finish();
      break;
    default:
      break;
  }
}

void life_turns(life_t *life, int nr) {
  while (nr-- > 0)
    uv_run(life->loop, UV_RUN_NOWAIT);
}

const char *life_seen(const life_t *life) {
  static char text[sizeof(life->seen) + 16];
  const char *space = life->seen[0] == '\0' ? "" : " ";

  if (life->run == 0)
    return life->seen;
  snprintf(text, sizeof(text), "%s%s%u", life->seen, space, life->run);
  return text;
}

static void expect(life_t *life, const char *expected) {
  if (strcmp(life_seen(life), expected) != 0)
    fail_msg("a %s: \"%s\" instead of \"%s\"", life_name(life), life_seen(life),
             expected);
  if (life->wrong != 0)
    fail_msg("a %s: records out of order", life_name(life));
  life->seen[0] = '\0';
  life->run = 0;
}

void life_expect_now(life_t *life, const char *format, ...) {
  char expected[sizeof(life->seen)];
  va_list args;

  va_start(args, format);
  vsnprintf(expected, sizeof(expected), format, args);
  va_end(args);
  expect(life, expected);
}

void life_expect(life_t *life, const char *format, ...) {
  uint64_t deadline = live_now() + DEADLINE_NS;
  char expected[sizeof(life->seen)];
  va_list args;

  va_start(args, format);
  vsnprintf(expected, sizeof(expected), format, args);
  va_end(args);
  while (strcmp(life_seen(life), expected) != 0 && live_now() < deadline)
    life_turns(life, 1);
  if (life->loop != NULL)
    life_turns(life, 3);
  expect(life, expected);
}

/* -- the end -------------------------------------------------------------- */

void life_close(life_t *life) {
  life->is_closing = 1;
  uvperf_close(life->handle, on_closed);
}

static void uv_close_any(uv_handle_t *handle, void *type) {
  if (!uv_is_closing(handle) &&
      (type == NULL || handle->type == *(const uv_handle_type *)type))
    uv_close(handle, NULL);
}

static void walk_close_any(uv_handle_t *handle, void *arg) {
  if (!uvperf_walk_close(handle))
    uv_close_any(handle, arg);
}

void life_uv_close_all(uv_loop_t *loop) {
  uv_walk(loop, uv_close_any, NULL);
}

void life_uv_close_type(uv_loop_t *loop, uv_handle_type type) {
  uv_walk(loop, uv_close_any, &type);
}

void life_walk_close_all(uv_loop_t *loop) {
  uv_walk(loop, walk_close_any, NULL);
}

static void run_to_end(life_t *life) {
  int turns = 0;

  fake_pool_made();
  do {
    fake_pool_finish();
    assert_true(turns++ < 1000);
  } while (uv_run(life->loop, UV_RUN_NOWAIT) != 0 || fake_pool_waits());
}

void life_walk(life_t *life) {
  life_walk_close_all(life->loop);
  life_close(life);
}

void life_brute(life_t *life) {
  life_uv_close_all(life->loop);
  life_close(life);
}

void life_walk_run(life_t *life) {
  life_walk_close_all(life->loop);
  run_to_end(life);
  assert_int_equal(life->closed, 0);
  life_close(life);
}

/* What waits for the pool still does. */
void life_brute_run(life_t *life) {
  life_uv_close_all(life->loop);
  life_turns(life, 5);
  life_close(life);
}

const life_fn life_closers[LIFE_CLOSERS] = {life_close, life_walk, life_brute,
                                            life_walk_run, life_brute_run};

/* In pages that are unmapped with it, because a sanitizer does not see what
 * libuv itself reads. */
static uv_loop_t *make_loop(void) {
  uv_loop_t *loop = mmap(NULL, sizeof(*loop), PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

  assert_ptr_not_equal(loop, MAP_FAILED);
  assert_int_equal(uv_loop_init(loop), 0);
  return loop;
}

static void free_loop(uv_loop_t *loop) {
  assert_int_equal(uv_loop_close(loop), 0);
  munmap(loop, sizeof(*loop));
}

void life_free_loop(life_t *life) {
  run_to_end(life);
  free_loop(life->loop);
  life->loop = NULL;
}

static size_t count_rings(void) {
  size_t bytes;

  return support_count_rings(&bytes);
}

static void close_sources(life_t *life) {
  uint32_t key;

  fake_uevents_end();
  if (life->map == NULL)
    return;
  fake_map_close(life->map_fd);
  for (key = 0; key < 8; key++)
    assert_int_equal(fake_map_at(life->map, key), FAKE_MAP_EMPTY);
  life->map = NULL;
}

/* An empty kernel, with what a handle is opened of. */
static void begin_kernel(void) {
  fake_kernel_reset();
  fake_pool_hold();
  scripted_reader_knows_lost(0); /* so that no event is opened to find out */
  fake_on_membarrier(no_writer); /* the real one takes 10 ms */
}

static void forget(life_t *life) {
  life->act = NULL;
  life->target = 0;
  life->set_flags = 0;
  life->open = NULL;
  life->is_closing = life->closed = 0;
  life->seen[0] = '\0';
  life->run = 0;
  life->records = life->written = life->wrong = 0;
  memset(life->last, 0, sizeof(life->last));
  life->is_newest_first = 0;
}

static void end_one(life_t *life) {
  int was_open = life->handle != NULL || life->closed > 0;

  if (life->loop != NULL)
    run_to_end(life);
  assert_null(life->handle);
  assert_int_equal(life->closed, was_open);
  assert_int_equal(life->wrong, 0);
  free(life->sibling);
  life->sibling = NULL;
  close_sources(life);
}

static void check_end(const life_t *life) {
  if (support_count_fds() != life->fds || count_rings() != life->rings)
    fail_msg("a %s: %zd fds and %zd rings more", life_name(life),
             (ssize_t)(support_count_fds() - life->fds),
             (ssize_t)(count_rings() - life->rings));
  fake_assert_clean();
}

void life_end(life_t *life) {
  life_t *each;

  for (each = life; each != NULL; each = each->next) {
    each->loop = life->loop;
    if (each->handle != NULL && !each->is_closing)
      life_close(each);
  }
  for (each = life; each != NULL; each = each->next)
    end_one(each);
  if (life->loop == NULL)
    life->loop = make_loop();
  check_end(life);
  for (each = life; each != NULL; each = each->next) {
    forget(each);
    each->loop = life->loop;
  }
  begin_kernel();
}

void life_end_child(life_t *life) {
  const int was_enabled = life_is_enabled(life);
  const char *call;

  fake_log_clear();
  life_close(life);
  life_expect(life, "closed");
  for (call = fake_log(); call != NULL; call = strchr(call, ',')) {
    call += strspn(call, ", ");
    if (strncmp(call, "close", 5) != 0)
      fail_msg("a %s in a child: %s", life_name(life), fake_log());
  }
  assert_int_equal(life_is_enabled(life), was_enabled);
  /* The parent's. */
  if (life->map != NULL)
    fake_map_close(life->map_fd);
  life->map = NULL;
  fake_process(0);
  fake_kernel_reset();
  life_end(life);
}

/* -- stages --------------------------------------------------------------- */

static int begin_opening(life_t *life, enum life_stage stage) {
  if (stage == LIFE_OPENING_EARLY)
    fake_pool_make(0);
  assert_int_equal(life_begin(life), 0);
  if (stage == LIFE_OPENING_WORKED)
    fake_pool_work();
  return 1;
}

static int begin_failed(life_t *life) {
  if (life->kind == LIFE_RINGBUF) /* the pool opens nothing */
    return 0;
  fake_fail_from(FAKE_OPEN, 1, -EACCES);
  assert_int_equal(life_begin(life), 0);
  fake_pool_finish();
  life_expect_now(life, "open EACCES");
  return 1;
}

static int begin_started(life_t *life, uint32_t slice_records) {
  life_open(life);
  life_start_with(life, slice_records, 0);
  life_write(life, LIFE_WRITTEN);
  return 1;
}

static int begin_snapshot_at(life_t *life, enum life_stage stage) {
  if (!is_in(life, LIFE_FLIGHTS))
    return 0;
  begin_started(life, 2);
  if (stage == LIFE_SNAP_EARLY)
    fake_pool_make(0);
  assert_int_equal(life_snap_later(life, UVPERF_SNAPSHOT_OLDEST_FIRST), 0);
  if (stage == LIFE_SNAP_WORKED)
    fake_pool_work();
  if (stage > LIFE_SNAP_WORKED)
    fake_pool_run();
  while (stage == LIFE_SNAP_SLICES && life->records == 0)
    life_turns(life, 1);
  life_expect_now(life, stage == LIFE_SNAP_SLICES ? "2" : "%s", "");
  return 1;
}

static int begin_ended(life_t *life) {
  if (!is_in(life, LIFE_PLAIN))
    return 0;
  life_open(life);
  life_start(life);
  life_turns(life, 5);
  life_uv_close_type(life->loop, UV_CHECK);
  life_write(life, 1);
  life_expect(life, "ECANCELED");
  return 1;
}

int life_reach(life_t *life, enum life_stage stage) {
  switch (stage) {
    case LIFE_OPENING_EARLY:
    case LIFE_OPENING:
    case LIFE_OPENING_WORKED:
      return begin_opening(life, stage);
    case LIFE_FAILED:
      return begin_failed(life);
    case LIFE_OPEN:
      life_open(life);
      return 1;
    case LIFE_STARTED:
      return begin_started(life, 0);
    case LIFE_BACKLOG:
      if (is_in(life, LIFE_FLIGHTS))
        return 0;
      begin_started(life, 1);
      while (life->records == 0)
        life_turns(life, 1);
      life_expect_now(life, "1");
      return 1;
    case LIFE_STOPPED:
      begin_started(life, 0);
      life_stop(life);
      return 1;
    case LIFE_ENDED:
      return begin_ended(life);
    default:
      return begin_snapshot_at(life, stage);
  }
}

const char *life_cancelled(enum life_stage stage) {
  if (stage <= LIFE_OPENING_WORKED)
    return "open ECANCELED ";
  return stage >= LIFE_SNAP_EARLY ? "done ECANCELED " : "";
}

/* -- the suite ------------------------------------------------------------ */

/* Of tests that did not pass: never touched again, but still reachable, so that
 * the leak checker does not hide the failure among what they hold. */
static life_t *abandoned;

static life_t *life_new(unsigned int kind, int is_scripted) {
  life_t *life = calloc(1, sizeof(*life));

  assert_non_null(life);
  life->kind = kind;
  life->is_scripted = is_scripted;
  life->source.array = -1;
  return life;
}

static void life_free(life_t *life) {
  life_t *next;

  for (; life != NULL; life = next) {
    next = life->next;
    live_bpf_reader_unmake(&life->source);
    if (life->ring != 0)
      unmake_ring(life);
    free(life);
  }
}

/* Skips before anything is open. */
static void life_need(life_t *life) {
  if (life->is_scripted)
    return;
  life->cpus[1] = life->cpus[live_cpus(life->cpus, 2) - 1];
  if (life->kind == LIFE_RINGBUF)
    make_ring(life);
  else if (life->kind & LIFE_READERS)
    live_bpf_reader_make(life->test, &life->source, 0);
  else
    support_need_own_events(life->test);
}

life_t *life_add(life_t *life, unsigned int kind) {
  life_t *other = life_new(kind, life->is_scripted);

  other->test = life->test;
  other->is_other = 1;
  other->loop = life->loop;
  life_need(other);
  other->next = life->next;
  life->next = other;
  life->other = other;
  other->other = life;
  return other;
}

/* One test with one kind. */
typedef struct cell_s {
  const life_test_t *test;
  unsigned int kind;
  int is_scripted;
  char name[160];
} cell_t;

static int life_setup(void **state) {
  const cell_t *cell = *state;
  life_t *life = life_new(cell->kind, cell->is_scripted);

  life->test = cell->name;
  life->body = cell->test->run;
  life->loop = make_loop();
  if (life->is_scripted && make_cpus_begin(2) != 0)
    return -1;
  begin_kernel();
  fake_clock_set(1); /* a slow machine runs all in the same turn */
  *state = life;
  return 0;
}

static void life_run(void **state) {
  life_t *life = *state;

  life->entered = 1;
  life_need(life);
  life->fds = support_count_fds();
  life->rings = count_rings();
  life->body(life);
  life_end(life);
  life->passed = 1;
}

static int life_teardown(void **state) {
  life_t *life = *state;

  fake_clock_set(0);
  fake_process(0);
  fake_uevents_end();
  fake_host_set(NULL);
  if (life->is_scripted && make_cpus_end() != 0)
    return -1;
  if (life->entered && !life->passed) {
    life->before = abandoned;
    abandoned = life;
    return 0;
  }
  free_loop(life->loop);
  life_free(life);
  return 0;
}

/* libuv keeps fds of its own from the first loop on. The kernel takes long to
 * open the first event of a task and to close the last one, so one stays. */
static int group_setup(void **state) {
  struct perf_event_attr attr;

  free_loop(make_loop());
  live_comm_attr(&attr);
  uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  return 0;
}

static size_t add_cells(cell_t *cells, const life_test_t *test) {
  static const char *const kernels[] = {"", "scripted "};
  unsigned int kernel, i;
  size_t nr = 0;

  for (kernel = 0; kernel < 2; kernel++)
    for (i = 0; i < LIFE_KINDS; i++) {
      if (!(test->kinds & 1u << i) ||
          (test->kinds & (kernel == 0 ? LIFE_SCRIPTED : LIFE_LIVE)) ||
          (kernel != 0 && 1u << i == LIFE_RINGBUF))
        continue;
      cells[nr].test = test;
      cells[nr].kind = 1u << i;
      cells[nr].is_scripted = (int)kernel;
      snprintf(cells[nr].name, sizeof(cells[nr].name), "%s, %s%s", test->name,
               kernels[kernel], names[i]);
      nr += 1;
    }
  return nr;
}

int life_main(const life_test_t *tests, size_t nr_tests) {
  cell_t *cells = calloc(nr_tests * LIFE_KINDS * 2, sizeof(*cells));
  struct CMUnitTest *rows = calloc(nr_tests * LIFE_KINDS * 2, sizeof(*rows));
  size_t nr = 0;
  size_t i;
  int rc;

  if (cells == NULL || rows == NULL)
    abort();
  for (i = 0; i < nr_tests; i++)
    nr += add_cells(cells + nr, &tests[i]);
  for (i = 0; i < nr; i++) {
    rows[i].name = cells[i].name;
    rows[i].test_func = life_run;
    rows[i].setup_func = life_setup;
    rows[i].teardown_func = life_teardown;
    rows[i].initial_state = &cells[i];
  }
  rc = _cmocka_run_group_tests("tests", rows, nr, group_setup, NULL);
  free(rows);
  free(cells);
  return rc;
}

void life_ignore_reading(uvperf_set_t *set, int status,
                         const uvperf_reading_t *reading,
                         const uvperf_reading_t *delta) {
}
