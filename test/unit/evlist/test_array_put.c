/* SPDX-License-Identifier: MIT */
/* The events of a map on a scripted machine: all or none are put and removed,
 * whose entries are removed, and what a forked child does not touch. */
#include "scripted_array.h"

static const scripted_row_t rows[] = {
    /* -- put and take ------------------------------------------------------ */
    {"put_that_fails_puts_none",
     "new; fail update 1 ENOMEM; put -> bpf update 0 ENOMEM, ENOMEM memory\n"
     "says entry\n"
     "fail update 2 ENOMEM; put -> bpf update 0, bpf update 1 ENOMEM, bpf "
     "delete 0, ENOMEM memory\n"
     "fail update 4 ENOMEM; put -> bpf update 0, bpf update 1, bpf update 2, "
     "bpf update 3 ENOMEM, bpf delete 0, bpf delete 1, bpf delete 2, ENOMEM "
     "memory\n"
     "keys ->\n"
     "put; keys -> 0 1 2 3\n"},
    {"take_that_fails_takes_none",
     "new; put; fail delete 1 EPERM; take -> bpf delete 0 EPERM, EPERM "
     "permission\n"
     "says entry\n"
     "fail delete 2 EPERM; take -> bpf delete 0, bpf delete 1 EPERM, bpf "
     "update 0, EPERM permission\n"
     "fail delete 4 EPERM; take -> bpf delete 0, bpf delete 1, bpf delete 2, "
     "bpf delete 3 EPERM, bpf update 0, bpf update 1, bpf update 2, EPERM "
     "permission\n"
     "keys -> 0 1 2 3\n"
     "take; keys ->\n"},
    {"entry_that_is_gone_is_no_failure",
     "new; put; clear 0; clear 3; take; keys ->\n"},
    /* What the kernel does when the file closes needs no permission. */
    {"map_that_is_frozen_lets_nothing_be_put",
     "new; freeze; put -> bpf update 0 EPERM, EPERM permission\n"
     "thaw; put; freeze; take -> bpf delete 0 EPERM, EPERM permission\n"
     "keys -> 0 1 2 3\n"
     "leave; keys ->\n"},
    /* The events cannot be put back either then. */
    {"take_that_failed_in_a_frozen_map_takes_all_later",
     "new; put; freeze; returns EPERM take; thaw; take; keys ->\n"},
    {"leaving_the_map_spares_the_entries_of_others",
     "new; foreign 7; put; foreign 2; leave ->\n"
     "keys -> 2! 7!\n"
     "leave; keys -> 2! 7!\n"},
    /* Events of a shared file, or in a map that preserves, are removed one by
     * one. */
    {"leaving_a_shared_map_removes_its_events",
     "fail map_by_id 1 EPERM; new; foreign 7; put; leave -> bpf delete 0, bpf "
     "delete 1, bpf delete 2, bpf delete 3\n"
     "keys -> 7!\n"
     "files -> 1\n"},
    {"leaving_a_map_that_preserves_removes_its_events",
     "map_flags 0x800; new; foreign 7; put; leave -> bpf delete 0, bpf delete "
     "1, bpf delete 2, bpf delete 3\n"
     "keys -> 7!\n"},
    {"path_is_where_the_map_is_pinned",
     "pin; options path; new; put; keys -> 0 1 2 3\n"
     "files -> 1\n"
     "free; keys ->\n"},
    /* -- enabling ---------------------------------------------------------- */
    {"enable_tries_all_and_reports_the_first_failure",
     "new; fail ioctl 2 EPERM; fail ioctl 3 ENODEV; enable -> ENABLE e0 e2 "
     "EPERM, ENABLE e4 ENODEV, ENABLE e6, EPERM permission\n"
     "running -> e0 e6\n"
     "enable; running -> e0 e2 e4 e6\n"
     "disable; running ->\n"},
    /* -- fork -------------------------------------------------------------- */
    {"forked_child_leaves_all_to_the_parent",
     "new; enable; put; fork; put -> EPERM argument\n"
     "says parent\n"
     "take -> EPERM argument\n"
     "enable -> EPERM argument\n"
     "come 0 -> EPERM argument\n"
     "gone 0 ->\n"
     "disable ->\n"
     "free -> close e0 e2 e4 e6 e7 e5 e3 e1\n"
     "keys -> 0 1 2 3\n"},
    {"forked_child_leaves_a_shared_map_to_the_parent",
     "fail map_by_id 1 EPERM; new; enable; put; fork; put -> EPERM argument\n"
     "take -> EPERM argument\n"
     "gone 0 ->\n"
     "disable ->\n"
     "free -> close e0 e2 e4 e6 e7 e5 e3 e1\n"
     "keys -> 0 1 2 3\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_array, rows);
}
