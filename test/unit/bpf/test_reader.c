/* SPDX-License-Identifier: MIT */
/* Scripted: calls of a BPF reader that fail, and the order of its calls. */
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    /* -- the order of calls ------------------------------------------------ */
    /* No program finds an event that is off. */
    {"first_start_enables_then_puts_and_stop_leaves_it",
     "map 8; online 0-1; reader fixed; start h0 -> ENABLE e0 e2, bpf update 0, "
     "bpf update 1\n"
     "unpublish h0 -> bpf delete 0, bpf delete 1\n"
     "unpublish h0 ->\n"
     "stop h0 ->\n"
     "stop h0 ->\n"
     "start h0 ->\n"
     "publish h0; stop h0 ->\n"
     "keys -> 0 1\n"},
    /* If the file is the reader's own, the kernel removes its entries when the
     * map is closed: other readers may have put theirs there since. Rings are
     * unmapped, and their owners closed, when they are no longer polled, and
     * after the socket of uevents. */
    {"close_leaves_the_map_disables_then_unmaps",
     "map 8; online 0-1; reader; start h0; turn 3; foreign 1; close h0 -> read "
     "e0 e2, DISABLE e0 e2\n"
     "keys -> 1!\n"
     "run -> h0 closed, close e0 e2, munmap e3, close e3, munmap e1, close "
     "e1\n"},
    /* One by one, if the file is also the caller's. */
    {"close_of_a_callers_file_takes_entries_out",
     "map 8; online 0-1; fail map_by_id 1+ EPERM; reader; start h0; close h0 "
     "-> read e0 e2, bpf delete 0, bpf delete 1, DISABLE e0 e2\n"},
    /* -- failures ---------------------------------------------------------- */
    /* Nothing is in the map, nothing counts, and the loop is not held. */
    {"publish_that_fails_at_first_is_undone",
     "map 8; online 0-1; reader; fail update 1 EPERM; publish h0 -> ENABLE e0 "
     "e2, bpf update 0 EPERM, DISABLE e0 e2, EPERM permission\n"
     "fail update 2 EPERM; publish h0 -> ENABLE e0 e2, bpf update 0, bpf "
     "update 1 EPERM, bpf delete 0, DISABLE e0 e2, EPERM permission\n"
     "keys ->\n"
     "running ->\n"
     "active h0 -> 0\n"
     "alive -> 0\n"},
    /* Started and paused, the events stay on, and a start leaves it paused. */
    {"publish_that_fails_later_leaves_the_events_on",
     "map 8; online 0-1; reader; start h0; unpublish h0; fail update 1 EPERM; "
     "publish h0 -> ENABLE e0 e2, bpf update 0 EPERM, EPERM permission\n"
     "fail update 2 EPERM; publish h0 -> ENABLE e0 e2, bpf update 0, bpf "
     "update 1 EPERM, bpf delete 0, EPERM permission\n"
     "keys ->\n"
     "running -> e0 e2\n"
     "stop h0; start h0; keys ->\n"
     "publish h0; keys -> 0 1\n"},
    {"unpublish_that_fails_leaves_all_in_the_map",
     "map 8; online 0-1; reader; start h0; fail delete 1 EPERM; unpublish h0 "
     "-> bpf delete 0 EPERM, EPERM permission\n"
     "fail delete 2 EPERM; unpublish h0 -> bpf delete 0, bpf delete 1 EPERM, "
     "bpf update 0, EPERM permission\n"
     "keys -> 0 1\n"
     "stop h0; start h0; keys -> 0 1\n"},
    /* -- many CPUs --------------------------------------------------------- */
    {"reader_of_many_cpus_is_closed_by_the_pool",
     "map 70; online 0-69; reader; hold; close h0; turn ->\n"
     "count ioctl -> 140\n"
     "pool; count ioctl -> 140\n"
     "count close -> 141\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_handles, rows);
}
