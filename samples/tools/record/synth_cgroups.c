/* SPDX-License-Identifier: MIT */
/* A CGROUP record for each cgroup that already exists. */
#include "common/cgroups.h"
#include "record/synth.h"
#include "record/synth_build.h"

/* PERF_RECORD_CGROUP, which older headers lack. */
#define CGROUP 19

static int write_cgroup(void *arg, uint64_t id, const char *path) {
  common_buffer_t *build = record_synth_begin(arg, CGROUP, 0);

  record_bytes_put_u64(build, id);
  record_bytes_put_text(build, path);
  return record_synth_end(arg);
}

int record_synth_cgroups(record_synth_t *synth) {
  return common_cgroups(write_cgroup, synth);
}
