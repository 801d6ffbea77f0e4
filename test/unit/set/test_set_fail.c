/* SPDX-License-Identifier: MIT */
/* Scripted: failures when a set gets a target, and the order of calls. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    /* On CPU 1, which is new to the set: all or nothing. */
    {"set_target_on_a_new_ring_out_of_memory_is_not_added",
     "each calloc ENOMEM; records 1; cpus 0; set; start; sweep; add cpus 1; "
     "turn\n"},
    {"set_target_by_time_on_a_new_ring_out_of_memory_is_not_added",
     "each calloc ENOMEM; records 1; flags time_order; cpus 0; set; start; "
     "sweep; add cpus 1; turn\n"},
    /* A ring that was added, without memory for its watch: it is not read
     * before there is memory, whatever is in it. */
    {"set_ring_that_is_not_watched_is_not_read",
     "records 1; cpus 0; set; start; fail calloc 10 ENOMEM; add cpus 1 -> open "
     "e2@1 e3@me:1, mmap e3, SET_OUTPUT e2 e3, ENABLE e2, read e2, DISABLE e2 "
     "e2, close e2, ENOMEM memory a0 t0\n"
     "header e3 SAMPLE 0 8; flush ->\n"
     "add cpus 1 -> open e4@1, SET_OUTPUT e4 e3, ENABLE e4\n"
     "flush -> EPROTO\n"
     "active -> 1\n"},
    {"set_ring_that_is_not_watched_is_not_read_by_time",
     "records 1; flags time_order; cpus 0; set; start; fail calloc 10 ENOMEM; "
     "add cpus 1 -> open e2@1 e3@me:1, mmap e3, SET_OUTPUT e2 e3, ENABLE e2, "
     "read e2, DISABLE e2 e2, close e2, ENOMEM memory a0 t0\n"
     "header e3 SAMPLE 0 8; flush ->\n"
     "add cpus 1; flush -> EPROTO\n"
     "active -> 1\n"},
    /* It is polled, and there was no memory for its merge. There is no spare
     * event either. */
    {"set_ring_that_ended_before_it_is_merged_is_not_read",
     "records 1; flags time_order; cpus 0; set; start; fail calloc 12 ENOMEM; "
     "add cpus 1 -> open e2@1 e3@me:1, mmap e3, SET_OUTPUT e2 e3, ENABLE e2, "
     "read e2, DISABLE e2 e2, close e2, ENOMEM memory a0 t0\n"
     "fail open 1 EMFILE; hup e3; wake e3; turn -> poll e3, open @me:1 EMFILE, "
     "EMFILE\n"
     "quiet e3; samples e3 e2 1; add cpus 1 -> open e4@1, SET_OUTPUT e4 e3, "
     "ENABLE e4\n"
     "flush ->\n"},
    /* Lost records are counted, and nothing counts after close was called. A
     * ring is unmapped, and its owner closed, when it is no longer polled. */
    {"set_stream_close_disables_then_closes_then_unmaps",
     "records 1; cpus 0-1; set; start; turn; close -> read e0 e2, DISABLE e0 "
     "e2\n"
     "turn -> closed, close e0 e2, munmap e3, close e3, munmap e1, close e1\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
