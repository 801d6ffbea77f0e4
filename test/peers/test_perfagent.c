/* SPDX-License-Identifier: MIT */
/* What perf-agent's package perfevent does for its profilers is done here with
 * sets: a clock or cycles on each CPU with a BPF program, and the mistakes in
 * its source. The whole list is in ORIGINS. */
#include "live_bpf.h"
#include "live_set.h"
#include "other_kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* PERF_FORMAT_LOST, which older headers lack. */
#define READ_LOST (1u << 4)

/* -- OpenAll, scripted ---------------------------------------------------- */

/* Plans a clock at 99 Hz on these CPUs. */
static void plan_clock(live_plan_t *plan, const char *cpus) {
  live_plan_begin(plan);
  live_plan_software(plan, PERF_COUNT_SW_CPU_CLOCK);
  plan->attrs[0].sample_freq = 99;
  plan->attrs[0].freq = 1;
  live_plan_target(plan, UVPERF_TARGET_CPUS)->cpus = cpus;
}

static void add_events(fake_event_t **events, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++)
    events[i] = fake_event_add(100 + i);
}

/* The fd is not a program's, but the fake kernel accepts any fd. */
static int some_program(void) {
  int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

  assert_true(fd >= 0);
  return fd;
}

static void check_clock(const fake_event_t *event, int cpu) {
  assert_int_equal(event->pid, -1);
  assert_int_equal(event->cpu, cpu);
  assert_int_equal(event->attr.sample_freq, 99);
  assert_int_equal(event->attr.freq, 1);
  assert_int_equal(event->attr.disabled, 1);
  assert_int_equal(event->flags, PERF_FLAG_FD_CLOEXEC);
}

static void open_all_leaves_out_the_cpu_that_is_offline(void **state) {
  const uvperf_set_failure_t *failures;
  int program = some_program();
  fake_event_t *events[2];
  live_plan_t plan;
  live_set_t live;
  size_t nr;

  add_events(events, 2);
  plan_clock(&plan, "0-2");
  fake_fail(FAKE_OPEN, 2, -ENODEV);
  live_set_open(*state, &live, &plan.options);
  assert_int_equal(uvperf_set_nr_open(&live.set), 2);
  check_clock(events[0], 0);
  check_clock(events[1], 2);
  failures = uvperf_set_failures(&live.set, &nr);
  assert_int_equal(nr, 1);
  assert_int_equal(failures[0].cpu, 1);
  assert_int_equal(failures[0].error.code, UV_ENODEV);
  assert_int_equal(uvperf_attach_bpf(&live.set.handle, 0, program, 0, NULL), 0);
  assert_true(events[0]->link >= 0 && events[1]->link >= 0);
  fake_log_clear();
  assert_int_equal(uvperf_enable(&live.set.handle, UVPERF_ALL, NULL), 0);
  live_set_close(&live);
  assert_string_equal(fake_log(), "ioctl ENABLE, ioctl ENABLE, ioctl DISABLE, "
                                  "ioctl DISABLE, close link, close link, "
                                  "close, close");
  close(program);
  fake_assert_clean();
}

static void open_all_without_a_cpu_that_is_online_is_an_error(void **state) {
  uvperf_error_t error;
  uvperf_set_t set;
  live_plan_t plan;

  plan_clock(&plan, "0-2");
  fake_fail_from(FAKE_OPEN, 1, -ENODEV);
  assert_int_equal(uvperf_set_init(*state, &set, &plan.options, &error),
                   UV_ENODEV);
  uv_run(*state, UV_RUN_NOWAIT);
  fake_assert_clean();
}

/* A profiler of all CPUs needs every event, except on offline CPUs. Each
 * failure has its own code and cause. Failures that affect all other events
 * fail the set. */
