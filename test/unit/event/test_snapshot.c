/* SPDX-License-Identifier: MIT */
/* Scripted: the calls of an event's snapshot. How it reports damage is in
 * live/test_life_damage.c. */
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    /* next has found a header of it to be unsound, and ended. The ring is one
     * page, so that next takes an unsound header for one that is being written
     * over: it can only be the head. */
    {"event_snapshot_after_next_has_ended_goes_on",
     "attr recorder; options ring_bytes=1; init; start h0; head e0 -4; pause "
     "h0\n"
     "next h0 -> EPROTO\n"
     "next h0 -> EOF\n"
     "resume h0; head e0 4; header e0 SWITCH 24 24\n"
     "snapshot h0 -> PAUSE_OUTPUT e0, membarrier, RESUME_OUTPUT e0, SWITCH\n"},
    {"event_snapshot_pauses_waits_and_resumes",
     "attr recorder; options ring_bytes=1; init; start h0\n"
     "header e0 SWITCH 24 24\n"
     "snapshot h0 -> PAUSE_OUTPUT e0, membarrier, RESUME_OUTPUT e0, SWITCH\n"
     "header e0 SWITCH 24 24\n"
     "snapshot h0 no_wait -> PAUSE_OUTPUT e0, RESUME_OUTPUT e0, SWITCH\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_handles, rows);
}
