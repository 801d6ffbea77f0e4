/* SPDX-License-Identifier: MIT */
/* What ran before the profiler did: names and mappings out of /proc. */
#ifndef PROFILE_PROC_H
#define PROFILE_PROC_H

#include <stddef.h>
#include <stdint.h>

#include "profile/names.h"
#include "profile/tasks.h"

/* Adds the threads and mappings of a process. 0, or -errno if its mappings
 * cannot be read (another user's, or gone). */
int profile_proc_read(profile_tasks_t *tasks, profile_names_t *names,
                      int32_t pid);

/* The same for all processes; gives the number of those whose mappings may not
 * be read. */
size_t profile_proc_read_all(profile_tasks_t *tasks, profile_names_t *names);

/* The id of what a mapping is of: the file's name without its directories,
 * "[anon]" for memory that has no file. */
uint32_t profile_object(profile_names_t *names, const char *filename);

#endif
