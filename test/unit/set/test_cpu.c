/* SPDX-License-Identifier: MIT */
/* Scripted: what a set makes of CPUs that go and come, by a tree that stands
 * for sysfs and uevents of the test's own. Its events count nothing by
 * themselves. */
#include "live_set.h"

#include <errno.h>

#include "counters_make.h"
#include "cpu_tree.h"
#include "fake_clock.h"
#include "fake_kernel.h"
#include "fake_uevents.h"
#include "hotplug_owner.h"
#include "set/internal.h"
#include "scripted_set.h"

typedef struct world_s {
  live_set_t live;
  live_plan_t plan;
  fake_event_t *events[32];
  char told[256]; /* as in "1 ENODEV, 1 0" */
  uint64_t nr;    /* how often */
  uvperf_error_t error;
  void (*hook)(struct world_s *world);
} world_t;

static int setup(void **state) {
  /* What the kernel knows is not asked of a scripted event. */
  if (counters_make_setup(state) != 0 || cpu_tree_begin(2) != 0)
    return -1;
  fake_uevents_begin();
  return fake_kernel_loop_setup(state);
}

static int teardown(void **state) {
  int rc = fake_kernel_loop_teardown(state);

  fake_uevents_end();
  return cpu_tree_end() != 0 ? -1 : rc;
}

static void on_cpu(uvperf_set_t *set, int cpu, int status,
                   const uvperf_error_t *error) {
  world_t *world = set->data;
  size_t used = strlen(world->told);

  snprintf(world->told + used, sizeof(world->told) - used, "%s%d %s%s",
           used == 0 ? "" : ", ", cpu, error == NULL ? "" : "fails by ",
           status == 0 ? "0" : uv_err_name(status));
  assert_true(error != NULL ? error->code == status
                            : status == 0 || status == UV_ENODEV);
  if (error != NULL)
    world->error = *error;
  world->nr++;
  if (world->hook != NULL)
    world->hook(world);
}

/* A set of one event on CPUs 0 and 1, which follows the tree's. */
static void begin(uv_loop_t *loop, world_t *world) {
  set_t *impl;
  size_t i;

  memset(world, 0, sizeof(*world));
  for (i = 0; i < 32; i++)
    world->events[i] = fake_event_add(100 + i);
  live_plan_begin(&world->plan);
  live_plan_software(&world->plan, PERF_COUNT_SW_CPU_CLOCK);
  live_plan_target(&world->plan, UVPERF_TARGET_CPUS)->cpus = "0-1";
  world->plan.options.flags = UVPERF_SET_FOLLOW_CPUS;
  live_set_open(loop, &world->live, &world->plan.options);
  world->live.set.data = world;
  impl = world->live.set.impl;
  uvperf__hotplug_free(impl->hotplug);
  assert_int_equal(uvperf__set_make_hotplug(impl, cpu_tree_root()), 0);
  uvperf_set_on_cpu(&world->live.set, on_cpu);
}

static void start(world_t *world) {
  assert_int_equal(
      uvperf_set_read_start(&world->live.set, HOTPLUG_NEVER, live_set_on_read),
      0);
}

static void take_down(void) {
  cpu_tree_take_down(1);
  cpu_tree_list("0\n");
  fake_uevents_say("offline", 1);
}

static void bring_up(void) {
  cpu_tree_bring_up(1);
  cpu_tree_list("0-1\n");
  fake_uevents_say("online", 1);
}

static void expect(world_t *world, const char *told) {
  hotplug_run(world->live.set.loop);
  assert_string_equal(world->told, told);
}

static void end(world_t *world) {
  live_set_close(&world->live);
  fake_assert_clean();
}

/* -- what is told --------------------------------------------------------- */

static void set_tells_of_a_cpu_that_goes_and_comes(void **state) {
  uvperf_stats_t stats;
  world_t world;

  begin(*state, &world);
  start(&world);
  take_down();
  expect(&world, "1 ENODEV");
  uvperf_set_stats(&world.live.set, &stats);
  assert_int_equal(stats.cpus_gone, 1);
  assert_int_equal(stats.cpus_come, 0);
  bring_up();
  expect(&world, "1 ENODEV, 1 0");
  uvperf_set_stats(&world.live.set, &stats);
  assert_int_equal(stats.cpus_come, 1);
  assert_false(world.events[1]->fd >= 0);
  assert_int_equal(world.events[2]->cpu, 1);
  assert_int_equal(uvperf_set_fd(&world.live.set, 0, 1), world.events[2]->fd);
  end(&world);
}

