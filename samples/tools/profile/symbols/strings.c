/* SPDX-License-Identifier: MIT */
#include "profile/symbols/strings.h"

#include "common/text.h"
#include "profile/symbols/answer.h"

void symbols_strings_init(symbols_strings_t *strings) {
  common_tally_init(&strings->texts, sizeof(uint64_t));
  common_tally_init(&strings->names, sizeof(symbols_name_t));
}

void symbols_strings_free(symbols_strings_t *strings) {
  common_tally_free(&strings->texts);
  common_tally_free(&strings->names);
}

const char *symbols_strings_add(symbols_strings_t *strings, const char *name) {
  char clean[SYMBOLS_NAME_BYTES];
  const common_entry_t *entry;

  common_text_clean(clean, sizeof(clean), name);
  entry = common_tally_text(&strings->texts, clean);
  return entry == NULL ? "" : entry->items;
}

void symbols_strings_names(symbols_strings_t *strings,
                           const symbols_name_t *names, size_t nr,
                           symbols_place_t *place) {
  const common_entry_t *entry = common_tally_get(&strings->names, 0, names, nr);

  place->names = entry == NULL ? NULL : entry->items;
  place->nr = entry == NULL ? 0 : nr;
}
