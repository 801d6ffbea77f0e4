/* SPDX-License-Identifier: MIT */
/* Chooses among the forms of a table. A table is written at once. */
#include "stat/output.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>

#include "common/say.h"
#include "common/stdio.h"

static const char *name_of(const stat_output_t *output) {
  return output->options->file != NULL ? output->options->file : "stderr";
}

static int is_text(const stat_output_t *output) {
  return !output->options->json && output->options->separator == NULL;
}

/* A buffer of its own for stderr, which has none. */
static FILE *open_stderr(void) {
  int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

  if (file == NULL && fd >= 0)
    close(fd);
  return file;
}

int stat_output_open(stat_output_t *output, const stat_options_t *options) {
  memset(output, 0, sizeof(*output));
  output->options = options;
  output->file =
      options->file != NULL ? fopen(options->file, "we") : open_stderr();
  if (output->file == NULL) {
    common_say("%s: %s\n", name_of(output), strerror(errno));
    return 1;
  }
  /* A decimal comma is for people. */
  if (is_text(output))
    setlocale(LC_NUMERIC, "");
  return 0;
}

static void write_end(stat_output_t *output, const stat_report_t *report,
                      int user_only) {
  stat_text_tail(output->file, report);
  if (user_only)
    fputs(" Of events whose names end in u the user side alone was counted:"
          " the kernel's\n wants root, CAP_PERFMON or"
          " kernel.perf_event_paranoid <= 1\n\n",
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

void stat_output_table(stat_output_t *output, const stat_report_t *report,
                       int user_only) {
  if (output->options->json)
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
