/* SPDX-License-Identifier: MIT */
/* Each second the table is built again from the stacks, whose counts fade. The
 * table has the names that are known by then. Names are requested when a second
 * ends. */
#include "profile/top.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/memory.h"
#include "common/output.h"
#include "common/say.h"
#include "profile/fade.h"
#include "profile/naming.h"
#include "profile/screen.h"
#include "profile/terminal.h"

#define MIN_NS UINT64_C(500000000)

struct profile_top_s {
  profile_t *profile;
  profile_keys_t keys;
  profile_terminal_t terminal;
  int has_terminal;
  common_output_t output; /* without a terminal, and at the end */
  char target[64];
  stacks_t stacks; /* as of the last second */
  stacks_row_t *rows;
  size_t nr;
  uint64_t last_ns, last_samples; /* at the last second */
  double rate;                    /* samples a second */
  int is_second_open;             /* the last second is not shown yet */
  int is_naming;                  /* waiting for names */
};

/* -- the table ------------------------------------------------------------- */

static void rank(profile_top_t *top) {
  size_t i;

  free(top->rows);
  top->rows = stacks_rank(&top->stacks, top->keys.by, &top->nr);
  for (i = 0; i < top->nr; i++)
    top->rows[i].samples =
        (top->rows[i].samples + PROFILE_FADE_UNIT / 2) / PROFILE_FADE_UNIT;
  stacks_rank_sort(top->rows, top->nr, top->keys.sort);
}

static void build(profile_top_t *top) {
  stacks_free(&top->stacks);
  profile_build(top->profile, &top->stacks);
  rank(top);
}

/* Returns a string for free(). */
static char *write_lines(const profile_top_t *top, size_t columns,
                         size_t lines) {
  const profile_t *profile = top->profile;
  const profile_screen_t screen = {
      .keys = &top->keys,
      .columns = columns,
      .lines = lines,
      .max_rows = (size_t)profile->options.view.rows,
      .target = top->target,
      .event = profile->event,
      .rate = top->rate,
      .lost = common_lost_total(&profile->totals.lost),
      .weight = top->stacks.weight,
      .rows = top->rows,
      .nr = top->nr,
  };
  char *text = NULL;
  size_t size;
  FILE *file = common_memory_open(&text, &size);

  profile_screen_write(file, &screen);
  common_memory_close(file);
  return text;
}

static void draw(profile_terminal_t *terminal) {
  const profile_top_t *top = terminal->data;
  size_t columns, lines;
  char *text;

  profile_terminal_size(terminal, &columns, &lines);
  text = write_lines(top, columns, lines);
  profile_terminal_draw(terminal, text);
  free(text);
}

/* Skips the table if the reader has not read the previous table. */
static void print(profile_top_t *top) {
  char *text;

  if (top->output.buffer.used == 0) {
    text = write_lines(top, 0, 0);
    common_buffer_text(&top->output.buffer, text);
    common_buffer_text(&top->output.buffer, "\n");
    free(text);
  }
  common_output_push(&top->output, 0);
  if (top->output.error != 0)
    common_session_stop_soon(&top->profile->session);
}

/* -- keys ------------------------------------------------------------------ */

static void on_key(profile_terminal_t *terminal, unsigned char byte) {
  profile_top_t *top = terminal->data;

  switch (profile_keys_take(&top->keys, byte)) {
    case PROFILE_KEY_CHANGES:
      rank(top);
      draw(terminal);
      break;
    case PROFILE_KEY_QUITS:
      common_session_stop_soon(&top->profile->session);
      break;
    case PROFILE_KEY_SUSPENDS:
      profile_terminal_suspend(terminal);
      break;
    case PROFILE_KEY_NONE:
      break;
  }
}

static void on_lost(profile_terminal_t *terminal) {
  const profile_top_t *top = terminal->data;

  top->profile->failed = 1;
  common_session_stop_soon(&top->profile->session);
}

static void name_ids(profile_top_t *top, const char *kind,
                     const common_ids_t *ids) {
  snprintf(top->target, sizeof(top->target), "%s %d%s", kind, ids->ids[0],
           ids->nr > 1 ? ", ..." : "");
}

static void name_target(profile_top_t *top) {
  const profile_options_t *options = &top->profile->options;

  if (profile_options_is_command(options))
    snprintf(top->target, sizeof(top->target), "%s", options->command[0]);
  else if (options->pids.nr > 0)
    name_ids(top, "process", &options->pids);
  else if (options->tids.nr > 0)
    name_ids(top, "thread", &options->tids);
  else if (options->cgroups.nr > 0)
    snprintf(top->target, sizeof(top->target), "%s%s",
             options->cgroups.texts[0], options->cgroups.nr > 1 ? ", ..." : "");
  else if (options->cpus != NULL)
    snprintf(top->target, sizeof(top->target), "CPUs %s", options->cpus);
  else
    snprintf(top->target, sizeof(top->target), "all CPUs");
}

/* -- beginning and end ----------------------------------------------------- */

static void open_screen(profile_top_t *top) {
  int rc;

  top->terminal.data = top;
  top->terminal.on_key = on_key;
  top->terminal.on_resize = draw;
  top->terminal.on_lost = on_lost;
  rc = profile_terminal_open(&top->terminal, &top->profile->session.loop);
  if (rc != 0)
    common_say("cannot use the terminal: %s\n", uv_strerror(rc));
  top->has_terminal = rc == 0;
}

void profile_top_start(profile_t *profile) {
  profile_top_t *top = common_calloc(1, sizeof(*top));

  profile->top = top;
  top->profile = profile;
  top->keys.by = profile->options.view.by;
  top->last_ns = uv_hrtime();
  name_target(top);
  stacks_init(&top->stacks);
  common_output_open(&top->output, NULL);
  /* If a command is measured, the command uses the terminal itself. */
  if (profile->options.command == NULL && profile_terminal_is_there())
    open_screen(top);
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

static void show(profile_top_t *top) {
  if (!top->keys.is_paused)
    build(top);
  if (top->has_terminal)
    draw(&top->terminal);
  else
    print(top);
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

void profile_top_stop(profile_t *profile) {
  profile_top_t *top = profile->top;

  measure(top);
  top->is_second_open = 0;
  profile_terminal_close(&top->terminal);
}

int profile_top_is_naming(const profile_t *profile) {
  return profile->top->is_naming;
}

void profile_top_end(profile_t *profile) {
  profile_top_t *top = profile->top;

  build(top);
  top->keys.has_help = 0;
  print(top);
  profile->failed |= common_output_finish(&top->output, NULL);
}

void profile_top_free(profile_t *profile) {
  profile_top_t *top = profile->top;

  if (top == NULL)
    return;
  common_buffer_free(&top->output.buffer);
  stacks_free(&top->stacks);
  free(top->rows);
  free(top);
}
