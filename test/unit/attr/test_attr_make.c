/* SPDX-License-Identifier: MIT */
/* The constructors of attrs, copying them, and what they say about records; the
 * kernel accepts what the constructors make. */
#include "support.h"

#include <sys/mman.h>
#include <unistd.h>

#include <linux/hw_breakpoint.h>

#include "attr/attr.h"
#include "host/system.h"
#include "sys/sys.h"

static const enum uvperf_attr_field side_band[] = {
    UVPERF_ATTR_MMAP,           UVPERF_ATTR_MMAP_DATA, UVPERF_ATTR_MMAP2,
    UVPERF_ATTR_COMM,           UVPERF_ATTR_TASK,      UVPERF_ATTR_NAMESPACES,
    UVPERF_ATTR_CONTEXT_SWITCH, UVPERF_ATTR_KSYMBOL,   UVPERF_ATTR_BPF_EVENT,
    UVPERF_ATTR_CGROUP,         UVPERF_ATTR_TEXT_POKE, UVPERF_ATTR_AUX_OUTPUT,
};

static struct perf_event_attr attr;

static void expect(uint32_t type, uint64_t config) {
  struct perf_event_attr want;

  memset(&want, 0, sizeof(want));
  want.size = sizeof(want);
  want.type = type;
  want.config = config;
  assert_memory_equal(&attr, &want, sizeof(want));
}

static void attr_constructor_sets_type_and_config_alone(void **state) {
  memset(&attr, 0xff, sizeof(attr));
  uvperf_attr_hardware(&attr, PERF_COUNT_HW_INSTRUCTIONS);
  expect(PERF_TYPE_HARDWARE, 1);
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  expect(PERF_TYPE_SOFTWARE, 2);
  uvperf_attr_cache(&attr, PERF_COUNT_HW_CACHE_LL, PERF_COUNT_HW_CACHE_OP_WRITE,
                    PERF_COUNT_HW_CACHE_RESULT_MISS);
  expect(PERF_TYPE_HW_CACHE, 0x10102);
  uvperf_attr_raw(&attr, 0x1234567890);
  expect(PERF_TYPE_RAW, 0x1234567890);
  uvperf_attr_tracepoint(&attr, 316);
  expect(PERF_TYPE_TRACEPOINT, 316);
}

static void attr_breakpoint_sets_its_three_fields(void **state) {
  uvperf_attr_breakpoint(&attr, HW_BREAKPOINT_W, 0x1000, HW_BREAKPOINT_LEN_4);
  assert_int_equal(attr.type, PERF_TYPE_BREAKPOINT);
  assert_int_equal(attr.config, 0);
  assert_int_equal(attr.bp_type, HW_BREAKPOINT_W);
  assert_int_equal(attr.bp_addr, 0x1000);
  assert_int_equal(attr.bp_len, 4);
}

static void attr_period_and_frequency_exclude_each_other(void **state) {
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(&attr, 99);
  assert_int_equal(attr.freq, 1);
  assert_int_equal(attr.sample_freq, 99);
  uvperf_attr_set_period(&attr, 100000);
  assert_int_equal(attr.freq, 0);
  assert_int_equal(attr.sample_period, 100000);
}

static void attr_wakeups_exclude_each_other(void **state) {
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_wakeup_bytes(&attr, 4096);
  assert_int_equal(attr.watermark, 1);
  assert_int_equal(attr.wakeup_watermark, 4096);
  uvperf_attr_set_wakeup_events(&attr, 3);
  assert_int_equal(attr.watermark, 0);
  assert_int_equal(attr.wakeup_events, 3);
}

/* Through bytes, as compilers warn of a struct in a block smaller than it. */
static void set_size(void *block, uint32_t size) {
  memcpy((char *)block + 4, &size, sizeof(size));
}

static void attr_copy_of_64_bytes_is_0_after_them(void **state) {
  struct perf_event_attr *small = malloc(64);
  struct perf_event_attr *copy = NULL;
  uint8_t zero[sizeof(*copy) - 64] = {0};

  assert_non_null(small);
  memset(small, 0x5a, 64);
  set_size(small, 64);
  assert_int_equal(uvperf__attr_copy(&copy, small, NULL), 0);
  assert_memory_equal(copy, small, 64);
  assert_memory_equal((char *)copy + 64, zero, sizeof(zero));
  free(copy);
  set_size(small, 0);
  assert_int_equal(uvperf__attr_copy(&copy, small, NULL), 0);
  assert_int_equal(copy->size, 64);
  free(copy);
  free(small);
}

static void attr_copy_copies_more_than_the_header_has(void **state) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  struct perf_event_attr *big = malloc(page);
  struct perf_event_attr *copy = NULL;

  assert_non_null(big);
  memset(big, 0x5a, page);
  big->size = (uint32_t)page;
  assert_int_equal(uvperf__attr_copy(&copy, big, NULL), 0);
  assert_memory_equal(copy, big, page);
  free(copy);
  free(big);
}

