/* SPDX-License-Identifier: MIT */
/* Scripted: CPUs that go and come, in a tree that replaces sysfs and with the
 * test's uevents. What becomes of their events, and of entries of a map, is in
 * unit/evlist/test_hotplug.c and unit/bpf/test_reader_hotplug.c. */
#include "fake_host.h"
#include "life.h"

#include "make_cpus.h"
#include "fake_uevents.h"
#include "scripted_hotplug.h"

static void begin(life_t *life) {
  life_open(life);
  life_start(life);
  hotplug_run(life->loop);
}

static void expect(life_t *life, const char *expected) {
  hotplug_run(life->loop);
  life_expect(life, "%s", expected);
}

/* Until the loop has looked without a uevent. */
static void expect_later(life_t *life, const char *expected) {
  while (life_seen(life)[0] == '\0')
    hotplug_run(life->loop);
  life_expect(life, "%s", expected);
}

static void cpu_that_goes_and_comes_is_opened_again(life_t *life) {
  uvperf_stats_t stats;
  fake_event_t *event;

  begin(life);
  hotplug_take_down(1, "0\n");
  expect(life, "cpu 1 ENODEV");
  event = fake_event_add(200);
  hotplug_bring_up(1, "0-1\n");
  expect(life, "cpu 1");
  assert_int_equal(event->cpu, 1);
  assert_int_equal(event->enabled, 1);
  assert_true(life->events[2]->fd < 0);
  uvperf_stats(life->handle, &stats);
  assert_int_equal(stats.cpus_gone, 1);
  assert_int_equal(stats.cpus_come, 1);
  assert_int_equal(uvperf_nr_rings(life->handle), 2);
  life_write(life, 2);
  if (life->kind & LIFE_FLIGHTS)
    assert_int_equal(life_snap(life, UVPERF_SNAPSHOT_NO_WAIT), 0);
  life_expect(life, "2");
}

static void cpu_is_followed_without_a_callback(life_t *life) {
  fake_event_t *event;

  begin(life);
  assert_int_equal(uvperf_on_cpu(life->handle, NULL), 0);
  event = fake_event_add(200);
  hotplug_take_down(1, "0\n");
  hotplug_bring_up(1, "0-1\n");
  expect(life, "");
  assert_int_equal(event->cpu, 1);
}

static void cpu_that_cannot_be_opened_again_reports_why(life_t *life) {
  begin(life);
  hotplug_take_down(1, "0\n");
  expect(life, "cpu 1 ENODEV");
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  hotplug_bring_up(1, "0-1\n");
  expect(life, "cpu 1 EMFILE");
  assert_int_equal(life->error.code, UV_EMFILE);
  assert_int_equal(life->error.cause, UVPERF_CAUSE_FILES);
  fake_event_add(200);
  hotplug_take_down(1, "0\n");
  hotplug_bring_up(1, "0-1\n");
  expect(life, "cpu 1 ENODEV cpu 1");
}

static void handle_that_is_not_started_reports_later(life_t *life) {
  life_open(life);
  hotplug_take_down(1, "0\n");
  expect(life, "");
  life_start(life);
  expect_later(life, "cpu 1 ENODEV");
  life_stop(life);
  fake_event_add(200);
  hotplug_bring_up(1, "0-1\n");
  expect(life, "");
  life_start(life);
  expect_later(life, "cpu 1");
}

static void handle_of_fixed_cpus_follows_none(life_t *life) {
  fake_uevents_begin();
  begin(life);
  hotplug_take_down(1, "0\n");
  hotplug_bring_up(1, "0-1\n");
  expect(life, "");
  assert_int_equal(fake_uevents_reads(), 0);
}

/* Nor are the counts of a set read. */
static void expect_no_start(life_t *life, int code, int cause) {
  assert_int_equal(life_try_start(life), code);
  assert_int_equal(life->error.cause, cause);
  if (life->kind & LIFE_SETS)
    assert_int_equal(uvperf_set_read_start(uvperf_handle_set(life->handle), 1,
                                           life_ignore_reading, NULL),
                     code);
  assert_int_equal(uvperf_is_active(life->handle), 0);
  assert_int_equal(uv_loop_alive(life->loop), 0);
}

