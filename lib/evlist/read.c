/* SPDX-License-Identifier: MIT */
/* Reads all events and fills a reading. A group is read with one read(2) or
 * from its pages. The counts from before the last reset are subtracted here.
 *
 * With UVPERF_SET_USER_READ the events of the calling thread are read from
 * their pages (user_page.h), if this works for the whole group. A page that can
 * be read now may be unreadable the next moment, and vice versa. Both ways
 * return the same count, so they can be mixed. */
#include "evlist/internal.h"

#include <errno.h>
#include <string.h>

#include "decode/read_format.h"
#include "sys/sys.h"

/* How often a group is read again while its task forks. So many reads take
 * longer than a fork needs to inherit a group of some events. */
#define TRIES 128

/* How many groups are read before the clock is checked. A small set is
 * therefore read at once, even if the thread is late. */
#define SHARE 32

/* -- pages ---------------------------------------------------------------- */

static void unmap_group(uvperf__evlist_t *evlist, evlist_place_t *place,
                        size_t leader) {
  size_t i;

  for (i = leader; i < uvperf__evlist_end(evlist, leader); i++)
    if (uvperf__evlist_is_led(&place->events[i], leader))
      uvperf__evlist_unmap(evlist, &place->events[i], NULL);
}

/* Maps the pages of all members or of none: if one member must be read by
 * read(2), that call reads the others too. The counts of children
 * (attr.inherit) are not in any page. */
static void map_group(uvperf__evlist_t *evlist, evlist_place_t *place,
                      size_t leader) {
  size_t i;

  for (i = leader; i < uvperf__evlist_end(evlist, leader); i++) {
    if (!uvperf__evlist_is_led(&place->events[i], leader))
      continue;
    if (evlist->attrs[i].attr->inherit ||
        uvperf__user_page_map(place->events[i].fd, &place->events[i].page)) {
      unmap_group(evlist, place, leader);
      return;
    }
  }
}

