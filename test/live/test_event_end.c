/* SPDX-License-Identifier: MIT */
/* Live: what happens when the target of an event is gone. */
#include "live.h"

#include <unistd.h>

/* REFRESH running out disables without a POLLHUP, and so does DISABLE: neither
 * is an end. */
static void event_disabled_is_not_an_end(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t next = 0;

  support_need_own_events(__func__);
  live_comm_attr(&attr);
  live_init(*state, &collector, &attr, NULL);
  live_start(&collector, NULL);
  live_comm(&next, 2);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  assert_true(live_run_until(*state, &collector.comms, 2));
  live_run_ms(*state, 20);
  assert_int_equal(collector.ends, 0);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  live_comm(&next, 2);
  assert_true(live_run_until(*state, &collector.comms, 4));
  live_close(&collector);
}

/* An inherited event ends with the last of the children, not with the task it
 * was opened on: is_event_hup() in kernel/events/core.c. */
static void event_inherited_by_living_child_has_not_ended(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  int hold[2];
  int start[2];
  pid_t pid;
  char byte;

  support_need_own_events(__func__);
  assert_int_equal(pipe(hold), 0);
  assert_int_equal(pipe(start), 0);
  pid = fork();
  if (pid == 0) {
    close(hold[1]);
    if (read(start[0], &byte, 1) != 1)
      _exit(1);
    if (fork() == 0) {
      /* Lives until the test closes its end, its parent does not. */
      if (read(hold[0], &byte, 1) != 0)
        _exit(1);
      _exit(0);
    }
    _exit(0);
  }
  close(hold[0]);
  live_comm_attr(&attr);
  attr.inherit = 1;
  options.pid = pid;
  options.cpu = 0;
  options.flags |= UVPERF_EVENT_CPU;
  live_init(*state, &collector, &attr, &options);
  live_start(&collector, NULL);
  live_run_ms(*state, 5);
  assert_int_equal(write(start[1], "", 1), 1);
  live_child_wait(&(live_child_t){pid, -1});
  live_run_ms(*state, 50);
  assert_int_equal(collector.ends, 0);
  close(hold[1]);
  assert_true(live_run_until(*state, &collector.ends, 1));
  assert_int_equal(collector.end_status, UV_EOF);
  live_close(&collector);
  close(start[0]);
  close(start[1]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_disabled_is_not_an_end),
      support_loop_test(event_inherited_by_living_child_has_not_ended),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
