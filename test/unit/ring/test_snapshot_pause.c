/* SPDX-License-Identifier: MIT */
/* Snapshots of overwritable rings with scripted contents: how they wait for
 * writers, and how several rings are handled. */
#include "scripted_snapshot.h"

#include "uvperf/stream.h"

#define LARGE ((size_t)512 * 1024)

/* -- writers -------------------------------------------------------------- */

static void write_another(void) {
  scripted_snapshot_write(0, 1001, 48);
}

/* A record begun before the pause is the newest of this snapshot. */
static void snapshot_has_what_is_finished_while_it_waits(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 48);

  scripted_snapshot_map_page();
  scripted_snapshot_write_records(1, 1000, 48);
  fake_on_membarrier(write_another);
  scripted_snapshot_expect(0, 1001, 1001 - whole + 1, 1);
  assert_string_equal(fake_log(),
                      "ioctl PAUSE_OUTPUT, membarrier, ioctl PAUSE_OUTPUT");
  fake_on_membarrier(scripted_snapshot_no_writers);
  scripted_snapshot_expect(0, 0, 0, 0);
}

static void snapshot_out_of_reach_of_writers_does_not_wait(void **state) {
  uint32_t most = (uint32_t)((LARGE - 4 * 65536) / 64);

  scripted_snapshot_map(1, LARGE);
  scripted_snapshot_write_records(1, most, 64);
  scripted_snapshot_expect(0, most, 1, 0);
  assert_int_equal(fake_count(FAKE_MEMBARRIER), 0);
  scripted_snapshot_write_records(most + 1, 2 * most + 1, 64);
  scripted_snapshot_expect(0, 2 * most + 1, most + 1, 0);
  assert_int_equal(fake_count(FAKE_MEMBARRIER), 1);
}

/* A quarter of a page, and 64 KiB of a large ring. */
static void expect_left_out(uint32_t flags, size_t bytes, size_t left_out) {
  uint32_t newest = (uint32_t)(3 * bytes / 64);
  uint32_t whole = (uint32_t)((bytes - left_out) / 64);

  scripted_snapshot_map(1, bytes);
  if (!(flags & UVPERF_SNAPSHOT_NO_WAIT))
    fake_fail_from(FAKE_MEMBARRIER, 1, -ENOSYS);
  scripted_snapshot_write_records(1, newest, 64);
  scripted_snapshot_expect(flags, newest, newest - whole + 1, 0);
  /* No new record could be overwritten. */
  scripted_snapshot_write_records(newest + 1, newest + whole, 64);
  scripted_snapshot_expect(flags, newest + whole, newest + 1, 0);
  scripted_snapshot_write(0, newest + whole + 1,
                          56); /* 8 bytes short of the quarter */
  scripted_snapshot_expect(flags | UVPERF_SNAPSHOT_ALL, newest + whole + 1,
                           newest + 2, 0);
  assert_int_equal(fake_count(FAKE_MEMBARRIER),
                   flags & UVPERF_SNAPSHOT_NO_WAIT ? 0 : 3);
}

static void snapshot_that_must_not_wait_leaves_a_quarter_out(void **state) {
  expect_left_out(UVPERF_SNAPSHOT_NO_WAIT, support_page_bytes(),
                  support_page_bytes() / 4);
  expect_left_out(UVPERF_SNAPSHOT_NO_WAIT, LARGE, 65536);
}

static void snapshot_that_cannot_wait_leaves_a_quarter_out(void **state) {
  expect_left_out(0, support_page_bytes(), support_page_bytes() / 4);
  expect_left_out(0, LARGE, 65536);
}

/* More than a quarter is spoilt: its contents are unknown. */
static void snapshot_that_did_not_wait_counts_spoilt_data(void **state) {
  uint32_t whole = (uint32_t)(support_page_bytes() / 64);

  scripted_snapshot_map_page();
  scripted_snapshot_write_records(1, whole, 64);
  scripted_snapshot_spoil(whole / 2, 0);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_NO_WAIT, whole,
                           whole - whole / 2 + 2, 1);
}

