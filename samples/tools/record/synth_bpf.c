/* SPDX-License-Identifier: MIT */
/* Records of BPF programs, after perf_event__synthesize_one_bpf_prog of
 * tools/perf/util/bpf-event.c. */
#include "common/bpf_programs.h"
#include "record/synth.h"
#include "record/synth_build.h"

static int write_function(void *arg, const common_bpf_function_t *function) {
  common_buffer_t *build =
      record_synth_begin(arg, PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL);
  int rc;

  record_bytes_put_u64(build, function->addr);
  record_bytes_put_u32(build, function->len);
  record_bytes_put_u16(build, PERF_RECORD_KSYMBOL_TYPE_BPF);
  record_bytes_put_u16(build, 0);
  record_bytes_put_text(build, function->name);
  rc = record_synth_end(arg);
  if (rc != 0 || !function->is_last)
    return rc;
  record_synth_begin(arg, PERF_RECORD_BPF_EVENT, PERF_RECORD_MISC_KERNEL);
  record_bytes_put_u16(build, PERF_BPF_EVENT_PROG_LOAD);
  record_bytes_put_u16(build, 0);
  record_bytes_put_u32(build, function->id);
  common_buffer_add(build, function->tag, sizeof(function->tag));
  return record_synth_end(arg);
}

int record_synth_bpf(record_synth_t *synth) {
  return common_bpf_walk(write_function, synth);
}
