/* SPDX-License-Identifier: MIT */
/* Names uprobes and kprobes, whose config1 is a pointer to a string of this
 * process: the path of a file, or the name of a kernel function. */
#include "name/label.h"

#include <errno.h>
#include <string.h>

#include "attr/attr.h"
#include "host/pmu.h"

/* What config1 points to; NULL: nothing. */
static const char *string_of(const struct perf_event_attr *attr) {
  return (const char *)(uintptr_t)uvperf__attr_value(attr, UVPERF_ATTR_CONFIG1);
}

/* Puts a value so that no byte of it ends it. A value with both kinds of
 * quotation marks cannot be written. */
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

/* uprobe_register() takes a path and an offset in the file, create_local_
 * trace_kprobe() a function and an offset in it, or without a function an
 * address: kernel/trace/trace_event_perf.c, perf_uprobe_init and
 * perf_kprobe_init. */
int uvperf__label_probe(uvperf__label_t *label) {
  uint64_t offset = uvperf__attr_value(label->attr, UVPERF_ATTR_CONFIG2);
  int is_uprobe = uvperf__pmu_is(label->root, label->attr->type, "uprobe");
  const char *pmu = is_uprobe ? "uprobe" : "kprobe";
  const char *name;

  if (!is_uprobe && !uvperf__pmu_is(label->root, label->attr->type, pmu))
    return -ENOENT;
  name = string_of(label->attr);
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
  return uvperf__label_pmu_config(label, pmu, UVPERF_ATTR_CONFIG);
}
