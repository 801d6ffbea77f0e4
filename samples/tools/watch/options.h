/* SPDX-License-Identifier: MIT */
/* The command line of watch. */
#ifndef WATCH_OPTIONS_H
#define WATCH_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "common/options.h"
#include "watch/line.h"

typedef struct watch_options_s {
  uint64_t duration_ms; /* 0: until Ctrl-C or the end of the target */
  size_t ring_bytes;    /* 0: as much as the system's limits allow */
  int32_t pid;          /* 0: none */
  const char *file;     /* NULL: stdout */
  int all;              /* all processes, also with a command */
  int json;
  int with_threads; /* --threads */
  uint32_t kinds;   /* WATCH_BIT()s */
  char **command;   /* NULL, or argv of the command to run */
} watch_options_t;

/* Returns 0, or COMMON_EXIT_USAGE after a message on stderr. The strings belong
 * to argv. */
int watch_options_parse(watch_options_t *options, int argc, char **argv);

/* help.txt */
extern const char watch_help[];

#endif
