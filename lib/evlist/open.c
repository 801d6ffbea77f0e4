/* SPDX-License-Identifier: MIT */
/* Opens the planned events of a target, and closes a target. Events are opened
 * place by place, and at a place in the order of the attrs, so that leaders
 * come first. If there are rings, dummies come before the other events.
 *
 * A leader is opened disabled, but its siblings are not. The kernel counts the
 * siblings only while the leader is enabled (__perf_effective_state in
 * kernel/events/core.c), so one ioctl on the leader starts and stops the whole
 * group at once. Siblings of another PMU that are enabled after their leader
 * would wait for the next tick (Linux 6.12). */
#include "evlist/internal.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "attr/attr.h"
#include "explain/explain.h"
#include "explain/fallback.h"
#include "host/task.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"

/* How often a group is opened again while its task keeps creating other
 * tasks. */
#define TRIES 8

/* The fallbacks that make another label. */
#define LABEL_FALLBACKS                                                        \
  (UVPERF_FALLBACK_CLOCK | UVPERF_FALLBACK_USER | UVPERF_FALLBACK_PRECISE)

/* An event that is being opened. */
typedef struct job_s {
  uvperf__evlist_t *evlist;
  const evlist_target_t *target;
  evlist_place_t *place;
  size_t attr;
  int has_leader;
  size_t leader; /* the attr's index */
  int is_cut;    /* nothing can join the group: see is_cut_off */
  int is_vital;  /* the failure is not specific to this event */
  int is_trial;  /* see uvperf__evlist_choose */
} job_t;

/* -- perf_event_open(2) ---------------------------------------------------- */

static int inherits(const uvperf__evlist_t *evlist,
                    const evlist_target_t *target, size_t attr) {
  const evlist_attr_t *own = &evlist->attrs[attr];

  return (target->inherit || own->attr->inherit) && !own->stays_alone;
}

/* Fills `to`, which has room for any attr, with the attr as it is opened at
 * this place. */
static void fill_attr(const job_t *job, size_t index, int leads,
                      struct perf_event_attr *to) {
  const evlist_target_t *target = job->target;
  const struct perf_event_attr *attr = job->evlist->attrs[index].attr;

  memset(to, 0, job->evlist->attr_bytes);
  memcpy(to, attr, attr->size);
  to->disabled = leads != 0;
  to->inherit = inherits(job->evlist, target, index) != 0;
  if (target->on_exec && leads)
    to->enable_on_exec = 1;
}

static int explain(const job_t *job, const struct perf_event_attr *attr,
                   uint32_t asked_size, int code, uvperf_error_t *error) {
  const uvperf_place_t *place = &job->place->place;
  int pid = job->target->type == UVPERF_TARGET_SELF ? 0 : place->pid;
  uvperf__open_call_t call = {
      .error = error,
      .root = job->evlist->root,
      .attr = attr,
      .asked_size = asked_size,
      .code = code,
      .pid = pid,
      .cpu = place->cpu,
      .cgroup = job->target->cgroup,
      .tracepoints = job->evlist->tracepoints,
      .fallbacks = job->evlist->fallbacks,
      .may_allow = 1,
      .is_by_program = job->evlist->opener.open != NULL,
  };
  uvperf__open_call_t of_leader = call;
  struct perf_event_attr *leader =
      (void *)((char *)job->evlist->scratch + job->evlist->attr_bytes);

  if (!job->has_leader)
    return uvperf__explain_open(&call);
  fill_attr(job, job->leader, 1, leader);
  of_leader.attr = leader;
  call.leader = &of_leader;
  return uvperf__explain_open(&call);
}

/* Makes an event that any group accepts, and that the kernel closes at once. */
static void make_dummy(struct perf_event_attr *attr) {
  attr->type = PERF_TYPE_SOFTWARE;
  attr->config = PERF_COUNT_SW_DUMMY;
  attr->config1 = 0;
  attr->config2 = 0;
  attr->sample_period = 0;
  attr->freq = 0;
  attr->pinned = 0;
  attr->exclusive = 0;
}

