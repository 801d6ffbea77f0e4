/* SPDX-License-Identifier: MIT */
/* Scripted: snapshots of a set on the thread pool: the order of their slices,
 * and what stays until they are done. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    {"set_snapshot_in_slices_has_the_same_order",
     "records 1; attr 0 sample_type=0x86; flags overwrite; cpus 0-1; set; "
     "start 1; samples e1 e0 1 4 5; samples e3 e2 2 3 6; snapshot later; pool "
     "1; turn 1 -> sample of t0 cpu0 at 5\n"
     "turn 1 -> sample of t0 cpu0 at 4\n"
     "turn 4 -> sample of t0 cpu0 at 1, sample of t0 cpu1 at 6, sample of t0 "
     "cpu1 at 3, sample of t0 cpu1 at 2\n"
     "turn 2 -> snapshot 0\n"
     "ring_stats -> read e0 e2, cpu0 3 records in 3 slices, 0 late, 0 of bad "
     "times, cpu1 3 records in 3 slices, 0 late, 0 of bad times\n"},
    {"set_in_time_order_snapshot_in_slices_has_the_same_order",
     "records 1; attr 0 sample_type=0x86; flags time_order overwrite; cpus "
     "0-1; set; start 1; samples e1 e0 1 4 5; samples e3 e2 2 3 6; snapshot "
     "later; pool 1; turn 1 -> sample of t0 cpu0 at 1\n"
     "turn 1 -> sample of t0 cpu1 at 2\n"
     "turn 4 -> sample of t0 cpu1 at 3, sample of t0 cpu0 at 4, sample of t0 "
     "cpu0 at 5, sample of t0 cpu1 at 6\n"
     "turn 2 -> snapshot 0\n"
     "ring_stats -> read e0 e2, cpu0 3 records in 3 slices, 0 late, 0 of bad "
     "times, cpu1 3 records in 3 slices, 0 late, 0 of bad times\n"},
    {"set_snapshot_keeps_removed_targets_until_it_is_done",
     "records 1; attr 0 sample_type=0x86; flags overwrite; cpus 0-1; set; "
     "start 1; clock 1; samples e1 e0 1 4 5; samples e3 e2 2 3 6; add cpus "
     "0-2; remove 0; clock 200000001; snapshot -> PAUSE_OUTPUT e1 e3 e7, "
     "RESUME_OUTPUT e1 e3 e7, sample of t0 cpu0 at 5, sample of t0 cpu0 at 4, "
     "sample of t0 cpu0 at 1, sample of t0 cpu1 at 6, sample of t0 cpu1 at 3, "
     "sample of t0 cpu1 at 2\n"
     "snapshot all later; turn 1; pool 1; turn 1 -> sample of t0 cpu0 at 5\n"
     "fill_ring e1 SAMPLE 64; fill_ring e3 SAMPLE 64; add cpus 0; turn -> "
     "sample of t0 cpu0 at 4, sample of t0 cpu0 at 1, sample of t0 cpu1 at 6, "
     "sample of t0 cpu1 at 3, sample of t0 cpu1 at 2, snapshot 0\n"
     "sources e0 -> -\n"},
    {"set_in_time_order_snapshot_keeps_removed_targets_until_it_is_done",
     "records 1; attr 0 sample_type=0x86; flags time_order overwrite; cpus "
     "0-1; set; start 1; clock 1; samples e1 e0 1 4 5; samples e3 e2 2 3 6; "
     "add cpus 0-2; remove 0; clock 200000001; snapshot -> PAUSE_OUTPUT e1 e3 "
     "e7, RESUME_OUTPUT e1 e3 e7, sample of t0 cpu0 at 1, sample of t0 cpu1 at "
     "2, sample of t0 cpu1 at 3, sample of t0 cpu0 at 4, sample of t0 cpu0 at "
     "5, sample of t0 cpu1 at 6\n"
     "snapshot all later; turn 1; pool 1; turn 1 -> sample of t0 cpu0 at 1\n"
     "fill_ring e1 SAMPLE 64; fill_ring e3 SAMPLE 64; add cpus 0; turn -> "
     "sample of t0 cpu1 at 2, sample of t0 cpu1 at 3, sample of t0 cpu0 at 4, "
     "sample of t0 cpu0 at 5, sample of t0 cpu1 at 6, snapshot 0\n"
     "sources e0 -> -\n"},
    /* It can be had after the end too. */
    {"set_whose_targets_are_gone_ends_after_its_snapshot",
     "records 1; attr 0 sample_type=0x86; flags overwrite; thread me 0-1; set; "
     "start 1; samples e1 e0 1 4 5; samples e3 e2 2 3 6; snapshot later; hup "
     "e0 e2; wait 250; pool 1; turn -> sample of t0 me cpu0 at 5, sample of t0 "
     "me cpu0 at 4, sample of t0 me cpu0 at 1, sample of t0 me cpu1 at 6, "
     "sample of t0 me cpu1 at 3, sample of t0 me cpu1 at 2, snapshot 0\n"
     "wait_for 't0 ended, EOF'\n"
     "snapshot all later; pool 1; turn -> sample of t0 me cpu0 at 5, sample of "
     "t0 me cpu0 at 4, sample of t0 me cpu0 at 1, sample of t0 me cpu1 at 6, "
     "sample of t0 me cpu1 at 3, sample of t0 me cpu1 at 2, snapshot 0\n"},
    {"set_snapshot_that_cannot_be_begun_is_refused",
     "records 1; attr 0 sample_type=0x86; flags overwrite; cpus 0-1; set; "
     "start 1; snapshot 8 later -> EINVAL argument a0 t0\n"
     "fork; snapshot later -> EPERM argument a0 t0\n"
     "unfork; snapshot later; snapshot later -> EBUSY argument a0 t0\n"
     "snapshot -> EBUSY argument a0 t0\n"
     "pool 1; turn\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_evlist, rows);
}
