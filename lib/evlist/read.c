/* SPDX-License-Identifier: MIT */
/* Reads all events and fills a reading. A group is read with one read(2) or
 * from its pages. The counts from before the last reset are subtracted here.
 *
 * With UVPERF_SET_USER_READ the events of the calling thread are read from
 * their pages (user_page.h), if this works for the whole group. A page that can
 * be read now may be unreadable the next moment, and vice versa. Both ways
 * return the same count, so they can be mixed. */
#include "evlist/attrs.h"
#include "evlist/reading.h"
#include "evlist/records.h"

#include <errno.h>
#include <string.h>

#include "decode/read_format.h"
#include "host/task.h"
#include "sys/sys.h"

/* How often a group is read again while its task forks. So many reads take
 * longer than a fork needs to inherit a group of some events. */
#define TRIES 128

/* How many groups are read before the clock is checked. A small set is
 * therefore read at once, even if the thread is late. */
#define SHARE 32

/* -- pages ---------------------------------------------------------------- */

/* Maps the pages of all members or of none: if one member must be read by
 * read(2), that call reads the others too. The counts of children
 * (attr.inherit) are not in any page. */
static void group_map(const uvperf__evlist_t *evlist, evlist_event_t *events,
                      size_t leader) {
  size_t end = uvperf__evlist_end(evlist, leader);
  size_t i;

  for (i = leader; i < end; i++)
    if (uvperf__evlist_is_led(&events[i], leader) &&
        (evlist->attrs->at[i].attr->inherit ||
         uvperf__user_page_map(events[i].fd, &events[i].page)))
      break;
  if (i == end)
    return;
  for (i = leader; i < end; i++)
    if (uvperf__evlist_is_led(&events[i], leader))
      uvperf__evlist_unmap(evlist, &events[i], NULL);
}

void uvperf__evlist_map(uvperf__evlist_t *evlist, evlist_target_t *target) {
  uvperf__user_reader_t *reader = &evlist->reading->reader;
  size_t i, attr;

  if ((evlist->flags & UVPERF_SET_USER_READ) == 0 ||
      target->type != UVPERF_TARGET_SELF)
    return;
  /* Only one thread can read its events by their pages: the first thread whose
   * events are opened. */
  if (reader->process == 0)
    uvperf__user_reader_init(reader);
  if (!uvperf__user_reader_is_mine(reader))
    return;
  for (i = 0; i < target->nr_places; i++)
    for (attr = 0; attr < evlist->attrs->nr; attr++)
      if (uvperf__evlist_leads(&target->places[i], attr))
        group_map(evlist, target->places[i].events, attr);
}

/* A forked child has no page to unmap: another mapping may be at the
 * address. */
void uvperf__evlist_unmap(const uvperf__evlist_t *evlist, evlist_event_t *event,
                          uvperf__leftovers_t *leftovers) {
  if (event->page != NULL && uvperf__evlist_check(evlist, NULL) == 0)
    uvperf__user_page_unmap(event->page, leftovers);
  event->page = NULL;
}

/* -- by pages ------------------------------------------------------------- */

/* The leader's times are used for the whole group, in the same way as by
 * read(2), so that times do not go back if read(2) is used next. The lost count
 * stays as it is: an event without a ring loses no records, mapped or not
 * (__perf_output_begin in kernel/events/ring_buffer.c).
 *
 * If a count is lower than before, returns 0, and read(2) decides. The count
 * can be lower after PERF_EVENT_IOC_RESET. It can also be 2^pmc_width too low,
 * which is below 0, until the event is next put on a counter. The kernel
 * computes `offset` with a counter that a read(2) has left without its sign
 * (perf_event_update_userpage in kernel/events/core.c). */
static int group_read_pages(const uvperf__evlist_t *evlist,
                            evlist_place_t *place, size_t leader) {
  uvperf__user_count_t times = {0, 0, 0};
  uvperf__user_count_t count;
  evlist_event_t *event;
  size_t i;

  if (place->events[leader].page == NULL ||
      !uvperf__user_reader_is_mine(&evlist->reading->reader))
    return 0;
  for (i = leader; i < uvperf__evlist_end(evlist, leader); i++) {
    event = &place->events[i];
    if (!uvperf__evlist_is_led(event, leader))
      continue;
    if (uvperf__user_page_read(event->page, &count) != 0)
      return 0;
    if (i == leader)
      times = count;
    if (count.value - event->last.value > INT64_MAX ||
        times.enabled < event->last.enabled ||
        times.running < event->last.running)
      return 0;
    event->code = 0;
    event->last.value = count.value;
    event->last.enabled = times.enabled;
    event->last.running = times.running;
  }
  return 1;
}

