/* SPDX-License-Identifier: MIT */
#include "compare.h"

#include <stdlib.h>
#include <string.h>

#include "bench.h"

/* The results of the runs: one value per round for each contender and metric,
 * and another for the second runs of the yardsticks. */
typedef struct results_s {
  double first[BENCH_MOST_CONTENDERS][BENCH_MOST_METRICS][BENCH_MOST_ROUNDS];
  double again[BENCH_MOST_CONTENDERS][BENCH_MOST_METRICS][BENCH_MOST_ROUNDS];
} results_t;

static int run_once(const bench_comparison_t *comparison, size_t contender,
                    size_t round,
                    double (*into)[BENCH_MOST_METRICS][BENCH_MOST_ROUNDS]) {
  const bench_contender_t *who = &comparison->contenders[contender];
  double values[BENCH_MOST_METRICS] = {0};
  size_t metric;

  if (who->run(who->arg, values) != 0)
    return bench_fail(comparison->name, who->name);
  for (metric = 0; metric < comparison->nr_metrics; metric++)
    into[contender][metric][round] = values[metric];
  return 0;
}

/* Each contender, then the yardsticks again; every other round backwards, so
 * that none always runs after the same one. */
static int run_round(const bench_comparison_t *comparison, size_t round,
                     results_t *results) {
  size_t nr = comparison->nr_contenders;
  size_t runs = 2 * nr - 1;
  size_t i, run;
  int rc = 0;

  for (i = 0; i < runs && rc == 0; i++) {
    run = round % 2 == 0 ? i : runs - 1 - i;
    if (run < nr)
      rc = run_once(comparison, run, round, results->first);
    else
      rc = run_once(comparison, run - nr + 1, round, results->again);
  }
  return rc;
}

static bench_spread_t spread_of(const double *values, size_t nr) {
  double sorted[2 * BENCH_MOST_ROUNDS];
  bench_spread_t spread;

  memcpy(sorted, values, nr * sizeof(values[0]));
  spread.low = bench_quantile(sorted, nr, 0.25);
  spread.median = bench_quantile(sorted, nr, 0.5);
  spread.high = bench_quantile(sorted, nr, 0.75);
  return spread;
}

/* For two values that may both be 0, such as losses. */
static double ratio_of(double one, double other) {
  return one == other ? 1 : one / other;
}

static bench_spread_t ratios_of(const double *ones, const double *others,
                                size_t nr) {
  double ratios[BENCH_MOST_ROUNDS];
  size_t i;

  for (i = 0; i < nr; i++)
    ratios[i] = ratio_of(ones[i], others[i]);
  return spread_of(ratios, nr);
}

static void compare_one(bench_report_t *report,
                        const bench_comparison_t *comparison,
                        const results_t *results, size_t metric,
                        size_t yardstick) {
  const bench_contender_t *yard = &comparison->contenders[yardstick];
  const double *value = results->first[0][metric];
  const double *first = results->first[yardstick][metric];
  const double *again = results->again[yardstick][metric];
  double both[2 * BENCH_MOST_ROUNDS];
  bench_verdict_t verdict;
  double self;

  memset(&verdict, 0, sizeof(verdict));
  verdict.benchmark = report->benchmark;
  verdict.comparison = comparison->name;
  verdict.metric = &comparison->metrics[metric];
  verdict.measured = comparison->contenders[0].name;
  verdict.yardstick = yard->name;
  verdict.rounds = report->rounds;
  verdict.value = spread_of(value, report->rounds);
  memcpy(both, first, report->rounds * sizeof(both[0]));
  memcpy(both + report->rounds, again, report->rounds * sizeof(both[0]));
  verdict.yard = spread_of(both, 2 * report->rounds);
  verdict.ratio = ratios_of(value, first, report->rounds);
  self = ratios_of(again, first, report->rounds).median;
  verdict.noise = self > 1 ? self - 1 : 1 - self;
  verdict.bound = yard->bounds[metric];
  verdict.holds = verdict.ratio.median - verdict.noise <= verdict.bound;
  bench_report_verdict(report, &verdict);
}

int bench_compare(bench_report_t *report,
                  const bench_comparison_t *comparison) {
  results_t *results = calloc(1, sizeof(*results));
  size_t round, metric, yardstick;
  int rc = 0;

  if (results == NULL)
    return bench_fail("results", "no memory");
  for (round = 0; round < report->rounds && rc == 0; round++) {
    bench_report_progress(report, comparison->name, round);
    rc = run_round(comparison, round, results);
  }
  for (metric = 0; metric < comparison->nr_metrics && rc == 0; metric++)
    for (yardstick = 1; yardstick < comparison->nr_contenders; yardstick++)
      compare_one(report, comparison, results, metric, yardstick);
  free(results);
  return rc;
}
