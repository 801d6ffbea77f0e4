/* SPDX-License-Identifier: MIT */
/* Live events during a scripted storm of CPUs that go and come, in bursts and
 * faster than the library checks, while callbacks do anything that is
 * allowed. */
#include "live_stream.h"

#include "make_cpus.h"
#include "fake_kernel.h"
#include "fake_uevents.h"
#include "scripted_hotplug.h"
#include "model_run.h"
#include "loop/rings.h"
#include "set/internal.h"

#define STEPS   150
#define MOST_NS UINT64_C(20000000000)

typedef struct storm_s {
  live_stream_t stream; /* first: the set's `data` is its address */
  live_plan_t plan;
  model_run_t run;
  uv_loop_t *loop;
  int is_up[2];   /* in the tree */
  int seen_up[2]; /* as reported */
  uint64_t reports;
  uint32_t other; /* a target more, or 0 */
  int is_started;
  int is_reading;
  int closing;
  int is_over;
} storm_t;

static uint64_t draw(storm_t *storm, uint64_t below) {
  return model_run_draw(&storm->run, below);
}
static void act(storm_t *storm);

static void on_cpu(uvperf_handle_t *base, int cpu, int status,
                   const uvperf_error_t *error) {
  storm_t *storm = base->data;

  assert_int_equal(storm->closing, 0);
  assert_true(storm->is_started || storm->is_reading);
  assert_true(cpu >= 0 && cpu < 2);
  if (status == UV_ENODEV && error == NULL) {
    assert_int_equal(storm->seen_up[cpu], 1);
    storm->seen_up[cpu] = 0;
  } else {
    assert_int_equal(status, 0);
    assert_int_equal(storm->seen_up[cpu], 0);
    storm->seen_up[cpu] = 1;
  }
  storm->reports += 1;
  if (draw(storm, 3) == 0)
    act(storm);
}

static void start(storm_t *storm) {
  uvperf_stream_options_t options = live_stream_plain;

  if (storm->is_started)
    return;
  options.flush_ms = (int32_t)draw(storm, 3) - 1;
  options.slice_records = (uint32_t)draw(storm, 3);
  live_stream_start(&storm->stream, &options);
  storm->is_started = 1;
}

static void act(storm_t *storm) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_set_t *set = &storm->stream.live.set;
  int rc;

  if (storm->closing || storm->is_over)
    return;
  switch (draw(storm, 9)) {
    case 0:
      assert_int_equal(uvperf_stop(&set->handle), 0);
      storm->is_started = 0;
      break;
    case 1:
    case 2:
      start(storm);
      break;
    case 3:
      if (storm->other != 0)
        break;
      target.type = draw(storm, 2) ? UVPERF_TARGET_CPUS : UVPERF_TARGET_SELF;
      target.data = (void *)2;
      rc = uvperf_set_add(set, &target, NULL, &storm->other, NULL);
      assert_int_equal(rc, 0);
      break;
    case 4:
      if (storm->other != 0)
        assert_int_equal(uvperf_set_remove(set, storm->other, NULL, NULL), 0);
      storm->other = 0;
      break;
    case 5:
      rc = uvperf_set_read_start(set, 1, live_set_on_read, NULL);
      assert_true(rc == 0 || rc == UV_EALREADY);
      storm->is_reading = 1;
      break;
    case 6:
      assert_int_equal(uvperf_set_read_stop(set), 0);
      storm->is_reading = 0;
      break;
    case 7:
      assert_int_equal(uvperf_set_read(set, storm->stream.live.reading, NULL),
                       0);
      break;
    case 8:
      if (draw(storm, 40) != 0)
        break;
      storm->closing = 1;
      uvperf_close(&set->handle, live_set_on_close);
      break;
  }
}

static void on_record(live_stream_t *stream, const uvperf_record_t *record) {
  storm_t *storm = (storm_t *)stream;

  assert_int_equal(storm->closing, 0);
  assert_int_equal(stream->faults, 0);
  if (draw(storm, 100) == 0)
    act(storm);
}

