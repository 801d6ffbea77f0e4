/* SPDX-License-Identifier: MIT */
/* The attrs of an evlist: as the user passed them, as they are opened, and
 * their labels. */
#ifndef UVPERF_LIB_EVLIST_ATTRS_H
#define UVPERF_LIB_EVLIST_ATTRS_H

#include "evlist/internal.h"
#include "ring/bpf_map.h"

/* A form of an attr by which records are decoded. All events that were opened
 * with this form of the attr share it. The shape lives as long as a source of
 * such an event. */
typedef struct evlist_shape_s {
  size_t nr_users;
  struct perf_event_attr *attr;
} evlist_shape_t;

typedef struct evlist_attr_s {
  uvperf_event_item_t item;
  char *label;    /* its own; NULL: the list's, or the brief one */
  char brief[48]; /* type and config, until `label` is made */
  int *cpus;      /* its own; NULL: the list's, or any */
  /* The attr as the user passed it, and as it is opened. Once an event is open,
   * with or without a fallback, all others are opened with the same attr. */
  struct perf_event_attr *asked;
  struct perf_event_attr *attr;
  int is_fixed;
  int is_kept;           /* fixed when the set was made: its label shows it */
  int is_early;          /* a dummy: opened and enabled before others */
  int names_probe;       /* config1 points to the name of a file or function */
  int stays_alone;       /* never inherited: its group has a `names_probe` */
  evlist_shape_t *shape; /* of `attr`; NULL: no event of it writes yet */
  uvperf_change_t *changes;
  size_t nr_changes;
  char *opened_label; /* the item's label after the changes; NULL: not made */
  size_t nr_open;
  size_t end; /* of a leader: one past the last attr of its group */
  /* The filter and the program. Later places get them too. NULL and -1 mean
   * none. */
  char *filter;
  int bpf_fd;
  uint64_t bpf_cookie;
  uvperf__bpf_map_t *map; /* for its events; NULL: none */
  uint32_t nr_entries;    /* of the map, also when it is closed */
  int is_map_filled;      /* the map is kept filled with the events */
} evlist_attr_t;

struct evlist_attrs_s {
  uvperf_event_list_t *list; /* the items point into it; NULL: into `at` */
  evlist_attr_t *at;
  size_t nr;
  size_t has_side_band; /* 1: the last attr is for options.side_band */
  size_t *order;        /* indexes in the order of opening at a place */
  uint8_t *flags;       /* UVPERF__READING_* of each attr */
  uint32_t *next_parts; /* the next part of each attr, as in a reading */
  size_t bytes;         /* the size of the longest attr */
};

/* If `attr` is the first of several parts, returns the next part after `at`.
 * Returns 0 otherwise, and after the last part. */
static inline size_t uvperf__evlist_next_part(const uvperf__evlist_t *evlist,
                                              size_t attr, size_t at) {
  return evlist->attrs->at[attr].item.first == attr
             ? evlist->attrs->next_parts[at]
             : 0;
}

/* Returns one past the last attr that this attr can lead at a place. In a group
 * that is broken up, a member other than the first may lead. */
static inline size_t uvperf__evlist_end(const uvperf__evlist_t *evlist,
                                        size_t leader) {
  return evlist->attrs->at[evlist->attrs->at[leader].item.leader].end;
}

/* -- base.c -- */

/* Fills the error for an option that needs UVPERF_SET_RECORDS, such as
 * "options.ring_bytes". Returns -EINVAL. */
int uvperf__evlist_need_records(const char *what, uvperf_error_t *error);

/* Releases a shape. NULL is allowed. */
void uvperf__evlist_shape_release(evlist_shape_t *shape);

/* Restores the attr as the user passed it, without the changes of fallbacks. */
void uvperf__evlist_attr_restore(evlist_attr_t *attr);

/* -- attr.c -- */

/* Copies the attrs of the options, or of their list. Returns 0, or a code and
 * the error. */
int uvperf__evlist_copy_attrs(uvperf__evlist_t *evlist,
                              const uvperf_set_options_t *options,
                              uvperf_error_t *error);
void uvperf__evlist_free_attrs(uvperf__evlist_t *evlist);

/* The first function allocates nr_attrs attrs. The second allocates the buffers
 * for opening and reading, whose sizes are attr_bytes and words_size. Both
 * return 0 or -ENOMEM. */
int uvperf__evlist_make_attrs(uvperf__evlist_t *evlist);
int uvperf__evlist_make_scratch(uvperf__evlist_t *evlist);

/* Adds PERF_FORMAT_LOST to read_format if this kernel supports it. Finding out
 * needs an event, so call this before the first event is opened. */
void uvperf__evlist_ask_formats(uvperf__evlist_t *evlist);

/* Checks the options for records. Returns 0, or -EINVAL or -E2BIG and the
 * error. */
int uvperf__evlist_check_records(const uvperf_set_options_t *options,
                                 uvperf_error_t *error);

/* Attrs that sample the same software event get each other's fields. Afterwards
 * an attr can have a stack that only another attr asked for. Returns 0, or
 * -EINVAL and the error if an attr has a fault now (uvperf__attr_fault). */
int uvperf__evlist_unify_software(uvperf__evlist_t *evlist,
                                  uvperf_error_t *error);

/* -- sampling.c -- */

/* Checks the options for sampling events by name. Returns 0, or -EINVAL and the
 * error. */
int uvperf__evlist_check_sampling(const uvperf_set_options_t *options,
                                  uvperf_error_t *error);

/* In a set with records, sets the period and the fields of a list's copied
 * attrs, unless the events' names set them. Returns 0, or -EINVAL and the
 * error. */
int uvperf__evlist_sample_names(uvperf__evlist_t *evlist,
                                const uvperf_set_options_t *options,
                                uvperf_error_t *error);

/* -- cores.c -- */

/* Finds the CPUs of attrs if no list has these CPUs. Finds which attrs are
 * parts of one event. Returns 0, or a code and the error. */
int uvperf__evlist_find_cores(uvperf__evlist_t *evlist, uvperf_error_t *error);

/* -- label.c -- */

/* Makes a brief label from type and config, which uvperf__evlist_label
 * replaces. A probe gets its final label at once, because the string that its
 * config1 points to may be gone later. Returns 0 or -ENOMEM. */
int uvperf__evlist_brief_label(evlist_attr_t *own);

/* Makes all labels that are missing, and those of attrs that a fallback has
 * changed. Returns 0, or the code of a shortage. After a shortage some labels
 * are as before. */
int uvperf__evlist_label(const uvperf__evlist_t *evlist);

#endif
