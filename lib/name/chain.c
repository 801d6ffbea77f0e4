/* SPDX-License-Identifier: MIT */
/* What call-graph=, stack-size= and max-stack= of an event's name mean
 * together, as in apply_config_terms() and evsel__config_callchain() of
 * perf(1). */
#include "name/build.h"

#include <errno.h>

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
#include <asm/perf_regs.h>
#endif

/* As perf(1)'s --call-graph dwarf. */
#define DEFAULT_STACK_BYTES 8192

/* All that the unwinder of this machine could want: its general registers. */
#if defined(__x86_64__)
#define ALL_REGS                                                               \
  (((UINT64_C(1) << PERF_REG_X86_64_MAX) - 1) &                                \
   ~(UINT64_C(1) << PERF_REG_X86_DS | UINT64_C(1) << PERF_REG_X86_ES |         \
     UINT64_C(1) << PERF_REG_X86_FS | UINT64_C(1) << PERF_REG_X86_GS))
#elif defined(__i386__)
#define ALL_REGS ((UINT64_C(1) << PERF_REG_X86_32_MAX) - 1)
#elif defined(__aarch64__)
#define ALL_REGS ((UINT64_C(1) << PERF_REG_ARM64_MAX) - 1)
#else
#define ALL_REGS UINT64_C(0)
#endif

static int finish_dwarf(uvperf__event_build_t *build) {
  struct perf_event_attr *attr = &build->event.wide.attr;

  if (ALL_REGS == 0)
    return uvperf__parse_fail(build->parse, build->text->head.at, -EOPNOTSUPP,
                              UVPERF_CAUSE_NOT_SUPPORTED,
                              "call-graph=dwarf: which registers this machine "
                              "has is not known here");
  attr->sample_type |=
      PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
  attr->sample_regs_user = ALL_REGS;
  attr->sample_stack_user = build->stack_at != NULL
                                ? (uint32_t)build->stack_bytes
                                : DEFAULT_STACK_BYTES;
  attr->exclude_callchain_user = 1;
  return 0;
}

static int finish_lbr(uvperf__event_build_t *build) {
  struct perf_event_attr *attr = &build->event.wide.attr;

  if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
    return uvperf__parse_bad(build->parse, build->text->terms.at,
                             "call-graph=lbr and branch_type exclude each "
                             "other");
  attr->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK;
  attr->branch_sample_type =
      PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
      PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS;
  return 0;
}

int uvperf__event_build_chain(uvperf__event_build_t *build) {
  if (build->stack_at != NULL && build->chain != UVPERF__CHAIN_DWARF)
    return uvperf__parse_bad(build->parse, build->stack_at,
                             "stack-size is for call-graph=dwarf");
  switch (build->chain) {
    case UVPERF__CHAIN_UNSAID: /* who bounds call chains wants some */
      if (build->event.wide.attr.sample_max_stack != 0)
        build->event.wide.attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
      return 0;
    case UVPERF__CHAIN_FP:
      build->event.wide.attr.sample_type |= PERF_SAMPLE_CALLCHAIN;
      return 0;
    case UVPERF__CHAIN_DWARF:
      return finish_dwarf(build);
    case UVPERF__CHAIN_LBR:
      return finish_lbr(build);
    default:
      return 0;
  }
}
