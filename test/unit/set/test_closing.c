/* SPDX-License-Identifier: MIT */
/* Scripted: the loop closes no event that takes the kernel long. The thread
 * pool does, and events that it cannot get are closed at once. */
#include "scripted_evlist.h"
#include "fake_clock.h"
#include "fake_pool.h"
#include "scripted_set.h"

static const scripted_row_t rows[] = {
    {"set_of_tracepoints_is_closed_by_the_pool",
     "records 1; attr 0 type=2; cpus 0-1; set; start; close -> read e0 e2\n"
     "turn ->\n"
     "pool -> DISABLE e0 e2 e1 e3, close e0 e2, munmap e1, close e1, "
     "munmap e3, close e3, closed\n"
     "turn ->\n"},
    /* Their lost records are counted. Events that write into rings write
     * nothing more. */
    {"target_of_tracepoints_is_removed_by_the_pool",
     "records 1; attr 0 type=2; cpus 0-1; set; start; "
     "remove 0 -> read e0 e2, DISABLE e0 e2\n"
     "nr -> 0\n"
     "stats -> 0 records, 0 late, 0 of bad times, 2 to close\n"
     "pool -> DISABLE e0 e2, close e0 e2\n"
     "stats -> 0 records, 0 late, 0 of bad times, 0 to close\n"
     "close ->\n"
     "turn -> closed, munmap e3, close e3, munmap e1, close e1\n"
     "pool ->\n"
     "turn ->\n"},
    {"set_closed_while_the_pool_closes_a_target_waits_for_it",
     "records 1; attr 0 type=2; cpus 0-1; set; start; remove 0; close ->\n"
     "turn ->\n"
     "pool -> DISABLE e0 e2, close e0 e2, closed, munmap e3, close e3, "
     "munmap e1, close e1\n"
     "turn ->\n"},
    {"targets_removed_at_the_same_time_are_closed_together",
     "records 1; attr 0 type=2; cpus 0; cpus 1; set; start; remove 0; "
     "stats -> read e2, 0 records, 0 late, 0 of bad times, 1 to close\n"
     "remove 1; stats -> 0 records, 0 late, 0 of bad times, 2 to close\n"
     "pool -> DISABLE e0, close e0, DISABLE e2, close e2\n"
     "stats -> 0 records, 0 late, 0 of bad times, 0 to close\n"},
    {"events_are_closed_at_once_if_they_are_less_than_64",
     "attrs 9; cpus 0-6; set; remove 0; "
     "stats -> 0 records, 0 late, 0 of bad times, 0 to close\n"
     "pool ->\n"},
    {"events_are_closed_by_the_pool_if_they_are_64_or_more",
     "attrs 16; cpus 0-3; set; remove 0 ->\n"
     "stats -> 0 records, 0 late, 0 of bad times, 64 to close\n"
     "pool; stats -> 0 records, 0 late, 0 of bad times, 0 to close\n"},
    {"set_that_the_pool_refuses_is_closed_at_once",
     "records 1; attr 0 type=2; cpus 0-1; set; start; refuse_work; close; "
     "turn -> DISABLE e0 e2 e1 e3, close e0 e2, munmap e1, close e1, munmap "
     "e3, close e3, closed\n"},
    {"set_of_less_than_64_events_is_closed_at_once",
     "attrs 9; cpus 0-6; set; close; turn; pool ->\n"},
    {"set_of_64_events_is_closed_by_the_pool",
     "attrs 16; cpus 0-3; set; close ->\n"
     "turn ->\n"
     "pool; turn ->\n"},
    {"set_of_tracepoints_closes_though_ioctls_fail",
     "records 1; attr 0 type=2; cpus 0-1; set; start; close; turn; "
     "fail ioctl 1+ EINTR; "
     "pool -> DISABLE e0 EINTR, DISABLE e2 EINTR, DISABLE e1 EINTR, "
     "DISABLE e3 EINTR, close e0 e2, munmap e1, close e1, munmap e3, close e3, "
     "closed\n"
     "turn ->\n"},
    /* Linux has closed an fd whose close(2) fails. */
    {"set_of_tracepoints_closes_though_closes_fail",
     "records 1; attr 0 type=2; cpus 0-1; set; start; close; turn; "
     "fail close 1+ EINTR; "
     "pool -> DISABLE e0 e2 e1 e3, close e0 EINTR, close e2 EINTR, munmap e1, "
     "close e1 EINTR, munmap e3, close e3 EINTR, closed\n"
     "turn ->\n"},
    {"set_of_tracepoints_closes_without_memory",
     "each calloc ENOMEM; records 1; attr 0 type=2; cpus 0-1; set; start; "
     "sweep; close; turn; pool; turn\n"},
    /* The handle is closed after the last step of opening. Another request of
     * the pool then closes the target's events. The handle waits for it, and
     * for its inner handles. */
    {"target_that_comes_too_late_is_closed_by_the_pool",
     "attrs 1; attr 0 type=2; flags targets_later; set; later cpus 0-1; "
     "pool work -> open e0@0 e1@1, waits\n"
     "close ->\n"
     "pool 1 -> t0 added ECANCELED argument, waits\n"
     "pool -> DISABLE e0 e1, close e0 e1\n"
     "turn -> closed\n"},
};

