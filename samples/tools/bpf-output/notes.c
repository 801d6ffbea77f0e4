/* SPDX-License-Identifier: MIT */
/* The messages, except those about the command line and the BPF program. They
 * are in one place to stay consistent. */
#include "bpf-output/notes.h"

#include <inttypes.h>
#include <string.h>

#include "bpf-output/program.h"
#include "common/say.h"

int bpf_output_notes_refused(const bpf_output_options_t *options,
                             const uvperf_error_t *error) {
  common_say("%s\n", error->reason);
  if (error->cause == UVPERF_CAUSE_LOCKED_MEMORY && options->ring_bytes != 0)
    common_say("try a smaller -m, or leave it out\n");
  return 1;
}

void bpf_output_notes_opened(const bpf_output_options_t *options,
                             const uvperf_bpf_reader_t *reader) {
  size_t nr_cpus = uvperf_nr_rings(&reader->handle);
  uvperf_ring_info_t ring;

  memset(&ring, 0, sizeof(ring));
  uvperf_ring(&reader->handle, 0, &ring);
  common_say("execs on %zu CPU%s, %" PRIu64 " KiB each%s\n", nr_cpus,
             nr_cpus == 1 ? "" : "s", ring.bytes / 1024,
             options->duration_ms == 0 ? "; Ctrl-C ends it" : "");
  if (bpf_output_program_has_other_pids())
    common_say("all pids, also for -p, belong to the initial pid namespace,\n"
               "  not to this one\n");
}

void bpf_output_notes_end(uint64_t execs, uint64_t lost, uint64_t unsound) {
  if (unsound > 0)
    common_say("%" PRIu64 " damaged records were left out\n", unsound);
  if (lost > 0)
    common_say("some execs were lost: try a larger -m, or a faster reader\n");
  common_say("%" PRIu64 " execs; %" PRIu64 " lost\n", execs, lost);
}
