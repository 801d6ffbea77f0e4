/* SPDX-License-Identifier: MIT */
/* Scripted: an event that a kernel refuses is opened with less, if the options
 * allow it, and reports the changes. The kernels are scripted. */
#include "fake_version.h"
#include "live.h"
#include "scripted_handles.h"

static const scripted_row_t rows[] = {
    /* The error is not that the kernel side is forbidden, which the fallback
     * would have solved. */
    {"event_without_fds_in_a_fallback_says_so",
     "version user_only=1; attr cycles; fallbacks all\n"
     "fail open 2 EMFILE\n"
     "init -> open @self EACCES, open @self EMFILE, EMFILE files\n"},
    {"event_that_opens_as_asked_has_no_changes",
     "version; attr cycles precise_ip=3; fallbacks all\n"
     "init -> open e0@self\n"
     "changes h0 ->\n"},
    {"event_without_fallbacks_is_tried_once",
     "version cycles=ENOENT; attr cycles\n"
     "init -> open @self ENOENT, ENOENT no_event\n"},
    {"event_of_cycles_without_a_pmu_is_a_task_clock",
     "version cycles=ENOENT; attr cycles sample_period=50\n"
     "fallbacks clock\n"
     "init -> open @self ENOENT, open e0@self, mmap e0\n"
     "events type config sample_period disabled -> e0 1 1 0x186a0 1\n"
     "fields h0 type config sample_period disabled -> 1 1 0x186a0 1\n"
     "changes h0 -> type 0 to 1, config 0 to 1, sample_period 50 to 0x186a0\n"},
    {"event_of_cycles_on_the_pool_has_the_changes",
     "version cycles=ENOENT; attr cycles sample_period=0xf4240\n"
     "options later; fallbacks clock; init; changes h0 ->\n"
     "pool -> open @me ENOENT, open e0@me, mmap e0, h0 opened 0\n"
     "changes h0 -> type 0 to 1, config 0 to 1\n"},
    {"event_of_cycles_that_fails_on_the_pool_has_no_changes",
     "version cycles=ENOENT; attr cycles sample_period=0xf4240\n"
     "options ring_bytes=1 later; fallbacks clock; init; fail mmap 1 EPERM\n"
     "pool -> open @me ENOENT, open e0@me, mmap e0 EPERM, close e0, h0 "
     "opened EPERM locked_memory\n"
     "changes h0 ->\n"},
    {"event_of_cycles_of_a_cpu_is_a_cpu_clock",
     "version cycles=ENOENT; attr cycles\n"
     "options cpu cpu=0 pid=-1; fallbacks clock\n"
     "init; events config -> e0 0\n"},
    {"event_of_cycles_of_a_cgroup_is_a_cpu_clock",
     "version cycles=ENOENT; attr cycles\n"
     "options cpu cpu=0 cgroup cgroup=33; fallbacks clock\n"
     "init -> open @33:0 ENOENT, open e0@33:0 flags 0xc\n"
     "events config -> e0 0\n"},
    {"event_of_cycles_of_a_task_on_a_cpu_is_a_task_clock",
     "version cycles=ENOENT; attr cycles; options cpu cpu=0; fallbacks clock\n"
     "init; events config -> e0 1\n"},
    {"event_falls_back_to_the_highest_precise_ip",
     "version precise_ip=1; attr instructions precise_ip=3\n"
     "fallbacks precise\n"
     "init -> open @self EOPNOTSUPP, open @self EOPNOTSUPP, open e0@self\n"
     "events precise_ip -> e0 1\n"
     "changes h0 -> precise_ip 3 to 1\n"},
    /* A kernel of 2017, that lets its user see little, on a machine without a
     * PMU. What one change brings to light the next one takes away. */
    {"event_falls_back_through_all_in_their_order",
     "version attr_size=112 flag_bits=29 sample_type_bits=20 user_only=1 "
     "cycles=ENOENT\n"
     "attr cycles freq=1 sample_period=100 sample_type=0x800001 precise_ip=2 "
     "ksymbol=1 build_id=1 aux_sample_size=4096\n"
     "fallbacks all; init\n"
     "changes h0 -> aux_sample_size 4096 to 0, ksymbol 1 to 0, build_id 1 to "
     "0, sample_type 0x800001 to 1, exclude_kernel 0 to 1, exclude_hv 0 to 1, "
     "precise_ip 2 to 0, type 0 to 1, config 0 to 1\n"
     "events size sample_period -> e0 112 100\n"
     "fields h0 size -> 112\n"},
    {"event_that_falls_back_joins_its_group",
     "version precise_ip=0; attr cycles; fallbacks precise; init\n"
     "attr cycles precise_ip=2; options leader=h0 cpu cpu=1; fallbacks "
     "precise\n"
     "init -> open @self:1<e0 EOPNOTSUPP, open @self:1<e0 EOPNOTSUPP, open "
     "e1@self:1<e0\n"
     "changes h0 ->\n"
     "changes h1 -> precise_ip 2 to 0\n"},
    /* A clock has no branch stack: to say yes would be to drop it. */
    {"event_that_no_fallback_helps_reports_the_first_failure",
     "version cycles=ENOENT; attr cycles sample_type=0x800 "
     "branch_sample_type=8\n"
     "fallbacks all\n"
     "init -> open @self ENOENT, open @self EOPNOTSUPP, ENOENT no_event\n"
     "says 'cpu-cycles'\n"
     "no_error init -> open @self ENOENT, open @self EOPNOTSUPP, ENOENT\n"},
    /* E2BIG for the attr's size, and then for another reason. */
    {"event_too_big_for_two_reasons_is_refused",
     "version attr_size=112 cycles=E2BIG; attr cycles sig_data=1\n"
     "fallbacks all\n"
     "init -> open @self E2BIG, open @self E2BIG, E2BIG old_kernel\n"},
    {"event_that_falls_back_without_memory_is_enomem",
     "each calloc ENOMEM; version cycles=ENOENT; attr cycles\n"
     "fallbacks clock; init\n"},
    {"event_with_unknown_fallbacks_is_refused",
     "version; attr cpu_clock; fallbacks 16\n"
     "init -> EINVAL argument\n"},
};

