/* SPDX-License-Identifier: MIT */
/* The messages, except those about the command line. They are in one place to
 * stay consistent. */
#include "watch/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/failures.h"
#include "common/say.h"

int watch_notes_refused(const watch_options_t *options,
                        const uvperf_error_t *error) {
  common_say_error(error);
  if (error->cause == UVPERF_CAUSE_LOCKED_MEMORY && options->ring_bytes != 0)
    common_say("try a smaller -m, or leave it out\n");
  if (error->cause == UVPERF_CAUSE_PERMISSION && options->all)
    common_failures_privileges("watching all processes", "watch");
  return 1;
}

void watch_notes_opened(const watch_options_t *options,
                        const watch_events_t *events, int connector_status) {
  size_t nr_cpus = uvperf_nr_rings(&events->set.handle);
  uvperf_ring_info_t ring;

  memset(&ring, 0, sizeof(ring));
  uvperf_ring(&events->set.handle, 0, &ring);
  if (options->all)
    common_say("all processes");
  else if (options->pid != 0)
    common_say("process %d and its descendants", options->pid);
  else
    common_say("the command and its descendants");
  fprintf(stderr, ", %zu CPU%s, %" PRIu64 " KiB each%s%s\n", nr_cpus,
          nr_cpus == 1 ? "" : "s", ring.bytes / 1024,
          connector_status != 0 ? ", no exit statuses (see --help)" : "",
          options->duration_ms == 0 ? "; Ctrl-C ends it" : "");
  if (events->refused > 0)
    common_say("cannot watch %zu thread%s of another user\n", events->refused,
               events->refused == 1 ? "" : "s");
}

void watch_notes_end(const watch_options_t *options,
                     const watch_counts_t *counts) {
  if (counts->hidden > 0)
    common_say("%" PRIu64 " forks in other pid namespaces are not shown\n",
               counts->hidden);
  if (counts->late > 0)
    common_say("%" PRIu64 " lines are out of order: they came too late\n",
               counts->late);
  if (counts->unknown > 0)
    common_say("%" PRIu64
               " exits have no status, because it did not come in time\n",
               counts->unknown);
  if (counts->lost > 0)
    common_say("%s records were lost: try a larger -m, or a "
               "faster reader\n",
               options->ring_bytes != 0 ? "with this -m" : "some");
  common_say("%" PRIu64 " %s, %" PRIu64 " %s, %" PRIu64 " %s", counts->forks,
             counts->forks == 1 ? "fork" : "forks", counts->execs,
             counts->execs == 1 ? "exec" : "execs", counts->exits,
             counts->exits == 1 ? "exit" : "exits");
  if ((options->kinds & WATCH_BIT(WATCH_MMAP)) != 0)
    fprintf(stderr, ", %" PRIu64 " %s", counts->maps,
            counts->maps == 1 ? "map" : "maps");
  fprintf(stderr, "; %" PRIu64 " records lost\n", counts->lost);
}
