/* SPDX-License-Identifier: MIT */
/* The messages of stat. They are in one place to stay consistent. They go to
 * stderr, even if the table goes to another file. */
#include "stat/messages.h"

#include <inttypes.h>

#include "common/failures.h"
#include "common/say.h"
#include "common/text.h"

int stat_messages_refused(const stat_options_t *options,
                          const uvperf_error_t *error) {
  common_say_error(error);
  if (error->cause == UVPERF_CAUSE_PERMISSION &&
      (options->all || options->cgroups.nr > 0))
    common_failures_privileges("counting on whole CPUs or in cgroups", "count");
  return 1;
}

void stat_messages_opened(const stat_options_t *options,
                          const uvperf_set_t *set,
                          const stat_refused_t *refused) {
  size_t i;

  if (!options->no_inherit && options->separator == NULL && !options->json)
    common_failures_left_out(&options->pids);
  if (options->verbose) {
    for (i = 0; i < refused->nr; i++)
      common_say_error(&refused->list[i].error);
    common_failures_all(set);
    return;
  }
  /* With -a --per-thread, some processes always end while their events are
   * opened. */
  if (!options->all || options->by != STAT_BY_THREAD)
    common_failures_missing(set, &options->pids, &options->tids);
  common_failures_children(set);
}

void stat_messages_counting(const stat_options_t *options,
                            const uvperf_set_t *set) {
  size_t nr = uvperf_set_nr_open(set);

  if (options->verbose)
    common_say("counting with %zu fd%s\n", nr, nr == 1 ? "" : "s");
}

void stat_messages_events(const uvperf_set_t *set) {
  size_t nr = uvperf_set_nr_attrs(set), i;
  const uvperf_event_item_t *item;
  char label[256];

  for (i = 0; i < nr; i++) {
    item = uvperf_set_item(set, i);
    if (item->first != i)
      continue;
    common_text_clean(label, sizeof(label), item->label);
    fprintf(stderr, "%s\n", label);
  }
}

void stat_messages_too_short(const stat_options_t *options) {
  if (options->delay.nr == 0)
    common_say("nothing was counted: --control received no 'enable'\n");
  else
    common_say("nothing was counted: the run ended within the %" PRIu64
               " ms of -D; choose a shorter delay\n",
               options->delay.times[0]);
}

void stat_messages_run(const stat_options_t *options, uint64_t run) {
  if (!options->verbose || options->nr_runs == 1)
    return;
  common_say("run %" PRIu64, run + 1);
  if (options->nr_runs > 1)
    fprintf(stderr, " of %" PRIu32, options->nr_runs);
  fputc('\n', stderr);
}

void stat_messages_fewer_runs(const stat_options_t *options, uint32_t runs) {
  if (runs < options->nr_runs)
    common_say("interrupted: %" PRIu32 " of %" PRIu32 " runs are counted\n",
               runs, options->nr_runs);
}
