/* SPDX-License-Identifier: MIT */
/* Mapping a ring: sizes, the default that is halved, invalid pages, unmapping.
 * Reading it is in test_ring_read.c. */
#include "support.h"

#include <unistd.h>

#include "fake_kernel.h"
#include "ring/ring.h"
#include "sys/sys.h"

#define DEFAULT_BYTES ((size_t)UVPERF__RING_DEFAULT_BYTES)

static const uvperf__ring_t zeroed;

static fake_event_t *fake;
static int fd; /* its */
static uvperf__ring_t ring;

static int setup(void **state) {
  struct perf_event_attr attr;

  fake_kernel_reset();
  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  fake = fake_event_add(1);
  fd = uvperf__sys_open(&attr, 0, -1, -1, 0);
  memset(&ring, 0xff, sizeof(ring));
  return fd < 0;
}

static void round_returns_powers_of_two_of_pages(void **state) {
  size_t page = support_page_bytes();

  assert_int_equal(uvperf__ring_round(0), page);
  assert_int_equal(uvperf__ring_round(1), page);
  assert_int_equal(uvperf__ring_round(page), page);
  assert_int_equal(uvperf__ring_round(page + 1), 2 * page);
  assert_int_equal(uvperf__ring_round(3 * page), 4 * page);
  assert_int_equal(uvperf__ring_round(1000 * page), 1024 * page);
}

static void round_overflow_returns_0(void **state) {
  size_t top = SIZE_MAX / 2 + 1;

  assert_true(uvperf__ring_round(top) == top);
  assert_int_equal(uvperf__ring_round(top + 1), 0);
  assert_int_equal(uvperf__ring_round(SIZE_MAX), 0);
}

static void map_returns_the_data_after_the_page(void **state) {
  assert_int_equal(uvperf__ring_map(&ring, fd, 4 * support_page_bytes(), 0), 0);
  assert_ptr_equal(ring.page, fake->page);
  assert_ptr_equal(ring.data, fake->ring);
  assert_int_equal(ring.size, 4 * support_page_bytes());
  assert_int_equal(fake->ring_size, 4 * support_page_bytes());
  assert_int_equal(ring.map_bytes, 5 * support_page_bytes());
  uvperf__ring_unmap(&ring);
}

static void map_without_data_is_einval(void **state) {
  assert_int_equal(uvperf__ring_map(&ring, fd, 0, 0), -EINVAL);
  assert_int_equal(fake_count(FAKE_MMAP), 0);
  assert_memory_equal(&ring, &zeroed, sizeof(ring));
}

static void map_that_fails_returns_the_errno_and_zeroes(void **state) {
  fake_fail(FAKE_MMAP, 1, -EBUSY);
  assert_int_equal(uvperf__ring_map(&ring, fd, support_page_bytes(), 0),
                   -EBUSY);
  assert_memory_equal(&ring, &zeroed, sizeof(ring));
}

static void map_of_a_given_size_is_never_halved(void **state) {
  fake_fail(FAKE_MMAP, 1, -EPERM);
  assert_int_equal(uvperf__ring_map(&ring, fd, DEFAULT_BYTES, 0), -EPERM);
  assert_int_equal(fake_count(FAKE_MMAP), 1);
}

static void map_default_takes_the_full_size_if_allowed(void **state) {
  assert_int_equal(uvperf__ring_map_default(&ring, fd, 0, 0), 0);
  assert_int_equal(ring.size, DEFAULT_BYTES);
  assert_int_equal(fake_count(FAKE_MMAP), 1);
  uvperf__ring_unmap(&ring);
}

static void map_default_halves_on_eperm_until_it_fits(void **state) {
  size_t sizes;
  unsigned refused;

  sizes = 0;
  while (DEFAULT_BYTES >> sizes >= support_page_bytes())
    sizes++;
  for (refused = 1; refused < sizes; refused++) {
    unsigned nth;

    setup(state);
    for (nth = 1; nth <= refused; nth++)
      fake_fail(FAKE_MMAP, nth, -EPERM);
    assert_int_equal(uvperf__ring_map_default(&ring, fd, 0, 0), 0);
    assert_int_equal(ring.size, DEFAULT_BYTES >> refused);
    assert_int_equal(fake->ring_size, DEFAULT_BYTES >> refused);
    uvperf__ring_unmap(&ring);
  }
}

static void map_default_gives_up_after_one_page(void **state) {
  size_t sizes;

  sizes = 0;
  while (DEFAULT_BYTES >> sizes >= support_page_bytes())
    sizes++;
  fake_fail_from(FAKE_MMAP, 1, -EPERM);
  assert_int_equal(uvperf__ring_map_default(&ring, fd, 0, 0), -EPERM);
  assert_int_equal(fake_count(FAKE_MMAP), sizes);
  assert_memory_equal(&ring, &zeroed, sizeof(ring));
}

