/* SPDX-License-Identifier: MIT */
/* The labels of attrs that came without names, and of attrs that a fallback
 * changed. They are made when a label is requested, or with the set if its
 * records point to them. Finding the name of a tracepoint means reading all
 * tracepoint ids, so one walk over tracefs serves all attrs. */
#include "evlist/attrs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "attr/attr.h"
#include "host/tracefs.h"
#include "name/label.h"
#include "util/file.h"

/* Makes a label. Returns 0 or -ENOMEM. `tracepoint` is "category:name", or ""
 * if no tracepoint has the attr's id. */
static int label_make(evlist_attr_t *own, const char *tracepoint) {
  char label[UVPERF__LABEL_BYTES];
  size_t size = sizeof(label);

  uvperf__attr_label_known(own->asked, tracepoint, label, &size);
  own->label = uvperf__evlist_copy_text(label);
  if (own->label == NULL)
    return -ENOMEM;
  own->item.label = own->label;
  return 0;
}

static int attr_lacks_label(const evlist_attr_t *own) {
  return own->item.label == own->brief;
}

/* -- tracepoints ----------------------------------------------------------- */

static int attr_needs_tracepoint(const evlist_attr_t *own) {
  return attr_lacks_label(own) && own->asked->type == PERF_TYPE_TRACEPOINT;
}

static int attrs_need_tracepoint(const evlist_attrs_t *attrs) {
  size_t i;

  for (i = 0; i < attrs->nr; i++)
    if (attr_needs_tracepoint(&attrs->at[i]))
      return 1;
  return 0;
}

/* Ends the walk when all names are found, or if out of memory. */
static int label_attrs(const char *category, const char *name, uint64_t id,
                       void *data) {
  const evlist_attrs_t *attrs = data;
  char tracepoint[UVPERF__TRACEPOINT_BYTES];
  int has_found = 0;
  size_t i;

  for (i = 0; i < attrs->nr; i++) {
    if (attrs->at[i].asked->config != id ||
        !attr_needs_tracepoint(&attrs->at[i]))
      continue;
    snprintf(tracepoint, sizeof(tracepoint), "%s:%s", category, name);
    if (label_make(&attrs->at[i], tracepoint) != 0)
      return -ENOMEM;
    has_found = 1;
  }
  return has_found && !attrs_need_tracepoint(attrs);
}

/* Returns 0, or the code of a shortage such as -ENOMEM. After a shortage some
 * names are missing. */
static int label_tracepoints(const uvperf__evlist_t *evlist) {
  int rc = 0;

  if (attrs_need_tracepoint(evlist->attrs))
    rc = uvperf_tracefs_walk(NULL, NULL, label_attrs, evlist->attrs);
  return uvperf__is_shortage(rc) ? rc : 0;
}

/* -- labels of the user's attrs -------------------------------------------- */

int uvperf__evlist_brief_label(evlist_attr_t *own) {
  snprintf(own->brief, sizeof(own->brief), "type=%" PRIu32 ",config=0x%" PRIx64,
           (uint32_t)own->asked->type, (uint64_t)own->asked->config);
  own->item.label = own->brief;
  return own->names_probe ? label_make(own, "") : 0;
}

/* -- labels after fallbacks ------------------------------------------------ */

/* Returns the fallbacks that have made the label wrong. */
static uint32_t label_fallbacks(const evlist_attr_t *own) {
  uint32_t fallbacks = 0;
  size_t i;

  for (i = 0; i < own->nr_changes; i++)
    fallbacks |= own->changes[i].fallback;
  /* The modifier P asks for the highest possible precise_ip, so the label is
   * still right. */
  if (own->item.flags & UVPERF_ITEM_PRECISE_MAX)
    fallbacks &= ~(uint32_t)UVPERF_FALLBACK_PRECISE;
  /* The string of a probe may be gone, so its label is not made again. */
  if (own->names_probe)
    fallbacks &= UVPERF_FALLBACK_USER;
  return fallbacks &
         ~(uint32_t)(UVPERF_FALLBACK_KERNEL | UVPERF_FALLBACK_INHERIT);
}

/* Gives the item the label and unit of the opened event. Returns 0 or -ENOMEM.
 *
 * If only the user side is measured, u is added to the label's modifiers, as
 * perf(1) does. In a tracepoint's label the first colon belongs to the name.
 * After a slash the modifiers need no colon. Breakpoints are excluded, because
 * their access comes after the colon, before the modifiers. */
static int label_make_opened(evlist_attr_t *own, uint32_t fallbacks) {
  char label[UVPERF__LABEL_BYTES];
  size_t size = sizeof(label);
  const char *asked = own->item.label;
  const char *colon = strchr(asked, ':');

  if (fallbacks == UVPERF_FALLBACK_USER &&
      own->attr->type != PERF_TYPE_BREAKPOINT &&
      strlen(asked) + sizeof(":u") <= size) {
    if (own->attr->type == PERF_TYPE_TRACEPOINT && colon != NULL)
      colon = strchr(colon + 1, ':');
    snprintf(label, size, "%s%su", asked,
             colon != NULL || strchr(asked, '/') != NULL ? "" : ":");
  } else if (uvperf_attr_label(own->attr, label, &size) != 0) {
    return -ENOMEM;
  }
  own->opened_label = uvperf__evlist_copy_text(label);
  if (own->opened_label == NULL)
    return -ENOMEM;
  own->item.label = own->opened_label;
  if (fallbacks & UVPERF_FALLBACK_CLOCK) {
    own->item.scale = 1;
    own->item.unit = uvperf__attr_unit(own->attr);
  }
  return 0;
}

/* -- all labels ------------------------------------------------------------ */

static int attr_needs_label(const evlist_attr_t *own) {
  return attr_lacks_label(own) ||
         (own->opened_label == NULL && label_fallbacks(own) != 0);
}

int uvperf__evlist_label(const uvperf__evlist_t *evlist) {
  int first = label_tracepoints(evlist);
  evlist_attr_t *own;
  size_t i;
  int rc;

  for (i = 0; i < evlist->attrs->nr; i++) {
    own = &evlist->attrs->at[i];
    rc = 0;
    if (attr_lacks_label(own) &&
        (first == 0 || own->asked->type != PERF_TYPE_TRACEPOINT))
      rc = label_make(own, "");
    if (!attr_lacks_label(own) && attr_needs_label(own))
      rc = label_make_opened(own, label_fallbacks(own));
    if (first == 0)
      first = rc;
  }
  return first;
}

const uvperf_event_item_t *uvperf__evlist_item(const uvperf__evlist_t *evlist,
                                               size_t attr) {
  if (attr >= evlist->attrs->nr)
    return NULL;
  if (attr_needs_label(&evlist->attrs->at[attr]))
    uvperf__evlist_label(evlist);
  return &evlist->attrs->at[attr].item;
}
