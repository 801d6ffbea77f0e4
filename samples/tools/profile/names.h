/* SPDX-License-Identifier: MIT */
/* Names of commands and files, each stored once and safe to print. */
#ifndef PROFILE_NAMES_H
#define PROFILE_NAMES_H

#include <stddef.h>
#include <stdint.h>

typedef struct profile_names_s {
  char **names; /* by id */
  size_t nr;
  size_t capacity;
  uint32_t *buckets; /* id + 1, or 0 */
  size_t nr_buckets;
} profile_names_t;

/* The id of the name that stands for all those past the limit. */
#define PROFILE_NAME_OTHER 0u

void profile_names_init(profile_names_t *names);
void profile_names_free(profile_names_t *names);

/* The id of a name after it was made safe to print. */
uint32_t profile_names_add(profile_names_t *names, const char *name);

const char *profile_names_get(const profile_names_t *names, uint32_t id);

#endif