static void map_default_stays_above_the_watermark(void **state) {
  static const struct {
    uint32_t watermark;
    unsigned tries;
  } cases[] = {
      {UVPERF__RING_DEFAULT_BYTES - 1, 1},
      {UVPERF__RING_DEFAULT_BYTES / 2, 1},
      {UVPERF__RING_DEFAULT_BYTES / 2 - 1, 2},
      {UVPERF__RING_DEFAULT_BYTES / 4, 2},
      {UVPERF__RING_DEFAULT_BYTES / 4 - 1, 3},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(cases); i++) {
    setup(state);
    fake_fail_from(FAKE_MMAP, 1, -EPERM);
    assert_int_equal(uvperf__ring_map_default(&ring, fd, cases[i].watermark, 0),
                     -EPERM);
    assert_int_equal(fake_count(FAKE_MMAP), cases[i].tries);
  }
}

static void map_default_below_the_watermark_is_einval(void **state) {
  assert_int_equal(uvperf__ring_map_default(&ring, fd, DEFAULT_BYTES, 0),
                   -EINVAL);
  assert_int_equal(uvperf__ring_map_default(&ring, fd, UINT32_MAX, 0), -EINVAL);
  assert_int_equal(fake_count(FAKE_MMAP), 0);
  assert_memory_equal(&ring, &zeroed, sizeof(ring));
}

static void map_default_does_not_halve_on_other_errnos(void **state) {
  static const int codes[] = {-ENOMEM, -EINVAL, -EACCES, -EBUSY, -EAGAIN};
  size_t i;

  for (i = 0; i < COUNT_OF(codes); i++) {
    setup(state);
    fake_fail(FAKE_MMAP, 1, codes[i]);
    assert_int_equal(uvperf__ring_map_default(&ring, fd, 0, 0), codes[i]);
    assert_int_equal(fake_count(FAKE_MMAP), 1);
  }
}

static void leave_layout_out(fake_event_t *event) {
  event->page->data_offset = 0;
  event->page->data_size = 0;
}

static void map_of_an_old_kernel_takes_the_mapped_size(void **state) {
  fake->on_map = leave_layout_out;
  assert_int_equal(uvperf__ring_map(&ring, fd, 2 * support_page_bytes(), 0), 0);
  assert_ptr_equal(ring.data, fake->ring);
  assert_int_equal(ring.size, 2 * support_page_bytes());
  uvperf__ring_unmap(&ring);
}

static uint64_t spoilt[3]; /* data_offset, data_size and data_tail */

static void spoil(fake_event_t *event) {
  event->page->data_offset = spoilt[0];
  event->page->data_size = spoilt[1];
  event->page->data_tail = spoilt[2];
}

static void map_of_an_inconsistent_page_is_eproto_and_unmapped(void **state) {
  const uint64_t page = support_page_bytes(), size = 2 * page;
  const uint64_t rows[][3] = {
      {page, 2 * size, 0},       {page, size / 2, 0}, {page, size - 8, 0},
      {page, UINT64_MAX, 0},     {2 * page, size, 0}, {8, size, 0},
      {UINT64_MAX - 7, size, 0}, {page, size, 4},
  };
  size_t i;

  for (i = 0; i < COUNT_OF(rows); i++) {
    setup(state);
    memcpy(spoilt, rows[i], sizeof(spoilt));
    fake->on_map = spoil;
    if (uvperf__ring_map(&ring, fd, (size_t)size, 0) != -EPROTO ||
        fake_count(FAKE_MUNMAP) != 1 || fake->page != NULL ||
        memcmp(&ring, &zeroed, sizeof(ring)) != 0)
      fail_msg("row %zu", i);
  }
}

static void unmap_twice_unmaps_once(void **state) {
  assert_int_equal(uvperf__ring_map(&ring, fd, support_page_bytes(), 0), 0);
  uvperf__ring_unmap(&ring);
  assert_null(fake->page);
  assert_memory_equal(&ring, &zeroed, sizeof(ring));
  uvperf__ring_unmap(&ring);
  assert_int_equal(fake_count(FAKE_MUNMAP), 1);
}

static void forget_leaves_the_mapping_alone(void **state) {
  assert_int_equal(uvperf__ring_map(&ring, fd, support_page_bytes(), 0), 0);
  uvperf__ring_forget(&ring);
  assert_memory_equal(&ring, &zeroed, sizeof(ring));
  uvperf__ring_unmap(&ring);
  assert_int_equal(fake_count(FAKE_MUNMAP), 0);
  assert_non_null(fake->page);
}

#define RING(f) cmocka_unit_test_setup(f, setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      RING(round_returns_powers_of_two_of_pages),
      RING(round_overflow_returns_0),
      RING(map_returns_the_data_after_the_page),
      RING(map_without_data_is_einval),
      RING(map_that_fails_returns_the_errno_and_zeroes),
      RING(map_of_a_given_size_is_never_halved),
      RING(map_default_takes_the_full_size_if_allowed),
      RING(map_default_halves_on_eperm_until_it_fits),
      RING(map_default_gives_up_after_one_page),
      RING(map_default_stays_above_the_watermark),
      RING(map_default_below_the_watermark_is_einval),
      RING(map_default_does_not_halve_on_other_errnos),
      RING(map_of_an_old_kernel_takes_the_mapped_size),
      RING(map_of_an_inconsistent_page_is_eproto_and_unmapped),
      RING(unmap_twice_unmaps_once),
      RING(forget_leaves_the_mapping_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
