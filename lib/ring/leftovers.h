/* SPDX-License-Identifier: MIT */
/* Fds and mappings that are to be closed later, on another thread. What needs
 * them no more can have the events disabled first. */
#ifndef UVPERF_LIB_RING_LEFTOVERS_H
#define UVPERF_LIB_RING_LEFTOVERS_H

#include <stddef.h>

/* From so many events on closing takes milliseconds, however fast one is: 15 to
 * 70 us, with its ring. */
#define UVPERF__MANY_EVENTS 64

typedef struct uvperf__leftover_s {
  void *address; /* of a mapping, or NULL */
  size_t bytes;
  int fd; /* or -1 */
} uvperf__leftover_t;

/* All zero is an empty one. */
typedef struct uvperf__leftovers_s {
  uvperf__leftover_t *items;
  size_t nr;
  size_t room;
  size_t nr_disabled;
  size_t nr_closed;
  int are_enabled; /* all fds are events that count: all are disabled first */
} uvperf__leftovers_t;

/* Takes a mapping of so many bytes, or none (NULL), and an fd, or none (-1).
 * Without leftovers (NULL), or without memory for one more, it is closed at
 * once. */
void uvperf__leftovers_add(uvperf__leftovers_t *leftovers, void *address,
                           size_t bytes, int fd);

/* Disables the next one, or closes it, in the order in which they came. Returns
 * 1, or 0 if none is left. */
int uvperf__leftovers_close_one(uvperf__leftovers_t *leftovers);

/* Closes all that is left, and frees the memory. */
void uvperf__leftovers_end(uvperf__leftovers_t *leftovers);

#endif
