/* SPDX-License-Identifier: MIT */
/* What tells of processes: side-band records. */
#ifndef COMMON_TASKS_H
#define COMMON_TASKS_H

#include <stdint.h>

#include <linux/perf_event.h>

/* Has an attr ask for FORK, EXIT, COMM with exec, and MMAP2 of what is
 * executable. */
void common_tasks_follow(struct perf_event_attr *attr);

/* Whether the id of a process or thread is its own: tasks that are not in the
 * pid namespace of the one who opened the event come with 0, or -1
 * (kernel/events/core.c, perf_event_pid_type). */
int common_tasks_has_id(uint32_t id);

/* Whether there can be such tasks: in the first pid namespace only idle tasks
 * have the id 0. 0 also where it cannot be known. */
int common_tasks_has_outsiders(void);

#endif
