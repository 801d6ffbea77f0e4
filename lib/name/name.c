/* SPDX-License-Identifier: MIT */
/* Which events a name means, and the attr of one that needs no memory. Lists,
 * and what lives as long as they do, are in event_list.c. */
#include "name/name.h"

#include <errno.h>
#include <string.h>

#include "host/pmu.h"
#include "name/build.h"
#include "name/modifier.h"
#include "name/term.h"
#include "util/error.h"
#include "util/file.h"

#define MAX_PRECISE 3

static void close_file(uvperf__event_build_t *build) {
  if (build->event.file >= 0)
    uvperf__file_close(build->event.file);
  build->event.file = -1;
}

void uvperf__event_build_begin(uvperf__event_build_t *build) {
  close_file(build);
  memset(&build->event, 0, sizeof(build->event));
  build->event.file = -1;
  build->event.text = build->text;
  build->event.wide.attr.size = sizeof(build->event.wide);
  build->event.measure.scale = 1;
  build->chain = UVPERF__CHAIN_UNSAID;
  build->stack_at = NULL;
  memset(&build->probe, 0, sizeof(build->probe));
  build->depth = 0;
  build->nr_files = 0;
}

/* 1; 0; or the want of fds that leaves it unknown. */
static int is_probe(const char *root, uint32_t type) {
  static const char *const probes[] = {"uprobe", "kprobe"};
  size_t i;

  for (i = 0; i < sizeof(probes) / sizeof(probes[0]); i++) {
    uint32_t its;
    int rc = uvperf__pmu_type(root, probes[i], &its);

    if (uvperf__is_shortage(rc))
      return rc;
    if (rc == 0 && its == type)
      return 1;
  }
  return 0;
}

/* The config1 of a probe is a pointer to a string, which uvperf_attr_label and
 * the kernel follow: a text may give the string, but no number. The types below
 * PERF_TYPE_MAX are fixed, and no probes. */
static int refuse_pointer(const uvperf__event_build_t *build) {
  const uvperf__named_event_t *event = &build->event;
  uint32_t type = event->wide.attr.type;
  int rc;

  if (event->wide.attr.config1 == 0 || event->string.at != NULL ||
      type < PERF_TYPE_MAX)
    return 0;
  rc = is_probe(build->parse->root, type);
  if (rc < 0)
    return uvperf__parse_shortage(build->parse, build->text->head.at, rc);
  if (rc == 0)
    return 0;
  return uvperf__parse_bad(build->parse, build->text->head.at,
                           "config1 of a probe is a pointer: write "
                           "uprobe/path=.../ or kprobe/func=.../");
}

int uvperf__event_build_end(uvperf__event_build_t *build) {
  uvperf__named_event_t *event = &build->event;
  uvperf__modifiers_t modifiers;
  int rc = refuse_pointer(build);

  if (rc == 0)
    rc = uvperf__event_build_chain(build);
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
    rc = uvperf__terms_apply(build, build->text->terms);
  return rc != 0 ? rc : uvperf__event_build_end(build);
}

static int build_form(uvperf__event_build_t *build) {
  switch (build->text->form) {
    case UVPERF__FORM_NUMBERS:
      return uvperf__event_build_numbers(build);
    case UVPERF__FORM_BREAKPOINT:
      return uvperf__event_build_breakpoint(build);
    case UVPERF__FORM_TRACEPOINT:
      return uvperf__event_build_tracepoint(build);
    case UVPERF__FORM_TYPE:
      return uvperf__event_build_finish(build);
    default:
      return uvperf__event_build_word(build);
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
  close_file(&build);
  return rc;
}

uint32_t uvperf__precise_max(const char *root, const char *pmu, uint32_t type) {
  uint32_t most;

  if (pmu == NULL && type != PERF_TYPE_HARDWARE && type != PERF_TYPE_HW_CACHE &&
      type != PERF_TYPE_RAW)
    return MAX_PRECISE;
  if (uvperf__pmu_max_precise(root, pmu != NULL ? pmu : "cpu", &most) != 0 ||
      most > MAX_PRECISE)
    return MAX_PRECISE;
  return most;
}

static int has_beyond(const uvperf__wide_attr_t *wide, size_t size) {
  const unsigned char *bytes = (const unsigned char *)wide;
  size_t i;

  for (i = size; i < sizeof(*wide); i++)
    if (bytes[i] != 0)
      return 1;
  return 0;
}

/* Copies an attr into a caller's of another size. 0; -E2BIG where something
 * that is not 0 lies behind it: nothing is written then. */
static int copy_attr(struct perf_event_attr *attr, size_t size,
                     const uvperf__wide_attr_t *wide) {
  if (has_beyond(wide, size))
    return -E2BIG;
  memset(attr, 0, size);
  memcpy(attr, wide, size < sizeof(*wide) ? size : sizeof(*wide));
  attr->size = (uint32_t)size;
  return 0;
}

/* One event for the caller's attr. */
typedef struct single_s {
  const uvperf__parse_t *parse;
  uvperf__wide_attr_t wide;
  size_t nr;
} single_t;

static int take_single(const uvperf__named_event_t *event, void *data) {
  static const char use[] = "use uvperf_event_list_parse";
  const uvperf__event_text_t *text = event->text;
  single_t *single = data;

  if (event->name.at != NULL)
    return uvperf__parse_bad(single->parse, event->name.at,
                             "a name must be kept: %s", use);
  if (event->string.at != NULL)
    return uvperf__parse_bad(single->parse, event->string.at,
                             "a probe's text must be kept: %s", use);
  if (event->is_pattern || single->nr++ > 0)
    return uvperf__parse_bad(single->parse, text->head.at,
                             "this means several events: %s", use);
  single->wide = event->wide;
  if (event->is_precise_max)
    single->wide.attr.precise_ip =
        uvperf__precise_max(single->parse->root, event->pmu,
                            event->wide.attr.type) &
        3;
  return 0;
}

/* What is behind the only event. */
static int refuse_rest(const uvperf__parse_t *parse, const char *at) {
  uvperf__span_t rest = {at, parse->end};
  char shown[UVPERF__SHOW_BYTES];

  if (*at == ',' || *at == '{')
    return uvperf__parse_bad(parse, at,
                             "one event is expected: for lists and groups use "
                             "uvperf_event_list_parse");
  return uvperf__parse_bad(parse, at, "'%s' does not belong to the event",
                           uvperf__span_show(rest, shown));
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

int uvperf__attr_parse(const char *root, struct perf_event_attr *attr,
                       size_t size, const char *name, uvperf_error_t *error) {
  uvperf__parse_t parse;
  single_t single;
  int rc;

  if (name == NULL || attr == NULL || size < PERF_ATTR_SIZE_VER0)
    return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                             "uvperf_attr_parse needs an attr of %d bytes or "
                             "more, and a name",
                             PERF_ATTR_SIZE_VER0);
  uvperf__parse_init(&parse, root, name, error);
  single.parse = &parse;
  single.nr = 0;
  rc = parse_single(&single);
  if (rc != 0)
    return rc;
  rc = copy_attr(attr, size, &single.wide);
  if (rc != 0)
    return uvperf__parse_fail(&parse, name, rc, UVPERF_CAUSE_ARGUMENT,
                              "the event needs a field that lies behind the "
                              "attr's %zu bytes",
                              size);
  return 0;
}

int uvperf_attr_parse_sized(struct perf_event_attr *attr, size_t size,
                            const char *name, uvperf_error_t *error) {
  return uvperf__attr_parse("", attr, size, name, error);
}
