/* SPDX-License-Identifier: MIT */
/* Events in a map of this kernel: the output of programs arrives in the ring of
 * their CPU. */
#include "support.h"

#include <errno.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "bpf/outputs.h"
#include "fake_kernel.h"
#include "live.h"
#include "live_bpf_array.h"
#include "sys/bpf.h"
#include "uvperf.h"

static const uvperf__bpf_outputs_options_t defaults = {.map_fd = -1};

static uvperf__bpf_outputs_t *
make(const uvperf__bpf_outputs_options_t *options) {
  uvperf__bpf_outputs_t *outputs;
  uvperf_error_t error;

  if (uvperf__bpf_outputs_new(&outputs, options, &error) != 0)
    fail_msg("%s", error.reason);
  return outputs;
}

static uvperf__bpf_outputs_t *make_of(int map) {
  uvperf__bpf_outputs_options_t options = defaults;

  options.map_fd = map;
  return make(&options);
}

static void start(uvperf__bpf_outputs_t *outputs) {
  uvperf_error_t error;

  if (uvperf__bpf_outputs_enable(outputs, &error) != 0 ||
      uvperf__bpf_outputs_put(outputs, &error) != 0)
    fail_msg("%s", error.reason);
}

/* A map, events in it, and a program that hands out to it. */
typedef struct fixture_s {
  int map; /* the test's to make */
  uvperf__bpf_outputs_t *outputs;
  live_bpf_output_t output;
} fixture_t;

/* Does not start; NULL: the defaults. */
static void open_fixture(fixture_t *fixture,
                         const uvperf__bpf_outputs_options_t *options) {
  uvperf__bpf_outputs_options_t of_map = options == NULL ? defaults : *options;

  of_map.map_fd = fixture->map;
  fixture->outputs = make(&of_map);
  live_bpf_output_open(&fixture->output, fixture->map);
}

static void begin(fixture_t *fixture,
                  const uvperf__bpf_outputs_options_t *options) {
  open_fixture(fixture, options);
  start(fixture->outputs);
}

static void end(fixture_t *fixture) {
  live_bpf_output_close(&fixture->output);
  uvperf__bpf_outputs_free(fixture->outputs);
  close(fixture->map);
}

/* Returns the result of a program that sends the byte 7. */
static int hand_out(const fixture_t *fixture, int cpu) {
  static const uint8_t byte = 7;

  return live_bpf_output_on(&fixture->output, cpu, &byte, 1);
}

/* How many samples are in the ring of a CPU; each must begin with this byte. */
static uint64_t count(uvperf__bpf_outputs_t *outputs, int cpu, uint8_t byte) {
  static uint8_t scratch[UVPERF__RING_SCRATCH_BYTES];
  uvperf__cpu_ring_t *ring =
      uvperf__cpu_rings_find(uvperf__bpf_outputs_rings(outputs), cpu);
  const uvperf_record_t *record;
  const void *bytes;
  uint64_t nr = 0;
  size_t size;

  assert_non_null(ring);
  assert_int_equal(uvperf__ring_begin(&ring->ring), 0);
  while (uvperf__ring_next(&ring->ring, scratch, &bytes, &size) == 1) {
    assert_int_equal(uvperf_decode(uvperf__bpf_outputs_decoder(outputs), bytes,
                                   size, &record),
                     0);
    if (record->type == PERF_RECORD_SAMPLE) {
      assert_true(record->sample.raw.size > 0);
      assert_int_equal(*(const uint8_t *)record->sample.raw.data, byte);
      nr++;
    }
    uvperf__ring_consume(&ring->ring, size);
  }
  uvperf__ring_end(&ring->ring);
  return nr;
}

/* -- programs ------------------------------------------------------------- */

