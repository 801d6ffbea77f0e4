/* SPDX-License-Identifier: MIT */
/* The names and mappings of the measured tasks, at one point in time. */
#ifndef PROFILE_TASKS_H
#define PROFILE_TASKS_H

#include <stddef.h>
#include <stdint.h>

#include "common/by_id.h"

typedef struct profile_map_s {
  uint64_t start, end; /* end is the first address after it */
  uint64_t pgoff;      /* offset in the file, in bytes */
  uint32_t object;     /* index in profile_objects_t */
} profile_map_t;

/* The state of a thread for profile/waits.c: whether it is on a CPU. */
typedef struct profile_wait_s {
  enum {
    PROFILE_WAIT_NEW,     /* no record of a switch yet */
    PROFILE_WAIT_CAME,    /* first got a CPU at `since` */
    PROFILE_WAIT_BORN,    /* it has not been on a CPU */
    PROFILE_WAIT_RUNS,    /* on a CPU */
    PROFILE_WAIT_LEAVES,  /* its stack was sampled at `since` */
    PROFILE_WAIT_OUT,     /* off the CPU since `since` */
    PROFILE_WAIT_LEFT_OUT /* a kernel thread: not measured */
  } state;
  uint64_t since;
  struct common_entry_s *stack;
  struct profile_pending_s *pending; /* in waits.c; NULL: `stack` is known */
} profile_wait_t;

/* A thread. The thread whose tid is the pid holds the maps of the process, even
 * after this thread has ended. */
typedef struct profile_task_s {
  common_item_t item; /* its id is the tid */
  uint32_t tid;
  uint32_t process;   /* whose nr_others counts it; 0: none */
  uint32_t nr_others; /* other threads of this process */
  uint32_t comm;      /* id of a name */
  int has_comm;
  uint64_t died; /* nanoseconds, 0 while it lives */
  /* Of a process: the number of its program, and when that began (0: not
   * known). It differs from the numbers of all programs that the pid had
   * before. */
  uint32_t image;
  uint64_t image_since;
  int has_jit; /* it has mapped memory of a JIT compiler */
  profile_wait_t wait;
  profile_map_t *maps; /* in memory, with room on both sides */
  size_t nr_maps;      /* sorted, without overlap */
  profile_map_t *memory;
  size_t map_capacity; /* of memory */
  int is_unwindable;   /* unwinding.c knows these maps */
} profile_task_t;

typedef struct profile_tasks_s {
  void (*on_reap)(void *arg, uint32_t tid); /* or NULL */
  void *arg;
  uint32_t nr_images;
  common_by_id_t threads;
} profile_tasks_t;

void profile_tasks_free(profile_tasks_t *tasks);

/* Returns a thread, and adds it if it is new. The pointer is valid until the
 * thread is reaped. */
profile_task_t *profile_tasks_get(profile_tasks_t *tasks, uint32_t tid);

void profile_tasks_name(profile_tasks_t *tasks, uint32_t tid, uint32_t comm);

/* Makes a thread a member of a process. */
void profile_tasks_thread(profile_tasks_t *tasks, uint32_t pid, uint32_t tid);

/* Returns 0 and the name of a thread, or the name of its process if only that
 * is known. Returns -1 if neither is known. */
int profile_tasks_comm(const profile_tasks_t *tasks, uint32_t pid, uint32_t tid,
                       uint32_t *comm);

/* Adds a new thread. If pid is not ppid, adds a new process with the same maps
 * instead. */
void profile_tasks_fork(profile_tasks_t *tasks, uint32_t pid, uint32_t tid,
                        uint32_t ppid, uint32_t ptid, uint64_t time);

/* Processes an exec: all maps and all other threads are gone. The thread that
 * called exec takes the tid of the first thread. The first thread may have
 * ended before. */
void profile_tasks_exec(profile_tasks_t *tasks, uint32_t pid, uint64_t time);

void profile_tasks_exit(profile_tasks_t *tasks, uint32_t tid, uint64_t time);

/* Adds a mapping. It replaces older mappings at the same addresses. */
void profile_tasks_map(profile_tasks_t *tasks, uint32_t pid,
                       const profile_map_t *map);

/* Returns the mapping that holds an address, or NULL. */
const profile_map_t *profile_tasks_find(const profile_tasks_t *tasks,
                                        uint32_t pid, uint64_t address);

/* Forgets the tasks that died before a time. A process with memory of a JIT
 * compiler is kept, without its maps. */
void profile_tasks_reap(profile_tasks_t *tasks, uint64_t before);

#endif
