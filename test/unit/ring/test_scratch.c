/* SPDX-License-Identifier: MIT */
/* Scripted: events of one loop share the memory in which wrapped records are
 * put together, and each record stays whole while another event's is
 * delivered. */
#include "live.h"

#include "fake_kernel.h"

#define TYPE       1000 /* that no kernel has */
#define WORDS      64   /* of a record, the header included */
#define RING_BYTES 4096

typedef struct owner_s owner_t;
struct owner_s {
  uvperf_event_t event;
  fake_event_t *fake;
  uint64_t next;                /* number to be written */
  uint64_t seen;                /* records that were delivered */
  uint64_t wrapped;             /* of them */
  void (*hook)(owner_t *owner); /* in each callback; may be NULL */
  owner_t *other;               /* the hook's */
  int rc;                       /* the hook's */
};

/* A record in which each word is its number, and the event's id. */
static void fill(owner_t *owner, uint64_t number, uint64_t *words) {
  struct perf_event_header header = {TYPE, 0, WORDS * sizeof(words[0])};
  size_t i;

  memcpy(words, &header, sizeof(header));
  for (i = 1; i < WORDS; i++)
    words[i] = number * 100 + owner->fake->id;
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

/* The next record will wrap. */
static void fill_to_the_end(owner_t *owner) {
  static const uint8_t zeros[RING_BYTES];
  struct perf_event_header header = {TYPE, 0, RING_BYTES / 2};
  uint8_t filler[RING_BYTES / 2];
  int i;

  memcpy(filler, zeros, sizeof(filler));
  for (i = 0; i < 2; i++) {
    header.size = (uint16_t)(i == 0 ? RING_BYTES / 2 : RING_BYTES / 2 - 64);
    memcpy(filler, &header, sizeof(header));
    fake_ring_append(owner->fake, filler, header.size);
    assert_int_equal(uvperf_flush(&owner->event.handle), 0);
  }
}

static void open_owner(uv_loop_t *loop, owner_t *owner, uint64_t id) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  memset(owner, 0, sizeof(*owner));
  owner->fake = fake_event_add(id);
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.comm = 1; /* an event that writes; otherwise it could not start */
  options.ring_bytes = RING_BYTES;
  assert_int_equal(
      uvperf_event_init(loop, &owner->event, &attr, &options, NULL), 0);
  owner->event.handle.data = owner;
  assert_int_equal(uvperf_start(&owner->event.handle, NULL, on_record, NULL),
                   0);
}

static void open_wrapping(uv_loop_t *loop, owner_t *owner, uint64_t id) {
  open_owner(loop, owner, id);
  fill_to_the_end(owner);
  append(owner);
}

static void close_owners(uv_loop_t *loop, owner_t *owners, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++)
    uvperf_close(&owners[i].event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  fake_assert_clean();
}

static void assert_wrapped(const owner_t *owner, uint64_t nr) {
  assert_int_equal(owner->seen, nr);
  assert_int_equal(owner->wrapped, nr);
}

/* -- a delivery inside of another's callback ------------------------------ */

static void flush_other(owner_t *owner) {
  if (owner->other != NULL)
    owner->rc = uvperf_flush(&owner->other->event.handle);
}

static void
event_record_that_wraps_stays_while_others_are_flushed(void **state) {
  owner_t owners[3];
  size_t i;

  for (i = 0; i < 3; i++)
    open_wrapping(*state, &owners[i], 7 + i);
  for (i = 0; i < 2; i++) {
    owners[i].hook = flush_other;
    owners[i].other = &owners[i + 1];
  }
  assert_int_equal(uvperf_flush(&owners[0].event.handle), 0);
  for (i = 0; i < 3; i++) {
    assert_int_equal(owners[i].rc, 0);
    assert_wrapped(&owners[i], 1);
  }
  close_owners(*state, owners, 3);
}

static void event_flush_in_a_turn_leaves_its_record_whole(void **state) {
  owner_t owners[2];
  size_t i;

  for (i = 0; i < 2; i++)
    open_wrapping(*state, &owners[i], 7 + i);
  owners[0].hook = flush_other;
  owners[0].other = &owners[1];
  uv_run(*state, UV_RUN_NOWAIT);
  for (i = 0; i < 2; i++)
    assert_wrapped(&owners[i], 1);
  close_owners(*state, owners, 2);
}

