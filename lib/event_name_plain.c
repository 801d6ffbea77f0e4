/* SPDX-License-Identifier: MIT */
/* Names that need nothing of the system: generic and raw events, numbers, what
 * type=… says, and breakpoints. */
#include "event_name_build.h"

#include <errno.h>
#include <string.h>

#include <linux/hw_breakpoint.h>

#include "event_name_modifier.h"
#include "event_name_term.h"
#include "generic_name.h"
#include "near_miss.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* What perf(1) measures by itself. */
static const char *const tool_events[] = {
    "duration_time", "user_time", "system_time",     "has_pmem",
    "num_cores",     "num_cpus",  "num_cpus_online", "num_dies",
    "num_packages",  "smt_on",    "system_tsc_freq", "core_wide",
    "target_cpu",
};

int uvperf__event_build_numbers(uvperf__event_build_t *build) {
  const uvperf__event_text_t *text = build->text;
  struct perf_event_attr *attr = &build->event.wide.attr;
  uint64_t type, config;
  int rc = uvperf__parse_number(build->parse, text->head, UINT32_MAX, &type);

  if (rc == 0)
    rc = uvperf__parse_number(build->parse, text->tail, UINT64_MAX, &config);
  if (rc != 0)
    return rc;
  attr->type = (uint32_t)type;
  attr->config = config;
  return uvperf__event_build_finish(build);
}

static int read_access(const uvperf__parse_t *parse, uvperf__span_t span,
                       uint32_t *bp_type) {
  const char *at;

  *bp_type = span.at == NULL ? HW_BREAKPOINT_RW : HW_BREAKPOINT_EMPTY;
  for (at = span.at; at < span.end; at++) {
    uint32_t bit = *at == 'r'   ? HW_BREAKPOINT_R
                   : *at == 'w' ? HW_BREAKPOINT_W
                   : *at == 'x' ? HW_BREAKPOINT_X
                                : 0;

    if (bit == 0)
      return uvperf__parse_bad(parse, at,
                               "an access of a breakpoint is one of "
                               "r, w and x, or several; modifiers need a ':'");
    if (*bp_type & bit)
      return uvperf__parse_bad(parse, at, "access '%c' is there twice", *at);
    *bp_type |= bit;
  }
  return 0;
}

int uvperf__event_build_breakpoint(uvperf__event_build_t *build) {
  const uvperf__event_text_t *text = build->text;
  struct perf_event_attr *attr = &build->event.wide.attr;
  uint64_t address, length;
  int rc = uvperf__parse_number(build->parse, text->tail, UINT64_MAX, &address);

  attr->type = PERF_TYPE_BREAKPOINT;
  if (rc == 0)
    rc = read_access(build->parse, text->access, &attr->bp_type);
  length =
      attr->bp_type == HW_BREAKPOINT_X ? sizeof(long) : HW_BREAKPOINT_LEN_4;
  if (rc == 0 && text->length.at != NULL)
    rc = uvperf__parse_number(build->parse, text->length, UINT64_MAX, &length);
  if (rc != 0)
    return rc;
  attr->bp_addr = address;
  attr->bp_len = length;
  return uvperf__event_build_finish(build);
}

static int is_tool_event(uvperf__span_t word) {
  size_t i;

  for (i = 0; i < COUNT_OF(tool_events); i++)
    if (uvperf__span_is(word, tool_events[i]))
      return 1;
  return 0;
}

static int unknown_word(const uvperf__parse_t *parse, uvperf__span_t word) {
  char shown[UVPERF__SHOW_BYTES], meant[UVPERF__MEANT_BYTES];
  uvperf__near_miss_t miss;
  uint32_t type;

  uvperf__span_show(word, shown);
  if (is_tool_event(word))
    return uvperf__parse_fail(parse, word.at, -ENOENT, UVPERF_CAUSE_NO_EVENT,
                              "'%s' is no event of the kernel: perf(1) "
                              "measures it by itself",
                              shown);
  uvperf__near_miss_init(&miss, word.at, uvperf__span_length(word));
  for (type = PERF_TYPE_HARDWARE; type <= PERF_TYPE_HW_CACHE; type++) {
    uvperf__generic_each(type, uvperf__near_miss_each, &miss);
    uvperf__generic_each_alias(type, uvperf__near_miss_each, &miss);
  }
  return uvperf__parse_fail(
      parse, word.at, -ENOENT, UVPERF_CAUSE_NO_EVENT,
      "there is no event '%s'%s%s", shown,
      uvperf__parse_meant(miss.best, meant),
      miss.best[0] == '\0' && memchr(word.at, '.', uvperf__span_length(word))
          ? ": names of the JSON files and metrics of perf(1) are not known "
            "here; write the code, as in cpu/event=0x3c/"
          : "");
}

static int generic_word(const uvperf__event_build_t *build, uint32_t *type,
                        uint64_t *config) {
  uvperf__span_t head = build->text->head;
  char shown[UVPERF__SHOW_BYTES];
  int rc =
      uvperf__generic_find(head.at, uvperf__span_length(head), type, config);

  if (rc == -ENOENT)
    return unknown_word(build->parse, head);
  if (rc == -EINVAL)
    return uvperf__parse_fail(build->parse, head.at, -ENOENT,
                              UVPERF_CAUSE_NO_EVENT,
                              "there is no event '%s': this cache has no such "
                              "operation",
                              uvperf__span_show(head, shown));
  return 0;
}

int uvperf__event_build_word(uvperf__event_build_t *build) {
  struct perf_event_attr *attr = &build->event.wide.attr;
  uint32_t type = PERF_TYPE_RAW;
  uint64_t config;
  int rc;

  if (uvperf__span_is_raw(build->text->head))
    rc = uvperf__parse_raw(build->parse, build->text->head, &config);
  else
    rc = generic_word(build, &type, &config);
  if (rc != 0)
    return rc;
  attr->type = type;
  attr->config = config;
  return uvperf__event_build_finish(build);
}
