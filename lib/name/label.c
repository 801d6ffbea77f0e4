/* SPDX-License-Identifier: MIT */
/* Finds the name of an event from its attr. Tries the ways to name the event,
 * the most readable first, and takes the first way whose text parses back to
 * the same event. The text, and the terms and modifiers of any event, are in
 * label_terms.c. */
#include "name/label.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/hw_breakpoint.h>

#include "attr/attr.h"
#include "attr/generic_name.h"
#include "host/pmu.h"
#include "host/tracefs.h"
#include "name/label_terms.h"
#include "util/bytes.h"

/* -- events of PMUs -------------------------------------------------------- */

/* Makes labels from a named event of the PMU, or from the terms of its format.
 * Probes have PMUs too, but they are not labelled here. */

#define NR_CONFIGS 5

static const enum uvperf_attr_field configs[NR_CONFIGS] = {
    UVPERF_ATTR_CONFIG,  UVPERF_ATTR_CONFIG1, UVPERF_ATTR_CONFIG2,
    UVPERF_ATTR_CONFIG3, UVPERF_ATTR_CONFIG4,
};

/* The kernel's fixed types are named in other ways, although sysfs shows some
 * of them as PMUs too ("software"). The exception is RAW, which is the type of
 * the CPU's PMU on x86. */
