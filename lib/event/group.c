/* SPDX-License-Identifier: MIT */
/* Which handles are one group, and what is done to a leader's siblings when the
 * leader is enabled or closed. The kernel's perf_event_for_each and
 * perf_group_detach are the model. */
#include "event/internal.h"

#include <linux/perf_event.h>

#include "attr/attr.h"
#include "explain/explain.h"
#include "sys/sys.h"

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

event_t *uvperf__event_leader(event_t *impl) {
  return impl->leader != NULL ? impl->leader : impl;
}

/* -- siblings of a leader -------------------------------------------------- */

int uvperf__event_enable_siblings(event_t *leader, int also_on_exec,
                                  uvperf_error_t *error) {
  uvperf__control_t enable = {PERF_EVENT_IOC_ENABLE, NULL, 0, NULL, NULL};
  event_t *member;
  int rc;

  for (member = leader->members; member != NULL; member = member->next_member) {
    if (!also_on_exec &&
        uvperf__attr_value(member->attr, UVPERF_ATTR_ENABLE_ON_EXEC))
      continue;
    rc = uvperf__event_enable_alone(member);
    enable.attr = member->attr;
    if (rc < 0)
      return uvperf__explain_control(error, rc, "", &enable);
  }
  return 0;
}

void uvperf__event_unstick_siblings(const event_t *leader) {
  const event_t *member;

  for (member = leader->members; member != NULL; member = member->next_member)
    uvperf__event_unstick(member);
}

/* A failure changes nothing: the leader closes. */
void uvperf__event_disable_siblings(event_t *leader) {
  event_t *member;

  for (member = leader->members; member != NULL; member = member->next_member) {
    uvperf__sys_ioctl(member->fd, PERF_EVENT_IOC_DISABLE, 0);
    member->enabled = 0;
  }
}

void uvperf__event_group_disabled(event_t *leader) {
  event_t *member;

  leader->enabled = 0;
  for (member = leader->members; member != NULL; member = member->next_member)
    member->enabled = 0;
}
