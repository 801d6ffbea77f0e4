/* SPDX-License-Identifier: MIT */
/* Scripted: the number of lost records, which programs count in a map. The type
 * 2 is BPF_MAP_TYPE_ARRAY, 6 is BPF_MAP_TYPE_PERCPU_ARRAY. */
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    {"losses_are_not_known_without_a_counter",
     "ringbuf 1; reader; stats h0 lost_records -> 0\n"},
    {"losses_are_what_the_counter_says",
     "ringbuf 1; counter 2 8; reader lost=0; stats h0 lost_records -> 0\n"
     "counted 7; loop_clock 200000000; stats h0 lost_records -> 7\n"},
    {"counter_can_be_anywhere_in_a_value",
     "ringbuf 1; counter 2 24; reader lost=16; counted 1 2 3; stats h0 "
     "lost_records -> 3\n"},
    {"counters_of_each_cpu_are_added",
     "file /sys/devices/system/cpu/possible 0-2; ringbuf 1; counter 6 12; "
     "reader lost=4; counted 0x100000000 1 "
     "0x200000000 0 0x400000000 0; stats h0 lost_records -> 0x100000007\n"},
    {"counter_beyond_the_value_is_refused",
     "ringbuf 1; counter 2 8; reader lost=1 -> EINVAL argument; says '8 "
     "bytes'\n"},
    {"counter_of_no_map_is_refused",
     "ringbuf 1; counter 2 8; fail map_info 2 EINVAL; reader lost=0 -> EINVAL "
     "unknown\n"},
    {"counter_of_a_program_is_refused",
     "ringbuf 1; counter 2 8; fail map_lookup 1 EINVAL; reader lost=0 -> "
     "EINVAL argument; says 'no map'\n"},
    {"counter_of_a_map_for_writing_is_refused",
     "ringbuf 1; counter 2 8; fail map_lookup 1 EPERM; reader lost=0 -> EINVAL "
     "argument\n"},
    {"counter_is_for_ring_buffers",
     "map 8; online 0-1; counter 2 8; reader lost=0 -> EINVAL argument; says "
     "options.lost\n"},
    {"counter_that_cannot_be_read_is_not_known",
     "ringbuf 1; counter 2 8; reader lost=0; counted 7; fail map_lookup 1 "
     "EPERM; stats h0 lost_records lost_is_read -> 0, 0\n"
     "loop_clock 200000000; stats h0 lost_records lost_is_read -> 7, 1\n"},
    {"counter_with_a_value_for_each_cpu_needs_their_number",
     "no_host; ringbuf 1; counter 6 8; reader lost=0 -> ENOENT unknown\n"},
    {"memory_is_short",
     "ringbuf 1; counter 2 8; each calloc ENOMEM; reader lost=0; counted 7; "
     "stats h0 lost_records -> 7\n"},
    {"fds_are_short",
     "ringbuf 1; counter 2 8; fail dup 1 EMFILE; reader lost=0 -> EMFILE "
     "files\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_handles, rows);
}
