/* SPDX-License-Identifier: MIT */
/* The size of a set's rings if little memory may be locked. */
#include "make_evlist.h"
#include "live_unprivileged.h"

#include <sys/resource.h>

#include "evlist/internal.h"
#include "sys/sys.h"

#define DEFAULT_BYTES (512 * 1024)

/* 512 KiB down to one page. */
static unsigned nr_sizes(void) {
  size_t bytes = DEFAULT_BYTES;
  unsigned nr = 1;

  for (; bytes > support_page_bytes(); bytes /= 2)
    nr++;
  return nr;
}

static void fail_mmaps(unsigned first, unsigned nr) {
  unsigned i;

  for (i = 0; i < nr; i++)
    fake_fail(FAKE_MMAP, first + i, -EPERM);
}

static uvperf__evlist_t *evlist;

static evlist_make_t make;

/* The cause depends on who runs the test: root may lock all. */
static void expect_refused(void) {
  uvperf_error_t error;

  assert_int_equal(uvperf__evlist_new(&evlist, &make.options, &error), -EPERM);
  assert_int_equal(error.code, -EPERM);
  fake_assert_clean();
}

static void plan(void) {
  evlist_make_records(&make, 1);
  make.options.ring_bytes = 0;
  evlist_add_cpus(&make, "0-7");
  evlist_add_cpus(&make, "8-15");
}

/* After eight of 512 KiB no memory is left, so all are halved; and the counting
 * of targets begins again. */
static void rings_of_many_cpus_share_what_may_be_locked(void **state) {
  uvperf_error_t error = {.code = 4711};
  fake_event_t *events[64];
  size_t begin = 17 + nr_sizes(); /* of the second try */
  size_t i;

  counters_script(events, 64);
  plan();
  fail_mmaps(9, nr_sizes());
  assert_int_equal(uvperf__evlist_make(0, &evlist, &make.options, &error), 0);
  assert_int_equal(error.code, 4711);
  assert_int_equal(uvperf__cpu_rings_nr(uvperf__evlist_rings(evlist)), 16);
  for (i = 0; i < 16; i++)
    assert_int_equal(evlist_ring(evlist, i)->ring.size, DEFAULT_BYTES / 2);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 16);
  assert_int_equal(evlist_source(evlist, events[begin]->id)->target_index, 0);
  assert_int_equal(evlist_source(evlist, events[begin + 16]->id)->target_index,
                   1);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* The first ring cannot be smaller because of others; and rings with a
 * requested size are never made smaller. */
static void ring_that_cannot_be_locked_is_tried_once(void **state) {
  fake_event_t *events[64];

  counters_script(events, 64);
  plan();
  fail_mmaps(1, nr_sizes());
  expect_refused();
  assert_int_equal(fake_count(FAKE_MMAP), nr_sizes());
  fail_mmaps(2, 1);
  make.options.ring_bytes = DEFAULT_BYTES;
  expect_refused();
  assert_int_equal(fake_count(FAKE_MMAP), nr_sizes() + 2);
}

/* Smaller ones do not help either. */
static void rings_that_cannot_be_locked_of_any_size_are_refused(void **state) {
  fake_event_t *events[200];
  unsigned size;
  unsigned at = 2;

  counters_script(events, 200);
  plan();
  for (size = nr_sizes(); size > 0; size--) {
    fail_mmaps(at, size);
    at += size + 1;
  }
  expect_refused();
  assert_int_equal(fake_failures(), nr_sizes() * (nr_sizes() + 1) / 2);
  evlist = evlist_open(&make);
  assert_int_equal(evlist_ring(evlist, 15)->ring.size, DEFAULT_BYTES);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* A ring of a CPU that came, say: what fails next need not be for that. */
static void ring_that_is_locked_makes_up_for_one_that_was_not(void **state) {
  const uvperf__cpu_rings_options_t options = {.clockid = -1};
  uvperf__cpu_ring_t *ring;
  uvperf__cpu_rings_t *rings;
  fake_event_t *events[4];

  counters_script(events, 4);
  assert_int_equal(uvperf__cpu_rings_new(&rings, &options), 0);
  fail_mmaps(1, nr_sizes());
  assert_int_equal(uvperf__cpu_rings_get(rings, 0, &ring, NULL), -EPERM);
  assert_int_equal(uvperf__cpu_rings_get(rings, 1, &ring, NULL), 0);
  uvperf__cpu_rings_cut(rings, 0);
  assert_int_equal(uvperf__cpu_rings_shrink(rings, 1), 0);
  uvperf__cpu_rings_free(rings);
  fake_assert_clean();
}

/* -- live ----------------------------------------------------------------- */

/* Takes half of what two CPUs may lock, so that one ring of the default size
 * leaves nothing for another. */
static void half_is_enough(live_unprivileged_report_t *report) {
  const struct rlimit none = {0, 0};
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf__ring_t hog;
  int fd;

  setrlimit(RLIMIT_MEMLOCK, &none);
  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.exclude_kernel = 1;
  fd = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  if (fd < 0 || uvperf__ring_map(&hog, fd, DEFAULT_BYTES, 0) != 0) {
    live_unprivileged_absent(report, "memory that no other process has locked");
    return;
  }
  evlist_make(&make, 0);
  make.options.flags = UVPERF_SET_RECORDS;
  make.options.side_band = UVPERF_SIDE_BAND_TASKS;
  evlist_add(&make, UVPERF_TARGET_SELF);
  if (uvperf__evlist_new(&evlist, &make.options, &error) != 0)
    live_unprivileged_wrong(report, "%s", error.reason);
  else
    uvperf__evlist_free(evlist);
  uvperf__ring_unmap(&hog);
  uvperf__sys_close(fd);
}

static void unprivileged_rings_share_what_may_be_locked(void **state) {
  static const live_unprivileged_line_t lines[] = {{"half", half_is_enough}};

  live_unprivileged_run(__func__, lines, 1);
}

#define test(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  const struct CMUnitTest tests[] = {
      test(rings_of_many_cpus_share_what_may_be_locked),
      test(ring_that_cannot_be_locked_is_tried_once),
      test(rings_that_cannot_be_locked_of_any_size_are_refused),
      test(ring_that_is_locked_makes_up_for_one_that_was_not),
      test(unprivileged_rings_share_what_may_be_locked),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
