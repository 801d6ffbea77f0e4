/* SPDX-License-Identifier: MIT */
/* What runs when a recording begins, as records for its file. */
#ifndef RECORD_RUNNING_H
#define RECORD_RUNNING_H

#include <sys/types.h>

#include <linux/perf_event.h>

#include "record/options.h"
#include "record/synth.h"

/* Gives what is known of the kernel and of the tasks that are recorded to
 * `write`, one by one; the command, 0 for none, has not called execve(2) yet.
 * `attr` is of the first event. 0, or what write gave. */
int record_running_write(const record_options_t *options, pid_t command,
                         const struct perf_event_attr *attr,
                         record_synth_cb write, void *arg);

#endif
