/* SPDX-License-Identifier: MIT */
/* Runs flight-recorder as a user would, and checks its dumps against known
 * switches. */
#include "flight_lines.h"
#include "switch_pair.h"
#include "tool_run.h"

#include <signal.h>

#define MAX_DUMPS 8

/* The work during the recording: a pair of processes runs before each dump. */
typedef struct script_s {
  int nr_pairs; /* run before the first dumps */
  int nr_dumps;
  int step;
  pid_t pid; /* the recorder's */
  switch_pair_t *pairs[MAX_DUMPS];
  char next[32];
} script_t;

/* Called when the expected message has come. Requests the next dump or the
 * end. */
static void work(tool_run_t *run) {
  script_t *script = run->data;

  script->pid = run->pid;
  run->interrupt_with = SIGTERM;
  if (script->step == script->nr_dumps)
    return;
  if (script->step < script->nr_pairs)
    script->pairs[script->step] = switch_pair_run();
  script->step++;
  snprintf(script->next, sizeof(script->next), "dump %d: ", script->step);
  run->interrupt_at = script->next;
  run->interrupt_with = SIGUSR1;
}

static void run_script(tool_run_t *run, script_t *script,
                       flight_lines_t *lines) {
  run->interrupt_at = "kill -USR1 ";
  run->work = work;
  run->data = script;
  run->file = tmpfile();
  assert_non_null(run->file);
  tool_run(run);
  tool_run_expect_status(run, 0);
  flight_lines_read(lines, run->file);
  fclose(run->file);
  assert_int_equal(lines->nr_dumps, script->nr_dumps);
}

static void end_script(script_t *script, flight_lines_t *lines) {
  int i;

  for (i = 0; i < script->nr_pairs; i++)
    switch_pair_free(script->pairs[i]);
  flight_lines_free(lines);
}

/* Checks the switches from each mark that a dump covers to the last mark.
 * Returns the number of these marks. */
static int expect_side(const flight_lines_t *lines, int dump, uint64_t from,
                       const switch_pair_side_t *side) {
  const switch_pair_mark_t *last = &side->marks[SWITCH_PAIR_HOPS], *first;
  int i, nr = 0;

  for (i = 0; i < SWITCH_PAIR_HOPS; i++) {
    first = &side->marks[i];
    if (first->time < from)
      continue;
    assert_int_equal(
        flight_lines_count(lines, dump, side->pid, first->time, last->time),
        last->switches - first->switches);
    nr++;
  }
  return nr;
}

static int expect_pair(const flight_lines_t *lines, int dump,
                       const switch_pair_t *pair) {
  uint64_t from = flight_lines_cpu(lines, dump, pair->cpu)->from;

  return expect_side(lines, dump, from, &pair->sides[0]) +
         expect_side(lines, dump, from, &pair->sides[1]);
}

/* Expects the name that the thread had at that time, if it is one of the
 * pair. */
static void expect_name(const switch_pair_t *pair, long tid, uint64_t time,
                        const char *comm) {
  int i = tid == pair->sides[1].pid;

  if ((tid != pair->sides[0].pid && !i) ||
      time < pair->sides[i].marks[0].time ||
      (!i && time >= pair->renamed_after && time <= pair->renamed_before))
    return;
  if (i)
    assert_string_equal(comm, SWITCH_PAIR_SECOND);
  else if (time < pair->renamed_after)
    assert_string_equal(comm, SWITCH_PAIR_FIRST);
  else
    assert_string_equal(comm, "flight-p\\u001bng");
}

/* If others renamed themselves so often that records were lost, there was a
 * message. */
static void expect_names(const flight_lines_t *lines, const tool_run_t *run,
                         const switch_pair_t *pair) {
  const flight_lines_line_t *line;
  size_t i;

  if (strstr(run->err, "records of names were lost") != NULL)
    return;
  for (i = 0; i < lines->nr; i++) {
    line = &lines->lines[i];
    expect_name(pair, line->from_tid, line->time, line->from_comm);
    expect_name(pair, line->to_tid, line->time, line->to_comm);
  }
}

/* -- tests ----------------------------------------------------------------- */

