/* SPDX-License-Identifier: MIT */
/* What the user gets to see of the counts. */
#ifndef PROFILE_REPORT_H
#define PROFILE_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "profile/account.h"

/* How many places the table shows. */
#define PROFILE_REPORT_PLACES 20

typedef struct profile_totals_s {
  uint64_t samples;
  uint64_t records; /* the samples and all others */
  uint64_t lost;
  double seconds;
} profile_totals_t;

/* Prints the hottest places and a line of totals. */
void profile_report_table(FILE *file, const profile_account_t *account,
                          const profile_totals_t *totals);

/* Writes the stacks, one in a line: "command;outer;...;inner count". */
void profile_report_folded(FILE *file, const profile_account_t *account);

#endif
