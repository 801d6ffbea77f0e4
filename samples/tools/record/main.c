/* SPDX-License-Identifier: MIT */
/* record: samples events into a file that perf(1) reads. This file leads from
 * the command line to the recording. */
#include <signal.h>
#include <string.h>

#include "uvperf.h"

#include "common/stdio.h"
#include "record/run.h"

static int record(const record_options_t *options,
                  const common_signals_t *signals, char **argv) {
  record_attrs_t attrs;
  record_run_t run;
  int status;

  memset(&run, 0, sizeof(run));
  status = record_attrs_make(&attrs, options);
  run.options = options;
  run.attrs = &attrs;
  run.argv = argv;
  if (status == 0)
    status = record_run(&run, signals);
  common_signals_end_session(signals);
  record_attrs_free(&attrs);
  return status != 0 ? status : run.session.command_status;
}

int main(int argc, char **argv) {
  record_options_t options;
  common_signals_t signals;
  int status;

  common_signals_take(&signals);
  signal(SIGUSR2, SIG_IGN); /* until the recording wants it */
  common_stdio_init();
  status = record_options_parse(&options, argc, argv);
  if (status == 0)
    status = record(&options, &signals, argv);
  record_options_free(&options);
  return status;
}
