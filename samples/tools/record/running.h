/* SPDX-License-Identifier: MIT */
/* Records of the tasks that run when a recording begins. */
#ifndef RECORD_RUNNING_H
#define RECORD_RUNNING_H

#include <sys/types.h>

#include <linux/perf_event.h>

#include "record/options.h"
#include "record/synth.h"
#include "uvperf.h"

/* Calls `write` with records of the kernel and of the recorded tasks, one by
 * one. If `born` is NULL, the command (0: none) has not called execve(2) yet.
 * Otherwise `born` lists the processes that have started since the beginning;
 * processes that have ended are removed from it. `attr` is the attr of the
 * first event. Returns 0, or the code of `write`. */
int record_running_write(const record_options_t *options, pid_t command,
                         common_ids_t *born, const struct perf_event_attr *attr,
                         record_synth_cb write, void *arg);

/* Adds the process of a FORK record; other records are ignored. */
void record_running_born(common_ids_t *born, const uvperf_record_t *record);

#endif
