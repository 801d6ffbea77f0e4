/* SPDX-License-Identifier: MIT */
/* Controls all events at once, by ioctl(2) or a BPF link: enables and disables
 * them, and sets a filter, a period or a program. Filters, periods and programs
 * are kept for places that are added later. */
#include "evlist/internal.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "explain/explain.h"
#include "host/ioctl.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"

/* -- enable, disable ------------------------------------------------------ */

/* The events of a place that are enabled or disabled together. */
enum part {
  PART_EARLY,
  PART_LATE
};

/* Whether a command has not called execve(2) yet. If we enabled its events now,
 * they would count the program that forked it. If we disabled its events,
 * execve(2) would still enable them. time_enabled is the second word in the
 * values of a group and of a single event. */
static int is_waiting(const uvperf__evlist_t *evlist, evlist_place_t *place,
                      size_t leader) {
  ssize_t size;

  if (place->has_begun)
    return 0;
  size = uvperf__sys_read(place->events[leader].fd, evlist->words,
                          evlist->words_size);
  if (size >= (ssize_t)(2 * sizeof(uint64_t)) && evlist->words[1] == 0)
    return 1;
  place->has_begun = 1;
  return 0;
}

static int switch_place(uvperf__evlist_t *evlist, evlist_place_t *place,
                        enum part part, int is_command, unsigned long request,
                        uvperf_error_t *error) {
  uvperf__control_t control = {.request = request};
  int first = 0;
  size_t i;
  int rc;

  for (i = 0; i < evlist->nr_attrs; i++) {
    if (!uvperf__evlist_leads(place, i) ||
        evlist->attrs[i].is_early != (part == PART_EARLY))
      continue;
    if (is_command && is_waiting(evlist, place, i))
      return first;
    rc = uvperf__sys_ioctl(place->events[i].fd, request, 0);
    if (rc >= 0 || first != 0)
      continue;
    control.attr = evlist->attrs[i].attr;
    first = uvperf__explain_control(error, rc, evlist->root, &control);
    if (error != NULL) {
      error->attr_index = (uint32_t)i;
      error->target_index = place->place.target;
    }
  }
  return first;
}

static int switch_part(uvperf__evlist_t *evlist, size_t first, size_t nr,
                       enum part part, unsigned long request,
                       uvperf_error_t *error) {
  evlist_target_t *target;
  size_t i, place;
  int failed = 0;
  int rc;

  for (i = first; i < first + nr; i++) {
    target = evlist->targets[i];
    for (place = 0; place < target->nr_places; place++) {
      rc = switch_place(evlist, &target->places[place], part, target->on_exec,
                        request, failed == 0 ? error : NULL);
      if (failed == 0)
        failed = rc;
    }
  }
  return failed;
}

static int has_early(const uvperf__evlist_t *evlist) {
  return evlist->attrs[evlist->order[0]].is_early;
}

/* At all places, dummies are enabled before the other events and disabled after
 * them, because a task can move from one CPU to another meanwhile. */
int uvperf__evlist_switch(uvperf__evlist_t *evlist, size_t first, size_t nr,
                          int enable, uvperf_error_t *error) {
  int early = 0;
  int late = 0;

  if (enable && has_early(evlist))
    early = switch_part(evlist, first, nr, PART_EARLY, PERF_EVENT_IOC_ENABLE,
                        error);
  late = switch_part(evlist, first, nr, PART_LATE,
                     enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE,
                     early == 0 ? error : NULL);
  if (early != 0)
    return early;
  if (!enable && has_early(evlist))
    early = switch_part(evlist, first, nr, PART_EARLY, PERF_EVENT_IOC_DISABLE,
                        late == 0 ? error : NULL);
  return late != 0 ? late : early;
}

int uvperf__evlist_enable_next(uvperf__evlist_t *evlist,
                               evlist_cursor_t *cursor, uvperf_error_t *error) {
  const evlist_target_t *target = evlist->targets[cursor->target];
  evlist_place_t *place = &target->places[cursor->place++];

  if (cursor->place == target->nr_places) {
    cursor->place = 0;
    cursor->target++;
  }
  return switch_place(evlist, place, cursor->at == 0 ? PART_EARLY : PART_LATE,
                      target->on_exec, PERF_EVENT_IOC_ENABLE, error);
}

int uvperf__evlist_switch_place(uvperf__evlist_t *evlist,
                                const evlist_target_t *target,
                                evlist_place_t *place, int enable,
                                uvperf_error_t *error) {
  unsigned long request =
      enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;
  int early = switch_place(evlist, place, enable ? PART_EARLY : PART_LATE,
                           target->on_exec, request, error);
  int late = switch_place(evlist, place, enable ? PART_LATE : PART_EARLY,
                          target->on_exec, request, early == 0 ? error : NULL);

  return early != 0 ? early : late;
}

