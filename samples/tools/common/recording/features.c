/* SPDX-License-Identifier: MIT */
#include "common/recording/features.h"

#include <stdlib.h>
#include <string.h>

#include <uvperf.h>

#include "common/memory.h"

/* Byte 20 of an entry is the size of its id: PERF_RECORD_MISC_BUILD_ID_SIZE of
 * tools/lib/perf/include/perf/event.h. */
#define MISC_HAS_SIZE (1u << 15)

#define BUILD_ID_BYTES 20

/* Further entries are ignored. */
#define OBJECTS_MAX ((size_t)1 << 18)

typedef struct recording_object_s {
  char *path;
  size_t nr, serial;
  unsigned char build_id[BUILD_ID_BYTES];
} object_t;

void recording_features_free(recording_features_t *features) {
  size_t i;

  for (i = 0; i < features->nr; i++)
    free(features->objects[i].path);
  free(features->objects);
  free(features->hostname);
  free(features->release);
  free(features->arch);
  memset(features, 0, sizeof(*features));
}

static void take_string(char **text, recording_bytes_t *bytes) {
  free(*text);
  *text = recording_bytes_string(bytes);
}

/* Older versions of perf(1) did not write the size, and all ids had 20 bytes. A
 * shorter id has zeros at its end. These zeros are removed four at a time, as
 * perf(1) does. */
static size_t size_of(const unsigned char *build_id, uint16_t misc) {
  static const unsigned char zeros[4];
  size_t size = BUILD_ID_BYTES;

  if (misc & MISC_HAS_SIZE)
    return build_id[BUILD_ID_BYTES] <= size ? build_id[BUILD_ID_BYTES] : size;
  while (size >= 4 && memcmp(build_id + size - 4, zeros, 4) == 0)
    size -= 4;
  return size;
}

static int is_guest(uint16_t misc) {
  unsigned mode = uvperf_record_cpu_mode(misc);

  return mode == PERF_RECORD_MISC_GUEST_KERNEL ||
         mode == PERF_RECORD_MISC_GUEST_USER;
}

/* An entry is: pid, 24 bytes for the id, the path. */
void recording_features_object(recording_features_t *features, uint16_t misc,
                               recording_bytes_t *bytes) {
  const unsigned char *build_id;
  object_t *object;
  size_t size;

  recording_bytes_u32(bytes);
  build_id = recording_bytes_take(bytes, BUILD_ID_BYTES + 4);
  if (build_id == NULL || is_guest(misc) || features->nr == OBJECTS_MAX)
    return;
  size = strnlen((const char *)bytes->at, bytes->left);
  object = COMMON_ADD(features->objects, features->nr, features->capacity);
  object->path = common_copy(bytes->at, size);
  object->nr = size_of(build_id, misc);
  object->serial = features->nr - 1;
  memcpy(object->build_id, build_id, BUILD_ID_BYTES);
  features->is_sorted = 0;
}

static void take_table(recording_features_t *features,
                       recording_bytes_t *bytes) {
  struct perf_event_header header;
  recording_bytes_t entry = *bytes;

  while (bytes->left > 0) {
    recording_bytes_header(bytes, &header);
    if (header.size < sizeof(header))
      return;
    entry.left = header.size - sizeof(header);
    entry.at = recording_bytes_take(bytes, entry.left);
    if (entry.at == NULL)
      return;
    recording_features_object(features, header.misc, &entry);
  }
}

void recording_features_take(recording_features_t *features, uint64_t feature,
                             recording_bytes_t *bytes) {
  switch (feature) {
    case RECORDING_BUILD_ID:
      take_table(features, bytes);
      break;
    case RECORDING_HOSTNAME:
      take_string(&features->hostname, bytes);
      break;
    case RECORDING_OSRELEASE:
      take_string(&features->release, bytes);
      break;
    case RECORDING_ARCH:
      take_string(&features->arch, bytes);
      break;
    default:
      break;
  }
}

static int compare(const void *a, const void *b) {
  const object_t *one = a, *other = b;
  int order = strcmp(one->path, other->path);

  if (order != 0)
    return order;
  return one->serial < other->serial ? -1 : one->serial > other->serial;
}

/* Returns the first entry of a path. */
static const object_t *find(const recording_features_t *features,
                            const char *path) {
  size_t low = 0, high = features->nr, middle;

  while (low < high) {
    middle = low + (high - low) / 2;
    if (strcmp(features->objects[middle].path, path) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  if (low < features->nr && strcmp(features->objects[low].path, path) == 0)
    return &features->objects[low];
  return NULL;
}

size_t recording_features_build_id(recording_features_t *features,
                                   const char *path,
                                   unsigned char build_id[BUILD_ID_BYTES]) {
  const object_t *object;

  if (!features->is_sorted && features->nr > 0)
    qsort(features->objects, features->nr, sizeof(*features->objects), compare);
  features->is_sorted = 1;
  object = find(features, path);
  if (object == NULL)
    return 0;
  memcpy(build_id, object->build_id, BUILD_ID_BYTES);
  return object->nr;
}
