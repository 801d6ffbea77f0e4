/* SPDX-License-Identifier: MIT */
/* Scripted: options with which a set is not opened, by init or on libuv's
 * pool. What all handles have in common when they are opened is in
 * live/test_life_opening.c. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    /* The pool has closed the events of the first try. */
    {"set_whose_rings_were_made_smaller_goes_on",
     "records 2; ring_bytes 0; cpus 0-1; fail mmap 1 EPERM; set pool; "
     "pool -> open e0@0 e1@me:0, mmap e1 EPERM, close e1, open e2@me:0, "
     "mmap e2, SET_OUTPUT e0 e2, open e3@0, SET_OUTPUT e3 e2, "
     "open e4@1 e5@me:1, mmap e5, SET_OUTPUT e4 e5, open e6@1, "
     "SET_OUTPUT e6 e5, opened 0\n"
     "nr -> 4\n"
     "rings -> cpu0 e2 of 2, cpu1 e5 of 2\n"},
    {"set_of_nothing_says_what_to_set",
     "attrs 1; flags records; cpus 0; set; start -> EINVAL argument a0 t0\n"
     "says 'all events of the set only count, so the callback would'\n"},
    {"set_without_targets_says_what_to_set",
     "attrs 1; set -> EINVAL argument a0 t0\n"
     "says 'options.targets is set, but options.nr_targets is 0'\n"},
    /* Also of the events that only count, which have no ring. */
    {"set_without_its_second_ring_is_not_opened",
     "records 2; attr 1 sample_period=0; cpus 0-1; fail mmap 2 EACCES; "
     "set -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, "
     "open e2@0 e3@1 e4@me:1, mmap e4 EACCES, close e4 e3, DISABLE e0, "
     "close e0 e2, munmap e1, close e1, EACCES permission a0 t0\n"},
    {"set_open_that_cannot_be_right_fails_at_once",
     "attrs 1; flags 0x80000000; cpus 0; set pool -> EINVAL argument a0 t0\n"
     "attrs 1; cpus zero; set pool -> EINVAL argument a0 t0\n"},
    {"set_opened_by_the_pool_is_open_when_it_calls_back",
     "records 1; cpus 0-1; set pool ->\n"
     "nr -> 0\n"
     "add cpus 0 -> EBUSY argument a0 t0\n"
     "pool -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, open e2@1 e3@me:1, "
     "mmap e3, SET_OUTPUT e2 e3, opened 0\n"
     "nr -> 2\n"},
    {"set_whose_events_cannot_be_opened_is_not_opened",
     "records 1; cpus 0-1; fail open 1+ EACCES; set pool; "
     "pool -> open @0 EACCES, open @1 EACCES, opened EACCES\n"
     "add cpus 0 -> EBADF argument a0 t0\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
