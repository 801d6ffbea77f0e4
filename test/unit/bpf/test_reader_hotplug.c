/* SPDX-License-Identifier: MIT */
/* Scripted: what a BPF reader does with CPUs whose ids have gaps, that have no
 * entry in the map, and that go and come, in a tree that replaces sysfs and
 * with the test's uevents. */
#include "scripted_reader.h"

#include <errno.h>

#include "make_cpus.h"
#include "fake_uevents.h"
#include "scripted_hotplug.h"
#include "util/alloc.h"

static void expect(scripted_reader_t *scripted, const char *cpu_events,
                   const char *entries) {
  hotplug_run(scripted->live.reader.handle.loop);
  assert_string_equal(scripted->live.cpu_events, cpu_events);
  assert_string_equal(scripted_reader_entries(scripted), entries);
}

static int status_of(const scripted_reader_t *scripted, int cpu) {
  return uvperf_bpf_reader_cpu_status(&scripted->live.reader, cpu);
}

/* -- which CPUs ----------------------------------------------------------- */

/* The key is the CPU's id, never its position. */
static void cpus_with_gaps_have_the_entries_of_their_ids(void **state) {
  scripted_reader_t scripted;
  uvperf_ring_info_t ring;

  make_cpus_list("0,2-5\n");
  scripted_reader_plan(&scripted, 8);
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(&scripted.live, NULL);
  expect(&scripted, "", "0 2 3 4 5");
  assert_int_equal(uvperf_nr_rings(&scripted.live.reader.handle), 5);
  assert_int_equal(uvperf_ring(&scripted.live.reader.handle, 1, &ring), 0);
  assert_int_equal(ring.cpu, 2);
  assert_int_equal(status_of(&scripted, 5), 0);
  assert_int_equal(status_of(&scripted, 1), UV_ENODEV);
  scripted_reader_sample(&scripted, scripted.events[9]);
  scripted_reader_wake(&scripted, scripted.events[9]);
  assert_int_equal(scripted.live.by_cpu[5], 1);
  scripted_reader_close(&scripted);
}

static void map_with_fewer_entries_has_the_cpus_below(void **state) {
  scripted_reader_t scripted;

  make_cpus_list("0,2-5\n");
  scripted_reader_plan(&scripted, 4);
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(&scripted.live, NULL);
  expect(&scripted, "", "0 2 3");
  assert_int_equal(status_of(&scripted, 4), UV_E2BIG);
  assert_int_equal(status_of(&scripted, 3), 0);
  scripted_reader_close(&scripted);
}

static void cpu_of_the_list_that_is_offline_is_waited_for(void **state) {
  scripted_reader_t scripted;

  scripted_reader_plan(&scripted, 8);
  scripted.options.cpus = "1,3";
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(&scripted.live, NULL);
  expect(&scripted, "", "1");
  assert_int_equal(status_of(&scripted, 3), UV_ENODEV);
  assert_int_equal(status_of(&scripted, 0), UV_ENOENT);
  hotplug_bring_up(3, "0-1,3\n");
  expect(&scripted, "3 0", "1 3");
  assert_int_equal(status_of(&scripted, 3), 0);
  scripted_reader_sample(&scripted, scripted.events[3]);
  scripted_reader_wake(&scripted, scripted.events[3]);
  assert_int_equal(scripted.live.by_cpu[3], 1);
  scripted_reader_close(&scripted);
}

static void no_cpu_that_the_map_has_is_enodev(void **state) {
  scripted_reader_t scripted;
  uvperf_error_t error;

  make_cpus_list("2-5\n");
  scripted_reader_plan(&scripted, 2);
  assert_int_equal(scripted_reader_try(*state, &scripted, &error), UV_ENODEV);
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_CPU);
  scripted_reader_end(&scripted);
}

/* -- CPUs that go and come ------------------------------------------------ */

static void cpu_that_goes_and_comes_is_put_into_the_map_again(void **state) {
  scripted_reader_t scripted;
  uvperf_stats_t stats;

  scripted_reader_begin(*state, &scripted);
  hotplug_run(*state);
  scripted_reader_sample(&scripted,
                         scripted.events[3]); /* which does not wake */
  hotplug_take_down(1, "0\n");
  expect(&scripted, "1 ENODEV", "0");
  /* Its ring is drained to its end. */
  assert_int_equal(scripted.live.by_cpu[1], 1);
  assert_int_equal(status_of(&scripted, 1), UV_ENODEV);
  hotplug_bring_up(1, "0-1\n");
  expect(&scripted, "1 ENODEV, 1 0", "0 1");
  assert_int_equal(status_of(&scripted, 1), 0);
  assert_int_equal(scripted.events[4]->cpu, 1);
  assert_int_equal(scripted.events[4]->enabled, 1);
  assert_int_equal(scripted.events[5]->opened, 0); /* the ring is the old one */
  assert_int_equal(uvperf_nr_rings(&scripted.live.reader.handle), 2);
  scripted_reader_sample(&scripted, scripted.events[3]);
  scripted_reader_wake(&scripted, scripted.events[3]);
  assert_int_equal(scripted.live.by_cpu[1], 2);
  uvperf_stats(&scripted.live.reader.handle, &stats);
  assert_int_equal(stats.cpus_gone, 1);
  assert_int_equal(stats.cpus_come, 1);
  scripted_reader_close(&scripted);
}

