/* SPDX-License-Identifier: MIT */
/* Reports the names of the events that this machine has. attr/generic_name.c,
 * host/pmu.c and host/tracefs.c find the names. parse.c checks the names that a
 * user writes. */
#include "uvperf/name.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <linux/perf_event.h>

#include "attr/generic_name.h"
#include "host/pmu.h"
#include "host/tracefs.h"
#include "name/text.h"
#include "util/glob.h"

#define ALL_KINDS                                                              \
  ((uint32_t)(UVPERF_NAME_HARDWARE | UVPERF_NAME_SOFTWARE |                    \
              UVPERF_NAME_CACHE | UVPERF_NAME_PMU | UVPERF_NAME_TRACEPOINT))

typedef struct walk_s {
  const char *pattern;
  uvperf_event_name_cb cb;
  void *arg;
  const uvperf_pmu_t *pmu; /* the PMU whose events are reported */
  int result;              /* of cb; if not 0, the walk has ended */
  int failed;              /* the first error of reading, or 0 */
} walk_t;

/* -- reporting ------------------------------------------------------------ */

static int walk_fits(const walk_t *walk, const char *text) {
  return text != NULL && uvperf__glob_match(walk->pattern, text);
}

static int walk_report(walk_t *walk, const uvperf_event_name_t *name) {
  if (walk->pattern != NULL && !walk_fits(walk, name->name) &&
      !walk_fits(walk, name->alias) && !walk_fits(walk, name->event))
    return 0;
  walk->result = walk->cb(name, walk->arg);
  return walk->result;
}

static void walk_begin(uvperf_event_name_t *name, uint32_t kind, uint32_t type,
                       const char *text) {
  memset(name, 0, sizeof(*name));
  name->kind = kind;
  name->type = type;
  name->name = text;
  name->scale = 1;
}

/* Stores the first error. The walk goes on, so that names that can be read are
 * not hidden. */
static void walk_note(walk_t *walk, int rc) {
  if (walk->failed == 0)
    walk->failed = rc;
}

/* Whether the name of a file can be a word in the language of events. */
static int is_word(const char *name) {
  const char *end = name + strlen(name);

  return uvperf__scan_word(name, end).end == end;
}

/* Whether the word means only this PMU or tracepoint. */
static int is_plain_word(const char *name) {
  return is_word(name) && !uvperf__glob_is_pattern(name);
}

/* -- generic events ------------------------------------------------------- */

static int report_generic(const char *canonical, void *data) {
  static const uint32_t kinds[] = {
      [PERF_TYPE_HARDWARE] = UVPERF_NAME_HARDWARE,
      [PERF_TYPE_SOFTWARE] = UVPERF_NAME_SOFTWARE,
      [PERF_TYPE_HW_CACHE] = UVPERF_NAME_CACHE,
  };
  uvperf_event_name_t name;
  uint64_t config;
  uint32_t type;

  if (uvperf__generic_find(canonical, strlen(canonical), &type, &config) != 0)
    return 0;
  walk_begin(&name, kinds[type], type, canonical);
  name.config = config;
  name.alias = uvperf__generic_alias(type, config);
  return walk_report(data, &name);
}

/* -- events of PMUs ------------------------------------------------------- */

/* Enough for a PMU, an event, all of its terms, the comma before them and the
 * last slash. */
#define PMU_NAME_BYTES (2 * UVPERF__PMU_NAME_BYTES + UVPERF__PMU_TEXT_BYTES + 2)

/* Writes "pmu/event/", with the terms that need a value from the user:
 * "pmu/event,core=?/". Returns the number of these terms. */
static int write_name(char text[PMU_NAME_BYTES], const char *pmu,
                      const uvperf_pmu_event_t *event) {
  size_t length =
      (size_t)snprintf(text, PMU_NAME_BYTES, "%s/%s", pmu, event->name);
  const char *term = event->terms;
  int nr = 0;

  while (*term != '\0') {
    size_t size = strcspn(term, ",");

    if (size >= 2 && memcmp(term + size - 2, "=?", 2) == 0) {
      text[length++] = ',';
      memcpy(text + length, term, size);
      length += size;
      nr += 1;
    }
    term += size + (term[size] == ',');
  }
  memcpy(text + length, "/", 2);
  return nr;
}