/* Tries to open the event. Returns the fd, or a code and the error. On failure
 * *size receives attr.size as the kernel left it. */
static int try_open(const job_t *job, uint32_t *size, uvperf_error_t *error) {
  const evlist_place_t *place = job->place;
  struct perf_event_attr *attr = job->evlist->scratch;
  int group_fd = job->has_leader ? place->events[job->leader].fd : -1;
  unsigned long flags = PERF_FLAG_FD_CLOEXEC;
  int pid = place->place.pid;
  uint32_t asked_size;
  int fd;

  fill_attr(job, job->attr, !job->has_leader, attr);
  if (job->is_trial && uvperf__attr_closes_slowly(attr))
    make_dummy(attr);
  asked_size = attr->size;
  if (job->target->cgroup >= 0) {
    flags |= PERF_FLAG_PID_CGROUP;
    pid = job->target->cgroup;
  }
  fd = uvperf__open(&job->evlist->opener, attr, pid, place->place.cpu, group_fd,
                    flags);
  if (fd >= 0)
    return fd;
  *size = attr->size;
  return explain(job, attr, asked_size, fd, error);
}

/* -- fallbacks ------------------------------------------------------------ */

static int keep_changes(evlist_attr_t *attr, const uvperf__fallback_t *fallback,
                        uvperf_error_t *error) {
  if (fallback->nr == 0)
    return 0;
  attr->changes = uvperf__calloc(fallback->nr, sizeof(*attr->changes));
  if (attr->changes == NULL)
    return uvperf__error_shortage(error, -ENOMEM,
                                  "cannot save what the fallbacks changed");
  memcpy(attr->changes, fallback->changes,
         fallback->nr * sizeof(*attr->changes));
  attr->nr_changes = fallback->nr;
  return 0;
}

/* Reports once that the library has cleared inherit by itself. */
static int note_alone(const job_t *job, uvperf_error_t *error) {
  evlist_attr_t *attr = &job->evlist->attrs[job->attr];
  const uvperf_change_t alone = {UVPERF_FALLBACK_INHERIT, UVPERF_ATTR_INHERIT,
                                 1, 0, 0};
  uvperf_change_t *changes;
  size_t i;

  if (!attr->stays_alone || !(job->target->inherit || attr->asked->inherit))
    return 0;
  for (i = 0; i < attr->nr_changes; i++)
    if (attr->changes[i].fallback == UVPERF_FALLBACK_INHERIT)
      return 0;
  changes = uvperf__calloc(attr->nr_changes + 1, sizeof(*changes));
  if (changes == NULL)
    return uvperf__error_shortage(error, -ENOMEM,
                                  "cannot save what the fallbacks changed");
  if (attr->nr_changes != 0)
    memcpy(changes, attr->changes, attr->nr_changes * sizeof(*changes));
  changes[attr->nr_changes++] = alone;
  uvperf__free(attr->changes);
  attr->changes = changes;
  attr->attr->inherit = 0;
  return 0;
}

static uint32_t allowed_fallbacks(const job_t *job) {
  const evlist_attr_t *attr = &job->evlist->attrs[job->attr];
  uint32_t allowed = job->evlist->fallbacks;

  if (job->evlist->has_chosen)
    allowed &= ~(uint32_t)LABEL_FALLBACKS;
  if (attr->item.flags & UVPERF_ITEM_PRECISE_MAX)
    allowed |= UVPERF_FALLBACK_PRECISE;
  return attr->is_fixed ? 0 : allowed;
}

/* Returns the fd, or a code and the error. The error may not be NULL, because
 * its cause selects the fallback. Changes that do not help are undone, because
 * at another place the attr may work unchanged. */
