/* SPDX-License-Identifier: MIT */
/* Pages of events of the calling thread, and what read(2) returns for them. */
#ifndef UVPERF_TEST_SCRIPTED_PAGES_H
#define UVPERF_TEST_SCRIPTED_PAGES_H

#include "make_evlist.h"
#include "scripted_row.h"

/* Words of scripted_evlist.h for UVPERF_SET_USER_READ, of e0 and e1:
 *   pages [late]   instead of attrs: two events of hardware, whose pages and
 *                  read(2) return the same counts, from 1000 and 2000; "late":
 *                  each page is read 1 ns after the one before
 *   counted N N NS both count, and time passes; a cycle is a nanosecond
 *   off E          is on no counter: its page has no count
 *   on_counter E
 *   software E     its page never has a count
 *   page E FIELD N the offset, enabled or running of the page */
extern const scripted_verb_t scripted_pages_verbs[];

/* Writes a page as Linux 6 does: for the nr-th event on the counter of this
 * number; for an event that is never on any. */
void scripted_pages_fill_page(struct perf_event_mmap_page *page, size_t nr);
void scripted_pages_fill_software(fake_event_t *fake);

/* Skips the test on an architecture whose counters user_page.c does not
 * know. */
void scripted_pages_need(const char *test);

uvperf_reading_t *scripted_pages_reading(void);

#endif
