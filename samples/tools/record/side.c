/* SPDX-License-Identifier: MIT */
/* Keeps records in memory, but does not write them to the file. */
#include "record/side.h"

#include "record/running.h"

/* A name or a mapping takes about a hundred bytes. On a large machine all names
 * and mappings take some megabytes. */
#define LEAST_BYTES ((size_t)16 << 20)

int record_side_open(record_side_t *side, uv_loop_t *loop,
                     const uvperf_set_options_t *options, uint32_t side_band,
                     uvperf_error_t *error) {
  uvperf_set_options_t own = UVPERF_SET_OPTIONS_INIT;
  int rc;

  own.targets = options->targets;
  own.nr_targets = options->nr_targets;
  own.flags = options->flags & ~UVPERF_SET_OVERWRITE;
  own.fallbacks = options->fallbacks;
  own.side_band = side_band & ~RECORD_SIDE_IN_RINGS;
  rc = uvperf_set_init(loop, &side->set, &own, error);
  side->has_set = rc == 0;
  return rc == 0 ? uvperf_reading_new(&side->reading) : rc;
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  record_side_t *side = handle->data;

  if (status != 0 || record->type == UVPERF_RECORD_NONE)
    return;
  if (side->born != NULL)
    record_running_born(side->born, record);
  common_buffer_add(side->records, record->bytes, record->size);
}

int record_side_start(record_side_t *side, common_buffer_t *records,
                      uvperf_error_t *error) {
  side->records = records;
  side->limit = LEAST_BYTES;
  side->set.handle.data = side;
  return uvperf_start(&side->set.handle, NULL, on_record, error);
}

int record_side_is_long(record_side_t *side) {
  if (side->records == NULL || side->records->used < side->limit)
    return 0;
  side->records->used = 0;
  return 1;
}

void record_side_allow(record_side_t *side) {
  size_t twice = 2 * side->records->used;

  side->limit = twice > LEAST_BYTES ? twice : LEAST_BYTES;
}

void record_side_stop(record_side_t *side) {
  uvperf_disable(&side->set.handle, UVPERF_ALL, NULL);
  uvperf_stop(&side->set.handle);
}
