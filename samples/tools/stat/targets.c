/* SPDX-License-Identifier: MIT */
/* Turns options into targets, and into the title of a table. Opens nothing. */
#include "stat/targets.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/memory.h"
#include "common/targets.h"

int stat_targets_is_command(const stat_options_t *options) {
  return !options->all && options->pids.nr == 0 && options->tids.nr == 0 &&
         options->cgroups.nr == 0;
}

void stat_targets_make(common_target_list_t *targets,
                       const stat_options_t *options, pid_t command,
                       int from_exec) {
  uint32_t flags = options->no_inherit ? UVPERF_TARGET_NO_INHERIT : 0;
  common_ids_t pids = {NULL, 0, 0};
  uvperf_target_t *target;

  memset(targets, 0, sizeof(*targets));
  common_target_list_add_ids(targets, &options->pids, UVPERF_TARGET_PROCESS,
                             flags);
  common_target_list_add_ids(targets, &options->tids, UVPERF_TARGET_THREAD, 0);
  common_target_list_add_cgroups(targets, &options->cgroups, options->cpus);
  if (options->all && options->by == STAT_BY_THREAD) {
    /* The count of a CPU does not show what each thread counted. */
    common_processes(&pids);
    common_target_list_add_ids(targets, &pids, UVPERF_TARGET_PROCESS, flags);
    common_ids_free(&pids);
  } else if (options->all) {
    target = common_target_list_add(targets, UVPERF_TARGET_CPUS);
    target->cpus = options->cpus;
  } else if (stat_targets_is_command(options)) {
    /* The kernel begins to count a command at its exec. */
    target = common_target_list_add(targets, from_exec ? UVPERF_TARGET_COMMAND
                                                       : UVPERF_TARGET_PROCESS);
    target->pid = command;
    target->flags = flags;
  }
}

static void put_ids(FILE *file, const char *what, const common_ids_t *ids) {
  size_t i;

  fprintf(file, "%s id '", what);
  for (i = 0; i < ids->nr; i++)
    fprintf(file, "%s%d", i == 0 ? "" : ",", ids->ids[i]);
}

static void put_words(FILE *file, const char *before, char *const *words,
                      size_t nr, const char *between) {
  size_t i;

  fputs(before, file);
  for (i = 0; i < nr && words[i] != NULL; i++)
    fprintf(file, "%s%s", i == 0 ? "" : between, words[i]);
}

static void put_title(FILE *file, const stat_options_t *options) {
  if (options->pids.nr > 0)
    put_ids(file, "process", &options->pids);
  else if (options->tids.nr > 0)
    put_ids(file, "thread", &options->tids);
  else if (options->cgroups.nr > 0)
    put_words(file, "cgroup '", options->cgroups.texts, options->cgroups.nr,
              ",");
  else if (options->cpus != NULL)
    fprintf(file, "'CPU(s) %s", options->cpus);
  else if (options->all)
    fputs("'system wide", file);
  else
    put_words(file, "'", options->command, SIZE_MAX, " ");
  fputc('\'', file);
}

char *stat_targets_title(const stat_options_t *options) {
  char *title = NULL;
  size_t size = 0;
  FILE *file = common_memory_open(&title, &size);

  put_title(file, options);
  common_memory_close(file);
  return title;
}
