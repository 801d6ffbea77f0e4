/* SPDX-License-Identifier: MIT */
#include "trace/hits.h"

#include "uvperf/tracepoint.h"

#include "common/text.h"
#include "trace/table.h"

void trace_hits_init(trace_hits_t *hits, const trace_options_t *options) {
  hits->options = options;
  hits->form.json = options->json;
  hits->form.print_fmt = options->print_fmt;
  hits->calls.by = options->summary_mode;
}

void trace_hits_free(trace_hits_t *hits) {
  trace_calls_free(&hits->calls);
  trace_events_free(&hits->events);
  trace_names_free(&hits->names);
  common_buffer_free(&hits->form.scratch);
  common_buffer_free(&hits->output.buffer);
}

static const char *comm_of(trace_hits_t *hits, const uvperf_record_t *record) {
  const char *comm;

  if (!hits->is_recorded)
    return trace_proc_name(&hits->names, record->pid, record->tid);
  comm = trace_names_get(&hits->names, record->tid);
  if (comm != NULL)
    return comm;
  return record->tid == 0 ? "swapper" : "";
}

/* The ABI of the registers shows how large `long` is in the task. */
static int is_compat(const uvperf_record_t *record) {
  uint64_t abi = record->sample.regs_user.abi;

  return abi != PERF_SAMPLE_REGS_ABI_NONE &&
         (abi == PERF_SAMPLE_REGS_ABI_64) != (sizeof(long) == 8);
}

static void take_call(trace_hits_t *hits, const uvperf_record_t *record,
                      const trace_event_t *event) {
  const void *raw = record->sample.raw.data;
  size_t size = record->sample.raw.size;
  trace_caller_now_t now = {record->pid, record->tid, comm_of(hits, record),
                            record->time};
  uint64_t nr, result;

  if (event->nr == NULL || uvperf_field_value(event->nr, raw, size, &nr) != 0)
    return;
  if (event->result == NULL)
    trace_calls_begin(&hits->calls, &now, (int64_t)nr, event->call,
                      is_compat(record));
  else if (uvperf_field_value(event->result, raw, size, &result) == 0)
    trace_calls_end(&hits->calls, &now, (int64_t)nr, event->call,
                    is_compat(record), (int64_t)result);
}

static int is_full(const trace_hits_t *hits) {
  return hits->options->limit > 0 && hits->nr >= hits->options->limit;
}

static void take_hit(trace_hits_t *hits, const uvperf_record_t *record,
                     size_t index) {
  const trace_event_t *event;
  trace_hit_t hit;

  if (index >= hits->events.nr ||
      (hits->own_pid != 0 && record->pid == hits->own_pid) || is_full(hits))
    return;
  event = &hits->events.events[index];
  if (hits->options->summary) {
    take_call(hits, record, event);
    return;
  }
  hit.record = record;
  hit.comm = comm_of(hits, record);
  hit.label = event->label;
  hit.fields = event->fields;
  trace_line_hit(&hits->output.buffer, &hits->form, &hit);
  hits->nr++;
}

/* A FORK record without a time describes a thread that already ran when perf
 * record began. Such a thread is not new. */
static void follow(trace_calls_t *calls, const uvperf_record_t *record) {
  const uvperf_comm_t *comm = &record->comm;
  char name[COMMON_PROC_COMM_BYTES];

  switch (record->type) {
    case PERF_RECORD_FORK:
      if (record->time > 0)
        trace_calls_fork(calls, record->task.pid, record->task.tid);
      break;
    case PERF_RECORD_EXIT:
      trace_calls_exit(calls, record->task.tid);
      break;
    case PERF_RECORD_COMM:
      if (uvperf_record_is_exec(record))
        trace_calls_exec(calls, comm->pid, comm->tid);
      trace_calls_comm(
          calls, comm->pid, comm->tid,
          common_text_copy(name, sizeof(name), comm->comm, comm->comm_size));
      break;
    default:
      break;
  }
}

int trace_hits_record(trace_hits_t *hits, const uvperf_record_t *record,
                      size_t event) {
  if (record->type == PERF_RECORD_LOST) {
    hits->lost += record->lost.lost;
    if (hits->options->summary)
      trace_calls_lost(&hits->calls);
    else
      trace_line_lost(&hits->output.buffer, &hits->form,
                      hits->newest > 0 ? hits->newest : record->time, record);
    return 0;
  }
  if ((record->present & PERF_SAMPLE_TIME) && record->time > hits->newest)
    hits->newest = record->time;
  if (record->type == PERF_RECORD_SAMPLE) {
    take_hit(hits, record, event);
    return is_full(hits);
  }
  trace_names_record(&hits->names, record);
  if (hits->options->summary)
    follow(&hits->calls, record);
  return 0;
}

void trace_hits_finish(trace_hits_t *hits, uint64_t time, uint64_t lost,
                       uint64_t late) {
  common_buffer_t *buffer = &hits->output.buffer;
  size_t i;

  if (hits->options->summary) {
    if (lost > hits->lost)
      trace_calls_lost(&hits->calls); /* not yet reported by a record */
    trace_calls_finish(&hits->calls);
    for (i = 0; i < hits->calls.nr; i++)
      hits->nr += hits->calls.groups[i]->sum.nr;
    if (hits->options->json)
      trace_table_json(buffer, &hits->calls, time);
    else
      trace_table_text(buffer, &hits->calls);
  }
  if (hits->options->json)
    trace_line_end(buffer, time, hits->nr, lost, late);
}
