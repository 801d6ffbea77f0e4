/* SPDX-License-Identifier: MIT */
/* Live: overwritable rings of a reader: no sample is delivered by itself, and a
 * snapshot has the newest samples of each CPU, whole and in order. */
#include "live_bpf_reader.h"

#include <errno.h>
#include <unistd.h>

#include "fake_kernel.h"
#include "fake_pool.h"

static void begin(const char *test, uv_loop_t *loop, live_bpf_reader_t *live,
                  size_t ring_bytes) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();

  options.ring_bytes = ring_bytes;
  options.flags = UVPERF_BPF_READER_OVERWRITE;
  live_bpf_reader_make(test, live, 0);
  live_bpf_reader_open(loop, live, &options);
  live_bpf_reader_start(live, NULL);
}

/* Resets the counts, so that the order of samples is checked from the start. */
static void forget(live_bpf_reader_t *live) {
  memset(live->last, 0, sizeof(live->last));
  memset(live->by_cpu, 0, sizeof(live->by_cpu));
  live->samples = live->strange = live->others = live->records = 0;
}

static void take(live_bpf_reader_t *live, uint32_t flags) {
  forget(live);
  assert_int_equal(uvperf_snapshot(&live->reader.handle, flags, NULL, NULL), 0);
}

/* -- contents ------------------------------------------------------------- */