static void cpu_that_comes_for_the_first_time_gets_a_ring(void **state) {
  scripted_reader_t scripted;

  scripted_reader_begin(*state, &scripted);
  hotplug_bring_up(5, "0-1,5\n");
  expect(&scripted, "5 0", "0 1 5");
  assert_int_equal(uvperf_nr_rings(&scripted.live.reader.handle), 3);
  assert_int_equal(scripted.events[4]->cpu, 5);
  scripted_reader_sample(&scripted, scripted.events[5]);
  scripted_reader_wake(&scripted, scripted.events[5]);
  assert_int_equal(scripted.live.by_cpu[5], 1);
  scripted_reader_close(&scripted);
}

static void cpu_beyond_the_map_that_comes_is_an_error(void **state) {
  scripted_reader_t scripted;

  scripted_reader_begin(*state, &scripted);
  hotplug_bring_up(9, "0-1,9\n");
  expect(&scripted, "9 fails by E2BIG", "0 1");
  assert_non_null(strstr(scripted.live.error.reason, "max_entries"));
  assert_int_equal(scripted.events[4]->opened, 0);
  hotplug_take_down(9, "0-1\n");
  expect(&scripted, "9 fails by E2BIG, 9 ENODEV", "0 1");
  scripted_reader_close(&scripted);
}

static void cpu_that_is_not_in_the_list_is_not_reported(void **state) {
  scripted_reader_t scripted;
  uvperf_stats_t stats;

  scripted_reader_plan(&scripted, 8);
  scripted.options.cpus = "0";
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(&scripted.live, NULL);
  hotplug_take_down(1, "0\n");
  hotplug_bring_up(1, "0-1\n");
  hotplug_bring_up(2, "0-2\n");
  expect(&scripted, "", "0");
  uvperf_stats(&scripted.live.reader.handle, &stats);
  assert_int_equal(stats.cpus_gone + stats.cpus_come, 0);
  assert_int_equal(uvperf_nr_rings(&scripted.live.reader.handle), 1);
  scripted_reader_close(&scripted);
}

static void cpu_that_comes_is_in_the_map_as_the_others_are(void **state) {
  scripted_reader_t scripted;
  uvperf_bpf_reader_t *reader = &scripted.live.reader;

  scripted_reader_begin(*state, &scripted);
  assert_int_equal(uvperf_bpf_reader_unpublish(reader, NULL), 0);
  hotplug_bring_up(2, "0-2\n");
  expect(&scripted, "2 0", "");
  assert_int_equal(scripted.events[4]->enabled, 1);
  assert_int_equal(uvperf_bpf_reader_publish(reader, NULL), 0);
  expect(&scripted, "2 0", "0 1 2");
  assert_int_equal(uvperf_stop(&reader->handle), 0);
  expect(&scripted, "2 0", "0 1 2");
  scripted_reader_close(&scripted);
}

/* Each allocation that a new CPU needs: the other CPUs are not affected, and
 * the next try succeeds. */
static void cpu_that_comes_without_memory_is_an_error(void **state) {
  scripted_reader_t scripted;
  unsigned failures = 1;
  unsigned nth;

  for (nth = 1; failures != 0; nth++) {
    make_cpus_list("0-1\n");
    scripted_reader_begin(*state, &scripted);
    hotplug_run(*state);
    fake_fail(FAKE_CALLOC, nth, 0);
    hotplug_bring_up(2, "0-2\n");
    hotplug_run(*state);
    failures = fake_failures();
    if (failures == 0)
      uvperf__free(uvperf__calloc(1, 1));
    scripted_reader_sample(&scripted, scripted.events[3]);
    scripted_reader_wake(&scripted, scripted.events[3]);
    assert_int_equal(scripted.live.by_cpu[1], 1);
    hotplug_take_down(2, "0-1\n");
    hotplug_run(*state);
    hotplug_bring_up(2, "0-2\n");
    hotplug_run(*state);
    assert_int_equal(status_of(&scripted, 2), 0);
    assert_string_equal(scripted_reader_entries(&scripted), "0 1 2");
    hotplug_take_down(2, "0-1\n");
    scripted_reader_close(&scripted);
  }
  assert_in_range(nth, 3, 30);
}

/* -- when ----------------------------------------------------------------- */

static void reader_of_fixed_cpus_follows_no_cpu(void **state) {
  scripted_reader_t scripted;

  scripted_reader_plan(&scripted, 8);
  scripted.options.flags = UVPERF_BPF_READER_FIXED_CPUS;
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(&scripted.live, NULL);
  hotplug_take_down(1, "0\n");
  hotplug_bring_up(1, "0-1\n");
  hotplug_bring_up(2, "0-2\n");
  expect(&scripted, "", "0 1");
  assert_int_equal(fake_uevents_reads(), 0);
  assert_int_equal(status_of(&scripted, 2), UV_ENOENT);
  scripted_reader_close(&scripted);
}

