/* SPDX-License-Identifier: MIT */
/* A CGROUP record for each cgroup that already exists. */
#include <stdlib.h>

#include "common/cgroups.h"
#include "common/memory.h"
#include "record/synth.h"
#include "record/synth_build.h"

/* PERF_RECORD_CGROUP, which older headers lack. */
#define CGROUP 19

typedef struct writer_s {
  const record_synth_t *synth;
  record_synth_build_t build;
} writer_t;

static int write_cgroup(void *arg, uint64_t id, const char *path) {
  writer_t *writer = arg;

  record_synth_begin(&writer->build, CGROUP, 0);
  record_synth_put_u64(&writer->build, id);
  record_synth_put_text(&writer->build, path);
  return record_synth_end(writer->synth, &writer->build);
}

int record_synth_cgroups(record_synth_t *synth) {
  writer_t *writer = common_calloc(1, sizeof(*writer));
  int rc;

  writer->synth = synth;
  rc = common_cgroups(write_cgroup, writer);
  free(writer);
  return rc;
}
