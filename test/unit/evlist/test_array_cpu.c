/* SPDX-License-Identifier: MIT */
/* CPUs that come and go, and the events of a map, on a scripted machine. */
#include "scripted_array.h"

static const scripted_row_t rows[] = {
    /* -- gone -------------------------------------------------------------- */
    {"cpu_that_goes_is_taken_out",
     "new; enable; put; cpus 0-1,3 0-3; gone 2 -> bpf delete 2, close e4\n"
     "keys -> 0 1 3\n"
     "status 2 -> ENODEV\n"
     "rings -> cpu0 e1 of 1, cpu1 e3 of 1, cpu2 e5 of 0, cpu3 e7 of 1\n"
     /* Again, and one that has no event. */
     "gone 2 ->\n"
     "gone 9 ->\n"
     "gone -1 ->\n"},
    {"cpu_that_is_away_is_no_failure",
     "new; enable; put; gone 0; take; disable; enable; put; keys -> 1 2 3\n"},
    /* The event is closed all the same. */
    {"entry_that_cannot_be_deleted_does_not_hold_the_event",
     "new; enable; put; freeze; gone 1 -> bpf delete 1 EPERM, close e2\n"
     "status 1 -> ENODEV\n"},
    {"entry_that_could_not_be_deleted_is_tried_again",
     "new; enable; put; freeze; gone 1; thaw; keys -> 0 1 2 3\n"
     "take; keys ->\n"
     "put; keys -> 0 2 3\n"},
    /* -- come -------------------------------------------------------------- */
    {"cpu_that_comes_back_has_a_new_event_in_its_ring",
     "new; enable; put; gone 2; come 2 -> open e8@2, SET_OUTPUT e8 e5, ENABLE "
     "e8, bpf update 2\n"
     "rings -> cpu0 e1 of 1, cpu1 e3 of 1, cpu2 e5 of 1, cpu3 e7 of 1\n"
     "keys -> 0 1 2 3\n"
     "status 2 -> 0\n"},
    {"cpu_that_comes_is_as_the_others",
     "new; gone 2; come 2 -> open e8@2, SET_OUTPUT e8 e5\n"
     "keys ->\n"
     "enable; gone 2; come 2 -> open e9@2, SET_OUTPUT e9 e5, ENABLE e9\n"
     "keys ->\n"
     "put; keys -> 0 1 2 3\n"
     "take; disable; gone 2; come 2 -> open e10@2, SET_OUTPUT e10 e5\n"
     "keys ->\n"},
    {"cpu_that_is_new_has_a_ring_of_its_own",
     "cpus 0,3 0-11; new; enable; put; status 11 -> ENODEV\n"
     "cpus 0,3,11 0-11; come 11 -> open e4@11 e5@me:11, mmap e5, SET_OUTPUT e4 "
     "e5, ENABLE e4, bpf update 11\n"
     "rings -> cpu0 e1 of 1, cpu3 e3 of 1, cpu11 e5 of 1\n"
     "keys -> 0 3 11\n"
     "status 11 -> 0\n"},
    /* A CPU that is reported to come, but had not gone, continues without a
     * gap: the map holds the old event, although it is closed here. */
    {"cpu_that_comes_twice_stays_in_the_map",
     "new; enable; put; come 1 -> close e2, open e8@1, SET_OUTPUT e8 e3, "
     "ENABLE "
     "e8, bpf update 1\n"
     "rings -> cpu0 e1 of 1, cpu1 e3 of 1, cpu2 e5 of 1, cpu3 e7 of 1\n"
     "keys -> 0 1 2 3\n"},
    /* The ring has the losses of the old event, which PERF_FORMAT_LOST counts.
     * */
    {"losses_of_an_event_that_is_replaced_stay_counted",
     "kernel with lost; new; enable; put; words e2 0 5; come 1 -> read e2, "
     "close e2, open e8@1, SET_OUTPUT e8 e3, ENABLE e8, bpf update 1\n"
     "lost 1 -> 5\n"
     "words e8 0 5; gone 1 -> bpf delete 1, read e8, close e8\n"
     "lost 1 -> 10\n"},
    /* Each sample would have the number, or a group that is not read. */
    {"losses_are_not_counted_with_values_of_the_user",
     "kernel with lost; attr sample_type=0x410; new; fields read_format -> 0\n"
     "free; attr read_format=8; new; fields read_format -> 8\n"
     "free; attr read_format=24; new; gone 1 -> close e18\n"
     "free; attr read_format=1; new; fields read_format -> 17\n"},
    {"cpu_that_is_not_in_the_list_gets_no_event",
     "max_entries 3; options cpus=0,2; new; enable; put; come 1 ->\n"
     "come 3 ->\n"
     "come -1 ->\n"
     "status 1 -> ENOENT\n"
     "keys -> 0 2\n"},
    {"cpu_beyond_the_map_gets_no_event",
     "max_entries 2; new; enable; put; come 2; come 3\n"
     "status 2 -> E2BIG\n"
     "rings -> cpu0 e1 of 1, cpu1 e3 of 1\n"},
    {"cpu_of_the_list_that_was_offline_comes",
     "cpus 0 0-3; options cpus=0,2; new; enable; put; cpus 0,2 0-3; come 2\n"
     "status 2 -> 0\n"
     "keys -> 0 2\n"},
    {"fixed_cpus_stay_as_they_are",
     "cpus 0-1 0-3; options fixed; new; enable; put; status 2 -> ENODEV\n"
     "cpus 0-2 0-3; status 2 -> ENOENT\n"
     "rings -> cpu0 e1 of 1, cpu1 e3 of 1\n"
     "cpus 0,2 0-3; gone 1; status 1 -> ENODEV\n"
     "cpus 0-2 0-3; status 1 -> ENOENT\n"},
    /* -- failures ---------------------------------------------------------- */
    /* Whatever fails is reported, the CPU has no event, and the next time
     * works. One that had a ring takes no second one, and no memory. */
    {"cpu_that_fails_to_come_back_is_reported",
     "cpus 0-2 0-3; new; enable; put; gone 1\n"
     "fail open 1 EMFILE; come 1 -> open @1 EMFILE, EMFILE files\n"
     "status 1 -> EMFILE\n"
     "fail open 1 ENODEV; come 1 -> open @1 ENODEV, ENODEV no_event\n"
     "status 1 -> ENODEV\n"
     "fail ioctl 1 EINVAL; come 1 -> open e6@1, SET_OUTPUT e6 e3 EINVAL, close "
     "e6, EINVAL unknown\n"
     "fail ioctl 2 EPERM; come 1 -> open e7@1, SET_OUTPUT e7 e3, ENABLE e7 "
     "EPERM, close e7, EPERM permission\n"
     "fail update 1 EPERM; come 1 -> open e8@1, SET_OUTPUT e8 e3, ENABLE e8, "
     "bpf update 1 EPERM, close e8, EPERM permission\n"
     "status 1 -> EPERM\n"
     "rings -> cpu0 e1 of 1, cpu1 e3 of 0, cpu2 e5 of 1\n"
     "keys -> 0 2\n"
     "come 1; status 1 -> 0\n"
     "keys -> 0 1 2\n"},
    {"cpu_that_fails_to_come_for_the_first_time_is_reported",
     "cpus 0-2 0-3; new; enable; put; cpus 0-3 0-3\n"
     "fail open 1 EMFILE; come 3 -> open @3 EMFILE, EMFILE files\n"
     "status 3 -> EMFILE\n"
     "fail open 1 ENODEV; come 3 -> open @3 ENODEV, ENODEV no_event\n"
     "fail open 2 EMFILE; come 3 -> open e6@3 @me:3 EMFILE, close e6, EMFILE "
     "files\n"
     "fail mmap 1 EPERM; come 3 -> open e7@3 e8@me:3, mmap e8 EPERM, close e8 "
     "e7, EPERM locked_memory\n"
     "fail ioctl 1 EINVAL; come 3 -> open e9@3 e10@me:3, mmap e10, SET_OUTPUT "
     "e9 e10 EINVAL, close e9, munmap e10, close e10, EINVAL unknown\n"
     "fail ioctl 2 EPERM; come 3 -> open e11@3 e12@me:3, mmap e12, SET_OUTPUT "
     "e11 e12, ENABLE e11 EPERM, close e11, munmap e12, close e12, EPERM "
     "permission\n"
     "fail update 1 EPERM; come 3 -> open e13@3 e14@me:3, mmap e14, SET_OUTPUT "
     "e13 e14, ENABLE e13, bpf update 3 EPERM, close e13, munmap e14, close "
     "e14, EPERM permission\n"
     "fail calloc 1 ENOMEM; come 3 -> open e15@3, close e15, ENOMEM memory\n"
     "status 3 -> ENOMEM\n"
     "rings -> cpu0 e1 of 1, cpu1 e3 of 1, cpu2 e5 of 1\n"
     "keys -> 0 1 2\n"
     "come 3; status 3 -> 0\n"
     "keys -> 0 1 2 3\n"},
    /* The old one, which may be dead, is not left in the map then. */
    {"come_that_fails_takes_the_old_one_out",
     "new; enable; put; fail open 1 EMFILE; come 1 -> close e2, open @1 "
     "EMFILE, bpf delete 1, EMFILE files\n"
     "keys -> 0 2 3\n"
     "status 1 -> EMFILE\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_array, rows);
}
