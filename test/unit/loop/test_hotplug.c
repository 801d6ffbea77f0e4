/* SPDX-License-Identifier: MIT */
/* CPUs that come and go, scripted: what is reported about them. */
#include "hotplug_owner.h"

#include <errno.h>

#include "cpu_tree.h"
#include "fake_clock.h"
#include "fake_uevents.h"

/* -- uevents -------------------------------------------------------------- */

static void hotplug_cpu_goes_and_comes_is_reported_once_each(void **state) {
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  cpu_tree_take_down(1);
  cpu_tree_list("0,2\n");
  fake_uevents_say("offline", 1);
  hotplug_expect(*state, &owner, "gone 1");
  cpu_tree_bring_up(1);
  cpu_tree_list("0-2\n");
  fake_uevents_say("online", 1);
  hotplug_expect(*state, &owner, "come 1");
  fake_uevents_say("online", 1);
  hotplug_expect(*state, &owner, "");
  hotplug_end(*state, &owner);
}

static void hotplug_cpu_that_is_new_comes(void **state) {
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  cpu_tree_bring_up(200);
  cpu_tree_list("0-2,200\n");
  fake_uevents_say("add", 200);
  fake_uevents_say("online", 200);
  hotplug_expect(*state, &owner, "come 200");
  hotplug_end(*state, &owner);
}

static void hotplug_burst_of_uevents_is_one_check(void **state) {
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  cpu_tree_take_down(1);
  cpu_tree_take_down(2);
  cpu_tree_list("0\n");
  cpu_tree_bring_up(3);
  cpu_tree_list("0,3\n");
  fake_uevents_say("offline", 1);
  fake_uevents_say("offline", 2);
  fake_uevents_say("online", 3);
  hotplug_expect(*state, &owner, "gone 1, gone 2, come 3");
  hotplug_end(*state, &owner);
}

/* Its events are off all the same. */
static void hotplug_cpu_back_before_a_check_went_and_came(void **state) {
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  cpu_tree_bring_up(1);
  fake_uevents_say("offline", 1);
  fake_uevents_say("online", 1);
  hotplug_expect(*state, &owner, "gone 1, come 1");
  hotplug_end(*state, &owner);
}

/* Like hints that are older than the first check. */
static void hotplug_uevents_that_are_out_of_date_do_nothing(void **state) {
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  fake_uevents_say("offline", 1);
  fake_uevents_say("online", 1);
  fake_uevents_say("online", 3);
  fake_uevents_say("offline", 3);
  hotplug_expect(*state, &owner, "");
  hotplug_end(*state, &owner);
}

/* Some architectures have none. */
static void hotplug_without_topology_goes_by_the_uevents(void **state) {
  hotplug_owner_t owner;

  cpu_tree_take_down(1);
  hotplug_begin(*state, &owner);
  fake_uevents_say("online", 1);
  hotplug_expect(*state, &owner, "");
  fake_uevents_say("offline", 1);
  fake_uevents_say("online", 1);
  hotplug_expect(*state, &owner, "gone 1, come 1");
  hotplug_expect_by_look(*state, &owner, "");
  hotplug_end(*state, &owner);
}

/* It is listed because it is coming up again, and is not up yet. */
static void
hotplug_cpu_that_came_and_went_in_one_burst_is_not_up(void **state) {
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  cpu_tree_take_down(1);
  cpu_tree_list("0,2\n");
  fake_uevents_say("offline", 1);
  hotplug_expect(*state, &owner, "gone 1");
  cpu_tree_bring_up(1);
  cpu_tree_list("0-2\n");
  fake_uevents_say("online", 1);
  fake_uevents_say("offline", 1);
  hotplug_expect(*state, &owner, "");
  hotplug_expect_by_look(*state, &owner, "come 1");
  hotplug_end(*state, &owner);
}

/* The kernel lists it before anything can be opened there. */
static void hotplug_cpu_that_comes_up_is_reported_when_it_is_up(void **state) {
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  cpu_tree_bring_up(3);
  cpu_tree_list("0-3\n");
  cpu_tree_take_down(1);
  cpu_tree_list("0,2-3\n");
  fake_uevents_say("offline", 1);
  hotplug_expect(*state, &owner, "gone 1");
  fake_uevents_say("online", 3);
  hotplug_expect(*state, &owner, "come 3");
  hotplug_end(*state, &owner);
}

static void hotplug_uevents_of_other_devices_are_ignored(void **state) {
  static const char *const others[] = {
      "",
      "online",
      "online@",
      "online@/devices/system/cpu/cpu",
      "online@/devices/system/cpu/cpu1x",
      "online@/devices/system/cpu/cpu1/cache",
      "online@/devices/system/cpu/cpu-1",
      "online@/devices/system/cpu/cpu 1",
      "online@/devices/system/cpu/cpu99999999999999999999",
      "online@/devices/system/memory/memory1",
      "xonline@/devices/system/cpu/cpu1",
      "change@/devices/system/cpu/cpu1",
      "libudev",
  };
  hotplug_owner_t owner;
  size_t i;

  hotplug_begin(*state, &owner);
  cpu_tree_take_down(1);
  cpu_tree_list("0,2\n");
  for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
    fake_uevents_send(others[i]);
  hotplug_expect(*state, &owner, "");
  fake_uevents_say("offline", 1);
  hotplug_expect(*state, &owner, "gone 1");
  hotplug_end(*state, &owner);
}

