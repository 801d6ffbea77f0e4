/* SPDX-License-Identifier: MIT */
/* Properties of the text of a tracepoint's record that hold for any format and
 * any record, for the fuzzer and for the replay of its seeds. In a header,
 * because the component is not linked to all tests. Does not need cmocka. */
#ifndef UVPERF_TEST_CHECK_TRACEPOINT_H
#define UVPERF_TEST_CHECK_TRACEPOINT_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "make_tracepoint_text.h"
#include "uvperf/tracepoint.h"

/* The fields that the text of an input prints. */
#define CHECK_TRACEPOINT_FIELDS                                                \
  TEXT_HEAD("fuzz", 9)                                                         \
  TEXT_FIELD("u8 a", 8, 1, 0)                                                  \
  TEXT_FIELD("s8 b", 9, 1, 1)                                                  \
  TEXT_FIELD("u16 c", 10, 2, 0)                                                \
  TEXT_FIELD("s16 d", 12, 2, 1)                                                \
  TEXT_FIELD("u32 e", 16, 4, 0)                                                \
  TEXT_FIELD("int f", 20, 4, 1)                                                \
  TEXT_FIELD("u64 g", 24, 8, 0)                                                \
  TEXT_FIELD("s64 h", 32, 8, 1)                                                \
  TEXT_FIELD("void * p", 40, 8, 0)                                             \
  TEXT_FIELD("char s[8]", 48, 8, 0)                                            \
  TEXT_FIELD("u8 m[6]", 56, 6, 0)                                              \
  TEXT_FIELD("u8 u[16]", 64, 16, 0)                                            \
  TEXT_FIELD("u32 w[2]", 80, 8, 0)                                             \
  TEXT_FIELD("__data_loc char[] t", 88, 4, 0)                                  \
  TEXT_FIELD("__rel_loc u8[] r", 92, 4, 0)                                     \
  TEXT_FIELD("__data_loc unsigned long[] k", 96, 4, 0) "\nprint fmt: "

/* Prints twice, and once without the last byte of room. Returns NULL or the
 * fault. */
static const char *check_tracepoint_text(uvperf_tracepoint_t *tracepoint,
                                         const void *raw, size_t raw_size,
                                         size_t size) {
  char *text = malloc(size), *again = malloc(size);
  const char *fault = NULL;
  size_t room = size;

  if (text == NULL || again == NULL)
    fault = NULL;
  else if (uvperf_tracepoint_print(tracepoint, raw, raw_size, text, &room) != 0)
    fault = "room of the size that it needs is not enough";
  else if (room != size || strlen(text) != size - 1)
    fault = "the size is not that of the text";
  else if (uvperf_tracepoint_print(tracepoint, raw, raw_size, again, &room) !=
               0 ||
           strcmp(text, again) != 0)
    fault = "the second text differs";
  else if (--room, uvperf_tracepoint_print(tracepoint, raw, raw_size, again,
                                           &room) != -ENOBUFS ||
                       room != size)
    fault = "less room is enough";
  free(text);
  free(again);
  return fault;
}

/* Prints a record from memory of its exact size. Sets *rc to what the first
 * call returned. Returns NULL or the fault. */
static const char *check_tracepoint_record(uvperf_tracepoint_t *tracepoint,
                                           const void *raw, size_t raw_size,
                                           int *rc) {
  size_t size = 0;

  *rc = uvperf_tracepoint_print(tracepoint, raw, raw_size, NULL, &size);
  if (*rc == -ENOBUFS)
    return check_tracepoint_text(tracepoint, raw, raw_size, size);
  return *rc == -ENOTSUP || *rc == -EPROTO || *rc == -ENOMEM
             ? NULL
             : "an undocumented code";
}

/* The input is a text: a whole format file, or only what follows "print fmt: ".
 * After a NUL there are the bytes of a record; zeros are added to it until all
 * fields fit. */
static const char *check_tracepoint(const uint8_t *data, size_t size, int *rc) {
  const uint8_t *nul = size > 0 ? memchr(data, '\0', size) : NULL;
  size_t length = nul != NULL ? (size_t)(nul - data) : size;
  int is_whole = length >= 5 && memcmp(data, "name:", 5) == 0;
  size_t head = is_whole ? 0 : strlen(CHECK_TRACEPOINT_FIELDS);
  char *text = malloc(head + length + 1);
  uvperf_tracepoint_t *tracepoint = NULL;
  const char *fault = NULL;
  size_t need = 0, i;
  uint16_t id;
  uint8_t *raw;

  *rc = -EINVAL;
  if (text == NULL)
    return NULL;
  memcpy(text, CHECK_TRACEPOINT_FIELDS, head);
  memcpy(text + head, data, length);
  if (uvperf_tracepoint_new_from_format(&tracepoint, NULL, text, head + length,
                                        NULL) == 0) {
    for (i = 0; i < uvperf_tracepoint_info(tracepoint)->nr_fields; i++) {
      const uvperf_field_t *field =
          &uvperf_tracepoint_info(tracepoint)->fields[i];

      if (need < (size_t)field->offset + field->size)
        need = (size_t)field->offset + field->size;
    }
    size -= nul != NULL ? length + 1 : length;
    if (need < size)
      need = size;
    raw = need <= UINT16_MAX ? calloc(1, need > 0 ? need : 1) : NULL;
    if (raw != NULL) {
      id = (uint16_t)uvperf_tracepoint_info(tracepoint)->id;
      memcpy(raw, data + length + (nul != NULL), size);
      if (need >= sizeof(id))
        memcpy(raw, &id, sizeof(id));
      fault = check_tracepoint_record(tracepoint, raw, need, rc);
    }
    free(raw);
    uvperf_tracepoint_free(tracepoint);
  }
  free(text);
  return fault;
}

#endif
