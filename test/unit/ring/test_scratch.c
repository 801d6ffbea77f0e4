/* SPDX-License-Identifier: MIT */
/* Scripted: the events, sets and readers of a loop share the memory in which
 * wrapped records are put together, and each record stays whole while records
 * of another handle are delivered. */
#include "live.h"

#include "attr/kernel_knows.h"
#include "fake_clock.h"
#include "fake_kernel.h"
#include "fake_map.h"

#define TYPE       1000 /* that no kernel has */
#define WORDS      64   /* of a record, the header included */
#define RING_BYTES 4096

enum kind {
  EVENT,
  SET,
  SET_IN_ORDER,
  READER,
  NR_KINDS
};

typedef struct owner_s owner_t;
struct owner_s {
  union {
    uvperf_handle_t handle;
    uvperf_event_t event;
    uvperf_set_t set;
    uvperf_bpf_reader_t reader;
  };
  uint64_t id;
  fake_event_t *fake;           /* that has the ring */
  uint64_t next;                /* number to be written */
  uint64_t seen;                /* records that were delivered */
  uint64_t wrapped;             /* of them */
  void (*hook)(owner_t *owner); /* in each callback; may be NULL */
  owner_t *other;               /* the hook's */
  int rc;                       /* the hook's */
  int map_fd;                   /* of a reader; -1: none */
  int closed;
};

/* A record in which each word is its number, and the event's id. */
static void fill(owner_t *owner, uint64_t number, uint64_t *words) {
  struct perf_event_header header = {TYPE, 0, WORDS * sizeof(words[0])};
  size_t i;

  memcpy(words, &header, sizeof(header));
  for (i = 1; i < WORDS; i++)
    words[i] = number * 100 + owner->id;
}

static void append(owner_t *owner) {
  uint64_t words[WORDS];

  fill(owner, owner->next++, words);
  fake_ring_append(owner->fake, words, sizeof(words));
}

static void assert_is(owner_t *owner, uint64_t number,
                      const uvperf_record_t *record) {
  uint64_t words[WORDS];

  fill(owner, number, words);
  assert_int_equal(record->size, sizeof(words));
  assert_memory_equal(record->bytes, words, sizeof(words));
}

/* Also after other events have delivered in the hook. */
static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  owner_t *owner = handle->data;
  const uint8_t *bytes = record->bytes;

  assert_int_equal(status, 0);
  if (record->size != WORDS * sizeof(uint64_t))
    return; /* a filler */
  assert_is(owner, owner->seen, record);
  if (bytes < owner->fake->ring || bytes >= owner->fake->ring + RING_BYTES)
    owner->wrapped += 1;
  if (owner->hook != NULL)
    owner->hook(owner);
  assert_is(owner, owner->seen, record);
  owner->seen += 1;
}

/* Leaves this many bytes up to the end of the ring. */
static void fill_up_to(owner_t *owner, size_t left) {
  static const uint8_t zeros[RING_BYTES];
  struct perf_event_header header = {TYPE, 0, RING_BYTES / 2};
  uint8_t filler[RING_BYTES / 2];
  int i;

  memcpy(filler, zeros, sizeof(filler));
  for (i = 0; i < 2; i++) {
    header.size = (uint16_t)(i == 0 ? RING_BYTES / 2 : RING_BYTES / 2 - left);
    memcpy(filler, &header, sizeof(header));
    fake_ring_append(owner->fake, filler, header.size);
    assert_int_equal(uvperf_flush(&owner->handle), 0);
  }
}

static void open_event(uv_loop_t *loop, owner_t *owner,
                       const struct perf_event_attr *attr) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  owner->fake = fake_event_add(owner->id);
  options.ring_bytes = RING_BYTES;
  assert_int_equal(uvperf_event_init(loop, &owner->event, attr, &options, NULL),
                   0);
}

/* The event, then the owner of its ring. */
static void script_ring(owner_t *owner) {
  fake_event_add(owner->id);
  owner->fake = fake_event_add(1000 + owner->id);
}

static void open_set(uv_loop_t *loop, owner_t *owner,
                     const struct perf_event_attr *attr, uint32_t flags) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t target = UVPERF_TARGET_INIT;

  script_ring(owner);
  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0";
  options.attrs = &attr;
  options.nr_attrs = 1;
  options.targets = &target;
  options.nr_targets = 1;
  options.ring_bytes = RING_BYTES;
  options.slack_us = flags & UVPERF_SET_TIME_ORDER ? 1 : 0;
  options.flags = UVPERF_SET_RECORDS | flags;
  assert_int_equal(uvperf_set_init(loop, &owner->set, &options, NULL), 0);
}

