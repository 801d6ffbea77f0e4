/* SPDX-License-Identifier: MIT */
/* The user page of an event: pages written here, with scripted counters,
 * because few machines let programs read real ones. */
#include "scripted_pages.h"

#include "ring/user_page.h"

/* Where headers before Linux 5.12 have no names. */
#define SHORT_BIT      0x20
#define TIME_CYCLES_AT 80
#define TIME_MASK_AT   88
#define HEAD_SIZE      96
/* Its size there: up to the reserved bytes after `size`. */
#define OLD_HEAD_SIZE 76

#define INTEL_FIXED 0x40000000u

/* The page, the counter and its clock. */
static struct {
  union {
    struct perf_event_mmap_page page;
    uint8_t bytes[4096];
  };
  uint64_t pmc;
  uint64_t cycles;
  uint32_t counter; /* the last that was read */
  unsigned changes; /* the kernel writes the page so often, at each read */
  void (*change)(void);
} fixture;

static void change_page(void) {
  if (fixture.changes == 0 || fixture.change == NULL)
    return;
  fixture.changes--;
  fixture.page.lock++;
  fixture.change();
  fixture.page.lock++;
}

static uint64_t scripted_rdpmc(uint32_t counter) {
  uint64_t pmc = fixture.pmc;

  fixture.counter = counter;
  change_page();
  return pmc;
}

static uint64_t scripted_cycles(void) {
  return fixture.cycles;
}

static void put(size_t at, uint64_t value) {
  memcpy(fixture.bytes + at, &value, sizeof(value));
}

/* As Linux 6 writes it for an event on counter 2, at 1 GHz, with the times of
 * cycle 1000. */
static void fill_page(struct perf_event_mmap_page *page) {
  page->lock = 8;
  page->index = 3;
  page->offset = 5000;
  page->time_enabled = 700;
  page->time_running = 600;
  page->cap_bit0_is_deprecated = 1;
  page->cap_user_rdpmc = 1;
  page->cap_user_time = 1;
  page->pmc_width = 48;
  page->time_shift = 10;
  page->time_mult = 1024;
  page->time_offset = (uint64_t)-1000;
  page->size = HEAD_SIZE;
}

static int setup(void **state) {
  fake_kernel_reset();
  memset(&fixture, 0, sizeof(fixture));
  fill_page(&fixture.page);
  fixture.pmc = 42;
  fixture.cycles = 1000;
  fake_on_rdpmc(scripted_rdpmc);
  fake_on_cycles(scripted_cycles);
  return 0;
}

static uvperf__user_count_t read_page(void) {
  uvperf__user_count_t count = {1, 2, 3};

  assert_int_equal(uvperf__user_page_read(&fixture.page, &count), 0);
  return count;
}

/* Only read(2) can return the count, and nothing is written. */
static void assert_refused(void) {
  uvperf__user_count_t count = {1, 2, 3};

  assert_int_equal(uvperf__user_page_read(&fixture.page, &count), -EAGAIN);
  assert_int_equal(count.value, 1);
  assert_int_equal(count.enabled, 2);
  assert_int_equal(count.running, 3);
}

/* For comparisons with integers of 128 bits, which 32-bit compilers lack. */
#ifdef __SIZEOF_INT128__
/* From one seed, so that a failure is repeatable: Knuth's MMIX. */
static uint64_t next_random(void) {
  static uint64_t seed = 20240229;
  uint64_t high;

  seed = seed * 6364136223846793005u + 1442695040888963407u;
  high = seed >> 32;
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return high << 32 | seed >> 32;
}
#endif

static void read_adds_the_counter_to_the_offset(void **state) {
  scripted_pages_need(__func__);
  assert_int_equal(read_page().value, 5042);
  assert_int_equal(fixture.counter, 2);
  assert_int_equal(fake_count(FAKE_RDPMC), 1);
}

static void read_extends_a_counter_below_zero_by_its_width(void **state) {
  static const uint16_t widths[] = {32, 40, 48, 64};
  size_t i;

  scripted_pages_need(__func__);
  for (i = 0; i < COUNT_OF(widths); i++) {
    fixture.page.pmc_width = widths[i];
    fixture.pmc = (uint64_t)-5 << (64 - widths[i]) >> (64 - widths[i]);
    assert_int_equal(read_page().value, 4995);
    /* Bits above the width do not belong to the counter. */
    fixture.pmc = (uint64_t)-5;
    assert_int_equal(read_page().value, 4995);
    fixture.pmc = ((uint64_t)1 << (widths[i] - 1)) - 1;
    assert_true(read_page().value == 5000 + fixture.pmc);
  }
  fixture.page.pmc_width = 48;
  fixture.pmc = 7 | (uint64_t)0xabcd << 48;
  assert_int_equal(read_page().value, 5007);
}

