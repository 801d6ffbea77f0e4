/* SPDX-License-Identifier: MIT */
/* Scripted: how long a closed event is remembered, and what is left of it in a
 * forked child. */
#include "counters_make.h"
#include "fake_clock.h"

#include <errno.h>
#include <unistd.h>

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

typedef struct seen_s {
  unsigned known;
  unsigned unknown;
} seen_t;

static void see(void *data, int status, const uvperf_record_t *record) {
  seen_t *seen = data;

  assert_int_equal(status, record->source != NULL ? 0 : -EPROTO);
  seen->known += record->source != NULL;
  seen->unknown += record->source == NULL;
}

/* One target on CPU 0, whose event is 100 and whose ring is 101's. */
static uvperf__counters_t *open_one(fake_event_t **owner) {
  fake_event_t *events[3];
  counters_make_t make;

  counters_script(events, 3);
  *owner = events[1];
  counters_make_records(&make, 1);
  counters_add_cpus(&make, "0");
  return counters_open(&make);
}

static void closed_event_is_known_until_its_records_are_read(void **state) {
  uvperf__counters_t *counters;
  fake_event_t *owner;
  seen_t seen = {0, 0};

  (void)state;
  counters = open_one(&owner);
  append(owner, 100);
  fake_clock_set_counters(1);
  assert_int_equal(uvperf__counters_remove_target(counters, 0, NULL, NULL), 0);
  assert_int_equal(counters_ring(counters, 0)->nr_events, 0);
  fake_clock_set_counters(1 + SOON_NS);
  uvperf__counters_free_sources(counters);
  assert_non_null(counters_source(counters, 100));
  /* Later records of other events keep nothing of it. */
  append(owner, 555);
  assert_int_equal(counters_drain(counters, see, &seen), 2);
  assert_int_equal(seen.known, 2); /* it is the only source of the ring */
  assert_int_equal(seen.unknown, 0);
  assert_non_null(counters_source(counters, 100));
  uvperf__counters_free_sources(counters);
  assert_null(counters_source(counters, 100));
  uvperf__counters_free(counters);
  fake_assert_clean();
}

/* Its count is in the samples of its leader, by its id. */
static void
closed_counter_is_known_until_its_leaders_records_are_read(void **state) {
  uvperf__counters_t *counters;
  fake_event_t *events[3];
  counters_make_t make;

  (void)state;
  counters_script(events, 3);
  counters_make_records(&make, 2);
  counters_group(&make, 0, 2);
  make.attrs[1].sample_period = 0;
  counters_add_cpus(&make, "0");
  counters = counters_open(&make);
  assert_int_equal(counters_source(counters, 102)->attr_index, 1);
  append(events[1], 100);
  fake_clock_set_counters(1);
  assert_int_equal(uvperf__counters_remove_target(counters, 0, NULL, NULL), 0);
  fake_clock_set_counters(1 + SOON_NS);
  uvperf__counters_free_sources(counters);
  assert_non_null(counters_source(counters, 102));
  assert_int_equal(counters_drain(counters, NULL, NULL), 1);
  uvperf__counters_free_sources(counters);
  assert_null(counters_source(counters, 102));
  uvperf__counters_free(counters);
  fake_assert_clean();
}

/* The head does not move before the record is written that a CPU was just
 * writing when its event was closed. */
static void record_that_was_being_written_is_known(void **state) {
  uvperf__counters_t *counters;
  fake_event_t *owner;
  seen_t seen = {0, 0};

  (void)state;
  counters = open_one(&owner);
  fake_clock_set_counters(1);
  assert_int_equal(uvperf__counters_remove_target(counters, 0, NULL, NULL), 0);
  fake_clock_set_counters(SOON_NS);
  uvperf__counters_free_sources(counters);
  append(owner, 100);
  fake_clock_set_counters(1 + SOON_NS);
  uvperf__counters_free_sources(counters);
  assert_int_equal(counters_drain(counters, see, &seen), 1);
  assert_int_equal(seen.known, 1);
  uvperf__counters_free_sources(counters);
  assert_null(counters_source(counters, 100));
  uvperf__counters_free(counters);
  fake_assert_clean();
}

static void ring_that_has_ended_keeps_no_event(void **state) {
  uvperf__counters_t *counters;
  fake_event_t *owner;

  (void)state;
  counters = open_one(&owner);
  append(owner, 100);
  fake_clock_set_counters(1);
  assert_int_equal(uvperf__counters_remove_target(counters, 0, NULL, NULL), 0);
  counters_ring(counters, 0)->status = -EPROTO;
  fake_clock_set_counters(1 + SOON_NS);
  uvperf__counters_free_sources(counters);
  assert_null(counters_source(counters, 100));
  uvperf__counters_free(counters);
  fake_assert_clean();
}

/* Of three events on two CPUs that are closed one after another, the second can
 * be forgotten first; then one that is closed later. */
