/* SPDX-License-Identifier: MIT */
/* Events of PMUs. First, finds the PMUs that a name means: one PMU, the PMUs
 * that match a pattern or a name without its number, or the PMUs that have an
 * event of this name. Second, applies the terms of one PMU: its formats, its
 * events (which stand for other terms), generic names, raw codes, and the terms
 * of any event. */
#include "name/build.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attr/attr.h"
#include "attr/generic_name.h"
#include "host/pmu.h"
#include "util/file.h"
#include "util/glob.h"
#include "util/near_miss.h"

/* -- the terms of one PMU -------------------------------------------------- */

/* Events may stand for other events, but only to this depth and number of
 * files. */
#define MAX_DEPTH 4
#define MAX_FILES 64

static int pmu_fail(const uvperf__parse_t *parse, const char *at, int code,
                    const char *pmu, const char *file) {
  if (uvperf__is_shortage(code))
    return uvperf__parse_shortage(parse, at, code);
  if (uvperf__is_forbidden(code))
    return uvperf__parse_fail(parse, at, code, UVPERF_CAUSE_PERMISSION,
                              "this process may not read sysfs of PMU %s", pmu);
  if (code == -ENODATA || code == -ENOENT)
    return uvperf__parse_fail(parse, at, -ENOENT, UVPERF_CAUSE_NO_EVENT,
                              "PMU %s has no '%s' in sysfs", pmu, file);
  return uvperf__parse_fail(
      parse, at, code, UVPERF_CAUSE_NOT_SUPPORTED,
      "cannot understand '%s' of PMU %s in sysfs (errno %d)", file, pmu, -code);
}

static int pmu_begin(uvperf__event_build_t *build, const char *pmu) {
  uint32_t type;
  int rc = uvperf_pmu_type(pmu, &type);

  if (rc != 0)
    return pmu_fail(build->parse, build->text->head.at, rc, pmu, "type");
  uvperf__event_build_begin(build);
  build->event.pmu = pmu;
  build->event.wide.attr.type = type;
  return 0;
}

static int apply_term(uvperf__event_build_t *build, const uvperf__term_t *term);

static int name_of(uvperf__span_t span, char name[UVPERF__PMU_NAME_BYTES]) {
  return uvperf__span_is_file_name(span)
             ? uvperf__span_copy(span, name, UVPERF__PMU_NAME_BYTES)
             : -ENOENT;
}

/* The user must write a value for a "?" in a file, as in "core=5" after the
 * event. */
static int need_parameter(const uvperf__event_build_t *build,
                          const uvperf__term_t *term) {
  uvperf__parse_t quiet = *build->parse;
  char key[UVPERF__PMU_NAME_BYTES], shown[UVPERF__SHOW_BYTES];
  uvperf__terms_t walk;
  uvperf__term_t given;

  quiet.error = NULL;
  if (build->text->terms.at != NULL &&
      uvperf__span_copy(term->key, key, sizeof(key)) == 0) {
    uvperf__terms_init(&walk, build->text->terms, build->text->head);
    while (uvperf__terms_next(&quiet, &walk, &given) > 0)
      if (given.value.at != NULL && uvperf__span_is(given.key, key))
        return 0;
  }
  uvperf__span_show(term->key, shown);
  return uvperf__parse_bad(
      build->parse, term->key.at,
      "this event needs a value for '%s'; write %s/...,%s=.../", shown,
      build->event.pmu, shown);
}

static int set_format(uvperf__event_build_t *build, const uvperf__term_t *term,
                      const uvperf__pmu_format_t *format) {
  struct perf_event_attr *attr = &build->event.wide.attr;
  uint64_t value, bits, before;
  int rc;

  if (build->depth > 0 && uvperf__span_is(term->value, "?"))
    return need_parameter(build, term);
  rc = uvperf__term_number(
      build->parse, term, uvperf__pmu_gather(format->mask, UINT64_MAX), &value);
  if (rc == 0)
    rc = uvperf__pmu_spread(format->mask, value, &bits);
  if (rc == 0)
    rc = uvperf_attr_get(attr, format->field, &before);
  if (rc != 0)
    return rc;
  return uvperf_attr_set(attr, format->field, (before & ~format->mask) | bits);
}

