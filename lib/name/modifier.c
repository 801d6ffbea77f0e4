/* SPDX-License-Identifier: MIT */
/* Turns modifiers into bits of an attr, by the rules of perf(1)'s
 * parse_events__modifier_list(). Unlike in perf(1), bits without a modifier
 * stay 0: guests are not excluded. */
#include "name/modifier.h"

#include <errno.h>
#include <string.h>

#include "attr/attr.h"

#define MAX_PRECISE 3

static unsigned int modifier_bit(char letter) {
  const char *found =
      memchr(UVPERF__MODIFIERS, letter, sizeof(UVPERF__MODIFIERS) - 1);

  return found == NULL ? sizeof(UVPERF__MODIFIERS) - 1
                       : (unsigned int)(found - UVPERF__MODIFIERS);
}

static int modifier_refuse(const uvperf__parse_t *parse, const char *at) {
  uvperf__span_t letter = {at, at + 1};

  if (strchr("bRX", *at) != NULL)
    return uvperf__parse_bad(
        parse, at, "modifier '%c' is for perf(1) only, not for the kernel",
        *at);
  return uvperf__parse_bad_piece(
      parse, letter,
      "there is no modifier '%s'; use u k h G H I p P S D e or, for groups, W");
}

int uvperf__modifiers_parse(const uvperf__parse_t *parse, uvperf__span_t span,
                            uvperf__modifiers_t *modifiers) {
  const char *at;

  memset(modifiers, 0, sizeof(*modifiers));
  modifiers->at = span.at;
  for (at = span.at; at < span.end; at++) {
    unsigned int i = modifier_bit(*at);

    if (i == sizeof(UVPERF__MODIFIERS) - 1)
      return modifier_refuse(parse, at);
    if (modifiers->nr[i] == (*at == 'p' ? MAX_PRECISE : 1))
      return uvperf__parse_bad(parse, at, "modifier '%c' appears %s", *at,
                               *at == 'p' ? "more than three times" : "twice");
    modifiers->nr[i] += 1;
  }
  return 0;
}

unsigned int uvperf__modifiers_have(const uvperf__modifiers_t *modifiers,
                                    char letter) {
  return modifiers->nr[modifier_bit(letter)];
}

const uvperf__mode_t uvperf__sides[UVPERF__SIDES] = {
    {'u', UVPERF_ATTR_EXCLUDE_USER},
    {'k', UVPERF_ATTR_EXCLUDE_KERNEL},
    {'h', UVPERF_ATTR_EXCLUDE_HV},
};

const uvperf__mode_t uvperf__machines[UVPERF__MACHINES] = {
    {'G', UVPERF_ATTR_EXCLUDE_GUEST},
    {'H', UVPERF_ATTR_EXCLUDE_HOST},
};

/* If a mode is named, all modes are excluded first, unless some are excluded
 * already. Then each named mode is included. */
static void apply_modes(const uvperf__modifiers_t *modifiers,
                        struct perf_event_attr *attr,
                        const uvperf__mode_t *modes, size_t nr) {
  int is_named = 0, is_excluded = 0;
  size_t i;

  for (i = 0; i < nr; i++) {
    is_named |= uvperf__modifiers_have(modifiers, modes[i].letter) != 0;
    is_excluded |= uvperf__attr_value(attr, modes[i].excludes) != 0;
  }
  for (i = 0; i < nr && is_named; i++)
    if (uvperf__modifiers_have(modifiers, modes[i].letter))
      uvperf_attr_set(attr, modes[i].excludes, 0);
    else if (!is_excluded)
      uvperf_attr_set(attr, modes[i].excludes, 1);
}

int uvperf__modifiers_apply_group(const uvperf__parse_t *parse,
                                  const uvperf__modifiers_t *modifiers,
                                  struct perf_event_attr *attr, int is_leader) {
  unsigned int precise =
      attr->precise_ip + uvperf__modifiers_have(modifiers, 'p');

  if (precise > MAX_PRECISE)
    return uvperf__parse_bad(
        parse, modifiers->at,
        "the group and its member together have more than three 'p'");
  apply_modes(modifiers, attr, uvperf__sides, UVPERF__SIDES);
  apply_modes(modifiers, attr, uvperf__machines, UVPERF__MACHINES);
  attr->precise_ip = precise & MAX_PRECISE;
  if (uvperf__modifiers_have(modifiers, 'I'))
    attr->exclude_idle = 1;
  if (is_leader && uvperf__modifiers_have(modifiers, 'D'))
    attr->pinned = 1;
  if (is_leader && uvperf__modifiers_have(modifiers, 'e'))
    attr->exclusive = 1;
  return 0;
}

int uvperf__modifiers_apply(const uvperf__parse_t *parse,
                            const uvperf__modifiers_t *modifiers,
                            struct perf_event_attr *attr) {
  if (uvperf__modifiers_have(modifiers, 'W'))
    return uvperf__parse_bad(parse, modifiers->at,
                             "modifier 'W' is for groups; write {...}:W");
  if (uvperf__modifiers_have(modifiers, 'S'))
    attr->sample_type |= PERF_SAMPLE_READ;
  return uvperf__modifiers_apply_group(parse, modifiers, attr, 1);
}
