/* SPDX-License-Identifier: MIT */
/* Opening events, and their settings. */
#ifndef UVPERF_LIB_EVLIST_OPENING_H
#define UVPERF_LIB_EVLIST_OPENING_H

#include "evlist/attrs.h"
#include "evlist/places.h"
#include "host/target.h"
#include "host/tracefs.h"

struct evlist_opening_s {
  uint32_t fallbacks;
  uvperf__opener_t opener;
  uvperf__calls_t calls; /* opener.calls */
  void *scratch;         /* for an attr and its leader's, as they are opened */
  int is_brief;          /* see uvperf__evlist_make */
  int has_asked;         /* uvperf__evlist_ask_formats was called */
  int has_chosen;        /* labels stay now: see adding_choose_next */
  int has_no_links;      /* for programs: see uvperf__ioctl_bpf */
  /* For the call that adds targets: the context, and the calling thread. */
  uvperf__target_context_t target_context;
  uvperf__thread_t caller;
  /* For the call that opens events, during that call. */
  uvperf__tracefs_ids_t *tracepoints;
  /* Collects fds and mappings that are closed later. NULL: all are closed at
   * once. */
  uvperf__leftovers_t *leftovers;
};

/* -- open.c -- */

/* Called if the set has no target when it is made. Chooses the fallbacks that
 * change the label of an attr. Returns 0, or a code and the error after a
 * shortage. */
int uvperf__evlist_choose(uvperf__evlist_t *evlist, size_t attr,
                          uvperf_error_t *error);

/* Opens the next planned event from the cursor on, and moves the cursor. At the
 * end the cursor is past the last target. Returns 0. Returns a code and the
 * error after a shortage, and with UVPERF_SET_STRICT after the first
 * failure. */
int uvperf__evlist_open_next(uvperf__evlist_t *evlist, evlist_cursor_t *cursor,
                             uvperf_error_t *error);

/* Opens all planned events of one place. Returns the same as
 * uvperf__evlist_open_next. */
int uvperf__evlist_open_place(uvperf__evlist_t *evlist, const evlist_at_t *at,
                              uvperf_error_t *error);

/* Closes an event if it is open. The caller sets its new state. */
void uvperf__evlist_close_event(uvperf__evlist_t *evlist, evlist_event_t *event,
                                size_t attr);

/* Closes all open events of a target. */
void uvperf__evlist_close_events(uvperf__evlist_t *evlist,
                                 evlist_target_t *target);

/* Closes all open events of a target, and frees it. NULL is allowed. */
void uvperf__evlist_close(uvperf__evlist_t *evlist, evlist_target_t *target);

/* -- targets.c -- */

/* Inserts a target by its index. Returns 0, or fills the error and returns
 * -ENOMEM. */
int uvperf__evlist_insert(uvperf__evlist_t *evlist, evlist_target_t *target,
                          uvperf_error_t *error);

/* Call it after a failed call. Closes `nr` targets from `first` on, and the
 * rings from `nr_rings` on, which that call has opened. */
void uvperf__evlist_take_back(uvperf__evlist_t *evlist, size_t first, size_t nr,
                              size_t nr_rings);

/* -- control.c -- */

/* Enables or disables the events of a walk. Goes on after a failure and returns
 * the first failure. */
int uvperf__evlist_switch(const uvperf__evlist_t *evlist, evlist_at_t places,
                          int enable, uvperf_error_t *error);

/* Does the same with the early events of one place, or with its others. */
int uvperf__evlist_switch_part(const uvperf__evlist_t *evlist,
                               const evlist_at_t *at, int is_early, int enable,
                               uvperf_error_t *error);

/* Sets the attr's filter and program on an event that has just been opened.
 * Returns 0, or a code and the error. */
int uvperf__evlist_apply_settings(const uvperf__evlist_t *evlist, size_t attr,
                                  evlist_event_t *event, uvperf_error_t *error);

/* Sets the attr's program, but not the filter. */
int uvperf__evlist_attach(const uvperf__evlist_t *evlist, size_t attr,
                          evlist_event_t *event, uvperf_error_t *error);

/* Detaches the program from an event that is about to be closed. */
void uvperf__evlist_detach_event(const uvperf__evlist_t *evlist,
                                 evlist_event_t *event);

/* Attaches a program again if the event through which it was attached was
 * closed. */
void uvperf__evlist_reattach(uvperf__evlist_t *evlist);

/* -- bpf_map.c -- */

/* Takes over an open map for an attr: its fd becomes -1. Returns 0, or -ENOMEM
 * and the error. */
int uvperf__evlist_take_map(evlist_attr_t *own, uvperf__bpf_map_t *map,
                            uvperf_error_t *error);

/* Call it when targets or CPUs were added or removed. Puts events into the maps
 * that are kept filled. Returns 0, or the first failure's code and its
 * error. */
int uvperf__evlist_fill_maps(const uvperf__evlist_t *evlist,
                             uvperf_error_t *error);

/* Takes an event out of its attr's map, if it is there. Returns 0. On failure
 * returns a code and the error, and the next call tries again, even if the
 * event is closed. */
int uvperf__evlist_leave_entry(const uvperf__evlist_t *evlist,
                               evlist_event_t *event, size_t attr,
                               uvperf_error_t *error);

/* -- array.c -- */

/* Called when the places of the target were planned from a list of CPUs, or
 * from the online CPUs (NULL). Plans no event for an offline CPU of the list,
 * and none for an online CPU without an entry. Returns 0, or a code and the
 * error: a CPU of the list has no entry, or no event is planned. */
int uvperf__evlist_plan_array(const uvperf__evlist_t *evlist,
                              const evlist_target_t *target, const char *cpus,
                              uvperf_error_t *error);

/* Takes the event of a place out of the map and closes it, until its CPU comes.
 * The code says why. */
void uvperf__evlist_end_output(uvperf__evlist_t *evlist, evlist_place_t *place,
                               int code);

#endif
