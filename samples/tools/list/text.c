/* SPDX-License-Identifier: MIT */
/* Prints names as text. */
#include "list/print.h"

#include <inttypes.h>
#include <string.h>

#include "common/text.h"

#define MEASURE_COLUMN 52
#define DETAIL_COLUMN  6

/* Enough for the names of real kernels; longer names are cut. */
#define NAME_BYTES 1024

static const char *const headings[] = {
    [UVPERF_NAME_HARDWARE] = "Hardware events",
    [UVPERF_NAME_SOFTWARE] = "Software events",
    [UVPERF_NAME_CACHE] = "Hardware cache events",
    [UVPERF_NAME_PMU] = "Events of PMUs",
    [UVPERF_NAME_TRACEPOINT] = "Tracepoints",
};

/* Describes the unit of a count, its restrictions, and whether it opens. */
static void describe_measure(const list_name_t *name,
                             const list_options_t *options,
                             char text[NAME_BYTES]) {
  const uvperf_event_name_t *event = &name->event;
  char unit[128] = "";
  size_t used = 0;

  if (event->unit != NULL)
    common_text_clean(unit, sizeof(unit), event->unit);
  text[0] = '\0';
  if (unit[0] != '\0' || event->scale != 1)
    used += (size_t)snprintf(text, NAME_BYTES, ", %.17g %s", event->scale,
                             unit[0] != '\0' ? unit : "each");
  if (event->is_per_package)
    used += (size_t)snprintf(text + used, NAME_BYTES - used, ", per package");
  if (event->is_snapshot)
    used += (size_t)snprintf(text + used, NAME_BYTES - used, ", no sum");
  if (name->is_absent && !options->details)
    snprintf(text + used, NAME_BYTES - used, ", does not open here");
}

static void put_name(const list_name_t *name, const list_options_t *options,
                     FILE *file) {
  char clean[NAME_BYTES], alias[NAME_BYTES], measure[NAME_BYTES];
  int width;

  common_text_clean(clean, sizeof(clean), name->event.name);
  width = fprintf(file, "  %s", clean);
  if (name->event.alias != NULL) {
    common_text_clean(alias, sizeof(alias), name->event.alias);
    width += fprintf(file, " OR %s", alias);
  }
  describe_measure(name, options, measure);
  if (measure[0] != '\0')
    fprintf(file, "%*s%s", width < MEASURE_COLUMN ? MEASURE_COLUMN - width : 2,
            "", measure + 2);
  fputc('\n', file);
}

/* Puts type and config in a form that uvperf_attr_parse accepts. */
static void put_attr(const list_name_t *name, FILE *file) {
  static const struct {
    const char *name;
    enum uvperf_attr_field field;
  } fields[] = {
      {"config1", UVPERF_ATTR_CONFIG1},
      {"config2", UVPERF_ATTR_CONFIG2},
      {"config3", UVPERF_ATTR_CONFIG3},
      {"config4", UVPERF_ATTR_CONFIG4},
  };
  uint64_t value;
  size_t i;

  fprintf(file, "%*stype=%" PRIu32, DETAIL_COLUMN, "", name->event.type);
  if (!name->has_attr)
    return;
  fprintf(file, ",config=0x%" PRIx64, (uint64_t)name->attr.config);
  for (i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
    if (uvperf_attr_get(&name->attr, fields[i].field, &value) == 0 &&
        value != 0)
      fprintf(file, ",%s=0x%" PRIx64, fields[i].name, value);
}

static void put_details(const list_name_t *name, FILE *file) {
  char clean[NAME_BYTES], text[NAME_BYTES + 32];

  put_attr(name, file);
  if (name->event.terms != NULL) {
    common_text_clean(clean, sizeof(clean), name->event.terms);
    fprintf(file, "  (%s)", clean);
  }
  if (name->event.cpus != NULL) {
    common_text_clean(clean, sizeof(clean), name->event.cpus);
    fprintf(file, "  on CPUs %s", clean);
  }
  fputc('\n', file);
  if (!name->is_absent)
    return;
  common_text_clean(clean, sizeof(clean), name->reason);
  snprintf(text, sizeof(text), "no: %s", clean);
  fprintf(file, "%*s", DETAIL_COLUMN, "");
  common_words_put(file, DETAIL_COLUMN, DETAIL_COLUMN, text);
}

/* -- groups ---------------------------------------------------------------- */

typedef struct group_s {
  uint32_t kind; /* 0: no group has begun */
  size_t nr;     /* of printed names */
  size_t absent; /* names left out, because they do not open on this machine */
} group_t;

static void end_group(group_t *group, FILE *file) {
  if (group->absent > 0)
    fprintf(file, "  %zu %s not open on this machine: --all lists %s\n",
            group->absent,
            group->nr > 0 ? group->absent == 1 ? "other does" : "others do"
            : group->absent == 1 ? "does"
                                 : "do",
            group->absent == 1 ? "it" : "them");
}

static void begin_group(group_t *group, uint32_t kind, FILE *file) {
  if (group->kind == kind)
    return;
  end_group(group, file);
  fprintf(file, "%s%s\n", group->kind == 0 ? "" : "\n", headings[kind]);
  memset(group, 0, sizeof(*group));
  group->kind = kind;
}

size_t list_print_text(const list_names_t *names, FILE *file) {
  const list_options_t *options = names->options;
  group_t group = {0, 0, 0};
  size_t nr = 0, i;

  for (i = 0; i < names->nr; i++) {
    const list_name_t *name = &names->names[i];

    begin_group(&group, name->event.kind, file);
    if (!list_names_has(names, name)) {
      group.absent++;
      continue;
    }
    put_name(name, options, file);
    if (options->details)
      put_details(name, file);
    group.nr++;
    nr++;
  }
  end_group(&group, file);
  return nr;
}
