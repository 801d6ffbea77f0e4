/* SPDX-License-Identifier: MIT */
/* The session of a tool that measures for a while. It runs a loop until a
 * signal comes, until its command or its time ends, or until the tool stops it.
 * Then it stops measuring, and terminates the command if the command still
 * runs. */
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
  int command_status; /* the exit status; 0 if the command was terminated */
  int signal;         /* the last SIGINT, SIGTERM or SIGHUP; 0: none */
  void *data;         /* the owner's */
  int leave_int;      /* SIGINT is left to a command that runs */
  int is_quiet;       /* no message if closing takes long */
  /* Stops measuring. Never called inside a record callback. */
  void (*on_stop)(common_session_t *session);
  /* Called at each tick, until the session stops. */
  void (*on_tick)(common_session_t *session);
  /* Called by -D: measuring begins (1) or pauses (0). */
  void (*on_delay)(common_session_t *session, int begins);
  /* Called after on_stop, with the wait status, if the command has ended by
   * itself. Or NULL. */
  void (*on_command)(common_session_t *session, int status);
  /* Called when the command has ended too. Writes the rest of the result, then
   * closes the owner's handles. The session closes its own handles. */
  void (*on_close)(common_session_t *session);
  /* Called for a signal while handles close. Return 1 if the owner has handled
   * the signal. If it returns 0 or is NULL, the signal ends the program. But if
   * closing has just begun, the signal is ignored. */
  int (*on_late_signal)(common_session_t *session);
  /* private */
  uv_signal_t interrupt, terminate, hangup, child;
  uv_timer_t tick, end, delay;
  const common_delay_t *delays;
  size_t nr_delays;     /* times that have passed */
  uint64_t delay_start; /* by uv_now */
  uv_work_t pool;
  enum {
    COMMON_SESSION_OPEN,
    COMMON_SESSION_CLOSING,
    COMMON_SESSION_SLOW, /* closing for CLOSE_MS */
    COMMON_SESSION_CLOSED
  } state;
  size_t nr_tracepoints, nr_events; /* being closed */
  uvperf_set_t *opening;            /* or NULL */
  uvperf_error_t open_error;
  int open_status, is_cancelled;
};

#define COMMON_SESSION_INIT                                                    \
  { .command = COMMON_COMMAND_INIT }

/* Forks a command. Does nothing if it is NULL. Call it before anything exists
 * that a child would have to undo. Returns 0, or 1 after a message. */
int common_session_fork(common_session_t *session, char **command);

/* Does all of this: forks the command, raises the limit of open files, opens
 * the loop, and calls `begin`, which opens the events and starts the session.
 * If it returns 0, runs the session to its end. Returns 0, or the exit status
 * after a message. */
int common_session_main(common_session_t *session, char **command,
                        int (*begin)(common_session_t *session));

/* Opens the loop. Set the callbacks before. Returns 0, or 1 after a message. */
int common_session_init(common_session_t *session);

/* Opens a set as uvperf_set_init does. But if threads can be created, the loop
 * runs meanwhile. SIGINT, SIGTERM or SIGHUP cancel the opening: then it returns
 * UV_ECANCELED, and common_session_run ends the program by that signal. Changes
 * set->handle.data. */
int common_session_open_set(common_session_t *session, uvperf_set_t *set,
                            const uvperf_set_options_t *options,
                            uvperf_error_t *error);

/* Starts listening for signals, also for signals that are blocked. */
void common_session_listen(common_session_t *session);

/* Starts the ticks, and the limit of time. 0 means no ticks or no limit. */
void common_session_start(common_session_t *session, uint64_t tick_ms,
                          uint64_t duration_ms);

/* Calls on_delay at the times of -D, counted from now. At the end of the last
 * range the session stops. `delay` must stay valid. */
void common_session_delay(common_session_t *session,
                          const common_delay_t *delay);

/* Lets the command exec, if there is one. Returns 0, or the exit status after a
 * message. */
int common_session_go(common_session_t *session);

/* Closes a set. Call it in on_close. If closing takes long, a terminal gets a
 * message. */
void common_session_close_set(common_session_t *session, uvperf_set_t *set);

/* Stops at once. Do not call it inside a record callback. */
void common_session_stop(common_session_t *session);

/* Stops in the next turn of the loop. May be called anywhere. */
void common_session_stop_soon(common_session_t *session);

/* Runs the loop and closes it. If `status` is not 0, first closes all handles.
 * Returns `status`, or 1 after a message if the loop could not be closed. */
int common_session_run(common_session_t *session, int status);

#endif
