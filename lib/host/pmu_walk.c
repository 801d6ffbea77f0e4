/* SPDX-License-Identifier: MIT */
/* Shows PMUs, their terms and their named events to callbacks. What they are is
 * read by pmu.c; here is what is shown of it, and what is left out. */
#include "host/pmu_walk.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

#include "host/pmu.h"
#include "util/file.h"

/* What is wrong with one file is no reason to hide the others, but for this
 * process's own trouble: it would make all files look wrong. */
static int leave_out(int code) {
  return uvperf__is_shortage(code) ? code : 0;
}

typedef struct walk_s {
  const char *root;
  const char *pmu; /* of terms and events */
  uvperf_pmu_cb pmu_cb;
  uvperf_pmu_format_cb format_cb;
  uvperf_pmu_event_cb event_cb;
  void *arg;
} walk_t;

static int show_pmu(const char *name, void *data) {
  char cpus[UVPERF__PMU_TEXT_BYTES];
  const walk_t *walk = data;
  uvperf_pmu_t pmu;
  uint32_t max;
  int rc;

  memset(&pmu, 0, sizeof(pmu));
  pmu.name = name;
  rc = uvperf__pmu_type(walk->root, name, &pmu.type);
  if (rc != 0)
    return leave_out(rc);
  rc = uvperf__pmu_cpus(walk->root, name, cpus, &pmu.is_cpumask);
  if (rc != 0 && rc != -ENOENT)
    return leave_out(rc);
  if (rc == 0)
    pmu.cpus = cpus;
  rc = uvperf__pmu_max_precise(walk->root, name, &max);
  if (leave_out(rc) != 0)
    return rc;
  pmu.max_precise = rc == 0 && max <= INT_MAX ? (int)max : -1;
  return walk->pmu_cb(&pmu, walk->arg);
}

static int show_format(const char *name, void *data) {
  char text[UVPERF__PMU_TEXT_BYTES];
  uvperf__pmu_format_t parsed;
  uvperf_pmu_format_t format;
  const walk_t *walk = data;
  int rc = uvperf__pmu_format_text(walk->root, walk->pmu, name, text);

  if (rc == 0)
    rc = uvperf__pmu_format_parse(text, &parsed);
  if (rc != 0)
    return leave_out(rc);
  memset(&format, 0, sizeof(format));
  format.name = name;
  format.text = text;
  format.field = parsed.field;
  format.mask = parsed.mask;
  return walk->format_cb(&format, walk->arg);
}

static int show_event(const char *name, void *data) {
  char terms[UVPERF__PMU_TEXT_BYTES];
  uvperf__pmu_measure_t measure;
  uvperf_pmu_event_t event;
  const walk_t *walk = data;
  int rc = uvperf__pmu_event(walk->root, walk->pmu, name, terms);

  if (rc == 0)
    rc = uvperf__pmu_measure(walk->root, walk->pmu, name, &measure);
  if (rc != 0)
    return leave_out(rc);
  memset(&event, 0, sizeof(event));
  event.name = name;
  event.terms = terms;
  event.unit = measure.unit;
  event.scale = measure.scale;
  event.is_per_package = measure.is_per_package;
  event.is_snapshot = measure.is_snapshot;
  return walk->event_cb(&event, walk->arg);
}

int uvperf__pmu_walk(const char *root, uvperf_pmu_cb cb, void *arg) {
  walk_t walk = {root, NULL, cb, NULL, NULL, arg};

  return cb == NULL ? -EINVAL : uvperf__pmu_each(root, show_pmu, &walk);
}

int uvperf__pmu_walk_formats(const char *root, const char *pmu,
                             uvperf_pmu_format_cb cb, void *arg) {
  walk_t walk = {root, pmu, NULL, cb, NULL, arg};

  if (pmu == NULL || cb == NULL)
    return -EINVAL;
  return uvperf__pmu_each_format(root, pmu, show_format, &walk);
}

int uvperf__pmu_walk_events(const char *root, const char *pmu,
                            uvperf_pmu_event_cb cb, void *arg) {
  walk_t walk = {root, pmu, NULL, NULL, cb, arg};

  if (pmu == NULL || cb == NULL)
    return -EINVAL;
  return uvperf__pmu_each_event(root, pmu, show_event, &walk);
}

int uvperf_pmu_walk(uvperf_pmu_cb cb, void *arg) {
  return uvperf__pmu_walk("", cb, arg);
}

int uvperf_pmu_walk_formats(const char *pmu, uvperf_pmu_format_cb cb,
                            void *arg) {
  return uvperf__pmu_walk_formats("", pmu, cb, arg);
}

int uvperf_pmu_walk_events(const char *pmu, uvperf_pmu_event_cb cb, void *arg) {
  return uvperf__pmu_walk_events("", pmu, cb, arg);
}