static void set_without_a_callback_follows_all_the_same(void **state) {
  uvperf_stats_t stats;
  world_t world;

  begin(*state, &world);
  uvperf_set_on_cpu(&world.live.set, NULL);
  start(&world);
  take_down();
  expect(&world, "");
  bring_up();
  expect(&world, "");
  uvperf_set_stats(&world.live.set, &stats);
  assert_int_equal(stats.cpus_come, 1);
  assert_int_equal(world.events[2]->cpu, 1);
  end(&world);
}

static void set_tells_why_a_cpu_could_not_be_opened_again(void **state) {
  world_t world;
  size_t nr;

  begin(*state, &world);
  start(&world);
  take_down();
  expect(&world, "1 ENODEV");
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  bring_up();
  expect(&world, "1 ENODEV, 1 fails by EMFILE");
  assert_int_equal(world.error.code, UV_EMFILE);
  assert_int_equal(world.error.cause, UVPERF_CAUSE_FILES);
  uvperf_set_failures(&world.live.set, &nr);
  assert_int_equal(nr, 1);
  end(&world);
}

/* As an event does whose PMU counts on other CPUs: the CPU has come all the
 * same, which the error tells from one that has gone. */
static void set_whose_event_is_not_of_a_cpu_that_came_tells_it(void **state) {
  world_t world;

  begin(*state, &world);
  start(&world);
  take_down();
  expect(&world, "1 ENODEV");
  fake_fail(FAKE_OPEN, 1, -ENODEV);
  bring_up();
  expect(&world, "1 ENODEV, 1 fails by ENODEV");
  take_down();
  bring_up();
  expect(&world, "1 ENODEV, 1 fails by ENODEV, 1 ENODEV, 1 0");
  assert_int_equal(uvperf_set_nr_open(&world.live.set), 2);
  end(&world);
}

/* -- when ----------------------------------------------------------------- */

static void set_that_is_not_started_tells_nothing(void **state) {
  world_t world;

  begin(*state, &world);
  take_down();
  expect(&world, "");
  start(&world);
  assert_true(live_run_until(*state, &world.nr, 1));
  assert_int_equal(uvperf_set_read_stop(&world.live.set), 0);
  bring_up();
  expect(&world, "1 ENODEV");
  start(&world);
  assert_true(live_run_until(*state, &world.nr, 2));
  assert_string_equal(world.told, "1 ENODEV, 1 0");
  end(&world);
}

static void set_that_does_not_follow_makes_no_socket(void **state) {
  world_t world;
  set_t *impl;

  begin(*state, &world);
  impl = world.live.set.impl;
  uvperf__hotplug_free(impl->hotplug);
  impl->hotplug = NULL;
  start(&world);
  take_down();
  expect(&world, "");
  assert_int_equal(fake_uevents_reads(), 0);
  end(&world);
}

static void set_that_follows_keeps_no_loop_alive(void **state) {
  world_t world;

  begin(*state, &world);
  start(&world);
  assert_int_equal(uv_loop_alive(*state), 1);
  assert_int_equal(uvperf_set_read_stop(&world.live.set), 0);
  assert_int_equal(uv_loop_alive(*state), 0);
  end(&world);
}

static void set_without_sysfs_is_not_started(void **state) {
  world_t world;
  set_t *impl;

  begin(*state, &world);
  impl = world.live.set.impl;
  uvperf__hotplug_free(impl->hotplug);
  assert_int_equal(uvperf__set_make_hotplug(impl, "/nonexistent"), 0);
  assert_int_equal(
      uvperf_set_read_start(&world.live.set, 1000, live_set_on_read),
      UV_ENOENT);
  assert_int_equal(uvperf_set_is_active(&world.live.set), 0);
  end(&world);
}

