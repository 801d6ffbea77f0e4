/* SPDX-License-Identifier: MIT */
#include "record/values.h"

#include <stdlib.h>
#include <strings.h>
#include <time.h>
#include <stdio.h>
#include <string.h>

#include "common/options.h"
#include "uvperf.h"

/* The clocks that the kernel accepts, with their names in perf(1)'s
 * util/clockid.c. */
static const struct {
  const char *name;
  int clock;
} names[] = {
    {"monotonic", CLOCK_MONOTONIC},
    {"monotonic_raw", CLOCK_MONOTONIC_RAW},
    {"realtime", CLOCK_REALTIME},
    {"boottime", CLOCK_BOOTTIME},
    {"tai", CLOCK_TAI},
    {"mono", CLOCK_MONOTONIC},
    {"raw", CLOCK_MONOTONIC_RAW},
    {"real", CLOCK_REALTIME},
    {"boot", CLOCK_BOOTTIME},
};

static int find(const char *text) {
  const char *name = strncasecmp(text, "CLOCK_", 6) == 0 ? text + 6 : text;
  char *end;
  long number;
  size_t i;

  for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    if (strcasecmp(names[i].name, name) == 0)
      return names[i].clock;
  }
  number = strtol(text, &end, 10);
  return *text >= '0' && *text <= '9' && *end == '\0' && number <= INT16_MAX
             ? (int)number
             : -1;
}

int record_clock_parse(void *arg, const char *text) {
  struct timespec resolution;
  int *clock = arg;

  *clock = find(text);
  if (*clock >= 0 && clock_getres(*clock, &resolution) == 0)
    return 0;
  return common_options_bad("-k wants monotonic, monotonic_raw, realtime, "
                            "boottime, tai, or the number of a clock, not "
                            "'%s'",
                            text);
}

static int now(int clock, uint64_t *time) {
  struct timespec moment;

  if (clock_gettime(clock, &moment) != 0)
    return -1;
  *time = (uint64_t)moment.tv_sec * 1000000000 + (uint64_t)moment.tv_nsec;
  return 0;
}

/* Reads the clock before and after the time of day. For the monotonic clock,
 * uses a better function of the library. */
int record_clock_pair(int clock, uint64_t *time, uint64_t *realtime) {
  uvperf_clock_pair_t pair;
  uint64_t after;

  if (clock == CLOCK_MONOTONIC) {
    if (uvperf_clock_pair(&pair) != 0)
      return -1;
    *time = pair.monotonic;
    *realtime = pair.realtime;
    return 0;
  }
  if (now(clock, time) != 0 || now(CLOCK_REALTIME, realtime) != 0 ||
      now(clock, &after) != 0)
    return -1;
  *time += (after - *time) / 2;
  return 0;
}

/* -- branches -------------------------------------------------------------- */

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

int record_branches_parse(void *arg, const char *text) {
  const char *word = text;
  uint64_t *bits = arg;
  size_t length;

  if (*bits != 0)
    return common_options_bad("choose one of -b and -j, once");
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
