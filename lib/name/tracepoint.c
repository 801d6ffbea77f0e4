/* SPDX-License-Identifier: MIT */
/* Names of tracepoints, and patterns of them. The attr gets only type and id.
 * perf(1) also sets a period of 1, RAW, TIME and CPU. A program that samples
 * must set these fields itself. */
#include "name/build.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attr/generic_name.h"
#include "host/tracefs.h"
#include "util/file.h"
#include "util/glob.h"
#include "util/near_miss.h"

#define NAME_BYTES 256

typedef struct tracepoint_s {
  uvperf__event_build_t *build;
  char category[NAME_BYTES];
  char name[NAME_BYTES];
  int rc;    /* the result of the last event */
  size_t nr; /* number of events */
} tracepoint_t;

static int unknown_category(const tracepoint_t *tracepoint) {
  const uvperf__event_build_t *build = tracepoint->build;
  uvperf__span_t head = build->text->head;
  uvperf__near_miss_t miss;

  uvperf__near_miss_init(&miss, head.at, uvperf__span_length(head));
  uvperf_tracefs_walk_categories(uvperf__near_miss_each, &miss);
  uvperf__generic_each(PERF_TYPE_HARDWARE, uvperf__near_miss_each, &miss);
  uvperf__generic_each_alias(PERF_TYPE_HARDWARE, uvperf__near_miss_each, &miss);
  uvperf__generic_each(PERF_TYPE_SOFTWARE, uvperf__near_miss_each, &miss);
  return uvperf__parse_unknown(
      build->parse, head, "there is no tracepoint category '%s'%s", miss.best);
}

static int is_same_name(const char *name, void *data) {
  return strcmp(name, data) == 0;
}

static int try_name(const char *category, const char *name, uint64_t id,
                    void *data) {
  (void)category;
  (void)id;
  return uvperf__near_miss_each(name, data);
}

static int unknown_name(tracepoint_t *tracepoint) {
  char shown[UVPERF__SHOW_BYTES], meant[UVPERF__MEANT_BYTES];
  const uvperf__event_build_t *build = tracepoint->build;
  uvperf__span_t tail = build->text->tail;
  char *category = tracepoint->category;
  uvperf__near_miss_t miss;
  int rc;

  uvperf__near_miss_init(&miss, tail.at, uvperf__span_length(tail));
  rc = uvperf_tracefs_walk(category, NULL, try_name, &miss);
  if (rc == 0 && uvperf_tracefs_walk_categories(is_same_name, category) != 1)
    return unknown_category(tracepoint);
  return uvperf__parse_fail(
      build->parse, tail.at, -ENOENT, UVPERF_CAUSE_NO_EVENT,
      "category '%s' has no tracepoint '%s'%s", category,
      uvperf__span_show(tail, shown), uvperf__parse_meant(miss.best, meant));
}

/* Explains why the tracepoint was not found in tracefs. */
static int not_found(tracepoint_t *tracepoint, int code) {
  const uvperf__parse_t *parse = tracepoint->build->parse;
  const uvperf__event_text_t *text = tracepoint->build->text;
  uvperf__span_t both = {text->head.at, text->tail.end};
  char shown[UVPERF__SHOW_BYTES];

  if (uvperf__is_shortage(code))
    return uvperf__parse_shortage(parse, both.at, code);
  uvperf__span_show(both, shown);
  switch (code) {
    case -ENOENT:
    case -EINVAL:
      if (!uvperf__glob_is_pattern(tracepoint->category) &&
          !uvperf__glob_is_pattern(tracepoint->name))
        return unknown_name(tracepoint);
      return uvperf__parse_fail(parse, both.at, -ENOENT, UVPERF_CAUSE_NO_EVENT,
                                "no tracepoint matches '%s'", shown);
    case -EPERM:
    case -EACCES:
      return uvperf__parse_fail(
          parse, both.at, code, UVPERF_CAUSE_PERMISSION,
          "cannot find %s: this process may not read tracefs; run it as root, "
          "let root mount it with gid=GROUP,mode=750, or write the id, "
          "type=2,config=ID",
          shown);
    case -ENODEV:
      return uvperf__parse_fail(
          parse, both.at, -ENOENT, UVPERF_CAUSE_NO_EVENT,
          "cannot find %s: tracefs is not mounted; run mount -t tracefs "
          "tracefs /sys/kernel/tracing (for a container, -v "
          "/sys/kernel/tracing:/sys/kernel/tracing)",
          shown);
    default:
      return uvperf__parse_fail(
          parse, both.at, code, UVPERF_CAUSE_UNKNOWN,
          "cannot find %s: reading tracefs failed (errno %d)", shown, -code);
  }
}

