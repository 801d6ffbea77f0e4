/* SPDX-License-Identifier: MIT */
/* Finds the events that a name means, by the form of the name, and makes an
 * attr of one event that needs no memory. list.c has the lists, and everything
 * that lives as long as a list. */
#include "name/parse.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/hw_breakpoint.h>

#include "attr/generic_name.h"
#include "host/pmu.h"
#include "name/build.h"
#include "util/bytes.h"
#include "util/error.h"

#define MAX_PRECISE 3

/* -- the forms of a name --------------------------------------------------- */

static int build_numbers(uvperf__event_build_t *build) {
  const uvperf__event_text_t *text = build->text;
  struct perf_event_attr *attr = &build->event.wide.attr;
  uint64_t type, config;
  int rc = uvperf__parse_number(build->parse, text->head, UINT32_MAX, &type);

  if (rc == 0)
    rc = uvperf__parse_number(build->parse, text->tail, UINT64_MAX, &config);
  if (rc != 0)
    return rc;
  attr->type = (uint32_t)type;
  attr->config = config;
  return uvperf__event_build_finish(build);
}

static int read_access(const uvperf__parse_t *parse, uvperf__span_t span,
                       uint32_t *bp_type) {
  const char *at;

  *bp_type = span.at == NULL ? HW_BREAKPOINT_RW : HW_BREAKPOINT_EMPTY;
  for (at = span.at; at < span.end; at++) {
    uint32_t bit = *at == 'r'   ? HW_BREAKPOINT_R
                   : *at == 'w' ? HW_BREAKPOINT_W
                   : *at == 'x' ? HW_BREAKPOINT_X
                                : 0;

    if (bit == 0)
      return uvperf__parse_bad(parse, at,
                               "the access of a breakpoint has only r, w and "
                               "x; write modifiers after another ':'");
    if (*bp_type & bit)
      return uvperf__parse_bad(parse, at, "access '%c' appears twice", *at);
    *bp_type |= bit;
  }
  return 0;
}

static int build_breakpoint(uvperf__event_build_t *build) {
  const uvperf__event_text_t *text = build->text;
  struct perf_event_attr *attr = &build->event.wide.attr;
  uint64_t address, length;
  int rc = uvperf__parse_number(build->parse, text->tail, UINT64_MAX, &address);

  attr->type = PERF_TYPE_BREAKPOINT;
  if (rc == 0)
    rc = read_access(build->parse, text->access, &attr->bp_type);
  length =
      attr->bp_type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
  if (rc == 0 && text->length.at != NULL)
    rc = uvperf__parse_number(build->parse, text->length, UINT64_MAX, &length);
  if (rc != 0)
    return rc;
  attr->bp_addr = address;
  attr->bp_len = length;
  return uvperf__event_build_finish(build);
}

/* Returns 1 if the name is generic or raw, or 0 if not. On failure fills the
 * error and returns -errno. */
static int is_generic(const uvperf__event_build_t *build, uint32_t *type,
                      uint64_t *config) {
  uvperf__span_t head = build->text->head;
  char shown[UVPERF__SHOW_BYTES];
  int rc;

  *type = PERF_TYPE_RAW;
  rc = uvperf__parse_raw(build->parse, head, config);
  if (rc != 0)
    return rc;
  rc = uvperf__generic_find(head.at, uvperf__span_length(head), type, config);
  if (rc == -EINVAL)
    return uvperf__parse_fail(
        build->parse, head.at, -ENOENT, UVPERF_CAUSE_NO_EVENT,
        "there is no event '%s', as this cache has no such operation",
        uvperf__span_show(head, shown));
  return rc == 0;
}

/* Makes the name of a part, and the rest of the text: "cpu_core/cycles/" and
 * "u", or "cpu_core/cycles," and "period=5/u". */