/* With fds again it is started. */
static void set_started_out_of_fds_says_so(void **state) {
  uvperf_error_t error = {0};
  stream_world_t world;
  uvperf_set_t *set;
  struct rlimit old;
  set_t *impl;
  int rc;

  stream_world_plan(&world, 0);
  world.make.options.flags |= UVPERF_SET_FOLLOW_CPUS;
  live_stream_open(*state, &world.stream, &world.make.options);
  set = &world.stream.live.set;
  impl = set->impl;
  uvperf__hotplug_free(impl->hotplug);
  hotplug_no_fds(&old);
  assert_int_equal(uvperf__set_make_hotplug(impl, cpu_tree_root()), 0);
  rc = uvperf_set_start(set, NULL, live_stream_on_record, &error);
  hotplug_give_fds(&old);
  assert_int_equal(rc, UV_EMFILE);
  assert_int_equal(error.cause, UVPERF_CAUSE_FILES);
  assert_true(error.needed > error.limit);
  assert_non_null(strstr(error.reason, "the CPUs cannot be followed: all 0 fds "
                                       "that RLIMIT_NOFILE allows"));
  assert_int_equal(uvperf_set_is_active(set), 0);
  assert_int_equal(uvperf_set_start(set, NULL, live_stream_on_record, &error),
                   0);
  stream_world_close(&world);
}

static void set_init_without_memory_to_follow_leaves_nothing(void **state) {
  live_plan_t plan;
  uvperf_set_t set;
  unsigned nth = 0;
  int rc = -1;

  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_CPU_CLOCK);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  plan.options.flags = UVPERF_SET_FOLLOW_CPUS;
  while (rc != 0) {
    fake_kernel_reset();
    fake_event_add(100);
    fake_fail(FAKE_CALLOC, ++nth, 0);
    rc = uvperf_set_init(*state, &set, &plan.options, NULL);
    assert_true(rc == 0 || rc == UV_ENOMEM);
    if (rc != 0)
      fake_assert_clean();
    /* What it notes of the CPUs it can do without until it is started. */
    if (rc == 0 && fake_failures() != 0) {
      uvperf_set_close(&set, NULL);
      uv_run(*state, UV_RUN_DEFAULT);
      rc = -1;
    }
  }
  assert_true(nth > 3);
  uvperf_set_close(&set, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  fake_assert_clean();
}

/* A stream of both CPUs, which follows the tree's. */
static void begin_stream(uv_loop_t *loop, stream_world_t *world) {
  set_t *impl;

  stream_world_plan(world, 0);
  world->make.options.flags |= UVPERF_SET_FOLLOW_CPUS;
  world->make.options.wakeup_bytes = 0;
  stream_world_open_planned(loop, world);
  impl = world->stream.live.set.impl;
  uvperf__hotplug_free(impl->hotplug);
  assert_int_equal(uvperf__set_make_hotplug(impl, cpu_tree_root()), 0);
  live_stream_start(&world->stream, NULL);
  hotplug_run(loop);
}

/* Nothing wakes for what is below the watermark. */
static void set_whose_cpu_went_delivers_what_is_left_there(void **state) {
  stream_world_t world;

  begin_stream(*state, &world);
  stream_world_sample(&world, 1, 102, 1);
  hotplug_run(*state);
  assert_int_equal(world.stream.samples, 0);
  take_down();
  hotplug_run(*state);
  assert_int_equal(world.stream.samples, 1);
  stream_world_close(&world);
}

static void set_started_and_no_more_read_follows_the_cpus(void **state) {
  uvperf_stats_t stats;
  stream_world_t world;
  uvperf_set_t *set = &world.stream.live.set;

  begin_stream(*state, &world);
  assert_int_equal(uvperf_set_read_start(set, HOTPLUG_NEVER, live_set_on_read),
                   0);
  assert_int_equal(uvperf_set_read_stop(set), 0);
  take_down();
  hotplug_run(*state);
  uvperf_set_stats(set, &stats);
  assert_int_equal(stats.cpus_gone, 1);
  stream_world_close(&world);
}

/* -- in the callback ------------------------------------------------------ */

static void stop(world_t *world) {
  assert_int_equal(uvperf_set_read_stop(&world->live.set), 0);
}

static void set_stopped_when_a_cpu_went_tells_the_rest_later(void **state) {
  world_t world;

  begin(*state, &world);
  start(&world);
  world.hook = stop;
  take_down();
  bring_up();
  expect(&world, "1 ENODEV");
  world.hook = NULL;
  start(&world);
  assert_true(live_run_until(*state, &world.nr, 2));
  expect(&world, "1 ENODEV, 1 0");
  end(&world);
}

