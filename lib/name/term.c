/* SPDX-License-Identifier: MIT */
/* The terms of evsel__apply_config_terms() of perf(1). Each term changes the
 * attr as soon as it is read. So if a term occurs twice, the last value counts.
 * Formats of PMUs are not known here. */
#include "name/build.h"

#include <errno.h>
#include <string.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* perf_event_open(2) refuses periods that are negative as signed numbers. */
#define MOST_PERIOD ((uint64_t)INT64_MAX)

enum kind {
  KIND_FIELD,  /* a number into a field of the attr */
  KIND_CONFIG, /* the same, unless the name has set it already */
  KIND_TYPE,   /* the same, only in type=… */
  KIND_NOT,    /* the opposite of a flag of the attr */
  KIND_TIME,
  KIND_AUX_SIZE,
  KIND_PERIOD, /* from here on: a value is needed */
  KIND_FREQ,
  KIND_CHAIN,
  KIND_STACK,
  KIND_BRANCH,
  KIND_NAME,
  KIND_LACKING, /* perf(1) has it and this language does not */
  KIND_PERF     /* perf(1) does it itself */
};

typedef struct generic_term_s {
  const char *name;
  enum kind kind;
  enum uvperf_attr_field field;
  uint64_t most;
} generic_term_t;

static const generic_term_t terms[] = {
    {"config", KIND_CONFIG, UVPERF_ATTR_CONFIG, UINT64_MAX},
    {"config1", KIND_CONFIG, UVPERF_ATTR_CONFIG1, UINT64_MAX},
    {"config2", KIND_CONFIG, UVPERF_ATTR_CONFIG2, UINT64_MAX},
    {"config3", KIND_CONFIG, UVPERF_ATTR_CONFIG3, UINT64_MAX},
    {"config4", KIND_CONFIG, UVPERF_ATTR_CONFIG4, UINT64_MAX},
    {"type", KIND_TYPE, UVPERF_ATTR_TYPE, UINT32_MAX},
    {"bp_type", KIND_TYPE, UVPERF_ATTR_BP_TYPE, UINT32_MAX},
    {"name", KIND_NAME, UVPERF_ATTR_CONFIG, 0},
    {"period", KIND_PERIOD, UVPERF_ATTR_SAMPLE_PERIOD, MOST_PERIOD},
    {"freq", KIND_FREQ, UVPERF_ATTR_SAMPLE_PERIOD, MOST_PERIOD},
    {"branch_type", KIND_BRANCH, UVPERF_ATTR_BRANCH_SAMPLE_TYPE, 0},
    {"time", KIND_TIME, UVPERF_ATTR_SAMPLE_TYPE, 1},
    {"call-graph", KIND_CHAIN, UVPERF_ATTR_SAMPLE_TYPE, 0},
    {"stack-size", KIND_STACK, UVPERF_ATTR_SAMPLE_STACK_USER, 0},
    {"max-stack", KIND_FIELD, UVPERF_ATTR_SAMPLE_MAX_STACK, UINT16_MAX},
    {"inherit", KIND_FIELD, UVPERF_ATTR_INHERIT, 1},
    {"no-inherit", KIND_NOT, UVPERF_ATTR_INHERIT, 1},
    {"overwrite", KIND_FIELD, UVPERF_ATTR_WRITE_BACKWARD, 1},
    {"no-overwrite", KIND_NOT, UVPERF_ATTR_WRITE_BACKWARD, 1},
    {"aux-output", KIND_FIELD, UVPERF_ATTR_AUX_OUTPUT, 1},
    {"aux-sample-size", KIND_AUX_SIZE, UVPERF_ATTR_AUX_SAMPLE_SIZE, UINT32_MAX},
    {"nr", KIND_PERF, UVPERF_ATTR_CONFIG, 0},
    {"percore", KIND_PERF, UVPERF_ATTR_CONFIG, 0},
    {"metric-id", KIND_PERF, UVPERF_ATTR_CONFIG, 0},
    {"driver-config", KIND_PERF, UVPERF_ATTR_CONFIG, 0},
    {"aux-action", KIND_LACKING, UVPERF_ATTR_AUX_ACTION, 0},
    {"ratio-to-prev", KIND_PERF, UVPERF_ATTR_CONFIG, 0},
    {"cpu", KIND_PERF, UVPERF_ATTR_CONFIG, 0},
};

