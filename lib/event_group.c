/* SPDX-License-Identifier: MIT */
/* Which handles are one group, so that what is done to the whole group is known
 * to each of them. The kernel's perf_event_for_each and perf_group_detach are
 * the model. */
#include "event.h"

#include <linux/perf_event.h>

#include "sys.h"

void uvperf__event_join_group(event_t *impl, event_t *leader) {
  impl->leader = leader;
  impl->next_member = leader->members;
  leader->members = impl;
}

/* Without its leader each member is on its own. */
static void dissolve(event_t *leader) {
  event_t *member;

  while (leader->members != NULL) {
    member = leader->members;
    leader->members = member->next_member;
    member->next_member = NULL;
    member->leader = NULL;
  }
}

void uvperf__event_leave_group(event_t *impl) {
  event_t **link;

  dissolve(impl);
  if (impl->leader == NULL)
    return;
  link = &impl->leader->members;
  while (*link != impl)
    link = &(*link)->next_member;
  *link = impl->next_member;
  impl->leader = NULL;
}

/* What fails here fails again for the whole group, and is told then. */
void uvperf__event_group_enable_siblings(const event_t *impl) {
  const event_t *leader = impl->leader != NULL ? impl->leader : impl;
  const event_t *member;

  for (member = leader->members; member != NULL; member = member->next_member)
    uvperf__sys_ioctl(member->fd, PERF_EVENT_IOC_ENABLE, 0);
}

static void note(event_t *impl, int enabled) {
  impl->enabled = enabled;
  if (enabled && !impl->closing)
    uvperf__event_unstick(impl);
}

void uvperf__event_group_enabled(event_t *impl, int enabled) {
  event_t *leader = impl->leader != NULL ? impl->leader : impl;
  event_t *member;

  note(leader, enabled);
  for (member = leader->members; member != NULL; member = member->next_member)
    note(member, enabled);
}
