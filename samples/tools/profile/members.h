/* SPDX-License-Identifier: MIT */
/* Selects the samples of a process and its descendants from the samples of all
 * processes. */
#ifndef PROFILE_MEMBERS_H
#define PROFILE_MEMBERS_H

#include "uvperf.h"

typedef struct profile_members_s {
  unsigned char *bits; /* by process id; NULL: all processes are members */
} profile_members_t;

void profile_members_init(profile_members_t *members, int32_t pid);
void profile_members_free(profile_members_t *members);

/* Call it for each record, in time order. Returns 0 for a sample of another
 * process, and 1 for all other records. */
int profile_members_take(profile_members_t *members,
                         const uvperf_record_t *record);

#endif