static const struct {
  const char *name;
  uint64_t bits;
} branch_types[] = {
    {"u", PERF_SAMPLE_BRANCH_USER},
    {"k", PERF_SAMPLE_BRANCH_KERNEL},
    {"hv", PERF_SAMPLE_BRANCH_HV},
    {"any", PERF_SAMPLE_BRANCH_ANY},
    {"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
    {"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
    {"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
    {"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
    {"call", PERF_SAMPLE_BRANCH_CALL},
    {"cond", PERF_SAMPLE_BRANCH_COND},
    {"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
    {"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
    {"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
    {"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
    {"no_flags", PERF_SAMPLE_BRANCH_NO_FLAGS},
    {"no_cycles", PERF_SAMPLE_BRANCH_NO_CYCLES},
    {"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
    {"hw_index", UVPERF_SAMPLE_BRANCH_HW_INDEX},
    {"priv", UVPERF_SAMPLE_BRANCH_PRIV_SAVE},
    {"counter", UVPERF_SAMPLE_BRANCH_COUNTERS},
    {"no", 0},
};

int uvperf__term_number(const uvperf__parse_t *parse,
                        const uvperf__term_t *term, uint64_t most,
                        uint64_t *value) {
  *value = 1;
  if (term->value.at == NULL)
    return 0;
  return uvperf__parse_number(parse, term->value, most, value);
}

/* A level alone (u, k or hv) means any branch at this level, as in perf(1)'s
 * parse_branch_str(). */
static uint64_t branch_bits(size_t i) {
  uint64_t bits = branch_types[i].bits;

  if (bits != 0 && !(bits & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL))
    bits |= PERF_SAMPLE_BRANCH_ANY;
  return bits;
}

const char *uvperf__branch_type_name(uint64_t bits) {
  size_t i;

  for (i = 0; i < COUNT_OF(branch_types); i++)
    if (bits != 0 && branch_bits(i) == bits)
      return branch_types[i].name;
  return NULL;
}

static int apply_branch(uvperf__event_build_t *build,
                        const uvperf__term_t *term) {
  struct perf_event_attr *attr = &build->event.wide.attr;
  char shown[UVPERF__SHOW_BYTES], meant[UVPERF__MEANT_BYTES];
  uvperf__near_miss_t miss;
  size_t i;

  uvperf__near_miss_init(&miss, term->value.at,
                         uvperf__span_length(term->value));
  for (i = 0; i < COUNT_OF(branch_types); i++) {
    uint64_t bits = branch_bits(i);

    uvperf__near_miss_each(branch_types[i].name, &miss);
    if (!uvperf__span_is(term->value, branch_types[i].name))
      continue;
    attr->branch_sample_type = bits;
    attr->sample_type &= ~(uint64_t)PERF_SAMPLE_BRANCH_STACK;
    if (bits != 0)
      attr->sample_type |= PERF_SAMPLE_BRANCH_STACK;
    return 0;
  }
  return uvperf__parse_bad(build->parse, term->value.at,
                           "there is no branch_type '%s'%s",
                           uvperf__span_show(term->value, shown),
                           uvperf__parse_meant(miss.best, meant));
}

static int apply_chain(uvperf__event_build_t *build,
                       const uvperf__term_t *term) {
  static const struct {
    const char *name;
    enum uvperf__chain chain;
  } chains[] = {{"no", UVPERF__CHAIN_NO},
                {"fp", UVPERF__CHAIN_FP},
                {"dwarf", UVPERF__CHAIN_DWARF},
                {"lbr", UVPERF__CHAIN_LBR}};
  size_t i;

  for (i = 0; i < COUNT_OF(chains); i++)
    if (uvperf__span_is(term->value, chains[i].name)) {
      build->chain = chains[i].chain;
      return 0;
    }
  return uvperf__parse_bad_piece(
      build->parse, term->value,
      "there is no call-graph '%s'; use no, fp, dwarf or lbr");
}

/* The kernel requires stacks of whole words, and records smaller than 64 KiB:
 * perf_copy_attr(). */
static int apply_stack(uvperf__event_build_t *build,
                       const uvperf__term_t *term) {
  int rc = uvperf__parse_number(build->parse, term->value, UINT16_MAX - 7,
                                &build->stack_bytes);

  if (rc == 0 && build->stack_bytes % 8 != 0)
    rc = uvperf__parse_bad(build->parse, term->value.at,
                           "stack-size must be a multiple of 8");
  build->stack_at = term->key.at;
  return rc;
}

static int apply_number(uvperf__event_build_t *build,
                        const uvperf__term_t *term,
                        const generic_term_t *generic) {
  struct perf_event_attr *attr = &build->event.wide.attr;
  uint64_t value;
  int rc = uvperf__term_number(build->parse, term, generic->most, &value);

  if (rc != 0)
    return rc;
  switch (generic->kind) {
    case KIND_TIME:
      attr->sample_type &= ~(uint64_t)PERF_SAMPLE_TIME;
      attr->sample_type |= value ? PERF_SAMPLE_TIME : 0;
      return 0;
    case KIND_PERIOD:
      uvperf_attr_set_period(attr, value);
      build->event.is_count = value == 0;
      return 0;
    case KIND_FREQ:
      uvperf_attr_set_frequency(attr, value);
      build->event.is_count = value == 0;
      return 0;
    case KIND_AUX_SIZE:
      attr->sample_type &= ~(uint64_t)PERF_SAMPLE_AUX;
      attr->sample_type |= value ? PERF_SAMPLE_AUX : 0;
      break;
    case KIND_NOT:
      value = !value;
      break;
    default:
      break;
  }
  return uvperf_attr_set(attr, generic->field, value);
}

/* Whether the name has already set the term's field. */
static int is_said(const uvperf__event_build_t *build, enum kind kind) {
  enum uvperf__event_form form = build->text->form;

  if (kind == KIND_TYPE)
    return form != UVPERF__FORM_TYPE;
  return kind == KIND_CONFIG &&
         (form == UVPERF__FORM_TRACEPOINT || form == UVPERF__FORM_BREAKPOINT);
}

static int term_apply(uvperf__event_build_t *build, const uvperf__term_t *term,
                      const generic_term_t *generic) {
  if (is_said(build, generic->kind))
    return uvperf__parse_bad(
        build->parse, term->key.at,
        "'%s' is already part of the event's name; leave it out",
        generic->name);
  if (generic->kind == KIND_PERF)
    return uvperf__parse_bad(build->parse, term->key.at,
                             "'%s' is for perf(1) only, not for the kernel",
                             generic->name);
  if (generic->kind == KIND_LACKING)
    return uvperf__parse_bad(
        build->parse, term->key.at,
        "'%s' cannot be part of a name; set that field with uvperf_attr_set",
        generic->name);
  if (generic->kind >= KIND_PERIOD && term->value.at == NULL)
    return uvperf__parse_bad_piece(build->parse, term->key,
                                   "'%s' needs a value; write %s=...");
  switch (generic->kind) {
    case KIND_NAME:
      build->event.name = term->value;
      return 0;
    case KIND_CHAIN:
      return apply_chain(build, term);
    case KIND_STACK:
      return apply_stack(build, term);
    case KIND_BRANCH:
      return apply_branch(build, term);
    default:
      return apply_number(build, term, generic);
  }
}

int uvperf__term_apply(uvperf__event_build_t *build,
                       const uvperf__term_t *term) {
  size_t i;

  if (*term->key.at == '@')
    return uvperf__parse_bad(
        build->parse, term->key.at,
        "'@' is for perf(1) only, which configures drivers in sysfs");
  for (i = 0; i < COUNT_OF(terms); i++)
    if (uvperf__span_is(term->key, terms[i].name))
      return term_apply(build, term, &terms[i]);
  return -ENOENT;
}

void uvperf__term_near_miss(uvperf__near_miss_t *miss) {
  size_t i;

  for (i = 0; i < COUNT_OF(terms); i++)
    if (terms[i].kind < KIND_LACKING && terms[i].kind != KIND_TYPE)
      uvperf__near_miss_each(terms[i].name, miss);
}

static int term_unknown(const uvperf__event_build_t *build,
                        const uvperf__term_t *term) {
  uvperf__near_miss_t miss;

  uvperf__near_miss_init(&miss, term->key.at, uvperf__span_length(term->key));
  uvperf__term_near_miss(&miss);
  return uvperf__parse_unknown(build->parse, term->key,
                               "there is no term '%s'%s", miss.best);
}

static int apply_known(uvperf__event_build_t *build,
                       const uvperf__term_t *term) {
  int rc = uvperf__term_apply(build, term);

  return rc == -ENOENT ? term_unknown(build, term) : rc;
}

int uvperf__terms_apply(uvperf__event_build_t *build, uvperf__span_t span,
                        uvperf__term_fn apply) {
  uvperf__terms_t walk;
  uvperf__term_t term;
  int rc;

  if (apply == NULL)
    apply = apply_known;
  uvperf__terms_init(&walk, span, build->text->head);
  while ((rc = uvperf__terms_next(build->parse, &walk, &term)) > 0) {
    rc = apply(build, &term);
    if (rc != 0)
      return rc;
  }
  return rc;
}
