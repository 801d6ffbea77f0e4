/* SPDX-License-Identifier: MIT */
#include "profile/symbols/answer.h"

#include <stdio.h>
#include <string.h>

#include "profile/symbols/demangle.h"

void symbols_answer_begin(symbols_message_t *response, const char *reason,
                          const void *build_id, size_t build_id_bytes,
                          int lacks_debug, size_t nr_offsets) {
  symbols_put_text(response, reason);
  symbols_put_bytes(response, build_id, build_id_bytes);
  symbols_put_number(response, lacks_debug != 0);
  symbols_put_number(response, nr_offsets);
}

void symbols_answer_place(symbols_message_t *response, uint64_t offset,
                          uint64_t address, uint64_t first, uint64_t end,
                          size_t nr_names) {
  symbols_put_number(response, offset);
  symbols_put_number(response, address);
  symbols_put_number(response, first);
  symbols_put_number(response, end);
  symbols_put_number(response, nr_names);
}

void symbols_answer_name(symbols_message_t *response, const char *name,
                         const char *suffix, const char *file, uint32_t line) {
  char text[SYMBOLS_NAME_BYTES];
  size_t room = sizeof(text) - strlen(suffix);

  symbols_demangle(text, room, name);
  strcat(text, suffix);
  symbols_put_text(response, text);
  snprintf(text, room, "%s", name);
  strcat(text, suffix);
  symbols_put_text(response, text);
  snprintf(text, sizeof(text), "%s", file);
  symbols_put_text(response, text);
  symbols_put_number(response, line);
}
