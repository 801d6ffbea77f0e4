/* SPDX-License-Identifier: MIT */
/* The life-cycle of a recording: fork, open, start, look at what is already
 * running, exec, write until something ends it, stop. Knows neither how events
 * are chosen nor how the file is made. */
#include "record/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/files.h"
#include "common/say.h"
#include "common/target_list.h"
#include "record/lost.h"
#include "record/running.h"

#define TICK_MS 1000
/* A record that is late by up to this is still put into its place by perf(1),
 * which holds back two rounds. */
#define ROUND_MS 100
/* How many records of what runs are made at a time. */
#define FLUSH_RECORDS 64

static int say_code(const char *what, int code) {
  common_say("%s: %s\n", what, uv_strerror(code));
  return 1;
}

/* -- what comes ------------------------------------------------------------ */

static void take_totals(record_run_t *run) {
  uvperf_stats_t stats;

  uvperf_set_stats(&run->set, &stats);
  run->totals.lost_told = stats.lost_records;
  run->totals.unsound = stats.corrupt;
  run->totals.late = stats.late_records;
  run->totals.bytes = record_file_bytes(run->file);
}

/* What is written stays; the rest is given up. */
static void stop_writing(record_run_t *run, int code) {
  if (run->write_error == 0)
    run->write_error = code;
  common_session_stop_soon(&run->session);
}

static void write_record(record_run_t *run, const uvperf_record_t *record) {
  int rc = record_file_write(run->file, record->bytes, record->size);

  if (rc != 0) {
    stop_writing(run, rc);
    return;
  }
  run->totals.records++;
  run->totals.samples += record->type == PERF_RECORD_SAMPLE;
}

/* perf(1) sorts by time all that came in two rounds: what lies further back it
 * takes as it comes. */
static void end_slice(record_run_t *run) {
  uint64_t now = uv_now(&run->session.loop);
  int rc;

  if (now - run->round_ms < ROUND_MS)
    return;
  run->round_ms = now;
  rc = record_file_round(run->file);
  if (rc != 0)
    stop_writing(run, rc);
}

/* A record whose body is not sound is left out, and counted: perf(1) gives up
 * the rest of a file where it cannot parse a sample (evlist__parse_sample in
 * tools/perf/util/session.c), and knows nothing to do with an id that is in no
 * attr. */
static void on_record(uvperf_set_t *set, int status,
                      const uvperf_record_t *record) {
  record_run_t *run = set->data;

  if (run->write_error != 0)
    return;
  if (status == 0 && record != NULL)
    write_record(run, record);
  else if (status == 0)
    end_slice(run);
  else if (status == UV_EOF && run->session.command.pid == 0)
    common_session_stop_soon(&run->session);
  else if (status != UV_EOF && record == NULL)
    run->failed = say_code("a ring could not be read", status);
}

/* -- ids ------------------------------------------------------------------- */

static int add_ids(record_run_t *run) {
  int rc = uvperf_set_read(&run->set, run->reading, NULL);

  if (rc != 0)
    return say_code("the events cannot be read", rc);
  record_ids_add(&run->ids, &run->set, run->reading, run->file);
  return 0;
}

/* The events of a CPU that has come are new. */
static void on_cpu(uvperf_set_t *set, int cpu, int status,
                   const uvperf_error_t *error) {
  record_run_t *run = set->data;

  record_messages_cpu(run->options, cpu, status, error);
  if (status != UV_ENODEV || error != NULL)
    run->failed |= add_ids(run);
}

/* -- the end --------------------------------------------------------------- */

/* Losses behind the last record that found room are told by counts alone. */
static void write_losses(record_run_t *run) {
  int rc = uvperf_set_read(&run->set, run->reading, NULL);

  if (rc != 0) {
    run->failed = say_code("the losses cannot be read", rc);
    return;
  }
  rc = record_lost_write(run->file, &run->set, run->reading,
                         &run->totals.lost_counted);
  if (rc != 0)
    stop_writing(run, rc);
}

