/* SPDX-License-Identifier: MIT */
/* Records of a set whose process forks: a child has the events' fds too, and
 * keeps the events alive until it ends. */
#include "evlist_make.h"
#include "live.h"

#include <sys/wait.h>
#include <unistd.h>

typedef struct seen_s {
  unsigned samples;
  unsigned unknown;
} seen_t;

static void see(void *data, int status, const uvperf_record_t *record) {
  seen_t *seen = data;

  (void)status;
  seen->samples += record->type == PERF_RECORD_SAMPLE;
  seen->unknown += record->source == NULL;
}

/* Waits for its parent to end, or to close the pipe. */
static int hold(void *arg) {
  const int *ends = arg;
  char byte;

  close(ends[1]);
  return read(ends[0], &byte, 1) != 0;
}

static void
removed_target_is_silent_though_a_child_holds_its_events(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uint64_t tracepoint;
  seen_t seen = {0, 0};
  cpu_set_t old;
  pid_t child;
  int ends[2];

  (void)state;
  support_need_own_events(__func__);
  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  evlist_make_records(&make, 1);
  live_syscall_attr(&make.attrs[0], tracepoint, PERF_SAMPLE_TID);
  evlist_add(&make, UVPERF_TARGET_SELF);
  live_pin(live_last_cpu(), &old);
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  assert_int_equal(pipe(ends), 0);
  child = support_fork(hold, ends);
  close(ends[0]);
  live_syscall(3);
  evlist_drain(evlist, see, &seen);
  assert_int_equal(seen.samples, 3);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  live_syscall(3);
  evlist_drain(evlist, see, &seen);
  assert_int_equal(seen.samples, 3);
  assert_int_equal(seen.unknown, 0);
  close(ends[1]);
  assert_int_equal(support_wait(child), 0);
  live_unpin(&old);
  uvperf__evlist_free(evlist);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(
          removed_target_is_silent_though_a_child_holds_its_events,
          evlist_make_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
