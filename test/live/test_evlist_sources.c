/* SPDX-License-Identifier: MIT */
/* Records of many events in one ring for each CPU of this kernel: each has the
 * right source and values. */
#include "make_evlist.h"
#include "live.h"
#include "live_thread.h"

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "decode/decoder.h"

static void record_counters(evlist_make_t *make, size_t nr_attrs) {
  evlist_make(make, nr_attrs);
  make->options.flags = UVPERF_SET_RECORDS;
  make->options.ring_bytes = 16 * support_page_bytes();
}

static void enable(uvperf__evlist_t *evlist) {
  uvperf_error_t error;

  if (uvperf__evlist_enable(evlist, &error) != 0)
    fail_msg("%s", error.reason);
}

/* -- samples -------------------------------------------------------------- */

typedef struct samples_s {
  unsigned samples[4]; /* for each attr */
  unsigned others;
  uint64_t last[4]; /* value of each attr's own count in its last sample */
  uint64_t ids[4];
  uint64_t addresses[64];
} samples_t;

static void count_samples(void *data, int status,
                          const uvperf_record_t *record) {
  samples_t *samples = data;
  uint32_t attr;

  assert_int_equal(status, 0);
  assert_non_null(record->source);
  attr = record->source->attr_index;
  if (record->type != PERF_RECORD_SAMPLE) {
    samples->others++;
    return;
  }
  if (record->present & PERF_SAMPLE_ADDR && samples->samples[attr] < 64)
    samples->addresses[samples->samples[attr]] = record->addr;
  samples->samples[attr]++;
  samples->ids[attr] = record->source->ids[0];
}

/* Three kinds of samples and the side-band. No software event is used twice,
 * because this kernel gives both the id of one. */
static void samples_and_side_band_share_a_ring(void **state) {
  uvperf__evlist_t *evlist;
  samples_t samples = {0};
  evlist_make_t make;
  uint64_t tracepoint;
  cpu_set_t old;
  char *region;
  size_t i;

  support_need_own_events(__func__);
  support_need_breakpoints(__func__);
  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  record_counters(&make, 3);
  live_touch_attr(&make.attrs[0], PERF_SAMPLE_ADDR | PERF_SAMPLE_TIME);
  live_write_attr(&make.attrs[1],
                  PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN);
  live_syscall_attr(&make.attrs[2], tracepoint, PERF_SAMPLE_RAW);
  make.options.side_band = UVPERF_SIDE_BAND_TASKS;
  evlist_add(&make, UVPERF_TARGET_SELF);
  live_pin(live_last_cpu(), &old);
  evlist = evlist_open(&make);
  region = live_region();
  enable(evlist);
  live_touch(region);
  live_write(5);
  live_syscall(7);
  assert_int_equal(prctl(PR_SET_NAME, "shared"), 0);
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  live_unpin(&old);
  evlist_drain(evlist, count_samples, &samples);
  assert_int_equal(samples.samples[0], LIVE_PAGES);
  assert_int_equal(samples.samples[1], 5);
  assert_int_equal(samples.samples[2], 7);
  assert_int_equal(samples.others, 1);
  for (i = 0; i < LIVE_PAGES; i++)
    assert_int_equal(samples.addresses[i], live_touched(region, i));
  live_region_free(region);
  uvperf__evlist_free(evlist);
}

/* -- groups --------------------------------------------------------------- */

typedef struct group_s {
  uvperf_decoder_t *decoder;
  unsigned samples;
} group_t;

/* The values of both events, matched by id: the leader's is the number of
 * samples, the other's the number of touched pages. */
static void expect_both_values(void *data, int status,
                               const uvperf_record_t *record) {
  const uvperf_values_t *read = &record->sample.read;
  const uvperf_source_t *source;
  group_t *group = data;
  uvperf_count_t count;
  uint64_t i;

  assert_int_equal(status, 0);
  assert_int_equal(record->type, PERF_RECORD_SAMPLE);
  assert_int_equal(record->source->attr_index, 0);
  group->samples++;
  assert_int_equal(read->nr, 2);
  for (i = 0; i < 2; i++) {
    assert_int_equal(uvperf_values_get(read, i, &count), 0);
    source = uvperf__decoder_source(group->decoder, count.id);
    assert_non_null(source);
    assert_int_equal(count.value,
                     source->attr_index == 0 ? group->samples : LIVE_PAGES);
  }
}

