/* SPDX-License-Identifier: MIT */
/* The command line of the profiler. */
#ifndef PROFILE_OPTIONS_H
#define PROFILE_OPTIONS_H

#include <stdint.h>

#include "common/options.h"
#include "profile/stacks/text.h"

/* The files that a profile can be written to, besides the table. */
enum {
  PROFILE_FOLDED,
  PROFILE_PPROF,
  PROFILE_HTML,
  PROFILE_NR_OUTPUTS
};

typedef struct profile_options_s {
  uint64_t frequency_hz;
  size_t ring_bytes;    /* of each CPU; 0: the default */
  uint64_t duration_ms; /* 0: until Ctrl-C or the end of the target */
  /* The targets: at most one of pids, tids, cgroups and `all`, but `all` with
   * pids samples CPUs and counts these processes. */
  int all; /* the whole machine: -a, -C, or nothing was chosen */
  common_ids_t pids;
  common_ids_t tids;
  common_texts_t cgroups;
  const char *cpus;     /* NULL: all online CPUs */
  int all_by_default;   /* because no target was given */
  int quiet;            /* only errors, and losses of records */
  int inlined;          /* show inlined functions */
  int self;             /* count the profiler itself too */
  uint64_t names_ms;    /* to look up names; 0: the default of symbols.h */
  const char *symfs;    /* the directory of all files, or NULL */
  int top;              /* a live table instead of a result */
  int no_stacks;        /* sample functions without their callers */
  int off_cpu;          /* where threads wait, not where they run */
  uint32_t stack_bytes; /* copied of each user stack; 0: none */
  stacks_view_t view;
  const char *input; /* NULL, or a recorded file, "-" for stdin */
  const char *event; /* NULL, or the name of one of its events */
  char **command;    /* NULL, or argv of the command to run */
  const char *outputs[PROFILE_NR_OUTPUTS]; /* NULL, or a file */
} profile_options_t;

/* Returns 0, or COMMON_EXIT_USAGE after a message on stderr. The strings are
 * argv's. */
int profile_options_parse(profile_options_t *options, int argc, char **argv);

void profile_options_free(profile_options_t *options);

/* The command is what is profiled. With another target, it only determines how
 * long. */
int profile_options_is_command(const profile_options_t *options);

/* CPUs are sampled, and all tasks have records there. */
int profile_options_is_of_cpus(const profile_options_t *options);

/* The table or a file shows functions. */
int profile_options_has_functions(const profile_options_t *options);

/* All CPUs are sampled all the time, so what any task does in the kernel has a
 * record. */
int profile_options_is_of_all(const profile_options_t *options);

/* help.txt */
extern const char profile_help[];

#endif
