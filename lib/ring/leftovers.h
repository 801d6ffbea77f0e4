/* SPDX-License-Identifier: MIT */
/* Fds and mappings that are closed later, on another thread. If the fds are
 * events that still count, all of them can be disabled first. */
#ifndef UVPERF_LIB_RING_LEFTOVERS_H
#define UVPERF_LIB_RING_LEFTOVERS_H

#include <stddef.h>

/* From this number of events on, closing takes milliseconds: one event with its
 * ring takes 15 to 70 us. */
#define UVPERF__MANY_EVENTS 64

typedef struct uvperf__leftover_s {
  void *address; /* of a mapping, or NULL */
  size_t bytes;
  int fd; /* or -1 */
} uvperf__leftover_t;

/* If all fields are zero there are no leftovers. */
typedef struct uvperf__leftovers_s {
  uvperf__leftover_t *items;
  size_t nr;
  size_t room;
  size_t nr_disabled;
  size_t nr_closed;
  int are_enabled; /* all fds are events that count: disable all first */
} uvperf__leftovers_t;

/* Adds a mapping of `bytes` bytes (NULL: none) and an fd (-1: none). If
 * `leftovers` is NULL or memory runs out, unmaps and closes both at once. */
void uvperf__leftovers_add(uvperf__leftovers_t *leftovers, void *address,
                           size_t bytes, int fd);

/* Disables or closes the next leftover, in the order of adding. Returns 1, or 0
 * if no leftover remains. */
int uvperf__leftovers_close_one(uvperf__leftovers_t *leftovers);

/* Whether the next leftover will be disabled, and not closed. */
int uvperf__leftovers_are_on(const uvperf__leftovers_t *leftovers);

/* Closes the rest, and frees the memory. */
void uvperf__leftovers_end(uvperf__leftovers_t *leftovers);

#endif
