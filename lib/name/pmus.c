/* SPDX-License-Identifier: MIT */
/* Which PMUs a name means: one, those that a pattern or a name without number
 * fits, or those that have an event of this name. */
#include "name/build.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/pmu.h"
#include "name/pmu.h"
#include "util/file.h"
#include "util/glob.h"
#include "util/near_miss.h"

#define UNCORE "uncore_"

/* A walk over the PMUs. */
typedef struct pmus_s {
  uvperf__event_build_t *build;
  char wanted[UVPERF__PMU_NAME_BYTES];
  int is_pattern;
  size_t nr;                           /* how many gave an event */
  int is_one;                          /* whether there is one at most */
  int is_told;                         /* why it failed is explained */
  char failed[UVPERF__PMU_NAME_BYTES]; /* the first that gave none */
} pmus_t;

static size_t length_of_prefix(const char *name) {
  return strncmp(name, UNCORE, strlen(UNCORE)) == 0 ? strlen(UNCORE) : 0;
}

/* Whether it is the number of one PMU of several: "_0", "0", or a hexadecimal
 * address such as "_8ffa000" of more than two digits, so that s390's cpum_cf is
 * no cpum, as pmu_name_len_no_suffix() of perf(1) has it. */
static int is_number(const char *suffix) {
  const char *digits = suffix + (*suffix == '_');
  size_t length = strlen(digits);

  if (length > 0 && strspn(digits, "0123456789") == length)
    return 1;
  return *suffix == '_' && length > 2 &&
         strspn(digits, "0123456789abcdefABCDEF") == length;
}

/* "imc" and "uncore_imc" mean uncore_imc_0 and all the others. */
static int fits(const pmus_t *pmus, const char *name) {
  size_t length = strlen(pmus->wanted);

  if (length_of_prefix(pmus->wanted) == 0)
    name += length_of_prefix(name);
  if (pmus->is_pattern)
    return uvperf__glob_match(pmus->wanted, name);
  return strncmp(name, pmus->wanted, length) == 0 &&
         (name[length] == '\0' || is_number(name + length));
}

static int build_terms(uvperf__event_build_t *build, const char *pmu) {
  int rc = uvperf__pmu_build_begin(build, pmu);

  if (rc == 0)
    rc = uvperf__pmu_build_terms(build);
  return rc != 0 ? rc : uvperf__event_build_end(build);
}

/* One of several: those that do not know the terms are passed over. */
static int build_fitting(const char *name, void *data) {
  pmus_t *pmus = data;
  uvperf__event_build_t *build = pmus->build;
  const uvperf__parse_t *loud = build->parse;
  uvperf__parse_t quiet = *loud;
  int rc;

  if (!fits(pmus, name))
    return 0;
  quiet.error = NULL;
  build->parse = &quiet;
  build->is_given = 0;
  rc = uvperf__pmu_build_begin(build, name);
  build->event.expanded = name;
  build->event.rest = build->text->head.end;
  build->event.is_pattern = pmus->is_pattern;
  if (rc == 0)
    rc = uvperf__pmu_build_terms(build);
  if (rc == 0)
    rc = uvperf__event_build_end(build);
  build->parse = loud;
  if (rc == 0)
    pmus->nr += 1;
  else if (!build->is_given && pmus->failed[0] == '\0')
    snprintf(pmus->failed, sizeof(pmus->failed), "%s", name);
  return build->is_given || uvperf__is_shortage(rc) ? rc : 0;
}

static int unknown_pmu(const pmus_t *pmus) {
  char shown[UVPERF__SHOW_BYTES], meant[UVPERF__MEANT_BYTES];
  const uvperf__parse_t *parse = pmus->build->parse;
  uvperf__span_t head = pmus->build->text->head;
  uvperf__near_miss_t miss;

  uvperf__near_miss_init(&miss, head.at, uvperf__span_length(head));
  uvperf__pmu_each(parse->root, uvperf__near_miss_each, &miss);
  return uvperf__parse_fail(
      parse, head.at, -ENOENT, UVPERF_CAUSE_NO_EVENT,
      pmus->is_pattern ? "no PMU fits '%s'%s" : "there is no PMU '%s'%s",
      uvperf__span_show(head, shown), uvperf__parse_meant(miss.best, meant));
}

