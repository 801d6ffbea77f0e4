/* SPDX-License-Identifier: MIT */
/* The processes that /proc shows now. */
#ifndef WATCH_PROC_H
#define WATCH_PROC_H

#include <stdint.h>

#include "common/targets.h"
#include "watch/tasks.h"

/* Adds all living processes that are not known yet, with their threads. */
void watch_proc_scan(watch_tasks_t *tasks);

/* Replaces the list of a process's threads by its living threads, and returns
 * 1. If no thread is alive, changes nothing and returns 0. */
int watch_proc_is_alive(watch_process_t *process);

/* Adds a process and all its descendants to the list, if it is alive. */
void watch_proc_tree(common_ids_t *processes, int32_t pid);

#endif
