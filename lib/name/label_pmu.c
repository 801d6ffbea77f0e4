/* SPDX-License-Identifier: MIT */
/* Names events of PMUs that sysfs describes: by a named event of the PMU, or by
 * the terms of its format. Probes have PMUs too, but not their labels here. */
#include "name/label.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "attr/attr.h"
#include "host/pmu.h"

#define NR_CONFIGS 5

static const enum uvperf_attr_field configs[NR_CONFIGS] = {
    UVPERF_ATTR_CONFIG,  UVPERF_ATTR_CONFIG1, UVPERF_ATTR_CONFIG2,
    UVPERF_ATTR_CONFIG3, UVPERF_ATTR_CONFIG4,
};

/* The kernel's own types but RAW, which is of the CPU's PMU on x86, have names
 * of their own, though sysfs shows some as PMUs too ("software"). */
static int find_pmu(uvperf__label_t *label, char name[UVPERF__PMU_NAME_BYTES]) {
  uint32_t type = label->attr->type;

  label->form = UVPERF__LABEL_SLASH;
  if (type < PERF_TYPE_MAX && type != PERF_TYPE_RAW)
    return -ENOENT;
  return uvperf__pmu_name(label->root, type, name, UVPERF__PMU_NAME_BYTES) == 0
             ? 0
             : -ENOENT;
}

/* Looks for the named event with the type and configs of `own`. */
typedef struct event_search_s {
  const char *root;
  const char *pmu;
  uvperf__wide_attr_t own;
  char best[UVPERF__PMU_NAME_BYTES]; /* "": none so far */
} event_search_t;

static int is_event(const event_search_t *search, const char *name) {
  char text[2 * UVPERF__PMU_NAME_BYTES + 4];
  uvperf__wide_attr_t event;

  snprintf(text, sizeof(text), "%s/%s/", search->pmu, name);
  return uvperf__attr_parse(search->root, &event.attr, sizeof(event), text,
                            NULL) == 0 &&
         memcmp(&event, &search->own, sizeof(event)) == 0;
}

/* Several names may be of one event: the shortest, and of these the first in
 * the alphabet, so that the label does not hang on the directory's order. */
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

int uvperf__label_pmu_event(uvperf__label_t *label) {
  char pmu[UVPERF__PMU_NAME_BYTES];
  event_search_t search;
  size_t i;

  if (find_pmu(label, pmu) != 0)
    return -ENOENT;
  for (i = 0; i < NR_CONFIGS; i++)
    uvperf__label_say(label, configs[i]);
  search.root = label->root;
  search.pmu = pmu;
  search.own = label->said;
  search.best[0] = '\0';
  uvperf__pmu_each_event(label->root, pmu, consider_event, &search);
  if (search.best[0] == '\0')
    return -ENOENT;
  uvperf__label_put(label, "%s/", pmu);
  uvperf__label_put_term(label, "%s", search.best);
  return 0;
}

/* Looks for the term that says the lowest bit of a config that is still to be
 * said. */
typedef struct term_search_s {
  const char *root;
  const char *pmu;
  enum uvperf_attr_field field;
  uint64_t left;                     /* the bits to be said */
  uint64_t taken;                    /* the masks of the terms that were said */
  uint64_t mask;                     /* of the best */
  char best[UVPERF__PMU_NAME_BYTES]; /* "": none so far */
} term_search_t;

static int count_bits(uint64_t bits) {
  int count = 0;

  for (; bits != 0; bits &= bits - 1)
    count++;
  return count;
}

/* The term that says most, else has the fewest bits, else is the first in the
 * alphabet. */
static int is_better(const term_search_t *search, const char *name,
                     uint64_t mask) {
  int says = count_bits(mask & search->left);
  int best_says = count_bits(search->mask & search->left);
  int bits = count_bits(mask);
  int best_bits = count_bits(search->mask);

  if (search->best[0] == '\0' || says != best_says)
    return search->best[0] == '\0' || says > best_says;
  if (bits != best_bits)
    return bits < best_bits;
  return strcmp(name, search->best) < 0;
}

/* Terms may overlap, as x86's offcore_rsp and ldlat do; only one of them can be
 * said then. */
static int consider_term(const char *name, void *data) {
  term_search_t *search = data;
  size_t length = strlen(name);
  uvperf__pmu_format_t format;
  uint64_t lowest = search->left & (~search->left + 1);

  if (length >= sizeof(search->best) ||
      uvperf__pmu_format(search->root, search->pmu, name, &format) != 0 ||
      format.field != search->field || (format.mask & lowest) == 0 ||
      (format.mask & search->taken) != 0 ||
      !is_better(search, name, format.mask))
    return 0;
  memcpy(search->best, name, length + 1);
  search->mask = format.mask;
  return 0;
}

/* The terms of the lowest bits come first. */
int uvperf__label_pmu_config(uvperf__label_t *label, const char *pmu,
                             enum uvperf_attr_field field) {
  uint64_t config = uvperf__attr_value(label->attr, field);
  term_search_t search = {label->root, pmu, field, config, 0, 0, ""};

  while (search.left != 0) {
    search.best[0] = '\0';
    uvperf__pmu_each_format(label->root, pmu, consider_term, &search);
    if (search.best[0] == '\0')
      return -ENOENT;
    uvperf__label_put_term(label, "%s", search.best);
    if (count_bits(search.mask) > 1)
      uvperf__label_put(
          label, "=0x%llx",
          (unsigned long long)uvperf__pmu_gather(search.mask, config));
    search.taken |= search.mask;
    search.left &= ~search.mask;
  }
  uvperf__label_say(label, field);
  return 0;
}

int uvperf__label_pmu_terms(uvperf__label_t *label) {
  char pmu[UVPERF__PMU_NAME_BYTES];
  int rc = find_pmu(label, pmu);
  size_t i;

  if (rc == 0)
    uvperf__label_put(label, "%s/", pmu);
  for (i = 0; rc == 0 && i < NR_CONFIGS; i++)
    rc = uvperf__label_pmu_config(label, pmu, configs[i]);
  return rc;
}
