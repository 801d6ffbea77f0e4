/* SPDX-License-Identifier: MIT */
/* The text of a label as it grows, together with its meaning as an attr; the
 * terms and modifiers of any event; and the check of the label, by parsing
 * it. */
#include "name/label_terms.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "attr/attr.h"
#include "name/term.h"

/* The length of a label that was cut. No other label has this length. */
#define CUT UVPERF__LABEL_BYTES

void uvperf__label_begin(uvperf__label_t *label,
                         const struct perf_event_attr *attr,
                         const char *tracepoint) {
  label->attr = attr;
  label->tracepoint = tracepoint;
  label->form = UVPERF__LABEL_NAME;
  label->nr_terms = 0;
  label->length = 0;
  label->text[0] = '\0';
  uvperf_attr_init_sized(&label->said.attr, sizeof(label->said), attr->type, 0);
}

static void label_term_put(uvperf__label_t *label, const char *format,
                           va_list values) {
  size_t room = sizeof(label->text) - label->length;
  int length;

  if (label->length == CUT)
    return;
  length = vsnprintf(label->text + label->length, room, format, values);
  if (length < 0 || (size_t)length >= room)
    label->length = CUT;
  else
    label->length += (size_t)length;
}

void uvperf__label_put(uvperf__label_t *label, const char *format, ...) {
  va_list values;

  va_start(values, format);
  label_term_put(label, format, values);
  va_end(values);
}

void uvperf__label_put_term(uvperf__label_t *label, const char *format, ...) {
  int is_first = label->nr_terms++ == 0;
  va_list values;

  if (!is_first || label->form == UVPERF__LABEL_NUMBERS)
    uvperf__label_put(label, ",");
  else if (label->form == UVPERF__LABEL_NAME)
    uvperf__label_put(label, "/");
  va_start(values, format);
  label_term_put(label, format, values);
  va_end(values);
}

void uvperf__label_say(uvperf__label_t *label, enum uvperf_attr_field field) {
  uvperf_attr_set(&label->said.attr, field,
                  uvperf__attr_value(label->attr, field));
}

/* -- terms and modifiers --------------------------------------------------- */

static int is_set(const uvperf__label_t *label, enum uvperf_attr_field field) {
  return uvperf__attr_value(label->attr, field) != 0;
}

/* A modifier, and the bit of the attr that it stands for. */
typedef struct modifier_s {
  char letter;
  enum uvperf_attr_field field;
} modifier_t;

/* Adds the letters of the modes that are not excluded, if some modes are
 * excluded and some are not: "u" excludes all modes except the user side. No
 * letters can exclude all modes. */
static char *put_excludes(uvperf__label_t *label, char *at,
                          const modifier_t *modifiers, size_t nr) {
  size_t excluded = 0;
  size_t i;

  for (i = 0; i < nr; i++)
    excluded += (size_t)is_set(label, modifiers[i].field);
  if (excluded == 0 || excluded == nr)
    return at;
  for (i = 0; i < nr; i++) {
    uvperf__label_say(label, modifiers[i].field);
    if (!is_set(label, modifiers[i].field))
      *at++ = modifiers[i].letter;
  }
  return at;
}

static char *put_flags(uvperf__label_t *label, char *at) {
  static const modifier_t flags[] = {
      {'I', UVPERF_ATTR_EXCLUDE_IDLE},
      {'D', UVPERF_ATTR_PINNED},
      {'e', UVPERF_ATTR_EXCLUSIVE},
  };
  size_t i;

  for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
    uvperf__label_say(label, flags[i].field);
    if (is_set(label, flags[i].field))
      *at++ = flags[i].letter;
  }
  return at;
}

