/* SPDX-License-Identifier: MIT */
/* Scripted: which options are valid for records, and how they change attrs. */
#include "evlist_make.h"

#include <errno.h>
#include <time.h>

#include "evlist/records.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static void records_of(evlist_make_t *make, size_t nr_attrs) {
  evlist_make(make, nr_attrs);
  make->options.flags = UVPERF_SET_RECORDS;
}

/* An attr that samples. */
static void sample(evlist_make_t *make, size_t attr, uint64_t sample_type) {
  make->attrs[attr].sample_period = 1000;
  make->attrs[attr].sample_type = sample_type;
}

/* -- options -------------------------------------------------------------- */

static void options_that_cannot_be_are_refused(void **state) {
  const struct {
    uint32_t flags;
    uint32_t side_band;
    uint32_t wakeup_bytes;
    size_t ring_bytes;
    uint32_t slack_us;
    int code;
    const char *piece;
  } cases[] = {
      {UVPERF_SET_TIME_ORDER, 0, 0, 0, 0, -EINVAL,
       "UVPERF_SET_TIME_ORDER needs UVPERF_SET_RECORDS"},
      {0, UVPERF_SIDE_BAND_TASKS, 0, 0, 0, -EINVAL,
       "options.side_band needs UVPERF_SET_RECORDS"},
      {0, 0, 1, 0, 0, -EINVAL, "options.wakeup_bytes needs UVPERF_SET_RECORDS"},
      {0, 0, 0, 4096, 0, -EINVAL,
       "options.ring_bytes needs UVPERF_SET_RECORDS"},
      {UVPERF_SET_RECORDS, 0, 0, 0, 1, -EINVAL,
       "options.slack_us needs UVPERF_SET_TIME_ORDER"},
      {UVPERF_SET_RECORDS, 1u << 31, 0, 0, 0, -EINVAL,
       "options.side_band 0x80000000 has unknown bits"},
      {UVPERF_SET_RECORDS, 1024, 0, 0, 0, -EINVAL,
       "options.side_band 0x400 has unknown bits"},
      {UVPERF_SET_RECORDS, UVPERF_SIDE_BAND_BUILD_ID, 0, 0, 0, -EINVAL,
       "UVPERF_SIDE_BAND_BUILD_ID needs UVPERF_SIDE_BAND_MMAP or"},
      {UVPERF_SET_RECORDS, 0, 1 << 30, 0, 0, -EINVAL,
       "options.wakeup_bytes 1073741824 is more than half of the ring"},
      {UVPERF_SET_RECORDS, 0, 0, SIZE_MAX, 0, -EINVAL, "options.ring_bytes"},
      {UVPERF_SET_OVERWRITE, 0, 0, 0, 0, -EINVAL,
       "UVPERF_SET_OVERWRITE needs UVPERF_SET_RECORDS"},
      {UVPERF_SET_RECORDS | UVPERF_SET_OVERWRITE, 0, 1, 0, 0, -EINVAL,
       "options.wakeup_bytes must be 0 with UVPERF_SET_OVERWRITE"},
      {UVPERF_SET_RECORDS | UVPERF_SET_OVERWRITE | UVPERF_SET_TIME_ORDER, 0, 0,
       0, 5, -EINVAL, "options.slack_us must be 0 with UVPERF_SET_OVERWRITE"},
      {1u << 31, 0, 0, 0, 0, -EINVAL, "flags 0x80000000 has unknown bits"},
  };
  evlist_make_t make;
  uvperf_error_t error;
  size_t i;

  (void)state;
  for (i = 0; i < COUNT_OF(cases); i++) {
    evlist_make(&make, 1);
    make.options.flags = cases[i].flags;
    make.options.side_band = cases[i].side_band;
    make.options.wakeup_bytes = cases[i].wakeup_bytes;
    make.options.ring_bytes = cases[i].ring_bytes;
    make.options.slack_us = cases[i].slack_us;
    evlist_refused(&make, &error, cases[i].code, UVPERF_CAUSE_ARGUMENT);
    if (strstr(error.reason, cases[i].piece) == NULL)
      fail_msg("%s: %s", cases[i].piece, error.reason);
  }
}

