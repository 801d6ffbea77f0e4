/* SPDX-License-Identifier: MIT */
/* The number of records that an event has lost, in the readings of a set. */
#include "evlist_make.h"
#include "live.h"

#include <unistd.h>

static int hold(void *arg) {
  const int *ends = arg;
  char byte;

  close(ends[1]);
  return read(ends[0], &byte, 1) != 0;
}

/* The kernel hides the lost records of an inherited group while a child
 * lives. */
static void lost_of_a_group_stays_while_a_child_lives(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uint64_t tracepoint;
  uint64_t lost;
  cpu_set_t old;
  pid_t child;
  int ends[2];

  (void)state;
  support_need_own_events(__func__);
  if (uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST) != 1)
    support_skip(__func__, "Linux 6.0, for PERF_FORMAT_LOST");
  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  evlist_make_records(&make, 2);
  live_syscall_attr(&make.attrs[0], tracepoint, PERF_SAMPLE_TID);
  make.attrs[0].inherit = 1;
  live_touch_attr(&make.attrs[1], 0);
  make.attrs[1].sample_period = 0;
  make.attrs[1].inherit = 1;
  evlist_group(&make, 0, 2);
  evlist_add(&make, UVPERF_TARGET_SELF);
  live_pin(live_last_cpu(), &old);
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  live_syscall(1000);
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  lost = evlist_total(evlist, 0).lost;
  assert_in_range(lost, 1, 999);
  assert_int_equal(pipe(ends), 0);
  child = support_fork(hold, ends);
  close(ends[0]);
  assert_int_equal(evlist_total(evlist, 0).lost, lost);
  close(ends[1]);
  assert_int_equal(support_wait(child), 0);
  assert_int_equal(evlist_total(evlist, 0).lost, lost);
  assert_int_equal(evlist_total(evlist, 0).value, 1000);
  live_unpin(&old);
  uvperf__evlist_free(evlist);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(lost_of_a_group_stays_while_a_child_lives,
                             evlist_make_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
