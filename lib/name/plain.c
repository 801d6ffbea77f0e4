/* SPDX-License-Identifier: MIT */
/* Names that need nothing of the system: generic and raw events, numbers, what
 * type=… says, and breakpoints. */
#include "name/build.h"

#include <errno.h>

#include <linux/hw_breakpoint.h>

#include "attr/generic_name.h"

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

/* 1: it is generic or raw; 0: it is not; -errno, explained. */
static int is_generic(const uvperf__event_build_t *build, uint32_t *type,
                      uint64_t *config) {
  uvperf__span_t head = build->text->head;
  char shown[UVPERF__SHOW_BYTES];
  int rc;

  *type = PERF_TYPE_RAW;
  if (uvperf__span_is_raw(head)) {
    rc = uvperf__parse_raw(build->parse, head, config);
    return rc != 0 ? rc : 1;
  }
  rc = uvperf__generic_find(head.at, uvperf__span_length(head), type, config);
  if (rc == -EINVAL)
    return uvperf__parse_fail(build->parse, head.at, -ENOENT,
                              UVPERF_CAUSE_NO_EVENT,
                              "there is no event '%s': this cache has no such "
                              "operation",
                              uvperf__span_show(head, shown));
  return rc == 0;
}

int uvperf__event_build_word(uvperf__event_build_t *build) {
  struct perf_event_attr *attr = &build->event.wide.attr;
  uint64_t config;
  uint32_t type;
  int rc = is_generic(build, &type, &config);

  if (rc < 0)
    return rc;
  if (rc > 0) {
    attr->type = type;
    attr->config = config;
    return uvperf__event_build_finish(build);
  }
  if (build->text->terms.at != NULL)
    return uvperf__event_build_pmu(build);
  rc = uvperf__event_build_alias(build);
  if (rc != 0 || build->is_given)
    return rc;
  rc = uvperf__event_build_perhaps_tracepoint(build);
  if (rc != 0 || build->is_given)
    return rc;
  return uvperf__event_build_unknown(build);
}
