/* SPDX-License-Identifier: MIT */
/* Measures the library against its foundations and its alternatives, and prints
 * one table. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "benchmarks.h"

static const bench_t *const all[] = {
    &bench_decode, &bench_storm,    &bench_latency,
    &bench_bpf,    &bench_fairness, &bench_counting,
    &bench_scale,  &bench_order,    &bench_block,
};
#define NR_ALL (sizeof(all) / sizeof(all[0]))

static const char usage[] =
    "usage: bench [--rounds N] [--json FILE] [--list] [BENCHMARK...]\n"
    "\n"
    "Measures uvperf, each benchmark against its yardsticks, in turn, in this\n"
    "one run. Without a BENCHMARK all of them.\n"
    "\n"
    "  -r, --rounds N   rounds of each comparison (21)\n"
    "  -j, --json FILE  write what was found to FILE too, as JSON\n"
    "  -l, --list       print the benchmarks and what they measure\n"
    "  -h, --help       print this\n"
    "\n"
    "Exits with 0 if all could be measured, however it came out.\n";

static int list(void) {
  size_t i;

  for (i = 0; i < NR_ALL; i++)
    printf("%-9s %s\n", all[i]->name, all[i]->what);
  return 0;
}

static const bench_t *find(const char *name) {
  size_t i;

  for (i = 0; i < NR_ALL; i++)
    if (strcmp(all[i]->name, name) == 0)
      return all[i];
  fprintf(stderr, "bench: no benchmark is called %s: see --list\n", name);
  return NULL;
}

static int take_rounds(const char *text, size_t *rounds) {
  char *end;
  unsigned long value = strtoul(text, &end, 10);

  if (*text == '-' || end == text || *end != '\0' || value == 0 ||
      value > BENCH_MOST_ROUNDS) {
    fprintf(stderr, "bench: --rounds takes a number from 1 to %d\n",
            BENCH_MOST_ROUNDS);
    return 1;
  }
  *rounds = value;
  return 0;
}

/* Returns -1 to continue, otherwise the exit code. */
static int take_options(int argc, char **argv, size_t *rounds,
                        const char **json) {
  static const struct option options[] = {
      {"rounds", required_argument, NULL, 'r'},
      {"json", required_argument, NULL, 'j'},
      {"list", no_argument, NULL, 'l'},
      {"help", no_argument, NULL, 'h'},
      {NULL, 0, NULL, 0}};
  int option;

  while ((option = getopt_long(argc, argv, "r:j:lh", options, NULL)) != -1) {
    switch (option) {
      case 'r':
        if (take_rounds(optarg, rounds) != 0)
          return 2;
        break;
      case 'j':
        *json = optarg;
        break;
      case 'l':
        return list();
      case 'h':
        fputs(usage, stdout);
        return 0;
      default:
        fputs(usage, stderr);
        return 2;
    }
  }
  for (option = optind; option < argc; option++)
    if (find(argv[option]) == NULL)
      return 2;
  return -1;
}

static int run_one(const bench_t *bench, bench_report_t *report) {
  report->benchmark = bench->name;
  return bench->run(report);
}

static int run(char **names, bench_report_t *report) {
  int rc = 0;
  size_t i;

  bench_report_begin(report);
  if (*names == NULL)
    for (i = 0; i < NR_ALL; i++)
      rc |= run_one(all[i], report);
  for (; *names != NULL; names++)
    rc |= run_one(find(*names), report);
  bench_report_end(report);
  return rc;
}

int main(int argc, char **argv) {
  bench_report_t report = {.table = stdout, .rounds = 21};
  const char *json = NULL;
  int cpus[2];
  int rc;

  rc = take_options(argc, argv, &report.rounds, &json);
  if (rc >= 0)
    return rc;
  if (bench_cpus(cpus, 2) < 2)
    return bench_fail("CPUs", "it takes two, one to produce and one to "
                              "consume");
  bench_producer_cpu = cpus[0];
  bench_consumer_cpu = cpus[1];
  rc = bench_pin(bench_consumer_cpu);
  if (rc != 0)
    return bench_fail("pinning", strerror(-rc));
  report.is_tty = isatty(STDERR_FILENO);
  if (json != NULL && (report.json = fopen(json, "w")) == NULL) {
    perror(json);
    return 1;
  }
  rc = run(argv + optind, &report);
  if (report.json != NULL && fclose(report.json) != 0) {
    perror(json);
    return 1;
  }
  return rc;
}
