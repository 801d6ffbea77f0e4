/* SPDX-License-Identifier: MIT */
/* What tells of processes: side-band records. */
#ifndef SHARED_TASKS_H
#define SHARED_TASKS_H

#include <linux/perf_event.h>

/* Has an attr ask for FORK, EXIT, COMM with exec, and MMAP2 of what is
 * executable. */
void shared_tasks_follow(struct perf_event_attr *attr);

#endif
