/* SPDX-License-Identifier: MIT */
/* Live: the checks of go-perf's TestOpen and of the counts in its TestCount, if
 * no other test has them. The whole list is in ORIGINS. */
#include "live_thread.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -- TestOpen/BadGroup ---------------------------------------------------- */

static void count_writes(struct perf_event_attr *attr) {
  live_write_attr(attr, 0);
  uvperf_attr_set_period(attr, 0);
}

static void assert_no_leader(uv_loop_t *loop, uvperf_event_t *leader) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  size_t fds = support_count_fds();
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;

  count_writes(&attr);
  options.leader = leader;
  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf_event_init(loop, &event, &attr, &options, &error),
                   UV_EINVAL);
  assert_int_equal(error.code, UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(error.reason, "leader"));
  assert_int_equal(uvperf_event_init(loop, &event, &attr, &options, NULL),
                   UV_EINVAL);
  assert_int_equal(support_count_fds(), fds);
}

/* go-perf TestOpen/BadGroup: the leader is closed. Another event soon gets the
 * number of its fd, and must not become the leader by accident. */
static void open_in_the_group_of_a_closed_leader_is_einval(void **state) {
  live_collector_t other;
  live_collector_t leader;
  struct perf_event_attr attr;

  support_need_breakpoints(__func__);
  count_writes(&attr);
  live_init(*state, &leader, &attr, NULL);
  uvperf_close(&leader.event.handle, NULL);
  assert_no_leader(*state, &leader.event); /* closing */
  assert_int_equal(uv_run(*state, UV_RUN_DEFAULT), 0);
  assert_no_leader(*state, &leader.event); /* closed */
  live_init(*state, &other, &attr, NULL);
  assert_no_leader(*state, &leader.event); /* its number is taken */
  live_close(&other);
}

/* go-perf TestOpen/BadGroup: the leader is all zeroes. */
static void open_in_the_group_of_a_zeroed_leader_is_einval(void **state) {
  uvperf_event_t leader;

  support_need_breakpoints(__func__);
  memset(&leader, 0, sizeof(leader));
  assert_no_leader(*state, &leader);
  leader.handle.loop = *state;
  assert_no_leader(*state, &leader);
}

/* -- TestOpen/EventIDsDifferentByCPU -------------------------------------- */

static void check_place(live_collector_t *collector,
                        const uvperf_record_t *record) {
  const int *cpu = collector->hook_data;
  uint64_t id;

  assert_int_equal(uvperf_event_id(&collector->event, &id), 0);
  assert_true(record->id == id);
  assert_int_equal(record->cpu, *cpu);
}

static void open_on_cpu(uv_loop_t *loop, live_collector_t *collector,
                        int *cpu) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  live_write_attr(&attr, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU);
  options.cpu = *cpu;
  options.flags |= UVPERF_EVENT_CPU;
  live_begin(loop, collector, &attr, &options, check_place, cpu);
}

/* go-perf TestOpen/EventIDsDifferentByCPU: the ids differ, and the records with
 * each id are from its CPU. */
static void open_of_one_attr_on_two_cpus_has_two_ids(void **state) {
  live_collector_t collectors[2];
  uint64_t ids[2];
  cpu_set_t old;
  cpu_set_t ignored;
  int cpus[2];
  int i;

  support_need_breakpoints(__func__);
  if (live_cpus(cpus, 2) < 2)
    support_skip(__func__, "two CPUs");
  for (i = 0; i < 2; i++) {
    open_on_cpu(*state, &collectors[i], &cpus[i]);
    assert_int_equal(uvperf_event_id(&collectors[i].event, &ids[i]), 0);
    assert_true(ids[i] != 0);
  }
  assert_true(ids[0] != ids[1]);
  live_pin(cpus[0], &old);
  live_write(2);
  live_pin(cpus[1], &ignored);
  live_write(3);
  live_unpin(&old);
  live_end(&collectors[0], 2);
  live_end(&collectors[1], 3);
}

/* -- TestOpen/PopulatesLabel, TestCount/Hardware, HardwareCache ----------- */

typedef struct named_s {
  const char *name; /* the word for it in a reason */
  uint32_t type;
  uint64_t config;
} named_t;

/* Work for a PMU: reads more memory than fits into a first-level cache. */
static void read_memory(void) {
  size_t size = 4 * 1024 * 1024;
  volatile char *memory;
  size_t i;

  memory = malloc(size);
  assert_non_null(memory);
  for (i = 0; i < size; i += 64)
    memory[i] = 1;
  for (i = 0; i < size; i += 64)
    (void)memory[i];
  free((void *)memory);
}

static void assert_counts_something(uvperf_event_t *event) {
  uvperf_count_t count;

  assert_int_equal(uvperf_start(&event->handle, NULL, NULL, NULL), 0);
  read_memory();
  assert_int_equal(uvperf_event_read(event, &count, NULL), 0);
  /* Other events may use the PMU all the time. */
  assert_true(count.value != 0 || count.time_running == 0);
}

static void count_or_name(uv_loop_t *loop, const named_t *named) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;
  int rc;

  uvperf_attr_init(&attr, named->type, named->config);
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  attr.read_format = PERF_FORMAT_TOTAL_TIME_RUNNING;
  rc = uvperf_event_init(loop, &event, &attr, NULL, &error);
  if (rc != 0) {
    assert_int_equal(rc, UV_ENOENT);
    assert_int_equal(error.cause, UVPERF_CAUSE_NO_EVENT);
    assert_non_null(strstr(error.reason, named->name));
    return;
  }
  assert_counts_something(&event);
  uvperf_close(&event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
}

