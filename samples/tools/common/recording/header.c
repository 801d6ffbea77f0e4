/* SPDX-License-Identifier: MIT */
/* The header of either format. Source:
 * tools/perf/Documentation/perf.data-file-format.txt. */
#include <byteswap.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/recording/internal.h"

#define PIPE_HEADER_BYTES 16

/* The sizes of a header without features, as the first versions wrote it, and
 * of a header with features. */
#define OLD_HEADER_BYTES 72
#define HEADER_BYTES     104

/* An attr is at most a page. */
#define ATTR_BYTES 4096

typedef struct section_s {
  uint64_t offset, size;
} section_t;

typedef struct header_s {
  uint64_t attr_size; /* with the section of its ids */
  section_t attrs;
  section_t data;
  uint64_t features[RECORDING_FEATURES / 64];
} header_t;

static section_t take_section(recording_bytes_t *bytes) {
  section_t section;

  section.offset = recording_bytes_u64(bytes);
  section.size = recording_bytes_u64(bytes);
  return section;
}

static int is_in_file(const recording_t *recording, const section_t *section) {
  return section->offset <= recording->file_bytes &&
         section->size <= recording->file_bytes - section->offset;
}

/* Returns a copy of a section for free(), or NULL. */
static unsigned char *read_section(const recording_t *recording,
                                   const section_t *section,
                                   recording_bytes_t *bytes) {
  unsigned char *copy;

  if (!is_in_file(recording, section))
    return NULL;
  copy = common_calloc(1, (size_t)section->size + 1);
  if (recording_input_read_at(&recording->input, copy, (size_t)section->size,
                              section->offset) != 0) {
    free(copy);
    return NULL;
  }
  *bytes = (recording_bytes_t){copy, (size_t)section->size,
                               recording->is_foreign, 0};
  return copy;
}

/* -- events ---------------------------------------------------------------- */

static int read_event(recording_t *recording, section_t entry) {
  recording_bytes_t bytes, ids_bytes;
  unsigned char *attr, *ids = NULL;
  section_t ids_section;
  size_t attr_bytes = (size_t)entry.size - sizeof(section_t);
  int rc = -1;

  attr = read_section(recording, &entry, &bytes);
  if (attr != NULL) {
    recording_bytes_take(&bytes, attr_bytes);
    ids_section = take_section(&bytes);
    if (ids_section.size <= RECORDING_IDS_MAX * sizeof(uint64_t))
      ids = read_section(recording, &ids_section, &ids_bytes);
  }
  if (ids != NULL)
    rc = recording_events_add(&recording->events, attr, attr_bytes, &ids_bytes);
  free(ids);
  free(attr);
  if (rc == 0)
    return 0;
  return recording_fail(recording,
                        "its header is cut off or damaged: no event at byte "
                        "%" PRIu64,
                        entry.offset);
}

static int read_events(recording_t *recording, const header_t *header) {
  section_t entry = {header->attrs.offset, header->attr_size};
  uint64_t nr;

  if (header->attr_size < PERF_ATTR_SIZE_VER0 + sizeof(section_t) ||
      header->attr_size > ATTR_BYTES + sizeof(section_t) ||
      !is_in_file(recording, &header->attrs))
    return recording_fail(
        recording,
        "its header is cut off or damaged: a table of %" PRIu64
        " bytes at byte %" PRIu64 " for events of %" PRIu64 " bytes",
        header->attrs.size, header->attrs.offset, header->attr_size);
  nr = header->attrs.size / header->attr_size;
  if (nr == 0)
    return recording_fail(recording, "it has no events");
  for (; nr > 0; nr--) {
    if (read_event(recording, entry) != 0)
      return -1;
    entry.offset += entry.size;
  }
  return 0;
}

/* -- features -------------------------------------------------------------- */

/* From Linux 3.12 to 3.15 MMAP2 had fewer fields. */
static int has_old_mmap2(const char *release) {
  int minor;

  return sscanf(release, "3.%d", &minor) == 1 && minor >= 12 && minor <= 15;
}

void recording_header_feature(recording_t *recording, uint64_t feature,
                              recording_bytes_t *bytes) {
  if (feature == RECORDING_EVENT_DESC)
    recording_events_name(&recording->events, bytes);
  else if (feature == RECORDING_TRACING_DATA)
    recording_formats_take(&recording->formats, bytes);
  else
    recording_features_take(&recording->features, feature, bytes);
  if (feature == RECORDING_OSRELEASE && recording->features.release != NULL)
    recording->events.is_old_mmap2 = has_old_mmap2(recording->features.release);
}

static void remark_lacks(recording_t *recording, const char *why) {
  recording_remark(recording,
                   "%s: names of events and build ids may be missing", why);
}