static int open_or_fall_back(const job_t *job, uvperf_error_t *error) {
  evlist_attr_t *attr = &job->evlist->attrs[job->attr];
  uvperf__fallback_t fallback = {
      .root = job->evlist->root,
      .allowed = allowed_fallbacks(job),
      .is_of_cpu =
          job->is_trial || !uvperf__evlist_target_is_tasks(job->target->type),
      .is_by_program = job->evlist->opener.open != NULL,
  };
  uvperf_error_t failed;
  uint32_t asked_size;
  int fd, rc;

  fd = try_open(job, &asked_size, error);
  failed = *error;
  while (fd < 0 && fallback.allowed != 0) {
    uint32_t size = attr->attr->size;

    /* E2BIG has put the kernel's own size into the attr that was tried. */
    attr->attr->size = asked_size;
    if (!uvperf__fallback_next(&fallback, attr->attr, size, &failed))
      break;
    fd = try_open(job, &asked_size, &failed);
  }
  if (fd >= 0) {
    rc = keep_changes(attr, &fallback, error);
    if (rc == 0)
      return fd;
    uvperf__sys_close(fd);
    return rc;
  }
  uvperf__fallback_report(&fallback, &failed, error);
  if (fallback.nr != 0)
    uvperf__evlist_attr_restore(attr);
  return error->code;
}

/* -- groups of a task that forks ------------------------------------------ */

/* Whether nothing can join the group any more. A task and a child that has
 * inherited all of its events may swap them at a context switch
 * (perf_event_context_sched_out in kernel/events/core.c). The leader is then in
 * the child's context. Opening a sibling in the task's context fails with
 * EINVAL, or with ENODEV once the child has ended. Both codes have other causes
 * too, so this function tries to open an event that any group accepts. */
static int is_cut_off(const job_t *job, int code) {
  struct perf_event_attr *attr = job->evlist->scratch;
  int fd;

  if ((code != -EINVAL && code != -ENODEV) || !job->has_leader ||
      !inherits(job->evlist, job->target, job->leader))
    return 0;
  fill_attr(job, job->leader, 0, attr);
  make_dummy(attr);
  fd = uvperf__open(&job->evlist->opener, attr, job->place->place.pid,
                    job->place->place.cpu, job->place->events[job->leader].fd,
                    PERF_FLAG_FD_CLOEXEC);
  if (fd >= 0)
    uvperf__sys_close(fd);
  return fd == -EINVAL || fd == -ENODEV;
}

/* -- one event ------------------------------------------------------------ */

void uvperf__evlist_close_event(uvperf__evlist_t *evlist, evlist_event_t *event,
                                size_t attr) {
  uvperf__leftovers_t *leftovers = evlist->leftovers;

  event->is_unchecked = 0;
  if (event->fd < 0)
    return;
  /* A program without a link runs until the file is closed. */
  if (event->has_bpf && event->bpf_link < 0)
    leftovers = NULL;
  uvperf__evlist_unmap(evlist, event, leftovers);
  uvperf__evlist_detach_event(evlist, event);
  uvperf__evlist_leave_entry(evlist, event, attr);
  uvperf__leftovers_add(leftovers, NULL, 0, event->fd);
  event->fd = -1;
  uvperf__evlist_leave(evlist, event);
  if (event->state != COUNTER_OPEN)
    return;
  evlist->attrs[attr].nr_open--;
  evlist->nr_open--;
}

/* Finds the event that leads the group at this place: the first event that is
 * open. If an event before this attr is still planned, its group was cut off,
 * and this attr must wait too. */
static void find_leader(job_t *job) {
  const evlist_attr_t *attrs = job->evlist->attrs;
  const evlist_event_t *events = job->place->events;
  size_t leader = attrs[job->attr].item.leader;
  size_t i;

  job->has_leader = 0;
  for (i = leader; i < job->attr; i++) {
    if (attrs[i].item.leader != leader)
      continue;
    if (events[i].state == COUNTER_PLANNED)
      job->is_cut = 1;
    if (events[i].state != COUNTER_OPEN || job->has_leader)
      continue;
    job->has_leader = 1;
    job->leader = i;
  }
}

/* The id is needed to find the event's value among the values of a group, and
 * to find the event that wrote a record. An event that is read alone needs no
 * id. */
