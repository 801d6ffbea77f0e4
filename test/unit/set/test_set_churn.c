/* SPDX-License-Identifier: MIT */
/* Scripted: targets come and go for months in a set that is not started: the
 * memory for closed events does not grow. */
#include "fake_clock.h"
#include "scripted_set.h"

#define SOON_NS (100 * UINT64_C(1000000))

typedef struct churn_s {
  scripted_set_t scripted;
  uint64_t now;
} churn_t;

static void begin(uv_loop_t *loop, churn_t *churn) {
  uint64_t id;

  scripted_set_plan(&churn->scripted, 0);
  churn->scripted.make.targets[0].cpus = "0";
  for (id = 200; id < 264; id++)
    fake_event_add(id);
  churn->now = 1;
  fake_clock_set_counters(churn->now);
  live_stream_open(loop, &churn->scripted.stream,
                   &churn->scripted.make.options);
}

static void come_and_go(churn_t *churn) {
  uvperf_set_t *set = &churn->scripted.stream.live.set;
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint32_t index;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0";
  assert_int_equal(uvperf_set_add(set, &target, NULL, &index, NULL), 0);
  assert_int_equal(uvperf_set_remove(set, index, NULL, NULL), 0);
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
  scripted_set_close(&churn.scripted);
}

static churn_t *in_callback;

static void on_read(uvperf_set_t *set, int status,
                    const uvperf_reading_t *reading,
                    const uvperf_reading_t *delta) {
  assert_int_equal(status, 0);
  come_and_go(in_callback);
  in_callback->scripted.asked++;
}

static void set_that_is_only_read_forgets_closed_events(void **state) {
  size_t blocks;
  churn_t churn;

  begin(*state, &churn);
  in_callback = &churn;
  churn.scripted.asked = 0;
  assert_int_equal(
      uvperf_set_read_start(&churn.scripted.stream.live.set, 1, on_read, NULL),
      0);
  assert_true(live_run_until(*state, &churn.scripted.asked, 5));
  blocks = fake_live_allocations();
  assert_true(live_run_until(*state, &churn.scripted.asked, 30));
  assert_int_equal(fake_live_allocations(), blocks);
  scripted_set_close(&churn.scripted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_set_test(set_that_is_not_started_forgets_closed_events),
      scripted_set_test(set_that_is_only_read_forgets_closed_events),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
