/* SPDX-License-Identifier: MIT */
/* Finds the targets that are gone, by the POLLHUP of their events.
 * is_event_hup() in kernel/events/core.c reports POLLHUP for an event whose
 * task has ended. If the event is inherited, all children must have ended too.
 * POLLHUP is permanent.
 *
 * An event without a ring always reports POLLHUP (perf_poll). So only events
 * that write into a ring, which have a source, are polled. If a target has no
 * such event, its tasks are looked up in /proc, without their children.
 *
 * A target is gone when all of its events have hung up. One live event is
 * enough to know that the target is not gone, so the place and attr of that
 * event are kept. A probe polls one fd for each live target, and many fds with
 * one poll(2). For each event that has hung up since the last probe, it polls
 * one more event. */
#include "evlist/attrs.h"
#include "evlist/places.h"

#include <errno.h>
#include <poll.h>

#include "host/task.h"
#include "sys/sys.h"

/* The most fds of one poll(2). */
#define MOST_FDS 64

static int task_is_gone(const evlist_place_t *place) {
  return place->is_gone ||
         uvperf__task_is_gone(place->place.pid, place->start) == 1;
}

/* POLLERR alone does not mean that the task is gone. It means an event in error
 * state, whose task may be alive, or an event whose PMU was unregistered, which
 * never hangs up (PERF_EVENT_STATE_REVOKED, Linux 6.15). An event that cannot
 * be polled is assumed to be alive. */
static int event_has_hung_up(const evlist_place_t *place,
                             const evlist_event_t *event) {
  int revents = uvperf__sys_poll(event->fd, 0);

  if (revents < 0)
    return 0;
  if (revents & POLLHUP)
    return 1;
  return (revents & POLLERR) != 0 && task_is_gone(place);
}

/* Moves on to the next event that is alive. Returns 1, or 0 if all events have
 * hung up. */
static int target_find_alive(const uvperf__evlist_t *evlist,
                             evlist_target_t *target) {
  const evlist_place_t *place;
  const evlist_event_t *event;

  for (; target->alive_place < target->nr_places; target->alive_place++) {
    place = &target->places[target->alive_place];
    for (; target->alive_attr < evlist->attrs->nr; target->alive_attr++) {
      event = &place->events[target->alive_attr];
      if (!uvperf__evlist_writes(event))
        continue;
      target->has_writer = 1;
      if (!event_has_hung_up(place, event))
        return 1;
    }
    target->alive_attr = 0;
  }
  return 0;
}

/* Does the same with tasks, by /proc. A task is skipped if it had ended before
 * its events could be opened: another task may have its id by now. */
static int target_find_task(const uvperf__evlist_t *evlist,
                            evlist_target_t *target) {
  const evlist_place_t *place;
  size_t i;

  for (; target->alive_task < target->nr_places; target->alive_task++) {
    place = &target->places[target->alive_task];
    /* A task has a place for each CPU, and these places follow one another. */
    if (target->alive_task > 0 && place[-1].place.pid == place->place.pid)
      continue;
    i = 0;
    while (i < evlist->attrs->nr && (place->events[i].state != EVENT_FAILED ||
                                     place->events[i].code != -ESRCH))
      i++;
    if (i == evlist->attrs->nr && !task_is_gone(place))
      return 1;
  }
  return 0;
}

/* Returns 1 if the target has ended. */
static size_t target_end_if_gone(const uvperf__evlist_t *evlist,
                                 evlist_target_t *target) {
  target->has_ended = !target_find_alive(evlist, target) &&
                      (target->has_writer || !target_find_task(evlist, target));
  return target->has_ended != 0;
}

/* -- probing --------------------------------------------------------------- */

/* Targets that are polled together. */
typedef struct batch_s {
  struct pollfd fds[MOST_FDS];
  evlist_target_t *targets[MOST_FDS];
  size_t nr;
} batch_t;

/* An event without revents is alive, and so is its target. */
static size_t batch_poll(const uvperf__evlist_t *evlist, batch_t *batch) {
  int rc = batch->nr == 0 ? 0 : uvperf__sys_poll_all(batch->fds, batch->nr);
  size_t nr = 0;
  size_t i;

  for (i = 0; i < batch->nr && rc != 0; i++)
    if (rc < 0 || batch->fds[i].revents != 0)
      nr += target_end_if_gone(evlist, batch->targets[i]);
  batch->nr = 0;
  return nr;
}

/* Polls the event of each target that was alive when it was last polled, if
 * there is one and it is still open. Does nothing in a forked child, because it
 * would consume wakeups of the parent. */
size_t uvperf__evlist_probe(uvperf__evlist_t *evlist) {
  evlist_target_t *target;
  const evlist_event_t *event;
  batch_t batch;
  size_t nr = 0;
  size_t i;

  if (uvperf__evlist_check(evlist, NULL) != 0)
    return 0;
  batch.nr = 0;
  for (i = 0; i < evlist->places->nr_targets; i++) {
    target = evlist->places->targets[i];
    if (!uvperf__evlist_target_is_tasks(target->type) || target->has_ended)
      continue;
    event = NULL;
    if (target->alive_place < target->nr_places)
      event = &target->places[target->alive_place].events[target->alive_attr];
    if (event == NULL || !uvperf__evlist_writes(event)) {
      nr += target_end_if_gone(evlist, target);
      continue;
    }
    batch.targets[batch.nr] = target;
    batch.fds[batch.nr++] = (struct pollfd){event->fd, 0, 0};
    if (batch.nr == MOST_FDS)
      nr += batch_poll(evlist, &batch);
  }
  nr += batch_poll(evlist, &batch);
  if (nr != 0)
    evlist->places->next_ended = 0;
  return nr;
}

int uvperf__evlist_take_ended(uvperf__evlist_t *evlist, uint32_t *index) {
  size_t i = uvperf__evlist_position(evlist, evlist->places->next_ended);
  evlist_target_t *target;

  for (; i < evlist->places->nr_targets; i++) {
    target = evlist->places->targets[i];
    evlist->places->next_ended = target->index + 1;
    if (!target->has_ended || target->is_end_taken)
      continue;
    target->is_end_taken = 1;
    *index = target->index;
    return 1;
  }
  return 0;
}

int uvperf__evlist_can_end(const uvperf__evlist_t *evlist) {
  const evlist_target_t *target;
  size_t i;

  for (i = 0; i < evlist->places->nr_targets; i++) {
    target = evlist->places->targets[i];
    if (uvperf__evlist_target_is_tasks(target->type) && !target->has_ended)
      return 1;
  }
  return 0;
}

int uvperf__evlist_have_ended(const uvperf__evlist_t *evlist) {
  size_t i;

  for (i = 0; i < evlist->places->nr_targets; i++)
    if (!evlist->places->targets[i]->has_ended)
      return 0;
  return evlist->places->nr_targets != 0;
}
