/* SPDX-License-Identifier: MIT */
/* The places where attrs are opened: the targets, the events, and the failures
 * to open events. A place is a pid and a CPU, as for perf_event_open(2). */
#ifndef UVPERF_LIB_EVLIST_PLACES_H
#define UVPERF_LIB_EVLIST_PLACES_H

#include "evlist/internal.h"

/* The counts of an event since it was opened. */
typedef struct counted_s {
  uint64_t value;
  uint64_t enabled;
  uint64_t running;
  uint64_t lost;
} counted_t;

enum evlist_state {
  EVENT_ABSENT,  /* not opened here */
  EVENT_PLANNED, /* to be opened */
  EVENT_FAILED,  /* could not be opened: `code` */
  EVENT_OPEN
};

/* One attr at one place. */
typedef struct evlist_event_s {
  enum evlist_state state;
  int code; /* 0, or why opening or the last read failed */
  int fd;
  /* Whether the attr's BPF program was attached through this event, and if so,
   * the fd of its link. The fd is -1 if there is no link. The program is then
   * attached as long as the event is open. */
  int has_bpf;
  int bpf_link;
  /* The attr whose event is used to read this event: the leader of its group at
   * this place. It is the event's own attr if the event leads or is in no
   * group. */
  size_t leader;
  uint64_t id; /* if it is needed, see open_event in open.c */
  /* Its page, if its whole group is read with pages when possible; or NULL. */
  const struct perf_event_mmap_page *page;
  evlist_source_t *source; /* NULL: it writes into no ring */
  /* If there are rings and it writes no records. Samples of its group can have
   * its count and its id (PERF_SAMPLE_READ). */
  evlist_source_t *silent;
  int is_unfit;     /* FAILED by the plan: do not try it here */
  int is_unchecked; /* OPEN, but maybe of another task with the same id */
  /* If the event was closed to be opened again (`is_carried`), its counts when
   * it was closed. */
  counted_t carry;
  int is_carried;
  uint64_t left;  /* `last.running` when its CPU went offline: hotplug.c */
  counted_t last; /* at the last read */
  /* The key in the attr's map that has this event (`is_in_map`), or an event
   * before it that could not be taken out, plus 1. 0: none. */
  uint32_t map_entry;
  int is_in_map;
  uint64_t lost;  /* the part of `last.lost` that its ring counts already */
  counted_t base; /* at the last reset */
  int base_code;  /* 0, or why `base` could not be read */
} evlist_event_t;

typedef struct evlist_place_s {
  uvperf_place_t place;
  uint64_t start;     /* of the task: see host/task.h */
  uint64_t looked_up; /* ns: see uvperf__task_is_gone_now */
  int is_gone;
  int was_read;
  int has_begun;   /* a command that has called execve(2) */
  int is_away;     /* its CPU is offline, see hotplug.c */
  int has_package; /* its CPU's package was looked up, and is known */
  uint64_t package;
  evlist_event_t *events; /* one for each attr */
} evlist_place_t;

typedef struct evlist_target_s {
  uint32_t index;
  uint32_t type; /* enum uvperf_target_type */
  /* The thread of UVPERF_TARGET_SELF; else none. */
  uvperf__thread_t thread;
  void *data; /* the user's */
  int inherit;
  int on_exec;
  int follows_cpus;  /* it covers every CPU */
  int cgroup;        /* fd while its events are opened, else -1 */
  char *cgroup_path; /* from the user's options; or NULL */
  size_t nr_places;
  evlist_place_t *places;
  evlist_event_t *events; /* of all places */
  /* Where its end was checked last: the place and attr of an event that was
   * alive, and the place of a task that was alive. */
  size_t alive_place;
  size_t alive_attr;
  size_t alive_task;
  int has_writer; /* a probe has found an event that writes into a ring */
  int has_ended;
  int is_end_taken;
} evlist_target_t;

struct evlist_places_s {
  evlist_target_t **targets;
  size_t nr_targets; /* by ascending indexes */
  size_t room_targets;
  uint32_t next_target;
  uint32_t next_ended; /* all ends below this index were taken */
  uint64_t next_serial;
  size_t nr_places;
  size_t nr_open;
  uvperf_set_failure_t *failures;
  size_t nr_failures;
  size_t room_failures;
};

/* A position on the way through all places, in the order of targets. Begin with
 * uvperf__evlist_walk. */
typedef struct evlist_at_s {
  evlist_target_t *target;
  evlist_place_t *place;
  /* Private. */
  evlist_target_t *const *next;
  evlist_target_t *const *end;
  size_t next_place;
} evlist_at_t;

