/* SPDX-License-Identifier: MIT */
/* Says in words what a fallback changed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "uvperf/fallback.h"

#include "attr/attr.h"

/* What the numbers of a change of event stand for; NULL for those that are just
 * numbers. */
static const char *event_name(const uvperf_change_t *change, int is_after) {
  if (change->fallback != UVPERF_FALLBACK_CLOCK)
    return NULL;
  if (change->field == UVPERF_ATTR_TYPE)
    return is_after ? "software" : "hardware";
  if (change->field != UVPERF_ATTR_CONFIG)
    return NULL;
  if (!is_after)
    return "cpu-cycles";
  return change->to == PERF_COUNT_SW_CPU_CLOCK ? "cpu-clock" : "task-clock";
}

static void describe_value(char *text, size_t size,
                           const uvperf_change_t *change, int is_after) {
  unsigned long long value = is_after ? change->to : change->from;
  const char *name = event_name(change, is_after);

  if (name != NULL)
    snprintf(text, size, "%s", name);
  else if (change->field == UVPERF_ATTR_SAMPLE_TYPE ||
           change->field == UVPERF_ATTR_READ_FORMAT ||
           change->field == UVPERF_ATTR_BRANCH_SAMPLE_TYPE)
    snprintf(text, size, "%#llx", value);
  else
    snprintf(text, size, "%llu", value);
}

static const char *reason_of_clock(uint32_t field) {
  switch (field) {
    case UVPERF_ATTR_SAMPLE_PERIOD:
      return "a clock's period is in ns, and this its least here";
    case UVPERF_ATTR_PRECISE_IP:
      return "a clock has none";
    default:
      return "no PMU here can do cycles, a clock can";
  }
}

static const char *reason_of(const uvperf_change_t *change) {
  switch (change->fallback) {
    case UVPERF_FALLBACK_CLOCK:
      return reason_of_clock(change->field);
    case UVPERF_FALLBACK_USER:
      return "the kernel side is not allowed";
    case UVPERF_FALLBACK_PRECISE:
      return "the PMU can do no more";
    case UVPERF_FALLBACK_KERNEL:
      return change->to == 0 ? "this kernel does not know it"
                             : "this kernel does not know the rest";
    default:
      return "?";
  }
}

int uvperf_change_describe(const uvperf_change_t *change, char *text,
                           size_t *size) {
  char from[32], to[32], whole[128];
  size_t room;

  if (change == NULL || size == NULL || (text == NULL && *size != 0))
    return -EINVAL;
  describe_value(from, sizeof(from), change, 0);
  describe_value(to, sizeof(to), change, 1);
  snprintf(whole, sizeof(whole), "%s %s -> %s: %s",
           uvperf__attr_field_name(change->field), from, to, reason_of(change));
  room = *size;
  *size = strlen(whole) + 1;
  if (room < *size)
    return -ENOBUFS;
  memcpy(text, whole, *size);
  return 0;
}
