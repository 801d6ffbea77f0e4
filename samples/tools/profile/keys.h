/* SPDX-License-Identifier: MIT */
/* The keys of the live table. */
#ifndef PROFILE_KEYS_H
#define PROFILE_KEYS_H

#include "common/stacks/rank.h"

/* The choices that they make. */
typedef struct profile_keys_s {
  stacks_by_t by;
  stacks_sort_t sort;
  int is_paused;
  int has_help; /* the keys are shown instead of the table */
  int escape;   /* private: bytes of an arrow key that have come */
} profile_keys_t;

typedef enum profile_key_e {
  PROFILE_KEY_NONE,
  PROFILE_KEY_CHANGES, /* something above is different now */
  PROFILE_KEY_QUITS,
  PROFILE_KEY_SUSPENDS
} profile_key_t;

/* Takes in a byte that a terminal in raw mode has sent. */
profile_key_t profile_keys_take(profile_keys_t *keys, unsigned char byte);

/* Lines that name the keys, up to NULL. */
extern const char *const profile_keys_help[];

#endif
