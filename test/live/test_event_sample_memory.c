/* SPDX-License-Identifier: MIT */
/* Live: the memory fields of samples: PHYS_ADDR, DATA_PAGE_SIZE,
 * CODE_PAGE_SIZE, and WEIGHT, DATA_SRC, TRANSACTION, which software events do
 * not have. */
#include "live.h"

#include <sys/mman.h>
#include <unistd.h>

#define HUGE_BYTES ((size_t)2 * 1024 * 1024)

static void check_phys_addr(live_collector_t *collector,
                            const uvperf_record_t *record) {
  const uint64_t *physical = collector->hook_data;

  assert_true(record->present == (PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR));
  assert_true(record->addr == (uintptr_t)&live_word);
  assert_true(record->sample.phys_addr == *physical);
}

static void sample_phys_addr_is_that_of_pagemap(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uint64_t physical;

  support_need_admin(__func__);
  support_need_breakpoints(__func__);
  live_write(1); /* otherwise it would be the shared page of zeroes */
  physical = live_physical(&live_word);
  assert_int_not_equal(physical, 0);
  live_write_attr(&attr, PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR);
  live_begin(*state, &collector, &attr, NULL, check_phys_addr, &physical);
  live_write(2);
  live_end(&collector, 2);
}

static void check_absent(live_collector_t *collector,
                         const uvperf_record_t *record) {
  assert_true(record->addr ==
              live_touched(collector->hook_data, collector->records));
  assert_true(record->sample.phys_addr == 0);
  assert_true(record->sample.data_page_size == 0);
}

/* A page fault is recorded before the page is present. */
static void sample_phys_addr_of_a_page_fault_is_0(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  char *region;

  support_need_kernel_side(__func__);
  region = live_region();
  live_touch_attr(&attr, PERF_SAMPLE_ADDR | PERF_SAMPLE_PHYS_ADDR |
                             UVPERF_SAMPLE_DATA_PAGE_SIZE);
  live_begin(*state, &collector, &attr, NULL, check_absent, region);
  live_touch(region);
  live_end(&collector, LIVE_PAGES);
  live_region_free(region);
}

/* -- page sizes ----------------------------------------------------------- */

static void check_page_sizes(live_collector_t *collector,
                             const uvperf_record_t *record) {
  const uint64_t *expected = collector->hook_data;

  assert_true(record->present ==
              (UVPERF_SAMPLE_DATA_PAGE_SIZE | UVPERF_SAMPLE_CODE_PAGE_SIZE));
  assert_int_equal(record->sample.data_page_size, *expected);
  assert_int_equal(record->sample.code_page_size, sysconf(_SC_PAGESIZE));
}

static void sample_page_sizes_are_the_systems(void **state) {
  uint64_t expected = (uint64_t)sysconf(_SC_PAGESIZE);
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_breakpoints(__func__);
  live_write(1);
  live_write_attr(&attr,
                  UVPERF_SAMPLE_DATA_PAGE_SIZE | UVPERF_SAMPLE_CODE_PAGE_SIZE);
  live_begin(*state, &collector, &attr, NULL, check_page_sizes, &expected);
  live_write(2);
  live_end(&collector, 2);
}

/* The page size in /proc/self/smaps: whether the kernel used a huge page. */
static uint64_t page_size_at(const volatile void *address) {
  unsigned long start;
  unsigned long end;
  unsigned long huge;
  char line[512];
  uint64_t bytes = 0;
  int inside = 0;
  FILE *file;

  file = fopen("/proc/self/smaps", "r");
  assert_non_null(file);
  while (bytes == 0 && fgets(line, sizeof(line), file) != NULL) {
    if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
      inside = start <= (uintptr_t)address && (uintptr_t)address < end;
    if (inside && sscanf(line, "AnonHugePages: %lu", &huge) == 1)
      bytes = huge != 0 ? HUGE_BYTES : (uint64_t)sysconf(_SC_PAGESIZE);
  }
  fclose(file);
  return bytes;
}

static void sample_data_page_size_of_a_huge_page_is_the_huge_one(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  volatile uint64_t *word;
  uint64_t expected;
  uintptr_t aligned;
  char *memory;

  support_need_breakpoints(__func__);
  memory = mmap(NULL, 2 * HUGE_BYTES, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(memory, MAP_FAILED);
  aligned = ((uintptr_t)memory + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
  word = (volatile uint64_t *)aligned + 1000;
  /* Without huge pages it is the system's. */
  madvise((void *)aligned, HUGE_BYTES, MADV_HUGEPAGE);
  *word = 1;
  expected = page_size_at(word);
  live_write_attr(&attr,
                  UVPERF_SAMPLE_DATA_PAGE_SIZE | UVPERF_SAMPLE_CODE_PAGE_SIZE);
  attr.bp_addr = (uintptr_t)word;
  live_begin(*state, &collector, &attr, NULL, check_page_sizes, &expected);
  *word = 2;
  live_end(&collector, 1);
  assert_int_equal(munmap(memory, 2 * HUGE_BYTES), 0);
}

/* -- unknown to software events ------------------------------------------- */

static void check_weight(live_collector_t *collector,
                         const uvperf_record_t *record) {
  const struct perf_event_attr *attr =
      uvperf_handle_attr(&collector->event.handle, 0);
  char text[64];

  assert_true(record->present == attr->sample_type);
  assert_int_equal(record->sample.weight.full, 0);
  assert_int_equal(record->sample.transaction, 0);
  assert_int_equal(uvperf_sample_mem_describe(record->sample.data_src,
                                              UVPERF_SAMPLE_MEM_OP, text, 64),
                   0);
  assert_string_equal(text, "N/A");
  assert_int_equal(uvperf_sample_mem_describe(record->sample.data_src,
                                              UVPERF_SAMPLE_MEM_LEVEL, text,
                                              64),
                   0);
  assert_string_equal(text, "N/A");
  /* The field after the zeroes is at the right place. */
  assert_int_equal(record->sample.code_page_size, sysconf(_SC_PAGESIZE));
}

static void sample_weight_data_src_and_transaction_are_decoded(void **state) {
  static const uint64_t weights[] = {PERF_SAMPLE_WEIGHT,
                                     UVPERF_SAMPLE_WEIGHT_STRUCT, 0};
  live_collector_t collector;
  struct perf_event_attr attr;
  size_t i;

  support_need_breakpoints(__func__);
  for (i = 0; i < sizeof(weights) / sizeof(weights[0]); i++) {
    live_write_attr(&attr, weights[i] | PERF_SAMPLE_DATA_SRC |
                               PERF_SAMPLE_TRANSACTION |
                               UVPERF_SAMPLE_CODE_PAGE_SIZE);
    live_begin(*state, &collector, &attr, NULL, check_weight, NULL);
    live_write(2);
    live_end(&collector, 2);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sample_phys_addr_is_that_of_pagemap),
      support_loop_test(sample_phys_addr_of_a_page_fault_is_0),
      support_loop_test(sample_page_sizes_are_the_systems),
      support_loop_test(sample_data_page_size_of_a_huge_page_is_the_huge_one),
      support_loop_test(sample_weight_data_src_and_transaction_are_decoded),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