/* go-perf TestCount/Hardware/IPC (its two counts) and
 * TestCount/HardwareCache/L1DataMisses*, which count something with a PMU and
 * fail without one. Also TestOpen/PopulatesLabel, for events with a name: if
 * this machine does not have the event, the reason names it. */
static void open_of_hardware_events_counts_or_names_them(void **state) {
  static const named_t events[] = {
      {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
      {"cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
      {"L1-dcache-load-misses", PERF_TYPE_HW_CACHE,
       PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8 |
           PERF_COUNT_HW_CACHE_RESULT_MISS << 16},
  };
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
    count_or_name(*state, &events[i]);
}

/* Opens an attr, which may fall back to a clock, and checks the label of the
 * event that was opened. */
static void expect_label(uv_loop_t *loop, const struct perf_event_attr *attr,
                         const char *as_asked, const char *as_clock) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  char label[64];
  size_t size = sizeof(label);
  size_t changes;

  options.fallbacks = UVPERF_FALLBACK_CLOCK;
  live_init(loop, &collector, attr, &options);
  assert_int_equal(
      uvperf_attr_label(uvperf_handle_attr(&collector.event.handle, 0), label,
                        &size),
      0);
  uvperf_changes(&collector.event.handle, 0, &changes);
  assert_string_equal(label, changes == 0 ? as_asked : as_clock);
  live_close(&collector);
}

/* go-perf TestOpen/PopulatesLabel: an event that was opened without a label has
 * one, even if another event than the requested one was opened. */
static void open_events_have_the_label_of_the_attr_they_opened(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  assert_int_equal(uvperf_attr_parse(&attr, "faults:u", NULL), 0);
  expect_label(*state, &attr, "page-faults:u", "none");
  assert_int_equal(uvperf_attr_parse(&attr, "cycles:u", NULL), 0);
  expect_label(*state, &attr, "cpu-cycles:u", "task-clock:u");
}

/* -- TestCount/Tracepoint ------------------------------------------------- */

enum {
  GETPID,
  READ,
  WRITE,
  CALLS
};

/* Another thread makes the calls, because the library itself calls getpid(2)
 * and read(2) in the thread of the loop. */
static void make_calls(void *arg) {
  int null = *(int *)arg;
  char byte = 0;
  int i;

  for (i = 0; i < 3; i++)
    syscall(SYS_getpid);
  syscall(SYS_read, null, &byte, (size_t)1);
  syscall(SYS_write, null, &byte, (size_t)1);
}

static void open_counts(uv_loop_t *loop, live_collector_t *counts,
                        const uint64_t *tracepoints, uint32_t tid) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  int i;

  options.pid = (int32_t)tid;
  for (i = 0; i < CALLS; i++) {
    live_syscall_attr(&attr, tracepoints[i], 0);
    uvperf_attr_set_period(&attr, 0);
    live_init(loop, &counts[i], &attr, &options);
  }
}

static void assert_counts(live_collector_t *counts, uint64_t times) {
  static const uint64_t calls[CALLS] = {3, 1, 1};
  uvperf_count_t count;
  int i;

  for (i = 0; i < CALLS; i++) {
    assert_int_equal(uvperf_event_read(&counts[i].event, &count, NULL), 0);
    assert_int_equal(count.value, calls[i] * times);
  }
}

static void control(live_collector_t *counts,
                    int (*fn)(uvperf_handle_t *, size_t, uvperf_error_t *)) {
  int i;

  for (i = 0; i < CALLS; i++)
    assert_int_equal(fn(&counts[i].event.handle, 0, NULL), 0);
}

/* go-perf TestCount/Tracepoint/{getpid,read,write} and
 * ExampleTracepoint_getpid: the event counts each call that is made while it is
 * enabled, and no other. */
static void count_of_a_tracepoint_is_the_calls_made(void **state) {
  static const char *const names[CALLS] = {"syscalls:sys_enter_getpid",
                                           "syscalls:sys_enter_read",
                                           "syscalls:sys_enter_write"};
  live_collector_t counts[CALLS];
  uint64_t tracepoints[CALLS];
  live_thread_t thread;
  int null;
  int i;

  for (i = 0; i < CALLS; i++)
    tracepoints[i] = support_need_tracepoint(__func__, names[i]);
  null = open("/dev/null", O_RDWR | O_CLOEXEC);
  assert_true(null >= 0);
  live_thread_start(&thread, make_calls, &null);
  open_counts(*state, counts, tracepoints, thread.tid);
  live_thread_do(&thread);
  assert_counts(counts, 0);
  control(counts, uvperf_enable);
  live_thread_do(&thread);
  assert_counts(counts, 1);
  live_thread_do(&thread);
  control(counts, uvperf_disable);
  live_thread_do(&thread);
  assert_counts(counts, 2);
  live_thread_end(&thread);
  for (i = 0; i < CALLS; i++)
    live_close(&counts[i]);
  close(null);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(open_in_the_group_of_a_closed_leader_is_einval),
      support_loop_test(open_in_the_group_of_a_zeroed_leader_is_einval),
      support_loop_test(open_of_one_attr_on_two_cpus_has_two_ids),
      support_loop_test(open_of_hardware_events_counts_or_names_them),
      support_loop_test(open_events_have_the_label_of_the_attr_they_opened),
      support_loop_test(count_of_a_tracepoint_is_the_calls_made),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
