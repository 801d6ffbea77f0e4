/* SPDX-License-Identifier: MIT */
/* Records whose bytes change while they are decoded: another thread changes
 * each word in turn. ASan guards the memory after the record, and everything
 * that is decoded lies within the record. checks.sh also runs this program with
 * flipper_hooks.c instead of the thread, compiled in several ways, because each
 * compiler makes other loads of the same source. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "decode/decoder.h"
#include "check_flips.h"
#include "check_bounds.h"
#include "make_record.h"
#include "util/line.h"

#define ID 100
/* The number of changes of a word that are waited for, and the most that a
 * record is decoded meanwhile: on a busy machine the other thread may not
 * run. */
#ifndef MOST
#define CHANGES 500
#define MOST    4000
#endif

#define WHERE                                                                  \
  (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |     \
   PERF_SAMPLE_PERIOD)
#define BRANCHES (BUILD_BRANCH_HW_INDEX | BUILD_BRANCH_COUNTERS)

/* A record, and the decoders that read it: one of its source alone, and one of
 * two sources, which goes by the id. */
typedef struct subject_s {
  struct perf_event_attr attrs[2];
  uint64_t ids[2];
  uvperf_source_t sources[2];
  uvperf_decoder_t *decoders[2];
  uint8_t *bytes;
  size_t size;
} subject_t;

static void make_decoders(subject_t *subject,
                          const struct perf_event_attr *attr) {
  const uvperf_source_t *first = &subject->sources[0];
  size_t i;

  assert_int_equal(uvperf__decoder_make(&subject->decoders[1]), 0);
  for (i = 0; i < 2; i++) {
    subject->attrs[i] = *attr;
    subject->ids[i] = ID + i;
    subject->sources[i].size = sizeof(subject->sources[i]);
    subject->sources[i].attr = &subject->attrs[i];
    subject->sources[i].ids = &subject->ids[i];
    subject->sources[i].nr_ids = 1;
  }
  /* Otherwise the time of a sample is found without its source. */
  subject->attrs[1].sample_type ^= PERF_SAMPLE_IP;
  assert_int_equal(uvperf_decoder_new(&subject->decoders[0], &first, 1), 0);
  /* Records without an id need a decoder of one source. */
  for (i = 0; i < 2 && (attr->sample_type & PERF_SAMPLE_IDENTIFIER); i++)
    assert_int_equal(
        uvperf__decoder_add(subject->decoders[1], &subject->sources[i]), 0);
}

/* Returns what uvperf_decode returned. */
static int decode(const subject_t *subject, uvperf_decoder_t *decoder) {
  const uvperf_record_t *record;
  const char *fault;
  uint64_t time;
  int rc;

  uvperf__decoder_time(
      decoder, subject->bytes,
      uvperf__header_of_size(uvperf__u64(subject->bytes), subject->size),
      &time);
  rc = uvperf_decode(decoder, subject->bytes, subject->size, &record);
  if (rc != 0) {
    assert_int_equal(rc, -EPROTO);
    return rc;
  }
  assert_ptr_equal(record->bytes, subject->bytes);
  assert_int_equal(record->size, subject->size);
  fault = check_bounds_fault(record, 1);
  if (fault != NULL)
    fail_msg("record of type %u: %s", record->type, fault);
  return 0;
}

/* A count that becomes too large is refused, and so are a text that loses its
 * NUL, and a size in the header. Other words decide nothing. */
static int decides(const subject_t *subject, const flip_t *flip) {
  int rc;

  *flip->word = flip->other;
  rc = decode(subject, subject->decoders[0]);
  *flip->word = flip->value;
  return rc != 0;
}

static void decode_often(const subject_t *subject) {
  int times, rc, last[2] = {0, 0};
  int changes = 0;

  for (times = 0; times < MOST && changes < CHANGES; times++) {
    rc = decode(subject, subject->decoders[times % 2]);
    changes += rc != last[times % 2];
    last[times % 2] = rc;
  }
}

/* Returns how many words decide whether the record is sound. */
static size_t flip_each_word(flipper_t *flipper, const subject_t *subject) {
  uint64_t *words = (uint64_t *)(void *)subject->bytes;
  size_t i, nr = 0;
  flip_t flip;

  for (i = 0; i < subject->size / sizeof(*words); i++) {
    flip.word = &words[i];
    flip.value = words[i];
    flip.other = i == 0 ? uvperf__header_of_size(words[i], 65528) : UINT64_MAX;
    if (!decides(subject, &flip))
      continue;
    nr++;
    flipper_change(flipper, &flip);
    decode_often(subject);
    flipper_rest(flipper);
  }
  return nr;
}

