/* SPDX-License-Identifier: MIT */
/* Targets that exist: online CPUs, processes, threads. */
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

/* Names of targets. */
typedef struct common_texts_s {
  char **texts;
  size_t nr;
  size_t capacity;
} common_texts_t;

/* Adds a copy of the first `size` bytes of a text, unless the list has it. */
void common_texts_add(common_texts_t *list, const char *text, size_t size);
void common_texts_free(common_texts_t *list);

/* Fills an empty list with CPUs such as "0-3,8", each once; NULL: the online
 * CPUs. Returns 0 or -errno. */
int common_cpus_list(common_ids_t *cpus, const char *list);

/* Lists the current threads of a process. Returns 0 or -errno. */
int common_threads_of(common_ids_t *threads, int32_t pid);

/* Lists the current processes. Returns 0 or -errno. */
int common_processes(common_ids_t *processes);

/* Fills an empty list with the processes of `roots` that run, and with all
 * their descendants. */
void common_tree_of(common_ids_t *processes, const common_ids_t *roots);

/* Returns the process of a thread, or -errno. For a process, returns the same
 * id. */
int32_t common_process_of(int32_t tid);

/* Replaces the id of a thread by the id of its process. Does not change 0.
 * Returns 0, or 1 after a message if there is no such process. */
int common_process_asked(int32_t *pid);

#endif
