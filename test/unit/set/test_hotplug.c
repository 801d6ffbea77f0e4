/* SPDX-License-Identifier: MIT */
/* Scripted: what a set does with CPUs that go and come, in a tree that replaces
 * sysfs and with the test's uevents. Its events count nothing by themselves. */
#include "live_set.h"

#include <errno.h>

#include "make_evlist.h"
#include "make_cpus.h"
#include "fake_kernel.h"
#include "fake_pool.h"
#include "fake_uevents.h"
#include "scripted_hotplug.h"
#include "scripted_set.h"
#include "loop/rings.h"
#include "set/internal.h"

typedef struct scripted_s {
  live_set_t live;
  live_plan_t plan;
  fake_event_t *events[32];
  char seen[256]; /* as in "1 ENODEV, 1 0" */
  uint64_t nr;    /* how often */
  uvperf_error_t error;
  void (*hook)(struct scripted_s *scripted);
} scripted_t;

static int setup(void **state) {
  /* The kernel is not asked what it knows by a scripted event. */
  if (evlist_make_setup(state) != 0 || make_cpus_begin(2) != 0)
    return -1;
  fake_uevents_begin();
  return fake_kernel_loop_setup(state);
}

static int teardown(void **state) {
  int rc = fake_kernel_loop_teardown(state);

  fake_uevents_end();
  return make_cpus_end() != 0 ? -1 : rc;
}

static void on_cpu(uvperf_handle_t *base, int cpu, int status,
                   const uvperf_error_t *error) {
  scripted_t *scripted = base->data;
  size_t used = strlen(scripted->seen);

  snprintf(scripted->seen + used, sizeof(scripted->seen) - used, "%s%d %s%s",
           used == 0 ? "" : ", ", cpu, error == NULL ? "" : "fails by ",
           status == 0 ? "0" : uv_err_name(status));
  assert_true(error != NULL ? error->code == status
                            : status == 0 || status == UV_ENODEV);
  if (error != NULL)
    scripted->error = *error;
  scripted->nr++;
  if (scripted->hook != NULL)
    scripted->hook(scripted);
}

/* A set of one event on CPUs 0 and 1, which follows the tree's. */
static void begin(uv_loop_t *loop, scripted_t *scripted) {
  set_t *impl;
  size_t i;

  memset(scripted, 0, sizeof(*scripted));
  for (i = 0; i < 32; i++)
    scripted->events[i] = fake_event_add(100 + i);
  live_plan_begin(&scripted->plan);
  live_plan_software(&scripted->plan, PERF_COUNT_SW_CPU_CLOCK);
  live_plan_target(&scripted->plan, UVPERF_TARGET_CPUS)->cpus = "0-1";
  live_set_open(loop, &scripted->live, &scripted->plan.options);
  scripted->live.set.handle.data = scripted;
  impl = scripted->live.set.handle.impl;
  uvperf__hotplug_free(impl->base.hotplug);
  assert_int_equal(uvperf__rings_make_hotplug(&impl->base), 0);
  uvperf__hotplug_note(impl->base.hotplug);
  uvperf_on_cpu(&scripted->live.set.handle, on_cpu);
}

static void start(scripted_t *scripted) {
  assert_int_equal(uvperf_set_read_start(&scripted->live.set, HOTPLUG_NEVER,
                                         live_set_on_read, NULL),
                   0);
}

static void take_down(void) {
  hotplug_take_down(1, "0\n");
}

static void bring_up(void) {
  hotplug_bring_up(1, "0-1\n");
}

static void expect(scripted_t *scripted, const char *seen) {
  hotplug_run(scripted->live.set.handle.loop);
  assert_string_equal(scripted->seen, seen);
}

static void end(scripted_t *scripted) {
  live_set_close(&scripted->live);
  fake_assert_clean();
}

/* -- reports -------------------------------------------------------------- */

