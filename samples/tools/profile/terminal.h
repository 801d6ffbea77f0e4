/* SPDX-License-Identifier: MIT */
/* A screenful of lines on a terminal, and the keys that are typed there. The
 * terminal gets its own screen and its modes back however the program ends,
 * except by SIGKILL. */
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
  void (*on_lost)(profile_terminal_t *terminal);   /* it cannot be written to */
  /* private */
  uv_tty_t out, in;
  uv_signal_t resized, resumed;
  uv_write_t write;
  common_buffer_t frame; /* that is being written */
  int has_in;            /* keys come */
  int is_new;            /* the screen has something else */
  int is_open, is_writing, is_lost;
};

/* Whether stdout is a terminal on which lines can be drawn. */
int profile_terminal_is_there(void);

/* Begins with on_resize; the callbacks must be set. 0, or a libuv error. */
int profile_terminal_open(profile_terminal_t *terminal, uv_loop_t *loop);

/* 80 x 24 if the terminal does not say. */
void profile_terminal_size(const profile_terminal_t *terminal, size_t *columns,
                           size_t *lines);

/* Shows lines, each ended by a newline; the second is the head of a table.
 * Nothing happens while the terminal has not taken the last ones. */
void profile_terminal_draw(profile_terminal_t *terminal, const char *text);

/* Stops like other programs do at Ctrl-Z, until the shell lets it go on. */
void profile_terminal_suspend(profile_terminal_t *terminal);

/* Gives the terminal back, and closes. */
void profile_terminal_close(profile_terminal_t *terminal);

#endif
