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
  size_t nr; /* bytes */
  unsigned char build_id[BUILD_ID_BYTES];
} object_t;

void recording_features_free(recording_features_t *features) {
  common_tally_free(&features->paths);
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

static common_entry_t *entry_of(recording_features_t *features,
                                const char *path) {
  if (features->paths.item_bytes == 0)
    common_tally_init(&features->paths, sizeof(uint64_t));
  return common_tally_text(&features->paths, path);
}

/* An entry is: pid, 24 bytes for the id, the path. The first entry of a path
 * counts. */
void recording_features_object(recording_features_t *features, uint16_t misc,
                               recording_bytes_t *bytes) {
  const unsigned char *build_id;
  common_entry_t *entry;
  object_t *object;
  char *path;

  recording_bytes_u32(bytes);
  build_id = recording_bytes_take(bytes, BUILD_ID_BYTES + 4);
  if (build_id == NULL || is_guest(misc) || features->nr == OBJECTS_MAX)
    return;
  path = common_copy(bytes->at, bytes->left);
  entry = entry_of(features, path);
  free(path);
  if (entry == NULL || entry->samples++ > 0)
    return;
  entry->weight = features->nr;
  object = COMMON_ADD(features->objects, features->nr, features->capacity);
  object->nr = size_of(build_id, misc);
  memcpy(object->build_id, build_id, BUILD_ID_BYTES);
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

size_t recording_features_build_id(recording_features_t *features,
                                   const char *path,
                                   unsigned char build_id[BUILD_ID_BYTES]) {
  const common_entry_t *entry = entry_of(features, path);
  const object_t *object;

  if (entry == NULL || entry->samples == 0)
    return 0;
  object = &features->objects[entry->weight];
  memcpy(build_id, object->build_id, BUILD_ID_BYTES);
  return object->nr;
}
