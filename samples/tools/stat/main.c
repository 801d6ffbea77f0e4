/* SPDX-License-Identifier: MIT */
/* stat: counts events while a command runs, or of tasks that already run. This
 * file leads from the command line through the runs to the table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "uvperf.h"

#include "common/stdio.h"
#include "stat/events.h"
#include "stat/failures.h"
#include "stat/lines.h"
#include "stat/messages.h"
#include "stat/options.h"
#include "stat/output.h"
#include "stat/places.h"
#include "stat/run.h"
#include "stat/targets.h"
#include "stat/tool.h"

typedef struct stat_s {
  common_signals_t signals; /* as inherited */
  stat_options_t options;
  stat_events_t events;
  stat_failures_t failures;
  stat_output_t output;
  stat_control_t control;
  char *title;
  stat_places_t places;
  stat_lines_t lines; /* of the last reading */
  stat_lines_t sum;   /* of the runs so far */
  stat_series_t elapsed_ns;
  uint32_t nr_runs; /* in sum and elapsed_ns */
  int is_printed;   /* sum and elapsed_ns are printed */
  uint64_t nr_begun;
  uint64_t user_ns, system_ns; /* of the last */
  int status;
} stat_t;

static size_t nr_groups(const stat_t *stat) {
  return stat->options.cgroups.nr > 0 ? stat->options.cgroups.nr : 1;
}

static void read_lines(stat_t *stat, const uvperf_reading_t *reading,
                       const stat_times_t *times) {
  stat_sums_t sums = {stat->events.events,    nr_groups(stat),
                      stat->options.by,       stat->events.list,
                      stat->options.no_merge, &stat->places};

  stat_lines_read(&stat->lines, &sums, reading);
  stat_tool_fill(&stat->lines, stat->events.events, times);
  if (stat->options.null)
    stat->lines.nr = 0;
}

static void fill_report(stat_t *stat, stat_report_t *report,
                        stat_lines_t *lines) {
  stat_failures_explain(&stat->failures, lines, stat->options.by);
  stat_lines_sort(lines, stat->options.by);
  memset(report, 0, sizeof(*report));
  report->events = stat->events.events;
  report->nr_events = stat->events.nr_events;
  report->lines = lines->lines;
  report->nr_lines = lines->nr;
  report->by = stat->options.by;
  report->places = stat->places.list;
  report->nr_places = stat->places.nr;
  report->hide_idle = stat->options.by == STAT_BY_THREAD && stat->options.all;
  report->title = stat->title;
  report->nr_runs = 1;
}

/* -- while it runs --------------------------------------------------------- */

static void on_open(stat_run_t *run, uvperf_set_t *set) {
  stat_t *stat = run->data;

  stat_places_add(&stat->places, stat->options.by, set);

  stat_events_describe(&stat->events, &stat->options, set);
  stat_failures_take(&stat->failures, set, &run->refused, nr_groups(stat),
                     stat->options.no_merge);
  if (stat->nr_begun == 1 || stat->options.verbose)
    stat_messages_opened(&stat->options, set, &run->refused);
}

static void on_interval(stat_run_t *run, const uvperf_reading_t *delta) {
  stat_t *stat = run->data;
  stat_times_t times = {uvperf_reading_info(delta)->interval, 0, 0, 0};
  stat_report_t report;

  read_lines(stat, delta, &times);
  fill_report(stat, &report, &stat->lines);
  report.is_interval = 1;
  report.at_ns = uvperf_reading_info(delta)->time - run->started_ns;
  report.elapsed_ns = uvperf_reading_info(delta)->interval;
  stat_output_table(&stat->output, &report, 0);
  /* The reader of the output is gone. */
  if (ferror(stat->output.file))
    common_session_stop_soon(&run->session);
}

/* -- after it has run ------------------------------------------------------ */

static void print_runs(stat_t *stat) {
  stat_report_t report;

  fill_report(stat, &report, &stat->sum);
  report.nr_runs = stat->nr_runs;
  report.is_summary = stat->options.summary;
  report.elapsed_ns = (uint64_t)stat->elapsed_ns.mean;
  report.elapsed_deviation = stat_series_deviation_percent(&stat->elapsed_ns);
  report.has_times =
      stat_targets_is_command(&stat->options) && stat->nr_runs == 1;
  report.user_ns = stat->user_ns;
  report.system_ns = stat->system_ns;
  stat_output_table(&stat->output, &report, stat->events.has_user_only);
}

