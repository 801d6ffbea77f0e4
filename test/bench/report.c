/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <string.h>
#include <sys/utsname.h>

#include <uv.h>

#include "bench.h"
#include "uvperf.h"

#define LINE "%-8s %-26s %-14s %9s  %-18s %9s %7s %-13s %5s  %s\n"

/* -- the machine ---------------------------------------------------------- */

/* The kernel's name of the first CPU. */
static void model_of(char *model, size_t size) {
  uv_cpu_info_t *cpus;
  int nr;

  snprintf(model, size, "unknown CPU");
  if (uv_cpu_info(&cpus, &nr) != 0)
    return;
  if (nr > 0 && cpus[0].model != NULL)
    snprintf(model, size, "%d x %s", nr, cpus[0].model);
  uv_free_cpu_info(cpus, nr);
}

static const char *compiler(void) {
#ifdef __VERSION__
  return __VERSION__;
#else
  return "unknown";
#endif
}

/* -- JSON ----------------------------------------------------------------- */

static void put_text(FILE *json, const char *name, const char *text) {
  fprintf(json, "\"%s\": \"", name);
  for (; *text != '\0'; text++) {
    if (*text == '"' || *text == '\\')
      putc('\\', json);
    putc((unsigned char)*text < ' ' ? ' ' : *text, json);
  }
  putc('"', json);
}

/* JSON has no infinity: such values are null. */
static void put_number(FILE *json, const char *name, double number) {
  if (number - number == 0)
    fprintf(json, "\"%s\": %.6g", name, number);
  else
    fprintf(json, "\"%s\": null", name);
}

static void put_spread(FILE *json, const char *name,
                       const bench_spread_t *spread) {
  fprintf(json, "\"%s\": {", name);
  put_number(json, "median", spread->median);
  fprintf(json, ", ");
  put_number(json, "quarter", spread->low);
  fprintf(json, ", ");
  put_number(json, "three_quarters", spread->high);
  fprintf(json, "}");
}

static void put_verdict(FILE *json, const bench_verdict_t *verdict) {
  put_text(json, "benchmark", verdict->benchmark);
  fprintf(json, ", ");
  put_text(json, "case", verdict->comparison);
  fprintf(json, ", ");
  put_text(json, "metric", verdict->metric->name);
  fprintf(json, ", ");
  put_text(json, "unit", verdict->metric->unit);
  fprintf(json, ",\n   ");
  put_text(json, "measured", verdict->measured);
  fprintf(json, ", ");
  put_spread(json, "value", &verdict->value);
  fprintf(json, ",\n   ");
  put_text(json, "yardstick", verdict->yardstick);
  fprintf(json, ", ");
  put_spread(json, "yardstick_value", &verdict->yard);
  fprintf(json, ",\n   \"rounds\": %zu, ", verdict->rounds);
  put_spread(json, "ratio", &verdict->ratio);
  fprintf(json, ", ");
  put_number(json, "noise", verdict->noise);
  if (verdict->bound > 0) {
    fprintf(json, ", ");
    put_number(json, "bound", verdict->bound);
    fprintf(json, ", \"holds\": %s", verdict->holds ? "true" : "false");
  }
}

/* -- the table ------------------------------------------------------------ */

/* Three digits that count, and the unit. */
static const char *number(char *text, size_t size, double value,
                          const char *unit) {
  int digits = value < 10 ? 2 : value < 100 ? 1 : 0;

  snprintf(text, size, "%.*f %s", value == 0 ? 0 : digits, value, unit);
  return text;
}

void bench_report_begin(bench_report_t *report) {
  struct utsname system;
  char model[128];

  memset(&system, 0, sizeof(system));
  uname(&system);
  model_of(model, sizeof(model));
  fprintf(report->table,
          "%s\n%s %s %s\nuvperf %s, libuv %s, compiler %s\n"
          "Medians of %zu rounds; spread is the middle half of the rounds' "
          "ratios; noise is how\nfar the yardstick is from itself.\n",
          model, system.sysname, system.release, system.machine,
          uvperf_version_string(), uv_version_string(), compiler(),
          report->rounds);
  if (report->json == NULL)
    return;
  fprintf(report->json, "{");
  put_text(report->json, "machine", model);
  fprintf(report->json, ", ");
  put_text(report->json, "kernel", system.release);
  fprintf(report->json, ", ");
  put_text(report->json, "architecture", system.machine);
  fprintf(report->json, ",\n ");
  put_text(report->json, "uvperf", uvperf_version_string());
  fprintf(report->json, ", ");
  put_text(report->json, "libuv", uv_version_string());
  fprintf(report->json, ", ");
  put_text(report->json, "compiler", compiler());
  fprintf(report->json, ", \"rounds\": %zu,\n \"results\": [", report->rounds);
}

static void clear_progress(const bench_report_t *report) {
  if (report->is_tty)
    fprintf(stderr, "\r\033[K");
}

void bench_report_progress(const bench_report_t *report, const char *comparison,
                           size_t round) {
  clear_progress(report);
  if (report->is_tty)
    fprintf(stderr, "%s, %s: round %zu of %zu", report->benchmark, comparison,
            round + 1, report->rounds);
}

void bench_report_verdict(bench_report_t *report,
                          const bench_verdict_t *verdict) {
  const char *unit = verdict->metric->unit;
  char value[32], yard[32], ratio[32], spread[32], noise[32];
  char bound[32] = "";

  clear_progress(report);
  if (report->nr_verdicts == 0)
    fprintf(report->table, "\n" LINE, "benchmark", "case", "metric", "measured",
            "yardstick", "", "ratio", "spread", "noise", "at most");
  number(value, sizeof(value), verdict->value.median, unit);
  number(yard, sizeof(yard), verdict->yard.median, unit);
  snprintf(ratio, sizeof(ratio), "%.3f", verdict->ratio.median);
  snprintf(spread, sizeof(spread), "%.3f-%.3f", verdict->ratio.low,
           verdict->ratio.high);
  snprintf(noise, sizeof(noise), "%.3f", verdict->noise);
  if (verdict->bound > 0)
    snprintf(bound, sizeof(bound), "%.3g %s", verdict->bound,
             verdict->holds ? "holds" : "MISSED");
  fprintf(report->table, LINE, verdict->benchmark, verdict->comparison,
          verdict->metric->name, value, verdict->yardstick, yard, ratio, spread,
          noise, bound);
  fflush(report->table);
  if (report->json != NULL) {
    fprintf(report->json, "%s\n  {", report->nr_verdicts > 0 ? "," : "");
    put_verdict(report->json, verdict);
    fprintf(report->json, "}");
  }
  report->nr_verdicts += 1;
  if (verdict->bound > 0 && !verdict->holds)
    report->nr_missed += 1;
}

void bench_report_skip(bench_report_t *report, const char *need) {
  clear_progress(report);
  fprintf(report->table, "%-9s skipped: needs %s\n", report->benchmark, need);
  fflush(report->table);
}

void bench_report_end(bench_report_t *report) {
  fprintf(report->table, "\n%zu bounds missed.\n", report->nr_missed);
  if (report->json != NULL)
    fprintf(report->json, "]}\n");
}
