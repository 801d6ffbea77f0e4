/* SPDX-License-Identifier: MIT */
#include "model_merge.h"

#include "fake_kernel.h"

#define NOBODYS_ID 999

static void add_source(merge_model_t *model, size_t i) {
  uvperf_source_t *source = &model->sources[i];

  model->attrs[i].size = sizeof(model->attrs[i]);
  model->attrs[i].sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
                                PERF_SAMPLE_TIME |
                                (i == 0 ? PERF_SAMPLE_RAW : PERF_SAMPLE_CPU);
  model->attrs[i].sample_id_all = 1;
  model->ids[i] = 7 + i;
  source->size = sizeof(*source);
  source->attr = &model->attrs[i];
  source->ids = &model->ids[i];
  source->nr_ids = 1;
  assert_int_equal(uvperf__decoder_add(model->decoder, source), 0);
}

void merge_model_init(merge_model_t *model) {
  size_t i;

  fake_kernel_reset();
  memset(model, 0, sizeof(*model));
  model->latest = UINT64_MAX;
  assert_int_equal(uvperf__decoder_make(&model->decoder), 0);
  for (i = 0; i < 2; i++)
    add_source(model, i);
  assert_int_equal(uvperf__merge_new(&model->merge, model->decoder), 0);
  model->merge->scratch = model->scratch;
}

void merge_model_free(merge_model_t *model) {
  size_t i;

  if (model->at != NULL)
    print_error("failed at: %s\n", model->at);
  uvperf__merge_free(model->merge);
  uvperf_decoder_free(model->decoder);
  for (i = 0; i < model->nr_rings; i++) {
    free(model->rings[i]->ring.page);
    free((void *)(uintptr_t)model->rings[i]->ring.data);
    free(model->rings[i]);
  }
  fake_assert_clean();
}

