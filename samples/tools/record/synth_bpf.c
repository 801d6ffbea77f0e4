/* SPDX-License-Identifier: MIT */
/* Records of BPF programs, after perf_event__synthesize_one_bpf_prog of
 * tools/perf/util/bpf-event.c. */
#include <stdlib.h>

#include "common/bpf_programs.h"
#include "common/memory.h"
#include "record/synth.h"
#include "record/synth_build.h"

typedef struct writer_s {
  const record_synth_t *synth;
  record_synth_build_t *build;
} writer_t;

static void put_u16(record_synth_build_t *build, uint16_t value) {
  record_synth_put(build, &value, sizeof(value));
}

static int write_function(void *arg, const common_bpf_function_t *function) {
  writer_t *writer = arg;
  record_synth_build_t *build = writer->build;
  int rc;

  record_synth_begin(build, PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL);
  record_synth_put_u64(build, function->addr);
  record_synth_put_u32(build, function->len);
  put_u16(build, PERF_RECORD_KSYMBOL_TYPE_BPF);
  put_u16(build, 0);
  record_synth_put_text(build, function->name);
  rc = record_synth_end(writer->synth, build);
  if (rc != 0 || !function->is_last)
    return rc;
  record_synth_begin(build, PERF_RECORD_BPF_EVENT, PERF_RECORD_MISC_KERNEL);
  put_u16(build, PERF_BPF_EVENT_PROG_LOAD);
  put_u16(build, 0);
  record_synth_put_u32(build, function->id);
  record_synth_put(build, function->tag, sizeof(function->tag));
  return record_synth_end(writer->synth, build);
}

int record_synth_bpf(record_synth_t *synth) {
  writer_t writer = {.synth = synth, .build = NULL};
  int rc;

  writer.build = common_calloc(1, sizeof(*writer.build));
  rc = common_bpf_walk(write_function, &writer);
  free(writer.build);
  return rc;
}
