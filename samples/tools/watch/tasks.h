/* SPDX-License-Identifier: MIT */
/* The processes that live at one point in time: their names, their threads, and
 * which of them belong to the story. */
#ifndef WATCH_TASKS_H
#define WATCH_TASKS_H

#include <stddef.h>
#include <stdint.h>

/* The kernel's names have at most 16 bytes, those that /proc shows of kernel
 * threads 64. */
#define WATCH_COMM_BYTES 64

typedef struct watch_thread_s {
  uint32_t tid;
  char comm[WATCH_COMM_BYTES];
} watch_thread_t;

typedef struct watch_process_s {
  uint32_t pid;
  uint32_t ppid;     /* 0 if it is not known */
  int is_shown;      /* it belongs to the story */
  int is_over;       /* its end was told, and is not to be told again */
  int is_missing;    /* the last sweep did not find it in /proc */
  uint64_t verified; /* how many records were lost when its threads were last
                        known for sure; UINT64_MAX if they never were */
  watch_thread_t *threads; /* those that live */
  size_t nr;
  size_t capacity;
  char comm[WATCH_COMM_BYTES];
  void *exec; /* the story's: an exec whose executable is not known yet */
  struct watch_process_s *next;
} watch_process_t;

#define WATCH_TASK_BUCKETS 4096

typedef struct watch_tasks_s {
  watch_process_t *buckets[WATCH_TASK_BUCKETS];
  int show_all;    /* every process belongs to the story */
  size_t nr_shown; /* processes that do */
} watch_tasks_t;

void watch_tasks_free(watch_tasks_t *tasks);

/* A process, or NULL. */
watch_process_t *watch_tasks_find(const watch_tasks_t *tasks, uint32_t pid);

/* The same; it is added, without threads, if it was not known. */
watch_process_t *watch_tasks_add(watch_tasks_t *tasks, uint32_t pid);

/* A new process with one thread: named as the thread that forked it, and shown
 * if its parent is. Whatever had its id before is forgotten. */
watch_process_t *watch_tasks_fork(watch_tasks_t *tasks, uint32_t pid,
                                  uint32_t ppid, uint32_t ptid);

/* The process becomes part of the story. */
void watch_tasks_show(watch_tasks_t *tasks, watch_process_t *process);

/* All descendants of shown processes become part of the story. */
void watch_tasks_show_children(watch_tasks_t *tasks);

void watch_tasks_remove(watch_tasks_t *tasks, watch_process_t *process);

/* The process is over, but stays known. */
void watch_tasks_end(watch_tasks_t *tasks, watch_process_t *process);

/* A process after another, in no order; NULL first and last. */
watch_process_t *watch_tasks_next(const watch_tasks_t *tasks,
                                  const watch_process_t *process);

/* Adds a thread, or names one that is there; the first thread's name is that of
 * the process. */
void watch_process_thread(watch_process_t *process, uint32_t tid,
                          const char *comm);

/* What a thread is called; the process's name if it is not known. */
const char *watch_process_comm(const watch_process_t *process, uint32_t tid);

/* Takes away a thread, if it is there: how many are left. */
size_t watch_process_end_thread(watch_process_t *process, uint32_t tid);

/* An exec leaves one thread, with the process's id. */
void watch_process_exec(watch_process_t *process, const char *comm);

#endif
