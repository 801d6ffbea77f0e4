/* SPDX-License-Identifier: MIT */
/* Several events that sample the same software event: Linux 6.18 writes into
 * all their samples what it has found out for the first one (do_perf_sw_event
 * in kernel/events/core.c), including its id. */
#include "make_evlist.h"
#include "live.h"

#include "attr/attr.h"

#define STREAM (PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_TID)

typedef struct seen_s {
  const char *region;
  unsigned samples;
} seen_t;

static void expect_a_touch(void *data, int status,
                           const uvperf_record_t *record) {
  seen_t *seen = data;
  uint64_t i = seen->samples++ / 2;

  assert_int_equal(status, 0);
  assert_int_equal(record->type, PERF_RECORD_SAMPLE);
  assert_int_equal(record->tid, live_tid());
  assert_int_equal(record->addr, live_touched(seen->region, i));
  if (record->present & PERF_SAMPLE_PERIOD)
    assert_int_equal(record->period, 1);
  if (record->present & PERF_SAMPLE_STREAM_ID)
    assert_true(record->stream_id > 1);
  if (record->present & PERF_SAMPLE_CALLCHAIN)
    assert_in_range(record->sample.callchain.nr, 1, 64);
  if (record->present & PERF_SAMPLE_REGS_USER)
    assert_int_equal(record->sample.regs_user.nr, 2);
  /* What follows the stack in a record. */
  if (record->present & PERF_SAMPLE_STACK_USER) {
    assert_int_equal(record->sample.stack_user.size, 512);
    assert_in_range(record->sample.stack_user.dyn_size, 8, 512);
    assert_int_not_equal(record->sample.data_src, 0);
    assert_int_equal(record->sample.regs_intr.nr, 2);
  }
}

/* Each page that is touched is a sample of both attrs. */
static void expect_both(const struct perf_event_attr *attrs) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  seen_t seen = {NULL, 0};
  cpu_set_t old;
  char *region;

  evlist_make_records(&make, 2);
  make.options.ring_bytes = 16 * support_page_bytes();
  memcpy(make.attrs, attrs, 2 * sizeof(attrs[0]));
  evlist_add(&make, UVPERF_TARGET_SELF);
  live_pin(live_last_cpu(), &old);
  evlist = evlist_open(&make);
  region = live_region();
  seen.region = region;
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  live_touch(region);
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  live_unpin(&old);
  evlist_drain(evlist, expect_a_touch, &seen);
  assert_int_equal(seen.samples, 2 * LIVE_PAGES);
  live_region_free(region);
  uvperf__evlist_free(evlist);
}

static void samples_of_one_software_event_are_read_right(void **state) {
  static const uint64_t types[][2] = {
      {PERF_SAMPLE_TID, PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD},
      {PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD, STREAM},
      {STREAM, PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD},
      {PERF_SAMPLE_TID, PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN},
      {PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_TID},
      {STREAM | PERF_SAMPLE_READ, PERF_SAMPLE_TID},
      {PERF_SAMPLE_TID, PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER},
      {PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER,
       PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER},
  };
  struct perf_event_attr attrs[2];
  size_t i, j;

  support_need_own_events(__func__);
  for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
    for (j = 0; j < 2; j++) {
      live_touch_attr(&attrs[j], types[i][j] | PERF_SAMPLE_ADDR);
      if (types[i][j] & PERF_SAMPLE_REGS_USER)
        attrs[j].sample_regs_user = 3;
    }
    if (types[i][0] & types[i][1] & PERF_SAMPLE_REGS_USER) {
      attrs[0].sample_regs_user = 1;
      attrs[1].sample_regs_user = 2;
    }
    expect_both(attrs);
  }
}

/* Fields of eight bytes follow the stack: the kernel wrote that many too many
 * if the second had the bit and no bytes. */
static void samples_with_a_stack_of_one_attr_are_read_right(void **state) {
  static const uint32_t sizes[][2] = {{512, 0}, {0, 512}, {512, 64}, {64, 512}};
  struct perf_event_attr attrs[2];
  size_t i, j;

  support_need_own_events(__func__);
  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    for (j = 0; j < 2; j++) {
      live_touch_attr(&attrs[j], PERF_SAMPLE_TID | PERF_SAMPLE_ADDR |
                                     PERF_SAMPLE_DATA_SRC |
                                     PERF_SAMPLE_REGS_INTR);
      attrs[j].sample_regs_intr = 3;
      attrs[j].sample_stack_user = sizes[i][j];
      if (sizes[i][j] != 0)
        attrs[j].sample_type |= PERF_SAMPLE_STACK_USER;
    }
    expect_both(attrs);
  }
}

static void assert_stack(const uvperf__evlist_t *evlist, size_t nr,
                         uint32_t bytes) {
  const struct perf_event_attr *opened;
  size_t i;

  for (i = 0; i < nr; i++) {
    opened = uvperf__evlist_item(evlist, i)->attr;
    assert_true(opened->sample_type & PERF_SAMPLE_STACK_USER);
    assert_int_equal(opened->sample_stack_user, bytes);
    assert_in_range(opened->size, PERF_ATTR_SIZE_VER3, sizeof(*opened));
  }
}

