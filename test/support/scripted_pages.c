/* SPDX-License-Identifier: MIT */
/* The scripted events of the calling thread. */
#include "scripted_pages.h"

#include "scripted_evlist_run.h"
#include "scripted_kernel.h"
#include "uvperf/attr.h"

/* struct perf_event_mmap_page up to time_mask. */
#define HEAD_SIZE        96
#define USER_PAGE_EVENTS 2

/* What they have counted, and for how long. A cycle is a nanosecond. */
static struct {
  fake_event_t *fakes[USER_PAGE_EVENTS];
  uint64_t counts[USER_PAGE_EVENTS];
  uint64_t now;
  int is_off[USER_PAGE_EVENTS]; /* on no counter: the page has no count */
  uint64_t words[USER_PAGE_EVENTS][16];
} user_events;

/* Counter n holds what event n has counted beyond 1000 * (n + 1). */
static uint64_t scripted_rdpmc(uint32_t counter) {
  assert_true(counter < USER_PAGE_EVENTS);
  return user_events.counts[counter] - 1000 * (counter + 1);
}

static uint64_t scripted_cycles(void) {
  return user_events.now;
}

void scripted_pages_fill_page(struct perf_event_mmap_page *page, size_t nr) {
  page->cap_bit0_is_deprecated = 1;
  page->size = HEAD_SIZE;
  page->cap_user_rdpmc = 1;
  page->cap_user_time = 1;
  page->pmc_width = 48;
  page->time_mult = 1024;
  page->time_shift = 10;
  page->index = (uint32_t)nr + 1;
  page->offset = 1000 * ((int64_t)nr + 1);
}

static void fill_mapped(fake_event_t *fake) {
  scripted_pages_fill_page(fake->page, fake == user_events.fakes[0] ? 0 : 1);
}

void scripted_pages_fill_software(fake_event_t *fake) {
  fake->page->cap_bit0_is_deprecated = 1;
  fake->page->size = HEAD_SIZE;
}

/* What read(2) returns in this format for one event, or for the group of nr
 * that it leads. */
static size_t put_words(uint64_t *words, uint64_t format, size_t first,
                        size_t members) {
  size_t nr = 0;
  size_t i;

  if (format & PERF_FORMAT_GROUP)
    words[nr++] = members;
  else
    words[nr++] = user_events.counts[first];
  words[nr++] = user_events.now;
  words[nr++] = user_events.now;
  for (i = first; i < first + members; i++) {
    if (format & PERF_FORMAT_GROUP)
      words[nr++] = user_events.counts[i];
    words[nr++] = user_events.fakes[i]->id;
    if (format & UVPERF_FORMAT_LOST)
      words[nr++] = 0;
  }
  return nr * sizeof(uint64_t);
}

/* Time passes, both count, and the kernel publishes the counts in both ways. */
static void do_counted(const step_t *step) {
  fake_event_t *fake;
  uint64_t format;
  size_t i;

  user_events.counts[0] += step_value(step, 1);
  user_events.counts[1] += step_value(step, 2);
  user_events.now += step_value(step, 3);
  for (i = 0; i < USER_PAGE_EVENTS; i++) {
    fake = user_events.fakes[i];
    format = fake->attr.read_format;
    fake->read_data = user_events.words[i];
    fake->read_size =
        put_words(user_events.words[i], format, i,
                  format & PERF_FORMAT_GROUP && fake->group_fd < 0 ? 2 : 1);
    if (fake->page != NULL)
      fake->page->index = user_events.is_off[i] ? 0 : (uint32_t)i + 1;
  }
}

void scripted_pages_need(const char *test) {
#if !defined(__x86_64__) && !defined(__i386__) && !defined(__aarch64__)
  support_skip(test, "an architecture with user_page.c's counters");
#endif
}

uvperf_reading_t *scripted_pages_reading(void) {
  uvperf_reading_t *reading;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  return reading;
}

/* -- the words ------------------------------------------------------------- */

static size_t nr_of(const step_t *step) {
  return kernel_event(step_word(step, 1)) == user_events.fakes[0] ? 0 : 1;
}

/* Each page is read a little later than the one before. */
static uint64_t cycles_that_pass(void) {
  return user_events.now++;
}

static void do_pages(const step_t *step) {
  size_t i;

  evlist_make(&evlist_run.make, USER_PAGE_EVENTS);
  memset(&user_events, 0, sizeof(user_events));
  for (i = 0; i < USER_PAGE_EVENTS; i++) {
    uvperf_attr_hardware(&evlist_run.make.attrs[i], i);
    user_events.fakes[i] = kernel_events[i];
    user_events.fakes[i]->on_map = fill_mapped;
    user_events.counts[i] = 1000 * (i + 1);
  }
  fake_on_rdpmc(scripted_rdpmc);
  fake_on_cycles(step->nr > 1 ? cycles_that_pass : scripted_cycles);
}

static void do_off(const step_t *step) {
  user_events.is_off[nr_of(step)] = step_is(step, 0, "off");
}

static void do_software(const step_t *step) {
  user_events.fakes[nr_of(step)]->on_map = scripted_pages_fill_software;
}

static void do_page(const step_t *step) {
  struct perf_event_mmap_page *page = user_events.fakes[nr_of(step)]->page;

  if (step_is(step, 2, "offset"))
    page->offset = (int64_t)step_value(step, 3);
  else if (step_is(step, 2, "enabled"))
    page->time_enabled = step_value(step, 3);
  else
    page->time_running = step_value(step, 3);
}

const scripted_verb_t scripted_pages_verbs[] = {
    {"pages", do_pages}, {"counted", do_counted},
    {"off", do_off},     {"on_counter", do_off},
    {"page", do_page},   {"software", do_software},
    {NULL, NULL}};
