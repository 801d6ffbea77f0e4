/* SPDX-License-Identifier: MIT */
/* Operations on an open event: enable, disable, refresh, change, pause. If a
 * leader is enabled or refreshed, its siblings are enabled first. */
#include "event/internal.h"

#include <limits.h>
#include <string.h>

#include <sys/ioctl.h>

#include "attr/attr.h"
#include "explain/explain.h"
#include "host/ioctl.h"
#include "host/system.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"

/* Returns 0, or the code of an ioctl and the error. */
static int event_result(const event_t *impl, int code, unsigned long request,
                        uint64_t value, uvperf_error_t *error) {
  uvperf__control_t control = {
      .request = request, .attr = impl->attr, .value = value};

  return code >= 0 ? 0 : uvperf__explain_control(error, code, &control);
}

/* Makes a request whose argument is a number. */
static int event_ioctl(event_t *impl, unsigned long request, long argument,
                       uvperf_error_t *error) {
  int rc = uvperf__handle_check(&impl->base, error);

  if (rc != 0)
    return rc;
  return event_result(impl, uvperf__sys_ioctl(impl->fd, request, argument),
                      request, (uint64_t)argument, error);
}

/* -- a limit of overflows -------------------------------------------------- */

/* Whether the kernel may leave the event stopped when its overflows run out.
 * Hardware and software events start whenever they are scheduled in. */
static int can_stick(const event_t *impl) {
  return impl->limited && impl->attr->type != PERF_TYPE_SOFTWARE &&
         impl->attr->type != PERF_TYPE_HARDWARE &&
         impl->attr->type != PERF_TYPE_HW_CACHE &&
         impl->attr->type != PERF_TYPE_RAW;
}

/* Whether the target may be off its CPU now. A new period then does not start
 * the event. Returns 0 for an event with a frequency, because the next tick
 * starts it. */
static int is_elsewhere(const event_t *impl) {
  int pid = impl->source.pid;

  if (impl->attr->freq)
    return 0;
  return impl->cgroup >= 0 || (pid > 0 && pid != uvperf__sys_gettid());
}

/* Restarts an enabled event that may have stopped at the end of its limit. This
 * works only while its leader is enabled too, and scheduled in. So the group is
 * scheduled in now. Otherwise a sibling of another PMU that was enabled after
 * its leader waits for the next tick or switch (see uvperf_enable). A leader
 * with a limit of its own is left alone, because that limit may have stopped
 * it.
 *
 * Since Linux 6.16 __perf_event_overflow calls pmu->stop when the limit of
 * overflows is used up. Enabling calls perf_trace_add or hw_breakpoint_add, and
 * these leave hw.state stopped. Only pmu->start clears it, and only
 * __perf_event_period calls pmu->start, while the event is scheduled in. */
static void event_unstick(const event_t *impl) {
  const event_t *leader = impl->leader;

  if (!can_stick(impl) || (is_elsewhere(impl) && impl->limit_end != UINT64_MAX))
    return; /* if it had run out, is_dead would have refused to enable it */
  if (leader != NULL && leader->enabled && !leader->limited) {
    uvperf__sys_ioctl(leader->fd, PERF_EVENT_IOC_DISABLE, 0);
    uvperf__sys_ioctl(leader->fd, PERF_EVENT_IOC_ENABLE, 0);
  }
  uvperf__ioctl_period(impl->fd, impl->attr, impl->attr->sample_period);
}

static uint64_t count_of(const event_t *impl) {
  uvperf_count_t count;

  return uvperf_event_read(impl->base.handle, &count, NULL) == 0 ? count.value
                                                                 : 0;
}

/* A limited event counts nothing once its overflows have run out. */
static int has_run_out(const event_t *impl) {
  return can_stick(impl) && is_elsewhere(impl) &&
         impl->limit_end != UINT64_MAX && count_of(impl) >= impl->limit_end;
}

static int is_dead(const event_t *impl) {
  return has_run_out(impl) && uvperf__system_is_before(6, 16) == 0;
}

/* Enables the event. Returns 0, -errno, or UV_ENOTSUP if its overflows ran out
 * and nothing can start it again. Call event_unstick afterwards. */
static int enable_alone(event_t *impl) {
  int rc;

  if (is_dead(impl))
    return UV_ENOTSUP;
  rc = uvperf__sys_ioctl(impl->fd, PERF_EVENT_IOC_ENABLE, 0);
  if (rc < 0)
    return rc;
  impl->enabled = 1;
  return 0;
}