/* As with an event whose PMU counts on other CPUs: the CPU has still come,
 * which the error distinguishes from a CPU that has gone. */
static void set_whose_event_is_not_of_a_cpu_that_came_reports_it(void **state) {
  scripted_t scripted;

  begin(*state, &scripted);
  start(&scripted);
  take_down();
  expect(&scripted, "1 ENODEV");
  fake_fail(FAKE_OPEN, 1, -ENODEV);
  bring_up();
  expect(&scripted, "1 ENODEV, 1 fails by ENODEV");
  take_down();
  bring_up();
  expect(&scripted, "1 ENODEV, 1 fails by ENODEV, 1 ENODEV, 1 0");
  assert_int_equal(uvperf_set_nr_open(&scripted.live.set), 2);
  end(&scripted);
}

/* -- when ----------------------------------------------------------------- */

static void set_follows_cpus_unless_they_are_fixed(void **state) {
  scripted_set_t scripted;
  int fixed;

  for (fixed = 0; fixed < 2; fixed++) {
    scripted_set_plan(&scripted, 0);
    if (!fixed)
      scripted.make.options.flags &= ~UVPERF_SET_FIXED_CPUS;
    live_stream_open(*state, &scripted.stream, &scripted.make.options);
    assert_int_equal(uvperf_on_cpu(&scripted.stream.live.set.handle, on_cpu),
                     fixed ? UV_EINVAL : 0);
    scripted_set_close(&scripted);
  }
}

/* Counts the allocations of a set's init. A set that follows CPUs allocates the
 * hotplug. If it has read sysfs, it allocates a table of the CPUs too. */
static unsigned allocations_of_init(uv_loop_t *loop, uint32_t type,
                                    const char *cpus, uint32_t flags) {
  unsigned before;
  live_plan_t plan;
  live_set_t live;
  uint64_t i;

  fake_kernel_reset();
  for (i = 0; i < 8; i++)
    fake_event_add(100 + i);
  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_CPU_CLOCK);
  live_plan_target(&plan, type)->cpus = cpus;
  plan.options.flags = flags;
  before = fake_count(FAKE_CALLOC);
  live_set_open(loop, &live, &plan.options);
  before = fake_count(FAKE_CALLOC) - before;
  live_set_close(&live);
  return before;
}

static void set_init_reads_cpus_if_its_events_belong_to_cpus(void **state) {
  const struct {
    uint32_t type;
    const char *cpus;
    uint32_t flags;
    unsigned tables;
  } rows[] = {{UVPERF_TARGET_SELF, NULL, 0, 0},
              {UVPERF_TARGET_SELF, "0", 0, 1},
              {UVPERF_TARGET_SELF, "0", UVPERF_SET_RECORDS, 1},
              {UVPERF_TARGET_SELF, NULL, UVPERF_SET_RECORDS, 1},
              {UVPERF_TARGET_CPUS, NULL, 0, 1}};
  unsigned fixed;
  size_t i;

  for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    fixed = allocations_of_init(*state, rows[i].type, rows[i].cpus,
                                rows[i].flags | UVPERF_SET_FIXED_CPUS);
    assert_int_equal(
        allocations_of_init(*state, rows[i].type, rows[i].cpus, rows[i].flags) -
            fixed,
        1 + rows[i].tables);
  }
}

/* Adds a target to a set that has not read which CPUs are online. Then a CPU
 * goes, and the set starts. */
static void cpu_goes_after_a_target(uv_loop_t *loop, const char *cpus,
                                    const char *seen) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  scripted_t scripted;
  set_t *impl;

  begin(loop, &scripted);
  impl = scripted.live.set.handle.impl;
  uvperf__hotplug_free(impl->base.hotplug);
  assert_int_equal(uvperf__rings_make_hotplug(&impl->base), 0);
  target.cpus = cpus;
  assert_int_equal(
      uvperf_set_add(&scripted.live.set, &target, NULL, NULL, NULL), 0);
  take_down();
  start(&scripted);
  expect(&scripted, seen);
  end(&scripted);
}

