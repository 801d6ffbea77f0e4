/* SPDX-License-Identifier: MIT */
/* Scripted: how uvperf_measure_events opens its event, how it uses what the
 * kernel returns, that nothing of it is left whatever fails, and that a meter
 * opens and closes once. */
#include "scripted_evlist.h"
#include "live_measure.h"

static const scripted_row_t rows[] = {
    {"measure_event_opens_one_event_of_the_calling_thread",
     "measure 1 page-faults:u "
     "-> open e0@me, ENABLE e0, called, DISABLE e0, read e0, close e0, "
     "error EBADF -1\n"
     "events disabled inherit exclude_kernel -> e0 1 0 1\n"},
    /* In 2 us the event was on a counter for 1 us. */
    {"measure_event_of_a_shared_pmu_reports_the_ratio",
     "work e0 2000 1000 1000; measure 1 page-faults:u "
     "-> open e0@me, ENABLE e0, called, DISABLE e0, read e0, close e0, "
     "1000@2000/1000=2000\n"},
    /* Its name says which sides: nothing else is tried. */
    {"measure_event_that_is_refused_is_not_made_less",
     "refuse kernel EACCES; "
     "measure 1 cycles -> open @me EACCES, EACCES permission a0 t0\n"
     "work e0 2000 1000 1000; "
     "measure 1 cycles:u -> open e0@me, ENABLE e0, called, DISABLE e0, "
     "read e0, close e0, 1000@2000/1000\n"},
    {"measure_event_without_a_pmu_is_no_event",
     "refuse hardware ENOENT; "
     "measure 1 cycles:u -> open @me ENOENT, ENOENT no_event a0 t0\n"
     "says cycles\n"},
    {"measure_event_that_never_ran_is_no_count_of_0",
     "work e0 500 0 0; measure 1 page-faults:u "
     "-> open e0@me, ENABLE e0, called, DISABLE e0, read e0, close e0, "
     "never scheduled -1\n"},
    /* __perf_read(): end-of-file is an event in error state. */
    {"measure_event_that_is_pinned_and_does_not_fit_is_ebadf",
     "work e0 0 0; measure 1 page-faults:uD "
     "-> open e0@me, ENABLE e0, called, DISABLE e0, read e0, close e0, "
     "error EBADF -1\n"
     "events pinned -> e0 1\n"},
    {"measure_event_that_cannot_be_enabled_does_not_call",
     "fail ioctl 1 EIO; measure 1 page-faults:u "
     "-> open e0@me, ENABLE e0 EIO, DISABLE e0, close e0, EIO unknown a0 t0\n"},
    {"measure_event_that_cannot_be_disabled_returns_its_count",
     "work e0 2000 1000 1000; fail ioctl 2 EIO; measure 1 page-faults:u "
     "-> open e0@me, ENABLE e0, called, DISABLE e0 EIO, read e0, close e0, "
     "1000@2000/1000=2000, EIO unknown a0 t0\n"},
    {"measure_event_that_cannot_be_read_is_an_error_state",
     "work e0 2000 1000 1000; fail read 1+ EIO; measure 1 page-faults:u "
     "-> open e0@me, ENABLE e0, called, DISABLE e0, read e0 EIO, close e0, "
     "error EIO -1\n"},
    {"measure_event_without_fds_is_emfile",
     "fail open 1 EMFILE; "
     "measure 1 page-faults:u -> open @me EMFILE, EMFILE files a0 t0\n"},
    /* Any shortage is noticed before the call. */
    {"measure_event_without_memory_does_not_call",
     "each calloc ENOMEM; measure 1 page-faults:u\n"},
    {"meter_opens_and_closes_once",
     "work e0 2000 1000 1000; meter page-faults:u -> open e0@me\n"
     "give e0 0 0 0; measure 1 "
     "-> ENABLE e0, called, DISABLE e0, read e0, 1000@2000/1000=2000\n"
     "measure 1 -> read e0, ENABLE e0, called, DISABLE e0, read e0, "
     "1000@2000/1000=2000\n"
     "measure 1 -> read e0, ENABLE e0, called, DISABLE e0, read e0, "
     "1000@2000/1000=2000\n"
     "free_meter -> close e0\n"},
    /* All events are disabled all the same, and the next call counts by
     * itself. */
    {"meter_goes_on_after_a_failure",
     "work e1 2000 1000 1000; meter page-faults:u,cs:u; give e1 0 0 0; "
     "fail ioctl 1 EIO; measure 2 "
     "-> ENABLE e0 EIO, ENABLE e1, DISABLE e0 e1, EIO unknown a0 t0\n"
     "measure 2 -> read e0 e1, ENABLE e0 e1, called, DISABLE e0 e1, "
     "read e0 e1, error EBADF -1, 1000@2000/1000=2000\n"
     "fail ioctl 2 EIO; measure 2 "
     "-> read e0 e1, ENABLE e0 e1 EIO, DISABLE e0 e1, EIO unknown a1 t0\n"
     "measure 2 -> read e0 e1, ENABLE e0 e1, called, DISABLE e0 e1, "
     "read e0 e1, error EBADF -1, 1000@2000/1000=2000\n"},
    /* The kernel's values and times only grow. The last call finds the event
     * in error state. */
    {"meter_returns_what_each_call_added",
     "work e0 2000 1000 1000 1001 1002; work e0 2000 1000 1000 1001 1002; "
     "work e0 500 0 0 0 0; work e0 0 0; "
     "meter {page-faults:u,cs:u,minor-faults:u} "
     "-> open e0@me e1@me<e0 e2@me<e0\n"
     "give e0 0 0 e0=0 e1=0 e2=0; "
     "measure 3 -> ENABLE e0, called, DISABLE e0, read e0, "
     "1000@2000/1000=2000, 1001@2000/1000=2002, 1002@2000/1000=2004\n"
     "measure 3 -> read e0, ENABLE e0, called, DISABLE e0, read e0, "
     "1000@2000/1000=2000, 1001@2000/1000=2002, 1002@2000/1000=2004\n"
     "measure 3 -> read e0, ENABLE e0, called, DISABLE e0, read e0, "
     "never scheduled -1, never scheduled -1, never scheduled -1\n"
     "measure 3 -> read e0, ENABLE e0, called, DISABLE e0, read e0, "
     "error EBADF -1, error EBADF -1, error EBADF -1\n"},
    /* Nothing is between enabling and the call, nor between the call and
     * disabling. One ioctl is for all of a group. */
    {"meter_calls_right_after_enabling_and_before_disabling",
     "meter {page-faults:u,cs:u,minor-faults:u,dummy:u,faults:u}; measure 5; "
     "measure 5 -> read e0, ENABLE e0, called, DISABLE e0, read e0, "
     "error EBADF -1, error EBADF -1, error EBADF -1, error EBADF -1, "
     "error EBADF -1\n"},
    {"meter_without_one_of_its_events_counts_the_others",
     "refuse hardware ENOENT; meter cycles:u,page-faults:u "
     "-> open @me ENOENT, open e0@me, no cycles:u ENOENT no_event\n"
     "work e0 2000 1000 1000; "
     "measure 2 -> ENABLE e0, called, DISABLE e0, read e0, "
     "not available ENOENT -1, 1000@2000/1000=2000\n"},
    {"measure_events_without_one_says_which_and_why",
     "refuse hardware ENOENT; work e0 2000 1000 1000; "
     "measure 2 page-faults:u,cycles:u "
     "-> open e0@me @me ENOENT, ENABLE e0, called, DISABLE e0, read e0, "
     "close e0, 1000@2000/1000=2000, not available ENOENT -1, "
     "missing a1 ENOENT no_event\n"},
    {"meter_that_is_strict_needs_each_event",
     "refuse hardware ENOENT; flags strict; meter page-faults:u,cycles:u "
     "-> open e0@me @me ENOENT, close e0, ENOENT no_event a1 t0\n"
     "says cycles\n"},
    {"meter_with_another_number_of_results_is_refused",
     "meter page-faults:u; measure 2 -> EINVAL argument a0 t0\n"
     "repeat 3 2 -> EINVAL argument a0 t0\n"
     "says 'the meter has 1 events, but nr is 2'\n"},
    /* On a counter in every second call only. */
    {"repeat_leaves_out_calls_that_were_not_counted",
     "work e0 2000 1000 1000; work e0 2000 0 0; meter page-faults:u; "
     "give e0 0 0 0; repeat 5 1 "
     "-> 3 runs of 2000 to 2000, mean 2000.00, deviation 0.00, sum, "
     "3000@10000/3000=6000 -2\n"},
    {"repeat_of_close_counts_has_a_small_deviation",
     "work e0 1000 1000 10; work e0 1000 1000 10; work e0 1000 1000 10; "
     "work e0 1000 1000 11; meter page-faults:u; give e0 0 0 0; "
     "repeat 4 1 -> 4 runs of 10 to 11, mean 10.25, deviation 0.50, sum, "
     "41@4000\n"},
    {"repeat_knows_the_least_and_the_most",
     "work e0 10 10 10; work e0 10 10 7; work e0 10 10 9; meter page-faults:u; "
     "give e0 0 0 0; repeat 3 1 "
     "-> 3 runs of 7 to 10, mean 8.67, deviation 1.53, sum, 26@30\n"},
    /* Two calls enable and disable. */
    {"repeat_ends_with_the_first_failure",
     "work e0 2000 1000 1000; meter page-faults:u; give e0 0 0 0; "
     "repeat 0 1 -> EINVAL argument a0 t0\n"
     "fail calloc 1 ENOMEM; repeat 3 1 -> ENOMEM memory a0 t0\n"
     "fail ioctl 5 EIO; repeat 10 1 "
     "-> 2 runs of 2000 to 2000, mean 2000.00, deviation 0.00, sum, "
     "2000@4000/2000=4000, EIO unknown a0 t0\n"},
};

