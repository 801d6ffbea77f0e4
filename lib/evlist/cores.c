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

/* Whether the event belongs to a core PMU if the kernel chooses one. */
static int attr_is_generic(const struct perf_event_attr *attr) {
  return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE;
}

/* Keeps all CPUs of a core's PMU, which has no cpumask. */
static int attr_keep_cpus(evlist_attr_t *own, const char *pmu,
                          uvperf_error_t *error) {
  char list[UVPERF__PMU_TEXT_BYTES];
  size_t nr = 0;
  int is_mask;
  int rc = uvperf__pmu_cpus(pmu, list, &is_mask);

  if (rc == 0)
    rc = uvperf_cpu_list_parse(list, NULL, &nr);
  if (rc != -ENOBUFS && !uvperf__is_shortage(rc))
    return 0; /* the kernel then chooses the CPUs of the event */
  if (rc == -ENOBUFS)
    own->cpus = uvperf__calloc(nr, sizeof(own->cpus[0]));
  if (own->cpus == NULL)
    return uvperf__error_shortage(error, rc == -ENOBUFS ? -ENOMEM : rc,
                                  "cannot read the CPUs of a PMU");
  uvperf_cpu_list_parse(list, own->cpus, &nr);
  own->item.cpus = own->cpus;
  own->item.nr_cpus = nr;
  return 0;
}

/* Finds the CPUs of an attr that may belong to a core PMU. If the kernel
 * chooses the PMU for an event of a task, the event counts on one kind of cores
 * only, and that may be any of them. */
static int attr_find_core(const uvperf__evlist_t *evlist, size_t attr,
                          const uvperf__core_pmus_t *cores,
                          uvperf_error_t *error) {
  evlist_attr_t *own = &evlist->attrs->at[attr];
  uint8_t *flags = &evlist->attrs->flags[attr];
  uint32_t pmu = attr_is_generic(own->asked)
                     ? (uint32_t)(own->asked->config >> 32)
                     : own->asked->type;
  size_t i;

  if (pmu == 0)
    *flags |= UVPERF__READING_PART_TIME;
  for (i = 0; i < cores->nr; i++) {
    if (cores->pmus[i].type != pmu)
      continue;
    *flags |= UVPERF__READING_PART_TIME;
    return attr_keep_cpus(own, cores->pmus[i].name, error);
  }
  return 0;
}

int uvperf__evlist_find_cores(uvperf__evlist_t *evlist, uvperf_error_t *error) {
  const evlist_attrs_t *attrs = evlist->attrs;
  const struct perf_event_attr *asked;
  uvperf__core_pmus_t cores = {.is_read = 0};
  size_t i, first;
  int rc = 0;

  /* Begins with the last attr, so that each chain of parts ascends. */
  for (i = attrs->nr; i-- > 0;) {
    first = attrs->at[i].item.first;
    if (first == i)
      continue;
    attrs->flags[i] |= UVPERF__READING_PART;
    attrs->next_parts[i] = attrs->next_parts[first];
    attrs->next_parts[first] = (uint32_t)i;
  }
  for (i = 0; i < attrs->nr && rc == 0; i++) {
    asked = attrs->at[i].asked;
    if (attrs->at[i].item.cpus != NULL ||
        !(attr_is_generic(asked) || asked->type == PERF_TYPE_RAW ||
          asked->type >= PERF_TYPE_MAX))
      continue;
    if (!cores.is_read)
      rc = uvperf__pmu_cores(&cores);
    if (rc != 0)
      return uvperf__error_shortage(error, rc,
                                    "cannot find the PMUs of the cores");
    if (cores.nr < 2)
      return 0;
    rc = attr_find_core(evlist, i, &cores, error);
    if (rc != 0 && error != NULL)
      error->attr_index = (uint32_t)i;
  }
  return rc;
}