static void program_writes_into_the_ring_of_its_cpu(void **state) {
  fixture_t fixture = {.map = live_bpf_array_make(__func__, 0)};
  uint8_t byte;
  int cpus[64];
  size_t nr = live_cpus(cpus, 64);
  size_t i;

  (void)state;
  open_fixture(&fixture, NULL);
  for (i = 0; i < nr; i++)
    assert_int_equal(hand_out(&fixture, cpus[i]), -ENOENT);
  start(fixture.outputs);
  assert_true(uvperf__bpf_outputs_are_put(fixture.outputs));
  for (i = 0; i < nr; i++) {
    byte = (uint8_t)(i + 1);
    assert_int_equal(live_bpf_output_on(&fixture.output, cpus[i], &byte, 1), 0);
    assert_int_equal(live_bpf_output_on(&fixture.output, cpus[i], &byte, 1), 0);
    assert_int_equal(uvperf__bpf_outputs_cpu_status(fixture.outputs, cpus[i]),
                     0);
  }
  for (i = 0; i < nr; i++)
    assert_int_equal(count(fixture.outputs, cpus[i], (uint8_t)(i + 1)), 2);
  end(&fixture);
}

static void take_gives_programs_enoent_and_put_goes_on(void **state) {
  fixture_t fixture = {.map = live_bpf_array_make(__func__, 0)};
  int turn;

  (void)state;
  begin(&fixture, NULL);
  for (turn = 0; turn < 3; turn++) {
    assert_int_equal(hand_out(&fixture, 0), 0);
    assert_int_equal(uvperf__bpf_outputs_take(fixture.outputs, NULL), 0);
    assert_int_equal(uvperf__bpf_outputs_take(fixture.outputs, NULL), 0);
    assert_int_equal(hand_out(&fixture, 0), -ENOENT);
    assert_int_equal(uvperf__bpf_outputs_put(fixture.outputs, NULL), 0);
    assert_int_equal(uvperf__bpf_outputs_put(fixture.outputs, NULL), 0);
  }
  assert_int_equal(count(fixture.outputs, 0, 7), 3);
  end(&fixture);
}

static void map_with_one_entry_has_cpu_0_alone(void **state) {
  fixture_t fixture = {.map = live_bpf_array_make(__func__, 1)};
  int last = live_last_cpu();

  (void)state;
  begin(&fixture, NULL);
  assert_int_equal(
      uvperf__cpu_rings_nr(uvperf__bpf_outputs_rings(fixture.outputs)), 1);
  assert_int_equal(hand_out(&fixture, 0), 0);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(fixture.outputs, 0), 0);
  if (last != 0) {
    assert_int_equal(hand_out(&fixture, last), -E2BIG);
    assert_int_equal(uvperf__bpf_outputs_cpu_status(fixture.outputs, last),
                     -E2BIG);
  }
  assert_int_equal(uvperf__bpf_outputs_cpu_status(fixture.outputs, 60000),
                   -ENOENT);
  end(&fixture);
}

static void map_fd_may_be_closed_at_once(void **state) {
  fixture_t fixture = {.map = live_bpf_array_make(__func__, 0)};

  (void)state;
  open_fixture(&fixture, NULL);
  close(fixture.map);
  start(fixture.outputs);
  assert_int_equal(hand_out(&fixture, 0), 0);
  assert_int_equal(count(fixture.outputs, 0, 7), 1);
  uvperf__bpf_outputs_free(fixture.outputs);
  assert_int_equal(hand_out(&fixture, 0), -ENOENT);
  live_bpf_output_close(&fixture.output);
}

/* If the file is shared, the entries are removed one by one. */
static void shared_map_fd_may_be_closed_at_once(void **state) {
  fixture_t fixture = {.map = live_bpf_array_make(__func__, 0)};

  (void)state;
  fake_fail(FAKE_BPF_MAP_BY_ID, 1, -EPERM);
  begin(&fixture, NULL);
  assert_int_equal(hand_out(&fixture, 0), 0);
  uvperf__bpf_outputs_free(fixture.outputs);
  assert_int_equal(hand_out(&fixture, 0), -ENOENT);
  live_bpf_output_close(&fixture.output);
  close(fixture.map);
}

