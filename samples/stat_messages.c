/* SPDX-License-Identifier: MIT */
/* The messages of stat, in one place so that they stay alike. They go to
 * stderr, whatever the table does. */
#include "stat_messages.h"

#include <inttypes.h>

#include "shared_text.h"

/* How many targets that are not there are told. */
#define MAX_TARGETS 8

static int is_of_cpus(const stat_options_t *options) {
  return options->all || options->nr_cgroups > 0;
}

int stat_messages_refused(const stat_options_t *options,
                          const uvperf_error_t *error) {
  fprintf(stderr, "stat: %s\n", error->reason);
  if (error->cause != UVPERF_CAUSE_PERMISSION || !is_of_cpus(options))
    return 1;
  fputs(
      "stat: to count on whole CPUs be root, have CAP_PERFMON or set\n"
      "  kernel.perf_event_paranoid to 0 or less. Up to paranoid 2 this works\n"
      "  without privileges:\n"
      "    stat -- command...   a command of your own\n"
      "    stat -p PID          a process of your own\n"
      "  Try 'stat --help'.\n",
      stderr);
  return options->all_by_default ? SHARED_EXIT_USAGE : 1;
}

/* What the user has named is not there, and not only one of its threads. */
static int is_of_target(const stat_options_t *options,
                        const uvperf_set_failure_t *failure) {
  if (failure->pid < 0)
    return failure->cpu < 0;
  return failure->error.cause == UVPERF_CAUSE_NO_TASK &&
         (shared_ids_has(&options->pids, failure->pid) ||
          shared_ids_has(&options->tids, failure->pid));
}

/* The failures of one target are the same for each event. */
static void tell_missing_targets(const stat_options_t *options,
                                 const uvperf_set_failure_t *list, size_t nr) {
  uint32_t last = UINT32_MAX;
  size_t told = 0, i;

  for (i = 0; i < nr; i++) {
    if (!is_of_target(options, &list[i]) || list[i].error.target_index == last)
      continue;
    last = list[i].error.target_index;
    if (told++ < MAX_TARGETS)
      fprintf(stderr, "stat: %s\n", list[i].error.reason);
  }
  if (told > MAX_TARGETS)
    fprintf(stderr, "stat: and %zu more targets are not there\n",
            told - MAX_TARGETS);
}

static void tell_of_event(const uvperf_set_t *set, size_t attr,
                          const char *text) {
  char label[256];

  shared_text_clean(label, sizeof(label), uvperf_set_item(set, attr)->label);
  fprintf(stderr, "stat: %s: %s\n", label, text);
}

static void tell_changes(const uvperf_set_t *set, size_t attr) {
  const uvperf_change_t *changes;
  size_t nr, i, size;
  char text[128];

  changes = uvperf_set_changes(set, attr, &nr);
  for (i = 0; i < nr; i++) {
    size = sizeof(text);
    if (uvperf_change_describe(&changes[i], text, &size) == 0)
      tell_of_event(set, attr, text);
  }
}

void stat_messages_opened(const stat_options_t *options,
                          const uvperf_set_t *set) {
  const uvperf_set_failure_t *list;
  size_t nr, i;

  list = uvperf_set_failures(set, &nr);
  if (!options->verbose) {
    tell_missing_targets(options, list, nr);
    return;
  }
  for (i = 0; i < nr; i++)
    tell_of_event(set, list[i].error.attr_index, list[i].error.reason);
  for (i = 0; i < uvperf_set_nr_attrs(set); i++)
    tell_changes(set, i);
}

void stat_messages_counting(const stat_options_t *options,
                            const uvperf_set_t *set) {
  size_t nr = uvperf_set_nr_open(set);

  if (options->verbose)
    fprintf(stderr, "stat: counting, by %zu fd%s\n", nr, nr == 1 ? "" : "s");
}

void stat_messages_run(const stat_options_t *options, uint64_t run) {
  if (!options->verbose || options->nr_runs == 1)
    return;
  fprintf(stderr, "stat: run %" PRIu64, run + 1);
  if (options->nr_runs > 1)
    fprintf(stderr, " of %" PRIu32, options->nr_runs);
  fputc('\n', stderr);
}

void stat_messages_fewer_runs(const stat_options_t *options, uint32_t runs) {
  if (runs < options->nr_runs)
    fprintf(stderr,
            "stat: interrupted: %" PRIu32 " of %" PRIu32 " runs are counted\n",
            runs, options->nr_runs);
}
