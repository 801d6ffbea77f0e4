/* SPDX-License-Identifier: MIT */
/* Controls all events at once, by ioctl(2) or a BPF link: enables and disables
 * them, and sets a filter, a period or a program. Filters, periods and programs
 * are kept for places that are added later. */
#include "evlist/opening.h"
#include "evlist/reading.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "explain/explain.h"
#include "host/ioctl.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"

/* -- enable, disable ------------------------------------------------------ */

/* Whether a command has not called execve(2) yet. If we enabled its events now,
 * they would count the program that forked it. If we disabled its events,
 * execve(2) would still enable them. time_enabled is the second word in the
 * values of a group and of a single event. */
static int command_is_waiting(const uvperf__evlist_t *evlist,
                              const evlist_at_t *at, size_t leader) {
  const evlist_reading_t *reading = evlist->reading;
  ssize_t size;

  if (!at->target->on_exec || at->place->has_begun)
    return 0;
  size = uvperf__sys_read(at->place->events[leader].fd, reading->words,
                          reading->words_size);
  if (size >= (ssize_t)(2 * sizeof(uint64_t)) && reading->words[1] == 0)
    return 1;
  at->place->has_begun = 1;
  return 0;
}

int uvperf__evlist_switch_part(const uvperf__evlist_t *evlist,
                               const evlist_at_t *at, int is_early, int enable,
                               uvperf_error_t *error) {
  uvperf__control_t control = {.request = enable ? PERF_EVENT_IOC_ENABLE
                                                 : PERF_EVENT_IOC_DISABLE};
  int first = 0;
  size_t i;
  int rc;

  for (i = 0; i < evlist->attrs->nr; i++) {
    if (!uvperf__evlist_leads(at->place, i) ||
        evlist->attrs->at[i].is_early != is_early)
      continue;
    if (command_is_waiting(evlist, at, i))
      return first;
    rc = uvperf__sys_ioctl(at->place->events[i].fd, control.request, 0);
    if (rc >= 0 || first != 0)
      continue;
    control.attr = evlist->attrs->at[i].attr;
    first = uvperf__explain_control(error, rc, &control);
    uvperf__evlist_locate(error, i, at->target->index);
  }
  return first;
}

/* At all places, dummies are enabled before the other events and disabled after
 * them, because a task can move from one CPU to another meanwhile. */
int uvperf__evlist_switch(const uvperf__evlist_t *evlist, evlist_at_t places,
                          int enable, uvperf_error_t *error) {
  int has_early = evlist->attrs->at[evlist->attrs->order[0]].is_early;
  int first = 0;
  int pass, is_early, rc;
  evlist_at_t at;

  for (pass = 0; pass < 2; pass++) {
    is_early = pass == !enable;
    if (is_early && !has_early)
      continue;
    at = places;
    while (uvperf__evlist_walk_next(&at)) {
      rc = uvperf__evlist_switch_part(evlist, &at, is_early, enable,
                                      first == 0 ? error : NULL);
      if (first == 0)
        first = rc;
    }
  }
  return first;
}

int uvperf__evlist_enable(uvperf__evlist_t *evlist, uvperf_error_t *error) {
  int rc = uvperf__evlist_check(evlist, error);

  if (rc != 0)
    return rc;
  evlist->is_enabled = 1;
  return uvperf__evlist_switch(evlist, uvperf__evlist_walk(evlist), 1, error);
}

int uvperf__evlist_stop(uvperf__evlist_t *evlist, uvperf_error_t *error) {
  evlist->is_enabled = 0;
  return uvperf__evlist_switch(evlist, uvperf__evlist_walk(evlist), 0, error);
}

int uvperf__evlist_disable(uvperf__evlist_t *evlist, uvperf_error_t *error) {
  int rc = uvperf__evlist_check(evlist, error);

  return rc != 0 ? rc : uvperf__evlist_stop(evlist, error);
}

/* -- programs -------------------------------------------------------------- */

static int program_is_attached(const uvperf__evlist_t *evlist, size_t attr) {
  evlist_at_t at = uvperf__evlist_walk(evlist);

  while (uvperf__evlist_walk_next(&at))
    if (at.place->events[attr].has_bpf)
      return 1;
  return 0;
}

/* A tracepoint's program runs for every event of the tracepoint, at all places.
 * So it is attached only once: bpf_prog_array_copy in kernel/bpf/core.c refuses
 * a second time. For other attrs the program is attached to each event. */
static int program_attach(const uvperf__evlist_t *evlist, size_t attr,
                          evlist_event_t *event) {
  const evlist_attr_t *own = &evlist->attrs->at[attr];
  int link;
  int rc = uvperf__ioctl_bpf(event->fd, own->bpf_fd, own->bpf_cookie,
                             &evlist->opening->has_no_links, &link);

  if (rc == 0) {
    event->has_bpf = 1;
    event->bpf_link = link;
  } else if (rc == -EEXIST && own->attr->type == PERF_TYPE_TRACEPOINT &&
             program_is_attached(evlist, attr)) {
    rc = 0;
  }
  return rc;
}

