/* SPDX-License-Identifier: MIT */
/* A BPF reader whose CPUs go and come back while programs run there. Takes a
 * CPU offline, so it runs only with UVPERF_TEST_OFFLINE_CPU=1. */
#include "live_bpf_reader.h"

#include "live_offline_cpu.h"

static void expect_cpu_events(uv_loop_t *loop, live_bpf_reader_t *live,
                              uint64_t nr) {
  assert_true(live_run_until(loop, &live->nr_cpu_events, nr));
  assert_int_equal(live->nr_cpu_events, nr);
}

static void expect_samples(uv_loop_t *loop, live_bpf_reader_t *live, int cpu) {
  live_bpf_reader_send_all(live, cpu, 3);
  live_bpf_reader_send_all(live, 0, 3);
  assert_true(live_run_until(loop, &live->samples, live->sent));
  assert_int_equal(live->strange + live->faults + live->corrupt, 0);
}

/* The kernel turns its event off for good. */
static void reader_reads_programs_on_a_cpu_that_is_back(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  live_bpf_reader_t live;
  size_t nr_rings;
  uint64_t nth;

  live_bpf_reader_begin(__func__, *state, &live);
  nr_rings = uvperf_nr_rings(&live.reader.handle);
  expect_samples(*state, &live, cpu);
  for (nth = 1; nth <= 4; nth++) {
    live_offline_cpu_take(cpu);
    if (nth % 2) { /* or both are noticed at once */
      expect_cpu_events(*state, &live, 2 * nth - 1);
      assert_int_equal(uvperf_bpf_reader_cpu_status(&live.reader, cpu),
                       UV_ENODEV);
    }
    live_offline_cpu_give_back(cpu);
    expect_cpu_events(*state, &live, 2 * nth);
    assert_int_equal(uvperf_bpf_reader_cpu_status(&live.reader, cpu), 0);
    expect_samples(*state, &live, cpu);
  }
  assert_int_equal(uvperf_nr_rings(&live.reader.handle), nr_rings);
  live_bpf_reader_end(&live);
}

static void records_written_before_a_cpu_went_come(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  live_bpf_reader_t live;

  options.wakeup_events = 1000;
  live_bpf_reader_begin_with(__func__, *state, &live, &options);
  live_run_ms(*state, 5);
  live_bpf_reader_send_all(&live, cpu, 5);
  live_offline_cpu_take(cpu);
  assert_true(live_run_until(*state, &live.samples, 5));
  live_offline_cpu_give_back(cpu);
  expect_cpu_events(*state, &live, 2);
  live_bpf_reader_end(&live);
}

static void cpu_that_was_offline_at_init_is_read_later(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  live_bpf_reader_t live;
  size_t nr_rings;

  live_offline_cpu_take(cpu);
  live_bpf_reader_begin(__func__, *state, &live);
  nr_rings = uvperf_nr_rings(&live.reader.handle);
  assert_int_equal(uvperf_bpf_reader_cpu_status(&live.reader, cpu), UV_ENODEV);
  live_bpf_reader_send_all(&live, 0, 1);
  assert_true(live_run_until(*state, &live.samples, 1));
  live_offline_cpu_give_back(cpu);
  expect_cpu_events(*state, &live, 1);
  assert_int_equal(uvperf_nr_rings(&live.reader.handle), nr_rings + 1);
  expect_samples(*state, &live, cpu);
  live_bpf_reader_end(&live);
}

/* Paused, stopped and overwritable. */
static void cpu_that_is_back_is_in_the_map_as_the_others_are(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  live_bpf_reader_t live;

  live_bpf_reader_begin(__func__, *state, &live);
  live_run_ms(*state, 5);
  assert_int_equal(uvperf_bpf_reader_unpublish(&live.reader, NULL), 0);
  live_offline_cpu_bounce(cpu);
  expect_cpu_events(*state, &live, 2);
  assert_int_equal(live_bpf_reader_send(&live, cpu, 24), -ENOENT);
  assert_int_equal(uvperf_bpf_reader_publish(&live.reader, NULL), 0);
  expect_samples(*state, &live, cpu);
  /* A stopped reader does not follow CPUs: the event that is in the map is the
   * one that has stopped with its CPU. */
  assert_int_equal(uvperf_stop(&live.reader.handle), 0);
  live_offline_cpu_bounce(cpu);
  assert_int_equal(live_bpf_reader_send(&live, cpu, 24), -EOPNOTSUPP);
  live_bpf_reader_start(&live, NULL);
  expect_cpu_events(*state, &live, 4);
  expect_samples(*state, &live, cpu);
  live_bpf_reader_end(&live);
}

static void overwritable_ring_of_a_cpu_that_is_back_has_all(void **state) {
  int cpu = live_offline_cpu_need(__func__);
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  live_bpf_reader_t live;
  int i;

  options.flags = UVPERF_BPF_READER_OVERWRITE;
  live_bpf_reader_begin_with(__func__, *state, &live, &options);
  live_run_ms(*state, 5);
  live_bpf_reader_send_all(&live, cpu, 5);
  live_offline_cpu_bounce(cpu);
  /* It does not keep the loop alive. */
  for (i = 0; i < 2000 && live.nr_cpu_events < 2; i++)
    live_run_ms(*state, 5);
  assert_int_equal(live.nr_cpu_events, 2);
  live_bpf_reader_send_all(&live, cpu, 5);
  assert_int_equal(uvperf_snapshot(&live.reader.handle,
                                   UVPERF_SNAPSHOT_OLDEST_FIRST, NULL, NULL),
                   0);
  assert_int_equal(live.samples, 10);
  live_bpf_reader_end(&live);
}

#define LIVE(test) support_loop_test(test)

int main(void) {
  const struct CMUnitTest tests[] = {
      LIVE(reader_reads_programs_on_a_cpu_that_is_back),
      LIVE(records_written_before_a_cpu_went_come),
      LIVE(cpu_that_was_offline_at_init_is_read_later),
      LIVE(cpu_that_is_back_is_in_the_map_as_the_others_are),
      LIVE(overwritable_ring_of_a_cpu_that_is_back_has_all),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
