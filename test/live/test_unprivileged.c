/* SPDX-License-Identifier: MIT */
/* What works on the process's own tasks without any privilege, at
 * perf_event_paranoid 2. What is refused is in test_unprivileged_refused.c. */
#include "live_unprivileged.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* How many registers of x86-64 lie before IP, PERF_REG_X86_IP. */
#define REGISTER_IP 8

/* Found out by the tests before the child drops its privileges. */
static char *region;
static uint64_t own_cgroup;
static uint64_t tracepoint;
static char delegated[600]; /* a cgroup in which the child may make another */

/* -- software ------------------------------------------------------------- */

static void touch(void) {
  live_touch(region);
  /* Removes the pages, so that they are new for the next line too. */
  madvise(region, LIVE_PAGES * support_page_bytes(), MADV_DONTNEED);
}

/* By the CPU's time, not the clock's, because other tasks may run. Most of it
 * is on the user side, which reading that time is not. */
static void spin(void) {
  volatile unsigned int steps;
  struct timespec now;
  long end;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  end = now.tv_sec * 1000 + now.tv_nsec / 1000000 + 20;
  while (now.tv_sec * 1000 + now.tv_nsec / 1000000 < end) {
    for (steps = 0; steps < 100000; steps++)
      continue;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  }
}

static void software_is_counted(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  attr.exclude_kernel = 1;
  live_unprivileged_count(report, &attr, spin, 1000, UINT64_MAX);
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  attr.exclude_kernel = 1;
  live_unprivileged_count(report, &attr, touch, LIVE_PAGES, UINT64_MAX);
}

static int is_clock_sample(const uvperf_record_t *record) {
  if (record->type != PERF_RECORD_SAMPLE)
    return 0;
  return record->tid == live_tid() && record->ip != 0 ? 1 : -1;
}

static void cpu_clock_is_sampled(live_unprivileged_report_t *report) {
  live_unprivileged_stream_t stream = {.provoke = spin,
                                       .is_expected = is_clock_sample};

  uvperf_attr_software(&stream.attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(&stream.attr, 1000000);
  stream.attr.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_IP;
  stream.attr.exclude_kernel = 1;
  stream.least = 1;
  live_unprivileged_stream(report, &stream);
}

/* A page fault of live_touch; other code faults too. */
static int is_touch(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_SAMPLE && live_is_in_touch(record->ip);
}

static void touches_are_sampled(live_unprivileged_report_t *report,
                                uint64_t sample_type,
                                int (*is_expected)(const uvperf_record_t *)) {
  live_unprivileged_stream_t stream = {.provoke = touch,
                                       .is_expected = is_expected};

  live_touch_attr(&stream.attr, PERF_SAMPLE_IP | sample_type);
  stream.attr.sample_regs_user = 1 << REGISTER_IP;
  stream.attr.sample_stack_user = 256;
  stream.least = stream.most = LIVE_PAGES;
  live_unprivileged_stream(report, &stream);
}

static int has_callchain(const uvperf_record_t *record) {
  const uvperf_sample_t *sample = &record->sample;

  if (!is_touch(record))
    return 0;
  return sample->callchain.nr >= LIVE_LEAST_CHAIN &&
                 sample->callchain.ips[0] == (uint64_t)PERF_CONTEXT_USER &&
                 (sample->callchain.nr == 1 ||
                  sample->callchain.ips[1] == record->ip)
             ? 1
             : -1;
}

static void callchain_is_sampled(live_unprivileged_report_t *report) {
  touches_are_sampled(report, PERF_SAMPLE_CALLCHAIN, has_callchain);
}

static int has_registers(const uvperf_record_t *record) {
  uint64_t value;

  if (!is_touch(record))
    return 0;
  if (uvperf_sample_regs_get(&record->sample.regs_user, REGISTER_IP, &value) !=
      0)
    return -1;
#if defined(__x86_64__)
  return value == record->ip ? 1 : -1;
#else
  return 1;
#endif
}

static void registers_are_sampled(live_unprivileged_report_t *report) {
  touches_are_sampled(report, PERF_SAMPLE_REGS_USER, has_registers);
}

static int has_stack(const uvperf_record_t *record) {
  if (!is_touch(record))
    return 0;
  return record->sample.stack_user.size == 256 &&
                 record->sample.stack_user.dyn_size != 0
             ? 1
             : -1;
}

static void stack_is_sampled(live_unprivileged_report_t *report) {
  touches_are_sampled(report, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
                      has_stack);
}

static int has_cgroup(const uvperf_record_t *record) {
  if (!is_touch(record))
    return 0;
  return record->sample.cgroup == own_cgroup ? 1 : -1;
}

static void cgroup_is_sampled(live_unprivileged_report_t *report) {
  touches_are_sampled(report, PERF_SAMPLE_CGROUP, has_cgroup);
}

static int has_code_page(const uvperf_record_t *record) {
  if (!is_touch(record))
    return 0;
  return record->sample.code_page_size >= support_page_bytes() ? 1 : -1;
}

static void code_page_size_is_sampled(live_unprivileged_report_t *report) {
  touches_are_sampled(report, UVPERF_SAMPLE_CODE_PAGE_SIZE, has_code_page);
}

static void unprivileged_software_events_work(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"software events are counted", software_is_counted},
      {"cpu-clock is sampled", cpu_clock_is_sampled},
      {"call chains are sampled", callchain_is_sampled},
      {"registers are sampled", registers_are_sampled},
      {"the stack is sampled", stack_is_sampled},
      {"the cgroup is sampled", cgroup_is_sampled},
      {"the page size of code is sampled", code_page_size_is_sampled},
  };

  own_cgroup = live_cgroup_own(__func__);
  region = live_region();
  live_unprivileged_run(__func__, lines, COUNT_OF(lines));
  live_region_free(region);
}

