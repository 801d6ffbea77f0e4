/* SPDX-License-Identifier: MIT */
/* Scripted: how long a closed event is remembered, and what is left of it in a
 * forked child. */
#include "scripted_evlist.h"
#include "fake_clock.h"

static const scripted_row_t rows[] = {
    /* Later records of other events keep nothing of it. It is the only source
     * of the ring. */
    {"closed_event_is_known_until_its_records_are_read",
     "records 1; cpus 0; open; write e1 e0; clock 1; "
     "remove 0 -> read e0, DISABLE e0, close e0\n"
     "rings -> cpu0 e1 of 0\n"
     "clock 100000001; free_sources; sources e0 -> a0 t0 cpu0 #0\n"
     "write e1 e9; drain -> 2 known, 0 unknown\n"
     "sources e0 -> a0 t0 cpu0 #0\n"
     "free_sources; sources e0 -> -\n"},
    /* Its count is in the samples of its leader, by its id. */
    {"closed_counter_is_known_until_its_leaders_records_are_read",
     "records 2; group 0 2; attr 1 sample_period=0; cpus 0; open; "
     "sources e2 -> a1 t0 cpu0 #0\n"
     "write e1 e0; clock 1; remove 0; clock 100000001; free_sources; "
     "sources e2 -> a1 t0 cpu0 #0\n"
     "drain -> 1 known, 0 unknown\n"
     "free_sources; sources e2 -> -\n"},
    /* The head does not move before the record is written that a CPU was just
     * writing when its event was closed. */
    {"record_that_was_being_written_is_known",
     "records 1; cpus 0; open; clock 1; remove 0; clock 100000000; "
     "free_sources; write e1 e0; clock 100000001; free_sources; "
     "drain -> 1 known, 0 unknown\n"
     "free_sources; sources e0 -> -\n"},
    /* Of three events on two CPUs that are closed one after another, the
     * second can be forgotten first; then one that is closed later. e0 is not
     * read, and for e4 it is too early. */
    {"closed_events_are_forgotten_each_in_its_time",
     "records 1; cpus 0; cpus 1; cpus 0; cpus 1; "
     "open -> open e0@0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, open e2@1 e3@me:1, "
     "mmap e3, SET_OUTPUT e2 e3, open e4@0, SET_OUTPUT e4 e1, open e5@1, "
     "SET_OUTPUT e5 e3\n"
     "write e1 e0; clock 10; remove 0; clock 11; remove 1; clock 12; remove 2; "
     "clock 100000011; free_sources; "
     "sources e0 e2 e4 -> a0 t0 cpu0 #0, -, a0 t2 cpu0 #2\n"
     "remove 3; drain; clock 100000012; free_sources; "
     "sources e0 e4 e5 -> -, -, a0 t3 cpu1 #3\n"
     "clock 200000011; free_sources; sources e5 -> -\n"},
    /* Endless churn takes no more memory than the events that are closed at
     * one time. */
    {"targets_that_come_and_go_leave_no_memory",
     "records 1; cpus 0; open; churn 40 0; memory mark; churn 40 0; "
     "memory compare\n"},
    /* Records of the first target wait. Those that come and go after it write
     * nothing. */
    {"events_that_wrote_nothing_are_not_kept_until_a_read",
     "records 1; cpus 0; open; write e1 e0; remove 0; churn 40 0; memory mark; "
     "churn 40 0; memory compare\n"
     "sources e0 e41 -> a0 t0 cpu0 #0, -\n"
     "drain -> 1 known, 0 unknown\n"},
    {"events_that_wrote_are_kept_until_a_read",
     "records 1; cpus 0; open; write e1 e0; "
     "add cpus 0 -> open e2@0, SET_OUTPUT e2 e1\n"
     "write e1 e2; clock 1; remove 1; clock 200000000; free_sources; "
     "sources e2 -> a0 t1 cpu0 #1\n"
     "drain -> 2 known, 0 unknown\n"
     "free_sources; sources e2 -> -\n"},
    /* A group that was torn is opened again. */
    {"group_that_is_opened_again_has_new_sources",
     "task 4711 4711 77; records 2; group 0 2; process 4711 0; "
     "fail read 1 ECHILD; "
     "open -> open e0@4711:0 e1@me:0, mmap e1, SET_OUTPUT e0 e1, "
     "open e2@4711:0<e0, SET_OUTPUT e2 e1, read e0 ECHILD, close e0 e2, "
     "open e3@4711:0, SET_OUTPUT e3 e1, open e4@4711:0<e3, SET_OUTPUT e4 e1, "
     "read e3\n"
     "rings -> cpu0 e1 of 2\n"
     "sources e3 e4 -> a0 t0 4711 cpu0 #0, a1 t0 4711 cpu0 #0\n"},
    /* Whether it was read does not matter: a snapshot can include everything
     * in the ring. The last one was being written. */
    {"closed_event_is_known_until_its_records_are_overwritten",
     "records 1; flags overwrite; cpus 0; open; "
     "events write_backward -> e0 1, e1 1\n"
     "write e1 e0 3; clock 1; remove 0; write e1 e0; clock 100000001; drain; "
     "free_sources; sources e0 -> a0 t0 cpu0 #0\n"
     "write e1 e9 0; free_sources; sources e0 -> a0 t0 cpu0 #0\n"
     "write e1 e9; free_sources; sources e0 -> -\n"},
    /* Each writes one record: only as many are remembered as the ring has room
     * for. */
    {"targets_of_overwritable_rings_come_and_go_in_bounded_memory",
     "records 1; flags overwrite; cpus 0; open; churn 200 1; memory mark; "
     "churn 100 1; memory compare\n"},
    /* A set ends it. What was written before is not read. */
    {"ring_that_has_ended_keeps_no_event",
     "records 1; cpus 0-1; set; start; header e1 SAMPLE 0 8; samples e1 e0 1; "
     "flush -> EPROTO\n"
     "clock 1; remove 0; clock 100000001; sources e0 -> a0 t0 cpu0 #0\n"
     "samples e3 e2 1; wake e3; turn -> sample of t0 cpu1, poll e3\n"
     "sources e0 e2 -> -, -\n"},
    {"ring_by_time_that_has_ended_keeps_no_event",
     "records 1; flags time_order; cpus 0-1; set; start; header e1 SAMPLE 0 8; "
     "samples e1 e0 1; flush -> EPROTO\n"
     "clock 1; remove 0; clock 100000001; sources e0 -> a0 t0 cpu0 #0\n"
     "samples e3 e2 1; wake e3; turn; sources e0 -> -\n"},
    {"rings_of_the_parent_are_left_alone",
     "records 1; cpus 0; open; in_child free_sources; in_child close; write e1 "
     "e0; drain -> 1 known, 0 unknown\n"},
};