/* A daemon that is replaced by a new one: each writes while it is there. */
static void second_reader_takes_over(void **state) {
  uvperf__bpf_outputs_t *old;
  fixture_t fixture;

  (void)state;
  live_bpf_array_need_files(__func__);
  fixture.map = live_bpf_array_make(__func__, 0);
  old = make_of(fixture.map);
  open_fixture(&fixture, NULL);
  start(old);
  assert_int_equal(hand_out(&fixture, 0), 0);
  start(fixture.outputs);
  assert_int_equal(hand_out(&fixture, 0), 0);
  uvperf__bpf_outputs_leave_map(old);
  assert_int_equal(hand_out(&fixture, 0), 0);
  assert_int_equal(count(old, 0, 7), 1);
  assert_int_equal(count(fixture.outputs, 0, 7), 2);
  uvperf__bpf_outputs_free(old);
  assert_int_equal(hand_out(&fixture, 0), 0);
  assert_int_equal(count(fixture.outputs, 0, 7), 1);
  uvperf__bpf_outputs_free(fixture.outputs);
  assert_int_equal(hand_out(&fixture, 0), -ENOENT);
  live_bpf_output_close(&fixture.output);
  close(fixture.map);
}

static void disabled_events_answer_programs_by_an_error(void **state) {
  fixture_t fixture = {.map = live_bpf_array_make(__func__, 0)};

  (void)state;
  open_fixture(&fixture, NULL);
  assert_int_equal(uvperf__bpf_outputs_put(fixture.outputs, NULL), 0);
  assert_int_equal(hand_out(&fixture, 0), -EOPNOTSUPP);
  assert_int_equal(uvperf__bpf_outputs_enable(fixture.outputs, NULL), 0);
  assert_int_equal(hand_out(&fixture, 0), 0);
  uvperf__bpf_outputs_disable(fixture.outputs);
  assert_int_equal(hand_out(&fixture, 0), -EOPNOTSUPP);
  assert_int_equal(count(fixture.outputs, 0, 7), 1);
  end(&fixture);
}

/* -- wakeups -------------------------------------------------------------- */

static int poll_owner(uvperf__bpf_outputs_t *outputs, int timeout_ms) {
  struct pollfd pfd = {
      uvperf__cpu_rings_find(uvperf__bpf_outputs_rings(outputs), 0)->fd, POLLIN,
      0};

  assert_true(poll(&pfd, 1, timeout_ms) >= 0);
  return pfd.revents;
}

/* This number of samples of CPU 0 wakes a poller, and one less does not. */
static void wakes_at(const uvperf__bpf_outputs_options_t *options, unsigned nr,
                     const live_bpf_output_t *output) {
  uvperf__bpf_outputs_t *outputs = make(options);
  uint8_t byte = 7;
  unsigned i;

  start(outputs);
  for (i = 0; i < nr; i++) {
    assert_int_equal(poll_owner(outputs, 0), 0);
    assert_int_equal(live_bpf_output_on(output, 0, &byte, 1), 0);
  }
  assert_int_equal(poll_owner(outputs, 20000), POLLIN);
  uvperf__bpf_outputs_free(outputs);
}

static void samples_wake_by_their_number_or_their_bytes(void **state) {
  int map = live_bpf_array_make(__func__, 0);
  uvperf__bpf_outputs_options_t options = defaults;
  live_bpf_output_t output;

  (void)state;
  live_bpf_output_open(&output, map);
  options.map_fd = map;
  options.wakeup_events = 1;
  wakes_at(&options, 1, &output);
  options.wakeup_events = 3;
  wakes_at(&options, 3, &output);
  options.wakeup_events = 0;
  /* Header and size take 12 bytes, and the kernel pads: 16 for a byte. */
  options.wakeup_bytes = 1;
  wakes_at(&options, 1, &output);
  options.wakeup_bytes = 40;
  wakes_at(&options, 3, &output);
  options.wakeup_bytes = 0;
  options.ring_bytes = support_page_bytes();
  wakes_at(&options, (unsigned)support_page_bytes() / 4 / 16 + 1, &output);
  live_bpf_output_close(&output);
  close(map);
}

