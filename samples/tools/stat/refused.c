/* SPDX-License-Identifier: MIT */
/* A set that cannot open anything returns only one error. This file finds an
 * error for each event. */
#include "stat/refused.h"

#include <stdlib.h>
#include <string.h>

#include "common/loop.h"
#include "common/memory.h"
#include "stat/targets.h"

int stat_refused_runs(const stat_options_t *options,
                      const uvperf_error_t *error) {
  if (options->command == NULL)
    return 0;
  switch (error->cause) {
    case UVPERF_CAUSE_NO_EVENT:
    case UVPERF_CAUSE_NOT_SUPPORTED:
      return 1;
    /* Nothing is wrong with the events. */
    case UVPERF_CAUSE_ARGUMENT:
    case UVPERF_CAUSE_NO_TASK:
    case UVPERF_CAUSE_FILES:
    case UVPERF_CAUSE_LOCKED_MEMORY:
    case UVPERF_CAUSE_MEMORY:
    case UVPERF_CAUSE_LOOP:
      return 0;
    default:
      return stat_targets_is_command(options);
  }
}

/* If the event can be opened alone, the error is not changed: then another
 * event of its group is the cause. */
static void try_open(uv_loop_t *loop, const struct perf_event_attr *attr,
                     const uvperf_target_t *target, uvperf_error_t *error) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_set_t set;

  options.attrs = &attr;
  options.nr_attrs = 1;
  options.targets = target;
  options.nr_targets = 1;
  options.fallbacks = UVPERF_FALLBACK_USER;
  if (uvperf_set_init(loop, &set, &options, error) == 0)
    uvperf_close(&set.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
}

void stat_refused_find(stat_refused_t *refused,
                       const uvperf_event_list_t *events,
                       const common_target_list_t *targets,
                       const uvperf_error_t *error) {
  size_t nr_attrs = uvperf_event_list_count(events), i;
  uvperf_set_failure_t *failure;
  uv_loop_t loop;
  int has_loop = common_loop_init(&loop) == 0;

  refused->nr = targets->nr * nr_attrs;
  refused->list = common_calloc(refused->nr, sizeof(*refused->list));
  for (i = 0; i < refused->nr; i++) {
    failure = &refused->list[i];
    failure->error = *error;
    if (has_loop)
      try_open(&loop, uvperf_event_list_get(events, i % nr_attrs)->attr,
               &targets->targets[i / nr_attrs], &failure->error);
    failure->error.attr_index = (uint32_t)(i % nr_attrs);
    failure->error.target_index = (uint32_t)(i / nr_attrs);
    failure->cpu = -1;
  }
  if (has_loop)
    uv_loop_close(&loop);
}

void stat_refused_free(stat_refused_t *refused) {
  free(refused->list);
  memset(refused, 0, sizeof(*refused));
}
