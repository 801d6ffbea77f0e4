/* SPDX-License-Identifier: MIT */
/* The command line of trace. */
#ifndef TRACE_OPTIONS_H
#define TRACE_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "common/delay.h"
#include "common/options.h"
#include "common/targets.h"
#include "trace/calls.h"

/* One -e, and the --filter after it. */
typedef struct trace_names_option_s {
  const char *names;
  const char *filter; /* NULL: none */
} trace_names_option_t;

typedef struct trace_options_s {
  trace_names_option_t *names;
  size_t nr_names;
  size_t names_capacity;
  /* The target: all tasks, processes, threads, or only the command. */
  int all;
  common_ids_t pids;
  common_ids_t tids;
  const char *cpus;     /* NULL: all */
  uint64_t duration_ms; /* 0: until Ctrl-C or the end of the target */
  common_delay_t delay;
  uint64_t limit;    /* of hits; 0: none */
  size_t ring_bytes; /* 0: as much as the system's limits allow */
  const char *file;  /* NULL: stdout */
  const char *input; /* a file of records; NULL: live */
  int summary;       /* sums of system calls, instead of hits */
  trace_calls_by_t summary_mode;
  int json;
  int print_fmt;  /* fields as the kernel prints them */
  int self;       /* also show hits of this program */
  char **command; /* NULL, or argv of the command to run */
} trace_options_t;

/* Returns 0, or COMMON_EXIT_USAGE after a message on stderr. The strings belong
 * to argv. Call trace_options_free in both cases. */
int trace_options_parse(trace_options_t *options, int argc, char **argv);
void trace_options_free(trace_options_t *options);

/* help.txt */
extern const char trace_help[];

#endif
