/* SPDX-License-Identifier: MIT */
/* What can be measured: CPUs that are online, threads of a process. */
#ifndef COMMON_TARGETS_H
#define COMMON_TARGETS_H

#include <stddef.h>
#include <stdint.h>

typedef struct common_ids_s {
  int32_t *ids;
  size_t nr;
  size_t capacity;
} common_ids_t;

void common_ids_add(common_ids_t *list, int32_t id);
int common_ids_has(const common_ids_t *list, int32_t id);
void common_ids_free(common_ids_t *list);

/* Fills an empty list with the CPUs that are online: 0, or -errno. */
int common_cpus_online(common_ids_t *cpus);

/* The threads that a process has now: 0, or -errno. */
int common_threads_of(common_ids_t *threads, int32_t pid);

/* The processes that there are now: 0, or -errno. */
int common_processes(common_ids_t *processes);

/* The process to which a thread belongs (itself for a process), or -errno. */
int32_t common_process_of(int32_t tid);

/* Makes the id that was asked for, of a process or of one of its threads, that
 * of the process; 0 stays. 0, or 1 after a message if there is none. */
int common_process_asked(int32_t *pid);

#endif
