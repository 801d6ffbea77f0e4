/* SPDX-License-Identifier: MIT */
/* The names of the files of a recording that goes into one after the other. */
#ifndef RECORD_NAMES_H
#define RECORD_NAMES_H

#include <stddef.h>

typedef struct record_names_s {
  char **kept; /* the newest, if there is a bound; the oldest at `next` */
  size_t max;  /* how many there may be; 0: no bound */
  size_t next;
  char *last; /* the newest name, or NULL */
} record_names_t;

/* Renames a finished file to PATH.YYYYMMDDhhmmssnn, the local time up to
 * hundredths of a second, as perf record does. A name that is taken is left
 * alone: a later hundredth is chosen. With a bound the oldest file of this
 * recording is removed. 0, or -errno. */
int record_names_finish(record_names_t *names, const char *path);

void record_names_free(record_names_t *names);

#endif