static int know_id(const job_t *job, uvperf_error_t *error) {
  const struct perf_event_attr *attr = job->evlist->attrs[job->attr].attr;
  const uvperf__control_t control = {.request = PERF_EVENT_IOC_ID,
                                     .attr = attr};
  evlist_event_t *event = &job->place->events[job->attr];
  int rc;

  if (!(job->evlist->flags & UVPERF_SET_RECORDS) &&
      !(attr->read_format & PERF_FORMAT_GROUP))
    return 0;
  rc = uvperf__open_id(event->fd, &event->id);
  return rc == 0
             ? 0
             : uvperf__explain_control(error, rc, job->evlist->root, &control);
}

static int open_event(job_t *job, uvperf_error_t *error) {
  uvperf__evlist_t *evlist = job->evlist;
  evlist_attr_t *attr = &evlist->attrs[job->attr];
  evlist_event_t *event = &job->place->events[job->attr];
  int rc;

  rc = open_or_fall_back(job, error);
  job->is_cut = is_cut_off(job, rc);
  if (rc == -EINVAL && job->has_leader && !job->is_cut &&
      (attr->item.flags & UVPERF_ITEM_WEAK)) {
    job->has_leader = 0;
    rc = open_or_fall_back(job, error);
  }
  if (rc >= 0) {
    event->fd = rc;
    rc = note_alone(job, error);
  }
  if (rc == 0)
    rc = know_id(job, error);
  if (rc == 0)
    rc = uvperf__evlist_apply_settings(evlist, job->attr, event, error);
  if (rc == 0)
    rc = uvperf__evlist_join(evlist, job->target, job->place, job->attr,
                             &job->is_vital, error);
  if (rc != 0) {
    uvperf__evlist_close_event(evlist, event, job->attr);
    if (!attr->is_fixed)
      uvperf__evlist_attr_restore(attr);
    return rc;
  }
  event->state = COUNTER_OPEN;
  event->is_unchecked = job->place->start != 0;
  event->leader = job->has_leader ? job->leader : job->attr;
  attr->is_fixed = 1;
  attr->nr_open++;
  evlist->nr_open++;
  return 0;
}

/* -- before the first target ----------------------------------------------- */

/* The event of the calling thread is closed again. Whether the kernel side is
 * allowed depends on neither the event nor the target. So for an event that the
 * kernel closes slowly, a dummy is opened. */
int uvperf__evlist_choose(uvperf__evlist_t *evlist, size_t attr,
                          uvperf_error_t *error) {
  const evlist_target_t self = {.type = UVPERF_TARGET_SELF, .cgroup = -1};
  evlist_place_t place = {.place = {.cpu = -1}};
  const job_t job = {evlist, &self, &place, attr, 0, 0, 0, 0, 1};
  evlist_attr_t *own = &evlist->attrs[attr];
  uvperf_error_t why;
  size_t i;
  int fd;

  if ((evlist->fallbacks & LABEL_FALLBACKS) == 0 ||
      (own->item.flags & UVPERF_ITEM_CPU_WIDE))
    return 0;
  memset(&why, 0, sizeof(why));
  fd = open_or_fall_back(&job, &why);
  if (fd >= 0)
    uvperf__sys_close(fd);
  for (i = 0; i < own->nr_changes; i++)
    own->is_fixed |= (own->changes[i].fallback & LABEL_FALLBACKS) != 0;
  if (!own->is_fixed)
    uvperf__evlist_attr_restore(own);
  if (fd >= 0 || !uvperf__error_is_shortage(&why))
    return 0;
  why.attr_index = (uint32_t)attr;
  *error = why;
  return why.code;
}

/* -- one event of a place ------------------------------------------------- */

/* A shortage is a failure of the call, because it would be a matter of chance
 * which events are open. */
static int fail_event(uvperf__evlist_t *evlist, const evlist_target_t *target,
                      evlist_place_t *place, size_t attr, int is_vital,
                      uvperf_error_t *why, uvperf_error_t *error) {
  evlist_event_t *event = &place->events[attr];

  if (is_vital || uvperf__error_is_shortage(why) ||
      (evlist->flags & UVPERF_SET_STRICT)) {
    why->attr_index = (uint32_t)attr;
    why->target_index = target->index;
    if (error != NULL)
      *error = *why;
    return why->code;
  }
  event->state = COUNTER_FAILED;
  event->code = why->code;
  return uvperf__evlist_fail(evlist, &place->place, attr, why, error);
}