/* -- the group ------------------------------------------------------------- */

void uvperf__event_join_group(event_t *impl, event_t *leader) {
  impl->leader = leader;
  impl->next_member = leader->members;
  leader->members = impl;
}

void uvperf__event_leave_group(event_t *impl) {
  event_t *member;
  event_t **link;

  /* Without the leader each member is an event of its own. */
  while ((member = impl->members) != NULL) {
    impl->members = member->next_member;
    member->leader = NULL;
  }
  if (impl->leader == NULL)
    return;
  link = &impl->leader->members;
  while (*link != impl)
    link = &(*link)->next_member;
  *link = impl->next_member;
  impl->leader = NULL;
}

static event_t *leader_of(event_t *impl) {
  return impl->leader != NULL ? impl->leader : impl;
}

int uvperf__event_enable_siblings(event_t *leader, int also_on_exec,
                                  uvperf_error_t *error) {
  event_t *member;
  int rc;

  for (member = leader->members; member != NULL; member = member->next_member) {
    if (member->fd < 0 || (!also_on_exec && member->attr->enable_on_exec))
      continue;
    rc = event_result(member, enable_alone(member), PERF_EVENT_IOC_ENABLE, 0,
                      error);
    if (rc != 0)
      return rc;
  }
  return 0;
}

static void event_unstick_group(const event_t *leader) {
  const event_t *member;

  event_unstick(leader);
  for (member = leader->members; member != NULL; member = member->next_member)
    event_unstick(member);
}

/* Failures are ignored, because the leader closes anyway. */
void uvperf__event_disable_siblings(event_t *leader) {
  event_t *member;

  for (member = leader->members; member != NULL; member = member->next_member) {
    if (member->fd >= 0)
      uvperf__sys_ioctl(member->fd, PERF_EVENT_IOC_DISABLE, 0);
    member->enabled = 0;
  }
}

/* -- enable, disable, refresh ---------------------------------------------- */

int uvperf__event_enable(event_t *impl, uvperf_error_t *error) {
  int rc = uvperf__event_enable_siblings(impl, 1, error);

  if (rc == 0)
    rc =
        event_result(impl, enable_alone(impl), PERF_EVENT_IOC_ENABLE, 0, error);
  if (rc != 0)
    return rc;
  event_unstick_group(impl);
  return 0;
}

int uvperf__event_disable(event_t *impl, uvperf_error_t *error) {
  int rc =
      event_result(impl, uvperf__sys_ioctl(impl->fd, PERF_EVENT_IOC_DISABLE, 0),
                   PERF_EVENT_IOC_DISABLE, 0, error);

  if (rc == 0)
    impl->enabled = 0;
  return rc;
}

/* An event has one attr. */
static int event_check_attr(size_t attr, int is_whole, uvperf_error_t *error) {
  if (attr == 0 || (is_whole && attr == UVPERF_ALL))
    return 0;
  return uvperf__error_argument(
      error, "there is no attr %zu; an event has attr 0", attr);
}

/* The ioctl for a group (perf_event_for_each) enables the leader first. Since
 * Linux 6.12 ("perf: Optimize context reschedule for single PMU cases") a
 * sibling of another PMU then waits for the next tick or switch:
 * __perf_event_enable reschedules only events of the sibling's own PMU, not the
 * leader. If the leader is enabled last, all are scheduled in at once. */
static int event_enable(void *owner, size_t attr, uvperf_error_t *error) {
  return uvperf__event_enable(attr == 0 ? owner : leader_of(owner), error);
}

static int event_disable(void *owner, size_t attr, uvperf_error_t *error) {
  event_t *impl = owner;
  event_t *leader = leader_of(impl);
  event_t *member;
  int rc;

  if (attr == 0)
    return uvperf__event_disable(impl, error);
  rc = event_ioctl(impl, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP, error);
  if (rc != 0)
    return rc;
  leader->enabled = 0;
  for (member = leader->members; member != NULL; member = member->next_member)
    member->enabled = 0;
  return 0;
}

static int event_reset(void *owner, size_t attr, uvperf_error_t *error) {
  return event_ioctl(owner, PERF_EVENT_IOC_RESET,
                     attr == 0 ? 0 : PERF_IOC_FLAG_GROUP, error);
}

