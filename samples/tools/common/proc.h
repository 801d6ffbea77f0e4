/* SPDX-License-Identifier: MIT */
/* What /proc says of a task now: its name, its state, its mappings. The task
 * may end at any moment. */
#ifndef COMMON_PROC_H
#define COMMON_PROC_H

#include <stddef.h>
#include <stdint.h>

/* A name: 15 bytes for most tasks, more for some threads of the kernel. */
#define COMMON_PROC_COMM_BYTES 64

/* The name of a thread, byte for byte: 0, or -1 if there is none. */
int common_proc_comm(int32_t pid, int32_t tid,
                     char comm[COMMON_PROC_COMM_BYTES]);

typedef struct common_proc_stat_s {
  char comm[COMMON_PROC_COMM_BYTES]; /* a newline as \n, a backslash as \\ */
  char state;                        /* 'Z': a zombie */
  uint32_t ppid;
} common_proc_stat_t;

/* 0, or -1 if there is no such thread. */
int common_proc_stat(int32_t pid, int32_t tid, common_proc_stat_t *stat);

/* CPU time of a process with all its threads, and of children that it waited
 * for, in nanoseconds. */
typedef struct common_proc_time_s {
  uint64_t user, system;
} common_proc_time_t;

/* 0, or -1 if there is no such process. */
int common_proc_time(int32_t pid, common_proc_time_t *time);

/* Where a thread entered the kernel, in which it waits: 0, or -1 if it runs or
 * that may not be read. */
int common_proc_entry(int32_t pid, int32_t tid, uint64_t *address);

/* Shows each thread that lives now, and its name. */
typedef void (*common_proc_thread_cb)(void *arg, int32_t tid, const char *comm);
void common_proc_threads(common_proc_thread_cb cb, void *arg);

/* A line of /proc/PID/maps. */
typedef struct common_proc_map_s {
  uint64_t start, end; /* end is the first address behind it */
  uint64_t pgoff;      /* bytes into the file */
  uint64_t inode;
  uint32_t major, minor;
  char prot[5];     /* "r-xp" */
  const char *path; /* "" for none; valid until the callback returns */
} common_proc_map_t;

/* Not 0: enough. */
typedef int (*common_proc_map_cb)(void *arg, const common_proc_map_t *map);

/* Shows the mappings of a process: 0, what cb gave, or -errno if they cannot be
 * read (another user's, or gone). */
int common_proc_maps(int32_t pid, common_proc_map_cb cb, void *arg);

/* The memory of a process that is its own (RssAnon) in KiB; 0 if it cannot be
 * read. */
uint64_t common_proc_memory(int32_t pid);

#endif