static void each_switch_is_in_the_dump_with_the_name_of_its_time(void **state) {
  static tool_run_t run = {
      .args = {FLIGHT_RECORDER_PATH, "--json", "-m", "16M"}};
  script_t script = {.nr_pairs = 1, .nr_dumps = 1};
  flight_lines_t lines;

  (void)state;
  support_need_cpu_wide(__func__);
  run_script(&run, &script, &lines);
  assert_int_equal(expect_pair(&lines, 1, script.pairs[0]),
                   2 * SWITCH_PAIR_HOPS);
  expect_names(&lines, &run, script.pairs[0]);
  end_script(&script, &lines);
}

/* The newest switch is the one to the recorder, which took the dump. */
static void expect_newest(const flight_lines_t *lines, const script_t *script,
                          uint64_t after) {
  size_t i, nr = 0;

  for (i = 0; i < lines->nr; i++)
    nr += lines->lines[i].to_tid == script->pid && lines->lines[i].time > after;
  assert_true(nr > 0);
}

static void ring_that_has_gone_round_has_the_newest(void **state) {
  static tool_run_t run = {
      .args = {FLIGHT_RECORDER_PATH, "--json", "-m", "16K"}};
  script_t script = {.nr_pairs = 1, .nr_dumps = 1};
  const switch_pair_t *pair;
  flight_lines_t lines;

  (void)state;
  support_need_cpu_wide(__func__);
  run_script(&run, &script, &lines);
  pair = script.pairs[0];
  /* The 800 switches of the pair do not fit. */
  assert_true(flight_lines_cpu(&lines, 1, pair->cpu)->from >
              pair->sides[0].marks[0].time);
  assert_true(flight_lines_cpu(&lines, 1, pair->cpu)->number > 100);
  assert_true(expect_pair(&lines, 1, pair) < 2 * SWITCH_PAIR_HOPS);
  expect_newest(&lines, &script, pair->sides[0].marks[SWITCH_PAIR_HOPS].time);
  expect_names(&lines, &run, pair);
  end_script(&script, &lines);
}

static void dump_has_what_the_one_before_had(void **state) {
  static tool_run_t run = {
      .args = {FLIGHT_RECORDER_PATH, "--json", "-m", "16M"}};
  script_t script = {.nr_pairs = 2, .nr_dumps = 3};
  flight_lines_t lines;
  int dump;

  (void)state;
  support_need_cpu_wide(__func__);
  run_script(&run, &script, &lines);
  for (dump = 1; dump <= 3; dump++) {
    assert_int_equal(expect_pair(&lines, dump, script.pairs[0]),
                     2 * SWITCH_PAIR_HOPS);
    expect_newest(&lines, &script, flight_lines_dump(&lines, dump)->from);
  }
  for (dump = 2; dump <= 3; dump++)
    assert_int_equal(expect_pair(&lines, dump, script.pairs[1]),
                     2 * SWITCH_PAIR_HOPS);
  expect_names(&lines, &run, script.pairs[0]);
  expect_names(&lines, &run, script.pairs[1]);
  end_script(&script, &lines);
}

static void dump_of_what_is_new_has_nothing_twice(void **state) {
  static tool_run_t run = {
      .args = {FLIGHT_RECORDER_PATH, "--json", "--new", "-m", "16M"}};
  script_t script = {.nr_pairs = 2, .nr_dumps = 2};
  const switch_pair_side_t *side;
  flight_lines_t lines;
  uint64_t last;
  int i;

  (void)state;
  support_need_cpu_wide(__func__);
  run_script(&run, &script, &lines);
  for (i = 0; i < 2; i++) {
    assert_int_equal(expect_pair(&lines, i + 1, script.pairs[i]),
                     2 * SWITCH_PAIR_HOPS);
    side = &script.pairs[i]->sides[0];
    last = side->marks[SWITCH_PAIR_HOPS].time;
    assert_int_equal(flight_lines_count(&lines, 2 - i, side->pid, 0, last), 0);
  }
  assert_true(flight_lines_dump(&lines, 2)->from >=
              flight_lines_dump(&lines, 1)->time);
  end_script(&script, &lines);
}