static void hotplug_garbage_from_the_socket_does_no_harm(void **state) {
  char bytes[3000];
  hotplug_owner_t owner;
  size_t size;

  hotplug_begin(*state, &owner);
  for (size = 0; size < sizeof(bytes) - 31; size += 37) {
    memset(bytes, (int)(size % 251), sizeof(bytes));
    memcpy(bytes, "online@/devices/system/cpu/cpu", 30);
    fake_uevents_send_bytes(bytes + size % 31, size);
    hotplug_run(*state);
  }
  memset(bytes, '1', sizeof(bytes));
  memcpy(bytes, "online@/devices/system/cpu/cpu", 30);
  fake_uevents_send_bytes(bytes, sizeof(bytes));
  fake_uevents_send_bytes(bytes, 127);
  fake_uevents_send_bytes(bytes, 128);
  hotplug_expect(*state, &owner, "");
  hotplug_end(*state, &owner);
}

static void hotplug_uevent_that_a_process_sent_is_not_believed(void **state) {
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  cpu_tree_take_down(1);
  cpu_tree_list("0,2\n");
  fake_uevents_send_from_process("offline@/devices/system/cpu/cpu1");
  hotplug_expect(*state, &owner, "");
  hotplug_end(*state, &owner);
}

static void hotplug_uevents_that_were_lost_cause_a_check(void **state) {
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  cpu_tree_take_down(1);
  cpu_tree_list("0,2\n");
  fake_uevents_overrun();
  hotplug_expect(*state, &owner, "gone 1");
  hotplug_end(*state, &owner);
}

/* -- by itself ------------------------------------------------------------ */

static void hotplug_without_a_socket_checks_by_timer(void **state) {
  hotplug_owner_t owner;

  fake_uevents_end();
  fake_uevents_refuse(-EPROTONOSUPPORT);
  hotplug_make(*state, &owner);
  hotplug_start(*state, &owner);
  cpu_tree_take_down(1);
  cpu_tree_list("0,2\n");
  hotplug_expect_by_look(*state, &owner, "gone 1");
  cpu_tree_bring_up(1);
  cpu_tree_list("0-2\n");
  hotplug_expect_by_look(*state, &owner, "");
  hotplug_expect_by_look(*state, &owner, "come 1");
  cpu_tree_bring_up(1);
  hotplug_expect_by_look(*state, &owner, "gone 1");
  hotplug_expect_by_look(*state, &owner, "come 1");
  hotplug_expect_by_look(*state, &owner, "");
  hotplug_end(*state, &owner);
}

/* One that was found to be coming is not left for as long as the others. */
static void hotplug_cpu_that_comes_up_is_soon_checked_again(void **state) {
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  assert_true(uv_timer_get_due_in(fake_clock_timer(*state)) > 1000);
  cpu_tree_bring_up(3);
  cpu_tree_list("0-3\n");
  hotplug_expect_by_look(*state, &owner, "");
  assert_true(uv_timer_get_due_in(fake_clock_timer(*state)) < 1000);
  hotplug_expect_by_look(*state, &owner, "come 3");
  assert_true(uv_timer_get_due_in(fake_clock_timer(*state)) > 1000);
  hotplug_end(*state, &owner);
}

/* So that all checks of one loop are made in the same turn. */
static void hotplug_checks_are_at_multiples_of_their_interval(void **state) {
  const uv_timer_t *timer;
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  timer = fake_clock_timer(*state);
  assert_int_equal(
      (uv_now(*state) + uv_timer_get_due_in(timer)) % HOTPLUG_NEVER, 0);
  hotplug_end(*state, &owner);
}

static void hotplug_list_that_cannot_be_read_is_read_again(void **state) {
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  cpu_tree_list("");
  hotplug_expect_by_look(*state, &owner, "");
  cpu_tree_list("nonsense\n");
  hotplug_expect_by_look(*state, &owner, "");
  cpu_tree_take_down(1);
  cpu_tree_list("0,2\n");
  hotplug_expect_by_look(*state, &owner, "gone 1");
  hotplug_end(*state, &owner);
}

static void hotplug_started_without_sysfs_says_why(void **state) {
  hotplug_owner_t owner;

  hotplug_make_on(*state, &owner, "/nonexistent");
  assert_int_equal(uvperf__hotplug_start(owner.hotplug, HOTPLUG_NEVER),
                   UV_ENOENT);
  hotplug_end(*state, &owner);
}

#define HOTPLUG(test)                                                          \
  support_loop_test_setup_teardown(test, hotplug_setup, hotplug_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      HOTPLUG(hotplug_cpu_goes_and_comes_is_reported_once_each),
      HOTPLUG(hotplug_cpu_that_is_new_comes),
      HOTPLUG(hotplug_burst_of_uevents_is_one_check),
      HOTPLUG(hotplug_cpu_back_before_a_check_went_and_came),
      HOTPLUG(hotplug_uevents_that_are_out_of_date_do_nothing),
      HOTPLUG(hotplug_without_topology_goes_by_the_uevents),
      HOTPLUG(hotplug_cpu_that_came_and_went_in_one_burst_is_not_up),
      HOTPLUG(hotplug_cpu_that_comes_up_is_reported_when_it_is_up),
      HOTPLUG(hotplug_uevents_of_other_devices_are_ignored),
      HOTPLUG(hotplug_garbage_from_the_socket_does_no_harm),
      HOTPLUG(hotplug_uevent_that_a_process_sent_is_not_believed),
      HOTPLUG(hotplug_uevents_that_were_lost_cause_a_check),
      HOTPLUG(hotplug_without_a_socket_checks_by_timer),
      HOTPLUG(hotplug_cpu_that_comes_up_is_soon_checked_again),
      HOTPLUG(hotplug_checks_are_at_multiples_of_their_interval),
      HOTPLUG(hotplug_list_that_cannot_be_read_is_read_again),
      HOTPLUG(hotplug_started_without_sysfs_says_why),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
