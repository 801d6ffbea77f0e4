/* SPDX-License-Identifier: MIT */
/* Opens the planned events of a target, and closes a target.
 *
 * The good path: uvperf__evlist_open_next opens one event at a time, place by
 * place, and at a place in the order of the attrs, so that leaders come first.
 * If there are rings, dummies come before the other events. open_event opens
 * the event (perf_event_open(2)), finds its id, sets its filter and program,
 * and redirects its records into a ring.
 *
 * It can fail in these ways:
 * - The kernel refuses the event. A fallback may help: open_or_fall_back. If
 *   none helps, the event has failed at this place, and the others go on.
 * - fds or memory are short, or UVPERF_SET_STRICT is set. The call fails, and
 *   the caller closes everything (uvperf__evlist_take_back).
 * - The task forks while a group is opened. The group is then closed, and
 *   opened again, up to TRIES times: place_mend_groups.
 * - The task has ended, and another one has its id. This is known when all its
 *   places are open: places_check_task. Its events are then closed, and have
 *   failed.
 *
 * A leader is opened disabled, but its siblings are not. The kernel counts the
 * siblings only while the leader is enabled (__perf_effective_state in
 * kernel/events/core.c), so one ioctl on the leader starts and stops the whole
 * group at once. Siblings of another PMU that are enabled after their leader
 * would wait for the next tick (Linux 6.12). */
#include "evlist/opening.h"
#include "evlist/reading.h"
#include "evlist/records.h"

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
typedef struct attempt_s {
  uvperf__evlist_t *evlist;
  const evlist_target_t *target;
  evlist_place_t *place;
  size_t attr;
  int has_leader;
  size_t leader; /* the attr's index */
  /* Nothing can join the group (see group_is_cut_off), or an event before this
   * one still waits for another try because of that. */
  int is_cut;
  int is_vital; /* the failure is not specific to this event */
  int is_trial; /* see uvperf__evlist_choose */
} attempt_t;

/* -- perf_event_open(2) ---------------------------------------------------- */

static int attr_inherits(const uvperf__evlist_t *evlist,
                         const evlist_target_t *target, size_t attr) {
  const evlist_attr_t *own = &evlist->attrs->at[attr];

  return (target->inherit || own->attr->inherit) && !own->stays_alone;
}

/* Fills `to`, which has room for any attr, with the attr as it is opened at
 * this place. */
static void attempt_fill_attr(const attempt_t *attempt, size_t index, int leads,
                              struct perf_event_attr *to) {
  const struct perf_event_attr *attr = attempt->evlist->attrs->at[index].attr;

  memset(to, 0, attempt->evlist->attrs->bytes);
  memcpy(to, attr, attr->size);
  to->disabled = leads != 0;
  to->inherit = attr_inherits(attempt->evlist, attempt->target, index) != 0;
  if (attempt->target->on_exec && leads)
    to->enable_on_exec = 1;
}