static void flap(storm_t *storm) {
  int cpu = (int)draw(storm, 2);
  const char *lists[] = {"", "0\n", "1\n", "0-1\n"};
  size_t list;

  if (storm->is_up[cpu] && !storm->is_up[1 - cpu])
    return;
  storm->is_up[cpu] = !storm->is_up[cpu];
  list = (size_t)(storm->is_up[0] + 2 * storm->is_up[1]);
  if (storm->is_up[cpu])
    make_cpus_bring_up(cpu);
  else
    make_cpus_take_down(cpu);
  make_cpus_list(lists[list]);
  if (draw(storm, 8) != 0)
    fake_uevents_say(storm->is_up[cpu] ? "online" : "offline", cpu);
  else
    fake_uevents_overrun();
}

static void step(storm_t *storm) {
  uint64_t i;

  switch (draw(storm, 4)) {
    case 0:
      for (i = draw(storm, 6); i > 0; i--)
        flap(storm);
      break;
    case 1:
      act(storm);
      break;
    default:
      uv_run(storm->loop, UV_RUN_NOWAIT);
      if (draw(storm, 4) == 0)
        live_run_ms(storm->loop, 2);
  }
}

static void begin(storm_t *storm, uint64_t seed) {
  struct perf_event_attr *attr;
  set_t *impl;

  live_stream_plan(&storm->plan);
  live_stream_plan_mode(&storm->plan, seed % 2);
  live_stream_plan_comm(&storm->plan);
  attr = live_plan_attr(&storm->plan);
  uvperf_attr_init(attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
  attr->sample_period = 200000;
  attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  live_stream_plan_target(&storm->plan, UVPERF_TARGET_CPUS, 0)->cpus = "0-1";
  storm->plan.options.ring_bytes = 65536;
  live_stream_open(storm->loop, &storm->stream, &storm->plan.options);
  impl = storm->stream.live.set.handle.impl;
  uvperf__hotplug_free(impl->base.hotplug);
  assert_int_equal(uvperf__rings_make_hotplug(&impl->base), 0);
  uvperf__hotplug_note(impl->base.hotplug);
  uvperf_on_cpu(&storm->stream.live.set.handle, on_cpu);
  storm->stream.on_record = on_record;
}

static void end(storm_t *storm) {
  uvperf_set_t *set = &storm->stream.live.set;
  uvperf_stats_t stats;
  uint64_t until;

  if (!storm->closing) {
    while (!storm->is_up[0] || !storm->is_up[1])
      flap(storm);
    storm->is_over = 1;
    start(storm);
    until = live_now() + MOST_NS;
    while (!(storm->seen_up[0] && storm->seen_up[1]) && live_now() < until)
      uv_run(storm->loop, UV_RUN_NOWAIT);
    uvperf_stats(&set->handle, &stats);
    assert_int_equal(stats.cpus_gone + stats.cpus_come, storm->reports);
    if (storm->other != 0)
      assert_int_equal(uvperf_set_remove(set, storm->other, NULL, NULL), 0);
    assert_int_equal(uvperf_set_nr_open(set), 4);
    storm->closing = 1;
    uvperf_close(&set->handle, live_set_on_close);
  }
  live_set_wait_closed(&storm->stream.live);
}

static void run_seed(uv_loop_t *loop, uint64_t seed) {
  storm_t *storm = calloc(1, sizeof(*storm));
  size_t fds;

  assert_int_equal(make_cpus_begin(2), 0);
  fds = support_count_fds();
  fake_uevents_begin();
  model_run_seed(&storm->run, seed);
  storm->loop = loop;
  storm->is_up[0] = storm->is_up[1] = 1;
  storm->seen_up[0] = storm->seen_up[1] = 1;
  begin(storm, seed);
  for (storm->run.step = 0; storm->run.step < STEPS && !storm->closing;
       storm->run.step++)
    step(storm);
  end(storm);
  fake_uevents_end();
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(make_cpus_end(), 0);
  fake_assert_clean();
  free(storm);
}

static void set_storm_of_cpus_is_survived(void **state) {
  uint64_t seed, last;
  int cpus[2];

  support_need_cpu_wide(__func__);
  if (live_cpus(cpus, 2) < 2 || cpus[0] != 0 || cpus[1] != 1)
    support_skip(__func__, "CPUs 0 and 1");
  model_run_seeds(20, &seed, &last);
  for (; seed <= last; seed++)
    run_seed(*state, seed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_storm_of_cpus_is_survived),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
