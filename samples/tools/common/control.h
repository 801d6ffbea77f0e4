/* SPDX-License-Identifier: MIT */
/* Receives commands from another process, like --control of perf(1). */
#ifndef COMMON_CONTROL_H
#define COMMON_CONTROL_H

#include <stddef.h>

#include <uv.h>

/* Longer commands are refused. */
#define COMMON_CONTROL_BYTES 512

enum common_control_command {
  COMMON_CONTROL_ENABLE,  /* events, or one by its name */
  COMMON_CONTROL_DISABLE, /* the same */
  COMMON_CONTROL_EVLIST,
  COMMON_CONTROL_SNAPSHOT,
  COMMON_CONTROL_STOP,
  COMMON_CONTROL_PING
};

typedef struct common_control_s common_control_t;

struct common_control_s {
  void *data; /* the owner's; set it and on_command before the start */
  /* Called for a command. The command is acknowledged when this returns. `rest`
   * is the text after the command's name, or "". Another process chose this
   * text. */
  void (*on_command)(common_control_t *control,
                     enum common_control_command command, const char *rest);
  int has_stopped; /* by "stop": later commands are not run */
  /* private */
  const char *text;
  int fd, ack_fd; /* negative: none */
  int is_listening;
  int has_ended; /* the other end is closed */
  uv_poll_t poll;
  char line[COMMON_CONTROL_BYTES];
  size_t used;
  size_t nr_messages;
};

/* Checks the form of fifo:CTL[,ACK] and fd:CTL[,ACK]. Returns 0, or
 * COMMON_EXIT_USAGE after a message. */
int common_control_check(const char *text);

/* Opens both ends. Reads and writes never block, and opening does not wait for
 * another process. A command that is forked later does not inherit the fds. The
 * text must stay valid. If the text is NULL, the functions below do nothing.
 * Returns 0, or 1 after a message. Call common_control_free in either case. */
int common_control_open(common_control_t *control, const char *text);

/* Creates the handle. Returns 0, or 1 after a message. When the handle is
 * closed and its loop has run, another handle can be created on another
 * loop. */
int common_control_init(common_control_t *control, uv_loop_t *loop);

/* Starts reading commands. */
void common_control_start(common_control_t *control);

/* Returns 1 if a message about a command may be printed. The number of messages
 * is limited, because another process could fill the terminal. */
int common_control_may_say(common_control_t *control);

/* Stops reading commands. */
void common_control_stop(common_control_t *control);

/* Closes the handle, if there is one. */
void common_control_close(common_control_t *control);

/* Closes both ends. Call it when the loop has run. */
void common_control_free(common_control_t *control);

#endif
