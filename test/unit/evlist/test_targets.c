/* SPDX-License-Identifier: MIT */
/* Scripted: targets that come and go, and which are refused. */
#include "scripted_evlist.h"

static const scripted_row_t rows[] = {
    /* Also if others could be opened. */
    {"bad_target_is_refused_as_a_whole",
     "attrs 1; cpus 0; cpus zero; open -> EINVAL argument a0 t1\n"},
    /* The index of one that is gone is not used again. */
    {"targets_come_and_go",
     "attrs 2; cpus 0; open; add cpus 1 -> open e2@1 e3@1\n"
     "remove 0 -> close e0 e1\n"
     "places -> t1 cpu1 #1 e2\n"
     "nr -> 2\n"
     "remove 0 -> ENOENT argument a0 t0\n"
     "remove 7 -> ENOENT argument a0 t0\n"
     "add cpus two -> EINVAL argument a0 t2\n"
     "add cpus 2; places -> t1 cpu1 #1 e2, t2 cpu2 #2 e4\n"},
    /* The events of other targets are not read. The event of attr 1 could not
     * be opened on CPU 1. Then an event cannot be read. */
    {"removed_target_returns_its_last_counts",
     "attrs 2; cpus 0,1; cpus 2; fail open 4 ENODEV; open; give e0 10 7 7; "
     "give e1 11 7 7; give e2 12 7 7; "
     "take 0 -> read e0 e1 e2, close e0 e1 e2, 22@14, 11@7 ENODEV -1\n"
     "fail read 1 EIO; take 1 "
     "-> read e3 EIO, read e4, close e3 e4, error EIO -1, error EBADF -1\n"},
    {"removal_without_memory_removes_nothing",
     "attrs 1; cpus 0,1; open; fail calloc 2 ENOMEM; "
     "take 0 -> ENOMEM memory a0 t0\n"
     "nr -> 2\n"
     "take 0 -> read e0 e1, close e0 e1, error EBADF -2\n"
     "take 0 -> ENOENT argument a0 t0\n"},
    {"failures_go_with_their_target",
     "attrs 2; cpus 0; open; failures ->\n"
     "fail open 2 ENODEV; add cpus 9; failures -> a1 t1 cpu9 ENODEV no_cpu\n"
     "remove 1; failures ->\n"},
    {"target_of_which_nothing_opens_is_not_added",
     "attrs 1; cpus 0; open; fail open 1 ENODEV; "
     "add cpus 1 -> open @1 ENODEV, ENODEV no_event a0 t1\n"
     "add cpus none -> EINVAL argument a0 t2\n"
     "failures ->\n"
     "places -> t0 cpu0 #0 e0\n"
     "add cpus 1; places -> t0 cpu0 #0 e0, t2 cpu1 #2 e1\n"},
    /* The fallback was chosen before there was a target. */
    {"shortage_of_a_later_target_leaves_the_others",
     "attrs 1; attr 0 type=0 config=0; fallbacks clock; fail open 1 ENOENT; "
     "open -> open @self ENOENT, open e0@self, close e0\n"
     "fail open 2 EMFILE; "
     "add cpus 0-1 -> open e1@0 @1 EMFILE, close e1, EMFILE files a0 t0\n"
     "changes 0 -> type 0 to 1\n"
     "add cpus 0-1; fail open 2 EMFILE; "
     "add cpus 0-1 -> open e4@0 @1 EMFILE, close e4, EMFILE files a0 t2\n"
     "nr -> 2\n"
     "events type -> e0 1, e1 1, e2 1, e3 1, e4 1\n"
     "changes 0 -> type 0 to 1\n"
     "fields 0 type -> 1\n"},
    {"fallback_stays_while_the_event_is_open",
     "attrs 1; attr 0 type=0 config=0; fallbacks clock; cpus 0; "
     "fail open 1 ENOENT; open; fail open 1 EMFILE; "
     "add cpus 1 -> open @1 EMFILE, EMFILE files a0 t1\n"
     "fields 0 type -> 1\n"
     "changes 0 -> type 0 to 1\n"},
};

static evlist_make_t make;

static void finish(uvperf__evlist_t *evlist) {
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* Of a later version: longer, and 0 after the known part. */
static void targets_of_another_size_are_read_by_it(void **state) {
  struct {
    uvperf_target_t target;
    uint64_t more[3];
  } targets[2];
  static const uvperf_target_t init = UVPERF_TARGET_INIT;
  uvperf__evlist_t *evlist;
  fake_event_t *events[2];
  uvperf_error_t error;
  size_t i;

  counters_script(events, 2);
  evlist_make(&make, 1);
  memset(targets, 0, sizeof(targets));
  for (i = 0; i < 2; i++) {
    targets[i].target = init;
    targets[i].target.size = sizeof(targets[i]);
    targets[i].target.type = UVPERF_TARGET_CPUS;
    targets[i].target.cpus = i == 0 ? "4" : "6";
  }
  make.options.targets = &targets[0].target;
  make.options.nr_targets = 2;
  evlist = evlist_open(&make);
  assert_int_equal(events[0]->cpu, 4);
  assert_int_equal(events[1]->cpu, 6);
  finish(evlist);
  targets[1].more[2] = 1;
  evlist_refused(&make, &error, -E2BIG, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.target_index, 1);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(targets_of_another_size_are_read_by_it,
                             evlist_make_setup),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