static void read_with_an_offset_below_zero_wraps(void **state) {
  scripted_pages_need(__func__);
  fixture.page.offset = -40;
  assert_int_equal(read_page().value, 2);
  fixture.page.offset = INT64_MAX;
  assert_true(read_page().value == (uint64_t)INT64_MAX + 42);
}

#ifdef __SIZEOF_INT128__
static void read_of_every_width_equals_exact_arithmetic(void **state) {
  __extension__ typedef __int128 wide_t;
  unsigned width;
  wide_t exact;
  int i;

  scripted_pages_need(__func__);
  for (i = 0; i < 6400; i++) {
    width = (unsigned)i % 64 + 1;
    fixture.page.pmc_width = (uint16_t)width;
    fixture.page.offset = (int64_t)next_random();
    fixture.pmc = next_random();
    exact = fixture.pmc % ((wide_t)1 << width);
    if (exact >= (wide_t)1 << (width - 1))
      exact -= (wide_t)1 << width;
    exact += fixture.page.offset;
    assert_true(read_page().value == (uint64_t)exact);
  }
}
#endif

static void read_brings_both_times_up_to_now(void **state) {
  uvperf__user_count_t count;

  scripted_pages_need(__func__);
  fixture.cycles = 1250;
  count = read_page();
  assert_int_equal(count.enabled, 950);
  assert_int_equal(count.running, 850);
}

#ifdef __SIZEOF_INT128__
static void read_scales_the_clock_as_exact_arithmetic_does(void **state) {
  __extension__ typedef unsigned __int128 wide_t;
  uint64_t since;
  uint64_t exact;
  int i;

  scripted_pages_need(__func__);
  for (i = 0; i < 6400; i++) {
    fixture.cycles = next_random() >> (next_random() % 64);
    fixture.page.time_shift = (uint16_t)(i % 64);
    fixture.page.time_mult = (uint32_t)next_random() | 1;
    since = next_random() >> 2;
    exact = (uint64_t)((wide_t)fixture.cycles * fixture.page.time_mult >>
                       fixture.page.time_shift);
    fixture.page.time_offset = since - exact;
    assert_true(read_page().enabled == 700 + since);
  }
}
#endif

static void read_of_a_short_clock_that_wrapped_goes_on(void **state) {
  scripted_pages_need(__func__);
  fixture.bytes[40] |= SHORT_BIT;
  put(TIME_CYCLES_AT, 0x7fffffff0);
  put(TIME_MASK_AT, 0xffffffff);
  fixture.page.time_offset = (uint64_t)-0x7fffffff0;
  fixture.cycles = 0x10; /* 0x20 later, in 32 bits */
  assert_int_equal(read_page().enabled, 700 + 0x20);
  fixture.cycles = 0xabc00000010;
  assert_int_equal(read_page().running, 600 + 0x20);
}

static void read_of_an_older_page_ignores_later_fields(void **s) {
  scripted_pages_need(__func__);
  fixture.page.size = OLD_HEAD_SIZE;
  put(TIME_CYCLES_AT, UINT64_MAX);
  put(TIME_MASK_AT, 1);
  fixture.cycles = 1250;
  assert_int_equal(read_page().enabled, 950);
}

static void move_to_another_counter(void) {
  fixture.page.index = 5;
  fixture.page.offset = 6000;
  fixture.page.time_enabled = 900;
  fixture.pmc = 1;
}

static void read_of_a_page_that_changes_is_made_again(void **state) {
  uvperf__user_count_t count;

  scripted_pages_need(__func__);
  fixture.changes = 1;
  fixture.change = move_to_another_counter;
  count = read_page();
  assert_int_equal(count.value, 6001);
  assert_int_equal(count.enabled, 900);
  assert_int_equal(fixture.counter, 4);
  assert_int_equal(fake_count(FAKE_RDPMC), 2);
}

static uint64_t change_between(void) {
  change_page();
  return fixture.cycles;
}

static void read_sees_a_change_before_the_counter_is_read(void **state) {
  scripted_pages_need(__func__);
  fake_on_cycles(change_between);
  fixture.changes = 1;
  fixture.change = move_to_another_counter;
  assert_int_equal(read_page().value, 6001);
}

static void leave_the_counter(void) {
  fixture.page.index = 0;
  fixture.page.offset = 5042;
}

static void read_of_an_event_that_leaves_its_counter_is_refused(void **state) {
  scripted_pages_need(__func__);
  fixture.changes = 1;
  fixture.change = leave_the_counter;
  assert_refused();
}

static void read_of_an_event_on_no_counter_is_refused(void **state) {
  fixture.page.index = 0;
  assert_refused();
  assert_int_equal(fake_count(FAKE_RDPMC), 0);
}

