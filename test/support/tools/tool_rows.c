/* SPDX-License-Identifier: MIT */
#include "tool_rows.h"

static const char *tool_path;

/* Puts the words of a text into the arguments after the first `nr`. */
static void split(tool_run_t *run, size_t nr, char *text) {
  char *word = text + strspn(text, " ");

  while (*word != '\0') {
    int is_quoted = *word == '\'' || *word == '"';
    char *end = is_quoted ? strchr(word + 1, *word) : word + strcspn(word, " ");

    assert_non_null(end);
    assert_true(nr < TOOL_RUN_ARGS - 1);
    run->args[nr++] = word + is_quoted;
    word = *end == '\0' ? end : end + 1;
    *end = '\0';
    word += strspn(word, " ");
  }
}

static void expect_parts(const char *text, const char *parts) {
  char part[256];
  int size;

  if (parts == NULL)
    return;
  if (*parts == '=') {
    assert_string_equal(text, parts + 1);
    return;
  }
  for (; sscanf(parts, "%255[^|]%n", part, &size) == 1; parts += size) {
    size += parts[size] == '|';
    if (*part == '!' && strstr(text, part + 1) != NULL)
      fail_msg("'%s' in:\n%s", part + 1, text);
    if (*part == '^' && strncmp(text, part + 1, strlen(part + 1)) != 0)
      fail_msg("no '%s' at the start of:\n%s", part + 1, text);
    if (*part != '!' && *part != '^')
      tool_run_expect_text(text, part);
  }
}

static void run_row(void **state) {
  const tool_row_t *row = *state;
  static tool_run_t run;
  char text[2048];

  if (row->need != NULL)
    row->need(row->name);
  run = (tool_run_t){.args = {tool_path},
                     .interrupt_at = row->interrupt_at,
                     .interrupt_with = row->interrupt_with,
                     .prepare = row->prepare,
                     .as_nobody = row->as_nobody};
  assert_true(strlen(row->words) < sizeof(text));
  strcpy(text, row->words);
  split(&run, row->words[0] != '/', text);
  tool_run_exits(&run, row->status);
  expect_parts(run.err, row->err);
  expect_parts(run.out, row->out);
  if (row->check != NULL)
    row->check(&run);
}

int tool_rows_main(const char *path, const tool_row_t *rows, size_t nr_rows,
                   const struct CMUnitTest *tests, size_t nr_tests) {
  tool_path = path;
  return support_run_rows(rows, sizeof(*rows), nr_rows, run_row, tests,
                          nr_tests);
}
