/* SPDX-License-Identifier: MIT */
/* How stat adds up the counts of places to lines, and the lines of several
 * runs. How it names events, and how it finds out whether a target still
 * lives. */
#include "support.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/list.h"
#include "common/proc.h"
#include "count/reading.h"
#include "stat/alive.h"
#include "stat/events.h"
#include "stat/lines.h"
#include "stat/targets.h"

#define NR_ATTRS 2

/* -- readings -------------------------------------------------------------- */

static const uvperf__reading_origin_t origin = {&origin, 1};

typedef struct cell_s {
  uint32_t state;
  uint64_t value;
} cell_t;

typedef struct place_s {
  uint32_t target;
  int32_t cpu;
  cell_t cells[NR_ATTRS];
} place_t;

static uvperf_reading_t *make(const place_t *places, size_t nr) {
  uvperf_reading_t *reading;
  uvperf__cell_t *cell;
  size_t i, attr;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  assert_int_equal(
      uvperf__reading_begin(reading, &origin, 0, 0, 100, NR_ATTRS, NULL, nr),
      0);
  for (i = 0; i < nr; i++) {
    uvperf__reading_place(reading, i)->serial = i + 1;
    uvperf__reading_place(reading, i)->target = places[i].target;
    uvperf__reading_place(reading, i)->cpu = places[i].cpu;
    for (attr = 0; attr < NR_ATTRS; attr++) {
      cell = uvperf__reading_cell(reading, attr, i);
      cell->state = places[i].cells[attr].state;
      cell->value = places[i].cells[attr].value;
      if (cell->state == UVPERF_COUNT_COUNTING)
        cell->enabled = cell->running = 100;
    }
  }
  uvperf__reading_end(reading);
  return reading;
}

#define COUNTED(value)                                                         \
  { UVPERF_COUNT_COUNTING, value }
#define NONE                                                                   \
  { UVPERF_COUNT_NONE, 0 }
#define REFUSED                                                                \
  { UVPERF_COUNT_NOT_AVAILABLE, 0 }
#define IDLE                                                                   \
  { UVPERF_COUNT_NOT_ENABLED, 0 }

static stat_event_t events[NR_ATTRS * 2] = {
    {"a", "", 1, NULL, NULL, STAT_TOOL_NONE},
    {"b", "J", 0.5, NULL, NULL, STAT_TOOL_NONE},
    {"a", "", 1, NULL, "x", STAT_TOOL_NONE},
    {"b", "J", 0.5, NULL, "x", STAT_TOOL_NONE},
};

static void read_places(stat_lines_t *it, size_t nr_groups, enum stat_by by,
                        const place_t *places, size_t nr) {
  stat_sums_t sums = {events, nr_groups, by, NULL, 0, NULL};
  uvperf_reading_t *reading = make(places, nr);

  memset(it, 0, sizeof(*it));
  stat_lines_read(it, &sums, reading);
  uvperf_reading_free(reading);
}

static void expect(const stat_lines_t *it, size_t index, size_t event,
                   int32_t cpu, double mean) {
  assert_true(index < it->nr);
  assert_int_equal(it->lines[index].event, event);
  assert_int_equal(it->lines[index].place, cpu);
  assert_true(it->lines[index].mean >= mean && it->lines[index].mean <= mean);
}

static stat_lines_t lines;

static void lines_are_the_sums_of_all_places(void **state) {
  static const place_t places[] = {
      {0, 3, {COUNTED(5), COUNTED(50)}},
      {0, 1, {COUNTED(7), COUNTED(70)}},
      {1, -1, {COUNTED(9), COUNTED(90)}},
  };

  read_places(&lines, 1, STAT_BY_NONE, places, 3);
  assert_int_equal(lines.nr, 2);
  expect(&lines, 0, 0, -1, 21);
  expect(&lines, 1, 1, -1, 105); /* in units of half a count */
  assert_int_equal(lines.lines[1].count.value, 210);
  stat_lines_free(&lines);
}

/* The lines are ordered by event and then by CPU, whatever the order of the
 * places is. A target that could not be looked up has no CPU, and so no
 * line. */
