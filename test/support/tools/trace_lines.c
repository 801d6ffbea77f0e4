/* SPDX-License-Identifier: MIT */
/* Picks lines of JSON apart, as far as trace writes them. Does not know what
 * the right ones are. */
#include "trace_lines.h"

#include "json_check.h"
#include "json_lines.h"
#include "json_pick.h"

long trace_lines_number(const trace_lines_line_t *line, const char *key) {
  return (long)json_pick_double(line->text, key);
}

static void pick_line(void *element, const char *text) {
  trace_lines_line_t *line = element;

  snprintf(line->text, sizeof(line->text), "%s", text);
  line->time = json_pick_double(text, "time");
  json_pick_string(text, "type", line->type, sizeof(line->type));
  json_pick_string(text, "comm", line->comm, sizeof(line->comm));
  json_pick_string(text, "event", line->event, sizeof(line->event));
  line->pid = json_pick_number(text, "pid", -2);
  line->tid = json_pick_number(text, "tid", -2);
  line->cpu = json_pick_number(text, "cpu", -2);
  line->who = json_pick_number(text, "who", -1);
}

/* A record is late if its CPU stood still while it was written. The lines of a
 * summary have no time. */
static void expect_order(const trace_lines_t *lines) {
  double youngest = 0;
  long late = 0;
  size_t i;

  if (lines->lines[0].time == 0)
    return;
  for (i = 0; i < lines->nr; i++) {
    late += lines->lines[i].time < youngest;
    if (lines->lines[i].time > youngest)
      youngest = lines->lines[i].time;
  }
  assert_int_equal(trace_lines_number(trace_lines_end(lines), "late"), late);
}

void trace_lines_run(trace_lines_t *lines, tool_run_t *run, int status) {
  run->file = tmpfile();
  assert_non_null(run->file);
  tool_run(run);
  tool_run_expect_status(run, status);
  free(lines->lines);
  lines->lines = json_lines_read(run->file, json_is_tree, pick_line,
                                 sizeof(lines->lines[0]), &lines->nr);
  fclose(run->file);
  assert_true(lines->nr > 0);
  assert_string_equal(trace_lines_end(lines)->type, "end");
  expect_order(lines);
}

size_t trace_lines_count(const trace_lines_t *lines, const char *event) {
  size_t i, nr = 0;

  for (i = 0; i < lines->nr; i++)
    nr += strcmp(lines->lines[i].event, event) == 0;
  return nr;
}

const trace_lines_line_t *trace_lines_end(const trace_lines_t *lines) {
  return &lines->lines[lines->nr - 1];
}
