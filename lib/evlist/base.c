/* SPDX-License-Identifier: MIT */
/* Shared by the files of evlist/. Checks for a fork. Reads the time. Finds a
 * target by its index. Restores the user's attr. */
#include "evlist/attrs.h"
#include "evlist/places.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "sys/sys.h"
#include "util/alloc.h"
#include "util/error.h"

uint64_t uvperf__evlist_now(void) {
  uint64_t now = 0;

  uvperf__sys_now(CLOCK_MONOTONIC, &now);
  return now;
}

int uvperf__evlist_check(const uvperf__evlist_t *evlist,
                         uvperf_error_t *error) {
  if (uvperf__process() != evlist->process)
    return uvperf__error_forked(error, "set");
  if (evlist->is_none)
    return uvperf__error_opening(error, "set");
  return 0;
}

int uvperf__evlist_check_attr(const uvperf__evlist_t *evlist, size_t attr,
                              uvperf_error_t *error) {
  int rc = uvperf__evlist_check(evlist, error);

  if (rc != 0 || attr < evlist->attrs->nr)
    return rc;
  return uvperf__error_argument(error, "there is no attr %zu; the set has %zu",
                                attr, evlist->attrs->nr);
}

void uvperf__evlist_locate(uvperf_error_t *error, size_t attr,
                           uint32_t target) {
  if (error == NULL)
    return;
  error->attr_index = (uint32_t)attr;
  error->target_index = target;
}

int uvperf__evlist_need_records(const char *what, uvperf_error_t *error) {
  return uvperf__error_argument(
      error, "%s needs UVPERF_SET_RECORDS in options.flags", what);
}

size_t uvperf__evlist_position(const uvperf__evlist_t *evlist, uint32_t index) {
  size_t first = 0;
  size_t end = evlist->places->nr_targets;
  size_t middle;

  while (first < end) {
    middle = first + (end - first) / 2;
    if (evlist->places->targets[middle]->index < index)
      first = middle + 1;
    else
      end = middle;
  }
  return first;
}

char *uvperf__evlist_copy_text(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = uvperf__calloc(1, size);

  return copy == NULL ? NULL : memcpy(copy, text, size);
}

void uvperf__evlist_shape_release(evlist_shape_t *shape) {
  if (shape == NULL || --shape->nr_users != 0)
    return;
  uvperf__free(shape->attr);
  uvperf__free(shape);
}

void uvperf__evlist_attr_restore(evlist_attr_t *attr) {
  memcpy(attr->attr, attr->asked, attr->asked->size);
  uvperf__free(attr->changes);
  attr->changes = NULL;
  attr->nr_changes = 0;
  attr->is_fixed = 0;
  uvperf__evlist_shape_release(attr->shape);
  attr->shape = NULL;
}
