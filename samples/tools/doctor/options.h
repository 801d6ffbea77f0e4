/* SPDX-License-Identifier: MIT */
/* The command line of doctor. */
#ifndef DOCTOR_OPTIONS_H
#define DOCTOR_OPTIONS_H

#include "common/options.h"

typedef struct doctor_options_s {
  int json;
} doctor_options_t;

/* Returns 0, or COMMON_EXIT_USAGE after a message on stderr. */
int doctor_options_parse(doctor_options_t *options, int argc, char **argv);

/* help.txt */
extern const char doctor_help[];

#endif