static int event_is_linked(const evlist_event_t *event) {
  return event->has_bpf && event->bpf_link >= 0;
}

/* Closing an event ends its program, but the link is closed before that.
 * Without the program the event would write the samples that the program drops,
 * so the event is disabled first. In a forked child the event is not disabled,
 * because it belongs to the parent. */
void uvperf__evlist_detach_event(const uvperf__evlist_t *evlist,
                                 evlist_event_t *event) {
  if (event_is_linked(event)) {
    if (uvperf__evlist_check(evlist, NULL) == 0)
      uvperf__sys_ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
    uvperf__sys_close(event->bpf_link);
  }
  event->has_bpf = 0;
}

void uvperf__evlist_detach(uvperf__evlist_t *evlist) {
  evlist_at_t at = uvperf__evlist_walk(evlist);
  size_t i;

  if (uvperf__evlist_check(evlist, NULL) != 0)
    return;
  while (uvperf__evlist_walk_next(&at))
    for (i = 0; i < evlist->attrs->nr; i++) {
      if (!event_is_linked(&at.place->events[i]))
        continue;
      uvperf__sys_close(at.place->events[i].bpf_link);
      at.place->events[i].has_bpf = 0;
    }
}

/* The program can be attached again, because the kernel has just detached
 * it. */
void uvperf__evlist_reattach(uvperf__evlist_t *evlist) {
  const evlist_attr_t *attr;
  evlist_event_t *event;
  evlist_at_t at;
  int is_done;
  size_t i;

  for (i = 0; i < evlist->attrs->nr; i++) {
    attr = &evlist->attrs->at[i];
    is_done = attr->bpf_fd < 0 || attr->attr->type != PERF_TYPE_TRACEPOINT ||
              program_is_attached(evlist, i);
    at = uvperf__evlist_walk(evlist);
    while (!is_done && uvperf__evlist_walk_next(&at)) {
      event = &at.place->events[i];
      is_done =
          event->state == EVENT_OPEN && program_attach(evlist, i, event) == 0;
    }
  }
}

int uvperf__evlist_attach(const uvperf__evlist_t *evlist, size_t attr,
                          evlist_event_t *event, uvperf_error_t *error) {
  const evlist_attr_t *own = &evlist->attrs->at[attr];
  const uvperf__control_t control = {.request = PERF_EVENT_IOC_SET_BPF,
                                     .attr = own->attr,
                                     .value = (uint64_t)own->bpf_fd,
                                     .has_cookie = own->bpf_cookie != 0};
  int rc = own->bpf_fd < 0 ? 0 : program_attach(evlist, attr, event);

  return rc == 0 ? 0 : uvperf__explain_control(error, rc, &control);
}

int uvperf__evlist_apply_settings(const uvperf__evlist_t *evlist, size_t attr,
                                  evlist_event_t *event,
                                  uvperf_error_t *error) {
  const evlist_attr_t *own = &evlist->attrs->at[attr];
  const uvperf__control_t control = {.request = PERF_EVENT_IOC_SET_FILTER,
                                     .attr = own->attr,
                                     .filter = own->filter};
  int rc = 0;

  if (own->filter != NULL)
    rc = uvperf__ioctl_filter(event->fd, own->attr, own->filter);
  if (rc != 0)
    return uvperf__explain_control(error, rc, &control);
  return uvperf__evlist_attach(evlist, attr, event, error);
}

/* -- one attr at all places ------------------------------------------------ */

/* A filter, a period or a program for each event of an attr. */
typedef struct setting_s {
  uvperf__evlist_t *evlist;
  size_t attr;
  uvperf__control_t control;
  uint64_t cookie; /* of a program */
} setting_t;

static int setting_refuse(const setting_t *setting, int code, uint32_t target,
                          uvperf_error_t *error) {
  uvperf__explain_control(error, code, &setting->control);
  uvperf__evlist_locate(error, setting->attr, target);
  return code;
}

/* Goes on after a failure and returns the first failure. *is_kept is set if
 * later events get the setting too: an event has accepted it, or none is
 * open. */
static int setting_apply(const setting_t *setting, int *is_kept,
                         uvperf_error_t *error) {
  const uvperf__control_t *control = &setting->control;
  evlist_at_t at = uvperf__evlist_walk(setting->evlist);
  evlist_event_t *event;
  int first = 0;
  int rc;

  *is_kept = setting->evlist->attrs->at[setting->attr].nr_open == 0;
  while (uvperf__evlist_walk_next(&at)) {
    event = &at.place->events[setting->attr];
    if (event->state != EVENT_OPEN)
      continue;
    if (control->request == PERF_EVENT_IOC_SET_FILTER)
      rc = uvperf__ioctl_filter(event->fd, control->attr, control->filter);
    else if (control->request == PERF_EVENT_IOC_PERIOD)
      rc = uvperf__ioctl_period(event->fd, control->attr, control->value);
    else
      rc = program_attach(setting->evlist, setting->attr, event);
    if (rc == 0)
      *is_kept = 1;
    else if (first == 0)
      first = setting_refuse(setting, rc, at.target->index, error);
  }
  return first;
}

