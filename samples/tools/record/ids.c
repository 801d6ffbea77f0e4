/* SPDX-License-Identifier: MIT */
/* Asks the kernel for the ids of events. Knows nothing about their records. */
#include "record/ids.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

/* Returns the id of an attr's event at a place, or 0 if the event is not
 * open. */
static uint64_t id_of(const uvperf_set_t *set, size_t attr, uint64_t serial) {
  int fd = uvperf_set_fd(set, attr, serial);
  uint64_t id = 0;

  /* The second parameter of ioctl(2) differs among C libraries. */
  if (fd < 0 || syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &id) != 0)
    return 0;
  return id;
}

void record_ids_add(common_tally_t *ids, const uvperf_set_t *set,
                    const uvperf_reading_t *reading, record_file_t *file,
                    size_t first) {
  size_t nr_attrs = uvperf_set_nr_attrs(set), place, attr;
  size_t before;
  uint64_t id;

  for (place = 0; place < uvperf_reading_info(reading)->nr_places; place++) {
    for (attr = 0; attr < nr_attrs; attr++) {
      id = id_of(set, attr, uvperf_reading_place(reading, place)->serial);
      before = ids->nr;
      if (id != 0 && common_tally_get(ids, id, NULL, 0) != NULL &&
          ids->nr > before)
        record_file_add_id(file, first + attr, id);
    }
  }
}

/* -- losses ---------------------------------------------------------------- */

size_t record_lost_fill(uint64_t words[RECORD_LOST_WORDS],
                        const struct perf_event_attr *attr,
                        const uvperf_place_t *place, uint64_t id,
                        uint64_t lost) {
  uint32_t pair[2] = {(uint32_t)place->pid, (uint32_t)place->pid};
  struct perf_event_header header = {PERF_RECORD_LOST_SAMPLES, 0, 0};
  uint64_t type = attr->sample_type;
  size_t nr = 1;

  memset(words, 0, RECORD_LOST_WORDS * sizeof(*words));
  words[nr++] = lost;
  if (type & PERF_SAMPLE_TID)
    memcpy(&words[nr++], pair, sizeof(pair));
  if (type & PERF_SAMPLE_TIME)
    nr++; /* the time is not known */
  if (type & PERF_SAMPLE_ID)
    words[nr++] = id;
  if (type & PERF_SAMPLE_STREAM_ID)
    words[nr++] = id;
  pair[0] = (uint32_t)place->cpu;
  pair[1] = 0;
  if (type & PERF_SAMPLE_CPU)
    memcpy(&words[nr++], pair, sizeof(pair));
  if (type & PERF_SAMPLE_IDENTIFIER)
    words[nr++] = id;
  header.size = (uint16_t)(nr * sizeof(*words));
  memcpy(words, &header, sizeof(header));
  return header.size;
}

static int write_one(record_file_t *file, const uvperf_set_t *set, size_t attr,
                     const uvperf_place_t *place, uint64_t lost) {
  uint64_t words[RECORD_LOST_WORDS];
  uint64_t id = id_of(set, attr, place->serial);
  size_t size;

  if (id == 0)
    return 0;
  size = record_lost_fill(words, uvperf_set_item(set, attr)->attr, place, id,
                          lost);
  return record_file_write(file, words, size);
}

int record_lost_write(record_file_t *file, const uvperf_set_t *set,
                      const uvperf_reading_t *reading, uint64_t *lost) {
  size_t nr_attrs = uvperf_reading_info(reading)->nr_attrs, place, attr;
  uvperf_count_t count;
  int rc = 0, one;

  *lost = 0;
  for (place = 0; place < uvperf_reading_info(reading)->nr_places; place++) {
    for (attr = 0; attr < nr_attrs; attr++) {
      if (uvperf_reading_get(reading, attr, UVPERF_ALL, place, &count) != 0 ||
          count.lost == 0)
        continue;
      *lost += count.lost;
      one = write_one(file, set, attr, uvperf_reading_place(reading, place),
                      count.lost);
      rc = rc == 0 ? one : rc;
    }
  }
  return rc;
}
