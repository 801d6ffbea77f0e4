/* SPDX-License-Identifier: MIT */
/* Collects names with the library's walk. text.c and json.c choose and print
 * them. */
#include "list/names.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/say.h"

/* -- patterns ------------------------------------------------------------- */

static int is_glob(const char *pattern) {
  return strpbrk(pattern, "*?[") != NULL;
}

static int text_matches(const char *pattern, const char *text) {
  if (text == NULL)
    return 0;
  if (is_glob(pattern))
    return fnmatch(pattern, text, FNM_NOESCAPE | FNM_CASEFOLD) == 0;
  return strcasestr(text, pattern) != NULL;
}

static int name_matches(const char *pattern, const uvperf_event_name_t *event) {
  const char *own = event->event;

  if (event->kind == UVPERF_NAME_TRACEPOINT)
    own = strchr(event->name, ':') + 1;
  return text_matches(pattern, event->name) ||
         text_matches(pattern, event->alias) || text_matches(pattern, own);
}

/* Returns 1 if the event matches the command line. Counts it for all matching
 * patterns. */
static int is_wanted(list_names_t *names, const uvperf_event_name_t *event) {
  const list_options_t *options = names->options;
  int wanted = (options->kinds & event->kind) != 0;
  size_t i;

  for (i = 0; i < options->nr_patterns; i++) {
    if (!name_matches(options->patterns[i], event))
      continue;
    names->nr_of[i]++;
    wanted = 1;
  }
  return wanted;
}

/* -- keeping -------------------------------------------------------------- */

/* The number of strings of an event. The strings belong to the walk, so they
 * are copied. */
#define NR_STRINGS 7

static void strings_of(uvperf_event_name_t *event,
                       const char **strings[NR_STRINGS]) {
  strings[0] = &event->name;
  strings[1] = &event->alias;
  strings[2] = &event->pmu;
  strings[3] = &event->event;
  strings[4] = &event->terms;
  strings[5] = &event->unit;
  strings[6] = &event->cpus;
}

static void keep_strings(list_name_t *name) {
  const char **strings[NR_STRINGS];
  size_t size = 0, length, i;
  char *at;

  strings_of(&name->event, strings);
  for (i = 0; i < NR_STRINGS; i++)
    size += *strings[i] == NULL ? 0 : strlen(*strings[i]) + 1;
  at = name->bytes = common_calloc(size, 1);
  for (i = 0; i < NR_STRINGS; i++) {
    if (*strings[i] == NULL)
      continue;
    length = strlen(*strings[i]) + 1;
    memcpy(at, *strings[i], length);
    *strings[i] = at;
    at += length;
  }
}

static int take(const uvperf_event_name_t *event, void *arg) {
  list_names_t *names = arg;
  list_name_t *name;

  if (!is_wanted(names, event))
    return 0;
  name = COMMON_ADD(names->names, names->nr, names->capacity);
  name->event = *event;
  keep_strings(name);
  /* The walk returns type and config. Only the events of PMUs are parsed,
   * because they have terms. */
  name->has_attr = 1;
  if (event->kind == UVPERF_NAME_PMU)
    name->has_attr =
        uvperf_attr_parse(&name->attr, name->event.name, NULL) == 0;
  else
    uvperf_attr_init(&name->attr, event->type, event->config);
  return 0;
}

/* -- finding -------------------------------------------------------------- */

static void say_unread(uint32_t kind, int code) {
  const char *what =
      kind == UVPERF_NAME_TRACEPOINT ? "tracepoints" : "events of PMUs";
  const char *why = strerror(-code);
  char name[32];

  if (kind == UVPERF_NAME_TRACEPOINT && code == UV_EACCES)
    why = "this user may not read tracefs: run it as root, or as root mount "
          "tracefs with gid=GROUP,mode=750";
  else if (kind == UVPERF_NAME_TRACEPOINT && code == UV_ENODEV)
    why = "tracefs is not mounted; as root: mount -t tracefs tracefs "
          "/sys/kernel/tracing";
  else if (kind == UVPERF_NAME_PMU && code == UV_ENOENT)
    why = "/sys is not mounted, or this kernel has no perf events";
  common_say("cannot read all %s: %s: %s\n", what,
             uv_err_name_r(code, name, sizeof(name)), why);
}

static int compare(const void *one, const void *other) {
  const list_name_t *a = one, *b = other;

  if (a->event.kind != b->event.kind)
    return a->event.kind < b->event.kind ? -1 : 1;
  return strcmp(a->event.name, b->event.name);
}

void list_names_find(list_names_t *names, const list_options_t *options) {
  uint32_t kind;
  int rc;

  memset(names, 0, sizeof(*names));
  names->options = options;
  names->nr_of = common_calloc(options->nr_patterns + 1, sizeof(size_t));
  for (kind = UVPERF_NAME_HARDWARE; kind <= UVPERF_NAME_TRACEPOINT; kind *= 2) {
    if (options->nr_patterns == 0 && (options->kinds & kind) == 0)
      continue;
    rc = uvperf_event_name_walk(NULL, kind, take, names);
    if (rc != 0)
      say_unread(kind, rc);
  }
  if (names->nr > 0)
    qsort(names->names, names->nr, sizeof(*names->names), compare);
}

/* Prints a pattern without matches. The parser suggests a similar name. */
static void say_unmatched(const char *pattern) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  common_say("nothing matches '%s'", pattern);
  if (is_glob(pattern))
    fprintf(stderr, "\n");
  else if (uvperf_attr_parse(&attr, pattern, &error) == 0)
    fprintf(stderr,
            ", but it is an event: type=%" PRIu32 ",config=0x%" PRIx64 "\n",
            attr.type, (uint64_t)attr.config);
  else if (error.cause == UVPERF_CAUSE_NO_EVENT)
    fprintf(stderr, ": %s\n", error.reason);
  else
    fprintf(stderr, "\n");
}

void list_names_say_unmatched(const list_names_t *names) {
  size_t i;

  for (i = 0; i < names->options->nr_patterns; i++)
    if (names->nr_of[i] == 0)
      say_unmatched(names->options->patterns[i]);
}

int list_names_has(const list_names_t *names, const list_name_t *name) {
  return names->options->all || !name->is_absent;
}

void list_names_free(list_names_t *names) {
  size_t i;

  for (i = 0; i < names->nr; i++) {
    free(names->names[i].bytes);
    free(names->names[i].reason);
  }
  free(names->names);
  free(names->nr_of);
  memset(names, 0, sizeof(*names));
}