/* The change of a fallback for a later target is undone with the last event,
 * but not for records that were written with it. */
static void closed_event_is_decoded_as_it_was_opened(void **state) {
  uvperf__evlist_t *evlist;
  const uvperf_source_t *source;
  fake_event_t *events[3];
  evlist_make_t make;

  counters_script(events, 3);
  evlist_make_records(&make, 1);
  evlist = evlist_open(&make);
  evlist_add_cpus(&make, "0");
  assert_int_equal(
      uvperf__evlist_add_target(evlist, &make.targets[0], NULL, NULL), 0);
  source = evlist_source(evlist, 100);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  /* A target that fails undoes what was tried for it. */
  fake_fail(FAKE_OPEN, 1, -ENOENT);
  assert_int_equal(
      uvperf__evlist_add_target(evlist, &make.targets[0], NULL, NULL), -ENOENT);
  assert_int_equal(
      uvperf__evlist_add_target(evlist, &make.targets[0], NULL, NULL), 0);
  assert_ptr_not_equal(evlist_source(evlist, 102)->attr, source->attr);
  assert_int_equal(source->attr->sample_type,
                   PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static int setup(void **state) {
  fake_clock_set_counters(0);
  return evlist_make_setup(state);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(closed_event_is_decoded_as_it_was_opened, setup),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