/* One record in each of the four contexts of a CPU may be overwriting the
 * oldest 256 KiB. Spoilt bytes newer than those are damage; a word later they
 * may be from a writer. */
static void
snapshot_that_did_not_wait_keeps_what_is_out_of_reach(void **state) {
  const uint32_t newest = LARGE / 64;
  const uint32_t nth = (LARGE - 4 * 65536) / 64 + 1;

  assert_true(LARGE > 4 * 65536);
  scripted_snapshot_map(1, LARGE);
  scripted_snapshot_write_records(1, newest, 64);
  scripted_snapshot_spoil(nth + 1, 0);
  scripted_snapshot_expect(UVPERF_SNAPSHOT_NO_WAIT, newest, newest - nth + 1,
                           1);
  scripted_snapshot_spoil(nth, 0);
  assert_int_equal(
      scripted_snapshot_take(shots.list, 1,
                             UVPERF_SNAPSHOT_NO_WAIT | UVPERF_SNAPSHOT_ALL),
      0);
  assert_int_equal(shots.list[0].code, -EPROTO);
  scripted_snapshot_expect_image(0, newest, newest - nth + 2);
  uvperf__snapshots_free(shots.list, 1);
}

/* -- several -------------------------------------------------------------- */

static void snapshots_of_several_rings_wait_once(void **state) {
  size_t i;

  scripted_snapshot_map(SCRIPTED_SNAPSHOT_RINGS, support_page_bytes());
  for (i = 0; i < SCRIPTED_SNAPSHOT_RINGS; i++)
    scripted_snapshot_write(i, (uint32_t)i + 1, 64);
  assert_int_equal(
      scripted_snapshot_take(shots.list, SCRIPTED_SNAPSHOT_RINGS, 0), 0);
  for (i = 0; i < SCRIPTED_SNAPSHOT_RINGS; i++) {
    assert_int_equal(shots.list[i].code, 0);
    scripted_snapshot_expect_image(i, (uint32_t)i + 1, (uint32_t)i + 1);
    assert_int_equal(shots.paused[i], 0);
  }
  assert_string_equal(
      fake_log(), "ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT, "
                  "membarrier, "
                  "ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT");
  uvperf__snapshots_free(shots.list, SCRIPTED_SNAPSHOT_RINGS);
  assert_int_equal(fake_live_allocations(), 0);
}

static void no_snapshots_of_no_rings(void **state) {
  scripted_snapshot_map(0, 0);
  assert_int_equal(scripted_snapshot_take(shots.list, 0, 0), 0);
  uvperf__snapshots_free(shots.list, 0);
  assert_string_equal(fake_log(), "");
}

static int fail_to_pause(fake_event_t *fake, unsigned long request,
                         uintptr_t argument) {
  return argument == 1 ? -EIO
                       : scripted_snapshot_on_ioctl(fake, request, argument);
}

static void no_snapshots_if_one_ring_is_not_paused(void **state) {
  size_t i;

  scripted_snapshot_map(SCRIPTED_SNAPSHOT_RINGS, support_page_bytes());
  for (i = 0; i < SCRIPTED_SNAPSHOT_RINGS; i++)
    scripted_snapshot_write(i, 1, 64);
  shots.fakes[1]->on_ioctl = fail_to_pause;
  assert_int_equal(
      scripted_snapshot_take(shots.list, SCRIPTED_SNAPSHOT_RINGS, 0), -EIO);
  assert_int_equal(shots.paused[0], 0);
  assert_string_equal(
      fake_log(),
      "ioctl PAUSE_OUTPUT, ioctl PAUSE_OUTPUT failed, ioctl PAUSE_OUTPUT");
  assert_int_equal(fake_live_allocations(), 0);
  /* As if it had not been tried. */
  shots.fakes[1]->on_ioctl = scripted_snapshot_on_ioctl;
  assert_int_equal(
      scripted_snapshot_take(shots.list, SCRIPTED_SNAPSHOT_RINGS, 0), 0);
  for (i = 0; i < SCRIPTED_SNAPSHOT_RINGS; i++)
    scripted_snapshot_expect_image(i, 1, 1);
  uvperf__snapshots_free(shots.list, SCRIPTED_SNAPSHOT_RINGS);
}

