/* SPDX-License-Identifier: MIT */
/* The command line of flight-recorder. */
#ifndef FLIGHT_RECORDER_OPTIONS_H
#define FLIGHT_RECORDER_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "common/options.h"

typedef struct flight_options_s {
  const char *cpus;     /* NULL: all */
  uint64_t duration_ms; /* 0: until Ctrl-C or the end of the command */
  uint64_t last_ms;     /* the time that a dump covers; 0: all */
  size_t ring_bytes;    /* 0: the default */
  const char *file;     /* NULL: stdout */
  int json;
  int dump_at_exit;
  int only_new; /* leave out switches of earlier dumps */
  int help;
  char **command; /* NULL, or argv of the command to run */
} flight_options_t;

/* Returns 0, or COMMON_EXIT_USAGE after a message on stderr. The strings belong
 * to argv. */
int flight_options_parse(flight_options_t *options, int argc, char **argv);

/* Prints the help to stdout. */
void flight_options_help(void);

#endif
