/* SPDX-License-Identifier: MIT */
/* The stream of records after the header. Source:
 * tools/lib/perf/include/perf/event.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/recording/internal.h"

/* Records of perf(1) itself, which the kernel does not write. */
enum {
  FIRST_OF_PERF = 64,
  HEADER_ATTR = 64,
  HEADER_TRACING_DATA = 66,
  HEADER_BUILD_ID = 67,
  FINISHED_ROUND = 68,
  AUXTRACE = 71,
  HEADER_FEATURE = 80,
  COMPRESSED = 81,
  COMPRESSED2 = 83
};

typedef struct perf_event_header header_t;

static recording_bytes_t bytes_of(const recording_t *recording,
                                  const unsigned char *at, size_t size) {
  recording_bytes_t bytes = {at, size, recording->is_foreign, 0};

  return bytes;
}

/* Returns the body of a record, which follows its header. */
static recording_bytes_t body_of(const recording_t *recording,
                                 const uint64_t *words) {
  const header_t *header = (const void *)words;

  return bytes_of(recording, (const unsigned char *)words + sizeof(*header),
                  header->size - sizeof(*header));
}

static int fail_size(recording_t *recording, unsigned size) {
  return recording_fail(recording,
                        "damaged at byte %" PRIu64
                        ": a record of %u bytes; the rest is ignored",
                        recording->offset, size);
}

/* -- from the file --------------------------------------------------------- */

static int end_of_file(recording_t *recording, unsigned size) {
  const recording_input_t *input = &recording->input;
  size_t left = recording_input_left(input);

  if (input->error != 0)
    return recording_fail(recording, "at byte %" PRIu64 ": %s", input->offset,
                          strerror(input->error));
  if (input->skip > 0)
    return recording_fail(recording, "cut off at byte %" PRIu64, input->offset);
  if (left > 0)
    return recording_fail(
        recording, "cut off at byte %" PRIu64 ", in a record of %u bytes",
        input->offset, size);
  return -1;
}

/* Reads a record into recording->words, with its header in our byte order.
 * Returns 0, -1 at the end, or RECORDING_WAIT. */
static int read_record(recording_t *recording) {
  const unsigned char *at;
  recording_bytes_t bytes;
  recording_input_e state;
  header_t header;

  state = recording_input_peek(&recording->input, sizeof(header), &at);
  if (state == RECORDING_INPUT_WAIT)
    return RECORDING_WAIT;
  if (state == RECORDING_INPUT_END)
    return end_of_file(recording, sizeof(header));
  recording->offset = recording->input.offset;
  bytes = bytes_of(recording, at, sizeof(header));
  recording_bytes_header(&bytes, &header);
  if (header.size < sizeof(header))
    return fail_size(recording, header.size);
  state = recording_input_peek(&recording->input, header.size, &at);
  if (state == RECORDING_INPUT_WAIT)
    return RECORDING_WAIT;
  if (state == RECORDING_INPUT_END)
    return end_of_file(recording, header.size);
  memcpy(recording->words, at, header.size);
  memcpy(recording->words, &header, sizeof(header));
  recording_input_skip(&recording->input, header.size);
  return 0;
}

/* -- compressed records ---------------------------------------------------- */

/* Begins a piece, which is the record that was read last. The record is copied,
 * because its body must stay in place. */
static int begin_piece(recording_t *recording) {
  recording_bytes_t bytes;
  const header_t *header = (const void *)recording->words;
  uint64_t size;

  if (recording->unpack == NULL) {
    recording->unpack = recording_unpack_new();
    recording->unpacked = common_calloc(1, UNPACKED_BYTES);
  }
  if (recording->unpack == NULL)
    return recording_fail(recording, "compressed, and this program was built "
                                     "without libzstd: record without -z");
  memcpy(recording->piece, recording->words, header->size);
  bytes = body_of(recording, recording->piece);
  if (header->type == COMPRESSED2) {
    size = recording_bytes_u64(&bytes);
    if (size > bytes.left)
      return fail_size(recording, header->size);
    bytes.left = (size_t)size;
  }
  recording_unpack_add(recording->unpack, bytes.at, bytes.left);
  return 0;
}

/* Copies a whole unpacked record into recording->words. Returns 1, or 0 if
 * there is no whole record, or -1. */
static int take_unpacked(recording_t *recording) {
  const unsigned char *at = recording->unpacked + recording->unpacked_start;
  size_t left = recording->unpacked_used - recording->unpacked_start;
  recording_bytes_t bytes;
  header_t header;

  if (left < sizeof(header))
    return 0;
  bytes = bytes_of(recording, at, left);
  recording_bytes_header(&bytes, &header);
  if (header.size < sizeof(header))
    return fail_size(recording, header.size);
  if (header.size > left)
    return 0;
  memcpy(recording->words, at, header.size);
  memcpy(recording->words, &header, sizeof(header));
  recording->unpacked_start += header.size;
  return 1;
}

/* A record can continue in the next piece. */
static int read_unpacked(recording_t *recording) {
  size_t left;
  long nr;
  int rc;

  while ((rc = take_unpacked(recording)) == 0) {
    left = recording->unpacked_used - recording->unpacked_start;
    memmove(recording->unpacked,
            recording->unpacked + recording->unpacked_start, left);
    recording->unpacked_start = 0;
    recording->unpacked_used = left;
    nr = recording_unpack_more(recording->unpack, recording->unpacked + left,
                               UNPACKED_BYTES - left);
    if (nr < 0)
      return recording_fail(recording,
                            "the compressed data at byte %" PRIu64
                            " are damaged; the rest is ignored",
                            recording->offset);
    if (nr == 0)
      return 0;
    recording->unpacked_used += (size_t)nr;
  }
  return rc;
}