static void set_reads_cpus_before_a_target_on_cpus_is_added(void **state) {
  cpu_goes_after_a_target(*state, "0-1", "1 ENODEV");
}

static void set_reads_no_cpus_before_a_task_is_added(void **state) {
  cpu_goes_after_a_target(*state, NULL, "");
}

static void set_init_without_memory_to_follow_leaves_nothing(void **state) {
  live_plan_t plan;
  uvperf_set_t set;
  unsigned nth = 0;
  int rc = -1;

  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_CPU_CLOCK);
  live_plan_target(&plan, UVPERF_TARGET_SELF)->cpus = "0";
  while (rc != 0) {
    fake_kernel_reset();
    fake_event_add(100);
    fake_fail(FAKE_CALLOC, ++nth, 0);
    rc = uvperf_set_init(*state, &set, &plan.options, NULL);
    assert_true(rc == 0 || rc == UV_ENOMEM);
    if (rc != 0)
      fake_assert_clean();
    /* Without memory for its notes about the CPUs it continues until it is
     * started. */
    if (rc == 0 && fake_failures() != 0) {
      uvperf_close(&set.handle, NULL);
      uv_run(*state, UV_RUN_DEFAULT);
      rc = -1;
    }
  }
  assert_true(nth > 3);
  uvperf_close(&set.handle, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  fake_assert_clean();
}

/* A stream of both CPUs, which follows the tree's. */
static void begin_stream(uv_loop_t *loop, scripted_set_t *scripted) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  set_t *impl;

  scripted_set_plan(scripted, 0);
  scripted->make.options.flags &= ~UVPERF_SET_FIXED_CPUS;
  scripted->make.options.wakeup_bytes = 0;
  scripted_set_open_planned(loop, scripted);
  impl = scripted->stream.live.set.handle.impl;
  uvperf__hotplug_free(impl->base.hotplug);
  assert_int_equal(uvperf__rings_make_hotplug(&impl->base), 0);
  uvperf__hotplug_note(impl->base.hotplug);
  options.flush_ms = -1;
  live_stream_start(&scripted->stream, &options);
  hotplug_run(loop);
}

/* There is no wakeup below the watermark; only on a very slow machine would the
 * set's own check deliver it. */
static void set_whose_cpu_went_delivers_what_is_left_there(void **state) {
  scripted_set_t scripted;

  begin_stream(*state, &scripted);
  scripted_set_sample(&scripted, 1, 102, 1);
  assert_int_equal(scripted.stream.samples, 0);
  take_down();
  hotplug_run(*state);
  assert_int_equal(scripted.stream.samples, 1);
  scripted_set_close(&scripted);
}

static void note_cpu(uvperf_handle_t *base, int cpu, int status,
                     const uvperf_error_t *error) {
  live_stream_t *stream = base->data;

  (void)error;
  assert_int_equal(cpu, 1);
  assert_int_equal(status, UV_ENODEV);
  *(int *)stream->hook_data += 1;
}

static void take_down_in_callback(live_stream_t *stream,
                                  const uvperf_record_t *record) {
  uvperf_set_t *set = &stream->live.set;

  (void)record;
  take_down();
  hotplug_run(set->handle.loop);
  assert_int_equal(*(int *)stream->hook_data, 1);
  assert_int_equal(uvperf_flush(&set->handle), UV_EBUSY);
}

/* The user still has the record after the report of a CPU. */
static void set_whose_cpu_goes_in_a_flush_is_busy_until_its_end(void **state) {
  scripted_set_t scripted;
  live_stream_t *stream = &scripted.stream;
  int nr = 0;

  begin_stream(*state, &scripted);
  assert_int_equal(uvperf_on_cpu(&stream->live.set.handle, note_cpu), 0);
  stream->on_record = take_down_in_callback;
  stream->hook_data = &nr;
  scripted_set_sample(&scripted, 0, 100, 1);
  assert_int_equal(uvperf_flush(&stream->live.set.handle), 0);
  assert_int_equal(stream->samples, 1);
  assert_int_equal(uvperf_flush(&stream->live.set.handle), 0);
  scripted_set_close(&scripted);
}

