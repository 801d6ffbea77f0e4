/* SPDX-License-Identifier: MIT */
/* The processes that /proc shows now. */
#ifndef WATCH_PROC_H
#define WATCH_PROC_H

#include <stdint.h>

#include "common/targets.h"
#include "watch/tasks.h"

/* Adds all processes that live and are not known yet, with their threads. */
void watch_proc_scan(watch_tasks_t *tasks);

/* Makes the threads of a process those that live now: 1, or 0 if there are
 * none, and then they stay as they were. */
int watch_proc_is_alive(watch_process_t *process);

/* A process and all its descendants, if it lives. */
void watch_proc_tree(common_ids_t *processes, int32_t pid);

#endif