int uvperf__evlist_enable(uvperf__evlist_t *evlist, uvperf_error_t *error) {
  int rc = uvperf__evlist_check(evlist, error);

  if (rc != 0)
    return rc;
  evlist->is_enabled = 1;
  return uvperf__evlist_switch(evlist, 0, evlist->nr_targets, 1, error);
}

int uvperf__evlist_stop(uvperf__evlist_t *evlist, uvperf_error_t *error) {
  evlist->is_enabled = 0;
  return uvperf__evlist_switch(evlist, 0, evlist->nr_targets, 0, error);
}

int uvperf__evlist_disable(uvperf__evlist_t *evlist, uvperf_error_t *error) {
  int rc = uvperf__evlist_check(evlist, error);

  return rc != 0 ? rc : uvperf__evlist_stop(evlist, error);
}

/* -- one attr at all places ------------------------------------------------ */

static int is_attached(const uvperf__evlist_t *evlist, size_t attr) {
  const evlist_target_t *target;
  size_t i, place;

  for (i = 0; i < evlist->nr_targets; i++) {
    target = evlist->targets[i];
    for (place = 0; place < target->nr_places; place++)
      if (target->places[place].events[attr].has_bpf)
        return 1;
  }
  return 0;
}

/* A tracepoint's program runs for every event of the tracepoint, at all places.
 * So it is attached only once: bpf_prog_array_copy in kernel/bpf/core.c refuses
 * a second time. For other attrs the program is attached to each event. */
static int attach(uvperf__evlist_t *evlist, size_t attr,
                  evlist_event_t *event) {
  const evlist_attr_t *own = &evlist->attrs[attr];
  int link;
  int rc = uvperf__ioctl_bpf(event->fd, own->bpf_fd, own->bpf_cookie,
                             &evlist->has_no_links, &link);

  if (rc == 0) {
    event->has_bpf = 1;
    event->bpf_link = link;
  } else if (rc != -EEXIST || own->attr->type != PERF_TYPE_TRACEPOINT ||
             !is_attached(evlist, attr)) {
    return rc;
  }
  return 0;
}

/* A filter, a period or a program for each event of an attr. */
typedef struct setting_s {
  uvperf__evlist_t *evlist;
  size_t attr;
  uvperf__control_t control;
} setting_t;

/* Checks that the attr exists, and puts it into setting->control. */
static int check(setting_t *setting, uvperf_error_t *error) {
  const uvperf__evlist_t *evlist = setting->evlist;
  int rc = uvperf__evlist_check_attr(evlist, setting->attr, error);

  if (rc != 0)
    return rc;
  setting->control.attr = evlist->attrs[setting->attr].attr;
  return 0;
}

static int refuse(const setting_t *setting, int code, uint32_t target,
                  uvperf_error_t *error) {
  uvperf__explain_control(error, code, setting->evlist->root,
                          &setting->control);
  if (error != NULL) {
    error->attr_index = (uint32_t)setting->attr;
    error->target_index = target;
  }
  return code;
}

static int apply(const setting_t *setting, evlist_event_t *event) {
  const uvperf__control_t *control = &setting->control;

  if (control->request == PERF_EVENT_IOC_SET_FILTER)
    return uvperf__ioctl_filter(event->fd, control->attr, control->filter);
  if (control->request == PERF_EVENT_IOC_PERIOD)
    return uvperf__ioctl_period(event->fd, control->attr, control->value);
  return attach(setting->evlist, setting->attr, event);
}

/* Goes on after a failure and returns the first failure. *nr_taken is the
 * number of events that accepted the setting. */
static int apply_to_all(const setting_t *setting, size_t *nr_taken,
                        uvperf_error_t *error) {
  const uvperf__evlist_t *evlist = setting->evlist;
  const evlist_target_t *target;
  evlist_event_t *event;
  size_t i, place;
  int first = 0;
  int rc;

  *nr_taken = 0;
  for (i = 0; i < evlist->nr_targets; i++) {
    target = evlist->targets[i];
    for (place = 0; place < target->nr_places; place++) {
      event = &target->places[place].events[setting->attr];
      if (event->state != COUNTER_OPEN)
        continue;
      rc = apply(setting, event);
      if (rc == 0)
        ++*nr_taken;
      else if (first == 0)
        first = refuse(setting, rc, target->index, error);
    }
  }
  return first;
}

