/* SPDX-License-Identifier: MIT */
/* Each second the table is built again from the stacks, whose counts fade. The
 * table has the names that are known by then. Names are requested when a second
 * ends. */
#include "profile/top.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/memory.h"
#include "common/output.h"
#include "profile/fade.h"
#include "profile/naming.h"

#define MIN_NS UINT64_C(500000000)

struct profile_top_s {
  profile_t *profile;
  common_output_t output;
  int has_screen;                 /* each table replaces the last one */
  uint64_t last_ns, last_samples; /* at the last second */
  double rate;                    /* samples a second */
  int is_second_open;             /* the last second is not shown yet */
  int is_naming;                  /* waiting for names */
};

/* A command that is measured uses the terminal itself. */
static int wants_screen(const profile_t *profile) {
  const char *kind = getenv("TERM");

  return profile->options.command == NULL && isatty(STDOUT_FILENO) &&
         kind != NULL && kind[0] != '\0' && strcmp(kind, "dumb") != 0;
}

void profile_top_start(profile_t *profile) {
  profile_top_t *top = common_calloc(1, sizeof(*top));

  profile->top = top;
  top->profile = profile;
  top->last_ns = uv_hrtime();
  top->has_screen = wants_screen(profile);
  common_output_open(&top->output, NULL);
}

/* -- the table ------------------------------------------------------------- */

/* A line is free for the cursor. */
static void find_size(const profile_top_t *top, size_t *columns, size_t *rows) {
  struct winsize size;

  *columns = 0;
  *rows = (size_t)top->profile->options.view.rows;
  if (!top->has_screen)
    return;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0)
    size = (struct winsize){.ws_row = 24, .ws_col = 80};
  *columns = size.ws_col;
  *rows = size.ws_row > 3 ? size.ws_row - 3u : 0;
}

static void write_table(FILE *file, const profile_top_t *top) {
  const profile_t *profile = top->profile;
  const stacks_view_t *view = &profile->options.view;
  stacks_layout_t layout = {.by = view->by, .counted = "samples"};
  size_t i, nr, max_rows;
  stacks_row_t *rows;
  char status[128];
  stacks_t stacks;

  profile_build(profile, &stacks);
  rows = stacks_rank(&stacks, view->by, &nr);
  for (i = 0; i < nr; i++)
    rows[i].samples =
        (rows[i].samples + PROFILE_FADE_UNIT / 2) / PROFILE_FADE_UNIT;
  stacks_rank_sort(rows, nr, view->sort);
  layout.weight = stacks.weight;
  find_size(top, &layout.columns, &max_rows);
  snprintf(status, sizeof(status), "%.0f samples/s of %s, %" PRIu64 " lost",
           top->rate, profile->event, common_lost_total(&profile->totals.lost));
  stacks_text_cut(file, status, layout.columns > 0 ? layout.columns : SIZE_MAX);
  putc('\n', file);
  stacks_text_head(file, &layout);
  for (i = 0; i < nr && i < max_rows; i++)
    stacks_text_row(file, &layout, &rows[i]);
  free(rows);
  stacks_free(&stacks);
}

/* Skips the table if the reader has not read the previous table. */
static void show(profile_top_t *top) {
  common_buffer_t *buffer = &top->output.buffer;
  char *text = NULL;
  size_t size;
  FILE *file;

  if (buffer->used == 0) {
    file = open_memstream(&text, &size);
    if (file == NULL)
      abort();
    write_table(file, top);
    fclose(file);
    /* From the first line and column on, without what is there. */
    common_buffer_text(buffer, top->has_screen ? "\033[H\033[J" : "");
    common_buffer_text(buffer, text);
    common_buffer_text(buffer, top->has_screen ? "" : "\n");
    free(text);
  }
  common_output_push(&top->output, 0);
  if (top->output.error != 0)
    common_session_stop_soon(&top->profile->session);
}

/* -- each second ----------------------------------------------------------- */

/* The last part of a second is too short for a rate. */
static void measure(profile_top_t *top) {
  const profile_account_t *account = &top->profile->account;
  uint64_t now = uv_hrtime(), since = now - top->last_ns;

  if (since < MIN_NS && top->rate > 0)
    return;
  top->rate = (double)(account->samples - top->last_samples) * 1e9 /
              (double)(since > 0 ? since : 1);
  top->last_samples = account->samples;
  top->last_ns = now;
}

/* Shows the result of a second when its names are known, or when the next
 * second ends. Its samples fade after that. */
static void end_second(profile_top_t *top) {
  if (!top->is_second_open)
    return;
  top->is_second_open = 0;
  show(top);
  profile_fade(&top->profile->account);
}

static void on_named(void *arg) {
  profile_top_t *top = arg;

  top->is_naming = 0;
  if (top->profile->state == PROFILE_NAMES)
    profile_end(top->profile);
  else
    end_second(top);
}

void profile_top_tick(profile_t *profile) {
  profile_top_t *top = profile->top;

  end_second(top);
  measure(top);
  top->is_second_open = 1;
  profile_naming_ask(&profile->account);
  if (!top->is_naming)
    symbols_wait(profile->symbols, on_named, top);
  top->is_naming = 1;
}

int profile_top_stop(profile_t *profile) {
  measure(profile->top);
  profile->top->is_second_open = 0;
  return profile->top->is_naming;
}

void profile_top_end(profile_t *profile) {
  show(profile->top);
  profile->failed |= common_output_finish(&profile->top->output, NULL);
}

void profile_top_free(profile_t *profile) {
  if (profile->top == NULL)
    return;
  common_buffer_free(&profile->top->output.buffer);
  free(profile->top);
}