/* Applies the terms that an event stands for. Errors in these terms point at
 * the user's word that stands for them. */
static int apply_file(uvperf__event_build_t *build, uvperf__span_t word,
                      const char *text) {
  const uvperf__parse_t *before = build->parse;
  uvperf__parse_t parse = *before;
  uvperf__span_t span = {text, text + strlen(text)};
  int rc;

  if (build->depth == MAX_DEPTH || build->nr_files++ == MAX_FILES)
    return uvperf__parse_fail(
        before, word.at, -EINVAL, UVPERF_CAUSE_NOT_SUPPORTED,
        "the events of PMU %s refer to each other without end",
        build->event.pmu);
  if (parse.outer == NULL)
    parse.outer = word.at;
  parse.end = span.end;
  build->parse = &parse;
  build->depth += 1;
  rc = uvperf__terms_apply(build, span, apply_term);
  build->depth -= 1;
  build->parse = before;
  return rc;
}

static int apply_event(uvperf__event_build_t *build, uvperf__span_t word) {
  char name[UVPERF__PMU_NAME_BYTES], text[UVPERF__PMU_TEXT_BYTES];
  const char *pmu = build->event.pmu;
  int rc;

  if (name_of(word, name) != 0)
    return 0;
  rc = uvperf__pmu_event_of_any_case(pmu, name, text);
  if (rc == -ENOENT)
    return 0;
  if (rc == 0 && build->depth == 0)
    rc = uvperf__pmu_measure(pmu, name, &build->event.measure);
  if (rc != 0)
    return pmu_fail(build->parse, word.at, rc, pmu, name);
  rc = apply_file(build, word, text);
  return rc != 0 ? rc : 1;
}

/* Hardware and cache events belong to the CPU's PMUs: "cpu", or the PMUs of
 * hybrid machines, which have a file with their CPUs. Software events belong to
 * "software". */
static int has_generic(const uvperf__event_build_t *build, uint32_t type) {
  char list[UVPERF__PMU_TEXT_BYTES];
  const char *pmu = build->event.pmu;
  int is_mask;

  if (type == PERF_TYPE_SOFTWARE)
    return build->event.wide.attr.type == PERF_TYPE_SOFTWARE;
  return strcmp(pmu, "cpu") == 0 ||
         (uvperf__pmu_cpus(pmu, list, &is_mask) == 0 && !is_mask);
}

/* The type of the PMU goes into the upper half of config: see
 * perf_event_open(2). If the upper half is 0, it means "cpu". Older kernels
 * know only 0. */
static int apply_generic(uvperf__event_build_t *build, uvperf__span_t word) {
  struct perf_event_attr *attr = &build->event.wide.attr;
  uint64_t config;
  uint32_t type;

  if (uvperf__generic_find(word.at, uvperf__span_length(word), &type,
                           &config) != 0 ||
      !has_generic(build, type))
    return -ENOENT;
  if (type != PERF_TYPE_SOFTWARE && strcmp(build->event.pmu, "cpu") != 0)
    config |= (uint64_t)attr->type << 32;
  attr->type = type;
  attr->config = config;
  return 0;
}

static int unknown_term(const uvperf__event_build_t *build,
                        uvperf__span_t word) {
  char shown[UVPERF__SHOW_BYTES], meant[UVPERF__MEANT_BYTES];
  uvperf__near_miss_t miss;
  uint32_t type;

  if (build->parse->error == NULL)
    return -ENOENT;
  uvperf__near_miss_init(&miss, word.at, uvperf__span_length(word));
  for (type = PERF_TYPE_HARDWARE; type <= PERF_TYPE_HW_CACHE; type++)
    if (has_generic(build, type))
      uvperf__generic_each(type, uvperf__near_miss_each, &miss);
  uvperf__pmu_each_format(build->event.pmu, uvperf__near_miss_each, &miss);
  uvperf__pmu_each_event(build->event.pmu, uvperf__near_miss_each, &miss);
  uvperf__probe_near_miss(build->event.pmu, &miss);
  uvperf__term_near_miss(&miss);
  return uvperf__parse_fail(
      build->parse, word.at, -ENOENT, UVPERF_CAUSE_NO_EVENT,
      "PMU %s has no term or event '%s'%s", build->event.pmu,
      uvperf__span_show(word, shown), uvperf__parse_meant(miss.best, meant));
}

