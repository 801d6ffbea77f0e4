/* SPDX-License-Identifier: MIT */
/* Derives the metrics of perf-stat(1), by its rules. An event is compared with
 * another event of the same privilege levels and PMU, on the same CPU and in
 * the same cgroup. An event without such a rule gets a rate per second of the
 * clock event. */
#include "stat/metric.h"

#include <math.h>

#include "stat/value.h"

/* The bits for reads that miss, in the config of a generic cache event. */
#define READ_MISS ((uint64_t)PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

/* Each event, the event of the same type that it is divided by, and a
 * factor. */
static const struct {
  uint32_t type;
  uint64_t config;
  uint64_t of;
  double factor;
  int width, decimals;
  const char *suffix;
  const char *unit;
} ratios[] = {
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES,
     1, 7, 2, " ", "insn per cycle"},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES,
     PERF_COUNT_HW_BRANCH_INSTRUCTIONS, 100, 7, 2, "%", "of all branches"},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES,
     PERF_COUNT_HW_CACHE_REFERENCES, 100, 8, 3, " %", "of all cache refs"},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
     PERF_COUNT_HW_CPU_CYCLES, 100, 7, 2, "%", "frontend cycles idle"},
    {PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
     PERF_COUNT_HW_CPU_CYCLES, 100, 7, 2, "%", "backend cycles idle"},
    {PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1D | READ_MISS,
     PERF_COUNT_HW_CACHE_L1D, 100, 7, 2, "%", "of all L1-dcache accesses"},
    {PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_L1I | READ_MISS,
     PERF_COUNT_HW_CACHE_L1I, 100, 7, 2, "%", "of all L1-icache accesses"},
    {PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_LL | READ_MISS,
     PERF_COUNT_HW_CACHE_LL, 100, 7, 2, "%", "of all LL-cache accesses"},
    {PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_DTLB | READ_MISS,
     PERF_COUNT_HW_CACHE_DTLB, 100, 7, 2, "%", "of all dTLB cache accesses"},
    {PERF_TYPE_HW_CACHE, PERF_COUNT_HW_CACHE_ITLB | READ_MISS,
     PERF_COUNT_HW_CACHE_ITLB, 100, 7, 2, "%", "of all iTLB cache accesses"},
};

/* On a machine with several kinds of cores, the upper half of the config
 * selects the PMU of one kind. */
static int is_event(const struct perf_event_attr *attr, uint32_t type,
                    uint64_t config) {
  return attr != NULL && attr->type == type &&
         (attr->config & UINT32_MAX) == config;
}

static int is_alike(const struct perf_event_attr *one,
                    const struct perf_event_attr *other) {
  return one->config >> 32 == other->config >> 32 &&
         one->exclude_user == other->exclude_user &&
         one->exclude_kernel == other->exclude_kernel &&
         one->exclude_hv == other->exclude_hv &&
         one->exclude_host == other->exclude_host &&
         one->exclude_idle == other->exclude_idle;
}

/* Returns 1 if two lines count the same tasks on the same CPUs. */
static int is_beside(const stat_report_t *report, const stat_line_t *line,
                     const stat_line_t *other) {
  return other->place == line->place && report->events[other->event].cgroup ==
                                            report->events[line->event].cgroup;
}

/* Returns the value of the event with this config, for the same tasks and CPUs
 * as `line`, or 0 if there is no such event. */
static double value_beside(const stat_report_t *report, const stat_line_t *line,
                           uint64_t config) {
  const struct perf_event_attr *attr = report->events[line->event].attr;
  size_t i;

  for (i = 0; i < report->nr_lines; i++) {
    const stat_line_t *other = &report->lines[i];
    const struct perf_event_attr *with = report->events[other->event].attr;

    if (is_beside(report, line, other) && is_event(with, attr->type, config) &&
        is_alike(attr, with) && stat_value_is_counted(other))
      return other->mean;
  }
  return 0;
}

/* Returns the nanoseconds of the clock event for the same tasks and CPUs as
 * `line`, or 0 if there is no such event. */
static double clock_beside(const stat_report_t *report,
                           const stat_line_t *line) {
  size_t i;

  for (i = 0; i < report->nr_lines; i++) {
    const stat_line_t *other = &report->lines[i];

    if (is_beside(report, line, other) &&
        stat_value_is_clock(&report->events[other->event]) &&
        stat_value_is_counted(other))
      return stat_value_ns(report, other);
  }
  return 0;
}

/* Fills in a rate per second. Its prefix leaves at most three digits before the
 * point. */
static void fill_rate(stat_metric_t *metric, double per_second) {
  static const char *const units[] = {"/sec", "K/sec", "M/sec", "G/sec"};
  size_t i = 0;

  while (per_second > 1000 && i < 3) {
    per_second /= 1000;
    i++;
  }
  *metric = (stat_metric_t){per_second, 8, 3, "", units[i]};
}

/* Fills in the stalled cycles per instruction: of the frontend or of the
 * backend, whichever has more. */
static size_t fill_stalled(const stat_report_t *report, const stat_line_t *line,
                           stat_metric_t *metric) {
  double front =
      value_beside(report, line, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND);
  double back =
      value_beside(report, line, PERF_COUNT_HW_STALLED_CYCLES_BACKEND);
  double most = front > back ? front : back;

  if (!(most > 0) || !(line->mean > 0))
    return 0;
  *metric =
      (stat_metric_t){most / line->mean, 7, 2, " ", "stalled cycles per insn"};
  return 1;
}

static size_t fill_ratio(const stat_report_t *report, const stat_line_t *line,
                         size_t index, stat_metric_t metrics[STAT_METRICS]) {
  double total = value_beside(report, line, ratios[index].of);
  size_t nr = 0;

  if (total > 0)
    metrics[nr++] = (stat_metric_t){ratios[index].factor * line->mean / total,
                                    ratios[index].width, ratios[index].decimals,
                                    ratios[index].suffix, ratios[index].unit};
  if (ratios[index].type == PERF_TYPE_HARDWARE &&
      ratios[index].config == PERF_COUNT_HW_INSTRUCTIONS)
    nr += fill_stalled(report, line, &metrics[nr]);
  return nr;
}

static size_t fill(const stat_report_t *report, const stat_line_t *line,
                   stat_metric_t metrics[STAT_METRICS]) {
  const stat_event_t *event = &report->events[line->event];
  double ns = stat_value_ns(report, line);
  size_t i;

  if (stat_value_is_clock(event)) {
    metrics[0] = (stat_metric_t){ns / (double)report->elapsed_ns, 8, 3, "",
                                 "CPUs utilized"};
    return 1;
  }
  for (i = 0; i < sizeof(ratios) / sizeof(ratios[0]); i++) {
    if (is_event(event->attr, ratios[i].type, ratios[i].config))
      return fill_ratio(report, line, i, metrics);
  }
  ns = clock_beside(report, line);
  if (!(ns > 0))
    return 0;
  if (is_event(event->attr, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES))
    metrics[0] = (stat_metric_t){line->mean / ns, 8, 3, "", "GHz"};
  else
    fill_rate(&metrics[0], 1e9 * line->mean / ns);
  return 1;
}

size_t stat_metrics(const stat_report_t *report, const stat_line_t *line,
                    stat_metric_t metrics[STAT_METRICS]) {
  size_t i, nr;

  if (!stat_value_is_counted(line) ||
      report->events[line->event].tool != STAT_TOOL_NONE)
    return 0;
  nr = fill(report, line, metrics);
  for (i = 0; i < nr && isfinite(metrics[i].value); i++)
    ;
  return i; /* a division by 0 has no result */
}
