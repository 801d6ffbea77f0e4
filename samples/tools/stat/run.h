/* SPDX-License-Identifier: MIT */
/* One run: the events are opened and counted once, from the start of the
 * command, or from now on, to its end. */
#ifndef STAT_RUN_H
#define STAT_RUN_H

#include <stdint.h>

#include "common/control.h"
#include "common/session.h"
#include "stat/alive.h"
#include "stat/options.h"
#include "stat/refused.h"
#include "uvperf.h"

typedef struct stat_run_s stat_run_t;

/* --control, which all runs have in common. */
typedef struct stat_control_s {
  common_control_t channel;
  int is_on; /* a run counts from its start: as the last command, or -D */
} stat_control_t;

struct stat_run_s {
  const stat_options_t *options;
  const uvperf_event_list_t *events;
  const common_signals_t *signals; /* for the command */
  stat_control_t *control;         /* open */
  void *data;                      /* the owner's */
  /* The events are open, or refused, and nothing has been counted yet. */
  void (*on_open)(stat_run_t *run, uvperf_set_t *set);
  /* With -I: what was counted in an interval, the last and shorter one too. */
  void (*on_interval)(stat_run_t *run, const uvperf_reading_t *delta);
  /* All is counted, and the results below are final, but command_status. The
   * events are still open: to close them may take long. */
  void (*on_counted)(stat_run_t *run);
  /* A signal came while they close: 1 if there was still something to print. */
  int (*on_late_signal)(stat_run_t *run);
  /* -- what came out -- */
  stat_refused_t refused;    /* if no event could be opened */
  uvperf_reading_t *reading; /* of all of it; NULL where nothing was counted */
  uint64_t started_ns;       /* by uv_hrtime */
  uint64_t elapsed_ns;
  uint64_t user_ns, system_ns; /* of the command */
  int command_status;          /* to exit with; 0 if it was terminated */
  int is_interrupted; /* by a signal or --control: no other run is to begin */
  /* -- private -- */
  common_session_t session;
  uvperf_set_t set;
  stat_alive_t alive;
  uvperf_reading_t *told, *delta; /* up to the last interval; for the next */
  uint32_t nr_intervals;
  int has_set;
  int has_counted;
  int failed;
};

/* Opens --control, if there is one: 0, or 1 after a message. In any case
 * common_control_free must follow. */
int stat_control_open(stat_control_t *control, const stat_options_t *options);

/* Counts: 0, or the status to exit with after a message. What is public but the
 * results is to be set, all else to be 0; for each run anew. Signals are held
 * when it returns: one that comes between two runs is for the next. */
int stat_run(stat_run_t *run);

/* Frees the reading, and what was refused. */
void stat_run_free(stat_run_t *run);

#endif