static uvperf_meter_t *nested;

static void measure_again(void *arg) {
  uvperf_count_t count;

  *(int *)arg =
      uvperf_meter_measure(nested, measure_again, arg, &count, 1, NULL);
}

static void meter_within_its_own_call_is_busy(void **state) {
  uvperf_count_t count;
  fake_event_t *fake[1];
  int rc = 0;

  counters_script(fake, 1);
  nested = live_measure_meter("page-faults:u", NULL);
  counters_give(fake[0], 0, 0, 0);
  assert_int_equal(
      uvperf_meter_measure(nested, measure_again, &rc, &count, 1, NULL), 0);
  assert_int_equal(rc, UV_EBUSY);
  uvperf_meter_free(nested);
  fake_assert_clean();
}

static void measure_elsewhere(void *arg) {
  uvperf_count_t count;

  *(int *)arg =
      uvperf_meter_measure(nested, live_measure_nothing, NULL, &count, 1, NULL);
}

static void meter_of_another_thread_is_refused(void **state) {
  fake_event_t *fake[1];
  uv_thread_t thread;
  int rc = 0;

  counters_script(fake, 1);
  nested = live_measure_meter("page-faults:u", NULL);
  assert_int_equal(uv_thread_create(&thread, measure_elsewhere, &rc), 0);
  assert_int_equal(uv_thread_join(&thread), 0);
  assert_int_equal(rc, UV_EINVAL);
  uvperf_meter_free(nested);
  fake_assert_clean();
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(meter_within_its_own_call_is_busy,
                             evlist_make_setup),
      cmocka_unit_test_setup(meter_of_another_thread_is_refused,
                             evlist_make_setup),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
