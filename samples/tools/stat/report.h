/* SPDX-License-Identifier: MIT */
/* What was counted, and its output: for people as perf-stat(1) prints it, as
 * fields (its -x) and as objects of JSON (its -j). */
#ifndef STAT_REPORT_H
#define STAT_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "uvperf.h"

/* An event that is counted. task-clock and cpu-clock, which count nanoseconds,
 * are shown as msec: that needs nothing here but attr. */
enum stat_tool {
  STAT_TOOL_NONE,
  STAT_TOOL_DURATION,
  STAT_TOOL_USER,
  STAT_TOOL_SYSTEM
};

typedef struct stat_event_s {
  const char *label;
  const char *unit;                   /* "" for none */
  double scale;                       /* of a count, in that unit: 1 */
  const struct perf_event_attr *attr; /* as opened: for what is derived */
  const char *cgroup; /* NULL, or the one that it is counted in: one pointer for
                         all events of it */
  enum stat_tool tool; /* not the kernel's: a time, in nanoseconds */
} stat_event_t;

/* What has lines of its own. */
enum stat_by {
  STAT_BY_NONE,
  STAT_BY_CPU,
  STAT_BY_THREAD,
  /* Several CPUs: */
  STAT_BY_CORE,
  STAT_BY_DIE,
  STAT_BY_SOCKET,
  STAT_BY_NODE
};

#define STAT_PLACE_BYTES 64

/* A core or other CPUs together, or a thread; and its name. */
typedef struct stat_place_s {
  int32_t id;
  char name[STAT_PLACE_BYTES];
} stat_place_t;

/* What is known of an event at one place. */
typedef struct stat_line_s {
  size_t event;     /* its index */
  int32_t place;    /* a CPU or thread, or which core…; -1: of all */
  uint32_t nr_cpus; /* of a core…: those that it is counted on */
  /* Of one run or interval; of several runs the sum over the runs by
   * uvperf_count_add: its state and times are shown, its value is not. */
  uvperf_count_t count;
  /* Of the runs' scaled counts, times the event's scale; with one run that
   * itself. This is what is shown. */
  double mean;
  /* Percent of the mean, by stat_series_deviation_percent; 0 with one run. */
  double deviation;
  /* Why there is no value, or not all of it, in words; NULL where that is not
   * known or nothing is missing. */
  const char *why;
} stat_line_t;

/* A table: of all, or of one interval. */
typedef struct stat_report_s {
  const stat_event_t *events;
  size_t nr_events;
  /* In the order of output; an event has a line of each place. */
  const stat_line_t *lines;
  size_t nr_lines;
  int is_interval;            /* each line begins with at_ns */
  int is_summary;             /* of the intervals before */
  enum stat_by by;            /* each line says its place */
  const stat_place_t *places; /* by id, of cores and threads */
  size_t nr_places;
  int hide_idle;            /* lines of threads that did nothing are left out */
  uint64_t at_ns;           /* since the start */
  uint64_t elapsed_ns;      /* of the interval, or the mean of the runs */
  double elapsed_deviation; /* percent of the mean */
  uint64_t user_ns, system_ns; /* of a command, by getrusage(2) */
  int has_times;               /* these two are known */
  uint32_t nr_runs;
  /* "'ls -l'", "process id '17'", "thread id '18'", "'system wide'",
   * "'CPU(s) 0-3'", "cgroup 'x'". */
  const char *title;
} stat_report_t;

/* What stands above the lines: the title, or with is_interval the names of the
 * columns, to be repeated every STAT_HEAD_EVERY intervals. */
#define STAT_HEAD_EVERY 25
void stat_text_head(FILE *file, const stat_report_t *report);

/* The lines, in the numbers of LC_NUMERIC (for which the program has called
 * setlocale(3)). A value that some of its counts are missing in says so. */
void stat_text_lines(FILE *file, const stat_report_t *report);

/* The times (with is_interval none), and below them each reason why something
 * was not counted, once. */
void stat_text_tail(FILE *file, const stat_report_t *report);

/* With --metric-only, in place of the lines: the names of the columns (but not
 * on the first line of an interval, which has them), and a row of each place.
 * As fields each is followed by the separator, and the names are printed by
 * themselves. An object has a key for each metric that has a value. */
struct stat_columns_s;
void stat_text_metrics_head(FILE *file, const stat_report_t *report,
                            const struct stat_columns_s *columns);
void stat_text_metrics(FILE *file, const stat_report_t *report,
                       const struct stat_columns_s *columns);
void stat_csv_metrics_head(FILE *file, const char *separator,
                           const stat_report_t *report,
                           const struct stat_columns_s *columns);
void stat_csv_metrics(FILE *file, const char *separator,
                      const stat_report_t *report,
                      const struct stat_columns_s *columns);
void stat_json_metrics(FILE *file, const stat_report_t *report,
                       const struct stat_columns_s *columns);

/* The lines as fields, in the order of `perf stat -x`, whatever LC_NUMERIC is:
 *
 *   [time,][CPU,]value,unit,event,[cgroup,][deviation,]runtime,percent,
 *   metric,unit
 *
 * A field that has the separator or a quotation mark in it is put in quotation
 * marks, and those in it are doubled (RFC 4180); perf-stat(1) does not do that.
 * Control characters become question marks. A line whose value lacks some of
 * its counts, or could not be read, has one field more, which says so. For a
 * second metric there is a line on which the fields from value to percent are
 * empty. The separator is not empty, and has no quotation mark in it. */
void stat_csv_lines(FILE *file, const char *separator,
                    const stat_report_t *report);

/* The lines as objects of JSON, each on a line of its own, with the keys of
 * `perf stat -j`: interval (seconds), cpu, counter-value (a string, as it may
 * be words), unit, event, cgroup, variance (percent, with several runs),
 * event-runtime (nanoseconds), pcnt-running, and where there is a metric,
 * metric-value and metric-unit; a second metric has an object with event,
 * cgroup and these two. And of our own: state (uvperf_count_state_name); error,
 * why there is no value or not all of it; and counts and missing, of how many
 * counts the value is the sum and how many are missing in it, where some
 * are. */
void stat_json_lines(FILE *file, const stat_report_t *report);

#endif
