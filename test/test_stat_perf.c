/* SPDX-License-Identifier: MIT */
/* stat counts what perf stat counts, and writes the same fields. */
#include "stat_fields.h"
#include "stat_serve.h"

#define RUNS 4

/* Looked for in PATH, and by a shell, as each distribution has it elsewhere. */
static int perf_works(void) {
  sample_run_t run = {
      .args = {"/bin/sh", "-c", "perf stat -x, -e task-clock true"}};

  sample_run(&run);
  return run.status == 0 && strstr(run.err, "task-clock") != NULL;
}

static void need_perf(const char *test) {
  support_need_kernel_side(test);
  if (!perf_works())
    support_skip(test, "perf(1)");
}

/* A container may forbid personality(2). */
static void need_setarch(const char *test) {
  sample_run_t run = {.args = {"/bin/sh", "-c", "setarch -R true"}};

  sample_run(&run);
  if (run.status != 0)
    support_skip(test, "setarch(8)");
}

/* The same arguments for both, as words of a shell. */
static void run_perf(sample_run_t *run, const char *before, const char *args) {
  static char line[512];

  snprintf(line, sizeof(line), "exec %s perf stat %s", before, args);
  memset(run, 0, sizeof(*run));
  run->args[0] = "/bin/sh";
  run->args[1] = "-c";
  run->args[2] = line;
  sample_run(run);
  sample_run_expect_status(run, 0);
}

static void run_stat(sample_run_t *run, const char *before, const char *args) {
  static char line[512];

  snprintf(line, sizeof(line), "exec %s %s %s", before, STAT_PATH, args);
  memset(run, 0, sizeof(*run));
  run->args[0] = "/bin/sh";
  run->args[1] = "-c";
  run->args[2] = line;
  sample_run(run);
  sample_run_expect_status(run, 0);
}

static void tracepoint_is_counted_as_by_perf(void **state) {
  static const char args[] =
      "-x, -e " STAT_SERVE_EVENT " " TARGET_PATH " children 3 1234";
  sample_run_t perf, stat;
  uint64_t value;

  (void)state;
  need_perf(__func__);
  support_need_tracepoint(__func__, STAT_SERVE_EVENT);
  run_perf(&perf, "", args);
  run_stat(&stat, "", args);
  value = stat_fields_value(perf.err, STAT_SERVE_EVENT);
  assert_int_equal(value, 3702);
  assert_int_equal(stat_fields_value(stat.err, STAT_SERVE_EVENT), value);
}

/* What differs from run to run, if anything does, is the same for both: at
 * random places in memory a program has a fault more or less. */
static void page_faults_are_counted_as_by_perf(void **state) {
  static const char args[] = "-x, -e minor-faults " TARGET_PATH " touch 321";
  uint64_t least = UINT64_MAX, most = 0, value, ours[RUNS];
  sample_run_t run;
  size_t i;

  (void)state;
  need_perf(__func__);
  need_setarch(__func__);
  for (i = 0; i < RUNS; i++) {
    run_perf(&run, "setarch -R", args);
    value = stat_fields_value(run.err, "minor-faults");
    least = value < least ? value : least;
    most = value > most ? value : most;
    run_stat(&run, "setarch -R", args);
    ours[i] = stat_fields_value(run.err, "minor-faults");
  }
  print_message("perf: %lu to %lu, stat: %lu %lu %lu %lu\n",
                (unsigned long)least, (unsigned long)most,
                (unsigned long)ours[0], (unsigned long)ours[1],
                (unsigned long)ours[2], (unsigned long)ours[3]);
  assert_true(least > 321);
  for (i = 0; i < RUNS; i++)
    assert_true(ours[i] >= least && ours[i] <= most);
}

/* The same fields are there, with the same words in them. */
static void expect_same_fields(const char *args, size_t nr, size_t event) {
  sample_run_t perf, stat;
  stat_fields_t theirs, ours;

  run_perf(&perf, "", args);
  run_stat(&stat, "", args);
  assert_true(stat_fields_line(perf.err, ',', nr, 0, &theirs));
  assert_true(stat_fields_line(stat.err, ',', nr, 0, &ours));
  assert_int_equal(theirs.nr, nr);
  assert_int_equal(ours.nr, nr);
  assert_string_equal(ours.field[event - 1], theirs.field[event - 1]);
  assert_string_equal(ours.field[event], theirs.field[event]);
}

static void fields_are_those_of_perf(void **state) {
  (void)state;
  need_perf(__func__);
  expect_same_fields("-x, -e task-clock true", 7, 2);
  expect_same_fields("-x, -e page-faults true", 7, 2);
  expect_same_fields("-x, -e '{page-faults,task-clock}' true", 7, 2);
  expect_same_fields("-x, -e context-switches:k true", 7, 2);
  expect_same_fields("-r 2 -x, -e page-faults true", 8, 2);
  expect_same_fields("-I 100000 -x, -e page-faults true", 8, 3);
}

static void fields_of_cpus_and_cgroups_are_those_of_perf(void **state) {
  (void)state;
  need_perf(__func__);
  support_need_cpu_wide(__func__);
  expect_same_fields("-a -x, -e cpu-clock true", 7, 2);
  expect_same_fields("-a -A -x, -e cpu-clock true", 8, 3);
  expect_same_fields("-a -A -I 100000 -x, -e cpu-clock true", 9, 4);
}

/* Where there is no PMU; with one they are counted by both. */
static void event_that_is_not_there_has_the_fields_of_perf(void **state) {
  static const char args[] = "-x, -e task-clock,cycles true";
  sample_run_t perf, stat;
  stat_fields_t theirs, ours;
  size_t i;

  (void)state;
  need_perf(__func__);
  run_perf(&perf, "", args);
  run_stat(&stat, "", args);
  assert_true(stat_fields_line(perf.err, ',', 7, 1, &theirs));
  assert_true(stat_fields_line(stat.err, ',', 7, 1, &ours));
  assert_int_equal(ours.nr, theirs.nr);
  assert_string_equal(ours.field[2], "cycles");
  if (strcmp(theirs.field[0], "<not supported>") != 0)
    return;
  for (i = 0; i < ours.nr; i++)
    assert_string_equal(ours.field[i], theirs.field[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tracepoint_is_counted_as_by_perf),
      cmocka_unit_test(page_faults_are_counted_as_by_perf),
      cmocka_unit_test(fields_are_those_of_perf),
      cmocka_unit_test(fields_of_cpus_and_cgroups_are_those_of_perf),
      cmocka_unit_test(event_that_is_not_there_has_the_fields_of_perf),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
