/* SPDX-License-Identifier: MIT */
/* Scripted: attrs without names on a machine with two kinds of cores. They are
 * opened on the CPUs of their PMU, and a task's time on other cores does not
 * make them look multiplexed. Attr 0 is of the PMU core, attr 1 of atom by the
 * PMU's type, and the kernel chooses for attr 2. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    /* On a CPU an event is scaled: the PMU was shared. */
    {"attrs_are_opened_on_the_cpus_of_their_pmu",
     "attrs 3; attr 0 type=0 config=0x1600000000; attr 1 type=23 config=0x3c; "
     "attr 2 type=3 config=0; cpus 0-3; "
     "open -> open e0@0 e1@0 e2@1 e3@1 e4@2 e5@2 e6@3 e7@3\n"
     "events type config -> e0 0 0x1600000000, e1 3 0, e2 0 0x1600000000, "
     "e3 3 0, e4 23 60, e5 3 0, e6 23 60, e7 3 0\n"
     "failures ->\n"
     "give e1 7 30 10; counts 2 "
     "-> 7@30/10=21, error EBADF -1, error EBADF -1, error EBADF -1\n"
     "item 0 -> core/cpu-cycles/ cpus 0,1\n"},
    {"attrs_of_a_task_are_not_scaled",
     "attrs 3; attr 0 type=0 config=0x1600000000; attr 1 type=23 config=0x3c; "
     "attr 2 type=0 config=0; thread me; open; give e0 7 30 10; "
     "give e1 7 30 10; give e2 7 30 10; totals -> 7@30/10, 7@30/10, 7@30/10\n"},
    /* A PMU with a cpumask is not a core's. */
    {"attrs_with_one_kind_of_cores_are_scaled",
     "file /sys/bus/event_source/devices/atom/cpumask 2; attrs 3; "
     "attr 0 type=0 config=0x1600000000; attr 2 type=0 config=0; thread me; "
     "open; give e2 7 30 10; "
     "totals -> error EBADF -1, error EBADF -1, 7@30/10=21\n"
     "item 0 -> core/cpu-cycles/\n"},
    /* Only x86 calls its PMU so. */
    {"attrs_on_a_machine_with_a_pmu_called_cpu_are_scaled",
     "file /sys/bus/event_source/devices/cpu/type 4; attrs 3; "
     "attr 0 type=0 config=0x1600000000; attr 2 type=0 config=0; thread me; "
     "open; give e2 7 30 10; "
     "totals -> error EBADF -1, error EBADF -1, 7@30/10=21\n"
     "item 0 -> core/cpu-cycles/\n"},
    /* The set may be gone when its events are opened. */
    {"target_that_is_opened_elsewhere_has_its_own_cpus",
     "attrs 3; attr 0 type=0 config=0x1600000000; attr 1 type=23 config=0x3c; "
     "attr 2 type=0 config=0; cpus 0; open -> open e0@0 e1@0\n"
     "begin 0 cpus 1-2; close; steps 0 -> open e2@1 e3@1 e4@2 e5@2\n"
     "drop 0\n"},
    {"cpus_without_memory_leave_nothing",
     "each calloc ENOMEM; attrs 3; attr 0 type=0 config=0x1600000000; "
     "attr 1 type=23 config=0x3c; open\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
