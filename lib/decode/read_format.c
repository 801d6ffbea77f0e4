/* SPDX-License-Identifier: MIT */
/* Reads counts in the format of read(2), of one event or of a group. The layout
 * is described at enum perf_event_read_format in <linux/perf_event.h>. The
 * kernel writes it in perf_output_read_one and perf_output_read_group. */
#include "decode/read_format.h"

#include <errno.h>

#include "sys/sys.h"
#include "util/bytes.h"

/* The order of the words. A group has nr and the times, which all events share,
 * and then value, id and lost of each event. A single event has value, the
 * times, id and lost. */
static size_t format_has(uint64_t format, uint64_t bit) {
  return (format & bit) != 0;
}

static size_t value_words(uint64_t format) {
  return 1 + format_has(format, PERF_FORMAT_ID) +
         format_has(format, UVPERF_FORMAT_LOST);
}

static size_t shared_words(uint64_t format) {
  return format_has(format, PERF_FORMAT_GROUP) +
         format_has(format, PERF_FORMAT_TOTAL_TIME_ENABLED) +
         format_has(format, PERF_FORMAT_TOTAL_TIME_RUNNING);
}

/* In a group the times follow nr. In a single event they follow the value. */
static void take_times(uvperf_values_t *read, const uint8_t *at) {
  read->time_enabled = 0;
  read->time_running = 0;
  if (read->format & PERF_FORMAT_TOTAL_TIME_ENABLED) {
    read->time_enabled = uvperf__u64(at);
    at += 8;
  }
  if (read->format & PERF_FORMAT_TOTAL_TIME_RUNNING)
    read->time_running = uvperf__u64(at);
}

int uvperf__read_format_parse(uint64_t format, const void *bytes, size_t size,
                              size_t *used, uvperf_values_t *read) {
  size_t room = size / sizeof(uint64_t);
  size_t shared = shared_words(format);
  size_t each = value_words(format);
  uint64_t nr = 1;

  if (room < shared)
    return -EPROTO;
  if (format & PERF_FORMAT_GROUP)
    nr = uvperf__u64(bytes);
  /* The first check keeps the product from overflowing. A division would take
   * longer than the rest of the function. */
  if (nr > room || nr * each > room - shared)
    return -EPROTO;
  read->format = format;
  read->nr = nr;
  read->words = bytes;
  take_times(read, (const uint8_t *)bytes + sizeof(uint64_t));
  *used = (shared + (size_t)nr * each) * sizeof(uint64_t);
  return 0;
}

/* id and lost follow a value if the format has them. In a single event the
 * times come between. */
void uvperf__read_format_get(const uvperf_values_t *read, uint64_t index,
                             uvperf__value_t *value) {
  size_t shared = shared_words(read->format) * sizeof(uint64_t);
  size_t each = value_words(read->format) * sizeof(uint64_t);
  const uint8_t *at = (const uint8_t *)read->words;
  const uint8_t *rest = at + sizeof(uint64_t) + shared;

  if (read->format & PERF_FORMAT_GROUP) {
    at += shared + (size_t)index * each;
    rest = at + sizeof(uint64_t);
  }
  memset(value, 0, sizeof(*value));
  value->value = uvperf__u64(at);
  value->enabled = read->time_enabled;
  value->running = read->time_running;
  if (read->format & PERF_FORMAT_ID) {
    value->id = uvperf__u64(rest);
    rest += sizeof(uint64_t);
  }
  if (read->format & UVPERF_FORMAT_LOST)
    value->lost = uvperf__u64(rest);
}

int uvperf__read_format_find(const uvperf_values_t *read, uint64_t id,
                             uint64_t likely, uvperf__value_t *value) {
  uint64_t i;

  if (!(read->format & PERF_FORMAT_ID) || read->nr == 0)
    return -ENOENT;
  uvperf__read_format_get(read, likely < read->nr ? likely : 0, value);
  for (i = 0; value->id != id; i++) {
    if (i == read->nr)
      return -ENOENT;
    uvperf__read_format_get(read, i, value);
  }
  return 0;
}

int uvperf__read_format_fd(int fd, uint64_t format, uvperf__value_t *value) {
  uint64_t words[UVPERF__READ_FORMAT_SINGLE];
  ssize_t size = uvperf__sys_read(fd, words, sizeof(words));
  uvperf_values_t read;
  size_t used;

  if (size <= 0)
    return size == 0 ? -EBADF : (int)size;
  if (uvperf__read_format_parse(format, words, (size_t)size, &used, &read) !=
          0 ||
      used != (size_t)size)
    return -EPROTO;
  uvperf__read_format_get(&read, 0, value);
  return 0;
}
