/* SPDX-License-Identifier: MIT */
/* perf(1) records programs with functions of known cost. The profiler and perf
 * show the same shares, and these fit the costs. */
#include "costs.h"

#include <math.h>

#include "perf_dump.h"

#define PERF   "perf record -q -N -o perf.data -F 1999 -e task-clock "
#define RECORD RECORD_PATH " -q -o perf.data -F 1999 -e task-clock -g "

static void record(costs_t *costs, const char *words) {
  static tool_run_t run;

  memset(&run, 0, sizeof(run));
  costs_run(&run, words);
  assert_string_equal(run.err, "");
  costs_read(costs, run.out, 0);
}

/* Reads the stacks that the profiler finds in the file. */
static void read_ours(folded_t *folded, const char *process,
                      const char *words) {
  static tool_run_t run;
  char line[512];
  FILE *file;

  memset(&run, 0, sizeof(run));
  snprintf(line, sizeof(line),
           PROFILE_PATH " --input perf.data --folded folded %s", words);
  costs_run(&run, line);
  file = fopen(costs_path("folded"), "re");
  assert_non_null(file);
  folded_read(folded, file, process);
  fclose(file);
}

/* The shares may differ by 0.1 percentage points. perf(1) has no name for the
 * PLT entries of IFUNCs, which have an address instead of a symbol: "@plt". It
 * leaves out all frames of a stack that contains a number such as -1 instead of
 * a return address: "". One sample may be in a BPF program, whose name is gone
 * when the second reader looks for it. */
static void expect_equal_shares(const folded_t *ours, const folded_t *perfs) {
  folded_t our_leaves = {0}, perf_leaves = {0};
  double nr = (double)perfs->samples, share, perf_share, worst = 0;
  double most = 0.1 + 100 * (double)(1 + folded_samples(perfs, "")) / nr;
  size_t i;

  assert_int_equal(ours->samples, perfs->samples);
  folded_leaves(ours, &our_leaves);
  folded_leaves(perfs, &perf_leaves);
  for (i = 0; i < perf_leaves.nr; i++) {
    if (strcmp(perf_leaves.rows[i].stack, "@plt") == 0 ||
        perf_leaves.rows[i].stack[0] == '\0')
      continue;
    perf_share = (double)perf_leaves.rows[i].samples / nr;
    share = (double)folded_samples(&our_leaves, perf_leaves.rows[i].stack) / nr;
    worst = fmax(worst, 100 * fabs(share - perf_share));
    if (100 * fabs(share - perf_share) > most)
      print_error("%s: %.2f%%, perf %.2f%%\n", perf_leaves.rows[i].stack,
                  100 * share, 100 * perf_share);
  }
  print_message("shares of %zu functions differ by at most %.2f points\n",
                perf_leaves.nr, worst);
  folded_free(&our_leaves);
  folded_free(&perf_leaves);
  assert_true(worst <= most);
}

/* perf(1) names the next function in two cases: a function ends with a call
 * that never returns, or the stack ends in a value that is no address. */
static void expect_equal_callers(const folded_t *ours, const folded_t *perfs) {
  unsigned long differ = folded_differ(ours, "profile", perfs, "perf");

  print_message("%lu of %lu stacks differ\n", differ, perfs->samples);
  assert_true((double)differ <= 2 + 0.005 * (double)perfs->samples);
}

/* Compares one event. NULL means the only event. */
static void compare_event(const costs_t *costs, const char *event) {
  folded_t ours = {0}, perfs = {0};
  char words[64] = "";

  if (event != NULL)
    snprintf(words, sizeof(words), "--event %s", event);
  folded_read_perf(&perfs, costs_path("perf.data"), event, "");
  read_ours(&ours, NULL, words);
  if (costs != NULL) {
    costs_expect(costs, &perfs, 1000);
    costs_expect(costs, &ours, 1000);
  }
  expect_equal_shares(&ours, &perfs);
  expect_equal_callers(&ours, &perfs);
  folded_free(&ours);
  folded_free(&perfs);
}

static void compare(const char *test, const char *variant, const char *words) {
  costs_t costs;

  perf_dump_need(test);
  support_need_own_events(test);
  costs_build(test, variant);
  record(&costs, words);
  compare_event(&costs, NULL);
}

static void functions_in_c_are_those_of_perf(void **state) {
  compare(__func__, "c", PERF "-g ./costs 8000");
}

static void functions_of_clang_are_those_of_perf(void **state) {
  compare(__func__, "c-clang", PERF "-g ./costs 8000");
}

static void static_functions_are_those_of_perf(void **state) {
  compare(__func__, "c-static", PERF "-g ./costs 8000");
}

static void functions_in_debug_files_are_those_of_perf(void **state) {
  compare(__func__, "c-debug", PERF "-g ./costs 8000");
}

static void stacks_without_frame_pointers_are_those_of_perf(void **state) {
  compare(__func__, "c-bare", PERF "-F 499 --call-graph dwarf ./costs 16000");
}

static void functions_in_cxx_are_those_of_perf(void **state) {
  compare(__func__, "cxx", PERF "-g ./costs 8000");
}