static int build_several(pmus_t *pmus) {
  int rc = uvperf__pmu_each(pmus->build->parse->root, build_fitting, pmus);

  if (pmus->build->is_given || (rc == 0 && pmus->nr > 0))
    return rc;
  if (rc != 0 && rc != -ENOENT)
    return uvperf__pmu_build_fail(pmus->build->parse,
                                  pmus->build->text->head.at, rc, pmus->wanted,
                                  "type");
  if (pmus->failed[0] == '\0')
    return unknown_pmu(pmus);
  return build_terms(pmus->build, pmus->failed); /* again, to be explained */
}

int uvperf__event_build_pmu(uvperf__event_build_t *build) {
  pmus_t pmus = {.build = build};
  uint32_t type;

  if (!uvperf__span_is_file_name(build->text->head) ||
      uvperf__span_copy(build->text->head, pmus.wanted, sizeof(pmus.wanted)))
    return unknown_pmu(&pmus);
  pmus.is_pattern = uvperf__glob_is_pattern(pmus.wanted);
  if (!pmus.is_pattern &&
      uvperf__pmu_type(build->parse->root, pmus.wanted, &type) != -ENOENT)
    return build_terms(build, pmus.wanted);
  return build_several(&pmus);
}

/* -- a word alone ---------------------------------------------------------- */

/* Receives the name that sysfs has for what is wanted. */
static int find_event(const pmus_t *pmus, const char *pmu,
                      char name[UVPERF__PMU_NAME_BYTES]) {
  char text[UVPERF__PMU_TEXT_BYTES];

  memcpy(name, pmus->wanted, UVPERF__PMU_NAME_BYTES);
  return uvperf__pmu_event_of_any_case(pmus->build->parse->root, pmu, name,
                                       text);
}

/* What is wrong with one PMU's file hides it alone; this process's own trouble
 * would hide every event there is. */
static int count_event(const char *pmu, void *data) {
  pmus_t *pmus = data;
  char name[UVPERF__PMU_NAME_BYTES];
  int rc = find_event(pmus, pmu, name);

  if (rc == 0)
    pmus->nr += 1;
  return uvperf__is_shortage(rc) ? rc : 0;
}

static int without_pmus(const uvperf__event_build_t *build, int code) {
  if (uvperf__is_shortage(code))
    return uvperf__parse_shortage(build->parse, build->text->head.at, code);
  return uvperf__parse_fail(
      build->parse, build->text->head.at, code,
      code == -EACCES ? UVPERF_CAUSE_PERMISSION : UVPERF_CAUSE_UNKNOWN,
      "the PMUs in sysfs cannot be read (errno %d)", -code);
}

static int build_event(const char *pmu, void *data) {
  char expanded[2 * UVPERF__PMU_NAME_BYTES], name[UVPERF__PMU_NAME_BYTES];
  pmus_t *pmus = data;
  uvperf__event_build_t *build = pmus->build;
  int rc = find_event(pmus, pmu, name);

  if (rc != 0)
    return uvperf__is_shortage(rc) ? rc : 0;
  pmus->is_told = 1;
  rc = uvperf__pmu_build_begin(build, pmu);
  if (rc != 0)
    return rc;
  snprintf(expanded, sizeof(expanded), "%s/%s/", pmu, name);
  if (!pmus->is_one) {
    build->event.expanded = expanded;
    build->event.rest = build->text->head.end;
  }
  rc = uvperf__pmu_build_event(build, build->text->head);
  if (rc >= 0)
    rc = uvperf__event_build_end(build);
  pmus->is_told = rc != 0;
  return rc;
}

int uvperf__event_build_alias(uvperf__event_build_t *build) {
  pmus_t pmus = {.build = build};
  const char *root = build->parse->root;
  int rc;

  if (!uvperf__span_is_file_name(build->text->head) ||
      uvperf__span_copy(build->text->head, pmus.wanted, sizeof(pmus.wanted)))
    return 0;
  rc = uvperf__pmu_each(root, count_event, &pmus);
  pmus.is_one = pmus.nr == 1;
  if (rc == 0 && pmus.nr > 0)
    rc = uvperf__pmu_each(root, build_event, &pmus);
  if (rc == 0 || rc == -ENOENT || pmus.is_told)
    return pmus.is_told ? rc : 0;
  return without_pmus(build, rc);
}
