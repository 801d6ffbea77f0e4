/* SPDX-License-Identifier: MIT */
/* The name of an event, from its attr: tries the ways to name one, the most
 * readable first, and takes the first that parses back to the same event. What
 * is particular to PMUs, probes and terms is in event_label_*.c. */
#include "name/label.h"

#include <errno.h>
#include <string.h>

#include "attr/attr.h"
#include "attr/generic_name.h"
#include "host/pmu.h"
#include "host/tracefs.h"

#include <linux/hw_breakpoint.h>

/* Of hardware and cache events the upper half of config may be the type of a
 * PMU, on machines with several kinds of CPUs (PERF_PMU_TYPE_SHIFT). */
#define PMU_SHIFT 32

/* Puts a generic event by one of its spellings. */
static int put_generic(uvperf__label_t *label, const char *name) {
  uint32_t type = (uint32_t)(label->attr->config >> PMU_SHIFT);
  char pmu[UVPERF__PMU_NAME_BYTES];

  uvperf__label_say(label, UVPERF_ATTR_CONFIG);
  if (type == 0) {
    uvperf__label_put(label, "%s", name);
    return 0;
  }
  label->form = UVPERF__LABEL_SLASH;
  if (uvperf__pmu_name(label->root, type, pmu, sizeof(pmu)) != 0)
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

/* By another spelling: a PMU may have an event of its own of the first, as
 * cpu_core has "cpu-cycles". */
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
    uvperf__tracefs_name(label->root, label->attr->config, found,
                         sizeof(found));
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

/* Ends a label that names the event already. 1: done; 0: it is not true. */
static int end(uvperf__label_t *label, const uvperf__label_t *name) {
  int has_sample_type = name->attr->sample_type != 0;

  for (; has_sample_type >= 0; has_sample_type--) {
    *label = *name;
    uvperf__label_end(label, has_sample_type);
    if (uvperf__label_is_true(label))
      return 1;
  }
  return 0;
}

/* What the last way gives is taken even if it is not true: there are attrs that
 * no text may give, such as those of probes by a number for a pointer. */
static void compose(uvperf__label_t *label, const char *root,
                    const struct perf_event_attr *attr,
                    const char *tracepoint) {
  static int (*const ways[])(uvperf__label_t *) = {
      label_generic,           label_generic_alias, label_tracepoint,
      label_breakpoint,        uvperf__label_probe, uvperf__label_pmu_event,
      uvperf__label_pmu_terms, label_raw,           label_numbers,
  };
  uvperf__label_t name;
  size_t i;

  for (i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
    uvperf__label_begin(&name, root, attr, tracepoint);
    if (ways[i](&name) == 0 && end(label, &name))
      return;
  }
}

int uvperf__attr_label_known(const char *root,
                             const struct perf_event_attr *attr,
                             const char *tracepoint, char *label,
                             size_t *size) {
  uvperf__label_t text;
  size_t room;

  if (attr == NULL || size == NULL || (label == NULL && *size != 0) ||
      uvperf__attr_size(attr) < PERF_ATTR_SIZE_VER0)
    return -EINVAL;
  compose(&text, root, attr, tracepoint);
  room = *size;
  *size = text.length + 1;
  if (room < *size)
    return -ENOBUFS;
  memcpy(label, text.text, *size);
  return 0;
}

int uvperf__attr_label(const char *root, const struct perf_event_attr *attr,
                       char *label, size_t *size) {
  return uvperf__attr_label_known(root, attr, NULL, label, size);
}

int uvperf_attr_label(const struct perf_event_attr *attr, char *label,
                      size_t *size) {
  return uvperf__attr_label("", attr, label, size);
}
