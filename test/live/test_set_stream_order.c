/* SPDX-License-Identifier: MIT */
/* Live: the records of several CPUs in the order of their time. The test counts
 * late records itself. */
#include "live_stream.h"

#include "live_thread.h"

#define CALLS_EACH 500000

static void call(void *arg) {
  live_syscall(*(const uint64_t *)arg);
}

/* A thread that is kept on a CPU. */
typedef struct producer_s {
  live_thread_t thread;
  uint64_t calls;
} producer_t;

static void start_producer(producer_t *producer, int cpu, uint64_t calls) {
  cpu_set_t cpus;

  producer->calls = calls;
  live_thread_start(&producer->thread, call, &producer->calls);
  CPU_ZERO(&cpus);
  CPU_SET((size_t)cpu, &cpus);
  assert_int_equal(
      sched_setaffinity((pid_t)producer->thread.tid, sizeof(cpus), &cpus), 0);
}

/* Each call of getpgid is a sample. */
static void plan_calls(live_plan_t *plan, uint64_t tracepoint) {
  live_stream_plan(plan);
  live_stream_plan_mode(plan, 1);
  live_syscall_attr(live_plan_attr(plan), tracepoint, PERF_SAMPLE_TID);
  plan->options.wakeup_bytes = 0;
}

static uint64_t count_lost(live_stream_t *stream) {
  return live_set_read(&stream->live, 0).lost;
}

/* Two CPUs write as fast as they can, so that rings are cut, under pressure and
 * full. Losses are reported, and each other record is not older than the one
 * before, or counted as late. */
static void set_in_time_order_is_so_except_late_records(void **state) {
  live_stream_t stream;
  uvperf_stats_t stats;
  producer_t producers[2];
  uint64_t tracepoint;
  live_plan_t plan;
  int cpus[2];
  size_t nr;
  size_t i;

  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  nr = live_cpus(cpus, 2);
  plan_calls(&plan, tracepoint);
  for (i = 0; i < nr; i++) {
    start_producer(&producers[i], cpus[i], CALLS_EACH);
    live_stream_plan_target(&plan, UVPERF_TARGET_THREAD,
                            (pid_t)producers[i].thread.tid);
  }
  live_stream_open(*state, &stream, &plan.options);
  live_stream_start(&stream, NULL);
  for (i = 0; i < nr; i++)
    live_thread_go(&producers[i].thread);
  live_run_until(*state, &stream.samples, nr * CALLS_EACH / 2);
  for (i = 0; i < nr; i++)
    live_thread_wait(&producers[i].thread);
  assert_int_equal(uvperf_flush(&stream.live.set.handle), 0);
  assert_int_equal(stream.samples + count_lost(&stream), nr * CALLS_EACH);
  assert_int_equal(stream.corrupt, 0);
  assert_int_equal(stream.foreign, 0);
  uvperf_stats(&stream.live.set.handle, &stats);
  assert_int_equal(stats.late_records, stream.inversions);
  assert_true(stats.lost_records <= count_lost(&stream));
  print_message("%llu records of %zu CPUs, %llu lost, %llu late\n",
                (unsigned long long)stream.samples, nr,
                (unsigned long long)count_lost(&stream),
                (unsigned long long)stats.late_records);
  for (i = 0; i < nr; i++) {
    assert_true(stream.by_target[i] > 0);
    live_thread_end(&producers[i].thread);
  }
  live_stream_close(&stream);
}

/* Slowly, and by turns: nothing is lost, and nothing late. */
static void set_in_time_order_of_two_cpus_by_turns(void **state) {
  producer_t producers[2];
  live_stream_t stream;
  uvperf_stats_t stats;
  uint64_t tracepoint;
  live_plan_t plan;
  int cpus[2];
  size_t nr;
  size_t i;

  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  nr = live_cpus(cpus, 2);
  plan_calls(&plan, tracepoint);
  for (i = 0; i < nr; i++) {
    start_producer(&producers[i], cpus[i], 1);
    live_stream_plan_target(&plan, UVPERF_TARGET_THREAD,
                            (pid_t)producers[i].thread.tid);
  }
  live_stream_open(*state, &stream, &plan.options);
  live_stream_start(&stream, NULL);
  for (i = 0; i < 1000; i++) {
    live_thread_do(&producers[i % nr].thread);
    if (i % 100 == 50)
      uv_run(*state, UV_RUN_NOWAIT);
  }
  assert_int_equal(uvperf_flush(&stream.live.set.handle), 0);
  assert_int_equal(stream.samples, 1000);
  assert_int_equal(stream.inversions, 0);
  uvperf_stats(&stream.live.set.handle, &stats);
  assert_int_equal(stats.late_records, 0);
  for (i = 0; i < nr; i++)
    live_thread_end(&producers[i].thread);
  live_stream_close(&stream);
}

/* A ring that is more than half full does not wait. */
static void set_in_time_order_gives_up_the_slack_under_pressure(void **state) {
  live_stream_t stream;
  uvperf_ring_info_t ring;
  uint64_t tracepoint;
  live_plan_t plan;
  cpu_set_t old;
  int cpu;

  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  plan_calls(&plan, tracepoint);
  plan.options.ring_bytes = support_page_bytes();
  plan.options.slack_us = 100000000;
  live_stream_plan_target(&plan, UVPERF_TARGET_SELF, 0);
  live_cpus(&cpu, 1);
  live_pin(cpu, &old);
  live_stream_open(*state, &stream, &plan.options);
  live_stream_start(&stream, NULL);
  live_run_ms(*state, 5);
  live_syscall(20);
  live_run_ms(*state, 5);
  assert_int_equal(stream.samples, 0);
  while (uvperf_ring(&stream.live.set.handle, 0, &ring) == 0 && ring.cpu != cpu)
    fail_msg("the first ring is of CPU %d", ring.cpu);
  while (ring.waiting <= ring.bytes / 2) {
    live_syscall(1);
    uvperf_ring(&stream.live.set.handle, 0, &ring);
  }
  assert_true(live_run_until(*state, &stream.samples, 20));
  assert_int_equal(count_lost(&stream), 0);
  live_unpin(&old);
  live_stream_close(&stream);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_in_time_order_is_so_except_late_records),
      support_loop_test(set_in_time_order_of_two_cpus_by_turns),
      support_loop_test(set_in_time_order_gives_up_the_slack_under_pressure),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