static void records_come_by_snapshots_only(void **state) {
  uvperf_ring_info_t ring;
  live_bpf_reader_t live;

  begin(__func__, *state, &live, 64 * 1024);
  assert_int_equal(uvperf_is_active(&live.reader.handle), 0);
  assert_int_equal(uv_loop_alive(*state), 0);
  live_bpf_reader_send_all(&live, 0, 5);
  live_bpf_reader_send_all(&live, live_last_cpu(), 5);
  live_run_ms(*state, 20);
  assert_int_equal(live.records, 0);
  assert_int_equal(uvperf_flush(&live.reader.handle), UV_EINVAL);
  assert_int_equal(uvperf_ring(&live.reader.handle, 0, &ring), 0);
  assert_true(ring.waiting > 0);
  take(&live, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(live.samples, 10);
  assert_int_equal(live.remaining, 0);
  assert_int_equal(uvperf_ring(&live.reader.handle, 0, &ring), 0);
  assert_int_equal(ring.waiting, 0);
  assert_int_equal(ring.stats.slices, 0);
  take(&live, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(live.records, 0);
  take(&live, UVPERF_SNAPSHOT_OLDEST_FIRST | UVPERF_SNAPSHOT_ALL);
  assert_int_equal(live.samples, 10);
  live_bpf_reader_end(&live);
}

typedef struct newest_s {
  uint64_t number; /* of the first one received */
  uint64_t next;   /* the next one expected */
  uint64_t nr;
  uint64_t wrong;
} newest_t;

static void expect_descending(live_bpf_reader_t *live, int status,
                              const uvperf_record_t *sample) {
  newest_t *newest = live->hook_data;
  uint64_t number;

  if (status != 0 || sample->type == UVPERF_RECORD_NONE ||
      sample->sample.raw.size < sizeof(number)) {
    newest->wrong += status != 0;
    return;
  }
  memcpy(&number, sample->sample.raw.data, sizeof(number));
  if (newest->nr == 0)
    newest->number = number;
  else
    newest->wrong += number != newest->next;
  newest->next = number - 1;
  newest->nr++;
}

static void newest_of_a_ring_that_went_round_come_first(void **state) {
  size_t page = support_page_bytes();
  live_bpf_reader_t live;
  uvperf_stats_t stats;
  newest_t newest;
  int i;

  begin(__func__, *state, &live, page);
  for (i = 1; i <= 20; i++) {
    live_bpf_reader_send_all(&live, 0, 50 * (uint64_t)i);
    memset(&newest, 0, sizeof(newest));
    live.on_sample = expect_descending;
    live.hook_data = &newest;
    take(&live, i % 2 ? 0 : UVPERF_SNAPSHOT_NO_WAIT);
    assert_int_equal(newest.wrong, 0);
    assert_int_equal(newest.number, live.sent - 1);
    assert_true(newest.nr >= (i == 1 ? 50 : page / 40 / 2));
    assert_true(newest.nr <= page / 40);
  }
  uvperf_stats(&live.reader.handle, &stats);
  assert_int_equal(stats.corrupt, 0);
  assert_int_equal(stats.cut_records > 0, page % 40 != 0);
  live_bpf_reader_end(&live);
}

static void oldest_first_is_in_the_order_of_each_cpu(void **state) {
  live_bpf_reader_t live;
  int last = live_last_cpu();
  int i;

  begin(__func__, *state, &live, support_page_bytes());
  for (i = 0; i < 300; i++)
    assert_int_equal(
        live_bpf_reader_send(&live, i % 3 ? 0 : last, 16 + (size_t)i), 0);
  take(&live, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_true(live.by_cpu[0] > 0);
  assert_true(live.by_cpu[last] > 0);
  assert_int_equal(live.strange, 0);
  assert_int_equal(live.last[0] > live.last[last] ? live.last[0]
                                                  : live.last[last],
                   live.sent);
  live_bpf_reader_end(&live);
}

/* -- when ----------------------------------------------------------------- */

static void snapshot_refuses_invalid_arguments(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  live_bpf_reader_t live;

  options.flags = UVPERF_BPF_READER_OVERWRITE;
  live_bpf_reader_make(__func__, &live, 0);
  live_bpf_reader_open(*state, &live, &options);
  assert_int_equal(uvperf_snapshot(&live.reader.handle, 0, NULL, NULL),
                   UV_EINVAL);
  live_bpf_reader_start(&live, NULL);
  assert_int_equal(uvperf_snapshot(&live.reader.handle, 8, NULL, NULL),
                   UV_EINVAL);
  assert_int_equal(uvperf_snapshot(&live.reader.handle, 0, NULL, NULL), 0);
  live_bpf_reader_end(&live);
}

static void snapshot_works_after_stop_and_while_paused(void **state) {
  live_bpf_reader_t live;

  begin(__func__, *state, &live, 64 * 1024);
  live_bpf_reader_send_all(&live, 0, 3);
  assert_int_equal(uvperf_bpf_reader_unpublish(&live.reader, NULL), 0);
  assert_int_equal(live_bpf_reader_send(&live, 0, 24), -ENOENT);
  take(&live, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(live.samples, 3);
  assert_int_equal(uvperf_bpf_reader_publish(&live.reader, NULL), 0);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_int_equal(uvperf_stop(&live.reader.handle), 0);
  live_bpf_reader_send_all(&live, 0, 1);
  take(&live, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(live.samples, 2);
  live_bpf_reader_start(&live, NULL);
  live_bpf_reader_send_all(&live, 0, 2);
  take(&live, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(live.samples, 2);
  live_bpf_reader_end(&live);
}

static void on_done(uvperf_handle_t *base, int status) {
  live_bpf_reader_t *live = base->data;

  assert_int_equal(status, 0);
  *(uint64_t *)live->hook_data += 1;
}

/* With the slice limits of the last start, which does not read such rings. */
static void snapshot_started_comes_in_slices_of_all_cpus(void **state) {
  uvperf_stream_options_t options = live_bpf_reader_plain;
  live_bpf_reader_t live;
  uint64_t done = 0;

  begin(__func__, *state, &live, 64 * 1024);
  assert_int_equal(uvperf_stop(&live.reader.handle), 0);
  options.slice_records = 3;
  options.flags = UVPERF_START_SLICE_END;
  live_bpf_reader_start(&live, &options);
  live_bpf_reader_send_all(&live, 0, 5);
  live_bpf_reader_send_all(&live, live_last_cpu(), 5);
  live.hook_data = &done;
  fake_pool_hold();
  assert_int_equal(uvperf_snapshot(&live.reader.handle,
                                   UVPERF_SNAPSHOT_OLDEST_FIRST, on_done, NULL),
                   0);
  fake_pool_run();
  assert_true(live_run_until(*state, &done, 1));
  assert_int_equal(live.samples, 10);
  assert_int_equal(live.strange, 0);
  assert_int_equal(live.remaining, 0);
  assert_int_equal(live.slice_ends, 4);
  live_bpf_reader_end(&live);
}

/* -- in the callback ------------------------------------------------------ */

static void act_at_third(live_bpf_reader_t *live, int status,
                         const uvperf_record_t *sample) {
  const char *act = live->hook_data;
  uvperf_bpf_reader_t *reader = &live->reader;

  (void)status;
  (void)sample;
  assert_int_equal(uvperf_snapshot(&reader->handle, 0, NULL, NULL), UV_EBUSY);
  assert_int_equal(uvperf_snapshot(&reader->handle, 0, on_done, NULL),
                   UV_EBUSY);
  if (live->samples != 3)
    return;
  if (*act == 'x' || *act == 's')
    assert_int_equal(uvperf_stop(&reader->handle), 0);
  if (*act == 's')
    live_bpf_reader_start(live, NULL);
  if (*act == 'p')
    assert_int_equal(uvperf_bpf_reader_unpublish(reader, NULL), 0);
  if (*act == 'c')
    uvperf_close(&reader->handle, live_bpf_reader_on_close);
}

static void callback_may_end_the_snapshot(void **state) {
  static const char acts[] = "xspc";
  live_bpf_reader_t live;
  size_t i;

  for (i = 0; i < 4; i++) {
    begin(__func__, *state, &live, 64 * 1024);
    live.on_sample = act_at_third;
    live.hook_data = (void *)&acts[i];
    live_bpf_reader_send_all(&live, 0, 5);
    live_bpf_reader_send_all(&live, live_last_cpu(), 5);
    take(&live, UVPERF_SNAPSHOT_OLDEST_FIRST);
    assert_int_equal(live.samples, acts[i] == 'p' ? 10 : 3);
    if (acts[i] == 'c') {
      live_bpf_reader_wait_closed(&live);
      live_bpf_reader_unmake(&live);
    } else {
      live.on_sample = NULL;
      take(&live, UVPERF_SNAPSHOT_OLDEST_FIRST);
      assert_int_equal(live.samples, 0); /* the rest is gone */
      live_bpf_reader_end(&live);
    }
    fake_assert_clean();
  }
}

static void start_at_third(live_bpf_reader_t *live, int status,
                           const uvperf_record_t *sample) {
  (void)status;
  (void)sample;
  if (live->samples == 3)
    live_bpf_reader_start(live, NULL);
}

/* Only stop and close end the snapshot. */
static void callback_that_starts_has_the_rest_of_the_snapshot(void **state) {
  live_bpf_reader_t live;

  begin(__func__, *state, &live, 64 * 1024);
  live_bpf_reader_send_all(&live, 0, 8);
  assert_int_equal(uvperf_stop(&live.reader.handle), 0);
  live.on_sample = start_at_third;
  assert_int_equal(uvperf_snapshot(&live.reader.handle,
                                   UVPERF_SNAPSHOT_OLDEST_FIRST, NULL, NULL),
                   0);
  assert_int_equal(live.samples, 8);
  live_bpf_reader_end(&live);
}

/* -- failures ------------------------------------------------------------- */

static void snapshot_that_cannot_pause_delivers_nothing(void **state) {
  live_bpf_reader_t live;

  begin(__func__, *state, &live, 64 * 1024);
  live_bpf_reader_send_all(&live, 0, 3);
  live_bpf_reader_send_all(&live, live_last_cpu(), 3);
  fake_fail(FAKE_IOCTL, (unsigned)uvperf_nr_rings(&live.reader.handle),
            -EACCES);
  assert_int_equal(uvperf_snapshot(&live.reader.handle, 0, NULL, NULL),
                   UV_EACCES);
  assert_int_equal(live.records, 0);
  live_bpf_reader_send_all(&live, 0, 1); /* no ring is left paused */
  take(&live, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(live.samples, 7);
  live_bpf_reader_end(&live);
}

static void snapshot_that_cannot_resume_delivers_and_fails(void **state) {
  live_bpf_reader_t live;

  begin(__func__, *state, &live, 64 * 1024);
  live_bpf_reader_send_all(&live, 0, 3);
  fake_fail(FAKE_IOCTL, (unsigned)uvperf_nr_rings(&live.reader.handle) + 1,
            -EACCES);
  assert_int_equal(uvperf_snapshot(&live.reader.handle,
                                   UVPERF_SNAPSHOT_OLDEST_FIRST, NULL, NULL),
                   UV_EACCES);
  assert_int_equal(live.samples, 3);
  take(&live, 0); /* resumes it */
  live_bpf_reader_send_all(&live, 0, 1);
  take(&live, 0);
  assert_int_equal(live.samples, 1);
  live_bpf_reader_end(&live);
}

static void snapshot_without_memory_leaves_all_for_the_next(void **state) {
  live_bpf_reader_t live;
  unsigned nth;
  int rc = -1;

  begin(__func__, *state, &live, 64 * 1024);
  live_bpf_reader_send_all(&live, 0, 3);
  for (nth = 1; rc != 0; nth++) {
    fake_fail(FAKE_CALLOC, nth, 0);
    rc = uvperf_snapshot(&live.reader.handle, UVPERF_SNAPSHOT_OLDEST_FIRST,
                         NULL, NULL);
    assert_true(rc == 0 || rc == UV_ENOMEM);
    assert_int_equal(live.samples, rc == 0 ? 3 : 0);
  }
  assert_in_range(nth, 3, 100);
  live_bpf_reader_close(&live);
  fake_kernel_reset();
  live_bpf_reader_unmake(&live);
}

/* The child has the parent's image. */
static void fork_in_callback(live_bpf_reader_t *live, int status,
                             const uvperf_record_t *sample) {
  pid_t *pid = live->hook_data;

  (void)status;
  (void)sample;
  if (*pid != -1)
    return;
  fflush(NULL);
  *pid = fork();
  if (*pid != 0)
    return;
  if (uv_loop_fork(live->reader.handle.loop) != 0)
    _exit(1);
  if (uvperf_stop(&live->reader.handle) != UV_EPERM)
    _exit(2);
  uvperf_close(&live->reader.handle, NULL);
}

static void snapshot_forked_in_its_callback_is_clean(void **state) {
  live_bpf_reader_t live;
  pid_t pid = -1;
  int rc;

  begin(__func__, *state, &live, 64 * 1024);
  live_bpf_reader_send_all(&live, 0, 5);
  live.on_sample = fork_in_callback;
  live.hook_data = &pid;
  rc = uvperf_snapshot(&live.reader.handle, UVPERF_SNAPSHOT_OLDEST_FIRST, NULL,
                       NULL);
  if (pid == 0) {
    while (uv_run(*state, UV_RUN_DEFAULT) != 0)
      continue;
    _exit(rc == 0 && live.samples == 1 && live.reader.handle.impl == NULL &&
                  uv_loop_close(*state) == 0
              ? 0
              : 3);
  }
  assert_int_equal(support_wait(pid), 0);
  assert_int_equal(live.samples, 5);
  live_bpf_reader_send_all(&live, 0, 2);
  take(&live, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_int_equal(live.samples, 2);
  live_bpf_reader_end(&live);
}

#define LIVE(test)                                                             \
  support_loop_test_setup_teardown(test, fake_kernel_loop_setup,               \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      LIVE(records_come_by_snapshots_only),
      LIVE(newest_of_a_ring_that_went_round_come_first),
      LIVE(oldest_first_is_in_the_order_of_each_cpu),
      LIVE(snapshot_refuses_invalid_arguments),
      LIVE(snapshot_works_after_stop_and_while_paused),
      LIVE(snapshot_started_comes_in_slices_of_all_cpus),
      LIVE(callback_may_end_the_snapshot),
      LIVE(callback_that_starts_has_the_rest_of_the_snapshot),
      LIVE(snapshot_that_cannot_pause_delivers_nothing),
      LIVE(snapshot_that_cannot_resume_delivers_and_fails),
      LIVE(snapshot_without_memory_leaves_all_for_the_next),
      LIVE(snapshot_forked_in_its_callback_is_clean),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
