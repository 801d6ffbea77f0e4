/* SPDX-License-Identifier: MIT */
/* Scripted: CPUs that are new to a set. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"new_cpu_is_a_place_of_targets_without_a_cpu_list",
     "attrs 1; cpus all; cpus 0-1; open; enable; "
     "come 7 -> open e5@7, ENABLE e5\n"
     "places -> t0 cpu0 #0 e0, t0 cpu1 #1 e1, t0 cpu2 #2 e2, t0 cpu7 #5 e5, "
     "t1 cpu0 #3 e3, t1 cpu1 #4 e4\n"
     "back 7; places -> t0 cpu0 #0 e0, t0 cpu1 #1 e1, t0 cpu2 #2 e2, "
     "t0 cpu7 #5 e6, t1 cpu0 #3 e3, t1 cpu1 #4 e4\n"},
    {"delta_over_a_cpu_that_is_new_has_all_others",
     "attrs 1; cpus all; cpus 0-1; open\n"
     "give e0 100 10 10; give e1 100 10 10; give e2 100 10 10; "
     "give e3 100 10 10; give e4 100 10 10; mark; come 7\n"
     "give e0 100 20 20; give e1 101 20 20; give e2 102 20 20; "
     "give e3 103 20 20; give e4 104 20 20; give e5 105 20 20; "
     "delta 0 -> 0@10, 1@10, 2@10, 105@20, 3@10, 4@10\n"},
    {"failures_of_a_cpu_that_is_new_are_before_later_targets",
     "attrs 1; cpus all; cpus 0-1; fail open 4 ENODEV; open; "
     "fail open 1 ENODEV; come 7 -> open @7 ENODEV, ENODEV no_cpu a0 t0\n"
     "failures -> a0 t0 cpu7 ENODEV no_cpu, a0 t1 cpu0 ENODEV no_event\n"},
    {"task_that_is_followed_everywhere_has_no_new_place",
     "attrs 1; thread 4711; open; back 7 ->\n"
     "places -> t0 4711 #0 e0\n"},
    /* Otherwise another task that has taken the id would be the same. */
    {"place_of_a_task_on_a_new_cpu_has_its_start",
     "task 4711 4711 77; records 1; thread 4711; "
     "open -> open e0@4711:0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, "
     "open e2@4711:1 e3@me:1, mmap e3, SET_OUTPUT e2 e3, "
     "open e4@4711:2 e5@me:2, mmap e5, SET_OUTPUT e4 e5\n"
     "task 4711 4711 78; come 7 "
     "-> open e6@4711:7 e7@me:7, mmap e7, SET_OUTPUT e6 e7, close e6, "
     "ESRCH no_task a0 t0\n"},
    {"event_of_other_cpus_is_no_failure_once_one_comes",
     "names cpu-clock,far/event=1/; cpus all; open; "
     "failures -> a1 t0 ENODEV no_cpu\n"
     "come 8 -> open e3@8 e4@8\n"
     "failures ->\n"
     "events type -> e0 1, e1 1, e2 1, e3 1, e4 21\n"
     "give e4 7 5 5; counts 1 -> none, none, none, 7@5\n"},
    {"event_of_other_cpus_stays_a_failure_when_others_come",
     "names cpu-clock,far/event=1/; cpus all; open; come 5 -> open e3@5\n"
     "failures -> a1 t0 ENODEV no_cpu\n"
     "counts 1 -> not available ENODEV -1, not available ENODEV -1, "
     "not available ENODEV -1, not available ENODEV -1\n"},
    {"package_is_counted_once_whichever_cpu_comes",
     "file /sys/devices/system/cpu/cpu1/topology/physical_package_id 0; "
     "file /sys/devices/system/cpu/cpu2/topology/physical_package_id 1\n"
     "names pkg/joules/; cpus all; open -> open e0@0 e1@2\n"
     "up 7; file /sys/devices/system/cpu/cpu7/topology/physical_package_id 1; "
     "come 7 ->\n"
     "counts 0 -> error EBADF -1, none, error EBADF -1, none\n"
     "up 8; file /sys/devices/system/cpu/cpu8/topology/physical_package_id 2; "
     "come 8 -> open e2@8\n"
     "back 1 ->\n"},
    /* The value is the current one, not a sum that continues; the times do. */
    {"snapshot_of_a_cpu_that_came_back_is_not_added",
     "names pkg/watts/; cpus all; open; enable; give e1 40 20 20; back 1; "
     "give e3 30 5 5; counts 0 -> error EBADF -1, 30@25, error EBADF -1\n"},
    /* An offline CPU has no known package: it was tried, and is not needed. */
    {"cpu_whose_package_is_counted_is_not_tried_again",
     "up 1; file /sys/devices/system/cpu/cpu2/topology/physical_package_id 1; "
     "fail open 2 ENODEV; names pkg/joules/; cpus all; "
     "open -> open e0@0 @1 ENODEV, open e1@2\n"
     "failures -> a0 t0 cpu1 ENODEV no_event\n"
     "file /sys/devices/system/cpu/cpu1/topology/physical_package_id 0; "
     "come 1 ->\n"
     "failures ->\n"
     "counts 0 -> error EBADF -1, none, error EBADF -1\n"},
    {"cpu_that_comes_without_memory_changes_nothing",
     "each calloc ENOMEM; attrs 2; cpus all; open; sweep; come 7; places\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
