/* SPDX-License-Identifier: MIT */
/* Scripted: how an evlist uses what read(2) returns. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"group_is_read_once_for_each_place",
     "attrs 5; group 0 5; cpus 0-2; open; "
     "give e0 10 10 e0=1 e1=2 e2=3 e3=4 e4=5; read -> read e0 e5 e10\n"},
    {"values_of_a_group_are_found_by_id",
     "attrs 3; group 0 3; cpus 0; open; give e0 10 10 e0=1 e1=2 e2=3; "
     "totals -> 1@10, 2@10, 3@10\n"
     "give e0 10 10 e0=1 e2=3 e1=2; totals -> 1@10, 2@10, 3@10\n"
     "give e0 10 10 e1=2 e0=1 e2=3; totals -> 1@10, 2@10, 3@10\n"
     "give e0 10 10 e1=2 e2=3 e0=1; totals -> 1@10, 2@10, 3@10\n"
     "give e0 10 10 e2=3 e0=1 e1=2; totals -> 1@10, 2@10, 3@10\n"
     "give e0 10 10 e2=3 e1=2 e0=1; totals -> 1@10, 2@10, 3@10\n"},
    /* A sibling that was closed by others, say. */
    {"value_that_a_group_lacks_is_an_error_of_its_own",
     "attrs 3; group 0 3; cpus 0; open; give e0 10 10 e0=7 e2=9; "
     "totals -> 7@10, error EPROTO -1, 9@10\n"},
    /* One more than was opened is no harm. */
    {"value_of_a_stranger_is_left_out",
     "attrs 3; group 0 3; cpus 0; open; give e0 10 10 e0=7 e9=8 e1=9 e2=10; "
     "totals -> 7@10, 9@10, 10@10\n"},
    {"times_of_a_group_are_its_leaders",
     "attrs 3; group 0 3; cpus 0; open; give e0 40 10 e0=10 e1=20 e2=30; "
     "totals -> 10@40/10=40, 20@40/10=80, 30@40/10=120\n"},
    /* A pinned one that the PMU could not hold. */
    {"no_bytes_are_ebadf",
     "attrs 3; group 0 3; cpus 0; open; "
     "totals -> error EBADF -1, error EBADF -1, error EBADF -1\n"},
    {"sizes_that_do_not_fit_are_eproto",
     "attrs 3; group 0 3; cpus 0; open; give e0 10 10 e0=7 e1=8 e2=9; "
     "size e0 1; totals -> error EPROTO -1, error EPROTO -1, error EPROTO -1\n"
     "size e0 8; totals -> error EPROTO -1, error EPROTO -1, error EPROTO -1\n"
     "size e0 24; totals -> error EPROTO -1, error EPROTO -1, error EPROTO -1\n"
     "size e0 71; totals -> error EPROTO -1, error EPROTO -1, error EPROTO -1\n"
     "size e0 95; totals -> error EPROTO -1, error EPROTO -1, error EPROTO -1\n"
     "size e0 96; totals -> 7@10, 8@10, 9@10\n"
     "word e0 0 2; totals "
     "-> error EPROTO -1, error EPROTO -1, error EPROTO -1\n"
     "word e0 0 0xffffffffffffffff; "
     "totals -> error EPROTO -1, error EPROTO -1, error EPROTO -1\n"},
    {"error_of_one_event_is_no_failure_of_the_reading",
     "attrs 1; cpus 0-2; open; give e0 5 10 10; give e2 6 10 10; "
     "fail read 2 EIO; totals -> 11@20 EIO -1\n"
     "give e1 4 10 10; totals -> 15@30\n"},
    {"race_with_a_fork_is_tried_again",
     "attrs 3; group 0 3; cpus 0; open; give e0 10 10 e0=7 e1=8 e2=9; "
     "fail read 1-50 ECHILD; totals -> 7@10, 8@10, 9@10\n"
     "fail read 1+ ECHILD; "
     "totals -> error ECHILD -1, error ECHILD -1, error ECHILD -1\n"},
    {"states_follow_the_times",
     "attrs 1; cpus 0; open; give e0 0 0 0; totals -> did not run\n"
     "give e0 0 10 0; totals -> never scheduled -1\n"
     "give e0 0 10 10; totals -> 0@10\n"
     "give e0 4 10 5; totals -> 4@10\n"},
    {"lost_records_are_reported",
     "attrs 1; cpus 0; open; give e0 5 10 10 3; totals -> 5@10+3 lost\n"},
    /* Not the lost records before the last reading. */
    {"reset_takes_off_counts_and_times",
     "attrs 1; cpus 0; open; give e0 50 100 80; reset -> read e0\n"
     "totals -> did not run\n"
     "give e0 57 120 90; totals -> 7@20/10=14\n"
     "reset; give e0 60 130 100; totals -> 3@10\n"},
    /* By PERF_EVENT_IOC_RESET, which keeps the times. Nor does it go back when
     * it is above 50 again. */
    {"reset_by_others_does_not_run_below_zero",
     "attrs 1; cpus 0; open; give e0 50 100 80; reset; give e0 3 110 90; "
     "totals -> 3@10\n"
     "give e0 55 130 110; totals -> 55@30\n"},
    /* How much of the 60 was before the reset is not known. */
    {"reset_of_what_cannot_be_read_is_an_error_once",
     "attrs 1; cpus 0; open; give e0 50 100 80; totals -> 50@100/80=62\n"
     "fail read 1 EIO; reset; give e0 60 110 90; totals -> error EIO -1\n"
     "give e0 67 120 95; totals -> 7@10/5=14\n"},
    /* Not 50. */
    {"reset_is_known_to_deltas",
     "attrs 1; cpus 0; open; give e0 50 100 100; mark; reset; "
     "give e0 150 300 300; delta 0 -> 100@200\n"},
    {"reading_without_memory_is_enomem_and_left_alone",
     "attrs 1; cpus 0; open; fail calloc 1 ENOMEM; read -> ENOMEM\n"
     "read -> read e0\n"},
    {"second_reading_takes_no_memory",
     "attrs 3; group 0 3; cpus 0; open; read; memory mark; "
     "fail calloc 1+ ENOMEM; read; reset; memory compare\n"},
    {"places_are_in_the_order_of_targets",
     "attrs 1; cpus 3-4; cpus 0; open; "
     "places -> t0 cpu3 #0 e0, t0 cpu4 #1 e1, t1 cpu0 #2 e2\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
