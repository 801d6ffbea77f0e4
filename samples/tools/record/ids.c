/* SPDX-License-Identifier: MIT */
/* Asks the kernel for the ids of events. Knows nothing about their records. */
#include "record/ids.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "common/memory.h"

/* The kernel assigns ids in sequence, so they need no hash function. */
static uint64_t *find(const record_ids_t *ids, uint64_t id) {
  size_t i = (size_t)id & (ids->capacity - 1);

  while (ids->table[i] != 0 && ids->table[i] != id)
    i = (i + 1) & (ids->capacity - 1);
  return &ids->table[i];
}

static void grow(record_ids_t *ids) {
  record_ids_t old = *ids;
  size_t i;

  ids->capacity = old.capacity == 0 ? 64 : old.capacity * 2;
  ids->table = common_calloc(ids->capacity, sizeof(*ids->table));
  for (i = 0; i < old.capacity; i++) {
    if (old.table[i] != 0)
      *find(ids, old.table[i]) = old.table[i];
  }
  free(old.table);
}

/* Returns 1 if the id is new. */
static int remember(record_ids_t *ids, uint64_t id) {
  uint64_t *slot;

  if (ids->nr >= ids->capacity / 2)
    grow(ids);
  slot = find(ids, id);
  if (*slot == id)
    return 0;
  *slot = id;
  ids->nr++;
  return 1;
}

uint64_t record_ids_of(const uvperf_set_t *set, size_t attr, uint64_t serial) {
  int fd = uvperf_set_fd(set, attr, serial);
  uint64_t id = 0;

  /* The second parameter of ioctl(2) differs among C libraries. */
  if (fd < 0 || syscall(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &id) != 0)
    return 0;
  return id;
}

void record_ids_add(record_ids_t *ids, const uvperf_set_t *set,
                    const uvperf_reading_t *reading, record_file_t *file,
                    size_t first) {
  size_t nr_attrs = uvperf_set_nr_attrs(set), place, attr;
  uint64_t id;

  for (place = 0; place < uvperf_reading_info(reading)->nr_places; place++) {
    for (attr = 0; attr < nr_attrs; attr++) {
      id = record_ids_of(set, attr,
                         uvperf_reading_place(reading, place)->serial);
      if (id != 0 && remember(ids, id))
        record_file_add_id(file, first + attr, id);
    }
  }
}

void record_ids_free(record_ids_t *ids) {
  free(ids->table);
  memset(ids, 0, sizeof(*ids));
}
