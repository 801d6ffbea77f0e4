/* SPDX-License-Identifier: MIT */
/* Live: the stack and the registers of samples: CALLCHAIN, REGS_USER,
 * REGS_INTR, STACK_USER; and their fields if there are none. */
#include "live.h"

#include <asm/perf_regs.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Names of the registers of this machine: instruction pointer, stack pointer
 * and the first argument of a function. */
#if defined(__x86_64__)
#define REG_IP  PERF_REG_X86_IP
#define REG_SP  PERF_REG_X86_SP
#define REG_ARG PERF_REG_X86_DI
#elif defined(__aarch64__)
#define REG_IP  PERF_REG_ARM64_PC
#define REG_SP  PERF_REG_ARM64_SP
#define REG_ARG PERF_REG_ARM64_X0
#endif

#ifdef REG_IP
#define REGS                                                                   \
  (UINT64_C(1) << REG_IP | UINT64_C(1) << REG_SP | UINT64_C(1) << REG_ARG)
#define MARKS          4
#define LARGEST_SAMPLE 65528

/* -- CALLCHAIN ------------------------------------------------------------ */

typedef struct chain_s {
  uint64_t inner; /* where `middle` returns to */
  uint64_t outer;
} chain_t;

/* A leaf has no frame on some machines: check its callers'. */
__attribute__((noinline)) static void middle(chain_t *chain) {
  chain->inner = (uintptr_t)__builtin_return_address(0);
  live_write(1);
  __asm__ volatile("" : : : "memory"); /* not a tail call */
}

__attribute__((noinline)) static void outer(chain_t *chain) {
  chain->outer = (uintptr_t)__builtin_return_address(0);
  middle(chain);
  __asm__ volatile("" : : : "memory");
}

static void check_chain(live_collector_t *collector,
                        const uvperf_record_t *record) {
  const uint64_t *ips = record->sample.callchain.ips;
  uint64_t nr = record->sample.callchain.nr;
  const chain_t *chain = collector->hook_data;
  uint64_t i;

  assert_true(record->present == (PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN));
  assert_in_range(nr, 4, 127);
  assert_true(ips[0] == (uint64_t)PERF_CONTEXT_USER);
  assert_true(ips[1] == record->ip);
  for (i = 2; i < nr && ips[i] != chain->inner; i++)
    continue;
  assert_in_range(i, 2, nr - 2);
  assert_true(ips[i + 1] == chain->outer);
}

static void sample_callchain_has_the_callers_innermost_first(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  chain_t chain;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN);
  live_begin(*state, &collector, &attr, NULL, check_chain, &chain);
  outer(&chain);
  live_end(&collector, 1);
}

static void check_short_chain(live_collector_t *collector,
                              const uvperf_record_t *record) {
  /* The marks do not count. */
  assert_int_equal(record->sample.callchain.nr, 3);
}

static void sample_callchain_is_cut_at_max_stack(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  chain_t chain;

  support_need_breakpoints(__func__);
  live_write_attr(&attr, PERF_SAMPLE_CALLCHAIN);
  attr.sample_max_stack = 2;
  live_begin(*state, &collector, &attr, NULL, check_short_chain, NULL);
  outer(&chain);
  live_end(&collector, 1);
}

/* -- registers ------------------------------------------------------------ */

static void assert_regs(const uvperf_regs_t *regs, uint64_t argument) {
  uint64_t value;

  assert_int_equal(regs->abi, PERF_SAMPLE_REGS_ABI_64);
  assert_int_equal(regs->nr, 3);
  assert_true(regs->mask == REGS);
  assert_int_equal(uvperf_sample_regs_get(regs, REG_IP, &value), 0);
  assert_true(value == (uintptr_t)live_called);
  assert_int_equal(uvperf_sample_regs_get(regs, REG_ARG, &value), 0);
  assert_true(value == argument);
  assert_int_equal(uvperf_sample_regs_get(regs, REG_ARG + 1, &value),
                   UV_ENOENT);
}

static uint64_t argument_of(uint64_t i) {
  return UINT64_C(0x1122334455667788) * (i + 1);
}

static void check_regs(live_collector_t *collector,
                       const uvperf_record_t *record) {
  uint64_t argument = argument_of(collector->records);

  if (record->present & PERF_SAMPLE_REGS_USER)
    assert_regs(&record->sample.regs_user, argument);
  if (record->present & PERF_SAMPLE_REGS_INTR)
    assert_regs(&record->sample.regs_intr, argument);
}

static void take_regs(uv_loop_t *loop, uint64_t sample_type) {
  live_collector_t collector;
  struct perf_event_attr attr;

  live_called_attr(&attr, sample_type);
  if (sample_type & PERF_SAMPLE_REGS_USER)
    attr.sample_regs_user = REGS;
  if (sample_type & PERF_SAMPLE_REGS_INTR)
    attr.sample_regs_intr = REGS;
  live_begin(loop, &collector, &attr, NULL, check_regs, NULL);
  live_called(argument_of(0));
  live_called(argument_of(1));
  live_end(&collector, 2);
}