static int build_one(uvperf__event_build_t *build, uint64_t id) {
  build->event.wide.attr.type = PERF_TYPE_TRACEPOINT;
  build->event.wide.attr.config = id;
  return uvperf__event_build_finish(build);
}

static int build_fitting(const char *category, const char *name, uint64_t id,
                         void *data) {
  char expanded[2 * NAME_BYTES];
  tracepoint_t *tracepoint = data;
  uvperf__event_build_t *build = tracepoint->build;

  snprintf(expanded, sizeof(expanded), "%s:%s", category, name);
  uvperf__event_build_begin(build);
  build->event.expanded = expanded;
  build->event.is_pattern = 1;
  build->event.rest = build->text->tail.end;
  tracepoint->rc = build_one(build, id);
  tracepoint->nr += 1;
  return tracepoint->rc;
}

static int build_pattern(tracepoint_t *tracepoint) {
  int rc = uvperf_tracefs_walk(tracepoint->category, tracepoint->name,
                               build_fitting, tracepoint);

  if (tracepoint->rc != 0)
    return tracepoint->rc;
  if (rc == 0 && tracepoint->nr == 0)
    rc = -ENOENT;
  return rc != 0 ? not_found(tracepoint, rc) : 0;
}

int uvperf__event_build_tracepoint(uvperf__event_build_t *build) {
  tracepoint_t tracepoint = {build, "", "", 0, 0};
  uint64_t id;
  int rc;

  if (uvperf__span_copy(build->text->head, tracepoint.category, NAME_BYTES) ||
      uvperf__span_copy(build->text->tail, tracepoint.name, NAME_BYTES))
    return not_found(&tracepoint, -ENOENT);
  if (uvperf__glob_is_pattern(tracepoint.category) ||
      uvperf__glob_is_pattern(tracepoint.name))
    return build_pattern(&tracepoint);
  rc = uvperf_tracefs_id(tracepoint.category, tracepoint.name, &id);
  return rc != 0 ? not_found(&tracepoint, rc) : build_one(build, id);
}

int uvperf__event_build_perhaps_tracepoint(uvperf__event_build_t *build) {
  const uvperf__event_text_t *written = build->text;
  uvperf__event_text_t text = *written;
  tracepoint_t tracepoint = {build, "", "", 0, 0};
  uint64_t id;
  int rc;

  if (text.terms.at != NULL || text.modifiers.at == NULL ||
      uvperf__span_copy(text.head, tracepoint.category, NAME_BYTES) ||
      uvperf__span_copy(text.modifiers, tracepoint.name, NAME_BYTES))
    return 0;
  rc = uvperf_tracefs_id(tracepoint.category, tracepoint.name, &id);
  if (rc != 0)
    return uvperf__is_shortage(rc)
               ? uvperf__parse_shortage(build->parse, text.head.at, rc)
               : 0;
  text.tail = text.modifiers;
  text.modifiers.at = text.modifiers.end = NULL;
  build->text = &text;
  uvperf__event_build_begin(build);
  rc = build_one(build, id);
  build->text = written;
  return rc;
}