static void closed_events_are_forgotten_each_in_its_time(void **state) {
  uvperf__counters_t *counters;
  fake_event_t *events[8];
  counters_make_t make;
  uint32_t target;

  (void)state;
  counters_script(events, 8);
  counters_make_records(&make, 1);
  counters_add_cpus(&make, "0"); /* 100, ring 101 */
  counters_add_cpus(&make, "1"); /* 102, ring 103 */
  counters_add_cpus(&make, "0"); /* 104 */
  counters_add_cpus(&make, "1"); /* 105 */
  counters = counters_open(&make);
  append(events[1], 100);
  for (target = 0; target < 3; target++) {
    fake_clock_set_counters(10 + target);
    assert_int_equal(
        uvperf__counters_remove_target(counters, target, NULL, NULL), 0);
  }
  fake_clock_set_counters(11 + SOON_NS);
  uvperf__counters_free_sources(counters);
  assert_non_null(counters_source(counters, 100)); /* not read */
  assert_null(counters_source(counters, 102));
  assert_non_null(counters_source(counters, 104)); /* too early */
  assert_int_equal(uvperf__counters_remove_target(counters, 3, NULL, NULL), 0);
  counters_drain(counters, NULL, NULL);
  fake_clock_set_counters(12 + SOON_NS);
  uvperf__counters_free_sources(counters);
  assert_null(counters_source(counters, 100));
  assert_null(counters_source(counters, 104));
  assert_non_null(counters_source(counters, 105));
  fake_clock_set_counters(11 + 2 * SOON_NS);
  uvperf__counters_free_sources(counters);
  assert_null(counters_source(counters, 105));
  uvperf__counters_free(counters);
  fake_assert_clean();
}

/* Endless churn takes no more memory than the events that are closed at one
 * time. */
static void targets_that_come_and_go_leave_no_memory(void **state) {
  uvperf__counters_t *counters;
  counters_make_t make;
  uint64_t now = 1;
  size_t live = 0;
  uint32_t index;
  size_t i;

  (void)state;
  for (i = 0; i < 202; i++)
    fake_event_add(100 + i);
  counters_make_records(&make, 1);
  counters_add_cpus(&make, "0");
  counters = counters_open(&make);
  for (i = 0; i < 200; i++) {
    fake_clock_set_counters(now += SOON_NS / 4);
    assert_int_equal(
        uvperf__counters_add_target(counters, &make.targets[0], &index, NULL),
        0);
    assert_int_equal(
        uvperf__counters_remove_target(counters, index, NULL, NULL), 0);
    uvperf__counters_free_sources(counters);
    if (i == 20)
      live = fake_live_allocations();
  }
  assert_int_equal(fake_live_allocations(), live);
  uvperf__counters_free(counters);
  fake_assert_clean();
}

/* A group that was torn is opened again: 100 and 102 are closed. */
static void group_that_is_opened_again_has_new_sources(void **state) {
  uvperf__counters_t *counters;
  fake_event_t *events[5];
  counters_make_t make;

  (void)state;
  counters_script(events, 5);
  counters_make_records(&make, 2);
  counters_group(&make, 0, 2);
  counters_add(&make, UVPERF_TARGET_PROCESS)->pid = getpid();
  make.targets[0].cpus = "0";
  fake_fail(FAKE_READ, 1, -ECHILD);
  counters = counters_open(&make);
  assert_int_equal(events[2]->fd, -1);
  assert_int_equal(counters_ring(counters, 0)->nr_events, 2);
  assert_int_equal(counters_source(counters, 103)->attr_index, 0);
  assert_int_equal(counters_source(counters, 104)->attr_index, 1);
  /* The same shape for all. */
  assert_ptr_equal(counters_source(counters, 103)->attr,
                   counters_source(counters, 100)->attr);
  uvperf__counters_free(counters);
  fake_assert_clean();
}

/* The change of a fallback for a later target is undone with the last event,
 * but not for records that were written with it. */
static void closed_event_is_decoded_as_it_was_opened(void **state) {
  uvperf__counters_t *counters;
  const uvperf_source_t *source;
  fake_event_t *events[3];
  counters_make_t make;

  (void)state;
  counters_script(events, 3);
  counters_make_records(&make, 1);
  counters = counters_open(&make);
  counters_add_cpus(&make, "0");
  assert_int_equal(
      uvperf__counters_add_target(counters, &make.targets[0], NULL, NULL), 0);
  source = counters_source(counters, 100);
  assert_int_equal(uvperf__counters_remove_target(counters, 0, NULL, NULL), 0);
  /* A target that fails undoes what was tried for it. */
  fake_fail(FAKE_OPEN, 1, -ENOENT);
  assert_int_equal(
      uvperf__counters_add_target(counters, &make.targets[0], NULL, NULL),
      -ENOENT);
  assert_int_equal(
      uvperf__counters_add_target(counters, &make.targets[0], NULL, NULL), 0);
  assert_ptr_not_equal(counters_source(counters, 102)->attr, source->attr);
  assert_int_equal(source->attr->sample_type,
                   PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER);
  uvperf__counters_free(counters);
  fake_assert_clean();
}

/* -- overwritable rings --------------------------------------------------- */

