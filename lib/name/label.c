/* SPDX-License-Identifier: MIT */
/* Finds the name of an event from its attr. Tries the ways to name the event,
 * the most readable first, and takes the first way whose text parses back to
 * the same event. */
#include "name/label.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/hw_breakpoint.h>

#include "attr/attr.h"
#include "attr/generic_name.h"
#include "host/pmu.h"
#include "host/tracefs.h"
#include "name/parse.h"
#include "name/build.h"
#include "name/modifier.h"
#include "util/bytes.h"
#include "util/line.h"

/* A label while it is composed. `said` is the attr that the text means. A label
 * is true if it names the event and if parsing the text results in `said`. */
typedef struct label_s {
  const struct perf_event_attr *attr; /* the event to name */
  const char *tracepoint; /* "category:name"; "": none; NULL: unknown */
  uvperf__wide_attr_t said;
  enum {
    FORM_NAME,   /* name, name:modifiers, name/terms/modifiers */
    FORM_SLASH,  /* pmu/terms/modifiers */
    FORM_NUMBERS /* type=…,terms, type=…,terms:modifiers */
  } form;
  int nr_terms;
  uvperf__line_t line; /* in `text` */
  char text[UVPERF__LABEL_BYTES];
} label_t;

/* Begins an empty label; `said` has only the type. */
static void label_begin(label_t *label, const struct perf_event_attr *attr,
                        const char *tracepoint) {
  label->attr = attr;
  label->tracepoint = tracepoint;
  label->form = FORM_NAME;
  label->nr_terms = 0;
  uvperf__line_begin(&label->line, label->text, sizeof(label->text));
  uvperf_attr_init_sized(&label->said.attr, sizeof(label->said), attr->type, 0);
}

/* Begins a term: adds the separator before it. Returns the line. */
static uvperf__line_t *label_term(label_t *label) {
  int is_first = label->nr_terms++ == 0;

  if (!is_first || label->form == FORM_NUMBERS)
    uvperf__line_put(&label->line, ",");
  else if (label->form == FORM_NAME)
    uvperf__line_put(&label->line, "/");
  return &label->line;
}

/* Sets a field of `said` to the event's value, because the text contains it. */
static void label_say(label_t *label, enum uvperf_attr_field field) {
  uvperf_attr_set(&label->said.attr, field,
                  uvperf__attr_value(label->attr, field));
}

/* -- terms and modifiers --------------------------------------------------- */

static int is_set(const label_t *label, enum uvperf_attr_field field) {
  return uvperf__attr_value(label->attr, field) != 0;
}

/* Adds the letters of the modes that are not excluded, if some modes are
 * excluded and some are not: "u" excludes all modes except the user side. No
 * letters can exclude all modes. */
static char *put_modes(label_t *label, char *at, const uvperf__mode_t *modes,
                       size_t nr) {
  size_t excluded = 0;
  size_t i;

  for (i = 0; i < nr; i++)
    excluded += (size_t)is_set(label, modes[i].excludes);
  if (excluded == 0 || excluded == nr)
    return at;
  for (i = 0; i < nr; i++) {
    label_say(label, modes[i].excludes);
    if (!is_set(label, modes[i].excludes))
      *at++ = modes[i].letter;
  }
  return at;
}

static char *put_flags(label_t *label, char *at) {
  static const struct {
    char letter;
    enum uvperf_attr_field field;
  } flags[] = {
      {'I', UVPERF_ATTR_EXCLUDE_IDLE},
      {'D', UVPERF_ATTR_PINNED},
      {'e', UVPERF_ATTR_EXCLUSIVE},
  };
  size_t i;

  for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
    label_say(label, flags[i].field);
    if (is_set(label, flags[i].field))
      *at++ = flags[i].letter;
  }
  return at;
}

static void put_modifiers(label_t *label, int has_sample_type) {
  uint64_t precise = uvperf__attr_value(label->attr, UVPERF_ATTR_PRECISE_IP);
  char letters[16];
  char *at = put_modes(label, letters, uvperf__sides, UVPERF__SIDES);

  at = put_modes(label, at, uvperf__machines, UVPERF__MACHINES);
  label_say(label, UVPERF_ATTR_PRECISE_IP);
  for (; precise > 0; precise--)
    *at++ = 'p';
  at = put_flags(label, at);
  if (has_sample_type && (label->attr->sample_type & PERF_SAMPLE_READ))
    *at++ = 'S';
  *at = '\0';
  if (at != letters && label->form != FORM_SLASH &&
      (label->form == FORM_NUMBERS || label->nr_terms == 0))
    uvperf__line_put(&label->line, ":");
  uvperf__line_put(&label->line, "%s", letters);
}

