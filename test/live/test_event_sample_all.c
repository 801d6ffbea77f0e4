/* SPDX-License-Identifier: MIT */
/* Live: RAW and CGROUP, all fields together in one sample, and the fields that
 * need a PMU. */
#include "live.h"

#include <asm/perf_regs.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* -- RAW ------------------------------------------------------------------ */

/* The kernel's struct syscall_trace_enter, with one argument. Before the number
 * PREEMPT_RT has 4 bytes more (common_preempt_lazy_count). */
typedef struct getpgid_s {
  uint16_t type;
  uint8_t flags;
  uint8_t preempt_count;
  int32_t pid;
  int32_t nr;
#if __SIZEOF_LONG__ == 8
  int32_t padding; /* or the number */
#endif
  unsigned long argument;
} getpgid_t;

/* Read by the tracepoint's format. */
static int32_t number_of(const getpgid_t *raw) {
  char path[4096], line[256];
  size_t size = sizeof(path), offset = 0;
  int32_t number;
  FILE *file;

  assert_int_equal(uvperf_tracefs_path(path, &size), 0);
  strcat(path, "/events/syscalls/sys_enter_getpgid/format");
  file = fopen(path, "re");
  assert_non_null(file);
  while (fgets(line, sizeof(line), file) != NULL)
    sscanf(line, "\tfield:int __syscall_nr;\toffset:%zu;", &offset);
  fclose(file);
  assert_in_range(offset, 8, sizeof(*raw) - sizeof(number));
  memcpy(&number, (const char *)raw + offset, sizeof(number));
  return number;
}

static void assert_getpgid(const uvperf_sample_t *sample, uint64_t tracepoint) {
  getpgid_t raw;

  assert_true(sample->raw.size >= sizeof(raw));
  assert_int_equal((4 + sample->raw.size) % 8, 0);
  assert_true(sample->raw.size < sizeof(raw) + 8); /* no more than padding */
  memcpy(&raw, sample->raw.data, sizeof(raw));
  assert_int_equal(raw.type, tracepoint);
  assert_int_equal(raw.pid, live_tid());
  assert_int_equal(number_of(&raw), SYS_getpgid);
  assert_int_equal(raw.argument, LIVE_PGID);
}

static void check_raw(live_collector_t *collector,
                      const uvperf_record_t *record) {
  const uint64_t *tracepoint = collector->hook_data;

  assert_true(record->present == PERF_SAMPLE_RAW);
  assert_getpgid(&record->sample, *tracepoint);
}

static void sample_raw_of_a_system_call_has_its_argument(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t id;

  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_syscall_attr(&attr, id, PERF_SAMPLE_RAW);
  live_begin(*state, &collector, &attr, NULL, check_raw, &id);
  live_syscall(3);
  live_end(&collector, 3);
}

static void check_no_raw(live_collector_t *collector,
                         const uvperf_record_t *record) {
  uint32_t zero;

  assert_true(record->present == PERF_SAMPLE_RAW);
  assert_int_equal(record->sample.raw.size, 4);
  memcpy(&zero, record->sample.raw.data, sizeof(zero));
  assert_int_equal(zero, 0);
}

static void sample_raw_of_what_has_none_is_4_zeroes(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_RAW);
  live_begin(*state, &collector, &attr, NULL, check_no_raw, NULL);
  live_write(1);
  live_end(&collector, 1);
}

/* -- CGROUP --------------------------------------------------------------- */

static void check_cgroup(live_collector_t *collector,
                         const uvperf_record_t *record) {
  const uint64_t *id = collector->hook_data;

  assert_true(record->present == PERF_SAMPLE_CGROUP);
  assert_true(record->sample.cgroup == *id);
}

static void write_twice(void *arg) {
  live_write(2);
}

