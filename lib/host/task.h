/* SPDX-License-Identifier: MIT */
/* Tasks and the threads of processes, as /proc tells under a root path
 * that tests can set ("" is the real one). No fds kept, no uv.h.
 *
 * Of an id that /proc does not have, these say -ESRCH where kill(2) knows no
 * task of it either, and -EACCES where it does: proc(5) mounted with hidepid=
 * shows no tasks of others. */
#ifndef UVPERF_LIB_HOST_TASK_H
#define UVPERF_LIB_HOST_TASK_H

#include <stddef.h>
#include <stdint.h>

/* A task: a thread, of which a process has at least one. */
typedef struct uvperf__task_s {
  int id;
  int has_ended;  /* a zombie, which is there until it is waited for */
  uint64_t start; /* since boot, in clock ticks: field 22 of its stat file */
} uvperf__task_t;

typedef struct uvperf__tasks_s {
  uvperf__task_t *tasks;
  size_t nr;
  size_t room;
} uvperf__tasks_t;

/* Whether root + /proc is there and shows the PID namespace of this process: 1,
 * 0, or -errno. In another's, the same numbers are other tasks. */
int uvperf__task_proc_is_own(const char *root);

/* Reads what /proc says of a task: 0, -ESRCH, -EACCES, or the code of the
 * reading. */
int uvperf__task_read(const char *root, int id, uvperf__task_t *task);

/* Which process a task is of: the id of that, or an error as
 * uvperf__task_read. */
int uvperf__task_process(const char *root, int id);

/* Lists the threads of a process that have not ended, by ascending ids; all
 * that were there throughout are among them. 0, and threads is to be freed by
 * uvperf__tasks_free; or an error as uvperf__task_read, or -ENOMEM. -ESRCH also
 * where all have ended. */
int uvperf__task_threads(const char *root, int process,
                         uvperf__tasks_t *threads);
void uvperf__tasks_free(uvperf__tasks_t *tasks);

/* Whether the task that had this id, and started at this time, has ended (also
 * a zombie; also if the id is another task's by now): 1, 0, or -errno where
 * that is not known: -EACCES as above, or what reading gives. Of a task whose
 * start is not known (0) it says 1 only where no task has the id; -1, which is
 * every task, never ends. Another thread than the first that calls execve(2)
 * goes on under the id of its process, de_thread of fs/exec.c: its own is
 * gone. */
int uvperf__task_is_gone(const char *root, int id, uint64_t start);

#endif
