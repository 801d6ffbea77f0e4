/* SPDX-License-Identifier: MIT */
/* Reads the properties that /proc shows for a task now: its name, its state,
 * its mappings. The task may end at any moment. */
#ifndef COMMON_PROC_H
#define COMMON_PROC_H

#include <stdint.h>
#include <time.h>

/* Room for a name. Names of most tasks have up to 15 bytes. Some kernel threads
 * have longer names. */
#define COMMON_PROC_COMM_BYTES 64

/* Reads the name of a thread, byte for byte. Returns 0, or -1 if there is no
 * such thread. */
int common_proc_comm(int32_t pid, int32_t tid,
                     char comm[COMMON_PROC_COMM_BYTES]);

typedef struct common_proc_stat_s {
  char comm[COMMON_PROC_COMM_BYTES]; /* a newline as \n, a backslash as \\ */
  char state;                        /* 'Z': a zombie */
  uint32_t ppid;
  long nr_threads; /* of the process */
  uint64_t start;  /* when the thread began, in ticks after the boot */
} common_proc_stat_t;

/* Returns 0, or -1 if there is no such thread. */
int common_proc_stat(int32_t pid, int32_t tid, common_proc_stat_t *stat);

/* Parses the text of /proc/PID/stat, which is changed. Returns 0 or -1. */
int common_proc_parse_stat(char *text, common_proc_stat_t *stat);

/* Returns the time of a clock in nanoseconds. */
uint64_t common_proc_clock(clockid_t clock);

/* Finds when a process began, in nanoseconds since 1970. Returns 0, or -1 if
 * there is no such process. */
int common_proc_start(int32_t pid, uint64_t *start);

/* Finds where a waiting thread entered the kernel. Returns 0, or -1 if it runs
 * or may not be read. */
int common_proc_entry(int32_t pid, int32_t tid, uint64_t *address);

/* Calls cb with each living thread and its name. */
typedef void (*common_proc_thread_cb)(void *arg, int32_t tid, const char *comm);
void common_proc_threads(common_proc_thread_cb cb, void *arg);

/* A line of /proc/PID/maps. */
typedef struct common_proc_map_s {
  uint64_t start, end; /* end is the first address after it */
  uint64_t pgoff;      /* offset in the file, in bytes */
  uint64_t inode;
  uint32_t major, minor;
  char prot[5];     /* "r-xp" */
  const char *path; /* "" for none; valid until the callback returns */
} common_proc_map_t;

/* Return nonzero to stop. */
typedef int (*common_proc_map_cb)(void *arg, const common_proc_map_t *map);

/* Calls cb with each mapping of a process. Returns 0, or the value that cb
 * returned, or -errno if the mappings cannot be read: the process belongs to
 * another user, or has ended. */
int common_proc_maps(int32_t pid, common_proc_map_cb cb, void *arg);

/* Returns the private memory of a process (RssAnon) in KiB, or 0 if it cannot
 * be read. */
uint64_t common_proc_memory(int32_t pid);

#endif
