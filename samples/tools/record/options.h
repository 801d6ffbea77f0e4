/* SPDX-License-Identifier: MIT */
/* The command line of record. */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "common/delay.h"
#include "common/filters.h"
#include "common/options.h"
#include "common/targets.h"
#include "record/limits.h"

enum record_stack {
  RECORD_STACK_NONE,
  RECORD_STACK_FP,   /* the kernel follows frame pointers */
  RECORD_STACK_DWARF /* registers and a copy of the stack, for readers */
};

typedef struct record_options_s {
  common_events_t events; /* without names: cycles */
  uint64_t frequency_hz;  /* 0: not chosen; UINT64_MAX: the maximum */
  uint64_t period;        /* 0: not chosen */
  enum record_stack stack;
  uint32_t stack_bytes; /* of the user's stack, DWARF */
  uint16_t max_stack;   /* 0: the kernel's default */
  /* The targets: at most one of the three. */
  int all; /* every task: -a, -C, or nothing was chosen */
  common_ids_t pids;
  common_ids_t tids;
  const char *cpus; /* NULL: all */
  int no_inherit;
  int sample_cpu;
  int switch_events;
  int namespaces;
  int cgroups;
  /* More fields of samples: addresses, their pages and weights. */
  int data;
  int phys_data;
  int data_page_size;
  int code_page_size;
  int weight;
  uint64_t branches; /* PERF_SAMPLE_BRANCH_*, 0: none */
  int clock;
  int all_user;
  int all_kernel;
  uint32_t excluded_pid; /* this program, which is not sampled; 0: none */
  common_delay_t delay;
  const char *control;  /* NULL: no commands */
  uint64_t duration_ms; /* 0: no bound */
  record_limits_t limits;
  size_t ring_bytes; /* 0: the library's default */
  const char *file;
  int quiet;
  int verbose;
  char **command; /* NULL, or argv of the command to run */
} record_options_t;

/* Parses the command line. Returns 0, or COMMON_EXIT_USAGE after a message on
 * stderr. Strings that are not allocated belong to argv. Call
 * record_options_free in either case. */
int record_options_parse(record_options_t *options, int argc, char **argv);
void record_options_free(record_options_t *options);

/* Returns 1 if the command itself is recorded. With another target it only
 * determines how long to record. */
int record_options_is_command(const record_options_t *options);

/* help.txt */
extern const char record_help[];

#endif