static void options_of_records_are_taken_together(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  records_of(&make, 1);
  make.options.flags |= UVPERF_SET_TIME_ORDER;
  make.options.side_band = UVPERF_SIDE_BAND_MMAP | UVPERF_SIDE_BAND_BUILD_ID;
  make.options.ring_bytes = 16384;
  make.options.wakeup_bytes = 8192;
  make.options.slack_us = 5;
  evlist = evlist_open(&make);
  assert_non_null(uvperf__evlist_rings(evlist));
  assert_non_null(uvperf__evlist_decoder(evlist));
  /* There is nothing to measure yet. */
  assert_int_equal(uvperf__cpu_rings_nr(uvperf__evlist_rings(evlist)), 0);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void counters_without_records_have_no_rings(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  evlist_make(&make, 1);
  sample(&make, 0, PERF_SAMPLE_IP);
  evlist_add_cpus(&make, "0");
  fake_event_add(1);
  evlist = evlist_open(&make);
  assert_null(uvperf__evlist_rings(evlist));
  assert_null(uvperf__evlist_decoder(evlist));
  assert_int_equal(evlist->records->clockid, -1);
  uvperf__evlist_free_sources(evlist);
  assert_string_equal(fake_log(), "open");
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void backward_attr_without_overwritable_rings_is_refused(void **state) {
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  records_of(&make, 2);
  make.attrs[1].write_backward = 1;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.attr_index, 1);
  assert_non_null(strstr(
      error.reason,
      "attr 1 has write_backward; set UVPERF_SET_OVERWRITE in options.flags"));
}

/* Without records nothing can be damaged. */
static void attr_whose_samples_spoil_the_ring_is_refused(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  records_of(&make, 2);
  make.attrs[0].sample_type = PERF_SAMPLE_STACK_USER; /* only counts */
  sample(&make, 1, PERF_SAMPLE_STACK_USER);
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.attr_index, 1);
  assert_non_null(strstr(error.reason, "attr 1 has sample_stack_user 0 with "
                                       "PERF_SAMPLE_STACK_USER"));
  make.options.flags = 0;
  evlist = evlist_open(&make);
  uvperf__evlist_free(evlist);
  make.options.flags = UVPERF_SET_RECORDS;
  make.attrs[1].sample_stack_user = 8;
  evlist = evlist_open(&make);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void overwrite_term_of_a_name_needs_overwritable_rings(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  records_of(&make, 0);
  make.options.names = "cpu-clock/period=1000,overwrite/";
  assert_int_equal(uvperf__evlist_new(&evlist, &make.options, &error), -EINVAL);
  assert_non_null(strstr(error.reason, "UVPERF_SET_OVERWRITE"));
  make.options.flags |= UVPERF_SET_OVERWRITE;
  evlist = evlist_open(&make);
  assert_true(uvperf__evlist_item(evlist, 0)->attr->write_backward);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void read_records_of_children_are_refused(void **state) {
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  records_of(&make, 2);
  make.attrs[1].inherit = 1;
  make.attrs[1].inherit_stat = 1;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.attr_index, 1);
  assert_non_null(strstr(error.reason, "attr 1 has inherit_stat"));
}

/* -- what attrs get ------------------------------------------------------- */

static const struct perf_event_attr *attr_of(const uvperf__evlist_t *evlist,
                                             size_t attr) {
  return uvperf__evlist_item(evlist, attr)->attr;
}

static void records_of_each_attr_can_be_matched(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  size_t i;

  (void)state;
  records_of(&make, 3);
  sample(&make, 0, PERF_SAMPLE_IP | PERF_SAMPLE_READ);
  make.attrs[0].wakeup_events = 7;
  make.attrs[1].comm = 1;
  make.attrs[2].sample_type = PERF_SAMPLE_READ;
  evlist = evlist_open(&make);
  for (i = 0; i < 3; i++)
    assert_true(attr_of(evlist, i)->sample_id_all);
  assert_int_equal(attr_of(evlist, 0)->sample_type,
                   PERF_SAMPLE_IP | PERF_SAMPLE_READ | PERF_SAMPLE_IDENTIFIER);
  assert_int_equal(attr_of(evlist, 0)->wakeup_events, 7);
  assert_int_equal(attr_of(evlist, 0)->read_format & PERF_FORMAT_ID,
                   PERF_FORMAT_ID);
  assert_int_equal(attr_of(evlist, 1)->sample_type, PERF_SAMPLE_IDENTIFIER);
  /* It has no samples to be read in. */
  assert_int_equal(attr_of(evlist, 2)->sample_type, PERF_SAMPLE_IDENTIFIER);
  for (i = 0; i < 3; i++)
    assert_int_equal(attr_of(evlist, i)->clockid, CLOCK_MONOTONIC);
  assert_int_equal(evlist->records->clockid, CLOCK_MONOTONIC);
  uvperf__evlist_free(evlist);
}

static void perf_clock_leaves_each_attr_its_own(void **state) {
  uvperf__evlist_t *evlist;
  uvperf_error_t error;
  evlist_make_t make;

  (void)state;
  records_of(&make, 1);
  make.options.flags |= UVPERF_SET_PERF_CLOCK;
  sample(&make, 0, PERF_SAMPLE_IP | PERF_SAMPLE_TIME);
  evlist = evlist_open(&make);
  assert_false(attr_of(evlist, 0)->use_clockid);
  assert_int_equal(evlist->records->clockid, -1);
  uvperf__evlist_free(evlist);

  make.options.flags |= UVPERF_SET_TIME_ORDER;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(error.reason, "leave UVPERF_SET_PERF_CLOCK out"));
  make.options.flags = UVPERF_SET_PERF_CLOCK;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(
      strstr(error.reason, "needs UVPERF_SET_RECORDS in options.flags"));
}