/* The pair runs for longer than the last millisecond. */
static void last_seconds_are_all_there_is(void **state) {
  static tool_run_t run = {
      .args = {FLIGHT_RECORDER_PATH, "--json", "-s", "0.001"}};
  script_t script = {.nr_pairs = 1, .nr_dumps = 1};
  const flight_lines_line_t *dump;
  flight_lines_t lines;
  uint64_t from;
  size_t i;

  (void)state;
  support_need_cpu_wide(__func__);
  run_script(&run, &script, &lines);
  dump = flight_lines_dump(&lines, 1);
  from = dump->time - 1000000;
  assert_true(script.pairs[0]->sides[0].marks[0].time < from);
  assert_true(dump->from >= from);
  assert_true(dump->number > 0);
  for (i = 1; i < lines.nr; i++)
    assert_true(lines.lines[i].time >= from);
  end_script(&script, &lines);
}

static void only_the_cpu_that_was_asked_for_is_recorded(void **state) {
  static tool_run_t run = {
      .args = {FLIGHT_RECORDER_PATH, "--json", "-C", "0", "-n", "-d", "0.2"}};
  flight_lines_t lines;
  size_t i;

  (void)state;
  support_need_cpu_wide(__func__);
  run.file = tmpfile();
  assert_non_null(run.file);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  flight_lines_read(&lines, run.file);
  fclose(run.file);
  assert_int_equal(lines.nr_dumps, 1);
  for (i = 1; i + 1 < lines.nr; i++)
    assert_int_equal(lines.lines[i].cpu, 0);
  flight_lines_free(&lines);
}

static void storm(tool_run_t *run) {
  int i;

  for (i = 0; i < 500; i++)
    kill(run->pid, SIGUSR1);
  run->interrupt_with = SIGTERM;
}

/* Signals that arrive while one is pending become one. Each delivered signal
 * makes a dump. */
static void storm_of_signals_is_survived(void **state) {
  static tool_run_t run = {
      .args = {FLIGHT_RECORDER_PATH, "--json", "-m", "4K"}};
  flight_lines_t lines;
  char expected[32];

  (void)state;
  support_need_cpu_wide(__func__);
  run.interrupt_at = "recording: ";
  run.work = storm;
  run.file = tmpfile();
  assert_non_null(run.file);
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  flight_lines_read(&lines, run.file);
  fclose(run.file);
  assert_true(lines.nr_dumps >= 1);
  snprintf(expected, sizeof(expected), "flight-recorder: %d dump%s\n",
           lines.nr_dumps, lines.nr_dumps == 1 ? "" : "s");
  tool_run_expect_text(run.err, expected);
  flight_lines_free(&lines);
}

static void ask_and_end(tool_run_t *run) {
  kill(run->pid, SIGUSR1);
  run->interrupt_with = SIGTERM;
}

static void dump_that_was_begun_at_the_end_is_finished(void **state) {
  static tool_run_t run = {.args = {FLIGHT_RECORDER_PATH, "-m", "1M"}};

  (void)state;
  support_need_cpu_wide(__func__);
  run.interrupt_at = "recording: ";
  run.work = ask_and_end;
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "# end of dump 1\n");
  tool_run_expect_text(run.err, "flight-recorder: 1 dump\n");
}

static void raise_while_blocked(void) {
  sigset_t set;

  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  raise(SIGUSR1);
}

static void signal_that_came_too_early_is_a_dump(void **state) {
  static tool_run_t run = {.args = {FLIGHT_RECORDER_PATH, "-m", "16K"}};

  (void)state;
  support_need_cpu_wide(__func__);
  run.prepare = raise_while_blocked;
  run.interrupt_at = "dump 1: ";
  tool_run(&run);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.out, "# dump 1 at ");
  tool_run_expect_text(run.out, "# end of dump 1\n");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_switch_is_in_the_dump_with_the_name_of_its_time),
      cmocka_unit_test(ring_that_has_gone_round_has_the_newest),
      cmocka_unit_test(dump_has_what_the_one_before_had),
      cmocka_unit_test(dump_of_what_is_new_has_nothing_twice),
      cmocka_unit_test(last_seconds_are_all_there_is),
      cmocka_unit_test(only_the_cpu_that_was_asked_for_is_recorded),
      cmocka_unit_test(storm_of_signals_is_survived),
      cmocka_unit_test(dump_that_was_begun_at_the_end_is_finished),
      cmocka_unit_test(signal_that_came_too_early_is_a_dump),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
