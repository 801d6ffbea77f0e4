/* SPDX-License-Identifier: MIT */
/* The life of a hotplug handle, scripted; and with a CPU of this machine if
 * that is allowed. */
#include "fake_host.h"
#include "scripted_hotplug.h"
#include "scripted_hotplug_rows.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "make_cpus.h"
#include "fake_kernel.h"
#include "fake_uevents.h"
#include "live.h"
#include "live_offline_cpu.h"

static const scripted_row_t rows[] = {
    /* -- start and stop ---------------------------------------------------- */
    {"hotplug_change_before_the_start_is_reported",
     "make; down 1; online 0,2; start o0; run -> o0 gone 1\n"},
    {"hotplug_stopped_reports_it_when_started_again",
     "begin; stop o0; stop o0; up 1; uevent offline 1; uevent online 1; run "
     "->\n"
     "start o0; start o0; run -> o0 gone 1, o0 come 1\n"},
    {"hotplug_stopped_in_a_callback_reports_the_rest_later",
     "begin; on o0 'stop o0'; up 1; down 2; online 0-1; uevent offline 1; "
     "uevent online 1; uevent offline 2; run -> o0 gone 1\n"
     "start o0; run -> o0 come 1, o0 gone 2\n"},
    {"hotplug_closed_in_a_callback_calls_back_no_more",
     "begin; on o0 'close o0'; down 1; down 2; online 0; uevent offline 1; "
     "uevent offline 2; run -> o0 gone 1\n"
     "closed o0 -> 1\n"},
    {"hotplug_closed_in_a_callback_that_runs_the_loop",
     "begin; on o0 'close o0|run'; down 1; down 2; online 0; look -> o0 gone "
     "1\n"
     "closed o0 -> 1\n"},
    {"hotplug_keeps_no_loop_alive", "begin; alive -> 0\n"},
    {"hotplug_in_forked_child_takes_nothing",
     "begin; fork; goes 1 0,2; run ->\n"
     "uevent_reads -> 0\n"
     "stop o0; start o0 -> EPERM\n"
     "unfork\n"},
    {"hotplug_out_of_memory_at_any_place_goes_on_later",
     "fail calloc 2 ENOMEM; make; fail calloc 1 ENOMEM; start o0 -> ENOMEM\n"
     "fail calloc 2 ENOMEM; start o0 -> ENOMEM\n"
     "start o0; run; up 300; online 0-2,300; fail calloc 1 ENOMEM; look ->\n"
     "fail calloc 2 ENOMEM; look ->\n"
     "look -> o0 come 300\n"},
};

static hotplug_owner_t owner;

static void hotplug_that_no_loop_knows_is_freed_at_once(void **state) {
  assert_int_equal(uvperf__hotplug_new(&owner.hotplug, NULL, &owner), 0);
  uvperf__hotplug_free(owner.hotplug);
  uvperf__hotplug_free(NULL);
  fake_assert_clean();
}

/* -- close ---------------------------------------------------------------- */

static void close_foreign(uv_handle_t *handle, void *arg) {
  unsigned *ours = arg;

  *ours += uvperf__hotplug_is(handle) != 0;
  if (!uvperf_walk_close(handle))
    uv_close(handle, NULL);
}

static void not_ours(uv_timer_t *timer) {
}

static void
hotplug_is_left_open_by_a_walk_and_foreign_handles_are_not(void **state) {
  int poison = 0x5a;
  unsigned ours = 0;
  uv_timer_t timer;
  uv_idle_t idle;

  hotplug_begin(*state, &owner);
  uv_timer_init(*state, &timer);
  uv_timer_start(&timer, not_ours, 1000, 0);
  uv_idle_init(*state, &idle);
  timer.data = idle.data = &poison;
  uv_walk(*state, close_foreign, &ours);
  assert_int_equal(ours, 1);
  hotplug_end(*state, &owner);
}

static void uv_close_all(uv_handle_t *handle, void *arg) {
  if (!uv_is_closing(handle))
    uv_close(handle, NULL);
}

