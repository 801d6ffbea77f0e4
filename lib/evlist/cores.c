/* SPDX-License-Identifier: MIT */
/* For machines with several kinds of cores: finds the CPUs of attrs without a
 * name, and the attrs that are parts of one event. The items of a list already
 * have CPUs and parts if the list's text specifies them. */
#include "evlist/attrs.h"

#include <errno.h>

#include "host/cpu_list.h"
#include "host/pmu.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"

/* -- CPUs ----------------------------------------------------------------- */

static int is_generic(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
}

/* Whether an event can belong to a core PMU. */
static int may_be_of_cores(const struct perf_event_attr *attr) {
  return is_generic(attr) || attr->type == PERF_TYPE_RAW ||
         attr->type >= PERF_TYPE_MAX;
}

/* Returns the type of the PMU. 0 means that the kernel chooses it. */
static uint32_t pmu_of(const struct perf_event_attr *attr) {
  return is_generic(attr) ? (uint32_t)(attr->config >> 32) : attr->type;
}

/* The PMU of a core has no cpumask, so the list has all CPUs of the PMU. */
static int keep_cpus(const uvperf__evlist_t *evlist, evlist_attr_t *own,
                     const char *pmu, uvperf_error_t *error) {
  char list[UVPERF__PMU_TEXT_BYTES];
  size_t nr = 0;
  int is_mask;
  int rc = uvperf__pmu_cpus(evlist->root, pmu, list, &is_mask);

  if (rc == 0)
    rc = uvperf__cpu_list_parse(list, NULL, &nr);
  if (uvperf__is_shortage(rc))
    return uvperf__error_shortage(error, rc, "cannot read the CPUs of a PMU");
  if (rc != -ENOBUFS) /* the kernel then chooses the CPUs of the event */
    return 0;
  own->cpus = uvperf__calloc(nr, sizeof(own->cpus[0]));
  if (own->cpus == NULL)
    return uvperf__error_shortage(error, -ENOMEM,
                                  "cannot read the CPUs of a PMU");
  uvperf__cpu_list_parse(list, own->cpus, &nr);
  own->item.cpus = own->cpus;
  own->item.nr_cpus = nr;
  return 0;
}

/* If the kernel chooses the PMU for an event of a task, the event counts on one
 * kind of cores only, and that may be any of them. */
static int find_core(uvperf__evlist_t *evlist, size_t attr,
                     const uvperf__core_pmus_t *cores, uvperf_error_t *error) {
  evlist_attr_t *own = &evlist->attrs->at[attr];
  uint32_t pmu = pmu_of(own->asked);
  size_t i;

  if (pmu == 0)
    evlist->attrs->flags[attr] |= UVPERF__READING_PART_TIME;
  for (i = 0; i < cores->nr; i++) {
    if (cores->pmus[i].type != pmu)
      continue;
    evlist->attrs->flags[attr] |= UVPERF__READING_PART_TIME;
    return keep_cpus(evlist, own, cores->pmus[i].name, error);
  }
  return 0;
}

static int find_cores(uvperf__evlist_t *evlist, uvperf_error_t *error) {
  uvperf__core_pmus_t cores;
  size_t i;
  int rc = 0;

  cores.is_read = 0;
  for (i = 0; i < evlist->attrs->nr && rc == 0; i++) {
    if (evlist->attrs->at[i].item.cpus != NULL ||
        !may_be_of_cores(evlist->attrs->at[i].asked))
      continue;
    if (!cores.is_read)
      rc = uvperf__pmu_cores(evlist->root, &cores);
    if (rc != 0)
      return uvperf__error_shortage(error, rc,
                                    "cannot find the PMUs of the cores");
    if (cores.nr < 2)
      return 0;
    rc = find_core(evlist, i, &cores, error);
    if (rc != 0 && error != NULL)
      error->attr_index = (uint32_t)i;
  }
  return rc;
}

/* -- parts ---------------------------------------------------------------- */

/* Begins with the last attr, so that each chain of parts ascends. */
static void chain_parts(uvperf__evlist_t *evlist) {
  size_t i, first;

  for (i = evlist->attrs->nr; i-- > 0;) {
    first = evlist->attrs->at[i].item.first;
    if (first == i)
      continue;
    evlist->attrs->flags[i] |= UVPERF__READING_PART;
    evlist->attrs->next_parts[i] = evlist->attrs->next_parts[first];
    evlist->attrs->next_parts[first] = (uint32_t)i;
  }
}

int uvperf__evlist_find_cores(uvperf__evlist_t *evlist, uvperf_error_t *error) {
  chain_parts(evlist);
  return find_cores(evlist, error);
}