static void sample_regs_user_hold_the_argument_of_a_call(void **state) {
  support_need_breakpoints(__func__);
  take_regs(*state, PERF_SAMPLE_REGS_USER);
}

static void sample_regs_intr_hold_the_argument_of_a_call(void **state) {
  support_need_breakpoints(__func__);
  take_regs(*state, PERF_SAMPLE_REGS_INTR);
  take_regs(*state, PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_REGS_USER);
}

/* -- STACK_USER ----------------------------------------------------------- */

typedef struct marks_s {
  uint64_t address; /* of MARKS words on the stack */
  uint64_t most;    /* attr.sample_stack_user */
} marks_t;

/* The sanitizer might put the marks elsewhere. */
__attribute__((noinline, no_sanitize("address"))) static void
call_with_marks(marks_t *marks) {
  volatile uint64_t words[MARKS];
  uint64_t i;

  for (i = 0; i < MARKS; i++)
    words[i] = argument_of(i);
  marks->address = (uintptr_t)words;
  live_called(0);
  words[0] = 0;
}

static void check_marks(live_collector_t *collector,
                        const uvperf_record_t *record) {
  const uvperf_sample_t *sample = &record->sample;
  const char *stack = sample->stack_user.data;
  marks_t *marks = collector->hook_data;
  uint64_t word;
  uint64_t sp;
  uint64_t i;

  assert_int_equal(uvperf_sample_regs_get(&sample->regs_user, REG_SP, &sp), 0);
  assert_int_equal(sample->stack_user.size, marks->most);
  assert_in_range(sample->stack_user.dyn_size, 8, marks->most);
  assert_true(marks->address >= sp);
  assert_true(marks->address - sp + MARKS * 8 <= sample->stack_user.dyn_size);
  for (i = 0; i < MARKS; i++) {
    memcpy(&word, stack + (marks->address - sp) + i * 8, sizeof(word));
    assert_true(word == argument_of(i));
  }
}

static void sample_stack_user_holds_the_callers_variables(void **state) {
  static const uint32_t sizes[] = {1024, 8192, 32768};
  live_collector_t collector;
  struct perf_event_attr attr;
  marks_t marks;
  size_t i;

  support_need_breakpoints(__func__);
  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    live_called_attr(&attr, PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER);
    attr.sample_regs_user = REGS;
    attr.sample_stack_user = sizes[i];
    marks.most = sizes[i];
    live_begin(*state, &collector, &attr, NULL, check_marks, &marks);
    call_with_marks(&marks);
    live_end(&collector, 1);
  }
}

/* The last eight bytes of a page fault's sample of this thread, and the eight
 * after it. The last field should be PERF_SAMPLE_DATA_SRC. The ring is larger
 * than all records. */
static void read_tail(const char *test, struct perf_event_attr *attr,
                      uint64_t *last, uint64_t *behind) {
  size_t bytes = 17 * support_page_bytes();
  struct perf_event_mmap_page *page;
  const char *end;
  char *region;
  int fd;

  fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0)
    support_skip(test, "stacks in samples");
  page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  assert_true(page != MAP_FAILED);
  region = live_region();
  assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
  live_touch(region);
  assert_int_equal(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
  assert_in_range(page->data_head, 8, bytes / 2);
  end = (const char *)page + support_page_bytes() + page->data_head;
  memcpy(last, end - 8, 8);
  memcpy(behind, end, 8);
  live_region_free(region);
  munmap(page, bytes);
  close(fd);
}

/* Why the library refuses such samples. */
static void kernel_writes_a_stack_of_0_bytes_beyond_the_record(void **state) {
  static const uint64_t types[] = {0, PERF_SAMPLE_REGS_USER};
  uvperf_event_t event;
  struct perf_event_attr attr;
  uvperf_error_t error;
  uint64_t last, behind;
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
    live_touch_attr(&attr,
                    types[i] | PERF_SAMPLE_STACK_USER | PERF_SAMPLE_DATA_SRC);
    attr.sample_regs_user = REGS;
    attr.sample_stack_user = 8;
    read_tail(__func__, &attr, &last, &behind);
    assert_int_not_equal(last, 0);
    assert_int_equal(behind, 0);
    attr.sample_stack_user = 0;
    read_tail(__func__, &attr, &last, &behind);
    if (behind == 0)
      support_skip(__func__, "a kernel that writes beyond such records");
    assert_int_equal(last, 0);
    assert_int_equal(uvperf_event_init(*state, &event, &attr, NULL, &error),
                     UV_EINVAL);
    assert_non_null(strstr(error.reason, "sample_stack_user"));
  }
}

static void check_largest(live_collector_t *collector,
                          const uvperf_record_t *record) {
  assert_int_equal(record->size, LARGEST_SAMPLE);
  assert_int_equal(record->sample.stack_user.size,
                   *(uint32_t *)collector->hook_data);
  assert_int_equal(record->sample.regs_intr.nr, 3);
}