static void open_reader(uv_loop_t *loop, owner_t *owner) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;

  script_ring(owner);
  options.cpus = "0";
  options.ring_bytes = RING_BYTES;
  options.flags = UVPERF_BPF_READER_FIXED_CPUS;
  owner->map_fd = fake_map_open(fake_map_add(8));
  assert_int_equal(uvperf_bpf_reader_init(loop, &owner->reader, owner->map_fd,
                                          &options, NULL),
                   0);
}

static void open_owner(uv_loop_t *loop, owner_t *owner, enum kind kind,
                       uint64_t id) {
  struct perf_event_attr attr;

  memset(owner, 0, sizeof(*owner));
  owner->id = id;
  owner->map_fd = -1;
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.comm = 1; /* an event that writes; otherwise it could not start */
  if (kind == EVENT)
    open_event(loop, owner, &attr);
  else if (kind == READER)
    open_reader(loop, owner);
  else
    open_set(loop, owner, &attr, kind == SET ? 0 : UVPERF_SET_TIME_ORDER);
  owner->handle.data = owner;
  assert_int_equal(uvperf_start(&owner->handle, NULL, on_record, NULL), 0);
}

static void open_wrapping(uv_loop_t *loop, owner_t *owner, enum kind kind,
                          uint64_t id) {
  open_owner(loop, owner, kind, id);
  fill_up_to(owner, 64);
  append(owner);
}

static owner_t owners[2 * NR_KINDS];

/* Makes nr handles, the first of this kind, and the others of the kinds that
 * follow. */
static void open_kinds(uv_loop_t *loop, size_t nr, size_t first) {
  size_t i;

  fake_kernel_reset();
  for (i = 0; i < nr; i++)
    open_wrapping(loop, &owners[i], (enum kind)((first + i) % NR_KINDS), 7 + i);
}

static void on_close(uvperf_handle_t *handle) {
  ((owner_t *)handle->data)->closed = 1;
}

/* Those that are not closed yet. */
static void close_owners(uv_loop_t *loop, size_t first, size_t nr) {
  size_t i;

  for (i = first; i < nr; i++)
    if (!owners[i].closed)
      uvperf_close(&owners[i].handle, on_close);
  for (i = first; i < nr; i++) {
    while (!owners[i].closed)
      uv_run(loop, UV_RUN_ONCE);
    if (owners[i].map_fd >= 0)
      fake_map_close(owners[i].map_fd);
    owners[i].map_fd = -1;
  }
}

static void assert_wrapped(const owner_t *owner, uint64_t nr) {
  assert_int_equal(owner->seen, nr);
  assert_int_equal(owner->wrapped, nr);
}

/* -- a delivery inside of another's callback ------------------------------ */

/* The first handle's callback does this with the second. */
static void hook_first(void (*hook)(owner_t *owner)) {
  owners[0].hook = hook;
  owners[0].other = &owners[1];
}

static void flush_first(void) {
  assert_int_equal(uvperf_flush(&owners[0].handle), 0);
}

static void flush_other(owner_t *owner) {
  if (owner->other != NULL)
    owner->rc = uvperf_flush(&owner->other->handle);
}

/* Also on a slow machine, where a turn has no time for all. */
static void run_until_seen(uv_loop_t *loop, const owner_t *owner) {
  do
    uv_run(loop, UV_RUN_NOWAIT);
  while (owner->seen == 0);
}

static void flush_each_in_the_one_before(uv_loop_t *loop) {
  size_t i;

  for (i = 0; i + 1 < NR_KINDS; i++) {
    owners[i].hook = flush_other;
    owners[i].other = &owners[i + 1];
  }
  flush_first();
  for (i = 0; i < NR_KINDS; i++) {
    assert_int_equal(owners[i].rc, 0);
    assert_wrapped(&owners[i], 1);
  }
}

static void flush_in_a_turn(uv_loop_t *loop) {
  hook_first(flush_other);
  run_until_seen(loop, &owners[0]);
  assert_wrapped(&owners[0], 1);
  assert_wrapped(&owners[1], 1);
}

static void flush_without_memory(uv_loop_t *loop) {
  hook_first(flush_other);
  fake_fail(FAKE_CALLOC, 1, 0);
  flush_first();
  assert_int_equal(owners[0].rc, UV_ENOMEM);
  assert_wrapped(&owners[0], 1);
  assert_wrapped(&owners[1], 0);
  assert_int_equal(uvperf_flush(&owners[1].handle), 0);
  assert_wrapped(&owners[1], 1);
}

static void run_the_loop(owner_t *owner) {
  uv_run(owner->handle.loop, UV_RUN_NOWAIT);
}

