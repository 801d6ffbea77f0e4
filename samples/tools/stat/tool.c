/* SPDX-License-Identifier: MIT */
/* Finds the names of times in a list of events, and fills in their lines. */
#include "stat/tool.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/list.h"
#include "common/memory.h"

static const char *const tools[] = {
    [STAT_TOOL_DURATION] = "duration_time",
    [STAT_TOOL_USER] = "user_time",
    [STAT_TOOL_SYSTEM] = "system_time",
};

#define NR_TOOLS (sizeof(tools) / sizeof(tools[0]))

static enum stat_tool tool_named(const char *text, size_t size) {
  size_t i;

  for (i = STAT_TOOL_NONE + 1; i < NR_TOOLS; i++) {
    if (strlen(tools[i]) == size && memcmp(tools[i], text, size) == 0)
      return (enum stat_tool)i;
  }
  return STAT_TOOL_NONE;
}

/* Returns the end of a name. Text between slashes or quotation marks belongs to
 * it. */
static const char *end_of_name(const char *text) {
  char quote = '\0';
  int in_terms = 0;

  for (; *text != '\0'; text++) {
    if (quote != '\0')
      quote = *text == quote ? '\0' : quote;
    else if (*text == '"' || *text == '\'')
      quote = *text;
    else if (*text == '/')
      in_terms = !in_terms;
    else if (!in_terms && strchr(",{} \t\n", *text) != NULL)
      break;
  }
  return text;
}

/* Writes the list of names, with a dummy event in place of each time. With
 * `same_length` all other names keep their positions. Returns how many names
 * are times. */
static size_t put_names(FILE *file, const char *names, int same_length) {
  size_t nr = 0, size;
  enum stat_tool tool;

  while (*names != '\0') {
    size = (size_t)(end_of_name(names) - names);
    tool = tool_named(names, size);
    nr += tool != STAT_TOOL_NONE;
    if (tool == STAT_TOOL_NONE)
      fwrite(names, 1, size == 0 ? 1 : size, file);
    else if (same_length)
      fprintf(file, "%-*s", (int)size, "dummy:u");
    else
      fprintf(file, "dummy/name=%s/u", tools[tool]);
    names += size == 0 ? 1 : size;
  }
  return nr;
}

/* The caller frees the text. */
static char *make_names(const char *names, int same_length, size_t *nr) {
  char *text = NULL;
  size_t size = 0;
  FILE *file = common_memory_open(&text, &size);

  *nr = put_names(file, names, same_length);
  common_memory_close(file);
  return text;
}

/* Modifiers select what the kernel counts. The kernel does not count these
 * times, so a time with modifiers is refused. */
static int refuse_modifiers(const char *names) {
  const char *name = names;
  uvperf_error_t error;
  enum stat_tool tool;
  size_t size, bare;

  while (*name != '\0') {
    size = (size_t)(end_of_name(name) - name);
    bare = strcspn(name, ":/");
    tool = bare < size ? tool_named(name, bare) : STAT_TOOL_NONE;
    if (tool != STAT_TOOL_NONE) {
      memset(&error, 0, sizeof(error));
      error.cause = UVPERF_CAUSE_ARGUMENT;
      error.column = (uint32_t)(name - names + (ptrdiff_t)bare + 1);
      snprintf(
          error.reason, sizeof(error.reason),
          "%s takes no modifiers or terms: this tool measures the time, not "
          "the kernel",
          tools[tool]);
      return common_list_explain(names, &error);
    }
    name += size == 0 ? 1 : size;
  }
  return 0;
}

/* Messages show the names as the user wrote them. */
int stat_tool_parse(uvperf_event_list_t **list, const char *names) {
  uvperf_error_t error;
  char *text;
  size_t nr;
  int rc = refuse_modifiers(names);

  if (rc != 0)
    return rc;
  text = make_names(names, 1, &nr);
  rc = uvperf_event_list_parse(list, text, &error);
  free(text);
  if (rc != 0)
    return common_list_explain(names, &error);
  if (nr == 0)
    return 0;
  uvperf_event_list_free(*list);
  text = make_names(names, 0, &nr);
  rc = common_list_parse(list, text);
  free(text);
  return rc;
}

enum stat_tool stat_tool_of(const uvperf_event_item_t *item) {
  if (item->attr->type != PERF_TYPE_SOFTWARE ||
      item->attr->config != PERF_COUNT_SW_DUMMY)
    return STAT_TOOL_NONE;
  return tool_named(item->label, strlen(item->label));
}

static void fill(stat_line_t *line, enum stat_tool tool,
                 const stat_times_t *times) {
  uint64_t ns = times->elapsed_ns;

  if (tool != STAT_TOOL_DURATION && !times->has_command)
    ns = 0;
  else if (tool == STAT_TOOL_USER)
    ns = times->user_ns;
  else if (tool == STAT_TOOL_SYSTEM)
    ns = times->system_ns;
  memset(&line->count, 0, sizeof(line->count));
  line->count.state = UVPERF_COUNT_NOT_ENABLED;
  if (times->elapsed_ns > 0 &&
      (tool == STAT_TOOL_DURATION || times->has_command)) {
    line->count.state = UVPERF_COUNT_COUNTING;
    line->count.time_enabled = line->count.time_running = times->elapsed_ns;
  }
  line->count.value = line->count.scaled = ns;
  line->count.nr_counts = 1;
  line->mean = (double)ns;
}

void stat_tool_fill(stat_lines_t *lines, const stat_event_t *events,
                    const stat_times_t *times) {
  size_t kept = 0, i, last = SIZE_MAX;
  stat_line_t *line;

  for (i = 0; i < lines->nr; i++) {
    line = &lines->lines[i];
    if (events[line->event].tool != STAT_TOOL_NONE) {
      if (line->event == last)
        continue;
      last = line->event;
      fill(line, events[line->event].tool, times);
    }
    lines->lines[kept++] = *line;
  }
  lines->nr = kept;
}
