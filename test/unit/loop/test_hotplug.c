/* SPDX-License-Identifier: MIT */
/* CPUs that come and go, scripted: what is reported about them. */
#include "fake_host.h"
#include "scripted_hotplug.h"

#include <errno.h>

#include "make_cpus.h"
#include "fake_clock.h"
#include "fake_uevents.h"

/* -- scripts -------------------------------------------------------------- */

/* Steps, separated by "; ": "-1" and "+1" take CPU 1 down and bring it up,
 * "=0,2" is the kernel's list, "off 1", "on 1" and "add 1" are uevents, and
 * "lost" is a lost one. After "> gone 1" this is reported, and after ">> gone
 * 1" it is by the timer. */
static const struct {
  const char *name, *steps;
} rows[] = {
    {"cpu_goes_and_comes_is_reported_once_each",
     "-1; =0,2; off 1; > gone 1; +1; =0-2; on 1; > come 1; on 1; >"},
    {"cpu_that_is_new_comes", "+200; =0-2,200; add 200; on 200; > come 200"},
    {"burst_of_uevents_is_one_check",
     "-1; -2; =0; +3; =0,3; off 1; off 2; on 3; > gone 1, gone 2, come 3"},
    /* Its events are off all the same. */
    {"cpu_back_before_a_check_went_and_came",
     "+1; off 1; on 1; > gone 1, come 1"},
    /* Like hints that are older than the first check. */
    {"uevents_that_are_out_of_date_do_nothing", "off 1; on 1; on 3; off 3; >"},
    /* It is listed because it is coming up again, and is not up yet. */
    {"cpu_that_came_and_went_in_one_burst_is_not_up",
     "-1; =0,2; off 1; > gone 1; +1; =0-2; on 1; off 1; >; >> come 1"},
    /* The kernel lists it before anything can be opened there. */
    {"cpu_that_comes_up_is_reported_when_it_is_up",
     "+3; =0-3; -1; =0,2-3; off 1; > gone 1; on 3; > come 3"},
    {"uevents_that_were_lost_cause_a_check", "-1; =0,2; lost; > gone 1"},
    {"list_that_cannot_be_read_is_read_again",
     "=; >>; =nonsense; >>; -1; =0,2; >> gone 1"},
};

static const char *playing; /* the name of the row */

static void play_expect(uv_loop_t *loop, hotplug_owner_t *owner,
                        const char *step) {
  int by_timer = step[1] == '>';
  const char *seen = step + 1 + by_timer;

  if (by_timer)
    hotplug_look(loop, owner->teardown.hub);
  else
    hotplug_run(loop);
  if (strcmp(owner->seen, *seen ? seen + 1 : "") != 0)
    fail_msg("%s: \"%s\" after \"%s\"", playing, owner->seen, step);
  owner->seen[0] = '\0';
}

static void play_step(uv_loop_t *loop, hotplug_owner_t *owner,
                      const char *step) {
  const char *number = step + strcspn(step, "0123456789");
  int cpu = (int)strtol(number, NULL, 10);
  char list[32];

  if (*step == '-') {
    make_cpus_take_down(cpu);
  } else if (*step == '+') {
    make_cpus_bring_up(cpu);
  } else if (*step == '=') {
    snprintf(list, sizeof(list), "%s%s", step + 1, step[1] ? "\n" : "");
    make_cpus_list(list);
  } else if (*step == '>') {
    play_expect(loop, owner, step);
  } else if (strcmp(step, "lost") == 0) {
    fake_uevents_overrun();
  } else {
    fake_uevents_say(step[1] == 'f'   ? "offline"
                     : step[0] == 'a' ? "add"
                                      : "online",
                     cpu);
  }
}

static void play_row(uv_loop_t *loop, const char *row) {
  char steps[128], *step, *next;
  hotplug_owner_t owner;

  snprintf(steps, sizeof(steps), "%s", row);
  hotplug_begin(loop, &owner);
  for (step = steps; step != NULL; step = next) {
    next = strstr(step, "; ");
    if (next != NULL) {
      *next = '\0';
      next += 2;
    }
    play_step(loop, &owner, step);
  }
  hotplug_end(loop, &owner);
}

