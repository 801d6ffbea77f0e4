/* SPDX-License-Identifier: MIT */
/* Live: samples of a hardware counter, which come by its overflow interrupt:
 * their number, distance and fields. The event also counts, so the right number
 * of samples is known. It counts cycles, because QEMU's other counters of
 * aarch64 report an overflow late. */
#include "live_setting.h"
#include "live_hardware.h"

#include <asm/perf_regs.h>

#include "host/system.h"

#define PERIOD  1000000
#define SAMPLES 10

#define TIMES (PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING)

/* Cycles of the user side. Each PERIOD of them is a sample, which wakes. */
static void cycles_attr(struct perf_event_attr *attr, uint64_t sample_type) {
  uvperf_attr_hardware(attr, PERF_COUNT_HW_CPU_CYCLES);
  attr->sample_type = sample_type;
  attr->exclude_kernel = 1;
  attr->exclude_hv = 1;
  uvperf_attr_set_period(attr, PERIOD);
  uvperf_attr_set_wakeup_events(attr, 1);
}

static uint64_t cycles_of_1000; /* iterations of the loop */

static void loop(void *arg) {
  live_loop(*(const uint64_t *)arg);
}

/* Interrupts can add to a measurement: takes the smallest of three. */
static void measure_loop(void) {
  uint64_t iterations = 300000;
  uvperf_count_t count;
  int i;

  cycles_of_1000 = UINT64_MAX;
  for (i = 0; i < 3; i++) {
    assert_int_equal(
        uvperf_measure_events("cycles:u", loop, &iterations, &count, 1, NULL),
        0);
    if (count.value / (iterations / 1000) < cycles_of_1000)
      cycles_of_1000 = count.value / (iterations / 1000);
  }
}

static void need_samples(const char *test) {
  support_need_hardware(test, PERF_COUNT_HW_CPU_CYCLES, PERIOD);
  live_need_loop(test);
  if (cycles_of_1000 == 0)
    measure_loop();
}

static uint64_t loop_of(uint64_t cycles) {
  return cycles * 1000 / cycles_of_1000;
}

/* Keeps the CPU busy for at least this number of cycles. */
static void spend(uint64_t cycles) {
  live_loop(loop_of(cycles));
}

