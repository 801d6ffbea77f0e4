/* SPDX-License-Identifier: MIT */
/* Targets that come and go for months, while the rings are read or not: the
 * memory kept for them does not grow. */
#include "evlist_make.h"
#include "fake_clock.h"
#include "live.h"

#define SOON_NS (100 * UINT64_C(1000000))

/* A sample, as of PERF_SAMPLE_TID. */
typedef struct sample_s {
  struct perf_event_header header;
  uint64_t id;
  uint32_t pid;
  uint32_t tid;
} sample_t;

static void append(fake_event_t *owner, uint64_t id) {
  sample_t sample = {{PERF_RECORD_SAMPLE, 0, sizeof(sample)}, id, 7, 8};

  fake_ring_append(owner, &sample, sizeof(sample));
}

static void see(void *data, int status, const uvperf_record_t *record) {
  assert_int_equal(status, 0);
  assert_non_null(record->source);
  *(unsigned *)data += 1;
}

static uint32_t add(uvperf__evlist_t *evlist) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint32_t index;

  target.type = UVPERF_TARGET_CPUS;
  target.cpus = "0";
  assert_int_equal(uvperf__evlist_add_target(evlist, &target, &index, NULL), 0);
  return index;
}

/* Records of the first target wait; those that come and go after it write
 * nothing, or one record each. */
static void events_that_wrote_nothing_are_not_kept_until_a_read(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[64];
  evlist_make_t make;
  uint64_t now = 1;
  size_t blocks = 0;
  unsigned nr = 0;
  size_t i;

  (void)state;
  counters_script(events, 64);
  evlist_make_records(&make, 1);
  evlist_add_cpus(&make, "0"); /* 100, ring 101 */
  fake_clock_set_counters(now);
  evlist = evlist_open(&make);
  append(events[1], 100);
  for (i = 0; i < 60; i++) {
    uint32_t index = add(evlist); /* 102 and on */

    if (i == 7 || i == 30)
      append(events[1], 102 + i);
    assert_int_equal(uvperf__evlist_remove_target(evlist, index, NULL, NULL),
                     0);
    now += SOON_NS;
    fake_clock_set_counters(now);
    uvperf__evlist_free_sources(evlist);
    assert_int_equal(evlist_source(evlist, 102 + i) != NULL, i == 7 || i == 30);
    if (i == 31)
      blocks = fake_live_allocations();
  }
  assert_int_equal(fake_live_allocations(), blocks);
  assert_int_equal(evlist_drain(evlist, see, &nr), 3);
  assert_int_equal(nr, 3);
  uvperf__evlist_free_sources(evlist);
  assert_null(evlist_source(evlist, 109));
  assert_null(evlist_source(evlist, 132));
  assert_non_null(evlist_source(evlist, 100));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(
          events_that_wrote_nothing_are_not_kept_until_a_read,
          evlist_make_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