static int set_filter(uvperf__evlist_t *evlist, size_t attr, const char *filter,
                      uvperf_error_t *error) {
  setting_t setting = {
      .evlist = evlist,
      .attr = attr,
      .control = {.request = PERF_EVENT_IOC_SET_FILTER, .filter = filter}};
  evlist_attr_t *own;
  size_t nr_taken;
  char *copy;
  int rc = check(&setting, error);

  if (rc != 0)
    return rc;
  own = &evlist->attrs[attr];
  copy = uvperf__evlist_copy_text(filter);
  if (copy == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot copy the filter");
  rc = apply_to_all(&setting, &nr_taken, error);
  if (nr_taken != 0 || own->nr_open == 0) {
    uvperf__free(own->filter);
    own->filter = copy;
  } else {
    uvperf__free(copy);
  }
  return rc;
}

int uvperf__evlist_set_filter(uvperf__evlist_t *evlist, size_t attr,
                              const char *filter, uvperf_error_t *error) {
  int rc = set_filter(evlist, attr, filter, error);
  size_t at = attr;

  while (rc == 0 && (at = uvperf__evlist_next_part(evlist, attr, at)) != 0)
    rc = set_filter(evlist, at, filter, error);
  return rc;
}

/* Later places are opened with the new period. */
static int set_period(uvperf__evlist_t *evlist, size_t attr, uint64_t period,
                      uvperf_error_t *error) {
  setting_t setting = {
      .evlist = evlist,
      .attr = attr,
      .control = {.request = PERF_EVENT_IOC_PERIOD, .value = period}};
  evlist_attr_t *own;
  size_t nr_taken;
  int rc = check(&setting, error);

  if (rc != 0)
    return rc;
  own = &evlist->attrs[attr];
  /* The kernel has this rule too. It is checked here because perhaps no event
   * is open. */
  if (own->attr->sample_period == 0 || period == 0)
    return refuse(&setting, -EINVAL, 0, error);
  rc = apply_to_all(&setting, &nr_taken, error);
  if (nr_taken != 0 || own->nr_open == 0) {
    own->attr->sample_period = period;
    own->asked->sample_period = period;
  }
  return rc;
}

int uvperf__evlist_set_period(uvperf__evlist_t *evlist, size_t attr,
                              uint64_t period, uvperf_error_t *error) {
  int rc = set_period(evlist, attr, period, error);
  size_t at = attr;

  while (rc == 0 && (at = uvperf__evlist_next_part(evlist, attr, at)) != 0)
    rc = set_period(evlist, at, period, error);
  return rc;
}

static int set_bpf(uvperf__evlist_t *evlist, size_t attr, int prog_fd,
                   uint64_t cookie, uvperf_error_t *error) {
  setting_t setting = {.evlist = evlist,
                       .attr = attr,
                       .control = {.request = PERF_EVENT_IOC_SET_BPF,
                                   .value = (uint64_t)prog_fd,
                                   .has_cookie = cookie != 0}};
  evlist_attr_t *own;
  size_t nr_taken;
  int fd;
  int rc = check(&setting, error);

  if (rc != 0)
    return rc;
  own = &evlist->attrs[attr];
  /* The library must check this itself. For a tracepoint the kernel refuses a
   * second program only at the place through which the first is attached. */
  if (own->bpf_fd >= 0 && own->nr_open != 0)
    return refuse(&setting, -EEXIST, 0, error);
  fd = uvperf__file_dup(prog_fd);
  if (uvperf__is_shortage(fd))
    return uvperf__error_shortage(error, fd,
                                  "cannot duplicate the program's fd");
  if (fd < 0)
    return refuse(&setting, fd, 0, error);
  if (own->bpf_fd >= 0)
    uvperf__file_close(own->bpf_fd);
  own->bpf_fd = fd;
  own->bpf_cookie = cookie;
  rc = apply_to_all(&setting, &nr_taken, error);
  if (nr_taken == 0 && own->nr_open != 0) {
    uvperf__file_close(fd);
    own->bpf_fd = -1;
  }
  return rc;
}

int uvperf__evlist_set_bpf(uvperf__evlist_t *evlist, size_t attr, int prog_fd,
                           uint64_t cookie, uvperf_error_t *error) {
  int rc = set_bpf(evlist, attr, prog_fd, cookie, error);
  size_t at = attr;

  while (rc == 0 && (at = uvperf__evlist_next_part(evlist, attr, at)) != 0)
    rc = set_bpf(evlist, at, prog_fd, cookie, error);
  return rc;
}

int uvperf__evlist_query_bpf(const uvperf__evlist_t *evlist, size_t attr,
                             uint32_t *ids, size_t *nr, uvperf_error_t *error) {
  uvperf__control_t control = {.request = PERF_EVENT_IOC_QUERY_BPF};
  const evlist_target_t *target;
  size_t i, place;
  int rc = uvperf__evlist_check_attr(evlist, attr, error);
  int fd = -1;

  if (rc != 0)
    return rc;
  for (i = 0; i < evlist->nr_targets && fd < 0; i++) {
    target = evlist->targets[i];
    for (place = 0; place < target->nr_places && fd < 0; place++)
      if (target->places[place].events[attr].state == COUNTER_OPEN)
        fd = target->places[place].events[attr].fd;
  }
  if (fd < 0)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "no event of attr %zu is open", attr);
  rc = uvperf__ioctl_query_bpf(fd, ids, nr);
  control.attr = evlist->attrs[attr].attr;
  control.value = *nr;
  return rc == 0 ? 0
                 : uvperf__explain_control(error, rc, evlist->root, &control);
}