/* Init fails like that, and leaves nothing. */
static void assert_refused(uv_loop_t *loop, const struct perf_event_attr *attr,
                           const uvperf_event_options_t *options,
                           uvperf_error_t *error, int code) {
  uvperf_event_t event;

  memset(error, 0, sizeof(*error));
  assert_int_equal(uvperf_event_init(loop, &event, attr, options, error), code);
  assert_int_equal(error->code, code);
  uv_run(loop, UV_RUN_NOWAIT);
  fake_assert_clean();
}

static void event_that_falls_back_leaves_the_error_alone(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  fake_version_t *kernel = fake_version();
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error, before;

  options.fallbacks = UVPERF_FALLBACK_CLOCK;
  kernel->cycles = -ENOENT;
  fake_event_add(7);
  memset(&error, 0x55, sizeof(error));
  before = error;
  memset(&collector, 0, sizeof(collector));
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  assert_int_equal(
      uvperf_event_init(*state, &collector.event, &attr, &options, &error), 0);
  assert_memory_equal(&error, &before, sizeof(error));
  collector.event.handle.data = &collector;
  live_close(&collector);
  fake_assert_clean();
}

/* -- the options ---------------------------------------------------------- */

/* The options of a program compiled before there were fallbacks; the bytes
 * after them are not its own. */
static void event_with_options_of_the_first_version_opens(void **state) {
  const size_t size = offsetof(uvperf_event_options_t, fallbacks);
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_event_options_t *old = malloc(size);
  fake_version_t *kernel = fake_version();
  fake_event_t *fake = fake_event_add(7);
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;

  assert_non_null(old);
  options.size = size;
  options.cpu = 1;
  options.flags |= UVPERF_EVENT_CPU;
  memcpy(old, &options, size);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_CPU_CYCLES);
  live_init(*state, &collector, &attr, old);
  assert_int_equal(fake->cpu, 1);
  live_close(&collector);
  kernel->cycles = -ENOENT;
  assert_refused(*state, &attr, old, &error, UV_ENOENT);
  assert_int_equal(fake_count(FAKE_OPEN), 2);
  free(old);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_version_loop_test(event_that_falls_back_leaves_the_error_alone),
      fake_version_loop_test(event_with_options_of_the_first_version_opens),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_handles, rows, tests);
}