/* Adds a term for a number of the attr. */
static void put_field(label_t *label, const char *name,
                      enum uvperf_attr_field field) {
  uint64_t value = uvperf__attr_value(label->attr, field);

  if (value == 0)
    return;
  label_say(label, field);
  uvperf__line_put(label_term(label), "%s=%llu", name,
                   (unsigned long long)value);
}

/* In the form type=…,config=… each term must have a value. */
static void put_flag(label_t *label, const char *name) {
  uvperf__line_put(label_term(label), "%s%s", name,
                   label->form == FORM_NUMBERS ? "=1" : "");
}

static void put_bit(label_t *label, const char *name,
                    enum uvperf_attr_field field) {
  label_say(label, field);
  if (is_set(label, field))
    put_flag(label, name);
}

/* A frequency of 0 is written too. A period that is negative as a signed number
 * is not written, because the kernel and the language refuse it. */
static void put_period(label_t *label) {
  if (uvperf__attr_value(label->attr, UVPERF_ATTR_SAMPLE_PERIOD) > INT64_MAX)
    return;
  if (!is_set(label, UVPERF_ATTR_FREQ)) {
    put_field(label, "period", UVPERF_ATTR_SAMPLE_PERIOD);
    return;
  }
  label_say(label, UVPERF_ATTR_FREQ);
  label_say(label, UVPERF_ATTR_SAMPLE_PERIOD);
  uvperf__line_put(label_term(label), "freq=%llu",
                   (unsigned long long)label->attr->sample_freq);
}

/* call-graph=lbr also sets branch_sample_type, to a value that no branch_type=
 * sets. */
static int is_lbr(const label_t *label) {
  uint64_t both = PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_NO_CYCLES;

  return (label->attr->sample_type & PERF_SAMPLE_BRANCH_STACK) != 0 &&
         (uvperf__attr_value(label->attr, UVPERF_ATTR_BRANCH_SAMPLE_TYPE) &
          both) == both;
}

/* call-graph=dwarf has no list of registers, because the parser knows which
 * registers it means. */
static void put_chain(label_t *label) {
  if (is_lbr(label)) {
    uvperf__line_put(label_term(label), "call-graph=lbr");
  } else if (label->attr->sample_type & PERF_SAMPLE_STACK_USER) {
    uvperf__line_put(label_term(label), "call-graph=dwarf,stack-size=%llu",
                     (unsigned long long)uvperf__attr_value(
                         label->attr, UVPERF_ATTR_SAMPLE_STACK_USER));
    label_say(label, UVPERF_ATTR_SAMPLE_REGS_USER);
    label_say(label, UVPERF_ATTR_SAMPLE_STACK_USER);
    label_say(label, UVPERF_ATTR_EXCLUDE_CALLCHAIN_USER);
  } else {
    uvperf__line_put(label_term(label), "call-graph=fp");
  }
}

static void put_branches(label_t *label) {
  uint64_t bits =
      uvperf__attr_value(label->attr, UVPERF_ATTR_BRANCH_SAMPLE_TYPE);
  const char *name = uvperf__branch_type_name(bits);

  label_say(label, UVPERF_ATTR_BRANCH_SAMPLE_TYPE);
  if (name != NULL)
    uvperf__line_put(label_term(label), "branch_type=%s", name);
}

/* All bits go into `said`, even bits that no term sets. With such bits the
 * label is not true. */
static void put_sample_type(label_t *label) {
  uint64_t bits = label->attr->sample_type;

  label_say(label, UVPERF_ATTR_SAMPLE_TYPE);
  if (bits & PERF_SAMPLE_TIME)
    put_flag(label, "time");
  if (bits & PERF_SAMPLE_CALLCHAIN)
    put_chain(label);
  if (bits & PERF_SAMPLE_BRANCH_STACK)
    put_branches(label);
  if (bits & PERF_SAMPLE_AUX)
    put_field(label, "aux-sample-size", UVPERF_ATTR_AUX_SAMPLE_SIZE);
}

/* max-stack also adds call chains, unless the text has call-graph=no. */
static void put_max_stack(label_t *label) {
  put_field(label, "max-stack", UVPERF_ATTR_SAMPLE_MAX_STACK);
  if (is_set(label, UVPERF_ATTR_SAMPLE_MAX_STACK) &&
      !(label->attr->sample_type & PERF_SAMPLE_CALLCHAIN))
    uvperf__line_put(label_term(label), "call-graph=no");
}

