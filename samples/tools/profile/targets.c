/* SPDX-License-Identifier: MIT */
#include "profile/targets.h"

#include <string.h>

/* Tasks that run do not inherit events, so each process of a tree is a target.
 * A child that is started between this and the opening of its parent's events
 * is missed. */
static int find_processes(profile_targets_t *targets,
                          profile_options_t *options) {
  size_t i;

  for (i = 0; i < options->pids.nr; i++) {
    if (common_process_asked(&options->pids.ids[i]) != 0)
      return 1;
  }
  common_tree_of(&targets->processes, &options->pids);
  return 0;
}

static int find_threads(profile_targets_t *targets,
                        const profile_options_t *options) {
  size_t i;
  int32_t id;

  for (i = 0; i < options->tids.nr; i++) {
    id = options->tids.ids[i];
    if (common_process_asked(&id) != 0)
      return 1;
    if (!common_ids_has(&targets->processes, id))
      common_ids_add(&targets->processes, id);
  }
  return 0;
}

int profile_targets_find(profile_targets_t *targets, profile_options_t *options,
                         int32_t command) {
  memset(targets, 0, sizeof(*targets));
  if (profile_options_is_command(options))
    common_ids_add(&targets->processes, command);
  if (find_processes(targets, options) != 0)
    return 1;
  return find_threads(targets, options);
}

void profile_targets_list(const profile_targets_t *targets,
                          const profile_options_t *options, int32_t command,
                          common_target_list_t *list) {
  memset(list, 0, sizeof(*list));
  if (options->all)
    common_target_list_add(list, UVPERF_TARGET_CPUS)->cpus = options->cpus;
  else if (profile_options_is_command(options))
    common_target_list_add(list, UVPERF_TARGET_COMMAND)->pid = command;
  else if (options->pids.nr > 0)
    common_target_list_add_ids(list, &targets->processes, UVPERF_TARGET_PROCESS,
                               0);
  else
    common_target_list_add_ids(list, &options->tids, UVPERF_TARGET_THREAD, 0);
  common_target_list_add_cgroups(list, &options->cgroups, options->cpus);
}
