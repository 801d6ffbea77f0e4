/* SPDX-License-Identifier: MIT */
/* A symbol is preferred if it has these properties, in this order: a size, a
 * type, not weak, global, few underscores in front, a long name. */
#include "common/symbols/choice.h"

#include <string.h>

int symbols_choice_is_better(const symbols_choice_t *a,
                             const symbols_choice_t *b) {
  size_t a_bytes, b_bytes;

  if (a->has_size != b->has_size)
    return a->has_size;
  if (a->has_type != b->has_type)
    return a->has_type;
  if (a->is_weak != b->is_weak)
    return b->is_weak;
  if (a->is_global != b->is_global)
    return a->is_global;
  a_bytes = strspn(a->name, "_");
  b_bytes = strspn(b->name, "_");
  if (a_bytes != b_bytes)
    return a_bytes < b_bytes;
  return strlen(a->name) > strlen(b->name);
}