/* The head after some page faults. */
static uint64_t read_head(struct perf_event_attr *attr) {
  struct perf_event_mmap_page *page;
  size_t bytes = 65 * support_page_bytes();
  uint64_t head;
  char *region;
  int fd;

  fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  assert_true(page != MAP_FAILED);
  region = live_region();
  assert_int_equal(ioctl(fd, PERF_EVENT_IOC_ENABLE, 0), 0);
  live_touch(region);
  assert_int_equal(ioctl(fd, PERF_EVENT_IOC_DISABLE, 0), 0);
  head = page->data_head;
  live_region_free(region);
  munmap(page, bytes);
  close(fd);
  return head;
}

/* Two words more, and the kernel takes the sample for one of a few bytes. */
static void sample_of_64_kib_with_registers_is_the_largest(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_error_t error;
  uint32_t stack;

  support_need_breakpoints(__func__);
  options.ring_bytes = 64 * support_page_bytes();
  live_called_attr(&attr, PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR);
  attr.sample_regs_intr = REGS;
  /* Header, size, dyn_size, abi and three registers. */
  stack = LARGEST_SAMPLE - 7 * 8;
  attr.sample_stack_user = stack;
  live_begin(*state, &collector, &attr, &options, check_largest, &stack);
  live_called(0);
  live_end(&collector, 1);
  attr.sample_stack_user += 8;
  assert_int_equal(
      uvperf_event_init(*state, &collector.event, &attr, NULL, &error),
      UV_EINVAL);
  assert_non_null(strstr(error.reason, "65528"));

  live_touch_attr(&attr, PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR);
  attr.sample_regs_intr = REGS;
  attr.sample_stack_user = stack;
  assert_int_equal(read_head(&attr) % LARGEST_SAMPLE, 0);
  attr.sample_stack_user += 16;
  assert_in_range(read_head(&attr), 1, LARGEST_SAMPLE - 1);
}

/* -- neither -------------------------------------------------------------- */

static void check_kernel_thread(live_collector_t *collector,
                                const uvperf_record_t *record) {
  uint64_t *seen = collector->hook_data;
  uint64_t value;

  assert_int_equal(record->type, PERF_RECORD_SAMPLE);
  assert_true(record->present ==
              uvperf_handle_attr(&collector->event.handle, 0)->sample_type);
  assert_int_equal(record->cpu, 0);
  if (record->sample.regs_user.abi != PERF_SAMPLE_REGS_ABI_NONE)
    return;
  assert_int_equal(record->sample.regs_user.nr, 0);
  assert_int_equal(
      uvperf_sample_regs_get(&record->sample.regs_user, REG_IP, &value),
      UV_ENOENT);
  assert_int_equal(record->sample.stack_user.size, 0);
  assert_int_equal(record->sample.stack_user.dyn_size, 0);
  assert_true(record->sample.data_page_size == 0);
  *seen += 1;
}

/* A kernel thread has no user side: abi NONE without registers, and a stack of
 * size 0 without dyn_size. CPU 0's migration thread runs when a thread leaves
 * that CPU. */
static void sample_of_a_kernel_thread_has_no_registers(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t seen = 0;
  uint64_t id;
  cpu_set_t old;
  cpu_set_t ignored;
  int cpus[2];

  support_need_cpu_wide(__func__);
  id = support_need_tracepoint(__func__, "sched:sched_switch");
  if (live_cpus(cpus, 2) < 2 || cpus[0] != 0)
    support_skip(__func__, "CPU 0 and another");
  live_syscall_attr(&attr, id,
                    PERF_SAMPLE_CPU | PERF_SAMPLE_REGS_USER |
                        PERF_SAMPLE_STACK_USER | PERF_SAMPLE_TRANSACTION |
                        UVPERF_SAMPLE_DATA_PAGE_SIZE);
  attr.exclude_kernel = 0;
  attr.sample_regs_user = REGS;
  attr.sample_stack_user = 256;
  options.pid = -1;
  options.cpu = 0;
  options.flags |= UVPERF_EVENT_CPU;
  live_pin(0, &old);
  live_begin(*state, &collector, &attr, &options, check_kernel_thread, &seen);
  live_pin(cpus[1], &ignored);
  assert_true(live_run_until(*state, &seen, 1));
  live_close(&collector);
  live_unpin(&old);
}
#else
static void sample_registers_of_this_machine_are_known(void **state) {
  support_skip(__func__, "x86-64 or aarch64");
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
#ifdef REG_IP
      support_loop_test(sample_callchain_has_the_callers_innermost_first),
      support_loop_test(sample_callchain_is_cut_at_max_stack),
      support_loop_test(sample_regs_user_hold_the_argument_of_a_call),
      support_loop_test(sample_regs_intr_hold_the_argument_of_a_call),
      support_loop_test(sample_stack_user_holds_the_callers_variables),
      support_loop_test(kernel_writes_a_stack_of_0_bytes_beyond_the_record),
      support_loop_test(sample_of_64_kib_with_registers_is_the_largest),
      support_loop_test(sample_of_a_kernel_thread_has_no_registers),
#else
      support_loop_test(sample_registers_of_this_machine_are_known),
#endif
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
