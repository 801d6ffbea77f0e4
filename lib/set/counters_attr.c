/* SPDX-License-Identifier: MIT */
/* What the counters measure: their own copies of the attrs, and what is known
 * of each, from a list of events or from the attr alone. */
#include "set/counters_internal.h"

#include <errno.h>
#include <string.h>

#include "attr/attr.h"
#include "attr/kernel_knows.h"
#include "host/pmu.h"
#include "name/list.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/file.h"

/* -- arguments ------------------------------------------------------------ */

static int bad(uvperf_error_t *error, const char *what) {
  return uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT, "%s", what);
}

/* Names the attr that an error is of. */
static int of_attr(uvperf_error_t *error, size_t attr, int rc) {
  if (error != NULL)
    error->attr_index = (uint32_t)attr;
  return rc;
}

static int check_leaders(const uvperf_set_options_t *options,
                         uvperf_error_t *error) {
  const size_t *leaders = options->leaders;
  size_t i;

  for (i = 0; leaders != NULL && i < options->nr_attrs; i++) {
    if (leaders[i] <= i && leaders[leaders[i]] == leaders[i])
      continue;
    uvperf__error_set(error, -EINVAL, UVPERF_CAUSE_ARGUMENT,
                      "options.leaders[%zu] is %zu: a leader comes before the "
                      "rest of its group, and leads itself",
                      i, leaders[i]);
    return of_attr(error, i, -EINVAL);
  }
  return 0;
}

static int check_attrs(const uvperf_set_options_t *options,
                       uvperf_error_t *error) {
  size_t i;

  if (options->events != NULL) {
    if (options->attrs != NULL || options->nr_attrs != 0 ||
        options->leaders != NULL)
      return bad(error, "options have both attrs and events");
    return 0;
  }
  if (options->nr_attrs == 0 && options->side_band != 0)
    return 0;
  if (options->attrs == NULL || options->nr_attrs == 0)
    return bad(error, "options have neither attrs nor events");
  if (options->nr_attrs > UVPERF__EVENT_LIST_MOST) {
    uvperf__error_set(error, -E2BIG, UVPERF_CAUSE_ARGUMENT,
                      "options.nr_attrs %zu is more than %d", options->nr_attrs,
                      UVPERF__EVENT_LIST_MOST);
    if (error != NULL)
      error->limit = UVPERF__EVENT_LIST_MOST;
    return -E2BIG;
  }
  for (i = 0; i < options->nr_attrs; i++)
    if (options->attrs[i] == NULL)
      return of_attr(error, i, bad(error, "one of options.attrs is NULL"));
  return check_leaders(options, error);
}

/* -- what is known of an attr --------------------------------------------- */

static int no_memory(uvperf_error_t *error) {
  return uvperf__error_set(error, -ENOMEM, UVPERF_CAUSE_MEMORY,
                           "no memory for the attrs");
}

static int names_probe(const uvperf__counters_t *counters,
                       const struct perf_event_attr *attr) {
  return attr->type >= PERF_TYPE_MAX && attr->config1 != 0 &&
         (uvperf__pmu_is(counters->root, attr->type, "uprobe") ||
          uvperf__pmu_is(counters->root, attr->type, "kprobe"));
}

/* Attrs without a list. */
static int know_attr(uvperf__counters_t *counters, size_t index, size_t leader,
                     uvperf_error_t *error) {
  counter_attr_t *own = &counters->attrs[index];
  uvperf_event_item_t *item = &own->item;

  item->scale = 1;
  item->unit = "";
  item->group_name = "";
  item->group = -1;
  item->leader = leader;
  own->names_probe = names_probe(counters, own->asked);
  return uvperf__counters_brief_label(counters, own) == 0 ? 0
                                                          : no_memory(error);
}

/* Leaders get the number of their group once a second member is there. */
static void number_groups(uvperf__counters_t *counters) {
  counter_attr_t *leader;
  int nr = 0;
  size_t i;

  for (i = 0; i < counters->nr_attrs; i++) {
    leader = &counters->attrs[counters->attrs[i].item.leader];
    if (leader == &counters->attrs[i])
      continue;
    if (leader->item.group < 0)
      leader->item.group = nr++;
    counters->attrs[i].item.group = leader->item.group;
  }
}

/* Reading looks for the members of each group, and must not look through all
 * attrs for that. */
