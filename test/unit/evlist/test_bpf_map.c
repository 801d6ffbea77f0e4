/* SPDX-License-Identifier: MIT */
/* Scripted: BPF maps that the library keeps filled with the events of an attr,
 * while targets and CPUs come and go. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"map_has_the_event_of_each_cpu_until_close",
     "attrs 2; cpus 0,2; open; map 4; fill 1; entries -> 0 . 2 .\n"
     "leave; entries -> . . . .\n"},
    /* The kernel keeps entries of other files. */
    {"close_leaves_the_events_of_another_reader",
     "attrs 2; cpus 0-2; open; map 3; fill 1; foreign 1; leave; "
     "entries -> . x .\n"
     "clear 1\n"},
    {"close_of_a_map_that_keeps_entries_deletes_them",
     "attrs 2; cpus 0-2; open; map 3 2048; fill 1; entries -> 0 1 2\n"
     "leave; entries -> . . .\n"},
    {"close_in_a_forked_child_leaves_the_entries",
     "attrs 2; cpus 0-1; open; map 2 2048; fill 1; fork; "
     "fill 0 -> EPERM argument a0 t0\n"
     "leave; entries -> 0 1\n"},
    /* Tasks have no entries. Of two events at a CPU the second one takes the
     * place of the first when that goes. */
    {"map_follows_targets_that_come_and_go",
     "attrs 2; cpus 0; open; map 3; fill 1; add self; entries -> 0 . .\n"
     "add cpus 0-1; entries -> 0 1 .\n"
     "remove 0 -> close e0, bpf delete 0, close e1, bpf update 0\n"
     "entries -> 0 1 .\n"
     "remove 2; entries -> . . .\n"},
    {"map_follows_a_target_that_was_opened_elsewhere",
     "attrs 2; cpus 0; open; map 2; fill 1; begin 0 cpus 1; steps 0; "
     "entries -> 0 .\n"
     "join 0; entries -> 0 1\n"
     "elsewhere cpus 2 -> open e4@2 e5@2, close e4 e5, E2BIG argument a1 t2\n"
     "entries -> 0 1\n"
     "nr -> 4\n"},
    {"map_of_a_set_without_targets_waits_for_them",
     "attrs 2; cpus 0; open; remove 0; map 3; fill 1; entries -> . . .\n"
     "add cpus 2; entries -> . . 2\n"},
    {"target_beyond_the_map_is_not_added",
     "attrs 2; cpus 0; open; map 1; fill 1; "
     "add cpus 1 -> open e2@1 e3@1, close e2 e3, E2BIG argument a1 t1\n"
     "says 'the map has no entry for CPU 1, only 1 entries'\n"
     "nr -> 2\n"
     "entries -> 0\n"},
    /* The event that is put there is the one that was opened then. */
    {"map_follows_cpus_that_come",
     "attrs 2; cpus all; open; map 4; fill 1; entries -> 0 1 2 .\n"
     "back 1 -> read e2 e3 e2 e3, close e2, bpf delete 1, close e3, "
     "open e6@1 e7@1, bpf update 1\n"
     "entries -> 0 1 2 .\n"},
    /* The event counts all the same. */
    {"cpu_that_comes_beyond_the_map_is_reported",
     "attrs 2; cpus all; open; map 3; fill 1; up 3; "
     "come 3 -> open e6@3 e7@3, E2BIG argument a1 t0\n"
     "nr -> 8\n"
     "entries -> 0 1 2\n"},
    /* And nothing of it is left in the map. */
    {"fill_that_cannot_be_is_refused",
     "attrs 2; cpus 0-2; open; map 2; fill 2 -> EINVAL argument a0 t0\n"
     "says 'there is no attr 2'\n"
     "fill 1 -> bpf update 0, bpf update 1, E2BIG argument a1 t0\n"
     "entries -> . .\n"
     "fill 1 nofd -> EBADF argument a0 t0\n"},
    {"fill_that_the_kernel_refuses_can_be_repeated",
     "attrs 2; cpus 0-2; open; map 3; fail update 2 EOPNOTSUPP; "
     "fill 1 -> bpf update 0, bpf update 1 EOPNOTSUPP, "
     "EOPNOTSUPP not_supported a1 t0\n"
     "says attr.inherit\n"
     "entries -> . . .\n"
     "fail calloc 1 ENOMEM; fill 1 -> ENOMEM memory a0 t0\n"
     "fill 1; fill 1 -> EEXIST exists a0 t0\n"
     "entries -> 0 1 2\n"},
    {"fill_of_a_map_of_another_type_is_refused",
     "attrs 2; cpus 0-2; open; map 3 0 27; fill 1 -> EINVAL argument a0 t0\n"},
    {"fill_of_a_set_of_tasks_is_refused",
     "attrs 1; self; open; map 3; fill 0 -> EINVAL argument a0 t0\n"
     "says UVPERF_TARGET_CPUS\n"},
    /* Each kind of core has a part, with a map of its own. */
    {"fill_that_one_part_refuses_can_be_repeated",
     "file /proc/sys/kernel/osrelease 6.6.0; names cycles; cpus 0-2; open; "
     "map 3; fail update 3 EOPNOTSUPP; "
     "fill 0 -> bpf update 0, bpf update 1, bpf update 2 EOPNOTSUPP, "
     "EOPNOTSUPP not_supported a1 t0\n"
     "entries -> . . .\n"
     "fill 0; entries -> 0 1 2\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
