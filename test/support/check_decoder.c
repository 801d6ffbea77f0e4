/* SPDX-License-Identifier: MIT */
#include "check_decoder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decoder.h"
#include "check_bounds.h"

typedef struct check_s {
  struct perf_event_attr attrs[2];
  uint64_t ids[2];
  uvperf_source_t sources[2];
  uvperf_decoder_t *decoders[2];
  unsigned decoded;
  const char *fault;
} check_t;

static void init_source(check_t *check, size_t i,
                        const check_decoder_t *given) {
  struct perf_event_attr *attr = &check->attrs[i];

  attr->size = sizeof(*attr);
  attr->sample_period = 1;
  attr->sample_type = given->sample_type[i];
  attr->branch_sample_type = given->branch_sample_type;
  attr->read_format = given->read_format;
  attr->sample_regs_user = given->regs_user;
  attr->sample_regs_intr = given->regs_intr;
  attr->sample_id_all = i == 1 || (given->sample_id_all & 1);
  check->ids[i] = 100 + i;
  check->sources[i].size = sizeof(check->sources[i]);
  check->sources[i].attr = attr;
  check->sources[i].ids = &check->ids[i];
  check->sources[i].nr_ids = 1;
}

static int make_decoders(check_t *check) {
  const uvperf_source_t *first = &check->sources[0];

  if (uvperf__decoder_make(&check->decoders[0]) != 0 ||
      uvperf_decoder_new(&check->decoders[1], &first, 1) != 0)
    return -1;
  uvperf__decoder_add(check->decoders[0], &check->sources[0]);
  uvperf__decoder_add(check->decoders[0], &check->sources[1]);
  return 0;
}

static const char *check_whole(const uvperf_record_t *record, int has_time,
                               uint64_t time) {
  if (has_time != ((record->present & PERF_SAMPLE_TIME) != 0))
    return "a time is found if the record has none, or not if it has one";
  if (has_time && time != record->time)
    return "the time that is found differs from the record's";
  return check_bounds_fault(record, 0);
}

/* Whatever the record is, its text is one line, cut at the end of the
 * buffer. */
static const char *check_line(const uvperf_record_t *record, int rc) {
  char line[200];
  size_t length = uvperf_record_format(record, rc, line, sizeof(line));

  if (strlen(line) != (length < sizeof(line) ? length : sizeof(line) - 1))
    return "a line is not as long as it says";
  return strpbrk(line, "\n\r\033") != NULL ? "a line has control characters"
                                           : NULL;
}

/* Checks a record whose header is sound. */
static const char *check_record(check_t *check, uvperf_decoder_t *decoder,
                                const void *bytes, size_t size) {
  const uvperf_record_t *record;
  const char *fault;
  uint64_t time;
  int has_time, rc;

  has_time = uvperf__decoder_time(decoder, bytes, uvperf__u64(bytes), &time);
  rc = uvperf_decode(decoder, bytes, size, &record);
  if (record == NULL || record->bytes != bytes || record->size != size)
    return "a record is not of its bytes";
  fault = check_line(record, rc);
  if (fault != NULL)
    return fault;
  if (rc == 0) {
    check->decoded++;
    return check_whole(record, has_time, time);
  }
  if (rc != -EPROTO || record->present != 0)
    return "a broken record is not raw";
  return NULL;
}

static int is_sound(const struct perf_event_header *header, size_t left) {
  return header->size >= 8 && header->size % 8 == 0 && header->size <= left;
}

/* Checks the record at the start of the bytes. Returns its size, or 0 if its
 * header is not sound or a fault was found. */
static size_t check_next(check_t *check, const uint8_t *data, size_t left) {
  const uvperf_record_t *record;
  struct perf_event_header header;
  size_t size, i;
  void *bytes;

  memcpy(&header, data, sizeof(header));
  size = is_sound(&header, left) ? header.size : left;
  bytes = malloc(size);
  if (bytes == NULL)
    return 0;
  memcpy(bytes, data, size);
  for (i = 0; i < 2 && check->fault == NULL; i++) {
    if (is_sound(&header, left))
      check->fault = check_record(check, check->decoders[i], bytes, size);
    else if (uvperf_decode(check->decoders[i], bytes, size, &record) !=
                 -EPROTO ||
             record != NULL)
      check->fault = "an unsound header is taken";
  }
  free(bytes);
  return is_sound(&header, left) && check->fault == NULL ? size : 0;
}

const char *check_decoder(const uint8_t *data, size_t size, unsigned *decoded) {
  check_decoder_t given;
  check_t check;
  size_t at, step;

  memset(&check, 0, sizeof(check));
  *decoded = 0;
  if (size < sizeof(given))
    return NULL;
  memcpy(&given, data, sizeof(given));
  init_source(&check, 0, &given);
  init_source(&check, 1, &given);
  if (make_decoders(&check) != 0)
    return "no decoder";
  for (at = sizeof(given); size - at >= 8; at += step) {
    step = check_next(&check, data + at, size - at);
    if (step == 0)
      break;
  }
  uvperf_decoder_free(check.decoders[0]);
  uvperf_decoder_free(check.decoders[1]);
  *decoded = check.decoded;
  return check.fault;
}