/* A single word may be an event, a generic name or a raw code. */
static int apply_word(uvperf__event_build_t *build, uvperf__span_t word) {
  uint64_t raw;
  int rc = apply_event(build, word);

  if (rc != 0)
    return rc < 0 ? rc : 0;
  if (apply_generic(build, word) == 0)
    return 0;
  rc = uvperf__parse_raw(build->parse, word, &raw);
  if (rc <= 0)
    return rc == 0 ? unknown_term(build, word) : rc;
  build->event.wide.attr.config = raw;
  return 0;
}

/* event=NAME, as in pmu_find_alias() of perf(1). */
static int is_event_name(const uvperf__term_t *term) {
  uint64_t number;

  return term->value.at != NULL && uvperf__span_is(term->key, "event") &&
         !uvperf__span_is(term->value, "?") &&
         uvperf__span_number(term->value, &number) == -EINVAL;
}

/* In the file of an event only config fields make sense. Other terms would keep
 * pointers into the file's text, which does not live long enough. */
static int apply_any(uvperf__event_build_t *build, const uvperf__term_t *term) {
  int is_config = 0;
  size_t i;

  for (i = 0; i < UVPERF__ATTR_CONFIGS; i++)
    is_config |= uvperf__span_is(
        term->key, uvperf__attr_field_name(uvperf__attr_configs[i]));
  return build->depth == 0 || is_config ? uvperf__term_apply(build, term)
                                        : -ENOENT;
}

/* A format has priority over everything else with the same name, as in
 * perf(1). */
static int apply_term(uvperf__event_build_t *build,
                      const uvperf__term_t *term) {
  char name[UVPERF__PMU_NAME_BYTES];
  uvperf__pmu_format_t format;
  int rc = name_of(term->key, name);

  if (build->depth == 0 && uvperf__probe_is_pmu(build->event.pmu)) {
    int taken = uvperf__probe_take(build, term);

    if (taken != 0)
      return taken < 0 ? taken : 0;
  }
  if (is_event_name(term)) {
    rc = apply_event(build, term->value);
    return rc == 0 ? unknown_term(build, term->value) : rc < 0 ? rc : 0;
  }
  if (rc == 0)
    rc = uvperf__pmu_format(build->event.pmu, name, &format);
  if (rc == 0)
    return set_format(build, term, &format);
  if (rc != -ENOENT && rc != -ENAMETOOLONG)
    return pmu_fail(build->parse, term->key.at, rc, build->event.pmu, name);
  rc = apply_any(build, term);
  if (rc != -ENOENT)
    return rc;
  if (term->value.at != NULL)
    return unknown_term(build, term->key);
  return apply_word(build, term->key);
}

static int apply_all_terms(uvperf__event_build_t *build) {
  int rc = 0;

  if (build->text->terms.at != build->text->terms.end)
    rc = uvperf__terms_apply(build, build->text->terms, apply_term);
  if (rc != 0 || !uvperf__probe_is_pmu(build->event.pmu))
    return rc;
  return uvperf__probe_finish(build);
}

/* -- which PMUs a name means ----------------------------------------------- */

#define UNCORE "uncore_"

/* A walk over the PMUs. */
typedef struct pmus_s {
  uvperf__event_build_t *build;
  char wanted[UVPERF__PMU_NAME_BYTES];
  int is_pattern;
  size_t nr;                           /* PMUs with an event */
  size_t nr_parts;                     /* of these, PMUs of cores */
  size_t part;                         /* the index of the next part */
  int is_one;                          /* there is at most one PMU */
  int is_explained;                    /* the failure is explained */
  char failed[UVPERF__PMU_NAME_BYTES]; /* the first without an event */
} pmus_t;

static size_t length_of_prefix(const char *name) {
  return strncmp(name, UNCORE, strlen(UNCORE)) == 0 ? strlen(UNCORE) : 0;
}

/* Whether a suffix is the number of one PMU of several: "_0", "0", or a
 * hexadecimal address of more than two digits, such as "_8ffa000". More than
 * two digits are required, as in pmu_name_len_no_suffix() of perf(1), so that
 * s390's cpum_cf does not count as a "cpum". */
