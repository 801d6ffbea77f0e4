/* SPDX-License-Identifier: MIT */
/* The recording: a set of events whose records go into a file. */
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
  char **argv; /* for the file */
  /* -- what came out -- */
  int command_status; /* to exit with; 0 if the command was terminated */
  /* -- private -- */
  record_file_t *file; /* the one that is written; NULL: none could be made */
  record_names_t names;
  uint64_t bytes_before; /* of the files that are finished */
  record_totals_t totals;
  int write_error; /* -errno of the file, which ended it */
  common_session_t session;
  uvperf_set_t set;
  record_side_t side; /* with --overwrite */
  record_ids_t ids;
  record_enable_t enable;
  common_control_t control;
  uvperf_reading_t *reading;
  uvperf_reading_t *losses, *before; /* of the file, and up to its beginning */
  uv_timer_t switching;              /* to the next file */
  uv_signal_t usr2;
  record_totals_t told; /* as of the last line of progress */
  uint64_t round_ms;    /* when the last round ended, by uv_now */
  uint64_t nr_running;  /* records of what ran before */
  int has_set;
  int has_begun;
  int has_line;
  common_buffer_t taken; /* a snapshot, with --overwrite */
  common_buffer_t ahead; /* what the next file begins with */
  int is_ahead;          /* that is being put together */
  common_ids_t born;     /* processes, since it began */
  int is_full;           /* the file has as much as it may */
  int failed;
} record_run_t;

/* Records into a file: 0, or the status to exit with after a message. options,
 * attrs and argv are to be set, all else to be 0; signals are as they were, for
 * the command. */
int record_run(record_run_t *run, const common_signals_t *signals);

#endif