static int fail_to_resume(fake_event_t *fake, unsigned long request,
                          uintptr_t argument) {
  return argument == 0 ? -EIO
                       : scripted_snapshot_on_ioctl(fake, request, argument);
}

static void
snapshots_of_which_one_is_not_resumed_resume_the_rest(void **state) {
  scripted_snapshot_map(SCRIPTED_SNAPSHOT_RINGS, support_page_bytes());
  shots.fakes[0]->on_ioctl = fail_to_resume;
  assert_int_equal(
      scripted_snapshot_take(shots.list, SCRIPTED_SNAPSHOT_RINGS, 0), 0);
  assert_int_equal(
      uvperf__snapshots_resumed(shots.list, SCRIPTED_SNAPSHOT_RINGS), -EIO);
  assert_int_equal(shots.list[1].resumed, 0);
  assert_int_equal(shots.paused[1], 0);
  assert_int_equal(shots.paused[2], 0);
  uvperf__snapshots_free(shots.list, SCRIPTED_SNAPSHOT_RINGS);
}

static void snapshot_of_a_paused_ring_leaves_it_paused(void **state) {
  scripted_snapshot_map(2, support_page_bytes());
  scripted_snapshot_write(0, 1, 64);
  shots.list[0].is_paused = 1;
  shots.paused[0] = 1;
  assert_int_equal(scripted_snapshot_take(shots.list, 2, 0), 0);
  assert_string_equal(fake_log(),
                      "ioctl PAUSE_OUTPUT, membarrier, ioctl PAUSE_OUTPUT");
  assert_int_equal(shots.paused[0], 1);
  assert_int_equal(shots.paused[1], 0);
  scripted_snapshot_expect_image(0, 1, 1);
  uvperf__snapshots_free(shots.list, 2);
}

static void snapshots_without_memory_touch_nothing(void **state) {
  unsigned nth;

  scripted_snapshot_map(SCRIPTED_SNAPSHOT_RINGS, support_page_bytes());
  scripted_snapshot_write(0, 1, 64);
  for (nth = 1; nth <= SCRIPTED_SNAPSHOT_RINGS; nth++) {
    fake_fail(FAKE_CALLOC, nth, -ENOMEM);
    assert_int_equal(
        scripted_snapshot_take(shots.list, SCRIPTED_SNAPSHOT_RINGS, 0),
        -ENOMEM);
    assert_string_equal(fake_log(), "");
    assert_int_equal(fake_live_allocations(), 0);
  }
  scripted_snapshot_expect(0, 1, 1, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(snapshot_has_what_is_finished_while_it_waits),
      cmocka_unit_test(snapshot_out_of_reach_of_writers_does_not_wait),
      cmocka_unit_test(snapshot_that_must_not_wait_leaves_a_quarter_out),
      cmocka_unit_test(snapshot_that_cannot_wait_leaves_a_quarter_out),
      cmocka_unit_test(snapshot_that_did_not_wait_counts_spoilt_data),
      cmocka_unit_test(snapshot_that_did_not_wait_keeps_what_is_out_of_reach),
      cmocka_unit_test(snapshots_of_several_rings_wait_once),
      cmocka_unit_test(no_snapshots_of_no_rings),
      cmocka_unit_test(no_snapshots_if_one_ring_is_not_paused),
      cmocka_unit_test(snapshots_of_which_one_is_not_resumed_resume_the_rest),
      cmocka_unit_test(snapshot_of_a_paused_ring_leaves_it_paused),
      cmocka_unit_test(snapshots_without_memory_touch_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
