/* SPDX-License-Identifier: MIT */
/* What the parts of the profiler share: where records come from (live.c, or
 * another source) fills the account, and end.c makes the result of it. */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include "common/session.h"
#include "common/stacks/stacks.h"
#include "common/symbols/symbols.h"
#include "profile/account.h"
#include "profile/options.h"
#include "profile/outputs.h"
#include "profile/unwinding.h"

typedef struct profile_totals_s {
  uint64_t samples;
  uint64_t records; /* the samples and all others */
  uint64_t lost;
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
  profile_top_t *top;       /* NULL: there is no live table */
  void *source;             /* what the source has of its own */
  const char *event, *unit; /* see stacks_t */
  uint64_t started_at_ns;   /* since 1970 */
  int failed;
  /* The source's: the result is written, it closes what it has on the loop. */
  void (*on_written)(profile_t *profile);
  enum {
    PROFILE_RUNS,
    PROFILE_NAMES,
    PROFILE_WRITTEN
  } state; /* private */
};

/* Finds the names of the functions, then writes the result and calls
 * on_written; a live table has the names already. Called once, when there are
 * no more records. */
void profile_end(profile_t *profile);

/* Asked to hurry: writes with the names that are known. 1, or 0 if that is not
 * what it is at. */
int profile_end_now(profile_t *profile);

/* The same names for a profile that goes on. */
void profile_build(const profile_t *profile, stacks_t *stacks);

/* Runs until something ends it: the exit status. From an open loop to a closed
 * one. */
int profile_live_run(profile_t *profile);

/* The same of a recorded file. It makes profile->symbols, or fails. */
int profile_recorded_run(profile_t *profile);

#endif
