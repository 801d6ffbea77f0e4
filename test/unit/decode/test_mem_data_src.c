/* SPDX-License-Identifier: MIT */
/* Memory data sources in words. The values are made with the bit-fields and
 * constants of the kernel's header, and by position if old headers lack
 * them. */
#include "support.h"

#include "uvperf/record.h"

/* By position, as in union perf_mem_data_src of Linux 6.19. */
#define LEVEL_NUMBER(n) ((uint64_t)(n) << 33)
#define REMOTE          (UINT64_C(1) << 37)
#define SNOOPX(bits)    ((uint64_t)(bits) << 38)
#define BLOCK(bits)     ((uint64_t)(bits) << 40)
#define HOPS(n)         ((uint64_t)(n) << 43)

static void assert_described(uint64_t data_src,
                             enum uvperf_sample_mem_part part,
                             const char *expected) {
  char text[128];

  memset(text, 'x', sizeof(text));
  assert_int_equal(
      uvperf_sample_mem_describe(data_src, part, text, sizeof(text)), 0);
  assert_string_equal(text, expected);
}

static void describe_of_nothing_is_na(void **state) {
  int part;

  for (part = UVPERF_SAMPLE_MEM_OP; part <= UVPERF_SAMPLE_MEM_BLOCK; part++)
    if (part != UVPERF_SAMPLE_MEM_LOCK)
      assert_described(0, (enum uvperf_sample_mem_part)part, "N/A");
}

/* The kernel's PERF_MEM_NA: the value of a PMU that does not know. */
static void describe_of_na_is_na(void **state) {
  uint64_t na = PERF_MEM_S(OP, NA) | PERF_MEM_S(LVL, NA) |
                PERF_MEM_S(SNOOP, NA) | PERF_MEM_S(LOCK, NA) |
                PERF_MEM_S(TLB, NA) | LEVEL_NUMBER(15) | BLOCK(1);
  int part;

  for (part = UVPERF_SAMPLE_MEM_OP; part <= UVPERF_SAMPLE_MEM_BLOCK; part++)
    assert_described(na, (enum uvperf_sample_mem_part)part, "N/A");
}

static void describe_of_each_op(void **state) {
  assert_described(PERF_MEM_S(OP, LOAD), UVPERF_SAMPLE_MEM_OP, "load");
  assert_described(PERF_MEM_S(OP, STORE), UVPERF_SAMPLE_MEM_OP, "store");
  assert_described(PERF_MEM_S(OP, PFETCH), UVPERF_SAMPLE_MEM_OP, "prefetch");
  assert_described(PERF_MEM_S(OP, EXEC), UVPERF_SAMPLE_MEM_OP, "exec");
  assert_described(PERF_MEM_S(OP, LOAD) | PERF_MEM_S(OP, STORE),
                   UVPERF_SAMPLE_MEM_OP, "load or store");
}

/* All bits of the other fields are set too, and must not matter. */
static uint64_t among_others(uint64_t value, unsigned int first,
                             unsigned int nr) {
  uint64_t mask = ((UINT64_C(1) << nr) - 1) << first;

  return (value & mask) | ~mask;
}

static void describe_of_each_part_ignores_the_others(void **state) {
  assert_described(among_others(PERF_MEM_S(OP, STORE), 0, 5),
                   UVPERF_SAMPLE_MEM_OP, "store");
  assert_described(among_others(PERF_MEM_S(LOCK, LOCKED), 24, 2),
                   UVPERF_SAMPLE_MEM_LOCK, "yes");
  assert_described(
      among_others(PERF_MEM_S(TLB, L1) | PERF_MEM_S(TLB, HIT), 26, 7),
      UVPERF_SAMPLE_MEM_TLB, "L1 hit");
  assert_described(among_others(BLOCK(2), 40, 3), UVPERF_SAMPLE_MEM_BLOCK,
                   "data");
}

/* go-perf numbers these levels from 0 and mixes them up with the fields after
 * them. */
