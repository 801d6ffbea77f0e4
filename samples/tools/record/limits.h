/* SPDX-License-Identifier: MIT */
/* Where a file ends: --max-size, --switch-output and its options. */
#ifndef RECORD_LIMITS_H
#define RECORD_LIMITS_H

#include <stdint.h>

typedef struct record_limits_s {
  uint64_t max_bytes;    /* of a file; 0: no bound */
  int switches;          /* a new file begins at: */
  int switch_signal;     /*   SIGUSR2 */
  uint64_t switch_bytes; /*   this size; 0: not chosen */
  uint64_t switch_ms;    /*   this age, in milliseconds; 0: not chosen */
  uint64_t max_files;    /* the newest are kept; 0: all */
  int overwrites;        /* only the newest records are kept, in the rings */
  int has_stamp;         /* the file's name gets the time when it is finished */
} record_limits_t;

/* These parse the values of options into a record_limits_t. They return 0, or
 * COMMON_EXIT_USAGE after a message. */
int record_limits_max_size(void *limits, const char *text);
/* NULL: signal. */
int record_limits_switch(void *limits, const char *text);

/* Refuses options that contradict each other or the file. Returns 0, or
 * COMMON_EXIT_USAGE after a message. */
int record_limits_check(const record_limits_t *limits, const char *file);

#endif
