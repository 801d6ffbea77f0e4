/* SPDX-License-Identifier: MIT */
/* The tasks that are measured: what they are called and what they have mapped,
 * at one point in time. */
#ifndef PROFILE_TASKS_H
#define PROFILE_TASKS_H

#include <stddef.h>
#include <stdint.h>

typedef struct profile_map_s {
  uint64_t start, end; /* end is the first address behind it */
  uint64_t pgoff;      /* bytes into the file */
  uint32_t object;     /* id of the file's name */
} profile_map_t;

/* Whether a thread is on a CPU, for profile/waits.c. */
typedef struct profile_wait_s {
  enum {
    PROFILE_WAIT_NEW,     /* no record of a switch came yet */
    PROFILE_WAIT_CAME,    /* `since` it first came to a CPU */
    PROFILE_WAIT_BORN,    /* it has not been on a CPU */
    PROFILE_WAIT_RUNS,    /* on a CPU */
    PROFILE_WAIT_LEAVES,  /* its stack is known `since` */
    PROFILE_WAIT_OUT,     /* off the CPU `since` */
    PROFILE_WAIT_LEFT_OUT /* a thread of the kernel */
  } state;
  uint64_t since;
  struct stacks_entry_s *stack;
} profile_wait_t;

/* A thread; that whose tid is the pid holds the maps of the process, also when
 * it ends before the other threads. */
typedef struct profile_task_s {
  uint32_t tid;
  uint32_t process;   /* that it is counted in as a thread; 0: none */
  uint32_t nr_others; /* threads that are counted here */
  uint32_t comm;      /* id of a name */
  int has_comm;
  uint64_t died; /* nanoseconds, 0 while it lives */
  profile_wait_t wait;
  profile_map_t *maps; /* in memory, with room on both sides */
  size_t nr_maps;      /* sorted, without overlap */
  profile_map_t *memory;
  size_t map_capacity; /* of memory */
  int is_unwindable;   /* unwinding.c knows these maps */
  struct profile_task_s *next;
} profile_task_t;

#define PROFILE_TASK_BUCKETS 4096

typedef struct profile_tasks_s {
  void (*on_reap)(void *arg, uint32_t tid); /* or NULL */
  void *arg;
  profile_task_t *buckets[PROFILE_TASK_BUCKETS];
} profile_tasks_t;

void profile_tasks_free(profile_tasks_t *tasks);

/* A thread, which is added if it is not there; valid until it is reaped. */
profile_task_t *profile_tasks_get(profile_tasks_t *tasks, uint32_t tid);

void profile_tasks_name(profile_tasks_t *tasks, uint32_t tid, uint32_t comm);

/* A thread that runs in a process. */
void profile_tasks_thread(profile_tasks_t *tasks, uint32_t pid, uint32_t tid);

/* 0 and *comm for a thread, or its process where only that is known; -1. */
int profile_tasks_comm(const profile_tasks_t *tasks, uint32_t pid, uint32_t tid,
                       uint32_t *comm);

/* A new thread, or, if pid is not ppid, a new process with the same maps. */
void profile_tasks_fork(profile_tasks_t *tasks, uint32_t pid, uint32_t tid,
                        uint32_t ppid, uint32_t ptid);

/* An exec: all maps and all other threads are gone. The thread that called it
 * has the tid of the first one from then on, which may have ended before. */
void profile_tasks_exec(profile_tasks_t *tasks, uint32_t pid);

void profile_tasks_exit(profile_tasks_t *tasks, uint32_t tid, uint64_t time);

/* A mapping, in place of what was there before. */
void profile_tasks_map(profile_tasks_t *tasks, uint32_t pid,
                       const profile_map_t *map);

/* The mapping that holds an address, or NULL. */
const profile_map_t *profile_tasks_find(const profile_tasks_t *tasks,
                                        uint32_t pid, uint64_t address);

/* Forgets the tasks that died before a time. */
void profile_tasks_reap(profile_tasks_t *tasks, uint64_t before);

#endif