static void event_flush_in_a_callback_without_memory_is_enomem(void **state) {
  owner_t owners[2];
  size_t i;

  for (i = 0; i < 2; i++)
    open_wrapping(*state, &owners[i], 7 + i);
  owners[0].hook = flush_other;
  owners[0].other = &owners[1];
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf_flush(&owners[0].event.handle), 0);
  assert_int_equal(owners[0].rc, UV_ENOMEM);
  assert_wrapped(&owners[0], 1);
  assert_wrapped(&owners[1], 0);
  assert_int_equal(uvperf_flush(&owners[1].event.handle), 0);
  assert_wrapped(&owners[1], 1);
  close_owners(*state, owners, 2);
}

static void run_the_loop(owner_t *owner) {
  uv_run(owner->event.handle.loop, UV_RUN_NOWAIT);
}

static void assert_turn_inside_of_a_flush(void **state, int has_memory) {
  owner_t owners[2];

  open_owner(*state, &owners[0], 7);
  open_wrapping(*state, &owners[1], 8);
  fill_to_the_end(&owners[0]);
  append(&owners[0]);
  owners[0].hook = run_the_loop;
  if (!has_memory)
    fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf_flush(&owners[0].event.handle), 0);
  assert_wrapped(&owners[0], 1);
  assert_wrapped(&owners[1], has_memory ? 1 : 0);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_wrapped(&owners[1], 1);
  close_owners(*state, owners, 2);
}

static void event_turn_inside_of_a_flush_leaves_its_record_whole(void **state) {
  assert_turn_inside_of_a_flush(state, 1);
}

static void
event_turn_inside_of_a_flush_without_memory_comes_later(void **state) {
  assert_turn_inside_of_a_flush(state, 0);
}

/* -- next ----------------------------------------------------------------- */

static void
event_next_keeps_a_wrapped_record_while_others_deliver(void **state) {
  const uvperf_record_t *record;
  owner_t owners[2];
  size_t i;

  for (i = 0; i < 2; i++)
    open_wrapping(*state, &owners[i], 7 + i);
  assert_int_equal(uvperf_stop(&owners[0].event.handle), 0);
  assert_int_equal(uvperf_next(&owners[0].event.handle, &record), 0);
  assert_is(&owners[0], 0, record);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_wrapped(&owners[1], 1);
  assert_is(&owners[0], 0, record);
  append(&owners[0]);
  assert_int_equal(uvperf_next(&owners[0].event.handle, &record), 0);
  assert_is(&owners[0], 1, record);
  close_owners(*state, owners, 2);
}

static void event_next_without_memory_returns_it_the_next_time(void **state) {
  const uvperf_record_t *record;
  owner_t owner;

  open_wrapping(*state, &owner, 7);
  append(&owner);
  assert_int_equal(uvperf_stop(&owner.event.handle), 0);
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf_next(&owner.event.handle, &record), UV_ENOMEM);
  assert_null(record);
  assert_int_equal(uvperf_next(&owner.event.handle, &record), 0);
  assert_is(&owner, 0, record);
  /* One that does not wrap takes none. */
  fake_fail(FAKE_CALLOC, 1, 0);
  assert_int_equal(uvperf_next(&owner.event.handle, &record), 0);
  assert_is(&owner, 1, record);
  fake_kernel_reset();
  uvperf_close(&owner.event.handle, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
}

static void next_of_other(owner_t *owner) {
  const uvperf_record_t *record;

  if (owner->seen > 0)
    return;
  owner->rc = uvperf_next(&owner->other->event.handle, &record);
  if (owner->rc == 0)
    assert_is(owner->other, 0, record);
}

static void event_next_in_a_callback_leaves_its_record_whole(void **state) {
  owner_t owners[2];
  size_t i;

  for (i = 0; i < 2; i++)
    open_wrapping(*state, &owners[i], 7 + i);
  assert_int_equal(uvperf_stop(&owners[1].event.handle), 0);
  owners[0].hook = next_of_other;
  owners[0].other = &owners[1];
  assert_int_equal(uvperf_flush(&owners[0].event.handle), 0);
  assert_int_equal(owners[0].rc, 0);
  assert_wrapped(&owners[0], 1);
  close_owners(*state, owners, 2);
}

