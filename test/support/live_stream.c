/* SPDX-License-Identifier: MIT */
#include "live_stream.h"

#include <sys/wait.h>
#include <unistd.h>

#include "live_thread.h"

const uvperf_stream_options_t live_stream_plain = {
    sizeof(uvperf_stream_options_t), 0, 20000000, 0, -1, 0};

/* -- plans ---------------------------------------------------------------- */

void live_stream_plan(live_plan_t *plan) {
  live_plan_begin(plan);
  plan->options.flags = UVPERF_SET_RECORDS;
  plan->options.wakeup_bytes = 1;
}

struct perf_event_attr *live_stream_plan_comm(live_plan_t *plan) {
  struct perf_event_attr *attr = live_plan_attr(plan);

  live_comm_attr(attr);
  attr->watermark = 0;
  attr->wakeup_watermark = 0;
  return attr;
}

void live_stream_plan_mode(live_plan_t *plan, size_t mode) {
  plan->options.flags &= ~UVPERF_SET_TIME_ORDER;
  if (mode == 1)
    plan->options.flags |= UVPERF_SET_TIME_ORDER;
}

uvperf_target_t *live_stream_plan_target(live_plan_t *plan, uint32_t type,
                                         pid_t pid) {
  uvperf_target_t *target = live_plan_target(plan, type);

  target->pid = pid;
  target->data = (void *)(uintptr_t)plan->options.nr_targets;
  return target;
}

void live_stream_plan_own(live_plan_t *plan) {
  live_stream_plan(plan);
  live_stream_plan_comm(plan);
  live_stream_plan_target(plan, UVPERF_TARGET_SELF, 0);
}

/* -- sets ----------------------------------------------------------------- */

void live_stream_open(uv_loop_t *loop, live_stream_t *stream,
                      const uvperf_set_options_t *options) {
  memset(stream, 0, sizeof(*stream));
  live_set_open(loop, &stream->live, options);
  uvperf_set_on_end(&stream->live.set, live_stream_on_end);
}

void live_stream_start(live_stream_t *stream,
                       const uvperf_stream_options_t *options) {
  uvperf_error_t error;
  int rc;

  error.reason[0] = '\0';
  rc = uvperf_start(&stream->live.set.handle,
                    options != NULL ? options : &live_stream_plain,
                    live_stream_on_record, &error);
  if (rc != 0)
    fail_msg("uvperf_start: %d: %s", rc, error.reason);
}

void live_stream_begin(uv_loop_t *loop, live_stream_t *stream,
                       const live_plan_t *plan) {
  live_stream_open(loop, stream, &plan->options);
  live_stream_start(stream, NULL);
}

void live_stream_close(live_stream_t *stream) {
  live_set_close(&stream->live);
}

void live_stream_comm(uint64_t *next, uint64_t nr) {
  cpu_set_t old;
  int cpu;

  live_cpus(&cpu, 1);
  live_pin(cpu, &old);
  live_comm(next, nr);
  live_unpin(&old);
}

/* -- callbacks ------------------------------------------------------------ */

static void count_comm(live_stream_t *stream, const char *comm) {
  char expected[16];

  if (strncmp(comm, "live", 4) != 0)
    return;
  snprintf(expected, sizeof(expected), "live%u", (unsigned int)stream->comms);
  stream->out_of_order += strcmp(comm, expected) != 0;
  stream->comms += 1;
}

static void count_source(live_stream_t *stream, const uvperf_source_t *source) {
  if (source == NULL || source->attr_index >= LIVE_SET_MOST ||
      source->target_index >= LIVE_SET_MOST ||
      (uintptr_t)source->data != source->target_index + 1 ||
      source->item != uvperf_set_item(&stream->live.set, source->attr_index)) {
    stream->foreign += 1;
    return;
  }
  stream->by_attr[source->attr_index] += 1;
  stream->by_target[source->target_index] += 1;
}

static void count(live_stream_t *stream, const uvperf_record_t *record) {
  stream->records += 1;
  count_source(stream, record->source);
  if (record->type == PERF_RECORD_COMM)
    count_comm(stream, record->comm.comm);
  stream->samples += record->type == PERF_RECORD_SAMPLE;
  if (!(record->present & PERF_SAMPLE_TIME))
    return;
  stream->inversions += record->time < stream->last_time;
  if (stream->last_time < record->time)
    stream->last_time = record->time;
}

void live_stream_on_record(uvperf_handle_t *base, int status,
                           const uvperf_record_t *record) {
  live_stream_t *stream = base->data;

  stream->after_end += stream->eofs > 0;
  if (record->type == UVPERF_RECORD_NONE && (status == 0 || status == UV_EOF))
    assert_int_equal(record->cpu, UINT32_MAX);
  if (record->type != UVPERF_RECORD_NONE && status == 0) {
    count(stream, record);
  } else if (record->type != UVPERF_RECORD_NONE) {
    stream->records += 1;
    stream->corrupt += 1;
  } else if (status == 0) {
    stream->slice_ends += 1;
  } else if (status == UV_EOF) {
    stream->eofs += 1;
  } else {
    stream->faults += 1;
    stream->fault = status;
    live_find_ring(base, record->cpu, &stream->fault_ring);
  }
  if (stream->on_record != NULL)
    stream->on_record(stream, record);
}

void live_stream_on_end(uvperf_set_t *set, uint32_t target) {
  live_stream_t *stream = set->handle.data;

  stream->after_end += stream->eofs > 0;
  if (stream->nr_ends < LIVE_STREAM_ENDS) {
    stream->ended[stream->nr_ends] = target;
    stream->records_at_end[stream->nr_ends] = stream->records;
  }
  stream->nr_ends += 1;
  if (stream->on_end != NULL)
    stream->on_end(stream, target);
}

/* -- a storm -------------------------------------------------------------- */

static void make_comms(uint64_t nr) {
  uint64_t next = 0;

  live_comm(&next, nr);
}

static void be_thread(void *arg) {
  make_comms(LIVE_STREAM_CHILD_COMMS);
}

int live_stream_be_storm(void *arg) {
  int go = *(int *)arg;
  live_thread_t thread;
  char byte;
  int i;

  if (read(go, &byte, 1) < 0)
    return 1;
  for (i = 0; i < LIVE_STREAM_CHILDREN; i++) {
    if (fork() == 0) {
      make_comms(LIVE_STREAM_CHILD_COMMS);
      if (i % 4 == 0) {
        live_thread_start(&thread, be_thread, NULL);
        live_thread_do(&thread);
        live_thread_end(&thread);
      }
      _exit(0);
    }
    if (i % 8 == 7)
      while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
  }
  while (waitpid(-1, NULL, 0) > 0)
    continue;
  return 0;
}
