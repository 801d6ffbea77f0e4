/* SPDX-License-Identifier: MIT */
#include "recording_read.h"

#include <poll.h>

#include "common/recording/unpack.h"

static int next(recording_t *recording, const uvperf_record_t **record) {
  struct pollfd poll_fd = {recording_fd(recording), POLLIN, 0};
  int rc;

  while ((rc = recording_next(recording, record)) == RECORDING_WAIT)
    poll(&poll_fd, 1, -1);
  return rc;
}

void recording_read(recording_read_t *read, const char *path) {
  const uvperf_record_t *record;
  recording_t *recording;
  uint64_t last = 0;

  read->nr = read->nr_inversions = 0;
  read->late = read->damaged = 0;
  memset(read->nr_of_type, 0, sizeof(read->nr_of_type));
  read->rc =
      recording_open(&recording, path, read->message, sizeof(read->message));
  if (read->rc != 0)
    return;
  while ((read->rc = next(recording, &record)) == 1) {
    assert_true(record->type < 64);
    read->nr++;
    read->nr_of_type[record->type]++;
    if ((record->present & PERF_SAMPLE_TIME) && record->time != 0) {
      read->nr_inversions += record->time < last;
      last = record->time;
    }
    if (read->cb != NULL)
      read->cb(read->arg, recording, record);
  }
  read->late = recording_late(recording);
  read->damaged = recording_damaged(recording);
  snprintf(read->message, sizeof(read->message), "%s",
           recording_message(recording));
  recording_free(recording);
}

void recording_read_well(recording_read_t *read, const char *path) {
  recording_read(read, path);
  assert_string_equal(read->message, "");
  assert_int_equal(read->rc, 0);
  assert_int_equal(read->damaged, 0);
}

int recording_read_has_zstd(void) {
  recording_unpack_t *unpack = recording_unpack_new();

  recording_unpack_free(unpack);
  return unpack != NULL;
}
