/* SPDX-License-Identifier: MIT */
/* A CGROUP record for each cgroup that already exists. */
#include "common/cgroups.h"
#include "record/synth.h"
#include "record/synth_build.h"

/* PERF_RECORD_CGROUP, which older headers lack. */
#define CGROUP 19

typedef struct writer_s {
  const record_synth_t *synth;
  common_buffer_t build;
} writer_t;

static int write_cgroup(void *arg, uint64_t id, const char *path) {
  writer_t *writer = arg;

  record_synth_begin(&writer->build, CGROUP, 0);
  record_bytes_put_u64(&writer->build, id);
  record_bytes_put_text(&writer->build, path);
  return record_synth_end(writer->synth, &writer->build);
}

int record_synth_cgroups(record_synth_t *synth) {
  writer_t writer = {.synth = synth};
  int rc = common_cgroups(write_cgroup, &writer);

  common_buffer_free(&writer.build);
  return rc;
}
