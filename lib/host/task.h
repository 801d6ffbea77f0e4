/* SPDX-License-Identifier: MIT */
/* Tasks and the threads of processes, from /proc. Keeps no fds and does not
 * include uv.h.
 *
 * If /proc does not have an id, these functions ask tkill(2). They return
 * -ESRCH if tkill(2) finds no task either. If tkill(2) finds a task, they
 * return -EACCES: /proc that is mounted with hidepid= shows no tasks of other
 * users. They return -EPERM if a seccomp filter or a security module forbids
 * reading /proc. */
#ifndef UVPERF_LIB_HOST_TASK_H
#define UVPERF_LIB_HOST_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/error.h"

/* A task, which is a thread. A process has at least one. */
typedef struct uvperf__task_s {
  int id;
  int has_ended;  /* a zombie, which exists until it is waited for */
  uint64_t start; /* since boot, in clock ticks: field 22 of its stat file */
} uvperf__task_t;

typedef struct uvperf__tasks_s {
  uvperf__task_t *tasks;
  size_t nr;
  size_t room;
} uvperf__tasks_t;

/* Whether /proc exists and shows the PID namespace of this process. In
 * another namespace the same numbers mean other tasks. Returns 1, 0 or
 * -errno, and -EPERM as above. */
int uvperf__task_proc_is_own(void);

/* Reads a task from /proc. Returns 0, -ESRCH, -EACCES, -EPERM, or the code of
 * the read. */
int uvperf__task_read(int id, uvperf__task_t *task);

/* The start of a task that had ended already. No task has this start. */
#define UVPERF__TASK_ENDED UINT64_MAX

/* Reads the start of the task that has this id now, for uvperf__task_check:
 * UVPERF__TASK_ENDED if no task has the id, or 0 if the start is unknown.
 * Returns 0, or the code of a shortage (see uvperf__is_shortage). */
int uvperf__task_start(int id, uint64_t *start);

/* Call it after something was done by a task's id: checks that the task still
 * has the id, also as a zombie. Then no other task can have had the id
 * meanwhile. Each task of the id has another start, because the kernel takes
 * all other ids before it takes an id again, and this needs longer than a clock
 * tick. The start 0 is not checked. Returns 0, or a code and the error: -ESRCH,
 * or a shortage. */
int uvperf__task_check(int id, uint64_t start, uvperf_error_t *error);

/* Finds the task of a pidfd, and its start. Returns 0. Otherwise fills the
 * error and returns
 *   -ESRCH   the task has ended, or is not in our PID namespace (NO_TASK);
 *   -EBADF   the fd is no pidfd (ARGUMENT);
 *   -EACCES  /proc hides the task (PERMISSION);
 *   -ENOENT  /proc is not mounted, or shows another PID namespace (NO_TASK);
 *   a shortage, or the code of a read. */
int uvperf__task_of_pidfd(int fd, uvperf__task_t *task, uvperf_error_t *error);

/* Returns the id of the process of a task, or an error as in
 * uvperf__task_read. */
int uvperf__task_process(int id);

/* Lists the threads of a process that have not ended, by ascending ids. The
 * list includes all threads that existed during the whole call. Returns 0; free
 * the threads with uvperf__tasks_free then. On failure returns -ENOMEM or an
 * error as in uvperf__task_read. -ESRCH also means that all threads have
 * ended. */
int uvperf__task_threads(int process, uvperf__tasks_t *threads);
void uvperf__tasks_free(uvperf__tasks_t *tasks);

/* Whether the task with this id and start has ended. A zombie counts as ended.
 * A task whose id now belongs to another task has ended too. Returns 1 or 0. If
 * this is unknown, returns -EACCES or -EPERM as above, or the code of the
 * read.
 *
 * If the start is unknown (0), the function returns 1 only if no task has the
 * id. The id -1 means every task, which never ends. If a thread other than the
 * first calls execve(2), it continues with the id of its process (de_thread of
 * fs/exec.c): its own id is gone. */
int uvperf__task_is_gone(int id, uint64_t start);

/* The same for a task that is checked again and again, at the time `now` (ns).
 * tkill(2), which takes a twentieth of the time, is asked each time. /proc is
 * asked at most once a second for the first thread of a process, and every ten
 * seconds for other threads; *looked_up is when that was, at first 0. So a
 * zombie and an id that is used again can be noticed so much later. */
int uvperf__task_is_gone_now(int id, uint64_t start, uint64_t now,
                             uint64_t *looked_up);

#endif
