/* SPDX-License-Identifier: MIT */
/* UVPERF_SET_USER_READ: the events of the calling thread, read by their pages
 * (user_page.h) instead of by read(2), where all of a group can be. A page that
 * can tell at one moment may not at the next, and the other way round: the two
 * ways give the same count, and take turns. */
#include "set/counters_internal.h"

/* Whether this event is of those that the leader is read with. */
static int is_led(const counter_place_t *place, size_t attr, size_t leader) {
  return place->events[attr].state == COUNTER_OPEN &&
         place->events[attr].leader == leader;
}

/* -- pages ---------------------------------------------------------------- */

/* The first thread of which events are opened is the one that can read. */
static int is_reader(uvperf__counters_t *counters) {
  if (counters->reader.process == 0)
    uvperf__user_reader_init(&counters->reader);
  return uvperf__user_reader_is_mine(&counters->reader);
}

static void unmap_group(uvperf__counters_t *counters, counter_place_t *place,
                        size_t leader) {
  size_t i;

  for (i = leader; i < uvperf__counters_end(counters, leader); i++)
    if (is_led(place, i, leader))
      uvperf__counters_unmap(counters, &place->events[i]);
}

/* All or none: where one must be read by read(2) that reads the others too.
 * What children count (attr.inherit) is in no page. */
static void map_group(uvperf__counters_t *counters, counter_place_t *place,
                      size_t leader) {
  size_t i;

  for (i = leader; i < uvperf__counters_end(counters, leader); i++) {
    if (!is_led(place, i, leader))
      continue;
    if (counters->attrs[i].attr->inherit ||
        uvperf__user_page_map(place->events[i].fd, &place->events[i].page)) {
      unmap_group(counters, place, leader);
      return;
    }
  }
}

void uvperf__counters_map(uvperf__counters_t *counters,
                          counter_target_t *target) {
  size_t place, attr;

  if ((counters->flags & UVPERF_SET_USER_READ) == 0 ||
      target->type != UVPERF_TARGET_SELF || !is_reader(counters))
    return;
  for (place = 0; place < target->nr_places; place++)
    for (attr = 0; attr < counters->nr_attrs; attr++)
      if (uvperf__counter_leads(&target->places[place], attr))
        map_group(counters, &target->places[place], attr);
}

/* A forked child has no page to unmap: what is there is not ours. */
void uvperf__counters_unmap(const uvperf__counters_t *counters,
                            counter_t *event) {
  if (event->page != NULL && uvperf__counters_check(counters, NULL) == 0)
    uvperf__user_page_unmap(event->page);
  event->page = NULL;
}

/* -- reading -------------------------------------------------------------- */

/* Less than before can be right, as after PERF_EVENT_IOC_RESET, but it is left
 * to read(2) to say so. */
static int keep(counter_t *event, uint64_t value,
                const uvperf__user_count_t *times) {
  if (value < event->last.value || times->enabled < event->last.enabled ||
      times->running < event->last.running)
    return 0;
  event->code = 0;
  event->last.value = value;
  event->last.enabled = times->enabled;
  event->last.running = times->running;
  return 1;
}

/* The times are the leader's for all of the group, as they are in what read(2)
 * gives, so that they never go back if that is asked next. What it may have
 * lost stays: an event without a ring loses no records, mapped or not
 * (__perf_output_begin in kernel/events/ring_buffer.c). */
int uvperf__counters_read_user(const uvperf__counters_t *counters,
                               counter_place_t *place, size_t leader) {
  uvperf__user_count_t times = {0, 0, 0};
  uvperf__user_count_t count;
  size_t i;

  if (place->events[leader].page == NULL ||
      !uvperf__user_reader_is_mine(&counters->reader))
    return 0;
  for (i = leader; i < uvperf__counters_end(counters, leader); i++) {
    if (!is_led(place, i, leader))
      continue;
    if (uvperf__user_page_read(place->events[i].page, &count) != 0)
      return 0;
    if (i == leader)
      times = count;
    if (!keep(&place->events[i], count.value, &times))
      return 0;
  }
  return 1;
}
