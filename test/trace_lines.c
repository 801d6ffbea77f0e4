/* SPDX-License-Identifier: MIT */
/* Picks lines of JSON apart, as far as trace writes them. Does not know what
 * the right ones are. */
#include "trace_lines.h"

#include "json_check.h"
#include "json_pick.h"

long trace_lines_number(const trace_lines_line_t *line, const char *key) {
  return (long)json_pick_double(line->text, key);
}

static void parse(trace_lines_line_t *line, const char *text) {
  snprintf(line->text, sizeof(line->text), "%s", text);
  if (!json_is_tree(text))
    print_error("no JSON: %s\n", text);
  assert_true(json_is_tree(text));
  line->time = json_pick_double(text, "time");
  json_pick_string(text, "type", line->type, sizeof(line->type));
  json_pick_string(text, "comm", line->comm, sizeof(line->comm));
  json_pick_string(text, "event", line->event, sizeof(line->event));
  line->pid = json_pick_number(text, "pid", -2);
  line->tid = json_pick_number(text, "tid", -2);
  line->cpu = json_pick_number(text, "cpu", -2);
  line->who = json_pick_number(text, "who", -1);
}

static void read_all(trace_lines_t *lines, FILE *file) {
  size_t size = 0, capacity = 0;
  char *text = NULL;

  memset(lines, 0, sizeof(*lines));
  rewind(file);
  while (getline(&text, &size, file) > 0) {
    if (lines->nr == capacity) {
      capacity = capacity == 0 ? 1024 : 2 * capacity;
      lines->lines = realloc(lines->lines, capacity * sizeof(*lines->lines));
      assert_non_null(lines->lines);
    }
    parse(&lines->lines[lines->nr++], text);
  }
  free(text);
}

static void expect_order(const trace_lines_t *lines) {
  double youngest = 0;
  long late = 0;
  size_t i;

  for (i = 0; i < lines->nr; i++) {
    late += lines->lines[i].time < youngest;
    if (lines->lines[i].time > youngest)
      youngest = lines->lines[i].time;
  }
  assert_int_equal(late, 0);
  assert_int_equal(trace_lines_number(trace_lines_end(lines), "late"), 0);
}

void trace_lines_run(trace_lines_t *lines, sample_run_t *run, int status) {
  run->file = tmpfile();
  assert_non_null(run->file);
  sample_run(run);
  sample_run_expect_status(run, status);
  read_all(lines, run->file);
  fclose(run->file);
  assert_true(lines->nr > 0);
  assert_string_equal(trace_lines_end(lines)->type, "end");
  expect_order(lines);
}

void trace_lines_free(trace_lines_t *lines) {
  free(lines->lines);
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
