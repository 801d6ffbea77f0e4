/* SPDX-License-Identifier: MIT */
/* Live: BPF programs that filter the samples of a set. */
#include "live_bpf.h"
#include "live_stream.h"
#include "live_thread.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

/* A thread that causes page faults until it is stopped. */
typedef struct faults_s {
  live_thread_t thread;
  atomic_int is_over;
} faults_t;

static void make_faults(void *arg) {
  faults_t *faults = arg;
  size_t size = LIVE_PAGES * support_page_bytes();
  char *region = live_region();
  size_t at;

  while (!atomic_load(&faults->is_over)) {
    madvise(region, size, MADV_DONTNEED);
    for (at = 0; at < size; at += support_page_bytes())
      *(volatile char *)(region + at) = 1;
  }
  live_region_free(region);
}

static void start_faults(faults_t *faults) {
  atomic_init(&faults->is_over, 0);
  live_thread_start(&faults->thread, make_faults, faults);
  live_thread_go(&faults->thread);
}

static void end_faults(faults_t *faults) {
  atomic_store(&faults->is_over, 1);
  live_thread_wait(&faults->thread);
  live_thread_end(&faults->thread);
}

static void open_stream(uv_loop_t *loop, live_stream_t *stream,
                        live_plan_t *plan, const faults_t *faults,
                        int program) {
  uvperf_error_t error;

  live_stream_plan(plan);
  live_touch_attr(live_plan_attr(plan), PERF_SAMPLE_TID);
  live_stream_plan_target(plan, UVPERF_TARGET_THREAD,
                          (pid_t)faults->thread.tid);
  live_stream_open(loop, stream, &plan->options);
  error.reason[0] = '\0';
  if (uvperf_attach_bpf(&stream->live.set.handle, 0, program, 0, &error) != 0)
    fail_msg("%s", error.reason);
  live_stream_start(stream, NULL);
}

static void wait_for_count(live_stream_t *stream) {
  while (live_set_read(&stream->live, 0).value == 0)
    sched_yield();
}

static void set_program_that_passes_has_its_samples_written(void **state) {
  live_stream_t stream;
  live_plan_t plan;
  faults_t faults;
  int program;

  support_need_own_events(__func__);
  program = live_bpf_constant(__func__, BPF_PROG_TYPE_PERF_EVENT, 1);
  start_faults(&faults);
  open_stream(*state, &stream, &plan, &faults, program);
  assert_int_equal(live_run_until(*state, &stream.samples, 100), 1);
  live_stream_close(&stream);
  end_faults(&faults);
  close(program);
}

/* Also while its events are taken away, and put there again: an event whose
 * program is gone must not write any more. */
static void set_program_that_drops_lets_no_sample_through(void **state) {
  uvperf_error_t error;
  live_stream_t stream;
  live_plan_t plan;
  faults_t faults;
  uint32_t index = 0;
  int program, i;

  support_need_own_events(__func__);
  program = live_bpf_constant(__func__, BPF_PROG_TYPE_PERF_EVENT, 0);
  start_faults(&faults);
  open_stream(*state, &stream, &plan, &faults, program);
  for (i = 0; i < 50; i++) {
    wait_for_count(&stream);
    assert_int_equal(uvperf_set_remove(&stream.live.set, index, NULL, NULL), 0);
    assert_int_equal(uvperf_flush(&stream.live.set.handle), 0);
    assert_int_equal(stream.records, 0);
    assert_int_equal(uvperf_set_add(&stream.live.set, &plan.targets[0], NULL,
                                    &index, &error),
                     0);
  }
  wait_for_count(&stream);
  uv_run(*state, UV_RUN_NOWAIT);
  assert_int_equal(stream.records, 0);
  live_stream_close(&stream);
  end_faults(&faults);
  close(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_program_that_passes_has_its_samples_written),
      support_loop_test(set_program_that_drops_lets_no_sample_through),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