static void set_started_and_no_more_read_follows_the_cpus(void **state) {
  uvperf_stats_t stats;
  scripted_set_t scripted;
  uvperf_set_t *set = &scripted.stream.live.set;

  begin_stream(*state, &scripted);
  assert_int_equal(
      uvperf_set_read_start(set, HOTPLUG_NEVER, live_set_on_read, NULL), 0);
  assert_int_equal(uvperf_set_read_stop(set), 0);
  take_down();
  hotplug_run(*state);
  uvperf_stats(&set->handle, &stats);
  assert_int_equal(stats.cpus_gone, 1);
  scripted_set_close(&scripted);
}

/* -- in the callback ------------------------------------------------------ */

static void add_and_remove(scripted_t *scripted) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint32_t index;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "1";
  assert_int_equal(
      uvperf_set_add(&scripted->live.set, &target, NULL, &index, NULL), 0);
  assert_int_equal(uvperf_set_remove(&scripted->live.set, 0, NULL, NULL), 0);
}

static void set_changed_when_a_cpu_went_opens_the_rest(void **state) {
  scripted_t scripted;

  begin(*state, &scripted);
  start(&scripted);
  scripted.hook = add_and_remove;
  take_down();
  hotplug_run(*state);
  scripted.hook = NULL;
  bring_up();
  expect(&scripted, "1 ENODEV, 1 0");
  assert_int_equal(uvperf_set_nr_open(&scripted.live.set), 1);
  end(&scripted);
}

#define SET(test) support_loop_test_setup_teardown(test, setup, teardown)

/* -- while a target is opened on libuv's pool ------------------------------ */

static void note_status(uvperf_set_t *set, int status, void *data,
                        uint32_t index, const uvperf_error_t *error) {
  (void)set;
  (void)index;
  (void)error;
  *(int *)data = status;
}

static int open_target(scripted_t *scripted, void (*meanwhile)(void)) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  int status = 1;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0";
  target.data = &status;
  assert_int_equal(
      uvperf_set_add(&scripted->live.set, &target, note_status, NULL, NULL), 0);
  if (meanwhile != NULL)
    meanwhile();
  hotplug_run(scripted->live.set.handle.loop);
  fake_pool_finish();
  return status;
}

static void target_opened_while_a_cpu_comes_is_opened_again(void **state) {
  scripted_t scripted;

  begin(*state, &scripted);
  fake_pool_hold();
  start(&scripted);
  assert_int_equal(open_target(&scripted, take_down), 0);
  assert_int_equal(open_target(&scripted, bring_up), UV_EAGAIN);
  assert_string_equal(scripted.seen, "1 ENODEV, 1 0");
  assert_int_equal(open_target(&scripted, NULL), 0);
  assert_int_equal(uvperf_set_nr_open(&scripted.live.set), 4);
  end(&scripted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      SET(set_whose_event_is_not_of_a_cpu_that_came_reports_it),
      SET(set_follows_cpus_unless_they_are_fixed),
      SET(set_init_reads_cpus_if_its_events_belong_to_cpus),
      SET(set_reads_cpus_before_a_target_on_cpus_is_added),
      SET(set_reads_no_cpus_before_a_task_is_added),
      SET(set_init_without_memory_to_follow_leaves_nothing),
      SET(set_whose_cpu_went_delivers_what_is_left_there),
      SET(set_whose_cpu_goes_in_a_flush_is_busy_until_its_end),
      SET(set_started_and_no_more_read_follows_the_cpus),
      SET(set_changed_when_a_cpu_went_opens_the_rest),
      SET(target_opened_while_a_cpu_comes_is_opened_again),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