/* Also with overwritable rings, for which nothing wakes. */
static void overwritable_rings_follow_the_cpus(void **state) {
  scripted_reader_t scripted;

  scripted_reader_plan(&scripted, 8);
  scripted.options.flags = UVPERF_BPF_READER_OVERWRITE;
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(&scripted.live, NULL);
  assert_int_equal(uv_loop_alive(*state), 0);
  hotplug_take_down(1, "0\n");
  hotplug_bring_up(2, "0,2\n");
  expect(&scripted, "1 ENODEV, 2 0", "0 2");
  assert_int_equal(scripted.events[4]->attr.write_backward, 1);
  assert_int_equal(uvperf_snapshot(&scripted.live.reader.handle,
                                   UVPERF_SNAPSHOT_NO_WAIT, NULL, NULL),
                   0);
  scripted_reader_close(&scripted);
}

static void reader_without_sysfs_is_not_started(void **state) {
  scripted_reader_t scripted;
  uvperf_error_t error;

  make_cpus_list("");
  scripted_reader_plan(&scripted, 8);
  scripted.options.cpus = "0-1";
  if (scripted_reader_try(*state, &scripted, &error) == 0) {
    assert_int_not_equal(uvperf_start(&scripted.live.reader.handle, NULL,
                                      live_bpf_reader_on_sample, &error),
                         0);
    assert_non_null(strstr(error.reason, "UVPERF_BPF_READER_FIXED_CPUS"));
    assert_int_equal(uvperf_is_active(&scripted.live.reader.handle), 0);
    live_bpf_reader_close(&scripted.live);
  }
  assert_int_equal(error.cause, UVPERF_CAUSE_NO_CPU);
  scripted_reader_end(&scripted);
}

/* -- in the callback ------------------------------------------------------ */

static void fork_there(live_bpf_reader_t *live, int cpu, int status) {
  (void)live;
  (void)cpu;
  (void)status;
  fake_process(4711);
}

/* Two that go at once. */
static void reader_forked_when_the_first_of_two_went_stops_there(void **s) {
  scripted_reader_t scripted;

  make_cpus_bring_up(2);
  make_cpus_list("0-2\n");
  scripted_reader_begin(*s, &scripted);
  scripted.live.on_cpu = fork_there;
  make_cpus_take_down(1);
  hotplug_take_down(2, "0\n");
  expect(&scripted, "1 ENODEV", "0 2");
  live_bpf_reader_close(&scripted.live);
  fake_process(0);
  fake_kernel_reset();
}

#define CPU(test) scripted_reader_test(test)

/* The new event of a CPU that comes back begins at 0. */
static void lost_records_are_kept_when_a_cpu_is_back(void **state) {
  uint64_t words[2][2] = {{0, 7}, {0, 2}};
  scripted_reader_t scripted;
  uvperf_stats_t stats;

  scripted_reader_knows_lost(1);
  scripted_reader_plan(&scripted, 8);
  scripted.events[2]->read_data = words[0];
  scripted.events[2]->read_size = sizeof(words[0]);
  scripted.events[4]->read_data = words[1];
  scripted.events[4]->read_size = sizeof(words[1]);
  scripted_reader_open(*state, &scripted);
  live_bpf_reader_start(&scripted.live, NULL);
  expect(&scripted, "", "0 1");
  uvperf_stats(&scripted.live.reader.handle, &stats);
  assert_int_equal(stats.lost_records, 7);
  words[0][1] = 9;
  hotplug_take_down(1, "0\n");
  expect(&scripted, "1 ENODEV", "0");
  hotplug_bring_up(1, "0-1\n");
  expect(&scripted, "1 ENODEV, 1 0", "0 1");
  /* Otherwise the kernel is not asked twice in 100 ms. */
  assert_int_equal(uvperf_stop(&scripted.live.reader.handle), 0);
  uvperf_stats(&scripted.live.reader.handle, &stats);
  assert_int_equal(stats.lost_records, 11);
  scripted_reader_close(&scripted);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      CPU(cpus_with_gaps_have_the_entries_of_their_ids),
      CPU(lost_records_are_kept_when_a_cpu_is_back),
      CPU(map_with_fewer_entries_has_the_cpus_below),
      CPU(cpu_of_the_list_that_is_offline_is_waited_for),
      CPU(no_cpu_that_the_map_has_is_enodev),
      CPU(cpu_that_goes_and_comes_is_put_into_the_map_again),
      CPU(cpu_that_comes_for_the_first_time_gets_a_ring),
      CPU(cpu_beyond_the_map_that_comes_is_an_error),
      CPU(cpu_that_is_not_in_the_list_is_not_reported),
      CPU(cpu_that_comes_is_in_the_map_as_the_others_are),
      CPU(cpu_that_comes_without_memory_is_an_error),
      CPU(reader_of_fixed_cpus_follows_no_cpu),
      CPU(overwritable_rings_follow_the_cpus),
      CPU(reader_without_sysfs_is_not_started),
      CPU(reader_forked_when_the_first_of_two_went_stops_there),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
