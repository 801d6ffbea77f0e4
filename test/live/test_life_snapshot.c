/* SPDX-License-Identifier: MIT */
/* Snapshots of each kind of handle with overwritable rings: which records they
 * deliver, at once and by the pool, when they are refused and canceled, and
 * each call that fails. Closes and forks are in test_teardown.c,
 * test_life_callbacks.c and test_life_fork.c. */
#include "life.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

static void begin(life_t *life, uint64_t nr) {
  life_open(life);
  life_start(life);
  life_write(life, nr);
  fake_log_clear();
}

/* The newest nr records must come, each once. */
static void expect_newest(life_t *life, uint32_t flags, unsigned int nr) {
  assert_int_equal(life_snap(life, flags), 0);
  if (nr > 0) {
    assert_int_equal(life->least, life->written - nr);
    assert_int_equal(life->most, life->written - 1);
    life_expect_now(life, "%u", nr);
  } else {
    life_expect_now(life, "%s", "");
  }
}

/* The same by the pool. */
static void expect_later(life_t *life, unsigned int nr) {
  assert_int_equal(life_snap_later(life, 0), 0);
  fake_pool_finish();
  if (nr > 0)
    life_expect(life, "%u done", nr);
  else
    life_expect(life, "done");
}

/* -- which records -------------------------------------------------------- */

static void snapshot_has_what_is_new_or_all(life_t *life) {
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;

  begin(life, 0);
  expect_newest(life, 0, 0);
  life_write(life, 4);
  assert_int_equal(uvperf_ring(life->handle, 0, &ring), 0);
  assert_true(ring.waiting > 0);
  expect_newest(life, 0, 4);
  assert_int_equal(uvperf_ring(life->handle, 0, &ring), 0);
  assert_int_equal(ring.waiting, 0);
  expect_newest(life, 0, 0);
  life_write(life, 3);
  expect_newest(life, UVPERF_SNAPSHOT_OLDEST_FIRST, 3);
  expect_newest(life, UVPERF_SNAPSHOT_ALL, 7);
  life_write(life, 1);
  expect_newest(life, UVPERF_SNAPSHOT_ALL | UVPERF_SNAPSHOT_OLDEST_FIRST, 8);
  life_write(life, 1);
  expect_newest(life, UVPERF_SNAPSHOT_NO_WAIT, 1);
  uvperf_stats(life->handle, &stats);
  assert_int_equal(stats.records, 4 + 3 + 7 + 8 + 1);
  assert_int_equal(stats.wakeups + stats.slices + stats.cut_records, 0);
}

/* No record comes by itself. */
static void snapshot_works_before_and_after_stop(life_t *life) {
  begin(life, 2);
  life_expect(life, "%s", "");
  life_stop(life);
  life_write(life, 2);
  expect_newest(life, 0, 4);
  life_start(life);
  life_write(life, 1);
  expect_newest(life, 0, 1);
}

static void write_two(life_t *life) {
  life_write(life, 2);
}

static void snapshot_has_nothing_of_its_callbacks(life_t *life) {
  begin(life, 2);
  life_act(life, LIFE_RECORD, 1, write_two);
  assert_int_equal(life_snap(life, 0), 0);
  life_expect_now(life, "2");
  expect_newest(life, 0, 2);
}

/* Ten records of each ring are overwritten in part, or whole, while output is
 * paused. They are counted once, though the records come in many slices. */
static void snapshot_in_slices_counts_cut_records_once(life_t *life) {
  uvperf_stats_t stats;
  uint64_t cut = 0;
  int i;

  life_open(life);
  life_start_with(life, 2, 0);
  life_write(life, 2 * support_page_bytes() / 24);
  assert_int_equal(life_snap_later(life, 0), 0);
  fake_pool_run();
  uvperf_stats(life->handle, &stats);
  assert_int_equal(stats.cut_records, 0);
  for (i = 0; i < 3; i++) {
    life_turns(life, 1);
    uvperf_stats(life->handle, &stats);
    assert_true(i == 0 ? stats.cut_records > 0 : stats.cut_records == cut);
    cut = stats.cut_records;
    assert_int_equal(stats.slices, i + 1);
  }
}

/* -- on the pool ---------------------------------------------------------- */

