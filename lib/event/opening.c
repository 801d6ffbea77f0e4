/* SPDX-License-Identifier: MIT */
/* Opens an event on a thread of libuv's pool. That thread works on a separate
 * event, the draft. The loop's thread then moves the draft's fd and ring into
 * the handle. */
#include "event/internal.h"

#include "attr/attr.h"
#include "host/task.h"
#include "sys/bpf.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"

struct event_opening_s {
  uvperf__handle_job_t base;
  event_plan_t plan;
  event_install_t install;
  int was_tried;
  /* For the pool's thread. */
  event_t draft;
  /* A copy of the leader as it was, for the draft. */
  uvperf_event_t leader_handle;
  event_t leader;
  uvperf__leftovers_t leftovers;
  int rc;
  uvperf_error_t error;
};

static int opening_step(uvperf__job_t *job);
static int opening_done(uvperf__handle_job_t *job, int rc,
                        uvperf_error_t *error);
static void opening_free(uvperf__handle_job_t *job);

/* -- 1. on the loop: copies what the pool needs ---------------------------- */

/* Replaces an fd by a duplicate, because the owner of the fd (the caller or the
 * leader) may close it. */
static int keep_fd(int *fd) {
  if (*fd < 0)
    return 0;
  *fd = uvperf__sys_dup(*fd);
  return *fd < 0 ? *fd : 0;
}

/* Copies what the pool needs, because the owners of the fds, the leader and the
 * task may be gone when the pool opens the event. Afterwards both fds of the
 * plan belong to the plan, or are negative. */
static int opening_keep(event_opening_t *opening, const event_t *impl,
                        uvperf_error_t *error) {
  event_plan_t *plan = &opening->plan;
  int group_fd = plan->group_fd;
  const event_t *leader;
  int rc;

  plan->group_fd = -1;
  rc = keep_fd(&plan->options.cgroup);
  if (rc == 0) {
    plan->group_fd = group_fd;
    rc = keep_fd(&plan->group_fd);
  }
  if (rc != 0)
    return uvperf__error_set(
        error, rc, rc == UV_EBADF ? UVPERF_CAUSE_ARGUMENT : UVPERF_CAUSE_FILES,
        "cannot duplicate the fd of options.leader or options.cgroup (errno "
        "%d)",
        -rc);
  if (plan->options.leader != NULL) {
    leader = plan->options.leader->handle.impl;
    rc = uvperf__attr_copy(&opening->leader.attr, leader->attr, NULL);
    opening->leader.source.pid = leader->source.pid;
    opening->leader.source.cpu = leader->source.cpu;
    /* Errors compare the cgroups by their fds, and the plan has a duplicate. */
    opening->leader.cgroup =
        leader->cgroup == impl->cgroup ? plan->options.cgroup : leader->cgroup;
    opening->leader.leader = leader->leader;
    opening->leader_handle.handle.impl = &opening->leader;
    plan->options.leader = &opening->leader_handle;
  }
  if (rc != 0 || uvperf__attr_copy(&opening->draft.attr, impl->attr, NULL) != 0)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot open the event");
  if (plan->options.pid == 0)
    plan->pid = (int)uvperf__sys_gettid();
  /* The task's id may be used again. */
  if (plan->start == 0 && plan->pid > 0 && plan->options.cgroup < 0 &&
      !(plan->options.flags & UVPERF_EVENT_FD))
    rc = uvperf__task_proc_is_own();
  if (rc > 0)
    rc = uvperf__task_start(plan->pid, &plan->start);
  return rc < 0 ? uvperf__error_shortage(error, rc, "cannot read /proc") : 0;
}

