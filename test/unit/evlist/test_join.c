/* SPDX-License-Identifier: MIT */
/* Scripted: a target that another thread opens joins the list, or leaves it
 * unchanged. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    /* Both have been opened before one of them joins. A target that fails does
     * not undo their fallback. */
    {"targets_that_were_opened_alike_join",
     "attrs 1; attr 0 sig_data=7; flags targets_later; fallbacks kernel; open; "
     "begin 0 cpus 0-1; begin 1 cpus 0-1; fail open 1 E2BIG; steps 0; "
     "fail open 1 E2BIG; steps 1; join 0; changes 0 -> sig_data 7 to 0\n"
     "join 1; nr -> 4\n"
     "fail open 1 EMFILE; add cpus 0-1 -> open @0 EMFILE, EMFILE files a0 t2\n"
     "changes 0 -> sig_data 7 to 0\n"},
    {"targets_that_were_opened_with_other_fallbacks_do_not_join",
     "attrs 1; attr 0 sig_data=7; flags targets_later; fallbacks kernel; open; "
     "begin 0 cpus 0-1; begin 1 cpus 0-1; fail open 1 E2BIG; steps 0; steps 1; "
     "join 0; join 1 -> EAGAIN argument a0 t0, close e2 e3\n"
     "nr -> 2\n"},
    {"target_without_memory_does_not_join",
     "each calloc ENOMEM; attrs 1; attr 0 sig_data=7; flags targets_later; "
     "fallbacks kernel; open; begin 0 cpus 0-1; fail open 1 E2BIG; steps 0; "
     "join 0; item 0; sweep; elsewhere cpus 0-1; nr\n"},
    /* They were those of the set when it began to be opened. */
    {"target_with_fallbacks_that_are_gone_does_not_join",
     "attrs 1; attr 0 sig_data=7; flags targets_later; fallbacks kernel; open; "
     "fail open 1 E2BIG; add cpus 0-1; begin 0 cpus 0-1; remove 0; "
     "fail open 1 EMFILE; add cpus 0-1 -> open @0 EMFILE, EMFILE files a0 t2\n"
     "changes 0 ->\n"
     "steps 0; join 0 -> EAGAIN argument a0 t0, close e2 e3\n"},
    {"target_that_is_cancelled_closes_an_event_in_each_step",
     "attrs 1; cpus 0-3; open; begin 0 cpus 0-3; "
     "steps 0 7 -> open e4@0 e5@1 e6@2\n"
     "cancel 0 -> close e4 e5 e6\n"
     "drop 0 -> ECANCELED argument a0 t0\n"},
    {"target_with_another_period_does_not_join",
     "attrs 1; attr 0 sample_period=100; cpus 0; open; begin 0 cpus 1; "
     "period 0 200; steps 0; join 0 -> EAGAIN argument a0 t0, close e1\n"},
    {"target_with_another_filter_does_not_join",
     "attrs 1; cpus 0; open; begin 0 cpus 1; filter 0 'pid == 7'; steps 0; "
     "join 0 -> EAGAIN argument a0 t0, close e1\n"},
    {"first_target_with_another_period_does_not_join",
     "attrs 1; attr 0 sample_period=100; flags targets_later; open; "
     "begin 0 cpus 1; period 0 200; steps 0; "
     "join 0 -> EAGAIN argument a0 t0, close e0\n"},
    {"first_target_with_a_fallback_and_another_period_does_not_join",
     "attrs 1; attr 0 sample_period=100 sig_data=7; flags targets_later; "
     "fallbacks kernel; open; begin 0 cpus 1; period 0 200; fail open 1 E2BIG; "
     "steps 0; join 0 -> EAGAIN argument a0 t0, close e0\n"},
    /* Only its own event is enabled. */
    {"target_that_was_overtaken_keeps_its_place",
     "records 2; cpus 0; open; enable; begin 0 cpus 1; fail open 1 ENODEV; "
     "add cpus 0 -> open @0 ENODEV, open e3@0, SET_OUTPUT e3 e1, ENABLE e3\n"
     "fail open 1 ENODEV; steps 0 -> open @1 ENODEV, open e4@1\n"
     "join 0 -> open e5@me:1, mmap e5, SET_OUTPUT e4 e5, ENABLE e4\n"
     "places -> t0 cpu0 #0 e0, t1 cpu1 #2, t2 cpu0 #1\n"
     "failures -> a0 t1 cpu1 ENODEV no_event, a0 t2 cpu0 ENODEV no_event\n"
     "rings -> cpu0 e1 of 3, cpu1 e5 of 1\n"
     "sources e7 -> -\n"},
    {"target_that_was_overtaken_fails_alone",
     "records 2; cpus 0; open; begin 0 cpus 1; add cpus 0; steps 0; "
     "fail ioctl 1 EINVAL; "
     "join 0 -> open e7@me:1, mmap e7, SET_OUTPUT e5 e7 EINVAL, close e5 e6, "
     "munmap e7, close e7, EINVAL unknown a0 t1\n"
     "places -> t0 cpu0 #0 e0, t2 cpu0 #1 e3\n"
     "remove 2; nr -> 2\n"},
    {"target_that_is_opened_while_it_is_enabled_is_enabled_there",
     "attrs 1; cpus 0; open; enable; begin 0 cpus 1; "
     "steps 0 -> open e1@1, ENABLE e1\n"
     "join 0 ->\n"},
    {"set_target_opened_by_the_pool_joins_on_the_loop",
     "records 2; attr 0 sample_period=0; cpus 0-1; set; later cpus 1 ->\n"
     "enable -> ENABLE e0 e1 e3 e4\n"
     "pool -> open e6@1 e7@1, SET_OUTPUT e7 e5, ENABLE e6 e7, t1 added 0\n"
     "nr -> 6\n"
     "sources e7 -> a1 t1 cpu1 #2\n"
     "remove 1 -> read e6 e7, DISABLE e7 e6 e7, close e6 e7\n"
     "nr -> 4\n"},
    {"set_target_that_cannot_be_opened_leaves_the_set_as_it_was",
     "records 2; cpus 0-1; set; fail open 1+ EACCES; later cpus 1; "
     "pool -> open @1 EACCES, open @1 EACCES, t1 added EACCES permission\n"
     "nr -> 4\n"
     "remove 1 -> ENOENT argument a0 t0\n"},
    {"set_target_without_fds_leaves_the_set_as_it_was",
     "records 2; cpus 0-1; set; fail open 2 EMFILE; later cpus 1; "
     "pool -> open e6@1 @1 EMFILE, close e6, t1 added EMFILE files\n"
     "nr -> 4\n"},
    {"set_target_that_is_bad_fails_at_once",
     "records 1; cpus 0; set; later cpus nine -> EINVAL argument a0 t1\n"},
    /* Its index is not used again. */
    {"set_target_removed_while_it_is_opened_is_cancelled",
     "slow; records 2; cpus 0-1; set; later cpus 1; "
     "pool 1 -> open e6@1, waits\n"
     "take 1 -> none, none\n"
     "remove 1 -> ENOENT argument a0 t0\n"
     "later cpus nine -> EINVAL argument a0 t2\n"
     "pool -> close e6, t1 added ECANCELED argument\n"
     "nr -> 4\n"
     "rings -> cpu0 e1 of 2, cpu1 e4 of 2\n"},
    {"set_target_removed_before_it_is_opened_is_cancelled",
     "slow; records 2; cpus 0-1; set; later cpus 1; remove 1; "
     "pool -> t1 added ECANCELED argument\n"
     "nr -> 4\n"},
    {"set_target_removed_when_its_last_event_is_open_is_cancelled",
     "records 2; cpus 0-1; set; later cpus 1; "
     "pool work -> open e6@1 e7@1, waits\n"
     "remove 1; pool -> DISABLE e6 e7, close e6 e7, "
     "t1 added ECANCELED argument\n"
     "nr -> 4\n"},
    {"set_target_that_fails_and_was_removed_is_cancelled",
     "records 2; cpus 0-1; set; fail open 1+ EACCES; later cpus 1; "
     "pool work -> open @1 EACCES, open @1 EACCES, waits\n"
     "remove 1; pool -> t1 added ECANCELED argument\n"},
    {"set_target_without_memory_to_be_removed_goes_on",
     "slow; records 2; cpus 0-1; set; later cpus 1; pool 1; "
     "fail calloc 2 ENOMEM; take 1 -> ENOMEM memory a0 t0\n"
     "pool -> open e7@1, SET_OUTPUT e6 e4 e7 e4, t1 added 0\n"},
    {"set_closed_while_a_target_is_opened_leaves_nothing",
     "slow; records 2; cpus 0-1; set; later cpus 1; "
     "pool 1 -> open e6@1, waits\n"
     "close -> read e0 e2 e3 e5, DISABLE e0 e2 e3 e5\n"
     "pool -> close e6, t1 added ECANCELED argument\n"
     "turn -> closed, close e0 e2 e3 e5, munmap e4, close e4, munmap e1, "
     "close e1\n"},
    {"set_closed_before_a_target_is_opened_leaves_nothing",
     "slow; records 2; cpus 0-1; set; later cpus 1; "
     "close -> read e0 e2 e3 e5, DISABLE e0 e2 e3 e5\n"
     "pool -> t1 added ECANCELED argument\n"
     "turn -> closed, close e0 e2 e3 e5, munmap e4, close e4, munmap e1, "
     "close e1\n"},
    {"set_target_without_memory_is_not_added",
     "each calloc ENOMEM; records 2; cpus 0-1; set; start; sweep; "
     "later cpus 1; pool; nr\n"},
    {"set_first_target_that_cannot_join_leaves_no_ring",
     "records 2; flags targets_later; set; start; later cpus 0-1; "
     "fail ioctl 1 EINVAL; pool -> open e0@0 e1@0 e2@1 e3@1 e4@me:0, mmap e4, "
     "SET_OUTPUT e0 e4 EINVAL, munmap e4, close e4, DISABLE e0 e1 e2 e3, "
     "close e0 e1 e2 e3, t0 added EINVAL unknown\n"
     "nr -> 0\n"
     "rings ->\n"},
    /* -- by the set, on libuv's pool --------------------------------------- */
    {"target_may_be_removed_in_its_callback",
     "records 2; flags enabled; cpus 0-1; set; on 't1 added' 'remove 1'; later "
     "cpus 1; pool -> open e6@1 e7@1, SET_OUTPUT e6 e4 e7 e4, ENABLE e6 e7, t1 "
     "added 0, read e6 e7, DISABLE e6 e7 e6 e7, close e6 e7\n"
     "nr -> 4\n"},
    {"target_that_fails_may_be_removed_in_its_callback_in_vain",
     "records 2; flags enabled; cpus 0-1; set; on 't1 added' 'remove 1'; fail "
     "open 1+ EACCES; later cpus 1; pool -> open @1 EACCES, open @1 EACCES, t1 "
     "added EACCES permission, ENOENT argument a0 t0\n"
     "nr -> 4\n"},
    /* The program knows that it was removed, so this is no timeout. */
    {"target_removed_while_its_call_hangs_is_cancelled",
     "records 2; by_program 1; flags enabled; cpus 0-1; set; hang 1 't1 added' "
     "'remove 1'; later cpus 1; pool -> program, t1 added ECANCELED argument, "
     "open e6@1, close e6\n"
     "nr -> 4\n"},
    /* The set goes on, and takes another target. */
    {"target_whose_call_hangs_times_out",
     "records 2; by_program 1; flags enabled; cpus 0-1; set; hang 1 't1 "
     "added'; later cpus 1; pool -> program, t1 added ETIMEDOUT argument, open "
     "e6@1, close e6\n"
     "nr -> 4\n"
     "later cpus 1; pool -> program, open e7@1, program, open e8@1, SET_OUTPUT "
     "e7 e4 e8 e4, ENABLE e7 e8, t2 added 0\n"
     "nr -> 6\n"},
    {"target_whose_second_call_hangs_times_out",
     "records 2; by_program 1; flags enabled; cpus 0-1; set; hang 2 't1 "
     "added'; later cpus 1; pool -> program, open e6@1, program, t1 added "
     "ETIMEDOUT argument, open e7@1, close e6 e7\n"
     "nr -> 4\n"
     "later cpus 1; pool -> program, open e8@1, program, open e9@1, SET_OUTPUT "
     "e8 e4 e9 e4, ENABLE e8 e9, t2 added 0\n"
     "nr -> 6\n"},
    /* Its rings are new: they may be opened and not watched. */
    {"first_target_without_memory_leaves_the_set_empty",
     "each calloc ENOMEM; records 2; attr 1 sig_data=7; fallbacks kernel; "
     "flags targets_later enabled; set; start; sweep; later cpus 0-1; pool\n"},
    {"first_target_that_the_pool_refuses_leaves_the_set_empty",
     "records 2; flags targets_later enabled; set; start; refuse_work; later "
     "cpus 0-1 -> ENOMEM memory a0 t0\n"
     "nr -> 0\n"},
    /* No inner handle is left: the close ends before it returns. */
    {"set_closed_in_the_callback_after_uv_close_is_clean",
     "records 2; flags enabled; cpus 0-1; set; on 't1 added' close; later cpus "
     "1; uv_close all; turn 1 ->\n"
     "pool -> open e6@1 e7@1, SET_OUTPUT e6 e4 e7 e4, ENABLE e6 e7, t1 added "
     "0, read e0 e2 e3 e5 e6 e7, DISABLE e0 e2 e3 e5 e6 e7, closed, close e0 "
     "e2 e3 e5 e6 e7, munmap e4, close e4, munmap e1, close e1\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
