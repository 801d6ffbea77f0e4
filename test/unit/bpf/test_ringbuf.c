/* SPDX-License-Identifier: MIT */
/* Scripted: the reader of a BPF ring buffer. A record has 8 bytes before its
 * data, and begins at a multiple of 8. */
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    /* -- delivery */
    {"records_are_delivered_with_their_bytes",
     "ringbuf 1; reader; start h0; submit 1 8 24; readable h0\n"
     "on SAMPLE 'unreadable h0'\n"
     "turn -> SAMPLE of 1 bytes, 48 left, SAMPLE of 8 bytes, 32 left, SAMPLE "
     "of 24 bytes, 0 left\n"
     "consumer -> 64\n"
     "stats h0 records bytes wakeups slices high_water_bytes -> 3, 64, 1, 1, "
     "64\n"},
    {"record_without_data_is_delivered",
     "ringbuf 1; reader; start h0; submit 0 8; flush h0 -> SAMPLE of 0 bytes, "
     "16 left, SAMPLE of 8 bytes, 0 left\n"
     "stats h0 records bytes -> 2, 24\n"},
    {"record_that_wraps_is_in_one_piece",
     "ringbuf 1; producer 4064; consumer 4064; reader; start h0; submit 100 8\n"
     "flush h0 -> SAMPLE of 100 bytes, 16 left, SAMPLE of 8 bytes, 0 left\n"
     "consumer -> 4192\n"},
    {"records_are_found_again_after_each_round",
     "ringbuf 1; reader; start h0; submit 1000 1000 1000 1000\n"
     "flush h0; submit 1000 1000 1000 1000\n"
     "flush h0 -> SAMPLE of 1000 bytes, 3024 left, SAMPLE of 1000 bytes, 2016 "
     "left, SAMPLE of 1000 bytes, 1008 left, SAMPLE of 1000 bytes, 0 left\n"
     "submit 1000 1000; flush h0 -> SAMPLE of 1000 bytes, 1008 left, SAMPLE of "
     "1000 bytes, 0 left\n"
     "consumer -> 10080\n"},
    {"record_longer_than_64_KiB_has_its_size",
     "ringbuf 32; reader; start h0; submit 65536; flush h0 -> SAMPLE of 65536 "
     "bytes, 0 left\n"},
    {"positions_beyond_32_bits_are_stored_whole",
     "ringbuf 1; producer 0xfffffff8; consumer 0xfffffff8; reader; start h0\n"
     "submit 8 8; flush h0 -> SAMPLE of 8 bytes, 16 left, SAMPLE of 8 bytes, 0 "
     "left\n"
     "consumer -> 4294967320\n"},
    {"full_ring_has_room_after_a_quarter_was_delivered",
     "ringbuf 1; reader; start h0; submit 1000 1000 1000 1000; submit 100 -> "
     "full\n"
     "on SAMPLE never; stop h0; next h0 -> SAMPLE of 1000 bytes, 3024 left\n"
     "submit 100 -> full\n"
     "next h0 -> SAMPLE of 1000 bytes, 2016 left\n"
     "submit 100 -> full\n"
     "next h0 -> SAMPLE of 1000 bytes, 1008 left; consumer -> 2016\n"
     "submit 100\n"},
    /* -- busy and discarded */
    {"discarded_records_are_skipped",
     "ringbuf 1; reader; start h0; discard 8; submit 8; discard 8 40; submit "
     "16; discard 8\n"
     "flush h0 -> SAMPLE of 8 bytes, 104 left, SAMPLE of 16 bytes, 16 left\n"
     "stats h0 records bytes -> 2, 136\n"
     "consumer -> 136\n"},
    {"records_after_a_busy_one_wait",
     "ringbuf 1; reader; start h0; submit 8; busy 8; submit 16\n"
     "flush h0 -> SAMPLE of 8 bytes, 40 left\n"
     "consumer -> 16; flush h0 ->\n"
     "finish 16; flush h0 -> SAMPLE of 8 bytes, 24 left, SAMPLE of 16 bytes, 0 "
     "left\n"},
    {"busy_record_that_is_discarded_lets_others_through",
     "ringbuf 1; reader; start h0; busy 8; submit 16; flush h0 ->\n"
     "finish 0 discard; flush h0 -> SAMPLE of 16 bytes, 0 left\n"},
    /* 16 wakeups without a record. */
    {"ring_that_a_busy_record_blocks_is_not_polled_for_a_while",
     "ringbuf 1; reader; start h0; busy 8; readable h0\n"
     "turn 15; polled -> 1; timers -> 0; turn 1; polled -> 0; timers -> 1\n"
     "stats h0 wakeups -> 16\n"
     "unreadable h0; wait 5; polled -> 1; finish 0; readable h0\n"
     "on SAMPLE 'unreadable h0'; turn 2 -> SAMPLE of 8 bytes, 0 left\n"},
    {"records_before_a_busy_one_are_news",
     "ringbuf 1; reader; start h0; submit 8; busy 8; readable h0\n"
     "turn 16 -> SAMPLE of 8 bytes, 16 left; polled -> 1; turn 1; polled -> "
     "0\n"},
    {"ring_that_is_blocked_is_polled_after_the_next_start",
     "ringbuf 1; reader; start h0; busy 8; readable h0\n"
     "turn 16; polled -> 0; stop h0; start h0; finish 0; turn 2 -> SAMPLE of 8 "
     "bytes, 0 "
     "left\n"},
    {"record_that_is_finished_during_a_drain_needs_no_wakeup",
     "ringbuf 1; reader; start h0; submit 8; readable h0\n"
     "on SAMPLE 'unreadable h0|submit 16'\n"
     "turn -> SAMPLE of 8 bytes, 0 left, SAMPLE of 16 bytes, 0 left\n"},
    {"record_that_is_finished_during_a_flush_comes_in_the_next_turn",
     "ringbuf 1; reader; start h0; submit 8; on SAMPLE 'submit 16'\n"
     "flush h0 -> SAMPLE of 8 bytes, 0 left\n"
     "turn -> SAMPLE of 16 bytes, 0 left\n"},
    /* -- next */
    {"next_takes_one_by_one",
     "ringbuf 1; reader; next h0 -> EAGAIN\n"
     "discard 8; submit 8; discard 16; submit 16 24; discard 8; has_record h0 "
     "-> 1\n"
     "next h0 -> SAMPLE of 8 bytes, 96 left\n"
     "next h0 -> SAMPLE of 16 bytes, 48 left\n"
     "next h0 -> SAMPLE of 24 bytes, 16 left\n"
     "consumer -> 0; next h0 -> EAGAIN; consumer -> 128\n"
     "stats h0 records bytes -> 3, 128\n"},
    {"next_waits_for_a_busy_record",
     "ringbuf 1; reader; busy 8; submit 16; has_record h0 -> 0\n"
     "next h0 -> EAGAIN; finish 0; has_record h0 -> 1\n"
     "next h0 -> SAMPLE of 8 bytes, 24 left; has_record h0 -> 1\n"
     "next h0 -> SAMPLE of 16 bytes, 0 left; has_record h0 -> 0\n"
     "next h0 -> EAGAIN\n"},
    {"next_is_refused_while_started",
     "ringbuf 1; reader; start h0; submit 8; next h0 -> EBUSY; stop h0\n"
     "next h0 -> SAMPLE of 8 bytes, 0 left\n"
     "start h0; submit 16; flush h0 -> SAMPLE of 16 bytes, 0 left\n"},
    /* -- what makes no sense */
    {"producer_too_far_ahead_is_skipped",
     "ringbuf 1; reader; start h0; producer 4104; flush h0 -> EPROTO\n"
     "consumer -> 4104; submit 8; flush h0 -> SAMPLE of 8 bytes, 0 left\n"
     "stats h0 corrupt skipped_bytes -> 1, 4104\n"},
    {"producer_between_records_ends_the_ring",
     "ringbuf 1; reader; start h0; producer 13; flush h0 -> EPROTO\n"
     "consumer -> 0; start h0 -> EPROTO unknown\n"},
    {"length_beyond_the_producer_is_skipped",
     "ringbuf 1; reader; start h0; submit 8; first_word 0 9; flush h0 -> "
     "EPROTO\n"
     "consumer -> 16; submit 8; flush h0 -> SAMPLE of 8 bytes, 0 left\n"
     "first_word 32 0x3fffffff; producer 48; stop h0; next h0 -> EPROTO\n"
     "next h0 -> EAGAIN; consumer -> 48\n"},
    {"consumer_that_another_reader_moves_is_stored_again",
     "ringbuf 1; reader; start h0; submit 8; consumer 4096; flush h0 -> SAMPLE "
     "of 8 bytes, 0 left\n"
     "consumer -> 16\n"},
    /* -- in callbacks */
    {"statistics_in_a_callback_count_its_record",
     "ringbuf 1; reader; start h0; submit 8 8; on_each 'stats h0 records "
     "bytes'\n"
     "flush h0 -> SAMPLE of 8 bytes, 16 left, 1, 16, SAMPLE of 8 bytes, 0 "
     "left, "
     "2, 32\n"},
    {"stop_in_a_callback_keeps_the_rest",
     "ringbuf 1; reader; start h0; submit 8 16; readable h0; on SAMPLE 'stop "
     "h0'\n"
     "turn -> SAMPLE of 8 bytes, 24 left\n"
     "turn ->\n"
     "next h0 -> SAMPLE of 16 bytes, 0 left\n"},
    {"close_in_a_callback_is_the_last_call",
     "ringbuf 1; reader; start h0; submit 8 16; readable h0; on SAMPLE 'close "
     "h0'\n"
     "turn 3 -> SAMPLE of 8 bytes, 24 left, h0 closed; consumer -> 16\n"},
    {"forked_child_leaves_the_ring_alone",
     "ringbuf 1; reader; start h0; submit 8; fork; next h0 -> EPERM\n"
     "flush h0 -> EPERM; has_record h0 -> 0; close h0; turn 2; consumer -> 0\n"
     "unfork\n"},
    /* -- opening */
    {"reader_can_be_opened_later",
     "ringbuf 1; reader later; next h0 -> EBUSY; start h0 -> EBUSY argument\n"
     "rings h0 ->; pool -> h0 opened 0\n"
     "rings h0 -> cpu-1 0 waiting, 0 records, 0 lost\n"
     "submit 8; next h0 -> SAMPLE of 8 bytes, 0 left\n"},
    {"reader_that_closes_leaves_what_it_has_not_taken",
     "ringbuf 1; reader; submit 8 16 24; next h0; next h0; consumer -> 0\n"
     "close h0; consumer -> 40; turn 3 -> h0 closed\n"
     "reader; next h1 -> SAMPLE of 24 bytes, 0 left\n"},
    {"discarded_records_without_end_do_not_keep_the_loop",
     "ringbuf 1; reader; start h0; discard 8; submit 8; on SAMPLE 'discard 8'\n"
     "readable h0; turn 1 -> SAMPLE of 8 bytes, 0 left; consumer -> 32\n"
     "turn 1; consumer -> 48\n"},
    {"reader_that_opens_can_be_closed",
     "ringbuf 1; reader later; close h0; pool -> h0 opened ECANCELED "
     "argument; turn 3 -> h0 closed\n"},
    {"options_of_events_are_refused",
     "ringbuf 1; reader attr -> EINVAL argument; says 'options.attr: it has no "
     "events'\n"},
    {"cpus_are_refused",
     "ringbuf 1; reader cpus=0 -> EINVAL argument; says options.cpus\n"},
    {"size_of_the_ring_is_refused", "ringbuf 1; reader ring_bytes=4096 -> "
                                    "EINVAL argument; says max_entries\n"},
    {"wakeup_after_several_records_is_refused",
     "ringbuf 1; reader wakeup_events=2 -> EINVAL argument; says "
     "BPF_RB_NO_WAKEUP\n"},
    {"wakeup_after_bytes_is_refused",
     "ringbuf 1; reader wakeup_bytes=100 -> EINVAL argument; says "
     "BPF_RB_FORCE_WAKEUP\n"},
    {"clock_is_refused",
     "ringbuf 1; reader perf_clock -> EINVAL argument; says 'no time'\n"},
    {"opener_is_refused",
     "ringbuf 1; reader program -> EINVAL argument; says options.open\n"},
    {"overwriting_needs_a_map_that_does",
     "ringbuf 1; reader overwrite -> EINVAL argument; says "
     "BPF_F_RB_OVERWRITE\n"},
    {"map_that_overwrites_needs_the_flag",
     "ringbuf 1 0x80000; reader -> EINVAL argument; says "
     "UVPERF_BPF_READER_OVERWRITE\n"},
    {"fixed_cpus_change_nothing",
     "ringbuf 1; reader fixed; submit 8; next h0 -> SAMPLE of 8 bytes, 0 "
     "left\n"},
    {"map_that_is_open_for_reading_only_is_refused",
     "ringbuf 1 0 read; reader -> EACCES permission; says 'reading or writing "
     "only'\n"},
    {"ring_that_cannot_be_mapped_is_reported",
     "ringbuf 1; fail mmap 2 ENOMEM; reader -> ENOMEM memory\n"},
    {"consumer_between_records_is_refused",
     "ringbuf 1; consumer 4; producer 4; reader -> EPROTO unknown; says "
     "'another reader'\n"},
    {"handle_is_in_use_until_it_is_closed",
     "ringbuf 1; reader; rings h0 -> cpu-1 0 waiting, 0 records, 0 lost\n"
     "active h0 -> 0; start h0; active h0 -> 1; ring h0 -> 4096\n"
     "submit 8; rings h0 -> cpu-1 16 waiting, 0 records, 0 lost\n"
     "stop h0; active h0 -> 0; close h0; turn 3 -> h0 closed\n"},
    /* -- what it cannot do */
    {"programs_write_without_being_asked",
     "ringbuf 1; reader; publish h0; unpublish h0 -> EINVAL argument; says "
     "'whether it is read or not'\n"},
    {"each_cpu_that_exists_can_write",
     "file /sys/devices/system/cpu/possible 0-2; ringbuf 1; reader; status h0 "
     "0 2 -1 5000 -> 0, 0, ENOENT, ENOENT\n"},
    {"it_follows_no_cpus", "ringbuf 1; reader; follow h0 -> EINVAL\n"},
    {"events_cannot_be_switched",
     "ringbuf 1; reader; enable h0 -> EINVAL argument\n"},
    {"snapshots_need_another_map",
     "ringbuf 1; reader; start h0; snapshot h0 -> EINVAL argument; says "
     "BPF_F_RB_OVERWRITE\n"},
