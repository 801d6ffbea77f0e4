/* SPDX-License-Identifier: MIT */
/* bpf-output: prints each exec on the machine, on a libuv loop. A BPF program
 * outputs the execs to a perf event array. This file is the life-cycle: load,
 * open, start, run the loop until something ends it, stop. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "uvperf.h"

#include "bpf-output/line.h"
#include "bpf-output/notes.h"
#include "bpf-output/options.h"
#include "bpf-output/program.h"
#include "common/cpu.h"
#include "common/lost.h"
#include "common/output.h"
#include "common/say.h"
#include "common/session.h"
#include "common/stdio.h"
#include "common/targets.h"

#define TICK_MS 50
/* The interval of messages about losses, in ticks. */
#define SLOW_TICKS 20
/* If this much text is not written yet, the program waits for the slow reader,
 * and records wait in the rings. */
#define MAX_TEXT_BYTES ((size_t)16 << 20)
#define WAIT_MS        100

typedef struct bpf_output_s {
  common_session_t session;
  bpf_output_options_t options;
  bpf_output_program_t program;
  uvperf_bpf_reader_t reader;
  int is_open; /* the reader */
  common_output_t output;
  uint64_t execs;   /* printed */
  uint64_t unsound; /* invalid records */
  uint64_t lost_reported;
  uint64_t ticks;
  int command_status;
  int failed;
} bpf_output_t;

static void on_close(common_session_t *session) {
  bpf_output_t *sample = session->data;

  if (sample->is_open)
    uvperf_close(&sample->reader.handle, NULL);
}

/* Detaches the program first, so that all of its output is in the rings and can
 * be read. */
static void on_stop(common_session_t *session) {
  bpf_output_t *sample = session->data;

  bpf_output_program_detach(&sample->program);
  uvperf_flush(&sample->reader.handle);
  uvperf_stop(&sample->reader.handle);
  bpf_output_line_end(&sample->output.buffer, sample->options.json, uv_hrtime(),
                      sample->execs, bpf_output_program_lost(&sample->program));
  sample->failed |= common_output_finish(&sample->output, sample->options.file);
  bpf_output_notes_end(sample->execs, bpf_output_program_lost(&sample->program),
                       sample->unsound);
}

static void on_command(common_session_t *session, int status) {
  bpf_output_t *sample = session->data;

  sample->command_status = common_command_exit(status);
}

/* A reader such as head(1) closes stdout when it has read enough. */
static void push(bpf_output_t *sample, int wait_ms) {
  common_output_push(&sample->output, wait_ms);
  if (sample->output.error != 0)
    common_session_stop_soon(&sample->session);
}

static void on_tick(common_session_t *session) {
  bpf_output_t *sample = session->data;

  push(sample, 0);
  if (++sample->ticks % SLOW_TICKS == 0)
    common_lost_note(bpf_output_program_lost(&sample->program),
                     &sample->lost_reported);
}

static void on_failure(bpf_output_t *sample, int status) {
  common_say("cannot read a ring: %s\n", uv_strerror(status));
  sample->failed = 1;
  if (!uvperf_is_active(&sample->reader.handle))
    common_session_stop_soon(&sample->session);
}

static void on_record(bpf_output_t *sample, int status,
                      const uvperf_record_t *record) {
  common_buffer_t *buffer = &sample->output.buffer;
  int json = sample->options.json;

  if (uvperf_record_lost(record) > 0)
    bpf_output_line_lost(buffer, json, (int32_t)record->cpu, uv_hrtime(),
                         uvperf_record_lost(record));
  else if (status == 0 &&
           bpf_output_line_exec(buffer, json, (int32_t)record->cpu,
                                record->sample.raw.data,
                                record->sample.raw.size) == 0)
    sample->execs++;
  else
    sample->unsound++;
}

static void on_sample(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  bpf_output_t *sample = handle->data;

  if (record->type != UVPERF_RECORD_NONE)
    on_record(sample, status, record);
  else if (status != 0)
    on_failure(sample, status);
  else
    push(sample, 0); /* the end of a slice */
  /* While push() waits, no records are read from the rings. */
  if (sample->output.buffer.used > MAX_TEXT_BYTES && !sample->session.stopping)
    push(sample, WAIT_MS);
}

static void on_cpu(uvperf_handle_t *handle, int cpu, int status,
                   const uvperf_error_t *error) {
  (void)handle;
  common_cpu_tell(cpu, status, error);
}

static int open_reader(bpf_output_t *sample) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf_stream_options_t stream = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  options.ring_bytes = sample->options.ring_bytes;
  options.wakeup_events = sample->options.wakeup;
  if (uvperf_bpf_reader_init(&sample->session.loop, &sample->reader,
                             bpf_output_program_map(&sample->program), &options,
                             &error) != 0)
    return bpf_output_notes_refused(&sample->options, &error);
  sample->is_open = 1;
  sample->reader.handle.data = sample;
  uvperf_on_cpu(&sample->reader.handle, on_cpu);
  stream.flags = UVPERF_START_SLICE_END;
  if (uvperf_start(&sample->reader.handle, &stream, on_sample, &error) != 0)
    return bpf_output_notes_refused(&sample->options, &error);
  return 0;
}

/* The order matters: the reader starts before the program runs, and the program
 * runs before the command is executed. */
static int open_and_start(bpf_output_t *sample) {
  int status = 0;

  if (!bpf_output_program_has_other_pids())
    status = common_process_asked(&sample->options.pid);
  if (status == 0)
    status = bpf_output_program_load(&sample->program, &sample->options);
  if (status == 0)
    status = open_reader(sample);
  if (status == 0)
    status = bpf_output_program_attach(&sample->program);
  if (status != 0)
    return status;
  bpf_output_line_head(&sample->output.buffer, sample->options.json);
  common_session_listen(&sample->session);
  bpf_output_notes_opened(&sample->options, &sample->reader);
  status = common_session_go(&sample->session);
  common_session_start(&sample->session, TICK_MS, sample->options.duration_ms);
  return status;
}

/* Opens the loop, runs it and closes it. */
static int run(bpf_output_t *sample) {
  common_session_t *session = &sample->session;
  int status;

  session->data = sample;
  session->on_stop = on_stop;
  session->on_tick = on_tick;
  session->on_command = on_command;
  session->on_close = on_close;
  if (common_session_init(session) != 0)
    return 1;
  status = common_session_run(session, open_and_start(sample));
  bpf_output_program_unload(&sample->program);
  common_buffer_free(&sample->output.buffer);
  if (status == 0 && (sample->failed || sample->unsound > 0))
    status = 1;
  return status != 0 ? status : sample->command_status;
}

int main(int argc, char **argv) {
  static bpf_output_t sample = {.session = COMMON_SESSION_INIT};
  int status;

  common_signals_take(&sample.session.command.signals);
  common_stdio_init();
  status = bpf_output_options_parse(&sample.options, argc, argv);
  if (status == 0 && sample.options.help) {
    bpf_output_options_help();
    return common_stdio_close(stdout, "stdout");
  }
  if (status == 0)
    status = common_output_open(&sample.output, sample.options.file);
  if (status == 0)
    status = common_session_fork(&sample.session, sample.options.command);
  if (status == 0)
    status = run(&sample);
  common_command_end(&sample.session.command);
  return status;
}
