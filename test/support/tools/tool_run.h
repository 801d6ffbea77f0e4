/* SPDX-License-Identifier: MIT */
/* Runs a sample as a user would, for the tests of it. */
#ifndef UVPERF_TEST_TOOL_RUN_H
#define UVPERF_TEST_TOOL_RUN_H

#include "support.h"

#define TOOL_RUN_ARGS 16

/* No signal, for interrupt_with. */
#define TOOL_RUN_NO_SIGNAL (-1)

/* One run of a sample. */
typedef struct tool_run_s {
  const char *args[TOOL_RUN_ARGS]; /* the path of the sample first */
  const char *interrupt_at;        /* a signal once this is in err or out */
  int interrupt_with;              /* 0: SIGINT */
  /* Called before the signal, or NULL: meanwhile nobody reads stdout. */
  void (*work)(struct tool_run_s *run);
  void *data; /* of work */
  /* Called after that, once this is on stderr or, if it is NULL, at the end of
   * stdout. */
  const char *check_at;
  void (*check)(struct tool_run_s *run);
  int err_is_terminal;
  FILE *file;    /* where stdout is kept if it is too long for `out`, or NULL */
  int keeps_end; /* if stdout is too long for `out`, its beginning is dropped */
  void (*prepare)(void); /* called in the child before it execs, or NULL */
  int as_nobody; /* 2: as a user whose locked memory no other test uses */
  pid_t pid;
  int status; /* exit status, or 128 + signal */
  char out[65536];
  char err[65536];
} tool_run_t;

/* Returns when nobody holds stdout and stderr any more, so that a command left
 * behind would be noticed. */
void tool_run(tool_run_t *run);

/* Becomes another program, in a forked child. */
void tool_run_exec(const char *const *args, int as_nobody)
    __attribute__((noreturn));

/* Reads what there is behind the text in an array; 0 at the end of the file. */
int tool_run_append(int fd, char *text, size_t size);

/* These fail the test, and show what the sample wrote. */
void tool_run_expect_status(const tool_run_t *run, int status);
void tool_run_expect_text(const char *text, const char *part);

/* Arranges for this call once the text is in err or out, without a signal. */
void tool_run_calls(tool_run_t *run, const char *text,
                    void (*work)(tool_run_t *run), void *data);

/* Runs it and expects a status. */
void tool_run_exits(tool_run_t *run, int status);

/* Runs it and expects a status and a part of stderr. */
void tool_run_ends(tool_run_t *run, int status, const char *message);

/* How many perf events the sample has open; for `check`. */
size_t tool_run_nr_events(const tool_run_t *run);

/* For err_is_terminal; skips the test. */
void tool_run_need_terminal(const char *test);

/* The two ends of a terminal: what is written to fds[1] is read from fds[0], as
 * it is. */
void tool_run_open_terminal(int fds[2]);

/* kernel.perf_event_paranoid. */
long tool_run_paranoid(void);
/* Skips the test where that forbids users to measure their own processes. */
void tool_run_need_own(const char *test);
/* Runs it as a user whom that setting forbids what it does: it ends with 1, and
 * names the setting. Skips the test where it is allowed. */
void tool_run_is_refused(const char *test, tool_run_t *run);

#endif
