/* SPDX-License-Identifier: MIT */
/* What a tool that measures for a while does on its loop: it goes on until a
 * signal, the end of its command or of its time, or it itself ends that; then
 * it stops, and a command that still runs is ended too. */
#ifndef COMMON_SESSION_H
#define COMMON_SESSION_H

#include <stdint.h>

#include <uv.h>

#include "common/command.h"
#include "common/delay.h"
#include "uvperf.h"

typedef struct common_session_s common_session_t;

struct common_session_s {
  uv_loop_t loop;
  common_command_t command;
  int stopping;
  int signal;    /* the last SIGINT, SIGTERM or SIGHUP that came; 0 for none */
  void *data;    /* the owner's */
  int leave_int; /* SIGINT is the command's: it does not stop one that runs */
  int is_quiet;  /* no message that closing takes long */
  /* Stops measuring. Never called inside a record callback. */
  void (*on_stop)(common_session_t *session);
  /* Every so often, until it stops. */
  void (*on_tick)(common_session_t *session);
  /* -D: measuring begins (1), or pauses (0). */
  void (*on_delay)(common_session_t *session, int begins);
  /* The command has ended by itself; after on_stop, with its wait status. */
  void (*on_command)(common_session_t *session, int status);
  /* The command is gone too: writes the rest of the result, then closes the
   * owner's handles. Those of the session close by themselves. */
  void (*on_close)(common_session_t *session);
  /* A signal came while they close: returns 1 if the owner had a use for it.
   * Else, or if this is NULL, it ends the program, unless closing has just
   * begun. */
  int (*on_late_signal)(common_session_t *session);
  /* private */
  uv_signal_t interrupt, terminate, hangup, child;
  uv_timer_t tick, end, delay;
  const common_delay_t *delays;
  size_t nr_delays;     /* of them that are over */
  uint64_t delay_start; /* by uv_now */
  uv_work_t pool;
  enum {
    COMMON_SESSION_OPEN,
    COMMON_SESSION_CLOSING,
    COMMON_SESSION_SLOW, /* closing for CLOSE_MS */
    COMMON_SESSION_CLOSED
  } state;
  size_t nr_tracepoints, nr_events; /* that close */
  uvperf_set_t *opening;            /* or NULL */
  uvperf_error_t open_error;
  int open_status, is_cancelled;
};

#define COMMON_SESSION_INIT                                                    \
  { .command = COMMON_COMMAND_INIT }

/* Forks a command, unless it is NULL; to be called before anything else is
 * there that a child would have to undo. 0, or 1 after a message. */
int common_session_fork(common_session_t *session, char **command);

/* Opens the loop; the callbacks must be set. 0, or 1 after a message. */
int common_session_init(common_session_t *session);

/* Opens a set as uvperf_set_init does, but runs the loop until it is open, if
 * threads can be made. SIGINT, SIGTERM or SIGHUP cancel it: UV_ECANCELED, and
 * common_session_run ends the program by that signal. set->data is changed. */
int common_session_open_set(common_session_t *session, uvperf_set_t *set,
                            const uvperf_set_options_t *options,
                            uvperf_error_t *error);

/* Begins to listen for signals, those that are blocked too. */
void common_session_listen(common_session_t *session);

/* Starts the ticks, 0 for none, and the time to run in milliseconds, 0 for no
 * bound. */
void common_session_start(common_session_t *session, uint64_t tick_ms,
                          uint64_t duration_ms);

/* Calls on_delay at the times of -D, from now on; at the end of the last range
 * the session stops. `delay` must stay. */
void common_session_delay(common_session_t *session,
                          const common_delay_t *delay);

/* Lets the command go on to its exec, if there is one: 0, or the status to exit
 * with after a message. */
int common_session_go(common_session_t *session);

/* Closes a set, in on_close. If that takes long, a message says so on a
 * terminal. */
void common_session_close_set(common_session_t *session, uvperf_set_t *set);

/* Stops at once; not to be called inside a record callback. */
void common_session_stop(common_session_t *session);

/* Stops in the next turn of the loop; may be called anywhere. */
void common_session_stop_soon(common_session_t *session);

/* Runs the loop and closes it: the status, or 1 after a message if it was left
 * open. With a status other than 0 all is closed first. */
int common_session_run(common_session_t *session, int status);

#endif