static void describe_of_each_level_number(void **state) {
  static const char *const names[] = {"N/A",
                                      "L1",
                                      "L2",
                                      "L3",
                                      "L4",
                                      "L2 MHB",
                                      "memory-side cache",
                                      "level 7",
                                      "uncached",
                                      "CXL",
                                      "I/O",
                                      "any cache",
                                      "LFB/MAB",
                                      "RAM",
                                      "PMEM",
                                      "N/A"};
  char expected[64];
  unsigned int n;

  for (n = 0; n < 16; n++) {
    uint64_t value = LEVEL_NUMBER(n) | SNOOPX(3) | BLOCK(7) |
                     PERF_MEM_S(OP, LOAD) | PERF_MEM_S(TLB, OS);

    assert_described(value, UVPERF_SAMPLE_MEM_LEVEL, names[n]);
    if (n == 0 || n == 15)
      continue;
    snprintf(expected, sizeof(expected), "%s hit", names[n]);
    assert_described(value | PERF_MEM_S(LVL, HIT), UVPERF_SAMPLE_MEM_LEVEL,
                     expected);
    snprintf(expected, sizeof(expected), "%s miss", names[n]);
    assert_described(value | PERF_MEM_S(LVL, MISS), UVPERF_SAMPLE_MEM_LEVEL,
                     expected);
    snprintf(expected, sizeof(expected), "remote %s", names[n]);
    assert_described(value | REMOTE, UVPERF_SAMPLE_MEM_LEVEL, expected);
  }
}

static void describe_of_each_old_level(void **state) {
  static const char *const names[] = {
      "L1 hit",
      "LFB/MAB hit",
      "L2 hit",
      "L3 hit",
      "local RAM hit",
      "remote RAM (1 hop) hit",
      "remote RAM (2 hops) hit",
      "remote cache (1 hop) hit",
      "remote cache (2 hops) hit",
      "I/O hit",
      "uncached hit",
  };
  size_t i;

  for (i = 0; i < COUNT_OF(names); i++) {
    uint64_t value = PERF_MEM_S(LVL, HIT) | (uint64_t)PERF_MEM_LVL_L1
                                                << (5 + i);

    assert_described(value, UVPERF_SAMPLE_MEM_LEVEL, names[i]);
    /* A level number of "N/A" leaves the word to the old field. */
    assert_described(value | LEVEL_NUMBER(15), UVPERF_SAMPLE_MEM_LEVEL,
                     names[i]);
  }
}

static void describe_of_old_levels_in_combination(void **state) {
  assert_described(PERF_MEM_S(LVL, L2) | PERF_MEM_S(LVL, L3) |
                       PERF_MEM_S(LVL, MISS),
                   UVPERF_SAMPLE_MEM_LEVEL, "L2 or L3 miss");
  assert_described(PERF_MEM_S(LVL, L1), UVPERF_SAMPLE_MEM_LEVEL, "L1");
  assert_described(PERF_MEM_S(LVL, HIT), UVPERF_SAMPLE_MEM_LEVEL, "N/A");
  assert_described(PERF_MEM_S(LVL, NA) | PERF_MEM_S(LVL, L1),
                   UVPERF_SAMPLE_MEM_LEVEL, "N/A");
}

/* Current PMU drivers fill in both fields. */
static void describe_of_a_level_in_both_fields_prints_it_once(void **state) {
  assert_described(LEVEL_NUMBER(3) | PERF_MEM_S(LVL, L3) | PERF_MEM_S(LVL, HIT),
                   UVPERF_SAMPLE_MEM_LEVEL, "L3 hit");
}

static void describe_of_hops_says_how_far(void **state) {
  static const char *const hops[] = {
      "remote RAM hit",
      "remote RAM (core, same node) hit",
      "remote RAM (node, same socket) hit",
      "remote RAM (socket, same board) hit",
      "remote RAM (board) hit",
      "remote RAM hit",
      "remote RAM hit",
      "remote RAM hit",
  };
  unsigned int n;

  for (n = 0; n < 8; n++)
    assert_described(LEVEL_NUMBER(13) | REMOTE | HOPS(n) | PERF_MEM_S(LVL, HIT),
                     UVPERF_SAMPLE_MEM_LEVEL, hops[n]);
}

