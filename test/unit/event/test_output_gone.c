/* SPDX-License-Identifier: MIT */
/* Scripted: rings that events share when some targets have ended, when the ring
 * is damaged, and in a forked child. h0 is the owner, h1 and h2 are writers. */
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    /* -- an event that comes as the last of the others goes ------------- */
    /* The slice's end may be after the last record, but it is not the end
     * yet. */
    {"output_joined_at_the_last_slices_end_goes_on",
     "attr comm; options identify; init; options identify no_ring; init; init\n"
     "start h0 slice_end; turn 3; at poll e0 'append e0 COMM'; hup e0; wake "
     "e0\n"
     "on slice 'output h1 h0'\n"
     "turn 6 -> poll e0, COMM, slice, SET_OUTPUT e1 e0, poll e1\n"
     "append e0 COMM e1; wake e1; turn 2 -> COMM of h1, slice\n"
     "quiet e1; hup e1; wake e1; turn 6 -> poll e1 e0, EOF\n"},
    /* The callback for a damaged ring is the last one, and gets no record. */
    {"output_joined_as_the_last_bytes_are_skipped_goes_on",
     "attr comm; options identify; init; options identify no_ring; init; init\n"
     "start h0; turn 3; at poll e0 'header e0 COMM 0 8'; hup e0; wake e0\n"
     "on EPROTO 'output h1 h0'\n"
     "turn 6 -> poll e0, EPROTO, SET_OUTPUT e1 e0, poll e1\n"
     "hup e1; wake e1; turn 6 -> poll e1 e0, EOF\n"},
    /* -- a record that comes late --------------------------------------- */
    /* Another CPU was in the middle of it when the writer left. */
    {"output_record_finished_after_its_writer_left_is_its_own",
     "attr comm; options identify; init; options identify no_ring; init; init\n"
     "output h1 h0; output h1 none; output h2 h0; append e0 COMM e1\n"
     "next h0 -> COMM of h1\n"},
    /* -- a forked child ------------------------------------------------- */
    /* Asking whether an event lives eats the wakeup that is the parent's. */
    {"output_closed_in_a_forked_child_polls_nothing",
     "attr comm; options identify; init; options identify no_ring; init; init\n"
     "output h1 h0; output h2 h0; start h0; turn 3; hup e0; wake e0; turn 6\n"
     "fork; close h1; close h2; close h0\n"
     "turn 3 -> h0 closed, close e0, h2 closed, close e2, h1 closed, close "
     "e1\n"},
    /* The ring is the parent's, and so are the records in it. */
    {"output_of_the_parent_is_refused_in_the_child",
     "attr comm; options identify; init; fork; options identify no_ring; init\n"
     "output h1 h0 -> EPERM argument\n"
     "says parent\n"
     "close h1; close h0; turn 3\n"},
    /* -- an unsound ring ------------------------------------------------ */
    {"output_to_a_ring_that_next_found_unsound_is_eof",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "head e0 4; next h0 -> EPROTO\n"
     "output h1 h0 -> EOF no_task\n"
     "says ended\n"},
    /* -- an attr that changes ------------------------------------------- */
    /* Code that compares record->source->attr must not see an old attr. */
    {"output_source_has_the_period_that_was_set",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "output h1 h0; period h1 77; fields h1 sample_period -> 77\n"
     "append e0 COMM e1; next h0 -> COMM of h1\n"
     "source sample_period -> 77\n"},
    {"output_source_has_the_modified_attr",
     "attr comm; options identify; init; options identify no_ring; init\n"
     "output h1 h0; modify h1 config1=0x1000; append e0 COMM e1\n"
     "next h0 -> COMM of h1\n"
     "source config1 -> 4096\n"},
    /* -- writers that are forgotten ------------------------------------- */
    /* Writers that left long ago are forgotten when another one joins. */
    {"output_set_again_is_not_forgotten",
     "attr comm; options identify; init; options identify no_ring; init; init\n"
     "loop_clock 1000000000; output h1 h0; output h1 none; output h1 h0\n"
     "loop_clock 2000000000; output h2 h0; append e0 COMM e1\n"
     "next h0 -> COMM of h1\n"},
    /* The writer h1 has left, and is forgotten when another event joins while
     * the user has a sample. The next sample has its id from another process's
     * event. */
    {"output_forgotten_between_two_next_has_no_source",
     "loop_clock 1000000000; attr comm; options identify; init\n"
     "options identify no_ring; init; init; output h1 h0\n"
     "append e0 SAMPLE e1; output h1 none; loop_clock 2000000000\n"
     "output h2 h0; append e0 SAMPLE e0; append e0 SAMPLE e1\n"
     "append e0 SAMPLE e0\n"
     "next h0 -> SAMPLE of h1\n"
     "next h0 -> SAMPLE\n"
     "output h2 none; output h2 h0; in_hand h0 -> SAMPLE\n"
     "next h0 -> EPROTO+raw of nothing\n"
     "next h0 -> SAMPLE\n"},
};

int main(void) {
  return SCRIPTED_ROWS(&scripted_handles, rows);
}