#ifdef __LP64__
    /* With 32 bits it would have gone on for 4 GiB. */
    {"producer_behind_is_skipped",
     "ringbuf 1; producer 800; consumer 800; reader; start h0; producer 792\n"
     "flush h0 -> EPROTO; consumer -> 792; submit 8\n"
     "flush h0 -> SAMPLE of 8 bytes, 0 left\n"},
    /* -- overwriting: 0x80000 is BPF_F_RB_OVERWRITE */
    {"snapshot_has_the_newest_record_first",
     "ringbuf 1 0x80000; reader overwrite; start h0; submit 8 16; discard 8; "
     "submit 24\n"
     "snapshot h0 -> SAMPLE of 24 bytes, 56 left, SAMPLE of 16 bytes, 16 left, "
     "SAMPLE of 8 bytes, 0 left\n"
     "consumer -> 0; snapshot h0 ->\n"
     "submit 32; snapshot h0 -> SAMPLE of 32 bytes, 0 left\n"
     "stats h0 records bytes -> 4, 128\n"},
    {"snapshot_can_have_the_oldest_record_first",
     "ringbuf 1 0x80000; reader overwrite; start h0; submit 8 16 24\n"
     "snapshot h0 oldest_first -> SAMPLE of 8 bytes, 56 left, SAMPLE of 16 "
     "bytes, 32 left, SAMPLE of 24 bytes, 0 left\n"
     "submit 32; snapshot h0 all oldest_first -> SAMPLE of 8 bytes, 96 left, "
     "SAMPLE of 16 bytes, 72 left, SAMPLE of 24 bytes, 40 left, SAMPLE of 32 "
     "bytes, 0 left\n"},
    {"snapshot_begins_after_what_was_overwritten",
     "ringbuf 1 0x80000; reader overwrite; start h0; submit 1000 1000 1000 "
     "1000 "
     "1016 1024\n"
     "snapshot h0 oldest_first -> SAMPLE of 1000 bytes, 3064 left, SAMPLE of "
     "1000 bytes, 2056 left, SAMPLE of 1016 bytes, 1032 left, SAMPLE of 1024 "
     "bytes, 0 left\n"},
    {"snapshot_ends_at_a_busy_record",
     "ringbuf 1 0x80000; reader overwrite; start h0; submit 8; busy 16; submit "
     "24\n"
     "snapshot h0 -> SAMPLE of 8 bytes, 0 left; finish 16; has_record h0 -> 1\n"
     "snapshot h0 -> SAMPLE of 24 bytes, 24 left, SAMPLE of 16 bytes, 0 left\n"
     "has_record h0 -> 0\n"},
    {"snapshot_can_be_taken_by_the_pool",
     "ringbuf 1 0x80000; reader overwrite; start h0; submit 8 16; snapshot h0 "
     "later\n"
     "pool; turn 2 -> SAMPLE of 16 bytes, 16 left, SAMPLE of 8 bytes, 0 left, "
     "snapshot 0\n"},
    {"overwriting_ring_is_only_for_snapshots",
     "ringbuf 1 0x80000; reader overwrite; next h0 -> EINVAL; start h0; flush "
     "h0 -> EINVAL; submit 8; polled -> 0\n"},
    {"length_that_makes_no_sense_is_skipped",
     "ringbuf 1 0x80000; reader overwrite; start h0; submit 8 8; first_word 16 "
     "5000\n"
     "snapshot h0 -> EPROTO; submit 16; snapshot h0 -> SAMPLE of 16 bytes, 0 "
     "left\n"},
    {"stop_in_a_snapshot_ends_it",
     "ringbuf 1 0x80000; reader overwrite; start h0; submit 8 16; on SAMPLE "
     "'stop h0'\n"
     "snapshot h0 -> SAMPLE of 16 bytes, 16 left\n"},
    {"close_in_a_snapshot_ends_it",
     "ringbuf 1 0x80000; reader overwrite; start h0; submit 8 16; on SAMPLE "
     "'close h0'\n"
     "snapshot h0 -> SAMPLE of 16 bytes, 16 left; turn 3 -> h0 closed\n"},
#else
    {"overwriting_ring_needs_64_bits",
     "ringbuf 1 0x80000; reader overwrite -> EOPNOTSUPP not_supported\n"},
#endif
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_handles, rows);
}
