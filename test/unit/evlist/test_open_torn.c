/* SPDX-License-Identifier: MIT */
/* Scripted: inherited groups of a task that forks while they are opened. A
 * torn group: a child has inherited a part. A group that is cut off: its leader
 * is in a child's context. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    /* The first read after opening shows that a task has inherited only a part
     * of it. */
    {"group_that_was_torn_is_opened_again",
     "attrs 3; group 1 2; task 4711 4711 77; process 4711; fail read 1 ECHILD; "
     "open -> open e0@4711 e1@4711 e2@4711<e1, read e1 ECHILD, close e1 e2, "
     "open e3@4711 e4@4711<e3, read e3\n"
     "nr -> 3\n"},
    {"group_that_was_torn_elsewhere_is_opened_again",
     "task 4711 4711 77; attrs 3; group 1 2; flags targets_later; "
     "fail read 1 ECHILD; open; elsewhere process 4711 "
     "-> open e0@4711 e1@4711 e2@4711<e1, read e1 ECHILD, close e1 e2, "
     "open e3@4711 e4@4711<e3, read e3\n"
     "nr -> 3\n"},
    /* Open 3 is of the attr after the group, open 5 of the sibling once
     * more. */
    {"group_that_is_opened_again_fails_in_order",
     "attrs 3; group 0 2; task 4711 4711 77; process 4711; fail read 1 ECHILD; "
     "fail open 3 ENOENT; fail open 5 EBUSY; "
     "open -> open e0@4711 e1@4711<e0 @4711 ENOENT, read e0 ECHILD, "
     "close e0 e1, open e2@4711 @4711<e2 EBUSY, read e2\n"
     "failures -> a1 t0 4711 EBUSY busy, a2 t0 4711 ENOENT no_event\n"},
    {"group_that_goes_on_tearing_is_left_as_it_is",
     "attrs 2; group 0 2; task 4711 4711 77; process 4711; "
     "fail read 1+ ECHILD; "
     "open -> open e0@4711 e1@4711<e0, read e0 ECHILD, close e0 e1, "
     "open e2@4711 e3@4711<e2, read e2 ECHILD, close e2 e3, "
     "open e4@4711 e5@4711<e4, read e4 ECHILD, close e4 e5, "
     "open e6@4711 e7@4711<e6, read e6 ECHILD, close e6 e7, "
     "open e8@4711 e9@4711<e8, read e8 ECHILD, close e8 e9, "
     "open e10@4711 e11@4711<e10, read e10 ECHILD, close e10 e11, "
     "open e12@4711 e13@4711<e12, read e12 ECHILD, close e12 e13, "
     "open e14@4711 e15@4711<e14, read e14 ECHILD, close e14 e15, "
     "open e16@4711 e17@4711<e16\n"
     "totals -> error ECHILD -1, error ECHILD -1\n"},
    /* Open 1 is the leader's, 2 the sibling's, 3 the one that any group
     * takes. */
    {"group_that_was_cut_off_is_opened_again",
     "attrs 3; group 0 3; task 4711 4711 77; process 4711; fail open 2 EINVAL; "
     "fail open 3 EINVAL; "
     "open -> open e0@4711 @4711<e0 EINVAL, open @4711<e0 EINVAL, close e0, "
     "open e1@4711 e2@4711<e1 e3@4711<e1, read e1\n"
     "failures ->\n"
     "events disabled -> e0 1, e1 1, e2 0, e3 0\n"},
    {"group_that_was_cut_off_by_a_child_that_ended_is_opened_again",
     "attrs 3; group 0 3; task 4711 4711 77; process 4711; flags strict; "
     "fail open 2 ENODEV; fail open 3 ENODEV; "
     "open -> open e0@4711 @4711<e0 ENODEV, open @4711<e0 ENODEV, close e0, "
     "open e1@4711 e2@4711<e1 e3@4711<e1, read e1\n"},
    /* Otherwise a weak member would be opened alone, and not be in its
     * group. */
    {"weak_member_that_was_cut_off_is_in_its_group",
     "names {task-clock,page-faults}:W; task 4711 4711 77; process 4711; "
     "fail open 2 EINVAL; fail open 3 EINVAL; "
     "open -> open e0@4711 @4711<e0 EINVAL, open @4711<e0 EINVAL, close e0, "
     "open e1@4711 e2@4711<e1, read e1\n"},
    {"group_that_goes_on_being_cut_off_is_reported",
     "attrs 3; group 0 3; task 4711 4711 77; process 4711; "
     "refuse siblings ENODEV; "
     "open -> open e0@4711 @4711<e0 ENODEV, open @4711<e0 ENODEV, close e0, "
     "open e1@4711 @4711<e1 ENODEV, open @4711<e1 ENODEV, close e1, "
     "open e2@4711 @4711<e2 ENODEV, open @4711<e2 ENODEV, close e2, "
     "open e3@4711 @4711<e3 ENODEV, open @4711<e3 ENODEV, close e3, "
     "open e4@4711 @4711<e4 ENODEV, open @4711<e4 ENODEV, close e4, "
     "open e5@4711 @4711<e5 ENODEV, open @4711<e5 ENODEV, close e5, "
     "open e6@4711 @4711<e6 ENODEV, open @4711<e6 ENODEV, close e6, "
     "open e7@4711 @4711<e7 ENODEV, open @4711<e7 ENODEV, close e7, "
     "open e8@4711 @4711<e8 ENODEV, open @4711<e8 ENODEV, "
     "open @4711<e8 ENODEV, open @4711<e8 ENODEV\n"
     "failures -> a1 t0 4711 ENODEV no_event, a2 t0 4711 ENODEV no_event\n"
     "nr -> 1\n"},
    /* The group takes another: it is the member that it does not take. */
    {"member_that_a_group_does_not_take_is_no_cut",
     "attrs 3; group 0 3; task 4711 4711 77; process 4711; fail open 2 EINVAL; "
     "open -> open e0@4711 @4711<e0 EINVAL, open e1@4711<e0, close e1, "
     "open e2@4711<e0, read e0\n"
     "events config -> e0 1, e1 9, e2 9\n"
     "failures -> a1 t0 4711 EINVAL unknown\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
