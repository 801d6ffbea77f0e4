/* SPDX-License-Identifier: MIT */
/* Live: sets of events by name with records, for a user who does not know perf
 * record's defaults. */
#include "live_set.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the callback received, by attr index. */
typedef struct found_s {
  live_set_t live; /* first: the set's `data` is its address */
  uint64_t samples[4];
  uint64_t wrong[4]; /* without a requested field */
} found_t;

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  found_t *found = handle->data;
  uint32_t attr;

  if (status != 0 || record->type != PERF_RECORD_SAMPLE)
    return;
  attr = record->source->attr_index;
  found->samples[attr] += 1;
  found->wrong[attr] += record->pid != (uint32_t)getpid() ||
                        record->time == 0 || record->period == 0 ||
                        (record->sample.raw.data == NULL && record->ip == 0);
}

/* Starts a set of the calling thread. */
static void begin(uv_loop_t *loop, found_t *found, const char *names,
                  uint32_t flags) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t self = UVPERF_TARGET_INIT;
  uvperf_error_t error;

  memset(found, 0, sizeof(*found));
  options.names = names;
  options.targets = &self;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS | flags;
  live_set_open(loop, &found->live, &options);
  if (uvperf_start(&found->live.set.handle, NULL, on_record, &error) != 0)
    fail_msg("%s", error.reason);
}

static void touch_pages(void) {
  const size_t size = 1 << 20;
  char *pages;
  size_t i;

  pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
               -1, 0);
  assert_true(pages != MAP_FAILED);
  for (i = 0; i < size; i += 4096)
    pages[i] = 1;
  munmap(pages, size);
}

/* A name with period=0 only counts, in a group too. */
static void names_alone_print_each_hit_with_its_fields(void **state) {
  found_t found;
  uint64_t start;

  support_need_own_events(__func__);
  support_need_tracepoint(__func__, LIVE_SYSCALL);
  begin(*state, &found,
        LIVE_SYSCALL ",cpu-clock," LIVE_SYSCALL "/period=0/,page-faults:u", 0);
  live_syscall(7);
  start = uv_hrtime();
  while (uv_hrtime() - start < UINT64_C(50000000))
    touch_pages();
  assert_int_equal(uvperf_disable(&found.live.set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_flush(&found.live.set.handle), 0);
  assert_int_equal(found.samples[0], 7);
  assert_int_equal(found.wrong[0], 0);
  assert_true(found.samples[1] > 0);
  assert_int_equal(found.wrong[1], 0);
  assert_int_equal(found.samples[2], 0);
  assert_int_equal(live_set_read(&found.live, 2).value, 7);
  assert_true(found.samples[3] > 0);
  assert_int_equal(found.wrong[3], 0);
  live_set_close(&found.live);
}

/* Otherwise the user would wait for the callback in vain. */
static void set_that_only_counts_refuses_to_start(void **state) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t self = UVPERF_TARGET_INIT;
  uvperf_error_t error;
  live_set_t live;

  support_need_own_events(__func__);
  options.names = "page-faults/period=0/u";
  options.targets = &self;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS;
  live_set_open(*state, &live, &options);
  assert_int_equal(uvperf_start(&live.set.handle, NULL, on_record, &error),
                   UV_EINVAL);
  assert_int_equal(error.cause, UVPERF_CAUSE_ARGUMENT);
  assert_non_null(strstr(error.reason, "uvperf_attr_set_period"));
  assert_int_equal(uvperf_on_cpu(&live.set.handle, NULL), 0);
  live_set_close(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(names_alone_print_each_hit_with_its_fields),
      support_loop_test(set_that_only_counts_refuses_to_start),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
