/* SPDX-License-Identifier: MIT */
#include "common/failures.h"

#include <errno.h>
#include <stdio.h>

#include "common/say.h"
#include "common/text.h"

/* How many missing targets, children, or probes without children, are
 * reported. */
#define MAX_TARGETS 8

/* Returns 1 if a target that the user named does not exist. Returns 0 if only
 * one of its threads is missing. */
static int is_of_target(const common_ids_t *pids, const common_ids_t *tids,
                        const uvperf_set_failure_t *failure) {
  if (failure->pid < 0)
    return failure->cpu < 0;
  return failure->error.cause == UVPERF_CAUSE_NO_TASK &&
         (common_ids_has(pids, failure->pid) ||
          common_ids_has(tids, failure->pid));
}

/* A target has the same failures for each event, so each target is reported
 * once. */
void common_failures_missing(const uvperf_set_t *set, const common_ids_t *pids,
                             const common_ids_t *tids) {
  const uvperf_set_failure_t *list;
  uint32_t last = UINT32_MAX;
  size_t nr, reported = 0, i;

  list = uvperf_set_failures(set, &nr);
  for (i = 0; i < nr; i++) {
    if (!is_of_target(pids, tids, &list[i]) ||
        list[i].error.target_index == last)
      continue;
    last = list[i].error.target_index;
    if (reported++ < MAX_TARGETS)
      common_say_error(&list[i].error);
  }
  if (reported > MAX_TARGETS)
    common_say("and %zu more targets do not exist\n", reported - MAX_TARGETS);
}

void common_failures_left_out(const common_ids_t *pids) {
  common_ids_t tree = {NULL, 0, 0};
  size_t i, nr = 0;

  if (pids->nr > 0)
    common_tree_of(&tree, pids);
  for (i = 0; i < tree.nr && nr <= MAX_TARGETS; i++) {
    if (common_ids_has(pids, tree.ids[i]))
      continue;
    if (nr == 0)
      common_say("children that run already are left out; to add them: -p ");
    if (nr++ == MAX_TARGETS)
      fprintf(stderr, ",...");
    else
      fprintf(stderr, "%s%d", nr == 1 ? "" : ",", tree.ids[i]);
  }
  if (nr > 0)
    fputc('\n', stderr);
  common_ids_free(&tree);
}

void common_failures_privileges(const char *what, const char *verb) {
  const char *tool = program_invocation_short_name;

  common_say("%s needs root, CAP_PERFMON or\n"
             "  kernel.perf_event_paranoid <= 0. If it is at most 2, you can "
             "%s\n"
             "  without privileges:\n"
             "    %s -- command...   a command of your own\n"
             "    %s -p PID          a process of your own\n"
             "  Try '%s --help'.\n",
             what, verb, tool, tool, tool);
}

void common_failures_changes(const uvperf_set_t *set, size_t attr,
                             const char *label) {
  const uvperf_change_t *changes;
  size_t nr, i, size;
  char text[512];

  changes = uvperf_changes(&set->handle, attr, &nr);
  for (i = 0; i < nr; i++) {
    size = sizeof(text);
    if (uvperf_change_describe(&changes[i], text, &size) == 0)
      common_say_of(label, text);
  }
}

void common_failures_children(const uvperf_set_t *set) {
  const uvperf_change_t *changes;
  size_t nr, reported = 0, attr, i, size;
  char text[128];

  for (attr = 0; attr < uvperf_set_nr_attrs(set); attr++) {
    changes = uvperf_changes(&set->handle, attr, &nr);
    for (i = 0; i < nr; i++) {
      size = sizeof(text);
      if (changes[i].fallback == UVPERF_FALLBACK_INHERIT &&
          uvperf_change_describe(&changes[i], text, &size) == 0 &&
          reported++ < MAX_TARGETS)
        common_say_of(uvperf_set_item(set, attr)->label, text);
    }
  }
  if (reported > MAX_TARGETS)
    common_say("and %zu more probes do not measure children\n",
               reported - MAX_TARGETS);
}

void common_failures_all(const uvperf_set_t *set) {
  const uvperf_set_failure_t *list;
  size_t nr, i;

  list = uvperf_set_failures(set, &nr);
  for (i = 0; i < nr; i++)
    common_say_of(uvperf_set_item(set, list[i].error.attr_index)->label,
                  list[i].error.reason);
  for (i = 0; i < uvperf_set_nr_attrs(set); i++)
    common_failures_changes(set, i, uvperf_set_item(set, i)->label);
}