static int setting_set_filter(const setting_t *setting, evlist_attr_t *own,
                              uvperf_error_t *error) {
  char *copy = uvperf__evlist_copy_text(setting->control.filter);
  char *unused = copy;
  int is_kept;
  int rc;

  if (copy == NULL)
    return uvperf__error_shortage(error, -ENOMEM, "cannot copy the filter");
  rc = setting_apply(setting, &is_kept, error);
  if (is_kept) {
    unused = own->filter;
    own->filter = copy;
  }
  uvperf__free(unused);
  return rc;
}

/* Later places are opened with the new period. */
static int setting_set_period(const setting_t *setting, evlist_attr_t *own,
                              uvperf_error_t *error) {
  uint64_t period = setting->control.value;
  int is_kept;
  int rc;

  /* The kernel has this rule too. It is checked here because perhaps no event
   * is open. */
  if (own->attr->sample_period == 0 || period == 0)
    return setting_refuse(setting, -EINVAL, 0, error);
  rc = setting_apply(setting, &is_kept, error);
  if (is_kept)
    own->attr->sample_period = own->asked->sample_period = period;
  return rc;
}

static int setting_set_bpf(const setting_t *setting, evlist_attr_t *own,
                           uvperf_error_t *error) {
  int is_kept;
  int fd, rc;

  /* The library must check this itself. For a tracepoint the kernel refuses a
   * second program only at the place through which the first is attached. */
  if (own->bpf_fd >= 0 && own->nr_open != 0)
    return setting_refuse(setting, -EEXIST, 0, error);
  fd = uvperf__file_dup((int)setting->control.value);
  if (uvperf__is_shortage(fd))
    return uvperf__error_shortage(error, fd,
                                  "cannot duplicate the program's fd");
  if (fd < 0)
    return setting_refuse(setting, fd, 0, error);
  if (own->bpf_fd >= 0)
    uvperf__file_close(own->bpf_fd);
  own->bpf_fd = fd;
  own->bpf_cookie = setting->cookie;
  rc = setting_apply(setting, &is_kept, error);
  if (!is_kept) {
    uvperf__file_close(fd);
    own->bpf_fd = -1;
  }
  return rc;
}

/* Sets it for all parts of an event. */
static int setting_set(setting_t *setting,
                       int (*set)(const setting_t *setting, evlist_attr_t *own,
                                  uvperf_error_t *error),
                       uvperf_error_t *error) {
  const uvperf__evlist_t *evlist = setting->evlist;
  size_t first = setting->attr;
  evlist_attr_t *own;
  int rc = uvperf__evlist_check_attr(evlist, first, error);

  if (rc != 0)
    return rc;
  do {
    own = &evlist->attrs->at[setting->attr];
    setting->control.attr = own->attr;
    rc = set(setting, own, error);
    setting->attr = uvperf__evlist_next_part(evlist, first, setting->attr);
  } while (rc == 0 && setting->attr != 0);
  return rc;
}

int uvperf__evlist_apply_filter(uvperf__evlist_t *evlist, size_t attr,
                                const char *filter, uvperf_error_t *error) {
  setting_t setting = {
      .evlist = evlist,
      .attr = attr,
      .control = {.request = PERF_EVENT_IOC_SET_FILTER, .filter = filter}};

  return setting_set(&setting, setting_set_filter, error);
}

int uvperf__evlist_change_period(uvperf__evlist_t *evlist, size_t attr,
                                 uint64_t period, uvperf_error_t *error) {
  setting_t setting = {
      .evlist = evlist,
      .attr = attr,
      .control = {.request = PERF_EVENT_IOC_PERIOD, .value = period}};

  return setting_set(&setting, setting_set_period, error);
}

int uvperf__evlist_attach_bpf(uvperf__evlist_t *evlist, size_t attr,
                              int prog_fd, uint64_t cookie,
                              uvperf_error_t *error) {
  setting_t setting = {.evlist = evlist,
                       .attr = attr,
                       .control = {.request = PERF_EVENT_IOC_SET_BPF,
                                   .value = (uint64_t)prog_fd,
                                   .has_cookie = cookie != 0},
                       .cookie = cookie};

  return setting_set(&setting, setting_set_bpf, error);
}

int uvperf__evlist_query_bpf(const uvperf__evlist_t *evlist, size_t attr,
                             uint32_t *ids, size_t *nr, uvperf_error_t *error) {
  uvperf__control_t control = {.request = PERF_EVENT_IOC_QUERY_BPF};
  evlist_at_t at = uvperf__evlist_walk(evlist);
  const evlist_event_t *event;
  int rc = uvperf__evlist_check_attr(evlist, attr, error);

  if (rc != 0)
    return rc;
  while (uvperf__evlist_walk_next(&at)) {
    event = &at.place->events[attr];
    if (event->state != EVENT_OPEN)
      continue;
    rc = uvperf__ioctl_query_bpf(event->fd, ids, nr);
    control.attr = evlist->attrs->at[attr].attr;
    control.value = *nr;
    return rc == 0 ? 0 : uvperf__explain_control(error, rc, &control);
  }
  return uvperf__error_argument(error, "no event of attr %zu is open", attr);
}