static void open_all_separates_failures_and_offline_cpus(void **state) {
  static const struct {
    int code;
    int cause;
    int is_fatal;
  } cases[] = {
      {-ESRCH, UVPERF_CAUSE_NO_TASK, 0},
      {-EBUSY, UVPERF_CAUSE_BUSY, 0},
      {-EMFILE, UVPERF_CAUSE_FILES, 1},
      {-ENOMEM, UVPERF_CAUSE_MEMORY, 1},
  };
  const uvperf_set_failure_t *failures;
  fake_event_t *events[2];
  uvperf_error_t error;
  uvperf_set_t set;
  live_plan_t plan;
  live_set_t live;
  size_t i, nr;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    fake_kernel_reset();
    add_events(events, 2);
    plan_clock(&plan, "0-2");
    fake_fail(FAKE_OPEN, 2, cases[i].code);
    if (cases[i].is_fatal) {
      assert_int_equal(uvperf_set_init(*state, &set, &plan.options, &error),
                       cases[i].code);
      assert_int_equal(error.cause, cases[i].cause);
    } else {
      live_set_open(*state, &live, &plan.options);
      failures = uvperf_set_failures(&live.set, &nr);
      assert_int_equal(nr, 1);
      assert_int_equal(failures[0].error.code, cases[i].code);
      assert_int_equal(failures[0].error.cause, cases[i].cause);
      live_set_close(&live);
    }
    uv_run(*state, UV_RUN_NOWAIT);
    fake_assert_clean();
  }
}

/* With UVPERF_SET_STRICT a set opens all events or none, like OpenAll. */
static void open_all_or_nothing_is_by_strict(void **state) {
  fake_event_t *events[2];
  uvperf_error_t error;
  uvperf_set_t set;
  live_plan_t plan;

  add_events(events, 2);
  plan_clock(&plan, "0-2");
  plan.options.flags = UVPERF_SET_STRICT;
  fake_fail(FAKE_OPEN, 2, -EACCES);
  assert_int_equal(uvperf_set_init(*state, &set, &plan.options, &error),
                   UV_EACCES);
  assert_int_equal(error.cause, UVPERF_CAUSE_PERMISSION);
  uv_run(*state, UV_RUN_NOWAIT);
  fake_assert_clean();
}

/* perf-agent's Close leaks everything that it could not attach. Here the set
 * continues or is closed. */
static void open_all_reports_a_program_that_an_event_refuses(void **state) {
  int program = some_program();
  fake_event_t *events[2];
  uvperf_error_t error;
  live_plan_t plan;
  live_set_t live;

  add_events(events, 2);
  plan_clock(&plan, "0-1");
  live_set_open(*state, &live, &plan.options);
  fake_fail(FAKE_BPF_LINK, 2, -E2BIG);
  assert_int_equal(uvperf_attach_bpf(&live.set.handle, 0, program, 0, &error),
                   UV_E2BIG);
  assert_int_equal(error.cause, UVPERF_CAUSE_BPF_PROGRAMS);
  live_set_close(&live);
  close(program);
  fake_assert_clean();
}

/* -- ProbeHardwareCycles -------------------------------------------------- */

static void plan_cycles(live_plan_t *plan) {
  live_plan_begin(plan);
  uvperf_attr_init(live_plan_attr(plan), PERF_TYPE_HARDWARE,
                   PERF_COUNT_HW_CPU_CYCLES);
  plan->attrs[0].sample_freq = 99;
  plan->attrs[0].freq = 1;
  plan->options.fallbacks = UVPERF_FALLBACK_CLOCK;
  live_plan_target(plan, UVPERF_TARGET_CPUS);
}

static void check_probed(live_set_t *live, uint32_t type, uint64_t config) {
  const struct perf_event_attr *attr = uvperf_set_item(&live->set, 0)->attr;

  assert_int_equal(attr->type, type);
  assert_int_equal(attr->config, config);
  assert_int_equal(attr->freq, 1);
  assert_int_equal(attr->sample_freq, 99);
}

/* Whichever of the two this machine has is opened, and the choice is
 * reported. */
