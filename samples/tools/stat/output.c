/* SPDX-License-Identifier: MIT */
/* Writes tables in the chosen format, each in one piece. */
#include "stat/output.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/out_file.h"
#include "common/say.h"
#include "common/stdio.h"
#include "stat/columns.h"

static const char *name_of(const stat_output_t *output) {
  if (output->options->file != NULL)
    return output->options->file;
  return output->options->log_fd > 0 ? "--log-fd" : "stderr";
}

static int is_text(const stat_output_t *output) {
  return !output->options->json && output->options->separator == NULL;
}

/* Writes the first line of a text file, as perf-stat(1) does. CSV and JSON have
 * no such line. */
static void put_started(FILE *file) {
  time_t now = time(NULL);
  struct tm local;
  char text[64];

  if (localtime_r(&now, &local) != NULL &&
      strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &local) > 0)
    fprintf(file, "# started on %s\n\n", text);
}

int stat_output_open(stat_output_t *output, const stat_options_t *options) {
  char reason[COMMON_OUT_REASON] = "";
  int fd;

  memset(output, 0, sizeof(*output));
  output->options = options;
  fd = options->file != NULL
           ? common_out_file_open(options->file,
                                  options->append ? COMMON_OUT_APPEND
                                                  : COMMON_OUT_TRUNCATE,
                                  reason)
           : fcntl(options->log_fd > 0 ? (int)options->log_fd : STDERR_FILENO,
                   F_DUPFD_CLOEXEC, 0);
  /* stderr has no buffer, so a duplicate is used. */
  output->file = fd < 0 ? NULL : fdopen(fd, "w");
  if (output->file == NULL) {
    common_say("cannot open %s: %s\n", name_of(output),
               *reason != '\0' ? reason : strerror(errno));
    if (fd >= 0)
      close(fd);
    return 1;
  }
  /* Only tables have the decimal comma of some locales. */
  if (!is_text(output))
    return 0;
  setlocale(LC_NUMERIC, "");
  if (options->file != NULL)
    put_started(output->file);
  return 0;
}

static void write_end(stat_output_t *output, const stat_report_t *report,
                      int user_only) {
  stat_text_tail(output->file, report);
  if (user_only)
    fputs(" Only the user side was counted of events whose names end in u. The"
          " kernel side\n needs root, CAP_PERFMON or"
          " kernel.perf_event_paranoid <= 1.\n\n",
          output->file);
}

static void write_text(stat_output_t *output, const stat_report_t *report,
                       int user_only) {
  if (!report->is_interval || output->nr_intervals++ % STAT_HEAD_EVERY == 0)
    stat_text_head(output->file, report);
  stat_text_lines(output->file, report);
  if (!report->is_interval)
    write_end(output, report, user_only);
}

/* The names of columns are printed above the first row. Text output repeats
 * them. */
static void write_metrics(stat_output_t *output, const stat_report_t *report,
                          int user_only) {
  const char *separator = output->options->separator;
  int is_first = output->nr_intervals == 0;
  stat_columns_t columns;

  stat_columns_find(&columns, report);
  if (is_first && columns.nr == 0)
    common_say("--metric-only: none of the events has a metric; rates per "
               "second and CPUs utilized are left out, as in perf stat\n");
  if (output->options->json) {
    stat_json_metrics(output->file, report, &columns);
  } else if (separator != NULL) {
    if (is_first)
      stat_csv_metrics_head(output->file, separator, report, &columns);
    stat_csv_metrics(output->file, separator, report, &columns);
  } else {
    if (!report->is_interval)
      stat_text_head(output->file, report);
    if (!report->is_interval || output->nr_intervals % STAT_HEAD_EVERY == 0)
      stat_text_metrics_head(output->file, report, &columns);
    stat_text_metrics(output->file, report, &columns);
    if (!report->is_interval)
      write_end(output, report, user_only);
  }
  output->nr_intervals++;
  stat_columns_free(&columns);
}

void stat_output_table(stat_output_t *output, const stat_report_t *report,
                       int user_only) {
  if (output->options->metric_only)
    write_metrics(output, report, user_only);
  else if (output->options->json)
    stat_json_lines(output->file, report);
  else if (output->options->separator != NULL)
    stat_csv_lines(output->file, output->options->separator, report);
  else
    write_text(output, report, user_only);
  fflush(output->file);
}

void stat_output_end(stat_output_t *output, const stat_report_t *report,
                     int user_only) {
  if (is_text(output))
    write_end(output, report, user_only);
  fflush(output->file);
}

int stat_output_close(stat_output_t *output) {
  return common_stdio_close(output->file, name_of(output));
}