int uvperf__event_new_opening(event_opening_t **made, event_t *impl,
                              const event_plan_t *plan, event_install_t install,
                              uvperf_error_t *error) {
  event_opening_t *opening = uvperf__calloc(1, sizeof(*opening));

  *made = opening;
  if (opening == NULL)
    return uvperf__error_shortage(error, UV_ENOMEM, "cannot open the event");
  opening->base.job.step = opening_step;
  opening->base.done = opening_done;
  opening->base.free = opening_free;
  opening->base.open_cb = plan->options.open_cb;
  opening->plan = *plan;
  opening->install = install;
  opening->draft.fd = -1;
  opening->draft.flags = impl->flags;
  impl->cgroup = plan->options.cgroup;
  return opening_keep(opening, impl, error);
}

int uvperf__event_begin_opening(event_t *impl, event_opening_t *opening,
                                uvperf_error_t *error) {
  return uvperf__handle_job_begin(&impl->base, &opening->base,
                                  &opening->draft.calls, error);
}

/* -- 2. on the pool -------------------------------------------------------- */

static void opening_leave(event_opening_t *opening);

static int opening_step(uvperf__job_t *job) {
  event_opening_t *opening = (event_opening_t *)job;

  if (opening->was_tried)
    return uvperf__leftovers_close_one(&opening->leftovers);
  opening->was_tried = 1;
  if (!atomic_load(&opening->base.is_cancelled))
    opening->rc =
        uvperf__event_open(&opening->draft, &opening->plan, &opening->error);
  if (atomic_load(&opening->base.is_cancelled))
    opening->rc = UV_ECANCELED;
  opening_leave(opening);
  return 1;
}

/* -- 3. on the loop: takes what was opened --------------------------------- */

/* If the handle closes, it closes the event too. */
static int opening_done(uvperf__handle_job_t *job, int rc,
                        uvperf_error_t *error) {
  event_opening_t *opening = (event_opening_t *)job;
  event_t *impl = (event_t *)job->owner;
  event_t *draft = &opening->draft;

  if (!job->is_late && opening->rc == 0) {
    uvperf__free(impl->attr);
    impl->attr = draft->attr;
    impl->changes = draft->changes;
    impl->nr_changes = draft->nr_changes;
    impl->fd = draft->fd;
    impl->own.ring = draft->own.ring;
    draft->attr = NULL;
    draft->changes = NULL;
    draft->fd = -1;
    uvperf__ring_forget(&draft->own.ring);
  }
  if (rc == 0) {
    rc = opening->rc;
    *error = opening->error;
  }
  if (rc == 0)
    rc = opening->install(impl, &opening->plan, error);
  if (rc != 0) {
    uvperf__event_give_back(impl);
    uvperf__event_leave_group(impl);
  }
  return rc;
}

/* -- what is not needed any more, or was not wanted ------------------------ */

/* Adds the fds that are not needed any more to the leftovers, which are closed
 * one by one. If the leader has closed meanwhile, the duplicate can be its last
 * fd. */
static void opening_leave(event_opening_t *opening) {
  event_t *draft = &opening->draft;

  uvperf__leftovers_add(&opening->leftovers, NULL, 0, opening->plan.group_fd);
  uvperf__leftovers_add(&opening->leftovers, NULL, 0,
                        opening->plan.options.cgroup);
  opening->plan.group_fd = opening->plan.options.cgroup = -1;
  if (opening->rc == 0)
    return;
  uvperf__event_give_back(draft);
  uvperf__ring_give_up(&draft->own.ring, &opening->leftovers);
  uvperf__leftovers_add(&opening->leftovers, NULL, 0, draft->fd);
  draft->fd = -1;
}

void uvperf__event_free_opening(event_opening_t *opening) {
  if (opening == NULL)
    return;
  opening->rc = UV_ECANCELED;
  opening_leave(opening);
  uvperf__leftovers_end(&opening->leftovers);
  uvperf__free(opening->draft.attr);
  uvperf__free(opening->draft.changes);
  uvperf__free(opening->leader.attr);
  uvperf__free(opening);
}

static void opening_free(uvperf__handle_job_t *job) {
  uvperf__event_free_opening((event_opening_t *)job);
}
