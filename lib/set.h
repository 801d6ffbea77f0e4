/* SPDX-License-Identifier: MIT */
/* Layer 5: what the files of the set's handle share, and what a measurement
 * takes of it. */
#ifndef UVPERF_LIB_SET_H
#define UVPERF_LIB_SET_H

#include <sys/types.h>

#include "uvperf/set.h"

#include "counters.h"
#include "ticker.h"

/* What uvperf_set_t.impl points to; freed in the last inner close callback. */
typedef struct set_s {
  uvperf_set_t *handle;
  uvperf__counters_t *counters;
  uvperf__ticker_t *ticker;
  pid_t pid; /* of the process that opened it */

  /* Of uvperf_set_read_start; the readings live on for the next. */
  uvperf_set_read_cb cb; /* NULL: not started */
  uvperf_reading_t *readings[2];
  uvperf_reading_t *delta;
  int last; /* which of the two the next delta begins at */
  int lent; /* which is in the user's hands, -1 for none */

  int closing;
  int closed_by_user;
} set_t;

/* -- set.c -- */

/* The impl of a handle that must not be closing: anything else is a programming
 * error, as with libuv's handles. */
set_t *uvperf__set_impl(const uvperf_set_t *set);

/* The same, for what is measured without the loop. */
uvperf__counters_t *uvperf__set_counters(const uvperf_set_t *set);

/* -- set_read.c -- */

/* The ticker ticks: reads and calls back. */
void uvperf__set_tick(void *owner);

#endif
