/* SPDX-License-Identifier: MIT */
/* The messages, except those about the command line and the names of events.
 * They are in one place to stay consistent. */
#include "trace/notes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/failures.h"
#include "common/memory.h"
#include "common/say.h"

/* From this number of tracepoints on, opening them takes a noticeable time. */
#define MANY_TRACEPOINTS 25
/* The number of failures that are printed. */
#define MAX_FAILURES 8

void trace_notes_opening(const trace_events_t *events) {
  if (events->nr_tracepoints >= MANY_TRACEPOINTS)
    common_say("opening %zu tracepoints\n", events->nr_tracepoints);
}

static const char *label_of(const trace_events_t *events,
                            const uvperf_error_t *error, const char *other) {
  return error->attr_index < events->nr
             ? events->events[error->attr_index].label
             : other;
}

int trace_notes_refused(const trace_options_t *options,
                        const trace_events_t *events,
                        const uvperf_error_t *error) {
  const char *label = label_of(events, error, NULL);

  common_say("%s%s%s\n", label == NULL ? "" : label, label == NULL ? "" : ": ",
             error->reason);
  if (error->cause == UVPERF_CAUSE_LOCKED_MEMORY && options->ring_bytes != 0)
    common_say("try a smaller -m, or leave it out\n");
  if (error->cause != UVPERF_CAUSE_PERMISSION)
    return 1;
  if (!options->all) {
    if (options->summary)
      common_say("-s measures calls in the kernel, which needs root, "
                 "CAP_PERFMON or\n"
                 "  kernel.perf_event_paranoid <= 1; -e 'syscalls:*' needs "
                 "less\n");
    return 1;
  }
  common_say(
      "tracing whole CPUs needs root, CAP_PERFMON or\n"
      "  kernel.perf_event_paranoid < 0. If that is at most 2 and you may "
      "read\n"
      "  tracefs, you can trace without privileges:\n"
      "    uvperf-trace -e 'syscalls:*' -- command...   a command of your own\n"
      "    uvperf-trace -e 'syscalls:*' -p PID          a process of your own\n"
      "  Try 'uvperf-trace --help'.\n");
  return 1;
}

/* Names the event, because a pattern may stand for several. */
int trace_notes_filter(const trace_events_t *events,
                       const uvperf_error_t *error) {
  common_say("%s: %s\n", label_of(events, error, "--filter"), error->reason);
  return error->cause == UVPERF_CAUSE_ARGUMENT ? COMMON_EXIT_USAGE : 1;
}

/* Prints each event once. If events share a reason, prints the reason once. */
static void print_failures(const trace_events_t *events,
                           const uvperf_set_t *set) {
  char *is_printed = common_calloc(events->nr + 1, 1);
  const uvperf_set_failure_t *list;
  const char *last = "";
  size_t nr, i, attr, printed = 0;

  list = uvperf_set_failures(set, &nr);
  for (i = 0; i < nr; i++) {
    attr = list[i].error.attr_index;
    if (attr >= events->nr || is_printed[attr] ||
        list[i].error.cause == UVPERF_CAUSE_NO_TASK)
      continue;
    is_printed[attr] = 1;
    if (strcmp(last, list[i].error.reason) == 0)
      continue;
    last = list[i].error.reason;
    if (printed++ < MAX_FAILURES)
      common_say("%s: %s\n", events->events[attr].label, last);
  }
  if (printed > MAX_FAILURES)
    common_say("%zu more events are not traced everywhere\n",
               printed - MAX_FAILURES);
  free(is_printed);
}

void trace_notes_opened(const trace_options_t *options,
                        const trace_events_t *events, const uvperf_set_t *set) {
  size_t nr_cpus = uvperf_nr_rings(&set->handle);
  uvperf_ring_info_t ring;

  print_failures(events, set);
  common_failures_left_out(&options->pids);
  common_failures_children(set);
  memset(&ring, 0, sizeof(ring));
  uvperf_ring(&set->handle, 0, &ring);
  common_say("%zu event%s, ", events->nr, events->nr == 1 ? "" : "s");
  if (options->pids.nr > 0)
    fprintf(stderr, "%zu process%s", options->pids.nr,
            options->pids.nr == 1 ? "" : "es");
  else if (options->tids.nr > 0)
    fprintf(stderr, "%zu thread%s", options->tids.nr,
            options->tids.nr == 1 ? "" : "s");
  else
    fputs(options->all ? "all processes" : "the command", stderr);
  fprintf(stderr, ", %zu CPU%s, %" PRIu64 " KiB each%s\n", nr_cpus,
          nr_cpus == 1 ? "" : "s", ring.bytes / 1024,
          options->duration_ms == 0 ? "; Ctrl-C ends it" : "");
}

void trace_notes_end(const trace_options_t *options, const trace_sums_t *sums) {
  double seconds = (double)sums->elapsed_ns / 1e9;

  if (sums->late > 0)
    common_say("%" PRIu64 " lines are out of order: they came too late\n",
               sums->late);
  if (sums->corrupt > 0)
    common_say("%" PRIu64 " damaged records were left out\n", sums->corrupt);
  if (sums->outsiders > 0)
    common_say("%" PRIu64 " records of tasks in other pid namespaces are not "
               "in the tables\n",
               sums->outsiders);
  if (sums->lost > 0 && options->input != NULL)
    common_say("records were lost during the recording\n");
  else if (sums->lost > 0 && options->summary)
    common_say("records were lost, so the numbers of calls are too low: try "
               "a larger -m\n");
  else if (sums->lost > 0)
    common_say("%s hits were lost: try a larger -m, a --filter, or a "
               "faster reader\n",
               options->ring_bytes != 0 ? "with this -m" : "some");
  common_say("%" PRIu64 " %s%s in %.1f s, %.0f/s, %" PRIu64 " lost\n",
             sums->hits, options->summary ? "call" : "hit",
             sums->hits == 1 ? "" : "s", seconds,
             seconds > 0 ? (double)sums->hits / seconds : 0.0, sums->lost);
}