static void put_modifiers(uvperf__label_t *label, int has_sample_type) {
  static const modifier_t sides[] = {
      {'u', UVPERF_ATTR_EXCLUDE_USER},
      {'k', UVPERF_ATTR_EXCLUDE_KERNEL},
      {'h', UVPERF_ATTR_EXCLUDE_HV},
  };
  static const modifier_t machines[] = {
      {'G', UVPERF_ATTR_EXCLUDE_GUEST},
      {'H', UVPERF_ATTR_EXCLUDE_HOST},
  };
  uint64_t precise = uvperf__attr_value(label->attr, UVPERF_ATTR_PRECISE_IP);
  char letters[16];
  char *at = put_excludes(label, letters, sides, 3);

  at = put_excludes(label, at, machines, 2);
  uvperf__label_say(label, UVPERF_ATTR_PRECISE_IP);
  for (; precise > 0; precise--)
    *at++ = 'p';
  at = put_flags(label, at);
  if (has_sample_type && (label->attr->sample_type & PERF_SAMPLE_READ))
    *at++ = 'S';
  *at = '\0';
  if (at != letters && label->form != UVPERF__LABEL_SLASH &&
      (label->form == UVPERF__LABEL_NUMBERS || label->nr_terms == 0))
    uvperf__label_put(label, ":");
  uvperf__label_put(label, "%s", letters);
}

/* Adds a term for a number of the attr. */
static void put_number(uvperf__label_t *label, const char *name,
                       enum uvperf_attr_field field) {
  uint64_t value = uvperf__attr_value(label->attr, field);

  if (value == 0)
    return;
  uvperf__label_say(label, field);
  uvperf__label_put_term(label, "%s=%llu", name, (unsigned long long)value);
}

/* In the form type=…,config=… each term must have a value. */
static void put_flag(uvperf__label_t *label, const char *name) {
  uvperf__label_put_term(label, "%s%s", name,
                         label->form == UVPERF__LABEL_NUMBERS ? "=1" : "");
}

static void put_bit(uvperf__label_t *label, const char *name,
                    enum uvperf_attr_field field) {
  uvperf__label_say(label, field);
  if (is_set(label, field))
    put_flag(label, name);
}

/* A frequency of 0 is written too. A period that is negative as a signed number
 * is not written, because the kernel and the language refuse it. */
static void put_period(uvperf__label_t *label) {
  if (uvperf__attr_value(label->attr, UVPERF_ATTR_SAMPLE_PERIOD) > INT64_MAX)
    return;
  if (!is_set(label, UVPERF_ATTR_FREQ)) {
    put_number(label, "period", UVPERF_ATTR_SAMPLE_PERIOD);
    return;
  }
  uvperf__label_say(label, UVPERF_ATTR_FREQ);
  uvperf__label_say(label, UVPERF_ATTR_SAMPLE_PERIOD);
  uvperf__label_put_term(label, "freq=%llu",
                         (unsigned long long)label->attr->sample_freq);
}

/* call-graph=lbr also sets branch_sample_type, to a value that no branch_type=
 * sets. */
static int is_lbr(const uvperf__label_t *label) {
  uint64_t both = PERF_SAMPLE_BRANCH_CALL_STACK | PERF_SAMPLE_BRANCH_NO_CYCLES;

  return (label->attr->sample_type & PERF_SAMPLE_BRANCH_STACK) != 0 &&
         (uvperf__attr_value(label->attr, UVPERF_ATTR_BRANCH_SAMPLE_TYPE) &
          both) == both;
}

/* call-graph=dwarf has no list of registers, because the parser knows which
 * registers it means. */
static void put_chain(uvperf__label_t *label) {
  if (is_lbr(label)) {
    uvperf__label_put_term(label, "call-graph=lbr");
  } else if (label->attr->sample_type & PERF_SAMPLE_STACK_USER) {
    uvperf__label_put_term(label, "call-graph=dwarf,stack-size=%llu",
                           (unsigned long long)uvperf__attr_value(
                               label->attr, UVPERF_ATTR_SAMPLE_STACK_USER));
    uvperf__label_say(label, UVPERF_ATTR_SAMPLE_REGS_USER);
    uvperf__label_say(label, UVPERF_ATTR_SAMPLE_STACK_USER);
    uvperf__label_say(label, UVPERF_ATTR_EXCLUDE_CALLCHAIN_USER);
  } else {
    uvperf__label_put_term(label, "call-graph=fp");
  }
}