static int find_pmu(uvperf__label_t *label, char name[UVPERF__PMU_NAME_BYTES]) {
  uint32_t type = label->attr->type;

  label->form = UVPERF__LABEL_SLASH;
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

static int label_pmu_event(uvperf__label_t *label) {
  char pmu[UVPERF__PMU_NAME_BYTES];
  event_search_t search;
  size_t i;

  if (find_pmu(label, pmu) != 0)
    return -ENOENT;
  for (i = 0; i < NR_CONFIGS; i++)
    uvperf__label_say(label, configs[i]);
  search.pmu = pmu;
  search.own = label->said;
  search.best[0] = '\0';
  uvperf__pmu_each_event(pmu, consider_event, &search);
  if (search.best[0] == '\0')
    return -ENOENT;
  uvperf__label_put(label, "%s/", pmu);
  uvperf__label_put_term(label, "%s", search.best);
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
static int label_pmu_config(uvperf__label_t *label, const char *pmu,
                            enum uvperf_attr_field field) {
  uint64_t config = uvperf__attr_value(label->attr, field);
  term_search_t search = {pmu, field, config, 0, 0, ""};

  while (search.left != 0) {
    search.best[0] = '\0';
    uvperf__pmu_each_format(pmu, consider_term, &search);
    if (search.best[0] == '\0')
      return -ENOENT;
    uvperf__label_put_term(label, "%s", search.best);
    if (uvperf__bits(search.mask) > 1)
      uvperf__label_put(
          label, "=0x%llx",
          (unsigned long long)uvperf__pmu_gather(search.mask, config));
    search.taken |= search.mask;
    search.left &= ~search.mask;
  }
  uvperf__label_say(label, field);
  return 0;
}

static int label_pmu_terms(uvperf__label_t *label) {
  char pmu[UVPERF__PMU_NAME_BYTES];
  int rc = find_pmu(label, pmu);
  size_t i;

  if (rc == 0)
    uvperf__label_put(label, "%s/", pmu);
  for (i = 0; rc == 0 && i < NR_CONFIGS; i++)
    rc = label_pmu_config(label, pmu, configs[i]);
  return rc;
}

/* -- probes ---------------------------------------------------------------- */

/* The config1 of a probe is a pointer to a string of this process: the path of
 * a file, or the name of a kernel function. */

/* Adds a value in quotation marks, so that no byte of the value ends it. A
 * value that contains both kinds of quotation marks cannot be written. */
static int put_quoted(uvperf__label_t *label, const char *key,
                      const char *value) {
  char mark = strchr(value, '"') == NULL ? '"' : '\'';

  if (strchr(value, mark) != NULL)
    return -ENOENT;
  uvperf__label_put_term(label, "%s=%c%s%c", key, mark, value, mark);
  return 0;
}

static void put_number(uvperf__label_t *label, const char *key,
                       uint64_t value) {
  uvperf__label_put_term(label, "%s=0x%llx", key, (unsigned long long)value);
}

/* uprobe_register() needs a path and an offset in the file.
 * create_local_trace_kprobe() needs a function and an offset in it, or an
 * address without a function: perf_uprobe_init and perf_kprobe_init in
 * kernel/trace/trace_event_perf.c. */
static int label_probe(uvperf__label_t *label) {
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
  label->form = UVPERF__LABEL_SLASH;
  uvperf__label_put(label, "%s/", pmu);
  if (name != NULL && put_quoted(label, is_uprobe ? "path" : "func", name) != 0)
    return -ENOENT;
  if (name == NULL)
    put_number(label, "addr", offset);
  else if (is_uprobe || offset != 0)
    put_number(label, "offset", offset);
  uvperf__label_say(label, UVPERF_ATTR_CONFIG1);
  uvperf__label_say(label, UVPERF_ATTR_CONFIG2);
  return label_pmu_config(label, pmu, UVPERF_ATTR_CONFIG);
}

/* -- all other events ------------------------------------------------------ */

/* On machines with several kinds of CPUs the upper half of config in hardware
 * and cache events may be the type of a PMU (PERF_PMU_TYPE_SHIFT). */
#define PMU_SHIFT 32

/* Adds one of the spellings of a generic event. */
static int put_generic(uvperf__label_t *label, const char *name) {
  uint32_t type = (uint32_t)(label->attr->config >> PMU_SHIFT);
  char pmu[UVPERF__PMU_NAME_BYTES];

  uvperf__label_say(label, UVPERF_ATTR_CONFIG);
  if (type == 0) {
    uvperf__label_put(label, "%s", name);
    return 0;
  }
  label->form = UVPERF__LABEL_SLASH;
  if (uvperf__pmu_name(type, pmu, sizeof(pmu)) != 0)
    return -ENOENT;
  uvperf__label_put(label, "%s/", pmu);
  uvperf__label_put_term(label, "%s", name);
  return 0;
}

static int label_generic(uvperf__label_t *label) {
  char name[UVPERF__GENERIC_NAME_BYTES];

  if (uvperf__generic_name(label->attr->type, (uint32_t)label->attr->config,
                           name, sizeof(name)) != 0)
    return -ENOENT;
  return put_generic(label, name);
}

static int put_alias(const char *name, void *data) {
  uvperf__label_t *label = data;
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
static int label_generic_alias(uvperf__label_t *label) {
  return uvperf__generic_each_alias(label->attr->type, put_alias, label) == 1
             ? 0
             : -ENOENT;
}

static int label_tracepoint(uvperf__label_t *label) {
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
  uvperf__label_say(label, UVPERF_ATTR_CONFIG);
  uvperf__label_put(label, "%s", name);
  return 0;
}

static int label_breakpoint(uvperf__label_t *label) {
  const struct perf_event_attr *attr = label->attr;

  if (attr->type != PERF_TYPE_BREAKPOINT)
    return -ENOENT;
  uvperf__label_say(label, UVPERF_ATTR_BP_TYPE);
  uvperf__label_say(label, UVPERF_ATTR_CONFIG1);
  uvperf__label_say(label, UVPERF_ATTR_CONFIG2);
  uvperf__label_put(
      label, "mem:0x%llx/%llu:", (unsigned long long)attr->config1,
      (unsigned long long)uvperf__attr_value(attr, UVPERF_ATTR_CONFIG2));
  uvperf__label_put(label, "%s%s%s", attr->bp_type & HW_BREAKPOINT_R ? "r" : "",
                    attr->bp_type & HW_BREAKPOINT_W ? "w" : "",
                    attr->bp_type & HW_BREAKPOINT_X ? "x" : "");
  return 0;
}

static int label_raw(uvperf__label_t *label) {
  if (label->attr->type != PERF_TYPE_RAW)
    return -ENOENT;
  uvperf__label_say(label, UVPERF_ATTR_CONFIG);
  uvperf__label_put(label, "r%llx", (unsigned long long)label->attr->config);
  return 0;
}

static int label_numbers(uvperf__label_t *label) {
  static const struct {
    enum uvperf_attr_field field;
    const char *name;
  } fields[] = {
      {UVPERF_ATTR_CONFIG1, "config1"}, {UVPERF_ATTR_CONFIG2, "config2"},
      {UVPERF_ATTR_CONFIG3, "config3"}, {UVPERF_ATTR_CONFIG4, "config4"},
      {UVPERF_ATTR_BP_TYPE, "bp_type"},
  };
  uint64_t value;
  size_t i;

  uvperf__label_put(label, "type=%u,config=0x%llx", label->attr->type,
                    (unsigned long long)label->attr->config);
  label->form = UVPERF__LABEL_NUMBERS;
  uvperf__label_say(label, UVPERF_ATTR_CONFIG);
  for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
    value = uvperf__attr_value(label->attr, fields[i].field);
    uvperf__label_say(label, fields[i].field);
    if (value != 0)
      uvperf__label_put_term(label, "%s=0x%llx", fields[i].name,
                             (unsigned long long)value);
  }
  return 0;
}

/* -- all ways -------------------------------------------------------------- */

/* Completes a label that already names the event. Returns 1, or 0 if the label
 * is not true. */
static int label_end(uvperf__label_t *label, const uvperf__label_t *name) {
  int has_sample_type = name->attr->sample_type != 0;

  for (; has_sample_type >= 0; has_sample_type--) {
    *label = *name;
    uvperf__label_end(label, has_sample_type);
    if (uvperf__label_is_true(label))
      return 1;
  }
  return 0;
}

/* Tries each way to write the attr as a text, until one is exact. Some attrs
 * cannot be written exactly, for example probes with a number for the pointer.
 * The result for such an attr is the text of the last way. */
static void label_compose(uvperf__label_t *label,
                          const struct perf_event_attr *attr,
                          const char *tracepoint) {
  static int (*const ways[])(uvperf__label_t *) = {
      label_generic,    label_generic_alias, label_tracepoint,
      label_breakpoint, label_probe,         label_pmu_event,
      label_pmu_terms,  label_raw,           label_numbers,
  };
  uvperf__label_t name;
  size_t i;

  for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
    uvperf__label_begin(&name, attr, tracepoint);
    if (ways[i](&name) == 0 && label_end(label, &name))
      return;
  }
}

int uvperf__attr_label_known(const struct perf_event_attr *attr,
                             const char *tracepoint, char *label,
                             size_t *size) {
  uvperf__label_t text;
  size_t room;

  if (attr == NULL || size == NULL || (label == NULL && *size != 0) ||
      uvperf__attr_size(attr) < PERF_ATTR_SIZE_VER0)
    return -EINVAL;
  label_compose(&text, attr, tracepoint);
  room = *size;
  *size = text.length + 1;
  if (room < *size)
    return -ENOBUFS;
  memcpy(label, text.text, *size);
  return 0;
}

int uvperf_attr_label(const struct perf_event_attr *attr, char *label,
                      size_t *size) {
  return uvperf__attr_label_known(attr, NULL, label, size);
}