static void attr_copy_of_bad_size_is_refused(void **state) {
  struct perf_event_attr *copy = NULL;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.size = 63;
  assert_int_equal(uvperf__attr_copy(&copy, &attr, NULL), -EINVAL);
  attr.size = (uint32_t)sysconf(_SC_PAGESIZE) + 1;
  assert_int_equal(uvperf__attr_copy(&copy, &attr, NULL), -E2BIG);
  attr.size = UINT32_MAX;
  assert_int_equal(uvperf__attr_copy(&copy, &attr, NULL), -E2BIG);
  assert_null(copy);
}

static void attr_that_only_counts_writes_no_records(void **state) {
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.exclude_kernel = 1;
  attr.inherit = 1;
  attr.sample_id_all = 1;
  attr.comm_exec = 1;
  attr.sample_type = PERF_SAMPLE_TID;
  assert_false(uvperf__attr_writes_records(&attr));
}

static void attr_that_samples_writes_records(void **state) {
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(&attr, 1);
  assert_true(uvperf__attr_writes_records(&attr));
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_frequency(&attr, 1);
  assert_true(uvperf__attr_writes_records(&attr));
}

static void attr_of_bpf_output_writes_records(void **state) {
  uvperf_attr_software(&attr, PERF_COUNT_SW_BPF_OUTPUT);
  assert_true(uvperf__attr_writes_records(&attr));
  uvperf_attr_raw(&attr, PERF_COUNT_SW_BPF_OUTPUT);
  assert_false(uvperf__attr_writes_records(&attr));
}

/* Probes have dynamic types, from PERF_TYPE_MAX on. */
static void attr_of_a_tracepoint_or_probe_closes_slowly(void **state) {
  uint32_t type;

  for (type = 0; type < PERF_TYPE_MAX + 2; type++) {
    uvperf_attr_init(&attr, type, 0);
    assert_int_equal(uvperf__attr_closes_slowly(&attr),
                     type == PERF_TYPE_TRACEPOINT || type >= PERF_TYPE_MAX);
  }
}

/* Side-band records, and events that only count, have no stack dump. */
static void attr_of_samples_with_a_stack_of_0_bytes_has_a_fault(void **state) {
  uvperf_attr_software(&attr, PERF_COUNT_SW_BPF_OUTPUT);
  assert_null(uvperf__attr_fault(&attr));
  attr.sample_type = PERF_SAMPLE_STACK_USER;
  assert_non_null(uvperf__attr_fault(&attr));
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.sample_type = PERF_SAMPLE_STACK_USER;
  attr.comm = 1;
  assert_null(uvperf__attr_fault(&attr));
  uvperf_attr_set_period(&attr, 1);
  assert_non_null(uvperf__attr_fault(&attr));
  attr.sample_stack_user = 8;
  assert_null(uvperf__attr_fault(&attr));
  attr.size = PERF_ATTR_SIZE_VER2; /* it has no such field */
  assert_non_null(uvperf__attr_fault(&attr));
  attr.sample_type = PERF_SAMPLE_REGS_USER;
  assert_null(uvperf__attr_fault(&attr));
}

static void expect_largest(uint32_t stack) {
  attr.sample_stack_user = stack;
  assert_null(uvperf__attr_fault(&attr));
  attr.sample_stack_user = stack + 8;
  assert_non_null(uvperf__attr_fault(&attr));
}

/* The kernel cuts the stack so that the sample fits, but not the fields that it
 * adds later. */
static void attr_of_samples_above_64_kib_has_a_fault(void **state) {
  const uint64_t stack = PERF_SAMPLE_STACK_USER;

  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(&attr, 1);
  attr.sample_type = stack | PERF_SAMPLE_REGS_USER;
  attr.sample_regs_user = 7;
  attr.sample_stack_user = 65528;
  assert_null(uvperf__attr_fault(&attr));
  attr.sample_type = stack | PERF_SAMPLE_REGS_INTR;
  attr.sample_regs_intr = 7;
  expect_largest(65472);
  attr.sample_type |= PERF_SAMPLE_REGS_USER;
  expect_largest(65472 - 4 * 8);
  attr.sample_type = stack | PERF_SAMPLE_AUX;
  expect_largest(65528 - 4 * 8);
  attr.sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  expect_largest(65528 - 7 * 8);
  attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
  expect_largest(65528 - (8 + 127 + 8) * 8);
  attr.sample_max_stack = 10;
  expect_largest(65528 - (8 + 10 + 8) * 8);
  attr.sample_type = stack | PERF_SAMPLE_AUX | PERF_SAMPLE_READ;
  expect_largest(65528 - 5 * 8 - 32);
  attr.read_format = PERF_FORMAT_GROUP;
  expect_largest(65528 - 5 * 8 - 16 * 1024);
  attr.sample_type = stack | PERF_SAMPLE_AUX | PERF_SAMPLE_BRANCH_STACK;
  expect_largest(65528 - 5 * 8 - 8 - 64 * 32);
  attr.sample_type = stack | PERF_SAMPLE_AUX | PERF_SAMPLE_RAW;
  expect_largest(65528 - 5 * 8 - 8192);
  /* The output of a program has no bound of its own. */
  attr.config = PERF_COUNT_SW_BPF_OUTPUT;
  attr.sample_stack_user = 8;
  assert_non_null(uvperf__attr_fault(&attr));
  attr.sample_type = stack | PERF_SAMPLE_RAW;
  assert_null(uvperf__attr_fault(&attr));
}

