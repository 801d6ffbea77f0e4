/* SPDX-License-Identifier: MIT */
/* Selects the records of some processes and their descendants from the records
 * of all processes, or leaves them out. */
#ifndef PROFILE_MEMBERS_H
#define PROFILE_MEMBERS_H

#include "common/targets.h"
#include "uvperf.h"

typedef struct profile_members_s {
  unsigned char *bits; /* by process id; NULL: all records are taken */
  int are_left_out;
} profile_members_t;

/* Takes the records of these processes only. */
void profile_members_init(profile_members_t *members,
                          const common_ids_t *processes);

/* Leaves out this process, and the descendants that it starts from now on. The
 * command runs already. */
void profile_members_init_self(profile_members_t *members);
void profile_members_free(profile_members_t *members);

/* Call it for each record, in time order. Returns 0 for a sample or a switch of
 * a process that is not taken, and 1 for all other records. */
int profile_members_take(profile_members_t *members,
                         const uvperf_record_t *record);

#endif
