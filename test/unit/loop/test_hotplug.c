/* SPDX-License-Identifier: MIT */
/* CPUs that come and go, scripted: what is reported about them. The program is
 * linked with --wrap for uv_timer_start. */
#include "fake_clock.h"
#include "fake_uevents.h"
#include "make_cpus.h"
#include "scripted_hotplug.h"
#include "scripted_hotplug_rows.h"

int __real_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                          uint64_t repeat);

/* A CPU that is coming up is looked at again 20 ms later. On a loaded machine
 * this would be within a row. */
int __wrap_uv_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t timeout,
                          uint64_t repeat) {
  return __real_uv_timer_start(timer, cb, timeout < 100 ? 900 : timeout,
                               repeat);
}

static const scripted_row_t rows[] = {
    {"cpu_goes_and_comes_is_reported_once_each",
     "begin; down 1; online 0,2; uevent offline 1; run -> o0 gone 1\n"
     "up 1; online 0-2; uevent online 1; run -> o0 come 1\n"
     "uevent online 1; run ->\n"},
    {"cpu_that_is_new_comes",
     "begin; up 200; online 0-2,200; uevent add 200; uevent online 200; run -> "
     "o0 come 200\n"},
    {"burst_of_uevents_is_one_check",
     "begin; down 1; down 2; online 0; up 3; online 0,3; uevent offline 1; "
     "uevent offline 2; uevent online 3; run -> o0 gone 1, o0 gone 2, o0 come "
     "3\n"},
    /* Its events are off all the same. */
    {"cpu_back_before_a_check_went_and_came",
     "begin; up 1; uevent offline 1; uevent online 1; run -> o0 gone 1, o0 "
     "come 1\n"},
    /* Like hints that are older than the first check. */
    {"uevents_that_are_out_of_date_do_nothing",
     "begin; uevent offline 1; uevent online 1; uevent online 3; uevent "
     "offline 3; run ->\n"},
    /* It is listed because it is coming up again, and is not up yet. */
    {"cpu_that_came_and_went_in_one_burst_is_not_up",
     "begin; down 1; online 0,2; uevent offline 1; run -> o0 gone 1\n"
     "up 1; online 0-2; uevent online 1; uevent offline 1; run ->\n"
     "look -> o0 come 1\n"},
    /* The kernel lists it before anything can be opened there. */
    {"cpu_that_comes_up_is_reported_when_it_is_up",
     "begin; up 3; online 0-3; down 1; online 0,2-3; uevent offline 1; run -> "
     "o0 gone 1\n"
     "uevent online 3; run -> o0 come 3\n"},
    {"uevents_that_were_lost_cause_a_check",
     "begin; down 1; online 0,2; lost; run -> o0 gone 1\n"},
    {"list_that_cannot_be_read_is_read_again",
     "begin; online ''; look ->\n"
     "online nonsense; look ->\n"
     "down 1; online 0,2; look -> o0 gone 1\n"},
    /* -- uevents ----------------------------------------------------------- */
    /* Some architectures have none. */
    {"hotplug_without_topology_goes_by_the_uevents",
     "down 1; begin; uevent online 1; run ->\n"
     "uevent offline 1; uevent online 1; run -> o0 gone 1, o0 come 1\n"
     "look ->\n"},
    {"hotplug_uevent_that_a_process_sent_is_not_believed",
     "begin; down 1; online 0,2; from_process "
     "offline@/devices/system/cpu/cpu1; run ->\n"},
    /* -- by itself --------------------------------------------------------- */
    {"hotplug_without_a_socket_checks_by_timer",
     "no_socket EOPNOTSUPP; begin; down 1; online 0,2; look -> o0 gone 1\n"
     "up 1; online 0-2; look ->\n"
     "look -> o0 come 1\n"
     "up 1; look -> o0 gone 1\n"
     "look -> o0 come 1\n"
     "look ->\n"},
    {"hotplug_started_without_sysfs_says_why",
     "no_host; make; start o0 -> ENOENT\n"},
    /* -- several on a loop ------------------------------------------------- */
    /* The hub's timer, and one socket. */
    {"hotplugs_of_a_loop_share_a_socket_and_a_timer",
     "begin; begin; handles poll timer -> 2\n"
     "goes 1 0,2; run -> o0 gone 1, o1 gone 1\n"
     "close o0; comes 1 0-2; run -> o1 come 1\n"},
    /* The first scan of the loop finds fewer than were online before. */
    {"hotplug_last_cpus_gone_before_the_start_are_reported",
     "make; down 1; down 2; online 0; start o0; run -> o0 gone 1, o0 gone 2\n"},
    /* The other one has read the uevents. */
    {"hotplug_stopped_while_another_runs_misses_nothing",
     "begin; begin; stop o1; up 1; uevent offline 1; uevent online 1; run -> "
     "o0 gone 1, o0 come 1\n"
     "start o1; run -> o1 gone 1, o1 come 1\n"},
    /* As on an architecture that has no topology/: only the uevents show it. */
    {"hotplug_stopped_while_another_runs_misses_no_uevent",
     "down 1; begin; begin; stop o1; uevent offline 1; uevent online 1; run -> "
     "o0 gone 1, o0 come 1\n"
     "start o1; run -> o1 gone 1, o1 come 1\n"},
    {"hotplug_closed_in_a_callback_of_another_is_silent",
     "begin; begin; begin; on o 'close o1'; down 2; goes 1 0; run -> o0 gone "
     "1, o0 gone 2, o2 gone 1, o2 gone 2\n"
     "closed o1 -> 1\n"},
    {"hotplug_closed_in_a_callback_of_an_earlier_one_is_silent",
     "begin; begin; begin; on o 'close o2'; down 2; goes 1 0; run -> o0 gone "
     "1, o0 gone 2, o1 gone 1, o1 gone 2\n"
     "closed o2 -> 1\n"},
};

