/* SPDX-License-Identifier: MIT */
/* The layout is as in tools/perf/util/trace-event-read.c. It begins with a
 * magic, the version as a text, the byte order, and the sizes of a long and of
 * a page. Two files of the ring buffer follow, then the formats of ftrace's own
 * events, then the formats of each category. The rest is not read. */
#include "common/recording/formats.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

static const unsigned char magic[] = {23,  8,   68,  't', 'r',
                                      'a', 'c', 'i', 'n', 'g'};

typedef struct recording_formats_entry_s {
  uint64_t id;
  recording_format_t format;
} entry_t;

void recording_formats_free(recording_formats_t *formats) {
  free(formats->data);
  free(formats->entries);
  memset(formats, 0, sizeof(*formats));
}

/* Returns a text that ends with NUL, or NULL. */
static const char *take_text(recording_bytes_t *bytes) {
  size_t size = strnlen((const char *)bytes->at, bytes->left);

  return (const char *)recording_bytes_take(bytes, size + 1);
}

/* Reads a size, and returns the file of that size that follows, or NULL. */
static const char *take_file(recording_bytes_t *bytes, size_t *size) {
  uint64_t wanted = recording_bytes_u64(bytes);

  if (bytes->is_short || wanted > bytes->left)
    return NULL;
  *size = (size_t)wanted;
  return (const char *)recording_bytes_take(bytes, *size);
}

static int skip_named_file(recording_bytes_t *bytes, const char *name) {
  const char *found = take_text(bytes);
  size_t size;

  return found != NULL && strcmp(found, name) == 0 &&
                 take_file(bytes, &size) != NULL
             ? 0
             : -1;
}

/* Finds the line "ID: 443". Returns 0 or -1. */
static int read_id(const char *text, size_t size, uint64_t *id) {
  static const char key[] = "\nID: ";
  const char *at = memmem(text, size, key, sizeof(key) - 1);
  const char *end = text + size;

  if (at == NULL)
    return -1;
  at += sizeof(key) - 1;
  if (at == end || *at < '0' || *at > '9')
    return -1;
  for (*id = 0; at < end && *at >= '0' && *at <= '9' && *id < UINT32_MAX; at++)
    *id = *id * 10 + (uint64_t)(*at - '0');
  return 0;
}

static int take_category(recording_formats_t *formats,
                         recording_bytes_t *bytes) {
  const char *category = take_text(bytes);
  uint32_t nr = recording_bytes_u32(bytes);
  entry_t entry = {0, {category, NULL, 0}};

  if (category == NULL)
    return -1;
  for (; nr > 0 && formats->nr < RECORDING_FORMATS_MAX; nr--) {
    entry.format.text = take_file(bytes, &entry.format.bytes);
    if (entry.format.text == NULL)
      return -1;
    if (read_id(entry.format.text, entry.format.bytes, &entry.id) != 0)
      continue;
    *COMMON_ADD(formats->entries, formats->nr, formats->capacity) = entry;
  }
  return 0;
}

static void take_all(recording_formats_t *formats, recording_bytes_t *bytes) {
  const unsigned char *at = recording_bytes_take(bytes, sizeof(magic));
  const unsigned char is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
  uint32_t nr;
  size_t size;

  if (at == NULL || memcmp(at, magic, sizeof(magic)) != 0 ||
      take_text(bytes) == NULL)
    return;
  at = recording_bytes_take(bytes, 2); /* byte order, size of a long */
  bytes->is_foreign = at != NULL && (at[0] != 0) != (is_big != 0);
  recording_bytes_u32(bytes); /* size of a page */
  if (skip_named_file(bytes, "header_page") != 0 ||
      skip_named_file(bytes, "header_event") != 0)
    return;
  for (nr = recording_bytes_u32(bytes); nr > 0; nr--) {
    if (take_file(bytes, &size) == NULL)
      return;
  }
  for (nr = recording_bytes_u32(bytes); nr > 0; nr--) {
    if (take_category(formats, bytes) != 0)
      return;
  }
}

void recording_formats_take(recording_formats_t *formats,
                            const recording_bytes_t *bytes) {
  recording_bytes_t copy = *bytes;

  recording_formats_free(formats);
  formats->data = common_calloc(1, bytes->left + 1);
  memcpy(formats->data, bytes->at, bytes->left);
  copy.at = formats->data;
  take_all(formats, &copy);
}

int recording_formats_find(const recording_formats_t *formats, uint64_t id,
                           recording_format_t *format) {
  size_t i;

  for (i = 0; i < formats->nr; i++) {
    if (formats->entries[i].id == id) {
      *format = formats->entries[i].format;
      return 1;
    }
  }
  return 0;
}