static void lines_by_cpu_are_those_of_its_places(void **state) {
  static const place_t places[] = {
      {0, 8, {COUNTED(5), NONE}},
      {0, 1, {COUNTED(7), COUNTED(70)}},
      {1, 8, {COUNTED(9), NONE}},
      {2, -1, {REFUSED, REFUSED}},
  };

  read_places(&lines, 1, STAT_BY_CPU, places, 4);
  assert_int_equal(lines.nr, 3); /* CPU 8 does not have b */
  expect(&lines, 0, 0, 1, 7);
  expect(&lines, 1, 0, 8, 14);
  expect(&lines, 2, 1, 1, 35);
  stat_lines_free(&lines);
}

static void lines_of_groups_are_those_of_their_targets(void **state) {
  static const place_t places[] = {
      {0, 0, {COUNTED(1), COUNTED(2)}},
      {0, 1, {COUNTED(10), COUNTED(20)}},
      {1, 0, {COUNTED(100), COUNTED(200)}},
      {1, 1, {COUNTED(1000), COUNTED(2000)}},
  };

  read_places(&lines, 2, STAT_BY_NONE, places, 4);
  assert_int_equal(lines.nr, 4);
  expect(&lines, 0, 0, -1, 11);
  expect(&lines, 1, 1, -1, 11);
  expect(&lines, 2, 2, -1, 1100);
  expect(&lines, 3, 3, -1, 1100);
  stat_lines_free(&lines);
  read_places(&lines, 2, STAT_BY_CPU, places, 4);
  assert_int_equal(lines.nr, 8);
  expect(&lines, 1, 0, 1, 10);
  expect(&lines, 2, 1, 0, 1);
  expect(&lines, 4, 2, 0, 100);
  expect(&lines, 7, 3, 1, 1000);
  stat_lines_free(&lines);
}

static void lines_of_no_place_are_none(void **state) {
  read_places(&lines, 1, STAT_BY_NONE, NULL, 0);
  assert_int_equal(lines.nr, 2);
  assert_int_equal(lines.lines[0].count.state, UVPERF_COUNT_NONE);
  stat_lines_free(&lines);
  read_places(&lines, 1, STAT_BY_CPU, NULL, 0);
  assert_int_equal(lines.nr, 2);
  assert_int_equal(lines.lines[1].place, -1);
  stat_lines_free(&lines);
}

/* An event that is open but idle at one place is supported, even if another
 * place refused it. */
static void line_that_is_open_somewhere_is_supported(void **state) {
  static const place_t places[] = {
      {0, -1, {IDLE, REFUSED}},
      {1, -1, {REFUSED, REFUSED}},
  };

  read_places(&lines, 1, STAT_BY_NONE, places, 2);
  assert_int_equal(lines.lines[0].count.state, UVPERF_COUNT_NOT_ENABLED);
  assert_int_equal(lines.lines[0].count.nr_missing, 1);
  assert_int_equal(lines.lines[1].count.state, UVPERF_COUNT_NOT_AVAILABLE);
  stat_lines_free(&lines);
}

/* In an interval, a task that has ended counted nothing, as one that sleeps. */
static void line_with_a_task_that_sleeps_is_not_gone(void **state) {
  static const place_t places[] = {
      {0, -1, {{UVPERF_COUNT_GONE, 0}, {UVPERF_COUNT_GONE, 0}}},
      {1, -1, {IDLE, {UVPERF_COUNT_GONE, 0}}},
  };

  read_places(&lines, 1, STAT_BY_NONE, places, 2);
  assert_int_equal(lines.lines[0].count.state, UVPERF_COUNT_NOT_ENABLED);
  assert_int_equal(lines.lines[1].count.state, UVPERF_COUNT_GONE);
  stat_lines_free(&lines);
}

/* -- runs ------------------------------------------------------------------ */

static void add_run(stat_lines_t *sum, const place_t *places, size_t nr,
                    enum stat_by by) {
  read_places(&lines, 1, by, places, nr);
  stat_lines_add(sum, &lines);
  stat_lines_free(&lines);
}

/* The mean of 4, 6 and 8 is 6. The standard deviation of this mean is 2 /
 * sqrt(3), which is 19.245 % of it. */
