/* SPDX-License-Identifier: MIT */
#include "watch/proc.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/memory.h"
#include "common/proc.h"

/* If the first thread ends before the others, it stays as a zombie. */
int watch_proc_is_alive(watch_process_t *process) {
  common_ids_t tids = {NULL, 0, 0};
  common_proc_stat_t stat;
  int alive = 0;
  size_t i;

  if (common_threads_of(&tids, (int32_t)process->pid) == 0) {
    for (i = 0; i < tids.nr; i++) {
      if (common_proc_stat((int32_t)process->pid, tids.ids[i], &stat) != 0 ||
          stat.state == 'Z' || stat.state == 'X')
        continue;
      if (!alive)
        process->nr = 0;
      alive = 1;
      watch_process_thread(process, (uint32_t)tids.ids[i], stat.comm);
    }
  }
  common_ids_free(&tids);
  return alive;
}

static void scan_process(watch_tasks_t *tasks, int32_t pid) {
  watch_process_t *process;
  common_proc_stat_t stat;

  if (watch_tasks_find(tasks, (uint32_t)pid) != NULL ||
      common_proc_stat(pid, pid, &stat) != 0)
    return;
  process = watch_tasks_add(tasks, (uint32_t)pid);
  process->ppid = stat.ppid;
  process->verified = UINT64_MAX;
  snprintf(process->comm, sizeof(process->comm), "%s", stat.comm);
  if (!watch_proc_is_alive(process))
    watch_tasks_remove(tasks, process);
}

void watch_proc_scan(watch_tasks_t *tasks) {
  common_ids_t pids = {NULL, 0, 0};
  size_t i;

  common_processes(&pids);
  for (i = 0; i < pids.nr; i++)
    scan_process(tasks, pids.ids[i]);
  common_ids_free(&pids);
}

void watch_proc_tree(common_ids_t *processes, int32_t pid) {
  watch_tasks_t *tasks = common_calloc(1, sizeof(*tasks));
  watch_process_t *process;

  watch_proc_scan(tasks);
  process = watch_tasks_find(tasks, (uint32_t)pid);
  if (process != NULL)
    watch_tasks_show(tasks, process);
  watch_tasks_show_children(tasks);
  for (process = watch_tasks_next(tasks, NULL); process != NULL;
       process = watch_tasks_next(tasks, process)) {
    if (process->is_shown)
      common_ids_add(processes, (int32_t)process->pid);
  }
  watch_tasks_free(tasks);
  free(tasks);
}
