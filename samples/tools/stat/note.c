/* SPDX-License-Identifier: MIT */
/* Explains missing and incomplete counts, so that they are not misread. On a
 * machine with many CPUs the same reason often applies to many counts, so each
 * reason is printed once. */
#include "stat/note.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"
#include "stat/value.h"

/* The most reasons that are printed, and the most events that are named for
 * each. */
#define MAX_REASONS 16
#define MAX_LABELS  8

int stat_note_missing(const stat_line_t *line, char text[STAT_NOTE_BYTES]) {
  const uvperf_count_t *count = &line->count;

  text[0] = '\0';
  if (count->nr_missing == 0 || !stat_value_is_counted(line))
    return 0;
  snprintf(text, STAT_NOTE_BYTES, "%" PRIu32 " of %" PRIu64 " missing",
           count->nr_missing, (uint64_t)count->nr_missing + count->nr_counts);
  return 1;
}

int stat_note_why(const stat_line_t *line, char text[STAT_NOTE_BYTES]) {
  const uvperf_count_t *count = &line->count;

  text[0] = '\0';
  if (stat_value_is_counted(line) && count->nr_missing == 0)
    return 0;
  if (line->why != NULL)
    snprintf(text, STAT_NOTE_BYTES, "%s", line->why);
  else if (count->code != 0)
    uv_strerror_r(count->code, text, STAT_NOTE_BYTES);
  else if (count->state == UVPERF_COUNT_NEVER_SCHEDULED)
    snprintf(text, STAT_NOTE_BYTES,
             "no counter was free for it; count fewer hardware events at once, "
             "or turn off other users of the PMU (kernel.nmi_watchdog)");
  return text[0] != '\0';
}

/* Prints what is wrong with a line: the word that stands in place of its value,
 * without < and >. */
static void print_what(FILE *file, const stat_line_t *line) {
  const char *word = stat_value_word(line);

  if (stat_value_is_counted(line))
    fputs("counted in part", file);
  else
    fprintf(file, "%.*s", (int)strlen(word) - 2, word + 1);
}

static int is_wrong_alike(const stat_line_t *line, const stat_line_t *other) {
  int is_counted = stat_value_is_counted(line);

  return is_counted == stat_value_is_counted(other) &&
         (is_counted ||
          strcmp(stat_value_word(line), stat_value_word(other)) == 0);
}

/* Returns 1 if a line has the same problem as another line, and the reason
 * `why`. */
static int is_same(const stat_line_t *line, const stat_line_t *other,
                   const char *why) {
  char text[STAT_NOTE_BYTES];

  return stat_note_why(line, text) && strcmp(text, why) == 0 &&
         is_wrong_alike(line, other);
}

static void print_clean(FILE *file, const char *text) {
  char *clean = common_text_cleaned(text);

  fputs(clean, file);
  free(clean);
}

/* Prints the note of a line, for this line and all later lines with the same
 * note. */
static void print_note(FILE *file, const stat_report_t *report, size_t index,
                       const char *why) {
  const stat_line_t *line = &report->lines[index];
  char *seen = common_calloc(report->nr_events, 1);
  size_t i, nr = 0;

  for (i = index; i < report->nr_lines; i++) {
    size_t event = report->lines[i].event;

    if (seen[event] || stat_value_is_none(report, &report->lines[i]) ||
        !is_same(&report->lines[i], line, why))
      continue;
    seen[event] = 1;
    if (nr++ >= MAX_LABELS)
      continue;
    fputs(nr == 1 ? " " : ", ", file);
    print_clean(file, report->events[event].label);
    if (report->events[event].cgroup != NULL) {
      fputs(" (", file);
      print_clean(file, report->events[event].cgroup);
      fputc(')', file);
    }
  }
  free(seen);
  if (nr > MAX_LABELS)
    fprintf(file, " and %zu more", nr - MAX_LABELS);
  fputs(": ", file);
  print_what(file, line);
  fputs(": ", file);
  print_clean(file, why);
  fputc('\n', file);
}

void stat_note_print(FILE *file, const stat_report_t *report) {
  size_t printed[MAX_REASONS], i, j, nr = 0, more = 0;
  char why[STAT_NOTE_BYTES];

  for (i = 0; i < report->nr_lines; i++) {
    if (stat_value_is_none(report, &report->lines[i]) ||
        !stat_note_why(&report->lines[i], why))
      continue;
    for (j = 0; j < nr; j++) {
      if (is_same(&report->lines[printed[j]], &report->lines[i], why))
        break;
    }
    if (j < nr)
      continue;
    if (nr == MAX_REASONS) {
      more++;
      continue;
    }
    printed[nr++] = i;
    print_note(file, report, i, why);
  }
  if (more > 0)
    fprintf(file, " and %zu more lines, for other reasons\n", more);
}
