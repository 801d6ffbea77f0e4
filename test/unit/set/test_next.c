/* SPDX-License-Identifier: MIT */
/* Scripted: a set's records taken one by one. */
#include "scripted_evlist.h"
#include "scripted_set.h"

static const scripted_row_t rows[] = {
    /* Records written while the results of a check are read wait for the next
     * check. */
    {"set_next_checks_each_ring_in_turn",
     "records 1; cpus 0-1; set; has_record -> 0\n"
     "next -> EAGAIN\n"
     "samples e1 e0 1 2; samples e3 e2 3; next -> sample of t0 cpu0\n"
     "samples e1 e0 4; next -> sample of t0 cpu0\n"
     "next -> sample of t0 cpu1\n"
     "has_record -> 1\n"
     "next -> sample of t0 cpu0\n"
     "has_record -> 0\n"
     "next -> EAGAIN\n"},
    /* The last one is late. */
    {"set_next_by_time_returns_the_oldest_of_one_check",
     "records 1; flags time_order; cpus 0-1; set; next -> EAGAIN\n"
     "samples e1 e0 10 30; samples e3 e2 20; next -> sample of t0 cpu0 at 10\n"
     "samples e3 e2 25; next -> sample of t0 cpu1 at 20\n"
     "next -> sample of t0 cpu0 at 30\n"
     "next -> sample of t0 cpu1 at 25\n"
     "next -> EAGAIN\n"
     "stats -> read e0 e2, 4 records, 1 late, 0 of bad times, 0 to close\n"},
    {"set_next_of_an_impossible_time_has_the_time_before",
     "records 1; flags time_order; cpus 0-1; set; "
     "samples e1 e0 1 0x3fffffffffffffff; next -> sample of t0 cpu0 at 1\n"
     "next -> sample of t0 cpu0 at 1\n"
     "stats -> read e0 e2, 2 records, 0 late, 1 of bad times, 0 to close\n"},
    {"set_has_record_ignores_the_record_in_use",
     "records 1; cpus 0-1; set; has_record -> 0\n"
     "samples e3 e2 1; next -> sample of t0 cpu1\n"
     "has_record -> 0\n"
     "samples e3 e2 2; has_record -> 1\n"},
    {"set_has_record_by_time_ignores_the_record_in_use",
     "records 1; flags time_order; cpus 0-1; set; has_record -> 0\n"
     "samples e3 e2 1; next -> sample of t0 cpu1 at 1\n"
     "has_record -> 0\n"
     "samples e3 e2 2; has_record -> 1\n"},
    /* A source is not freed while a record of it is in the user's hands. */
    {"set_next_keeps_the_source_of_a_removed_target",
     "records 1; cpus 0-1; set; samples e1 e0 1; clock 1; "
     "next -> sample of t0 cpu0\n"
     "remove 0 -> read e0 e2, DISABLE e0 e2 e0 e2, close e0 e2\n"
     "clock 0x7fffffffffffffff; "
     "add self -> open e4@me:0, SET_OUTPUT e4 e1, open e5@me:1, "
     "SET_OUTPUT e5 e3, open e6@me:2 e7@me:2, mmap e7, SET_OUTPUT e6 e7\n"
     "sources e0 -> a0 t0 cpu0 #0\n"
     "next -> EAGAIN\n"
     "next -> poll all e4, EAGAIN\n"
     "sources e0 -> -\n"},
    {"set_next_by_time_keeps_the_source_of_a_removed_target",
     "records 1; flags time_order; cpus 0-1; set; samples e1 e0 1; clock 1; "
     "next -> sample of t0 cpu0 at 1\n"
     "remove 0; clock 0x7fffffffffffffff; add self; "
     "sources e0 -> a0 t0 cpu0 #0\n"
     "next -> EAGAIN\n"
     "next -> poll all e4, EAGAIN\n"
     "sources e0 -> -\n"},
    {"set_next_of_overwritable_rings_is_einval",
     "records 1; flags overwrite; cpus 0-1; set; next -> EINVAL\n"
     "has_record -> 0\n"
     "samples e1 e0 1; has_record -> 1\n"},
    {"set_next_without_records_is_einval",
     "attrs 1; cpus 0-1; set; next -> EINVAL\n"
     "has_record -> 0\n"},
    /* For the scratch. */
    {"set_next_without_memory_can_be_asked_again",
     "records 1; cpus 0-1; set; samples e1 e0 1; fail calloc 1 ENOMEM; "
     "next -> ENOMEM\n"
     "next -> sample of t0 cpu0\n"},
    /* For the scratch; then for the merge, and of that the lists and the first
     * ring. */
    {"set_next_by_time_without_memory_can_be_asked_again",
     "records 1; flags time_order; cpus 0-1; set; samples e1 e0 1; "
     "fail calloc 1 ENOMEM; next -> ENOMEM\n"
     "fail calloc 2 ENOMEM; next -> ENOMEM\n"
     "fail calloc 1 ENOMEM; next -> ENOMEM\n"
     "fail calloc 2 ENOMEM; next -> ENOMEM\n"
     "fail calloc 2 ENOMEM; next -> ENOMEM\n"
     "next -> sample of t0 cpu0 at 1\n"},
    /* Records that come while it checks for the end are returned before the
     * end, and the check costs system calls. */
    {"set_next_reports_each_end_then_eof",
     "records 1; self 0; self 0; set; samples e1 e0 1; next -> sample of t0 me "
     "cpu0\n"
     "has_record -> 0\n"
     "next -> EAGAIN\n"
     "next -> poll all e0, EAGAIN\n"
     "hup e0; at poll e0 'samples e1 e0 2'; has_record -> 0\n"
     "next -> poll all e0, poll e0, sample of t0 me cpu0\n"
     "next -> EAGAIN\n"
     "has_record -> 0\n"
     "next -> t0 ended, EAGAIN\n"
     "hup e2; next -> poll all e2, poll e2, t1 ended, EOF\n"
     "next -> EOF\n"
     "start -> EOF no_task a0 t0\n"},
    {"set_next_by_time_reports_each_end_then_eof",
     "records 1; flags time_order; self 0; self 0; set; samples e1 e0 1; next "
     "-> sample of t0 me cpu0 at 1\n"
     "next -> EAGAIN\n"
     "next -> poll all e0, EAGAIN\n"
     "hup e0; at poll e0 'samples e1 e0 2'; has_record -> 0\n"
     "next -> poll all e0, poll e0, sample of t0 me cpu0 at 2\n"
     "next -> EAGAIN\n"
     "next -> t0 ended, EAGAIN\n"
     "hup e2; next -> poll all e2, poll e2, t1 ended, EOF\n"
     "next -> EOF\n"
     "start -> EOF no_task a0 t0\n"},
    {"set_closed_in_the_end_that_next_reports_is_ecanceled",
     "records 1; self 0; self 0; set; on 't0 ended' 'next|close'; hup e0; next "
     "-> EAGAIN\n"
     "next -> poll all e0, poll e0, t0 ended, EBUSY, read e0 e2, DISABLE e0 "
     "e2, ECANCELED\n"
     "turn -> closed, close e0 e2, munmap e1, close e1\n"},
};

static uvperf_set_t *set_of(scripted_set_t *scripted) {
  return &scripted->stream.live.set;
}

/* After each quarter, not after each record; the last record is still in
 * use. */
static void set_next_publishes_the_tail_by_quarters_and_at_the_end(void **s) {
  const uvperf_record_t *record;
  scripted_set_t scripted;
  uint64_t stores, tail, taken;
  fake_event_t *ring;
  size_t mode;

  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    scripted_set_open(*s, &scripted, mode);
    ring = scripted.events[1];
    while (ring->page->data_head < ring->ring_size * 9 / 10)
      scripted_set_sample(&scripted, 0, 100, ring->page->data_head);
    stores = 0;
    taken = 0;
    tail = 0;
    while (uvperf_next(&set_of(&scripted)->handle, &record) == 0) {
      assert_true(ring->page->data_tail <= taken);
      assert_true(taken - ring->page->data_tail < ring->ring_size / 4);
      stores += ring->page->data_tail != tail;
      tail = ring->page->data_tail;
      taken += record->size;
    }
    assert_int_equal(stores, 3);
    assert_int_equal(ring->page->data_tail, ring->page->data_head);
    scripted_set_close(&scripted);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_next_publishes_the_tail_by_quarters_and_at_the_end),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
