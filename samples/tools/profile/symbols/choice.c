/* SPDX-License-Identifier: MIT */
/* A symbol is preferred if it has these properties, in this order: a size, a
 * type, not weak, global, few underscores in front, a long name. The name is
 * the one that is shown: "operator new[]" is longer than "operator new". */
#include "profile/symbols/choice.h"

#include <string.h>

#include "profile/symbols/answer.h"
#include "profile/symbols/demangle.h"

static int is_better_name(const char *a, const char *b) {
  char a_text[SYMBOLS_NAME_BYTES], b_text[SYMBOLS_NAME_BYTES];
  size_t a_bytes, b_bytes;

  symbols_demangle(a_text, sizeof(a_text), a);
  symbols_demangle(b_text, sizeof(b_text), b);
  a_bytes = strspn(a_text, "_");
  b_bytes = strspn(b_text, "_");
  if (a_bytes != b_bytes)
    return a_bytes < b_bytes;
  return strlen(a_text) > strlen(b_text);
}

int symbols_choice_is_better(const symbols_choice_t *a,
                             const symbols_choice_t *b) {
  if (a->has_size != b->has_size)
    return a->has_size;
  if (a->has_type != b->has_type)
    return a->has_type;
  if (a->is_weak != b->is_weak)
    return b->is_weak;
  if (a->is_global != b->is_global)
    return a->is_global;
  return is_better_name(a->name, b->name);
}
