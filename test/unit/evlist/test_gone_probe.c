/* SPDX-License-Identifier: MIT */
/* Scripted: targets whose events hang up, how often they are polled, and when
 * /proc is read instead. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"targets_that_live_are_asked_by_one_poll",
     "tasks; records 3; thread 11 0-1; thread 12 0-1; open; "
     "probe -> poll all e0, 0 ended\n"
     "probe -> poll all e0, 0 ended\n"
     "ended -> more can\n"},
    /* Two attrs on two CPUs: each that has hung up is passed over once. The
     * first poll is of all targets, the others of the target whose event has
     * hung up. The end is reported once, and not checked again. */
    {"event_that_hung_up_is_asked_once",
     "tasks; records 2; thread 11 0-1; "
     "open -> open e0@11:0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, open e2@11:0, "
     "SET_OUTPUT e2 e1, open e3@11:1 e4@me:1, mmap e4, SET_OUTPUT e3 e4, "
     "open e5@11:1, SET_OUTPUT e5 e4\n"
     "hup e0 e2 e3; probe -> poll all e0, poll e0 e2 e3 e5, 0 ended\n"
     "probe -> poll all e5, 0 ended\n"
     "hup e5; ended -> more can\n"
     "probe -> poll all e5, poll e5, 1 ended\n"
     "ended -> t0, all\n"
     "probe -> 0 ended\n"
     "ended -> all\n"},
    {"event_in_error_state_does_not_end_a_living_task",
     "tasks; records 1; thread 11 0-1; open; err e0 e2; "
     "probe -> poll all e0, poll e0, 0 ended\n"},
    /* Its PMU was unregistered: it would never hang up. */
    {"event_in_error_state_of_a_task_that_is_gone_ends",
     "tasks; records 1; thread 11 0-1; open; task 11 11 78; err e0 e2; "
     "probe -> poll all e0, poll e0 e2, 1 ended\n"},
    /* If the poll of all targets fails, each is polled alone. */
    {"event_that_cannot_be_asked_is_taken_to_live",
     "tasks; records 1; thread 11 0; thread 12 0; open; hup e0; "
     "fail poll 1-2 ENOMEM; "
     "probe -> poll all e0 ENOMEM, poll e0 ENOMEM, poll e2, 0 ended\n"
     "fail poll 1 ENOMEM; probe -> poll all e0 ENOMEM, poll e0 e2, 1 ended\n"},
    /* It would eat the parent's wakeups. */
    {"forked_child_asks_nothing",
     "tasks; records 1; thread 11 0; open; hup e0; fork; probe -> 0 ended\n"
     "unfork; probe -> poll all e0, poll e0, 1 ended\n"},
    {"cpus_never_end",
     "records 1; cpus 0-1; open; hup e0 e1 e2 e3; probe -> 0 ended\n"
     "ended -> none can\n"},
    {"evlist_without_targets_has_not_ended",
     "records 1; open; probe -> 0 ended\n"
     "ended -> none can\n"},
    /* Two tasks and a CPU, which is added and lives. */
    {"targets_end_one_by_one_and_are_reported_in_order",
     "tasks; records 1; thread 11 0; thread 12 0; open; hup e2; "
     "probe -> poll all e0, poll e2, 1 ended\n"
     "hup e0; probe -> poll all e0, poll e0, 1 ended\n"
     "remove 0; ended -> t1, all\n"
     "add cpus 0; ended -> none can\n"},
    {"target_that_was_removed_is_not_reported",
     "tasks; records 1; thread 11 0; thread 11 0; open; hup e0 e2; "
     "probe -> poll all e0, poll e0 e2, 2 ended\n"
     "remove 0; ended -> t1, all\n"},
    /* An event that only counts has no ring, and always hangs up. */
    {"target_that_writes_nothing_is_searched_for_in_proc",
     "tasks; records 1; attr 0 sample_period=0; thread 11 0-1; thread 12 0-1; "
     "open; task 12 12 78; hup e0 e1 e2 e3; probe -> 1 ended\n"
     "ended -> t1, more can\n"
     "probe -> 0 ended\n"},
    {"event_that_writes_nothing_is_not_asked",
     "tasks; records 2; attr 0 sample_period=0; thread 11 0; "
     "open -> open e0@11:0 e1@11:0 e2@me:0, mmap e2, SET_OUTPUT e1 e2\n"
     "hup e0; probe -> poll e1, 0 ended\n"
     "hup e1; probe -> poll all e1, poll e1, 1 ended\n"},
    /* The id may be another task's by now, as here. */
    {"task_that_was_gone_when_it_was_opened_is_so",
     "tasks; records 1; thread 11 0; thread 11 0; fail open 1 ESRCH; open; "
     "probe -> poll all e0, 1 ended\n"
     "ended -> t0, more can\n"},
    /* Its end is not reported, because it is not known. */
    {"task_that_may_not_be_measured_lives",
     "tasks; records 1; thread 11 0; thread 11 0; fail open 1 EACCES; open; "
     "probe -> poll all e0, 0 ended\n"
     "ended -> more can\n"},
    /* There is no place of it at all. */
    {"target_that_is_not_there_has_ended",
     "tasks; records 1; thread 11 0; process 99; open; "
     "probe -> poll all e0, 1 ended\n"
     "ended -> t1, more can\n"},
    /* One poll(2) has 64 fds. */
    {"targets_of_two_polls_are_all_asked",
     "tasks; records 1; thread 11 0; open; times 62 add thread 11 0; "
     "add thread 12 0; times 5 add thread 11 0; add thread 12 0; "
     "probe -> poll all e0 e65, 0 ended\n"
     "probe -> poll all e0 e65, 0 ended\n"
     "hup e64 e70; probe -> poll all e0, poll e64, poll all e65, poll e70, "
     "2 ended\n"
     "ended -> t63, t69, more can\n"
     "probe -> poll all e0 e66, 0 ended\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