static void sample_group(const char *test, uint32_t flags) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  group_t group = {NULL, 0};
  cpu_set_t old;
  char *region;

  support_need_own_events(test);
  record_counters(&make, 2);
  make.options.flags |= flags;
  live_need_syscall(test, &make.attrs[0], PERF_SAMPLE_READ);
  live_touch_attr(&make.attrs[1], 0);
  make.attrs[1].sample_period = 0;
  make.attrs[1].wakeup_events = 0;
  evlist_group(&make, 0, 2);
  evlist_add(&make, UVPERF_TARGET_SELF);
  live_pin(live_last_cpu(), &old);
  evlist = evlist_open(&make);
  group.decoder = uvperf__evlist_decoder(evlist);
  region = live_region();
  enable(evlist);
  live_touch(region);
  live_syscall(4);
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  live_unpin(&old);
  assert_int_equal(evlist_drain(evlist, expect_both_values, &group), 4);
  assert_int_equal(group.samples, 4);
  /* Readings continue. */
  assert_int_equal(evlist_total(evlist, 0).value, 4);
  assert_int_equal(evlist_total(evlist, 1).value, LIVE_PAGES);
  live_region_free(region);
  uvperf__evlist_free(evlist);
}

static void samples_of_a_group_have_the_counts_of_both(void **state) {
  sample_group(__func__, 0);
}

/* The one that only counts has the clock of the group too. */
static void group_of_one_that_samples_can_be_in_order(void **state) {
  sample_group(__func__, UVPERF_SET_TIME_ORDER);
}

/* -- what tasks make ------------------------------------------------------ */

static void call_twice(void *arg) {
  live_syscall(2);
}

/* -- targets that come and go --------------------------------------------- */

typedef struct calls_s {
  unsigned of_target[4];
  unsigned unknown;
} calls_t;

static void count_calls(void *data, int status, const uvperf_record_t *record) {
  calls_t *calls = data;

  if (record->source == NULL) {
    calls->unknown++;
    return;
  }
  assert_int_equal(status, 0);
  assert_in_range(record->source->target_index, 0, 3);
  calls->of_target[record->source->target_index]++;
}

/* Two threads, of which the first is removed before its records are read. */
static void removed_target_is_known_while_its_records_wait(void **state) {
  uvperf_target_t late = UVPERF_TARGET_INIT;
  uvperf__evlist_t *evlist;
  live_thread_t threads[2];
  calls_t calls = {{0}, 0};
  evlist_make_t make;
  uint64_t tracepoint;
  uint32_t index;

  support_need_own_events(__func__);
  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_thread_start(&threads[0], call_twice, NULL);
  live_thread_start(&threads[1], call_twice, NULL);
  record_counters(&make, 1);
  live_syscall_attr(&make.attrs[0], tracepoint, PERF_SAMPLE_RAW);
  evlist_add_thread(&make, (int32_t)threads[0].tid);
  evlist = evlist_open(&make);
  enable(evlist);
  live_thread_do(&threads[0]);
  late.type = UVPERF_TARGET_THREAD;
  late.pid = (int32_t)threads[1].tid;
  assert_int_equal(uvperf__evlist_add_target(evlist, &late, &index, NULL), 0);
  assert_int_equal(index, 1);
  live_thread_do(&threads[0]);
  live_thread_do(&threads[1]);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  live_thread_do(&threads[0]);
  live_thread_do(&threads[1]);
  uvperf__evlist_free_sources(evlist);
  assert_int_equal(evlist_drain(evlist, count_calls, &calls), 8);
  assert_int_equal(calls.of_target[0], 4);
  assert_int_equal(calls.of_target[1], 4);
  assert_int_equal(calls.unknown, 0);
  live_thread_end(&threads[0]);
  live_thread_end(&threads[1]);
  uvperf__evlist_free(evlist);
}

/* -- with other options --------------------------------------------------- */

/* An event that writes has no page of its own to be read by. */
static void counts_beside_rings_are_read_as_ever(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uint64_t tracepoint;

  support_need_own_events(__func__);
  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  record_counters(&make, 2);
  make.options.flags |= UVPERF_SET_USER_READ;
  live_syscall_attr(&make.attrs[0], tracepoint, PERF_SAMPLE_RAW);
  live_syscall_attr(&make.attrs[1], tracepoint, 0);
  make.attrs[1].sample_period = 0;
  make.options.side_band = UVPERF_SIDE_BAND_TASKS;
  evlist_add(&make, UVPERF_TARGET_SELF);
  evlist = evlist_open(&make);
  enable(evlist);
  live_syscall(6);
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  assert_int_equal(evlist_total(evlist, 0).value, 6);
  assert_int_equal(evlist_total(evlist, 1).value, 6);
  assert_int_equal(evlist_total(evlist, 2).value, 0);
  assert_int_equal(evlist_total(evlist, 2).nr_missing, 0);
  assert_int_equal(evlist_drain(evlist, NULL, NULL), 6);
  uvperf__evlist_free(evlist);
}

/* Not recorded on a CPU or in a cgroup, unless another bit is set: see
 * make_side_band of lib/evlist/attr.c. */
