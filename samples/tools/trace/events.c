/* SPDX-License-Identifier: MIT */
/* Turns names into attrs that sample each hit, and looks up what their fields
 * are. Opens nothing. */
#include "trace/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/list.h"
#include "common/memory.h"
#include "common/say.h"

static int look_for_probe(const uvperf_pmu_t *pmu, void *arg) {
  const struct perf_event_attr *attr = arg;

  return pmu->type == attr->type &&
         (strcmp(pmu->name, "kprobe") == 0 || strcmp(pmu->name, "uprobe") == 0);
}

/* What happens at a moment; the others are counters and clocks, which with a
 * period of 1 would stop the machine. */
static int is_moment(struct perf_event_attr *attr) {
  switch (attr->type) {
    case PERF_TYPE_TRACEPOINT:
    case PERF_TYPE_BREAKPOINT:
      return 1;
    case PERF_TYPE_SOFTWARE:
      return attr->config >= PERF_COUNT_SW_PAGE_FAULTS &&
             attr->config <= PERF_COUNT_SW_EMULATION_FAULTS;
    default:
      return uvperf_pmu_walk(look_for_probe, attr) > 0;
  }
}

static void sample_each(struct perf_event_attr *attr) {
  attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
  if (attr->type == PERF_TYPE_TRACEPOINT)
    attr->sample_type |= PERF_SAMPLE_RAW;
  else
    attr->sample_type |= PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
  if (attr->sample_period == 0)
    attr->sample_period = 1;
}

static int is_same_text(const char *a, const char *b) {
  return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* What patterns that overlap name twice is to be told once. */
static int is_there(const trace_events_t *events,
                    const struct perf_event_attr *attr, const char *filter) {
  const trace_event_t *event;
  size_t i;

  for (i = 0; i < events->nr; i++) {
    event = &events->events[i];
    if (event->attr->size == attr->size &&
        memcmp(event->attr, attr, attr->size) == 0 &&
        is_same_text(event->filter, filter))
      return 1;
  }
  return 0;
}

static int add_item(trace_events_t *events, const uvperf_event_item_t *item,
                    const char *filter) {
  struct perf_event_attr *attr;
  trace_event_t *event;

  attr =
      memcpy(common_calloc(1, item->attr->size), item->attr, item->attr->size);
  if (!is_moment(attr)) {
    free(attr);
    common_say("%s does not happen at a moment: trace tells of "
               "tracepoints, probes,\n"
               "  breakpoints and software events; uvperf-profile samples "
               "clocks, uvperf-stat\n"
               "  counts\n",
               item->label);
    return COMMON_EXIT_USAGE;
  }
  sample_each(attr);
  if (is_there(events, attr, filter)) {
    free(attr);
    return 0;
  }
  if (events->nr == events->capacity)
    events->events =
        common_grow(events->events, &events->capacity, sizeof(*events->events));
  event = &events->events[events->nr++];
  memset(event, 0, sizeof(*event));
  event->label = item->label;
  event->filter = filter;
  event->attr = attr;
  events->nr_tracepoints += attr->type == PERF_TYPE_TRACEPOINT;
  return 0;
}

static int add_names(trace_events_t *events,
                     const trace_names_option_t *asked) {
  uvperf_event_list_t *list;
  size_t i;
  int rc = common_list_parse(&list, asked->names);

  if (rc != 0)
    return rc;
  events->lists[events->nr_lists++] = list;
  for (i = 0; i < uvperf_event_list_count(list); i++) {
    rc = add_item(events, uvperf_event_list_get(list, i), asked->filter);
    if (rc != 0)
      return rc;
  }
  return 0;
}

/* Names by ids: a label may be of any words, by name=. */
static int name_one(const char *category, const char *name, uint64_t id,
                    void *arg) {
  size_t i, size = strlen(category) + strlen(name) + 2;
  trace_events_t *events = arg;
  trace_event_t *event;

  for (i = 0; i < events->nr; i++) {
    event = &events->events[i];
    if (event->attr->type != PERF_TYPE_TRACEPOINT ||
        event->attr->config != id || event->name != NULL)
      continue;
    event->name = common_calloc(1, size);
    snprintf(event->name, size, "%s:%s", category, name);
  }
  return 0;
}

static int look_up(trace_events_t *events) {
  uvperf_error_t error;
  trace_event_t *event;
  size_t i;

  if (events->nr_tracepoints > 0)
    uvperf_tracefs_walk(NULL, NULL, name_one, events);
  for (i = 0; i < events->nr; i++) {
    event = &events->events[i];
    if (event->name == NULL)
      continue;
    if (trace_fields_new(&event->fields, event->name, &error) != 0) {
      common_say("the fields of %s: %s\n", event->name, error.reason);
      return 1;
    }
  }
  return 0;
}

int trace_events_parse(trace_events_t *events, const trace_options_t *options) {
  int rc = 0;
  size_t i;

  memset(events, 0, sizeof(*events));
  events->lists = common_calloc(options->nr_names, sizeof(*events->lists));
  for (i = 0; i < options->nr_names && rc == 0; i++)
    rc = add_names(events, &options->names[i]);
  return rc != 0 ? rc : look_up(events);
}

void trace_events_free(trace_events_t *events) {
  size_t i;

  for (i = 0; i < events->nr; i++) {
    trace_fields_free(events->events[i].fields);
    free(events->events[i].attr);
    free(events->events[i].name);
  }
  for (i = 0; i < events->nr_lists; i++)
    uvperf_event_list_free(events->lists[i]);
  free(events->events);
  free(events->lists);
  memset(events, 0, sizeof(*events));
}
