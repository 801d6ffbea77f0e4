/* SPDX-License-Identifier: MIT */
/* The command line of bpf-output. */
#ifndef BPF_OUTPUT_OPTIONS_H
#define BPF_OUTPUT_OPTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "common/options.h"

typedef struct bpf_output_options_s {
  uint64_t duration_ms; /* 0: until Ctrl-C or the end of the command */
  size_t ring_bytes;    /* 0: the reader's default */
  uint32_t wakeup;      /* execs */
  int32_t pid;          /* 0: all */
  const char *comm;     /* NULL: all */
  const char *file;     /* NULL: stdout */
  int json;
  int help;
  char **command; /* NULL, or argv of the command to run */
} bpf_output_options_t;

/* Returns 0, or COMMON_EXIT_USAGE after a message on stderr. The strings belong
 * to argv. */
int bpf_output_options_parse(bpf_output_options_t *options, int argc,
                             char **argv);

/* Prints the help to stdout. */
void bpf_output_options_help(void);

#endif