static int is_number(const char *suffix) {
  const char *digits = suffix + (*suffix == '_');
  size_t length = strlen(digits);

  if (length > 0 && strspn(digits, "0123456789") == length)
    return 1;
  return *suffix == '_' && length > 2 &&
         strspn(digits, "0123456789abcdefABCDEF") == length;
}

/* "imc" and "uncore_imc" mean uncore_imc_0 and all other PMUs of this kind. */
static int pmu_fits(const pmus_t *pmus, const char *name) {
  size_t length = strlen(pmus->wanted);

  if (length_of_prefix(pmus->wanted) == 0)
    name += length_of_prefix(name);
  if (pmus->is_pattern)
    return uvperf__glob_match(pmus->wanted, name);
  return strncmp(name, pmus->wanted, length) == 0 &&
         (name[length] == '\0' || is_number(name + length));
}

/* Builds the event of a PMU. `pmus` is NULL if the text means only this PMU. */
static int build_terms(uvperf__event_build_t *build, const char *pmu,
                       const pmus_t *pmus) {
  int rc = pmu_begin(build, pmu);

  if (rc == 0 && pmus != NULL) {
    build->event.expanded = pmu;
    build->event.rest = build->text->head.end;
    build->event.is_pattern = pmus->is_pattern;
  }
  if (rc == 0)
    rc = apply_all_terms(build);
  return rc != 0 ? rc : uvperf__event_build_end(build);
}

/* Builds the event of one PMU of several. PMUs that do not know the terms are
 * skipped. */
static int build_fitting(const char *name, void *data) {
  pmus_t *pmus = data;
  uvperf__event_build_t *build = pmus->build;
  const uvperf__parse_t *loud = build->parse;
  uvperf__parse_t quiet = *loud;
  int rc;

  if (!pmu_fits(pmus, name))
    return 0;
  quiet.error = NULL;
  build->parse = &quiet;
  build->is_given = 0;
  rc = build_terms(build, name, pmus);
  build->parse = loud;
  if (rc == 0)
    pmus->nr += 1;
  else if (!build->is_given && pmus->failed[0] == '\0')
    snprintf(pmus->failed, sizeof(pmus->failed), "%s", name);
  return build->is_given || uvperf__is_shortage(rc) ? rc : 0;
}

static int unknown_pmu(const pmus_t *pmus) {
  const uvperf__parse_t *parse = pmus->build->parse;
  uvperf__span_t head = pmus->build->text->head;
  uvperf__near_miss_t miss;

  uvperf__near_miss_init(&miss, head.at, uvperf__span_length(head));
  uvperf__pmu_each(uvperf__near_miss_each, &miss);
  return uvperf__parse_unknown(parse, head,
                               pmus->is_pattern ? "no PMU matches '%s'%s"
                                                : "there is no PMU '%s'%s",
                               miss.best);
}

static int build_several(pmus_t *pmus) {
  int rc = uvperf__pmu_each(build_fitting, pmus);

  if (pmus->build->is_given || (rc == 0 && pmus->nr > 0))
    return rc;
  if (rc != 0 && rc != -ENOENT)
    return pmu_fail(pmus->build->parse, pmus->build->text->head.at, rc,
                    pmus->wanted, "type");
  if (pmus->failed[0] == '\0')
    return unknown_pmu(pmus);
  return build_terms(pmus->build, pmus->failed,
                     NULL); /* again, to explain it */
}

int uvperf__event_build_pmu(uvperf__event_build_t *build) {
  pmus_t pmus = {.build = build};
  uint32_t type;

  if (!uvperf__span_is_file_name(build->text->head) ||
      uvperf__span_copy(build->text->head, pmus.wanted, sizeof(pmus.wanted)))
    return unknown_pmu(&pmus);
  pmus.is_pattern = uvperf__glob_is_pattern(pmus.wanted);
  if (!pmus.is_pattern && uvperf_pmu_type(pmus.wanted, &type) != -ENOENT)
    return build_terms(build, pmus.wanted, NULL);
  return build_several(&pmus);
}

/* -- a word alone ---------------------------------------------------------- */

