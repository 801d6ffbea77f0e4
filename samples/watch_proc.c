/* SPDX-License-Identifier: MIT */
/* Reads /proc/PID/task/TID/stat. Knows nothing of events or records. */
#include "watch_proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shared_memory.h"

typedef struct proc_stat_s {
  char comm[WATCH_COMM_BYTES];
  char state;
  uint32_t ppid;
} proc_stat_t;

/* "pid (comm) state ppid ...", proc(5); the name may hold anything, parentheses
 * and newlines too. */
static int read_stat(int32_t pid, int32_t tid, proc_stat_t *stat) {
  char path[64], text[512], *name, *end;
  FILE *file;
  size_t nr;

  snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
  file = fopen(path, "re");
  if (file == NULL)
    return 0;
  nr = fread(text, 1, sizeof(text) - 1, file);
  fclose(file);
  text[nr] = '\0';
  name = strchr(text, '(');
  end = strrchr(text, ')');
  if (name == NULL || end == NULL || end < name ||
      sscanf(end + 1, " %c %u", &stat->state, &stat->ppid) != 2)
    return 0;
  *end = '\0';
  snprintf(stat->comm, sizeof(stat->comm), "%s", name + 1);
  return 1;
}

/* A first thread that ended before the others stays as a zombie. */
static int is_dead(const proc_stat_t *stat) {
  return stat->state == 'Z' || stat->state == 'X';
}

int watch_proc_is_alive(watch_process_t *process) {
  shared_ids_t tids = {NULL, 0, 0};
  proc_stat_t stat;
  int alive = 0;
  size_t i;

  if (shared_threads_of(&tids, (int32_t)process->pid) == 0) {
    for (i = 0; i < tids.nr; i++) {
      if (!read_stat((int32_t)process->pid, tids.ids[i], &stat) ||
          is_dead(&stat))
        continue;
      if (!alive)
        process->nr = 0;
      alive = 1;
      watch_process_thread(process, (uint32_t)tids.ids[i], stat.comm);
    }
  }
  shared_ids_free(&tids);
  return alive;
}

static void scan_process(watch_tasks_t *tasks, int32_t pid) {
  watch_process_t *process;
  proc_stat_t stat;

  if (watch_tasks_find(tasks, (uint32_t)pid) != NULL ||
      !read_stat(pid, pid, &stat))
    return;
  process = watch_tasks_add(tasks, (uint32_t)pid);
  process->ppid = stat.ppid;
  process->verified = UINT64_MAX;
  snprintf(process->comm, sizeof(process->comm), "%s", stat.comm);
  if (!watch_proc_is_alive(process))
    watch_tasks_remove(tasks, process);
}

void watch_proc_scan(watch_tasks_t *tasks) {
  shared_ids_t pids = {NULL, 0, 0};
  size_t i;

  shared_processes(&pids);
  for (i = 0; i < pids.nr; i++)
    scan_process(tasks, pids.ids[i]);
  shared_ids_free(&pids);
}

void watch_proc_tree(shared_ids_t *processes, int32_t pid) {
  watch_tasks_t *tasks = shared_calloc(1, sizeof(*tasks));
  watch_process_t *process;

  watch_proc_scan(tasks);
  process = watch_tasks_find(tasks, (uint32_t)pid);
  if (process != NULL)
    watch_tasks_show(tasks, process);
  watch_tasks_show_children(tasks);
  for (process = watch_tasks_next(tasks, NULL); process != NULL;
       process = watch_tasks_next(tasks, process)) {
    if (process->is_shown)
      shared_ids_add(processes, (int32_t)process->pid);
  }
  watch_tasks_free(tasks);
  free(tasks);
}
