/* SPDX-License-Identifier: MIT */
/* The command line of list. */
#ifndef LIST_OPTIONS_H
#define LIST_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "common/options.h"

typedef struct list_options_s {
  uint32_t kinds;  /* UVPERF_NAME_* on the command line */
  char **patterns; /* the other words; they belong to argv */
  size_t nr_patterns;
  int forms; /* also list forms without a name */
  int details;
  int all; /* also list events that do not open on this machine */
  int json;
} list_options_t;

/* Returns 0, or COMMON_EXIT_USAGE after a message on stderr. */
int list_options_parse(list_options_t *options, int argc, char **argv);

/* help.txt */
extern const char list_help[];

#endif