static void run_until_other_is_seen(owner_t *owner) {
  run_until_seen(owner->handle.loop, owner->other);
}

static void turn_in_a_flush(uv_loop_t *loop) {
  hook_first(run_until_other_is_seen);
  flush_first();
  assert_wrapped(&owners[0], 1);
  assert_wrapped(&owners[1], 1);
  uv_run(loop, UV_RUN_NOWAIT);
  assert_wrapped(&owners[1], 1);
}

static void turn_in_a_flush_without_memory(uv_loop_t *loop) {
  hook_first(run_the_loop);
  fake_fail(FAKE_CALLOC, 1, 0);
  flush_first();
  assert_wrapped(&owners[0], 1);
  assert_wrapped(&owners[1], 0);
  run_until_seen(loop, &owners[1]);
  assert_wrapped(&owners[1], 1);
}

static void close_and_run(owner_t *owner) {
  uvperf_close(&owner->handle, NULL);
  uv_run(owner->handle.loop, UV_RUN_DEFAULT);
}

/* The buffer outlives the hub, which the handle was the last one to use. */
static void handle_closed_in_a_flush_leaves_no_memory(void **state) {
  owner_t owner;
  size_t kind;

  for (kind = 0; kind < NR_KINDS; kind++) {
    fake_kernel_reset();
    open_owner(*state, &owner, (enum kind)kind, 7);
    append(&owner);
    owner.hook = close_and_run;
    owner.seen = 0;
    assert_int_equal(uvperf_flush(&owner.handle), 0);
    assert_int_equal(owner.seen, 1);
    if (owner.map_fd >= 0)
      fake_map_close(owner.map_fd);
    fake_assert_clean();
  }
}

/* -- next ----------------------------------------------------------------- */

static void expect_next(owner_t *owner, uint64_t number) {
  const uvperf_record_t *record;

  assert_int_equal(uvperf_next(&owner->handle, &record), 0);
  assert_is(owner, number, record);
}

static void next_while_others_deliver(uv_loop_t *loop) {
  const uvperf_record_t *record;

  assert_int_equal(uvperf_stop(&owners[0].handle), 0);
  assert_int_equal(uvperf_next(&owners[0].handle, &record), 0);
  assert_is(&owners[0], 0, record);
  run_until_seen(loop, &owners[1]);
  assert_wrapped(&owners[1], 1);
  assert_is(&owners[0], 0, record);
  append(&owners[0]);
  expect_next(&owners[0], 1);
}

/* The user still has the record, and so its buffer. */
static void next_before_close(uv_loop_t *loop) {
  assert_int_equal(uvperf_stop(&owners[0].handle), 0);
  expect_next(&owners[0], 0);
}

static void next_of_other(owner_t *owner) {
  const uvperf_record_t *record;

  if (owner->seen > 0)
    return;
  owner->rc = uvperf_next(&owner->other->handle, &record);
  if (owner->rc == 0)
    assert_is(owner->other, 0, record);
  else
    assert_null(record);
}

static void next_in_a_callback(uv_loop_t *loop) {
  assert_int_equal(uvperf_stop(&owners[1].handle), 0);
  hook_first(next_of_other);
  flush_first();
  assert_int_equal(owners[0].rc, 0);
  assert_wrapped(&owners[0], 1);
}

static void next_in_a_callback_without_memory(uv_loop_t *loop) {
  assert_int_equal(uvperf_stop(&owners[1].handle), 0);
  hook_first(next_of_other);
  fake_fail(FAKE_CALLOC, 1, 0);
  flush_first();
  assert_int_equal(owners[0].rc, UV_ENOMEM);
  assert_wrapped(&owners[0], 1);
  expect_next(&owners[1], 0);
}

/* The handle has lent a record to the user, and the next one wraps. */
static void flush_in_a_callback_takes_back_a_record(void **state) {
  enum kind kind;

  for (kind = EVENT; kind < NR_KINDS; kind++) {
    fake_kernel_reset();
    open_wrapping(*state, &owners[0], EVENT, 7);
    open_owner(*state, &owners[1], kind, 8);
    fill_up_to(&owners[1], (WORDS + 1) * sizeof(uint64_t));
    append(&owners[1]);
    append(&owners[1]);
    assert_int_equal(uvperf_stop(&owners[1].handle), 0);
    expect_next(&owners[1], 0);
    owners[1].seen = 1;
    hook_first(flush_other);
    flush_first();
    assert_wrapped(&owners[0], 1);
    assert_int_equal(owners[1].wrapped, 1);
    close_owners(*state, 0, 2);
    fake_assert_clean();
  }
}

