/* SPDX-License-Identifier: MIT */
/* EINVAL for what is in the attr itself, in the order in which perf_copy_attr
 * and perf_event_open of kernel/events/core.c look at it. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "attr/attr.h"
#include "explain/internal.h"
#include "host/system.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* The bits of Linux 6.19, perf_event.h. */
#define SAMPLE_BITS ((UINT64_C(1) << 25) - 1)
#define FORMAT_BITS ((UINT64_C(1) << 5) - 1)
#define BRANCH_BITS ((UINT64_C(1) << 20) - 1)

/* PERF_SAMPLE_BRANCH_PLM_ALL: whose branches; not which. */
#define BRANCH_SIDES                                                           \
  ((uint64_t)(PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL |            \
              PERF_SAMPLE_BRANCH_HV))

/* An attr bit (or field) that kernels before `major`.`minor` refuse. */
typedef struct novelty_s {
  const char *name;
  enum uvperf_attr_field field;
  uint64_t mask;
  unsigned int major;
  unsigned int minor;
} novelty_t;

static const novelty_t novelties[] = {
    {"defer_callchain", UVPERF_ATTR_DEFER_CALLCHAIN, 1, 6, 19},
    {"defer_output", UVPERF_ATTR_DEFER_OUTPUT, 1, 6, 19},
    {"start_paused, pause or resume", UVPERF_ATTR_AUX_ACTION, UINT64_MAX, 6,
     13},
    {"branch counters", UVPERF_ATTR_BRANCH_SAMPLE_TYPE,
     UVPERF_SAMPLE_BRANCH_COUNTERS, 6, 8},
    {"branch priv_save", UVPERF_ATTR_BRANCH_SAMPLE_TYPE,
     UVPERF_SAMPLE_BRANCH_PRIV_SAVE, 6, 1},
    {"PERF_FORMAT_LOST", UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST, 6, 0},
    {"sigtrap", UVPERF_ATTR_SIGTRAP, 1, 5, 13},
    {"remove_on_exec", UVPERF_ATTR_REMOVE_ON_EXEC, 1, 5, 13},
    {"inherit_thread", UVPERF_ATTR_INHERIT_THREAD, 1, 5, 13},
    {"build_id", UVPERF_ATTR_BUILD_ID, 1, 5, 12},
    {"PERF_SAMPLE_WEIGHT_STRUCT", UVPERF_ATTR_SAMPLE_TYPE,
     UVPERF_SAMPLE_WEIGHT_STRUCT, 5, 12},
    {"PERF_SAMPLE_CODE_PAGE_SIZE", UVPERF_ATTR_SAMPLE_TYPE,
     UVPERF_SAMPLE_CODE_PAGE_SIZE, 5, 11},
    {"PERF_SAMPLE_DATA_PAGE_SIZE", UVPERF_ATTR_SAMPLE_TYPE,
     UVPERF_SAMPLE_DATA_PAGE_SIZE, 5, 11},
    {"text_poke", UVPERF_ATTR_TEXT_POKE, 1, 5, 9},
    {"cgroup", UVPERF_ATTR_CGROUP, 1, 5, 7},
    {"PERF_SAMPLE_CGROUP", UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_CGROUP, 5, 7},
    {"branch hw_index", UVPERF_ATTR_BRANCH_SAMPLE_TYPE,
     PERF_SAMPLE_BRANCH_HW_INDEX, 5, 7},
    {"PERF_SAMPLE_AUX", UVPERF_ATTR_SAMPLE_TYPE, PERF_SAMPLE_AUX, 5, 5},
    {"aux_output", UVPERF_ATTR_AUX_OUTPUT, 1, 5, 4},
    {"ksymbol", UVPERF_ATTR_KSYMBOL, 1, 5, 1},
    {"bpf_event", UVPERF_ATTR_BPF_EVENT, 1, 5, 1},
};

static uint64_t value(const uvperf__attempt_t *attempt,
                      enum uvperf_attr_field field) {
  return uvperf__attr_value(attempt->attr, field);
}

/* branch_sample_type is only looked at with PERF_SAMPLE_BRANCH_STACK. */
static int is_looked_at(const uvperf__attempt_t *attempt,
                        enum uvperf_attr_field field) {
  return field != UVPERF_ATTR_BRANCH_SAMPLE_TYPE ||
         (attempt->attr->sample_type & PERF_SAMPLE_BRANCH_STACK);
}