/* If the event's group was cut off, and another try follows, the event stays
 * planned. */
static int open_at(uvperf__evlist_t *evlist, const evlist_target_t *target,
                   evlist_place_t *place, size_t attr, int is_last,
                   uvperf_error_t *error) {
  job_t job = {evlist, target, place, attr, 0, 0, 0, 0, 0};
  uvperf_error_t why;
  int rc;

  if (place->events[attr].state != COUNTER_PLANNED)
    return 0;
  find_leader(&job);
  if (job.is_cut)
    return 0;
  memset(&why, 0, sizeof(why));
  rc = open_event(&job, &why);
  if (rc == 0 || (job.is_cut && !is_last))
    return 0;
  return fail_event(evlist, target, place, attr, job.is_vital, &why, error);
}

/* -- groups that are inherited -------------------------------------------- */

static int is_of_group(const uvperf__evlist_t *evlist, size_t attr,
                       size_t leader) {
  return evlist->attrs[attr].item.leader == evlist->attrs[leader].item.leader;
}

/* Whether a sibling could not be opened because its group was cut off. */
static int is_short(const uvperf__evlist_t *evlist, const evlist_place_t *place,
                    size_t leader) {
  size_t i;

  for (i = leader; i < uvperf__evlist_end(evlist, leader); i++)
    if (is_of_group(evlist, i, leader) &&
        place->events[i].state == COUNTER_PLANNED)
      return 1;
  return 0;
}

/* Whether the group's task has created another task between the opening of the
 * leader and the opening of the last sibling. The new task has inherited only a
 * part of the group. While it lives, the kernel refuses to read the group
 * (group_generation in __perf_read_group_add, Linux 6.6). */
static int is_torn(const uvperf__evlist_t *evlist, const evlist_place_t *place,
                   size_t leader) {
  return uvperf__sys_read(place->events[leader].fd, evlist->words,
                          evlist->words_size) == -ECHILD;
}

/* Whether this event leads a group that must be opened again because its task
 * has forked meanwhile. */
static int is_spoilt(const uvperf__evlist_t *evlist,
                     const evlist_target_t *target, const evlist_place_t *place,
                     size_t leader) {
  const struct perf_event_attr *attr = evlist->attrs[leader].attr;

  return uvperf__evlist_leads(place, leader) &&
         (attr->read_format & PERF_FORMAT_GROUP) &&
         inherits(evlist, target, leader) &&
         (is_short(evlist, place, leader) || is_torn(evlist, place, leader));
}

/* Opens the whole group again, because the leader must be opened first. */
static int open_again(uvperf__evlist_t *evlist, const evlist_target_t *target,
                      evlist_place_t *place, size_t leader, int is_last,
                      uvperf_error_t *error) {
  evlist_event_t *event;
  size_t i;
  int rc = 0;

  for (i = leader; i < uvperf__evlist_end(evlist, leader); i++) {
    event = &place->events[i];
    if (!uvperf__evlist_is_led(event, leader))
      continue;
    uvperf__evlist_close_event(evlist, event, i);
    event->state = COUNTER_PLANNED;
  }
  for (i = leader; i < uvperf__evlist_end(evlist, leader) && rc == 0; i++)
    if (is_of_group(evlist, i, leader))
      rc = open_at(evlist, target, place, i, is_last, error);
  return rc;
}

/* Called when the events of the place were opened. Opens groups again whose
 * task has forked meanwhile. */
static int mend_groups(uvperf__evlist_t *evlist, const evlist_target_t *target,
                       evlist_place_t *place, uvperf_error_t *error) {
  size_t attr;
  int tries;
  int rc = 0;

  for (attr = 0; attr < evlist->nr_attrs && rc == 0; attr++)
    for (tries = TRIES;
         tries > 0 && rc == 0 && is_spoilt(evlist, target, place, attr);
         tries--)
      rc = open_again(evlist, target, place, attr, tries == 1, error);
  return rc;
}