static void runs_have_a_mean_and_its_deviation(void **state) {
  stat_lines_t sum;
  uint64_t i;

  memset(&sum, 0, sizeof(sum));
  for (i = 4; i <= 8; i += 2) {
    place_t place = {0, -1, {COUNTED(i), REFUSED}};

    add_run(&sum, &place, 1, 0);
  }
  expect(&sum, 0, 0, -1, 6);
  assert_true(sum.lines[0].deviation > 19.24 && sum.lines[0].deviation < 19.25);
  assert_int_equal(sum.lines[0].count.value, 18);
  assert_int_equal(sum.lines[1].count.state, UVPERF_COUNT_NOT_AVAILABLE);
  assert_true(sum.lines[1].mean <= 0);
  stat_lines_free(&sum);
}

/* The mean covers only the runs in which the event was counted. */
static void run_without_a_value_is_not_in_the_mean(void **state) {
  static const place_t counted = {0, -1, {COUNTED(10), COUNTED(4)}};
  static const place_t idle = {0, -1, {IDLE, COUNTED(4)}};
  stat_lines_t sum;

  memset(&sum, 0, sizeof(sum));
  add_run(&sum, &idle, 1, 0);
  add_run(&sum, &counted, 1, 0);
  expect(&sum, 0, 0, -1, 10);
  expect(&sum, 1, 1, -1, 2);
  stat_lines_free(&sum);
}

/* Between the runs a CPU went offline and another came online. */
static void runs_on_other_cpus_keep_their_lines(void **state) {
  static const place_t first[] = {{0, 0, {COUNTED(1), COUNTED(2)}},
                                  {0, 1, {COUNTED(3), COUNTED(4)}}};
  static const place_t second[] = {{0, 1, {COUNTED(5), COUNTED(6)}},
                                   {0, 2, {COUNTED(7), COUNTED(8)}}};
  stat_lines_t sum;

  memset(&sum, 0, sizeof(sum));
  add_run(&sum, first, 2, 1);
  add_run(&sum, second, 2, 1);
  assert_int_equal(sum.nr, 6);
  expect(&sum, 0, 0, 0, 1);
  expect(&sum, 1, 0, 1, 4);
  expect(&sum, 3, 1, 1, 2.5);
  expect(&sum, 4, 0, 2, 7);
  stat_lines_free(&sum);
}

/* -- names ----------------------------------------------------------------- */

static void label_of_the_user_side_is_that_of_perf_stat(void **state) {
  static const struct {
    const char *label;
    int is_tracepoint;
    const char *user;
  } cases[] = {
      {"cycles", 0, "cycles:u"},
      {"cycles:p", 0, "cycles:pu"},
      {"cpu/event=0x3c/", 0, "cpu/event=0x3c/u"},
      {"cpu/event=0x3c/p", 0, "cpu/event=0x3c/pu"},
      {"r1234", 0, "r1234:u"},
      {"sched:sched_switch", 1, "sched:sched_switch:u"},
      {"sched:sched_switch:D", 1, "sched:sched_switch:Du"},
  };
  char *label;
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    label = common_list_user_label(cases[i].label, cases[i].is_tracepoint);
    assert_string_equal(label, cases[i].user);
    free(label);
  }
}

static void expect_title(char **argv, int argc, const char *title) {
  stat_options_t options;
  char *text;

  optind = 0; /* getopt(3): start again */
  assert_int_equal(stat_options_parse(&options, argc, argv), 0);
  text = stat_targets_title(&options);
  assert_string_equal(text, title);
  free(text);
  stat_options_free(&options);
}

static void title_names_who_is_counted(void **state) {
  char stat[] = "stat", p[] = "-p7,9,7", t[] = "-t8", a[] = "-a", c[] = "-C0-3",
       g[] = "-Gx,y,x", ls[] = "ls", l[] = "-l";

  expect_title((char *[]){stat, ls, l, NULL}, 3, "'ls -l'");
  expect_title((char *[]){stat, p, ls, NULL}, 3, "process id '7,9'");
  expect_title((char *[]){stat, t, NULL}, 2, "thread id '8'");
  expect_title((char *[]){stat, NULL}, 1, "'system wide'");
  expect_title((char *[]){stat, a, ls, NULL}, 3, "'system wide'");
  expect_title((char *[]){stat, a, c, NULL}, 3, "'CPU(s) 0-3'");
  expect_title((char *[]){stat, g, c, NULL}, 3, "cgroup 'x,y'");
}

/* -- whether a target still lives ------------------------------------------ */

