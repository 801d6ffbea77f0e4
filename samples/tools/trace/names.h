/* SPDX-License-Identifier: MIT */
/* The names of threads at one point in time. */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "common/by_id.h"
#include "common/proc.h"

/* The number of ended threads whose names are kept. A thread still hits
 * tracepoints after its EXIT record. */
#define TRACE_NAMES_ENDED 1024

/* The name of a thread. */
typedef struct trace_name_s {
  common_item_t item; /* its id is the tid */
  int is_ended;
  char comm[COMMON_PROC_COMM_BYTES];
} trace_name_t;

/* All zero at first. */
typedef struct trace_names_s {
  common_by_id_t names;
  uint32_t ended[TRACE_NAMES_ENDED]; /* a ring */
  size_t nr_ended;                   /* in all, overwritten ones too */
  int has_outsiders; /* tasks of other pid namespaces, whose id is 0 here */
} trace_names_t;

void trace_names_free(trace_names_t *names);

/* Returns NULL if the name is not known. */
const char *trace_names_get(const trace_names_t *names, uint32_t tid);

/* Updates the names from FORK, COMM and EXIT. Ignores other records. */
void trace_names_record(trace_names_t *names, const uvperf_record_t *record);

/* Sets the name of each living thread, from /proc. */
void trace_proc_scan(trace_names_t *names);

/* Returns the known name of a thread. If the name is not known, returns the
 * name in /proc, which is read once. If the thread has ended and its name is
 * not known, returns "". The result is valid until the next record. */
const char *trace_proc_name(trace_names_t *names, uint32_t pid, uint32_t tid);

#endif