static void sample_cgroup_is_the_one_that_the_child_is_in(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  live_cgroup_t cgroup;
  live_worker_t worker;

  support_need_breakpoints(__func__);
  live_cgroup_make(__func__, &cgroup);
  live_worker_fork(&worker, write_twice, NULL);
  live_cgroup_add(&cgroup, worker.pid);
  live_write_attr(&attr, PERF_SAMPLE_CGROUP);
  options.pid = worker.pid;
  live_begin(*state, &collector, &attr, &options, check_cgroup, &cgroup.id);
  live_worker_do(&worker);
  live_end(&collector, 2);
  live_worker_end(&worker);
  live_cgroup_remove(&cgroup);
}

/* -- all ------------------------------------------------------------------ */

#if defined(__x86_64__)
#define REG_IP PERF_REG_X86_IP
#elif defined(__aarch64__)
#define REG_IP PERF_REG_ARM64_PC
#elif defined(__arm__)
#define REG_IP PERF_REG_ARM_PC
#elif defined(__s390x__)
#define REG_IP PERF_REG_S390_PC
#else
#define REG_IP 0
#endif

/* All bits but WEIGHT_STRUCT, which excludes WEIGHT, BRANCH_STACK and AUX. */
#define ALL_BITS                                                               \
  (((UINT64_C(1) << 25) - 1) & ~(UVPERF_SAMPLE_WEIGHT_STRUCT |                 \
                                 PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_AUX))
#define STACK_BYTES 512

typedef struct all_s {
  uint64_t tracepoint; /* 0: it is a breakpoint on live_called */
  uint64_t id;
  uint64_t before;
  uint64_t cgroup;
  uint64_t physical;
  int cpu;
} all_t;

static void assert_head(const all_t *all, const uvperf_record_t *record) {
  assert_int_equal(record->pid, getpid());
  assert_int_equal(record->tid, live_tid());
  assert_true(record->time >= all->before && record->time <= live_now());
  assert_true(record->id == all->id);
  assert_true(record->stream_id == all->id);
  assert_int_equal(record->cpu, all->cpu);
  assert_int_equal(record->period, 1);
}

static void assert_middle(const uvperf_record_t *record, uint64_t turn) {
  const uvperf_sample_t *sample = &record->sample;
  uvperf_count_t count;
  uint64_t ip;

  assert_int_equal(uvperf_values_get(&sample->read, 0, &count), 0);
  assert_int_equal(count.value, turn);
  assert_in_range(sample->callchain.nr, LIVE_LEAST_CHAIN, 127);
  assert_true(sample->callchain.ips[0] == (uint64_t)PERF_CONTEXT_USER);
  if (sample->callchain.nr > 1)
    assert_true(sample->callchain.ips[1] == record->ip);
  assert_int_equal(uvperf_sample_regs_get(&sample->regs_user, REG_IP, &ip), 0);
  assert_true(REG_IP == 0 || ip == record->ip);
  assert_int_equal(uvperf_sample_regs_get(&sample->regs_intr, REG_IP, &ip), 0);
  assert_true(REG_IP == 0 || ip == record->ip);
  assert_int_equal(sample->stack_user.size, STACK_BYTES);
  assert_in_range(sample->stack_user.dyn_size, 8, STACK_BYTES);
  assert_int_equal(sample->weight.full, 0);
  assert_int_equal(sample->transaction, 0);
}

static void check_all(live_collector_t *collector,
                      const uvperf_record_t *record) {
  const struct perf_event_attr *attr =
      uvperf_handle_attr(&collector->event.handle, 0);
  const uvperf_sample_t *sample = &record->sample;
  const all_t *all = collector->hook_data;

  assert_true(record->present == attr->sample_type);
  assert_head(all, record);
  assert_middle(record, collector->records + 1);
  assert_true(sample->cgroup == all->cgroup);
  assert_int_equal(sample->code_page_size, sysconf(_SC_PAGESIZE));
  if (all->tracepoint != 0) {
    assert_getpgid(sample, all->tracepoint);
    assert_true(record->addr == 0 && sample->phys_addr == 0);
    return;
  }
  assert_int_equal(sample->raw.size, 4);
  assert_true(record->ip == (uintptr_t)live_called);
  assert_true(record->addr == (uintptr_t)live_called);
  assert_true(sample->phys_addr == all->physical);
  assert_int_equal(sample->data_page_size, sysconf(_SC_PAGESIZE));
}

