/* SPDX-License-Identifier: MIT */
/* Finds which of many names was probably meant. Allocates no memory. */
#ifndef UVPERF_LIB_UTIL_NEAR_MISS_H
#define UVPERF_LIB_UTIL_NEAR_MISS_H

#include <stddef.h>

/* The length of the longest name that is compared. Longer names are never
 * near. */
#define UVPERF__NEAR_MISS_MOST 63

/* A search. All fields are private except `best`. `best` is the nearest name so
 * far, or "" if none is near enough. */
typedef struct uvperf__near_miss_s {
  char wanted[UVPERF__NEAR_MISS_MOST + 1];
  size_t length;
  size_t distance;
  char best[UVPERF__NEAR_MISS_MOST + 1];
} uvperf__near_miss_t;

/* Begins a search for a name of `length` bytes. */
void uvperf__near_miss_init(uvperf__near_miss_t *miss, const char *wanted,
                            size_t length);

/* Compares one more name. Of two equally near names it keeps the name that has
 * more leading bytes in common with the wanted name. If the number of these
 * bytes is equal too, it keeps the first name. `data` is the search, because
 * this is a callback for walks over names. Always returns 0. */
int uvperf__near_miss_each(const char *name, void *data);

#endif