static void describe_of_each_snoop(void **state) {
  assert_described(PERF_MEM_S(SNOOP, NONE), UVPERF_SAMPLE_MEM_SNOOP, "none");
  assert_described(PERF_MEM_S(SNOOP, HIT), UVPERF_SAMPLE_MEM_SNOOP, "hit");
  assert_described(PERF_MEM_S(SNOOP, MISS), UVPERF_SAMPLE_MEM_SNOOP, "miss");
  assert_described(PERF_MEM_S(SNOOP, HITM), UVPERF_SAMPLE_MEM_SNOOP, "HitM");
  assert_described(SNOOPX(1), UVPERF_SAMPLE_MEM_SNOOP, "forward");
  assert_described(SNOOPX(2), UVPERF_SAMPLE_MEM_SNOOP, "peer");
  assert_described(PERF_MEM_S(SNOOP, HIT) | SNOOPX(2), UVPERF_SAMPLE_MEM_SNOOP,
                   "hit or peer");
  /* REMOTE is at the bit of PERF_MEM_SNOOPX_FWD in older headers. */
  assert_described(PERF_MEM_S(SNOOP, HIT) | REMOTE, UVPERF_SAMPLE_MEM_SNOOP,
                   "hit");
}

static void describe_of_each_lock_tlb_and_block(void **state) {
  assert_described(0, UVPERF_SAMPLE_MEM_LOCK, "no");
  assert_described(PERF_MEM_S(LOCK, LOCKED), UVPERF_SAMPLE_MEM_LOCK, "yes");
  assert_described(PERF_MEM_S(TLB, L1) | PERF_MEM_S(TLB, L2) |
                       PERF_MEM_S(TLB, HIT),
                   UVPERF_SAMPLE_MEM_TLB, "L1 or L2 hit");
  assert_described(PERF_MEM_S(TLB, L2) | PERF_MEM_S(TLB, MISS),
                   UVPERF_SAMPLE_MEM_TLB, "L2 miss");
  assert_described(PERF_MEM_S(TLB, WK), UVPERF_SAMPLE_MEM_TLB, "walker");
  assert_described(PERF_MEM_S(TLB, OS), UVPERF_SAMPLE_MEM_TLB, "fault");
  assert_described(BLOCK(2), UVPERF_SAMPLE_MEM_BLOCK, "data");
  assert_described(BLOCK(4), UVPERF_SAMPLE_MEM_BLOCK, "address");
  assert_described(BLOCK(6), UVPERF_SAMPLE_MEM_BLOCK, "data or address");
}

static void describe_into_every_size_is_cut_and_terminated(void **state) {
  static const char whole[] = "remote RAM (2 hops) hit";
  uint64_t value = PERF_MEM_S(LVL, REM_RAM2) | PERF_MEM_S(LVL, HIT);
  size_t size;

  for (size = 1; size <= sizeof(whole) + 1; size++) {
    char *text = malloc(size);

    memset(text, 'x', size);
    assert_int_equal(
        uvperf_sample_mem_describe(value, UVPERF_SAMPLE_MEM_LEVEL, text, size),
        size < sizeof(whole) ? -ENOBUFS : 0);
    assert_int_equal(strlen(text),
                     size < sizeof(whole) ? size - 1 : sizeof(whole) - 1);
    assert_memory_equal(text, whole, strlen(text));
    free(text);
  }
}

static void describe_of_bad_arguments_is_refused(void **state) {
  char text[8] = "abc";

  assert_int_equal(uvperf_sample_mem_describe(0, UVPERF_SAMPLE_MEM_OP, text, 0),
                   -EINVAL);
  assert_int_equal(
      uvperf_sample_mem_describe(0, (enum uvperf_sample_mem_part)6, text, 8),
      -EINVAL);
  assert_string_equal(text, "abc");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(describe_of_nothing_is_na),
      cmocka_unit_test(describe_of_na_is_na),
      cmocka_unit_test(describe_of_each_op),
      cmocka_unit_test(describe_of_each_part_ignores_the_others),
      cmocka_unit_test(describe_of_each_level_number),
      cmocka_unit_test(describe_of_each_old_level),
      cmocka_unit_test(describe_of_old_levels_in_combination),
      cmocka_unit_test(describe_of_a_level_in_both_fields_prints_it_once),
      cmocka_unit_test(describe_of_hops_says_how_far),
      cmocka_unit_test(describe_of_each_snoop),
      cmocka_unit_test(describe_of_each_lock_tlb_and_block),
      cmocka_unit_test(describe_into_every_size_is_cut_and_terminated),
      cmocka_unit_test(describe_of_bad_arguments_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
