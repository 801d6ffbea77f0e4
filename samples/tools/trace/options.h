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

/* One -e, and the --filter behind it. */
typedef struct trace_names_option_s {
  const char *names;
  const char *filter; /* NULL: none */
} trace_names_option_t;

typedef struct trace_options_s {
  trace_names_option_t *names;
  size_t nr_names;
  size_t names_capacity;
  /* Whom to trace: every task, processes, or only the command. */
  int all;
  common_ids_t pids;
  common_ids_t tids;
  const char *cpus;     /* NULL: all */
  uint64_t duration_ms; /* 0: until Ctrl-C or the end of the target */
  common_delay_t delay;
  uint64_t limit;    /* hits; 0: no bound */
  size_t ring_bytes; /* 0: what the limits allow */
  const char *file;  /* NULL: stdout */
  const char *input; /* a file of records; NULL: live */
  int summary;       /* of system calls, in place of hits */
  trace_calls_by_t summary_mode;
  int histogram;
  int json;
  int print_fmt; /* the kernel's words for the fields */
  int self;      /* show what this program does too */
  int help;
  char **command; /* NULL, or argv of the command to run */
} trace_options_t;

/* 0, or COMMON_EXIT_USAGE after a message on stderr. Strings that are not
 * allocated are argv's. To be followed by trace_options_free in any case. */
int trace_options_parse(trace_options_t *options, int argc, char **argv);
void trace_options_free(trace_options_t *options);

/* Prints the help to stdout. */
void trace_options_help(void);

/* The part of it about options of perf trace that are not here. */
const char *trace_options_absent(void);

#endif
