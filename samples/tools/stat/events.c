/* SPDX-License-Identifier: MIT */
/* Parses the events' names, and describes the events of an open set. Opens
 * nothing. */
#include "stat/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/list.h"
#include "common/memory.h"
#include "common/options.h"
#include "common/say.h"
#include "stat/tool.h"

/* The default events, as in perf stat. The clock of a task stops while the
 * task does not run. For CPUs there is another clock. */
#define CLOCK_OF_TASKS "task-clock"
#define CLOCK_OF_CPUS  "cpu-clock"
#define USUAL                                                                  \
  ",context-switches,cpu-migrations,page-faults,cycles,instructions,branches," \
  "branch-misses"

/* The events that -d, -dd and -ddd add. */
static const char *const details[] = {
    "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses",
    ("L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,"
     "iTLB-loads,iTLB-load-misses"),
    "L1-dcache-prefetches,L1-dcache-prefetch-misses",
};

static int is_of_cpus(const stat_options_t *options) {
  return options->by != STAT_BY_THREAD &&
         (options->all || options->cgroups.nr > 0);
}

static void put_names(FILE *file, const stat_options_t *options) {
  size_t i;

  if (options->null)
    fputs("dummy:u", file); /* its lines are not printed */
  else if (options->events.names != NULL)
    fputs(options->events.names, file);
  else
    fprintf(file, "%s%s", is_of_cpus(options) ? CLOCK_OF_CPUS : CLOCK_OF_TASKS,
            USUAL);
  for (i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
    if (i < options->detailed)
      fprintf(file, ",%s", details[i]);
  }
}

/* user_time and system_time exist only for a command. */
static int check_times(const stat_events_t *events,
                       const stat_options_t *options) {
  const uvperf_event_item_t *item;
  enum stat_tool tool;
  size_t i;

  for (i = 0; i < events->nr_attrs && options->command == NULL; i++) {
    item = uvperf_event_list_get(events->list, i);
    tool = stat_tool_of(item);
    if (tool == STAT_TOOL_USER || tool == STAT_TOOL_SYSTEM)
      return common_options_bad("%s is the time of a command, and none is "
                                "given: add a command, or leave %s out",
                                item->label, item->label);
  }
  return 0;
}

int stat_events_parse(stat_events_t *events, const stat_options_t *options) {
  char *names = NULL;
  size_t size = 0;
  FILE *file = common_memory_open(&names, &size);
  int rc;

  memset(events, 0, sizeof(*events));
  put_names(file, options);
  common_memory_close(file);
  rc = stat_tool_parse(&events->list, names);
  free(names);
  if (rc != 0)
    return rc;
  events->nr_attrs = uvperf_event_list_count(events->list);
  return check_times(events, options);
}

static void describe(stat_event_t *event, const stat_options_t *options,
                     const uvperf_set_t *set, size_t attr) {
  const uvperf_event_item_t *item = uvperf_set_item(set, attr);

  if (!options->no_merge || item->part == NULL || item->first != attr)
    event->label = common_copy_text(item->label);
  else if (common_list_has_change(set, attr, UVPERF_FALLBACK_USER))
    event->label = common_list_user_label(item->part, 0);
  else
    event->label = common_copy_text(item->part);
  event->tool = stat_tool_of(item);
  event->unit =
      common_copy_text(event->tool != STAT_TOOL_NONE ? "ns" : item->unit);
  event->scale = item->scale;
  event->attr = common_copy(item->attr, item->attr->size);
}

static void free_events(stat_events_t *events) {
  size_t i;

  for (i = 0; i < events->nr_events; i++) {
    free((char *)(uintptr_t)events->events[i].label);
    free((char *)(uintptr_t)events->events[i].unit);
    free((void *)(uintptr_t)events->events[i].attr);
  }
  free(events->events);
  events->events = NULL;
  events->nr_events = 0;
}

void stat_events_describe(stat_events_t *events, const stat_options_t *options,
                          const uvperf_set_t *set) {
  size_t nr_groups = options->cgroups.nr > 0 ? options->cgroups.nr : 1, i;

  free_events(events);
  events->has_user_only = 0;
  events->nr_events = nr_groups * events->nr_attrs;
  events->events = common_calloc(events->nr_events, sizeof(*events->events));
  for (i = 0; i < events->nr_events; i++) {
    if (options->cgroups.nr > 0)
      events->events[i].cgroup = options->cgroups.texts[i / events->nr_attrs];
    describe(&events->events[i], options, set, i % events->nr_attrs);
    events->has_user_only |=
        common_list_has_change(set, i % events->nr_attrs, UVPERF_FALLBACK_USER);
  }
}

void stat_events_free(stat_events_t *events) {
  free_events(events);
  uvperf_event_list_free(events->list);
}
