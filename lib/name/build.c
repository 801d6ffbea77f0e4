/* SPDX-License-Identifier: MIT */
/* Builds one event, from a name to an attr. This file begins the event, and
 * ends it with its call chain and modifiers. In between, the files for the
 * forms of names add the terms. */
#include "name/build.h"

#include <errno.h>
#include <string.h>

#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__) ||        \
    defined(__arm__) || defined(__s390x__)
#include <asm/perf_regs.h>
#endif

#include "host/pmu.h"
#include "name/modifier.h"
#include "util/file.h"

void uvperf__event_build_close(uvperf__event_build_t *build) {
  if (build->event.file >= 0)
    uvperf__file_close(build->event.file);
  build->event.file = -1;
}

void uvperf__event_build_begin(uvperf__event_build_t *build) {
  uvperf__event_build_close(build);
  memset(&build->event, 0, sizeof(build->event));
  build->event.file = -1;
  build->event.text = build->text;
  build->event.wide.attr.size = sizeof(build->event.wide);
  build->event.measure.scale = 1;
  build->event.nr_parts = 1;
  build->chain = UVPERF__CHAIN_UNSAID;
  build->stack_at = NULL;
  memset(&build->probe, 0, sizeof(build->probe));
  build->depth = 0;
  build->nr_files = 0;
}

int uvperf__event_build_cores(const uvperf__event_build_t *build) {
  const uvperf__parse_t *parse = build->parse;
  int rc;

  if (parse->cores->is_read)
    return 0;
  rc = uvperf__pmu_cores(parse->cores);
  return rc == 0 ? 0 : uvperf__parse_shortage(parse, build->text->head.at, rc);
}

/* -- call chains ----------------------------------------------------------- */

/* The combined meaning of call-graph=, stack-size= and max-stack=, as in
 * apply_config_terms() and evsel__config_callchain() of perf(1). */

/* As in perf(1)'s --call-graph dwarf. */
#define DEFAULT_STACK_BYTES 8192

/* All registers that an unwinder on this machine may need: the general
 * registers. */
#if defined(__x86_64__)
#define ALL_REGS                                                               \
  (((UINT64_C(1) << PERF_REG_X86_64_MAX) - 1) &                                \
   ~(UINT64_C(1) << PERF_REG_X86_DS | UINT64_C(1) << PERF_REG_X86_ES |         \
     UINT64_C(1) << PERF_REG_X86_FS | UINT64_C(1) << PERF_REG_X86_GS))
#elif defined(__i386__)
#define ALL_REGS ((UINT64_C(1) << PERF_REG_X86_32_MAX) - 1)
#elif defined(__aarch64__)
#define ALL_REGS ((UINT64_C(1) << PERF_REG_ARM64_MAX) - 1)
#elif defined(__arm__)
#define ALL_REGS ((UINT64_C(1) << PERF_REG_ARM_MAX) - 1)
#elif defined(__s390x__)
#define ALL_REGS ((UINT64_C(1) << PERF_REG_S390_MAX) - 1)
#else
#define ALL_REGS UINT64_C(0)
#endif

static int finish_dwarf(uvperf__event_build_t *build) {
  struct perf_event_attr *attr = &build->event.wide.attr;

  if (ALL_REGS == 0)
    return uvperf__parse_fail(build->parse, build->text->head.at, -EOPNOTSUPP,
                              UVPERF_CAUSE_NOT_SUPPORTED,
                              "call-graph=dwarf does not know the registers of "
                              "this architecture; use call-graph=fp");
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
    return uvperf__parse_bad(
        build->parse, build->text->terms.at,
        "call-graph=lbr and branch_type exclude each other; use only one");
  attr->sample_type |= PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_BRANCH_STACK;
  attr->branch_sample_type =
      PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK |
      PERF_SAMPLE_BRANCH_NO_CYCLES | PERF_SAMPLE_BRANCH_NO_FLAGS;
  return 0;
}

static int add_chain(uvperf__event_build_t *build) {
  if (build->stack_at != NULL && build->chain != UVPERF__CHAIN_DWARF)
    return uvperf__parse_bad(build->parse, build->stack_at,
                             "stack-size needs call-graph=dwarf");
  switch (build->chain) {
    case UVPERF__CHAIN_UNSAID: /* a bound on call chains requests them */
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

/* -- the end of an event --------------------------------------------------- */

/* The config1 of a probe is a pointer to a string, which uvperf_attr_label and
 * the kernel dereference. Therefore a text may contain the string, but not a
 * number for the pointer. */
static int refuse_pointer(const uvperf__event_build_t *build) {
  const uvperf__named_event_t *event = &build->event;
  int rc;

  if (event->wide.attr.config1 == 0 || event->string.at != NULL)
    return 0;
  rc = uvperf__pmu_is_probe(event->wide.attr.type);
  if (rc < 0)
    return uvperf__parse_shortage(build->parse, build->text->head.at, rc);
  if (rc == 0)
    return 0;
  return uvperf__parse_bad(build->parse, build->text->head.at,
                           "config1 of a probe is a pointer; write "
                           "uprobe/path=.../ or kprobe/func=.../");
}

int uvperf__event_build_end(uvperf__event_build_t *build) {
  uvperf__named_event_t *event = &build->event;
  uvperf__modifiers_t modifiers;
  int rc = refuse_pointer(build);

  if (rc == 0)
    rc = add_chain(build);
  if (rc == 0)
    rc = uvperf__modifiers_parse(build->parse, build->text->modifiers,
                                 &modifiers);
  if (rc == 0)
    rc = uvperf__modifiers_apply(build->parse, &modifiers, &event->wide.attr);
  if (rc != 0)
    return rc;
  event->is_precise_max = uvperf__modifiers_have(&modifiers, 'P') != 0;
  build->is_given = 1;
  return build->each(event, build->data);
}

int uvperf__event_build_finish(uvperf__event_build_t *build) {
  int rc = 0;

  if (build->text->terms.at != build->text->terms.end)
    rc = uvperf__terms_apply(build, build->text->terms, NULL);
  return rc != 0 ? rc : uvperf__event_build_end(build);
}
