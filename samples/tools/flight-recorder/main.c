/* SPDX-License-Identifier: MIT */
/* flight-recorder: keeps the last context switches of the machine, and writes
 * them at SIGUSR1. This file is the life-cycle: open, start, run the loop until
 * something ends it, stop. sets.c opens the events and dump.c makes dumps. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "uvperf.h"

#include "common/cpu.h"
#include "common/files.h"
#include "common/proc.h"
#include "common/say.h"
#include "common/session.h"
#include "common/stdio.h"
#include "flight-recorder/dump.h"
#include "flight-recorder/notes.h"
#include "flight-recorder/options.h"
#include "flight-recorder/sets.h"
#include "flight-recorder/writer.h"

#define TICK_MS 50
/* The interval of writes, while text is waiting. */
#define WRITE_MS 1
/* How often to search for names whose records were lost, in ticks. */
#define SLOW_TICKS 20
/* If this much text is not written yet, a dump waits for the slow reader. */
#define MAX_TEXT_BYTES ((size_t)64 << 20)
/* One past name is kept for each NAME_BYTES of the rings. This is the size of
 * the smallest record of a switch. Each switch makes two records. */
#define NAME_BYTES 48
#define MIN_NAMES  1024

typedef struct flight_s {
  common_session_t session;
  flight_options_t options;
  flight_sets_t sets;
  flight_dump_t dump;
  flight_writer_t writer;
  uv_signal_t usr1;
  uv_timer_t write;
  uint64_t wanted;    /* dumps that were requested and not begun */
  int is_taking;      /* a dump was begun and is not finished */
  int is_closed;      /* all except the sets, which wait for the dump */
  uint64_t scan_time; /* of the names that the scan finds */
  uint64_t ticks;
  int command_status;
  int failed;
} flight_t;

/* -- names ----------------------------------------------------------------- */

static void on_thread(void *arg, int32_t tid, const char *comm) {
  flight_t *flight = arg;

  flight_names_scan_found(&flight->dump.names, (uint32_t)tid, comm,
                          flight->scan_time);
}

static void scan_names(flight_t *flight, uint64_t time) {
  flight->scan_time = time;
  flight_names_scan_begin(&flight->dump.names);
  common_proc_threads(on_thread, flight);
  flight_names_scan_end(&flight->dump.names, time);
}

static void on_name(uvperf_handle_t *handle, int status,
                    const uvperf_record_t *record) {
  flight_t *flight = handle->data;

  if (status == 0 && record->type != UVPERF_RECORD_NONE)
    flight_names_record(&flight->dump.names, record);
}

/* -- dumps ----------------------------------------------------------------- */

static void on_switch(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  flight_t *flight = handle->data;

  if (status == 0 && record->type != UVPERF_RECORD_NONE) {
    flight_switches_record(&flight->dump.switches, record);
  } else if (record->type == UVPERF_RECORD_NONE && status != 0 &&
             status != UV_EOF) {
    common_say("cannot read a ring: %s\n", uv_strerror(status));
    flight->failed = 1;
  }
}

static void note_dump(flight_t *flight, int status) {
  if (status == 0) {
    flight_notes_dump(&flight->dump.sums);
  } else {
    flight_notes_failed(status);
    flight->failed = 1;
  }
}

static void on_taken(uvperf_handle_t *handle, int status);

/* Meanwhile the loop reads names and writes text. */
static void begin_dump(flight_t *flight) {
  int rc = flight_dump_begin(&flight->dump, on_taken);

  flight->is_taking = rc == 0;
  if (rc != 0)
    note_dump(flight, rc);
}

/* -- while it runs, and its end -------------------------------------------- */

static void on_write(uv_timer_t *timer);

/* Begins a dump if a dump is wanted, and writes as much as possible. A reader
 * such as head(1) closes stdout when it has read enough. */
static void serve(flight_t *flight) {
  flight_writer_t *writer = &flight->writer;

  flight_writer_push(writer);
  if (flight->wanted > 0 && !flight->is_taking && writer->output.error == 0 &&
      flight_writer_waiting(writer) < MAX_TEXT_BYTES) {
    flight->wanted--;
    begin_dump(flight);
  }
  if (writer->output.error != 0)
    common_session_stop_soon(&flight->session);
  else if (flight_writer_waiting(writer) > 0)
    uv_timer_start(&flight->write, on_write, WRITE_MS, 0);
}

static void on_write(uv_timer_t *timer) {
  serve(timer->data);
}

static void on_usr1(uv_signal_t *handle, int number) {
  flight_t *flight = handle->data;

  (void)number;
  if (flight->session.stopping)
    return;
  flight->wanted++;
  serve(flight);
}

static void on_tick(common_session_t *session) {
  flight_t *flight = session->data;

  serve(flight);
  if (++flight->ticks % SLOW_TICKS == 0 && flight->dump.names.lost > 0) {
    uvperf_flush(&flight->sets.names.handle);
    scan_names(flight, uv_hrtime());
  }
}

static void on_cpu(uvperf_handle_t *base, int cpu, int status,
                   const uvperf_error_t *error) {
  flight_t *flight = base->data;

  common_cpu_note(base, cpu, status, error);
  if (status == 0)
    flight_dump_cpu_since(&flight->dump, cpu, uv_hrtime());
}