static void cgroup_made_on_a_cpu_is_recorded(void **state) {
  uvperf__evlist_t *evlist;
  live_cgroup_t cgroup;
  evlist_make_t make;
  size_t nr;

  support_need_cpu_wide(__func__);
  live_cgroup_own(__func__);
  live_cgroup_make(__func__, &cgroup); /* skips before there is more */
  live_cgroup_remove(&cgroup);
  record_counters(&make, 0);
  make.options.side_band = UVPERF_SIDE_BAND_CGROUP;
  evlist_add(&make, UVPERF_TARGET_CPUS);
  evlist = evlist_open(&make);
  enable(evlist);
  live_cgroup_make(__func__, &cgroup);
  nr = evlist_drain(evlist, NULL, NULL);
  live_cgroup_remove(&cgroup);
  uvperf__evlist_free(evlist);
  assert_in_range(nr, 1, 1000);
}

#define test(f) cmocka_unit_test_setup(f, evlist_make_setup)

/* -- a process that forks ------------------------------------------------- */

typedef struct seen_s {
  unsigned samples;
  unsigned unknown;
} seen_t;

static void see(void *data, int status, const uvperf_record_t *record) {
  seen_t *seen = data;

  seen->samples += record->type == PERF_RECORD_SAMPLE;
  seen->unknown += record->source == NULL;
}

/* Waits for its parent to end, or to close the pipe. */
static int hold(void *arg) {
  const int *ends = arg;
  char byte;

  close(ends[1]);
  return read(ends[0], &byte, 1) != 0;
}

static void
removed_target_is_silent_though_a_child_holds_its_events(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  seen_t seen = {0, 0};
  cpu_set_t old;
  pid_t child;
  int ends[2];

  support_need_own_events(__func__);
  evlist_make_records(&make, 1);
  live_need_syscall(__func__, &make.attrs[0], PERF_SAMPLE_TID);
  evlist_add(&make, UVPERF_TARGET_SELF);
  live_pin(live_last_cpu(), &old);
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  assert_int_equal(pipe(ends), 0);
  child = support_fork(hold, ends);
  close(ends[0]);
  live_syscall(3);
  evlist_drain(evlist, see, &seen);
  assert_int_equal(seen.samples, 3);
  assert_int_equal(uvperf__evlist_remove_target(evlist, 0, NULL, NULL), 0);
  live_syscall(3);
  evlist_drain(evlist, see, &seen);
  assert_int_equal(seen.samples, 3);
  assert_int_equal(seen.unknown, 0);
  close(ends[1]);
  assert_int_equal(support_wait(child), 0);
  live_unpin(&old);
  uvperf__evlist_free(evlist);
}

/* The kernel hides the lost records of an inherited group while a child
 * lives. */
static void lost_of_a_group_stays_while_a_child_lives(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uint64_t lost;
  cpu_set_t old;
  pid_t child;
  int ends[2];

  support_need_own_events(__func__);
  if (uvperf_kernel_knows(UVPERF_ATTR_READ_FORMAT, UVPERF_FORMAT_LOST) != 1)
    support_skip(__func__, "Linux 6.0, for PERF_FORMAT_LOST");
  evlist_make_records(&make, 2);
  live_need_syscall(__func__, &make.attrs[0], PERF_SAMPLE_TID);
  make.attrs[0].inherit = 1;
  live_touch_attr(&make.attrs[1], 0);
  make.attrs[1].sample_period = 0;
  make.attrs[1].inherit = 1;
  evlist_group(&make, 0, 2);
  evlist_add(&make, UVPERF_TARGET_SELF);
  live_pin(live_last_cpu(), &old);
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_enable(evlist, NULL), 0);
  live_syscall(1000);
  assert_int_equal(uvperf__evlist_disable(evlist, NULL), 0);
  lost = evlist_total(evlist, 0).lost;
  assert_in_range(lost, 1, 999);
  assert_int_equal(pipe(ends), 0);
  child = support_fork(hold, ends);
  close(ends[0]);
  assert_int_equal(evlist_total(evlist, 0).lost, lost);
  close(ends[1]);
  assert_int_equal(support_wait(child), 0);
  assert_int_equal(evlist_total(evlist, 0).lost, lost);
  assert_int_equal(evlist_total(evlist, 0).value, 1000);
  live_unpin(&old);
  uvperf__evlist_free(evlist);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      test(samples_and_side_band_share_a_ring),
      test(samples_of_a_group_have_the_counts_of_both),
      test(group_of_one_that_samples_can_be_in_order),
      test(removed_target_is_known_while_its_records_wait),
      test(counts_beside_rings_are_read_as_ever),
      test(cgroup_made_on_a_cpu_is_recorded),
      test(removed_target_is_silent_though_a_child_holds_its_events),
      test(lost_of_a_group_stays_while_a_child_lives),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
