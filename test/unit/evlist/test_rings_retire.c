/* SPDX-License-Identifier: MIT */
/* Scripted: how long a closed event is remembered, and what is left of it in a
 * forked child. */
#include "evlist_make.h"
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
static uvperf__evlist_t *open_one(fake_event_t **owner) {
  fake_event_t *events[3];
  evlist_make_t make;

  counters_script(events, 3);
  *owner = events[1];
  evlist_make_records(&make, 1);
  evlist_add_cpus(&make, "0");
  return evlist_open(&make);
}

static void closed_event_is_known_until_its_records_are_read(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *owner;
  seen_t seen = {0, 0};

  (void)state;
  evlist = open_one(&owner);
  append(owner, 100);
  fake_clock_set_counters(1);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  assert_int_equal(evlist_ring(evlist, 0)->nr_events, 0);
  fake_clock_set_counters(1 + SOON_NS);
  uvperf__evlist_free_sources(evlist);
  assert_non_null(evlist_source(evlist, 100));
  /* Later records of other events keep nothing of it. */
  append(owner, 555);
  assert_int_equal(evlist_drain(evlist, see, &seen), 2);
  assert_int_equal(seen.known, 2); /* it is the only source of the ring */
  assert_int_equal(seen.unknown, 0);
  assert_non_null(evlist_source(evlist, 100));
  uvperf__evlist_free_sources(evlist);
  assert_null(evlist_source(evlist, 100));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* Its count is in the samples of its leader, by its id. */
static void
closed_counter_is_known_until_its_leaders_records_are_read(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[3];
  evlist_make_t make;

  (void)state;
  counters_script(events, 3);
  evlist_make_records(&make, 2);
  evlist_group(&make, 0, 2);
  make.attrs[1].sample_period = 0;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_int_equal(evlist_source(evlist, 102)->attr_index, 1);
  append(events[1], 100);
  fake_clock_set_counters(1);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  fake_clock_set_counters(1 + SOON_NS);
  uvperf__evlist_free_sources(evlist);
  assert_non_null(evlist_source(evlist, 102));
  assert_int_equal(evlist_drain(evlist, NULL, NULL), 1);
  uvperf__evlist_free_sources(evlist);
  assert_null(evlist_source(evlist, 102));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* The head does not move before the record is written that a CPU was just
 * writing when its event was closed. */
static void record_that_was_being_written_is_known(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *owner;
  seen_t seen = {0, 0};

  (void)state;
  evlist = open_one(&owner);
  fake_clock_set_counters(1);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  fake_clock_set_counters(SOON_NS);
  uvperf__evlist_free_sources(evlist);
  append(owner, 100);
  fake_clock_set_counters(1 + SOON_NS);
  uvperf__evlist_free_sources(evlist);
  assert_int_equal(evlist_drain(evlist, see, &seen), 1);
  assert_int_equal(seen.known, 1);
  uvperf__evlist_free_sources(evlist);
  assert_null(evlist_source(evlist, 100));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void ring_that_has_ended_keeps_no_event(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *owner;

  (void)state;
  evlist = open_one(&owner);
  append(owner, 100);
  fake_clock_set_counters(1);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  evlist_ring(evlist, 0)->status = -EPROTO;
  fake_clock_set_counters(1 + SOON_NS);
  uvperf__evlist_free_sources(evlist);
  assert_null(evlist_source(evlist, 100));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* Of three events on two CPUs that are closed one after another, the second can
 * be forgotten first; then one that is closed later. */
static void closed_events_are_forgotten_each_in_its_time(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[8];
  evlist_make_t make;
  uint32_t target;

  (void)state;
  counters_script(events, 8);
  evlist_make_records(&make, 1);
  evlist_add_cpus(&make, "0"); /* 100, ring 101 */
  evlist_add_cpus(&make, "1"); /* 102, ring 103 */
  evlist_add_cpus(&make, "0"); /* 104 */
  evlist_add_cpus(&make, "1"); /* 105 */
  evlist = evlist_open(&make);
  append(events[1], 100);
  for (target = 0; target < 3; target++) {
    fake_clock_set_counters(10 + target);
    assert_int_equal(uvperf__evlist_remove_target(evlist, target, NULL, NULL),
                     0);
  }
  fake_clock_set_counters(11 + SOON_NS);
  uvperf__evlist_free_sources(evlist);
  assert_non_null(evlist_source(evlist, 100)); /* not read */
  assert_null(evlist_source(evlist, 102));
  assert_non_null(evlist_source(evlist, 104)); /* too early */
  assert_int_equal(uvperf__evlist_remove_target(evlist, 3, NULL, NULL), 0);
  evlist_drain(evlist, NULL, NULL);
  fake_clock_set_counters(12 + SOON_NS);
  uvperf__evlist_free_sources(evlist);
  assert_null(evlist_source(evlist, 100));
  assert_null(evlist_source(evlist, 104));
  assert_non_null(evlist_source(evlist, 105));
  fake_clock_set_counters(11 + 2 * SOON_NS);
  uvperf__evlist_free_sources(evlist);
  assert_null(evlist_source(evlist, 105));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* Endless churn takes no more memory than the events that are closed at one
 * time. */
static void targets_that_come_and_go_leave_no_memory(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uint64_t now = 1;
  size_t live = 0;
  uint32_t index;
  size_t i;

  (void)state;
  for (i = 0; i < 202; i++)
    fake_event_add(100 + i);
  evlist_make_records(&make, 1);
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  for (i = 0; i < 200; i++) {
    fake_clock_set_counters(now += SOON_NS / 4);
    assert_int_equal(
        uvperf__evlist_add_target(evlist, &make.targets[0], &index, NULL), 0);
    assert_int_equal(uvperf__evlist_remove_target(evlist, index, NULL, NULL),
                     0);
    uvperf__evlist_free_sources(evlist);
    if (i == 20)
      live = fake_live_allocations();
  }
  assert_int_equal(fake_live_allocations(), live);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* A group that was torn is opened again: 100 and 102 are closed. */
static void group_that_is_opened_again_has_new_sources(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[5];
  evlist_make_t make;

  (void)state;
  counters_script(events, 5);
  evlist_make_records(&make, 2);
  evlist_group(&make, 0, 2);
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = getpid();
  make.targets[0].cpus = "0";
  fake_fail(FAKE_READ, 1, -ECHILD);
  evlist = evlist_open(&make);
  assert_int_equal(events[2]->fd, -1);
  assert_int_equal(evlist_ring(evlist, 0)->nr_events, 2);
  assert_int_equal(evlist_source(evlist, 103)->attr_index, 0);
  assert_int_equal(evlist_source(evlist, 104)->attr_index, 1);
  /* The same shape for all. */
  assert_ptr_equal(evlist_source(evlist, 103)->attr,
                   evlist_source(evlist, 100)->attr);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* The change of a fallback for a later target is undone with the last event,
 * but not for records that were written with it. */
static void closed_event_is_decoded_as_it_was_opened(void **state) {
  uvperf__evlist_t *evlist;
  const uvperf_source_t *source;
  fake_event_t *events[3];
  evlist_make_t make;

  (void)state;
  counters_script(events, 3);
  evlist_make_records(&make, 1);
  evlist = evlist_open(&make);
  evlist_add_cpus(&make, "0");
  assert_int_equal(
      uvperf__evlist_add_target(evlist, &make.targets[0], NULL, NULL), 0);
  source = evlist_source(evlist, 100);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  /* A target that fails undoes what was tried for it. */
  fake_fail(FAKE_OPEN, 1, -ENOENT);
  assert_int_equal(
      uvperf__evlist_add_target(evlist, &make.targets[0], NULL, NULL), -ENOENT);
  assert_int_equal(
      uvperf__evlist_add_target(evlist, &make.targets[0], NULL, NULL), 0);
  assert_ptr_not_equal(evlist_source(evlist, 102)->attr, source->attr);
  assert_int_equal(source->attr->sample_type,
                   PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- overwritable rings --------------------------------------------------- */

static void prepend(fake_event_t *owner, uint64_t id, size_t nr) {
  sample_t sample = {{PERF_RECORD_SAMPLE, 0, sizeof(sample)}, id, 7, 8};

  while (nr-- > 0)
    fake_ring_prepend(owner, &sample, sizeof(sample));
}

static uvperf__evlist_t *open_overwritable(fake_event_t **events, size_t nr,
                                           evlist_make_t *make) {
  counters_script(events, nr);
  evlist_make_records(make, 1);
  make->options.flags |= UVPERF_SET_OVERWRITE;
  evlist_add_cpus(make, "0"); /* 100, ring 101 */
  return evlist_open(make);
}

/* Whether it was read does not matter: a snapshot can include everything in the
 * ring. */
static void
closed_event_is_known_until_its_records_are_overwritten(void **state) {
  const size_t nr = support_page_bytes() / sizeof(sample_t);
  uvperf__evlist_t *evlist;
  fake_event_t *events[2];
  evlist_make_t make;
  size_t i;

  (void)state;
  evlist = open_overwritable(events, 2, &make);
  assert_true(events[1]->attr.write_backward);
  prepend(events[1], 100, 3);
  fake_clock_set_counters(1);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  /* This one was being written. */
  prepend(events[1], 100, 1);
  fake_clock_set_counters(1 + SOON_NS);
  evlist_drain(evlist, NULL, NULL);
  for (i = 0; i < nr; i++) {
    uvperf__evlist_free_sources(evlist);
    assert_non_null(evlist_source(evlist, 100));
    prepend(events[1], 555, 1);
  }
  /* They do not fill the ring to its last byte. */
  uvperf__evlist_free_sources(evlist);
  assert_int_equal(evlist_source(evlist, 100) == NULL,
                   support_page_bytes() % sizeof(sample_t) == 0);
  prepend(events[1], 555, 1);
  uvperf__evlist_free_sources(evlist);
  assert_null(evlist_source(evlist, 100));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* Each writes one record: only as many are remembered as the ring has room for.
 * Later ones write nothing, and are forgotten at once. */
static void
targets_of_overwritable_rings_come_and_go_in_bounded_memory(void **state) {
  const size_t fit = support_page_bytes() / sizeof(sample_t) + 1;
  uvperf__evlist_t *evlist;
  fake_event_t *events[502];
  evlist_make_t make;
  uint64_t now = 1;
  size_t live = 0;
  uint32_t index;
  size_t i;

  (void)state;
  evlist = open_overwritable(events, 502, &make);
  for (i = 0; i < 500; i++) {
    fake_clock_set_counters(now += SOON_NS);
    uvperf__evlist_free_sources(evlist);
    assert_int_equal(
        uvperf__evlist_add_target(evlist, &make.targets[0], &index, NULL), 0);
    prepend(events[1], 102 + i, i < 450);
    assert_int_equal(uvperf__evlist_remove_target(evlist, index, NULL, NULL),
                     0);
    if (i == fit + 2)
      live = fake_live_allocations();
    if (i > fit + 2)
      assert_in_range(fake_live_allocations(), live - 1, live + 1);
    if (i == 449)
      assert_non_null(evlist_source(evlist, 102 + i - (fit - 3)));
  }
  assert_non_null(evlist_source(evlist, 102 + 449));
  assert_null(evlist_source(evlist, 102 + 480));
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- fork ----------------------------------------------------------------- */

static int free_in_child(void *arg) {
  uvperf__evlist_t *evlist = arg;

  fake_log_clear();
  uvperf__evlist_free_sources(evlist);
  uvperf__evlist_free(evlist);
  return strcmp(fake_log(), "close, close") != 0;
}

static void rings_of_the_parent_are_left_alone(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *owner;
  seen_t seen = {0, 0};

  (void)state;
  evlist = open_one(&owner);
  assert_int_equal(support_wait(support_fork(free_in_child, evlist)), 0);
  append(owner, 100);
  assert_int_equal(evlist_drain(evlist, see, &seen), 1);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static int setup(void **state) {
  fake_clock_set_counters(0);
  return evlist_make_setup(state);
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