static void close_it(world_t *world) {
  uvperf_set_close(&world->live.set, live_set_on_close);
}

static void set_closed_when_a_cpu_went_tells_nothing_more(void **state) {
  world_t world;

  begin(*state, &world);
  start(&world);
  world.hook = close_it;
  take_down();
  bring_up();
  expect(&world, "1 ENODEV");
  assert_int_equal(world.live.closed, 1);
  uvperf_reading_free(world.live.reading);
  fake_assert_clean();
}

static void add_and_remove(world_t *world) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint32_t index;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "1";
  assert_int_equal(
      uvperf_set_add_target(&world->live.set, &target, &index, NULL), 0);
  assert_int_equal(uvperf_set_remove_target(&world->live.set, 0), 0);
}

static void set_changed_when_a_cpu_went_opens_what_is_left(void **state) {
  world_t world;

  begin(*state, &world);
  start(&world);
  world.hook = add_and_remove;
  take_down();
  hotplug_run(*state);
  world.hook = NULL;
  bring_up();
  expect(&world, "1 ENODEV, 1 0");
  assert_int_equal(uvperf_set_nr_open(&world.live.set), 1);
  end(&world);
}

/* -- teardown ------------------------------------------------------------- */

static void walk_close(uv_handle_t *handle, void *arg) {
  unsigned *ours = arg;

  *ours += (unsigned)uvperf_walk_close(handle);
}

static void set_is_found_by_what_follows_the_cpus(void **state) {
  unsigned ours = 0;
  world_t world;

  begin(*state, &world);
  start(&world);
  uv_walk(*state, walk_close, &ours);
  assert_int_equal(ours, 3);
  uvperf_set_close(&world.live.set, live_set_on_close);
  live_set_wait_closed(&world.live);
  fake_assert_clean();
}

static void uv_close_all(uv_handle_t *handle, void *arg) {
  (void)arg;
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void set_whose_handles_others_closed_frees_all(void **state) {
  world_t world;

  begin(*state, &world);
  start(&world);
  uv_walk(*state, uv_close_all, NULL);
  assert_int_equal(uvperf_set_read_stop(&world.live.set), 0);
  assert_int_equal(
      uvperf_set_read_start(&world.live.set, 1000, live_set_on_read),
      UV_EINVAL);
  end(&world);
}

static void set_in_a_forked_child_opens_nothing(void **state) {
  world_t world;

  begin(*state, &world);
  start(&world);
  fake_process(4711);
  take_down();
  bring_up();
  expect(&world, "");
  assert_int_equal(world.events[2]->opened, 0);
  live_set_close(&world.live);
}

static void fork_it(world_t *world) {
  (void)world;
  fake_process(4711);
}

static void set_forked_when_a_cpu_went_tells_the_child_nothing(void **state) {
  world_t world;

  begin(*state, &world);
  start(&world);
  world.hook = fork_it;
  take_down();
  bring_up();
  expect(&world, "1 ENODEV");
  assert_int_equal(world.events[2]->opened, 0);
  live_set_close(&world.live);
}

#define SET(test) support_loop_test_setup_teardown(test, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      SET(set_tells_of_a_cpu_that_goes_and_comes),
      SET(set_without_a_callback_follows_all_the_same),
      SET(set_tells_why_a_cpu_could_not_be_opened_again),
      SET(set_whose_event_is_not_of_a_cpu_that_came_tells_it),
      SET(set_that_is_not_started_tells_nothing),
      SET(set_that_does_not_follow_makes_no_socket),
      SET(set_that_follows_keeps_no_loop_alive),
      SET(set_without_sysfs_is_not_started),
      SET(set_started_out_of_fds_says_so),
      SET(set_init_without_memory_to_follow_leaves_nothing),
      SET(set_whose_cpu_went_delivers_what_is_left_there),
      SET(set_started_and_no_more_read_follows_the_cpus),
      SET(set_stopped_when_a_cpu_went_tells_the_rest_later),
      SET(set_closed_when_a_cpu_went_tells_nothing_more),
      SET(set_changed_when_a_cpu_went_opens_what_is_left),
      SET(set_is_found_by_what_follows_the_cpus),
      SET(set_whose_handles_others_closed_frees_all),
      SET(set_in_a_forked_child_opens_nothing),
      SET(set_forked_when_a_cpu_went_tells_the_child_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
