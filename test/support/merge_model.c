/* SPDX-License-Identifier: MIT */
#include "merge_model.h"

#include <errno.h>

#include "fake_kernel.h"

#define NOBODYS_ID 999

static void add_source(merge_world_t *world, size_t i) {
  uvperf_source_t *source = &world->sources[i];

  world->attrs[i].size = sizeof(world->attrs[i]);
  world->attrs[i].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
                                PERF_SAMPLE_TIME |
                                (i == 0 ? PERF_SAMPLE_RAW : PERF_SAMPLE_CPU);
  world->attrs[i].sample_id_all = 1;
  world->ids[i] = 7 + i;
  source->size = sizeof(*source);
  source->attr = &world->attrs[i];
  source->ids = &world->ids[i];
  source->nr_ids = 1;
  assert_int_equal(uvperf__decoder_add(world->decoder, source), 0);
}

void merge_world_init(merge_world_t *world) {
  size_t i;

  fake_kernel_reset();
  memset(world, 0, sizeof(*world));
  world->latest = UINT64_MAX;
  assert_int_equal(uvperf__decoder_make(&world->decoder), 0);
  for (i = 0; i < 2; i++)
    add_source(world, i);
  assert_int_equal(
      uvperf__merge_new(&world->merge, world->decoder, world->scratch), 0);
}

void merge_world_free(merge_world_t *world) {
  size_t i;

  uvperf__merge_free(world->merge);
  uvperf_decoder_free(world->decoder);
  for (i = 0; i < world->nr_rings; i++) {
    free(world->rings[i]->ring.page);
    free((void *)(uintptr_t)world->rings[i]->ring.data);
    free(world->rings[i]);
  }
  fake_assert_clean();
}

merge_ring_t *merge_world_add(merge_world_t *world, size_t bytes) {
  merge_ring_t *ring = calloc(1, sizeof(*ring));

  assert_true(world->nr_rings < MERGE_RINGS);
  ring->index = world->nr_rings;
  ring->ring.page = calloc(1, sizeof(*ring->ring.page));
  ring->ring.data = malloc(bytes);
  ring->ring.size = bytes;
  /* Where both run over the end of 64 bits. */
  ring->tail = ring->published = 0 - (uint64_t)bytes;
  ring->ring.head = ring->ring.tail = ring->ring.published = ring->tail;
  ring->ring.page->data_head = ring->ring.page->data_tail = ring->tail;
  world->rings[world->nr_rings++] = ring;
  assert_int_equal(uvperf__merge_add(world->merge, &ring->ring, ring), 0);
  return ring;
}

/* -- records --------------------------------------------------------------- */

static void fill_sample(const merge_record_t *record, uint64_t who,
                        uint64_t *words) {
  words[1] = 7;
  words[2] = who;
  words[3] = record->time;
  words[4] = record->size - 36; /* RAW: u32 size, bytes */
}

static void fill_sideband(const merge_record_t *record, uint64_t who,
                          uint64_t *words) {
  uint64_t *trailer = words + record->size / 8 - 3;

  words[1] = who;
  memcpy(&words[2], "name\0\0\0", 8);
  trailer[0] = who;
  trailer[1] = record->time;
  trailer[2] = record->kind == MERGE_TIMELESS ? NOBODYS_ID : 7;
}

/* The index-th record of a ring, all of it: who wrote it is in its pid and
 * tid. */
static void fill(const merge_ring_t *ring, size_t index, uint64_t *words) {
  const merge_record_t *record = &ring->records[index];
  struct perf_event_header header = {PERF_RECORD_SAMPLE, 0,
                                     (uint16_t)record->size};
  uint64_t who = (uint64_t)ring->index << 32 | index;
  size_t i;

  for (i = 0; i < record->size / 8; i++)
    words[i] = who * 31 + i;
  if (record->kind == MERGE_SIDEBAND || record->kind == MERGE_TIMELESS) {
    header.type = PERF_RECORD_COMM;
    memset(words, 0, record->size);
    fill_sideband(record, who, words);
  } else {
    fill_sample(record, who, words);
  }
  if (record->kind == MERGE_BROKEN)
    header.size = (uint16_t)(index % 3 == 0   ? 0
                             : index % 3 == 1 ? record->size + 4
                                              : 65528);
  memcpy(words, &header, sizeof(header));
}

int merge_write(merge_ring_t *ring, enum merge_kind kind, uint64_t time,
                size_t size) {
  struct perf_event_mmap_page *page = ring->ring.page;
  merge_record_t *record = &ring->records[ring->written];
  uint64_t words[8192];
  size_t i, at;

  if (ring->written == MERGE_RECORDS || ring->is_spoilt ||
      page->data_head + size - fake_ring_tail(page) > ring->ring.size)
    return 0;
  record->kind = kind;
  record->size = size;
  record->time = time;
  fill(ring, ring->written, words);
  for (i = 0; i < size; i += 8) {
    at = (size_t)((page->data_head + i) & (ring->ring.size - 1));
    memcpy((uint8_t *)(uintptr_t)ring->ring.data + at, &words[i / 8], 8);
  }
  page->data_head += size;
  ring->written++;
  return 1;
}