static void read_of_a_page_that_is_locked_for_ever_ends(void **state) {
  fixture.page.lock = 9;
  assert_refused();
  assert_int_equal(fake_count(FAKE_RDPMC), 0);
}

static void move_on(void) {
  fixture.page.offset += 1;
}

static void read_of_a_page_that_changes_for_ever_ends(void **state) {
  scripted_pages_need(__func__);
  fixture.changes = UINT32_MAX;
  fixture.change = move_on;
  assert_refused();
  assert_in_range(fake_count(FAKE_RDPMC), 2, 1000);
}

static void read_of_a_page_written_in_the_future_is_refused(void **state) {
  scripted_pages_need(__func__);
  fixture.cycles = 999;
  assert_refused();
  fixture.cycles = 1000;
  read_page();
}

static void forbid_rdpmc(void) {
  fixture.page.cap_user_rdpmc = 0;
}

static void stop_clock(void) {
  fixture.page.cap_user_time = 0;
}

/* Before Linux 3.12 the same bits meant other things. */
static void age_capabilities(void) {
  fixture.page.cap_bit0_is_deprecated = 0;
}

static void change_layout(void) {
  fixture.page.compat_version = 1;
}

static void take_size(void) {
  fixture.page.size = 0;
}

static void take_width(void) {
  fixture.page.pmc_width = 0;
}

static void make_too_wide(void) {
  fixture.page.pmc_width = 65;
}

static void make_far_too_wide(void) {
  fixture.page.pmc_width = UINT16_MAX;
}

static void shift_too_far(void) {
  fixture.page.time_shift = 64;
}

static void shift_far_too_far(void) {
  fixture.page.time_shift = UINT16_MAX;
}

static void take_mult(void) {
  fixture.page.time_mult = 0;
}

static void hide_short_clock(void) {
  fixture.bytes[40] |= SHORT_BIT;
  fixture.page.size = HEAD_SIZE - 8;
}

static void number_beyond_all(void) {
  fixture.page.index = UINT32_MAX;
}

static void number_beyond_general(void) {
  fixture.page.index = 33;
}

static void read_of_a_page_that_cannot_be_is_refused(void **state) {
  static void (*const spoil[])(void) = {
      forbid_rdpmc,      stop_clock,
      age_capabilities,  change_layout,
      take_size,         take_width,
      make_too_wide,     make_far_too_wide,
      shift_too_far,     shift_far_too_far,
      take_mult,         hide_short_clock,
      number_beyond_all, number_beyond_general};
  size_t i;

  for (i = 0; i < COUNT_OF(spoil); i++) {
    setup(state);
    spoil[i]();
    assert_refused();
    assert_int_equal(fake_count(FAKE_RDPMC), 0);
  }
}

/* Whether an index means a counter that is a plain sum. */
static int is_read(uint32_t index) {
  uvperf__user_count_t count;

  fixture.page.index = index;
  return uvperf__user_page_read(&fixture.page, &count) == 0;
}

static void read_is_made_of_counters_that_hold_sums(void **state) {
  scripted_pages_need(__func__);
#if defined(__aarch64__)
  /* The last are the cycles. */
  assert_true(is_read(32));
  assert_int_equal(fixture.counter, 31);
  assert_false(is_read(33));
#else
  /* Intel's fixed counters, except slots; and the metrics. */
  assert_true(is_read(INTEL_FIXED + 1));
  assert_true(fixture.counter == INTEL_FIXED);
  assert_false(is_read(INTEL_FIXED + 3 + 1));
  assert_false(is_read(INTEL_FIXED + 16 + 1));
  assert_false(is_read((1u << 29) + 1));
#endif
}

#define scripted(f) cmocka_unit_test_setup(f, setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted(read_adds_the_counter_to_the_offset),
      scripted(read_extends_a_counter_below_zero_by_its_width),
      scripted(read_with_an_offset_below_zero_wraps),
      scripted(read_brings_both_times_up_to_now),
#ifdef __SIZEOF_INT128__
      scripted(read_of_every_width_equals_exact_arithmetic),
      scripted(read_scales_the_clock_as_exact_arithmetic_does),
#endif
      scripted(read_of_a_short_clock_that_wrapped_goes_on),
      scripted(read_of_an_older_page_ignores_later_fields),
      scripted(read_of_a_page_that_changes_is_made_again),
      scripted(read_sees_a_change_before_the_counter_is_read),
      scripted(read_of_an_event_that_leaves_its_counter_is_refused),
      scripted(read_of_an_event_on_no_counter_is_refused),
      scripted(read_of_a_page_that_is_locked_for_ever_ends),
      scripted(read_of_a_page_that_changes_for_ever_ends),
      scripted(read_of_a_page_written_in_the_future_is_refused),
      scripted(read_of_a_page_that_cannot_be_is_refused),
      scripted(read_is_made_of_counters_that_hold_sums),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
