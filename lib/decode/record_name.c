/* SPDX-License-Identifier: MIT */
/* Names of what records hold, and the questions that one asks of misc and of
 * the flags of a branch. Memory data sources are in mem_data_src.c. */
#include "uvperf/record.h"

#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Bits 13 to 15 of misc mean something else for each type. */
#define MISC_13 (1u << 13)
#define MISC_14 (1u << 14)

const char *uvperf_record_type_name(uint32_t type) {
  static const char *const names[] = {
      [PERF_RECORD_MMAP] = "MMAP",
      [PERF_RECORD_LOST] = "LOST",
      [PERF_RECORD_COMM] = "COMM",
      [PERF_RECORD_EXIT] = "EXIT",
      [PERF_RECORD_THROTTLE] = "THROTTLE",
      [PERF_RECORD_UNTHROTTLE] = "UNTHROTTLE",
      [PERF_RECORD_FORK] = "FORK",
      [PERF_RECORD_READ] = "READ",
      [PERF_RECORD_SAMPLE] = "SAMPLE",
      [PERF_RECORD_MMAP2] = "MMAP2",
      [PERF_RECORD_AUX] = "AUX",
      [PERF_RECORD_ITRACE_START] = "ITRACE_START",
      [PERF_RECORD_LOST_SAMPLES] = "LOST_SAMPLES",
      [PERF_RECORD_SWITCH] = "SWITCH",
      [PERF_RECORD_SWITCH_CPU_WIDE] = "SWITCH_CPU_WIDE",
      [PERF_RECORD_NAMESPACES] = "NAMESPACES",
      [PERF_RECORD_KSYMBOL] = "KSYMBOL",
      [PERF_RECORD_BPF_EVENT] = "BPF_EVENT",
      [PERF_RECORD_CGROUP] = "CGROUP",
      [PERF_RECORD_TEXT_POKE] = "TEXT_POKE",
      [UVPERF_RECORD_AUX_OUTPUT_HW_ID] = "AUX_OUTPUT_HW_ID",
      [UVPERF_RECORD_CALLCHAIN_DEFERRED] = "CALLCHAIN_DEFERRED",
  };

  return type < LENGTH(names) ? names[type] : NULL;
}

const char *uvperf_record_cpu_mode_name(uint16_t misc) {
  switch (uvperf_record_cpu_mode(misc)) {
    case PERF_RECORD_MISC_KERNEL:
      return "kernel";
    case PERF_RECORD_MISC_USER:
      return "user";
    case PERF_RECORD_MISC_HYPERVISOR:
      return "hypervisor";
    case PERF_RECORD_MISC_GUEST_KERNEL:
      return "guest kernel";
    case PERF_RECORD_MISC_GUEST_USER:
      return "guest user";
    default:
      return "unknown";
  }
}

static int has(const uvperf_record_t *record, uint32_t type, uint32_t bit) {
  return record->type == type && (record->misc & bit) != 0;
}

int uvperf_record_is_mmap_data(const uvperf_record_t *record) {
  return has(record, PERF_RECORD_MMAP, MISC_13) ||
         has(record, PERF_RECORD_MMAP2, MISC_13);
}

int uvperf_record_has_build_id(const uvperf_record_t *record) {
  return has(record, PERF_RECORD_MMAP2, MISC_14);
}

int uvperf_record_is_exec(const uvperf_record_t *record) {
  return has(record, PERF_RECORD_COMM, MISC_13);
}

int uvperf_record_is_fork_exec(const uvperf_record_t *record) {
  return has(record, PERF_RECORD_FORK, MISC_13);
}

int uvperf_record_is_switch_out(const uvperf_record_t *record) {
  return has(record, PERF_RECORD_SWITCH, MISC_13) ||
         has(record, PERF_RECORD_SWITCH_CPU_WIDE, MISC_13);
}

int uvperf_record_is_preempted(const uvperf_record_t *record) {
  return has(record, PERF_RECORD_SWITCH, MISC_14) ||
         has(record, PERF_RECORD_SWITCH_CPU_WIDE, MISC_14);
}

int uvperf_record_is_exact_ip(const uvperf_record_t *record) {
  return has(record, PERF_RECORD_SAMPLE, MISC_14);
}

/* Bits of the word behind from and to, numbered as on a little-endian machine,
 * where bit-fields start at the low end; the kernel's struct has one
 * declaration for both. Taken from the word, as older headers lack the newer
 * bit-fields. */
static unsigned int branch_bits(const struct perf_branch_entry *entry,
                                unsigned int first, unsigned int nr) {
  uint64_t word;

  memcpy(&word, (const unsigned char *)entry + 16, sizeof(word));
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  first = 64 - first - nr;
#endif
  return (unsigned int)(word >> first) & ((1u << nr) - 1);
}

/* PERF_BR_EXTEND_ABI (Linux 6.1): the type is in new_type. */
#define BRANCH_EXTEND_ABI 15u

unsigned int uvperf_branch_type(const struct perf_branch_entry *entry) {
  unsigned int type = branch_bits(entry, 20, 4);

  return type == BRANCH_EXTEND_ABI ? 16 + branch_bits(entry, 26, 4) : type;
}

const char *uvperf_branch_type_name(unsigned int type) {
  static const char *const names[] = {
      "unknown",  "COND",       "UNCOND",     "IND",        "CALL",
      "IND_CALL", "RET",        "SYSCALL",    "SYSRET",     "COND_CALL",
      "COND_RET", "ERET",       "IRQ",        "SERROR",     "NO_TX",
      "unknown",  "FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
      "ARCH_2",   "ARCH_3",     "ARCH_4",     "ARCH_5",
  };

  return type < LENGTH(names) ? names[type] : "unknown";
}

unsigned int uvperf_branch_spec(const struct perf_branch_entry *entry) {
  return branch_bits(entry, 24, 2);
}

unsigned int uvperf_branch_priv(const struct perf_branch_entry *entry) {
  return branch_bits(entry, 30, 3);
}
