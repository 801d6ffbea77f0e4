/* SPDX-License-Identifier: MIT */
/* The recording: a set of events whose records are written to a file. */
#ifndef RECORD_RUN_H
#define RECORD_RUN_H

#include <stdint.h>

#include "common/buffer.h"
#include "common/control.h"
#include "common/session.h"
#include "record/attrs.h"
#include "record/enable.h"
#include "record/file.h"
#include "record/ids.h"
#include "record/messages.h"
#include "record/names.h"
#include "record/options.h"
#include "record/side.h"
#include "uvperf.h"

typedef struct record_run_s {
  const record_options_t *options;
  const record_attrs_t *attrs;
  char **argv; /* written to the file */
  /* -- results -- */
  /* -- private -- */
  record_file_t *file; /* the current file; NULL: it could not be created */
  record_names_t names;
  uint64_t bytes_before; /* of finished files */
  record_totals_t totals;
  int write_error; /* -errno of a write, which ended the recording */
  common_session_t session;
  uvperf_set_t set;
  record_side_t side; /* with --overwrite */
  common_tally_t ids; /* of events that are in the file */
  record_enable_t enable;
  common_control_t control;
  uvperf_reading_t *reading;
  /* The losses of the current file, and of the time before. */
  uvperf_reading_t *losses, *before;
  uv_timer_t switching; /* begins the next file */
  uv_signal_t usr2;
  record_totals_t shown; /* at the last line of progress */
  uint64_t round_ms;     /* when the last round ended, by uv_now */
  uint64_t nr_running;   /* records of tasks that ran before */
  int has_set;
  int has_begun;
  int has_line;
  common_buffer_t taken; /* a snapshot, with --overwrite */
  common_buffer_t ahead; /* the beginning of the next file */
  int is_ahead;          /* `ahead` is being filled */
  common_ids_t born;     /* processes that started during the recording */
  int is_full;           /* the file has reached --max-size */
  int failed;
} record_run_t;

/* Records into a file. Returns 0, or the exit status after a message. Set
 * options, attrs and argv, and clear all other fields. `signals` is the state
 * of signals that the program inherited; the command gets this state. */
int record_run(record_run_t *run, const common_signals_t *signals);

#endif