static void probe_of_cycles_opens_cycles_or_a_clock(void **state) {
  const uvperf_change_t *changes;
  live_plan_t plan;
  live_set_t live;
  size_t nr;

  support_need_cpu_wide(__func__);
  plan_cycles(&plan);
  live_set_begin(*state, &live, &plan.options);
  changes = uvperf_changes(&live.set.handle, 0, &nr);
  if (nr == 0) {
    check_probed(&live, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
  } else {
    check_probed(&live, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
    assert_int_equal(changes[0].fallback, UVPERF_FALLBACK_CLOCK);
  }
  while (live_set_read(&live, 0).value == 0)
    sched_yield();
  live_set_close(&live);
}

/* These are errors of a virtual machine. The fallback must hide no other
 * error. */
static void probe_of_cycles_is_a_clock_without_cycles(void **state) {
  static const int lacking[] = {-ENOENT, -ENODEV, -ENXIO, -EOPNOTSUPP};
  static const int others[] = {-EACCES, -EINVAL, -EIO};
  uvperf_error_t error;
  live_plan_t plan;
  live_set_t live;
  size_t i;

  for (i = 0; i < sizeof(lacking) / sizeof(lacking[0]); i++) {
    other_kernel()->cycles = lacking[i];
    plan_cycles(&plan);
    plan.targets[0].cpus = "0";
    fake_event_add(100);
    live_set_open(*state, &live, &plan.options);
    check_probed(&live, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
    live_set_close(&live);
  }
  for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
    other_kernel()->cycles = others[i];
    plan_cycles(&plan);
    assert_int_equal(uvperf_set_init(*state, &live.set, &plan.options, &error),
                     others[i]);
  }
}

/* -- the program ---------------------------------------------------------- */

/* The clock has a frequency, and the program is attached by a link.
 * set_program_of_clocks_runs_on_each_cpu_while_enabled_alone checks this with a
 * period. */
static void open_all_runs_its_program_on_each_cpu(void **state) {
  const uvperf_place_t *place;
  live_bpf_counter_t counter;
  live_plan_t plan;
  live_set_t live;
  size_t i;

  support_need_cpu_wide(__func__);
  live_bpf_counter_open(__func__, &counter, BPF_PROG_TYPE_PERF_EVENT, 0);
  plan_clock(&plan, NULL);
  plan.attrs[0].sample_freq = 499;
  live_set_open(*state, &live, &plan.options);
  assert_int_equal(uvperf_attach_bpf(&live.set.handle, 0, counter.fd, 0, NULL),
                   0);
  assert_int_equal(uvperf_enable(&live.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_set_read(&live.set, live.reading, NULL), 0);
  for (i = 0; i < uvperf_reading_info(live.reading)->nr_places; i++) {
    place = uvperf_reading_place(live.reading, i);
    while (live_bpf_counter_runs(&counter, place->cpu) < 2)
      sched_yield();
  }
  assert_int_equal(uvperf_set_nr_open(&live.set), i);
  live_set_close(&live);
  live_bpf_counter_close(&counter);
}

/* -- EventSpec ------------------------------------------------------------ */

static void event_spec_is_the_label_of_the_attr(void **state) {
  static const struct {
    uint32_t type;
    uint64_t config;
    const char *label;
  } cases[] = {
      {PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "cpu-cycles"},
      {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "cpu-clock"},
      {PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, "dummy"},
  };
  struct perf_event_attr attr;
  char label[64];
  size_t size, i;

  (void)state;
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    uvperf_attr_init(&attr, cases[i].type, cases[i].config);
    size = sizeof(label);
    assert_int_equal(uvperf_attr_label(&attr, label, &size), 0);
    assert_string_equal(label, cases[i].label);
  }
}

/* The kernel is asked here, so that this uses no scripted event. */
static int setup(void **state) {
  uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, READ_LOST);
  return fake_kernel_loop_setup(state);
}

#define SCRIPTED(f)                                                            \
  support_loop_test_setup_teardown(f, setup, fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      SCRIPTED(open_all_leaves_out_the_cpu_that_is_offline),
      SCRIPTED(open_all_without_a_cpu_that_is_online_is_an_error),
      SCRIPTED(open_all_separates_failures_and_offline_cpus),
      SCRIPTED(open_all_or_nothing_is_by_strict),
      SCRIPTED(open_all_reports_a_program_that_an_event_refuses),
      support_loop_test(probe_of_cycles_opens_cycles_or_a_clock),
      other_kernel_loop_test(probe_of_cycles_is_a_clock_without_cycles),
      support_loop_test(open_all_runs_its_program_on_each_cpu),
      cmocka_unit_test(event_spec_is_the_label_of_the_attr),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
