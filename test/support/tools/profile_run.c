/* SPDX-License-Identifier: MIT */
/* Picks the table of the profiler apart. Does not know what the right one
 * is. */
#include "profile_run.h"

static int parse_row(const char *line, profile_row_t *row) {
  return sscanf(line, "%lf%% %lf%% %lu %63s %255[^\n]", &row->self, &row->total,
                &row->samples, row->object, row->name) == 5;
}

/* The row'th line of the table; 0 if it has not so many. */
int profile_run_row(const tool_run_t *run, size_t index, profile_row_t *row) {
  const char *line = strstr(run->out, " self ");

  while (line != NULL && (line = strchr(line, '\n')) != NULL) {
    line++;
    if (!parse_row(line, row))
      return 0;
    if (index-- == 0)
      return 1;
  }
  return 0;
}

unsigned long profile_run_samples(const tool_run_t *run) {
  const char *line = strstr(run->out, " samples, ");
  unsigned long samples = 0;

  assert_non_null(line);
  while (line > run->out && line[-1] != '\n')
    line--;
  assert_int_equal(sscanf(line, "%lu samples, ", &samples), 1);
  return samples;
}

int profile_run_is_spin(const tool_run_t *run, const profile_row_t *row) {
  static const char object[] = "profile_target+0x";
  unsigned long start, end, offset;

  if (strcmp(row->object, "profile_target") != 0)
    return 0;
  if (strcmp(row->name, "spin") == 0)
    return 1;
  if (sscanf(run->out, "%lx %lx", &start, &end) != 2 || start >= end ||
      strncmp(row->name, object, sizeof(object) - 1) != 0)
    return 0;
  offset = strtoul(row->name + sizeof(object) - 1, NULL, 16);
  return start <= offset && offset < end;
}

void profile_run_expect_spin(const tool_run_t *run) {
  profile_row_t row = {0};

  if (!profile_run_row(run, 0, &row) || !profile_run_is_spin(run, &row))
    print_error("stdout:\n%s\nstderr:\n%s\n", run->out, run->err);
  assert_true(profile_run_row(run, 0, &row));
  assert_true(profile_run_is_spin(run, &row));
}
