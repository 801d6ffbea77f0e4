/* SPDX-License-Identifier: MIT */
/* The scripted events of the calling thread. */
#include "scripted_pages.h"

#include "uvperf/attr.h"

/* struct perf_event_mmap_page up to time_mask. */
#define HEAD_SIZE 96

scripted_pages_t user_events;

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

void scripted_pages_count(uint64_t first, uint64_t second, uint64_t ns) {
  fake_event_t *fake;
  uint64_t format;
  size_t i;

  user_events.counts[0] += first;
  user_events.counts[1] += second;
  user_events.now += ns;
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

void scripted_pages_script(void) {
  size_t i;

  fake_kernel_reset();
  memset(&user_events, 0, sizeof(user_events));
  for (i = 0; i < USER_PAGE_EVENTS; i++) {
    user_events.fakes[i] = fake_event_add(70 + i);
    user_events.fakes[i]->on_map = fill_mapped;
    user_events.counts[i] = 1000 * (i + 1);
  }
  fake_on_rdpmc(scripted_rdpmc);
  fake_on_cycles(scripted_cycles);
}

/* The real kernel is asked before any event is scripted. */
int scripted_pages_setup(void **state) {
  fake_kernel_reset();
  uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST);
  scripted_pages_script();
  return 0;
}

void scripted_pages_need(const char *test) {
#if !defined(__x86_64__) && !defined(__i386__) && !defined(__aarch64__)
  support_skip(test, "an architecture with user_page.c's counters");
#endif
  (void)test;
}

void scripted_pages_ask(const char *test, evlist_make_t *make, int group) {
  size_t i;

  scripted_pages_need(test);
  evlist_make(make, USER_PAGE_EVENTS);
  for (i = 0; i < USER_PAGE_EVENTS; i++)
    uvperf_attr_hardware(&make->attrs[i], i);
  if (group)
    evlist_group(make, 0, USER_PAGE_EVENTS);
  evlist_add(make, UVPERF_TARGET_SELF);
  make->options.flags = UVPERF_SET_USER_READ;
}

uvperf__evlist_t *scripted_pages_open(const char *test, int group) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  scripted_pages_ask(test, &make, group);
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist), USER_PAGE_EVENTS);
  return evlist;
}

uvperf_reading_t *scripted_pages_reading(void) {
  uvperf_reading_t *reading;

  assert_int_equal(uvperf_reading_new(&reading), 0);
  return reading;
}

void scripted_pages_assert_total(const uvperf_reading_t *reading, size_t attr,
                                 uint64_t value, uint64_t ns) {
  uvperf_count_t count;

  assert_int_equal(uvperf_reading_total(reading, attr, &count), 0);
  assert_int_equal(count.state, UVPERF_COUNT_COUNTING);
  assert_int_equal(count.code, 0);
  assert_int_equal(count.value, value);
  assert_int_equal(count.time_enabled, ns);
  assert_int_equal(count.time_running, ns);
}

/* Reads, and checks the counts and the number of read(2) calls. */
void scripted_pages_assert_counts(uvperf__evlist_t *evlist, uint64_t first,
                                  uint64_t second, uint64_t ns,
                                  unsigned reads) {
  uvperf_reading_t *reading = scripted_pages_reading();
  unsigned before = fake_count(FAKE_READ);

  assert_int_equal(uvperf__evlist_read(evlist, reading), 0);
  scripted_pages_assert_total(reading, 0, first, ns);
  scripted_pages_assert_total(reading, 1, second, ns);
  assert_int_equal(fake_count(FAKE_READ) - before, reads);
  uvperf_reading_free(reading);
}
