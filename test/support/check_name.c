/* SPDX-License-Identifier: MIT */
#include "check_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "attr/attr.h"
#include "name/list.h"
#include "name/parse.h"

static const char *check_error(const uvperf_error_t *error, int rc,
                               const char *text) {
  if (rc > 0)
    return "a positive code";
  if (error->code != rc)
    return "the error has another code";
  if (error->cause == UVPERF_CAUSE_NONE)
    return "the error has no cause";
  if (error->column < 1 || error->column > strlen(text) + 1)
    return "the error's column is not in the text";
  if (error->reason[0] == '\0' ||
      memchr(error->reason, '\0', sizeof(error->reason)) == NULL)
    return "the error has no reason";
  return NULL;
}

/* Whether two attrs have the same value of a field; strings are compared by
 * their contents. */
static int is_same(const struct perf_event_attr *one,
                   const struct perf_event_attr *other,
                   enum uvperf_attr_field field, int is_probe) {
  uint64_t value = uvperf__attr_value(one, field);
  uint64_t wanted = uvperf__attr_value(other, field);

  if (field != UVPERF_ATTR_CONFIG1 || !is_probe || value == 0 || wanted == 0)
    return value == wanted;
  return strcmp((const char *)(uintptr_t)value,
                (const char *)(uintptr_t)wanted) == 0;
}

/* Whether two attrs are the same in every field that a label expresses. */
static int is_same_attr(const struct perf_event_attr *one,
                        const struct perf_event_attr *other, int is_probe) {
  unsigned int field;

  for (field = 0; field <= UVPERF_ATTR_CONFIG4; field++)
    if (field != UVPERF_ATTR_SIZE && field != UVPERF_ATTR_READ_FORMAT &&
        !is_same(one, other, (enum uvperf_attr_field)field, is_probe))
      return 0;
  return 1;
}

/* If an event has parts, a list contains the PMU's part, and a single event
 * leaves them to the kernel. */
static const char *check_event(const char *text,
                               const uvperf_event_list_t *list,
                               const struct perf_event_attr *attr,
                               int is_probe) {
  const uvperf_event_item_t *item = uvperf_event_list_get(list, 0);
  uvperf__wide_attr_t one;

  if (uvperf__event_list_nr_whole(list) != 1)
    return "the text is of several events";
  if (item->part != NULL &&
      uvperf_attr_parse_sized(&one.attr, sizeof(one), text, NULL) != 0)
    return "an event of parts cannot be one";
  if (!is_same_attr(item->part != NULL ? &one.attr : item->attr, attr,
                    is_probe))
    return "the text is another event";
  return NULL;
}

static const char *check_parses_back(const char *label,
                                     const struct perf_event_attr *attr) {
  int is_probe =
      strncmp(label, "uprobe/", 7) == 0 || strncmp(label, "kprobe/", 7) == 0;
  const char *fault;
  uvperf_event_list_t *list;

  if (uvperf_event_list_parse(&list, label, NULL) != 0)
    return "the label does not parse";
  fault = check_event(label, list, attr, is_probe);
  uvperf_event_list_free(list);
  return fault;
}

const char *event_label_check(const struct perf_event_attr *attr) {
  const char *fault = NULL;
  size_t size = 0, needed;
  char *label;

  if (uvperf_attr_label(attr, NULL, &size) != -ENOBUFS || size < 2)
    return "the size of the label is not reported";
  label = malloc(size);
  if (label == NULL)
    return "no memory";
  needed = size;
  size -= 1;
  if (uvperf_attr_label(attr, label, &size) != -ENOBUFS || size != needed)
    fault = "too little room is not reported";
  else if (uvperf_attr_label(attr, label, &size) != 0 || size != needed ||
           strlen(label) + 1 != needed)
    fault = "the label does not have the reported size";
  else
    fault = check_parses_back(label, attr);
  free(label);
  return fault;
}

static const char *check_untouched(const uvperf__wide_attr_t *attr) {
  const unsigned char *bytes = (const unsigned char *)attr;
  size_t i;

  for (i = 0; i < sizeof(*attr); i++)
    if (bytes[i] != 0xa5)
      return "the attr was written although parsing failed";
  return NULL;
}

static const char *check_one(const char *text, uvperf__wide_attr_t *attr,
                             int *code) {
  uvperf_error_t error = {0};
  const char *fault;

  memset(attr, 0xa5, sizeof(*attr));
  *code = uvperf_attr_parse_sized(&attr->attr, sizeof(*attr), text, &error);
  if (*code == 0)
    return event_label_check(&attr->attr);
  fault = check_error(&error, *code, text);
  return fault != NULL ? fault : check_untouched(attr);
}

static const char *check_events(const uvperf_event_list_t *list) {
  const uvperf_event_item_t *item;
  const char *fault = NULL;
  size_t nr = uvperf_event_list_count(list);
  size_t i;

  if (nr == 0)
    return "a list without events";
  for (i = 0; fault == NULL && i < nr; i++) {
    item = uvperf_event_list_get(list, i);
    if (item == NULL || item->label == NULL || item->leader > i)
      return "an event without a label, or before its leader";
    fault = event_label_check(item->attr);
  }
  return fault;
}

const char *event_name_check(const char *text, int *code) {
  uvperf_event_list_t *list = (uvperf_event_list_t *)&list;
  uvperf_error_t error = {0};
  uvperf__wide_attr_t one;
  const char *fault;
  int one_code;

  fault = check_one(text, &one, &one_code);
  if (fault != NULL)
    return fault;
  *code = uvperf_event_list_parse(&list, text, &error);
  if (*code != 0 && list != NULL)
    return "a list although parsing failed";
  fault = *code == 0 ? check_events(list) : check_error(&error, *code, text);
  if (fault == NULL && one_code == 0)
    fault = check_event(text, list, &one.attr, 0);
  uvperf_event_list_free(list);
  return fault;
}
