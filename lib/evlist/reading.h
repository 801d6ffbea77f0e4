/* SPDX-License-Identifier: MIT */
/* Reading events. */
#ifndef UVPERF_LIB_EVLIST_READING_H
#define UVPERF_LIB_EVLIST_READING_H

#include "evlist/places.h"
#include "ring/leftovers.h"
#include "ring/user_page.h"

/* The result of reading the events of a place. */
enum place_read {
  PLACE_IS_CLOSED, /* none of them is open */
  PLACE_WAS_OFF,   /* none has been enabled since the last read */
  PLACE_WAS_ON
};

/* Progress of reading all events. Targets and places may be added and removed
 * before it goes on. */
typedef struct evlist_progress_s {
  uint64_t begun;  /* ns */
  int skips_ends;  /* does not check whether tasks are gone */
  uint32_t target; /* the index of the next target, or a lower one */
  size_t place;    /* the next place in that target, and attr there */
  size_t attr;
  enum place_read found; /* at this place so far */
  /* The last task that was looked up (0: no task), and the result. The
   * places of one task, one for each CPU, follow one another. */
  int pid;
  int is_gone;
} evlist_progress_t;

struct evlist_reading_s {
  /* The thread that reads the pages of events. No thread is set before the
   * first page is mapped. */
  uvperf__user_reader_t reader;
  uint64_t *words;   /* for the result of read(2), of any group */
  size_t words_size; /* in bytes */
  evlist_progress_t progress;
  uint64_t born;   /* ns */
  uint64_t since;  /* when the evlist was last reset, or made */
  uint64_t resets; /* the number of resets */
};

/* -- read.c -- */

/* Does what uvperf__evlist_count_lost does, for one place. */
void uvperf__evlist_count_lost_at(const uvperf__evlist_t *evlist,
                                  evlist_place_t *place);

/* Reads all events of a place. */
enum place_read uvperf__evlist_read_place(const uvperf__evlist_t *evlist,
                                          evlist_place_t *place);

/* If the options ask for it, maps the pages of those events of a target that
 * the calling thread may read through pages. Other events are read by read(2).
 * Without memory or permission, all events are read by read(2). */
void uvperf__evlist_map(uvperf__evlist_t *evlist, evlist_target_t *target);

/* Unmaps the page of an event, if it has one. The page is unmapped at once, or,
 * if `leftovers` is not NULL, later with the leftovers. */
void uvperf__evlist_unmap(const uvperf__evlist_t *evlist, evlist_event_t *event,
                          uvperf__leftovers_t *leftovers);

#endif