static void snapshot_is_taken_by_the_pool_and_comes_in_slices(life_t *life) {
  uvperf_stats_t stats;

  life_open(life);
  life_start_with(life, 2, UVPERF_START_SLICE_END);
  life_write(life, 3);
  fake_log_clear();
  assert_int_equal(life_snap_later(life, UVPERF_SNAPSHOT_OLDEST_FIRST), 0);
  life_turns(life, 3);
  life_expect_now(life, "%s", "");
  assert_null(strstr(fake_log(), "PAUSE_OUTPUT"));
  life_write(life, 2); /* before it is taken */
  fake_pool_run();
  assert_non_null(strstr(fake_log(), "PAUSE_OUTPUT, membarrier"));
  life_write(life, 1); /* after it */
  life_expect_now(life, "%s", "");
  life_turns(life, 1);
  life_expect_now(life, "2 slice");
  life_turns(life, 1);
  life_expect_now(life, "2 slice");
  life_turns(life, 1);
  life_expect_now(life, "1 slice done");
  uvperf_stats(life->handle, &stats);
  assert_int_equal(stats.records, 5);
  assert_int_equal(stats.slices, 3);
  assert_int_equal(stats.unwaited_snapshots, 0);
  assert_int_equal(life_snap_later(life, 0), 0);
  fake_pool_finish();
  life_expect(life, "1 slice done");
  expect_later(life, 0);
}

static void snapshot_keeps_the_loop_alive_though_unrefd(life_t *life) {
  begin(life, 3);
  uvperf_unref(life->handle);
  assert_int_equal(uv_loop_alive(life->loop), 0);
  expect_later(life, 3);
  assert_int_equal(uv_loop_alive(life->loop), 0);
  assert_int_equal(uvperf_has_ref(life->handle), 0);
}

/* -- refusals ------------------------------------------------------------- */

static void expect_busy(life_t *life) {
  assert_int_equal(life_snap(life, 0), UV_EBUSY);
  assert_int_equal(life_snap_later(life, 0), UV_EBUSY);
  assert_int_equal(life->error.cause, UVPERF_CAUSE_ARGUMENT);
}

static void snapshot_again(life_t *life) {
  assert_int_equal(life_snap(life, UVPERF_SNAPSHOT_ALL), 0);
  assert_int_equal(life_snap_later(life, 0), 0);
}

static void snapshot_refuses_others_until_it_is_done(life_t *life) {
  life_open(life);
  life_start_with(life, 2, 0);
  life_write(life, 3);
  life_act(life, LIFE_RECORD, 2, expect_busy);
  assert_int_equal(life_snap_later(life, 0), 0);
  expect_busy(life);
  fake_pool_run();
  expect_busy(life);
  life_turns(life, 1);
  expect_busy(life);
  life_act(life, LIFE_DONE, 1, snapshot_again);
  life_turns(life, 1);
  life_expect_now(life, "3 done 3");
  fake_pool_finish();
  life_expect(life, "done");
  life_act(life, LIFE_RECORD, 1, expect_busy);
  expect_newest(life, UVPERF_SNAPSHOT_ALL, 3);
}

