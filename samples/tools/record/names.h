/* SPDX-License-Identifier: MIT */
/* The names of a recording's files, if it is split into several. */
#ifndef RECORD_NAMES_H
#define RECORD_NAMES_H

#include <stddef.h>

typedef struct record_names_s {
  char **kept; /* the newest, if there is a bound; the oldest at `next` */
  size_t max;  /* the most files; 0: no bound */
  size_t next;
  char *last; /* the newest name, or NULL */
} record_names_t;

/* Renames a finished file to PATH.YYYYMMDDhhmmssnn, the local time with
 * hundredths of a second, as perf record does. If a file of that name exists,
 * uses a name with a later hundredth. If the number of files has a bound, the
 * oldest file of this recording is removed. Returns 0, or -errno. */
int record_names_finish(record_names_t *names, const char *path);

void record_names_free(record_names_t *names);

#endif