static void name_part(uvperf__event_build_t *build, char *text, size_t size) {
  const uvperf__event_text_t *event = build->text;
  int has_terms = event->terms.at != event->terms.end;

  snprintf(text, size, "%s/%.*s%s", build->event.pmu,
           (int)uvperf__span_length(event->head), event->head.at,
           has_terms ? "," : "/");
  build->event.expanded = text;
  build->event.rest = has_terms ? event->terms.at : event->modifiers.at;
  if (build->event.rest == NULL)
    build->event.rest = event->whole.end;
}

/* The type of the PMU goes into the upper half of config: see
 * perf_event_open(2). An event with a raw code has the PMU's own type
 * instead. */
static int build_parts(uvperf__event_build_t *build, uint32_t type,
                       uint64_t config) {
  const uvperf__core_pmus_t *cores = build->parse->cores;
  char text[2 * UVPERF__PMU_NAME_BYTES];
  size_t i;
  int rc = 0;

  for (i = 0; i < cores->nr && rc == 0; i++) {
    struct perf_event_attr *attr = &build->event.wide.attr;

    uvperf__event_build_begin(build);
    attr->type = type == PERF_TYPE_RAW ? cores->pmus[i].type : type;
    attr->config = config;
    if (type != PERF_TYPE_RAW)
      attr->config |= (uint64_t)cores->pmus[i].type << 32;
    build->event.pmu = cores->pmus[i].name;
    build->event.part = i;
    build->event.nr_parts = cores->nr;
    name_part(build, text, sizeof(text));
    rc = uvperf__event_build_finish(build);
  }
  return rc;
}

/* Whether the name means one event for each kind of core, as in perf(1).
 * Returns 1 or 0. On failure fills the error and returns -errno. */
static int has_parts(const uvperf__event_build_t *build, uint32_t type) {
  const uvperf__core_pmus_t *cores = build->parse->cores;
  int rc;

  if (cores == NULL || type == PERF_TYPE_SOFTWARE)
    return 0;
  rc = uvperf__event_build_cores(build);
  if (rc != 0)
    return rc;
  return cores->nr > 1 && (type == PERF_TYPE_RAW || cores->has_extended_type);
}

static int build_word(uvperf__event_build_t *build) {
  struct perf_event_attr *attr = &build->event.wide.attr;
  uint64_t config;
  uint32_t type;
  int rc = is_generic(build, &type, &config);
  int parts;

  if (rc < 0)
    return rc;
  if (rc > 0) {
    parts = has_parts(build, type);
    if (parts != 0)
      return parts < 0 ? parts : build_parts(build, type, config);
    attr->type = type;
    attr->config = config;
    return uvperf__event_build_finish(build);
  }
  if (build->text->terms.at != NULL)
    return uvperf__event_build_pmu(build);
  rc = uvperf__event_build_alias(build);
  if (rc != 0 || build->is_given)
    return rc;
  rc = uvperf__event_build_perhaps_tracepoint(build);
  if (rc != 0 || build->is_given)
    return rc;
  return uvperf__event_build_unknown(build);
}

static int build_form(uvperf__event_build_t *build) {
  switch (build->text->form) {
    case UVPERF__FORM_NUMBERS:
      return build_numbers(build);
    case UVPERF__FORM_BREAKPOINT:
      return build_breakpoint(build);
    case UVPERF__FORM_TRACEPOINT:
      return uvperf__event_build_tracepoint(build);
    case UVPERF__FORM_TYPE:
      return uvperf__event_build_finish(build);
    default:
      return build_word(build);
  }
}

int uvperf__event_name_each(const uvperf__parse_t *parse,
                            const uvperf__event_text_t *text,
                            uvperf__named_event_fn each, void *data) {
  uvperf__event_build_t build = {.parse = parse, .text = text};
  int rc;

  build.each = each;
  build.data = data;
  build.event.file = -1;
  uvperf__event_build_begin(&build);
  rc = build_form(&build);
  uvperf__event_build_close(&build);
  return rc;
}

/* -- one event for the caller's attr --------------------------------------- */

