/* SPDX-License-Identifier: MIT */
/* Scripted: at which of a target's places an event is opened, depending on what
 * sysfs says about its PMU. Here are four CPUs in two packages, a PMU of some
 * CPUs for all tasks (uncore), one of each kind of core (hybrid), and events
 * that are counted once per package. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"uncore_event_is_opened_on_its_cpus",
     "names uncore/event=1/,dummy; cpus 0-3; "
     "open -> open e0@0 e1@0 e2@1 e3@2 e4@2 e5@3\n"
     "counts 0 -> error EBADF -1, none, error EBADF -1, none\n"
     "totals -> error EBADF -2, error EBADF -4\n"
     "failures ->\n"},
    {"event_of_other_cpus_is_one_failure",
     "names dummy,far/event=1/; cpus 0-3; open -> open e0@0 e1@1 e2@2 e3@3\n"
     "failures -> a1 t0 ENODEV no_cpu\n"
     "counts 1 -> not available ENODEV -1, not available ENODEV -1, "
     "not available ENODEV -1, not available ENODEV -1\n"
     "failure 0 'cannot open 'far/event=1/': it counts on CPUs 8-11,16, "
     "and none of these is measured'\n"},
    {"event_of_other_cpus_alone_is_no_set",
     "names far/event=1/; cpus 0-3; open -> ENODEV no_cpu a0 t0\n"},
    {"strict_refuses_events_of_other_cpus",
     "names dummy,far/event=1/; cpus 0-3; flags strict; "
     "open -> ENODEV no_cpu a1 t0\n"},
    /* Events of a strict set can be missing, after a CPU has come back. */
    {"strict_refuses_only_new_failures",
     "names far/event=1/,dummy; cpus 8-9; flags strict; open; gone 9\n"
     "fail open 2 ENOENT; "
     "come 9 -> read e2 e3, close e2 e3, open e4@9 @9 ENOENT, "
     "ENOENT no_event a1 t0\n"
     "add cpus 10\n"
     "add cpus 0 -> ENODEV no_cpu a0 t2\n"},
    {"cpus_that_are_not_known_are_a_failure",
     "online x; names dummy; cpus all; cpus 0; open -> open e0@0\n"
     "failures -> a0 t0 EINVAL no_cpu\n"},
    {"failures_of_a_target_without_memory_are_forgotten",
     "each calloc ENOMEM; names far/event=1/,pkg/joules/; cpus 0; open; sweep; "
     "add cpus 1-2; failures -> a0 t0 ENODEV no_cpu, a0 t1 ENODEV no_cpu\n"},
    {"hybrid_events_are_opened_on_their_cores",
     "names core/event=1/,atom/event=1/; cpus 0-3; open\n"
     "events type -> e0 22, e1 22, e2 23, e3 23\n"
     "counts 0 -> error EBADF -1, error EBADF -1, none, none\n"},
    {"event_of_a_package_is_opened_once_in_each",
     "names pkg/joules/,pkg/event=9/; cpus 1-3; "
     "open -> open e0@1 e1@1 e2@2 e3@2 e4@3\n"
     "counts 0 -> error EBADF -1, error EBADF -1, none\n"
     "elsewhere cpus 1-3 -> open e5@1 e6@1 e7@2 e8@2 e9@3\n"},
    /* An offline CPU has no topology: that it is offline is the kernel's to
     * say. */
    {"cpu_without_package_is_one_of_its_own",
     "names pkg/joules/; cpus 0-5; open -> open e0@0 e1@1 e2@4 e3@5\n"},
    {"cpu_without_package_is_not_of_the_first",
     "file /sys/devices/system/cpu/cpu9/topology/physical_package_id 0; "
     "names pkg/joules/; cpus 5,9; open -> open e0@5 e1@9\n"},
    {"event_of_a_package_of_some_cpus_is_both",
     "file /sys/bus/event_source/devices/pkg/cpumask 2-3; names pkg/joules/; "
     "cpus 0-3; open -> open e0@2 e1@3\n"},
    {"sibling_goes_where_its_leader_goes",
     "names {uncore/event=1/,dummy},dummy; cpus 0-3; "
     "open -> open e0@0 e1@0<e0 e2@0 e3@1 e4@2 e5@2<e4 e6@2 e7@3\n"
     "counts 1 -> error EBADF -1, none, error EBADF -1, none\n"},
    {"group_of_a_package_event_is_of_a_package",
     "names {pkg/joules/,pkg/event=9/}; cpus 0-3; "
     "open -> open e0@0 e1@0<e0 e2@1 e3@1<e2\n"},
    /* An event that would be counted twice, or is of other CPUs, is left out
     * there. */
    {"sibling_that_cannot_be_everywhere_is_where_possible",
     "names {dummy,uncore/event=1/,pkg/joules/}; cpus 0-3; "
     "open -> open e0@0 e1@0<e0 e2@0<e0 e3@1 e4@1<e3 e5@2 e6@2<e5 e7@3\n"
     "events type -> e0 1, e1 20, e2 24, e3 1, e4 24, e5 1, e6 20, e7 1\n"},
    /* The first event of the group that can be opened decides. */
    {"leader_that_cannot_be_does_not_take_the_group_along",
     "names {far/event=1/,uncore/event=1/,dummy}; cpus 0-3; "
     "open -> open e0@0 e1@0<e0 e2@2 e3@2<e2\n"
     "events type disabled -> e0 20 1, e1 1 0, e2 20 1, e3 1 0\n"
     "failures -> a0 t0 ENODEV no_cpu\n"},
    {"sibling_that_is_nowhere_with_its_leader_is_a_failure",
     "names {core/event=1/,atom/event=1/}; cpus 0-3; open -> open e0@0 e1@1\n"
     "failures -> a1 t0 ENODEV no_cpu\n"
     "failure 0 'counts on CPUs 2-3, "
     "and none of these is measured with the leader of its group'\n"},
    {"uncore_event_of_a_task_is_a_failure",
     "names uncore/event=1/,dummy; thread me; open -> open e0@me\n"
     "failures -> a0 t0 me EINVAL argument\n"
     "failure 0 'measure CPUs'\n"},
    {"sibling_of_an_uncore_event_leads_in_a_task",
     "names {uncore/event=1/,dummy}; thread me; open -> open e0@me\n"
     "events type disabled -> e0 1 1\n"},
    /* The kernel counts it while the task runs on the CPUs of its PMU. */
    {"hybrid_events_of_a_task_are_opened_everywhere",
     "names core/event=1/,atom/event=1/; thread me; open -> open e0@me "
     "e1@me\n"},
    {"hybrid_events_of_a_task_on_a_cpu_are_of_that",
     "names core/event=1/,atom/event=1/; thread me 1-2; open\n"
     "events type -> e0 22, e1 23\n"},
    {"name_is_opened_on_each_cpu_by_its_pmu",
     "file /proc/sys/kernel/osrelease 6.6.0; names {cycles,dummy}; cpus 1-2; "
     "open -> open e0@1 e1@1<e0 e2@2 e3@2<e2\n"
     "events type config -> e0 0 0x1600000000, e1 1 9, e2 0 0x1700000000, "
     "e3 1 9\n"
     "failures ->\n"
     "give e0 20 10 e0=5 e1=1; give e2 20 20 e2=7 e3=1; "
     "totals -> 12@40/30=17, 2@40/30=3, 7@20, 1@20\n"},
    /* No failure: the other part is measured. */
    {"name_on_one_kind_of_core_is_whole",
     "file /proc/sys/kernel/osrelease 6.6.0; names cycles; cpus 3; open; "
     "events config -> e0 0x1700000000\n"
     "failures ->\n"
     "give e0 7 10 10; totals -> 7@10, 7@10\n"
     "elsewhere cpus 3; failures ->\n"},
    {"name_on_no_kind_of_core_is_a_failure",
     "file /proc/sys/kernel/osrelease 6.6.0; names cycles,dummy; cpus 5; "
     "open -> open e0@5\n"
     "failures -> a0 t0 ENODEV no_cpu, a2 t0 ENODEV no_cpu\n"
     "failure 0 'cycles'\n"
     "totals -> not available ENODEV -2, error EBADF -1, "
     "not available ENODEV -1\n"},
    /* Of 100 ns the task was on one kind of core for 30, on the other for
     * 70. */
    {"name_of_a_task_is_the_sum_of_both_kinds_of_core",
     "file /proc/sys/kernel/osrelease 6.6.0; names cycles; thread me; "
     "open -> open e0@me e1@me\n"
     "give e0 300 100 30; give e1 140 100 70; totals -> 440@100, 140@100/70\n"},
    /* All parts of an event get its settings, up to the first that refuses. */
    {"setting_of_a_name_applies_to_all_its_parts",
     "file /proc/sys/kernel/osrelease 6.6.0; "
     "file /sys/bus/event_source/devices/third/type 25; "
     "file /sys/bus/event_source/devices/third/cpus 3\n"
     "names cycles/period=9/,core/event=1,period=9/; cpus 1-3; open\n"
     "fail ioctl_ptr 2 EIO; "
     "period 0 4 -> PERIOD e0 4 e2 4 EIO, PERIOD e3 4, EIO unknown a2 t0\n"
     "period 0 5 -> PERIOD e0 5 e2 5 e3 5 e4 5\n"
     "fields 2 sample_period -> 5\n"
     "fields 1 sample_period -> 9\n"
     "period 2 6 -> PERIOD e2 6 e3 6\n"},
    /* Each thread has a part of the package's count. */
    {"event_of_a_package_of_a_task_is_opened_as_any",
     "names pkg/joules/; thread me 0-3; "
     "open -> open e0@me:0 e1@me:1 e2@me:2 e3@me:3\n"},
    {"snapshot_is_not_changed_by_reset",
     "names pkg/watts/,pkg/event=9/; cpus 0; open; give e0 40 10 10; "
     "give e1 40 10 10; reset\n"
     "give e0 41 13 13; give e1 41 13 13; totals -> 41@3, 1@3\n"},
    {"every_failing_calloc_leaves_nothing",
     "each calloc ENOMEM; names {uncore/event=1/,dummy},pkg/joules/,far//; "
     "cpus 0-3; open\n"},
    {"misfit_of_a_target_that_is_added_names_the_event",
     "names uncore/event=1/; cpus 0-3; open; "
     "elsewhere self -> EINVAL argument a0 t1\n"
     "says 'uncore/event=1/'\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