static void find_ends(uvperf__counters_t *counters) {
  size_t i;

  for (i = 0; i < counters->nr_attrs; i++)
    counters->attrs[counters->attrs[i].item.leader].end = i + 1;
}

/* -- copies --------------------------------------------------------------- */

/* The times say whether a count is to be trusted, ids which value of a group is
 * whose. Where the kernel does not answer (EMFILE, say) LOST is left out. What
 * the user asked for does not matter: nobody else reads these events; samples
 * of them, for which PERF_SAMPLE_READ is, have values in the same format. Where
 * nobody gets samples it is left out, as with inherit it is EINVAL
 * (has_inherit_and_sample_read in kernel/events/core.c). */
static void choose_read_formats(uvperf__counters_t *counters) {
  uint64_t format = PERF_FORMAT_TOTAL_TIME_ENABLED |
                    PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID;
  counter_attr_t *attrs = counters->attrs;
  size_t i, leader;

  if (uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST) == 1)
    format |= UVPERF_FORMAT_LOST;
  for (i = 0; i < counters->nr_attrs; i++) {
    leader = attrs[i].item.leader;
    attrs[i].asked->read_format = format;
    if ((counters->flags & UVPERF_SET_RECORDS) == 0 ||
        !uvperf__attr_writes_records(attrs[i].asked))
      attrs[i].asked->sample_type &= ~(uint64_t)PERF_SAMPLE_READ;
    if (leader == i)
      continue;
    attrs[i].asked->read_format |= PERF_FORMAT_GROUP;
    attrs[leader].asked->read_format |= PERF_FORMAT_GROUP;
  }
  for (i = 0; i < counters->nr_attrs; i++) {
    attrs[i].attr->read_format = attrs[i].asked->read_format;
    attrs[i].attr->sample_type = attrs[i].asked->sample_type;
  }
}

static int copy_attr(uvperf__counters_t *counters, size_t index,
                     const struct perf_event_attr *given,
                     uvperf_error_t *error) {
  counter_attr_t *own = &counters->attrs[index];
  size_t bytes = sizeof(*own->asked);
  int rc;

  rc = uvperf__attr_copy(&own->asked, given, error);
  if (rc == 0)
    rc = uvperf__attr_copy(&own->attr, given, error);
  if (rc != 0)
    return rc;
  if (bytes < own->asked->size)
    bytes = own->asked->size;
  if (counters->attr_bytes < bytes)
    counters->attr_bytes = bytes;
  return 0;
}

static uint8_t reading_flags(const uvperf_event_item_t *item) {
  uint8_t flags = 0;

  if (item->flags & UVPERF_ITEM_SNAPSHOT)
    flags |= UVPERF__READING_SNAPSHOT;
  if (item->cpus != NULL && (item->flags & UVPERF_ITEM_CPU_WIDE) == 0)
    flags |= UVPERF__READING_PART_TIME;
  return flags;
}

static int is_side_band(const uvperf__counters_t *counters, size_t index) {
  return counters->has_side_band && index == counters->nr_attrs - 1;
}

static int copy_given(uvperf__counters_t *counters, size_t index,
                      const uvperf_set_options_t *options,
                      uvperf_error_t *error) {
  const size_t *leaders = options->leaders;
  int rc = copy_attr(counters, index, options->attrs[index], error);

  return rc != 0 ? rc
                 : know_attr(counters, index,
                             leaders != NULL ? leaders[index] : index, error);
}

static int copy_side_band(uvperf__counters_t *counters, size_t index,
                          const uvperf_set_options_t *options,
                          uvperf_error_t *error) {
  struct perf_event_attr attr;
  int rc;

  uvperf__counters_side_band(options->side_band, &attr);
  rc = copy_attr(counters, index, &attr, error);
  return rc != 0 ? rc : know_attr(counters, index, index, error);
}

static int copy_attr_and_item(uvperf__counters_t *counters, size_t index,
                              const uvperf_set_options_t *options,
                              uvperf_error_t *error) {
  counter_attr_t *own = &counters->attrs[index];
  int rc;

  if (is_side_band(counters, index)) {
    rc = copy_side_band(counters, index, options, error);
  } else if (counters->list != NULL) {
    own->item = *uvperf_event_list_get(counters->list, index);
    rc = copy_attr(counters, index, own->item.attr, error);
    if (rc == 0)
      own->names_probe = names_probe(counters, own->asked);
  } else {
    rc = copy_given(counters, index, options, error);
  }
  if (rc != 0)
    return rc;
  own->item.attr = own->attr;
  counters->attr_flags[index] = reading_flags(&own->item);
  return 0;
}

