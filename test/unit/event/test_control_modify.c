/* SPDX-License-Identifier: MIT */
/* Scripted: the argument of modify's ioctl. A running event continues and a
 * stopped one stays stopped, whichever event of its group started or stopped
 * it: then ENABLE follows a modify, or does not. */
#include "scripted_event.h"
#include "scripted_handles.h"

#include <sys/ioctl.h>

static const scripted_row_t rows[] = {
    {"event_modify_prepares_the_attr_as_init_does",
     "attr write; options no_ring; init\n"
     "modify h0 disabled=0 read_format=8 config1=0x1000 -> MODIFY_ATTRIBUTES "
     "e0\n"
     "modified disabled read_format config1 -> 1 12 4096\n"},
    {"event_modify_changes_the_attr_if_it_succeeded",
     "attr write config1=0x1000; options no_ring; init\n"
     "ioctls MODIFY_ATTRIBUTES EINVAL\n"
     "modify h0 config1=0x1008 config2=4 -> MODIFY_ATTRIBUTES e0 EINVAL, "
     "EINVAL unknown\n"
     "fields h0 config1 -> 4096\n"
     "ioctls MODIFY_ATTRIBUTES 0; modify h0 config1=0x1008 config2=4\n"
     "fields h0 config1 config2 -> 4104 4\n"},
    {"event_modify_without_memory_calls_nothing",
     "attr write; options no_ring; init\n"
     "fail calloc 1 ENOMEM; modify h0 size=72 -> ENOMEM memory\n"
     "fail calloc 2 ENOMEM; modify h0 size=72 -> ENOMEM memory\n"},
    {"event_modify_that_fails_starts_a_running_one_again",
     "attr write; options no_ring; init; enable h0\n"
     "ioctls MODIFY_ATTRIBUTES ENOSPC\n"
     "modify h0 -> MODIFY_ATTRIBUTES e0 ENOSPC, ENABLE e0, ENOSPC "
     "breakpoint_slots\n"
     "disable h0; modify h0 -> MODIFY_ATTRIBUTES e0 ENOSPC, ENOSPC "
     "breakpoint_slots\n"},
    /* perf_event_modify_attr takes sig_data even if it refuses the rest. */
    {"event_modify_that_fails_puts_sig_data_back",
     "attr write; options no_ring; init; ioctls MODIFY_ATTRIBUTES EINVAL\n"
     "modify h0 sig_data=5 -> MODIFY_ATTRIBUTES e0 EINVAL, "
     "MODIFY_ATTRIBUTES e0 EINVAL, EINVAL unknown\n"
     "modified sig_data -> 0\n"},
    {"event_modify_that_cannot_start_again_says_so",
     "attr write; options no_ring; init; enable h0; fail ioctl 1 ENODEV\n"
     "modify h0 config1=0x1000 -> MODIFY_ATTRIBUTES e0, ENABLE e0 ENODEV, "
     "ENODEV no_event\n"
     "fields h0 config1 -> 4096\n"
     "modify h0 -> MODIFY_ATTRIBUTES e0\n"},
    /* No other event was disabled by it, and nothing is known better then. */
    {"event_modify_of_no_breakpoint_starts_nothing",
     "attr comm; init; start h0; ioctls MODIFY_ATTRIBUTES EOPNOTSUPP\n"
     "modify h0 -> MODIFY_ATTRIBUTES e0 EOPNOTSUPP, EOPNOTSUPP "
     "not_supported\n"},
    {"event_modify_knows_who_started_and_stopped",
     "attr write; options no_ring; init\n"
     "modify h0 -> MODIFY_ATTRIBUTES e0\n"
     "start h0; modify h0 -> MODIFY_ATTRIBUTES e0, ENABLE e0\n"
     "stop h0; modify h0 -> MODIFY_ATTRIBUTES e0, ENABLE e0\n"
     "enable h0; modify h0 -> MODIFY_ATTRIBUTES e0, ENABLE e0\n"
     "disable h0; modify h0 -> MODIFY_ATTRIBUTES e0\n"
     "disable h0 all; modify h0 -> MODIFY_ATTRIBUTES e0\n"
     "start h0 no_enable; modify h0 -> MODIFY_ATTRIBUTES e0\n"
     "enable h0 all; stop h0; modify h0 -> MODIFY_ATTRIBUTES e0, ENABLE e0\n"
     /* A failure changes nothing. */
     "fail ioctl 1 EACCES; disable h0 -> DISABLE e0 EACCES, EACCES permission\n"
     "modify h0 -> MODIFY_ATTRIBUTES e0, ENABLE e0\n"},
    /* It may have to be given its period again, which
     * live/test_event_control.c shows. */
    {"event_modify_after_refresh_enables_and_sets_a_period",
     "attr write; options no_ring; init; refresh h0 3 -> REFRESH e0 3\n"
     "modify h0 -> MODIFY_ATTRIBUTES e0, ENABLE e0, PERIOD e0 1\n"
     "refresh h0 3 -> REFRESH e0 3, PERIOD e0 1\n"
     /* For any kind of event. */
     "period h0 2; refresh h0 3 -> REFRESH e0 3, PERIOD e0 2\n"},
    {"event_modify_knows_what_the_group_did",
     "attr write; options no_ring; init; options no_ring leader=h0; init; "
     "init\n"
     "options no_ring; init; enable h2 all\n"
     "modify h0 -> MODIFY_ATTRIBUTES e0, ENABLE e0\n"
     "modify h1 -> MODIFY_ATTRIBUTES e1, ENABLE e1\n"
     "modify h2 -> MODIFY_ATTRIBUTES e2, ENABLE e2\n"
     "modify h3 -> MODIFY_ATTRIBUTES e3\n"
     "disable h1; modify h0 -> MODIFY_ATTRIBUTES e0, ENABLE e0\n"
     "modify h1 -> MODIFY_ATTRIBUTES e1\n"
     "disable h0 all; modify h0 -> MODIFY_ATTRIBUTES e0\n"
     "modify h2 -> MODIFY_ATTRIBUTES e2\n"
     "close h1; turn; enable h0 all\n"
     "modify h2 -> MODIFY_ATTRIBUTES e2, ENABLE e2\n"},
    /* Closing the leader disables its siblings, and perf_group_detach makes
     * each its own leader. */
    {"event_modify_without_the_leader_is_on_its_own",
     "attr write; options no_ring; init; options no_ring leader=h0; init; "
     "init\n"
     "enable h0 all; close h0; turn; modify h1 -> MODIFY_ATTRIBUTES e1\n"
     "enable h2 all; modify h1 -> MODIFY_ATTRIBUTES e1\n"
     "disable h1 all; modify h1 -> MODIFY_ATTRIBUTES e1\n"
     "modify h2 -> MODIFY_ATTRIBUTES e2, ENABLE e2\n"},
};

