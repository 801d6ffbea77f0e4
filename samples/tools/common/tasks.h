/* SPDX-License-Identifier: MIT */
/* Side-band records, in which the kernel reports changes of processes. */
#ifndef COMMON_TASKS_H
#define COMMON_TASKS_H

#include <stdint.h>

#include <linux/perf_event.h>

/* Sets the bits of an attr that request FORK, EXIT, COMM with exec, and MMAP2
 * of executable mappings. */
void common_tasks_follow(struct perf_event_attr *attr);

/* Returns 1 if this is the id of a process or thread. A task outside the pid
 * namespace in which the event was opened has the id 0. A task that has exited
 * can have the id -1 (kernel/events/core.c, perf_event_pid_type). */
int common_tasks_has_id(uint32_t id);

/* Returns 1 if there can be tasks outside the pid namespace. Returns 0 in the
 * first namespace, where only idle tasks have the id 0. Also returns 0 if this
 * is not known. */
int common_tasks_has_outsiders(void);

#endif