/* -- by read(2) ------------------------------------------------------------ */

/* Reads the values of a group, or of an event, into the words. Returns 0 or a
 * code:
 * - -EBADF: there are 0 bytes, because the event is in error state, such as a
 *   pinned event that the PMU could not hold (__perf_read in
 *   kernel/events/core.c);
 * - -EPROTO: the bytes cannot be values of this format;
 * - any other code: the code of read(2). */
static int words_read(const uvperf__evlist_t *evlist, int fd, uint64_t format,
                      uvperf_values_t *read) {
  int tries = TRIES;
  ssize_t rc;
  size_t used;

  /* -ECHILD means that a task that inherits the group is just joining or
   * leaving it (__perf_read_group_add, Linux 6.6). This takes only a moment. */
  do
    rc = uvperf__sys_read(fd, evlist->reading->words,
                          evlist->reading->words_size);
  while (rc == -ECHILD && --tries > 0);
  if (rc < 0)
    return (int)rc;
  if (rc == 0)
    return -EBADF;
  if (uvperf__read_format_parse(format, evlist->reading->words, (size_t)rc,
                                &used, read) != 0 ||
      used != (size_t)rc)
    return -EPROTO;
  return 0;
}

static int values_find(const uvperf_values_t *read, uint64_t id,
                       uint64_t likely, uvperf__value_t *value) {
  if (read->format & PERF_FORMAT_GROUP)
    return uvperf__read_format_find(read, id, likely, value) == 0 ? 0 : -EPROTO;
  uvperf__read_format_get(read, 0, value);
  return 0;
}

static void count_raise(uint64_t *last, uint64_t value) {
  if (*last < value)
    *last = value;
}

/* Adds the counts from before the event was opened again. While a child that
 * has inherited a group lives, the kernel returns the child's lost count
 * instead of the sum (__perf_read_group_add in kernel/events/core.c). So a
 * lower lost count is ignored. Lower times are ignored too. The kept times can
 * be ahead if they come from a page, because the kernel's times stand still
 * while it enables another event of the thread (ctx_resched in the same
 * file). */
static void event_keep_value(evlist_event_t *event,
                             const uvperf__value_t *value) {
  event->last.value = event->carry.value + value->value;
  count_raise(&event->last.enabled, event->carry.enabled + value->enabled);
  count_raise(&event->last.running, event->carry.running + value->running);
  count_raise(&event->last.lost, event->carry.lost + value->lost);
}

/* Fills `last` and `code` of all events that are read with this leader at the
 * place. If an event could not be read, its `last` stays.
 *
 * When a CPU goes offline, the kernel breaks up its groups, and reading a
 * leader returns only the leader's value (perf_event_exit_cpu in
 * kernel/events/core.c, DETACH_GROUP). The other events are then read by their
 * own fds, which overwrites the answer. */
static void group_read(const uvperf__evlist_t *evlist, evlist_place_t *place,
                       size_t leader) {
  uint64_t format = evlist->attrs->at[leader].attr->read_format;
  size_t end = uvperf__evlist_end(evlist, leader);
  uvperf__value_t value;
  uvperf_values_t read;
  uint64_t position = 0;
  evlist_event_t *event;
  int rc, alone;
  size_t i;

  if (group_read_pages(evlist, place, leader))
    return;
  rc = words_read(evlist, place->events[leader].fd, format, &read);
  for (i = leader; i < end; i++) {
    event = &place->events[i];
    if (!uvperf__evlist_is_led(event, leader))
      continue;
    event->code =
        rc != 0 ? rc : values_find(&read, event->id, position, &value);
    position++;
    if (event->code == 0)
      event_keep_value(event, &value);
  }
  for (i = leader; rc == 0 && i < end; i++) {
    event = &place->events[i];
    if (!uvperf__evlist_is_led(event, leader) || event->code == 0)
      continue;
    alone = words_read(evlist, event->fd, format, &read);
    event->code =
        alone == 0 ? values_find(&read, event->id, 0, &value) : -EPROTO;
    if (event->code == 0)
      event_keep_value(event, &value);
  }
}

