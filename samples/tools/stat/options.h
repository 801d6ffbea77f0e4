/* SPDX-License-Identifier: MIT */
/* The command line of stat. */
#ifndef STAT_OPTIONS_H
#define STAT_OPTIONS_H

#include <stdint.h>

#include "common/delay.h"
#include "common/filters.h"
#include "common/options.h"
#include "common/targets.h"
#include "stat/report.h"

typedef struct stat_options_s {
  common_events_t events; /* without names: the default events */
  unsigned detailed;      /* the number of -d */
  /* The targets: at most one of the four, except that cgroups can have cpus. */
  int all; /* every task: -a, -C, or nothing was chosen */
  common_ids_t pids;
  common_ids_t tids;
  common_texts_t cgroups;
  const char *cpus; /* NULL: all online CPUs */
  int no_inherit;
  uint64_t interval_ms;  /* 0: one table at the end */
  uint64_t nr_intervals; /* 0: no bound */
  uint64_t timeout_ms;   /* 0: none */
  uint32_t nr_runs;      /* 0: for ever */
  common_delay_t delay;
  const char *control; /* NULL: no commands */
  enum stat_by by;
  int metric_only;
  int no_merge; /* a line for each kind of cores */
  int json;
  const char *separator; /* of fields; NULL: text */
  int null;              /* count nothing */
  int summary;           /* of all intervals, after them */
  const char *file;      /* NULL: stderr */
  uint64_t log_fd;       /* 0, or where to write instead */
  int append;            /* to the file */
  int verbose;
  char **command; /* NULL, or argv of the command to run */
} stat_options_t;

/* Parses the command line. Returns 0, or COMMON_EXIT_USAGE after a message on
 * stderr. Strings that are not allocated belong to argv. Call stat_options_free
 * in either case. */
int stat_options_parse(stat_options_t *options, int argc, char **argv);
void stat_options_free(stat_options_t *options);

/* help.txt */
extern const char stat_help[];

#endif
