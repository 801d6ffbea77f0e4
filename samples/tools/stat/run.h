/* SPDX-License-Identifier: MIT */
/* One run: opens the events and counts once. Counting begins at the start of
 * the command, or now, and lasts to the end of the run. */
#ifndef STAT_RUN_H
#define STAT_RUN_H

#include <stdint.h>

#include "common/control.h"
#include "common/session.h"
#include "stat/alive.h"
#include "stat/options.h"
#include "stat/failures.h"
#include "uvperf.h"

typedef struct stat_run_s stat_run_t;

/* The state of --control, which all runs share. */
typedef struct stat_control_s {
  common_control_t channel;
  int is_on; /* a run counts from its start: by the last command, or -D */
} stat_control_t;

struct stat_run_s {
  const stat_options_t *options;
  const uvperf_event_list_t *events;
  const common_signals_t *signals; /* for the command */
  stat_control_t *control;         /* open */
  void *data;                      /* the owner's */
  /* Called when the events are open or refused, before anything is counted. */
  void (*on_open)(stat_run_t *run, uvperf_set_t *set);
  /* With -I: called with the counts of each interval, also of the last, shorter
   * interval. */
  void (*on_interval)(stat_run_t *run, const uvperf_reading_t *delta);
  /* Called when everything is counted. The results below are final, except
   * session.command_status. The events are still open, because closing them
   * may take long. */
  void (*on_counted)(stat_run_t *run);
  /* Called for a signal while the events close. Returns 1 if there was still
   * something to print. */
  int (*on_late_signal)(stat_run_t *run);
  /* -- results -- */
  stat_refused_t refused;    /* if no event could be opened */
  uvperf_reading_t *reading; /* of the whole run; NULL: nothing was counted */
  uint64_t started_ns;       /* by uv_hrtime */
  uint64_t elapsed_ns;
  uint64_t user_ns, system_ns; /* of the command */
  int is_interrupted; /* by a signal or --control: no other run begins */
  /* -- private -- */
  common_session_t session;
  uvperf_set_t set;
  stat_alive_t alive;
  /* The counts up to the last interval, and the counts of the next interval. */
  uvperf_reading_t *reported, *delta;
  uint64_t nr_intervals;
  int has_set;
  int has_counted;
  int failed;
};

/* Opens --control, if it was given. Returns 0, or 1 after a message. Call
 * common_control_free in either case. */
int stat_control_open(stat_control_t *control, const stat_options_t *options);

/* Counts once. Returns 0, or the exit status after a message. Before each run,
 * set the public fields above the results and clear all other fields. When it
 * returns, signals are blocked. So the next run handles a signal that came
 * between two runs. */
int stat_run(stat_run_t *run);

/* Frees the reading, and the errors of refused events. */
void stat_run_free(stat_run_t *run);

#endif
