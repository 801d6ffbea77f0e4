/* SPDX-License-Identifier: MIT */
/* Scripted: the order in which a leader and its siblings are enabled and
 * disabled, and what happens if one of them fails. */
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    {"event_enable_of_a_leader_asks_the_leader_last",
     "attr task_clock; init; options leader=h0; attr page_faults; init\n"
     "start h0 -> ENABLE e1 e0\n"
     "stop h0 ->\n"
     "enable h0 -> ENABLE e1 e0\n"
     "enable h1 all -> ENABLE e1 e0\n"
     "refresh h0 1 -> ENABLE e1, REFRESH e0 1\n"
     "enable h1 -> ENABLE e1\n"},
    {"event_start_without_enable_enables_no_sibling",
     "attr task_clock; init; options leader=h0; attr page_faults; init\n"
     "start h0 no_enable ->\n"
     "stop h0 ->\n"},
    /* execve(2) enables those that have enable_on_exec. */
    {"event_start_of_a_leader_for_exec_enables_its_sibling",
     "attr task_clock enable_on_exec=1; init\n"
     "options leader=h0; attr page_faults; init; start h0 -> ENABLE e1\n"},
    /* Asked for by name they do not wait for it. */
    {"event_start_enables_no_event_that_exec_enables",
     "attr task_clock enable_on_exec=1; init\n"
     "options leader=h0; attr page_faults enable_on_exec=1; init\n"
     "start h0 ->\n"
     "enable h0 -> ENABLE e1 e0\n"},
    {"event_enable_whose_sibling_fails_says_so",
     "attr task_clock; init; options leader=h0; attr page_faults; init\n"
     "fail ioctl 1 EACCES; enable h0 -> ENABLE e1 EACCES, EACCES permission\n"
     "says page-faults\n"
     "fail ioctl 1 EACCES; start h0 -> ENABLE e1 EACCES, EACCES permission\n"
     "says page-faults\n"
     "fail ioctl 1 EACCES\n"
     "refresh h0 1 -> ENABLE e1 EACCES, EACCES permission\n"
     "says page-faults\n"
     /* The leader was not enabled, and there is nothing to disable. */
     "stop h0 ->\n"},
    {"event_close_of_a_leader_disables_siblings_first",
     "attr task_clock; init; options leader=h0; attr page_faults; init\n"
     "close h0 -> DISABLE e1 e0\n"
     /* Alone from here on. */
     "enable h1 all -> ENABLE e1\n"
     "close h1 -> DISABLE e1\n"},
    {"event_enable_of_a_leader_leaves_closing_siblings",
     "attr task_clock; init; options leader=h0; attr page_faults; init\n"
     "close h1 -> DISABLE e1\n"
     "enable h0 -> ENABLE e0\n"
     "close h0 -> DISABLE e0\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_handles, rows);
}
