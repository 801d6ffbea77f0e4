/* SPDX-License-Identifier: MIT */
/* Live: which events uvperf_event_init refuses, and with which error. No fd,
 * mapping or inner handle is left. */
#include "live.h"

#include <unistd.h>

typedef struct held_s {
  size_t fds;
  size_t rings;
  size_t bytes;
} held_t;

static held_t held_now(void) {
  held_t held;

  held.fds = support_count_fds();
  held.rings = support_count_rings(&held.bytes);
  return held;
}

static void count_handle(uv_handle_t *handle, void *arg) {
  *(size_t *)arg += 1;
}

/* The handle is the caller's again at once, and unchanged; the error already
 * has its reason. */
static uvperf_error_t assert_refused(uv_loop_t *loop,
                                     const struct perf_event_attr *attr,
                                     const uvperf_event_options_t *options,
                                     int code, int cause) {
  held_t before = held_now();
  uvperf_error_t error;
  uvperf_event_t event;
  size_t handles = 0;
  held_t after;

  memset(&event, 0x5a, sizeof(event));
  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf_event_init(loop, &event, attr, options, &error),
                   code);
  assert_int_equal(error.code, code);
  assert_int_equal(error.cause, cause);
  assert_in_range(strlen(error.reason), 10, sizeof(error.reason) - 1);
  assert_true(event.handle.data == (void *)(uintptr_t)0x5a5a5a5a5a5a5a5a);
  assert_int_equal(uvperf_event_init(loop, &event, attr, options, NULL), code);
  uv_walk(loop, count_handle, &handles);
  assert_int_equal(handles, 0);
  after = held_now();
  assert_int_equal(after.fds, before.fds);
  assert_int_equal(after.rings, before.rings);
  assert_int_equal(after.bytes, before.bytes);
  return error;
}

/* -- refused by the kernel ------------------------------------------------ */

static void event_open_of_an_unknown_type_is_enoent(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  uvperf_attr_init(&attr, 42, 0);
  attr.exclude_kernel = 1;
  attr.exclude_hv = 1;
  assert_refused(*state, &attr, NULL, UV_ENOENT, UVPERF_CAUSE_NO_EVENT);
}

static void event_open_on_an_absent_cpu_is_einval(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_error_t error;

  support_need_own_events(__func__);
  live_touch_attr(&attr, 0);
  options.cpu = 4000;
  options.flags |= UVPERF_EVENT_CPU;
  error =
      assert_refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_NO_CPU);
  assert_non_null(strstr(error.reason, "4000"));
}

static int exit_at_once(void *arg) {
  return 0;
}

static void event_open_of_a_dead_task_is_esrch(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  live_touch_attr(&attr, 0);
  options.pid = support_fork(exit_at_once, NULL);
  assert_int_equal(support_wait(options.pid), 0);
  assert_refused(*state, &attr, &options, UV_ESRCH, UVPERF_CAUSE_NO_TASK);
}

static void event_open_above_the_sample_rate_reports_the_limit(void **state) {
  struct perf_event_attr attr;
  unsigned long long most;
  uvperf_error_t error;
  FILE *file;

  support_need_own_events(__func__);
  file = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%llu", &most), 1);
  fclose(file);
  live_touch_attr(&attr, 0);
  uvperf_attr_set_frequency(&attr, most + 1);
  error =
      assert_refused(*state, &attr, NULL, UV_EINVAL, UVPERF_CAUSE_SAMPLE_RATE);
  assert_int_equal(error.limit, most);
  assert_int_equal(error.needed, most + 1);
}