static void samples_without_wakeups_wake_no_process(void **state) {
  int map = live_bpf_array_make(__func__, 0);
  uvperf__bpf_outputs_options_t options = defaults;
  uvperf__bpf_outputs_t *outputs;
  live_bpf_output_t output;
  uint8_t byte = 7;

  (void)state;
  live_bpf_output_open(&output, map);
  options.map_fd = map;
  /* More than fit into any ring: in the kernel a negative number. */
  options.wakeup_events = UINT32_MAX;
  for (; options.overwrite <= 1; options.overwrite++) {
    outputs = make(&options);
    start(outputs);
    assert_int_equal(live_bpf_output_on(&output, 0, &byte, 1), 0);
    assert_int_equal(poll_owner(outputs, 50), 0);
    uvperf__bpf_outputs_free(outputs);
    options.wakeup_events = 1;
  }
  live_bpf_output_close(&output);
  close(map);
}

/* They do not count as events. */
static void records_beside_samples_wake_too(void **state) {
  int map = live_bpf_array_make(__func__, 0);
  uvperf__bpf_outputs_options_t options = defaults;
  uvperf__bpf_outputs_t *outputs;
  struct perf_event_attr attr;
  uint64_t next = 0;
  cpu_set_t old;

  (void)state;
  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_type = PERF_SAMPLE_RAW;
  attr.comm = 1;
  options.map_fd = map;
  options.attr = &attr;
  options.wakeup_events = 1;
  outputs = make(&options);
  start(outputs);
  live_pin(0, &old);
  live_comm(&next, 1);
  live_unpin(&old);
  assert_int_equal(poll_owner(outputs, 20000), POLLIN);
  uvperf__bpf_outputs_free(outputs);
  close(map);
}

/* -- the user's attr ------------------------------------------------------ */

static uvperf__ring_t *ring_of_cpu_0(const fixture_t *fixture) {
  return &uvperf__cpu_rings_find(uvperf__bpf_outputs_rings(fixture->outputs), 0)
              ->ring;
}

static void attr_of_the_user_adds_fields_to_each_sample(void **state) {
  static uint8_t scratch[UVPERF__RING_SCRATCH_BYTES];
  fixture_t fixture = {.map = live_bpf_array_make(__func__, 0)};
  uvperf__bpf_outputs_options_t options = defaults;
  uint64_t before = live_now();
  const uvperf_record_t *record;
  struct perf_event_attr attr;
  uvperf__ring_t *ring;
  const void *bytes;
  size_t size;

  (void)state;
  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_type =
      PERF_SAMPLE_RAW | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_TID;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  options.attr = &attr;
  begin(&fixture, &options);
  assert_int_equal(hand_out(&fixture, 0), 0);
  ring = ring_of_cpu_0(&fixture);
  assert_int_equal(uvperf__ring_begin(ring), 0);
  assert_int_equal(uvperf__ring_next(ring, scratch, &bytes, &size), 1);
  assert_int_equal(uvperf_decode(uvperf__bpf_outputs_decoder(fixture.outputs),
                                 bytes, size, &record),
                   0);
  assert_int_equal(record->cpu, 0);
  assert_int_equal(record->tid, live_tid());
  assert_true(record->time >= before && record->time <= live_now());
  assert_int_equal(*(const uint8_t *)record->sample.raw.data, 7);
  end(&fixture);
}

static void overwritable_rings_are_written_backward(void **state) {
  fixture_t fixture = {.map = live_bpf_array_make(__func__, 0)};
  uvperf__bpf_outputs_options_t options = defaults;

  (void)state;
  options.overwrite = 1;
  begin(&fixture, &options);
  assert_int_equal(hand_out(&fixture, 0), 0);
  assert_true((int64_t)uvperf__ring_head(ring_of_cpu_0(&fixture)) < 0);
  end(&fixture);
}

/* -- CPUs ----------------------------------------------------------------- */