/* -- detaching programs ---------------------------------------------------- */

static int is_linked(const evlist_event_t *event) {
  return event->has_bpf && event->bpf_link >= 0;
}

/* Closing an event ends its program, but the link is closed before that.
 * Without the program the event would write the samples that the program drops,
 * so the event is disabled first. In a forked child the event is not disabled,
 * because it belongs to the parent. */
void uvperf__evlist_detach_event(const uvperf__evlist_t *evlist,
                                 evlist_event_t *event) {
  if (is_linked(event)) {
    if (uvperf__evlist_check(evlist, NULL) == 0)
      uvperf__sys_ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
    uvperf__sys_close(event->bpf_link);
  }
  event->has_bpf = 0;
}

void uvperf__evlist_detach(uvperf__evlist_t *evlist) {
  const evlist_target_t *target;
  evlist_event_t *event;
  size_t i, at;

  if (uvperf__evlist_check(evlist, NULL) != 0)
    return;
  for (i = 0; i < evlist->nr_targets; i++) {
    target = evlist->targets[i];
    for (at = 0; at < target->nr_places * evlist->nr_attrs; at++) {
      event = &target->events[at];
      if (!is_linked(event))
        continue;
      uvperf__sys_close(event->bpf_link);
      event->has_bpf = 0;
    }
  }
}

/* -- later places --------------------------------------------------------- */

int uvperf__evlist_attach(uvperf__evlist_t *evlist, size_t attr,
                          evlist_event_t *event, uvperf_error_t *error) {
  const evlist_attr_t *own = &evlist->attrs[attr];
  const uvperf__control_t control = {.request = PERF_EVENT_IOC_SET_BPF,
                                     .attr = own->attr,
                                     .value = (uint64_t)own->bpf_fd,
                                     .has_cookie = own->bpf_cookie != 0};
  int rc = own->bpf_fd < 0 ? 0 : attach(evlist, attr, event);

  return rc == 0 ? 0
                 : uvperf__explain_control(error, rc, evlist->root, &control);
}

int uvperf__evlist_apply_settings(uvperf__evlist_t *evlist, size_t attr,
                                  evlist_event_t *event,
                                  uvperf_error_t *error) {
  const evlist_attr_t *own = &evlist->attrs[attr];
  const uvperf__control_t control = {.request = PERF_EVENT_IOC_SET_FILTER,
                                     .attr = own->attr,
                                     .filter = own->filter};
  int rc = 0;

  if (own->filter != NULL)
    rc = uvperf__ioctl_filter(event->fd, own->attr, own->filter);
  if (rc != 0)
    return uvperf__explain_control(error, rc, evlist->root, &control);
  return uvperf__evlist_attach(evlist, attr, event, error);
}

/* The program can be attached again, because the kernel has just detached
 * it. */
static void reattach(uvperf__evlist_t *evlist, size_t attr) {
  const evlist_target_t *target;
  evlist_event_t *event;
  size_t i, place;

  for (i = 0; i < evlist->nr_targets; i++) {
    target = evlist->targets[i];
    for (place = 0; place < target->nr_places; place++) {
      event = &target->places[place].events[attr];
      if (event->state == COUNTER_OPEN && attach(evlist, attr, event) == 0)
        return;
    }
  }
}

void uvperf__evlist_reattach(uvperf__evlist_t *evlist) {
  const evlist_attr_t *attr;
  size_t i;

  for (i = 0; i < evlist->nr_attrs; i++) {
    attr = &evlist->attrs[i];
    if (attr->bpf_fd >= 0 && attr->attr->type == PERF_TYPE_TRACEPOINT &&
        !is_attached(evlist, i))
      reattach(evlist, i);
  }
}