/* Adds the terms and the modifiers that any event can have. Adds the terms of
 * sample_type only if has_sample_type is set. */
static void label_add_terms(label_t *label, int has_sample_type) {
  put_period(label);
  put_max_stack(label);
  put_bit(label, "inherit", UVPERF_ATTR_INHERIT);
  put_bit(label, "overwrite", UVPERF_ATTR_WRITE_BACKWARD);
  put_bit(label, "aux-output", UVPERF_ATTR_AUX_OUTPUT);
  if (has_sample_type)
    put_sample_type(label);
  if (label->form == FORM_SLASH ||
      (label->form == FORM_NAME && label->nr_terms > 0))
    uvperf__line_put(&label->line, "/");
  put_modifiers(label, has_sample_type);
}

/* -- events of PMUs -------------------------------------------------------- */

/* Makes labels from a named event of the PMU, or from the terms of its format.
 * Probes have PMUs too, but they are not labelled here. */

/* The kernel's fixed types are named in other ways, although sysfs shows some
 * of them as PMUs too ("software"). The exception is RAW, which is the type of
 * the CPU's PMU on x86. */
static int find_pmu(label_t *label, char name[UVPERF__PMU_NAME_BYTES]) {
  uint32_t type = label->attr->type;

  label->form = FORM_SLASH;
  if (type < PERF_TYPE_MAX && type != PERF_TYPE_RAW)
    return -ENOENT;
  return uvperf__pmu_name(type, name, UVPERF__PMU_NAME_BYTES) == 0 ? 0
                                                                   : -ENOENT;
}

/* The search for the named event with the type and configs of `own`. */
typedef struct event_search_s {
  const char *pmu;
  uvperf__wide_attr_t own;
  char best[UVPERF__PMU_NAME_BYTES]; /* "": none so far */
} event_search_t;

static int is_event(const event_search_t *search, const char *name) {
  char text[2 * UVPERF__PMU_NAME_BYTES + 4];
  uvperf__wide_attr_t event;

  snprintf(text, sizeof(text), "%s/%s/", search->pmu, name);
  return uvperf_attr_parse_sized(&event.attr, sizeof(event), text, NULL) == 0 &&
         memcmp(&event, &search->own, sizeof(event)) == 0;
}

/* Several names may mean one event. Chooses the shortest name. If several are
 * equally short, chooses the first of them in the alphabet. So the label does
 * not depend on the directory's order. */
static int consider_event(const char *name, void *data) {
  event_search_t *search = data;
  size_t length = strlen(name);
  size_t best = strlen(search->best);

  if (length >= sizeof(search->best))
    return 0;
  if (best != 0 &&
      (length > best || (length == best && strcmp(name, search->best) >= 0)))
    return 0;
  if (is_event(search, name))
    memcpy(search->best, name, length + 1);
  return 0;
}

static int label_pmu_event(label_t *label) {
  char pmu[UVPERF__PMU_NAME_BYTES];
  event_search_t search;
  size_t i;

  if (find_pmu(label, pmu) != 0)
    return -ENOENT;
  for (i = 0; i < UVPERF__ATTR_CONFIGS; i++)
    label_say(label, uvperf__attr_configs[i]);
  search.pmu = pmu;
  search.own = label->said;
  search.best[0] = '\0';
  uvperf__pmu_each_event(pmu, consider_event, &search);
  if (search.best[0] == '\0')
    return -ENOENT;
  uvperf__line_put(&label->line, "%s/", pmu);
  uvperf__line_put(label_term(label), "%s", search.best);
  return 0;
}

/* The search for the term that contains the lowest bit of a config that is not
 * in the label yet. */
typedef struct term_search_s {
  const char *pmu;
  enum uvperf_attr_field field;
  uint64_t left;                     /* the bits that are not in the label
                                      * yet */
  uint64_t taken;                    /* the masks of the terms in the label */
  uint64_t mask;                     /* of the best */
  char best[UVPERF__PMU_NAME_BYTES]; /* "": none so far */
} term_search_t;

/* Prefers the term that covers the most of the bits that are left. Among such
 * terms prefers the term with the fewest bits, then the first in the
 * alphabet. */
