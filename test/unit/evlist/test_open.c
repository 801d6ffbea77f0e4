/* SPDX-License-Identifier: MIT */
/* Scripted: how events are opened: with which bits, groups and fallbacks. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"every_attr_is_opened_at_every_place",
     "attrs 2; cpus 0-1; cpus 7; open -> open e0@0 e1@0 e2@1 e3@1 e4@7 e5@7\n"
     "events config disabled inherit enable_on_exec read_format "
     "-> e0 1 1 0 0 23, e1 2 1 0 0 23, e2 1 1 0 0 23, e3 2 1 0 0 23, "
     "e4 1 1 0 0 23, e5 2 1 0 0 23\n"},
    {"lost_is_not_asked_of_a_kernel_without_it",
     "kernel without lost; attrs 1; attr 0 read_format=16; cpus 0; open; "
     "events read_format -> e0 7\n"},
    {"siblings_are_opened_enabled_after_their_leader",
     "attrs 4; group 1 3; attr 1 pinned=1; cpus 0; "
     "open -> open e0@0 e1@0 e2@0<e1 e3@0<e1\n"
     "events disabled read_format pinned "
     "-> e0 1 23 0, e1 1 31 1, e2 0 31 0, e3 0 31 0\n"},
    /* The user's own bits stay, except those of reading and enabling. */
    {"attr_is_otherwise_unchanged",
     "attrs 1; attr 0 inherit=1 exclude_kernel=1 exclude_user=1 exclude_idle=1 "
     "sample_period=5 "
     "sample_type=18 read_format=0x10000000008; cpus 0; open -> open e0@0\n"
     "events inherit exclude_kernel exclude_user exclude_idle sample_period "
     "sample_type read_format -> e0 1 1 1 1 5 2 23\n"},
    {"process_inherits", "attrs 2; group 0 2; task 4711 4711 77; process 4711; "
                         "open -> open e0@4711 e1@4711<e0, read e0\n"
                         "events inherit enable_on_exec -> e0 1 0, e1 1 0\n"},
    {"process_does_not_inherit_with_no_inherit",
     "attrs 2; group 0 2; task 4711 4711 77; process 4711 alone; open; "
     "events inherit -> e0 0, e1 0\n"},
    {"command_enables_its_leaders_on_exec",
     "attrs 3; group 0 2; command me; open; "
     "events enable_on_exec disabled inherit -> e0 1 1 1, e1 0 0 1, e2 1 1 "
     "1\n"},
    {"next_member_leads_if_the_leader_cannot_open",
     "attrs 3; group 0 3; cpus 0-1; fail open 3 EBUSY; fail open 4 EBUSY; "
     "open -> open e0@0 e1@0<e0 @0<e0 EBUSY, open @1 EBUSY, open e2@1 e3@1<e2\n"
     "events disabled -> e0 1, e1 0, e2 1, e3 0\n"
     "give e2 10 10 e2=7 e3=8; counts 1 -> error EBADF -1, 7@10\n"
     "counts 2 -> not available EBUSY -1, 8@10\n"
     "enable -> ENABLE e0 e2\n"},
    /* The next is in the group all the same. */
    {"weak_member_is_opened_alone",
     "names {task-clock,page-faults,dummy}:W; cpus 0; fail open 2 EINVAL; "
     "open -> open e0@0 @0<e0 EINVAL, open e1@0 e2@0<e0\n"
     "failures ->\n"
     "events config disabled -> e0 1 1, e1 2 1, e2 9 0\n"
     "enable -> ENABLE e0 e1\n"},
    /* In the group it is refused whatever its precise_ip is. */
    {"weak_member_is_opened_alone_as_it_was_asked_for",
     "names {cycles,instructions:ppp}:W; fallbacks precise; cpus 0\n"
     "fail open 2-5 EINVAL; "
     "open -> open e0@0 @0<e0 EINVAL, open @0<e0 EINVAL, open @0<e0 EINVAL, "
     "open @0<e0 EINVAL, open e1@0\n"
     "events precise_ip -> e0 0, e1 3\n"
     "changes 1 ->\n"},
    {"member_of_an_ordinary_group_is_not_opened_alone",
     "attrs 3; group 0 3; cpus 0; fail open 2 EINVAL; "
     "open -> open e0@0 @0<e0 EINVAL, open e1@0<e0\n"
     "failures -> a1 t0 cpu0 EINVAL unknown\n"},
    {"fallback_is_decided_at_the_first_place",
     "attrs 1; attr 0 type=0 config=0; fallbacks all; cpus 0-2; "
     "refuse hardware ENOENT; open -> open @0 ENOENT, open e0@0 e1@1 e2@2\n"
     "events type config disabled -> e0 1 0 1, e1 1 0 1, e2 1 0 1\n"
     "changes 0 -> type 0 to 1\n"
     "fields 0 type -> 1\n"
     "changes 1 ->\n"},
    {"clock_of_a_task_is_the_task_clock",
     "attrs 1; attr 0 type=0 config=0; fallbacks clock; self; "
     "refuse hardware ENOENT; open; events config -> e0 1\n"},
    {"attr_that_opened_as_asked_does_not_fall_back_later",
     "attrs 1; attr 0 type=0 config=0; fallbacks all; cpus 0-1; "
     "fail open 2 ENOENT; open -> open e0@0 @1 ENOENT\n"
     "failures -> a0 t0 cpu1 ENOENT no_event\n"
     "changes 0 ->\n"},
    /* It fails at the first place with every fallback. */
    {"fallback_that_did_not_help_is_undone",
     "attrs 1; attr 0 type=0 config=0; fallbacks all; cpus 0-1; "
     "fail open 1 ENOENT; fail open 2 ENODEV; "
     "open -> open @0 ENOENT, open @0 ENODEV, open e0@1\n"
     "events type -> e0 0\n"
     "changes 0 ->\n"
     "failures -> a0 t0 cpu0 ENOENT no_event\n"
     "failure 0 fallbacks\n"},
    /* It opens with less, and is closed again for another reason. */
    {"fallback_of_what_is_closed_at_once_is_undone",
     "attrs 2; group 0 2; attr 0 type=0 config=0; fallbacks all; cpus 0-1; "
     "fail open 1 ENOENT; fail ioctl_ptr 1 EIO; "
     "open -> open @0 ENOENT, open e0@0, ID e0 EIO, close e0, "
     "open e1@0 e2@1 e3@1<e2\n"
     "events type -> e0 1, e1 1, e2 0, e3 1\n"
     "changes 0 ->\n"},
    /* E2BIG leaves the kernel's size in the attr that was tried. */
    {"fields_that_the_kernel_does_not_know_are_cut",
     "attrs 1; attr 0 sig_data=7; fallbacks kernel; cpus 0-1; "
     "fail open 1 E2BIG; open -> open @0 E2BIG, open e0@0 e1@1\n"
     "events size -> e0 112, e1 112\n"
     "changes 0 -> sig_data 7 to 0\n"},
    /* It is allowed by its item, without any option. */
    {"modifier_P_lowers_precise_ip_alone",
     "file /sys/bus/event_source/devices/cpu/type 4; "
     "file /sys/bus/event_source/devices/cpu/caps/max_precise 3\n"
     "names cycles:P; cpus 0; refuse precise EOPNOTSUPP; open; "
     "events precise_ip -> e0 1\n"
     "changes 0 -> precise_ip 3 to 1\n"},
    /* Thread 79 is replaced before its second of four events is opened. What
     * was opened in time stays, even if its task has ended since. */
    {"events_of_an_id_used_again_are_closed",
     "task 78 78 1000; task 78 79 1000; at open 6 'task 78 79 2000'; attrs 2; "
     "group 0 2; process 78 0-1; fail open 4 EACCES; "
     "open -> open e0@78:0 e1@78:0<e0, read e0, open e2@78:1 @78:1<e2 EACCES, "
     "read e2, open e3@79:0 e4@79:0<e3, read e3, open e5@79:1 e6@79:1<e5, "
     "read e5, close e6 e5 e4 e3\n"
     "failures -> a1 t0 78 cpu1 EACCES permission, "
     "a0 t0 79 cpu1 ESRCH no_task, a1 t0 79 cpu1 ESRCH no_task, "
     "a0 t0 79 cpu0 ESRCH no_task, a1 t0 79 cpu0 ESRCH no_task\n"
     "task 78 78 3000; come 1 "
     "-> open e7@78:1<e2, read e2, close e7, open e8@79:1 e9@79:1<e8, read e8, "
     "close e9 e8, ESRCH no_task a1 t0\n"
     "nr -> 3\n"},
    {"events_of_an_id_used_again_are_no_strict_set",
     "task 78 78 1000; task 78 79 1000; at open 6 'task 78 79 2000'; attrs 2; "
     "group 0 2; process 78 0-1; flags strict; "
     "open -> open e0@78:0 e1@78:0<e0, read e0, open e2@78:1 e3@78:1<e2, "
     "read e2, open e4@79:0 e5@79:0<e4, read e4, open e6@79:1 e7@79:1<e6, "
     "read e6, close e7 e0 e1 e2 e3 e4 e5 e6, ESRCH no_task a1 t0\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