static void hotplug_reports_what_each_script_says(void **state) {
  size_t i;

  for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
    fake_uevents_end();
    assert_int_equal(make_cpus_end(), 0);
    assert_int_equal(make_cpus_begin(3), 0);
    fake_uevents_begin();
    playing = rows[i].name;
    play_row(*state, rows[i].steps);
  }
}

/* -- uevents -------------------------------------------------------------- */

/* Some architectures have none. */
static void hotplug_without_topology_goes_by_the_uevents(void **state) {
  hotplug_owner_t owner;

  make_cpus_take_down(1);
  hotplug_begin(*state, &owner);
  fake_uevents_say("online", 1);
  hotplug_expect(*state, &owner, "");
  fake_uevents_say("offline", 1);
  fake_uevents_say("online", 1);
  hotplug_expect(*state, &owner, "gone 1, come 1");
  hotplug_expect_by_look(*state, &owner, "");
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
  make_cpus_take_down(1);
  make_cpus_list("0,2\n");
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
  make_cpus_take_down(1);
  make_cpus_list("0,2\n");
  fake_uevents_send_from_process("offline@/devices/system/cpu/cpu1");
  hotplug_expect(*state, &owner, "");
  hotplug_end(*state, &owner);
}

/* -- by itself ------------------------------------------------------------ */

static void hotplug_without_a_socket_checks_by_timer(void **state) {
  hotplug_owner_t owner;

  fake_uevents_end();
  fake_uevents_refuse(-EPROTONOSUPPORT);
  hotplug_make(*state, &owner);
  hotplug_start(*state, &owner);
  make_cpus_take_down(1);
  make_cpus_list("0,2\n");
  hotplug_expect_by_look(*state, &owner, "gone 1");
  make_cpus_bring_up(1);
  make_cpus_list("0-2\n");
  hotplug_expect_by_look(*state, &owner, "");
  hotplug_expect_by_look(*state, &owner, "come 1");
  make_cpus_bring_up(1);
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
  hotplug_owner_t owner;

  hotplug_begin(*state, &owner);
  timer = fake_clock_timer(*state);
  assert_int_equal(
      (uv_now(*state) + uv_timer_get_due_in(timer)) % HOTPLUG_NEVER, 0);
  hotplug_end(*state, &owner);
}

static void hotplug_started_without_sysfs_says_why(void **state) {
  hotplug_owner_t owner;

  fake_host_empty(state);
  hotplug_make(*state, &owner);
  assert_int_equal(hotplug_try(&owner), UV_ENOENT);
  hotplug_end(*state, &owner);
}

/* -- several on a loop ----------------------------------------------------- */

static void begin_two(uv_loop_t *loop, hotplug_owner_t *owners) {
  hotplug_begin(loop, &owners[0]);
  hotplug_begin(loop, &owners[1]);
}

static void take_1_down(void) {
  make_cpus_take_down(1);
  make_cpus_list("0,2\n");
  fake_uevents_say("offline", 1);
}

static void bring_1_up(void) {
  make_cpus_bring_up(1);
  make_cpus_list("0-2\n");
  fake_uevents_say("online", 1);
}

static void count_polls(uv_handle_t *handle, void *nr) {
  *(int *)nr += handle->type == UV_POLL || handle->type == UV_TIMER;
}

/* The hub's timer, and one socket. */
static void hotplugs_of_a_loop_share_a_socket_and_a_timer(void **state) {
  hotplug_owner_t owners[2];
  int nr = 0;

  begin_two(*state, owners);
  uv_walk(*state, count_polls, &nr);
  assert_int_equal(nr, 2);
  take_1_down();
  hotplug_expect(*state, &owners[0], "gone 1");
  hotplug_expect(*state, &owners[1], "gone 1");
  hotplug_close(&owners[0]);
  bring_1_up();
  hotplug_expect(*state, &owners[1], "come 1");
  assert_string_equal(owners[0].seen, "");
  hotplug_end(*state, &owners[1]);
}

