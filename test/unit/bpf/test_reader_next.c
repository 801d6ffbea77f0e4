/* SPDX-License-Identifier: MIT */
/* Scripted: records of a BPF reader taken one by one, or of one ring alone. */
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    {"next_checks_each_ring_in_turn",
     "map 8; online 0-1; reader; has_record h0 -> 0\n"
     "next h0 -> EAGAIN\n"
     "append e1 SAMPLE e0; append e1 SAMPLE e0; append e3 SAMPLE e2; "
     "has_record h0 -> 1\n"
     "next h0 -> SAMPLE of cpu0, 40 left\n"
     "append e1 SAMPLE e0; tail e1 -> 0\n"
     "next h0 -> SAMPLE of cpu0, 0 left\n"
     "next h0 -> SAMPLE of cpu1, 0 left\n"
     "next h0 -> SAMPLE of cpu0, 0 left\n"
     "has_record h0 -> 0\n"
     "next h0 -> EAGAIN\n"
     "tail e1 -> 120\n"
     "tail e3 -> 40\n"},
    {"next_of_lost_samples_says_how_many",
     "map 8; online 0-1; reader; lose e1 7; next h0 -> LOST 7 of cpu0, 0 left\n"
     "stats h0 lost_records -> read e0 e2, 7\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_handles, rows);
}