/* A table follows the data. It has a section for each bit. */
static void read_features(recording_t *recording, const header_t *header) {
  section_t place = {header->data.offset + header->data.size,
                     sizeof(section_t)};
  const section_t missing = {UINT64_MAX, 0};
  unsigned char *entry, *copy;
  recording_bytes_t bytes;
  section_t section;
  unsigned feature;

  for (feature = 0; feature < RECORDING_FEATURES; feature++) {
    if ((header->features[feature / 64] >> feature % 64 & 1) == 0)
      continue;
    entry = read_section(recording, &place, &bytes);
    section = entry == NULL ? missing : take_section(&bytes);
    free(entry);
    if (!is_in_file(recording, &section))
      remark_lacks(recording, "cut off after its records");
    place.offset += place.size;
    if (section.size > FEATURE_BYTES)
      continue;
    copy = read_section(recording, &section, &bytes);
    if (copy != NULL)
      recording_header_feature(recording, feature, &bytes);
    free(copy);
  }
}

/* -- the header ------------------------------------------------------------ */

/* The bits are an array of longs, and the size of a long is not known. All
 * files have the bit for the host's name. Its place shows whether the halves
 * must be exchanged. */
static void take_feature_bits(header_t *header, recording_bytes_t *bytes) {
  size_t i, nr = sizeof(header->features) / sizeof(header->features[0]);
  uint64_t bits;

  for (i = 0; i < nr; i++)
    header->features[i] = recording_bytes_u64(bytes);
  if (!bytes->is_foreign ||
      (header->features[0] >> RECORDING_HOSTNAME & 1) != 0)
    return;
  for (i = 0; i < nr; i++) {
    bits = header->features[i];
    header->features[i] = bits << 32 | bits >> 32;
  }
}

/* Goes to the data. */
static void begin_data(recording_t *recording, const section_t *data) {
  uint64_t left = recording->file_bytes;

  left = data->offset < left ? left - data->offset : 0;
  recording_input_seek(&recording->input, data->offset);
  recording->input.end = recording->file_bytes;
  if (data->size == 0)
    remark_lacks(recording, "the program that wrote it was interrupted");
  else if (data->size > left)
    recording_remark(recording, "cut off: %" PRIu64 " bytes are missing",
                     data->size - left);
  else
    recording->input.end = data->offset + data->size;
}

static int read_file(recording_t *recording, uint64_t size) {
  section_t place = {0, size};
  recording_bytes_t bytes;
  unsigned char *copy;
  header_t header;

  copy = read_section(recording, &place, &bytes);
  if (copy == NULL)
    return recording_fail(recording, "its header is cut off");
  memset(&header, 0, sizeof(header));
  recording_bytes_take(&bytes, PIPE_HEADER_BYTES);
  header.attr_size = recording_bytes_u64(&bytes);
  header.attrs = take_section(&bytes);
  header.data = take_section(&bytes);
  take_section(&bytes); /* types of events, until Linux 3.2 */
  take_feature_bits(&header, &bytes);
  free(copy);
  if (read_events(recording, &header) != 0)
    return -1;
  if (header.data.size > 0 && is_in_file(recording, &header.data))
    read_features(recording, &header);
  begin_data(recording, &header.data);
  return 0;
}

/* Finds out whether the file has the other byte order. In the first version the
 * magic is a text, which does not show the byte order. Then the header's size
 * shows it. */
static int find_byte_order(recording_t *recording, const unsigned char *bytes,
                           uint64_t size) {
  const uint64_t ours = UINT64_C(0x32454c4946524550);
  uint64_t magic;

  memcpy(&magic, bytes, sizeof(magic));
  if (magic == ours)
    recording->is_foreign = 0;
  else if (magic == bswap_64(ours))
    recording->is_foreign = 1;
  else if (memcmp(bytes, "PERFFILE", 8) == 0)
    recording->is_foreign = size > UINT32_MAX;
  else
    return -1;
  return 0;
}

int recording_header_read(recording_t *recording) {
  const unsigned char *bytes;
  recording_input_e state;
  uint64_t size = 0;

  state = recording_input_peek(&recording->input, PIPE_HEADER_BYTES, &bytes);
  if (state == RECORDING_INPUT_WAIT)
    return RECORDING_WAIT;
  if (state == RECORDING_INPUT_END && recording->input.error != 0)
    return recording_fail(recording, "%s", strerror(recording->input.error));
  if (state == RECORDING_INPUT_END &&
      recording_input_left(&recording->input) == 0)
    return recording_fail(recording, "it is empty");
  if (state == RECORDING_INPUT_THERE)
    memcpy(&size, bytes + 8, sizeof(size));
  if (state == RECORDING_INPUT_END ||
      find_byte_order(recording, bytes, size) != 0)
    return recording_fail(recording, "not a perf.data file");
  size = recording->is_foreign ? bswap_64(size) : size;
  recording->has_header = 1;
  if (size == PIPE_HEADER_BYTES) {
    recording->is_pipe_format = 1;
    recording_input_skip(&recording->input, size);
    return 0;
  }
  if (size != OLD_HEADER_BYTES && size != HEADER_BYTES)
    return recording_fail(
        recording, "its header is damaged: %" PRIu64 " bytes long", size);
  if (recording->input.is_pipe)
    return recording_fail(recording, "a file cannot be read through a pipe: "
                                     "give its name, or pipe from perf record "
                                     "-o -");
  return read_file(recording, size);
}
