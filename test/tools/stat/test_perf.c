/* SPDX-License-Identifier: MIT */
/* stat counts what perf stat counts, and writes the same fields. */
#include <math.h>
#include <sched.h>
#include <stdlib.h>

#include "call_server.h"
#include "stat_fields.h"

#define RUNS 4

/* perf stat is run at most this often until it prints something. */
#define TRIES 20

/* How often the counted process works. It sleeps after each time. */
#define ANSWERS 50

/* A shell looks for perf(1) in PATH, because each distribution installs it
 * elsewhere. */
static int perf_works(void) {
  tool_run_t run = {
      .args = {"/bin/sh", "-c", "perf stat -x, -e task-clock true"}};

  tool_run(&run);
  return run.status == 0 && strstr(run.err, "task-clock") != NULL;
}

static void need_perf(const char *test) {
  support_need_kernel_side(test);
  if (!perf_works())
    support_skip(test, "perf(1)");
}

/* A container may forbid personality(2). */
static void need_setarch(const char *test) {
  tool_run_t run = {.args = {"/bin/sh", "-c", "setarch -R true"}};

  tool_run(&run);
  if (run.status != 0)
    support_skip(test, "setarch(8)");
}

/* Both tools get the same arguments, as words of a shell. */
static void run_perf(tool_run_t *run, const char *before, const char *args) {
  static char line[512];

  snprintf(line, sizeof(line), "exec %s perf stat %s", before, args);
  memset(run, 0, sizeof(*run));
  run->args[0] = "/bin/sh";
  run->args[1] = "-c";
  run->args[2] = line;
  tool_run_exits(run, 0);
}

static void run_stat(tool_run_t *run, const char *before, const char *args) {
  static char line[512];

  snprintf(line, sizeof(line), "exec %s %s %s", before, STAT_PATH, args);
  memset(run, 0, sizeof(*run));
  run->args[0] = "/bin/sh";
  run->args[1] = "-c";
  run->args[2] = line;
  tool_run_exits(run, 0);
}

static void tracepoint_is_counted_as_by_perf(void **state) {
  static const char args[] =
      "-x, -e " CALL_SERVER_EVENT " " TARGET_PATH " children 3 1234";
  tool_run_t perf, stat;
  uint64_t value;

  need_perf(__func__);
  support_need_tracepoint(__func__, CALL_SERVER_EVENT);
  run_perf(&perf, "", args);
  run_stat(&stat, "", args);
  value = stat_fields_value(perf.err, CALL_SERVER_EVENT);
  assert_int_equal(value, 3702);
  assert_int_equal(stat_fields_value(stat.err, CALL_SERVER_EVENT), value);
}

/* setarch(8) turns off random addresses, because these change the number of
 * faults by one. Other programs that push out pages, and the longer PATH that
 * perf(1) sets, can still change it. So at least half of our counts must be
 * within one of perf's. */
static void page_faults_are_counted_as_by_perf(void **state) {
  static const char args[] = "-x, -e minor-faults " TARGET_PATH " touch 321";
  uint64_t least = UINT64_MAX, most = 0, value, ours[RUNS];
  size_t nr = 0;
  tool_run_t run;
  size_t i;

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
    nr += ours[i] + 1 >= least && ours[i] <= most + 1;
  assert_in_range(nr, RUNS / 2, RUNS);
}

/* Both tools count the work of one process, from before its begin to its end.
 * stat is the command of perf stat, so both count when stat prints "counting".
 * Then the process works and ends. */
static void answer_and_end(tool_run_t *run) {
  unsigned i;

  for (i = 0; i < ANSWERS; i++)
    call_server_calls(run->data, 1000);
  call_server_end(run->data);
}

/* Waits until the process sleeps. It must not have a context switch after only
 * one of the tools has begun to count. */
static void wait_until_it_waits(const call_server_t *serve) {
  char path[32], text[256];
  FILE *file;
  size_t nr;

  snprintf(path, sizeof(path), "/proc/%s/stat", serve->id);
  do {
    sched_yield();
    file = fopen(path, "re");
    assert_non_null(file);
    nr = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[nr] = '\0';
  } while (strstr(text, ") S ") == NULL);
}

static double milliseconds(const char *text) {
  stat_fields_t line;

  assert_true(stat_fields_line(text, ',', 7, 1, &line));
  assert_string_equal(line.field[2], "task-clock");
  return strtod(line.field[0], NULL);
}

/* Both tools count the same run, because two runs differ by far more: the
 * machine has other work, too. */