static int explain_novelty(const uvperf__attempt_t *attempt) {
  char release[24];
  size_t i;

  for (i = 0; i < COUNT_OF(novelties); i++) {
    const novelty_t *late = &novelties[i];

    if (!(value(attempt, late->field) & late->mask) ||
        !is_looked_at(attempt, late->field) ||
        uvperf__system_is_before(attempt->root, late->major, late->minor) != 1)
      continue;
    uvperf__system_line(attempt->root, "/proc/sys/kernel/osrelease", "",
                        release, sizeof(release));
    uvperf__attempt_say(attempt, UVPERF_CAUSE_OLD_KERNEL,
                        "%s needs Linux %u.%u; this is %s: leave it out",
                        late->name, late->major, late->minor, release);
    return 1;
  }
  return 0;
}

/* Bits that no kernel had when this was written. */
static int explain_unknown_bits(const uvperf__attempt_t *attempt) {
  const struct {
    const char *name;
    uint64_t bits;
  } unknown[] = {
      {"the flag bits", uvperf__attr_unknown_flags(attempt->attr)},
      {"sample_type", attempt->attr->sample_type & ~SAMPLE_BITS},
      {"read_format", attempt->attr->read_format & ~FORMAT_BITS},
      {"branch_sample_type",
       is_looked_at(attempt, UVPERF_ATTR_BRANCH_SAMPLE_TYPE)
           ? value(attempt, UVPERF_ATTR_BRANCH_SAMPLE_TYPE) & ~BRANCH_BITS
           : 0},
      {"aux_action", value(attempt, UVPERF_ATTR_AUX_ACTION) & ~UINT64_C(7)},
      {"__reserved_2", attempt->attr->__reserved_2},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(unknown) && unknown[i].bits == 0; i++)
    continue;
  if (i == COUNT_OF(unknown))
    return 0;
  uvperf__attempt_say(attempt, UVPERF_CAUSE_OLD_KERNEL,
                      "%s: this kernel does not know %#llx, and neither does "
                      "Linux 6.19: leave it 0",
                      unknown[i].name, (unsigned long long)unknown[i].bits);
  return 1;
}

/* arch/x86/kernel/perf_regs.c, perf_reg_validate: no segment registers but CS
 * and SS, and a gap before XMM0. Others than x86-64 only know 0 for sure. */
static int are_bad_registers(uint64_t mask) {
#if defined(__x86_64__)
  return mask == 0 || (mask & UINT64_C(0xff00f000)) != 0;
#else
  return mask == 0;
#endif
}

static const char *sample_fault(const uvperf__attempt_t *attempt) {
  uint64_t sample_type = attempt->attr->sample_type;
  uint64_t stack = value(attempt, UVPERF_ATTR_SAMPLE_STACK_USER);

  if ((sample_type & PERF_SAMPLE_BRANCH_STACK) &&
      !(value(attempt, UVPERF_ATTR_BRANCH_SAMPLE_TYPE) & ~BRANCH_SIDES))
    return "branch_sample_type must name a kind of branches, such as "
           "PERF_SAMPLE_BRANCH_ANY";
  if ((sample_type & PERF_SAMPLE_REGS_USER) &&
      are_bad_registers(value(attempt, UVPERF_ATTR_SAMPLE_REGS_USER)))
    return "sample_regs_user must name registers of <asm/perf_regs.h>, one at "
           "least (x86-64: not DS to GS)";
  if ((sample_type & PERF_SAMPLE_STACK_USER) &&
      (stack % 8 != 0 || stack >= UINT16_MAX))
    return "sample_stack_user must be a multiple of 8 below 65535";
  if ((sample_type & PERF_SAMPLE_REGS_INTR) &&
      are_bad_registers(value(attempt, UVPERF_ATTR_SAMPLE_REGS_INTR)))
    return "sample_regs_intr must name registers of <asm/perf_regs.h>, one at "
           "least (x86-64: not DS to GS)";
  if ((sample_type & PERF_SAMPLE_WEIGHT) &&
      (sample_type & UVPERF_SAMPLE_WEIGHT_STRUCT))
    return "PERF_SAMPLE_WEIGHT and WEIGHT_STRUCT exclude each other";
  return NULL;
}

