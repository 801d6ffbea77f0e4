/* SPDX-License-Identifier: MIT */
/* Picks lines of JSON apart, as far as flight-recorder writes them, and looks
 * whether they fit together. Does not know what was to be recorded. */
#include "flight_lines.h"

#include "json_check.h"
#include "json_lines.h"
#include "json_pick.h"
#include "support.h"

#define MAX_CPUS 1024

/* Exactly: a double has no room for all digits. */
static uint64_t pick_time(const char *text, const char *key) {
  unsigned long seconds, ns;
  char pattern[32];
  const char *at;

  snprintf(pattern, sizeof(pattern), "\"%s\":", key);
  at = strstr(text, pattern);
  assert_non_null(at);
  assert_int_equal(sscanf(at + strlen(pattern), "%lu.%9lu", &seconds, &ns), 2);
  return seconds * UINT64_C(1000000000) + ns;
}

static void pick_line(void *element, const char *text) {
  flight_lines_line_t *line = element;

  line->time = pick_time(text, "time");
  json_pick_string(text, "type", line->type, sizeof(line->type));
  json_pick_string(text, "from_comm", line->from_comm, sizeof(line->from_comm));
  json_pick_string(text, "to_comm", line->to_comm, sizeof(line->to_comm));
  line->cpu = json_pick_number(text, "cpu", -2);
  line->from_pid = json_pick_number(text, "from_pid", -2);
  line->from_tid = json_pick_number(text, "from_tid", -2);
  line->to_pid = json_pick_number(text, "to_pid", -2);
  line->to_tid = json_pick_number(text, "to_tid", -2);
  line->preempted = json_pick_number(text, "preempted", -2);
  line->dump = (int)json_pick_number(text, "dump", 0);
  line->number = json_pick_number(text, "switches", -2);
  if (line->number == -2)
    line->number = json_pick_number(text, "lost", -2);
  if (strcmp(line->type, "dump") == 0 || strcmp(line->type, "cpu") == 0)
    line->from = pick_time(text, "from");
}

/* -- what is so in any dump ------------------------------------------------ */

/* From the first line of a dump to the last. */
static size_t check_frame(flight_lines_t *lines, size_t at, int dump) {
  const flight_lines_line_t *first = &lines->lines[at];
  long switches = 0, of_cpus = 0;

  assert_string_equal(first->type, "dump");
  assert_int_equal(first->dump, dump);
  while (++at < lines->nr && strcmp(lines->lines[at].type, "cpu") == 0) {
    lines->lines[at].dump = dump;
    of_cpus += lines->lines[at].number;
  }
  for (; at < lines->nr && strcmp(lines->lines[at].type, "end") != 0; at++) {
    lines->lines[at].dump = dump;
    switches += strcmp(lines->lines[at].type, "switch") == 0;
  }
  assert_true(at < lines->nr);
  assert_int_equal(lines->lines[at].dump, dump);
  assert_int_equal(switches, first->number);
  assert_int_equal(switches, of_cpus);
  return at + 1;
}

/* A task that has no id any more can be anybody. Of process 1 and of idle tasks
 * some kernels that are guests tell what the others say of them. */
static int can_differ(long pid, long tid) {
  return tid < 0 || pid <= 1;
}

static void check_chain(const flight_lines_line_t *last,
                        const flight_lines_line_t *line) {
  if (last->to_tid == line->from_tid || line->from_tid == -2 ||
      can_differ(line->from_pid, line->from_tid) ||
      can_differ(last->to_pid, last->to_tid))
    return;
  print_error("CPU %ld at %lu: %ld came and %ld went\n", line->cpu,
              (unsigned long)line->time, last->to_tid, line->from_tid);
  fail();
}

/* A LOST record is stamped later than the one behind it. */
static void check_order(const flight_lines_t *lines, int dump) {
  const flight_lines_line_t *last[MAX_CPUS] = {NULL}, *line;
  uint64_t youngest = 0;
  size_t i;

  for (i = 0; i < lines->nr; i++) {
    line = &lines->lines[i];
    if (line->dump != dump || line->cpu < 0 ||
        (strcmp(line->type, "switch") != 0 && strcmp(line->type, "lost") != 0))
      continue;
    assert_true(line->cpu < MAX_CPUS);
    if (strcmp(line->type, "lost") == 0) {
      last[line->cpu] = NULL;
      youngest = 0;
      continue;
    }
    assert_true(line->time >= youngest);
    youngest = line->time;
    if (last[line->cpu] != NULL)
      check_chain(last[line->cpu], line);
    last[line->cpu] = line;
  }
}

void flight_lines_read(flight_lines_t *lines, FILE *file) {
  size_t at = 0;
  int dump;

  memset(lines, 0, sizeof(*lines));
  lines->lines = json_lines_read(file, json_is_object, pick_line,
                                 sizeof(lines->lines[0]), &lines->nr);
  while (at < lines->nr)
    at = check_frame(lines, at, ++lines->nr_dumps);
  for (dump = 1; dump <= lines->nr_dumps; dump++)
    check_order(lines, dump);
}

void flight_lines_free(flight_lines_t *lines) {
  free(lines->lines);
}

/* -- questions ------------------------------------------------------------- */

const flight_lines_line_t *flight_lines_dump(const flight_lines_t *lines,
                                             int dump) {
  size_t i = 0;

  while (i < lines->nr && (lines->lines[i].dump != dump ||
                           strcmp(lines->lines[i].type, "dump") != 0))
    i++;
  assert_true(i < lines->nr);
  return &lines->lines[i];
}

const flight_lines_line_t *flight_lines_cpu(const flight_lines_t *lines,
                                            int dump, long cpu) {
  const flight_lines_line_t *line = flight_lines_dump(lines, dump) + 1;

  while (strcmp(line->type, "cpu") == 0 && line->cpu != cpu)
    line++;
  assert_string_equal(line->type, "cpu");
  return line;
}

long flight_lines_count(const flight_lines_t *lines, int dump, long tid,
                        uint64_t from, uint64_t to) {
  const flight_lines_line_t *line;
  long nr = 0;

  for (line = flight_lines_dump(lines, dump) + 1;
       strcmp(line->type, "end") != 0; line++)
    nr += line->from_tid == tid && line->time >= from && line->time <= to;
  return nr;
}