static void ask_for_all(struct perf_event_attr *attr) {
  attr->read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_ID;
  attr->sample_regs_user = UINT64_C(1) << REG_IP | 1;
  attr->sample_regs_intr = UINT64_C(1) << REG_IP | 1;
  attr->sample_stack_user = STACK_BYTES;
  attr->use_clockid = 1;
  attr->clockid = CLOCK_MONOTONIC;
}

static void begin_all(uv_loop_t *loop, live_collector_t *collector,
                      struct perf_event_attr *attr, all_t *all) {
  ask_for_all(attr);
  live_begin(loop, collector, attr, NULL, check_all, all);
  assert_int_equal(uvperf_event_id(&collector->event, &all->id), 0);
  all->before = live_now();
}

static void sample_of_a_breakpoint_with_all_bits_is_decoded(void **state) {
  static const uint64_t types[] = {ALL_BITS,
                                   (ALL_BITS & ~(uint64_t)PERF_SAMPLE_WEIGHT) |
                                       UVPERF_SAMPLE_WEIGHT_STRUCT};
  live_collector_t collector;
  struct perf_event_attr attr;
  all_t all = {0, 0, 0, 0, 0, 0};
  cpu_set_t old;
  size_t i;

  support_need_admin(__func__);
  support_need_breakpoints(__func__);
  all.cgroup = live_cgroup_own(__func__);
  live_called(0);
  all.physical = live_physical((const void *)(uintptr_t)live_called);
  all.cpu = live_last_cpu();
  live_pin(all.cpu, &old);
  for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
    live_called_attr(&attr, types[i]);
    begin_all(*state, &collector, &attr, &all);
    live_called(1);
    live_called(2);
    live_end(&collector, 2);
  }
  live_unpin(&old);
}

static void sample_of_a_tracepoint_with_all_bits_is_decoded(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  all_t all = {0, 0, 0, 0, 0, 0};
  cpu_set_t old;

  support_need_admin(__func__);
  all.tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  all.cgroup = live_cgroup_own(__func__);
  all.cpu = live_last_cpu();
  live_pin(all.cpu, &old);
  live_syscall_attr(&attr, all.tracepoint, ALL_BITS);
  begin_all(*state, &collector, &attr, &all);
  live_syscall(2);
  live_end(&collector, 2);
  live_unpin(&old);
}

/* -- fields that need a PMU ----------------------------------------------- */

static void assert_refused(uv_loop_t *loop, const struct perf_event_attr *attr,
                           int code, int cause) {
  uvperf_error_t error;
  uvperf_event_t event;
  int rc;

  memset(&error, 0, sizeof(error));
  rc = uvperf_event_init(loop, &event, attr, NULL, &error);
  if (rc == 0) {
    /* There is a PMU that can. */
    uvperf_close(&event.handle, NULL);
    uv_run(loop, UV_RUN_DEFAULT);
    return;
  }
  assert_int_equal(rc, code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, cause);
  assert_int_not_equal(error.reason[0], '\0');
}

static void sample_aux_without_an_aux_leader_is_einval(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  live_touch_attr(&attr, PERF_SAMPLE_AUX);
  attr.aux_sample_size = 4096;
  assert_refused(*state, &attr, UV_EINVAL, UVPERF_CAUSE_NOT_SUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sample_raw_of_a_system_call_has_its_argument),
      support_loop_test(sample_raw_of_what_has_none_is_4_zeroes),
      support_loop_test(sample_cgroup_is_the_one_that_the_child_is_in),
      support_loop_test(sample_of_a_breakpoint_with_all_bits_is_decoded),
      support_loop_test(sample_of_a_tracepoint_with_all_bits_is_decoded),
      support_loop_test(sample_aux_without_an_aux_leader_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
