/* SPDX-License-Identifier: MIT */
/* The processes that are alive at one point in time: their names, their
 * threads, and which of them are shown. */
#ifndef WATCH_TASKS_H
#define WATCH_TASKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/by_id.h"

/* The kernel's names have at most 16 bytes, but /proc shows up to 64 for kernel
 * threads. */
#define WATCH_COMM_BYTES 64

typedef struct watch_thread_s {
  uint32_t tid;
  char comm[WATCH_COMM_BYTES];
} watch_thread_t;

typedef struct watch_process_s {
  common_item_t item; /* its id is the pid */
  uint32_t pid;
  uint32_t ppid;     /* 0 if it is not known */
  int is_shown;      /* its events are printed */
  int has_ended;     /* its end was printed; do not print it again */
  int is_missing;    /* the last sweep did not find it in /proc */
  uint64_t verified; /* the number of lost records when its threads were last
                        known for certain; UINT64_MAX: never known */
  watch_thread_t *threads; /* that are alive */
  size_t nr;
  size_t capacity;
  char comm[WATCH_COMM_BYTES];
  void *exec; /* of the timeline: an exec whose executable is not known yet */
} watch_process_t;

typedef struct watch_tasks_s {
  common_by_id_t processes;
  int show_all;    /* every process is shown */
  size_t nr_shown; /* shown processes */
} watch_tasks_t;

void watch_tasks_free(watch_tasks_t *tasks);

/* Returns a process, or NULL. */
watch_process_t *watch_tasks_find(const watch_tasks_t *tasks, uint32_t pid);

/* Returns a process. If the process was not known, adds it without threads. */
watch_process_t *watch_tasks_add(watch_tasks_t *tasks, uint32_t pid);

/* Adds a new process with one thread. The process has the name of the thread
 * that forked it, and is shown if its parent is shown. An earlier process with
 * this id is removed. */
watch_process_t *watch_tasks_fork(watch_tasks_t *tasks, uint32_t pid,
                                  uint32_t ppid, uint32_t ptid);

/* Shows the process from now on. */
void watch_tasks_show(watch_tasks_t *tasks, watch_process_t *process);

/* Shows all descendants of shown processes from now on. */
void watch_tasks_show_children(watch_tasks_t *tasks);

void watch_tasks_remove(watch_tasks_t *tasks, watch_process_t *process);

/* Marks the process as ended, but keeps it. */
void watch_tasks_end(watch_tasks_t *tasks, watch_process_t *process);

/* Returns the next process, in no particular order. Pass NULL to get the first
 * process. Returns NULL after the last process. */
watch_process_t *watch_tasks_next(const watch_tasks_t *tasks,
                                  const watch_process_t *process);

/* Adds a thread, or renames it. The first thread's name is also the process's
 * name. */
void watch_process_thread(watch_process_t *process, uint32_t tid,
                          const char *comm);

/* Returns the name of a thread, or of the process if the thread is not
 * known. */
const char *watch_process_comm(const watch_process_t *process, uint32_t tid);

/* Removes a thread, if it is known. Returns the number of threads left. */
size_t watch_process_end_thread(watch_process_t *process, uint32_t tid);

/* Call it after an exec. Keeps one thread, with the process's id. */
void watch_process_exec(watch_process_t *process, const char *comm);

#endif