static void functions_in_rust_are_those_of_perf(void **state) {
  compare(__func__, "rust", PERF "-g ./costs 8000");
}

static void functions_in_go_are_those_of_perf(void **state) {
  compare(__func__, "go", PERF "-g ./costs 8000");
}

static void file_of_uvperf_record_is_read_as_by_perf(void **state) {
  compare(__func__, "c", RECORD "./costs 8000");
}

static void each_of_several_events_is_that_of_perf(void **state) {
  costs_t costs;

  perf_dump_need(__func__);
  support_need_own_events(__func__);
  costs_build(__func__, "c");
  record(&costs, PERF "-e cpu-clock -e page-faults -g ./costs 8000");
  compare_event(&costs, "task-clock");
  compare_event(&costs, "cpu-clock");
  compare_event(NULL, "page-faults");
}

/* Compares what one program did, which no other test runs. */
static void compare_program(const char *name, int has_frame_pointers) {
  folded_t ours = {0}, perfs = {0};
  char words[64];

  snprintf(words, sizeof(words), "--comms %s", name);
  read_ours(&ours, name, "");
  folded_read_perf(&perfs, costs_path("perf.data"), NULL, words);
  expect_equal_shares(&ours, &perfs);
  if (has_frame_pointers)
    expect_equal_callers(&ours, &perfs);
  assert_true(ours.samples > 0);
  folded_free(&ours);
  folded_free(&perfs);
}

/* Two programs run, one of them twice, the other without frame pointers. Files
 * of all others may be gone before the second reader looks for names. */
static void whole_machine_is_that_of_perf(void **state) {
  folded_t ours = {0}, perfs = {0};
  costs_t costs;

  perf_dump_need(__func__);
  support_need_cpu_wide(__func__);
  costs_build(__func__, "c");
  record(&costs,
         "cp costs machine_costs && cp /bin/sh machine_sh && "
         "perf record -q -N -o perf.data -F 1999 -e cpu-clock -a -g "
         "--no-bpf-event sh -c '"
         "./machine_costs 6000 >other </dev/null & ./machine_sh -c \"i=0; "
         "while [ \\$i -lt 40000 ]; do i=\\$((i+1)); : <perf.data; done\" & "
         "./machine_costs 6000; wait'");
  compare_program("machine_costs", 1);
  compare_program("machine_sh", 0);
  read_ours(&ours, NULL, "");
  folded_read_perf(&perfs, costs_path("perf.data"), NULL, "");
  assert_int_equal(ours.samples, perfs.samples);
  folded_free(&ours);
  folded_free(&perfs);
}

/* Parses a line "12.34%|56|object|[.] name" of perf report. Returns 1, or 0 for
 * other lines. */
static int parse_row(const char *line, double *share, unsigned long *samples,
                     char name[128]) {
  return sscanf(line, " %lf%% | %lu |%*[^|]|[%*c] %127s", share, samples,
                name) == 3;
}

static void table_has_the_numbers_of_perf_report(void **state) {
  static tool_run_t run, report;
  char name[128], expected[256], *line, *rest;
  unsigned long samples;
  int nr = 0;
  double share;
  costs_t costs;

  perf_dump_need(__func__);
  support_need_own_events(__func__);
  costs_build(__func__, "c");
  record(&costs, PERF "-g ./costs 8000");
  memset(&run, 0, sizeof(run));
  memset(&report, 0, sizeof(report));
  costs_run(&run, PROFILE_PATH " --input perf.data");
  costs_run(&report, "perf report -i perf.data --stdio --no-children -g none "
                     "-F overhead,sample,dso,sym -t '|'");
  rest = report.out;
  while (nr < 18 && (line = strsep(&rest, "\n")) != NULL) {
    if (!parse_row(line, &share, &samples, name))
      continue;
    nr++;
    snprintf(expected, sizeof(expected), "%7.2f%% ", share);
    tool_run_expect_text(run.out, expected);
    snprintf(expected, sizeof(expected), " %s\n", name);
    tool_run_expect_text(run.out, expected);
    line = strstr(run.out, expected);
    while (line > run.out && line[-1] != '\n')
      line--;
    assert_int_equal(strtoul(line + 18, NULL, 10), samples);
  }
  assert_int_equal(nr, 18);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      costs_test(functions_in_c_are_those_of_perf),
      costs_test(functions_of_clang_are_those_of_perf),
      costs_test(static_functions_are_those_of_perf),
      costs_test(functions_in_debug_files_are_those_of_perf),
      costs_test(stacks_without_frame_pointers_are_those_of_perf),
      costs_test(functions_in_cxx_are_those_of_perf),
      costs_test(functions_in_rust_are_those_of_perf),
      costs_test(functions_in_go_are_those_of_perf),
      costs_test(file_of_uvperf_record_is_read_as_by_perf),
      costs_test(each_of_several_events_is_that_of_perf),
      costs_test(whole_machine_is_that_of_perf),
      costs_test(table_has_the_numbers_of_perf_report),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