static const char *flag_fault(const uvperf__attempt_t *attempt) {
  if (value(attempt, UVPERF_ATTR_INHERIT_THREAD) &&
      !value(attempt, UVPERF_ATTR_INHERIT))
    return "inherit_thread needs inherit";
  if (value(attempt, UVPERF_ATTR_REMOVE_ON_EXEC) &&
      value(attempt, UVPERF_ATTR_ENABLE_ON_EXEC))
    return "remove_on_exec and enable_on_exec exclude each other";
  if (value(attempt, UVPERF_ATTR_SIGTRAP) &&
      !value(attempt, UVPERF_ATTR_REMOVE_ON_EXEC))
    return "sigtrap needs remove_on_exec";
  return NULL;
}

static int explain_rate(const uvperf__attempt_t *attempt) {
  const struct perf_event_attr *attr = attempt->attr;
  int64_t most;

  if (!attr->freq ||
      uvperf__system_max_sample_rate(attempt->root, &most) != 0 || most < 0 ||
      attr->sample_freq <= (uint64_t)most)
    return 0;
  uvperf__attempt_say(
      attempt, UVPERF_CAUSE_SAMPLE_RATE,
      "%llu Hz is above kernel.perf_event_max_sample_rate, %lld (the kernel "
      "lowers it under load): ask for less or raise it",
      (unsigned long long)attr->sample_freq, (long long)most);
  attempt->error->limit = (uint64_t)most;
  attempt->error->needed = attr->sample_freq;
  return 1;
}

static int is_perf_clock(uint64_t clock) {
  return clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_RAW ||
         clock == CLOCK_REALTIME || clock == CLOCK_BOOTTIME ||
         clock == CLOCK_TAI;
}

/* perf_event_set_clock: what may count in an NMI takes only the first two. */
static const char *clock_fault(const uvperf__attempt_t *attempt) {
  uint64_t clock = value(attempt, UVPERF_ATTR_CLOCKID);

  if (!value(attempt, UVPERF_ATTR_USE_CLOCKID))
    return NULL;
  if (!is_perf_clock(clock))
    return "use_clockid takes MONOTONIC, MONOTONIC_RAW, REALTIME, BOOTTIME, "
           "TAI";
  if (attempt->attr->type != PERF_TYPE_SOFTWARE && clock != CLOCK_MONOTONIC &&
      clock != CLOCK_MONOTONIC_RAW)
    return "only software events take this clockid: use CLOCK_MONOTONIC or "
           "CLOCK_MONOTONIC_RAW";
  return NULL;
}

static const char *late_fault(const uvperf__attempt_t *attempt) {
  if (!attempt->attr->freq && attempt->attr->sample_period >> 63)
    return "sample_period must be below 2^63";
  if (attempt->attr->inherit &&
      (attempt->attr->sample_type & PERF_SAMPLE_READ) &&
      !(attempt->attr->sample_type & PERF_SAMPLE_TID))
    return "PERF_SAMPLE_READ with inherit needs PERF_SAMPLE_TID (and Linux "
           "6.12)";
  if (attempt->attr->inherit &&
      (attempt->attr->sample_type & PERF_SAMPLE_READ) &&
      uvperf__system_is_before(attempt->root, 6, 12) == 1)
    return "PERF_SAMPLE_READ with inherit needs Linux 6.12";
  if ((value(attempt, UVPERF_ATTR_AUX_ACTION) & 6) == 6)
    return "aux_pause and aux_resume exclude each other";
  return NULL;
}

int uvperf__attempt_attr(const uvperf__attempt_t *attempt) {
  return explain_novelty(attempt) || explain_unknown_bits(attempt) ||
         uvperf__attempt_fault(attempt, UVPERF_CAUSE_ARGUMENT,
                               sample_fault(attempt)) ||
         uvperf__attempt_fault(attempt, UVPERF_CAUSE_ARGUMENT,
                               flag_fault(attempt)) ||
         explain_rate(attempt) ||
         uvperf__attempt_fault(attempt, UVPERF_CAUSE_ARGUMENT,
                               late_fault(attempt)) ||
         uvperf__attempt_fault(attempt, UVPERF_CAUSE_ARGUMENT,
                               clock_fault(attempt));
}
