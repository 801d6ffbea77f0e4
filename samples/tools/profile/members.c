/* SPDX-License-Identifier: MIT */
/* A fork adds or removes a member, because its id may have belonged to another
 * process before. */
#include "profile/members.h"

#include <stdlib.h>
#include <unistd.h>

#include "common/memory.h"

/* PID_MAX_LIMIT of include/linux/threads.h. */
#define MAX_PID (UINT32_C(4) << 20)

static int is_member(const profile_members_t *members, uint32_t pid) {
  return pid < MAX_PID && ((members->bits[pid / 8] >> pid % 8) & 1) != 0;
}

static void set_member(profile_members_t *members, uint32_t pid, int on) {
  unsigned char bit = (unsigned char)(1 << pid % 8);

  if (pid >= MAX_PID)
    return;
  if (on)
    members->bits[pid / 8] |= bit;
  else
    members->bits[pid / 8] &= (unsigned char)~bit;
}

void profile_members_init(profile_members_t *members,
                          const common_ids_t *processes) {
  size_t i;

  members->bits = common_calloc(MAX_PID / 8, 1);
  for (i = 0; i < processes->nr; i++)
    set_member(members, (uint32_t)processes->ids[i], 1);
}

/* The workers start later, and have FORK records. */
void profile_members_init_self(profile_members_t *members) {
  int32_t self = getpid();

  profile_members_init(members, &(common_ids_t){&self, 1, 1});
  members->are_left_out = 1;
}

void profile_members_free(profile_members_t *members) {
  free(members->bits);
  members->bits = NULL;
}

int profile_members_take(profile_members_t *members,
                         const uvperf_record_t *record) {
  if (members->bits == NULL)
    return 1;
  if (record->type == PERF_RECORD_SAMPLE ||
      record->type == PERF_RECORD_SWITCH ||
      record->type == PERF_RECORD_SWITCH_CPU_WIDE)
    return is_member(members, record->pid) != members->are_left_out;
  if (record->type == PERF_RECORD_FORK && record->task.pid != record->task.ppid)
    set_member(members, record->task.pid,
               is_member(members, record->task.ppid));
  return 1;
}