void merge_put(merge_ring_t *ring, uint64_t time) {
  assert_int_equal(merge_write(ring, MERGE_SAMPLE, time, MERGE_LEAST_BYTES), 1);
}

void merge_spoil(merge_ring_t *ring) {
  ring->ring.page->data_head = ring->tail + ring->ring.size + 8;
  ring->is_spoilt = 1;
}

uint64_t merge_overwrite(merge_ring_t *ring, uint64_t header) {
  size_t at = (size_t)(ring->ring.tail & (ring->ring.size - 1));
  uint8_t *bytes = (uint8_t *)(uintptr_t)ring->ring.data + at;
  uint64_t old = uvperf__u64(bytes);

  memcpy(bytes, &header, sizeof(header));
  return old;
}

/* -- the model ------------------------------------------------------------- */

void merge_drop(merge_world_t *world, merge_ring_t *ring) {
  ring->is_dropped = 1;
  uvperf__merge_drop(world->merge, ring->index);
}

static int may_give(const merge_ring_t *ring) {
  return ring->is_in && !ring->is_dropped &&
         (ring->is_found || ring->consumed < ring->seen);
}

static int is_broken(const merge_ring_t *ring) {
  return ring->is_found || ring->records[ring->consumed].kind == MERGE_BROKEN;
}

static int is_bad(const merge_world_t *world, const merge_record_t *record) {
  return record->kind != MERGE_TIMELESS &&
         (record->time < world->earliest || record->time > world->latest);
}

static int has_time(const merge_world_t *world, const merge_record_t *record) {
  return record->kind != MERGE_TIMELESS && !is_bad(world, record);
}

/* Of the record that is next in a ring. */
static uint64_t time_of(const merge_world_t *world, const merge_ring_t *ring) {
  const merge_record_t *record = &ring->records[ring->consumed];

  if (has_time(world, record))
    return record->time;
  return is_bad(world, record) && ring->before < world->earliest
             ? world->earliest
             : ring->before;
}

static uint64_t order_of(const merge_world_t *world, const merge_ring_t *ring) {
  return is_broken(ring) ? 0 : time_of(world, ring);
}

/* The ring whose turn it is, or NULL. */
static merge_ring_t *find_next(const merge_world_t *world, uint64_t horizon) {
  merge_ring_t *next = NULL;
  size_t i;

  for (i = 0; i < world->nr_rings; i++) {
    merge_ring_t *ring = world->rings[i];

    if (may_give(ring) && order_of(world, ring) <= horizon &&
        (next == NULL || order_of(world, ring) < order_of(world, next)))
      next = ring;
  }
  return next;
}

void merge_begin(merge_world_t *world) {
  int is_pressed = 0, has_more = 0;
  size_t i;

  assert_false(world->is_ended);
  uvperf__merge_heads(world->merge);
  uvperf__merge_begin(world->merge, world->earliest, world->latest);
  for (i = 0; i < world->nr_rings; i++) {
    merge_ring_t *ring = world->rings[i];

    ring->is_in = 1;
    ring->seen = ring->written;
    ring->is_found = ring->is_spoilt;
    has_more |= may_give(ring);
    if (!ring->is_dropped && !ring->is_spoilt &&
        ring->ring.page->data_head - ring->tail > ring->ring.size / 2)
      is_pressed = 1;
  }
  assert_int_equal(uvperf__merge_is_pressed(world->merge), is_pressed);
  assert_int_equal(uvperf__merge_has_more(world->merge), has_more);
}

void merge_rewind(merge_world_t *world) {
  size_t i;

  uvperf__merge_rewind(world->merge);
  for (i = 0; i < world->nr_rings; i++)
    world->rings[i]->before = 0;
  world->newest = 0;
}

static void assert_bytes(const merge_ring_t *ring, const void *bytes) {
  uint64_t words[8192];

  fill(ring, ring->consumed, words);
  assert_memory_equal(bytes, words, ring->records[ring->consumed].size);
}

static void assert_given(const merge_world_t *world, const merge_ring_t *ring,
                         const uvperf__merged_t *merged) {
  const merge_record_t *record = &ring->records[ring->consumed];

  assert_int_equal(merged->ring, ring->index);
  assert_ptr_equal(merged->owner, ring);
  assert_int_equal(merged->size, record->size);
  assert_bytes(ring, merged->bytes);
  assert_int_equal(merged->has_time, has_time(world, record));
  assert_int_equal(merged->is_bad, is_bad(world, record));
  assert_true(merged->time == time_of(world, ring));
}