/* -- tracepoints ---------------------------------------------------------- */

static void call(void) {
  live_syscall(3);
}

static void system_calls_are_counted(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  uvperf_attr_tracepoint(&attr, tracepoint);
  attr.exclude_kernel = 1;
  live_unprivileged_count(report, &attr, call, 3, 3);
}

/* As the kernel's struct syscall_trace_enter. */
typedef struct system_call_s {
  uint64_t common;
  int number;
  unsigned long argument;
} system_call_t;

static int has_argument(const uvperf_record_t *record) {
  unsigned long argument;

  if (record->type != PERF_RECORD_SAMPLE ||
      record->sample.raw.size < sizeof(system_call_t))
    return -1;
  memcpy(&argument,
         (const char *)record->sample.raw.data +
             offsetof(system_call_t, argument),
         sizeof(argument));
  return argument == LIVE_PGID && record->tid == live_tid() ? 1 : -1;
}

static void
data_of_system_calls_is_sampled(live_unprivileged_report_t *report) {
  live_unprivileged_stream_t stream = {.provoke = call,
                                       .is_expected = has_argument};

  live_syscall_attr(&stream.attr, tracepoint,
                    PERF_SAMPLE_TID | PERF_SAMPLE_RAW);
  stream.least = stream.most = 3;
  live_unprivileged_stream(report, &stream);
}

static void unprivileged_system_call_tracepoints_work(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"system calls are counted", system_calls_are_counted},
      {"system calls are sampled with RAW", data_of_system_calls_is_sampled},
  };

  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_unprivileged_run(__func__, lines, COUNT_OF(lines));
}

/* -- breakpoints ---------------------------------------------------------- */

static void write_word(void) {
  live_write(3);
}

static int is_of_word(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_SAMPLE &&
                 record->addr == (uintptr_t)&live_word &&
                 record->sample.data_page_size >= support_page_bytes()
             ? 1
             : -1;
}

static void writes_are_sampled(live_unprivileged_report_t *report) {
  live_unprivileged_stream_t stream = {.provoke = write_word,
                                       .is_expected = is_of_word};

  live_write_attr(&stream.attr,
                  PERF_SAMPLE_ADDR | UVPERF_SAMPLE_DATA_PAGE_SIZE);
  stream.least = stream.most = 3;
  live_unprivileged_stream(report, &stream);
}

static void call_function(void) {
  live_called(1);
  live_called(2);
}

static int is_of_function(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_SAMPLE &&
                 record->ip == (uintptr_t)live_called
             ? 1
             : -1;
}

static void calls_are_sampled(live_unprivileged_report_t *report) {
  live_unprivileged_stream_t stream = {.provoke = call_function,
                                       .is_expected = is_of_function};

  live_called_attr(&stream.attr, PERF_SAMPLE_IP);
  stream.least = stream.most = 2;
  live_unprivileged_stream(report, &stream);
}

static void writes_are_counted(live_unprivileged_report_t *report) {
  struct perf_event_attr attr;

  live_write_attr(&attr, 0);
  attr.sample_period = 0;
  live_unprivileged_count(report, &attr, write_word, 3, 3);
}

static void unprivileged_breakpoints_work(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"writes are counted", writes_are_counted},
      {"writes are sampled, with the page size", writes_are_sampled},
      {"calls are sampled", calls_are_sampled},
  };

  support_need_breakpoints(__func__);
  live_write(1);
  live_unprivileged_run(__func__, lines, COUNT_OF(lines));
}

/* -- side-band ------------------------------------------------------------ */

/* Another event than live_comm_attr's, with one bit set. */
static void side_band(live_unprivileged_report_t *report,
                      enum uvperf_attr_field bit, void (*provoke)(void),
                      int (*is_expected)(const uvperf_record_t *)) {
  live_unprivileged_stream_t stream = {.provoke = provoke,
                                       .is_expected = is_expected};

  live_comm_attr(&stream.attr);
  stream.attr.comm = 0;
  if (uvperf_attr_set(&stream.attr, bit, 1) != 0)
    live_unprivileged_wrong(report, "the attr has no such bit");
  stream.attr.mmap2 = stream.attr.mmap;
  stream.least = provoke != NULL;
  live_unprivileged_stream(report, &stream);
}