/* Reads the events of a leader at a place, and updates *found. */
static void leader_read(const uvperf__evlist_t *evlist, evlist_place_t *place,
                        size_t leader, enum place_read *found) {
  const evlist_event_t *event = &place->events[leader];
  uint64_t enabled = event->last.enabled;

  group_read(evlist, place, leader);
  if (event->last.enabled != enabled)
    *found = PLACE_WAS_ON;
  else if (*found == PLACE_IS_CLOSED)
    *found = PLACE_WAS_OFF;
}

enum place_read uvperf__evlist_read_place(const uvperf__evlist_t *evlist,
                                          evlist_place_t *place) {
  enum place_read found = PLACE_IS_CLOSED;
  size_t i;

  for (i = 0; i < evlist->attrs->nr; i++)
    if (uvperf__evlist_leads(place, i))
      leader_read(evlist, place, i, &found);
  return found;
}

/* -- lost records ---------------------------------------------------------- */

/* The events of an array have no ids, so no group is read. */
static int evlist_has_lost(const uvperf__evlist_t *evlist) {
  uint64_t format = evlist->attrs->at[0].attr->read_format;

  return evlist->is_array ? uvperf__read_format_has_lost(format)
                          : (format & UVPERF_FORMAT_LOST) != 0;
}

void uvperf__evlist_count_lost_at(const uvperf__evlist_t *evlist,
                                  evlist_place_t *place) {
  const uvperf__cpu_rings_t *rings = evlist->records->rings;
  const uvperf__cpu_ring_t *ring = NULL;
  evlist_event_t *event;
  size_t i;

  if (rings != NULL)
    ring = uvperf__cpu_rings_find(rings, place->place.cpu);
  if (ring == NULL || !evlist_has_lost(evlist) ||
      !uvperf__ring_may_have_lost(&ring->ring))
    return;
  uvperf__evlist_read_place(evlist, place);
  for (i = 0; i < evlist->attrs->nr; i++) {
    event = &place->events[i];
    if (!uvperf__evlist_writes(event))
      continue;
    event->source->ring->lost += event->last.lost - event->lost;
    event->lost = event->last.lost;
  }
}

int uvperf__evlist_count_lost(const uvperf__evlist_t *evlist) {
  evlist_at_t at = uvperf__evlist_walk(evlist);

  while (uvperf__evlist_walk_next(&at))
    uvperf__evlist_count_lost_at(evlist, at.place);
  return evlist_has_lost(evlist);
}

/* -- ended tasks ----------------------------------------------------------- */

/* The events of a task that has ended can be read as before: inherited children
 * go on, and read(2) does not report the end. So the task is looked up, and its
 * events are read once more if it is gone.
 *
 * A task is not looked up if the enabled time of its events has advanced since
 * the last reading. That time advances only while the task runs
 * (update_context_time in kernel/events/core.c), so the task was still alive
 * at the last reading. Or an inherited child runs, and counting goes on. The
 * calling thread is not looked up either. Places of CPUs, whose pid is -1,
 * never end. */
static void place_check_gone(const uvperf__evlist_t *evlist,
                             const evlist_target_t *target,
                             evlist_place_t *place) {
  evlist_progress_t *progress = &evlist->reading->progress;
  int is_known = place->was_read && progress->found == PLACE_WAS_ON;
  int pid = place->place.pid;

  if (progress->found == PLACE_IS_CLOSED)
    return;
  place->was_read = 1;
  if (progress->skips_ends || place->is_gone || is_known ||
      uvperf__thread_is_mine(&target->thread))
    return;
  if (progress->pid != pid) {
    progress->pid = pid;
    progress->is_gone =
        uvperf__task_is_gone_now(pid, place->start, progress->begun,
                                 &place->looked_up) == 1;
  }
  if (!progress->is_gone)
    return;
  place->is_gone = 1;
  uvperf__evlist_read_place(evlist, place);
}

/* -- all events ----------------------------------------------------------- */

/* How much may be read at a time: `nr` groups, and more groups until `end`. */
typedef struct share_s {
  unsigned nr;
  uint64_t end;
} share_t;