int merge_next(merge_world_t *world, uint64_t horizon) {
  merge_ring_t *expected = find_next(world, horizon);
  uvperf__merged_t *merged = &world->merged;
  int rc;

  rc = uvperf__merge_next(world->merge, horizon, merged);
  world->given = NULL;
  if (expected == NULL) {
    assert_int_equal(rc, 0);
  } else if (is_broken(expected)) {
    assert_int_equal(rc, -EPROTO);
    assert_int_equal(merged->ring, expected->index);
    merge_drop(world, expected);
  } else {
    assert_int_equal(rc, 1);
    assert_given(world, expected, merged);
    world->given = expected;
  }
  return rc;
}

void merge_expect_nothing(merge_world_t *world, uint64_t horizon) {
  assert_int_equal(merge_next(world, horizon), 0);
}

void merge_expect(merge_world_t *world, size_t ring, uint64_t time) {
  assert_int_equal(merge_next(world, UINT64_MAX), 1);
  assert_int_equal(world->given->index, ring);
  assert_true(world->merged.time == time);
  merge_consume(world);
}

/* What was given is consumed, in the model. Whether it was late. */
static int settle(merge_world_t *world) {
  merge_ring_t *ring = world->given;
  const merge_record_t *record = &ring->records[ring->consumed];
  int is_late = 0;

  ring->before = time_of(world, ring);
  world->bad += (unsigned)is_bad(world, record);
  if (has_time(world, record)) {
    is_late = record->time < world->newest;
    if (!is_late)
      world->newest = record->time;
  }
  world->late += (unsigned)is_late;
  ring->consumed++;
  world->given = NULL;
  if (!ring->is_dropped) {
    ring->tail += record->size;
    if (ring->tail - ring->published >= ring->ring.size / 4 && !world->is_ended)
      ring->published = ring->tail;
  }
  return is_late;
}

void merge_consume(merge_world_t *world) {
  const merge_ring_t *ring = world->given;

  assert_int_equal(uvperf__merge_consume(world->merge, &world->merged),
                   settle(world));
  assert_true(fake_ring_tail(ring->ring.page) == ring->published);
}

static int hear(void *user, void *owner, const uint8_t *bytes,
                uint64_t header) {
  merge_world_t *world = user;
  merge_ring_t *ring;
  int rc = 1;

  if (world->given != NULL)
    assert_int_equal(settle(world), 0);
  ring = find_next(world, world->horizon);
  assert_non_null(ring);
  assert_ptr_equal(owner, ring);
  assert_bytes(ring, bytes);
  assert_memory_equal(bytes, &header, sizeof(header));
  /* Any record may be shown, but no other be taken. */
  if (ring->records[ring->consumed].kind != MERGE_SAMPLE)
    return -1;
  assert_true(has_time(world, &ring->records[ring->consumed]));
  assert_true(ring->ring.tail == ring->tail);
  world->given = ring;
  if (world->inside != NULL)
    rc = world->inside();
  if (rc < 0) {
    world->given = NULL;
    return rc;
  }
  world->nr_run++;
  world->run_bytes += ring->records[ring->consumed].size;
  world->is_ended = rc == 0;
  return rc;
}

size_t merge_run(merge_world_t *world, uint64_t horizon, size_t most,
                 uint64_t max_bytes, int (*inside)(void)) {
  uint64_t records, bytes;
  size_t last = 0;

  world->horizon = horizon;
  world->inside = inside;
  world->nr_run = 0;
  world->run_bytes = 0;
  world->given = NULL;
  records = uvperf__merge_run(world->merge, horizon, most, max_bytes, hear,
                              world, &bytes);
  if (world->given != NULL) {
    last = world->given->records[world->given->consumed].size;
    assert_int_equal(settle(world), 0);
  }
  assert_true(records == world->nr_run);
  assert_true(bytes == world->run_bytes);
  assert_true(records <= most);
  assert_true(records == 0 || bytes - last < max_bytes);
  return (size_t)records;
}

void merge_end(merge_world_t *world) {
  size_t i;

  uvperf__merge_end(world->merge);
  world->given = NULL;
  world->is_ended = 0;
  for (i = 0; i < world->nr_rings; i++) {
    merge_ring_t *ring = world->rings[i];

    if (!ring->is_dropped)
      ring->published = ring->tail;
    assert_true(fake_ring_tail(ring->ring.page) == ring->published);
  }
}

size_t merge_take(merge_world_t *world, uint64_t horizon, size_t most) {
  size_t taken = 0;

  while (taken < most && merge_next(world, horizon) == 1) {
    merge_consume(world);
    taken++;
  }
  return taken;
}
