/* SPDX-License-Identifier: MIT */
/* Keeps the current processes and threads. Callers pass changes in the order of
 * time, so no older state is needed. A process lives as long as one of its
 * threads: the first thread may end before the others (kernel/exit.c,
 * delay_group_leader). Does not use records or /proc. */
#include "watch/tasks.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/memory.h"

watch_process_t *watch_tasks_find(const watch_tasks_t *tasks, uint32_t pid) {
  return common_by_id_find(&tasks->processes, pid);
}

watch_process_t *watch_tasks_add(watch_tasks_t *tasks, uint32_t pid) {
  watch_process_t *process = watch_tasks_find(tasks, pid);

  if (process != NULL)
    return process;
  process = common_by_id_get(&tasks->processes, pid, sizeof(*process));
  process->pid = pid;
  if (tasks->show_all)
    watch_tasks_show(tasks, process);
  return process;
}

void watch_tasks_end(watch_tasks_t *tasks, watch_process_t *process) {
  if (process->is_shown)
    tasks->nr_shown--;
  process->is_shown = 0;
  process->has_ended = 1;
  process->nr = 0;
}

static void free_process(void *item) {
  watch_process_t *process = item;

  free(process->threads);
  free(process);
}

void watch_tasks_remove(watch_tasks_t *tasks, watch_process_t *process) {
  watch_tasks_end(tasks, process);
  common_by_id_remove(&tasks->processes, process);
  free_process(process);
}

void watch_tasks_free(watch_tasks_t *tasks) {
  common_by_id_free(&tasks->processes, free_process);
  tasks->nr_shown = 0;
}

watch_process_t *watch_tasks_next(const watch_tasks_t *tasks,
                                  const watch_process_t *process) {
  return common_by_id_next(&tasks->processes, process);
}

void watch_tasks_show(watch_tasks_t *tasks, watch_process_t *process) {
  if (!process->is_shown)
    tasks->nr_shown++;
  process->is_shown = 1;
}

void watch_tasks_show_children(watch_tasks_t *tasks) {
  const watch_process_t *parent;
  watch_process_t *process;
  size_t before;

  /* One pass for each generation. */
  do {
    before = tasks->nr_shown;
    for (process = watch_tasks_next(tasks, NULL); process != NULL;
         process = watch_tasks_next(tasks, process)) {
      parent = watch_tasks_find(tasks, process->ppid);
      if (parent != NULL && parent->is_shown)
        watch_tasks_show(tasks, process);
    }
  } while (tasks->nr_shown != before);
}

watch_process_t *watch_tasks_fork(watch_tasks_t *tasks, uint32_t pid,
                                  uint32_t ppid, uint32_t ptid) {
  watch_process_t *process = watch_tasks_find(tasks, pid);
  watch_process_t *parent;
  int was_shown = 0;

  if (process != NULL) {
    was_shown = process->is_shown;
    watch_tasks_remove(tasks, process);
  }
  process = watch_tasks_add(tasks, pid);
  process->ppid = ppid;
  parent = watch_tasks_find(tasks, ppid);
  watch_process_thread(process, pid,
                       parent ? watch_process_comm(parent, ptid) : "");
  /* The process may already have been found in /proc, as a descendant. */
  if (was_shown || (parent != NULL && parent->is_shown))
    watch_tasks_show(tasks, process);
  return process;
}

static watch_thread_t *find_thread(const watch_process_t *process,
                                   uint32_t tid) {
  size_t i;

  for (i = 0; i < process->nr; i++) {
    if (process->threads[i].tid == tid)
      return &process->threads[i];
  }
  return NULL;
}

static void set_comm(char *comm, const char *name) {
  snprintf(comm, WATCH_COMM_BYTES, "%s", name);
}

void watch_process_thread(watch_process_t *process, uint32_t tid,
                          const char *comm) {
  watch_thread_t *thread = find_thread(process, tid);
  char name[WATCH_COMM_BYTES];

  /* comm may point to the name of another thread, which can move. */
  set_comm(name, comm);
  if (thread == NULL) {
    thread = COMMON_ADD(process->threads, process->nr, process->capacity);
    thread->tid = tid;
  }
  set_comm(thread->comm, name);
  if (tid == process->pid)
    set_comm(process->comm, name);
}

const char *watch_process_comm(const watch_process_t *process, uint32_t tid) {
  const watch_thread_t *thread = find_thread(process, tid);

  return thread != NULL ? thread->comm : process->comm;
}

size_t watch_process_end_thread(watch_process_t *process, uint32_t tid) {
  watch_thread_t *thread = find_thread(process, tid);

  if (thread != NULL)
    *thread = process->threads[--process->nr];
  return process->nr;
}

void watch_process_exec(watch_process_t *process, const char *comm) {
  process->nr = 0;
  watch_process_thread(process, process->pid, comm);
}
