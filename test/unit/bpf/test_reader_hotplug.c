/* SPDX-License-Identifier: MIT */
/* Scripted: what a BPF reader does with CPUs whose ids have gaps, that have no
 * entry in the map, and that go and come, in a tree that replaces sysfs and
 * with the test's uevents. */
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    /* -- which CPUs -------------------------------------------------------- */
    /* The key is the CPU's id, never its position. */
    {"cpus_with_gaps_have_the_entries_of_their_ids",
     "online 0,2-5; map 8; reader; start h0; keys -> 0 2 3 4 5\n"
     "rings h0 -> read e0 e2 e4 e6 e8, cpu0 0 waiting, 0 records, 0 lost, cpu2 "
     "0 waiting, 0 records, 0 lost, cpu3 0 waiting, 0 records, 0 lost, cpu4 0 "
     "waiting, 0 records, 0 lost, cpu5 0 waiting, 0 records, 0 lost\n"
     "status h0 5 1 -> 0, ENODEV\n"
     "append e9 SAMPLE e8; wake e9; turn 3 -> SAMPLE of cpu5, 0 left, poll e9\n"
     "quiet e9\n"},
    {"map_with_fewer_entries_has_the_cpus_below",
     "online 0,2-5; map 4; reader; start h0; keys -> 0 2 3\n"
     "status h0 4 3 -> E2BIG, 0\n"},
    {"cpu_of_the_list_that_is_offline_is_waited_for",
     "map 8; online 0-1; reader cpus=1,3; follow h0; start h0; run; keys -> 1\n"
     "status h0 3 0 -> ENODEV, ENOENT\n"
     "comes 3 0-1,3; run -> open e2@3 e3@me:3, mmap e3, SET_OUTPUT e2 e3, "
     "ENABLE e2, bpf update 3, cpu3 0\n"
     "keys -> 1 3\n"
     "status h0 3 -> 0\n"
     "append e3 SAMPLE e2; wake e3; turn 3 -> SAMPLE of cpu3, 0 left, poll e3\n"
     "quiet e3\n"},
    {"no_cpu_that_the_map_has_is_enodev",
     "online 2-5; map 2; reader -> ENODEV no_cpu\n"},
    /* -- CPUs that go and come --------------------------------------------- */
    /* Its ring is drained to its end, and used again. */
    {"cpu_that_goes_and_comes_is_put_into_the_map_again",
     "map 8; online 0-1; reader; follow h0; start h0; run; append e3 SAMPLE "
     "e2\n"
     "goes 1 0; run -> bpf delete 1, read e2, close e2, cpu1 ENODEV, SAMPLE of "
     "cpu1, 0 left\n"
     "status h0 1 -> ENODEV\n"
     "comes 1 0-1; run -> open e4@1, SET_OUTPUT e4 e3, ENABLE e4, bpf update "
     "1, cpu1 0\n"
     "keys -> 0 1\n"
     "status h0 1 -> 0\n"
     "running -> e0 e4\n"
     "append e3 SAMPLE e4; wake e3; turn 3 -> SAMPLE of cpu1, 0 left, poll e3\n"
     "quiet e3; stats h0 cpus_gone cpus_come -> read e0 e4, 1, 1\n"},
    {"cpu_that_comes_for_the_first_time_gets_a_ring",
     "map 8; online 0-1; reader; follow h0; start h0; comes 5 0-1,5; run -> "
     "open e4@5 e5@me:5, mmap e5, SET_OUTPUT e4 e5, ENABLE e4, bpf update 5, "
     "cpu5 0\n"
     "keys -> 0 1 5\n"
     "append e5 SAMPLE e4; wake e5; turn 3 -> SAMPLE of cpu5, 0 left, poll e5\n"
     "quiet e5\n"},
    {"cpu_beyond_the_map_that_comes_is_an_error",
     "map 8; online 0-1; reader; follow h0; start h0; comes 9 0-1,9; run -> "
     "cpu9 E2BIG argument\n"
     "goes 9 0-1; run -> cpu9 ENODEV\n"
     "keys -> 0 1\n"},
    {"cpu_that_is_not_in_the_list_is_not_reported",
     "map 8; online 0-1; reader cpus=0; follow h0; start h0; goes 1 0; comes 1 "
     "0-1; comes 2 0-2; run ->\n"
     "keys -> 0\n"
     "stats h0 cpus_gone cpus_come -> read e0, 0, 0\n"
     "rings h0 -> cpu0 0 waiting, 0 records, 0 lost\n"},
    {"cpu_that_comes_is_in_the_map_as_the_others_are",
     "map 8; online 0-1; reader; follow h0; start h0; unpublish h0; comes 2 "
     "0-2; run -> open e4@2 e5@me:2, mmap e5, SET_OUTPUT e4 e5, ENABLE e4, "
     "cpu2 0\n"
     "running -> e0 e2 e4\n"
     "publish h0; keys -> 0 1 2\n"
     "stop h0; keys -> 0 1 2\n"},
    /* The other CPUs are not affected, and the next try succeeds. */
    {"cpu_that_comes_without_memory_is_an_error",
     "each calloc ENOMEM; map 8; online 0-1; reader; start h0; run; sweep; "
     "comes 2 0-2; run; memory spare\n"
     "append e3 SAMPLE e2; wake e3; turn 3; quiet e3; goes 2 0-1; run; comes 2 "
     "0-2; run; keys\n"},
    /* -- when -------------------------------------------------------------- */
    {"reader_of_fixed_cpus_follows_no_cpu",
     "map 8; online 0-1; reader fixed; start h0; goes 1 0; comes 1 0-1; comes "
     "2 0-2; run ->\n"
     "keys -> 0 1\n"
     "uevent_reads -> 0\n"
     "status h0 2 -> ENOENT\n"},
    /* Also with overwritable rings, for which nothing wakes. */
    {"overwritable_rings_follow_the_cpus",
     "map 8; online 0-1; reader overwrite; follow h0; start h0; alive -> 0\n"
     "goes 1 0; comes 2 0,2; run -> bpf delete 1, read e2, close e2, cpu1 "
     "ENODEV, open e4@2 e5@me:2, mmap e5, SET_OUTPUT e4 e5, ENABLE e4, bpf "
     "update 2, cpu2 0\n"
     "keys -> 0 2\n"
     "events write_backward -> e0 1, e1 1, e2 1, e3 1, e4 1, e5 1\n"
     "snapshot h0 no_wait -> PAUSE_OUTPUT e1 e3 e5, RESUME_OUTPUT e1 e3 e5\n"},
    {"reader_without_sysfs_is_not_opened",
     "map 8; online ''; reader cpus=0-1 -> ENODEV no_cpu\n"},
    /* -- in the callback --------------------------------------------------- */
    /* Two that go at once. */
    {"reader_forked_when_the_first_of_two_went_stops_there",
     "map 8; reader; follow h0; start h0; run; on 'cpu1 ENODEV' fork; down 1; "
     "goes 2 0; run -> bpf delete 1, read e2, close e2, cpu1 ENODEV\n"
     "keys -> 0 2\n"},
    /* The new event of a CPU that comes back begins at 0. Otherwise the kernel
     * is not asked twice in 100 ms. */
    {"lost_records_are_kept_when_a_cpu_is_back",
     "kernel with lost; map 8; online 0-1; words e2 0 7; words e4 0 2; reader; "
     "follow h0; start h0; run\n"
     "stats h0 lost_records -> read e0 e2, 7\n"
     "word e2 1 9; goes 1 0; run -> bpf delete 1, read e2, close e2, cpu1 "
     "ENODEV\n"
     "comes 1 0-1; run -> open e4@1, SET_OUTPUT e4 e3, ENABLE e4, bpf update "
     "1, cpu1 0\n"
     "stop h0; stats h0 lost_records -> read e0 e4, 11\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_handles, rows);
}
