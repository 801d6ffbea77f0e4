/* SPDX-License-Identifier: MIT */
/* Records of many events in one ring for each CPU, from this kernel: whose each
 * is, what it says, and that none is taken for another's. */
#include "counters_make.h"
#include "live.h"
#include "live_thread.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#define MANY 100

/* An attr of COMM records; the kind decides what else these tell. */
static const uint64_t kinds[] = {
    0,
    PERF_SAMPLE_TID,
    PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
    PERF_SAMPLE_CPU,
    PERF_SAMPLE_ID | PERF_SAMPLE_TIME,
    PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_TID,
    PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
        PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU,
};

#define NR_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static void comm_attr(struct perf_event_attr *attr, uint64_t sample_type) {
  uvperf_attr_software(attr, PERF_COUNT_SW_DUMMY);
  attr->exclude_kernel = 1;
  attr->comm = 1;
  attr->sample_type = sample_type;
}

static void name_on(int cpu, const char *name) {
  cpu_set_t old;

  live_pin(cpu, &old);
  assert_int_equal(prctl(PR_SET_NAME, name), 0);
  live_unpin(&old);
}

static void record_counters(counters_make_t *make, size_t nr_attrs) {
  counters_make(make, nr_attrs);
  make->options.flags = UVPERF_SET_RECORDS;
  make->options.ring_bytes = 16 * support_page_bytes();
}

static void enable(uvperf__counters_t *counters) {
  uvperf_error_t error;

  if (uvperf__counters_enable(counters, &error) != 0)
    fail_msg("%s", error.reason);
}

/* -- whose ---------------------------------------------------------------- */

typedef struct many_s {
  const struct perf_event_attr *attrs;
  const uvperf_target_t *target;
  int cpu;
  unsigned seen[MANY];
} many_t;

static void expect_one_of_many(void *data, int status,
                               const uvperf_record_t *record) {
  many_t *many = data;
  const uvperf_source_t *source = record->source;
  uint64_t type;

  assert_int_equal(status, 0);
  assert_int_equal(record->type, PERF_RECORD_COMM);
  assert_string_equal(record->comm.comm, "many");
  assert_int_equal(record->comm.tid, live_tid());
  assert_int_equal(source->cpu, many->cpu);
  assert_int_equal(source->pid, live_tid());
  assert_int_equal(source->target_index, 0);
  assert_ptr_equal(source->data, many->target->data);
  assert_in_range(source->attr_index, 0, MANY - 1);
  many->seen[source->attr_index]++;
  type = many->attrs[source->attr_index].sample_type;
  assert_int_equal(source->attr->sample_type, type | PERF_SAMPLE_IDENTIFIER);
  assert_int_equal(record->id, source->ids[0]);
  assert_int_equal(record->tid, type & PERF_SAMPLE_TID ? live_tid() : 0);
  assert_int_equal(record->cpu, type & PERF_SAMPLE_CPU ? many->cpu : 0);
  assert_int_equal(record->time != 0, (type & PERF_SAMPLE_TIME) != 0);
}

static void records_of_200_events_are_told_apart(void **state) {
  static struct perf_event_attr attrs[MANY];
  const struct perf_event_attr *pointers[MANY];
  int cpus[CPU_SETSIZE];
  size_t nr_cpus = live_cpus(cpus, 2);
  uvperf__counters_t *counters;
  counters_make_t make;
  many_t many = {attrs, &make.targets[0], 0, {0}};
  size_t i, j;

  (void)state;
  support_need_own_events(__func__);
  for (i = 0; i < MANY; i++) {
    comm_attr(&attrs[i], kinds[i % NR_KINDS]);
    pointers[i] = &attrs[i];
  }
  record_counters(&make, 0);
  make.options.attrs = pointers;
  make.options.nr_attrs = MANY;
  make.options.leaders = NULL;
  counters_add(&make, UVPERF_TARGET_SELF)->data = &make;
  counters = counters_open(&make);
  assert_int_equal(uvperf__counters_nr_open(counters) % MANY, 0);
  assert_true(uvperf__counters_nr_open(counters) >= MANY * nr_cpus);
  enable(counters);
  for (j = 0; j < nr_cpus; j++) {
    many.cpu = cpus[j];
    memset(many.seen, 0, sizeof(many.seen));
    name_on(cpus[j], "many");
    assert_int_equal(counters_drain(counters, expect_one_of_many, &many), MANY);
    for (i = 0; i < MANY; i++)
      assert_int_equal(many.seen[i], 1);
  }
  uvperf__counters_free(counters);
}

/* -- samples -------------------------------------------------------------- */

typedef struct samples_s {
  unsigned samples[4]; /* of each attr */
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
    samples->addresses[samples->samples[attr]] = record->sample.addr;
  samples->samples[attr]++;
  samples->ids[attr] = record->source->ids[0];
}

/* Three kinds of samples and the side-band; not the same software event twice,
 * of which this kernel gives both the id of one. */
static void samples_and_side_band_share_a_ring(void **state) {
  uvperf__counters_t *counters;
  samples_t samples = {0};
  counters_make_t make;
  uint64_t tracepoint;
  cpu_set_t old;
  char *region;
  size_t i;

  (void)state;
  support_need_own_events(__func__);
  support_need_breakpoints(__func__);
  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  record_counters(&make, 3);
  live_touch_attr(&make.attrs[0], PERF_SAMPLE_ADDR | PERF_SAMPLE_TIME);
  live_write_attr(&make.attrs[1],
                  PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN);
  live_syscall_attr(&make.attrs[2], tracepoint, PERF_SAMPLE_RAW);
  make.options.side_band = UVPERF_SIDE_BAND_TASKS;
  counters_add(&make, UVPERF_TARGET_SELF);
  live_pin(live_last_cpu(), &old);
  counters = counters_open(&make);
  region = live_region();
  enable(counters);
  live_touch(region);
  live_write(5);
  live_syscall(7);
  assert_int_equal(prctl(PR_SET_NAME, "shared"), 0);
  assert_int_equal(uvperf__counters_disable(counters, NULL), 0);
  live_unpin(&old);
  counters_drain(counters, count_samples, &samples);
  assert_int_equal(samples.samples[0], LIVE_PAGES);
  assert_int_equal(samples.samples[1], 5);
  assert_int_equal(samples.samples[2], 7);
  assert_int_equal(samples.others, 1);
  for (i = 0; i < LIVE_PAGES; i++)
    assert_int_equal(samples.addresses[i], live_touched(region, i));
  live_region_free(region);
  uvperf__counters_free(counters);
}

#define test(f) cmocka_unit_test_setup(f, counters_make_setup)

int main(void) {
  static const struct CMUnitTest tests[] = {
      test(records_of_200_events_are_told_apart),
      test(samples_and_side_band_share_a_ring),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
