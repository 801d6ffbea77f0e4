/* SPDX-License-Identifier: MIT */
#include "tool_rows.h"

typedef struct row_run_s {
  const char *path;
  const tool_row_t *row;
} row_run_t;

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
  const row_run_t *it = *state;
  const tool_row_t *row = it->row;
  static tool_run_t run;
  char text[2048];

  if (row->need != NULL)
    row->need(row->name);
  run = (tool_run_t){.args = {it->path},
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
}

int tool_rows_main(const char *path, const tool_row_t *rows, size_t nr_rows,
                   const struct CMUnitTest *tests, size_t nr_tests) {
  struct CMUnitTest *all = calloc(nr_rows + nr_tests, sizeof(*all));
  row_run_t *runs = calloc(nr_rows, sizeof(*runs));
  size_t i;
  int rc;

  if (all == NULL || runs == NULL)
    abort();
  for (i = 0; i < nr_rows; i++) {
    runs[i] = (row_run_t){path, &rows[i]};
    all[i].name = rows[i].name;
    all[i].test_func = run_row;
    all[i].initial_state = &runs[i];
  }
  if (nr_tests > 0)
    memcpy(all + nr_rows, tests, nr_tests * sizeof(*all));
  rc = _cmocka_run_group_tests("tests", all, nr_rows + nr_tests, NULL, NULL);
  free(runs);
  free(all);
  return rc;
}
