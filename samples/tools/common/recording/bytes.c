/* SPDX-License-Identifier: MIT */
/* Numbers and texts as perf.data has them. Source:
 * tools/perf/Documentation/perf.data-file-format.txt. */
#include "common/recording/bytes.h"

#include <byteswap.h>
#include <string.h>

#include "common/memory.h"
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

uint16_t recording_bytes_u16(recording_bytes_t *bytes) {
  const unsigned char *at = recording_bytes_take(bytes, sizeof(uint16_t));
  uint16_t value = 0;

  if (at != NULL)
    memcpy(&value, at, sizeof(value));
  return bytes->is_foreign ? bswap_16(value) : value;
}

uint32_t recording_bytes_u32(recording_bytes_t *bytes) {
  const unsigned char *at = recording_bytes_take(bytes, sizeof(uint32_t));
  uint32_t value = 0;

  if (at != NULL)
    memcpy(&value, at, sizeof(value));
  return bytes->is_foreign ? bswap_32(value) : value;
}

uint64_t recording_bytes_u64(recording_bytes_t *bytes) {
  const unsigned char *at = recording_bytes_take(bytes, sizeof(uint64_t));
  uint64_t value = 0;

  if (at != NULL)
    memcpy(&value, at, sizeof(value));
  return bytes->is_foreign ? bswap_64(value) : value;
}

void recording_bytes_header(recording_bytes_t *bytes,
                            struct perf_event_header *header) {
  header->type = recording_bytes_u32(bytes);
  header->misc = recording_bytes_u16(bytes);
  header->size = recording_bytes_u16(bytes);
}

char *recording_bytes_string(recording_bytes_t *bytes) {
  uint32_t size = recording_bytes_u32(bytes);
  const unsigned char *at = recording_bytes_take(bytes, size);
  char text[TEXT_BYTES], *copy;

  if (at == NULL)
    return NULL;
  size = size < sizeof(text) ? size : (uint32_t)sizeof(text) - 1;
  memcpy(text, at, size);
  text[size] = '\0';
  copy = common_calloc(1, strlen(text) + 1);
  common_text_clean(copy, strlen(text) + 1, text);
  return copy;
}
