/* SPDX-License-Identifier: MIT */
/* Prints a report as JSON: an object with a member for each group. A group is
 * an object with a member for each item. */
#include "doctor/report.h"

#include <inttypes.h>
#include <string.h>

#include "common/text.h"

static const char *const words[] = {"yes", "no", "unknown", ""};

static void put_value(FILE *file, const doctor_item_t *item) {
  if (item->has_number)
    fprintf(file, "%" PRId64, item->number);
  else if (item->text[0] != '\0')
    common_text_put_json(file, item->text);
  else
    fputs("null", file);
}

static void put_why(FILE *file, const doctor_item_t *item) {
  char name[32] = "";

  if (item->error.code != 0)
    uv_err_name_r(item->error.code, name, sizeof(name));
  fprintf(file, ",\"code\":%d", item->error.code);
  common_text_put_member(file, "errno", name);
  common_text_put_member(file, "cause", uvperf_cause_name(item->error.cause));
  common_text_put_member(file, "reason", item->error.reason);
  common_text_put_member(file, "remedy", item->remedy);
}

static void put_item(FILE *file, const doctor_item_t *item) {
  fprintf(file, "\"%s\":", item->key);
  if (item->result == DOCTOR_FACT) {
    put_value(file, item);
    return;
  }
  fprintf(file, "{\"result\":\"%s\"", words[item->result]);
  if (item->has_number || item->text[0] != '\0') {
    fputs(",\"value\":", file);
    put_value(file, item);
  }
  if (item->result != DOCTOR_YES)
    put_why(file, item);
  fputc('}', file);
}

void doctor_report_print_json(const doctor_report_t *report, FILE *file) {
  size_t i;

  for (i = 0; i < report->nr; i++) {
    const doctor_item_t *item = &report->items[i];

    if (i == 0 || strcmp(item->group, item[-1].group) != 0)
      fprintf(file, "%s\"%s\":{", i == 0 ? "{" : "},", item->group);
    else
      fputc(',', file);
    put_item(file, item);
  }
  fputs("}}\n", file);
}