static void on_stop(common_session_t *session) {
  record_run_t *run = session->data;

  if (run->file != NULL)
    record_file_hurry(run->file, 1);
  uvperf_set_disable(&run->set, NULL);
  uvperf_set_flush(&run->set);
  uvperf_set_stop(&run->set);
  if (run->write_error == 0)
    write_losses(run);
  take_totals(run);
  if (run->has_line)
    record_messages_progress_end();
}

static void on_command(common_session_t *session, int status) {
  record_run_t *run = session->data;

  record_messages_command(status);
  run->command_status =
      WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void on_tick(common_session_t *session) {
  record_run_t *run = session->data;
  int rc = record_file_sync(run->file);

  if (rc != 0) {
    stop_writing(run, rc);
    return;
  }
  take_totals(run);
  run->has_line |=
      record_messages_progress(run->options, &run->totals, &run->told);
  run->told = run->totals;
}

/* What was written before a failure can be read all the same. */
static void finish_file(record_run_t *run) {
  int rc;

  if (run->file == NULL)
    return;
  rc = record_file_close(run->file, run->argv);
  run->file = NULL;
  if (run->write_error == 0)
    run->write_error = rc;
  if (run->write_error != 0) {
    common_say("%s: %s\n", run->options->file,
               run->write_error == -EAGAIN
                   ? "nobody reads: the end was not written"
                   : strerror(-run->write_error));
    run->failed = 1;
  }
  if (run->has_begun)
    record_messages_end(run->options, &run->totals);
}

/* The file's end is to be written also if somebody asks twice. */
static void on_close(common_session_t *session) {
  record_run_t *run = session->data;

  common_signals_hold();
  finish_file(run);
  common_signals_let_come();
  if (run->has_set)
    common_session_close_set(session, &run->set);
}

/* -- the beginning --------------------------------------------------------- */

static void make_targets(const record_run_t *run, common_target_list_t *list) {
  const record_options_t *options = run->options;
  uint32_t flags = options->no_inherit || run->attrs->reads_groups
                       ? UVPERF_TARGET_NO_INHERIT
                       : 0;
  uvperf_target_t *target;

  memset(list, 0, sizeof(*list));
  common_target_list_add_ids(list, &options->pids, UVPERF_TARGET_PROCESS,
                             flags);
  common_target_list_add_ids(list, &options->tids, UVPERF_TARGET_THREAD, 0);
  if (options->all) {
    target = common_target_list_add(list, UVPERF_TARGET_CPUS);
    target->cpus = options->cpus;
  } else if (record_options_is_command(options)) {
    target = common_target_list_add(list, UVPERF_TARGET_COMMAND);
    target->pid = run->session.command.pid;
    target->flags = flags;
  }
}

static int open_set(record_run_t *run) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  common_target_list_t targets;
  uvperf_error_t error;
  int rc;

  make_targets(run, &targets);
  options.attrs = (const struct perf_event_attr *const *)run->attrs->attrs;
  options.nr_attrs = run->attrs->nr;
  options.leaders = run->attrs->leaders;
  options.targets = targets.targets;
  options.nr_targets = targets.nr;
  options.flags =
      UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER | UVPERF_SET_FOLLOW_CPUS;
  options.fallbacks = UVPERF_FALLBACK_ALL;
  options.side_band = record_attrs_side_band(run->options);
  options.ring_bytes = run->options->ring_bytes;
  rc = common_session_open_set(&run->session, &run->set, &options, &error);
  common_target_list_free(&targets);
  if (rc == UV_ECANCELED) /* by a signal, which ends this program */
    return 1;
  if (rc != 0)
    return record_messages_refused(run->options, &error);
  run->set.data = run;
  run->has_set = 1;
  return record_attrs_filter(run->options, &run->set);
}

static int is_open(const record_run_t *run, size_t attr) {
  size_t nr = uvperf_reading_nr_places(run->reading), i;

  for (i = 0; i < nr; i++) {
    if (uvperf_set_fd(&run->set, attr,
                      uvperf_reading_place(run->reading, i)->serial) >= 0)
      return 1;
  }
  return 0;
}