int uvperf_event_refresh(uvperf_event_t *event, uint32_t overflows,
                         uvperf_error_t *error) {
  event_t *impl = uvperf__handle_impl(&event->handle);
  uint64_t period = impl->attr->sample_period;
  uint64_t from;
  int rc;

  /* The manual does not define 0. _perf_event_refresh takes an int. */
  if (overflows == 0 || overflows > INT_MAX)
    return uvperf__error_argument(error, "overflows is %u; it must be 1 to %d",
                                  overflows, INT_MAX);
  rc = uvperf__handle_check(&impl->base, error);
  if (rc == 0 && is_dead(impl))
    rc = event_result(impl, UV_ENOTSUP, PERF_EVENT_IOC_REFRESH, overflows,
                      error);
  if (rc == 0)
    rc = uvperf__event_enable_siblings(impl, 1, error);
  if (rc != 0)
    return rc;
  if (is_elsewhere(impl)) {
    from = impl->limit_end;
    if (!impl->limited || has_run_out(impl))
      from = impl->has_program ? UINT64_MAX : count_of(impl);
    impl->limit_end = period > (UINT64_MAX - from) / overflows
                          ? UINT64_MAX
                          : from + period * overflows;
  }
  rc = event_ioctl(impl, PERF_EVENT_IOC_REFRESH, (long)overflows, error);
  if (rc != 0)
    return rc;
  impl->base.was_switched = 1;
  impl->enabled = 1;
  event_unstick_group(impl);
  impl->limited = 1;
  return 0;
}

/* -- changes --------------------------------------------------------------- */

static int event_change_period(void *owner, size_t attr, uint64_t period,
                               uvperf_error_t *error) {
  event_t *impl = owner;
  int rc = uvperf__ioctl_period(impl->fd, impl->attr, period);

  (void)attr;
  /* The kernel's attr has the new period now, and uvperf_event_modify must pass
   * the same period. */
  if (rc >= 0) {
    if (!has_run_out(impl))
      impl->limit_end = UINT64_MAX;
    impl->attr->sample_period = period;
    uvperf__event_attr_changed(impl);
  }
  return event_result(impl, rc, PERF_EVENT_IOC_PERIOD, period, error);
}

static int event_apply_filter(void *owner, size_t attr, const char *filter,
                              uvperf_error_t *error) {
  event_t *impl = owner;
  uvperf__control_t control = {.request = PERF_EVENT_IOC_SET_FILTER,
                               .attr = impl->attr,
                               .filter = filter};
  int rc = uvperf__ioctl_filter(impl->fd, impl->attr, filter);

  (void)attr;
  return rc >= 0 ? 0 : uvperf__explain_control(error, rc, &control);
}

static int event_attach_bpf(void *owner, size_t attr, int prog_fd,
                            uint64_t cookie, uvperf_error_t *error) {
  event_t *impl = owner;
  const uvperf__control_t control = {.request = PERF_EVENT_IOC_SET_BPF,
                                     .attr = impl->attr,
                                     .value = (uint64_t)prog_fd,
                                     .has_cookie = cookie != 0};
  int has_no_links = 0;
  int link = -1;
  int rc;

  (void)attr;
  rc = uvperf__ioctl_bpf(impl->fd, prog_fd, cookie, &has_no_links, &link);
  if (rc != 0)
    return uvperf__explain_control(error, rc, &control);
  impl->bpf_link = link;
  impl->has_program = 1;
  if (!has_run_out(impl))
    impl->limit_end = UINT64_MAX;
  return 0;
}

static int event_query_bpf(void *owner, size_t attr, uint32_t *ids, size_t *nr,
                           uvperf_error_t *error) {
  event_t *impl = owner;
  int rc = uvperf__ioctl_query_bpf(impl->fd, ids, nr);

  (void)attr;
  return event_result(impl, rc, PERF_EVENT_IOC_QUERY_BPF, *nr, error);
}

static const uvperf_change_t *event_changes(const void *owner, size_t attr,
                                            size_t *nr) {
  const event_t *impl = owner;

  if (attr != 0)
    return NULL;
  *nr = impl->nr_changes;
  return impl->changes;
}

const uvperf__control_ops_t uvperf__event_control = {
    event_check_attr, event_enable,        event_disable,
    event_reset,      event_change_period, event_apply_filter,
    event_attach_bpf, event_query_bpf,     event_changes};

/* -- pause ----------------------------------------------------------------- */