/* Disables the event and returns its count. */
static uint64_t stop_counting(live_collector_t *collector) {
  uvperf_count_t count;

  assert_int_equal(uvperf_disable(&collector->event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_event_read(&collector->event, &count, NULL), 0);
  return count.value;
}

/* -- a period ------------------------------------------------------------- */

typedef struct truth_s {
  uint64_t id;
  uint64_t time;
  uint64_t enabled;
} truth_t;

static void check_sample(live_collector_t *collector,
                         const uvperf_record_t *record) {
  const uvperf_sample_t *sample = &record->sample;
  truth_t *truth = collector->hook_data;
  uvperf_count_t count;

  assert_int_equal(record->type, PERF_RECORD_SAMPLE);
  assert_true(record->present ==
              uvperf_handle_attr(&collector->event.handle, 0)->sample_type);
  assert_string_equal(uvperf_record_cpu_mode_name(record->misc), "user");
  assert_int_equal(record->tid, live_tid());
  assert_true(record->id == truth->id);
  assert_true(record->time > truth->time);
  truth->time = record->time;
  assert_true(live_is_in_loop(record->ip));
  assert_int_equal(record->period, PERIOD);
  /* The interrupt comes some instructions late. */
  assert_int_equal(uvperf_values_find(&sample->read, truth->id, &count), 0);
  assert_int_equal(count.value / PERIOD, collector->records + 1);
  assert_true(count.time_enabled > truth->enabled);
  assert_true(count.time_running == count.time_enabled);
  truth->enabled = count.time_enabled;
}

static void each_period_of_cycles_is_one_sample(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  truth_t truth = {0, 0, 0};
  uint64_t count;

  need_samples(__func__);
  cycles_attr(&attr, PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                         PERF_SAMPLE_ID | PERF_SAMPLE_PERIOD |
                         PERF_SAMPLE_READ);
  attr.read_format = TIMES | PERF_FORMAT_ID;
  live_begin(*state, &collector, &attr, NULL, check_sample, &truth);
  assert_int_equal(uvperf_event_id(&collector.event, &truth.id), 0);
  spend(SAMPLES * PERIOD + PERIOD / 2);
  count = stop_counting(&collector);
  assert_in_range(count / PERIOD, SAMPLES - 2, SAMPLES * 2);
  live_end(&collector, count / PERIOD);
}

/* A limit of overflows, and another period. */
static void check_period(live_collector_t *collector,
                         const uvperf_record_t *record) {
  uint64_t *period = collector->hook_data;

  assert_int_equal(record->period, *period);
}

static void samples_end_at_the_limit_and_follow_the_period(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t period = PERIOD;
  uint64_t count;

  need_samples(__func__);
  cycles_attr(&attr, PERF_SAMPLE_PERIOD);
  live_begin(*state, &collector, &attr, NULL, check_period, &period);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_event_refresh(&collector.event, 3, NULL), 0);
  spend(10 * PERIOD);
  count = stop_counting(&collector);
  assert_int_equal(count / PERIOD, 3);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(collector.records, 3);

  period = 4 * PERIOD;
  assert_int_equal(
      uvperf_change_period(&collector.event.handle, 0, period, NULL), 0);
  assert_int_equal(uvperf_reset(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  spend(5 * period + period / 2);
  count = stop_counting(&collector);
  assert_in_range(count / period, 4, 10);
  live_end(&collector, 3 + count / period);
}

/* -- a frequency ---------------------------------------------------------- */

#define FREQUENCY 4000

typedef struct rate_s {
  uint64_t nr;
  uint64_t periods; /* of all samples */
  uint64_t times[4096];
} rate_t;

static void note_rate(live_collector_t *collector,
                      const uvperf_record_t *record) {
  rate_t *rate = collector->hook_data;

  if (record->type != PERF_RECORD_SAMPLE)
    return; /* throttled while the period is still short */
  assert_true(rate->nr < sizeof(rate->times) / sizeof(rate->times[0]));
  rate->times[rate->nr++] = record->time;
  rate->periods += record->period;
}

/* The kernel begins with a period of 1, and adapts it. */
static void frequency_becomes_the_number_of_samples_a_second(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  rate_t rate = {0};
  uint64_t count, half, ns;
  int turn;

  need_samples(__func__);
  cycles_attr(&attr, PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD);
  uvperf_attr_set_frequency(&attr, FREQUENCY);
  live_begin(*state, &collector, &attr, NULL, note_rate, &rate);
  for (turn = 0; turn < 1000 && rate.nr < 300; turn++) {
    spend(4 * PERIOD);
    assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  }
  assert_true(rate.nr >= 300);
  count = stop_counting(&collector);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  half = rate.nr / 2;
  ns = rate.times[rate.nr - 1] - rate.times[half];
  assert_in_range((rate.nr - 1 - half) * 1000000000 / ns, FREQUENCY * 3 / 4,
                  FREQUENCY * 5 / 4);
  /* A profile weighs samples by their periods. */
  assert_in_range(rate.periods, count * 9 / 10, count * 11 / 10);
  live_close(&collector);
}

/* -- a group -------------------------------------------------------------- */

typedef struct group_s {
  uint64_t leader, sibling; /* ids */
  uint64_t instructions;
} group_t;

static void check_group(live_collector_t *collector,
                        const uvperf_record_t *record) {
  const uvperf_values_t *read = &record->sample.read;
  group_t *group = collector->hook_data;
  uvperf_count_t count;

  assert_int_equal(read->nr, 2);
  assert_int_equal(uvperf_values_find(read, group->leader, &count), 0);
  assert_int_equal(count.value / PERIOD, collector->records + 1);
  assert_int_equal(uvperf_values_find(read, group->sibling, &count), 0);
  assert_true(count.value > group->instructions);
  group->instructions = count.value;
}

static void sample_of_a_leader_has_the_siblings_count(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector, sibling;
  struct perf_event_attr attr;
  uvperf_count_t count;
  group_t group = {0, 0, 0};

  need_samples(__func__);
  support_need_hardware(__func__, PERF_COUNT_HW_INSTRUCTIONS, 0);
  cycles_attr(&attr, PERF_SAMPLE_READ);
  attr.read_format = TIMES | PERF_FORMAT_ID | PERF_FORMAT_GROUP;
  live_begin(*state, &collector, &attr, NULL, check_group, &group);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_INSTRUCTIONS);
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  options.leader = &collector.event;
  live_init(*state, &sibling, &attr, &options);
  assert_int_equal(uvperf_event_id(&collector.event, &group.leader), 0);
  assert_int_equal(uvperf_event_id(&sibling.event, &group.sibling), 0);
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  spend(SAMPLES * PERIOD + PERIOD / 2);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_event_read(&sibling.event, &count, NULL), 0);
  assert_true(count.value > group.instructions);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
  live_end(&collector, count.value / PERIOD);
  live_close(&sibling);
}

