/* SPDX-License-Identifier: MIT */
/* profile: a sampling profiler on a libuv loop. This file has main(): options,
 * files, the loop. Records come from live.c or recorded.c, and end.c makes the
 * result from them. */
#include <stdio.h>

#include "common/stdio.h"
#include "profile/fade.h"
#include "profile/profile.h"
#include "profile/top.h"

static int run(profile_t *profile) {
  symbols_options_t options = {.inlined = profile->options.inlined,
                               .timeout_ms = profile->options.names_ms};
  int status;

  profile->session.data = profile;
  if (common_session_init(&profile->session) != 0)
    return 1;
  /* For a recorded file, symbols are created when its kernel is known. */
  if (profile->options.input == NULL)
    profile->symbols = symbols_new(&profile->session.loop, &options);
  profile_account_init(&profile->account, profile->options.view.by,
                       profile->symbols);
  profile->account.symfs = profile->options.symfs;
  if (profile->options.top) {
    profile->account.has_ids = 1;
    profile->account.unit = PROFILE_FADE_UNIT;
  }
  if (profile->options.stack_bytes != 0 && profile->options.input == NULL)
    profile_unwinding_init(&profile->unwinding, &profile->account, NULL);
  status = profile->options.input == NULL ? profile_live_run(profile)
                                          : profile_recorded_run(profile);
  profile_top_free(profile);
  profile_unwinding_free(&profile->unwinding);
  profile_account_free(&profile->account);
  if (profile->symbols != NULL)
    symbols_free(profile->symbols);
  if (status == 0 && profile->failed)
    status = 1;
  return status != 0 ? status : profile->command_status;
}

int main(int argc, char **argv) {
  static profile_t profile = {.session = COMMON_SESSION_INIT};
  int status;

  symbols_main(argc, argv);
  common_signals_take(&profile.session.command.signals);
  common_stdio_init();
  status = profile_options_parse(&profile.options, argc, argv);
  if (status == 0 && profile.options.top)
    status = !common_stdio_has_stdout();
  if (status == 0)
    status =
        profile_outputs_open(&profile.outputs, &profile.options, argc, argv);
  if (status == 0)
    status = common_session_fork(&profile.session, profile.options.command);
  if (status == 0)
    status = run(&profile);
  common_command_end(&profile.session.command);
  if (profile_outputs_close(&profile.outputs, &profile.options) != 0)
    status = 1;
  profile_options_free(&profile.options);
  if (common_stdio_close(stdout, "stdout") != 0)
    status = 1;
  return status;
}
