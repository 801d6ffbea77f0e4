/* SPDX-License-Identifier: MIT */
/* Programs with functions of known cost, recorded by perf(1): what it makes of
 * the file is what they cost. */
#include "costs.h"
#include "perf_dump.h"

#define PERF "perf record -q -N -o perf.data -F 1999 -e task-clock "

static void record(costs_t *costs, const char *words) {
  static tool_run_t run;

  memset(&run, 0, sizeof(run));
  costs_run(&run, words);
  assert_string_equal(run.err, "");
  costs_read(costs, run.out, 0);
}

static void compare(const char *test, const char *variant, const char *words) {
  folded_t perf = {0};
  costs_t costs;

  perf_dump_need(test);
  support_need_own_events(test);
  costs_build(test, variant);
  record(&costs, words);
  folded_read_perf(&perf, costs_path("perf.data"), NULL, "");
  costs_expect(&costs, &perf, 1000);
  folded_free(&perf);
}

static void functions_in_c_are_those_of_perf(void **state) {
  (void)state;
  compare(__func__, "c", PERF "-g ./costs 8000");
}

static void functions_of_clang_are_those_of_perf(void **state) {
  (void)state;
  compare(__func__, "c-clang", PERF "-g ./costs 8000");
}

static void static_functions_are_those_of_perf(void **state) {
  (void)state;
  compare(__func__, "c-static", PERF "-g ./costs 8000");
}

static void functions_in_debug_files_are_those_of_perf(void **state) {
  (void)state;
  compare(__func__, "c-debug", PERF "-g ./costs 8000");
}

static void stacks_without_frame_pointers_are_those_of_perf(void **state) {
  (void)state;
  compare(__func__, "c-bare", PERF "--call-graph dwarf ./costs 8000");
}

static void functions_in_cxx_are_those_of_perf(void **state) {
  (void)state;
  compare(__func__, "cxx", PERF "-g ./costs 8000");
}

static void functions_in_rust_are_those_of_perf(void **state) {
  (void)state;
  compare(__func__, "rust", PERF "-g ./costs 8000");
}

static void functions_in_go_are_those_of_perf(void **state) {
  (void)state;
  compare(__func__, "go", PERF "-g ./costs 8000");
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
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