static void clock_and_switches_of_one_run_are_those_of_perf(void **state) {
  static const char events[] = "-x, -e context-switches,task-clock";
  double theirs, ours;
  call_server_t serve;
  char line[512];
  tool_run_t run = {.args = {"/bin/sh", "-c", line}};

  need_perf(__func__);
  call_server_start(&serve, TARGET_PATH);
  wait_until_it_waits(&serve);
  snprintf(line, sizeof(line),
           "exec perf stat --log-fd 1 %s -p %s %s -v %s -p %s", events,
           serve.id, STAT_PATH, events, serve.id);
  tool_run_calls(&run, "counting", answer_and_end, &serve);
  tool_run_exits(&run, 0);
  /* The process need not sleep before each request: the next one may be there
   * already. */
  assert_true(stat_fields_value(run.err, "context-switches") > 0);
  assert_int_equal(stat_fields_value(run.err, "context-switches"),
                   stat_fields_value(run.out, "context-switches"));
  theirs = milliseconds(run.out);
  ours = milliseconds(run.err);
  print_message("perf: %.2f msec, stat: %.2f msec\n", theirs, ours);
  assert_true(theirs > 0);
  assert_true(fabs(ours - theirs) < 0.01 * theirs + 0.01);
}

/* Both tools print the same number of fields, with the same words in them. */
static void expect_same_fields(const char *args, size_t nr, size_t event) {
  tool_run_t perf, stat;
  stat_fields_t theirs, ours;
  int tries = TRIES;

  /* With -I perf stat prints nothing if the command ends before perf stat looks
   * at it. */
  do
    run_perf(&perf, "", args);
  while (perf.err[0] == '\0' && --tries > 0);
  run_stat(&stat, "", args);
  assert_true(stat_fields_line(perf.err, ',', nr, 0, &theirs));
  assert_true(stat_fields_line(stat.err, ',', nr, 0, &ours));
  assert_int_equal(theirs.nr, nr);
  assert_int_equal(ours.nr, nr);
  assert_string_equal(ours.field[event - 1], theirs.field[event - 1]);
  assert_string_equal(ours.field[event], theirs.field[event]);
}

static void fields_are_those_of_perf(void **state) {
  need_perf(__func__);
  expect_same_fields("-x, -e task-clock true", 7, 2);
  expect_same_fields("-x, -e page-faults true", 7, 2);
  expect_same_fields("-x, -e '{page-faults,task-clock}' true", 7, 2);
  expect_same_fields("-x, -e context-switches:k true", 7, 2);
  expect_same_fields("-r 2 -x, -e page-faults true", 8, 2);
  expect_same_fields("-I 100000 -x, -e page-faults true", 8, 3);
  expect_same_fields("-x, -e duration_time true", 7, 2);
  expect_same_fields("-x, -e user_time,system_time true", 7, 2);
}

static void fields_of_cpus_and_cgroups_are_those_of_perf(void **state) {
  need_perf(__func__);
  support_need_cpu_wide(__func__);
  expect_same_fields("-a -x, -e cpu-clock true", 7, 2);
  expect_same_fields("-a -A -x, -e cpu-clock true", 8, 3);
  expect_same_fields("-a -A -I 100000 -x, -e cpu-clock true", 9, 4);
  expect_same_fields("-a --per-core -x, -e cpu-clock true", 9, 4);
  expect_same_fields("-a --per-core -I 100000 -x, -e cpu-clock true", 10, 5);
  expect_same_fields("-a --per-die -x, -e cpu-clock true", 9, 4);
  expect_same_fields("-a --per-socket -x, -e cpu-clock true", 9, 4);
  expect_same_fields("-a --per-node -x, -e cpu-clock true", 9, 4);
  expect_same_fields("-p 1 --per-thread -x, -e task-clock true", 8, 3);
}

/* Without a PMU the event is missing. With a PMU both tools count it. */
static void event_that_is_not_there_has_the_fields_of_perf(void **state) {
  static const char args[] = "-x, -e task-clock,cycles true";
  tool_run_t perf, stat;
  stat_fields_t theirs, ours;
  size_t i;

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
      cmocka_unit_test(clock_and_switches_of_one_run_are_those_of_perf),
      cmocka_unit_test(fields_are_those_of_perf),
      cmocka_unit_test(fields_of_cpus_and_cgroups_are_those_of_perf),
      cmocka_unit_test(event_that_is_not_there_has_the_fields_of_perf),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
