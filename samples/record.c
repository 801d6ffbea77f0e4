/* SPDX-License-Identifier: MIT */
/* record: samples events into a file that perf(1) reads. This file goes from
 * the command line over the recording to the end of the file. */
#include <stdio.h>
#include <string.h>

#include "uvperf.h"

#include "record_run.h"
#include "shared_stdio.h"

static int say_file(const record_run_t *run, int code) {
  fprintf(stderr, "record: %s: %s\n", run->options->file, strerror(-code));
  return 1;
}

/* What was written before a failure can be read all the same. */
static int close_file(record_run_t *run, char **argv) {
  int rc;

  if (run->file == NULL)
    return 0;
  rc = record_file_close(run->file, argv);
  if (run->write_error == 0)
    run->write_error = rc;
  return run->write_error != 0 ? say_file(run, run->write_error) : 0;
}

static int record(const record_options_t *options,
                  const shared_signals_t *signals, char **argv) {
  record_attrs_t attrs;
  record_run_t run;
  int status, rc;

  memset(&run, 0, sizeof(run));
  status = record_attrs_make(&attrs, options);
  run.options = options;
  run.attrs = &attrs;
  if (status == 0)
    status = record_run(&run, signals);
  rc = close_file(&run, argv);
  shared_signals_end_session(signals);
  if (status == 0)
    record_messages_end(options, &run.totals);
  record_attrs_free(&attrs);
  if (status == 0)
    status = rc;
  return status != 0 ? status : run.command_status;
}

int main(int argc, char **argv) {
  record_options_t options;
  shared_signals_t signals;
  int status;

  shared_signals_take(&signals);
  shared_stdio_init();
  status = record_options_parse(&options, argc, argv);
  if (status == 0 && options.help) {
    record_options_help();
    status = shared_stdio_close(stdout, "stdout");
  } else if (status == 0) {
    status = record(&options, &signals, argv);
  }
  record_options_free(&options);
  return status;
}