static int report_pmu_event(const uvperf_pmu_event_t *event, void *data) {
  char text[PMU_NAME_BYTES];
  uvperf_event_name_t name;
  walk_t *walk = data;

  if (!is_word(event->name))
    return 0;
  walk_begin(&name, UVPERF_NAME_PMU, walk->pmu->type, text);
  name.needs_value = write_name(text, walk->pmu->name, event) > 0;
  name.pmu = walk->pmu->name;
  name.event = event->name;
  name.terms = event->terms;
  name.unit = event->unit;
  name.cpus = walk->pmu->is_cpumask ? walk->pmu->cpus : NULL;
  name.scale = event->scale;
  name.is_per_package = event->is_per_package;
  name.is_snapshot = event->is_snapshot;
  return walk_report(walk, &name);
}

static int walk_pmu(const uvperf_pmu_t *pmu, void *data) {
  walk_t *walk = data;
  int rc;

  if (!is_plain_word(pmu->name))
    return 0;
  walk->pmu = pmu;
  rc = uvperf_pmu_walk_events(pmu->name, report_pmu_event, walk);
  if (walk->result != 0)
    return walk->result;
  if (rc != -ENOENT) /* the PMU of a module that is being removed */
    walk_note(walk, rc);
  return 0;
}

/* -- tracepoints ---------------------------------------------------------- */

static int report_tracepoint(const char *category, const char *event,
                             uint64_t id, void *data) {
  char text[2 * NAME_MAX + 3];
  uvperf_event_name_t name;

  if (!is_plain_word(category) || !is_plain_word(event))
    return 0;
  snprintf(text, sizeof(text), "%s:%s", category, event);
  walk_begin(&name, UVPERF_NAME_TRACEPOINT, PERF_TYPE_TRACEPOINT, text);
  name.config = id;
  return walk_report(data, &name);
}

/* Avoids reading the ids of tracepoints that do not match. A name has one ':'.
 * So a pattern with one ':' has two parts, which are patterns for the two parts
 * of the name, unless the ':' is in brackets. */
static int walk_tracepoints(walk_t *walk) {
  const char *pattern = walk->pattern;
  const char *colon = pattern == NULL ? NULL : strchr(pattern, ':');
  char category[UVPERF__PMU_NAME_BYTES];
  size_t length = colon == NULL ? 0 : (size_t)(colon - pattern);

  if (pattern != NULL && colon == NULL && !uvperf__glob_is_pattern(pattern))
    return 0;
  if (colon == NULL || length >= sizeof(category) ||
      strchr(pattern, '[') != NULL)
    return uvperf_tracefs_walk(NULL, NULL, report_tracepoint, walk);
  memcpy(category, pattern, length);
  category[length] = '\0';
  return uvperf_tracefs_walk(category, colon + 1, report_tracepoint, walk);
}

/* -- all ------------------------------------------------------------------ */

static int walk_kind(walk_t *walk, uint32_t kind) {
  switch (kind) {
    case UVPERF_NAME_HARDWARE:
      return uvperf__generic_each(PERF_TYPE_HARDWARE, report_generic, walk);
    case UVPERF_NAME_SOFTWARE:
      return uvperf__generic_each(PERF_TYPE_SOFTWARE, report_generic, walk);
    case UVPERF_NAME_CACHE:
      return uvperf__generic_each(PERF_TYPE_HW_CACHE, report_generic, walk);
    case UVPERF_NAME_PMU:
      return uvperf_pmu_walk(walk_pmu, walk);
    default: /* UVPERF_NAME_TRACEPOINT */
      return walk_tracepoints(walk);
  }
}

int uvperf_event_name_walk(const char *pattern, uint32_t kinds,
                           uvperf_event_name_cb cb, void *arg) {
  walk_t walk = {pattern, cb, arg, NULL, 0, 0};
  uint32_t kind;
  int rc;

  if (cb == NULL || (kinds & ~ALL_KINDS) != 0)
    return -EINVAL;
  for (kind = 1; kind <= ALL_KINDS; kind <<= 1) {
    if (kinds != 0 && (kinds & kind) == 0)
      continue;
    rc = walk_kind(&walk, kind);
    if (walk.result != 0)
      return walk.result;
    walk_note(&walk, rc);
  }
  return walk.failed;
}