/* Goes on reading at the place. Returns 1 if there is more. */
static int place_read_some(const uvperf__evlist_t *evlist,
                           const evlist_target_t *target, evlist_place_t *place,
                           share_t *share) {
  evlist_progress_t *progress = &evlist->reading->progress;

  for (; progress->attr < evlist->attrs->nr; progress->attr++) {
    if (!uvperf__evlist_leads(place, progress->attr))
      continue;
    if (share->nr > 0)
      share->nr--;
    else if (share->end != UINT64_MAX && uvperf__evlist_now() >= share->end)
      return 1;
    leader_read(evlist, place, progress->attr, &progress->found);
  }
  place_check_gone(evlist, target, place);
  progress->attr = 0;
  progress->found = PLACE_IS_CLOSED;
  return 0;
}

static int target_read_some(const uvperf__evlist_t *evlist,
                            const evlist_target_t *target, share_t *share) {
  evlist_progress_t *progress = &evlist->reading->progress;

  /* The target at which the reading stopped was removed. */
  if (progress->target != target->index) {
    progress->target = target->index;
    progress->place = progress->attr = 0;
    progress->found = PLACE_IS_CLOSED;
    progress->pid = 0;
  }
  for (; progress->place < target->nr_places; progress->place++)
    if (place_read_some(evlist, target, &target->places[progress->place],
                        share))
      return 1;
  progress->target++;
  progress->place = 0;
  progress->pid = 0;
  return 0;
}

static int evlist_read_some(const uvperf__evlist_t *evlist, share_t *share) {
  const evlist_places_t *places = evlist->places;
  size_t i = uvperf__evlist_position(evlist, evlist->reading->progress.target);

  for (; i < places->nr_targets; i++)
    if (target_read_some(evlist, places->targets[i], share))
      return 1;
  return 0;
}

int uvperf__evlist_read_some(uvperf__evlist_t *evlist, uint64_t ns) {
  share_t share = {SHARE, uvperf__evlist_now() + ns};

  return evlist_read_some(evlist, &share);
}

/* -- readings ------------------------------------------------------------- */

/* If a count is below its base, other code has reset the count with
 * PERF_EVENT_IOC_RESET, and the count has begun again at 0. It then contains
 * nothing from before our reset. */
static uint64_t count_since(uint64_t last, uint64_t *base) {
  if (last < *base)
    *base = 0;
  return last - *base;
}

static void event_fill_cell(evlist_event_t *event, int is_snapshot, int is_gone,
                            uvperf__cell_t *cell) {
  if (event->state == EVENT_ABSENT)
    return;
  cell->code = event->code;
  if (event->state != EVENT_OPEN) {
    /* The event's earlier counts were reported, and go on if the event is
     * opened again. If the state were NOT_AVAILABLE now, the counts would then
     * look new. */
    cell->state =
        event->is_carried ? UVPERF_COUNT_ERROR : UVPERF_COUNT_NOT_AVAILABLE;
    return;
  }
  /* An event that could not be read at the reset counts from its first
   * successful read. Its counts up to then may be from before the reset, and
   * are not reported. */
  if (event->code == 0 && event->base_code != 0) {
    cell->code = event->base_code;
    event->base = event->last;
    event->base_code = 0;
  }
  cell->state = UVPERF_COUNT_ERROR;
  if (cell->code != 0)
    return;
  cell->value = is_snapshot
                    ? event->last.value
                    : count_since(event->last.value, &event->base.value);
  cell->enabled = count_since(event->last.enabled, &event->base.enabled);
  cell->running = count_since(event->last.running, &event->base.running);
  cell->lost = count_since(event->last.lost, &event->base.lost);
  cell->state = uvperf__cell_state(cell, is_gone);
}

static int reading_begin(const uvperf__evlist_t *evlist, size_t nr_places,
                         uvperf_reading_t *reading) {
  const evlist_reading_t *state = evlist->reading;
  uvperf__reading_origin_t origin = {evlist, state->born};
  int rc = uvperf__reading_begin(reading, &origin, state->resets, state->since,
                                 state->progress.begun, evlist->attrs->nr,
                                 evlist->attrs->flags, nr_places);

  if (rc == 0)
    uvperf__reading_set_parts(reading, evlist->attrs->next_parts);
  return rc;
}