merge_ring_t *merge_model_add(merge_model_t *model, size_t bytes) {
  merge_ring_t *ring = calloc(1, sizeof(*ring));

  assert_true(model->nr_rings < MERGE_RINGS);
  ring->index = model->nr_rings;
  uvperf__ring_set_page(&ring->ring, calloc(1, sizeof(*ring->ring.page)));
  ring->ring.data = malloc(bytes);
  ring->ring.size = bytes;
  /* Where both run past the end of 64 bits. */
  ring->tail = ring->published = 0 - (uint64_t)bytes;
  ring->ring.head = ring->ring.tail = ring->ring.published = ring->tail;
  ring->ring.page->data_head = ring->ring.page->data_tail = ring->tail;
  model->rings[model->nr_rings++] = ring;
  assert_int_equal(uvperf__merge_add(model->merge, &ring->ring, ring), 0);
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

/* The whole index-th record of a ring; its pid and tid name the writer. */
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

void merge_drop(merge_model_t *model, merge_ring_t *ring) {
  ring->is_dropped = 1;
  uvperf__merge_drop(model->merge, ring->index);
}

static int may_give(const merge_ring_t *ring) {
  return ring->is_in && !ring->is_dropped &&
         (ring->is_found || ring->consumed < ring->seen);
}

static int is_broken(const merge_ring_t *ring) {
  return ring->is_found || ring->records[ring->consumed].kind == MERGE_BROKEN;
}

static int is_bad(const merge_model_t *model, const merge_record_t *record) {
  return record->kind != MERGE_TIMELESS &&
         (record->time < model->earliest || record->time > model->latest);
}

static int has_time(const merge_model_t *model, const merge_record_t *record) {
  return record->kind != MERGE_TIMELESS && !is_bad(model, record);
}

/* The time of the next record of a ring. */
static uint64_t time_of(const merge_model_t *model, const merge_ring_t *ring) {
  const merge_record_t *record = &ring->records[ring->consumed];

  if (has_time(model, record))
    return record->time;
  return is_bad(model, record) && ring->before < model->earliest
             ? model->earliest
             : ring->before;
}

static uint64_t order_of(const merge_model_t *model, const merge_ring_t *ring) {
  return is_broken(ring) ? 0 : time_of(model, ring);
}

/* The ring whose record comes next, or NULL. */
static merge_ring_t *find_next(const merge_model_t *model, uint64_t horizon) {
  merge_ring_t *next = NULL;
  size_t i;

  for (i = 0; i < model->nr_rings; i++) {
    merge_ring_t *ring = model->rings[i];

    if (may_give(ring) && order_of(model, ring) <= horizon &&
        (next == NULL || order_of(model, ring) < order_of(model, next)))
      next = ring;
  }
  return next;
}

void merge_begin(merge_model_t *model) {
  int is_pressed = 0, has_more = 0;
  size_t i;

  assert_false(model->is_ended);
  uvperf__merge_heads(model->merge);
  uvperf__merge_begin(model->merge, model->earliest, model->latest);
  for (i = 0; i < model->nr_rings; i++) {
    merge_ring_t *ring = model->rings[i];

    ring->is_in = 1;
    ring->seen = ring->written;
    ring->is_found = ring->is_spoilt;
    has_more |= may_give(ring);
    if (!ring->is_dropped && !ring->is_spoilt &&
        ring->ring.page->data_head - ring->tail > ring->ring.size / 2)
      is_pressed = 1;
  }
  assert_int_equal(uvperf__merge_is_pressed(model->merge), is_pressed);
  assert_int_equal(uvperf__merge_has_more(model->merge), has_more);
}

void merge_rewind(merge_model_t *model) {
  size_t i;

  uvperf__merge_rewind(model->merge);
  for (i = 0; i < model->nr_rings; i++)
    model->rings[i]->before = 0;
  model->newest = 0;
}

static void assert_bytes(const merge_ring_t *ring, const void *bytes) {
  uint64_t words[8192];

  fill(ring, ring->consumed, words);
  assert_memory_equal(bytes, words, ring->records[ring->consumed].size);
}

static void assert_given(const merge_model_t *model, const merge_ring_t *ring,
                         const uvperf__merged_t *merged) {
  const merge_record_t *record = &ring->records[ring->consumed];

  assert_int_equal(merged->ring, ring->index);
  assert_ptr_equal(merged->owner, ring);
  assert_int_equal(merged->size, record->size);
  assert_bytes(ring, merged->bytes);
  assert_int_equal(merged->has_time, has_time(model, record));
  assert_int_equal(merged->is_bad, is_bad(model, record));
  assert_true(merged->time == time_of(model, ring));
}

int merge_next(merge_model_t *model, uint64_t horizon) {
  merge_ring_t *expected = find_next(model, horizon);
  uvperf__merged_t *merged = &model->merged;
  int rc;

  rc = uvperf__merge_next(model->merge, horizon, merged);
  model->given = NULL;
  if (expected == NULL) {
    assert_int_equal(rc, 0);
  } else if (is_broken(expected)) {
    assert_int_equal(rc, -EPROTO);
    assert_int_equal(merged->ring, expected->index);
    merge_drop(model, expected);
  } else {
    assert_int_equal(rc, 1);
    assert_given(model, expected, merged);
    model->given = expected;
  }
  return rc;
}

void merge_expect_nothing(merge_model_t *model, uint64_t horizon) {
  assert_int_equal(merge_next(model, horizon), 0);
}

void merge_expect(merge_model_t *model, size_t ring, uint64_t time) {
  assert_int_equal(merge_next(model, UINT64_MAX), 1);
  assert_int_equal(model->given->index, ring);
  assert_true(model->merged.time == time);
  merge_consume(model);
}

/* Consumes the returned record in the model. Returns whether it was late. */
static int consume_given(merge_model_t *model) {
  merge_ring_t *ring = model->given;
  const merge_record_t *record = &ring->records[ring->consumed];
  int is_late = 0;

  ring->before = time_of(model, ring);
  model->bad += (unsigned)is_bad(model, record);
  if (has_time(model, record)) {
    is_late = record->time < model->newest;
    if (!is_late)
      model->newest = record->time;
  }
  model->late += (unsigned)is_late;
  ring->consumed++;
  model->given = NULL;
  if (!ring->is_dropped) {
    ring->tail += record->size;
    if (ring->tail - ring->published >= ring->ring.size / 4 && !model->is_ended)
      ring->published = ring->tail;
  }
  return is_late;
}

void merge_consume(merge_model_t *model) {
  const merge_ring_t *ring = model->given;

  assert_int_equal(uvperf__merge_consume(model->merge, &model->merged),
                   consume_given(model));
  assert_true(fake_ring_tail(ring->ring.page) == ring->published);
}

static int hear(void *user, void *owner, const uint8_t *bytes,
                uint64_t header) {
  merge_model_t *model = user;
  merge_ring_t *ring;
  int rc = 1;

  if (model->given != NULL)
    assert_int_equal(consume_given(model), 0);
  ring = find_next(model, model->horizon);
  assert_non_null(ring);
  assert_ptr_equal(owner, ring);
  assert_bytes(ring, bytes);
  assert_memory_equal(bytes, &header, sizeof(header));
  /* Any record may be shown, but no other may be taken. */
  if (ring->records[ring->consumed].kind != MERGE_SAMPLE)
    return -1;
  assert_true(has_time(model, &ring->records[ring->consumed]));
  assert_true(ring->ring.tail == ring->tail);
  model->given = ring;
  if (model->inside != NULL)
    rc = model->inside();
  if (rc < 0) {
    model->given = NULL;
    return rc;
  }
  model->nr_run++;
  model->run_bytes += ring->records[ring->consumed].size;
  model->is_ended = rc == 0;
  return rc;
}

size_t merge_run(merge_model_t *model, uint64_t horizon, size_t most,
                 uint64_t max_bytes, int (*inside)(void)) {
  uint64_t records, bytes;
  size_t last = 0;

  model->horizon = horizon;
  model->inside = inside;
  model->nr_run = 0;
  model->run_bytes = 0;
  model->given = NULL;
  records = uvperf__merge_run(model->merge, horizon, most, max_bytes, hear,
                              model, &bytes);
  if (model->given != NULL) {
    last = model->given->records[model->given->consumed].size;
    assert_int_equal(consume_given(model), 0);
  }
  assert_true(records == model->nr_run);
  assert_true(bytes == model->run_bytes);
  assert_true(records <= most);
  assert_true(records == 0 || bytes - last < max_bytes);
  return (size_t)records;
}

void merge_end(merge_model_t *model) {
  size_t i;

  uvperf__merge_end(model->merge);
  model->given = NULL;
  model->is_ended = 0;
  for (i = 0; i < model->nr_rings; i++) {
    merge_ring_t *ring = model->rings[i];

    if (!ring->is_dropped)
      ring->published = ring->tail;
    assert_true(fake_ring_tail(ring->ring.page) == ring->published);
  }
}

size_t merge_take(merge_model_t *model, uint64_t horizon, size_t most) {
  size_t taken = 0;

  while (taken < most && merge_next(model, horizon) == 1) {
    merge_consume(model);
    taken++;
  }
  return taken;
}

size_t merge_run_all(merge_model_t *model) {
  size_t nr, all = 0;

  do {
    nr = merge_run(model, UINT64_MAX, 1000, UINT64_MAX, NULL);
    all += nr;
  } while (nr > 0);
  return all;
}

/* -- scripts --------------------------------------------------------------- */

/* A step of the kernel: the ring, what it does, and a time. */
static void play_write(merge_model_t *model, size_t ring, char what,
                       uint64_t time) {
  merge_ring_t *into = model->rings[ring];

  if (what == '*')
    merge_spoil(into);
  else if (what == '+')
    merge_put(into, time);
  else
    assert_int_equal(merge_write(into,
                                 what == '~'   ? MERGE_SIDEBAND
                                 : what == '?' ? MERGE_TIMELESS
                                               : MERGE_BROKEN,
                                 time, what == '~' ? 64 : 48),
                     1);
}

static void play_word(merge_model_t *model, const char *word, uint64_t number,
                      uint64_t horizon) {
  if (strcmp(word, "none") == 0)
    merge_expect_nothing(model, horizon);
  else if (strcmp(word, "peek") == 0)
    assert_int_equal(merge_next(model, UINT64_MAX), 1);
  else if (strcmp(word, "broken") == 0)
    assert_int_equal(merge_next(model, 0), -EPROTO);
  else if (strcmp(word, "take") == 0)
    assert_int_equal(merge_take(model, horizon, 1000), number);
  else if (strcmp(word, "run") == 0)
    assert_int_equal(merge_run(model, horizon, 1000, UINT64_MAX, NULL), number);
  else if (strcmp(word, "runs") == 0)
    assert_int_equal(merge_run_all(model), number);
  else if (strcmp(word, "drop") == 0)
    merge_drop(model, model->rings[number]);
  else if (strcmp(word, "ring") == 0)
    merge_model_add(model, 4096);
  else if (strcmp(word, "rewind") == 0)
    merge_rewind(model);
  else if (strcmp(word, "min") == 0)
    model->earliest = number;
  else if (strcmp(word, "max") == 0)
    model->latest = number;
  else if (strcmp(word, "late") == 0)
    assert_int_equal(model->late, number);
  else if (strcmp(word, "bad") == 0)
    assert_int_equal(model->bad, number);
  else if (strcmp(word, "more") == 0)
    assert_int_equal(uvperf__merge_has_more(model->merge), number);
  else
    fail_msg("no step: %s", word);
}

static void play_step(merge_model_t *model, const char *step) {
  const char *horizon = strchr(step, '<'), *number = strchr(step, '=');
  size_t ring = (size_t)(*step - '0');
  char word[16];

  if (*step == '(') {
    merge_begin(model);
  } else if (*step == ')') {
    merge_end(model);
  } else if (ring > 9) {
    assert_int_equal(sscanf(step, "%15[a-z]", word), 1);
    play_word(model, word, number ? strtoull(number + 1, NULL, 10) : 0,
              horizon ? strtoull(horizon + 1, NULL, 10) : UINT64_MAX);
  } else if (step[1] == '=') {
    merge_expect(model, ring, strtoull(step + 2, NULL, 10));
  } else {
    play_write(model, ring, step[1], strtoull(step + 2, NULL, 10));
  }
}

void merge_play(merge_model_t *model, const char *steps) {
  merge_model_add(model, 4096);
  merge_model_add(model, 4096);
  for (model->at = steps; *model->at != '\0';) {
    play_step(model, model->at);
    model->at += strcspn(model->at, " ");
    model->at += strspn(model->at, " ");
  }
  model->at = NULL;
}