static void prepend(fake_event_t *owner, uint64_t id, size_t nr) {
  sample_t sample = {{PERF_RECORD_SAMPLE, 0, sizeof(sample)}, id, 7, 8};

  while (nr-- > 0)
    fake_ring_prepend(owner, &sample, sizeof(sample));
}

static uvperf__counters_t *open_overwritable(fake_event_t **events, size_t nr,
                                             counters_make_t *make) {
  counters_script(events, nr);
  counters_make_records(make, 1);
  make->options.flags |= UVPERF_SET_OVERWRITE;
  counters_add_cpus(make, "0"); /* 100, ring 101 */
  return counters_open(make);
}

/* Whether it was read does not matter: a snapshot can include everything in the
 * ring. */
static void
closed_event_is_known_until_its_records_are_overwritten(void **state) {
  const size_t nr = support_page_bytes() / sizeof(sample_t);
  uvperf__counters_t *counters;
  fake_event_t *events[2];
  counters_make_t make;
  size_t i;

  (void)state;
  counters = open_overwritable(events, 2, &make);
  assert_true(events[1]->attr.write_backward);
  prepend(events[1], 100, 3);
  fake_clock_set_counters(1);
  assert_int_equal(uvperf__counters_remove_target(counters, 0, NULL, NULL), 0);
  /* This one was being written. */
  prepend(events[1], 100, 1);
  fake_clock_set_counters(1 + SOON_NS);
  counters_drain(counters, NULL, NULL);
  for (i = 0; i < nr; i++) {
    uvperf__counters_free_sources(counters);
    assert_non_null(counters_source(counters, 100));
    prepend(events[1], 555, 1);
  }
  /* They do not fill the ring to its last byte. */
  uvperf__counters_free_sources(counters);
  assert_int_equal(counters_source(counters, 100) == NULL,
                   support_page_bytes() % sizeof(sample_t) == 0);
  prepend(events[1], 555, 1);
  uvperf__counters_free_sources(counters);
  assert_null(counters_source(counters, 100));
  uvperf__counters_free(counters);
  fake_assert_clean();
}

/* Each writes one record: only as many are remembered as the ring has room for.
 * Later ones write nothing, and are forgotten at once. */
static void
targets_of_overwritable_rings_come_and_go_in_bounded_memory(void **state) {
  const size_t fit = support_page_bytes() / sizeof(sample_t) + 1;
  uvperf__counters_t *counters;
  fake_event_t *events[502];
  counters_make_t make;
  uint64_t now = 1;
  size_t live = 0;
  uint32_t index;
  size_t i;

  (void)state;
  counters = open_overwritable(events, 502, &make);
  for (i = 0; i < 500; i++) {
    fake_clock_set_counters(now += SOON_NS);
    uvperf__counters_free_sources(counters);
    assert_int_equal(
        uvperf__counters_add_target(counters, &make.targets[0], &index, NULL),
        0);
    prepend(events[1], 102 + i, i < 450);
    assert_int_equal(
        uvperf__counters_remove_target(counters, index, NULL, NULL), 0);
    if (i == fit + 2)
      live = fake_live_allocations();
    if (i > fit + 2)
      assert_in_range(fake_live_allocations(), live - 1, live + 1);
    if (i == 449)
      assert_non_null(counters_source(counters, 102 + i - (fit - 3)));
  }
  assert_non_null(counters_source(counters, 102 + 449));
  assert_null(counters_source(counters, 102 + 480));
  uvperf__counters_free(counters);
  fake_assert_clean();
}

/* -- fork ----------------------------------------------------------------- */

static int free_in_child(void *arg) {
  uvperf__counters_t *counters = arg;

  fake_log_clear();
  uvperf__counters_free_sources(counters);
  uvperf__counters_free(counters);
  return strcmp(fake_log(), "close, close") != 0;
}

static void rings_of_the_parent_are_left_alone(void **state) {
  uvperf__counters_t *counters;
  fake_event_t *owner;
  seen_t seen = {0, 0};

  (void)state;
  counters = open_one(&owner);
  assert_int_equal(support_wait(support_fork(free_in_child, counters)), 0);
  append(owner, 100);
  assert_int_equal(counters_drain(counters, see, &seen), 1);
  uvperf__counters_free(counters);
  fake_assert_clean();
}

static int setup(void **state) {
  fake_clock_set_counters(0);
  return counters_make_setup(state);
}

#define test(f) cmocka_unit_test_setup(f, setup)

int main(void) {
  static const struct CMUnitTest tests[] = {
      test(closed_event_is_known_until_its_records_are_read),
      test(closed_counter_is_known_until_its_leaders_records_are_read),
      test(record_that_was_being_written_is_known),
      test(ring_that_has_ended_keeps_no_event),
      test(closed_events_are_forgotten_each_in_its_time),
      test(targets_that_come_and_go_leave_no_memory),
      test(group_that_is_opened_again_has_new_sources),
      test(closed_event_is_decoded_as_it_was_opened),
      test(closed_event_is_known_until_its_records_are_overwritten),
      test(targets_of_overwritable_rings_come_and_go_in_bounded_memory),
      test(rings_of_the_parent_are_left_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