/* Walks over the places of `nr` targets from `first` on, or of all targets. */
static inline evlist_at_t
uvperf__evlist_walk_some(const uvperf__evlist_t *evlist, size_t first,
                         size_t nr) {
  evlist_target_t **next = evlist->places->targets;

  if (nr != 0)
    next += first;
  return (evlist_at_t){.next = next, .end = nr == 0 ? next : next + nr};
}

static inline evlist_at_t uvperf__evlist_walk(const uvperf__evlist_t *evlist) {
  return uvperf__evlist_walk_some(evlist, 0, evlist->places->nr_targets);
}

/* Moves to the next place. Returns 1, or 0 after the last. */
static inline int uvperf__evlist_walk_next(evlist_at_t *at) {
  while (at->next != at->end) {
    at->target = *at->next;
    if (at->next_place < at->target->nr_places) {
      at->place = &at->target->places[at->next_place++];
      return 1;
    }
    at->next++;
    at->next_place = 0;
  }
  return 0;
}

/* Whether the target consists of tasks, which end. CPUs and cgroups do not. */
static inline int uvperf__evlist_target_is_tasks(uint32_t type) {
  return type != UVPERF_TARGET_CPUS && type != UVPERF_TARGET_CGROUP;
}

/* Whether the event is open, and writes into a ring. */
static inline int uvperf__evlist_writes(const evlist_event_t *event) {
  return event->state == EVENT_OPEN && event->source != NULL;
}

/* Whether the event is read together with the event of this leader. */
static inline int uvperf__evlist_is_led(const evlist_event_t *event,
                                        size_t leader) {
  return event->state == EVENT_OPEN && event->leader == leader;
}

/* Whether this event is read itself at this place, and not together with its
 * leader. */
static inline int uvperf__evlist_leads(const evlist_place_t *place,
                                       size_t attr) {
  return uvperf__evlist_is_led(&place->events[attr], attr);
}

/* -- base.c -- */

/* Returns the position of the first target whose index is this or higher. */
size_t uvperf__evlist_position(const uvperf__evlist_t *evlist, uint32_t index);

/* -- plan.c -- */

/* Makes a target with its places. Events to be opened are EVENT_PLANNED.
 * Events that fit nowhere on the target are failures, until a CPU comes on
 * which they do. Returns 0, or a code and the error. */
int uvperf__evlist_plan(uvperf__evlist_t *evlist, const uvperf_target_t *target,
                        evlist_target_t **planned, uvperf_error_t *error);

/* Adds `nr` places after the other places of the target. Returns 0, or -ENOMEM
 * and the error. */
int uvperf__evlist_add_places(uvperf__evlist_t *evlist, evlist_target_t *target,
                              size_t nr, uvperf_error_t *error);

/* Plans one more place, whose pid and cpu are filled, as if it had existed when
 * the target was planned. */
void uvperf__evlist_plan_place(uvperf__evlist_t *evlist,
                               evlist_target_t *target, evlist_place_t *place);

/* Whether one event per package is enough for the attr, and another place of
 * the target already measures this CPU's package. */
int uvperf__evlist_has_package(const uvperf__evlist_t *evlist,
                               const evlist_target_t *target,
                               evlist_place_t *place, size_t attr);

/* Returns how many events are to be opened. */
size_t uvperf__evlist_nr_planned(const uvperf__evlist_t *evlist,
                                 const evlist_target_t *target);

/* -- failure.c -- */

/* Notes that an attr could not be opened at a place, and the reason `why`.
 * Returns 0, or fills the error and returns -ENOMEM. */
int uvperf__evlist_fail(uvperf__evlist_t *evlist, const uvperf_place_t *place,
                        size_t attr, const uvperf_error_t *why,
                        uvperf_error_t *error);

/* Forgets the failures of a target that match the place and the attr. A NULL
 * place matches all places, pid 0 in the place matches all pids, and SIZE_MAX
 * matches all attrs. */
void uvperf__evlist_forget(uvperf__evlist_t *evlist, uint32_t target,
                           const uvperf_place_t *place, size_t attr);

/* Orders the failures by target, place and attr. A new failure
 * may stand after failures that belong behind it. */
void uvperf__evlist_order_failures(uvperf__evlist_t *evlist);

/* Returns the code and the error of the most specific failure from `first` on.
 * There must be at least one failure. */
int uvperf__evlist_choose_failure(const uvperf__evlist_t *evlist, size_t first,
                                  uvperf_error_t *error);

#endif