/* Takes the dumps that are still wanted, and may block for them. */
static void finish(flight_t *flight) {
  for (; flight->wanted > 0 && flight->writer.output.error == 0;
       flight->wanted--)
    note_dump(flight, flight_dump_take(&flight->dump, &flight->writer.text));
  uvperf_stop(&flight->sets.switches.handle);
  uvperf_stop(&flight->sets.names.handle);
  flight->failed |= flight_writer_finish(&flight->writer, flight->options.file);
  flight_notes_end(&flight->dump.sums, flight->dump.names.lost_in_all);
}

static void on_taken(uvperf_handle_t *handle, int status) {
  flight_t *flight = handle->data;

  flight->is_taking = 0;
  if (status == 0)
    flight_dump_end(&flight->dump, &flight->writer.text);
  note_dump(flight, status);
  if (!flight->session.stopping) {
    serve(flight);
    return;
  }
  finish(flight);
  if (flight->is_closed)
    flight_sets_close(&flight->sets);
}

/* If a dump is being taken, on_taken calls finish() after the dump. */
static void on_stop(common_session_t *session) {
  flight_t *flight = session->data;

  if (flight->options.dump_at_exit || flight->options.command != NULL)
    flight->wanted++;
  if (!flight->is_taking)
    finish(flight);
}

static void on_command(common_session_t *session, int status) {
  flight_t *flight = session->data;

  flight->command_status = common_command_exit(status);
}

/* Without a handler SIGUSR1 would end the program. So SIGUSR1 is blocked until
 * the handler is set, and again when the loop closes. */
static void hold_usr1(int how) {
  sigset_t set;

  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(how, &set, NULL);
}

static void on_close(common_session_t *session) {
  flight_t *flight = session->data;

  hold_usr1(SIG_BLOCK);
  uv_close((uv_handle_t *)&flight->usr1, NULL);
  uv_close((uv_handle_t *)&flight->write, NULL);
  flight->is_closed = 1;
  if (!flight->is_taking)
    flight_sets_close(&flight->sets);
}

/* -- from the command line to the end -------------------------------------- */

/* Starts the names first: switches without names are useless. */
static int start_sets(flight_t *flight, uvperf_error_t *error) {
  flight_sets_t *sets = &flight->sets;
  int rc;

  sets->names.handle.data = sets->switches.handle.data = flight;
  uvperf_on_cpu(&sets->switches.handle, on_cpu);
  /* While the set starts, threads may end and others may begin, so scan before
   * and after. From then on records report new threads. */
  scan_names(flight, 0);
  rc = uvperf_start(&sets->names.handle, NULL, on_name, error);
  if (rc != 0)
    return rc;
  scan_names(flight, 0);
  flight_dump_since(&flight->dump, uv_hrtime());
  return uvperf_start(&sets->switches.handle, NULL, on_switch, error);
}

static int start(flight_t *flight) {
  uvperf_error_t error;
  int rc;

  flight->dump.options = &flight->options;
  flight->dump.sets = &flight->sets;
  flight_names_init(
      &flight->dump.names,
      MIN_NAMES + (size_t)(flight_sets_bytes(&flight->sets) / NAME_BYTES));
  common_session_listen(&flight->session);
  if (start_sets(flight, &error) != 0) {
    common_say("%s\n", error.reason);
    return 1;
  }
  uv_signal_start(&flight->usr1, on_usr1, SIGUSR1);
  hold_usr1(SIG_UNBLOCK);
  flight_notes_opened(&flight->options, &flight->sets);
  rc = common_session_go(&flight->session);
  common_session_start(&flight->session, TICK_MS, flight->options.duration_ms);
  return rc;
}

static int open_and_start(flight_t *flight) {
  uvperf_error_t error;

  memset(&error, 0, sizeof(error));
  if (flight_sets_open(&flight->sets, &flight->session.loop, &flight->options,
                       flight->session.command.pid, &error) != 0)
    return flight_notes_refused(&flight->options, &error);
  return start(flight);
}

/* Opens the loop, runs it and closes it. */
static int run(flight_t *flight) {
  common_session_t *session = &flight->session;
  int status;

  session->data = flight;
  session->on_stop = on_stop;
  session->on_tick = on_tick;
  session->on_command = on_command;
  session->on_close = on_close;
  if (common_session_init(session) != 0)
    return 1;
  uv_signal_init(&session->loop, &flight->usr1);
  uv_timer_init(&session->loop, &flight->write);
  flight->usr1.data = flight->write.data = flight;
  status = common_session_run(session, open_and_start(flight));
  if (status == 0 && flight->failed)
    status = 1;
  return status != 0 ? status : flight->command_status;
}

static int record(flight_t *flight) {
  struct rlimit files;
  int status;

  status = common_output_open(&flight->writer.output, flight->options.file);
  if (status == 0)
    status = common_session_fork(&flight->session, flight->options.command);
  if (status != 0)
    return status;
  /* The command is already forked, so it keeps the old limit. */
  common_files_raise(&files);
  status = run(flight);
  common_files_restore(&files);
  common_command_end(&flight->session.command);
  flight_dump_free(&flight->dump);
  flight_writer_free(&flight->writer);
  return status;
}

int main(int argc, char **argv) {
  static flight_t flight = {.session = COMMON_SESSION_INIT};
  int status;

  common_signals_take(&flight.session.command.signals);
  hold_usr1(SIG_BLOCK);
  common_stdio_init();
  status = flight_options_parse(&flight.options, argc, argv);
  if (status == 0 && flight.options.help) {
    flight_options_help();
    return common_stdio_close(stdout, "stdout");
  }
  return status != 0 ? status : record(&flight);
}
