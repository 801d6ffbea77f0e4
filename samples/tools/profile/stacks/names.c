/* SPDX-License-Identifier: MIT */
/* Stores each name once, so that a frame is only a few numbers. Other processes
 * choose the names. So names are cleaned when they are added. */
#include "profile/stacks/names.h"

#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"

#define MAX_NAME_BYTES 1001

void stacks_names_init(stacks_names_t *names) {
  memset(names, 0, sizeof(*names));
  common_tally_init(&names->texts, sizeof(uint64_t));
  stacks_names_add(names, "[other]");
}

void stacks_names_free(stacks_names_t *names) {
  common_tally_free(&names->texts);
  free(names->names);
  memset(names, 0, sizeof(*names));
}

uint32_t stacks_names_add(stacks_names_t *names, const char *name) {
  size_t before = names->texts.nr;
  char clean[MAX_NAME_BYTES];
  common_entry_t *entry;

  common_text_clean(clean, sizeof(clean), name);
  entry = common_tally_text(&names->texts, clean);
  if (entry == NULL)
    return STACKS_NAMES_OTHER;
  if (names->texts.nr > before) {
    if (before == names->capacity)
      names->names =
          common_grow(names->names, &names->capacity, sizeof(*names->names));
    names->names[before] = entry->items;
    entry->weight = before;
  }
  return (uint32_t)entry->weight;
}

const char *stacks_names_get(const stacks_names_t *names, uint32_t id) {
  return names->names[id];
}
