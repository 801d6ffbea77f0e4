/* SPDX-License-Identifier: MIT */
/* The attr of a map's events: the user's, and the library's changes. */
#include "support.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <time.h>

#include "attr/attr.h"
#include "scripted_outputs.h"
#include "sys/sys.h"
#include "uvperf.h"

#define scripted scripted_outputs

static uvperf__cpu_ring_t *ring_of(int cpu) {
  return uvperf__cpu_rings_find(uvperf__bpf_outputs_rings(scripted.outputs),
                                cpu);
}

static void attr_by_default_is_bpf_output_with_raw(void **state) {
  const struct perf_event_attr *attr;

  scripted_outputs_open();
  attr = uvperf__bpf_outputs_attr(scripted.outputs);
  assert_int_equal(attr->type, PERF_TYPE_SOFTWARE);
  assert_int_equal(attr->config, PERF_COUNT_SW_BPF_OUTPUT);
  assert_int_equal(attr->sample_type, PERF_SAMPLE_RAW);
  assert_int_equal(attr->sample_period, 1);
  assert_true(attr->disabled);
  assert_false(attr->write_backward);
  assert_true(attr->watermark);
  assert_memory_equal(attr, &scripted.events[0]->attr, attr->size);
  assert_false(scripted.events[1]->attr.write_backward);
}

static void attr_of_the_user_is_copied(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_TIME;
  attr.use_clockid = 1;
  attr.clockid = CLOCK_MONOTONIC;
  attr.write_backward = 1;
  attr.wakeup_events = 77;
  scripted.options.attr = &attr;
  scripted_outputs_open();
  memset(&attr, 0xff, sizeof(attr));
  assert_int_equal(scripted.events[0]->attr.sample_type,
                   PERF_SAMPLE_RAW | PERF_SAMPLE_TIME);
  assert_false(scripted.events[0]->attr.write_backward);
  assert_true(scripted.events[0]->attr.disabled);
  assert_true(scripted.events[0]->attr.watermark);
  /* perf_event_set_output requires the same clock. */
  assert_true(scripted.events[1]->attr.use_clockid);
  assert_int_equal(scripted.events[1]->attr.clockid, CLOCK_MONOTONIC);
  assert_false(scripted.events[1]->attr.write_backward);
}

static void attr_of_the_first_size_will_do(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_type = PERF_SAMPLE_RAW;
  attr.size = 0;
  scripted.options.attr = &attr;
  scripted_outputs_open();
  /* With room for a clock. */
  assert_int_equal(scripted.events[0]->attr.size, PERF_ATTR_SIZE_VER3);
  assert_int_equal(scripted.events[0]->attr.clockid, CLOCK_MONOTONIC);
}

static void overwrite_is_of_event_and_ring(void **state) {
  scripted.options.overwrite = 1;
  scripted.options.wakeup_events = 1;
  scripted_outputs_open();
  assert_true(scripted.events[0]->attr.write_backward);
  /* No sample asks for a wakeup. */
  assert_true(scripted.events[0]->attr.watermark);
  assert_true(scripted.events[1]->attr.write_backward);
  assert_true(ring_of(0)->ring.overwrite);
}

/* The largest dump of a stack fits into one, even if rings shrink. */
static void stack_is_below_an_overwritable_ring(void **state) {
  struct perf_event_attr attr;

  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_STACK_USER;
  attr.sample_stack_user = (uint32_t)support_page_bytes();
  scripted.options.attr = &attr;
  scripted.options.overwrite = 1;
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT, "sample_stack_user");
  assert_int_equal(fake_count(FAKE_OPEN), 0);
  scripted.options.ring_bytes = 0;
  fake_fail_from(FAKE_MMAP, 1, -EPERM);
  scripted_outputs_refused(-EPERM, UVPERF_CAUSE_LOCKED_MEMORY, "");
  /* Down to two pages. */
  assert_int_equal(
      fake_count(FAKE_MMAP),
      __builtin_ctzl(UVPERF__RING_DEFAULT_BYTES / support_page_bytes()));
  scripted_outputs_again();
  /* Without the bit the field means nothing; nor does it of other rings. */
  attr.sample_type = PERF_SAMPLE_RAW;
  scripted.options.attr = &attr;
  scripted.options.overwrite = 1;
  scripted_outputs_open();
  uvperf__bpf_outputs_free(scripted.outputs);
  attr.sample_type |= PERF_SAMPLE_STACK_USER;
  scripted.options.overwrite = 0;
  scripted_outputs_open();
}

static void wakeups_are_by_records_or_by_bytes(void **state) {
  const struct {
    uint32_t events;
    uint32_t bytes;
    int has_comm;
    uint32_t watermark; /* the ring owner's */
  } cases[] = {
      {0, 0, 0, 1024},
      {5, 0, 0, 1024},
      {1, 0, 0, 1024},
      {INT32_MAX, 0, 0, 1024},
      {0, 300, 0, 300},
      {0, 1, 1, 1},
      {5, 0, 1, 1024},
      /* Each record wakes, and records other than samples do not count. */
      {1, 0, 1, 1},
  };
  const struct perf_event_attr *event, *owner;
  struct perf_event_attr attr;
  size_t i;

  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_type = PERF_SAMPLE_RAW;
  scripted.options.attr = &attr;
  scripted.options.ring_bytes = 4096;
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    attr.comm = cases[i].has_comm != 0;
    scripted.options.wakeup_events = cases[i].events;
    scripted.options.wakeup_bytes = cases[i].bytes;
    scripted_outputs_open();
    event = &scripted.events[8 * i]->attr;
    owner = &scripted.events[8 * i + 1]->attr;
    assert_int_equal(event->watermark, cases[i].events == 0);
    if (cases[i].events != 0)
      assert_int_equal(event->wakeup_events, cases[i].events);
    assert_true(owner->watermark);
    assert_int_equal(owner->wakeup_watermark, cases[i].watermark);
    uvperf__bpf_outputs_free(scripted.outputs);
    scripted.outputs = NULL;
  }
}

/* The kernel opens each of them, and takes all but inherit into the map. */
static void attr_of_which_nothing_right_comes_is_einval(void **state) {
  struct perf_event_attr attr;

  scripted.options.attr = &attr;
  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);
  attr.sample_type = PERF_SAMPLE_RAW;
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT, "returns -EINVAL");
  uvperf_attr_init(&attr, PERF_TYPE_HARDWARE, PERF_COUNT_SW_BPF_OUTPUT);
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT, "returns -EINVAL");
  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.inherit = 1;
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT, "attr has inherit");
  attr.inherit = 0;
  attr.sample_type = PERF_SAMPLE_RAW | PERF_SAMPLE_STACK_USER;
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT, "next record");
  /* It has no such field. */
  attr.sample_stack_user = 8;
  attr.size = PERF_ATTR_SIZE_VER2;
  scripted_outputs_refused(-EINVAL, UVPERF_CAUSE_ARGUMENT, "next record");
  assert_int_equal(fake_count(FAKE_OPEN), 0);
  attr.size = sizeof(attr);
  scripted_outputs_open();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      scripted_outputs_test(attr_by_default_is_bpf_output_with_raw),
      scripted_outputs_test(attr_of_the_user_is_copied),
      scripted_outputs_test(attr_of_the_first_size_will_do),
      scripted_outputs_test(overwrite_is_of_event_and_ring),
      scripted_outputs_test(stack_is_below_an_overwritable_ring),
      scripted_outputs_test(wakeups_are_by_records_or_by_bytes),
      scripted_outputs_test(attr_of_which_nothing_right_comes_is_einval),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
