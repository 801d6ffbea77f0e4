/* SPDX-License-Identifier: MIT */
/* The names of generic events, both ways. */
#include "support.h"

#include <linux/perf_event.h>

#include "attr/generic_name.h"

#define CACHE(cache, op, result)                                               \
  (PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##op << 8 |            \
   PERF_COUNT_HW_CACHE_RESULT_##result << 16)

typedef struct spelling_s {
  const char *name;
  uint32_t type;
  uint64_t config;
} spelling_t;

static void check_spellings(const spelling_t *spellings, size_t nr) {
  size_t i;

  for (i = 0; i < nr; i++) {
    uint32_t type = 99;
    uint64_t config = 99;

    if (uvperf__generic_find(spellings[i].name, strlen(spellings[i].name),
                             &type, &config) != 0)
      fail_msg("%s is not found", spellings[i].name);
    assert_int_equal(type, spellings[i].type);
    assert_int_equal(config, spellings[i].config);
  }
}

static void generic_find_knows_hardware_and_software_names(void **state) {
  static const spelling_t spellings[] = {
      {"cpu-cycles", 0, 0},
      {"cycles", 0, 0},
      {"instructions", 0, 1},
      {"cache-references", 0, 2},
      {"cache-misses", 0, 3},
      {"branch-instructions", 0, 4},
      {"branches", 0, 4},
      {"branch-misses", 0, 5},
      {"bus-cycles", 0, 6},
      {"stalled-cycles-frontend", 0, 7},
      {"idle-cycles-frontend", 0, 7},
      {"stalled-cycles-backend", 0, 8},
      {"idle-cycles-backend", 0, 8},
      {"ref-cycles", 0, 9},
      {"cpu-clock", 1, 0},
      {"task-clock", 1, 1},
      {"page-faults", 1, 2},
      {"faults", 1, 2},
      {"context-switches", 1, 3},
      {"cs", 1, 3},
      {"cpu-migrations", 1, 4},
      {"migrations", 1, 4},
      {"minor-faults", 1, 5},
      {"major-faults", 1, 6},
      {"alignment-faults", 1, 7},
      {"emulation-faults", 1, 8},
      {"dummy", 1, 9},
      {"bpf-output", 1, 10},
      {"cgroup-switches", 1, 11},
  };

  check_spellings(spellings, COUNT_OF(spellings));
}

static void generic_find_knows_all_spellings_of_caches(void **state) {
  static const spelling_t spellings[] = {
      {"L1-dcache-load-miss", 3, CACHE(L1D, READ, MISS)},
      {"L1-dcache-load-misses", 3, CACHE(L1D, READ, MISS)},
      {"L1-dcache-misses", 3, CACHE(L1D, READ, MISS)},
      {"L1-dcache-misses-stores", 3, CACHE(L1D, WRITE, MISS)},
      {"L1-dcache", 3, CACHE(L1D, READ, ACCESS)},
      {"l1-d-loads", 3, CACHE(L1D, READ, ACCESS)},
      {"l1d-read", 3, CACHE(L1D, READ, ACCESS)},
      {"L1-data-store", 3, CACHE(L1D, WRITE, ACCESS)},
      {"L1-icache-prefetches", 3, CACHE(L1I, PREFETCH, ACCESS)},
      {"l1-i-prefetch-misses", 3, CACHE(L1I, PREFETCH, MISS)},
      {"l1i", 3, CACHE(L1I, READ, ACCESS)},
      {"L1-instruction-load", 3, CACHE(L1I, READ, ACCESS)},
      {"LLC-stores", 3, CACHE(LL, WRITE, ACCESS)},
      {"L2-write-ops", 3, CACHE(LL, WRITE, ACCESS)},
      {"dTLB-speculative-read", 3, CACHE(DTLB, PREFETCH, ACCESS)},
      {"d-tlb-speculative-load-miss", 3, CACHE(DTLB, PREFETCH, MISS)},
      {"Data-TLB-refs", 3, CACHE(DTLB, READ, ACCESS)},
      {"iTLB-Reference", 3, CACHE(ITLB, READ, ACCESS)},
      {"i-tlb-access", 3, CACHE(ITLB, READ, ACCESS)},
      {"Instruction-TLB-miss", 3, CACHE(ITLB, READ, MISS)},
      {"branch-loads", 3, CACHE(BPU, READ, ACCESS)},
      {"branches-load-misses", 3, CACHE(BPU, READ, MISS)},
      {"bpu-loads", 3, CACHE(BPU, READ, ACCESS)},
      {"btb", 3, CACHE(BPU, READ, ACCESS)},
      {"bpc-miss", 3, CACHE(BPU, READ, MISS)},
      {"node-stores", 3, CACHE(NODE, WRITE, ACCESS)},
      {"node", 3, CACHE(NODE, READ, ACCESS)},
  };

  check_spellings(spellings, COUNT_OF(spellings));
}

static void generic_find_takes_no_notice_of_case(void **state) {
  static const spelling_t spellings[] = {
      {"CYCLES", 0, 0},
      {"Page-Faults", 1, 2},
      {"llc-LOAD-Misses", 3, CACHE(LL, READ, MISS)},
  };

  check_spellings(spellings, COUNT_OF(spellings));
}

static void generic_find_refuses_invalid_names(void **state) {
  static const char *const names[] = {
      "",
      "c",
      "cycle",
      "cyclesx",
      "cycles ",
      "-cycles",
      "L1-dcache-",
      "LLC--miss",
      "LLC-loadx",
      "LLC-load-load",
      "LLC-x",
      "LLC-miss-ops",
      "L1",
      "LLCx",
      "loads",
      "node-load-misses-x",
      "LLC-load-misses-",
  };
  uint64_t config = 99;
  uint32_t type = 99;
  size_t i;

  for (i = 0; i < COUNT_OF(names); i++)
    if (uvperf__generic_find(names[i], strlen(names[i]), &type, &config) !=
        -ENOENT)
      fail_msg("%s is found", names[i]);
  assert_int_equal(type, 99);
}

static void generic_find_reads_no_more_than_the_length(void **state) {
  uint64_t config;
  uint32_t type;

  assert_int_equal(uvperf__generic_find("cs:u", 2, &type, &config), 0);
  assert_int_equal(config, PERF_COUNT_SW_CONTEXT_SWITCHES);
  assert_int_equal(uvperf__generic_find("cycles", 5, &type, &config), -ENOENT);
  assert_int_equal(uvperf__generic_find("LLC-loads", 8, &type, &config), 0);
}

static void
generic_find_of_an_operation_the_cache_lacks_is_an_error(void **state) {
  static const char *const names[] = {"iTLB-stores", "L1-icache-store-misses",
                                      "branch-prefetches"};
  uint64_t config;
  uint32_t type;
  size_t i;

  for (i = 0; i < COUNT_OF(names); i++)
    assert_int_equal(
        uvperf__generic_find(names[i], strlen(names[i]), &type, &config),
        -EINVAL);
}

typedef struct walk_s {
  uint32_t type;
  unsigned int nr;
  unsigned int stop_at;
  char last[UVPERF__GENERIC_NAME_BYTES];
} walk_t;

/* The name leads to an event that has this name. */
static int see_name(const char *name, void *data) {
  char again[UVPERF__GENERIC_NAME_BYTES];
  walk_t *walk = data;
  uint64_t config;
  uint32_t type;

  assert_int_equal(uvperf__generic_find(name, strlen(name), &type, &config), 0);
  assert_int_equal(type, walk->type);
  assert_int_equal(uvperf__generic_name(type, config, again, sizeof(again)), 0);
  assert_string_equal(again, name);
  snprintf(walk->last, sizeof(walk->last), "%s", name);
  walk->nr += 1;
  return walk->nr == walk->stop_at ? -ECANCELED : 0;
}

static void generic_each_name_is_found_and_named_again(void **state) {
  /* 4 caches have 3 operations, one 2, two one; each hits or misses. */
  const unsigned int counts[] = {10, 12, 0, (4 * 3 + 2 + 2) * 2};
  uint32_t type;

  for (type = 0; type < 4; type++) {
    walk_t walk = {type, 0, 0, ""};

    assert_int_equal(uvperf__generic_each(type, see_name, &walk), 0);
    assert_int_equal(walk.nr, counts[type]);
  }
}

static void generic_each_ends_when_the_callback_stops_it(void **state) {
  walk_t walk = {PERF_TYPE_HW_CACHE, 0, 2, ""};

  assert_int_equal(uvperf__generic_each(PERF_TYPE_HW_CACHE, see_name, &walk),
                   -ECANCELED);
  assert_int_equal(walk.nr, 2);
  assert_string_equal(walk.last, "L1-dcache-load-misses");
  walk = (walk_t){PERF_TYPE_SOFTWARE, 0, 1, ""};
  assert_int_equal(uvperf__generic_each(PERF_TYPE_SOFTWARE, see_name, &walk),
                   -ECANCELED);
  assert_string_equal(walk.last, "cpu-clock");
}

/* The name leads to an event that has another one. */
static int see_alias(const char *name, void *data) {
  char canonical[UVPERF__GENERIC_NAME_BYTES];
  walk_t *walk = data;
  uint64_t config;
  uint32_t type;

  assert_int_equal(uvperf__generic_find(name, strlen(name), &type, &config), 0);
  assert_int_equal(type, walk->type);
  assert_int_equal(
      uvperf__generic_name(type, config, canonical, sizeof(canonical)), 0);
  assert_string_not_equal(canonical, name);
  walk->nr += 1;
  return 0;
}

static void generic_each_alias_leads_to_another_name(void **state) {
  walk_t hardware = {PERF_TYPE_HARDWARE, 0, 0, ""};
  walk_t software = {PERF_TYPE_SOFTWARE, 0, 0, ""};

  assert_int_equal(
      uvperf__generic_each_alias(PERF_TYPE_HARDWARE, see_alias, &hardware), 0);
  assert_int_equal(hardware.nr, 4);
  assert_int_equal(
      uvperf__generic_each_alias(PERF_TYPE_SOFTWARE, see_alias, &software), 0);
  assert_int_equal(software.nr, 3);
}

static void generic_alias_is_the_other_spelling_if_there_is_one(void **state) {
  assert_string_equal(uvperf__generic_alias(PERF_TYPE_HARDWARE, 0), "cycles");
  assert_string_equal(uvperf__generic_alias(PERF_TYPE_SOFTWARE, 2), "faults");
  assert_null(uvperf__generic_alias(PERF_TYPE_HARDWARE, 1));
  assert_null(uvperf__generic_alias(PERF_TYPE_HARDWARE, 10));
  assert_null(uvperf__generic_alias(PERF_TYPE_SOFTWARE, 12));
  assert_null(uvperf__generic_alias(PERF_TYPE_SOFTWARE, UINT64_MAX));
  assert_null(uvperf__generic_alias(PERF_TYPE_HW_CACHE, 0));
}

static void generic_name_of_an_attr_without_one_is_an_error(void **state) {
  static const struct {
    uint32_t type;
    uint64_t config;
  } nameless[] = {
      {PERF_TYPE_HARDWARE, 10},
      {PERF_TYPE_HARDWARE, UINT64_C(8) << 32},
      {PERF_TYPE_SOFTWARE, 12},
      {PERF_TYPE_TRACEPOINT, 0},
      {PERF_TYPE_HW_CACHE, 7},
      {PERF_TYPE_HW_CACHE, 3 << 8},
      {PERF_TYPE_HW_CACHE, 2 << 16},
      {PERF_TYPE_HW_CACHE, CACHE(ITLB, WRITE, ACCESS)},
      {PERF_TYPE_HW_CACHE, UINT64_C(1) << 24},
      {PERF_TYPE_RAW, 0},
      {UINT32_MAX, UINT64_MAX},
  };
  char name[UVPERF__GENERIC_NAME_BYTES] = "x";
  size_t i;

  for (i = 0; i < COUNT_OF(nameless); i++)
    assert_int_equal(uvperf__generic_name(nameless[i].type, nameless[i].config,
                                          name, sizeof(name)),
                     -ENOENT);
  assert_string_equal(name, "x");
}

static void generic_name_is_cut_to_the_room(void **state) {
  char name[4] = "xxx";

  assert_int_equal(uvperf__generic_name(PERF_TYPE_SOFTWARE, 3, name, 4), 0);
  assert_string_equal(name, "con");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(generic_find_knows_hardware_and_software_names),
      cmocka_unit_test(generic_find_knows_all_spellings_of_caches),
      cmocka_unit_test(generic_find_takes_no_notice_of_case),
      cmocka_unit_test(generic_find_refuses_invalid_names),
      cmocka_unit_test(generic_find_reads_no_more_than_the_length),
      cmocka_unit_test(
          generic_find_of_an_operation_the_cache_lacks_is_an_error),
      cmocka_unit_test(generic_each_name_is_found_and_named_again),
      cmocka_unit_test(generic_each_ends_when_the_callback_stops_it),
      cmocka_unit_test(generic_each_alias_leads_to_another_name),
      cmocka_unit_test(generic_alias_is_the_other_spelling_if_there_is_one),
      cmocka_unit_test(generic_name_of_an_attr_without_one_is_an_error),
      cmocka_unit_test(generic_name_is_cut_to_the_room),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
