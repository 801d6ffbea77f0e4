/* SPDX-License-Identifier: MIT */
/* Keeps the results. text.c and json.c print them. */
#include "doctor/report.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"

doctor_item_t *doctor_report_add(doctor_report_t *report, const char *group,
                                 const char *key, const char *title,
                                 doctor_result_t result) {
  doctor_item_t *item;

  item = COMMON_ADD(report->items, report->nr, report->capacity);
  item->group = group;
  item->key = key;
  item->title = title;
  item->result = result;
  return item;
}

void doctor_item_number(doctor_item_t *item, int64_t number, const char *unit) {
  item->has_number = 1;
  item->number = number;
  item->unit = unit;
}

void doctor_item_text(doctor_item_t *item, const char *format, ...) {
  va_list args;

  va_start(args, format);
  vsnprintf(item->text, sizeof(item->text), format, args);
  va_end(args);
}

void doctor_report_free(doctor_report_t *report) {
  free(report->items);
  memset(report, 0, sizeof(*report));
}
