/* SPDX-License-Identifier: MIT */
/* Prints a report as text: in groups, aligned, and with lines that fit into a
 * terminal. */
#include "doctor/report.h"

#include <inttypes.h>
#include <string.h>

#include "common/text.h"

#define TITLE_COLUMN 7
#define VALUE_COLUMN 41

static const char *const words[] = {"yes", "no", "?", ""};

static int has_value(const doctor_item_t *item) {
  return item->has_number || item->text[0] != '\0';
}

/* Formats the value; sizes have the largest unit without a fraction. */
static void describe_value(const doctor_item_t *item, char *text, size_t size) {
  static const char *const units[] = {"bytes", "KiB", "MiB", "GiB"};
  int64_t number = item->number;
  size_t unit = 0;

  if (!has_value(item)) {
    snprintf(text, size, "%s", item->result == DOCTOR_FACT ? "not known" : "");
  } else if (!item->has_number) {
    common_text_clean(text, size, item->text);
  } else if (strcmp(item->unit, "bytes") == 0) {
    while (unit < 3 && number != 0 && number % 1024 == 0) {
      number /= 1024;
      unit++;
    }
    snprintf(text, size, "%" PRId64 " %s", number, units[unit]);
  } else {
    snprintf(text, size, "%" PRId64 "%s%s", number,
             item->unit[0] != '\0' ? " " : "", item->unit);
  }
}

/* Returns the reason without the event at its beginning. */
static const char *core_of(const doctor_item_t *item) {
  const char *colon = strstr(item->error.reason, ": ");

  return colon == NULL ? item->error.reason : colon + 2;
}

/* Returns the first item with the same reason and remedy. The first item can be
 * the item itself. So a reason that many items share is printed once. */
static const doctor_item_t *first_alike(const doctor_report_t *report,
                                        const doctor_item_t *item) {
  const doctor_item_t *other;

  for (other = report->items; other < item; other++) {
    if (other->error.code == item->error.code &&
        strcmp(core_of(other), core_of(item)) == 0 &&
        strcmp(other->remedy, item->remedy) == 0)
      break;
  }
  return other;
}

static void put_why(const doctor_item_t *item, FILE *file) {
  char clean[sizeof(item->error.reason)], text[sizeof(clean) + 40];
  char name[32];

  common_text_clean(clean, sizeof(clean), item->error.reason);
  snprintf(text, sizeof(text), "%s: %s",
           uv_err_name_r(item->error.code, name, sizeof(name)), clean);
  fprintf(file, "%*s", TITLE_COLUMN, "");
  common_words_put(file, TITLE_COLUMN, TITLE_COLUMN, text);
  if (item->remedy[0] == '\0')
    return;
  fprintf(file, "%*sremedy: ", TITLE_COLUMN, "");
  common_words_put(file, TITLE_COLUMN + strlen("remedy: "), TITLE_COLUMN,
                   item->remedy);
}

static void put_item(const doctor_report_t *report, const doctor_item_t *item,
                     FILE *file) {
  int is_refused = item->result == DOCTOR_NO || item->result == DOCTOR_UNKNOWN;
  const doctor_item_t *first = is_refused ? first_alike(report, item) : item;
  char value[sizeof(item->text) + sizeof(item->error.reason)], name[32];

  describe_value(item, value, sizeof(value));
  if (first != item)
    snprintf(value + strlen(value), sizeof(value) - strlen(value),
             "%s%s, same as: %s", value[0] != '\0' ? ": " : "",
             uv_err_name_r(item->error.code, name, sizeof(name)), first->title);
  fprintf(file, "  %-3s  ", words[item->result]);
  if (value[0] != '\0') {
    fprintf(file, "%-*s ", VALUE_COLUMN - TITLE_COLUMN - 1, item->title);
    common_words_put(file, VALUE_COLUMN, VALUE_COLUMN, value);
  } else {
    fprintf(file, "%s\n", item->title);
  }
  if (is_refused && first == item)
    put_why(item, file);
}

void doctor_report_print_text(const doctor_report_t *report, FILE *file) {
  size_t nr[DOCTOR_FACT + 1] = {0}, i;

  for (i = 0; i < report->nr; i++) {
    const doctor_item_t *item = &report->items[i];

    if (i == 0 || strcmp(item->group, item[-1].group) != 0)
      fprintf(file, "%s%s\n", i == 0 ? "" : "\n", item->group);
    put_item(report, item, file);
    nr[item->result]++;
  }
  fprintf(file, "\n%zu yes, %zu no, %zu not known\n", nr[DOCTOR_YES],
          nr[DOCTOR_NO], nr[DOCTOR_UNKNOWN]);
}
