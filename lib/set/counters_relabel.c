/* SPDX-License-Identifier: MIT */
/* The label and the unit of an attr that was opened with the changes of a
 * fallback: they describe what is measured, not what was asked for. */
#include "set/counters_internal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "name/label.h"
#include "util/alloc.h"

/* Which fallbacks have changed what the label says. */
static uint32_t fallbacks_of(const counter_attr_t *own) {
  uint32_t fallbacks = 0;
  size_t i;

  for (i = 0; i < own->nr_changes; i++)
    fallbacks |= own->changes[i].fallback;
  /* The modifier P asks for the highest precise_ip, whatever it is. */
  if (own->item.flags & UVPERF_ITEM_PRECISE_MAX)
    fallbacks &= ~(uint32_t)UVPERF_FALLBACK_PRECISE;
  /* The string of a probe may be gone, so its label is not made again. */
  if (own->names_probe)
    fallbacks &= UVPERF_FALLBACK_USER;
  return fallbacks & ~(uint32_t)UVPERF_FALLBACK_KERNEL;
}

/* As perf(1) does it: the label with a u among its modifiers. A tracepoint has
 * a colon before it has modifiers; after a slash there is none. */
static void add_user(const counter_attr_t *own, char *label, size_t room) {
  const char *asked = own->item.label;
  const char *colon = strchr(asked, ':');

  if (own->attr->type == PERF_TYPE_TRACEPOINT && colon != NULL)
    colon = strchr(colon + 1, ':');
  snprintf(label, room, "%s%su", asked,
           colon != NULL || strchr(asked, '/') != NULL ? "" : ":");
}

/* Only the user side was added: the label as it was written still fits. The
 * access of a breakpoint comes after its colon, before its modifiers. */
static int is_user_only(const counter_attr_t *own, uint32_t fallbacks) {
  return fallbacks == UVPERF_FALLBACK_USER &&
         own->attr->type != PERF_TYPE_BREAKPOINT &&
         strlen(own->item.label) + sizeof(":u") <= UVPERF__LABEL_BYTES;
}

static int make_label(const uvperf__counters_t *counters, counter_attr_t *own,
                      uint32_t fallbacks) {
  char label[UVPERF__LABEL_BYTES];
  size_t size = sizeof(label);
  int rc = 0;

  if (is_user_only(own, fallbacks))
    add_user(own, label, sizeof(label));
  else
    rc = uvperf__attr_label(counters->root, own->attr, label, &size);
  if (rc != 0)
    return rc;
  size = strlen(label) + 1;
  own->opened_label = uvperf__calloc(1, size);
  if (own->opened_label == NULL)
    return -ENOMEM;
  memcpy(own->opened_label, label, size);
  return 0;
}

const uvperf_event_item_t *
uvperf__counters_opened_item(const uvperf__counters_t *counters,
                             counter_attr_t *own) {
  uint32_t fallbacks = fallbacks_of(own);

  if (fallbacks == 0)
    return &own->item;
  if (own->opened_label == NULL && make_label(counters, own, fallbacks) != 0)
    return &own->item;
  own->opened = own->item;
  own->opened.label = own->opened_label;
  if (fallbacks & UVPERF_FALLBACK_CLOCK) {
    own->opened.scale = 1;
    own->opened.unit = "ns";
  }
  return &own->opened;
}
