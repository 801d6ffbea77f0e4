/* SPDX-License-Identifier: MIT */
/* Prints names as JSON. */
#include "list/print.h"

#include <inttypes.h>

#include "common/text.h"

static const char *const words[] = {
    [UVPERF_NAME_HARDWARE] = "hardware",
    [UVPERF_NAME_SOFTWARE] = "software",
    [UVPERF_NAME_CACHE] = "cache",
    [UVPERF_NAME_PMU] = "pmu",
    [UVPERF_NAME_TRACEPOINT] = "tracepoint",
};

/* Numbers of 64 bits are strings, because many readers of JSON keep 53 bits. */
static void put_config(FILE *file, const list_name_t *name, const char *key,
                       uint64_t value) {
  char text[32];

  snprintf(text, sizeof(text), "0x%" PRIx64, value);
  common_text_put_member(file, key, name->has_attr ? text : NULL);
}

static void put_bool(FILE *file, const char *key, int value) {
  fprintf(file, ",\"%s\":%s", key, value ? "true" : "false");
}

static void put_name(FILE *file, const list_name_t *name) {
  const uvperf_event_name_t *event = &name->event;
  const char *unit = event->unit;

  fputs("{\"name\":", file);
  common_text_put_json(file, event->name);
  common_text_put_member(file, "alias", event->alias);
  common_text_put_member(file, "kind", words[event->kind]);
  fprintf(file, ",\"type\":%" PRIu32, event->type);
  put_config(file, name, "config", name->attr.config);
  put_config(file, name, "config1", name->attr.config1);
  put_config(file, name, "config2", name->attr.config2);
  common_text_put_member(file, "pmu", event->pmu);
  common_text_put_member(file, "event", event->event);
  common_text_put_member(file, "terms", event->terms);
  common_text_put_member(file, "unit",
                         unit != NULL && unit[0] != '\0' ? unit : NULL);
  fprintf(file, ",\"scale\":%.17g", event->scale);
  common_text_put_member(file, "cpus", event->cpus);
  put_bool(file, "per_package", event->is_per_package);
  put_bool(file, "snapshot", event->is_snapshot);
  put_bool(file, "needs_value", event->needs_value);
  fputc('}', file);
}

size_t list_print_json(const list_names_t *names, FILE *file) {
  size_t nr = 0, i;

  fputc('[', file);
  for (i = 0; i < names->nr; i++) {
    if (!list_names_has(names, &names->names[i]))
      continue;
    fputs(nr++ == 0 ? "\n" : ",\n", file);
    put_name(file, &names->names[i]);
  }
  fputs(nr == 0 ? "]\n" : "\n]\n", file);
  return nr;
}
