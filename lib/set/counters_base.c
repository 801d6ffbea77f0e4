/* SPDX-License-Identifier: MIT */
/* Shared by the files of the counters. Checks for a fork and for probes. Reads
 * the time. Finds a target by its index. Restores the user's attr. */
#include "set/counters_internal.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "host/pmu.h"
#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"

uint64_t uvperf__counters_now(void) {
  uint64_t now = 0;

  uvperf__sys_now(CLOCK_MONOTONIC, &now);
  return now;
}

int uvperf__counters_check(const uvperf__counters_t *counters,
                           uvperf_error_t *error) {
  if (uvperf__process() != counters->process)
    return uvperf__error_forked(error, "set");
  if (counters->is_none)
    return uvperf__error_opening(error, "set");
  return 0;
}

int uvperf__counters_check_attr(const uvperf__counters_t *counters, size_t attr,
                                uvperf_error_t *error) {
  int rc = uvperf__counters_check(counters, error);

  if (rc != 0 || attr < counters->nr_attrs)
    return rc;
  return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                           "there is no attr %zu; the set has %zu", attr,
                           counters->nr_attrs);
}

int uvperf__counters_need_records(const char *what, uvperf_error_t *error) {
  return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                           "%s needs UVPERF_SET_RECORDS in options.flags",
                           what);
}

size_t uvperf__counters_position(const uvperf__counters_t *counters,
                                 uint32_t index) {
  size_t first = 0;
  size_t end = counters->nr_targets;
  size_t middle;

  while (first < end) {
    middle = first + (end - first) / 2;
    if (counters->targets[middle]->index < index)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

int uvperf__counters_is_probe(const uvperf__counters_t *counters,
                              const struct perf_event_attr *attr) {
  return attr->type >= PERF_TYPE_MAX &&
         (uvperf__pmu_is(counters->root, attr->type, "uprobe") ||
          uvperf__pmu_is(counters->root, attr->type, "kprobe"));
}

char *uvperf__counter_copy_text(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = uvperf__calloc(1, size);

  return copy == NULL ? NULL : memcpy(copy, text, size);
}

void uvperf__counter_shape_release(counter_shape_t *shape) {
  if (shape == NULL || --shape->nr_users != 0)
    return;
  uvperf__free(shape->attr);
  uvperf__free(shape);
}

void uvperf__counter_attr_restore(counter_attr_t *attr) {
  memcpy(attr->attr, attr->asked, attr->asked->size);
  uvperf__free(attr->changes);
  attr->changes = NULL;
  attr->nr_changes = 0;
  attr->is_fixed = 0;
  uvperf__counter_shape_release(attr->shape);
  attr->shape = NULL;
}
