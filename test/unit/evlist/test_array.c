/* SPDX-License-Identifier: MIT */
/* The events of a map on a scripted machine: what is opened, what is refused,
 * and that nothing is left after a failure. */
#include "scripted_array.h"

static const scripted_row_t rows[] = {
    {"new_opens_an_event_and_a_ring_for_each_cpu",
     "cpus 0,2-5 0-7; new -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, "
     "open e2@2 e3@me:2, mmap e3, SET_OUTPUT e2 e3, open e4@3 e5@me:3, mmap "
     "e5, SET_OUTPUT e4 e5, open e6@4 e7@me:4, mmap e7, SET_OUTPUT e6 e7, open "
     "e8@5 e9@me:5, mmap e9, SET_OUTPUT e8 e9\n"
     "events disabled -> e0 1, e1 1, e2 1, e3 1, e4 1, e5 1, e6 1, e7 1, e8 1, "
     "e9 1\n"
     "running ->\n"
     "rings -> cpu0 e1 of 1, cpu2 e3 of 1, cpu3 e5 of 1, cpu4 e7 of 1, cpu5 e9 "
     "of 1\n"
     "status 0 2 5 1 8 -1 -> 0, 0, 0, ENODEV, ENOENT, ENOENT\n"
     "keys ->\n"},
    {"new_needs_no_ids", "new; count ioctl_ptr -> 0\n"},
    {"put_goes_by_the_ids_of_the_cpus",
     "cpus 0,2-5 0-7; new; put; keys -> 0 2 3 4 5\n"
     "take; keys ->\n"},
    /* -- refusals ---------------------------------------------------------- */
    {"options_for_wakeups_by_both_are_einval",
     "options wakeup_events=1 wakeup_bytes=1; new -> EINVAL argument\n"
     "says 'can use only one'\n"},
    {"options_for_wakeups_above_half_of_the_ring_are_einval",
     "options ring_bytes=4096 wakeup_bytes=2049; new -> EINVAL argument\n"
     "says 'half of the ring'\n"},
    {"options_of_a_ring_beyond_any_memory_are_einval",
     "options ring_bytes=0xffffffffffffffff; new -> EINVAL argument\n"
     "says options.ring_bytes\n"},
    {"options_of_an_attr_of_a_wrong_size_are_refused",
     "attr size=63; options; new -> EINVAL argument\n"
     "says 'attr.size is 63'\n"
     "attr size=0x100000; new -> E2BIG argument\n"
     "says attr.size\n"},
    {"cpus_that_are_no_list_are_einval",
     "options cpus=; new -> EINVAL argument\n"
     "says options.cpus\n"
     "options cpus=x; new -> EINVAL argument\n"
     "options cpus=1-; new -> EINVAL argument\n"
     "options cpus=3-1; new -> EINVAL argument\n"
     "options cpus=-1; new -> EINVAL argument\n"
     "options cpus=0,,1; new -> EINVAL argument\n"
     "options cpus=99999; new -> EINVAL argument\n"
     "says options.cpus\n"},
    {"cpu_without_an_entry_is_einval_in_a_list",
     "max_entries 2; options cpus=1,2; new -> EINVAL argument\n"
     "says 'CPU 2, but the map has 2 entries'\n"
     "options cpus=1; new; status 1 0 2 -> 0, ENOENT, ENOENT\n"},
    {"map_with_fewer_entries_leaves_cpus_out",
     "max_entries 1; new; rings -> cpu0 e1 of 1\n"
     "put; keys -> 0\n"
     "status 1 3 4 -> E2BIG, E2BIG, ENOENT\n"},
    {"cpus_without_any_entry_or_online_are_enodev",
     "cpus 2-3 0-3; max_entries 2; new -> ENODEV no_cpu\n"
     "says 'the online CPUs are 2-3'\n"
     "options cpus=0-1; new -> ENODEV no_cpu\n"
     "says '\"0-1\"'\n"},
    /* A list of the user's is tried. */
    {"sysfs_that_cannot_be_read_is_no_cpu",
     "no_host; new -> ENOENT no_cpu\n"
     "says 'mount sysfs on /sys, or list the CPUs in options.cpus'\n"
     "options cpus=0-1; new; status 1 -> 0\n"},
    {"cpu_of_a_list_that_is_offline_waits",
     "cpus 0,3 0-3; options cpus=0-1,3,9; new -> open e0@0 e1@me:0, mmap e1, "
     "SET_OUTPUT e0 e1, open e2@3 e3@me:3, mmap e3, SET_OUTPUT e2 e3\n"
     "status 0 1 2 3 9 -> 0, ENODEV, ENOENT, 0, ENOENT\n"},
    {"invalid_map_is_refused_before_anything_opens",
     "map_type 1; new -> EINVAL argument\n"
     "says 'BPF_MAP_TYPE_PERF_EVENT_ARRAY (4)'\n"},
    /* -- failures ---------------------------------------------------------- */
    {"open_that_fails_is_reported_and_undone",
     "fail open 1 EACCES; new -> open @0 EACCES, EACCES permission\n"
     "fail open 4 EPERM; new -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, "
     "open e2@1 @me:1 EPERM, close e2, DISABLE e0, munmap e1, close e1 e0, "
     "EPERM "
     "permission\n"
     "fail open 7 ENOSYS; new -> open e3@0 e4@me:0, mmap e4, SET_OUTPUT e3 e4, "
     "open e5@1 e6@me:1, mmap e6, SET_OUTPUT e5 e6, open e7@2 e8@me:2, mmap "
     "e8, SET_OUTPUT e7 e8, open @3 ENOSYS, DISABLE e3 e5 e7, munmap e8, close "
     "e8, munmap e6, close e6, munmap e4, close e4 e3 e5 e7, ENOSYS no_perf\n"
     "fail open 1 ENOENT; new -> open @0 ENOENT, ENOENT no_event\n"
     "fail open 1 ENOMEM; new -> open @0 ENOMEM, ENOMEM memory\n"
     "fail open 1 ENFILE; new -> open @0 ENFILE, ENFILE files\n"
     "fail open 1 EBUSY; new -> open @0 EBUSY, EBUSY busy\n"
     "fail open 1 EOPNOTSUPP; new -> open @0 EOPNOTSUPP, EOPNOTSUPP "
     "not_supported\n"},
    /* The attr that the handle returns is as requested. */
    {"open_that_is_e2big_leaves_the_size",
     "fail open 1 E2BIG; new -> open @0 E2BIG, E2BIG old_kernel\n"
     "says attr.size\n"
     "says_no FALLBACK\n"
     "new; attr_size\n"
     "cpus 0-4 0-4; fail open 1 E2BIG; come 4 -> open @4 E2BIG, E2BIG "
     "old_kernel\n"
     "attr_size\n"},
    {"cpu_that_goes_while_it_is_opened_waits",
     "fail open 3 ENODEV; new; status 0 1 2 -> 0, ENODEV, 0\n"
     "rings -> cpu0 e1 of 1, cpu2 e3 of 1, cpu3 e5 of 1\n"
     "put; keys -> 0 2 3\n"},
    {"cpus_that_all_go_while_they_are_opened_are_enodev",
     "fail open 1+ ENODEV; new -> open @0 ENODEV, open @1 ENODEV, open @2 "
     "ENODEV, open @3 ENODEV, ENODEV no_event\n"},
    /* Lower numbers are open. */
    {"number_of_fds_needed_is_reported",
     "fail open 1 EMFILE; new -> open @0 EMFILE, EMFILE files\n"
     "says '4 events and 4 rings'\n"
     "fail open 8 EMFILE; new -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, "
     "open e2@1 e3@me:1, mmap e3, SET_OUTPUT e2 e3, open e4@2 e5@me:2, mmap "
     "e5, SET_OUTPUT e4 e5, open e6@3 @me:3 EMFILE, close e6, DISABLE e0 e2 "
     "e4, munmap "
     "e5, close e5, munmap e3, close e3, munmap e1, close e1 e0 e2 e4, EMFILE "
     "files\n"
     "says '4 events and 4 rings'\n"
     "needed_at_least 12\n"},
    /* perf_event_mlock_kb is enough for all when they are smaller. */
    {"rings_shrink_together",
     "options ring_bytes=0; fail mmap 4-11 EPERM; new; rings -> cpu0 e16 of 1 "
     "256 KiB, cpu1 e18 of 1 256 KiB, cpu2 e20 of 1 256 KiB, cpu3 e22 of 1 256 "
     "KiB\n"},
    /* The owner of the second ring is opened, whose mapping fails. The error is
     * not the one of the larger rings. */
    {"cpus_that_go_before_rings_shrink_are_no_cpu",
     "options ring_bytes=0 cpus=0-1; fail mmap 2+ EPERM; at open 4 'cpus 3 "
     "0-3'; returns ENODEV new\n"
     "says 0-1\n"},
    {"each_open_may_fail_once",
     "each open EIO; new; enable; put; take; free; keys ->\n"},
    {"each_ioctl_may_fail_once",
     "each ioctl EIO; new; enable; put; take; free; keys ->\n"},
    {"each_mmap_may_fail_once",
     "each mmap EIO; new; enable; put; take; free; keys ->\n"},
    {"each_calloc_may_fail_once",
     "each calloc ENOMEM; new; enable; put; take; free; keys ->\n"},
    {"each_map_info_may_fail_once",
     "each map_info EIO; new; enable; put; take; free; keys ->\n"},
    {"each_map_by_id_may_fail_once",
     "each map_by_id EIO; new; enable; put; take; free; keys ->\n"},
    {"each_update_may_fail_once",
     "each update EIO; new; enable; put; take; free; keys ->\n"},
    {"each_delete_may_fail_once",
     "each delete EIO; new; enable; put; take; free; keys ->\n"},
    {"each_close_may_fail_once",
     "each close EIO; new; enable; put; take; free; keys ->\n"},
    {"each_access_may_fail_once",
     "each access EIO; new; enable; put; take; free; keys ->\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_array, rows);
}