static int is_better(const term_search_t *search, const char *name,
                     uint64_t mask) {
  unsigned int says = uvperf__bits(mask & search->left);
  unsigned int best_says = uvperf__bits(search->mask & search->left);
  unsigned int bits = uvperf__bits(mask);
  unsigned int best_bits = uvperf__bits(search->mask);

  if (search->best[0] == '\0' || says != best_says)
    return search->best[0] == '\0' || says > best_says;
  if (bits != best_bits)
    return bits < best_bits;
  return strcmp(name, search->best) < 0;
}

/* Terms may overlap, as x86's offcore_rsp and ldlat do. The label then has only
 * one of the overlapping terms. */
static int consider_term(const char *name, void *data) {
  term_search_t *search = data;
  size_t length = strlen(name);
  uvperf__pmu_format_t format;
  uint64_t lowest = search->left & (~search->left + 1);

  if (length >= sizeof(search->best) ||
      uvperf__pmu_format(search->pmu, name, &format) != 0 ||
      format.field != search->field || (format.mask & lowest) == 0 ||
      (format.mask & search->taken) != 0 ||
      !is_better(search, name, format.mask))
    return 0;
  memcpy(search->best, name, length + 1);
  search->mask = format.mask;
  return 0;
}

/* The terms with the lowest bits come first. */
static int label_pmu_config(label_t *label, const char *pmu,
                            enum uvperf_attr_field field) {
  uint64_t config = uvperf__attr_value(label->attr, field);
  term_search_t search = {pmu, field, config, 0, 0, ""};

  while (search.left != 0) {
    search.best[0] = '\0';
    uvperf__pmu_each_format(pmu, consider_term, &search);
    if (search.best[0] == '\0')
      return -ENOENT;
    uvperf__line_put(label_term(label), "%s", search.best);
    if (uvperf__bits(search.mask) > 1)
      uvperf__line_put(
          &label->line, "=0x%llx",
          (unsigned long long)uvperf__pmu_gather(search.mask, config));
    search.taken |= search.mask;
    search.left &= ~search.mask;
  }
  label_say(label, field);
  return 0;
}

static int label_pmu_terms(label_t *label) {
  char pmu[UVPERF__PMU_NAME_BYTES];
  int rc = find_pmu(label, pmu);
  size_t i;

  if (rc == 0)
    uvperf__line_put(&label->line, "%s/", pmu);
  for (i = 0; rc == 0 && i < UVPERF__ATTR_CONFIGS; i++)
    rc = label_pmu_config(label, pmu, uvperf__attr_configs[i]);
  return rc;
}

/* -- probes ---------------------------------------------------------------- */

/* The config1 of a probe is a pointer to a string of this process: the path of
 * a file, or the name of a kernel function. */

/* Adds a value in quotation marks, so that no byte of the value ends it. A
 * value that contains both kinds of quotation marks cannot be written. */
static int put_quoted(label_t *label, const char *key, const char *value) {
  char mark = strchr(value, '"') == NULL ? '"' : '\'';

  if (strchr(value, mark) != NULL)
    return -ENOENT;
  uvperf__line_put(label_term(label), "%s=%c%s%c", key, mark, value, mark);
  return 0;
}

static void put_number(label_t *label, const char *key, uint64_t value) {
  uvperf__line_put(label_term(label), "%s=0x%llx", key,
                   (unsigned long long)value);
}

/* uprobe_register() needs a path and an offset in the file.
 * create_local_trace_kprobe() needs a function and an offset in it, or an
 * address without a function: perf_uprobe_init and perf_kprobe_init in
 * kernel/trace/trace_event_perf.c. */
static int label_probe(label_t *label) {
  uint64_t offset = uvperf__attr_value(label->attr, UVPERF_ATTR_CONFIG2);
  int is_uprobe = uvperf__pmu_is(label->attr->type, "uprobe");
  const char *pmu = is_uprobe ? "uprobe" : "kprobe";
  const char *name;

  if (!is_uprobe && !uvperf__pmu_is(label->attr->type, pmu))
    return -ENOENT;
  name = (const char *)(uintptr_t)uvperf__attr_value(label->attr,
                                                     UVPERF_ATTR_CONFIG1);
  if (is_uprobe && name == NULL)
    return -ENOENT;
  label->form = FORM_SLASH;
  uvperf__line_put(&label->line, "%s/", pmu);
  if (name != NULL && put_quoted(label, is_uprobe ? "path" : "func", name) != 0)
    return -ENOENT;
  if (name == NULL)
    put_number(label, "addr", offset);
  else if (is_uprobe || offset != 0)
    put_number(label, "offset", offset);
  label_say(label, UVPERF_ATTR_CONFIG1);
  label_say(label, UVPERF_ATTR_CONFIG2);
  return label_pmu_config(label, pmu, UVPERF_ATTR_CONFIG);
}

