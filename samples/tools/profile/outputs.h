/* SPDX-License-Identifier: MIT */
/* The outputs of a profile: the table on stdout, and files. */
#ifndef PROFILE_OUTPUTS_H
#define PROFILE_OUTPUTS_H

#include <stdio.h>

#include "profile/options.h"
#include "profile/stacks/stacks.h"

struct profile_totals_s;

typedef struct profile_outputs_s {
  FILE *files[PROFILE_NR_OUTPUTS]; /* NULL: not requested */
  char *title;                     /* the command line and the host */
} profile_outputs_t;

/* Opens the files. Call it before the measurement. Returns 0, or 1 after a
 * message. */
int profile_outputs_open(profile_outputs_t *outputs,
                         const profile_options_t *options, int argc,
                         char **argv);

/* Writes the table and the files. A failed write is reported later, when stdout
 * or the file is closed. */
void profile_outputs_write(profile_outputs_t *outputs, const stacks_t *stacks,
                           const profile_options_t *options,
                           const struct profile_totals_s *totals);

/* Closes the files. Returns 0, or 1 after a message. */
int profile_outputs_close(profile_outputs_t *outputs,
                          const profile_options_t *options);

#endif
