/* SPDX-License-Identifier: MIT */
/* Scripted: targets come and go for months in a set that is not started: what
 * is known of closed events does not grow. */
#include "fake_clock.h"
#include "scripted_set.h"

#define SOON_NS (100 * UINT64_C(1000000))

typedef struct churn_s {
  stream_world_t world;
  uint64_t now;
} churn_t;

static void begin(uv_loop_t *loop, churn_t *churn) {
  uint64_t id;

  stream_world_plan(&churn->world, 0);
  churn->world.make.targets[0].cpus = "0";
  for (id = 200; id < 264; id++)
    fake_event_add(id);
  churn->now = 1;
  fake_clock_set_counters(churn->now);
  live_stream_open(loop, &churn->world.stream, &churn->world.make.options);
}

static void come_and_go(churn_t *churn) {
  uvperf_set_t *set = &churn->world.stream.live.set;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint32_t index;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0";
  assert_int_equal(uvperf_set_add_target(set, &target, &index, NULL), 0);
  assert_int_equal(uvperf_set_remove_target(set, index), 0);
  churn->now += SOON_NS;
  fake_clock_set_counters(churn->now);
}

static void set_that_is_not_started_forgets_closed_events(void **state) {
  size_t blocks = 0;
  churn_t churn;
  size_t i;

  begin(*state, &churn);
  for (i = 0; i < 40; i++) {
    come_and_go(&churn);
    if (i == 10)
      blocks = fake_live_allocations();
  }
  assert_int_equal(fake_live_allocations(), blocks);
  stream_world_close(&churn.world);
}

static churn_t *in_callback;

static void on_read(uvperf_set_t *set, int status,
                    const uvperf_reading_t *reading,
                    const uvperf_reading_t *delta) {
  (void)set;
  (void)reading;
  (void)delta;
  assert_int_equal(status, 0);
  come_and_go(in_callback);
  in_callback->world.asked++;
}

static void set_that_is_only_read_forgets_closed_events(void **state) {
  size_t blocks;
  churn_t churn;

  begin(*state, &churn);
  in_callback = &churn;
  churn.world.asked = 0;
  assert_int_equal(
      uvperf_set_read_start(&churn.world.stream.live.set, 1, on_read), 0);
  assert_true(live_run_until(*state, &churn.world.asked, 5));
  blocks = fake_live_allocations();
  assert_true(live_run_until(*state, &churn.world.asked, 30));
  assert_int_equal(fake_live_allocations(), blocks);
  stream_world_close(&churn.world);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      stream_world_test(set_that_is_not_started_forgets_closed_events),
      stream_world_test(set_that_is_only_read_forgets_closed_events),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