/* The last argument of MODIFY_ATTRIBUTES; 256 bytes of it. */
static union {
  struct perf_event_attr attr;
  uint8_t bytes[256];
} given;
/* What the next one returns. */
static int next_code;

static int remember(fake_event_t *fake, unsigned long request,
                    uintptr_t argument) {
  const struct perf_event_attr *attr = (const struct perf_event_attr *)argument;
  int code = next_code;

  if (request != PERF_EVENT_IOC_MODIFY_ATTRIBUTES)
    return 0;
  memset(&given, 0, sizeof(given));
  memcpy(&given, attr, attr->size);
  next_code = 0;
  return code;
}

static void breakpoint_attr(struct perf_event_attr *attr) {
  live_write_attr(attr, PERF_SAMPLE_IP);
}

/* Opens a breakpoint without a ring. */
static void open_breakpoint(uv_loop_t *loop, live_collector_t *collector) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  fake_event_t *fake = fake_event_add(7);
  struct perf_event_attr attr;

  next_code = 0;
  fake->on_ioctl = remember;
  breakpoint_attr(&attr);
  options.flags = UVPERF_EVENT_NO_RING;
  live_init(loop, collector, &attr, &options);
}

/* The kernel compares attr.size too. */
static void event_modify_of_another_size_returns_the_events_size(void **state) {
  union {
    struct perf_event_attr attr;
    uint8_t bytes[200];
  } other;
  live_collector_t collector;

  open_breakpoint(*state, &collector);
  memset(&other, 0, sizeof(other));
  breakpoint_attr(&other.attr);
  other.attr.size = 200;
  other.attr.bp_addr = 0x2000;
  assert_int_equal(uvperf_event_modify(&collector.event, &other.attr, NULL), 0);
  assert_int_equal(given.attr.size, sizeof(struct perf_event_attr));
  assert_int_equal(given.attr.bp_addr, 0x2000);
  /* If there is a field after it, the kernel decides. */
  other.bytes[199] = 1;
  next_code = -E2BIG;
  assert_int_equal(uvperf_event_modify(&collector.event, &other.attr, NULL),
                   UV_E2BIG);
  assert_int_equal(given.attr.size, 200);
  /* A shorter one is 0 after its end. */
  other.attr.size = 72;
  other.attr.clockid = 5;
  other.attr.bp_addr = 0x3000;
  assert_int_equal(uvperf_event_modify(&collector.event, &other.attr, NULL), 0);
  assert_int_equal(given.attr.size, sizeof(struct perf_event_attr));
  assert_int_equal(given.attr.bp_addr, 0x3000);
  /* The event's clock. */
  assert_int_equal(given.attr.clockid, CLOCK_MONOTONIC);
  other.attr.size = 8;
  fake_log_clear();
  assert_int_equal(uvperf_event_modify(&collector.event, &other.attr, NULL),
                   UV_EINVAL);
  assert_string_equal(fake_log(), "");
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(event_modify_of_another_size_returns_the_events_size),
  };

  return SCRIPTED_ROWS_AND_TESTS(&scripted_handles, rows, tests);
}
