/* SPDX-License-Identifier: MIT */
/* Live: the task, place and time of samples of this kernel, checked against
 * what the test did: IP, TID, TIME, ADDR, ID, IDENTIFIER, STREAM_ID, CPU,
 * PERIOD. */
#include "live.h"

#include <time.h>
#include <unistd.h>

/* Checks the fields that these bits select, and that there are no others. */
static void assert_sample(const uvperf_record_t *record, uint64_t present) {
  assert_int_equal(record->type, PERF_RECORD_SAMPLE);
  assert_true(record->present == present);
}

/* -- IP ------------------------------------------------------------------- */

static void check_called_ip(live_collector_t *collector,
                            const uvperf_record_t *record) {
  assert_sample(record, PERF_SAMPLE_IP);
  assert_true(record->ip == (uintptr_t)live_called);
  assert_string_equal(uvperf_record_cpu_mode_name(record->misc), "user");
}

static void sample_ip_of_execution_is_the_function(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_breakpoints(__func__);
  live_called_attr(&attr, PERF_SAMPLE_IP);
  live_begin(*state, &collector, &attr, NULL, check_called_ip, NULL);
  live_called(1);
  live_called(2);
  live_end(&collector, 2);
}

/* -- IP and ADDR ---------------------------------------------------------- */

static void check_touch(live_collector_t *collector,
                        const uvperf_record_t *record) {
  const char *region = collector->hook_data;

  assert_sample(record, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR);
  assert_true(live_is_in_touch(record->ip));
  assert_true(record->addr == live_touched(region, collector->records));
}

static void sample_ip_and_addr_of_page_faults_are_the_touched(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  char *region;

  support_need_own_events(__func__);
  region = live_region();
  live_touch_attr(&attr, PERF_SAMPLE_IP | PERF_SAMPLE_ADDR);
  live_begin(*state, &collector, &attr, NULL, check_touch, region);
  live_touch(region);
  live_end(&collector, LIVE_PAGES);
  live_region_free(region);
}

/* -- TID ------------------------------------------------------------------ */

typedef struct thread_s {
  uv_sem_t named;
  uv_sem_t go;
  uint32_t tid;
} thread_t;

static void write_in_thread(void *arg) {
  thread_t *thread = arg;

  thread->tid = live_tid();
  uv_sem_post(&thread->named);
  uv_sem_wait(&thread->go);
  live_write(3);
}

static void check_tid(live_collector_t *collector,
                      const uvperf_record_t *record) {
  const thread_t *thread = collector->hook_data;

  assert_sample(record, PERF_SAMPLE_TID);
  assert_int_equal(record->pid, getpid());
  assert_int_equal(record->tid, thread->tid);
}

static void sample_tid_of_a_thread_is_process_and_thread(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  thread_t shared;
  uv_thread_t thread;

  support_need_breakpoints(__func__);
  uv_sem_init(&shared.named, 0);
  uv_sem_init(&shared.go, 0);
  assert_int_equal(uv_thread_create(&thread, write_in_thread, &shared), 0);
  uv_sem_wait(&shared.named);
  assert_int_not_equal(shared.tid, getpid());
  live_write_attr(&attr, PERF_SAMPLE_TID);
  options.pid = (int32_t)shared.tid;
  live_begin(*state, &collector, &attr, &options, check_tid, &shared);
  live_write(5); /* of another thread: not seen */
  uv_sem_post(&shared.go);
  uv_thread_join(&thread);
  live_end(&collector, 3);
  uv_sem_destroy(&shared.named);
  uv_sem_destroy(&shared.go);
}

/* -- TIME ----------------------------------------------------------------- */

typedef struct times_s {
  uint64_t before[3];
  uint64_t after[3];
} times_t;

static void check_time(live_collector_t *collector,
                       const uvperf_record_t *record) {
  const times_t *times = collector->hook_data;
  uint64_t i = collector->records;

  assert_sample(record, PERF_SAMPLE_TIME);
  assert_true(record->time >= times->before[i]);
  assert_true(record->time <= times->after[i]);
}

static void sample_time_is_between_two_reads_of_the_clock(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  times_t times;
  size_t i;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_TIME);
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  live_begin(*state, &collector, &attr, NULL, check_time, &times);
  for (i = 0; i < 3; i++) {
    times.before[i] = live_now();
    live_write(1);
    times.after[i] = live_now();
  }
  live_end(&collector, 3);
}

/* -- ID, IDENTIFIER, STREAM_ID -------------------------------------------- */

static void check_ids(live_collector_t *collector,
                      const uvperf_record_t *record) {
  const struct perf_event_attr *attr =
      uvperf_handle_attr(&collector->event.handle, 0);
  uint64_t id;

  assert_int_equal(uvperf_event_id(&collector->event, &id), 0);
  assert_int_not_equal(id, 0);
  assert_sample(record, attr->sample_type);
  assert_true(record->id ==
              (attr->sample_type == PERF_SAMPLE_STREAM_ID ? 0 : id));
  assert_true(record->stream_id ==
              (attr->sample_type & PERF_SAMPLE_STREAM_ID ? id : 0));
  assert_ptr_equal(record->source->attr, attr);
  assert_true(record->source->ids[0] == id);
}

static void sample_ids_are_the_events(void **state) {
  static const uint64_t types[] = {
      PERF_SAMPLE_ID, PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_STREAM_ID,
      PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_STREAM_ID};
  live_collector_t collector;
  struct perf_event_attr attr;
  size_t i;

  support_need_breakpoints(__func__);
  for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
    live_write_attr(&attr, types[i]);
    live_begin(*state, &collector, &attr, NULL, check_ids, NULL);
    live_write(2);
    live_end(&collector, 2);
  }
}

