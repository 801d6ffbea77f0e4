/* SPDX-License-Identifier: MIT */
/* Numbers and texts as perf.data has them. Source:
 * tools/perf/Documentation/perf.data-file-format.txt. */
#include "common/recording/bytes.h"

#include <string.h>

#include "common/text.h"

/* Longer texts are cut. */
#define TEXT_BYTES 4096

const unsigned char *recording_bytes_take(recording_bytes_t *bytes,
                                          size_t size) {
  const unsigned char *at = bytes->at;

  if (size > bytes->left) {
    bytes->is_short = 1;
    bytes->left = 0;
    return NULL;
  }
  bytes->at += size;
  bytes->left -= size;
  return at;
}

/* Reads a number in the byte order of the file. */
static uint64_t take_number(recording_bytes_t *bytes, size_t size) {
  const unsigned char *at = recording_bytes_take(bytes, size);
  int is_little =
      (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ^ (bytes->is_foreign != 0);
  uint64_t value = 0;
  size_t i;

  for (i = 0; at != NULL && i < size; i++)
    value = value << 8 | at[is_little ? size - 1 - i : i];
  return value;
}

static uint16_t take_u16(recording_bytes_t *bytes) {
  return (uint16_t)take_number(bytes, sizeof(uint16_t));
}

uint32_t recording_bytes_u32(recording_bytes_t *bytes) {
  return (uint32_t)take_number(bytes, sizeof(uint32_t));
}

uint64_t recording_bytes_u64(recording_bytes_t *bytes) {
  return take_number(bytes, sizeof(uint64_t));
}

void recording_bytes_header(recording_bytes_t *bytes,
                            struct perf_event_header *header) {
  header->type = recording_bytes_u32(bytes);
  header->misc = take_u16(bytes);
  header->size = take_u16(bytes);
}

char *recording_bytes_string(recording_bytes_t *bytes) {
  uint32_t size = recording_bytes_u32(bytes);
  const unsigned char *at = recording_bytes_take(bytes, size);
  char text[TEXT_BYTES];

  if (at == NULL)
    return NULL;
  size = size < sizeof(text) ? size : (uint32_t)sizeof(text) - 1;
  memcpy(text, at, size);
  text[size] = '\0';
  return common_text_cleaned(text);
}