static void snapshot_with_wrong_flags_begins_nothing(life_t *life) {
  begin(life, 1);
  assert_int_equal(life_snap(life, 8), UV_EINVAL);
  assert_int_equal(life->error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(life_snap_later(life, UINT32_MAX), UV_EINVAL);
  assert_false(fake_pool_waits());
  assert_string_equal(fake_log(), "");
  expect_newest(life, 0, 1);
}

static void snapshot_that_the_pool_refuses_begins_nothing(life_t *life) {
  begin(life, 1);
  fake_pool_reset();
  assert_int_equal(life_snap_later(life, 0), UV_ENOMEM);
  assert_int_equal(life->error.cause, UVPERF_CAUSE_MEMORY);
  assert_string_equal(fake_log(), "");
  fake_pool_hold();
  expect_later(life, 1);
}

/* -- stop and start ------------------------------------------------------- */

static void restart(life_t *life) {
  life_stop(life);
  life_start(life);
}

/* Before its delivery begins it takes nothing. */
static void snapshot_stopped_before_its_delivery_is_in_the_next(life_t *life) {
  int i;

  for (i = 0; i < 2 * (LIFE_SNAP_SLICES - LIFE_SNAPPING); i++) {
    assert_true(life_reach(life, (enum life_stage)(LIFE_SNAPPING + i / 2)));
    if (i % 2)
      restart(life);
    else
      life_stop(life);
    life_turns(life, 3);
    fake_pool_finish();
    life_expect(life, "done ECANCELED");
    expect_later(life, LIFE_WRITTEN);
    life_end(life);
  }
}

static void snapshot_stopped_between_its_slices_ends(life_t *life) {
  int i;

  for (i = 0; i < 2; i++) {
    life_reach(life, LIFE_SNAP_SLICES);
    if (i % 2)
      restart(life);
    else
      life_stop(life);
    life_expect(life, "done ECANCELED");
    expect_later(life, 0);
    expect_newest(life, UVPERF_SNAPSHOT_ALL, LIFE_WRITTEN);
    life_end(life);
  }
}

static void snapshot_whose_loop_is_closed_by_others_is_canceled(life_t *life) {
  life_reach(life, LIFE_SNAPPING);
  life_uv_close_all(life->loop);
  life_turns(life, 2);
  fake_pool_finish();
  life_expect(life, "done ECANCELED");
  life_stop(life);
  life_end(life);
  /* Nor is it begun then. */
  life_reach(life, LIFE_STARTED);
  life_uv_close_all(life->loop);
  assert_int_equal(life_snap_later(life, 0), UV_EINVAL);
  assert_false(fake_pool_waits());
  life_end(life);
  /* One that waits for its slices. */
  life_reach(life, LIFE_SNAP_SLICES);
  life_uv_close_type(life->loop, UV_CHECK);
  life_expect(life, "done ECANCELED");
}

/* -- failures ------------------------------------------------------------- */

static int on_pause(fake_event_t *fake, unsigned long request,
                    uintptr_t argument) {
  if (request == PERF_EVENT_IOC_PAUSE_OUTPUT)
    fake->data = (void *)argument;
  return 0;
}

static size_t begin_pauses(life_t *life) {
  size_t i;

  begin(life, LIFE_WRITTEN);
  for (i = 1; i < 4; i += 2)
    life->events[i]->on_ioctl = on_pause;
  return uvperf_nr_rings(life->handle);
}

static int nr_paused(const life_t *life) {
  return (life->events[1]->data != NULL) +
         (life->events[3] != life->events[1] && life->events[3]->data != NULL);
}

/* At once, and by the pool. All records come, or none. */
static void expect_failure(life_t *life, int is_later, int code, int has_all) {
  if (is_later) {
    assert_int_equal(life_snap_later(life, 0), 0);
    fake_pool_finish();
    life_expect(life, "%sdone %s", has_all ? "5 " : "", uv_err_name(code));
  } else {
    assert_int_equal(life_snap(life, 0), code);
    assert_int_equal(life->error.code, code);
    life_expect_now(life, "%s", has_all ? "5" : "");
  }
}

static void snapshot_that_cannot_pause_delivers_nothing(life_t *life) {
  static const struct {
    int code;
    int cause;
  } rows[] = {{-EIO, UVPERF_CAUSE_UNKNOWN},
              {-EPERM, UVPERF_CAUSE_PERMISSION},
              {-EACCES, UVPERF_CAUSE_PERMISSION}};
  size_t i, nth, rings;
  int is_later;

  rings = begin_pauses(life);
  for (is_later = 0; is_later < 2; is_later++)
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
      for (nth = 1; nth <= rings; nth++) {
        fake_fail(FAKE_IOCTL, (unsigned int)nth, rows[i].code);
        expect_failure(life, is_later, rows[i].code, 0);
        assert_int_equal(nr_paused(life), 0);
        if (!is_later)
          assert_int_equal(life->error.cause, rows[i].cause);
      }
  expect_newest(life, 0, LIFE_WRITTEN);
  assert_int_equal(nr_paused(life), 0);
}

static void snapshot_that_cannot_resume_delivers_and_fails(life_t *life) {
  size_t nth, rings;
  int is_later;

  rings = begin_pauses(life);
  for (is_later = 0; is_later < 2; is_later++)
    for (nth = 1; nth <= rings; nth++) {
      fake_fail(FAKE_IOCTL, (unsigned int)(rings + nth), -EIO);
      expect_failure(life, is_later, UV_EIO, 1);
      assert_int_equal(nr_paused(life), 1);
      expect_newest(life, 0, 0); /* tries again */
      assert_int_equal(nr_paused(life), 0);
      life_write(life, LIFE_WRITTEN);
    }
}

static void snapshot_that_cannot_wait_is_counted(life_t *life) {
  uvperf_stats_t stats;
  size_t rings;

  rings = begin_pauses(life);
  fake_fail_from(FAKE_MEMBARRIER, 1, -EPERM);
  expect_newest(life, 0, LIFE_WRITTEN);
  uvperf_stats(life->handle, &stats);
  assert_int_equal(stats.unwaited_snapshots, rings);
  /* It is not if nothing had to be waited for. */
  expect_newest(life, 0, 0);
  life_write(life, 1);
  expect_newest(life, UVPERF_SNAPSHOT_NO_WAIT, 1);
  uvperf_stats(life->handle, &stats);
  assert_int_equal(stats.unwaited_snapshots, rings);
}

/* Each allocation fails, here and on the pool. */
static void snapshot_without_memory_loses_nothing(life_t *life) {
  unsigned int nth, failures;
  size_t blocks;
  int is_later, rc;

  for (is_later = 0; is_later < 2; is_later++) {
    begin_pauses(life);
    blocks = fake_live_allocations();
    nth = 0;
    do {
      failures = fake_failures();
      fake_fail(FAKE_CALLOC, ++nth, 0);
      rc = is_later ? life_snap_later(life, 0) : life_snap(life, 0);
      if (is_later && rc == 0) {
        fake_pool_finish();
        life_turns(life, 10);
        if (strcmp(life_seen(life), "done ENOMEM") == 0) {
          rc = UV_ENOMEM;
          life_expect_now(life, "done ENOMEM");
        }
      }
      assert_int_equal(fake_live_allocations(), blocks);
      assert_int_equal(nr_paused(life), 0);
      if (fake_failures() != failures)
        assert_int_equal(rc, UV_ENOMEM);
    } while (fake_failures() != failures && nth < 100);
    assert_int_equal(rc, 0);
    assert_in_range(nth, 2, 20);
    life_expect_now(life, is_later ? "%d done" : "%d", LIFE_WRITTEN);
    life_end(life);
  }
}

int main(void) {
  const unsigned int kinds = LIFE_FLIGHTS | LIFE_SCRIPTED;
  const life_test_t tests[] = {
      LIFE_TEST(snapshot_has_what_is_new_or_all, LIFE_FLIGHTS),
      LIFE_TEST(snapshot_works_before_and_after_stop, LIFE_FLIGHTS),
      LIFE_TEST(snapshot_has_nothing_of_its_callbacks, LIFE_FLIGHTS),
      LIFE_TEST(snapshot_in_slices_counts_cut_records_once, kinds),
      LIFE_TEST(snapshot_is_taken_by_the_pool_and_comes_in_slices,
                LIFE_FLIGHTS),
      LIFE_TEST(snapshot_keeps_the_loop_alive_though_unrefd, LIFE_FLIGHTS),
      LIFE_TEST(snapshot_refuses_others_until_it_is_done, LIFE_FLIGHTS),
      LIFE_TEST(snapshot_with_wrong_flags_begins_nothing, LIFE_FLIGHTS),
      LIFE_TEST(snapshot_that_the_pool_refuses_begins_nothing, LIFE_FLIGHTS),
      LIFE_TEST(snapshot_stopped_before_its_delivery_is_in_the_next,
                LIFE_FLIGHTS),
      LIFE_TEST(snapshot_stopped_between_its_slices_ends, LIFE_FLIGHTS),
      LIFE_TEST(snapshot_whose_loop_is_closed_by_others_is_canceled, kinds),
      LIFE_TEST(snapshot_that_cannot_pause_delivers_nothing, kinds),
      LIFE_TEST(snapshot_that_cannot_resume_delivers_and_fails, kinds),
      LIFE_TEST(snapshot_that_cannot_wait_is_counted, kinds),
      LIFE_TEST(snapshot_without_memory_loses_nothing, kinds),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