/* A child's event has its parent's id and a STREAM_ID of its own. But if all
 * events of the parent are inherited, the kernel may exchange the events of
 * parent and child in a switch between the two (perf_event_context_sched_out()
 * in kernel/events/core.c). An event that is not inherited prevents that. */
typedef struct family_s {
  uint64_t id;
  pid_t child;
} family_t;

static void check_family(live_collector_t *collector,
                         const uvperf_record_t *record) {
  const family_t *family = collector->hook_data;

  assert_true(record->id == family->id);
  assert_ptr_not_equal(record->source, NULL);
  if (collector->records == 0) {
    assert_int_equal(record->pid, family->child);
    assert_true(record->stream_id != family->id);
  } else {
    assert_int_equal(record->pid, getpid());
    assert_true(record->stream_id == family->id);
  }
}

static int write_once(void *arg) {
  live_write(1);
  return 0;
}

static void sample_of_an_inherited_event_has_the_parents_id(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  live_collector_t private;
  struct perf_event_attr attr;
  family_t family;
  cpu_set_t old;
  int cpu;

  support_need_breakpoints(__func__);
  cpu = live_last_cpu();
  live_pin(cpu, &old);
  live_comm_attr(&attr);
  live_init(*state, &private, &attr, NULL);
  live_write_attr(&attr, PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID |
                             PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_TID);
  attr.inherit = 1;
  options.cpu = cpu;
  options.flags |= UVPERF_EVENT_CPU;
  live_begin(*state, &collector, &attr, &options, check_family, &family);
  assert_int_equal(uvperf_event_id(&collector.event, &family.id), 0);
  family.child = support_fork(write_once, NULL);
  assert_int_equal(support_wait(family.child), 0);
  live_write(1);
  live_end(&collector, 2);
  live_close(&private);
  live_unpin(&old);
}

/* -- CPU ------------------------------------------------------------------ */

static void check_cpu(live_collector_t *collector,
                      const uvperf_record_t *record) {
  const int *cpu = collector->hook_data;

  assert_sample(record, PERF_SAMPLE_CPU);
  assert_int_equal(record->cpu, *cpu);
}

static void sample_cpu_is_where_the_thread_is_pinned(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  cpu_set_t old;
  int cpus[4];
  size_t nr;
  size_t i;

  support_need_breakpoints(__func__);
  nr = live_cpus(cpus, 4);
  live_write_attr(&attr, PERF_SAMPLE_CPU);
  for (i = 0; i < nr; i++) {
    live_pin(cpus[i], &old);
    live_begin(*state, &collector, &attr, NULL, check_cpu, &cpus[i]);
    live_write(2);
    live_end(&collector, 2);
    live_unpin(&old);
  }
}

/* -- PERIOD --------------------------------------------------------------- */

static void check_period(live_collector_t *collector,
                         const uvperf_record_t *record) {
  const uint64_t *period = collector->hook_data;

  assert_sample(record, PERF_SAMPLE_PERIOD);
  assert_true(record->period == *period);
}

static void sample_period_of_a_clock_is_what_was_asked(void **state) {
  uint64_t period_ns = 200000;
  uint64_t deadline;
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  attr.sample_type = PERF_SAMPLE_PERIOD;
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  uvperf_attr_set_period(&attr, period_ns);
  uvperf_attr_set_wakeup_bytes(&attr, 1);
  live_begin(*state, &collector, &attr, NULL, check_period, &period_ns);
  deadline = live_now() + UINT64_C(20000000000);
  while (collector.records < 3 && live_now() < deadline) {
    live_write(10000);
    uv_run(*state, UV_RUN_NOWAIT);
  }
  assert_in_range(collector.records, 3, UINT64_MAX);
  live_close(&collector);
}

/* perf_swevent_event() in kernel/events/core.c: with PERF_SAMPLE_PERIOD a
 * software event with a period samples each time, and writes the amount, which
 * is 1 for a write. Without it the period is kept. */
static void sample_period_of_writes_is_1_each_time(void **state) {
  uint64_t one = 1;
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_PERIOD);
  uvperf_attr_set_period(&attr, 3);
  live_begin(*state, &collector, &attr, NULL, check_period, &one);
  live_write(9);
  live_end(&collector, 9);
}

static void check_nothing(live_collector_t *collector,
                          const uvperf_record_t *record) {
  assert_sample(record, 0);
  assert_int_equal(record->size, sizeof(struct perf_event_header));
}

static void sample_of_nothing_comes_every_period(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, 0);
  uvperf_attr_set_period(&attr, 3);
  live_begin(*state, &collector, &attr, NULL, check_nothing, NULL);
  live_write(9);
  live_end(&collector, 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sample_ip_of_execution_is_the_function),
      support_loop_test(sample_ip_and_addr_of_page_faults_are_the_touched),
      support_loop_test(sample_tid_of_a_thread_is_process_and_thread),
      support_loop_test(sample_time_is_between_two_reads_of_the_clock),
      support_loop_test(sample_ids_are_the_events),
      support_loop_test(sample_of_an_inherited_event_has_the_parents_id),
      support_loop_test(sample_cpu_is_where_the_thread_is_pinned),
      support_loop_test(sample_period_of_a_clock_is_what_was_asked),
      support_loop_test(sample_period_of_writes_is_1_each_time),
      support_loop_test(sample_of_nothing_comes_every_period),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
