/* SPDX-License-Identifier: MIT */
/* stat counts processes, threads, CPUs and cgroups that exist already. It
 * counts until they are gone or until a signal, a timeout or a command ends
 * it. */
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call_server.h"
#include "live.h"
#include "stat_fields.h"
#include "tool_rows.h"

#define MOST_CPUS 1024

static void need_calls(const char *test) {
  support_need_cpu_wide(test);
  support_need_tracepoint(test, CALL_SERVER_EVENT);
}

/* -- tasks ----------------------------------------------------------------- */

static void serve_123(tool_run_t *run) {
  call_server_calls(run->data, 123);
}

static call_server_t serve;

static void process_is_counted_until_ctrl_c(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-v", "-x,", "-e", CALL_SERVER_EVENT,
                             "-p", serve.id}};

  need_calls(__func__);
  call_server_start(&serve, TARGET_PATH);
  call_server_calls(&serve, 1000); /* too early to be counted */
  run.interrupt_at = "counting";
  run.work = serve_123;
  run.data = &serve;
  tool_run(&run);
  call_server_end(&serve);
  tool_run_expect_status(&run, 0);
  assert_int_equal(stat_fields_value(run.err, CALL_SERVER_EVENT), 123);
}

static void serve_and_end(tool_run_t *run) {
  call_server_calls(run->data, 45);
  call_server_end(run->data);
}

typedef struct two_s {
  call_server_t serves[2];
  char ids[64];
} two_t;

static void serve_two(tool_run_t *run) {
  two_t *two = run->data;

  call_server_calls(&two->serves[0], 3);
  call_server_calls(&two->serves[1], 40);
  call_server_end(&two->serves[0]);
  call_server_calls(&two->serves[1], 500);
  call_server_end(&two->serves[1]);
}

static void two_processes_are_summed_until_both_are_gone(void **state) {
  two_t two;
  tool_run_t run = {
      .args = {STAT_PATH, "-v", "-x,", "-e", CALL_SERVER_EVENT, "-p", two.ids}};

  need_calls(__func__);
  call_server_start(&two.serves[0], TARGET_PATH);
  call_server_start(&two.serves[1], TARGET_PATH);
  /* One process is listed twice, but counted once. */
  snprintf(two.ids, sizeof(two.ids), "%s,%s,%s", two.serves[0].id,
           two.serves[1].id, two.serves[0].id);
  tool_run_calls(&run, "counting", serve_two, &two);
  tool_run_exits(&run, 0);
  assert_int_equal(stat_fields_value(run.err, CALL_SERVER_EVENT), 543);
}

/* The missing process is reported before counting begins. */
static void
process_that_is_not_there_is_reported_and_others_counted(void **state) {
  char ids[40];
  tool_run_t run = {
      .args = {STAT_PATH, "-v", "-e", CALL_SERVER_EVENT, "-p", ids}};

  need_calls(__func__);
  call_server_start(&serve, TARGET_PATH);
  snprintf(ids, sizeof(ids), "%s,2147483647", serve.id);
  tool_run_calls(&run, "counting", serve_and_end, &serve);
  tool_run_exits(&run, 0);
  /* The table names the process after "counting". */
  tool_run_expect_text(strstr(run.err, "2147483647"), "counting");
  tool_run_expect_text(run.err, "1 of 2 missing");
}

static void
process_that_is_not_there_is_reported_beside_the_table(void **state) {
  char ids[40];
  tool_run_t run = {.args = {STAT_PATH, "-o", "/dev/null", "-e", "page-faults",
                             "-p", ids, "true"}};

  support_need_cpu_wide(__func__);
  call_server_start(&serve, TARGET_PATH);
  snprintf(ids, sizeof(ids), "%s,2147483647", serve.id);
  tool_run(&run);
  call_server_end(&serve);
  tool_run_expect_status(&run, 0);
  tool_run_expect_text(run.err, "2147483647");
}

static void thread_is_counted_alone(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-v", "-x,", "-e", CALL_SERVER_EVENT,
                             "-t", serve.id}};

  need_calls(__func__);
  call_server_start(&serve, TARGET_PATH);
  tool_run_calls(&run, "counting", serve_and_end, &serve);
  tool_run_exits(&run, 0);
  assert_int_equal(stat_fields_value(run.err, CALL_SERVER_EVENT), 45);
}