/* -- ids that are used again ----------------------------------------------- */

/* Called when the events at all places of a task are open. The task may have
 * ended before, and another task may have its id. If so, the events are closed
 * before they were enabled, and count as not opened. Siblings are closed first:
 * without their leader they would count. */
static int check_task(uvperf__evlist_t *evlist, const evlist_target_t *target,
                      evlist_place_t *places, size_t nr,
                      uvperf_error_t *error) {
  evlist_place_t *place;
  uvperf_error_t why;
  int has_checked = 0, rc = 0;
  size_t i, attr;

  memset(&why, 0, sizeof(why));
  for (i = nr * evlist->nr_attrs; i > 0 && rc == 0; i--) {
    place = &places[(i - 1) / evlist->nr_attrs];
    attr = (i - 1) % evlist->nr_attrs;
    if (!place->events[attr].is_unchecked)
      continue;
    place->events[attr].is_unchecked = 0;
    if (!has_checked)
      uvperf__task_check(evlist->root, place->place.pid, place->start, &why);
    has_checked = 1;
    if (why.code == 0)
      continue;
    uvperf__evlist_close_event(evlist, &place->events[attr], attr);
    rc = fail_event(evlist, target, place, attr, 0, &why, error);
  }
  return rc;
}

/* The places of a task, one for each CPU, follow one another. */
static int check_last_place(uvperf__evlist_t *evlist,
                            const evlist_target_t *target, size_t last,
                            uvperf_error_t *error) {
  evlist_place_t *places = target->places;
  int pid = places[last].place.pid;
  size_t first = last;

  if (last + 1 < target->nr_places && places[last + 1].place.pid == pid)
    return 0;
  while (first > 0 && places[first - 1].place.pid == pid)
    first--;
  return check_task(evlist, target, &places[first], last - first + 1, error);
}

int uvperf__evlist_open_place(uvperf__evlist_t *evlist,
                              const evlist_target_t *target,
                              evlist_place_t *place, uvperf_error_t *error) {
  size_t i;
  int rc = 0;

  for (i = 0; i < evlist->nr_attrs && rc == 0; i++)
    rc = open_at(evlist, target, place, evlist->order[i], 0, error);
  if (rc == 0)
    rc = mend_groups(evlist, target, place, error);
  return rc != 0 ? rc : check_task(evlist, target, place, 1, error);
}

/* -- a target ------------------------------------------------------------- */

static void close_cgroup(evlist_target_t *target) {
  if (target->cgroup >= 0)
    uvperf__file_close(target->cgroup);
  target->cgroup = -1;
}

int uvperf__evlist_open_next(uvperf__evlist_t *evlist, evlist_cursor_t *cursor,
                             uvperf_error_t *error) {
  evlist_target_t *target = evlist->targets[cursor->target];
  evlist_place_t *place = &target->places[cursor->place];
  int rc;

  if (cursor->at < evlist->nr_attrs)
    return open_at(evlist, target, place, evlist->order[cursor->at++], 0,
                   error);
  rc = mend_groups(evlist, target, place, error);
  if (rc == 0)
    rc = check_last_place(evlist, target, cursor->place, error);
  cursor->at = 0;
  cursor->place += 1;
  if (cursor->place < target->nr_places)
    return rc;
  close_cgroup(target);
  cursor->place = 0;
  cursor->target += 1;
  return rc;
}

void uvperf__evlist_close_events(uvperf__evlist_t *evlist,
                                 evlist_target_t *target) {
  size_t i;

  for (i = 0; i < target->nr_places * evlist->nr_attrs; i++)
    uvperf__evlist_close_event(evlist, &target->events[i],
                               i % evlist->nr_attrs);
}

void uvperf__evlist_close(uvperf__evlist_t *evlist, evlist_target_t *target) {
  if (target == NULL)
    return;
  close_cgroup(target);
  uvperf__evlist_close_events(evlist, target);
  uvperf__free(target->cgroup_path);
  uvperf__free(target->places);
  uvperf__free(target->events);
  uvperf__free(target);
}
