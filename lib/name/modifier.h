/* SPDX-License-Identifier: MIT */
/* The letters after an event's name, as in "cycles:u". */
#ifndef UVPERF_LIB_NAME_MODIFIER_H
#define UVPERF_LIB_NAME_MODIFIER_H

#include "name/text.h"
#include "uvperf/attr.h"

/* A letter that names a counted mode, and the bit that excludes the mode. */
typedef struct uvperf__mode_s {
  char letter;
  enum uvperf_attr_field excludes;
} uvperf__mode_t;

#define UVPERF__SIDES    3
#define UVPERF__MACHINES 2
extern const uvperf__mode_t uvperf__sides[UVPERF__SIDES];
extern const uvperf__mode_t uvperf__machines[UVPERF__MACHINES];

/* How often each letter occurs. The fields are private. All zero means that
 * there are no modifiers. */
typedef struct uvperf__modifiers_s {
  const char *at; /* their place in the text */
  unsigned char nr[sizeof(UVPERF__MODIFIERS) - 1];
} uvperf__modifiers_t;

/* Reads modifiers. A piece whose `at` is NULL has no modifiers. Returns 0, or
 * fills the error and returns -EINVAL. */
int uvperf__modifiers_parse(const uvperf__parse_t *parse, uvperf__span_t span,
                            uvperf__modifiers_t *modifiers);

/* Returns how often `letter`, one of UVPERF__MODIFIERS, occurs. */
unsigned int uvperf__modifiers_have(const uvperf__modifiers_t *modifiers,
                                    char letter);

/* Applies modifiers to attr, except 'P' and 'W', which do not change it. A
 * group's modifiers are added to the modifiers of its members. Only a leader
 * can be pinned and exclusive: see perf_event_open(2). Returns 0, or fills the
 * error and returns -EINVAL. */
int uvperf__modifiers_apply(const uvperf__parse_t *parse,
                            const uvperf__modifiers_t *modifiers,
                            struct perf_event_attr *attr);
int uvperf__modifiers_apply_group(const uvperf__parse_t *parse,
                                  const uvperf__modifiers_t *modifiers,
                                  struct perf_event_attr *attr, int is_leader);

#endif
