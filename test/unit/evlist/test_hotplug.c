/* SPDX-License-Identifier: MIT */
/* Scripted: CPUs that go and come back. An event of a CPU that went no longer
 * counts, whatever is done to it. */
#include "scripted_evlist.h"
#include "live.h"

static const scripted_row_t rows[] = {
    {"cpu_that_came_back_counts_on_from_where_it_was",
     "attrs 1; cpus all; open; enable; give e0 1 10 10; give e1 100 20 10; "
     "give e2 2 10 10; gone 1; counts 0 -> 1@10, 100@20/10=200, 2@10\n"
     "come 1 -> read e1, close e1, open e3@1, ENABLE e3\n"
     "places -> t0 cpu0 #0 e0, t0 cpu1 #1 e3, t0 cpu2 #2 e2\n"
     "give e3 0 0 0; counts 0 -> 1@10, 100@20/10=200, 2@10\n"
     "give e3 7 5 4; counts 0 -> 1@10, 107@25/14=191, 2@10\n"
     "totals -> 110@45/34=194\n"
     "back 1; give e4 3 1 1; counts 0 -> 1@10, 110@26/15=190, 2@10\n"},
    /* As hotplug reports a CPU that went and came back unnoticed. */
    {"cpu_that_comes_without_having_gone_is_reopened",
     "attrs 1; cpus 1; open; enable; give e0 100 20 20; "
     "come 1 -> read e0 e0, close e0, open e1@1, ENABLE e1\n"
     "give e1 7 5 5; counts 0 -> 107@25\n"},
    {"cpu_that_is_away_counts_nothing_and_lacks_nothing",
     "attrs 1; cpus 1; open; enable; give e0 100 20 20; gone 1; mark; "
     "delta 0 -> did not run\n"
     "come 1; give e1 7 5 5; delta 0 -> 7@5\n"},
    {"reset_before_or_while_away_is_kept",
     "attrs 1; cpus 1; open; enable; give e0 100 20 20; reset; "
     "give e0 130 30 30; back 1; give e1 7 5 5; counts 0 -> 37@15\n"
     "gone 1; reset; counts 0 -> did not run\n"
     "come 1; give e2 3 2 2; counts 0 -> 3@2\n"},
    {"group_that_the_kernel_took_apart_is_read_one_by_one",
     "attrs 2; group 0 2; cpus 1; open; enable; give e0 10 10 e0=7; "
     "give e1 10 10 e1=9; totals -> 7@10, 9@10\n"
     "back 1 -> read e0 e1 e0 e1, close e1 e0, open e2@1 e3@1<e2, ENABLE e2\n"},
    {"group_that_came_back_counts_on",
     "attrs 2; group 0 2; cpus 1; open; enable; give e0 10 10 e0=7 e1=9; "
     "back 1; give e2 10 10 e2=10 e3=20; totals -> 17@20, 29@20\n"},
    /* Otherwise its members would be leaders for a moment. */
    {"group_is_closed_with_its_leader_last",
     "attrs 2; group 0 2; cpus 1; open; program 0; gone 1; "
     "come 1 -> read e0, close e1, DISABLE e0, close link e0, close e0, "
     "open e2@1, bpf link e2, open e3@1<e2\n"},
    {"set_that_is_not_enabled_is_not_when_a_cpu_comes",
     "attrs 1; cpus 1; open; enable; disable; "
     "back 1 -> read e0 e0, close e0, open e1@1\n"
     "enabled -> no:\n"},
    {"filter_period_and_program_are_set_again",
     "attrs 1; attr 0 type=2 config=5 sample_period=10; cpus 0-1; open; "
     "filter 0 'a == 1'; period 0 20; program 0; "
     "back 1 -> read e1 e1, DISABLE e1, close link e1, close e1, open e2@1, "
     "SET_FILTER e2 a == 1, bpf link e2\n"
     "events sample_period -> e0 10, e1 10, e2 20\n"},
    {"cpu_that_was_offline_at_first_begins_to_count",
     "fail open 2 ENODEV; attrs 1; cpus 0-2; open; enable; "
     "failures -> a0 t0 cpu1 ENODEV no_event\n"
     "counts 0 -> error EBADF -1, not available ENODEV -1, error EBADF -1\n"
     "come 1 -> open e2@1, ENABLE e2\n"
     "failures ->\n"
     "give e2 7 5 5; counts 0 -> error EBADF -1, 7@5, error EBADF -1\n"
     "nr -> 3\n"},
    /* So a set that follows CPUs can be started before. */
    {"event_that_writes_may_come_with_a_cpu",
     "records 2; attr 0 sample_period=0; cpus 1; online 0,2; "
     "fail open 2 ENODEV; open; writers ->\n"},
    {"event_that_writes_cannot_come_with_fixed_cpus",
     "records 2; flags fixed_cpus; attr 0 sample_period=0; cpus 1; online 0,2; "
     "fail open 2 ENODEV; open; writers -> ENODEV no_cpu a1 t0\n"},
    {"event_that_the_cpu_lacks_cannot_come",
     "records 2; attr 0 sample_period=0; cpus 1; online 0-2; "
     "fail open 2 ENOENT; open; writers -> ENOENT no_event a1 t0\n"},
    /* It must not look as if everything had been counted again when it is
     * back. */
    {"event_that_cannot_be_opened_again_is_an_error",
     "attrs 1; cpus 1; open; enable; give e0 100 20 20; fail open 1 ENODEV; "
     "gone 1; online 0,2; "
     "come 1 -> read e0, close e0, open @1 ENODEV, ENODEV no_cpu a0 t0\n"
     "failures -> a0 t0 cpu1 ENODEV no_cpu\n"
     "counts 0 -> error ENODEV -1\n"
     "mark; come 1; failures ->\n"
     "give e1 7 5 5; counts 0 -> 107@25\n"
     "delta 0 -> error ENODEV -1\n"},
    /* The kernel uses an id only once. Here the new event of a counter gets the
     * id of the old one, so that it cannot be matched, and is closed again. */
    {"counter_with_the_id_of_another_is_closed_once",
     "records 2; attr 1 sample_period=0; cpus 1; "
     "open -> open e0@1 e1@me:1, mmap e1, SET_OUTPUT e0 e1, open e2@1\n"
     "id e4 e2; clock 1; gone 1; "
     "come 1 -> read e0 e2 e0 e2, close e0 e2, open e3@1, SET_OUTPUT e3 e1, "
     "open e4@1, close e4, EEXIST unknown a1 t0\n"
     "clock 1000000000; free_sources; sources e2 e3 -> -, a0 t0 cpu1 #0\n"},
    /* All events of the place, with the fds that are left; the other places
     * continue. */
    {"fds_that_do_not_suffice_are_a_failure_of_the_place",
     "attrs 3; cpus 0-1; open; enable; fail open 2+ EMFILE; "
     "back 1 -> read e3 e4 e5 e3 e4 e5, close e3 e4 e5, open e6@1 @1 EMFILE, "
     "ENABLE e6, EMFILE files a1 t0\n"
     "failures -> a1 t0 cpu1 EMFILE files, a2 t0 cpu1 EMFILE files\n"
     "nr -> 4\n"},
    {"strict_set_keeps_what_can_be_opened",
     "attrs 2; cpus 0-1; flags strict; open; fail open 1 ENOENT; "
     "back 1 -> read e2 e3 e2 e3, close e2 e3, open @1 ENOENT, open e4@1, "
     "ENOENT no_event a0 t0\n"
     "nr -> 3\n"
     "failures -> a0 t0 cpu1 ENOENT no_event\n"},
    {"strict_set_is_strict_again_after_a_cpu_came",
     "attrs 2; cpus 0-1; flags strict; open; back 1; fail open 2 ENOENT; "
     "add cpus 2 -> open e6@2 @2 ENOENT, close e6, ENOENT no_event a1 t1\n"
     "nr -> 4\n"},
    {"failures_stay_in_order",
     "attrs 2; cpus 0-2; cpus 0-2; fail open 5 ENODEV; fail open 10 ENODEV; "
     "fail open 12 ENODEV; open; "
     "failures -> a0 t0 cpu2 ENODEV no_event, a1 t1 cpu1 ENODEV no_event, "
     "a1 t1 cpu2 ENODEV no_event\n"
     "fail open 1+ ENODEV; gone 1; "
     "come 1 -> read e2 e3, close e2 e3, open @1 ENODEV, open @1 ENODEV, "
     "read e7, close e7, open @1 ENODEV, open @1 ENODEV, "
     "ENODEV no_event a0 t0\n"
     "failures -> a0 t0 cpu1 ENODEV no_event, a1 t0 cpu1 ENODEV no_event, "
     "a0 t0 cpu2 ENODEV no_event, a0 t1 cpu1 ENODEV no_event, "
     "a1 t1 cpu1 ENODEV no_event, a1 t1 cpu2 ENODEV no_event\n"},
    /* Like a package's events, which their driver moves to another CPU. This
     * is not known of one that cannot be read. */
    {"event_that_has_gone_on_is_left_alone",
     "attrs 1; cpus 1; open; enable; give e0 100 20 20; gone 1; "
     "give e0 120 30 30; counts 0 -> 120@30\n"
     "come 1 -> read e0\n"
     "give e0 130 35 35; counts 0 -> 130@35\n"
     "gone 1; give e0 140 40 40; fail read 1 EIO; "
     "come 1 -> read e0 EIO, close e0, open e1@1, ENABLE e1\n"
     "give e1 7 5 5; counts 0 -> 137@40\n"},
    /* If it is enabled after the CPU is back and before the check, it seems to
     * wait for a counter (__perf_event_enable in kernel/events/core.c does not
     * check whether it is in its context), and its time continues while others
     * count there. */
    {"event_that_was_enabled_and_does_not_run_is_reopened",
     "attrs 1; cpus 1; open; enable; give e0 100 20 20; gone 1; "
     "give e0 100 30 20; come 1 -> read e0, close e0, open e1@1, ENABLE e1\n"
     "give e1 7 5 5; counts 0 -> 107@35/25=149\n"},
    /* Events of tasks on a CPU continue by themselves when it is back. */
    {"events_of_tasks_are_opened_only_where_they_failed",
     "attrs 2; thread 4711 0-1; fail open 4 ENODEV; open; "
     "failures -> a1 t0 4711 cpu1 ENODEV no_event\n"
     "gone 1; come 1 -> open e3@4711:1\n"
     "failures ->\n"},
    /* The kernel enables the events of a command at its execve(2), and so not
     * those that are opened later. One that has not called it must not be
     * enabled by hand. */
    {"event_of_a_command_that_has_begun_is_enabled",
     "attrs 1; command me 0-1; fail open 2 ENODEV; open; give e0 0 0 0; "
     "enable -> read e0\n"
     "give e0 0 1 0; give e1 0 0 0; "
     "come 1 -> open e1@me:1, read e0, ENABLE e1\n"
     "enabled -> yes: e1\n"},
    {"event_of_a_command_that_has_not_begun_is_not_enabled",
     "attrs 1; command me 0-1; fail open 2 ENODEV; open; give e0 0 0 0; "
     "enable; give e1 0 0 0; come 1 -> open e1@me:1, read e0 e1\n"
     "enabled -> yes:\n"},
    {"forked_child_opens_nothing",
     "attrs 1; cpus all; open; enable; fork; gone 1; "
     "come 1 -> EPERM argument a0 t0\n"},
};

/* The directory is opened again, and closed. */
static void cpu_that_comes_opens_the_events_of_a_cgroup(void **state) {
  fake_event_t *events[2];
  uvperf__evlist_t *evlist;
  live_cgroup_t cgroup;
  evlist_make_t make;
  size_t fds;

  live_cgroup_make(__func__, &cgroup);
  counters_script(events, 2);
  evlist_make(&make, 1);
  evlist_add(&make, UVPERF_TARGET_CGROUP)->cgroup = cgroup.path;
  make.targets[0].cpus = "0";
  evlist = evlist_open(&make);
  fds = support_count_fds();
  assert_int_equal(uvperf__evlist_cpu_come(evlist, 0, NULL), 0);
  assert_int_equal(events[1]->flags,
                   PERF_FLAG_FD_CLOEXEC | PERF_FLAG_PID_CGROUP);
  assert_true(events[1]->pid >= 0);
  assert_int_equal(support_count_fds(), fds);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
  live_cgroup_remove(&cgroup);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(cpu_that_comes_opens_the_events_of_a_cgroup,
                             evlist_make_setup),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
