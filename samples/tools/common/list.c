/* SPDX-License-Identifier: MIT */
/* Parses names of events, and explains mistakes in them. Opens no events. */
#include "common/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/options.h"
#include "common/say.h"
#include "common/text.h"

void common_list_add(char **names, const char *text) {
  size_t used = *names == NULL ? 0 : strlen(*names) + 1;
  size_t size = strlen(text) + 1;
  char *all = common_calloc(1, used + size);

  if (used > 0)
    snprintf(all, used + size, "%s,%s", *names, text);
  else
    memcpy(all, text, size);
  free(*names);
  *names = all;
}

/* If a name does not exist, this is the user's mistake. But a lookup that fails
 * now is not the user's mistake. */
int common_list_explain(const char *names, const uvperf_error_t *error) {
  size_t size = strlen(names) + 1;
  int status = COMMON_EXIT_USAGE;
  char *clean;

  if (error->cause == UVPERF_CAUSE_FILES ||
      error->cause == UVPERF_CAUSE_MEMORY ||
      error->cause == UVPERF_CAUSE_PERMISSION)
    status = 1;
  common_say_error(error);
  if (error->column == 0)
    return status;
  clean = common_calloc(1, size);
  common_text_clean(clean, size, names);
  common_say("  %s\n", clean);
  common_say("  %*s\n", (int)error->column, "^");
  free(clean);
  return status;
}

int common_list_parse(uvperf_event_list_t **list, const char *names) {
  uvperf_error_t error;

  if (uvperf_event_list_parse(list, names, &error) == 0)
    return 0;
  return common_list_explain(names, &error);
}

int common_list_label(const struct perf_event_attr *attr, char *label,
                      size_t size) {
  struct perf_event_attr bare;

  uvperf_attr_init(&bare, attr->type, attr->config);
  bare.exclude_user = attr->exclude_user;
  bare.exclude_kernel = attr->exclude_kernel;
  bare.exclude_hv = attr->exclude_hv;
  return uvperf_attr_label(&bare, label, &size);
}

int common_list_has_change(const uvperf_set_t *set, size_t attr,
                           enum uvperf_fallback fallback) {
  size_t nr, i;
  const uvperf_change_t *changes = uvperf_changes(&set->handle, attr, &nr);

  for (i = 0; i < nr; i++) {
    if (changes[i].fallback == fallback)
      return 1;
  }
  return 0;
}

/* A tracepoint's name has a colon of its own, before any modifiers. After a
 * slash, modifiers follow without a colon. */
char *common_list_user_label(const char *label, int is_tracepoint) {
  const char *colon = strchr(label, ':');
  const char *between = ":";
  size_t size = strlen(label) + 3;
  char *user = common_calloc(1, size);

  if (is_tracepoint && colon != NULL)
    colon = strchr(colon + 1, ':');
  if (colon != NULL || strchr(label, '/') != NULL)
    between = "";
  snprintf(user, size, "%s%su", label, between);
  return user;
}
