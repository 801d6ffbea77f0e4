/* SPDX-License-Identifier: MIT */
/* Two scripted events of the calling thread, whose pages and read(2) return the
 * same count, for tests of UVPERF_SET_USER_READ. */
#ifndef UVPERF_TEST_SCRIPTED_PAGES_H
#define UVPERF_TEST_SCRIPTED_PAGES_H

#include "make_evlist.h"

#define USER_PAGE_EVENTS 2

/* What they have counted, and for how long. A cycle is a nanosecond. */
typedef struct scripted_pages_s {
  fake_event_t *fakes[USER_PAGE_EVENTS];
  uint64_t counts[USER_PAGE_EVENTS];
  uint64_t now;
  int is_off[USER_PAGE_EVENTS]; /* on no counter: the page has no count */
  uint64_t words[USER_PAGE_EVENTS][16];
} scripted_pages_t;

extern scripted_pages_t user_events;

/* A setup that scripts them: they have counted 1000 and 2000. */
int scripted_pages_setup(void **state);
/* The same again, within a test. */
void scripted_pages_script(void);

/* Time passes, both count, and the kernel publishes the counts in both ways. */
void scripted_pages_count(uint64_t first, uint64_t second, uint64_t ns);

/* Writes a page as Linux 6 does: for the nr-th event on the counter of this
 * number; for an event that is never on any. */
void scripted_pages_fill_page(struct perf_event_mmap_page *page, size_t nr);
void scripted_pages_fill_software(fake_event_t *fake);

/* Skips the test on an architecture whose counters user_page.c does not
 * know. */
void scripted_pages_need(const char *test);

/* The request that opens them, with the flag; with `group` the first leads.
 * Begins with scripted_pages_need. */
void scripted_pages_ask(const char *test, evlist_make_t *make, int group);
uvperf__evlist_t *scripted_pages_open(const char *test, int group);

uvperf_reading_t *scripted_pages_reading(void);

/* Asserts that the sum of an attr is this, of an event that counts and is never
 * multiplexed. */
void scripted_pages_assert_total(const uvperf_reading_t *reading, size_t attr,
                                 uint64_t value, uint64_t ns);

/* Reads, and checks the counts and the number of read(2) calls. */
void scripted_pages_assert_counts(uvperf__evlist_t *evlist, uint64_t first,
                                  uint64_t second, uint64_t ns, unsigned reads);

#endif