/* -- who shares ----------------------------------------------------------- */

static void event_that_shares_its_scratch_outlives_the_first(void **state) {
  owner_t owners[3];
  size_t order, i;

  for (order = 0; order < 3; order++) {
    fake_kernel_reset();
    for (i = 0; i < 3; i++)
      open_wrapping(*state, &owners[i], 7 + i);
    for (i = 0; i < 2; i++) {
      uvperf_close(&owners[(order + i) % 3].event.handle, NULL);
      uv_run(*state, UV_RUN_NOWAIT);
    }
    i = (order + 2) % 3;
    assert_int_equal(uvperf_flush(&owners[i].event.handle), 0);
    assert_wrapped(&owners[i], 1);
    close_owners(*state, &owners[i], 1);
  }
}

static void walk_close(uv_handle_t *handle, void *arg) {
  (void)arg;
  assert_true(uvperf_walk_close(handle));
}

static void event_that_shares_its_scratch_is_closed_by_a_walk(void **state) {
  owner_t owners[3];
  size_t i;

  for (i = 0; i < 3; i++)
    open_wrapping(*state, &owners[i], 7 + i);
  uv_walk(*state, walk_close, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  close_owners(*state, owners, 3);
}

static void open_other(owner_t *owner) {
  if (owner->seen == 0)
    open_wrapping(owner->event.handle.loop, owner->other, 8);
}

/* It shares the memory in use, and delivers at once. */
static void event_opened_in_a_callback_leaves_its_record_whole(void **state) {
  owner_t owners[2];

  open_wrapping(*state, &owners[0], 7);
  owners[0].hook = open_other;
  owners[0].other = &owners[1];
  assert_int_equal(uvperf_flush(&owners[0].event.handle), 0);
  assert_wrapped(&owners[0], 1);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_wrapped(&owners[1], 1);
  close_owners(*state, owners, 2);
}

/* -- memory --------------------------------------------------------------- */

static size_t largest;

static void *note_calloc(size_t nr, size_t size) {
  if (nr * size > largest)
    largest = nr * size;
  return calloc(nr, size);
}

static size_t largest_of_opening(uv_loop_t *loop, owner_t *owner, uint64_t id) {
  largest = 0;
  assert_int_equal(uvperf_replace_allocator(malloc, realloc, note_calloc, free),
                   0);
  open_owner(loop, owner, id);
  assert_int_equal(uvperf_replace_allocator(malloc, realloc, calloc, free), 0);
  return largest;
}

static void event_on_a_loop_with_another_takes_no_scratch(void **state) {
  owner_t owners[2];

  assert_true(largest_of_opening(*state, &owners[0], 7) >= 65536);
  assert_in_range(largest_of_opening(*state, &owners[1], 8), 1, 4096);
  close_owners(*state, owners, 2);
}

#define SCRATCH_TEST(test)                                                     \
  support_loop_test_setup_teardown(test, fake_kernel_loop_setup,               \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      SCRATCH_TEST(event_record_that_wraps_stays_while_others_are_flushed),
      SCRATCH_TEST(event_flush_in_a_turn_leaves_its_record_whole),
      SCRATCH_TEST(event_flush_in_a_callback_without_memory_is_enomem),
      SCRATCH_TEST(event_turn_inside_of_a_flush_leaves_its_record_whole),
      SCRATCH_TEST(event_turn_inside_of_a_flush_without_memory_comes_later),
      SCRATCH_TEST(event_next_keeps_a_wrapped_record_while_others_deliver),
      SCRATCH_TEST(event_next_without_memory_returns_it_the_next_time),
      SCRATCH_TEST(event_next_in_a_callback_leaves_its_record_whole),
      SCRATCH_TEST(event_that_shares_its_scratch_outlives_the_first),
      SCRATCH_TEST(event_that_shares_its_scratch_is_closed_by_a_walk),
      SCRATCH_TEST(event_opened_in_a_callback_leaves_its_record_whole),
      SCRATCH_TEST(event_on_a_loop_with_another_takes_no_scratch),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
