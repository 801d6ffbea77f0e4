/* SPDX-License-Identifier: MIT */
/* Does not depend on a terminal: the lines could go to a file. */
#include "profile/screen.h"

#include <inttypes.h>

#include "profile/stacks/text.h"

#define STATUS_BYTES 256

static void put_line(FILE *file, const profile_screen_t *screen,
                     const char *text) {
  stacks_text_cut(file, text,
                  screen->columns > 0 ? screen->columns : STATUS_BYTES);
  putc('\n', file);
}

static void put_status(FILE *file, const profile_screen_t *screen) {
  const profile_keys_t *keys = screen->keys;
  char text[STATUS_BYTES];

  snprintf(text, sizeof(text),
           "%s%.0f samples/s, %" PRIu64 " lost, by %s, sorted by %s: %s, %s%s",
           keys->is_paused ? "held: " : "", screen->rate, screen->lost,
           stacks_by_name(keys->by), stacks_sort_name(keys->sort),
           screen->target, screen->event,
           screen->lines > 0 ? "; ? for help" : "");
  put_line(file, screen, text);
}

static void put_table(FILE *file, const profile_screen_t *screen,
                      size_t max_rows) {
  const stacks_layout_t layout = {screen->keys->by, screen->columns, "samples",
                                  screen->weight, 0};
  size_t i;

  if (screen->nr == 0) {
    put_line(file, screen, "no samples yet");
    return;
  }
  for (i = 0; i < screen->nr && i < max_rows; i++)
    stacks_text_row(file, &layout, &screen->rows[i]);
}

void profile_screen_write(FILE *file, const profile_screen_t *screen) {
  const stacks_layout_t layout = {screen->keys->by, screen->columns, "samples",
                                  0, 0};
  size_t max_rows = screen->lines > 2 ? screen->lines - 2 : 0, i;

  put_status(file, screen);
  if (screen->lines == 0)
    max_rows = screen->max_rows;
  else if (screen->lines < 3)
    return;
  stacks_text_head(file, &layout);
  if (!screen->keys->has_help)
    put_table(file, screen, max_rows);
  else
    for (i = 0; profile_keys_help[i] != NULL && i < max_rows; i++)
      put_line(file, screen, profile_keys_help[i]);
}