/* perf_mmap(): the children's records would come from any CPU at once. */
static void event_open_inherited_with_ring_and_no_cpu_is_einval(void **state) {
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  live_touch_attr(&attr, 0);
  attr.inherit = 1;
  assert_refused(*state, &attr, NULL, UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
}

static void event_open_of_no_cgroup_is_ebadf(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  int pipes[2];

  support_need_cpu_wide(__func__);
  live_touch_attr(&attr, 0);
  options.flags = UVPERF_EVENT_CPU | UVPERF_EVENT_CGROUP;
  assert_int_equal(pipe(pipes), 0);
  options.cgroup = pipes[0];
  assert_refused(*state, &attr, &options, UV_EBADF, UVPERF_CAUSE_ARGUMENT);
  close(pipes[0]);
  close(pipes[1]);
  assert_refused(*state, &attr, &options, UV_EBADF, UVPERF_CAUSE_ARGUMENT);
}

/* -- refused by the library ----------------------------------------------- */

static void
event_open_with_watermark_not_below_the_ring_is_einval(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uint32_t page = (uint32_t)sysconf(_SC_PAGESIZE);
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  live_touch_attr(&attr, 0);
  options.ring_bytes = 2 * page;
  uvperf_attr_set_wakeup_bytes(&attr, 2 * page);
  assert_refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
  uvperf_attr_set_wakeup_bytes(&attr, 1024 * 1024);
  assert_refused(*state, &attr, NULL, UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
  uvperf_attr_set_wakeup_bytes(&attr, 2 * page - 1);
  live_init(*state, &collector, &attr, &options);
  live_close(&collector);
}

static void event_open_with_unknown_options_is_refused(void **state) {
  struct {
    uvperf_event_options_t known;
    uint64_t unknown;
  } newer = {UVPERF_EVENT_OPTIONS_INIT, 0};
  live_collector_t collector;
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  live_touch_attr(&attr, 0);
  newer.known.size = 0;
  assert_refused(*state, &attr, &newer.known, UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
  newer.known.size = offsetof(uvperf_event_options_t, fallbacks) - 1;
  assert_refused(*state, &attr, &newer.known, UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
  newer.known.size = sizeof(newer);
  newer.unknown = 1;
  assert_refused(*state, &attr, &newer.known, UV_E2BIG, UVPERF_CAUSE_ARGUMENT);
  newer.unknown = 0;
  live_init(*state, &collector, &attr, &newer.known);
  live_close(&collector);
}

static void event_open_with_contradicting_options_is_einval(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  support_need_own_events(__func__);
  live_touch_attr(&attr, 0);
  options.flags = 1u << 31;
  assert_refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
  options.flags = UVPERF_EVENT_NO_RING;
  options.ring_bytes = 4096;
  assert_refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
  options.flags = 0;
  options.ring_bytes = SIZE_MAX;
  assert_refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
  options.ring_bytes = 0;
  options.flags = UVPERF_EVENT_CGROUP; /* without a CPU */
  assert_refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
  options.cpu = 0;
  options.flags |= UVPERF_EVENT_CPU;
  options.pid = getpid();
  assert_refused(*state, &attr, &options, UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
}

static void event_open_of_nothing_is_einval(void **state) {
  struct perf_event_attr attr;
  uvperf_event_t event;

  live_touch_attr(&attr, 0);
  assert_int_equal(uvperf_event_init(NULL, &event, &attr, NULL, NULL),
                   UV_EINVAL);
  assert_int_equal(uvperf_event_init(*state, NULL, &attr, NULL, NULL),
                   UV_EINVAL);
  assert_refused(*state, NULL, NULL, UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
}

/* -- attr.size ------------------------------------------------------------ */

/* A struct of exactly `size` bytes, after which the sanitizer watches. */
static struct perf_event_attr *attr_of(size_t size, uint32_t stated,
                                       const struct perf_event_attr *from) {
  struct perf_event_attr whole = *from;
  void *bytes;

  whole.size = stated;
  bytes = calloc(1, size);
  assert_non_null(bytes);
  memcpy(bytes, &whole, size < sizeof(whole) ? size : sizeof(whole));
  return bytes;
}

static void event_open_with_an_attr_of_64_bytes_samples(void **state) {
  static const uint32_t stated[] = {PERF_ATTR_SIZE_VER0, 0};
  live_collector_t collector;
  struct perf_event_attr *small;
  struct perf_event_attr attr;
  char *region;
  size_t i;

  support_need_own_events(__func__);
  for (i = 0; i < 2; i++) {
    live_touch_attr(&attr, PERF_SAMPLE_ADDR);
    small = attr_of(PERF_ATTR_SIZE_VER0, stated[i], &attr);
    region = live_region();
    live_begin(*state, &collector, small, NULL, NULL, NULL);
    /* With room for a clock. */
    assert_int_equal(uvperf_handle_attr(&collector.event.handle, 0)->size,
                     PERF_ATTR_SIZE_VER3);
    live_touch(region);
    live_end(&collector, LIVE_PAGES);
    free(small);
    live_region_free(region);
  }
}

static void event_open_with_an_attr_newer_than_the_kernel(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  struct perf_event_attr *big;
  uvperf_error_t error;

  support_need_own_events(__func__);
  live_touch_attr(&attr, 0);
  big = attr_of(512, 512, &attr);
  live_init(*state, &collector, big, NULL);
  live_close(&collector);
  ((unsigned char *)big)[511] = 1;
  error = assert_refused(*state, big, NULL, UV_E2BIG, UVPERF_CAUSE_OLD_KERNEL);
  assert_int_equal(error.needed, 512);
  assert_in_range(error.limit, PERF_ATTR_SIZE_VER0, 511);
  assert_int_equal(big->size, 512); /* the caller's stays as it is */
  free(big);
}

static void event_open_with_an_attr_of_no_size_is_refused(void **state) {
  static const uint32_t sizes[] = {1, 8, PERF_ATTR_SIZE_VER0 - 1};
  struct perf_event_attr attr;
  size_t i;

  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    live_touch_attr(&attr, 0);
    attr.size = sizes[i];
    assert_refused(*state, &attr, NULL, UV_EINVAL, UVPERF_CAUSE_ARGUMENT);
  }
  attr.size = 1024 * 1024;
  assert_refused(*state, &attr, NULL, UV_E2BIG, UVPERF_CAUSE_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_open_of_an_unknown_type_is_enoent),
      support_loop_test(event_open_on_an_absent_cpu_is_einval),
      support_loop_test(event_open_of_a_dead_task_is_esrch),
      support_loop_test(event_open_above_the_sample_rate_reports_the_limit),
      support_loop_test(event_open_inherited_with_ring_and_no_cpu_is_einval),
      support_loop_test(event_open_of_no_cgroup_is_ebadf),
      support_loop_test(event_open_with_watermark_not_below_the_ring_is_einval),
      support_loop_test(event_open_with_unknown_options_is_refused),
      support_loop_test(event_open_with_contradicting_options_is_einval),
      support_loop_test(event_open_of_nothing_is_einval),
      support_loop_test(event_open_with_an_attr_of_64_bytes_samples),
      support_loop_test(event_open_with_an_attr_newer_than_the_kernel),
      support_loop_test(event_open_with_an_attr_of_no_size_is_refused),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
