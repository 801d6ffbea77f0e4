/* SPDX-License-Identifier: MIT */
/* Names, the predicates on misc, and the flags of a branch. */
#include "support.h"

#include "make_record.h"
#include "uvperf/record.h"

static void type_names_are_the_kernels(void **state) {
  static const char *const names[] = {NULL,
                                      "MMAP",
                                      "LOST",
                                      "COMM",
                                      "EXIT",
                                      "THROTTLE",
                                      "UNTHROTTLE",
                                      "FORK",
                                      "READ",
                                      "SAMPLE",
                                      "MMAP2",
                                      "AUX",
                                      "ITRACE_START",
                                      "LOST_SAMPLES",
                                      "SWITCH",
                                      "SWITCH_CPU_WIDE",
                                      "NAMESPACES",
                                      "KSYMBOL",
                                      "BPF_EVENT",
                                      "CGROUP",
                                      "TEXT_POKE",
                                      "AUX_OUTPUT_HW_ID",
                                      "CALLCHAIN_DEFERRED"};
  uint32_t type;

  for (type = 1; type <= BUILD_TYPES; type++)
    assert_string_equal(uvperf_record_type_name(type), names[type]);
  assert_null(uvperf_record_type_name(0));
  assert_null(uvperf_record_type_name(23));
  assert_null(uvperf_record_type_name(UINT32_MAX));
}

static void cpu_mode_is_the_low_three_bits(void **state) {
  static const char *const names[] = {
      "unknown",      "kernel",     "user",    "hypervisor",
      "guest kernel", "guest user", "unknown", "unknown"};
  unsigned int mode;

  for (mode = 0; mode < 8; mode++) {
    uint16_t misc = (uint16_t)(0xfff8 | mode);

    assert_int_equal(uvperf_record_cpu_mode(misc), mode);
    assert_string_equal(uvperf_record_cpu_mode_name(misc), names[mode]);
    assert_string_equal(uvperf_record_cpu_mode_name((uint16_t)mode),
                        names[mode]);
  }
}

/* The types for which a bit of misc has a meaning, as a set. */
typedef struct meaning_s {
  int (*ask)(const uvperf_record_t *record);
  uint16_t misc;
  uint32_t types;
} meaning_t;

static void misc_bits_mean_something_only_for_their_types(void **state) {
  static const meaning_t meanings[] = {
      {uvperf_record_is_mmap_data, 1 << 13,
       1u << PERF_RECORD_MMAP | 1u << PERF_RECORD_MMAP2},
      {uvperf_record_has_build_id, 1 << 14, 1u << PERF_RECORD_MMAP2},
      {uvperf_record_is_exec, 1 << 13, 1u << PERF_RECORD_COMM},
      {uvperf_record_is_fork_exec, 1 << 13, 1u << PERF_RECORD_FORK},
      {uvperf_record_is_switch_out, 1 << 13,
       1u << PERF_RECORD_SWITCH | 1u << PERF_RECORD_SWITCH_CPU_WIDE},
      {uvperf_record_is_preempted, 1 << 14,
       1u << PERF_RECORD_SWITCH | 1u << PERF_RECORD_SWITCH_CPU_WIDE},
      {uvperf_record_is_exact_ip, 1 << 14, 1u << PERF_RECORD_SAMPLE},
  };
  static uvperf_record_t record;
  size_t i;

  for (i = 0; i < COUNT_OF(meanings); i++) {
    const meaning_t *meaning = &meanings[i];

    for (record.type = 0; record.type <= 23; record.type++) {
      record.misc = meaning->misc;
      assert_int_equal(meaning->ask(&record),
                       meaning->types >> record.type & 1);
      record.misc = (uint16_t)~meaning->misc;
      assert_int_equal(meaning->ask(&record), 0);
    }
  }
}

/* An entry with all bit-fields set except one, which holds a value. They start
 * at the high end on a big-endian machine. */
static struct perf_branch_entry entry_with(unsigned int first, unsigned int nr,
                                           uint64_t value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  first = 64 - first - nr;
#endif
  struct perf_branch_entry entry;
  uint64_t mask = ((UINT64_C(1) << nr) - 1) << first;
  uint64_t flags = ~mask | value << first;

  memset(&entry, 0xff, sizeof(entry));
  memcpy((uint8_t *)&entry + 16, &flags, sizeof(flags));
  return entry;
}

/* go-perf mixes up the type and its neighbours. */
static void branch_type_is_bits_20_to_23_whatever_is_beside(void **state) {
  struct perf_branch_entry entry;
  unsigned int type;

  for (type = 0; type < 15; type++) {
    entry = entry_with(20, 4, type);
    assert_int_equal(uvperf_sample_branch_type(&entry), type);
    assert_int_equal(entry.type, type);
  }
}

/* PERF_BR_EXTEND_ABI: the type is in bits 26 to 29. */
static void branch_type_of_the_extended_abi_is_16_and_new_type(void **state) {
  struct perf_branch_entry entry;
  unsigned int type;

  for (type = 0; type < 16; type++) {
    entry = entry_with(26, 4, type); /* the type itself is 15 */
    assert_int_equal(uvperf_sample_branch_type(&entry), 16 + type);
  }
}

static void branch_spec_and_priv_are_their_bits(void **state) {
  struct perf_branch_entry entry;
  unsigned int value;

  for (value = 0; value < 4; value++) {
    entry = entry_with(24, 2, value);
    assert_int_equal(uvperf_sample_branch_spec(&entry), value);
  }
  for (value = 0; value < 8; value++) {
    entry = entry_with(30, 3, value);
    assert_int_equal(uvperf_sample_branch_priv(&entry), value);
  }
}

static void branch_type_names_are_the_kernels(void **state) {
  static const char *const names[] = {
      "unknown",  "COND",       "UNCOND",     "IND",        "CALL",
      "IND_CALL", "RET",        "SYSCALL",    "SYSRET",     "COND_CALL",
      "COND_RET", "ERET",       "IRQ",        "SERROR",     "NO_TX",
      "unknown",  "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
      "ARCH_2",   "ARCH_3",     "ARCH_4",     "ARCH_5",     "unknown"};
  unsigned int type;

  for (type = 0; type < COUNT_OF(names); type++)
    assert_string_equal(uvperf_sample_branch_type_name(type), names[type]);
  assert_string_equal(uvperf_sample_branch_type_name(UINT32_MAX), "unknown");
}

static void abort_code_is_the_upper_half_of_a_transaction(void **state) {
  assert_int_equal(uvperf_sample_abort_code(UINT64_C(0xdeadbeef00000009)),
                   0xdeadbeef);
  assert_int_equal(uvperf_sample_abort_code(PERF_TXN_RETRY), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(type_names_are_the_kernels),
      cmocka_unit_test(cpu_mode_is_the_low_three_bits),
      cmocka_unit_test(misc_bits_mean_something_only_for_their_types),
      cmocka_unit_test(branch_type_is_bits_20_to_23_whatever_is_beside),
      cmocka_unit_test(branch_type_of_the_extended_abi_is_16_and_new_type),
      cmocka_unit_test(branch_spec_and_priv_are_their_bits),
      cmocka_unit_test(branch_type_names_are_the_kernels),
      cmocka_unit_test(abort_code_is_the_upper_half_of_a_transaction),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