/* -- all other events ------------------------------------------------------ */

/* On machines with several kinds of CPUs the upper half of config in hardware
 * and cache events may be the type of a PMU (PERF_PMU_TYPE_SHIFT). */
#define PMU_SHIFT 32

/* Adds one of the spellings of a generic event. */
static int put_generic(label_t *label, const char *name) {
  uint32_t type = (uint32_t)(label->attr->config >> PMU_SHIFT);
  char pmu[UVPERF__PMU_NAME_BYTES];

  label_say(label, UVPERF_ATTR_CONFIG);
  if (type == 0) {
    uvperf__line_put(&label->line, "%s", name);
    return 0;
  }
  label->form = FORM_SLASH;
  if (uvperf__pmu_name(type, pmu, sizeof(pmu)) != 0)
    return -ENOENT;
  uvperf__line_put(&label->line, "%s/", pmu);
  uvperf__line_put(label_term(label), "%s", name);
  return 0;
}

static int label_generic(label_t *label) {
  char name[UVPERF__GENERIC_NAME_BYTES];

  if (uvperf__generic_name(label->attr->type, (uint32_t)label->attr->config,
                           name, sizeof(name)) != 0)
    return -ENOENT;
  return put_generic(label, name);
}

static int put_alias(const char *name, void *data) {
  label_t *label = data;
  uint64_t config;
  uint32_t type;

  if (uvperf__generic_find(name, strlen(name), &type, &config) != 0 ||
      type != label->attr->type || config != (uint32_t)label->attr->config)
    return 0;
  put_generic(label, name);
  return 1;
}

/* Uses another spelling, because a PMU may have its own event with the first
 * spelling: cpu_core has "cpu-cycles". */
static int label_generic_alias(label_t *label) {
  return uvperf__generic_each_alias(label->attr->type, put_alias, label) == 1
             ? 0
             : -ENOENT;
}

static int label_tracepoint(label_t *label) {
  const char *name = label->tracepoint;
  char found[UVPERF__TRACEPOINT_BYTES];

  if (label->attr->type != PERF_TYPE_TRACEPOINT)
    return -ENOENT;
  if (name == NULL) {
    uvperf__tracefs_name(label->attr->config, found, sizeof(found));
    name = found;
  }
  if (name[0] == '\0')
    return -ENOENT;
  label_say(label, UVPERF_ATTR_CONFIG);
  uvperf__line_put(&label->line, "%s", name);
  return 0;
}

static int label_breakpoint(label_t *label) {
  const struct perf_event_attr *attr = label->attr;

  if (attr->type != PERF_TYPE_BREAKPOINT)
    return -ENOENT;
  label_say(label, UVPERF_ATTR_BP_TYPE);
  label_say(label, UVPERF_ATTR_CONFIG1);
  label_say(label, UVPERF_ATTR_CONFIG2);
  uvperf__line_put(
      &label->line, "mem:0x%llx/%llu:", (unsigned long long)attr->config1,
      (unsigned long long)uvperf__attr_value(attr, UVPERF_ATTR_CONFIG2));
  uvperf__line_put(&label->line, "%s%s%s",
                   attr->bp_type & HW_BREAKPOINT_R ? "r" : "",
                   attr->bp_type & HW_BREAKPOINT_W ? "w" : "",
                   attr->bp_type & HW_BREAKPOINT_X ? "x" : "");
  return 0;
}

static int label_raw(label_t *label) {
  if (label->attr->type != PERF_TYPE_RAW)
    return -ENOENT;
  label_say(label, UVPERF_ATTR_CONFIG);
  uvperf__line_put(&label->line, "r%llx",
                   (unsigned long long)label->attr->config);
  return 0;
}

static void put_hex(label_t *label, enum uvperf_attr_field field) {
  uint64_t value = uvperf__attr_value(label->attr, field);

  label_say(label, field);
  if (value != 0)
    uvperf__line_put(label_term(label), "%s=0x%llx",
                     uvperf__attr_field_name(field), (unsigned long long)value);
}