/* The command only decides how long stat counts. It is not counted itself. */
static void command_beside_a_process_is_a_clock(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-x,", "-e", CALL_SERVER_EVENT, "-p",
                             serve.id, "--", "sh", "-c",
                             "\"$0\" calls 9; exit 4", TARGET_PATH}};

  need_calls(__func__);
  call_server_start(&serve, TARGET_PATH);
  tool_run(&run);
  call_server_end(&serve);
  tool_run_expect_status(&run, 4);
  tool_run_expect_text(run.err, "<not counted>,," CALL_SERVER_EVENT);
}

/* -- CPUs ------------------------------------------------------------------ */

/* Returns an fd that counts the calls on a CPU, or -1 if the CPU is not
 * online. */
static int count_cpu(uint64_t tracepoint, int cpu) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, tracepoint);
  attr.disabled = 0;
  return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1,
                      PERF_FLAG_FD_CLOEXEC);
}

/* Runs stat on CPUs, again and again until only its command made such calls
 * meanwhile: other processes may make them too. If this test program runs twice
 * at the same time, the lock lets only one do this. Otherwise the two would
 * disturb each other for ever. */
static void run_alone(tool_run_t *run, const char *test, uint64_t calls) {
  uint64_t tracepoint = support_need_tracepoint(test, CALL_SERVER_EVENT);
  int nr = (int)sysconf(_SC_NPROCESSORS_CONF);
  int fds[MOST_CPUS];
  uint64_t value, made;
  int lock = open(TARGET_PATH, O_RDONLY | O_CLOEXEC);
  int tries, i;

  assert_in_range(nr, 1, MOST_CPUS);
  assert_int_equal(flock(lock, LOCK_EX), 0);
  for (made = 0, tries = 0; made != calls && tries < 100; tries++) {
    for (i = 0; i < nr; i++)
      fds[i] = count_cpu(tracepoint, i);
    run->out[0] = run->err[0] = '\0';
    tool_run(run);
    for (made = 0, i = 0; i < nr; i++) {
      if (fds[i] >= 0)
        assert_int_equal(read(fds[i], &value, sizeof(value)), sizeof(value));
      made += fds[i] >= 0 ? value : 0;
      close(fds[i]);
    }
  }
  close(lock);
  assert_int_equal(made, calls);
  tool_run_expect_status(run, 0);
}

static void cpus_add_up_to_what_the_command_did(void **state) {
  tool_run_t all = {.args = {STAT_PATH, "-a", "-x,", "-e", CALL_SERVER_EVENT,
                             "--", TARGET_PATH, "children", "20", "10"}};
  tool_run_t each = {.args = {STAT_PATH, "--per-cpu", "-a", "-x,", "-e",
                              CALL_SERVER_EVENT, "--", TARGET_PATH, "children",
                              "20", "10"}};
  stat_fields_t line;
  size_t i;
  int cpus[64];

  need_calls(__func__);
  run_alone(&all, __func__, 200);
  assert_int_equal(stat_fields_value(all.err, CALL_SERVER_EVENT), 200);
  run_alone(&each, __func__, 200);
  assert_int_equal(stat_fields_sum(each.err, CALL_SERVER_EVENT, 1), 200);
  for (i = 0; stat_fields_line(each.err, ',', 8, i, &line); i++)
    assert_int_equal(strncmp(line.field[0], "CPU", 3), 0);
  /* This process may be allowed on fewer CPUs than are online. */
  assert_true(i >= live_cpus(cpus, 64) || i >= 64);
}

static void list_of_cpus_leaves_others_out(void **state) {
  char here[16];
  cpu_set_t before;
  tool_run_t on = {.args = {STAT_PATH, "-C", here, "-x,", "-e",
                            CALL_SERVER_EVENT, "--", TARGET_PATH, "calls",
                            "50"}};
  tool_run_t off = {.args = {STAT_PATH, "-C", "0", "-x,", "-e",
                             CALL_SERVER_EVENT, "--", TARGET_PATH, "calls",
                             "50"}};

  need_calls(__func__);
  if (live_last_cpu() == 0)
    support_skip(__func__, "two CPUs");
  snprintf(here, sizeof(here), "%d", live_last_cpu());
  live_pin(live_last_cpu(), &before); /* its children stay there too */
  run_alone(&on, __func__, 50);
  run_alone(&off, __func__, 50);
  live_unpin(&before);
  assert_int_equal(stat_fields_value(on.err, CALL_SERVER_EVENT), 50);
  assert_int_equal(stat_fields_value(off.err, CALL_SERVER_EVENT), 0);
}