/* A file in which one of the events never happens would be a lie. */
static int check_events(record_run_t *run) {
  size_t attr;
  int rc = uvperf_reading_new(&run->reading);

  if (rc == 0)
    rc = uvperf_set_read(&run->set, run->reading, NULL);
  if (rc != 0)
    return say_code("the events cannot be read", rc);
  for (attr = 0; attr < uvperf_set_nr_attrs(&run->set); attr++) {
    if (!is_open(run, attr))
      return record_messages_event_refused(run->attrs, &run->set, attr);
  }
  return 0;
}

static void add_groups(record_run_t *run) {
  size_t nr = run->attrs->nr, first, next;

  for (first = 0; first < nr; first = next) {
    next = first + 1;
    while (next < nr && run->attrs->leaders[next] == first)
      next++;
    if (next > first + 1)
      record_file_set_group(run->file, first, next - first);
  }
}

/* An old file is left alone until it is clear that there will be a new one. */
static int open_file(record_run_t *run) {
  size_t attr;
  char *name;

  run->file = record_file_open(run->options->file);
  if (run->file == NULL)
    return 1;
  for (attr = 0; attr < uvperf_set_nr_attrs(&run->set); attr++) {
    name = record_attrs_name(run->attrs, &run->set, attr);
    record_file_add_event(run->file, uvperf_set_item(&run->set, attr)->attr,
                          name);
    free(name);
  }
  add_groups(run);
  return add_ids(run);
}

/* The rings fill while thousands of files are read. No round ends before all of
 * them are, so that perf(1) sees what ran before what happened. */
static int write_running(void *arg, const void *bytes, size_t size) {
  record_run_t *run = arg;

  if (++run->nr_running % FLUSH_RECORDS == 0)
    uvperf_set_flush(&run->set);
  return record_file_write(run->file, bytes, size);
}

/* /proc is read when the events already run: what is mapped while it is read is
 * then seen by one of the two, or by both, which does no harm. From here on the
 * file can be read. */
static int write_beginning(record_run_t *run) {
  int rc;

  record_file_hurry(run->file, 1); /* no loop to serve in between yet */
  rc = record_running_write(run->options, run->session.command.pid,
                            uvperf_set_item(&run->set, 0)->attr, write_running,
                            run);
  record_file_hurry(run->file, 0);
  if (rc == 0)
    rc = record_file_sync(run->file);
  run->write_error = rc;
  return rc != 0;
}

static int start(record_run_t *run) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_error_t error;
  int rc;

  options.flags = UVPERF_START_SLICE_END;
  uvperf_set_on_cpu(&run->set, on_cpu);
  if (uvperf_set_start(&run->set, &options, on_record, &error) != 0) {
    common_say("%s\n", error.reason);
    return 1;
  }
  record_messages_opened(run->options, run->attrs, &run->set);
  if (write_beginning(run) != 0)
    return 1;
  record_messages_recording(run->options, &run->set);
  rc = common_session_go(&run->session);
  run->has_begun = rc == 0;
  common_session_start(&run->session, TICK_MS, run->options->duration_ms);
  return rc;
}

/* From an open loop to a closed one. */
static int run_session(record_run_t *run) {
  common_session_t *session = &run->session;
  int status;

  if (common_session_init(session) != 0)
    return 1;
  status = open_set(run);
  if (status == 0)
    status = check_events(run);
  if (status == 0)
    status = open_file(run);
  if (status == 0) {
    common_session_listen(session);
    status = start(run);
  }
  return common_session_run(session, status);
}

int record_run(record_run_t *run, const common_signals_t *signals) {
  static const common_session_t init = COMMON_SESSION_INIT;
  int status;

  run->session = init;
  run->session.data = run;
  run->session.on_stop = on_stop;
  run->session.on_tick = on_tick;
  run->session.on_command = on_command;
  run->session.on_close = on_close;
  run->session.is_quiet = run->options->quiet;
  run->session.command.signals = *signals;
  status = common_session_fork(&run->session, run->options->command);
  if (status != 0)
    return status;
  /* The command keeps the limits that it would have without us. */
  common_files_raise(NULL);
  status = run_session(run);
  common_command_end(&run->session.command);
  record_ids_free(&run->ids);
  uvperf_reading_free(run->reading);
  return status != 0 ? status : run->failed;
}