static int label_numbers(label_t *label) {
  size_t i;

  uvperf__line_put(&label->line, "type=%u,config=0x%llx", label->attr->type,
                   (unsigned long long)label->attr->config);
  label->form = FORM_NUMBERS;
  label_say(label, UVPERF_ATTR_CONFIG);
  for (i = 1; i < UVPERF__ATTR_CONFIGS; i++)
    put_hex(label, uvperf__attr_configs[i]);
  put_hex(label, UVPERF_ATTR_BP_TYPE);
  return 0;
}

/* -- the check ------------------------------------------------------------- */

/* Compares the fields that identify an event. The other fields only say how the
 * event is measured. */
static int is_same_event(const struct perf_event_attr *one,
                         const struct perf_event_attr *other) {
  size_t i;

  for (i = 0; i < UVPERF__ATTR_CONFIGS; i++)
    if (uvperf__attr_value(one, uvperf__attr_configs[i]) !=
        uvperf__attr_value(other, uvperf__attr_configs[i]))
      return 0;
  return one->type == other->type && one->bp_type == other->bp_type;
}

/* Whether the parsed text has the meaning that the label should have. */
typedef struct truth_s {
  const uvperf__wide_attr_t *said;
  int nr; /* number of events in the text */
  int is_true;
} truth_t;

/* The config1 of a probe is a pointer to a string. The text has a copy of it,
 * so the strings are compared. */
static int label_compare(const uvperf__named_event_t *event, void *data) {
  truth_t *truth = data;
  uvperf__wide_attr_t parsed = event->wide;
  const char *string = (const char *)(uintptr_t)truth->said->attr.config1;
  size_t length = uvperf__span_length(event->string);

  truth->nr++;
  truth->is_true = !event->is_pattern;
  truth->is_true &= event->string.at == NULL ||
                    (string != NULL && strlen(string) == length &&
                     memcmp(string, event->string.at, length) == 0);
  if (event->string.at != NULL)
    parsed.attr.config1 = truth->said->attr.config1;
  truth->is_true &= memcmp(&parsed, truth->said, sizeof(parsed)) == 0;
  return 0;
}

/* Whether the label is true: it names this event and no other. A label that was
 * cut means less than `said`. */
static int label_is_true(const label_t *label) {
  truth_t truth = {&label->said, 0, 0};
  uvperf__event_text_t text;
  uvperf__parse_t parse;

  if (!is_same_event(&label->said.attr, label->attr))
    return 0;
  uvperf__parse_init(&parse, label->text, NULL);
  return uvperf__event_text_scan(&parse, parse.text, &text) == 0 &&
         text.whole.end == parse.end &&
         uvperf__event_name_each(&parse, &text, label_compare, &truth) == 0 &&
         truth.nr == 1 && truth.is_true;
}

/* -- all ways -------------------------------------------------------------- */

/* Completes a label that already names the event. Returns 1, or 0 if the label
 * is not true. */
static int label_complete(label_t *label, const label_t *name) {
  int has_sample_type = name->attr->sample_type != 0;

  for (; has_sample_type >= 0; has_sample_type--) {
    *label = *name;
    label->line.text = label->text;
    label_add_terms(label, has_sample_type);
    if (label_is_true(label))
      return 1;
  }
  return 0;
}

/* Tries each way to write the attr as a text, until one is exact. Some attrs
 * cannot be written exactly, for example probes with a number for the pointer.
 * The result for such an attr is the text of the last way. */
static void label_compose(label_t *label, const struct perf_event_attr *attr,
                          const char *tracepoint) {
  static int (*const ways[])(label_t *) = {
      label_generic,    label_generic_alias, label_tracepoint,
      label_breakpoint, label_probe,         label_pmu_event,
      label_pmu_terms,  label_raw,           label_numbers,
  };
  label_t name;
  size_t i;

  for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
    label_begin(&name, attr, tracepoint);
    if (ways[i](&name) == 0 && label_complete(label, &name))
      return;
  }
}

int uvperf__attr_label_known(const struct perf_event_attr *attr,
                             const char *tracepoint, char *label,
                             size_t *size) {
  label_t text;

  if (attr == NULL || size == NULL || (label == NULL && *size != 0) ||
      uvperf__attr_size(attr) < PERF_ATTR_SIZE_VER0)
    return -EINVAL;
  label_compose(&text, attr, tracepoint);
  return uvperf__line_give(text.text, label, size);
}

int uvperf_attr_label(const struct perf_event_attr *attr, char *label,
                      size_t *size) {
  return uvperf__attr_label_known(attr, NULL, label, size);
}
