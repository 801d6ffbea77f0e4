/* SPDX-License-Identifier: MIT */
/* Turns names into attrs that sample each hit, and looks up their fields. Opens
 * nothing. */
#include "trace/events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buffer.h"
#include "common/list.h"
#include "common/memory.h"
#include "common/say.h"

static int look_for_probe(const uvperf_pmu_t *pmu, void *arg) {
  const struct perf_event_attr *attr = arg;

  return pmu->type == attr->type &&
         (strcmp(pmu->name, "kprobe") == 0 || strcmp(pmu->name, "uprobe") == 0);
}

/* Returns 1 if an event happens at single moments. Other events are counters
 * and clocks, which would stop the machine at a period of 1. */
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

/* Returns 1 if the event is already in the list, because patterns may
 * overlap. */
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
                    const char *filter, int is_summary) {
  struct perf_event_attr *attr;
  trace_event_t *event;

  attr = common_copy(item->attr, item->attr->size);
  if (!is_moment(attr)) {
    free(attr);
    common_say("cannot trace %s: it has no single hits, as tracepoints, "
               "probes,\n"
               "  breakpoints and software events have. uvperf-profile samples "
               "clocks, and\n"
               "  uvperf-stat counts\n",
               item->label);
    return COMMON_EXIT_USAGE;
  }
  sample_each(attr);
  /* The ABI of the registers shows how large `long` is in the task. The numbers
   * of calls depend on this size. The kernel requires at least one register.
   * Each machine has the first register. */
  if (is_summary) {
    attr->sample_type |= PERF_SAMPLE_REGS_USER;
    attr->sample_regs_user = 1;
  }
  if (is_there(events, attr, filter)) {
    free(attr);
    return 0;
  }
  event = COMMON_ADD(events->events, events->nr, events->capacity);
  event->label = item->label;
  event->filter = filter;
  event->attr = attr;
  events->nr_tracepoints += attr->type == PERF_TYPE_TRACEPOINT;
  return 0;
}

static int find_one(const char *category, const char *name, uint64_t id,
                    void *arg) {
  (void)category;
  (void)name;
  (void)id;
  (void)arg;
  return 1;
}

/* Returns 1 if a word is the name or pattern of a system call. If tracefs
 * cannot be read, every word that is not another event counts as a system call.
 * So the error says why tracefs cannot be read, not that there is no such
 * event. */
static int is_call(const char *word, size_t size) {
  struct perf_event_attr attr;
  char pattern[80];
  int rc;

  if (size == 0 || size > 60 || strspn(word, "*?") >= size)
    return 0;
  snprintf(pattern, sizeof(pattern), "sys_enter_%.*s", (int)size, word);
  rc = uvperf_tracefs_walk("syscalls", pattern, find_one, NULL);
  return rc == 1 ||
         (rc < 0 &&
          uvperf_attr_parse(&attr, pattern + strlen("sys_enter_"), NULL) != 0);
}

/* Replaces the name of a call, such as "openat", with the two tracepoints of
 * this call. So users can write names as for perf trace and strace. No other
 * event has such a name. Release the text with free(). */
static char *with_calls(const char *names) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_*?,";
  common_buffer_t whole = {NULL, 0, 0};
  size_t size;

  while (names[strspn(names, letters)] == '\0') {
    size = strcspn(names, ",");
    if (is_call(names, size))
      common_buffer_print(&whole,
                          "syscalls:sys_enter_%.*s,syscalls:sys_exit_%.*s",
                          (int)size, names, (int)size, names);
    else
      common_buffer_add(&whole, names, size);
    names += size;
    if (*names == '\0')
      break;
    common_buffer_add(&whole, names++, 1);
  }
  common_buffer_add(&whole, names, strlen(names) + 1);
  return whole.text;
}

static int add_names(trace_events_t *events, const trace_names_option_t *asked,
                     int is_summary) {
  char *names = with_calls(asked->names);
  uvperf_event_list_t *list;
  size_t i;
  int rc = common_list_parse(&list, names);

  free(names);
  if (rc != 0)
    return rc;
  events->lists[events->nr_lists++] = list;
  for (i = 0; i < uvperf_event_list_count(list); i++) {
    rc = add_item(events, uvperf_event_list_get(list, i), asked->filter,
                  is_summary);
    if (rc != 0)
      return rc;
  }
  return 0;
}

/* Finds names by ids, because a label may be any text (name=). */
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
      common_say("cannot read the fields of %s: %s\n", event->name,
                 error.reason);
      return 1;
    }
  }
  return 0;
}

static const char *without(const char *name, const char *prefix) {
  size_t size = strlen(prefix);

  return strncmp(name, prefix, size) == 0 ? name + size : NULL;
}

/* Matches raw_syscalls:sys_enter, syscalls:sys_enter_read, and the same with
 * exit. */
trace_event_call_t trace_event_find_call(trace_event_t *event) {
  const char *name = event->name == NULL ? "" : event->name;
  const char *raw = without(name, "raw_syscalls:");
  const char *one = raw == NULL ? without(name, "syscalls:") : raw;
  const char *begin = one == NULL ? NULL : without(one, "sys_enter");
  const char *end = one == NULL ? NULL : without(one, "sys_exit");
  const char *rest = begin != NULL ? begin : end;

  if (rest == NULL || rest[0] != (raw != NULL ? '\0' : '_'))
    return TRACE_EVENT_NO_CALL;
  event->nr =
      trace_fields_find(event->fields, raw != NULL ? "id" : "__syscall_nr");
  if (end != NULL)
    event->result = trace_fields_find(event->fields, "ret");
  if (event->nr == NULL || (end != NULL && event->result == NULL)) {
    event->nr = NULL;
    return TRACE_EVENT_NO_CALL;
  }
  event->call = raw != NULL ? NULL : rest + 1;
  return end != NULL ? TRACE_EVENT_END : TRACE_EVENT_BEGIN;
}

/* Checks the events for -s. Returns 0, or an exit status after a message. */
static int find_calls(trace_events_t *events) {
  size_t i, nr_of[3] = {0, 0, 0};

  for (i = 0; i < events->nr; i++) {
    trace_event_call_t call = trace_event_find_call(&events->events[i]);

    nr_of[call]++;
    if (call == TRACE_EVENT_NO_CALL) {
      common_say("-s is for system calls, and %s is not one: leave it out\n",
                 events->events[i].label);
      return COMMON_EXIT_USAGE;
    }
  }
  if (nr_of[TRACE_EVENT_BEGIN] > 0 && nr_of[TRACE_EVENT_END] > 0)
    return 0;
  common_say("-s needs both the begin and the end of system calls: add "
             "sys_enter_* or\n"
             "  sys_exit_*, or write the names of calls, as in -e openat\n");
  return COMMON_EXIT_USAGE;
}

int trace_events_parse(trace_events_t *events, const trace_options_t *options) {
  int rc = 0;
  size_t i;

  memset(events, 0, sizeof(*events));
  events->lists = common_calloc(options->nr_names, sizeof(*events->lists));
  for (i = 0; i < options->nr_names && rc == 0; i++)
    rc = add_names(events, &options->names[i], options->summary);
  if (rc == 0)
    rc = look_up(events);
  return rc == 0 && options->summary ? find_calls(events) : rc;
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