/* An interrupted run is not added to earlier, complete runs. */
static void add_run(stat_t *stat, const stat_run_t *run) {
  stat_times_t times = {run->elapsed_ns, run->user_ns, run->system_ns,
                        stat->options.command != NULL};

  if (run->is_interrupted && stat->nr_runs > 0)
    return;
  read_lines(stat, run->reading, &times);
  stat_lines_add(&stat->sum, &stat->lines);
  stat_series_add(&stat->elapsed_ns, (double)run->elapsed_ns);
  stat->user_ns = run->user_ns;
  stat->system_ns = run->system_ns;
  stat->nr_runs++;
}

static void print_results(stat_t *stat) {
  stat_report_t report;

  stat->is_printed = 1;
  if (stat->nr_runs > 0) {
    print_runs(stat);
    stat_messages_fewer_runs(&stat->options, stat->nr_runs);
  } else if (stat->lines.nr > 0) {
    /* After the last interval, prints why counts are missing in it. */
    fill_report(stat, &report, &stat->lines);
    report.is_interval = 1;
    stat_output_end(&stat->output, &report, stat->events.has_user_only);
  }
  if (stat->options.nr_runs != 0)
    return;
  stat_lines_free(&stat->sum);
  memset(&stat->elapsed_ns, 0, sizeof(stat->elapsed_ns));
  stat->nr_runs = 0;
}

/* -- the runs -------------------------------------------------------------- */

static int is_last(const stat_t *stat, const stat_run_t *run) {
  return run->is_interrupted || stat->nr_begun == stat->options.nr_runs ||
         ferror(stat->output.file);
}

static void on_counted(stat_run_t *run) {
  stat_t *stat = run->data;

  stat->is_printed = 0;
  if (stat->options.interval_ms == 0 || stat->options.summary)
    add_run(stat, run);
  if (stat->options.nr_runs == 0 || is_last(stat, run))
    print_results(stat);
}

/* Called if a signal comes while the events close. No other run begins, so this
 * prints the runs so far. */
static int on_late_signal(stat_run_t *run) {
  stat_t *stat = run->data;

  if (stat->is_printed)
    return 0;
  print_results(stat);
  return 1;
}

static int run_once(stat_t *stat, int *was_last) {
  stat_run_t run;
  int status;

  memset(&run, 0, sizeof(run));
  run.options = &stat->options;
  run.events = stat->events.list;
  run.signals = &stat->signals;
  run.control = &stat->control;
  run.data = stat;
  run.on_open = on_open;
  run.on_interval = on_interval;
  run.on_counted = on_counted;
  run.on_late_signal = on_late_signal;
  stat_messages_run(&stat->options, stat->nr_begun++);
  status = stat_run(&run);
  stat->status = run.session.command_status;
  *was_last = is_last(stat, &run);
  stat_run_free(&run);
  return status;
}

static int stat_count(stat_t *stat) {
  int was_last, status;

  do
    status = run_once(stat, &was_last);
  while (status == 0 && !was_last);
  /* Signals that came too late are dropped. */
  common_signals_end_session(&stat->signals);
  if (!stat->is_printed)
    print_results(stat); /* a run failed */
  return status != 0 ? status : stat->status;
}

static int open_and_count(stat_t *stat) {
  int status = stat_events_parse(&stat->events, &stat->options);

  if (status != 0)
    return status;
  if (stat_output_open(&stat->output, &stat->options) != 0)
    return 1;
  stat->title = stat_targets_title(&stat->options);
  status = stat_control_open(&stat->control, &stat->options);
  if (status == 0)
    status = stat_count(stat);
  common_control_free(&stat->control.channel);
  if (stat_output_close(&stat->output) != 0)
    status = 1;
  return status;
}

static void free_all(stat_t *stat) {
  stat_options_free(&stat->options);
  stat_events_free(&stat->events);
  stat_failures_free(&stat->failures);
  stat_lines_free(&stat->lines);
  stat_lines_free(&stat->sum);
  stat_places_free(&stat->places);
  free(stat->title);
}

int main(int argc, char **argv) {
  stat_t stat;
  int status;

  memset(&stat, 0, sizeof(stat));
  common_signals_take(&stat.signals);
  common_stdio_init();
  status = stat_options_parse(&stat.options, argc, argv);
  if (status == 0)
    status = open_and_count(&stat);
  free_all(&stat);
  return status;
}
