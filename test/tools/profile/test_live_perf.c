/* SPDX-License-Identifier: MIT */
/* The profiler and perf(1) both sample one run of a program whose functions
 * have known costs. */
#include "costs.h"

#include <math.h>

#include "perf_dump.h"

#define STANDARD_ERRORS 4.5

/* perf record runs the profiler, which runs the command. perf follows both. */
#define PERF    "perf record -q -N -o perf.data -F 1999 -e task-clock -g "
#define PROFILE PROFILE_PATH " -F 1999 --folded folded "
#define COMMAND "-- sh -c 'exec ./costs 8000 >costs.txt' >table"

/* Both profiles are samples of the same shares: see costs_expect. */
static void expect_alike(const costs_t *costs, const folded_t *ours,
                         const folded_t *perfs) {
  double share, error, off, worst = 0, nr_ours, nr_perfs;
  folded_t our_leaves = {0}, perf_leaves = {0};
  const char *name;
  size_t i;

  folded_leaves(ours, &our_leaves);
  folded_leaves(perfs, &perf_leaves);
  for (i = 0; i < costs->nr; i++) {
    name = costs->rows[i].name;
    share = costs->rows[i].steps / costs->steps;
    nr_ours = (double)folded_samples(&our_leaves, name);
    nr_perfs = (double)folded_samples(&perf_leaves, name);
    error = sqrt(share * (1 - share) *
                 (1 / (double)ours->samples + 1 / (double)perfs->samples));
    off = fabs(nr_ours / (double)ours->samples -
               nr_perfs / (double)perfs->samples) /
          error;
    if (off > STANDARD_ERRORS)
      print_error("%s: %.0f of %lu, perf %.0f of %lu\n", name, nr_ours,
                  ours->samples, nr_perfs, perfs->samples);
    worst = off > worst ? off : worst;
  }
  folded_free(&our_leaves);
  folded_free(&perf_leaves);
  print_message("perf and the profiler: at most %.1f standard errors\n", worst);
  assert_true(worst <= STANDARD_ERRORS);
}

static void read_ours(folded_t *folded) {
  FILE *file = fopen(costs_path("folded"), "re");

  assert_non_null(file);
  folded_read(folded, file, NULL);
  fclose(file);
}

static void read_costs(costs_t *costs, int inlined) {
  static tool_run_t run;

  memset(&run, 0, sizeof(run));
  costs_run(&run, "cat costs.txt");
  costs_read(costs, run.out, inlined);
}

static void compare(const char *test, const char *variant) {
  static tool_run_t run;
  folded_t ours = {0}, perfs = {0};
  costs_t costs;

  perf_dump_need(test);
  support_need_own_events(test);
  costs_build(test, variant);
  memset(&run, 0, sizeof(run));
  costs_run(&run, PERF PROFILE COMMAND);
  read_costs(&costs, 0);
  read_ours(&ours);
  folded_read_perf(&perfs, costs_path("perf.data"), NULL, "--comms costs");
  costs_expect(&costs, &perfs, 1000);
  costs_expect(&costs, &ours, 1000);
  expect_alike(&costs, &ours, &perfs);
  folded_free(&ours);
  folded_free(&perfs);
}

static void live_functions_in_c_have_the_shares_of_perf(void **state) {
  compare(__func__, "c");
}

static void live_functions_in_cxx_have_the_shares_of_perf(void **state) {
  compare(__func__, "cxx");
}

static void live_functions_in_rust_have_the_shares_of_perf(void **state) {
  compare(__func__, "rust");
}

static void live_functions_in_go_have_the_shares_of_perf(void **state) {
  compare(__func__, "go");
}

static void live_static_functions_have_the_shares_of_perf(void **state) {
  compare(__func__, "c-static");
}

static void live_functions_of_clang_have_the_shares_of_perf(void **state) {
  compare(__func__, "c-clang");
}

static void
live_functions_in_debug_files_have_the_shares_of_perf(void **state) {
  compare(__func__, "c-debug");
}

static void live_inlined_functions_have_their_own_cost(void **state) {
  static tool_run_t run;
  folded_t ours = {0};
  costs_t costs;

  support_need_own_events(__func__);
  costs_build(__func__, "c");
  memset(&run, 0, sizeof(run));
  costs_run(&run, PROFILE "--inline " COMMAND);
  read_costs(&costs, 1);
  read_ours(&ours);
  costs_expect(&costs, &ours, 1000);
  folded_free(&ours);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      costs_test(live_functions_in_c_have_the_shares_of_perf),
      costs_test(live_functions_in_cxx_have_the_shares_of_perf),
      costs_test(live_functions_in_rust_have_the_shares_of_perf),
      costs_test(live_functions_in_go_have_the_shares_of_perf),
      costs_test(live_static_functions_have_the_shares_of_perf),
      costs_test(live_functions_of_clang_have_the_shares_of_perf),
      costs_test(live_functions_in_debug_files_have_the_shares_of_perf),
      costs_test(live_inlined_functions_have_their_own_cost),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