static void stat_of_a_task_is_read_whatever_its_name_is(void **state) {
  char text[] =
      "17 (a) Z 1 (b) R 2) S 1 17 17 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 12 0 "
      "98765432109 21 22 23";
  common_proc_stat_t stat;

  assert_int_equal(common_proc_parse_stat(text, &stat), 0);
  assert_int_equal(stat.state, 'S');
  assert_int_equal(stat.nr_threads, 12);
  assert_int_equal(stat.start, UINT64_C(98765432109));
}

/* Returns whether stat would go on counting the process with this id. */
static int is_alive(pid_t pid) {
  stat_options_t options;
  stat_alive_t alive;
  int any;

  memset(&options, 0, sizeof(options));
  common_ids_add(&options.pids, pid);
  stat_alive_begin(&alive, &options);
  any = stat_alive_any(&alive);
  stat_alive_end(&alive);
  stat_options_free(&options);
  return any;
}

static void *wait_for_ever(void *arg) {
  for (;;)
    pause();
  return arg;
}

/* The process still runs afterwards, but its first thread is a zombie. */
static int leave_a_thread(void *arg) {
  pthread_t thread;

  if (pthread_create(&thread, NULL, wait_for_ever, arg) != 0)
    return 1;
  syscall(SYS_exit, 0); /* ends only this thread */
  return 1;
}

static void wait_for_zombie(pid_t pid) {
  common_proc_stat_t stat = {.state = '?'};

  while (stat.state != 'Z') {
    sched_yield();
    assert_int_equal(common_proc_stat(pid, pid, &stat), 0);
  }
}

static void process_lives_as_long_as_one_of_its_threads(void **state) {
  pid_t pid = support_fork(leave_a_thread, NULL);

  wait_for_zombie(pid);
  assert_true(is_alive(pid));
  assert_int_equal(kill(pid, SIGKILL), 0);
  assert_int_equal(support_wait(pid), 128 + SIGKILL);
  assert_false(is_alive(pid));
}

static int exit_at_once(void *arg) {
  return 0;
}

/* The process has ended even if its parent has not waited for it. */
static void process_that_has_ended_does_not_live(void **state) {
  pid_t pid = support_fork(exit_at_once, NULL);

  wait_for_zombie(pid);
  assert_false(is_alive(pid));
  assert_int_equal(support_wait(pid), 0);
}

static void process_with_the_id_of_another_is_not_that_one(void **state) {
  stat_options_t options;
  stat_alive_t alive;

  memset(&options, 0, sizeof(options));
  common_ids_add(&options.pids, getpid());
  stat_alive_begin(&alive, &options);
  assert_true(stat_alive_any(&alive));
  alive.tasks[0].start--;
  assert_false(stat_alive_any(&alive));
  stat_alive_end(&alive);
  stat_options_free(&options);
}

static void stat_that_is_cut_is_refused(void **state) {
  char none[] = "", name[] = "17 (a", fields[] = "17 (a) S 1 17";
  common_proc_stat_t stat;

  assert_int_equal(common_proc_parse_stat(none, &stat), -1);
  assert_int_equal(common_proc_parse_stat(name, &stat), -1);
  assert_int_equal(common_proc_parse_stat(fields, &stat), -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lines_are_the_sums_of_all_places),
      cmocka_unit_test(lines_by_cpu_are_those_of_its_places),
      cmocka_unit_test(lines_of_groups_are_those_of_their_targets),
      cmocka_unit_test(lines_of_no_place_are_none),
      cmocka_unit_test(line_that_is_open_somewhere_is_supported),
      cmocka_unit_test(line_with_a_task_that_sleeps_is_not_gone),
      cmocka_unit_test(runs_have_a_mean_and_its_deviation),
      cmocka_unit_test(run_without_a_value_is_not_in_the_mean),
      cmocka_unit_test(runs_on_other_cpus_keep_their_lines),
      cmocka_unit_test(label_of_the_user_side_is_that_of_perf_stat),
      cmocka_unit_test(title_names_who_is_counted),
      cmocka_unit_test(stat_of_a_task_is_read_whatever_its_name_is),
      cmocka_unit_test(process_lives_as_long_as_one_of_its_threads),
      cmocka_unit_test(process_that_has_ended_does_not_live),
      cmocka_unit_test(process_with_the_id_of_another_is_not_that_one),
      cmocka_unit_test(stat_that_is_cut_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
