/* SPDX-License-Identifier: MIT */
/* The messages, except those about the command line. They are in one place to
 * stay consistent. */
#include "flight-recorder/notes.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "common/failures.h"
#include "common/output.h"
#include "common/say.h"

int flight_notes_refused(const flight_options_t *options,
                         const uvperf_error_t *error) {
  common_say("%s\n", error->reason);
  if (error->cause == UVPERF_CAUSE_LOCKED_MEMORY && options->ring_bytes != 0)
    common_say("try a smaller -m, or leave it out\n");
  if (error->cause != UVPERF_CAUSE_PERMISSION || options->command != NULL)
    return 1;
  common_say(
      "recording the machine needs root, CAP_PERFMON or\n"
      "  kernel.perf_event_paranoid <= 0. If that is at most 2, you can "
      "record\n"
      "  without privileges:\n"
      "    uvperf-flight-recorder -- command...   the tasks of the command\n"
      "  Try 'uvperf-flight-recorder --help'.\n");
  return 1;
}

/* Scripts may wait for the last line before they send a signal. */
void flight_notes_opened(const flight_options_t *options,
                         const flight_sets_t *sets) {
  size_t nr_cpus = uvperf_nr_rings(&sets->switches.handle);
  uvperf_ring_info_t ring;

  common_failures_all(&sets->switches);
  common_failures_all(&sets->names);
  memset(&ring, 0, sizeof(ring));
  uvperf_ring(&sets->switches.handle, 0, &ring);
  common_say("%s, %zu CPU%s, %" PRIu64 " KiB each%s\n",
             sets->of_command ? "the command and its descendants" : "all tasks",
             nr_cpus, nr_cpus == 1 ? "" : "s", ring.bytes / 1024,
             options->duration_ms == 0 ? "; Ctrl-C ends it" : "");
  common_say("recording: kill -USR1 %d dumps\n", getpid());
}

void flight_notes_dump(const flight_sums_t *sums) {
  if (!common_output_is_ready(STDERR_FILENO))
    return;
  common_say("dump %" PRIu64 ": %" PRIu64 " switch%s, all CPUs "
             "for %.3f s, %" PRIu64 " lost\n",
             sums->dump, sums->switches, sums->switches == 1 ? "" : "es",
             (double)(sums->time - sums->from) / 1e9, sums->lost);
}

void flight_notes_failed(int status) {
  common_say("cannot take a dump: %s\n", uv_strerror(status));
}

void flight_notes_end(const flight_sums_t *sums, uint64_t names_lost) {
  if (names_lost > 0)
    common_say("%" PRIu64 " records of names were lost: some "
               "names are ? or old ones\n",
               names_lost);
  common_say("%" PRIu64 " dump%s\n", sums->dump, sums->dump == 1 ? "" : "s");
}