/* -- each record ----------------------------------------------------------- */

/* Records without a time keep their place, as in perf(1): a record that perf
 * synthesized comes before all records that depend on it. */
static int take_of_kernel(recording_t *recording,
                          const uvperf_record_t **record) {
  header_t *header = (void *)recording->words;
  uvperf_decoder_t *decoder;

  if (uvperf_record_type_name(header->type) == NULL)
    return 0;
  if (recording->events.nr == 0) {
    recording->damaged++;
    return 0;
  }
  decoder = recording_events_decoder(&recording->events);
  if (decoder == NULL)
    return recording_fail(recording,
                          "its records do not show which event wrote them");
  if (recording->is_foreign)
    recording_events_swap(&recording->events, header);
  if (uvperf_decode(decoder, header, header->size, record) != 0) {
    recording->damaged++;
    return 0;
  }
  if (!((*record)->present & PERF_SAMPLE_TIME) || (*record)->time == 0 ||
      (*record)->time == UINT64_MAX || !recording->events.have_times)
    return 1;
  recording_order_add(&recording->order, header, header->size, (*record)->time);
  return 0;
}

/* The attr contains its size; the ids follow it. */
static void take_attr(recording_t *recording) {
  recording_bytes_t bytes = body_of(recording, recording->words);
  const unsigned char *attr = bytes.at;
  uint32_t size;

  recording_bytes_u32(&bytes);
  size = recording_bytes_u32(&bytes);
  size = size == 0 ? PERF_ATTR_SIZE_VER0 : size;
  bytes = body_of(recording, recording->words);
  if (recording_bytes_take(&bytes, size) == NULL ||
      recording_events_add(&recording->events, attr, size, &bytes) != 0)
    recording->damaged++;
}

/* The data follow the record, padded to 8 bytes. */
static void begin_formats(recording_t *recording, uint32_t size) {
  uint64_t padded = ((uint64_t)size + 7) & ~UINT64_C(7);

  if (padded > FEATURE_BYTES) {
    recording_input_skip(&recording->input, padded);
    return;
  }
  free(recording->tracing);
  recording->tracing = common_calloc(1, (size_t)padded + 1);
  recording->tracing_bytes = (size_t)padded;
  recording->tracing_used = 0;
}

/* Returns 0, -1 at the end, or RECORDING_WAIT. */
static int read_formats(recording_t *recording) {
  size_t left = recording->tracing_bytes - recording->tracing_used;
  recording_bytes_t bytes;
  recording_input_e state;
  const unsigned char *at;

  while (left > 0) {
    size_t size = left < RECORDING_INPUT_BYTES ? left : RECORDING_INPUT_BYTES;

    state = recording_input_peek(&recording->input, size, &at);
    if (state == RECORDING_INPUT_WAIT)
      return RECORDING_WAIT;
    if (state == RECORDING_INPUT_END)
      return end_of_file(recording, (unsigned)left);
    memcpy(recording->tracing + recording->tracing_used, at, size);
    recording_input_skip(&recording->input, size);
    recording->tracing_used += size;
    left -= size;
  }
  bytes =
      (recording_bytes_t){recording->tracing, recording->tracing_bytes, 0, 0};
  recording_formats_take(&recording->formats, &bytes);
  free(recording->tracing);
  recording->tracing = NULL;
  return 0;
}

/* Processes a record of perf(1) itself. Ignores unknown records. */
static int take_of_perf(recording_t *recording) {
  recording_bytes_t bytes = body_of(recording, recording->words);
  const header_t *header = (const void *)recording->words;
  uint64_t feature;

  switch (header->type) {
    case HEADER_ATTR:
      take_attr(recording);
      return 0;
    case HEADER_BUILD_ID:
      recording_features_object(&recording->features, header->misc, &bytes);
      return 0;
    case HEADER_FEATURE:
      feature = recording_bytes_u64(&bytes);
      recording_header_feature(recording, feature, &bytes);
      return 0;
    case HEADER_TRACING_DATA:
      begin_formats(recording, recording_bytes_u32(&bytes));
      return 0;
    case AUXTRACE: /* data follow */
      recording_input_skip(&recording->input, recording_bytes_u64(&bytes));
      return 0;
    case COMPRESSED:
    case COMPRESSED2:
      return begin_piece(recording);
    default:
      return 0;
  }
}

int recording_records_read(recording_t *recording,
                           const uvperf_record_t **record) {
  const header_t *header = (const void *)recording->words;
  int is_unpacked = 0, rc;

  if (recording->tracing != NULL)
    return read_formats(recording);
  if (recording->unpack != NULL)
    is_unpacked = read_unpacked(recording);
  if (is_unpacked < 0)
    return -1;
  if (!is_unpacked) {
    rc = read_record(recording);
    if (rc != 0)
      return rc;
  }
  if (header->type == FINISHED_ROUND)
    recording_order_round(&recording->order);
  else if (header->type < FIRST_OF_PERF)
    return take_of_kernel(recording, record);
  else if (!is_unpacked)
    return take_of_perf(recording);
  return 0;
}