void uvperf__evlist_map(uvperf__evlist_t *evlist, evlist_target_t *target) {
  size_t place, attr;

  if ((evlist->flags & UVPERF_SET_USER_READ) == 0 ||
      target->type != UVPERF_TARGET_SELF)
    return;
  /* Only one thread can read its events by their pages: the first thread whose
   * events are opened. */
  if (evlist->reader.process == 0)
    uvperf__user_reader_init(&evlist->reader);
  if (!uvperf__user_reader_is_mine(&evlist->reader))
    return;
  for (place = 0; place < target->nr_places; place++)
    for (attr = 0; attr < evlist->nr_attrs; attr++)
      if (uvperf__evlist_leads(&target->places[place], attr))
        map_group(evlist, &target->places[place], attr);
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

/* Keeps the count of a page. If the count is lower than before, returns 0, and
 * read(2) decides. The count can be lower after PERF_EVENT_IOC_RESET. It can
 * also be 2^pmc_width too low, which is below 0, until the event is next put on
 * a counter. The kernel computes `offset` with a counter that a read(2) has
 * left without its sign (perf_event_update_userpage in
 * kernel/events/core.c). */
static int keep_page_count(evlist_event_t *event, uint64_t value,
                           const uvperf__user_count_t *times) {
  if (value - event->last.value > INT64_MAX ||
      times->enabled < event->last.enabled ||
      times->running < event->last.running)
    return 0;
  event->code = 0;
  event->last.value = value;
  event->last.enabled = times->enabled;
  event->last.running = times->running;
  return 1;
}

/* The leader's times are used for the whole group, in the same way as by
 * read(2), so that times do not go back if read(2) is used next. The lost count
 * stays as it is: an event without a ring loses no records, mapped or not
 * (__perf_output_begin in kernel/events/ring_buffer.c). */
static int read_pages(const uvperf__evlist_t *evlist, evlist_place_t *place,
                      size_t leader) {
  uvperf__user_count_t times = {0, 0, 0};
  uvperf__user_count_t count;
  size_t i;

  if (place->events[leader].page == NULL ||
      !uvperf__user_reader_is_mine(&evlist->reader))
    return 0;
  for (i = leader; i < uvperf__evlist_end(evlist, leader); i++) {
    if (!uvperf__evlist_is_led(&place->events[i], leader))
      continue;
    if (uvperf__user_page_read(place->events[i].page, &count) != 0)
      return 0;
    if (i == leader)
      times = count;
    if (!keep_page_count(&place->events[i], count.value, &times))
      return 0;
  }
  return 1;
}

/* -- by read(2) ------------------------------------------------------------ */

/* Reads the values of a group, or of an event, into evlist->words. Returns 0
 * or a code:
 * - -EBADF: there are 0 bytes, because the event is in error state, such as a
 *   pinned event that the PMU could not hold (__perf_read in
 *   kernel/events/core.c);
 * - -EPROTO: the bytes cannot be values of this format;
 * - any other code: the code of read(2). */
static int read_values(const uvperf__evlist_t *evlist, int fd, uint64_t format,
                       uvperf_values_t *read) {
  int tries = TRIES;
  ssize_t rc;
  size_t used;

  /* -ECHILD means that a task that inherits the group is just joining or
   * leaving it (__perf_read_group_add, Linux 6.6). This takes only a moment. */
  do
    rc = uvperf__sys_read(fd, evlist->words, evlist->words_size);
  while (rc == -ECHILD && --tries > 0);
  if (rc < 0)
    return (int)rc;
  if (rc == 0)
    return -EBADF;
  if (uvperf__read_format_parse(format, evlist->words, (size_t)rc, &used,
                                read) != 0 ||
      used != (size_t)rc)
    return -EPROTO;
  return 0;
}

static int find_value(const uvperf_values_t *read, uint64_t id, uint64_t likely,
                      uvperf__value_t *value) {
  if (read->format & PERF_FORMAT_GROUP)
    return uvperf__read_format_find(read, id, likely, value) == 0 ? 0 : -EPROTO;
  uvperf__read_format_get(read, 0, value);
  return 0;
}

/* When a CPU goes offline, the kernel breaks up its groups, and reading a
 * leader returns only the leader's value (perf_event_exit_cpu in
 * kernel/events/core.c, DETACH_GROUP). The event is then read by its own fd.
 * Returns 0, or -EPROTO. */
static int read_alone(const uvperf__evlist_t *evlist,
                      const evlist_event_t *event, uvperf__value_t *value) {
  uvperf_values_t read;
  int rc;

  rc = read_values(evlist, event->fd,
                   evlist->attrs[event->leader].attr->read_format, &read);
  return rc == 0 ? find_value(&read, event->id, 0, value) : -EPROTO;
}

static void keep_greater(uint64_t *last, uint64_t value) {
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
static void keep_value(evlist_event_t *event, const uvperf__value_t *value) {
  event->last.value = event->carry.value + value->value;
  keep_greater(&event->last.enabled, event->carry.enabled + value->enabled);
  keep_greater(&event->last.running, event->carry.running + value->running);
  keep_greater(&event->last.lost, event->carry.lost + value->lost);
}

/* Fills `last` and `code` of all events that are read with this leader at the
 * place. If an event could not be read, its `last` stays. */
static void read_led(const uvperf__evlist_t *evlist, evlist_place_t *place,
                     size_t leader) {
  uint64_t format = evlist->attrs[leader].attr->read_format;
  uvperf__value_t value;
  uvperf_values_t read;
  uint64_t position = 0;
  evlist_event_t *event;
  size_t end = uvperf__evlist_end(evlist, leader);
  size_t i;
  int rc;

  if (read_pages(evlist, place, leader))
    return;
  rc = read_values(evlist, place->events[leader].fd, format, &read);
  for (i = leader; i < end; i++) {
    event = &place->events[i];
    if (!uvperf__evlist_is_led(event, leader))
      continue;
    event->code = rc != 0 ? rc : find_value(&read, event->id, position, &value);
    position++;
    if (event->code == 0)
      keep_value(event, &value);
  }
  /* Reads the events that were missing in the answer. This overwrites the
   * answer. */
  for (i = leader; rc == 0 && i < end; i++) {
    event = &place->events[i];
    if (!uvperf__evlist_is_led(event, leader) || event->code == 0)
      continue;
    event->code = read_alone(evlist, event, &value);
    if (event->code == 0)
      keep_value(event, &value);
  }
}

/* Reads the events of a leader at a place, and updates *found. */
static void read_leader(const uvperf__evlist_t *evlist, evlist_place_t *place,
                        size_t leader, enum place_read *found) {
  const evlist_event_t *event = &place->events[leader];
  uint64_t enabled = event->last.enabled;

  read_led(evlist, place, leader);
  if (event->last.enabled != enabled)
    *found = PLACE_WAS_ON;
  else if (*found == PLACE_IS_CLOSED)
    *found = PLACE_WAS_OFF;
}

enum place_read uvperf__evlist_read_place(const uvperf__evlist_t *evlist,
                                          evlist_place_t *place) {
  enum place_read found = PLACE_IS_CLOSED;
  size_t i;

  for (i = 0; i < evlist->nr_attrs; i++)
    if (uvperf__evlist_leads(place, i))
      read_leader(evlist, place, i, &found);
  return found;
}

/* -- lost records ---------------------------------------------------------- */

static int counters_have_lost(const uvperf__evlist_t *evlist) {
  return (evlist->attrs[0].attr->read_format & UVPERF_FORMAT_LOST) != 0;
}

static void counter_count_lost(evlist_event_t *event) {
  if (!uvperf__evlist_writes(event))
    return;
  event->source->ring->lost += event->last.lost - event->lost;
  event->lost = event->last.lost;
}

void uvperf__evlist_count_lost_at(const uvperf__evlist_t *evlist,
                                  evlist_place_t *place) {
  const uvperf__cpu_ring_t *ring =
      evlist->rings == NULL
          ? NULL
          : uvperf__cpu_rings_find(evlist->rings, place->place.cpu);
  size_t i;

  if (ring == NULL || !counters_have_lost(evlist) ||
      !uvperf__ring_may_have_lost(&ring->ring))
    return;
  uvperf__evlist_read_place(evlist, place);
  for (i = 0; i < evlist->nr_attrs; i++)
    counter_count_lost(&place->events[i]);
}

int uvperf__evlist_count_lost(const uvperf__evlist_t *evlist) {
  size_t i, place;

  for (i = 0; i < evlist->nr_targets; i++)
    for (place = 0; place < evlist->targets[i]->nr_places; place++)
      uvperf__evlist_count_lost_at(evlist, &evlist->targets[i]->places[place]);
  return counters_have_lost(evlist);
}

/* -- ended tasks ----------------------------------------------------------- */

static int is_gone(uvperf__evlist_t *evlist, const evlist_target_t *target,
                   const evlist_place_t *place) {
  evlist_progress_t *progress = &evlist->progress;
  int pid = place->place.pid;

  if (uvperf__thread_is_mine(&target->thread))
    return 0;
  if (progress->pid != pid) {
    progress->pid = pid;
    progress->is_gone =
        uvperf__task_is_gone(evlist->root, pid, place->start) == 1;
  }
  return progress->is_gone;
}

/* The events of a task that has ended can be read as before: inherited children
 * go on, and read(2) does not report the end. So the task is looked up in
 * /proc, and its events are read once more if it is gone.
 *
 * A task is not looked up if the enabled time of its events has advanced since
 * the last reading. That time advances only while the task runs
 * (update_context_time in kernel/events/core.c), so the task was still alive
 * at the last reading. Or an inherited child runs, and counting goes on. The
 * calling thread is not looked up either. Places of CPUs, whose pid is -1,
 * never end. */
static void check_gone(uvperf__evlist_t *evlist, const evlist_target_t *target,
                       evlist_place_t *place) {
  enum place_read found = evlist->progress.found;
  int is_known = place->was_read && found == PLACE_WAS_ON;

  if (found == PLACE_IS_CLOSED)
    return;
  place->was_read = 1;
  if (evlist->progress.skips_ends || place->is_gone || is_known ||
      !is_gone(evlist, target, place))
    return;
  place->is_gone = 1;
  uvperf__evlist_read_place(evlist, place);
}

/* -- all events ----------------------------------------------------------- */

void uvperf__evlist_read_begin(uvperf__evlist_t *evlist) {
  memset(&evlist->progress, 0, sizeof(evlist->progress));
  evlist->progress.begun = uvperf__evlist_now();
}

/* How much may be read at a time: `nr` groups, and more groups until `end`. */
typedef struct share_s {
  unsigned nr;
  uint64_t end;
} share_t;

static int is_used_up(share_t *share) {
  if (share->nr > 0) {
    share->nr--;
    return 0;
  }
  return share->end != UINT64_MAX && uvperf__evlist_now() >= share->end;
}

/* Goes on reading at the place. Returns 1 if there is more. */
static int read_place(uvperf__evlist_t *evlist, const evlist_target_t *target,
                      evlist_place_t *place, share_t *share) {
  evlist_progress_t *progress = &evlist->progress;

  for (; progress->attr < evlist->nr_attrs; progress->attr++) {
    if (!uvperf__evlist_leads(place, progress->attr))
      continue;
    if (is_used_up(share))
      return 1;
    read_leader(evlist, place, progress->attr, &progress->found);
  }
  check_gone(evlist, target, place);
  progress->attr = 0;
  progress->found = PLACE_IS_CLOSED;
  return 0;
}

static int read_target(uvperf__evlist_t *evlist, const evlist_target_t *target,
                       share_t *share) {
  evlist_progress_t *progress = &evlist->progress;

  /* The target at which the reading stopped was removed. */
  if (progress->target != target->index) {
    progress->target = target->index;
    progress->place = progress->attr = 0;
    progress->found = PLACE_IS_CLOSED;
    progress->pid = 0;
  }
  for (; progress->place < target->nr_places; progress->place++)
    if (read_place(evlist, target, &target->places[progress->place], share))
      return 1;
  progress->target++;
  progress->place = 0;
  progress->pid = 0;
  return 0;
}

static int read_rest(uvperf__evlist_t *evlist, share_t *share) {
  size_t i = uvperf__evlist_position(evlist, evlist->progress.target);

  for (; i < evlist->nr_targets; i++)
    if (read_target(evlist, evlist->targets[i], share))
      return 1;
  return 0;
}

/* -- readings ------------------------------------------------------------- */

/* If a count is below its base, other code has reset the count with
 * PERF_EVENT_IOC_RESET, and the count has begun again at 0. It then contains
 * nothing from before our reset. */
static uint64_t since(uint64_t last, uint64_t *base) {
  if (last < *base)
    *base = 0;
  return last - *base;
}

/* An event that could not be read at the reset counts from its first successful
 * read. Its counts up to then may be from before the reset, and are not
 * reported. */
static int begin_late(evlist_event_t *event, uvperf__cell_t *cell) {
  if (event->base_code == 0)
    return 0;
  cell->state = UVPERF_COUNT_ERROR;
  cell->code = event->base_code;
  event->base = event->last;
  event->base_code = 0;
  return 1;
}

static void fill_cell(evlist_event_t *event, int is_snapshot, int is_gone,
                      uvperf__cell_t *cell) {
  if (event->state == COUNTER_NONE)
    return;
  cell->code = event->code;
  if (event->state != COUNTER_OPEN) {
    /* The event's earlier counts were reported, and go on if the event is
     * opened again. If the state were NOT_AVAILABLE now, the counts would then
     * look new. */
    cell->state =
        event->is_carried ? UVPERF_COUNT_ERROR : UVPERF_COUNT_NOT_AVAILABLE;
    return;
  }
  if (event->code != 0) {
    cell->state = UVPERF_COUNT_ERROR;
    return;
  }
  if (begin_late(event, cell))
    return;
  cell->value = is_snapshot ? event->last.value
                            : since(event->last.value, &event->base.value);
  cell->enabled = since(event->last.enabled, &event->base.enabled);
  cell->running = since(event->last.running, &event->base.running);
  cell->lost = since(event->last.lost, &event->base.lost);
  cell->state = uvperf__cell_state(cell, is_gone);
}

static void fill_place(const uvperf__evlist_t *evlist, evlist_place_t *place,
                       uvperf_reading_t *reading, size_t nr) {
  size_t i;

  *uvperf__reading_place(reading, nr) = place->place;
  for (i = 0; i < evlist->nr_attrs; i++)
    fill_cell(&place->events[i],
              evlist->attr_flags[i] & UVPERF__READING_SNAPSHOT, place->is_gone,
              uvperf__reading_cell(reading, i, nr));
}

static int begin_reading(const uvperf__evlist_t *evlist, size_t nr_places,
                         uvperf_reading_t *reading) {
  uvperf__reading_origin_t origin = {evlist, evlist->born};
  int rc = uvperf__reading_begin(
      reading, &origin, evlist->resets, evlist->since, evlist->progress.begun,
      evlist->nr_attrs, evlist->attr_flags, nr_places);

  if (rc == 0)
    uvperf__reading_set_parts(reading, evlist->next_parts);
  return rc;
}

int uvperf__evlist_make_reading(const uvperf__evlist_t *evlist,
                                uvperf_reading_t *reading) {
  return begin_reading(evlist, evlist->nr_places, reading);
}

/* Fills the reading from the last read of each event of `nr` targets. */
static void reading_fill(const uvperf__evlist_t *evlist, size_t first,
                         size_t nr, uvperf_reading_t *reading) {
  const evlist_target_t *target;
  size_t nr_places = 0;
  size_t i, place;

  for (i = first; i < first + nr; i++) {
    target = evlist->targets[i];
    for (place = 0; place < target->nr_places; place++)
      fill_place(evlist, &target->places[place], reading, nr_places++);
  }
  uvperf__reading_end(reading);
}

static int read_all(uvperf__evlist_t *evlist, int skips_ends,
                    uvperf_reading_t *reading) {
  share_t all = {0, UINT64_MAX};
  int rc = uvperf__evlist_check(evlist, NULL);

  if (rc != 0)
    return rc;
  uvperf__evlist_read_begin(evlist);
  evlist->progress.skips_ends = skips_ends;
  rc = uvperf__evlist_make_reading(evlist, reading);
  if (rc != 0)
    return rc;
  read_rest(evlist, &all);
  reading_fill(evlist, 0, evlist->nr_targets, reading);
  return 0;
}

int uvperf__evlist_read(uvperf__evlist_t *evlist, uvperf_reading_t *reading) {
  return read_all(evlist, 0, reading);
}

int uvperf__evlist_read_base(uvperf__evlist_t *evlist,
                             uvperf_reading_t *reading) {
  return read_all(evlist, 1, reading);
}

int uvperf__evlist_read_some(uvperf__evlist_t *evlist, uint64_t ns) {
  share_t share = {SHARE, uvperf__evlist_now() + ns};

  return read_rest(evlist, &share);
}

int uvperf__evlist_read_end(uvperf__evlist_t *evlist,
                            uvperf_reading_t *reading) {
  int rc = uvperf__evlist_make_reading(evlist, reading);

  if (rc == 0)
    reading_fill(evlist, 0, evlist->nr_targets, reading);
  return rc;
}

int uvperf__evlist_read_targets(uvperf__evlist_t *evlist, size_t first,
                                size_t nr, uvperf_reading_t *reading) {
  const evlist_progress_t progress = evlist->progress;
  share_t all = {0, UINT64_MAX};
  size_t nr_places = 0;
  size_t i;
  int rc;

  for (i = first; i < first + nr; i++)
    nr_places += evlist->targets[i]->nr_places;
  uvperf__evlist_read_begin(evlist);
  rc = begin_reading(evlist, nr_places, reading);
  for (i = first; i < first + nr && rc == 0; i++)
    read_target(evlist, evlist->targets[i], &all);
  if (rc == 0)
    reading_fill(evlist, first, nr, reading);
  evlist->progress = progress;
  return rc;
}

/* -- reset ---------------------------------------------------------------- */

static void reset_place(const uvperf__evlist_t *evlist, evlist_place_t *place) {
  size_t i;

  uvperf__evlist_read_place(evlist, place);
  for (i = 0; i < evlist->nr_attrs; i++) {
    place->events[i].base = place->events[i].last;
    place->events[i].base_code = place->events[i].code;
  }
}

/* Does not use PERF_EVENT_IOC_RESET, because that does not change the times or
 * the counts of children that have ended (_perf_event_reset sets event->count
 * to 0, perf_event_count adds event->child_count). */
int uvperf__evlist_reset(uvperf__evlist_t *evlist) {
  const evlist_target_t *target;
  size_t i, place;
  int rc = uvperf__evlist_check(evlist, NULL);

  if (rc != 0)
    return rc;
  for (i = 0; i < evlist->nr_targets; i++) {
    target = evlist->targets[i];
    for (place = 0; place < target->nr_places; place++)
      reset_place(evlist, &target->places[place]);
  }
  evlist->resets++;
  evlist->since = uvperf__evlist_now();
  /* A reading in progress must not mix counts from before and after the
   * reset. */
  uvperf__evlist_read_begin(evlist);
  return 0;
}
