/* SPDX-License-Identifier: MIT */
/* Shows a screen of lines on a terminal, and reads its keys. The terminal's
 * screen and modes are restored however the program ends, except by SIGKILL. */
#ifndef PROFILE_TERMINAL_H
#define PROFILE_TERMINAL_H

#include <stddef.h>

#include <uv.h>

#include "common/buffer.h"

typedef struct profile_terminal_s profile_terminal_t;

struct profile_terminal_s {
  void *data; /* the owner's */
  void (*on_key)(profile_terminal_t *terminal, unsigned char byte);
  void (*on_resize)(profile_terminal_t *terminal); /* draw again */
  void (*on_lost)(
      profile_terminal_t *terminal); /* it cannot be written any more */
  /* private */
  uv_tty_t out, in;
  uv_signal_t resized, resumed;
  uv_write_t write;
  common_buffer_t frame; /* being written */
  int has_in;            /* keys are read */
  int is_new;            /* enter_text must be written first */
  int is_open, is_writing, is_lost;
};

/* Returns 1 if stdout is a terminal on which lines can be drawn. */
int profile_terminal_is_there(void);

/* Set the callbacks first. Calls on_resize before it returns. Returns 0 or a
 * libuv error. */
int profile_terminal_open(profile_terminal_t *terminal, uv_loop_t *loop);

/* Returns 80 x 24 if the size is not known. */
void profile_terminal_size(const profile_terminal_t *terminal, size_t *columns,
                           size_t *lines);

/* Shows lines, each ended by a newline. The second line is the head of a table.
 * Does nothing while the previous lines are still being written. */
void profile_terminal_draw(profile_terminal_t *terminal, const char *text);

/* Stops the program as Ctrl-Z does, until the shell continues it. */
void profile_terminal_suspend(profile_terminal_t *terminal);

/* Restores the terminal, and closes the handles. */
void profile_terminal_close(profile_terminal_t *terminal);

#endif
