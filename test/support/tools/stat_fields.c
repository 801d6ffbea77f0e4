/* SPDX-License-Identifier: MIT */
/* Reads lines of fields. Does not know quotation marks: the names of events
 * that the tests count have none. */
#include "stat_fields.h"

static void split(stat_fields_t *line, char separator) {
  char *at = line->text;

  line->nr = 0;
  while (at != NULL && line->nr < 16) {
    line->field[line->nr++] = at;
    at = strchr(at, separator);
    if (at != NULL)
      *at++ = '\0';
  }
}

int stat_fields_line(const char *text, char separator, size_t least,
                     size_t index, stat_fields_t *line) {
  size_t size;

  for (; *text != '\0'; text += size + (text[size] == '\n')) {
    size = strcspn(text, "\n");
    snprintf(line->text, sizeof(line->text), "%.*s", (int)size, text);
    split(line, separator);
    if (line->nr >= least && index-- == 0)
      return 1;
  }
  return 0;
}

uint64_t stat_fields_sum(const char *text, const char *event, size_t before) {
  stat_fields_t line;
  uint64_t sum = 0;
  size_t found = 0, i;
  char *end;

  for (i = 0; stat_fields_line(text, ',', before + 7, i, &line); i++) {
    if (strcmp(line.field[before + 2], event) != 0)
      continue;
    /* An interval in which the task did not run has no count. */
    if (before > 0 && strcmp(line.field[before], "<not counted>") == 0)
      continue;
    sum += strtoull(line.field[before], &end, 10);
    if (end == line.field[before] || *end != '\0')
      print_error("'%s' is no count of %s:\n%s\n", line.field[before], event,
                  text);
    assert_true(end != line.field[before] && *end == '\0');
    found++;
  }
  if (found == 0)
    print_error("no count of %s in:\n%s\n", event, text);
  assert_true(found > 0);
  return sum;
}

uint64_t stat_fields_value(const char *text, const char *event) {
  return stat_fields_sum(text, event, 0);
}