/* -- wakeups -------------------------------------------------------------- */

/* A sample with its IP, and the number of samples that reach the watermark. */
#define SAMPLE_BYTES 16
#define BELOW        5

/* Makes a sample and runs the event loop, until nr samples were delivered. */
static uint64_t wake(uv_loop_t *loop, live_collector_t *collector,
                     uint64_t nr) {
  uint64_t turns = 0;

  /* After a start the ring is drained without a wakeup, until its fd is
   * polled. */
  live_run_ms(loop, 2);
  do {
    spend(PERIOD);
    live_run_ms(loop, 1);
  } while (collector->records < nr && ++turns < 10 * nr);
  return collector->records;
}

static void sample_wakes_the_loop_alone_or_at_the_watermark(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_stats_t stats;
  uint64_t nr;

  need_samples(__func__);
  cycles_attr(&attr, PERF_SAMPLE_IP);
  live_begin(*state, &collector, &attr, NULL, NULL, NULL);
  nr = wake(*state, &collector, SAMPLES);
  uvperf_stats(&collector.event.handle, &stats);
  assert_in_range(stats.wakeups, nr - 1, nr);
  live_close(&collector);

  uvperf_attr_set_wakeup_bytes(&attr, BELOW * SAMPLE_BYTES);
  live_begin(*state, &collector, &attr, NULL, NULL, NULL);
  nr = wake(*state, &collector, 1);
  uvperf_stats(&collector.event.handle, &stats);
  assert_in_range(nr, BELOW + 1, BELOW + 2);
  assert_int_equal(stats.wakeups, 1);
  live_close(&collector);
}

/* -- loss ----------------------------------------------------------------- */