static void attr_with_side_band_does_not_wake_for_each_record(void **state) {
  size_t i;

  for (i = 0; i < COUNT_OF(side_band); i++) {
    uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
    uvperf_attr_set(&attr, side_band[i], 1);
    assert_true(uvperf__attr_writes_records(&attr));
    uvperf_attr_set_wakeup_events(&attr, 1);
    assert_false(uvperf__attr_wakes_each(&attr));
    uvperf_attr_set_wakeup_bytes(&attr, 1);
    assert_true(uvperf__attr_wakes_each(&attr));
  }
}

static void attr_wakes_each_only_with_a_bound_of_1(void **state) {
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  assert_false(uvperf__attr_wakes_each(&attr));
  uvperf_attr_set_wakeup_events(&attr, 1);
  assert_true(uvperf__attr_wakes_each(&attr));
  uvperf_attr_set_wakeup_events(&attr, 2);
  assert_false(uvperf__attr_wakes_each(&attr));
  uvperf_attr_set_wakeup_bytes(&attr, 0);
  assert_false(uvperf__attr_wakes_each(&attr));
  uvperf_attr_set_wakeup_bytes(&attr, 2);
  assert_false(uvperf__attr_wakes_each(&attr));
}

static void attr_with_inherit_stat_wakes_not_for_read_records(void **state) {
  uvperf_attr_software(&attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_wakeup_events(&attr, 1);
  attr.inherit = 1;
  assert_true(uvperf__attr_wakes_each(&attr));
  attr.inherit_stat = 1;
  assert_false(uvperf__attr_wakes_each(&attr));
  uvperf_attr_set_wakeup_bytes(&attr, 1);
  assert_true(uvperf__attr_wakes_each(&attr));
}

static void need_user_events(const char *test) {
  int64_t level = 0;

  if (uvperf__system_is_perfmon() == 1)
    return;
  if (uvperf__system_number(UVPERF__PARANOID, &level) == 0 && level <= 2)
    return;
  printf("skipped: %s: needs perf_event_paranoid <= 2 or CAP_PERFMON\n", test);
  skip();
}

static uint64_t count_and_close(int fd) {
  uint64_t count = 0;

  assert_int_equal(uvperf__sys_read(fd, &count, sizeof(count)), 8);
  assert_int_equal(uvperf__sys_close(fd), 0);
  return count;
}

static void attr_software_opens_and_counts(void **state) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char *pages;
  size_t i;
  int fd;

  need_user_events(__func__);
  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  attr.exclude_kernel = 1;
  pages = mmap(NULL, 64 * page, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(pages != MAP_FAILED);
  /* A huge page would be one fault for all. A kernel without them: EINVAL. */
  madvise(pages, 64 * page, MADV_NOHUGEPAGE);
  fd = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  for (i = 0; i < 64; i++)
    ((volatile char *)pages)[i * page] = 1;
  assert_true(count_and_close(fd) >= 64);
  munmap(pages, 64 * page);
}

static void attr_breakpoint_opens_and_counts(void **state) {
  static volatile uint32_t watched __attribute__((aligned(8)));
  int fd;

  support_need_breakpoints(__func__);
  uvperf_attr_breakpoint(&attr, HW_BREAKPOINT_W, (uintptr_t)&watched,
                         HW_BREAKPOINT_LEN_4);
  attr.exclude_kernel = 1;
  fd = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  watched = 1;
  watched = 2;
  watched = 3;
  assert_int_equal(count_and_close(fd), 3);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(attr_constructor_sets_type_and_config_alone),
      cmocka_unit_test(attr_breakpoint_sets_its_three_fields),
      cmocka_unit_test(attr_period_and_frequency_exclude_each_other),
      cmocka_unit_test(attr_wakeups_exclude_each_other),
      cmocka_unit_test(attr_copy_of_64_bytes_is_0_after_them),
      cmocka_unit_test(attr_copy_copies_more_than_the_header_has),
      cmocka_unit_test(attr_copy_of_bad_size_is_refused),
      cmocka_unit_test(attr_that_only_counts_writes_no_records),
      cmocka_unit_test(attr_that_samples_writes_records),
      cmocka_unit_test(attr_of_bpf_output_writes_records),
      cmocka_unit_test(attr_of_a_tracepoint_or_probe_closes_slowly),
      cmocka_unit_test(attr_of_samples_with_a_stack_of_0_bytes_has_a_fault),
      cmocka_unit_test(attr_of_samples_above_64_kib_has_a_fault),
      cmocka_unit_test(attr_with_side_band_does_not_wake_for_each_record),
      cmocka_unit_test(attr_wakes_each_only_with_a_bound_of_1),
      cmocka_unit_test(attr_with_inherit_stat_wakes_not_for_read_records),
      cmocka_unit_test(attr_software_opens_and_counts),
      cmocka_unit_test(attr_breakpoint_opens_and_counts),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