static void time_order_adds_time_and_a_clock(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  records_of(&make, 3);
  make.options.flags |= UVPERF_SET_TIME_ORDER;
  make.options.side_band = UVPERF_SIDE_BAND_TASKS;
  sample(&make, 0, PERF_SAMPLE_IP);
  sample(&make, 1, PERF_SAMPLE_IP);
  make.attrs[1].size = PERF_ATTR_SIZE_VER0;
  evlist = evlist_open(&make);
  assert_int_equal(attr_of(evlist, 0)->sample_type,
                   PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER);
  assert_true(attr_of(evlist, 0)->use_clockid);
  assert_int_equal(attr_of(evlist, 0)->clockid, CLOCK_MONOTONIC);
  assert_int_equal(attr_of(evlist, 0)->size, sizeof(make.attrs[0]));
  /* Its first version has no clock. */
  assert_int_equal(attr_of(evlist, 1)->size, PERF_ATTR_SIZE_VER3);
  assert_int_equal(attr_of(evlist, 1)->clockid, CLOCK_MONOTONIC);
  /* It writes nothing, but may be of a group with one that does. */
  assert_int_equal(attr_of(evlist, 2)->clockid, CLOCK_MONOTONIC);
  assert_int_equal(attr_of(evlist, 2)->sample_type & PERF_SAMPLE_TIME, 0);
  assert_true(attr_of(evlist, 3)->use_clockid);
  assert_int_equal(attr_of(evlist, 3)->clockid, CLOCK_MONOTONIC);
  assert_int_equal(evlist->records->clockid, CLOCK_MONOTONIC);
  uvperf__evlist_free(evlist);
}

static void clock_of_the_attrs_is_that_of_all(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  records_of(&make, 3);
  make.options.flags |= UVPERF_SET_TIME_ORDER;
  make.options.side_band = UVPERF_SIDE_BAND_TASKS;
  sample(&make, 1, PERF_SAMPLE_IP);
  sample(&make, 2, PERF_SAMPLE_IP);
  make.attrs[2].use_clockid = 1;
  make.attrs[2].clockid = CLOCK_BOOTTIME;
  evlist = evlist_open(&make);
  assert_int_equal(evlist->records->clockid, CLOCK_BOOTTIME);
  /* Also if the user has chosen none. */
  assert_int_equal(attr_of(evlist, 1)->clockid, CLOCK_BOOTTIME);
  assert_int_equal(attr_of(evlist, 3)->clockid, CLOCK_BOOTTIME);
  uvperf__evlist_free(evlist);
}

static void clocks_that_differ_are_refused(void **state) {
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  records_of(&make, 3);
  sample(&make, 0, PERF_SAMPLE_IP);
  sample(&make, 2, PERF_SAMPLE_IP);
  make.attrs[0].use_clockid = make.attrs[2].use_clockid = 1;
  make.attrs[0].clockid = CLOCK_BOOTTIME;
  make.attrs[2].clockid = CLOCK_MONOTONIC;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.attr_index, 2);
  assert_non_null(strstr(error.reason, "attrs 0 and 2 share a ring"));
  assert_non_null(strstr(error.reason, "not a clock (clockid 7, clockid 1)"));
  make.attrs[0].use_clockid = 0;
  make.options.flags |= UVPERF_SET_PERF_CLOCK;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(
      strstr(error.reason, "not a clock (the kernel's own clock, clockid 1)"));
  /* An event that writes nothing has no clock. */
  make.attrs[0].sample_period = 0;
  uvperf__evlist_free(evlist_open(&make));
  fake_assert_clean();
}

/* -- overwritable rings --------------------------------------------------- */