/* The value is only of CPU 0, and the table says that one CPU is missing. */
static void cpu_that_is_not_there_is_missing(void **state) {
  tool_run_t run = {.args = {STAT_PATH, "-C", "0,4000", "-e",
                             "cpu-clock,page-faults", "true"}};
  const char *why;

  support_need_cpu_wide(__func__);
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.err, "(1 of 2 missing)");
  why = strstr(run.err, "cpu-clock, page-faults: ");
  assert_non_null(why);
  why = strstr(why, "CPU 4000");
  assert_non_null(why);
  assert_null(strstr(why + 1, "CPU 4000"));
}

/* -- cgroups --------------------------------------------------------------- */

typedef struct groups_s {
  live_cgroup_t one;
  live_cgroup_t below; /* inside of `one`, which includes its counts */
  call_server_t serve;
  char names[1100];
} groups_t;

static void serve_in_both(tool_run_t *run) {
  groups_t *groups = run->data;

  call_server_calls(&groups->serve, 700);
  live_cgroup_add(&groups->one, groups->serve.pid);
  call_server_calls(&groups->serve, 11);
  live_cgroup_add(&groups->below, groups->serve.pid);
  call_server_calls(&groups->serve, 22);
}

static void run_in_cgroups(const char *test, groups_t *groups,
                           tool_run_t *run) {
  live_cgroup_make(test, &groups->one);
  snprintf(groups->below.path, sizeof(groups->below.path), "%.500s/below",
           groups->one.path);
  assert_int_equal(mkdir(groups->below.path, 0700), 0);
  call_server_start(&groups->serve, TARGET_PATH);
  snprintf(groups->names, sizeof(groups->names), "%s,%s", groups->one.path,
           groups->below.path);
  run->interrupt_at = "counting";
  run->work = serve_in_both;
  run->data = groups;
  tool_run(run);
  call_server_end(&groups->serve);
  assert_int_equal(rmdir(groups->below.path), 0);
  live_cgroup_remove(&groups->one);
  tool_run_expect_status(run, 0);
}

static void cgroups_are_counted_each(void **state) {
  groups_t groups;
  tool_run_t run = {.args = {STAT_PATH, "-v", "-x,", "-e", CALL_SERVER_EVENT,
                             "-G", groups.names}};
  stat_fields_t line;

  need_calls(__func__);
  run_in_cgroups(__func__, &groups, &run);
  assert_true(stat_fields_line(run.err, ',', 8, 0, &line));
  assert_string_equal(line.field[0], "33");
  assert_string_equal(line.field[3], groups.one.path);
  assert_true(stat_fields_line(run.err, ',', 8, 1, &line));
  assert_string_equal(line.field[0], "22");
  assert_string_equal(line.field[3], groups.below.path);
}

static void cgroups_by_cpu_add_up(void **state) {
  groups_t groups;
  tool_run_t run = {.args = {STAT_PATH, "-v", "-x,", "--per-cpu", "-e",
                             CALL_SERVER_EVENT, "-G", groups.names}};
  stat_fields_t line;
  unsigned long sums[2] = {0, 0};
  size_t i;

  need_calls(__func__);
  run_in_cgroups(__func__, &groups, &run);
  for (i = 0; stat_fields_line(run.err, ',', 9, i, &line); i++)
    sums[strcmp(line.field[4], groups.one.path) != 0] +=
        strtoul(line.field[1], NULL, 10);
  assert_int_equal(sums[0], 33);
  assert_int_equal(sums[1], 22);
}