/* As if it had gone and come back: the kernel's own event is still alive. */
static void cpu_that_comes_back_goes_on_in_its_ring(void **state) {
  fixture_t fixture = {.map = live_bpf_array_make(__func__, 0)};
  size_t nr, fds;

  (void)state;
  begin(&fixture, NULL);
  nr = uvperf__cpu_rings_nr(uvperf__bpf_outputs_rings(fixture.outputs));
  fds = support_count_fds();
  assert_int_equal(hand_out(&fixture, 0), 0);
  uvperf__bpf_outputs_cpu_gone(fixture.outputs, 0);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(fixture.outputs, 0), -ENODEV);
  assert_int_equal(hand_out(&fixture, 0), -ENOENT);
  assert_int_equal(uvperf__bpf_outputs_cpu_come(fixture.outputs, 0, NULL), 0);
  assert_int_equal(uvperf__bpf_outputs_cpu_status(fixture.outputs, 0), 0);
  assert_int_equal(hand_out(&fixture, 0), 0);
  assert_int_equal(count(fixture.outputs, 0, 7), 2);
  assert_int_equal(
      uvperf__cpu_rings_nr(uvperf__bpf_outputs_rings(fixture.outputs)), nr);
  assert_int_equal(support_count_fds(), fds);
  end(&fixture);
}

/* -- fork ----------------------------------------------------------------- */

static int free_copy(void *arg) {
  uvperf__bpf_outputs_free(arg);
  return 0;
}

static void free_in_a_forked_child_leaves_the_parents(void **state) {
  int map = live_bpf_array_make(__func__, 0);
  uvperf__bpf_outputs_t *outputs;
  live_bpf_output_t output;
  uint8_t byte = 7;
  int shared;

  (void)state;
  live_bpf_output_open(&output, map);
  for (shared = 0; shared < 2; shared++) {
    if (shared)
      fake_fail(FAKE_BPF_MAP_BY_ID, 1, -EPERM);
    outputs = make_of(map);
    start(outputs);
    assert_int_equal(support_wait(support_fork(free_copy, outputs)), 0);
    assert_int_equal(live_bpf_output_on(&output, 0, &byte, 1), 0);
    assert_int_equal(count(outputs, 0, 7), 1);
    uvperf__bpf_outputs_free(outputs);
    assert_int_equal(live_bpf_output_on(&output, 0, &byte, 1), -ENOENT);
  }
  live_bpf_output_close(&output);
  close(map);
}

static void do_nothing(void *arg) {
  (void)arg;
}

/* It has the file of the map, and entries go with the last fd of that: until
 * then they are of events that are off. */
static void free_while_a_forked_child_has_all_silences_it(void **state) {
  live_worker_t worker;
  fixture_t fixture;

  (void)state;
  live_bpf_array_need_files(__func__);
  fixture.map = live_bpf_array_make(__func__, 0);
  begin(&fixture, NULL);
  live_worker_fork(&worker, do_nothing, NULL);
  uvperf__bpf_outputs_free(fixture.outputs);
  assert_int_equal(hand_out(&fixture, 0), -EOPNOTSUPP);
  live_worker_end(&worker);
  assert_int_equal(hand_out(&fixture, 0), -ENOENT);
  live_bpf_output_close(&fixture.output);
  close(fixture.map);
}

#define live_test(f) cmocka_unit_test_setup(f, fake_kernel_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      live_test(program_writes_into_the_ring_of_its_cpu),
      live_test(take_gives_programs_enoent_and_put_goes_on),
      live_test(map_with_one_entry_has_cpu_0_alone),
      live_test(map_fd_may_be_closed_at_once),
      live_test(shared_map_fd_may_be_closed_at_once),
      live_test(second_reader_takes_over),
      live_test(disabled_events_answer_programs_by_an_error),
      live_test(samples_wake_by_their_number_or_their_bytes),
      live_test(samples_without_wakeups_wake_no_process),
      live_test(records_beside_samples_wake_too),
      live_test(attr_of_the_user_adds_fields_to_each_sample),
      live_test(overwritable_rings_are_written_backward),
      live_test(cpu_that_comes_back_goes_on_in_its_ring),
      live_test(free_in_a_forked_child_leaves_the_parents),
      live_test(free_while_a_forked_child_has_all_silences_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