/* An attr without PERF_SAMPLE_STACK_USER has no stack, whatever its size field
 * says. If a stack does not fit into its ring, the error names the attr that
 * asked for it. */
static void attrs_of_one_software_event_get_the_largest_stack(void **state) {
  uint32_t page = (uint32_t)support_page_bytes();
  uvperf__evlist_t *evlist;
  fake_event_t *events[4];
  evlist_make_t make;
  uvperf_error_t error;
  size_t i;

  counters_script(events, 4);
  evlist_make_records(&make, 4);
  for (i = 0; i < 4; i++) {
    make.attrs[i].config = PERF_COUNT_SW_PAGE_FAULTS;
    make.attrs[i].sample_type = PERF_SAMPLE_STACK_USER;
  }
  make.attrs[0].size = PERF_ATTR_SIZE_VER0;
  make.attrs[0].sample_type = PERF_SAMPLE_TID;
  make.attrs[1].sample_type = PERF_SAMPLE_TID;
  make.attrs[1].sample_stack_user = 2 * page;
  make.attrs[2].sample_stack_user = page;
  make.attrs[3].sample_stack_user = 8;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  assert_stack(evlist, 4, page);
  uvperf__evlist_free(evlist);
  make.options.flags |= UVPERF_SET_OVERWRITE;
  make.options.ring_bytes = page;
  make.options.nr_targets = 0;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.attr_index, 2);
  assert_non_null(strstr(error.reason, "sample_stack_user"));
}

/* An attr of the first version has no room for registers. */
static void attrs_of_one_software_event_get_each_others_fields(void **state) {
  const struct perf_event_attr *opened;
  uvperf__evlist_t *evlist;
  fake_event_t *events[4];
  evlist_make_t make;
  size_t i;

  counters_script(events, 4);
  evlist_make_records(&make, 3);
  for (i = 0; i < 3; i++) {
    make.attrs[i].config = PERF_COUNT_SW_PAGE_FAULTS;
    make.attrs[i].sample_type = PERF_SAMPLE_TID;
  }
  make.attrs[0].size = PERF_ATTR_SIZE_VER0;
  make.attrs[1].sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR;
  make.attrs[1].sample_regs_intr = 6;
  make.attrs[2].config = PERF_COUNT_SW_CPU_CLOCK;
  evlist_add_cpus(&make, "0");
  evlist = evlist_open(&make);
  for (i = 0; i < 2; i++) {
    opened = uvperf__evlist_item(evlist, i)->attr;
    assert_int_equal(opened->sample_type, PERF_SAMPLE_TID | PERF_SAMPLE_IP |
                                              PERF_SAMPLE_REGS_INTR |
                                              PERF_SAMPLE_IDENTIFIER);
    assert_int_equal(opened->sample_regs_intr, 6);
    assert_in_range(opened->size, PERF_ATTR_SIZE_VER4, sizeof(*opened));
  }
  opened = uvperf__evlist_item(evlist, 2)->attr;
  assert_int_equal(opened->sample_type,
                   PERF_SAMPLE_TID | PERF_SAMPLE_IDENTIFIER);
  uvperf__evlist_free(evlist);
  fake_assert_clean();
}

/* Each attr alone has samples of 65528 bytes at most. */
static void attrs_whose_samples_get_too_long_are_refused(void **state) {
  evlist_make_t make;
  uvperf_error_t error;

  evlist_make_records(&make, 2);
  make.attrs[0].config = PERF_COUNT_SW_PAGE_FAULTS;
  make.attrs[0].sample_type = PERF_SAMPLE_STACK_USER;
  make.attrs[0].sample_stack_user = 65528;
  make.attrs[1].config = PERF_COUNT_SW_PAGE_FAULTS;
  make.attrs[1].sample_type = PERF_SAMPLE_REGS_INTR;
  make.attrs[1].sample_regs_intr = 6;
  evlist_add_cpus(&make, "0");
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.attr_index, 0);
  assert_non_null(strstr(error.reason, "sample_stack_user"));
  /* Because of the identifier that a set adds. */
  make.attrs[0].sample_type |= PERF_SAMPLE_REGS_INTR;
  make.attrs[0].sample_regs_intr = 6;
  make.attrs[0].sample_stack_user = 65528 - 6 * 8;
  assert_null(uvperf__attr_fault(&make.attrs[0]));
  make.attrs[1].config = PERF_COUNT_SW_CPU_CLOCK;
  evlist_refused(&make, &error, -EINVAL, UVPERF_CAUSE_ARGUMENT);
  assert_int_equal(error.attr_index, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(samples_of_one_software_event_are_read_right,
                             evlist_make_setup),
      cmocka_unit_test_setup(samples_with_a_stack_of_one_attr_are_read_right,
                             evlist_make_setup),
      cmocka_unit_test_setup(attrs_of_one_software_event_get_the_largest_stack,
                             evlist_make_setup),
      cmocka_unit_test_setup(attrs_of_one_software_event_get_each_others_fields,
                             evlist_make_setup),
      cmocka_unit_test_setup(attrs_whose_samples_get_too_long_are_refused,
                             evlist_make_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
