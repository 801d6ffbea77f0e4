/* SPDX-License-Identifier: MIT */
/* The state that the parts of the profiler share. A source of records (live.c
 * or recorded.c) fills the account, and end.c makes the result from the
 * account. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "common/lost.h"
#include "common/session.h"
#include "profile/account.h"
#include "profile/options.h"
#include "profile/outputs.h"
#include "profile/stacks/stacks.h"
#include "profile/symbols/symbols.h"
#include "profile/unwinding.h"

typedef struct profile_totals_s {
  uint64_t samples;
  uint64_t records; /* samples and all others */
  common_lost_t lost;
  double seconds;
} profile_totals_t;

typedef struct profile_s profile_t;
typedef struct profile_top_s profile_top_t;

struct profile_s {
  common_session_t session;
  profile_options_t options;
  profile_outputs_t outputs;
  symbols_t *symbols;
  profile_account_t account;
  profile_unwinding_t unwinding; /* if account.unwinding is not NULL */
  profile_totals_t totals;
  profile_top_t *top;       /* NULL: no live table */
  void *source;             /* private to the source of records */
  const char *event, *unit; /* see stacks_t */
  uint64_t started_at_ns;   /* since 1970 */
  int failed;
  int command_status; /* the exit status of the command */
  /* The source of records sets this function. This function is called when the
   * result is written, and closes the source's handles on the loop. */
  void (*on_written)(profile_t *profile);
  enum {
    PROFILE_RUNS,
    PROFILE_NAMES,
    PROFILE_WRITTEN
  } state; /* private */
};

/* Looks up the names of the functions, writes the result and calls on_written.
 * Call it once, after the last record. */
void profile_end(profile_t *profile);

/* Writes the result at once, with the names that are known. Returns 1, or 0 if
 * no names were being looked up. */
int profile_end_now(profile_t *profile);

/* Builds the stacks of a profile, with the names that are known by now. */
void profile_build(const profile_t *profile, stacks_t *stacks);

/* Profiles until something ends it. Takes an open loop and closes it. Returns
 * the exit status. */
int profile_live_run(profile_t *profile);

/* Does the same for a recorded file. Creates profile->symbols at the first
 * sample. */
int profile_recorded_run(profile_t *profile);

#endif
