/* SPDX-License-Identifier: MIT */
/* Scripted: losses of a BPF reader, and the calls in its callbacks. */
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    {"losses_are_counted_from_either_record",
     "map 8; online 0-1; reader; start h0; lose e1 7; lose_samples e3 5\n"
     "flush h0 -> LOST 7 of cpu0, 0 left, LOST_SAMPLES 5 of cpu1, 0 left\n"
     "stats h0 lost_records -> read e0 e2, 12\n"},
    /* In each callback, after any record, flush is refused. */
    {"flush_is_refused_in_each_callback_of_a_drain",
     "map 8; online 0-1; reader; start h0; turn; times 2 append e1 SAMPLE e0; "
     "lose e1 7; append e1 SAMPLE e0\n"
     "wake e1; on_each 'flush h0'; turn 3 -> SAMPLE of cpu0, 104 left, EBUSY, "
     "SAMPLE of cpu0, 64 left, EBUSY, LOST 7 of cpu0, 40 left, EBUSY, SAMPLE "
     "of cpu0, 0 left, EBUSY, poll e1\n"
     "quiet e1\n"},
    /* The waiting bytes are its record and those after it. */
    {"ring_has_the_record_of_a_callback",
     "map 8; online 0-1; reader cpus=0; start h0; turn; append e1 SAMPLE e0; "
     "lose e1 7; append e1 SAMPLE e0\n"
     "on_each 'rings h0'; flush h0 -> SAMPLE of cpu0, 64 left, read e0, cpu0 "
     "104 waiting, 1 records, 0 lost, LOST 7 of cpu0, 40 left, cpu0 64 "
     "waiting, 2 records, 7 lost, SAMPLE of cpu0, 0 left, cpu0 40 waiting, 3 "
     "records, 7 lost\n"},
    /* PERF_FORMAT_LOST counts them at once; a LOST record reports the same
     * later. A program that asks in each callback causes one read(2). */
    {"losses_without_a_record_are_counted",
     "kernel with lost; map 8; online 0-1; words e0 0 0; words e2 0 0; reader; "
     "start h0; turn\n"
     "events read_format -> e0 16, e1 0, e2 16, e3 0\n"
     "stats h0 lost_records -> read e0 e2, 0\n"
     "word e0 1 12; word e2 1 3; stats h0 lost_records -> 0\n"
     "flush h0; stats h0 lost_records -> read e0 e2, 15\n"
     "stats h0 lost_records -> 15\n"
     "rings h0 -> cpu0 0 waiting, 0 records, 12 lost, cpu1 0 waiting, 0 "
     "records, 3 lost\n"
     "lose e1 12; word e2 1 5; flush h0 -> LOST 12 of cpu0, 0 left\n"
     "stats h0 lost_records -> read e0 e2, 17\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_handles, rows);
}
