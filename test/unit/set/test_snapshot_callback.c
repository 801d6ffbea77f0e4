/* SPDX-License-Identifier: MIT */
/* Scripted: what the callbacks of a snapshot of a set may do, the sources of
 * records while the rings are overwritten, and when it ends. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    /* Its source was removed, and all records of it are overwritten. Meanwhile
     * the loop runs, and its readings and turns free such sources. */
    {"set_snapshot_record_keeps_its_source_in_its_callback",
     "records 1; attr 0 sample_type=0x86; flags overwrite; cpus 0-1; set; "
     "start; samples e1 e0 1 4 5; samples e3 e2 2 3 6; read_start 1; on sample "
     "'remove 0|clock 0x300000000|fill_ring e1 SAMPLE 64|fill_ring e3 SAMPLE "
     "64|wait 10'; snapshot\n"},
    {"set_in_time_order_snapshot_record_keeps_its_source_in_its_callback",
     "records 1; attr 0 sample_type=0x86; flags time_order overwrite; cpus "
     "0-1; set; start; samples e1 e0 1 4 5; samples e3 e2 2 3 6; read_start 1; "
     "on sample 'remove 0|clock 0x300000000|fill_ring e1 SAMPLE 64|fill_ring "
     "e3 SAMPLE 64|wait 10'; snapshot\n"},
    {"set_snapshot_ends_where_an_unsound_ring_has_it_stopped",
     "records 1; attr 0 sample_type=0x86; flags overwrite; cpus 0-1; set; "
     "start; header e1 SAMPLE 0 8; header e3 SAMPLE 0 8; on EPROTO stop; "
     "snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, EPROTO\n"},
    {"set_in_time_order_snapshot_ends_where_an_unsound_ring_has_it_stopped",
     "records 1; attr 0 sample_type=0x86; flags time_order overwrite; cpus "
     "0-1; set; start; header e1 SAMPLE 0 8; header e3 SAMPLE 0 8; on EPROTO "
     "stop; snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, EPROTO\n"},
    /* Targets of both CPUs come and go, and one of a third, whose ring is new.
     * The sources stay as long as the records are there. */
    {"set_snapshot_whose_targets_change_has_sources",
     "records 1; attr 0 sample_type=0x86; flags overwrite; cpus 0-1; set; "
     "start; clock 1; samples e1 e0 1 4 5; samples e3 e2 2 3 6; on sample 'add "
     "cpus 0-2|remove 0'; snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, "
     "sample of t0 cpu0 at 5, open e4@0, SET_OUTPUT e4 e1, open e5@1, "
     "SET_OUTPUT e5 e3, open e6@2 e7@me:2, mmap e7, SET_OUTPUT e6 e7, ENABLE "
     "e4 e5 e6, read e0 e2, DISABLE e0 e2 e0 e2, close e0 e2, sample of t0 "
     "cpu0 at 4, sample of t0 cpu0 at 1, sample of t0 cpu1 at 6, sample of t0 "
     "cpu1 at 3, sample of t0 cpu1 at 2\n"
     "clock 200000001; snapshot all -> PAUSE_OUTPUT e1 e3 e7, RESUME_OUTPUT e1 "
     "e3 e7, sample of t0 cpu0 at 5, sample of t0 cpu0 at 4, sample of t0 cpu0 "
     "at 1, sample of t0 cpu1 at 6, sample of t0 cpu1 at 3, sample of t0 cpu1 "
     "at 2\n"},
    {"set_in_time_order_snapshot_whose_targets_change_has_sources",
     "records 1; attr 0 sample_type=0x86; flags time_order overwrite; cpus "
     "0-1; set; start; clock 1; samples e1 e0 1 4 5; samples e3 e2 2 3 6; on "
     "sample 'add cpus 0-2|remove 0'; snapshot -> PAUSE_OUTPUT e1 e3, "
     "RESUME_OUTPUT e1 e3, sample of t0 cpu0 at 1, open e4@0, SET_OUTPUT e4 "
     "e1, open e5@1, SET_OUTPUT e5 e3, open e6@2 e7@me:2, mmap e7, SET_OUTPUT "
     "e6 e7, ENABLE e4 e5 e6, read e0 e2, DISABLE e0 e2 e0 e2, close e0 e2, "
     "sample of t0 cpu1 at 2, sample of t0 cpu1 at 3, sample of t0 cpu0 at 4, "
     "sample of t0 cpu0 at 5, sample of t0 cpu1 at 6\n"
     "clock 200000001; snapshot all -> PAUSE_OUTPUT e1 e3 e7, RESUME_OUTPUT e1 "
     "e3 e7, sample of t0 cpu0 at 1, sample of t0 cpu1 at 2, sample of t0 cpu1 "
     "at 3, sample of t0 cpu0 at 4, sample of t0 cpu0 at 5, sample of t0 cpu1 "
     "at 6\n"},
    /* The loop runs until the first target would be forgotten. The current
     * record, and the pending ones of the snapshot, keep their source. */
    {"set_snapshot_that_runs_the_loop_keeps_the_source_of_a_removed_target",
     "records 1; attr 0 sample_type=0x86; flags overwrite; cpus 0-1; set; "
     "start; clock 1; samples e1 e0 1 4 5; samples e3 e2 2 3 6; on sample 'add "
     "cpus 0-1|add cpus 0-1|remove 0|turn 1|clock 200000001|remove 1|turn "
     "1|fill_ring e1 SAMPLE 64|fill_ring e3 SAMPLE 64|remove 2|turn 1'; "
     "snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, sample of t0 cpu0 "
     "at 5, open e4@0, SET_OUTPUT e4 e1, open e5@1, SET_OUTPUT e5 e3, ENABLE "
     "e4 e5, open e6@0, SET_OUTPUT e6 e1, open e7@1, SET_OUTPUT e7 e3, ENABLE "
     "e6 e7, read e0 e2, DISABLE e0 e2 e0 e2, close e0 e2, read e4 e5, DISABLE "
     "e4 e5 e4 e5, close e4 e5, read e6 e7, DISABLE e6 e7 e6 e7, close e6 e7, "
     "sample of t0 cpu0 at 4, sample of t0 cpu0 at 1, sample of t0 cpu1 at 6, "
     "sample of t0 cpu1 at 3, sample of t0 cpu1 at 2\n"},
    {"set_in_time_order_snapshot_that_runs_the_loop_keeps_the_source_of_a_"
     "removed_target",
     "records 1; attr 0 sample_type=0x86; flags time_order overwrite; cpus "
     "0-1; set; start; clock 1; samples e1 e0 1 4 5; samples e3 e2 2 3 6; on "
     "sample 'add cpus 0-1|add cpus 0-1|remove 0|turn 1|clock 200000001|remove "
     "1|turn 1|fill_ring e1 SAMPLE 64|fill_ring e3 SAMPLE 64|remove 2|turn 1'; "
     "snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, sample of t0 cpu0 "
     "at 1, open e4@0, SET_OUTPUT e4 e1, open e5@1, SET_OUTPUT e5 e3, ENABLE "
     "e4 e5, open e6@0, SET_OUTPUT e6 e1, open e7@1, SET_OUTPUT e7 e3, ENABLE "
     "e6 e7, read e0 e2, DISABLE e0 e2 e0 e2, close e0 e2, read e4 e5, DISABLE "
     "e4 e5 e4 e5, close e4 e5, read e6 e7, DISABLE e6 e7 e6 e7, close e6 e7, "
     "sample of t0 cpu1 at 2, sample of t0 cpu1 at 3, sample of t0 cpu0 at 4, "
     "sample of t0 cpu0 at 5, sample of t0 cpu1 at 6\n"},
    /* It keeps the loop alive, and sleeps: nothing ticks. */
    {"set_of_overwritable_rings_is_not_active",
     "records 1; attr 0 sample_type=0x86; flags overwrite; cpus 0-1; set; "
     "start; wait 5; timers -> 0\n"
     "samples e1 e0 1 4 5; samples e3 e2 2 3 6; wake e1; turn ->\n"
     "active -> 0\n"
     "alive -> 0\n"
     "stop; alive -> 0\n"
     "quiet e1; snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, sample of "
     "t0 cpu0 at 5, sample of t0 cpu0 at 4, sample of t0 cpu0 at 1, sample of "
     "t0 cpu1 at 6, sample of t0 cpu1 at 3, sample of t0 cpu1 at 2\n"},
    {"set_snapshot_works_after_eof",
     "records 1; attr 0 sample_type=0x86; flags overwrite; thread me 0-1; set; "
     "start; samples e1 e0 1 4 5; samples e3 e2 2 3 6; hup e0 e2; wait_for "
     "EOF\n"
     "active -> 0\n"
     "start -> EOF no_task a0 t0\n"
     "snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, sample of t0 me "
     "cpu0 at 5, sample of t0 me cpu0 at 4, sample of t0 me cpu0 at 1, sample "
     "of t0 me cpu1 at 6, sample of t0 me cpu1 at 3, sample of t0 me cpu1 at "
     "2\n"},
    {"set_end_in_a_snapshot_that_runs_the_loop_comes_after_it",
     "records 1; attr 0 sample_type=0x86; flags overwrite; thread me 0-1; set; "
     "start; samples e1 e0 1 4 5; samples e3 e2 2 3 6; on sample 'hup e0 "
     "e2|turn 5'; snapshot -> PAUSE_OUTPUT e1 e3, RESUME_OUTPUT e1 e3, sample "
     "of t0 me cpu0 at 5, sample of t0 me cpu0 at 4, sample of t0 me cpu0 at "
     "1, sample of t0 me cpu1 at 6, sample of t0 me cpu1 at 3, sample of t0 me "
     "cpu1 at 2\n"
     "wait_for 't0 ended, EOF'\n"},
    /* A record that a snapshot could still deliver keeps its source, but no
     * others. */
    {"set_forgets_removed_targets_as_they_are_overwritten",
     "records 1; attr 0 sample_type=0x86; flags overwrite; cpus 0-1; set; "
     "start; clock 1; samples e1 e0 1 4 5; samples e3 e2 2 3 6; remove 0; "
     "snapshot; clock 200000001; snapshot; sources e0 e2 -> a0 t0 cpu0 #0, a0 "
     "t0 cpu1 #1\n"
     "fill_ring e1 SAMPLE 64; snapshot; sources e0 e2 -> -, a0 t0 cpu1 #1\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
