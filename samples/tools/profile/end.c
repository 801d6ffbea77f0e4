/* SPDX-License-Identifier: MIT */
/* The end of a profile: looks up names, then writes the result. */
#include <stdlib.h>
#include <string.h>

#include "common/say.h"
#include "profile/naming.h"
#include "profile/notes.h"
#include "profile/profile.h"
#include "profile/top.h"

void profile_build(const profile_t *profile, stacks_t *stacks) {
  stacks_init(stacks);
  stacks->event = profile->event;
  stacks->unit = profile->unit;
  stacks->duration_ns = (uint64_t)(profile->totals.seconds * 1e9);
  stacks->start_ns = profile->started_at_ns;
  if (strcmp(profile->event, "cpu-clock") == 0 &&
      profile->options.frequency_hz != 0)
    stacks->period = 1000000000 / profile->options.frequency_hz;
  profile_naming_build(&profile->account, stacks);
}

/* A table of processes needs neither names nor callers. */
static void say_lacks(const profile_t *profile) {
  const profile_options_t *options = &profile->options;

  profile_notes_other(&profile->account);
  if (!profile_options_has_functions(options))
    return;
  profile_notes_gaps(&profile->account);
  profile_notes_callers(&profile->account, options);
  profile_notes_unwound(&profile->unwinding, options);
}

static void write_profile(profile_t *profile) {
  stacks_t stacks;

  /* Some samples were counted after sampling ended. */
  if (profile->account.unwinding != NULL)
    profile->totals.samples = profile->account.samples;
  profile_build(profile, &stacks);
  profile_outputs_write(&profile->outputs, &stacks, &profile->options,
                        &profile->totals);
  if (!profile->options.quiet)
    say_lacks(profile);
  stacks_free(&stacks);
}

static void write_result(profile_t *profile) {
  profile->state = PROFILE_WRITTEN;
  if (profile->top != NULL)
    profile_top_end(profile);
  else
    write_profile(profile);
  symbols_close(profile->symbols, NULL, NULL);
  profile->on_written(profile);
}

static void on_checked(void *arg) {
  profile_t *profile = arg;

  if (profile->state == PROFILE_NAMES)
    write_result(profile);
}

/* Files are checked after all names are known, so that these have all the
 * time. */
static void on_named(void *arg) {
  profile_t *profile = arg;

  if (profile->state != PROFILE_NAMES)
    return;
  profile_naming_check(&profile->account);
  symbols_wait(profile->symbols, on_checked, profile);
}

static void on_unwound(void *arg) {
  profile_t *profile = arg;

  if (profile->state != PROFILE_NAMES)
    return;
  if (profile->top != NULL || profile_options_has_functions(&profile->options))
    profile_naming_ask(&profile->account);
  symbols_wait(profile->symbols, on_named, profile);
}

void profile_end(profile_t *profile) {
  if (profile->top != NULL && profile->state == PROFILE_RUNS)
    profile_top_stop(profile);
  profile->state = PROFILE_NAMES;
  if (profile->top != NULL && profile_top_is_naming(profile))
    return;
  if (profile->account.unwinding != NULL)
    profile_unwinding_wait(&profile->unwinding, on_unwound, profile);
  else
    on_unwound(profile);
}

int profile_end_now(profile_t *profile) {
  if (profile->state != PROFILE_NAMES)
    return 0;
  common_say("names of some functions are missing, because the lookup was "
             "interrupted\n");
  write_result(profile);
  return 1;
}