/* -- who shares ----------------------------------------------------------- */

/* The first is closed last. */
static void close_all_but_one(uv_loop_t *loop) {
  close_owners(loop, 1, NR_KINDS);
  flush_first();
  assert_wrapped(&owners[0], 1);
}

static void walk_close(uv_handle_t *handle, void *arg) {
  assert_true(uvperf_walk_close(handle));
}

static void close_by_a_walk(uv_loop_t *loop) {
  uv_walk(loop, walk_close, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
}

static void open_other(owner_t *owner) {
  if (owner->seen == 0)
    open_wrapping(owner->handle.loop, owner->other, SET, 8);
}

/* It shares the memory in use, and delivers at once. */
static void set_opened_in_a_callback_leaves_the_record_whole(void **state) {
  open_wrapping(*state, &owners[0], EVENT, 7);
  hook_first(open_other);
  flush_first();
  assert_wrapped(&owners[0], 1);
  run_until_seen(*state, &owners[1]);
  assert_wrapped(&owners[1], 1);
  close_owners(*state, 0, 2);
  fake_assert_clean();
}

/* -- memory --------------------------------------------------------------- */

static size_t nr_large;

static void *note_calloc(size_t nr, size_t size) {
  nr_large += nr * size >= 65536;
  return calloc(nr, size);
}

static void handles_of_a_loop_have_one_buffer(void **state) {
  size_t i;

  nr_large = 0;
  assert_int_equal(uvperf_replace_allocator(malloc, realloc, note_calloc, free),
                   0);
  for (i = 0; i < 2 * NR_KINDS; i++) {
    open_wrapping(*state, &owners[i], (enum kind)(i % NR_KINDS), 7 + i);
    assert_int_equal(uvperf_stop(&owners[i].handle), 0);
    expect_next(&owners[i], 0);
    assert_int_equal(uvperf_start(&owners[i].handle, NULL, on_record, NULL), 0);
  }
  assert_int_equal(uvperf_replace_allocator(malloc, realloc, calloc, free), 0);
  assert_int_equal(nr_large, 1);
  close_owners(*state, 0, 2 * NR_KINDS);
  fake_assert_clean();
}

typedef struct kinds_row_s {
  const char *name;
  size_t nr; /* handles, each of another kind, with a record that wraps */
  void (*run)(uv_loop_t *loop);
} kinds_row_t;

static const kinds_row_t rows[] = {
    {"record_that_wraps_stays_while_others_are_flushed", NR_KINDS,
     flush_each_in_the_one_before},
    {"flush_in_a_turn_leaves_its_record_whole", 2, flush_in_a_turn},
    {"flush_in_a_callback_without_memory_is_enomem", 2, flush_without_memory},
    {"turn_inside_of_a_flush_leaves_its_record_whole", 2, turn_in_a_flush},
    {"turn_inside_of_a_flush_without_memory_comes_later", 2,
     turn_in_a_flush_without_memory},
    {"next_keeps_a_wrapped_record_while_others_deliver", 2,
     next_while_others_deliver},
    {"handle_with_a_record_of_next_is_closed", 2, next_before_close},
    {"next_in_a_callback_leaves_its_record_whole", 2, next_in_a_callback},
    {"next_in_a_callback_without_memory_is_enomem", 2,
     next_in_a_callback_without_memory},
    {"handle_that_shares_the_scratch_outlives_the_others", NR_KINDS,
     close_all_but_one},
    {"handles_that_share_the_scratch_are_closed_by_a_walk", NR_KINDS,
     close_by_a_walk},
};

/* Once with each kind first. */
static void run_row(void **state) {
  const kinds_row_t *row = state[1];
  size_t first;

  for (first = 0; first < NR_KINDS; first++) {
    open_kinds(state[0], row->nr, first);
    row->run(state[0]);
    close_owners(state[0], 0, row->nr);
    fake_assert_clean();
  }
}

#define TEST(f)                                                                \
  support_loop_test_setup_teardown(f, fake_kernel_loop_setup,                  \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(handle_closed_in_a_flush_leaves_no_memory),
      TEST(flush_in_a_callback_takes_back_a_record),
      TEST(set_opened_in_a_callback_leaves_the_record_whole),
      TEST(handles_of_a_loop_have_one_buffer),
  };

  /* The kernel is not asked what it knows. */
  uvperf__known[UVPERF__WORD_READ_FORMAT].yes = UVPERF_FORMAT_LOST;
  fake_clock_set(1); /* a slow machine runs all in the same turn */
  return SUPPORT_RUN_LOOP_ROWS_AND_TESTS(rows, run_row, tests);
}
