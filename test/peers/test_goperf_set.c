/* SPDX-License-Identifier: MIT */
/* Live: the checks of go-perf's TestGroup/Record and
 * TestReadRecord/RedirectedOutput, on sets: the records of several events in
 * one ring. The whole list is in ORIGINS. */
#include "live_stream.h"

#include <sys/syscall.h>
#include <unistd.h>

#define OTHER_SYSCALL "syscalls:sys_enter_getsid"

static void call_other(void) {
  syscall(SYS_getsid, LIVE_PGID);
}

#define MOST 8

/* The hits in their samples. */
typedef struct hits_s {
  size_t nr;
  uint32_t attrs[MOST]; /* whose */
  uint64_t ids[MOST];
  uint32_t tids[MOST];
  uint64_t values[MOST][2]; /* of both attrs, 0 if the sample has none */
  int others;               /* other records */
} hits_t;

/* The set finds the event of a value by its id. */
static void note_values(live_stream_t *stream, const uvperf_values_t *read,
                        uint64_t *values) {
  const uvperf_source_t *source;
  uvperf_count_t count;
  uint64_t i;

  for (i = 0; i < read->nr; i++) {
    assert_int_equal(uvperf_values_get(read, i, &count), 0);
    source = uvperf_set_source(&stream->live.set, count.id);
    assert_non_null(source);
    values[source->attr_index] = count.value;
  }
}

static void note_hit(live_stream_t *stream, const uvperf_record_t *record) {
  hits_t *hits = stream->hook_data;

  if (record->type != PERF_RECORD_SAMPLE || record->source == NULL ||
      hits->nr == MOST) {
    hits->others++;
    return;
  }
  hits->attrs[hits->nr] = record->source->attr_index;
  hits->ids[hits->nr] = record->id;
  hits->tids[hits->nr] = record->tid;
  if (record->present & PERF_SAMPLE_READ)
    note_values(stream, &record->sample.read, hits->values[hits->nr]);
  hits->nr++;
}

/* Plans two tracepoints of the calling thread on this CPU, so they have one
 * ring. */
static void plan_two(const char *test, live_plan_t *plan, const char *cpu,
                     uint64_t sample_type) {
  uint64_t first = support_need_tracepoint(test, LIVE_SYSCALL);
  uint64_t second = support_need_tracepoint(test, OTHER_SYSCALL);

  live_stream_plan(plan);
  live_syscall_attr(live_plan_attr(plan), first, sample_type);
  live_syscall_attr(live_plan_attr(plan), second, sample_type);
  live_stream_plan_target(plan, UVPERF_TARGET_SELF, 0)->cpus = cpu;
}

static void run_two(uv_loop_t *loop, live_stream_t *stream, live_plan_t *plan,
                    hits_t *hits) {
  memset(hits, 0, sizeof(*hits));
  live_stream_open(loop, stream, &plan->options);
  stream->on_record = note_hit;
  stream->hook_data = hits;
  live_stream_start(stream, NULL);
  assert_int_equal(uvperf_nr_rings(&stream->live.set.handle), 1);
  live_syscall(1);
  call_other();
  assert_int_equal(live_run_until(loop, &stream->samples, 2), 1);
  assert_int_equal(hits->others, 0);
  assert_int_equal(stream->foreign, 0);
  assert_int_equal(hits->nr, 2);
}

static void check_hit(live_stream_t *stream, const hits_t *hits, uint32_t nth) {
  const uvperf_source_t *source =
      uvperf_set_source(&stream->live.set, hits->ids[nth]);

  assert_int_equal(hits->attrs[nth], nth);
  assert_int_equal(hits->tids[nth], live_tid());
  assert_non_null(source);
  assert_int_equal(source->attr_index, nth);
  assert_int_equal(live_set_read(&stream->live, nth).value, 1);
}

static void set_group_of_two_writes_the_counts_of_both(void **state) {
  int cpu = live_last_cpu();
  live_stream_t stream;
  live_plan_t plan;
  char list[16];
  cpu_set_t old;
  hits_t hits;
  uint32_t i;

  snprintf(list, sizeof(list), "%d", cpu);
  plan_two(__func__, &plan, list,
           PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_READ);
  live_plan_group(&plan, 2);
  live_pin(cpu, &old);
  run_two(*state, &stream, &plan, &hits);
  uvperf_event_list_free(plan.list);
  for (i = 0; i < 2; i++) {
    check_hit(&stream, &hits, i);
    assert_int_equal(hits.values[i][0], 1);
    assert_int_equal(hits.values[i][1], i);
  }
  live_unpin(&old);
  live_stream_close(&stream);
}

/* Without a group, a sample has only the count of its own event. */
static void set_of_two_in_one_ring_matches_each_record(void **state) {
  int cpu = live_last_cpu();
  live_stream_t stream;
  live_plan_t plan;
  char list[16];
  cpu_set_t old;
  hits_t hits;
  uint32_t i;

  snprintf(list, sizeof(list), "%d", cpu);
  plan_two(__func__, &plan, list, PERF_SAMPLE_TID);
  /* Each event has its own layout. By the layout of the other event, the record
   * would have other contents. */
  plan.attrs[1].sample_type |= PERF_SAMPLE_READ | PERF_SAMPLE_IP;
  live_pin(cpu, &old);
  run_two(*state, &stream, &plan, &hits);
  for (i = 0; i < 2; i++)
    check_hit(&stream, &hits, i);
  assert_int_equal(hits.values[1][1], 1);
  assert_int_equal(hits.values[1][0], 0);
  live_unpin(&old);
  live_stream_close(&stream);
}

/* Each of two CPUs has a group. A sample has the counts of its own CPU. */
static void set_group_on_each_cpu_counts_there_alone(void **state) {
  live_stream_t stream;
  live_plan_t plan;
  int cpus[2];
  cpu_set_t old;
  hits_t hits;
  size_t i, nr = live_cpus(cpus, 2);

  plan_two(__func__, &plan, NULL, PERF_SAMPLE_TID | PERF_SAMPLE_READ);
  live_plan_group(&plan, 2);
  memset(&hits, 0, sizeof(hits));
  live_stream_open(*state, &stream, &plan.options);
  uvperf_event_list_free(plan.list);
  stream.on_record = note_hit;
  stream.hook_data = &hits;
  live_stream_start(&stream, NULL);
  for (i = 0; i < nr; i++) {
    live_pin(cpus[i], &old);
    live_syscall(1);
    live_unpin(&old);
    assert_int_equal(live_run_until(*state, &stream.samples, i + 1), 1);
    assert_int_equal(hits.values[i][0], 1);
  }
  assert_int_equal(hits.others, 0);
  assert_int_equal(live_set_read(&stream.live, 0).value, nr);
  live_stream_close(&stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_group_of_two_writes_the_counts_of_both),
      support_loop_test(set_of_two_in_one_ring_matches_each_record),
      support_loop_test(set_group_on_each_cpu_counts_there_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