static hotplug_owner_t owner;

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
  size_t i;

  hotplug_begin(*state, &owner);
  make_cpus_take_down(1);
  make_cpus_list("0,2\n");
  for (i = 0; i < COUNT_OF(others); i++)
    fake_uevents_send(others[i]);
  hotplug_expect(*state, &owner, "");
  fake_uevents_say("offline", 1);
  hotplug_expect(*state, &owner, "gone 1");
  hotplug_end(*state, &owner);
}

static void hotplug_garbage_from_the_socket_does_no_harm(void **state) {
  char bytes[3000];
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

/* One that was found to be coming is not left for as long as the others. */
static void hotplug_cpu_that_comes_up_is_soon_checked_again(void **state) {
  hotplug_begin(*state, &owner);
  assert_true(uv_timer_get_due_in(fake_clock_timer(*state)) > 1000);
  make_cpus_bring_up(3);
  make_cpus_list("0-3\n");
  hotplug_expect_by_look(*state, &owner, "");
  assert_true(uv_timer_get_due_in(fake_clock_timer(*state)) < 1000);
  hotplug_expect_by_look(*state, &owner, "come 3");
  hotplug_end(*state, &owner);
}

/* So that all checks of one loop are made in the same turn. */
static void hotplug_checks_are_at_multiples_of_their_interval(void **state) {
  const uv_timer_t *timer;

  hotplug_begin(*state, &owner);
  timer = fake_clock_timer(*state);
  assert_int_equal(
      (uv_now(*state) + uv_timer_get_due_in(timer)) % HOTPLUG_NEVER, 0);
  hotplug_end(*state, &owner);
}

#define HOTPLUG(test)                                                          \
  support_loop_test_setup_teardown(test, hotplug_setup, hotplug_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      HOTPLUG(hotplug_uevents_of_other_devices_are_ignored),
      HOTPLUG(hotplug_garbage_from_the_socket_does_no_harm),
      HOTPLUG(hotplug_cpu_that_comes_up_is_soon_checked_again),
      HOTPLUG(hotplug_checks_are_at_multiples_of_their_interval),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_hotplugs, rows, tests);
}