/* Until its inner handles are closed. */
static void run_loop(uv_loop_t *loop) {
  while (uv_run(loop, UV_RUN_NOWAIT) != 0)
    continue;
}

static void on_target(uvperf_set_t *set, int status, void *data, uint32_t index,
                      const uvperf_error_t *error) {
  *(int *)data = status;
}

/* So that each call is a request of its own. */
static int take_time_to_open(struct perf_event_attr *attr) {
  static uint64_t now;

  fake_clock_set(now += UINT64_C(2000000));
  return 0;
}

static int take_time(fake_event_t *fake, unsigned long request,
                     uintptr_t argument) {
  return take_time_to_open(NULL);
}

enum leaving {
  REMOVED,
  SET_CLOSED,
  EVENT_CLOSED
};

/* While a target is being opened, another one is removed, or another handle
 * closes. */
static void leave_while_opening(uv_loop_t *loop, enum leaving how,
                                const char *log) {
  fake_event_t *events[6];
  live_set_t live, other;
  live_collector_t event;
  evlist_make_t make;
  uvperf_target_t target;
  int status = 1;
  size_t i;

  evlist_make_setup(NULL);
  counters_script(events, 6);
  evlist_make(&make, 1);
  make.attrs[0].type = PERF_TYPE_TRACEPOINT;
  evlist_add_cpus(&make, "0-1");
  target = make.targets[0];
  target.data = &status;
  fake_pool_hold();
  if (how != REMOVED) {
    if (how == SET_CLOSED)
      live_set_begin(loop, &other, &make.options);
    else
      live_init(loop, &event, &make.attrs[0], NULL);
    make.options.flags = UVPERF_SET_TARGETS_LATER;
    make.options.nr_targets = 0;
  }
  live_set_begin(loop, &live, &make.options);
  for (i = 0; i < 6; i++)
    events[i]->on_ioctl = take_time;
  fake_on_open(take_time_to_open);
  take_time_to_open(NULL);
  fake_log_clear();
  assert_int_equal(uvperf_set_add(&live.set, &target, on_target, NULL, NULL),
                   0);
  if (how == REMOVED)
    assert_int_equal(uvperf_set_remove(&live.set, 0, NULL, NULL), 0);
  else if (how == SET_CLOSED)
    uvperf_close(&other.set.handle, live_set_on_close);
  else
    uvperf_close(&event.event.handle, NULL);
  run_loop(loop);
  fake_pool_finish();
  assert_int_equal(status, 0);
  assert_string_equal(fake_log(), log);
  fake_clock_set(0);
  if (how == SET_CLOSED)
    live_set_wait_closed(&other);
  uvperf_close(&live.set.handle, live_set_on_close);
  run_loop(loop);
  fake_pool_finish();
  live_set_wait_closed(&live);
  fake_assert_clean();
}

/* They count no longer than necessary, but the target is opened before their
 * events are closed. */
static void events_that_leave_are_disabled_first_and_closed_last(void **state) {
  const char *log = "open, ioctl DISABLE, ioctl DISABLE, open, ioctl ENABLE, "
                    "ioctl ENABLE, close, close";

  leave_while_opening(*state, REMOVED, log);
  leave_while_opening(*state, SET_CLOSED, log);
  leave_while_opening(
      *state, EVENT_CLOSED,
      "ioctl DISABLE, open, open, ioctl ENABLE, ioctl ENABLE, close");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(events_that_leave_are_disabled_first_and_closed_last),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_evlist, rows, tests);
}
