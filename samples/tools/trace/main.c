/* SPDX-License-Identifier: MIT */
/* trace: prints the hits of tracepoints, on a libuv loop. This file is the
 * life-cycle: open, start, run the loop until something ends it, stop. set.c
 * opens the events and hits.c handles the records. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "uvperf.h"

#include "common/cpu.h"
#include "common/lost.h"
#include "common/say.h"
#include "common/session.h"
#include "common/stdio.h"
#include "trace/hits.h"
#include "trace/input.h"
#include "trace/notes.h"
#include "trace/set.h"

#define TICK_MS 50
/* The interval of messages about losses, in ticks. */
#define SLOW_TICKS 20
/* WRITE_BYTES of text or more are written before the next tick. If there are
 * MAX_TEXT_BYTES or more, the program waits for the slow reader, and records
 * wait in the rings. */
#define WRITE_BYTES    ((size_t)64 << 10)
#define MAX_TEXT_BYTES ((size_t)1 << 20)
#define WAIT_MS        100

typedef struct trace_s {
  common_session_t session;
  trace_options_t options;
  trace_hits_t hits;
  uvperf_set_t set;
  int is_open; /* the set */
  trace_sums_t sums;
  uint64_t started_ns;
  uint64_t lost_reported;
  uint64_t ticks;
  int failed;
} trace_t;

/* -- records --------------------------------------------------------------- */

/* While common_output_push waits, no records are read from the rings. */
static void write_text(trace_t *trace) {
  common_output_t *output = &trace->hits.output;

  if (output->buffer.used >= MAX_TEXT_BYTES && !trace->session.stopping)
    common_output_push(output, WAIT_MS);
  else if (output->buffer.used >= WRITE_BYTES)
    common_output_push(output, 0);
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  trace_t *trace = handle->data;

  if (status == 0 && record->type != UVPERF_RECORD_NONE) {
    if (trace_hits_record(&trace->hits, record,
                          record->source != NULL ? record->source->attr_index
                                                 : SIZE_MAX))
      common_session_stop_soon(&trace->session);
    write_text(trace);
  } else if (status == UV_EOF) {
    /* SIGCHLD reports the end of a command. */
    if (trace->session.command.pid == 0)
      common_session_stop_soon(&trace->session);
  } else if (record->type == UVPERF_RECORD_NONE && status != 0) {
    common_say("cannot read a ring: %s\n", uv_strerror(status));
    trace->failed = 1;
  }
}

/* -- while it runs, and its end -------------------------------------------- */

static void on_stop(common_session_t *session) {
  trace_t *trace = session->data;
  trace_sums_t *sums = &trace->sums;
  uvperf_stats_t stats;
  uint64_t now;

  uvperf_disable(&trace->set.handle, UVPERF_ALL, NULL);
  uvperf_stop(&trace->set.handle);
  uvperf_flush(&trace->set.handle);
  /* The events are stopped, so no hit is later than this. */
  now = uv_hrtime();
  uvperf_stats(&trace->set.handle, &stats);
  sums->late = stats.late_records;
  sums->corrupt = stats.corrupt;
  sums->lost = common_lost_of_set(&trace->set, trace->hits.events.nr);
  sums->elapsed_ns = trace->started_ns > 0 ? now - trace->started_ns : 0;
  trace_hits_finish(&trace->hits, now, sums->lost, sums->late);
  sums->hits = trace->hits.nr;
  sums->outsiders = trace->hits.calls.outsiders;
  trace->failed |=
      common_output_finish(&trace->hits.output, trace->options.file);
  trace_notes_end(&trace->options, sums);
}

static void on_tick(common_session_t *session) {
  trace_t *trace = session->data;
  uvperf_stats_t stats;

  common_output_push(&trace->hits.output, 0);
  /* A reader such as head(1) has closed stdout: it has read enough. */
  if (trace->hits.output.error != 0) {
    common_session_stop(session);
    return;
  }
  if (++trace->ticks % SLOW_TICKS != 0)
    return;
  uvperf_stats(&trace->set.handle, &stats);
  common_lost_note(stats.lost_records, &trace->lost_reported);
}