static void rename_thread(void) {
  prctl(PR_SET_NAME, "nobody");
}

static int is_of_rename(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_COMM &&
         strcmp(record->comm.comm, "nobody") == 0 && record->tid == live_tid();
}

static void comm_comes(live_unprivileged_report_t *report) {
  side_band(report, UVPERF_ATTR_COMM, rename_thread, is_of_rename);
}

static uint64_t mapped;

static void map_code(void) {
  int fd = open("/bin/sh", O_RDONLY | O_CLOEXEC);
  void *address = mmap(NULL, support_page_bytes(), PROT_READ | PROT_EXEC,
                       MAP_PRIVATE, fd, 0);

  mapped = (uintptr_t)address;
  if (address != MAP_FAILED)
    munmap(address, support_page_bytes());
  close(fd);
}

static int is_of_map(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_MMAP2 && record->mmap.addr == mapped &&
         record->mmap.filename[0] == '/';
}

static void mmap_comes(live_unprivileged_report_t *report) {
  side_band(report, UVPERF_ATTR_MMAP, map_code, is_of_map);
}

static pid_t forked;

static void fork_once(void) {
  forked = fork();
  if (forked == 0)
    _exit(0);
  waitpid(forked, NULL, 0);
}

static int is_of_fork(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_FORK &&
         record->task.pid == (uint32_t)forked &&
         record->task.ppid == (uint32_t)getpid();
}

static void task_comes(live_unprivileged_report_t *report) {
  side_band(report, UVPERF_ATTR_TASK, fork_once, is_of_fork);
}

/* Waiting for a child makes another run. */
static int is_of_switch(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_SWITCH &&
         uvperf_record_is_switch_out(record);
}

/* It leaves its CPU. */
static void sleep_once(void) {
  usleep(1000);
}

static void context_switch_comes(live_unprivileged_report_t *report) {
  side_band(report, UVPERF_ATTR_CONTEXT_SWITCH, sleep_once, is_of_switch);
}

static void make_cgroup(void) {
  char path[700];

  snprintf(path, sizeof(path), "%s/inner", delegated);
  mkdir(path, 0700);
  rmdir(path);
}

static int is_of_cgroup(const uvperf_record_t *record) {
  return record->type == PERF_RECORD_CGROUP &&
         record->cgroup.path_size > strlen("/inner") &&
         strcmp(record->cgroup.path + record->cgroup.path_size -
                    strlen("/inner"),
                "/inner") == 0;
}

static void cgroup_comes(live_unprivileged_report_t *report) {
  if (delegated[0] == '\0')
    live_unprivileged_absent(report, "a cgroup of one's own, to make a record");
  side_band(report, UVPERF_ATTR_CGROUP,
            delegated[0] == '\0' ? NULL : make_cgroup, is_of_cgroup);
}

/* Making these records, by loading BPF programs, needs a privilege. */
static void ksymbol_opens(live_unprivileged_report_t *report) {
  side_band(report, UVPERF_ATTR_KSYMBOL, NULL, NULL);
}

static void bpf_event_opens(live_unprivileged_report_t *report) {
  side_band(report, UVPERF_ATTR_BPF_EVENT, NULL, NULL);
}

/* Gives the child a cgroup, as a service manager does; root can. */
static void delegate(const char *test) {
  live_cgroup_t cgroup;

  if (geteuid() != 0)
    return;
  live_cgroup_make(test, &cgroup);
  snprintf(delegated, sizeof(delegated), "%s", cgroup.path);
  close(cgroup.fd);
  assert_int_equal(chown(delegated, EXPLAIN_NOBODY, EXPLAIN_NOBODY), 0);
}

/* Also if the test has failed. */
static int take_back(void **state) {
  int rc = delegated[0] == '\0' ? 0 : rmdir(delegated);

  delegated[0] = '\0';
  return rc;
}

static void unprivileged_side_band_works(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"comm", comm_comes},           {"mmap", mmap_comes},
      {"task", task_comes},           {"context_switch", context_switch_comes},
      {"cgroup", cgroup_comes},       {"ksymbol", ksymbol_opens},
      {"bpf_event", bpf_event_opens},
  };

  explain_need_paranoid(__func__, 2, 2);
  delegate(__func__);
  live_unprivileged_run(__func__, lines, COUNT_OF(lines));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unprivileged_software_events_work),
      cmocka_unit_test(unprivileged_system_call_tracepoints_work),
      cmocka_unit_test(unprivileged_breakpoints_work),
      cmocka_unit_test_teardown(unprivileged_side_band_works, take_back),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