/* The first scan of the loop finds fewer than were online before. */
static void hotplug_last_cpus_gone_before_the_start_are_reported(void **state) {
  hotplug_owner_t owner;

  hotplug_make(*state, &owner);
  make_cpus_take_down(1);
  make_cpus_take_down(2);
  make_cpus_list("0\n");
  hotplug_start(*state, &owner);
  assert_string_equal(owner.seen, "gone 1, gone 2");
  hotplug_end(*state, &owner);
}

/* With and without topology/, as on an architecture that has none: then only
 * the uevents show it, and the other one has read them. */
static void hotplug_stopped_while_another_runs_misses_nothing(void **state) {
  hotplug_owner_t owners[2];
  int has_topology;

  for (has_topology = 0; has_topology < 2; has_topology++) {
    if (has_topology)
      make_cpus_bring_up(1);
    else
      make_cpus_take_down(1);
    fake_uevents_end();
    fake_uevents_begin();
    begin_two(*state, owners);
    uvperf__hotplug_stop(owners[1].hotplug);
    if (has_topology)
      make_cpus_bring_up(1);
    fake_uevents_say("offline", 1);
    fake_uevents_say("online", 1);
    hotplug_expect(*state, &owners[0], "gone 1, come 1");
    hotplug_expect(*state, &owners[1], "");
    hotplug_start(*state, &owners[1]);
    hotplug_expect(*state, &owners[1], "gone 1, come 1");
    hotplug_expect(*state, &owners[0], "");
    hotplug_close(&owners[0]);
    hotplug_end(*state, &owners[1]);
  }
}

static hotplug_owner_t *other;

static void close_other(hotplug_owner_t *owner) {
  (void)owner;
  if (other != NULL)
    hotplug_close(other);
  other = NULL;
}

static void hotplug_closed_in_a_callback_of_another_is_silent(void **state) {
  hotplug_owner_t owners[3];
  size_t i;

  for (i = 0; i < 3; i++)
    hotplug_begin(*state, &owners[i]);
  other = &owners[1];
  owners[0].hook = close_other;
  owners[2].hook = close_other;
  make_cpus_take_down(2);
  take_1_down();
  make_cpus_list("0\n");
  hotplug_expect(*state, &owners[0], "gone 1, gone 2");
  hotplug_expect(*state, &owners[2], "gone 1, gone 2");
  assert_string_equal(owners[1].seen, "");
  assert_int_equal(owners[1].closed, 1);
  hotplug_close(&owners[0]);
  hotplug_end(*state, &owners[2]);
}

#define HOTPLUG(test)                                                          \
  support_loop_test_setup_teardown(test, hotplug_setup, hotplug_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      HOTPLUG(hotplug_reports_what_each_script_says),
      HOTPLUG(hotplug_without_topology_goes_by_the_uevents),
      HOTPLUG(hotplug_uevents_of_other_devices_are_ignored),
      HOTPLUG(hotplug_garbage_from_the_socket_does_no_harm),
      HOTPLUG(hotplug_uevent_that_a_process_sent_is_not_believed),
      HOTPLUG(hotplug_without_a_socket_checks_by_timer),
      HOTPLUG(hotplug_cpu_that_comes_up_is_soon_checked_again),
      HOTPLUG(hotplug_checks_are_at_multiples_of_their_interval),
      HOTPLUG(hotplug_started_without_sysfs_says_why),
      HOTPLUG(hotplugs_of_a_loop_share_a_socket_and_a_timer),
      HOTPLUG(hotplug_last_cpus_gone_before_the_start_are_reported),
      HOTPLUG(hotplug_stopped_while_another_runs_misses_nothing),
      HOTPLUG(hotplug_closed_in_a_callback_of_another_is_silent),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
