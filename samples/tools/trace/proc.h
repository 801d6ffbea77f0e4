/* SPDX-License-Identifier: MIT */
/* What /proc calls the threads that live now. */
#ifndef TRACE_PROC_H
#define TRACE_PROC_H

#include "trace/names.h"

/* Names each thread. */
void trace_proc_scan(trace_names_t *names);

/* What a thread is called, by what is known or else by /proc, which is asked
 * once: "" if it is gone without a name. Valid until the next record. */
const char *trace_proc_name(trace_names_t *names, uint32_t pid, uint32_t tid);

#endif
