/* SPDX-License-Identifier: MIT */
/* Picks lines of JSON apart, as far as watch writes them. Does not know what
 * the right ones are. */
#include "watch_lines.h"

#include "json_check.h"
#include "json_lines.h"
#include "json_pick.h"
#include "support.h"

long watch_lines_number(const watch_lines_line_t *line, const char *key) {
  return json_pick_number(line->text, key, 0);
}

static void pick_line(void *element, const char *text) {
  watch_lines_line_t *line = element;

  snprintf(line->text, sizeof(line->text), "%s", text);
  line->time = json_pick_double(text, "time");
  json_pick_string(text, "type", line->type, sizeof(line->type));
  line->pid = watch_lines_number(line, "pid");
  line->ppid = watch_lines_number(line, "ppid");
  line->tid = watch_lines_number(line, "tid");
  json_pick_string(text, "comm", line->comm, sizeof(line->comm));
  json_pick_string(text, strcmp(line->type, "exec") == 0 ? "exe" : "path",
                   line->path, sizeof(line->path));
}

void watch_lines_read(watch_lines_t *lines, FILE *file) {
  double youngest = 0;
  long late = 0;
  size_t i;

  lines->lines = json_lines_read(file, json_is_tree, pick_line,
                                 sizeof(lines->lines[0]), &lines->nr);
  for (i = 0; i < lines->nr; i++) {
    late += lines->lines[i].time < youngest;
    if (lines->lines[i].time > youngest)
      youngest = lines->lines[i].time;
  }
  assert_true(lines->nr > 0);
  assert_string_equal(lines->lines[lines->nr - 1].type, "end");
  assert_int_equal(watch_lines_number(&lines->lines[lines->nr - 1], "late"),
                   late);
}

void watch_lines_free(watch_lines_t *lines) {
  free(lines->lines);
}

static int is_line(const watch_lines_line_t *line, const char *type, long pid) {
  return line->pid == pid && strcmp(line->type, type) == 0;
}

/* An older process may have had the same pid, but ended before the fork. */
static size_t begin_of(const watch_lines_t *lines, const char *type, long pid) {
  size_t i;

  if (strcmp(type, "fork") == 0)
    return 0;
  for (i = 0; i < lines->nr; i++)
    if (is_line(&lines->lines[i], "fork", pid))
      return i;
  return 0;
}

size_t watch_lines_count(const watch_lines_t *lines, const char *type, long pid,
                         size_t *first) {
  size_t i, nr = 0;

  for (i = begin_of(lines, type, pid); i < lines->nr; i++) {
    if (!is_line(&lines->lines[i], type, pid))
      continue;
    if (nr++ == 0 && first != NULL)
      *first = i;
  }
  return nr;
}

const watch_lines_line_t *watch_lines_one(const watch_lines_t *lines,
                                          const char *type, long pid) {
  size_t i = 0, nr = watch_lines_count(lines, type, pid, &i);

  if (nr != 1)
    print_error("%zu times %s of %ld\n", nr, type, pid);
  assert_int_equal(nr, 1);
  return &lines->lines[i];
}