static void put_branches(uvperf__label_t *label) {
  uint64_t bits =
      uvperf__attr_value(label->attr, UVPERF_ATTR_BRANCH_SAMPLE_TYPE);
  const char *name = uvperf__branch_type_name(bits);

  uvperf__label_say(label, UVPERF_ATTR_BRANCH_SAMPLE_TYPE);
  if (name != NULL)
    uvperf__label_put_term(label, "branch_type=%s", name);
}

/* All bits go into `said`, even bits that no term sets. With such bits the
 * label is not true. */
static void put_sample_type(uvperf__label_t *label) {
  uint64_t bits = label->attr->sample_type;

  uvperf__label_say(label, UVPERF_ATTR_SAMPLE_TYPE);
  if (bits & PERF_SAMPLE_TIME)
    put_flag(label, "time");
  if (bits & PERF_SAMPLE_CALLCHAIN)
    put_chain(label);
  if (bits & PERF_SAMPLE_BRANCH_STACK)
    put_branches(label);
  if (bits & PERF_SAMPLE_AUX)
    put_number(label, "aux-sample-size", UVPERF_ATTR_AUX_SAMPLE_SIZE);
}

/* max-stack also adds call chains, unless the text has call-graph=no. */
static void put_max_stack(uvperf__label_t *label) {
  put_number(label, "max-stack", UVPERF_ATTR_SAMPLE_MAX_STACK);
  if (is_set(label, UVPERF_ATTR_SAMPLE_MAX_STACK) &&
      !(label->attr->sample_type & PERF_SAMPLE_CALLCHAIN))
    uvperf__label_put_term(label, "call-graph=no");
}

void uvperf__label_end(uvperf__label_t *label, int has_sample_type) {
  put_period(label);
  put_max_stack(label);
  put_bit(label, "inherit", UVPERF_ATTR_INHERIT);
  put_bit(label, "overwrite", UVPERF_ATTR_WRITE_BACKWARD);
  put_bit(label, "aux-output", UVPERF_ATTR_AUX_OUTPUT);
  if (has_sample_type)
    put_sample_type(label);
  if (label->form == UVPERF__LABEL_SLASH ||
      (label->form == UVPERF__LABEL_NAME && label->nr_terms > 0))
    uvperf__label_put(label, "/");
  put_modifiers(label, has_sample_type);
}

/* -- the check ------------------------------------------------------------- */

/* Compares the fields that identify an event. The other fields only say how the
 * event is measured. */
static int is_same_event(const struct perf_event_attr *one,
                         const struct perf_event_attr *other) {
  static const enum uvperf_attr_field fields[] = {
      UVPERF_ATTR_TYPE,    UVPERF_ATTR_CONFIG,  UVPERF_ATTR_CONFIG1,
      UVPERF_ATTR_CONFIG2, UVPERF_ATTR_CONFIG3, UVPERF_ATTR_CONFIG4,
      UVPERF_ATTR_BP_TYPE,
  };
  size_t i;

  for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
    if (uvperf__attr_value(one, fields[i]) !=
        uvperf__attr_value(other, fields[i]))
      return 0;
  return 1;
}

/* Whether the parsed text has the meaning that the label should have. */
typedef struct truth_s {
  const uvperf__wide_attr_t *said;
  int nr; /* number of events in the text */
  int is_true;
} truth_t;

/* The config1 of a probe is a pointer to a string. The text has a copy of it,
 * so the strings are compared. */
static int label_term_compare(const uvperf__named_event_t *event, void *data) {
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

int uvperf__label_is_true(const uvperf__label_t *label) {
  truth_t truth = {&label->said, 0, 0};
  uvperf__event_text_t text;
  uvperf__parse_t parse;

  if (label->length == CUT || !is_same_event(&label->said.attr, label->attr))
    return 0;
  uvperf__parse_init(&parse, label->text, NULL);
  return uvperf__event_text_scan(&parse, parse.text, &text) == 0 &&
         text.whole.end == parse.end &&
         uvperf__event_name_each(&parse, &text, label_term_compare, &truth) ==
             0 &&
         truth.nr == 1 && truth.is_true;
}
