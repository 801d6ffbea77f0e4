/* SPDX-License-Identifier: MIT */
/* A list without allocation: each member has a link, and the list is a link
 * too. */
#ifndef UVPERF_LIB_LOOP_LINK_H
#define UVPERF_LIB_LOOP_LINK_H

typedef struct uvperf__link_s {
  struct uvperf__link_s *next;
  struct uvperf__link_s *prev;
} uvperf__link_t;

/* An empty list, or a member of no list. */
static inline void uvperf__link_init(uvperf__link_t *link) {
  link->next = link->prev = link;
}

static inline int uvperf__link_is_alone(const uvperf__link_t *link) {
  return link->next == link;
}

/* Adds a link, which is alone, to the end of a list. */
static inline void uvperf__link_add(uvperf__link_t *list,
                                    uvperf__link_t *link) {
  link->next = list;
  link->prev = list->prev;
  list->prev->next = link;
  list->prev = link;
}

/* Takes a link out of its list, if it is in one. */
static inline void uvperf__link_remove(uvperf__link_t *link) {
  link->prev->next = link->next;
  link->next->prev = link->prev;
  uvperf__link_init(link);
}

#endif
