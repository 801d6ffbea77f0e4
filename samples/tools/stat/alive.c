/* SPDX-License-Identifier: MIT */
/* Checks in /proc whether the counted tasks are alive. Reading one file per
 * task from time to time costs less than reading all of their events. */
#include "stat/alive.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/proc.h"

/* Returns 1 and the start time, 0 if the task has ended, or -1 if /proc does
 * not show whether it has. */
static int read_task(int32_t id, int is_process, uint64_t *start) {
  common_proc_stat_t stat;

  if (common_proc_stat(id, id, &stat) != 0)
    return -1;
  *start = stat.start;
  if (stat.state != 'Z' && stat.state != 'X')
    return 1;
  /* If the first thread ends before the others, it stays as a zombie. */
  return is_process && stat.nr_threads > 1;
}

/* If /proc is hidden (hidepid), kill(2) still says whether a task has this id,
 * but not whether it is the same task. */
static int is_alive(const stat_task_t *task) {
  uint64_t start;
  int rc = read_task(task->id, task->is_process, &start);

  if (rc > 0)
    return task->start == 0 || start == task->start;
  return rc < 0 && (kill(task->id, 0) == 0 || errno != ESRCH);
}

static void add(stat_alive_t *alive, int32_t id, int is_process) {
  stat_task_t *task = &alive->tasks[alive->nr];

  task->id = id;
  task->is_process = is_process;
  if (read_task(id, is_process, &task->start) <= 0)
    task->start = 0;
  alive->nr += (size_t)is_alive(task);
}

void stat_alive_begin(stat_alive_t *alive, const stat_options_t *options) {
  size_t i;

  alive->tasks = common_calloc(options->pids.nr + options->tids.nr + 1,
                               sizeof(*alive->tasks));
  alive->nr = 0;
  for (i = 0; i < options->pids.nr; i++)
    add(alive, options->pids.ids[i], 1);
  for (i = 0; i < options->tids.nr; i++)
    add(alive, options->tids.ids[i], 0);
}

int stat_alive_any(const stat_alive_t *alive) {
  size_t i;

  for (i = 0; i < alive->nr; i++) {
    if (is_alive(&alive->tasks[i]))
      return 1;
  }
  return 0;
}

void stat_alive_end(stat_alive_t *alive) {
  free(alive->tasks);
  memset(alive, 0, sizeof(*alive));
}
