/* SPDX-License-Identifier: MIT */
#include "live.h"

#include <sys/prctl.h>
#include <unistd.h>

void live_comm_attr(struct perf_event_attr *attr) {
  uvperf_attr_software(attr, PERF_COUNT_SW_DUMMY);
  attr->comm = 1;
  attr->sample_id_all = 1;
  attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr->exclude_kernel = 1;
  attr->exclude_hv = 1;
  uvperf_attr_set_wakeup_bytes(attr, 1);
}

void live_comm(uint64_t *next, uint64_t nr) {
  char name[16];
  uint64_t i;

  for (i = 0; i < nr; i++) {
    snprintf(name, sizeof(name), "live%u", (unsigned int)*next);
    *next += 1;
    if (prctl(PR_SET_NAME, name) != 0)
      abort();
  }
}

static void count_comm(live_collector_t *collector, const char *comm) {
  char expected[16];

  snprintf(expected, sizeof(expected), "live%u",
           (unsigned int)collector->comms);
  if (strcmp(comm, expected) != 0)
    collector->out_of_order += 1;
  collector->comms += 1;
}

void live_on_record(uvperf_handle_t *handle, int status,
                    const uvperf_record_t *record) {
  live_collector_t *collector = handle->data;

  if (collector->ends > 0)
    collector->after_end += 1;
  if (record->type == UVPERF_RECORD_NONE && status == 0) {
    collector->slice_ends += 1;
    return;
  }
  if (record->type == UVPERF_RECORD_NONE) {
    collector->ends += 1;
    collector->end_status = status;
    return;
  }
  if (collector->hook != NULL)
    collector->hook(collector, record);
  collector->records += 1;
  if (status == 0 && record->type == PERF_RECORD_COMM)
    count_comm(collector, record->comm.comm);
  else
    collector->others += 1;
}

void live_init(uv_loop_t *loop, live_collector_t *collector,
               const struct perf_event_attr *attr,
               const uvperf_event_options_t *options) {
  uvperf_error_t error;
  int rc;

  memset(collector, 0, sizeof(*collector));
  error.reason[0] = '\0';
  rc = uvperf_event_init(loop, &collector->event, attr, options, &error);
  if (rc != 0)
    fail_msg("init: %d: %s", rc, error.reason);
  collector->event.handle.data = collector;
}

void live_init_comm(uv_loop_t *loop, live_collector_t *collector) {
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  live_init(loop, collector, &attr, NULL);
}

void live_start(live_collector_t *collector,
                const uvperf_stream_options_t *options) {
  uvperf_stream_options_t own = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_error_t error;
  int rc;

  own.flush_ms = -1;
  own.slice_us = LIVE_SLICE_US;
  error.reason[0] = '\0';
  rc = uvperf_start(
      &collector->event.handle, options != NULL ? options : &own,
      support_ring_bytes(&collector->event.handle) != 0 ? live_on_record : NULL,
      &error);
  if (rc != 0)
    fail_msg("start: %d: %s", rc, error.reason);
}

static void on_closed(uvperf_handle_t *handle) {
  live_collector_t *collector = handle->data;

  collector->closed += 1;
}

void live_close(live_collector_t *collector) {
  uv_loop_t *loop = collector->event.handle.loop;

  uvperf_close(&collector->event.handle, on_closed);
  assert_int_equal(collector->closed, 0);
  while (collector->closed == 0 && uv_loop_alive(loop))
    uv_run(loop, UV_RUN_ONCE);
  assert_int_equal(collector->closed, 1);
}

static void on_deadline(uv_timer_t *timer) {
  *(int *)timer->data = 1;
}

static void run_deadline(uv_loop_t *loop, uint64_t ms, const uint64_t *counter,
                         uint64_t nr, uint64_t *turns) {
  uv_timer_t timer;
  int over = 0;

  uv_timer_init(loop, &timer);
  timer.data = &over;
  uv_update_time(loop);
  /* Repeated, because UV_RUN_ONCE also runs due timers before it waits: if the
   * loop had nothing else, it would wait for ever. */
  uv_timer_start(&timer, on_deadline, ms, 1);
  while (!over && (counter == NULL || *counter < nr)) {
    uv_run(loop, UV_RUN_ONCE);
    *turns += 1;
  }
  uv_close((uv_handle_t *)&timer, NULL);
  uv_run(loop, UV_RUN_NOWAIT);
}

int live_run_until(uv_loop_t *loop, const uint64_t *counter, uint64_t nr) {
  uint64_t turns = 0;

  run_deadline(loop, 20000, counter, nr, &turns);
  return *counter >= nr;
}

uint64_t live_run_ms(uv_loop_t *loop, uint64_t ms) {
  uint64_t turns = 0;

  run_deadline(loop, ms, NULL, 0, &turns);
  return turns;
}

void live_child_fork(live_child_t *child, uint64_t nr) {
  uint64_t next = 0;
  int fds[2];
  char byte;

  assert_int_equal(pipe(fds), 0);
  child->pid = fork();
  assert_true(child->pid >= 0);
  if (child->pid > 0) {
    close(fds[0]);
    child->go = fds[1];
    return;
  }
  close(fds[1]);
  /* End of file means that the parent has failed: just continue. */
  while (read(fds[0], &byte, 1) < 0 && errno == EINTR)
    continue;
  live_comm(&next, nr);
  _exit(0);
}

void live_child_go(live_child_t *child) {
  assert_int_equal(write(child->go, "", 1), 1);
  close(child->go);
  child->go = -1;
}

void live_child_wait(live_child_t *child) {
  assert_int_equal(support_wait(child->pid), 0);
}

void live_begin(uv_loop_t *loop, live_collector_t *collector,
                const struct perf_event_attr *attr,
                const uvperf_event_options_t *options,
                void (*hook)(live_collector_t *, const uvperf_record_t *),
                void *hook_data) {
  uvperf_stream_options_t stream = UVPERF_STREAM_OPTIONS_INIT;

  live_init(loop, collector, attr, options);
  collector->hook = hook;
  collector->hook_data = hook_data;
  stream.flush_ms = -1;
  stream.flags = UVPERF_START_NO_ENABLE;
  live_start(collector, &stream);
  assert_int_equal(uvperf_disable(&collector->event.handle, 0, NULL), 0);
  assert_int_equal(uvperf_enable(&collector->event.handle, 0, NULL), 0);
}

void live_end(live_collector_t *collector, uint64_t nr) {
  uv_loop_t *loop = collector->event.handle.loop;
  uvperf_stats_t stats;

  assert_int_equal(uvperf_disable(&collector->event.handle, 0, NULL), 0);
  live_run_until(loop, &collector->records, nr);
  live_run_ms(loop, 1);
  uvperf_stats(&collector->event.handle, &stats);
  assert_int_equal(collector->records, nr);
  assert_int_equal(stats.records, nr);
  assert_int_equal(stats.lost_records, 0);
  assert_int_equal(stats.corrupt, 0);
  live_close(collector);
}

void live_find_ring(const uvperf_handle_t *handle, uint32_t cpu,
                    uvperf_ring_info_t *ring) {
  size_t i = 0;

  do
    assert_int_equal(uvperf_ring(handle, i++, ring), 0);
  while (ring->cpu != (int32_t)cpu);
}
