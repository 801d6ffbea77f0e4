/* SPDX-License-Identifier: MIT */
#include "exec_lines.h"

#include "json_check.h"
#include "json_lines.h"
#include "json_pick.h"
#include "support.h"

#include <unistd.h>

void exec_lines_need(const char *test) {
  support_need_root(test);
  support_need_cpu_wide(test);
  support_need_tracepoint(test, "sched:sched_process_exec");
  if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
    support_skip(test, "a kernel with BTF");
}

static void pick_line(void *element, const char *text) {
  exec_line_t *line = element;

  line->text = strdup(text);
  assert_non_null(line->text);
  line->time = json_pick_double(text, "time");
  line->cpu = json_pick_number(text, "cpu", -1);
  line->pid = json_pick_number(text, "pid", -1);
  line->ppid = json_pick_number(text, "ppid", -1);
  line->cut = json_pick_number(text, "cut", 0);
  json_pick_string(text, "type", line->type, sizeof(line->type));
  json_pick_string(text, "comm", line->comm, sizeof(line->comm));
  json_pick_string(text, "filename", line->filename, sizeof(line->filename));
}

static void expect_order(const exec_lines_t *lines) {
  double last[64] = {0};
  size_t i;

  for (i = 0; i < lines->nr; i++) {
    const exec_line_t *line = &lines->lines[i];

    if (strcmp(line->type, "exec") != 0 || line->cpu >= 64)
      continue;
    assert_true(line->cpu >= 0);
    assert_true(line->time >= last[line->cpu]);
    last[line->cpu] = line->time;
  }
}

void exec_lines_read(exec_lines_t *lines, FILE *file) {
  const exec_line_t *last;
  size_t i;

  memset(lines, 0, sizeof(*lines));
  lines->lines = json_lines_read(file, json_is_object, pick_line,
                                 sizeof(lines->lines[0]), &lines->nr);
  assert_true(lines->nr > 0);
  for (i = 0; i < lines->nr; i++) {
    assert_int_equal(strcmp(lines->lines[i].type, "end") == 0,
                     i + 1 == lines->nr);
    if (strcmp(lines->lines[i].type, "lost") == 0)
      lines->lost_in_lines +=
          (uint64_t)json_pick_number(lines->lines[i].text, "lost", -1);
  }
  last = &lines->lines[lines->nr - 1];
  lines->execs = (uint64_t)json_pick_number(last->text, "execs", -1);
  lines->lost = (uint64_t)json_pick_number(last->text, "lost", -1);
  expect_order(lines);
}

void exec_lines_free(exec_lines_t *lines) {
  size_t i;

  for (i = 0; i < lines->nr; i++)
    free(lines->lines[i].text);
  free(lines->lines);
}