static void cgroup_that_is_not_there_leaves_the_other(void **state) {
  live_cgroup_t cgroup;
  char names[600];
  tool_run_t run = {
      .args = {STAT_PATH, "-j", "-e", "page-faults", "-G", names, "true"}};
  const char *other;

  support_need_cpu_wide(__func__);
  live_cgroup_make(__func__, &cgroup);
  snprintf(names, sizeof(names), "%s,nonexistent/x", cgroup.path);
  tool_run(&run);
  live_cgroup_remove(&cgroup);
  tool_run_expect_status(&run, 0);
  other = strstr(run.err, "\"cgroup\":\"nonexistent/x\"");
  assert_non_null(other);
  tool_run_expect_text(other, "\"error\":\"");
  assert_null(strstr(strchr(other, '\n'), "error"));
  tool_run_expect_text(run.err, cgroup.path);
  assert_true(strstr(run.err, "\"error\"") > other);
}

/* -- uprobes --------------------------------------------------------------- */

/* The shell can fork with the uprobe, but its child, which runs the program, is
 * not counted. */
static void uprobe_of_a_command_leaves_its_children_out(void **state) {
  tool_run_t run = {
      .args = {STAT_PATH, "-x,", "-e",
               "uprobe/path=\"" TARGET_PATH "\",symbol=main,name=start/",
               "/bin/sh", "-c", "\"$0\" calls 1; \"$0\" calls 1", TARGET_PATH}};
  tool_run_t alone = run;

  support_need_uprobes(__func__);
  tool_run_exits(&run, 0);
  tool_run_expect_text(run.err, "start: ");
  assert_int_equal(stat_fields_value(run.err, "start"), 0);

  alone.args[4] = TARGET_PATH;
  alone.args[5] = "calls";
  alone.args[6] = "1";
  alone.args[7] = NULL;
  tool_run_exits(&alone, 0);
  assert_int_equal(stat_fields_value(alone.err, "start"), 1);
}

static void need_paranoid(const char *test) {
  support_need_own_events(test);
  if (tool_run_paranoid() != 2)
    support_skip(test, "kernel.perf_event_paranoid at 2");
}

static void expect_counted(const tool_run_t *run) {
  assert_true(strtoul(strstr(run->err, ":\n\n") + 3, NULL, 10) > 0);
}

static const tool_row_t rows[] = {
    {"unprivileged_user_counts_own_command", need_paranoid,
     "-e page-faults,task-clock /bin/sh -c 'exit 0'",
     .err = "page-faults:u|task-clock:u|kernel.perf_event_paranoid <= 1",
     .check = expect_counted, .as_nobody = 1},
    {"machine_is_counted_until_ctrl_c", support_need_cpu_wide,
     "-v -a -e cpu-clock,context-switches", 0,
     .err = "'system wide'|cpu-clock|!<not|!seconds user",
     .interrupt_at = "counting"},
    {"nothing_chosen_is_the_whole_machine", support_need_cpu_wide,
     "--duration 0.001", 0,
     .err = "'system wide'|msec cpu-clock|CPUs utilized"},
    {"many_places_are_counted_and_not_all_named", support_need_cpu_wide,
     "-C 0,4000-4009 -e cpu-clock true", 0,
     .err = "(10 of 11 missing)|CPU 4000, CPU 4001, CPU 4002, CPU 4003 "},
};

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(process_is_counted_until_ctrl_c),
      cmocka_unit_test(two_processes_are_summed_until_both_are_gone),
      cmocka_unit_test(
          process_that_is_not_there_is_reported_and_others_counted),
      cmocka_unit_test(process_that_is_not_there_is_reported_beside_the_table),
      cmocka_unit_test(thread_is_counted_alone),
      cmocka_unit_test(command_beside_a_process_is_a_clock),
      cmocka_unit_test(cpus_add_up_to_what_the_command_did),
      cmocka_unit_test(list_of_cpus_leaves_others_out),
      cmocka_unit_test(cpu_that_is_not_there_is_missing),
      cmocka_unit_test(cgroups_are_counted_each),
      cmocka_unit_test(cgroups_by_cpu_add_up),
      cmocka_unit_test(cgroup_that_is_not_there_leaves_the_other),
      cmocka_unit_test(uprobe_of_a_command_leaves_its_children_out),
  };

  return tool_rows_main(STAT_PATH, rows, COUNT_OF(rows), tests,
                        COUNT_OF(tests));
}