static void overwritable_rings_have_all_that_write_go_backward(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  records_of(&make, 4);
  make.options.flags |= UVPERF_SET_OVERWRITE;
  make.options.side_band = UVPERF_SIDE_BAND_TASKS;
  sample(&make, 0, PERF_SAMPLE_IP);
  make.attrs[0].wakeup_events = 1;
  sample(&make, 1, PERF_SAMPLE_IP);
  make.attrs[1].size = PERF_ATTR_SIZE_VER0;
  make.attrs[2].comm = 1;
  make.attrs[2].watermark = 1;
  make.attrs[2].wakeup_watermark = 4096;
  make.attrs[2].write_backward = 1;
  evlist = evlist_open(&make);
  assert_true(attr_of(evlist, 0)->write_backward);
  assert_true(attr_of(evlist, 1)->write_backward);
  assert_true(attr_of(evlist, 2)->write_backward);
  assert_false(attr_of(evlist, 3)->write_backward); /* it only counts */
  assert_true(attr_of(evlist, 4)->write_backward);
  /* No wakeup is requested. */
  assert_int_equal(attr_of(evlist, 0)->wakeup_events, 0);
  assert_int_equal(attr_of(evlist, 2)->wakeup_watermark, 0);
  assert_false(attr_of(evlist, 2)->watermark);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void overwritable_rings_in_time_order_have_a_clock(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  records_of(&make, 1);
  make.options.flags |= UVPERF_SET_OVERWRITE | UVPERF_SET_TIME_ORDER;
  sample(&make, 0, PERF_SAMPLE_IP);
  evlist = evlist_open(&make);
  assert_true(attr_of(evlist, 0)->write_backward);
  assert_true(attr_of(evlist, 0)->use_clockid);
  assert_int_equal(evlist->records->clockid, CLOCK_MONOTONIC);
  uvperf__evlist_free(evlist);
}

/* The kernel writes a record that is larger than such a ring over its own
 * header. */
static void overwritable_rings_are_above_the_largest_stack(void **state) {
  uint32_t page = (uint32_t)support_page_bytes();
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  records_of(&make, 3);
  make.options.flags |= UVPERF_SET_OVERWRITE;
  make.options.ring_bytes = page;
  sample(&make, 0, PERF_SAMPLE_STACK_USER);
  make.attrs[0].sample_stack_user = 8;
  sample(&make, 1, PERF_SAMPLE_STACK_USER);
  make.attrs[1].sample_stack_user = page;
  /* An event that only counts has no samples. */
  make.attrs[2].sample_type = PERF_SAMPLE_STACK_USER;
  make.attrs[2].sample_stack_user = 2 * page;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.attr_index, 1);
  assert_non_null(strstr(error.reason, "sample_stack_user"));
  make.options.ring_bytes = page + 1;
  evlist = evlist_open(&make);
  uvperf__evlist_free(evlist);
  make.options.ring_bytes = page;
  make.options.flags &= ~UVPERF_SET_OVERWRITE;
  evlist = evlist_open(&make);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* -- side-band ------------------------------------------------------------ */

static void side_band_is_one_attr_more(void **state) {
  static const struct {
    uint32_t bit;
    enum uvperf_attr_field fields[4]; /* besides comm_exec; ended by 0 */
  } bits[] = {
      {UVPERF_SIDE_BAND_TASKS, {UVPERF_ATTR_TASK, UVPERF_ATTR_COMM}},
      {UVPERF_SIDE_BAND_MMAP, {UVPERF_ATTR_MMAP, UVPERF_ATTR_MMAP2}},
      {UVPERF_SIDE_BAND_MMAP_DATA, {UVPERF_ATTR_MMAP_DATA, UVPERF_ATTR_MMAP2}},
      {UVPERF_SIDE_BAND_MMAP | UVPERF_SIDE_BAND_BUILD_ID,
       {UVPERF_ATTR_MMAP, UVPERF_ATTR_MMAP2, UVPERF_ATTR_BUILD_ID}},
      {UVPERF_SIDE_BAND_SWITCH, {UVPERF_ATTR_CONTEXT_SWITCH}},
      {UVPERF_SIDE_BAND_NAMESPACES, {UVPERF_ATTR_NAMESPACES}},
      {UVPERF_SIDE_BAND_KSYMBOL, {UVPERF_ATTR_KSYMBOL}},
      {UVPERF_SIDE_BAND_BPF_EVENT, {UVPERF_ATTR_BPF_EVENT}},
      {UVPERF_SIDE_BAND_CGROUP, {UVPERF_ATTR_CGROUP}},
      {UVPERF_SIDE_BAND_TEXT_POKE, {UVPERF_ATTR_TEXT_POKE}},
  };
  uvperf__evlist_t *evlist;
  struct perf_event_attr expected;
  evlist_make_t make;
  size_t i, field;

  (void)state;
  for (i = 0; i < COUNT_OF(bits); i++) {
    records_of(&make, 1);
    make.options.side_band = bits[i].bit;
    evlist = evlist_open(&make);
    assert_int_equal(uvperf__evlist_nr_attrs(evlist), 2);
    uvperf_attr_software(&expected, PERF_COUNT_SW_DUMMY);
    expected.exclude_kernel = expected.exclude_hv = 1;
    expected.comm_exec = 1;
    expected.sample_id_all = 1;
    expected.use_clockid = 1;
    expected.clockid = CLOCK_MONOTONIC;
    expected.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                           PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
    expected.read_format = attr_of(evlist, 1)->read_format;
    for (field = 0; field < 4 && bits[i].fields[field] != 0; field++)
      assert_int_equal(uvperf_attr_set(&expected, bits[i].fields[field], 1), 0);
    assert_memory_equal(attr_of(evlist, 1), &expected, sizeof(expected));
    assert_string_equal(uvperf__evlist_item(evlist, 1)->label, "dummy:u");
    assert_int_equal(uvperf__evlist_item(evlist, 1)->leader, 1);
    assert_int_equal(uvperf__evlist_item(evlist, 1)->group, -1);
    uvperf__evlist_free(evlist);
  }
  fake_assert_clean();
}

static void side_band_alone_needs_no_attrs(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  records_of(&make, 0);
  make.options.attrs = NULL;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  make.options.side_band = UVPERF_SIDE_BAND_TASKS;
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_attrs(evlist), 1);
  assert_true(attr_of(evlist, 0)->comm);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

static void side_band_comes_after_a_list(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;

  (void)state;
  records_of(&make, 0);
  make.options.names = "{task-clock,page-faults}:S";
  make.options.side_band = UVPERF_SIDE_BAND_MMAP;
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_attrs(evlist), 3);
  assert_string_equal(uvperf__evlist_item(evlist, 0)->label, "task-clock");
  assert_int_equal(uvperf__evlist_item(evlist, 1)->leader, 0);
  assert_string_equal(uvperf__evlist_item(evlist, 2)->label, "dummy:u");
  assert_true(attr_of(evlist, 2)->mmap2);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* The dummy is opened first, and then the ring's owner. */
static void side_band_alone_is_not_enough_for_a_set(void **state) {
  uvperf__evlist_t *evlist;
  fake_event_t *events[4];
  evlist_make_t make;
  uvperf_error_t error;

  (void)state;
  counters_script(events, 4);
  records_of(&make, 1);
  make.options.side_band = UVPERF_SIDE_BAND_TASKS;
  evlist_add_cpus(&make, "0");
  fake_fail(FAKE_OPEN, 3, -EACCES);
  evlist_refused(&make, &error, -EACCES, UVPERF_CAUSE_PERMISSION);
  assert_int_equal(error.attr_index, 0);

  make.options.nr_targets = 0;
  evlist = evlist_open(&make);
  fake_fail(FAKE_OPEN, 3, -EACCES);
  assert_int_equal(
      uvperf__evlist_add_target(evlist, &make.targets[0], NULL, &error),
      -EACCES);
  assert_int_equal(uvperf__evlist_nr_open(evlist), 0);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

#define test(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  static const struct CMUnitTest tests[] = {
      test(options_that_cannot_be_are_refused),
      test(options_of_records_are_taken_together),
      test(counters_without_records_have_no_rings),
      test(backward_attr_without_overwritable_rings_is_refused),
      test(attr_whose_samples_spoil_the_ring_is_refused),
      test(overwrite_term_of_a_name_needs_overwritable_rings),
      test(read_records_of_children_are_refused),
      test(records_of_each_attr_can_be_matched),
      test(time_order_adds_time_and_a_clock),
      test(perf_clock_leaves_each_attr_its_own),
      test(clock_of_the_attrs_is_that_of_all),
      test(clocks_that_differ_are_refused),
      test(overwritable_rings_have_all_that_write_go_backward),
      test(overwritable_rings_in_time_order_have_a_clock),
      test(overwritable_rings_are_above_the_largest_stack),
      test(side_band_is_one_attr_more),
      test(side_band_alone_needs_no_attrs),
      test(side_band_comes_after_a_list),
      test(side_band_alone_is_not_enough_for_a_set),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