/* Makes an event that any group accepts, and that the kernel closes at once. */
static void attr_make_dummy(struct perf_event_attr *attr) {
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
 * *kernel_size receives attr.size as the kernel left it. */
static int attempt_try(const attempt_t *attempt, uint32_t *kernel_size,
                       uvperf_error_t *error) {
  const uvperf__evlist_t *evlist = attempt->evlist;
  const uvperf_place_t *place = &attempt->place->place;
  int cgroup = attempt->target->cgroup;
  struct perf_event_attr *attr = evlist->opening->scratch;
  struct perf_event_attr *leader =
      (void *)((char *)evlist->opening->scratch + evlist->attrs->bytes);
  uvperf__open_call_t call = {
      .error = error,
      .attr = attr,
      .pid = attempt->target->type == UVPERF_TARGET_SELF ? 0 : place->pid,
      .cpu = place->cpu,
      .cgroup = cgroup,
      .tracepoints = evlist->opening->tracepoints,
      .fallbacks = evlist->opening->fallbacks,
      .may_allow = !evlist->is_array,
      .is_by_program = evlist->opening->opener.open != NULL,
  };
  uvperf__open_call_t of_leader;

  attempt_fill_attr(attempt, attempt->attr, !attempt->has_leader, attr);
  if (attempt->is_trial && uvperf__attr_closes_slowly(attr))
    attr_make_dummy(attr);
  call.asked_size = attr->size;
  call.code = uvperf__open(
      &evlist->opening->opener, attr, cgroup >= 0 ? cgroup : place->pid,
      place->cpu,
      attempt->has_leader ? attempt->place->events[attempt->leader].fd : -1,
      PERF_FLAG_FD_CLOEXEC | (cgroup >= 0 ? PERF_FLAG_PID_CGROUP : 0));
  if (call.code >= 0)
    return call.code;
  *kernel_size = attr->size;
  if (attempt->has_leader) {
    attempt_fill_attr(attempt, attempt->leader, 1, leader);
    of_leader = call;
    of_leader.attr = leader;
    call.leader = &of_leader;
  }
  return uvperf__explain_open(&call);
}

/* -- fallbacks ------------------------------------------------------------ */

/* Reports once that the library has cleared inherit by itself. */
static int attempt_note_alone(const attempt_t *attempt, uvperf_error_t *error) {
  evlist_attr_t *attr = &attempt->evlist->attrs->at[attempt->attr];
  const uvperf_change_t alone = {UVPERF_FALLBACK_INHERIT, UVPERF_ATTR_INHERIT,
                                 1, 0, 0};
  uvperf_change_t *changes;
  size_t i;

  if (!attr->stays_alone || !(attempt->target->inherit || attr->asked->inherit))
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

/* Returns the fd, or a code and the error. The error may not be NULL, because
 * its cause selects the fallback. Changes that do not help are undone, because
 * at another place the attr may work unchanged. */
static int open_or_fall_back(const attempt_t *attempt, uvperf_error_t *error) {
  const evlist_opening_t *opening = attempt->evlist->opening;
  evlist_attr_t *attr = &attempt->evlist->attrs->at[attempt->attr];
  uvperf__fallback_t fallback = {
      .allowed = opening->fallbacks,
      .is_of_cpu = attempt->is_trial ||
                   !uvperf__evlist_target_is_tasks(attempt->target->type),
      .is_by_program = opening->opener.open != NULL,
  };
  uvperf_error_t failed;
  uint32_t kernel_size;
  int fd, rc;

  if (opening->has_chosen)
    fallback.allowed &= ~(uint32_t)LABEL_FALLBACKS;
  if (attr->item.flags & UVPERF_ITEM_PRECISE_MAX)
    fallback.allowed |= UVPERF_FALLBACK_PRECISE;
  if (attr->is_fixed)
    fallback.allowed = 0;
  fd = attempt_try(attempt, &kernel_size, error);
  failed = *error;
  while (fd < 0 && fallback.allowed != 0) {
    uint32_t size = attr->attr->size;

    /* E2BIG has put the kernel's own size into the attr that was tried. */
    attr->attr->size = kernel_size;
    if (!uvperf__fallback_next(&fallback, attr->attr, size, &failed))
      break;
    fd = attempt_try(attempt, &kernel_size, &failed);
  }
  if (fd >= 0) {
    rc = uvperf__fallback_keep(&fallback, &attr->changes, &attr->nr_changes,
                               error);
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

/* Called if the set has no target when it is made. The event of the calling
 * thread is closed again. Whether the kernel side is allowed depends on neither
 * the event nor the target. So for an event that the kernel closes slowly, a
 * dummy is opened. */
int uvperf__evlist_choose(uvperf__evlist_t *evlist, size_t attr,
                          uvperf_error_t *error) {
  const evlist_target_t self = {.type = UVPERF_TARGET_SELF, .cgroup = -1};
  evlist_place_t place = {.place = {.cpu = -1}};
  const attempt_t attempt = {.evlist = evlist,
                             .target = &self,
                             .place = &place,
                             .attr = attr,
                             .is_trial = 1};
  evlist_attr_t *own = &evlist->attrs->at[attr];
  uvperf_error_t why;
  size_t i;
  int fd;

  if ((evlist->opening->fallbacks & LABEL_FALLBACKS) == 0 ||
      (own->item.flags & UVPERF_ITEM_CPU_WIDE))
    return 0;
  memset(&why, 0, sizeof(why));
  fd = open_or_fall_back(&attempt, &why);
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

/* -- one event ------------------------------------------------------------ */

void uvperf__evlist_close_event(uvperf__evlist_t *evlist, evlist_event_t *event,
                                size_t attr) {
  uvperf__leftovers_t *leftovers = evlist->opening->leftovers;

  event->is_unchecked = 0;
  if (event->fd < 0)
    return;
  /* A program without a link runs until the file is closed. */
  if (event->has_bpf && event->bpf_link < 0)
    leftovers = NULL;
  uvperf__evlist_unmap(evlist, event, leftovers);
  uvperf__evlist_detach_event(evlist, event);
  if (event->is_in_map)
    uvperf__evlist_leave_entry(evlist, event, attr, NULL);
  event->is_in_map = 0;
  uvperf__leftovers_add(leftovers, NULL, 0, event->fd);
  event->fd = -1;
  uvperf__evlist_leave(evlist, event);
  if (event->state != EVENT_OPEN)
    return;
  evlist->attrs->at[attr].nr_open--;
  evlist->places->nr_open--;
}

/* Finds the event that leads the group at this place: the first event that is
 * open. If an event before this attr is still planned, its group was cut off,
 * and this attr must wait too. */
static void attempt_find_leader(attempt_t *attempt) {
  const evlist_attr_t *attrs = attempt->evlist->attrs->at;
  const evlist_event_t *events = attempt->place->events;
  size_t leader = attrs[attempt->attr].item.leader;
  size_t i;

  for (i = leader; i < attempt->attr; i++) {
    if (attrs[i].item.leader != leader)
      continue;
    if (events[i].state == EVENT_PLANNED)
      attempt->is_cut = 1;
    if (events[i].state != EVENT_OPEN || attempt->has_leader)
      continue;
    attempt->has_leader = 1;
    attempt->leader = i;
  }
}

/* Whether nothing can join the group any more. A task and a child that has
 * inherited all of its events may swap them at a context switch
 * (perf_event_context_sched_out in kernel/events/core.c). The leader is then in
 * the child's context. Opening a sibling in the task's context fails with
 * EINVAL, or with ENODEV once the child has ended. Both codes have other causes
 * too, so this function tries to open an event that any group accepts. */
static int group_is_cut_off(const attempt_t *attempt, int code) {
  const evlist_opening_t *opening = attempt->evlist->opening;
  struct perf_event_attr *attr = opening->scratch;
  int fd;

  if ((code != -EINVAL && code != -ENODEV) || !attempt->has_leader ||
      !attr_inherits(attempt->evlist, attempt->target, attempt->leader))
    return 0;
  attempt_fill_attr(attempt, attempt->leader, 0, attr);
  attr_make_dummy(attr);
  fd = uvperf__open(&opening->opener, attr, attempt->place->place.pid,
                    attempt->place->place.cpu,
                    attempt->place->events[attempt->leader].fd,
                    PERF_FLAG_FD_CLOEXEC);
  if (fd >= 0)
    uvperf__sys_close(fd);
  return fd == -EINVAL || fd == -ENODEV;
}

static int open_event(attempt_t *attempt, uvperf_error_t *error) {
  uvperf__evlist_t *evlist = attempt->evlist;
  evlist_attr_t *attr = &evlist->attrs->at[attempt->attr];
  evlist_event_t *event = &attempt->place->events[attempt->attr];
  uvperf__control_t control = {.request = PERF_EVENT_IOC_ID};
  int rc;

  rc = open_or_fall_back(attempt, error);
  attempt->is_cut = group_is_cut_off(attempt, rc);
  if (rc == -EINVAL && attempt->has_leader && !attempt->is_cut &&
      (attr->item.flags & UVPERF_ITEM_WEAK)) {
    attempt->has_leader = 0;
    rc = open_or_fall_back(attempt, error);
  }
  if (rc >= 0) {
    event->fd = rc;
    rc = attempt_note_alone(attempt, error);
  }
  /* The id is needed to find the event's value among the values of a group, and
   * to find the event that wrote a record. An event that is read alone needs no
   * id, nor does the event of an array. */
  if (rc == 0 && !evlist->is_array &&
      ((evlist->flags & UVPERF_SET_RECORDS) ||
       (attr->attr->read_format & PERF_FORMAT_GROUP))) {
    rc = uvperf__open_id(event->fd, &event->id);
    control.attr = attr->attr;
    if (rc != 0)
      uvperf__explain_control(error, rc, &control);
  }
  if (rc == 0)
    rc = uvperf__evlist_apply_settings(evlist, attempt->attr, event, error);
  if (rc == 0)
    rc = uvperf__evlist_join(evlist, attempt->target, attempt->place,
                             attempt->attr, &attempt->is_vital, error);
  if (rc != 0) {
    uvperf__evlist_close_event(evlist, event, attempt->attr);
    if (!attr->is_fixed)
      uvperf__evlist_attr_restore(attr);
    return rc;
  }
  event->state = EVENT_OPEN;
  event->is_unchecked = attempt->place->start != 0;
  event->leader = attempt->has_leader ? attempt->leader : attempt->attr;
  attr->is_fixed = 1;
  attr->nr_open++;
  evlist->places->nr_open++;
  return 0;
}

/* A shortage is a failure of the call, because it would be a matter of chance
 * which events are open. The event of an array whose CPU has gone offline is
 * opened when the CPU comes. */
static int fail_event(const attempt_t *attempt, uvperf_error_t *why,
                      uvperf_error_t *error) {
  evlist_event_t *event = &attempt->place->events[attempt->attr];

  if (attempt->is_vital || uvperf__error_is_shortage(why) ||
      ((attempt->evlist->flags & UVPERF_SET_STRICT) &&
       !(attempt->evlist->is_array && why->code == -ENODEV))) {
    uvperf__evlist_locate(why, attempt->attr, attempt->target->index);
    if (error != NULL)
      *error = *why;
    return why->code;
  }
  event->state = EVENT_FAILED;
  event->code = why->code;
  return uvperf__evlist_fail(attempt->evlist, &attempt->place->place,
                             attempt->attr, why, error);
}

/* Opens an event if it is planned. If the event's group was cut off, and
 * another try follows, the event stays planned. */
static int open_planned(uvperf__evlist_t *evlist, const evlist_at_t *at,
                        size_t attr, int is_last, uvperf_error_t *error) {
  attempt_t attempt = {
      .evlist = evlist, .target = at->target, .place = at->place, .attr = attr};
  uvperf_error_t why;

  if (at->place->events[attr].state != EVENT_PLANNED)
    return 0;
  attempt_find_leader(&attempt);
  if (attempt.is_cut)
    return 0;
  memset(&why, 0, sizeof(why));
  if (open_event(&attempt, &why) == 0 || (attempt.is_cut && !is_last))
    return 0;
  return fail_event(&attempt, &why, error);
}

/* -- groups that are inherited -------------------------------------------- */

static int attr_is_of_group(const uvperf__evlist_t *evlist, size_t attr,
                            size_t leader) {
  return evlist->attrs->at[attr].item.leader ==
         evlist->attrs->at[leader].item.leader;
}

/* Whether this event leads a group that must be opened again because its task
 * has created another task between the opening of the leader and the opening of
 * the last sibling. Either a sibling could not be opened, as its group was cut
 * off. Or the new task has inherited only a part of the group. While that task
 * lives, the kernel refuses to read the group (group_generation in
 * __perf_read_group_add, Linux 6.6). */
static int group_is_spoilt(const uvperf__evlist_t *evlist,
                           const evlist_at_t *at, size_t leader) {
  const evlist_event_t *events = at->place->events;
  size_t i;

  if (!uvperf__evlist_leads(at->place, leader) ||
      !(evlist->attrs->at[leader].attr->read_format & PERF_FORMAT_GROUP) ||
      !attr_inherits(evlist, at->target, leader))
    return 0;
  for (i = leader; i < uvperf__evlist_end(evlist, leader); i++)
    if (attr_is_of_group(evlist, i, leader) && events[i].state == EVENT_PLANNED)
      return 1;
  return uvperf__sys_read(events[leader].fd, evlist->reading->words,
                          evlist->reading->words_size) == -ECHILD;
}

/* Opens the whole group again, because the leader must be opened first. */
static int group_open_again(uvperf__evlist_t *evlist, const evlist_at_t *at,
                            size_t leader, int is_last, uvperf_error_t *error) {
  size_t end = uvperf__evlist_end(evlist, leader);
  evlist_event_t *event;
  size_t i;
  int rc = 0;

  for (i = leader; i < end; i++) {
    event = &at->place->events[i];
    if (!uvperf__evlist_is_led(event, leader))
      continue;
    uvperf__evlist_close_event(evlist, event, i);
    event->state = EVENT_PLANNED;
  }
  for (i = leader; i < end && rc == 0; i++)
    if (attr_is_of_group(evlist, i, leader))
      rc = open_planned(evlist, at, i, is_last, error);
  return rc;
}

/* Called when the events of the place were opened. */
static int place_mend_groups(uvperf__evlist_t *evlist, const evlist_at_t *at,
                             uvperf_error_t *error) {
  size_t attr;
  int tries;
  int rc = 0;

  for (attr = 0; attr < evlist->attrs->nr && rc == 0; attr++)
    for (tries = TRIES;
         tries > 0 && rc == 0 && group_is_spoilt(evlist, at, attr); tries--)
      rc = group_open_again(evlist, at, attr, tries == 1, error);
  return rc;
}

/* -- ids that are used again ----------------------------------------------- */

/* Called when the events at all `nr` places of a task are open. The task may
 * have ended before, and another task may have its id. If so, the events are
 * closed before they were enabled, and count as not opened. Siblings are closed
 * first: without their leader they would count. */
static int places_check_task(uvperf__evlist_t *evlist,
                             const evlist_target_t *target,
                             evlist_place_t *places, size_t nr,
                             uvperf_error_t *error) {
  attempt_t attempt = {.evlist = evlist, .target = target};
  evlist_event_t *event;
  uvperf_error_t why;
  int has_checked = 0, rc = 0;
  size_t i;

  memset(&why, 0, sizeof(why));
  for (i = nr * evlist->attrs->nr; i > 0 && rc == 0; i--) {
    attempt.place = &places[(i - 1) / evlist->attrs->nr];
    attempt.attr = (i - 1) % evlist->attrs->nr;
    event = &attempt.place->events[attempt.attr];
    if (!event->is_unchecked)
      continue;
    event->is_unchecked = 0;
    if (!has_checked)
      uvperf__task_check(attempt.place->place.pid, attempt.place->start, &why);
    has_checked = 1;
    if (why.code == 0)
      continue;
    uvperf__evlist_close_event(evlist, event, attempt.attr);
    rc = fail_event(&attempt, &why, error);
  }
  return rc;
}

int uvperf__evlist_open_place(uvperf__evlist_t *evlist, const evlist_at_t *at,
                              uvperf_error_t *error) {
  size_t i;
  int rc = 0;

  for (i = 0; i < evlist->attrs->nr && rc == 0; i++)
    rc = open_planned(evlist, at, evlist->attrs->order[i], 0, error);
  if (rc == 0)
    rc = place_mend_groups(evlist, at, error);
  return rc != 0 ? rc
                 : places_check_task(evlist, at->target, at->place, 1, error);
}

/* -- a target ------------------------------------------------------------- */

static void target_close_cgroup(evlist_target_t *target) {
  if (target->cgroup >= 0)
    uvperf__file_close(target->cgroup);
  target->cgroup = -1;
}

/* The places of a task, one for each CPU, follow one another. The task is
 * checked at the last of them. */
int uvperf__evlist_open_next(uvperf__evlist_t *evlist, evlist_cursor_t *cursor,
                             uvperf_error_t *error) {
  evlist_target_t *target = evlist->places->targets[cursor->target];
  evlist_at_t at = {.target = target, .place = &target->places[cursor->place]};
  int pid = at.place->place.pid;
  size_t first = cursor->place;
  int is_last_place = cursor->place + 1 == target->nr_places;
  int rc;

  if (cursor->at < evlist->attrs->nr)
    return open_planned(evlist, &at, evlist->attrs->order[cursor->at++], 0,
                        error);
  rc = place_mend_groups(evlist, &at, error);
  while (first > 0 && target->places[first - 1].place.pid == pid)
    first--;
  if (rc == 0 && (is_last_place || at.place[1].place.pid != pid))
    rc = places_check_task(evlist, target, &target->places[first],
                           cursor->place - first + 1, error);
  cursor->at = 0;
  cursor->place += 1;
  if (!is_last_place)
    return rc;
  target_close_cgroup(target);
  cursor->place = 0;
  cursor->target += 1;
  return rc;
}

void uvperf__evlist_close_events(uvperf__evlist_t *evlist,
                                 evlist_target_t *target) {
  size_t i;

  for (i = 0; i < target->nr_places * evlist->attrs->nr; i++)
    uvperf__evlist_close_event(evlist, &target->events[i],
                               i % evlist->attrs->nr);
}

void uvperf__evlist_close(uvperf__evlist_t *evlist, evlist_target_t *target) {
  if (target == NULL)
    return;
  target_close_cgroup(target);
  uvperf__evlist_close_events(evlist, target);
  uvperf__free(target->cgroup_path);
  uvperf__free(target->places);
  uvperf__free(target->events);
  uvperf__free(target);
}
