/* SPDX-License-Identifier: MIT */
/* Records of many events in one ring for each CPU of this kernel: each has the
 * right source and values. */
#include "evlist_make.h"
#include "live.h"
#include "live_thread.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode/decoder.h"

#define MANY 100

/* Attrs of COMM records; the kinds select the other fields. */
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

/* -- sources -------------------------------------------------------------- */

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

static void records_of_200_events_have_their_sources(void **state) {
  static struct perf_event_attr attrs[MANY];
  const struct perf_event_attr *pointers[MANY];
  int cpus[CPU_SETSIZE];
  size_t nr_cpus = live_cpus(cpus, 2);
  uvperf__evlist_t *evlist;
  evlist_make_t make;
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
  evlist_add(&make, UVPERF_TARGET_SELF)->data = &make;
  evlist = evlist_open(&make);
  assert_int_equal(uvperf__evlist_nr_open(evlist) % MANY, 0);
  assert_true(uvperf__evlist_nr_open(evlist) >= MANY * nr_cpus);
  enable(evlist);
  for (j = 0; j < nr_cpus; j++) {
    many.cpu = cpus[j];
    memset(many.seen, 0, sizeof(many.seen));
    name_on(cpus[j], "many");
    assert_int_equal(evlist_drain(evlist, expect_one_of_many, &many), MANY);
    for (i = 0; i < MANY; i++)
      assert_int_equal(many.seen[i], 1);
  }
  uvperf__evlist_free(evlist);
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
  uint64_t tracepoint;
  cpu_set_t old;
  char *region;

  support_need_own_events(test);
  tracepoint = support_need_tracepoint(test, LIVE_SYSCALL);
  record_counters(&make, 2);
  make.options.flags |= flags;
  live_syscall_attr(&make.attrs[0], tracepoint, PERF_SAMPLE_READ);
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
  (void)state;
  sample_group(__func__, 0);
}

/* The one that only counts has the clock of the group too. */
static void group_of_one_that_samples_can_be_in_order(void **state) {
  (void)state;
  sample_group(__func__, UVPERF_SET_TIME_ORDER);
}

/* -- what tasks make ------------------------------------------------------ */

static void call_twice(void *arg) {
  (void)arg;
  live_syscall(2);
}

static int call_thrice(void *arg) {
  (void)arg;
  live_syscall(3);
  return 0;
}

/* Two threads with 2 calls each and a child with 3, and 1 of its own: 8. */
static void make_eight_calls(void *arg) {
  live_thread_t threads[2];
  size_t i;

  (void)arg;
  for (i = 0; i < 2; i++) {
    live_thread_start(&threads[i], call_twice, NULL);
    live_thread_do(&threads[i]);
  }
  waitpid(support_fork(call_thrice, NULL), NULL, 0);
  live_syscall(1);
  for (i = 0; i < 2; i++)
    live_thread_end(&threads[i]);
}

typedef struct tree_s {
  pid_t process;
  unsigned samples;
  unsigned of_process;
  unsigned forks;
  unsigned exits;
} tree_t;

static void count_tree(void *data, int status, const uvperf_record_t *record) {
  tree_t *tree = data;

  assert_int_equal(status, 0);
  assert_int_equal(record->source->pid, tree->process);
  if (record->type == PERF_RECORD_SAMPLE) {
    assert_int_equal(record->source->attr_index, 0);
    tree->samples++;
    tree->of_process += record->pid == (uint32_t)tree->process;
    return;
  }
  assert_int_equal(record->source->attr_index, 1);
  tree->forks += record->type == PERF_RECORD_FORK;
  tree->exits += record->type == PERF_RECORD_EXIT;
}

static void process_records_all_its_tasks(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  live_worker_t worker;
  uint64_t tracepoint;
  tree_t tree = {0};

  (void)state;
  support_need_own_events(__func__);
  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_worker_fork(&worker, make_eight_calls, NULL);
  tree.process = worker.pid;
  record_counters(&make, 1);
  live_syscall_attr(&make.attrs[0], tracepoint, PERF_SAMPLE_TID);
  make.options.side_band = UVPERF_SIDE_BAND_TASKS;
  evlist_add(&make, UVPERF_TARGET_PROCESS)->pid = worker.pid;
  evlist = evlist_open(&make);
  enable(evlist);
  live_worker_do(&worker);
  live_worker_end(&worker);
  evlist_drain(evlist, count_tree, &tree);
  assert_int_equal(tree.samples, 8);
  assert_int_equal(tree.of_process, 5);
  assert_int_equal(tree.forks, 3);
  assert_int_equal(tree.exits, 4);
  uvperf__evlist_free(evlist);
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

  (void)state;
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

/* -- clocks --------------------------------------------------------------- */

typedef struct times_s {
  uint64_t least;
  uint64_t most;
  unsigned nr;
} times_t;

static void expect_time(void *data, int status, const uvperf_record_t *record) {
  times_t *times = data;

  assert_int_equal(status, 0);
  assert_in_range(record->time, times->least, times->most);
  times->nr++;
}

static void times_of_all_rings_are_of_the_loops_clock(void **state) {
  int cpus[CPU_SETSIZE];
  size_t nr_cpus = live_cpus(cpus, CPU_SETSIZE);
  uvperf__evlist_t *evlist;
  times_t times = {0, 0, 0};
  evlist_make_t make;
  size_t i;

  (void)state;
  support_need_own_events(__func__);
  record_counters(&make, 1);
  comm_attr(&make.attrs[0], 0);
  make.options.flags |= UVPERF_SET_TIME_ORDER;
  evlist_add(&make, UVPERF_TARGET_SELF);
  evlist = evlist_open(&make);
  enable(evlist);
  times.least = uv_hrtime();
  for (i = 0; i < nr_cpus; i++)
    name_on(cpus[i], "times");
  times.most = uv_hrtime();
  evlist_drain(evlist, expect_time, &times);
  assert_int_equal(times.nr, nr_cpus);
  uvperf__evlist_free(evlist);
}

/* -- with other options --------------------------------------------------- */

/* An event that writes has no page of its own to be read by. */
static void counts_beside_rings_are_read_as_ever(void **state) {
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  uint64_t tracepoint;

  (void)state;
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

  (void)state;
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

static void sets_of_records_leave_nothing(void **state) {
  size_t fds = support_count_fds();
  uvperf__evlist_t *evlist;
  evlist_make_t make;
  size_t bytes;
  size_t rings = support_count_rings(&bytes);

  (void)state;
  support_need_own_events(__func__);
  record_counters(&make, 1);
  comm_attr(&make.attrs[0], 0);
  evlist_add(&make, UVPERF_TARGET_SELF);
  evlist = evlist_open(&make);
  assert_true(support_count_rings(&bytes) > rings);
  enable(evlist);
  name_on(live_last_cpu(), "nothing");
  uvperf__evlist_free(evlist);
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(support_count_rings(&bytes), rings);
}

#define test(f) cmocka_unit_test_setup(f, evlist_make_setup)

int main(void) {
  static const struct CMUnitTest tests[] = {
      test(records_of_200_events_have_their_sources),
      test(samples_and_side_band_share_a_ring),
      test(samples_of_a_group_have_the_counts_of_both),
      test(group_of_one_that_samples_can_be_in_order),
      test(process_records_all_its_tasks),
      test(removed_target_is_known_while_its_records_wait),
      test(times_of_all_rings_are_of_the_loops_clock),
      test(counts_beside_rings_are_read_as_ever),
      test(cgroup_made_on_a_cpu_is_recorded),
      test(sets_of_records_leave_nothing),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
