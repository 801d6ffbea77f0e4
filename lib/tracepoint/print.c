/* SPDX-License-Identifier: MIT */
/* Prints the text of a record with libtraceevent. No other file uses
 * libtraceevent. The library reads numbers and strings without checking where
 * the record ends. Therefore this file does all cheap checks first, and passes
 * a copy of the record with extra room at the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event-parse.h>
#include <trace-seq.h>

#include "tracepoint/handle.h"

/* The zeros at the end of the copy. These zeros end strings that have no NUL.
 * They are also read if a format uses a field as if it were larger. */
#define ROOM_BYTES 64

/* libtraceevent leaks memory for declarations that are not plain, and returns
 * "out of memory" for some names that are not words. */
static int make_tep(uvperf_tracepoint_t *tracepoint) {
  struct tep_handle *tep;
  int rc;

  if (!tracepoint->format.is_plain)
    tracepoint->refusal = -EINVAL;
  /* It may leak memory again. */
  if (tracepoint->refusal != 0)
    return tracepoint->refusal;
  tep = tep_alloc();
  if (tep == NULL)
    return -ENOMEM;
  tep_set_file_bigendian(tep, tep_is_bigendian() ? TEP_BIG_ENDIAN
                                                 : TEP_LITTLE_ENDIAN);
  tep_set_long_size(tep, sizeof(long));
  tep_set_page_size(tep, (int)sysconf(_SC_PAGESIZE));
  /* format.c has already checked the lines of the fields. */
  rc = (int)tep_parse_event(tep, tracepoint->text, tracepoint->bytes,
                            tracepoint->category);
  if (rc != 0) {
    tep_free(tep);
    if (rc == TEP_ERRNO__MEM_ALLOC_FAILED)
      return -ENOMEM;
    tracepoint->refusal = -EINVAL;
    return tracepoint->refusal;
  }
  tracepoint->tep = tep;
  return 0;
}

void uvperf__print_free(void *tep) {
  tep_free(tep);
}

static int is_whole(const uvperf_tracepoint_t *tracepoint, const void *raw,
                    size_t raw_size) {
  const void *bytes;
  size_t size;
  size_t i;

  if (!uvperf_tracepoint_fits(tracepoint, raw, raw_size))
    return 0;
  for (i = 0; i < tracepoint->format.nr_fields; i++)
    if (uvperf_field_bytes(&tracepoint->format.fields[i], raw, raw_size, &bytes,
                           &size) != 0)
      return 0;
  return 1;
}

static int print_copy(const uvperf_tracepoint_t *tracepoint, void *copy,
                      size_t raw_size, char *text, size_t *size) {
  struct tep_record record;
  struct trace_seq seq;
  int rc = 0;

  memset(&record, 0, sizeof(record));
  record.data = copy;
  record.size = (int)raw_size;
  record.record_size = (int)raw_size;
  trace_seq_init(&seq);
  tep_print_event(tracepoint->tep, &seq, &record, "%s", TEP_PRINT_INFO);
  trace_seq_terminate(&seq);
  if (seq.state != TRACE_SEQ__GOOD) {
    rc = -ENOMEM;
  } else {
    rc = seq.len < *size ? 0 : -ENOBUFS;
    if (rc == 0)
      memcpy(text, seq.buffer, (size_t)seq.len + 1);
    *size = (size_t)seq.len + 1;
  }
  if (seq.state != TRACE_SEQ__MEM_ALLOC_FAILED)
    trace_seq_destroy(&seq);
  return rc;
}

static int print_raw(const uvperf_tracepoint_t *tracepoint, const void *raw,
                     size_t raw_size, char *text, size_t *size) {
  char *copy = calloc(1, raw_size + ROOM_BYTES);
  int rc;

  if (copy == NULL)
    return -ENOMEM;
  memcpy(copy, raw, raw_size);
  rc = print_copy(tracepoint, copy, raw_size, text, size);
  free(copy);
  return rc;
}

int uvperf_tracepoint_print(uvperf_tracepoint_t *tracepoint, const void *raw,
                            size_t raw_size, char *text, size_t *size) {
  int rc = 0;

  if (size == NULL)
    return -EINVAL;
  /* raw_size is limited because the header of a record has 16 bits for the
   * size. */
  if (tracepoint == NULL || raw == NULL || (text == NULL && *size != 0))
    rc = -EINVAL;
  else if (raw_size > UINT16_MAX || !is_whole(tracepoint, raw, raw_size))
    rc = -EPROTO;
  else if (tracepoint->tep == NULL)
    rc = make_tep(tracepoint);
  if (rc != 0)
    return rc;
  return print_raw(tracepoint, raw, raw_size, text, size);
}
