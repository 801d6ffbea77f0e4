/* SPDX-License-Identifier: MIT */
/* Stores each name once, so that a frame is only a few numbers. Other processes
 * choose the names. So names are cleaned when they are added. */
#include "profile/stacks/names.h"

#include "common/text.h"

#define MAX_NAME_BYTES 1001

void stacks_names_init(stacks_names_t *names) {
  common_tally_init(&names->texts, sizeof(uint64_t));
  stacks_names_add(names, "[other]");
}

void stacks_names_free(stacks_names_t *names) {
  common_tally_free(&names->texts);
}

uint32_t stacks_names_add(stacks_names_t *names, const char *name) {
  char clean[MAX_NAME_BYTES];
  const common_entry_t *entry;

  common_text_clean(clean, sizeof(clean), name);
  entry = common_tally_text(&names->texts, clean);
  return entry == NULL ? STACKS_NAMES_OTHER : (uint32_t)entry->index;
}

const char *stacks_names_get(const stacks_names_t *names, uint32_t id) {
  return names->texts.entries[id]->items;
}
