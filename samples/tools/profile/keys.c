/* SPDX-License-Identifier: MIT */
#include "profile/keys.h"

#include <stddef.h>
#include <string.h>

#define CTRL_C 3
#define CTRL_Z 26
#define ESCAPE 27

const char *const profile_keys_help[] = {
    "s t n      sort by self, total, number of samples; also left and right",
    "f h p m c  a row is a function, thread, process, comm, cgroup",
    "space      hold the table, or continue",
    "q          quit; Ctrl-C is the same",
    "?          show these keys; any key goes back",
    "",
    "self is the share of a function itself, total includes the functions",
    "that it called. Old samples fade by 1/8 per second, so half of the table",
    "is from the last 5 seconds.",
    NULL,
};

static profile_key_t sort_by(profile_keys_t *keys, int sort) {
  if (sort < STACKS_SORT_SELF || sort > STACKS_SORT_SAMPLES)
    return PROFILE_KEY_NONE;
  keys->sort = (stacks_sort_t)sort;
  return PROFILE_KEY_CHANGES;
}

static profile_key_t take_key(profile_keys_t *keys, unsigned char byte) {
  static const char sort_keys[] = "stn", row_keys[] = "fhpmc";
  static const stacks_sort_t sorts[] = {STACKS_SORT_SELF, STACKS_SORT_TOTAL,
                                        STACKS_SORT_SAMPLES};
  static const stacks_by_t rows[] = {STACKS_BY_FUNCTION, STACKS_BY_THREAD,
                                     STACKS_BY_PROCESS, STACKS_BY_COMM,
                                     STACKS_BY_CGROUP};
  const char *sort = memchr(sort_keys, byte, sizeof(sorts) / sizeof(*sorts));
  const char *row = memchr(row_keys, byte, sizeof(rows) / sizeof(*rows));

  if (sort != NULL)
    keys->sort = sorts[sort - sort_keys];
  else if (row != NULL)
    keys->by = rows[row - row_keys];
  else if (byte == ' ')
    keys->is_paused = !keys->is_paused;
  else if (byte == '?')
    keys->has_help = 1;
  else
    return PROFILE_KEY_NONE;
  return PROFILE_KEY_CHANGES;
}

/* Arrow keys are ESC [ C and ESC [ D, or ESC O C and ESC O D. Other sequences,
 * which end with a letter or ~, are ignored. */
static int take_escape(profile_keys_t *keys, unsigned char byte,
                       profile_key_t *key) {
  int state = keys->escape;

  *key = PROFILE_KEY_NONE;
  if (byte == ESCAPE)
    keys->escape = 1;
  else if (state == 1 && (byte == '[' || byte == 'O'))
    keys->escape = 2;
  else if (state == 2 && byte >= 0x20 && byte < 0x40)
    keys->escape = 2;
  else
    keys->escape = 0;
  if (state == 2 && byte == 'C')
    *key = sort_by(keys, (int)keys->sort + 1);
  if (state == 2 && byte == 'D')
    *key = sort_by(keys, (int)keys->sort - 1);
  return keys->escape != 0 || state == 2;
}

profile_key_t profile_keys_take(profile_keys_t *keys, unsigned char byte) {
  profile_key_t key;

  if (take_escape(keys, byte, &key))
    return key;
  if (byte == CTRL_C || byte == 'q')
    return PROFILE_KEY_QUITS;
  if (byte == CTRL_Z)
    return PROFILE_KEY_SUSPENDS;
  if (keys->has_help) {
    keys->has_help = 0;
    return PROFILE_KEY_CHANGES;
  }
  return take_key(keys, byte);
}
