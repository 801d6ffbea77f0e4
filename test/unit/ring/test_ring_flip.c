/* SPDX-License-Identifier: MIT */
/* A record in a ring whose words change while the ring and the merge read it:
 * the size that was checked is the size that is used. As in
 * unit/decode/test_decoder_flip.c, checks.sh also runs this program with
 * flipper_hooks.c instead of the thread. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/merge.h"
#include "check_flips.h"
#include "ring/ring.h"

#ifndef MOST
#define MOST 4000
#endif

#define SIZE   4096u
#define RECORD 24u /* the header, IDENTIFIER and TIME */
#define ID     7u

typedef struct fixture_s {
  struct perf_event_mmap_page *page;
  uint8_t *data; /* ASan guards its end */
  uint8_t *scratch;
  uvperf__ring_t ring;
  uint64_t tail;
  struct perf_event_attr attr;
  uint64_t id;
  uvperf_source_t source;
  uvperf_decoder_t *decoder;
  uvperf__merge_t *merge;
} fixture_t;

static uint64_t *word_at(const fixture_t *fixture, uint64_t at) {
  return (uint64_t *)(void *)(fixture->data + (at & (SIZE - 1)));
}

/* Two records from `tail` on. */
static void begin(fixture_t *fixture, uint64_t tail) {
  const struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, RECORD};
  const uvperf_source_t *source = &fixture->source;
  uint64_t i;

  memset(fixture, 0, sizeof(*fixture));
  fixture->page = calloc(1, sizeof(*fixture->page));
  fixture->data = calloc(1, SIZE);
  fixture->scratch = calloc(1, UVPERF__RING_SCRATCH_BYTES);
  fixture->tail = tail;
  fixture->page->data_head = tail + 2 * RECORD;
  for (i = tail; i < tail + 2 * RECORD; i += RECORD) {
    memcpy(word_at(fixture, i), &header, sizeof(header));
    *word_at(fixture, i + 8) = ID;
    *word_at(fixture, i + 16) = 1000 + i;
  }
  uvperf__ring_set_page(&fixture->ring, fixture->page);
  fixture->ring.data = fixture->data;
  fixture->ring.size = SIZE;
  fixture->attr.size = sizeof(fixture->attr);
  fixture->attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME;
  fixture->id = ID;
  fixture->source.size = sizeof(fixture->source);
  fixture->source.attr = &fixture->attr;
  fixture->source.ids = &fixture->id;
  fixture->source.nr_ids = 1;
  assert_int_equal(uvperf_decoder_new(&fixture->decoder, &source, 1), 0);
  assert_int_equal(uvperf__merge_new(&fixture->merge, fixture->decoder), 0);
  fixture->merge->scratch = fixture->scratch;
  assert_int_equal(uvperf__merge_add(fixture->merge, &fixture->ring, NULL), 0);
}

static void end(fixture_t *fixture) {
  uvperf__merge_free(fixture->merge);
  uvperf_decoder_free(fixture->decoder);
  free(fixture->scratch);
  free(fixture->data);
  free(fixture->page);
}

static void rewind_ring(fixture_t *fixture) {
  fixture->ring.tail = fixture->ring.published = fixture->tail;
  fixture->ring.head = fixture->tail;
}

/* Where a record may be: in the ring, or in the scratch. */
static void expect_whole(const fixture_t *fixture, const void *bytes,
                         size_t size) {
  const uint8_t *at = bytes;

  assert_int_equal(size, RECORD);
  if (at != fixture->scratch)
    assert_true(at >= fixture->data && at + size <= fixture->data + SIZE);
}

/* Each function reads the records once. */
static void read_ring(fixture_t *fixture) {
  const void *bytes;
  size_t size;
  int rc;

  rewind_ring(fixture);
  assert_int_equal(uvperf__ring_begin(&fixture->ring), 0);
  while ((rc = uvperf__ring_next(&fixture->ring, fixture->scratch, &bytes,
                                 &size)) == 1) {
    expect_whole(fixture, bytes, size);
    uvperf__ring_consume(&fixture->ring, size);
  }
  assert_true(rc == 0 || rc == -EPROTO);
}

static void read_merge(fixture_t *fixture) {
  uvperf__merged_t merged;
  int rc;

  rewind_ring(fixture);
  uvperf__merge_heads(fixture->merge);
  uvperf__merge_begin(fixture->merge, 1, UINT64_MAX - 1);
  while ((rc = uvperf__merge_next(fixture->merge, UINT64_MAX, &merged)) == 1) {
    expect_whole(fixture, merged.bytes, merged.size);
    uvperf__merge_consume(fixture->merge, &merged);
  }
  uvperf__merge_end(fixture->merge);
  assert_true(rc == 0 || rc == -EPROTO);
}

static void change_each_word(void (*read)(fixture_t *fixture), uint64_t tail) {
  flipper_t *flipper = flipper_start();
  fixture_t fixture;
  flip_t flip;
  uint64_t at;
  int times;

  begin(&fixture, tail);
  for (at = tail; at < tail + 2 * RECORD; at += 8) {
    flip.word = word_at(&fixture, at);
    flip.value = *flip.word;
    flip.other = (at - tail) % RECORD == 0
                     ? uvperf__header_of_size(flip.value, 65528)
                     : UINT64_MAX;
    flipper_change(flipper, &flip);
    for (times = 0; times < MOST; times++)
      read(&fixture);
    flipper_rest(flipper);
  }
  end(&fixture);
  flipper_end(flipper);
}

static void record_that_changes_keeps_the_size_that_was_checked(void **state) {
  change_each_word(read_ring, 64);
  change_each_word(read_ring, SIZE - 16); /* the first one wraps */
}

static void merged_record_that_changes_keeps_the_size(void **state) {
  change_each_word(read_merge, 64);
  change_each_word(read_merge, SIZE - 16);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(record_that_changes_keeps_the_size_that_was_checked),
      cmocka_unit_test(merged_record_that_changes_keeps_the_size),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