typedef struct case_s {
  uint64_t sample_type;
  uint64_t read_format;
  uint64_t branch_sample_type;
  uint16_t misc;
} case_t;

/* At least the size in the header decides. */
static void flip_record(flipper_t *flipper, uint32_t type, const case_t *how) {
  static record_builder_t builder;
  struct perf_event_attr attr;
  record_values_t values;
  subject_t subject;

  memset(&subject, 0, sizeof(subject));
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.sample_type = how->sample_type;
  attr.read_format = how->read_format;
  attr.branch_sample_type = how->branch_sample_type;
  attr.sample_regs_user = 0xff;
  attr.sample_regs_intr = 0xf0f;
  attr.sample_id_all = 1;
  attr.sample_period = 1;
  record_values_init(&values);
  values.misc |= how->misc;
  values.id = ID;
  record_build(&builder, type, &attr, &values);
  subject.bytes = record_cut(&builder, builder.size);
  subject.size = builder.size;
  make_decoders(&subject, &attr);
  assert_true(flip_each_word(flipper, &subject) > 0);
  uvperf_decoder_free(subject.decoders[0]);
  uvperf_decoder_free(subject.decoders[1]);
  free(subject.bytes);
}

static void record_of_each_type_that_changes_stays_in_its_bytes(void **state) {
  static const case_t cases[] = {
      {PERF_SAMPLE_IDENTIFIER, BUILD_FORMAT_ALL, 0, 0},
      {PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TIME, 0, 0, BUILD_MISC_BUILD_ID},
  };
  flipper_t *flipper = flipper_start();
  uint32_t type;
  size_t i;

  for (type = 1; type <= BUILD_TYPES; type++)
    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
      if (type != PERF_RECORD_SAMPLE)
        flip_record(flipper, type, &cases[i]);
  flipper_end(flipper);
}

static void sample_that_changes_stays_in_its_bytes(void **state) {
  static const case_t cases[] = {
      {BUILD_SAMPLE_ALL, BUILD_FORMAT_ALL, 0, 0},
      {BUILD_SAMPLE_ALL, 0, BRANCHES, 0},
      {WHERE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_READ,
       PERF_FORMAT_ID | BUILD_FORMAT_LOST, 0, 0},
      {WHERE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_READ,
       PERF_FORMAT_GROUP | PERF_FORMAT_ID, 0, 0},
      {WHERE | PERF_SAMPLE_IDENTIFIER, 0, 0, 0},
      {WHERE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_RAW, 0, 0, 0},
      {WHERE | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CALLCHAIN, 0, 0, 0},
      {WHERE | PERF_SAMPLE_ID | PERF_SAMPLE_CALLCHAIN, 0, 0, 0},
      {WHERE | PERF_SAMPLE_RAW, 0, 0, 0},
      {PERF_SAMPLE_RAW, 0, 0, 0},
      {PERF_SAMPLE_BRANCH_STACK, 0, BRANCHES, 0},
  };
  flipper_t *flipper = flipper_start();
  size_t i;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    flip_record(flipper, PERF_RECORD_SAMPLE, &cases[i]);
  flipper_end(flipper);
}

/* A letter of a text becomes a new line after it was checked. */
static void text_that_changes_has_no_control_character_in_a_line(void **state) {
  flipper_t *flipper = flipper_start();
  uint64_t letters, new_lines;
  uvperf__line_t line;
  char text[8 + 1];
  flip_t flip;
  int times;

  memset(&letters, 'a', sizeof(letters));
  memset(&new_lines, '\n', sizeof(new_lines));
  flip = (flip_t){&letters, letters, new_lines};
  flipper_change(flipper, &flip);
  for (times = 0; times < MOST; times++) {
    uvperf__line_begin(&line, text, sizeof(text));
    uvperf__line_put_text(&line, (const char *)&letters, sizeof(letters));
    assert_int_equal(strlen(text), sizeof(letters));
    assert_null(strchr(text, '\n'));
  }
  flipper_rest(flipper);
  flipper_end(flipper);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(record_of_each_type_that_changes_stays_in_its_bytes),
      cmocka_unit_test(sample_that_changes_stays_in_its_bytes),
      cmocka_unit_test(text_that_changes_has_no_control_character_in_a_line),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
