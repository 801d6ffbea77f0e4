/* SPDX-License-Identifier: MIT */
/* Parses each kind of branches with the event term branch_type=, which takes
 * one kind. */
#include "record/branches.h"

#include <stdio.h>
#include <string.h>

#include "common/options.h"
#include "uvperf.h"

/* A side alone, such as "u", means any branch on that side. */
static int parse_word(const char *word, size_t length, uint64_t *bits) {
  struct perf_event_attr attr;
  uvperf_error_t error;
  char event[64];

  snprintf(event, sizeof(event), "dummy/branch_type=%.*s/", (int)length, word);
  if (length == 0 || length > 32 || strcspn(word, ":=/{}") < length ||
      uvperf_attr_parse(&attr, event, &error) != 0)
    return -1;
  if (attr.branch_sample_type & PERF_SAMPLE_BRANCH_PLM_ALL)
    attr.branch_sample_type &= PERF_SAMPLE_BRANCH_PLM_ALL;
  *bits |= attr.branch_sample_type;
  return attr.branch_sample_type != 0 ? 0 : -1;
}

int record_branches_parse(const char *text, uint64_t *bits) {
  const char *word = text;
  size_t length;

  *bits = 0;
  for (;; word += length + 1) {
    length = strcspn(word, ",");
    if (parse_word(word, length, bits) != 0)
      return common_options_bad("-j wants kinds of branches such as any_call,u "
                                "(any, any_call, any_ret, ind_call, call, "
                                "cond, u, k, ...: see --help), not '%.*s'",
                                (int)length, word);
    if (word[length] == '\0')
      break;
  }
  if (!(*bits & ~(uint64_t)PERF_SAMPLE_BRANCH_PLM_ALL))
    *bits |= PERF_SAMPLE_BRANCH_ANY;
  return 0;
}