static void on_close(common_session_t *session) {
  trace_t *trace = session->data;

  if (trace->is_open)
    common_session_close_set(session, &trace->set);
}

/* -- from the command line to the end -------------------------------------- */

static int begin(trace_t *trace) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_error_t error;

  options.flush_ms = TICK_MS;
  /* While the set starts, threads may end and others may begin, so scan before
   * and after. From then on records report new threads. */
  trace_proc_scan(&trace->hits.names);
  if (uvperf_start(&trace->set.handle, &options, on_record, &error) != 0)
    return common_say_error(&error);
  trace->started_ns = uv_hrtime();
  trace_proc_scan(&trace->hits.names);
  return 0;
}

/* -D */
static void on_delay(common_session_t *session, int begins) {
  trace_t *trace = session->data;

  (void)begins;
  if (begin(trace) != 0) {
    trace->failed = 1;
    common_session_stop(session);
    return;
  }
  common_session_start(session, TICK_MS, trace->options.duration_ms);
}

static int start(trace_t *trace) {
  const trace_options_t *options = &trace->options;
  int rc;

  uvperf_on_cpu(&trace->set.handle, common_cpu_note);
  common_session_listen(&trace->session);
  if (!options->delay.is_set && begin(trace) != 0)
    return 1;
  trace_notes_opened(options, &trace->hits.events, &trace->set);
  rc = common_session_go(&trace->session);
  common_session_start(&trace->session, TICK_MS,
                       options->delay.is_set ? 0 : options->duration_ms);
  common_session_delay(&trace->session, &options->delay);
  return rc;
}

static int open_and_start(common_session_t *session) {
  trace_t *trace = session->data;
  uvperf_error_t error;
  int rc;

  trace_notes_opening(&trace->hits.events);
  memset(&error, 0, sizeof(error));
  rc = trace_set_open(&trace->set, &trace->session, &trace->options,
                      &trace->hits.events, &trace->is_open, &error);
  if (rc == UV_ECANCELED) /* after a signal, which ends this program */
    return 1;
  if (rc != 0)
    return trace_notes_refused(&trace->options, &trace->hits.events, &error);
  if (trace_set_filter(&trace->set, &trace->hits.events, &error) != 0)
    return trace_notes_filter(&trace->hits.events, &error);
  trace->set.handle.data = trace;
  return start(trace);
}

static int run(trace_t *trace) {
  common_session_t *session = &trace->session;
  int status;

  session->data = trace;
  session->on_stop = on_stop;
  session->on_tick = on_tick;
  session->on_delay = on_delay;
  session->on_close = on_close;
  trace->hits.own_pid = trace->options.self ? 0 : (uint32_t)getpid();
  status = common_session_main(session, trace->options.command, open_and_start);
  if (status == 0 && trace->failed)
    status = 1;
  return status != 0 ? status : trace->session.command_status;
}

static int trace_all(trace_t *trace) {
  int status = 0;

  trace_hits_init(&trace->hits, &trace->options);
  if (trace->options.input == NULL)
    status = trace_events_parse(&trace->hits.events, &trace->options);
  if (status == 0)
    status = common_output_open(&trace->hits.output, trace->options.file);
  if (status != 0)
    return status;
  return trace->options.input == NULL
             ? run(trace)
             : trace_input_run(&trace->hits, &trace->sums);
}

int main(int argc, char **argv) {
  static trace_t trace = {.session = COMMON_SESSION_INIT};
  int status;

  common_signals_take(&trace.session.command.signals);
  common_stdio_init();
  status = trace_options_parse(&trace.options, argc, argv);
  if (status == 0)
    status = trace_all(&trace);
  trace_hits_free(&trace.hits);
  trace_options_free(&trace.options);
  return status;
}
