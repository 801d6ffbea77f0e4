/* SPDX-License-Identifier: MIT */
/* What threads are called at one point in time. */
#ifndef TRACE_NAMES_H
#define TRACE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "uvperf/record.h"

#include "common/proc.h"

#define TRACE_NAME_BUCKETS 4096
/* Of so many threads that ended last the names are kept: on its way out a
 * thread still hits tracepoints after its EXIT record. */
#define TRACE_NAMES_ENDED 1024

typedef struct trace_name_s {
  uint32_t tid;
  int is_ended;
  char comm[COMMON_PROC_COMM_BYTES];
  struct trace_name_s *next;
} trace_name_t;

/* All zero at first. */
typedef struct trace_names_s {
  trace_name_t *buckets[TRACE_NAME_BUCKETS];
  uint32_t ended[TRACE_NAMES_ENDED]; /* a ring */
  size_t nr_ended;                   /* that were ever put into it */
  int has_outsiders; /* tasks of other pid namespaces, whose id is 0 here */
} trace_names_t;

void trace_names_free(trace_names_t *names);

/* Names a thread, anew if it has a name. */
void trace_names_set(trace_names_t *names, uint32_t tid, const char *comm);

/* NULL if it is not known. */
const char *trace_names_get(const trace_names_t *names, uint32_t tid);

/* Takes in what FORK, COMM and EXIT say; others it does not mind. */
void trace_names_record(trace_names_t *names, const uvperf_record_t *record);

#endif
