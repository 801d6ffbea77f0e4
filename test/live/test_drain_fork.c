/* SPDX-License-Identifier: MIT */
/* Live: a callback forks in the middle of samples that follow each other. The
 * child makes the calls that are allowed, and closes. It does not have the ring
 * that holds them. */
#include "live_stream.h"

#include <signal.h>
#include <unistd.h>

#define SAMPLES  6
#define FORKS_AT 4

/* Forks once, in the callback of sample FORKS_AT. */
static pid_t fork_once(uint64_t samples, pid_t *pid, uv_loop_t *loop) {
  if (samples != FORKS_AT || *pid != -1)
    return -1;
  fflush(NULL);
  *pid = fork();
  if (*pid == 0)
    signal(SIGSEGV, SIG_DFL); /* cmocka's handler would continue with the
                               * tests */
  if (*pid == 0 && uv_loop_fork(loop) != 0)
    _exit(1);
  return *pid;
}

static void check_in_child(const uvperf_stats_t *stats) {
  if (stats->records > FORKS_AT || stats->corrupt != 0)
    _exit(2);
}

static int end_child(uv_loop_t *loop) {
  while (uv_run(loop, UV_RUN_DEFAULT) != 0)
    continue;
  return uv_loop_close(loop) == 0 ? 0 : 3;
}

/* -- an event -------------------------------------------------------------- */

static void on_event(uvperf_handle_t *handle, int status,
                     const uvperf_record_t *record) {
  live_collector_t *collector = handle->data;
  uvperf_stats_t stats;

  live_on_record(handle, status, record);
  uvperf_stats(handle, &stats);
  if (fork_once(collector->records, collector->hook_data, handle->loop) != 0) {
    assert_int_equal(stats.records, collector->records);
    return;
  }
  uvperf_stats(handle, &stats);
  check_in_child(&stats);
  uvperf_close(handle, NULL);
}

static void event_forked_among_samples_child_may_ask_and_close(void **state) {
  uv_loop_t *loop = *state;
  live_collector_t collector;
  struct perf_event_attr attr;
  pid_t pid = -1;

  live_need_syscall(__func__, &attr, PERF_SAMPLE_TID);
  live_init(loop, &collector, &attr, NULL);
  collector.hook_data = &pid;
  assert_int_equal(uvperf_start(&collector.event.handle, NULL, on_event, NULL),
                   0);
  live_syscall(SAMPLES);
  while (pid == -1)
    uv_run(loop, UV_RUN_ONCE);
  if (pid == 0)
    _exit(end_child(loop));
  assert_int_equal(support_wait(pid), 0);
  assert_true(live_run_until(loop, &collector.records, SAMPLES));
  live_close(&collector);
}

/* -- a set ----------------------------------------------------------------- */

static void on_set(live_stream_t *stream, const uvperf_record_t *record) {
  uvperf_set_t *set = &stream->live.set;
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;
  size_t i;

  if (record->type == UVPERF_RECORD_NONE ||
      fork_once(stream->records, stream->hook_data, set->handle.loop) != 0)
    return;
  uvperf_stats(&set->handle, &stats);
  check_in_child(&stats);
  for (i = 0; i < uvperf_nr_rings(&set->handle); i++)
    if (uvperf_ring(&set->handle, i, &ring) != 0)
      _exit(4);
  uvperf_close(&set->handle, NULL);
}

static void set_forked_among_samples_child_may_ask_and_close(void **state) {
  uv_loop_t *loop = *state;
  live_stream_t stream;
  live_plan_t plan;
  uint64_t tracepoint;
  cpu_set_t old;
  size_t mode;
  pid_t pid;
  int cpu;

  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  support_need_kernel_side(__func__);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    pid = -1;
    live_stream_plan(&plan);
    live_plan_syscall(&plan, tracepoint);
    plan.attrs[0].sample_period = 1;
    live_stream_plan_target(&plan, UVPERF_TARGET_SELF, 0);
    live_stream_plan_mode(&plan, mode);
    live_stream_begin(loop, &stream, &plan);
    stream.on_record = on_set;
    stream.hook_data = &pid;
    live_cpus(&cpu, 1);
    live_pin(cpu, &old);
    live_syscall(SAMPLES);
    while (pid == -1)
      uv_run(loop, UV_RUN_ONCE);
    if (pid == 0)
      _exit(end_child(loop));
    live_unpin(&old);
    assert_int_equal(support_wait(pid), 0);
    assert_true(live_run_until(loop, &stream.records, SAMPLES));
    live_stream_close(&stream);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(event_forked_among_samples_child_may_ask_and_close),
      support_loop_test(set_forked_among_samples_child_may_ask_and_close),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
