/* SPDX-License-Identifier: MIT */
/* The table and `go tool pprof -top` of one run show the same numbers. */
#include "go_pprof.h"

#include <math.h>
#include <unistd.h>

typedef struct top_row_s {
  double self, total; /* percent */
  char name[512];
} top_row_t;

/* Finds a row "0.50s 40.00% 40.00%  0.50s 40.00%  name (inline)". The remark
 * after the name is ignored. */
static int find_go_row(const tool_run_t *run, const char *name,
                       top_row_t *row) {
  const char *line = strstr(run->out, "flat%");
  size_t length = strlen(name);

  while (line != NULL && (line = strchr(line, '\n')) != NULL) {
    line++;
    if (sscanf(line, "%*s %lf%% %*s %*s %lf%% %511[^\n]", &row->self,
               &row->total, row->name) == 3 &&
        strncmp(row->name, name, length) == 0 &&
        (row->name[length] == '\0' || row->name[length] == ' '))
      return 1;
  }
  return 0;
}

/* Reads the row `index` of the table. The names begin in the column of their
 * heading. */
static int table_row(const tool_run_t *run, size_t index, top_row_t *row) {
  const char *head = strstr(run->out, "    self "), *line = head;
  size_t column, i;

  assert_non_null(head);
  column = (size_t)(strstr(head, " function") + 1 - head);
  for (i = 0; i <= index && line != NULL; i++)
    line = strchr(line, '\n') + 1;
  if (sscanf(line, "%lf%% %lf%%", &row->self, &row->total) != 2)
    return 0;
  return sscanf(line + column, "%511[^\n]", row->name) == 1;
}

/* pprof prints small numbers with two digits. */
static void expect_equal(const char *name, double table, double go) {
  if (fabs(table - go) > 0.0101 && !(table >= 99.9 && go >= 99.9))
    fail_msg("%s: %.2f %% in the table, %.2f %% in pprof", name, table, go);
}

/* pprof adds up functions of the same name: the loader and the program each
 * have a _start. */
static void expect_same(const tool_run_t *run, const tool_run_t *go) {
  top_row_t row, other;
  size_t i;

  for (i = 0; table_row(run, i, &row); i++) {
    if (strcmp(row.name, "_start") == 0)
      continue;
    if (!find_go_row(go, row.name, &other))
      fail_msg("pprof does not show '%s'\n%s", row.name, go->out);
    expect_equal(row.name, row.self, other.self);
    expect_equal(row.name, row.total, other.total);
  }
  assert_true(i > 5);
}

static void go_pprof_shows_the_table(void **state) {
  char path[] = "/tmp/uvperf-pprof-XXXXXX";
  tool_run_t run = {.args = {PROFILE_PATH, "-F", "997", "-d", "1", "--pprof",
                             path, "--", TARGET_PATH, "read"}};
  tool_run_t go;
  int fd;

  support_need_kernel_side(__func__);
  go_pprof_need(__func__);
  fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  tool_run_exits(&run, 0);
  go_pprof_run(&go, "-top", path);
  tool_run_expect_text(go.out, "File: profile_target\n");
  expect_same(&run, &go);
  unlink(path);
}

static void go_pprof_shows_waits_as_time_off_the_cpu(void **state) {
  char path[] = "/tmp/uvperf-pprof-XXXXXX";
  tool_run_t run = {.args = {PROFILE_PATH, "--off-cpu", "--pprof", path, "--",
                             WAITS_PATH, "pipe", "sleep"}};
  tool_run_t go;
  int fd;

  support_need_kernel_side(__func__);
  go_pprof_need(__func__);
  fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  tool_run_exits(&run, 0);
  go_pprof_run(&go, "-top", path);
  tool_run_expect_text(go.out, "Type: off-cpu\n");
  expect_same(&run, &go);
  go_pprof_run(&go, "-raw", path);
  tool_run_expect_text(go.out, "samples/count off-cpu/nanoseconds[dflt]\n");
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(go_pprof_shows_the_table),
      cmocka_unit_test(go_pprof_shows_waits_as_time_off_the_cpu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
