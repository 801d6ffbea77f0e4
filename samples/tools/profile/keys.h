/* SPDX-License-Identifier: MIT */
/* The keys of the live table. */
#ifndef PROFILE_KEYS_H
#define PROFILE_KEYS_H

#include "profile/stacks/rank.h"

/* The settings that keys change. */
typedef struct profile_keys_s {
  stacks_by_t by;
  stacks_sort_t sort;
  int is_paused;
  int has_help; /* the keys are shown instead of the table */
  int escape;   /* private: bytes received of an arrow key */
} profile_keys_t;

typedef enum profile_key_e {
  PROFILE_KEY_NONE,
  PROFILE_KEY_CHANGES, /* a setting has changed */
  PROFILE_KEY_QUITS,
  PROFILE_KEY_SUSPENDS
} profile_key_t;

/* Processes a byte from a terminal in raw mode. */
profile_key_t profile_keys_take(profile_keys_t *keys, unsigned char byte);

/* Lines that explain the keys, ended by NULL. */
extern const char *const profile_keys_help[];

#endif