int uvperf_event_pause(uvperf_event_t *event, int is_paused,
                       uvperf_error_t *error) {
  event_t *impl = uvperf__handle_impl(&event->handle);
  /* The ring may be another event's: perf_event_output() uses event->rb. */
  event_t *owner = impl->output != NULL ? impl->output : impl;
  int rc;

  if (owner->base.snapshot != NULL && !uvperf__handle_is_forked(&impl->base))
    return uvperf__error_set(
        error, UV_EBUSY, UVPERF_CAUSE_ARGUMENT,
        "a snapshot of the ring is being taken; wait for its callback");
  rc = event_ioctl(impl, PERF_EVENT_IOC_PAUSE_OUTPUT, is_paused != 0, error);
  if (rc != 0)
    return rc;
  owner->paused = is_paused != 0;
  owner->was_paused |= owner->paused;
  owner->snapped = 0;
  return 0;
}

/* -- a new attr ------------------------------------------------------------ */

/* Sets the size of the new attr to the size of the opened attr, because the
 * kernel compares the sizes too (modify_user_hw_breakpoint_check). If the new
 * attr has non-zero bytes beyond that size, it stays as it is, and the kernel
 * refuses it. */
static int attr_resize(struct perf_event_attr **attr, uint32_t size) {
  uint32_t old_size = (*attr)->size;
  const uint8_t *bytes = (const uint8_t *)*attr;
  struct perf_event_attr *larger;
  uint32_t i;

  for (i = size; i < old_size; i++)
    if (bytes[i] != 0)
      return 0;
  if (old_size < size) {
    larger = uvperf__calloc(1, size > sizeof(**attr) ? size : sizeof(**attr));
    if (larger == NULL)
      return UV_ENOMEM;
    memcpy(larger, *attr, old_size);
    uvperf__free(*attr);
    *attr = larger;
  }
  (*attr)->size = size;
  return 0;
}

/* Passes the new attr to the kernel.
 *
 * The kernel disables a breakpoint even if it refuses the new attr. Afterwards
 * it enables the breakpoint only if the attr in force has disabled 0
 * (perf_event_modify_breakpoint). Our attrs always have disabled 1, so that the
 * breakpoint never runs at the wrong place. So a breakpoint that was enabled is
 * enabled again here. perf_event_modify_attr copies sig_data before it checks
 * the other fields, so the old value is restored if it refuses these. */
static int event_modify(event_t *impl, struct perf_event_attr *wanted,
                        uvperf_error_t *error) {
  uvperf__control_t control = {.request = PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
                               .attr = impl->attr,
                               .wanted = wanted};
  int is_breakpoint = impl->attr->type == PERF_TYPE_BREAKPOINT;
  int started = 0;
  int rc;

  rc =
      uvperf__sys_ioctl_ptr(impl->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, wanted);
  if (rc < 0)
    uvperf__explain_control(error, rc, &control);
  if (rc < 0 && is_breakpoint &&
      uvperf__attr_value(wanted, UVPERF_ATTR_SIG_DATA) !=
          uvperf__attr_value(impl->attr, UVPERF_ATTR_SIG_DATA))
    uvperf__sys_ioctl_ptr(impl->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES,
                          impl->attr);
  if (is_breakpoint && impl->enabled) {
    started = enable_alone(impl);
    if (started == 0)
      event_unstick(impl);
  }
  if (rc < 0)
    return rc;
  memcpy(impl->attr, wanted, impl->attr->size);
  uvperf__event_attr_changed(impl);
  if (started >= 0)
    return 0;
  impl->enabled = 0;
  control.request = PERF_EVENT_IOC_ENABLE;
  return uvperf__explain_control(error, started, &control);
}

int uvperf_event_modify(uvperf_event_t *event,
                        const struct perf_event_attr *attr,
                        uvperf_error_t *error) {
  event_t *impl = uvperf__handle_impl(&event->handle);
  struct perf_event_attr *wanted;
  int rc = uvperf__handle_check(&impl->base, error);

  if (rc != 0)
    return rc;
  if (attr == NULL)
    return uvperf__error_argument(error, "attr must not be NULL");
  rc = uvperf__event_attr_copy(&wanted, attr, impl->attr, impl->flags, error);
  if (rc != 0)
    return rc;
  rc = attr_resize(&wanted, impl->attr->size);
  if (rc != 0)
    uvperf__error_shortage(error, rc, "cannot copy the attr");
  else
    rc = event_modify(impl, wanted, error);
  uvperf__free(wanted);
  return rc;
}
