/* SPDX-License-Identifier: MIT */
/* Side-band records: what the kernel reports about processes. */
#ifndef COMMON_TASKS_H
#define COMMON_TASKS_H

#include <stdint.h>

#include <linux/perf_event.h>

/* Makes an attr request FORK, EXIT, COMM with exec, and MMAP2 of executable
 * mappings. */
void common_tasks_follow(struct perf_event_attr *attr);

/* Returns 1 if this is the id of a process or thread. Tasks outside the pid
 * namespace in which the event was opened have 0, and tasks that have exited
 * can have -1 (kernel/events/core.c, perf_event_pid_type). */
int common_tasks_has_id(uint32_t id);

/* Returns 1 if there can be tasks outside the pid namespace. In the first
 * namespace only idle tasks have the id 0. Returns 0 also if this is not
 * known. */
int common_tasks_has_outsiders(void);

#endif
