/* SPDX-License-Identifier: MIT */
/* Writes names down for people. */
#include "list/print.h"

#include <inttypes.h>

#include "common/text.h"
#include "common/words.h"

#define MEASURE_COLUMN 52
#define DETAIL_COLUMN  6

/* Room for any name that is not of a hostile kernel; others are cut. */
#define NAME_BYTES 1024

static const char *heading_of(uint32_t kind) {
  switch (kind) {
    case UVPERF_NAME_HARDWARE:
      return "Hardware events";
    case UVPERF_NAME_SOFTWARE:
      return "Software events";
    case UVPERF_NAME_CACHE:
      return "Hardware cache events";
    case UVPERF_NAME_PMU:
      return "Events of PMUs";
    default:
      return "Tracepoints";
  }
}

/* What one count is worth, and what is to be known of it. */
static void describe_measure(const list_name_t *name, char text[NAME_BYTES]) {
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
  if (name->answer == LIST_USER)
    snprintf(text + used, NAME_BYTES - used, ", user side only");
}

static void put_name(const list_name_t *name, FILE *file) {
  char clean[NAME_BYTES], alias[NAME_BYTES], measure[NAME_BYTES];
  int width;

  common_text_clean(clean, sizeof(clean), name->event.name);
  width = fprintf(file, "  %s", clean);
  if (name->event.alias != NULL) {
    common_text_clean(alias, sizeof(alias), name->event.alias);
    width += fprintf(file, " OR %s", alias);
  }
  describe_measure(name, measure);
  if (measure[0] != '\0')
    fprintf(file, "%*s%s", width < MEASURE_COLUMN ? MEASURE_COLUMN - width : 2,
            "", measure + 2);
  fputc('\n', file);
}

/* Type and config as uvperf_attr_parse takes them too. */
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

static void put_details(const list_name_t *name, int is_tried, FILE *file) {
  static const char *const answers[] = {"yes", "user side only", "no",
                                        "not tried"};
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
  if (!is_tried)
    return;
  common_text_clean(clean, sizeof(clean),
                    name->reason == NULL ? "" : name->reason);
  snprintf(text, sizeof(text), "%s%s%s", answers[name->answer],
           clean[0] != '\0' ? ": " : "", clean);
  fprintf(file, "%*s", DETAIL_COLUMN, "");
  common_words_put(file, DETAIL_COLUMN, DETAIL_COLUMN, text);
}

static int is_shown(const list_name_t *name, const list_options_t *options) {
  return !options->available || options->details || name->answer == LIST_YES ||
         name->answer == LIST_USER;
}

size_t list_print_text(const list_names_t *names, FILE *file) {
  const list_options_t *options = names->options;
  uint32_t kind = 0;
  size_t nr = 0, i;

  for (i = 0; i < names->nr; i++) {
    const list_name_t *name = &names->names[i];

    if (!is_shown(name, options))
      continue;
    if (name->event.kind != kind)
      fprintf(file, "%s%s\n", nr == 0 ? "" : "\n",
              heading_of(name->event.kind));
    kind = name->event.kind;
    put_name(name, file);
    if (options->details)
      put_details(name, options->available, file);
    nr++;
  }
  return nr;
}