static void handle_without_sysfs_is_not_started(life_t *life) {
  life_open(life);
  fake_host_set("/nonexistent");
  life_follow(life);
  expect_no_start(life, UV_ENOENT, UVPERF_CAUSE_NO_CPU);
}

/* With fds again it starts. */
static void handle_started_out_of_fds_says_so(life_t *life) {
  struct rlimit old;

  life_open(life);
  hotplug_no_fds(&old);
  life_follow(life);
  expect_no_start(life, UV_EMFILE, UVPERF_CAUSE_FILES);
  hotplug_give_fds(&old);
  assert_true(life->error.needed > life->error.limit);
  life_start(life);
}

/* -- callbacks ------------------------------------------------------------ */

/* The CPU goes and comes before the loop looks. */
static void bounce(life_t *life) {
  hotplug_run(life->loop);
  hotplug_take_down(1, "0\n");
  hotplug_bring_up(1, "0-1\n");
  fake_event_add(200);
  hotplug_run(life->loop);
}

static void restart(life_t *life) {
  life_stop(life);
  life_start(life);
}

static void stop_busy(life_t *life) {
  assert_int_equal(uvperf_flush(life->handle),
                   life->kind & LIFE_FLIGHTS ? UV_EINVAL : UV_EBUSY);
  life_stop(life);
}

static void handle_acts_when_a_cpu_goes(life_t *life) {
  static const life_fn acts[] = {NULL,       restart,   stop_busy,
                                 life_close, life_walk, life_brute};
  size_t i;

  for (i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
    life_open(life);
    life_start(life);
    life_act(life, LIFE_CPU, 1, acts[i]);
    bounce(life);
    if (i < 2)
      life_expect(life, "cpu 1 ENODEV cpu 1");
    else if (i == 2)
      life_expect(life, "cpu 1 ENODEV");
    else
      life_expect(life, "cpu 1 ENODEV closed");
    if (i == 2) {
      life_start(life); /* the rest is reported later */
      expect_later(life, "cpu 1");
    }
    life_end(life);
  }
}

static void fork_it(life_t *life) {
  fake_process(4711);
}

/* Nothing is opened or reported in the child. */
static void child_forked_before_or_when_a_cpu_goes_is_silent(life_t *life) {
  int is_late;

  for (is_late = 0; is_late < 2; is_late++) {
    begin(life);
    if (is_late)
      life_act(life, LIFE_CPU, 1, fork_it);
    else
      fork_it(life);
    bounce(life);
    life_expect(life, is_late ? "cpu 1 ENODEV" : "%s", "");
    assert_int_equal(fake_count(FAKE_OPEN), 4);
    life_end_child(life);
  }
}

int main(void) {
  const unsigned int kinds =
      LIFE_ORDER | LIFE_ORDER_FLIGHT | LIFE_READERS | LIFE_SCRIPTED;
  const life_test_t tests[] = {
      LIFE_TEST(cpu_that_goes_and_comes_is_opened_again, kinds),
      LIFE_TEST(cpu_is_followed_without_a_callback, kinds),
      LIFE_TEST(cpu_that_cannot_be_opened_again_reports_why, kinds),
      LIFE_TEST(handle_that_is_not_started_reports_later, kinds),
      LIFE_TEST(handle_of_fixed_cpus_follows_none,
                LIFE_SET | LIFE_SET_FLIGHT | LIFE_SCRIPTED),
      LIFE_TEST(handle_without_sysfs_is_not_started, kinds),
      LIFE_TEST(handle_started_out_of_fds_says_so, kinds),
      LIFE_TEST(handle_acts_when_a_cpu_goes, kinds),
      LIFE_TEST(child_forked_before_or_when_a_cpu_goes_is_silent, kinds),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