/* `name` receives the name that sysfs has for the wanted event. */
static int find_event(const pmus_t *pmus, const char *pmu,
                      char name[UVPERF__PMU_NAME_BYTES]) {
  char text[UVPERF__PMU_TEXT_BYTES];

  memcpy(name, pmus->wanted, UVPERF__PMU_NAME_BYTES);
  return uvperf__pmu_event_of_any_case(pmu, name, text);
}

/* A fault in one PMU's file hides only that PMU. A shortage of fds or memory
 * ends the walk, because it would hide all events. */
static int count_event(const char *pmu, void *data) {
  pmus_t *pmus = data;
  char name[UVPERF__PMU_NAME_BYTES];
  int rc = find_event(pmus, pmu, name);

  if (rc == 0)
    pmus->nr += 1;
  return uvperf__is_shortage(rc) ? rc : 0;
}

static int is_core(const uvperf__event_build_t *build, const char *pmu) {
  const uvperf__core_pmus_t *cores = build->parse->cores;
  size_t i;

  for (i = 0; cores != NULL && cores->nr > 1 && i < cores->nr; i++)
    if (strcmp(cores->pmus[i].name, pmu) == 0)
      return 1;
  return 0;
}

/* The events of core PMUs are parts of one event. */
static int count_parts(pmus_t *pmus) {
  const uvperf__core_pmus_t *cores = pmus->build->parse->cores;
  char name[UVPERF__PMU_NAME_BYTES];
  size_t i;
  int rc;

  if (cores == NULL || pmus->nr < 2)
    return 0;
  rc = uvperf__event_build_cores(pmus->build);
  for (i = 0; rc == 0 && i < cores->nr; i++)
    pmus->nr_parts += find_event(pmus, cores->pmus[i].name, name) == 0;
  return rc;
}

static int without_pmus(const uvperf__event_build_t *build, int code) {
  if (uvperf__is_shortage(code))
    return uvperf__parse_shortage(build->parse, build->text->head.at, code);
  return uvperf__parse_fail(build->parse, build->text->head.at, code,
                            uvperf__is_forbidden(code) ? UVPERF_CAUSE_PERMISSION
                                                       : UVPERF_CAUSE_UNKNOWN,
                            "cannot read the PMUs in sysfs (errno %d)", -code);
}

static int build_event(const char *pmu, void *data) {
  char expanded[2 * UVPERF__PMU_NAME_BYTES], name[UVPERF__PMU_NAME_BYTES];
  pmus_t *pmus = data;
  uvperf__event_build_t *build = pmus->build;
  int rc = find_event(pmus, pmu, name);

  if (rc != 0)
    return uvperf__is_shortage(rc) ? rc : 0;
  pmus->is_explained = 1;
  rc = pmu_begin(build, pmu);
  if (rc != 0)
    return rc;
  snprintf(expanded, sizeof(expanded), "%s/%s/", pmu, name);
  if (pmus->nr_parts > 1 && is_core(build, pmu)) {
    build->event.nr_parts = pmus->nr_parts;
    build->event.part = pmus->part++;
  }
  if (!pmus->is_one) {
    build->event.expanded = expanded;
    build->event.rest = build->text->head.end;
  }
  rc = apply_event(build, build->text->head);
  if (rc >= 0)
    rc = uvperf__event_build_end(build);
  pmus->is_explained = rc != 0;
  return rc;
}

int uvperf__event_build_alias(uvperf__event_build_t *build) {
  pmus_t pmus = {.build = build};
  int rc;

  if (!uvperf__span_is_file_name(build->text->head) ||
      uvperf__span_copy(build->text->head, pmus.wanted, sizeof(pmus.wanted)))
    return 0;
  rc = uvperf__pmu_each(count_event, &pmus);
  if (rc != 0)
    return rc == -ENOENT ? 0 : without_pmus(build, rc);
  pmus.is_one = pmus.nr == 1;
  rc = count_parts(&pmus);
  if (rc != 0 || pmus.nr == 0)
    return rc;
  rc = uvperf__pmu_each(build_event, &pmus);
  if (rc == 0 || pmus.is_explained)
    return rc;
  return without_pmus(build, rc);
}
