/* SPDX-License-Identifier: MIT */
/* A report of counts, and its output: text as perf-stat(1) prints it, fields
 * (its -x) and JSON objects (its -j). */
#ifndef STAT_REPORT_H
#define STAT_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "uvperf.h"

/* Times that are shown as events. The kernel does not count them. */
enum stat_tool {
  STAT_TOOL_NONE,
  STAT_TOOL_DURATION,
  STAT_TOOL_USER,
  STAT_TOOL_SYSTEM
};

/* An event of a report. task-clock and cpu-clock count nanoseconds and are
 * shown in msec. For this only `attr` is needed. */
typedef struct stat_event_s {
  const char *label;
  const char *unit; /* "" for none */
  double scale;     /* a count is value * scale in this unit */
  const struct perf_event_attr *attr; /* as opened; for metrics */
  /* The cgroup in which the event is counted, or NULL. All events of a cgroup
   * have the same pointer. */
  const char *cgroup;
  enum stat_tool tool; /* a time in nanoseconds, not counted by the kernel */
} stat_event_t;

/* Each line stands for its event at a place of this kind. */
enum stat_by {
  STAT_BY_NONE,
  STAT_BY_CPU,
  STAT_BY_THREAD,
  /* Groups of CPUs: */
  STAT_BY_CORE,
  STAT_BY_DIE,
  STAT_BY_SOCKET,
  STAT_BY_NODE
};

#define STAT_PLACE_BYTES 64

/* A thread, or a core or other group of CPUs, and its name. */
typedef struct stat_place_s {
  int32_t id;
  char name[STAT_PLACE_BYTES];
} stat_place_t;

/* An event at one place. */
typedef struct stat_line_s {
  size_t event;     /* its index */
  int32_t place;    /* a CPU or thread, or the number of a core…; -1: all */
  uint32_t nr_cpus; /* of a core…: CPUs with the event */
  int lives;        /* a count of the sum is of a task that did not run */
  /* The count of one run or interval. With several runs, it is the sum by
   * uvperf_count_add. Of this sum, the state and the times are shown, but not
   * the value. */
  uvperf_count_t count;
  /* The value that is shown: the mean of the runs' scaled counts, times the
   * event's scale. */
  double mean;
  /* Percent of the mean, by stat_series_deviation_percent; 0 with one run. */
  double deviation;
  /* The reason why the value is missing or incomplete, or NULL if the reason is
   * not known or nothing is missing. */
  const char *why;
} stat_line_t;

/* A table of a whole run, of several runs, or of one interval. */
typedef struct stat_report_s {
  const stat_event_t *events;
  size_t nr_events;
  /* In the order of output. An event has a line for each place. */
  const stat_line_t *lines;
  size_t nr_lines;
  int is_interval;            /* each line begins with at_ns */
  int is_summary;             /* of all intervals before */
  enum stat_by by;            /* each line begins with its place */
  const stat_place_t *places; /* cores or threads, sorted by id */
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

/* Prints the text above the lines: the title, or the names of the columns if
 * is_interval is set. The caller prints these names again after every
 * STAT_HEAD_EVERY intervals. */
#define STAT_HEAD_EVERY 25
void stat_text_head(FILE *file, const stat_report_t *report);

/* Prints the lines, with numbers in the format of LC_NUMERIC (the program has
 * called setlocale(3)). An incomplete value is marked. */
void stat_text_lines(FILE *file, const stat_report_t *report);

/* Prints the times, except for an interval. Below them prints each reason for
 * missing counts once. */
void stat_text_tail(FILE *file, const stat_report_t *report);

/* With --metric-only these functions replace the lines. They print the names of
 * the columns, and a row for each place. Each field is followed by the
 * separator, also the last field. A JSON object has a key for each metric that
 * has a value. */
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

/* Prints the lines as fields, in the order of `perf stat -x`, independent of
 * LC_NUMERIC:
 *
 *   [time,][CPU,]value,unit,event,[cgroup,][deviation,]runtime,percent,
 *   metric,unit
 *
 * A field that contains the separator or a quotation mark is quoted, and its
 * quotation marks are doubled (RFC 4180). perf-stat(1) does not quote. Control
 * characters become question marks. If a value is incomplete or could not be
 * read, the line has one more field, which says so. A second metric has a line
 * on which the fields from value to percent are empty. The separator is not
 * empty and contains no quotation mark. */
void stat_csv_lines(FILE *file, const char *separator,
                    const stat_report_t *report);

/* Prints the lines as JSON objects, one per line of output, with the keys of
 * `perf stat -j`: interval (seconds), cpu, counter-value (a string, because it
 * may be words), unit, event, cgroup, variance (percent, with several runs),
 * event-runtime (nanoseconds), pcnt-running; with a metric also metric-value
 * and metric-unit. A second metric has an object with event, cgroup and these
 * two keys.
 *
 * The other keys are our own: state (uvperf_count_state_name); error, why the
 * value is missing or incomplete; and, if counts are missing, counts and
 * missing: the number of counts in the sum, and the number of missing
 * counts. */
void stat_json_lines(FILE *file, const stat_report_t *report);

#endif