static void samples_that_do_not_fit_are_counted_as_lost(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_count_t count;
  uvperf_stats_t stats;
  uint64_t made;

  need_samples(__func__);
  if (uvperf__system_is_before(6, 0) == 1)
    support_skip(__func__, "Linux 6.0, for PERF_FORMAT_LOST");
  cycles_attr(&attr, PERF_SAMPLE_STACK_USER);
  attr.sample_stack_user = (uint32_t)support_page_bytes() / 4;
  attr.read_format = UVPERF_FORMAT_LOST;
  options.ring_bytes = 1;
  live_begin(*state, &collector, &attr, &options, NULL, NULL);
  spend(SAMPLES * PERIOD);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  made = count.value / PERIOD;
  assert_int_equal(collector.records, 3);
  assert_int_equal(collector.records + count.lost, made);
  /* The next sample brings the LOST record with it. */
  assert_int_equal(uvperf_enable(&collector.event.handle, 0, NULL), 0);
  spend(2 * PERIOD);
  assert_int_equal(uvperf_disable(&collector.event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.lost_records, count.lost);
  live_close(&collector);
}

/* -- registers, stack and callers ----------------------------------------- */

#if defined(__aarch64__)
#define REGS      ((UINT64_C(1) << PERF_REG_ARM64_PC << 1) - 1)
#define REG_IP    PERF_REG_ARM64_PC
#define REG_SP    PERF_REG_ARM64_SP
#define REG_FRAME PERF_REG_ARM64_X29
#define REG_KNOWN PERF_REG_ARM64_X9
#define KNOWN_LOOP                                                             \
  "mov x9, %1\n\tadd x10, x9, %1\n\tadd x11, x10, %1\n\t"                      \
  "add x12, x11, %1\n"                                                         \
  "known_loop_first:\n\tsubs %0, %0, #1\n\tb.ne known_loop_first\n"            \
  "known_loop_end:\n"
#define KNOWN_CLOBBERS "x9", "x10", "x11", "x12", "cc", "memory"
#elif defined(__x86_64__)
#define REGS      UINT64_C(0xff0fff) /* without DS, ES, FS and GS */
#define REG_IP    PERF_REG_X86_IP
#define REG_SP    PERF_REG_X86_SP
#define REG_FRAME PERF_REG_X86_BP
#define REG_KNOWN PERF_REG_X86_R8
#define KNOWN_LOOP                                                             \
  "mov %1, %%r8\n\tlea (%%r8,%1), %%r9\n\tlea (%%r9,%1), %%r10\n\t"            \
  "lea (%%r10,%1), %%r11\n"                                                    \
  "known_loop_first:\n\tdec %0\n\tjnz known_loop_first\n"                      \
  "known_loop_end:\n"
#define KNOWN_CLOBBERS "r8", "r9", "r10", "r11", "cc", "memory"
#endif

#ifdef REGS
/* The four registers from REG_KNOWN on hold this, twice this, and so on, and so
 * do four words on the stack. */
#define MARK        UINT64_C(0x0123456789abcdef)
#define KNOWN       4
#define STACK_BYTES 1024

/* Hidden, as the labels in live_hardware.c. */
extern const char known_loop_first[] __attribute__((visibility("hidden")));
extern const char known_loop_end[] __attribute__((visibility("hidden")));

typedef struct known_s {
  uint64_t words;  /* where they are on the stack */
  uint64_t frame;  /* of the function with the loop */
  uint64_t caller; /* where it returns to */
  uint64_t outer;  /* and where its caller does */
  uint64_t seen;
} known_t;

/* It calls another function, so it has a frame. The sanitizer might put the
 * words elsewhere. */
__attribute__((noinline, noclone, no_sanitize("address"))) static void
loop_with_known_registers(known_t *known, uint64_t iterations) {
  volatile uint64_t words[KNOWN];
  int i;

  for (i = 0; i < KNOWN; i++)
    words[i] = MARK * (uint64_t)(i + 1);
  known->words = (uintptr_t)words;
  known->frame = (uintptr_t)__builtin_frame_address(0);
  known->caller = (uintptr_t)__builtin_return_address(0);
  __asm__ volatile(KNOWN_LOOP : "+r"(iterations) : "r"(MARK) : KNOWN_CLOBBERS);
  live_called(words[0]);
}

__attribute__((noinline)) static void call_loop(known_t *known,
                                                uint64_t iterations) {
  known->outer = (uintptr_t)__builtin_return_address(0);
  loop_with_known_registers(known, iterations);
  __asm__ volatile("" : : : "memory"); /* not a tail call */
}

static uint64_t get(const uvperf_regs_t *regs, unsigned int bit) {
  uint64_t value;

  assert_int_equal(uvperf_sample_regs_get(regs, bit, &value), 0);
  return value;
}

static void check_known(live_collector_t *collector,
                        const uvperf_record_t *record) {
  const uvperf_sample_t *sample = &record->sample;
  const uint64_t *ips = sample->callchain.ips;
  known_t *known = collector->hook_data;
  uint64_t sp = get(&sample->regs_user, REG_SP);
  uint64_t words[KNOWN];
  unsigned int i;

  if (record->ip < (uintptr_t)known_loop_first ||
      record->ip >= (uintptr_t)known_loop_end)
    return; /* before or after */
  known->seen += 1;
  assert_int_equal(sample->regs_user.abi, PERF_SAMPLE_REGS_ABI_64);
  assert_int_equal(sample->regs_user.nr, __builtin_popcountll(REGS));
  assert_int_equal(sample->regs_intr.nr, sample->regs_user.nr);
  assert_memory_equal(sample->regs_intr.regs, sample->regs_user.regs,
                      sample->regs_user.nr * sizeof(uint64_t));
  assert_true(get(&sample->regs_user, REG_IP) == record->ip);
  assert_true(get(&sample->regs_user, REG_FRAME) == known->frame);
  assert_in_range(sample->stack_user.dyn_size, 8, STACK_BYTES);
  assert_in_range(known->words, sp,
                  sp + sample->stack_user.dyn_size - sizeof(words));
  memcpy(words, (const char *)sample->stack_user.data + (known->words - sp),
         sizeof(words));
  for (i = 0; i < KNOWN; i++) {
    assert_true(get(&sample->regs_user, REG_KNOWN + i) == MARK * (i + 1));
    assert_true(words[i] == MARK * (i + 1));
  }
  assert_in_range(sample->callchain.nr, 4, 127);
  assert_true(ips[0] == (uint64_t)PERF_CONTEXT_USER);
  assert_true(ips[1] == record->ip);
  assert_true(ips[2] == known->caller);
  assert_true(ips[3] == known->outer);
}

static void sample_has_registers_stack_and_callers(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  known_t known = {0, 0, 0, 0, 0};

  need_samples(__func__);
  cycles_attr(&attr, PERF_SAMPLE_IP | PERF_SAMPLE_REGS_USER |
                         PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_STACK_USER |
                         PERF_SAMPLE_CALLCHAIN);
  attr.sample_regs_user = REGS;
  attr.sample_regs_intr = REGS;
  attr.sample_stack_user = STACK_BYTES;
  live_begin(*state, &collector, &attr, NULL, check_known, &known);
  call_loop(&known, loop_of(SAMPLES * PERIOD));
  live_end(&collector, stop_counting(&collector) / PERIOD);
  assert_true(known.seen >= SAMPLES - 2);
}
#else
static void sample_has_registers_stack_and_callers(void **state) {
  support_skip(__func__, "x86-64 or aarch64, for a loop of known instructions");
}
#endif

/* -- throttling ----------------------------------------------------------- */

#define RATE    "/proc/sys/kernel/perf_event_max_sample_rate"
#define PERCENT "/proc/sys/kernel/perf_cpu_time_max_percent"

typedef struct throttles_s {
  uint64_t samples, throttles, unthrottles;
  uint64_t after; /* samples since the last THROTTLE */
} throttles_t;

static void note_throttle(live_collector_t *collector,
                          const uvperf_record_t *record) {
  throttles_t *seen = collector->hook_data;

  if (record->type == PERF_RECORD_SAMPLE) {
    /* The one that was too many; then the counter stands still. */
    if (seen->throttles > seen->unthrottles)
      assert_int_equal(seen->after++, 0);
    seen->samples += 1;
    return;
  }
  assert_int_equal(record->type, seen->throttles > seen->unthrottles
                                     ? PERF_RECORD_UNTHROTTLE
                                     : PERF_RECORD_THROTTLE);
  if (record->type == PERF_RECORD_THROTTLE)
    seen->throttles += 1, seen->after = 0;
  else
    seen->unthrottles += 1;
}

static void interrupts_above_the_rate_are_throttled(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  throttles_t seen = {0, 0, 0, 0};
  int64_t rate, percent;
  int turn;

  need_samples(__func__);
  support_need_root(__func__);
  rate = live_setting(RATE);
  percent = live_setting(PERCENT);
  cycles_attr(&attr, PERF_SAMPLE_IP);
  uvperf_attr_set_period(&attr, 50000);
  live_begin(*state, &collector, &attr, NULL, note_throttle, &seen);
  /* 0 and 100 forbid to set the rate. */
  assert_int_equal(live_setting_write(PERCENT, 25), 0);
  assert_int_equal(live_setting_write(RATE, 1000), 0);
  for (turn = 0; turn < 100 && seen.unthrottles < 5; turn++) {
    spend(1000000);
    assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  }
  assert_int_equal(live_setting_write(RATE, rate), 0);
  assert_int_equal(live_setting_write(PERCENT, percent), 0);
  assert_true(seen.unthrottles >= 5);
  live_close(&collector);
}

/* -- fields that a PMU may lack ------------------------------------------- */

/* Intel's have branch stacks, and the newest of the others. */
static void branch_stacks_arrive_or_the_error_says_why_not(void **state) {
  uvperf_event_t event;
  struct perf_event_attr attr;
  uvperf_error_t error;
  int rc;

  need_samples(__func__);
  cycles_attr(&attr, PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK);
  attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_USER;
  rc = uvperf_event_init(*state, &event, &attr, NULL, &error);
  if (rc == 0) {
    uvperf_close(&event.handle, NULL);
    uv_run(*state, UV_RUN_DEFAULT);
    return;
  }
  assert_int_equal(rc, UV_ENOTSUP);
  assert_int_equal(error.cause, UVPERF_CAUSE_NOT_SUPPORTED);
  assert_non_null(strstr(error.reason, "PERF_SAMPLE_BRANCH_STACK"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(each_period_of_cycles_is_one_sample),
      support_loop_test(samples_end_at_the_limit_and_follow_the_period),
      support_loop_test(frequency_becomes_the_number_of_samples_a_second),
      support_loop_test(sample_of_a_leader_has_the_siblings_count),
      support_loop_test(sample_wakes_the_loop_alone_or_at_the_watermark),
      support_loop_test(samples_that_do_not_fit_are_counted_as_lost),
      support_loop_test(sample_has_registers_stack_and_callers),
      support_loop_test(interrupts_above_the_rate_are_throttled),
      support_loop_test(branch_stacks_arrive_or_the_error_says_why_not),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
