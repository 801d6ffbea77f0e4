/* SPDX-License-Identifier: MIT */
/* Opens an event's attr, with fallbacks if the options allow them, or takes the
 * fd that the caller has opened. Then maps the ring. explain/fallback.c decides
 * which fallbacks are tried. */
#include "event/internal.h"

#include <string.h>
#include <time.h>

#include "attr/attr.h"
#include "explain/explain.h"
#include "explain/fallback.h"
#include "host/task.h"
#include "sys/opener.h"
#include "sys/sys.h"
#include "util/error.h"

/* -- the attr -------------------------------------------------------------- */

int uvperf__event_attr_copy(struct perf_event_attr **copy,
                            const struct perf_event_attr *attr,
                            const struct perf_event_attr *like, uint32_t flags,
                            uvperf_error_t *error) {
  int rc = uvperf__attr_copy(copy, attr, error);

  if (rc != 0)
    return rc;
  (*copy)->disabled = 1;
  if (flags & UVPERF_EVENT_FD)
    return 0; /* the other fields stay as the fd was opened */
  if ((*copy)->read_format & PERF_FORMAT_GROUP)
    (*copy)->read_format |= PERF_FORMAT_ID;
  if (flags & UVPERF_EVENT_IDENTIFY) {
    (*copy)->sample_type |= PERF_SAMPLE_IDENTIFIER;
    (*copy)->sample_id_all = 1;
  }
  /* A group must have one clock (perf_event_open() in kernel/events/core.c). */
  if (uvperf__attr_clock(*copy) != -1)
    return 0;
  if (like != NULL)
    uvperf__attr_set_clock(*copy, uvperf__attr_clock(like));
  else if (!(flags & UVPERF_EVENT_PERF_CLOCK))
    uvperf__attr_set_clock(*copy, CLOCK_MONOTONIC);
  return 0;
}

/* -- perf_event_open(2) ---------------------------------------------------- */

/* Tries once to open the event. Returns 0, or a code and the error. */
static int open_fd(event_t *impl, const event_plan_t *plan,
                   uvperf__tracefs_ids_t *tracepoints, uvperf_error_t *error) {
  const uvperf_event_options_t *options = &plan->options;
  const event_t *leader = options->leader ? options->leader->handle.impl : NULL;
  const uvperf__opener_t opener = {options->open, options->open_arg,
                                   &impl->calls};
  int is_cgroup = options->cgroup >= 0;
  uvperf__open_call_t call = {
      .error = error,
      .attr = impl->attr,
      .asked_size = impl->attr->size,
      .pid = options->pid,
      .cpu = options->cpu,
      .cgroup = options->cgroup,
      .tracepoints = tracepoints,
      .fallbacks = options->fallbacks,
      .may_allow = 1,
      .is_by_program = options->open != NULL,
  };
  uvperf__open_call_t of_leader;

  impl->calls.newest = plan->newest_id;
  impl->fd = uvperf__open(
      &opener, impl->attr, is_cgroup ? options->cgroup : plan->pid,
      options->cpu, plan->group_fd,
      PERF_FLAG_FD_CLOEXEC | (is_cgroup ? PERF_FLAG_PID_CGROUP : 0));
  if (impl->fd >= 0)
    return 0;
  call.code = impl->fd;
  if (leader != NULL) {
    of_leader = call;
    of_leader.attr = leader->attr;
    of_leader.pid = leader->source.pid;
    of_leader.cpu = leader->source.cpu;
    of_leader.cgroup = leader->cgroup;
    of_leader.leader = leader->leader != NULL ? &call : NULL;
    call.leader = &of_leader;
  }
  return uvperf__explain_open(&call);
}

static int open_or_fall_back(event_t *impl, const event_plan_t *plan,
                             uvperf_error_t *error) {
  const uvperf_event_options_t *options = &plan->options;
  uvperf__fallback_t fallback = {
      .allowed = options->fallbacks,
      .is_of_cpu = options->pid == -1 || options->cgroup >= 0,
      .is_by_program = options->open != NULL,
  };
  uvperf__tracefs_ids_t tracepoints = {0};
  uint32_t asked_size = impl->attr->size;
  uvperf_error_t first, failed;
  int rc;

  impl->cgroup = options->cgroup;
  if (options->fallbacks == 0)
    return open_fd(impl, plan, NULL, error);
  /* The causes select the fallbacks, so errors are filled even if the caller
   * passed NULL. */
  memset(&failed, 0, sizeof(failed));
  rc = open_fd(impl, plan, &tracepoints, &failed);
  first = failed;
  while (rc != 0 &&
         uvperf__fallback_next(&fallback, impl->attr, asked_size, &failed)) {
    asked_size = impl->attr->size;
    rc = open_fd(impl, plan, &tracepoints, &failed);
  }
  if (rc == 0)
    return uvperf__fallback_keep(&fallback, &impl->changes, &impl->nr_changes,
                                 error);
  uvperf__fallback_report(&fallback, &failed, &first);
  if (error != NULL)
    *error = first;
  return first.code;
}

/* -- the ring -------------------------------------------------------------- */

uint32_t uvperf__event_least_ring(const struct perf_event_attr *attr) {
  return attr->write_backward ? uvperf__attr_stack(attr)
                              : uvperf__attr_watermark(attr);
}

/* -- an fd of the caller's ------------------------------------------------- */

static int event_take_fd(event_t *impl, const event_plan_t *plan,
                         uvperf_error_t *error) {
  const uvperf__control_t control = {.request = PERF_EVENT_IOC_ID,
                                     .attr = impl->attr};
  int rc = uvperf__open_id(plan->options.fd, &impl->id);

  if (rc == UV_EPERM || rc == UV_EACCES)
    return uvperf__explain_control(error, rc, &control);
  if (rc != 0)
    return uvperf__error_set(
        error, rc == UV_EBADF ? UV_EBADF : UV_ENOTTY, UVPERF_CAUSE_ARGUMENT,
        "options.fd %d is not the fd of an open perf event", plan->options.fd);
  uvperf__sys_cloexec(plan->options.fd);
  impl->fd = plan->options.fd;
  impl->cgroup = plan->options.cgroup;
  return 0;
}

void uvperf__event_give_back(event_t *impl) {
  if (!(impl->flags & UVPERF_EVENT_FD))
    return;
  uvperf__ring_unmap(&impl->own.ring);
  impl->fd = -1;
  impl->id = 0; /* the event does not belong to this handle any more */
}

/* The ring is mapped with the attr with which the event was opened, because a
 * fallback may have cleared write_backward. */
int uvperf__event_open(event_t *impl, const event_plan_t *plan,
                       uvperf_error_t *error) {
  const struct perf_event_attr *attr = impl->attr;
  size_t bytes = plan->ring_bytes;
  int rc = plan->options.flags & UVPERF_EVENT_FD
               ? event_take_fd(impl, plan, error)
               : open_or_fall_back(impl, plan, error);

  if (rc == 0)
    rc = uvperf__task_check(plan->pid, plan->start, error);
  if (rc != 0 || bytes == 0)
    return rc;
  if (plan->options.ring_bytes == 0)
    rc = uvperf__ring_map_default(&impl->own.ring, impl->fd,
                                  uvperf__event_least_ring(attr),
                                  attr->write_backward);
  else
    rc = uvperf__ring_map(&impl->own.ring, impl->fd, bytes,
                          attr->write_backward);
  return rc == 0
             ? 0
             : uvperf__explain_map(error, rc, attr, plan->options.cpu, bytes);
}
