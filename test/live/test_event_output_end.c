/* SPDX-License-Identifier: MIT */
/* The end of events that share a ring, with the running kernel: hang-up belongs
 * to each event, readiness to the ring. */
#include "live.h"

static void redirect(uvperf_event_t *writer, uvperf_event_t *owner) {
  uvperf_error_t error = {0};

  if (uvperf_event_set_output(writer, owner, &error) != 0)
    fail_msg("set_output: %s", error.reason);
}

static void write_there(void *arg) {
  live_write(1);
}

/* Two threads' writes to one word, on CPU 0, in the ring of the first. */
typedef struct pair_s {
  live_worker_t workers[2];
  live_collector_t owner;
  uvperf_event_t writer;
} pair_t;

static void init_worker_event(uv_loop_t *loop, uvperf_event_t *event, pid_t pid,
                              uint32_t flags) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_error_t error = {0};

  live_write_attr(&attr, PERF_SAMPLE_TID);
  options.pid = pid;
  options.cpu = 0;
  options.flags = flags | UVPERF_EVENT_CPU;
  if (uvperf_event_init(loop, event, &attr, &options, &error) != 0)
    fail_msg("init: %s", error.reason);
}

static void pair_start(uv_loop_t *loop, pair_t *pair) {
  cpu_set_t old;

  memset(pair, 0, sizeof(*pair));
  live_pin(0, &old);
  live_worker_fork(&pair->workers[0], write_there, NULL);
  live_worker_fork(&pair->workers[1], write_there, NULL);
  live_unpin(&old);
  init_worker_event(loop, &pair->owner.event, pair->workers[0].pid,
                    UVPERF_EVENT_IDENTIFY);
  pair->owner.event.handle.data = &pair->owner;
  init_worker_event(loop, &pair->writer, pair->workers[1].pid,
                    UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING);
  redirect(&pair->writer, &pair->owner.event);
  live_start(&pair->owner, NULL);
  assert_int_equal(uvperf_start(&pair->writer.handle, NULL, NULL, NULL), 0);
}

static void pair_write(uv_loop_t *loop, pair_t *pair, int worker) {
  uint64_t before = pair->owner.records;

  live_worker_do(&pair->workers[worker]);
  assert_true(live_run_until(loop, &pair->owner.records, before + 1));
}

static void output_owners_task_ends_goes_on_with_the_writers(void **state) {
  pair_t pair;

  support_need_breakpoints(__func__);
  pair_start(*state, &pair);
  pair_write(*state, &pair, 0);
  pair_write(*state, &pair, 1);
  live_worker_end(&pair.workers[0]);
  live_run_ms(*state, 5);
  pair_write(*state, &pair, 1);
  /* The loop sleeps, though the owner's fd hangs up for ever. */
  assert_in_range(live_run_ms(*state, 50), 1, 40);
  pair_write(*state, &pair, 1);
  assert_int_equal(pair.owner.ends, 0);
  live_worker_end(&pair.workers[1]);
  assert_true(live_run_until(*state, &pair.owner.ends, 1));
  assert_int_equal(pair.owner.end_status, UV_EOF);
  assert_int_equal(pair.owner.records, 4);
  uvperf_close(&pair.writer.handle, NULL);
  live_close(&pair.owner);
}

static void output_polled_writer_is_closed_polls_the_next(void **state) {
  uvperf_event_t third;
  pair_t pair;

  support_need_breakpoints(__func__);
  pair_start(*state, &pair);
  init_worker_event(*state, &third, pair.workers[1].pid,
                    UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING);
  redirect(&third, &pair.owner.event);
  assert_int_equal(uvperf_start(&third.handle, NULL, NULL, NULL), 0);
  live_worker_end(&pair.workers[0]);
  live_run_ms(*state, 5);
  live_worker_do(&pair.workers[1]);
  assert_true(live_run_until(*state, &pair.owner.records, 2));
  /* Whichever of the two is polled: one, then the other is closed. */
  uvperf_close(&pair.writer.handle, NULL);
  live_run_ms(*state, 1);
  pair_write(*state, &pair, 1);
  assert_int_equal(pair.owner.records, 3);
  /* No living event is left. */
  assert_int_equal(uvperf_event_set_output(&third, NULL, NULL), 0);
  assert_true(live_run_until(*state, &pair.owner.ends, 1));
  assert_int_equal(pair.owner.end_status, UV_EOF);
  assert_int_equal(uvperf_event_set_output(&third, &pair.owner.event, NULL),
                   UV_EOF);
  live_worker_end(&pair.workers[1]);
  uvperf_close(&third.handle, NULL);
  live_close(&pair.owner);
}

/* All writers have ended, but the end is not reported yet when another
 * joins. */
static void output_joined_after_the_last_hung_up_goes_on(void **state) {
  uvperf_event_t third;
  pair_t pair;

  support_need_breakpoints(__func__);
  pair_start(*state, &pair);
  live_run_ms(*state, 1);
  live_worker_end(&pair.workers[0]);
  redirect(&pair.writer, NULL);
  init_worker_event(*state, &third, pair.workers[1].pid,
                    UVPERF_EVENT_IDENTIFY | UVPERF_EVENT_NO_RING);
  redirect(&third, &pair.owner.event);
  assert_int_equal(uvperf_start(&third.handle, NULL, NULL, NULL), 0);
  pair_write(*state, &pair, 1);
  pair_write(*state, &pair, 1);
  assert_int_equal(pair.owner.ends, 0);
  live_worker_end(&pair.workers[1]);
  assert_true(live_run_until(*state, &pair.owner.ends, 1));
  uvperf_close(&third.handle, NULL);
  uvperf_close(&pair.writer.handle, NULL);
  live_close(&pair.owner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(output_owners_task_ends_goes_on_with_the_writers),
      support_loop_test(output_polled_writer_is_closed_polls_the_next),
      support_loop_test(output_joined_after_the_last_hung_up_goes_on),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