static void hotplug_handles_uv_closed_by_others_are_survived(void **state) {
  hotplug_begin(*state, &owner);
  uv_walk(*state, uv_close_all, NULL);
  uvperf__hotplug_stop(owner.hotplug);
  assert_int_equal(hotplug_try(&owner), UV_EINVAL);
  hotplug_run(*state);
  uvperf__hotplug_stop(owner.hotplug);
  hotplug_close(&owner);
  assert_int_equal(owner.closed, 1);
  fake_assert_clean();
}

static void hotplug_leaves_no_fd(void **state) {
  size_t fds = support_count_fds();

  fake_uevents_end();
  hotplug_make(*state, &owner);
  hotplug_start(*state, &owner);
  hotplug_end(*state, &owner);
  /* Two of the test's own were closed. */
  assert_int_equal(support_count_fds(), fds - 2);
}

/* -- live ----------------------------------------------------------------- */

/* Uevents of which the socket holds a part. */
#define OVERRUN 4000

static int setup_live(void **state) {
  fake_uevents_end();
  return fake_kernel_loop_setup(state);
}

static void live_cpu_goes_and_comes(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  char expected[64];

  fake_host_real(state);
  hotplug_make(*state, &owner);
  /* Only the uevents can show that. */
  hotplug_start(*state, &owner);
  live_offline_cpu_take(cpu);
  hotplug_run(*state);
  live_offline_cpu_give_back(cpu);
  snprintf(expected, sizeof(expected), "gone %d, come %d", cpu, cpu);
  assert_true(live_run_until(*state, &owner.nr, 2));
  assert_string_equal(owner.seen, expected);
  owner.seen[0] = '\0';
  live_offline_cpu_bounce(cpu);
  assert_true(live_run_until(*state, &owner.nr, 4));
  assert_string_equal(owner.seen, expected);
  hotplug_end(*state, &owner);
}

/* A uevent that concerns no CPU, which root may request: it is read, and not
 * reported. */
static void live_uevent_of_another_device_is_nothing(void **state) {
  unsigned reads = fake_uevents_reads();
  uint64_t read;
  int fd;

  support_need_root(__func__);
  fake_host_real(state);
  hotplug_make(*state, &owner);
  hotplug_start(*state, &owner);
  fd = open("/sys/devices/virtual/mem/null/uevent", O_WRONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(write(fd, "change", 6), 6);
  close(fd);
  hotplug_run(*state);
  read = fake_uevents_reads();
  assert_true(read > reads);
  assert_string_equal(owner.seen, "");
  hotplug_end(*state, &owner);
}

/* More than the socket holds: the kernel puts ENOBUFS on it, so that epoll
 * reports EPOLLERR, at which libuv stops the handle. The next one is still
 * read. */
static void live_uevents_are_read_after_an_overrun(void **state) {
  unsigned reads;
  int fd, i;

  support_need_root(__func__);
  fake_host_real(state);
  hotplug_make(*state, &owner);
  hotplug_start(*state, &owner);
  fd = open("/sys/devices/virtual/mem/null/uevent", O_WRONLY | O_CLOEXEC);
  assert_true(fd >= 0);
  for (i = 0; i < OVERRUN; i++)
    assert_int_equal(write(fd, "change", 6), 6);
  hotplug_run(*state);
  reads = fake_uevents_reads();
  assert_true(reads > 0);
  assert_true(reads < OVERRUN);
  assert_int_equal(write(fd, "change", 6), 6);
  close(fd);
  hotplug_run(*state);
  assert_true(fake_uevents_reads() > reads);
  assert_string_equal(owner.seen, "");
  hotplug_end(*state, &owner);
}

#define HOTPLUG(test)                                                          \
  support_loop_test_setup_teardown(test, hotplug_setup, hotplug_teardown)
#define LIVE(test)                                                             \
  support_loop_test_setup_teardown(test, setup_live, fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      HOTPLUG(hotplug_that_no_loop_knows_is_freed_at_once),
      HOTPLUG(hotplug_is_left_open_by_a_walk_and_foreign_handles_are_not),
      HOTPLUG(hotplug_handles_uv_closed_by_others_are_survived),
      HOTPLUG(hotplug_leaves_no_fd),
      LIVE(live_cpu_goes_and_comes),
      LIVE(live_uevent_of_another_device_is_nothing),
      LIVE(live_uevents_are_read_after_an_overrun),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_hotplugs, rows, tests);
}
