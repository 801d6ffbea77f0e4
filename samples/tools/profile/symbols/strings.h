/* SPDX-License-Identifier: MIT */
/* Names. Each name is stored once, is safe to print, and never moves. */
#ifndef SYMBOLS_STRINGS_H
#define SYMBOLS_STRINGS_H

#include "common/tally.h"
#include "profile/symbols/symbols.h"

typedef struct symbols_strings_s {
  common_tally_t texts, names; /* names: arrays of symbols_name_t */
} symbols_strings_t;

void symbols_strings_init(symbols_strings_t *strings);
void symbols_strings_free(symbols_strings_t *strings);

/* Returns the name, made safe to print, or "" if there is no room. */
const char *symbols_strings_add(symbols_strings_t *strings, const char *name);

/* Sets the names of a place: an array whose texts are of symbols_strings_add,
 * and whose unused bytes are 0. Sets none if there is no room. */
void symbols_strings_names(symbols_strings_t *strings,
                           const symbols_name_t *names, size_t nr,
                           symbols_place_t *place);

#endif
