/* SPDX-License-Identifier: MIT */
/* The names of living threads, from /proc. */
#ifndef TRACE_PROC_H
#define TRACE_PROC_H

#include "trace/names.h"

/* Sets the name of each thread. */
void trace_proc_scan(trace_names_t *names);

/* Returns the known name of a thread. If the name is not known, returns the
 * name in /proc, which is read once. If the thread has ended and its name is
 * not known, returns "". The result is valid until the next record. */
const char *trace_proc_name(trace_names_t *names, uint32_t pid, uint32_t tid);

#endif
