/* SPDX-License-Identifier: MIT */
/* What can be measured: CPUs that are online, threads of a process. */
#ifndef PROFILE_TARGETS_H
#define PROFILE_TARGETS_H

#include <stddef.h>
#include <stdint.h>

typedef struct profile_ids_s {
  int32_t *ids;
  size_t nr;
  size_t capacity;
} profile_ids_t;

void profile_ids_add(profile_ids_t *list, int32_t id);
void profile_ids_free(profile_ids_t *list);

/* Reads a list such as "0,2-5" into ids. 0, or -EINVAL. */
int profile_ids_parse(profile_ids_t *list, const char *text);

/* The CPUs that are online: 0, or -errno. */
int profile_cpus_online(profile_ids_t *cpus);

/* The threads that a process has now: 0, or -errno. */
int profile_threads_of(profile_ids_t *threads, int32_t pid);

/* The process to which a thread belongs (itself for a process), or -errno. */
int32_t profile_process_of(int32_t pid);

#endif