uint32_t uvperf__precise_max(const char *pmu, uint32_t type) {
  uint32_t most;

  if (pmu == NULL && type != PERF_TYPE_HARDWARE && type != PERF_TYPE_HW_CACHE &&
      type != PERF_TYPE_RAW)
    return MAX_PRECISE;
  if (uvperf__pmu_max_precise(pmu != NULL ? pmu : "cpu", &most) != 0 ||
      most > MAX_PRECISE)
    return MAX_PRECISE;
  return most;
}

/* Copies an attr into the caller's attr, which may have another size. Returns
 * 0, or -E2BIG if a byte that does not fit is not 0. With -E2BIG it writes
 * nothing. */
static int copy_attr(struct perf_event_attr *attr, size_t size,
                     const uvperf__wide_attr_t *wide) {
  if (size < sizeof(*wide) &&
      !uvperf__is_zero((const char *)wide + size, sizeof(*wide) - size))
    return -E2BIG;
  memset(attr, 0, size);
  memcpy(attr, wide, size < sizeof(*wide) ? size : sizeof(*wide));
  attr->size = (uint32_t)size;
  return 0;
}

/* The only event of a text, for the caller's attr. */
typedef struct single_s {
  const uvperf__parse_t *parse;
  uvperf__wide_attr_t wide;
  size_t nr;
} single_t;

static int take_single(const uvperf__named_event_t *event, void *data) {
  const uvperf__event_text_t *text = event->text;
  single_t *single = data;

  if (event->name.at != NULL)
    return uvperf__parse_bad(
        single->parse, event->name.at,
        "an attr cannot keep a name; use uvperf_event_list_parse");
  if (event->string.at != NULL)
    return uvperf__parse_bad(
        single->parse, event->string.at,
        "an attr cannot keep a probe's text; use uvperf_event_list_parse");
  if (event->is_pattern || single->nr++ > 0)
    return uvperf__parse_bad(
        single->parse, text->head.at,
        "this means several events; use uvperf_event_list_parse");
  single->wide = event->wide;
  if (event->is_precise_max)
    single->wide.attr.precise_ip =
        uvperf__precise_max(event->pmu, event->wide.attr.type) & 3;
  return 0;
}

/* Explains the text after the only event. */
static int refuse_rest(const uvperf__parse_t *parse, const char *at) {
  uvperf__span_t rest = {at, parse->end};

  if (*at == ',' || *at == '{')
    return uvperf__parse_bad(parse, at,
                             "this is more than one event; use "
                             "uvperf_event_list_parse for lists and groups");
  return uvperf__parse_bad_piece(parse, rest,
                                 "'%s' does not belong to the event");
}

static int parse_single(single_t *single) {
  const uvperf__parse_t *parse = single->parse;
  const char *at = uvperf__skip_space(parse->text, parse->end);
  uvperf__event_text_t text;
  int rc;

  if (at < parse->end && *at == '{')
    return refuse_rest(parse, at);
  rc = uvperf__event_text_scan(parse, at, &text);
  if (rc != 0)
    return rc;
  at = uvperf__skip_space(text.whole.end, parse->end);
  if (at < parse->end)
    return refuse_rest(parse, at);
  return uvperf__event_name_each(parse, &text, take_single, single);
}

int uvperf_attr_parse_sized(struct perf_event_attr *attr, size_t size,
                            const char *name, uvperf_error_t *error) {
  uvperf__parse_t parse;
  single_t single;
  int rc;

  if (name == NULL || attr == NULL || size < PERF_ATTR_SIZE_VER0)
    return uvperf__error_argument(
        error,
        "uvperf_attr_parse needs an attr of %d bytes or "
        "more, and a name",
        PERF_ATTR_SIZE_VER0);
  uvperf__parse_init(&parse, name, error);
  single.parse = &parse;
  single.nr = 0;
  rc = parse_single(&single);
  if (rc != 0)
    return rc;
  rc = copy_attr(attr, size, &single.wide);
  if (rc != 0)
    return uvperf__parse_fail(
        &parse, name, rc, UVPERF_CAUSE_ARGUMENT,
        "the event needs a field after the attr's %zu bytes; use a larger attr",
        size);
  return 0;
}