static int copy_attrs(uvperf__counters_t *counters,
                      const uvperf_set_options_t *options,
                      uvperf_error_t *error) {
  size_t i;
  int rc;

  for (i = 0; i < counters->nr_attrs; i++) {
    rc = copy_attr_and_item(counters, i, options, error);
    if (rc != 0)
      return of_attr(error, i, rc);
  }
  if (counters->list == NULL)
    number_groups(counters);
  find_ends(counters);
  choose_read_formats(counters);
  if (counters->flags & UVPERF_SET_RECORDS)
    return uvperf__counters_shape_records(counters, error);
  return 0;
}

static void put_in_order(uvperf__counters_t *counters, int is_early,
                         size_t *nr) {
  size_t i;

  for (i = 0; i < counters->nr_attrs; i++)
    if (counters->attrs[i].is_early == is_early)
      counters->order[(*nr)++] = i;
}

/* Dummies write of tasks and mappings, which what other events sample is to be
 * found in: these come first, with what they lead. Another member of a group
 * comes after its leader in any case. */
static void choose_order(uvperf__counters_t *counters) {
  counter_attr_t *attr;
  size_t nr = 0;
  size_t i;

  for (i = 0; i < counters->nr_attrs; i++) {
    attr = &counters->attrs[i];
    attr->is_early = (counters->flags & UVPERF_SET_RECORDS) != 0 &&
                     attr->item.leader == i &&
                     attr->asked->type == PERF_TYPE_SOFTWARE &&
                     attr->asked->config == PERF_COUNT_SW_DUMMY;
  }
  put_in_order(counters, 1, &nr);
  put_in_order(counters, 0, &nr);
}

static int make_attrs(uvperf__counters_t *counters) {
  size_t i;

  counters->attrs =
      uvperf__calloc(counters->nr_attrs, sizeof(counters->attrs[0]));
  counters->attr_flags = uvperf__calloc(counters->nr_attrs, 1);
  counters->order =
      uvperf__calloc(counters->nr_attrs, sizeof(counters->order[0]));
  for (i = 0; counters->attrs != NULL && i < counters->nr_attrs; i++)
    counters->attrs[i].bpf_fd = -1;
  return counters->attrs == NULL || counters->attr_flags == NULL ||
                 counters->order == NULL
             ? -ENOMEM
             : 0;
}

int uvperf__counters_copy_attrs(uvperf__counters_t *counters,
                                const uvperf_set_options_t *options,
                                uvperf_error_t *error) {
  int rc = check_attrs(options, error);

  if (rc != 0)
    return rc;
  counters->nr_attrs = options->nr_attrs;
  if (options->events != NULL) {
    counters->list = uvperf__event_list_hold(options->events);
    counters->nr_attrs = uvperf_event_list_count(counters->list);
  }
  counters->has_side_band = options->side_band != 0;
  counters->nr_attrs += counters->has_side_band;
  if (make_attrs(counters) != 0)
    return no_memory(error);
  rc = copy_attrs(counters, options, error);
  if (rc != 0)
    return rc;
  choose_order(counters);
  counters->scratch = uvperf__calloc(2, counters->attr_bytes);
  return counters->scratch == NULL ? no_memory(error) : 0;
}

static void free_attr(counter_attr_t *attr) {
  uvperf__free(attr->label);
  uvperf__free(attr->asked);
  uvperf__free(attr->attr);
  uvperf__free(attr->changes);
  uvperf__free(attr->opened_label);
  uvperf__counter_shape_release(attr->shape);
  uvperf__free(attr->filter);
  if (attr->bpf_fd >= 0)
    uvperf__file_close(attr->bpf_fd);
}

void uvperf__counters_free_attrs(uvperf__counters_t *counters) {
  size_t i;

  for (i = 0; counters->attrs != NULL && i < counters->nr_attrs; i++)
    free_attr(&counters->attrs[i]);
  uvperf__free(counters->attrs);
  uvperf__free(counters->attr_flags);
  uvperf__free(counters->order);
  uvperf__free(counters->scratch);
  uvperf_event_list_free(counters->list);
}