int uvperf__evlist_make_reading(const uvperf__evlist_t *evlist,
                                uvperf_reading_t *reading) {
  return reading_begin(evlist, evlist->places->nr_places, reading);
}

/* Fills the reading from the last read of each event. */
static void reading_fill(const uvperf__evlist_t *evlist, evlist_at_t at,
                         uvperf_reading_t *reading) {
  size_t nr, i;

  for (nr = 0; uvperf__evlist_walk_next(&at); nr++) {
    *uvperf__reading_place(reading, nr) = at.place->place;
    for (i = 0; i < evlist->attrs->nr; i++)
      event_fill_cell(&at.place->events[i],
                      evlist->attrs->flags[i] & UVPERF__READING_SNAPSHOT,
                      at.place->is_gone, uvperf__reading_cell(reading, i, nr));
  }
  uvperf__reading_end(reading);
}

void uvperf__evlist_read_begin(uvperf__evlist_t *evlist) {
  evlist_progress_t *progress = &evlist->reading->progress;

  memset(progress, 0, sizeof(*progress));
  progress->begun = uvperf__evlist_now();
}

int uvperf__evlist_read_end(uvperf__evlist_t *evlist,
                            uvperf_reading_t *reading) {
  int rc = uvperf__evlist_make_reading(evlist, reading);

  if (rc == 0)
    reading_fill(evlist, uvperf__evlist_walk(evlist), reading);
  return rc;
}

static int evlist_read_all(uvperf__evlist_t *evlist, int skips_ends,
                           uvperf_reading_t *reading) {
  share_t all = {0, UINT64_MAX};
  int rc = uvperf__evlist_check(evlist, NULL);

  if (rc != 0)
    return rc;
  uvperf__evlist_read_begin(evlist);
  evlist->reading->progress.skips_ends = skips_ends;
  rc = uvperf__evlist_make_reading(evlist, reading);
  if (rc != 0)
    return rc;
  evlist_read_some(evlist, &all);
  reading_fill(evlist, uvperf__evlist_walk(evlist), reading);
  return 0;
}

int uvperf__evlist_read(uvperf__evlist_t *evlist, uvperf_reading_t *reading) {
  return evlist_read_all(evlist, 0, reading);
}

int uvperf__evlist_read_base(uvperf__evlist_t *evlist,
                             uvperf_reading_t *reading) {
  return evlist_read_all(evlist, 1, reading);
}

int uvperf__evlist_read_targets(uvperf__evlist_t *evlist, size_t first,
                                size_t nr, uvperf_reading_t *reading) {
  evlist_target_t *const *targets = evlist->places->targets;
  const evlist_progress_t progress = evlist->reading->progress;
  share_t all = {0, UINT64_MAX};
  size_t nr_places = 0;
  size_t i;
  int rc;

  for (i = first; i < first + nr; i++)
    nr_places += targets[i]->nr_places;
  uvperf__evlist_read_begin(evlist);
  rc = reading_begin(evlist, nr_places, reading);
  for (i = first; i < first + nr && rc == 0; i++)
    target_read_some(evlist, targets[i], &all);
  if (rc == 0)
    reading_fill(evlist, uvperf__evlist_walk_some(evlist, first, nr), reading);
  evlist->reading->progress = progress;
  return rc;
}

/* -- reset ---------------------------------------------------------------- */

/* Does not use PERF_EVENT_IOC_RESET, because that does not change the times or
 * the counts of children that have ended (_perf_event_reset sets event->count
 * to 0, perf_event_count adds event->child_count). */
int uvperf__evlist_reset(uvperf__evlist_t *evlist) {
  evlist_at_t at = uvperf__evlist_walk(evlist);
  evlist_event_t *event;
  size_t i;
  int rc = uvperf__evlist_check(evlist, NULL);

  if (rc != 0)
    return rc;
  while (uvperf__evlist_walk_next(&at)) {
    uvperf__evlist_read_place(evlist, at.place);
    for (i = 0; i < evlist->attrs->nr; i++) {
      event = &at.place->events[i];
      event->base = event->last;
      event->base_code = event->code;
    }
  }
  evlist->reading->resets++;
  evlist->reading->since = uvperf__evlist_now();
  /* A reading in progress must not mix counts from before and after the
   * reset. */
  uvperf__evlist_read_begin(evlist);
  return 0;
}
