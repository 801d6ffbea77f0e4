/* SPDX-License-Identifier: MIT */
/* The life-cycle of a recording: fork, open, start, record the tasks that
 * already run, exec, write until something ends it, stop. Does not know how
 * events are chosen or how the file is made. */
#include "record/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/list.h"
#include "common/say.h"
#include "common/target_list.h"
#include "record/run_file.h"

#define TICK_MS 1000
/* -- records --------------------------------------------------------------- */

/* A damaged record is left out and counted. If perf(1) cannot parse a sample,
 * it skips the rest of the file (evlist__parse_sample in
 * tools/perf/util/session.c). perf(1) cannot use a record whose id belongs to
 * no attr. */
static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  record_run_t *run = handle->data;

  if (status == 0 && record->type != UVPERF_RECORD_NONE)
    record_run_file_write(run, record);
  else if (status == 0)
    record_run_file_round(run);
  else if (status == UV_EOF && run->session.command.pid == 0)
    common_session_stop_soon(&run->session);
  else if (status != UV_EOF && record->type == UVPERF_RECORD_NONE)
    run->failed = common_say_code("cannot read a ring", status);
}

/* -- which events are on --------------------------------------------------- */

static void apply(record_run_t *run) {
  int rc = record_enable_apply(&run->enable, &run->set, run->reading);

  if (rc != 0)
    run->failed = common_say_code("cannot turn all events on or off", rc);
}

static void set_enabled(record_run_t *run, const char *name, int is_on) {
  const char *one = name[0] == '\0' ? NULL : name;

  if (record_enable_choose(&run->enable, run->attrs, &run->set, one, is_on) !=
      0) {
    if (common_control_may_say(&run->control))
      record_messages_no_event(name);
    return;
  }
  apply(run);
  record_messages_enabled(run->options, one, is_on);
}

static void on_delay(common_session_t *session, int begins) {
  set_enabled(session->data, "", begins);
}

static void on_control(common_control_t *control,
                       enum common_control_command command, const char *rest) {
  record_run_t *run = control->data;

  switch (command) {
    case COMMON_CONTROL_ENABLE:
    case COMMON_CONTROL_DISABLE:
      set_enabled(run, rest, command == COMMON_CONTROL_ENABLE);
      break;
    case COMMON_CONTROL_EVLIST:
      record_messages_events(run->attrs, &run->set);
      break;
    case COMMON_CONTROL_SNAPSHOT:
      if (run->options->limits.switches)
        record_run_file_switch(run);
      else if (common_control_may_say(control))
        common_say("--control: snapshot needs --switch-output\n");
      break;
    case COMMON_CONTROL_STOP:
      common_session_stop_soon(&run->session);
      break;
    case COMMON_CONTROL_PING:
      break;
  }
}

/* A CPU that comes online has new events. */
static void on_cpu(uvperf_handle_t *base, int cpu, int status,
                   const uvperf_error_t *error) {
  record_run_t *run = base->data;

  record_messages_cpu(run->options, cpu, status, error);
  if (status == UV_ENODEV && error == NULL)
    return;
  run->failed |= record_run_file_add_ids(run);
  apply(run);
  if (run->options->delay.is_set)
    record_enable_side_band(run->attrs, &run->set, run->reading);
}

static void on_side_cpu(uvperf_handle_t *base, int cpu, int status,
                        const uvperf_error_t *error) {
  record_side_t *side = base->data;
  record_run_t *run = side->owner;

  (void)cpu;
  (void)status;
  (void)error; /* the other set reports the same CPU */
  run->failed |= record_run_file_add_ids(run);
}

/* -- SIGUSR2 --------------------------------------------------------------- */

static void on_usr2(uv_signal_t *handle, int number) {
  (void)number;
  record_run_file_switch(handle->data);
}

static void listen_to_usr2(record_run_t *run) {
  sigset_t set;

  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  uv_signal_start(&run->usr2, on_usr2, SIGUSR2);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Ignores SIGUSR2, as perf record does by default. Otherwise a SIGUSR2 that
 * comes after the signal's handle is closed would end the program. */
static void ignore_usr2(record_run_t *run) {
  sigset_t set;

  sigemptyset(&set);
  sigaddset(&set, SIGUSR2);
  sigprocmask(SIG_BLOCK, &set, NULL);
  uv_signal_stop(&run->usr2);
  signal(SIGUSR2, SIG_IGN);
}

/* -- the end --------------------------------------------------------------- */

static void on_stop(common_session_t *session) {
  record_run_t *run = session->data;

  common_control_stop(&run->control);
  uv_timer_stop(&run->switching);
  uvperf_disable(&run->set.handle, UVPERF_ALL, NULL);
  record_run_file_stop(run);
  if (run->has_line)
    fputc('\n', stderr);
}

static void on_command(common_session_t *session, int status) {
  (void)session;
  record_messages_command(status);
}

static void on_tick(common_session_t *session) {
  record_run_t *run = session->data;

  record_run_file_sync(run);
  run->has_line |=
      record_messages_progress(run->options, &run->totals, &run->shown);
  run->shown = run->totals;
}

/* Signals are blocked meanwhile, so that the end of the file is written even if
 * the user sends a second signal. */
static void on_close(common_session_t *session) {
  record_run_t *run = session->data;

  ignore_usr2(run);
  common_control_close(&run->control);
  uv_close((uv_handle_t *)&run->switching, NULL);
  uv_close((uv_handle_t *)&run->usr2, NULL);
  common_signals_hold();
  record_run_file_close(run);
  common_signals_let_come();
  if (run->has_begun)
    record_messages_end(run->options, &run->totals, run->names.last);
  if (run->has_set)
    common_session_close_set(session, &run->set);
  if (run->side.has_set)
    common_session_close_set(session, &run->side.set);
}

/* -- the beginning --------------------------------------------------------- */

static void make_targets(const record_run_t *run, common_target_list_t *list) {
  const record_options_t *options = run->options;
  uint32_t flags = options->no_inherit || run->attrs->reads_groups
                       ? UVPERF_TARGET_NO_INHERIT
                       : 0;
  int is_delayed = options->delay.is_set;
  uvperf_target_t *target;

  memset(list, 0, sizeof(*list));
  common_target_list_add_ids(list, &options->pids, UVPERF_TARGET_PROCESS,
                             flags);
  common_target_list_add_ids(list, &options->tids, UVPERF_TARGET_THREAD, 0);
  if (options->all) {
    target = common_target_list_add(list, UVPERF_TARGET_CPUS);
    target->cpus = options->cpus;
  } else if (record_options_is_command(options)) {
    /* With -D a command is a process, because the kernel would enable all
     * events at a command's execve(2). */
    target = common_target_list_add(list, is_delayed ? UVPERF_TARGET_PROCESS
                                                     : UVPERF_TARGET_COMMAND);
    target->pid = run->session.command.pid;
    target->flags = flags;
  }
}

/* With --overwrite, tasks and mappings have their own set. */
static int open_side(record_run_t *run, const uvperf_set_options_t *options,
                     uvperf_error_t *error) {
  return !run->options->limits.overwrites
             ? 0
             : record_side_open(&run->side, &run->session.loop, options,
                                record_attrs_side_band(run->options), error);
}

static int open_set(record_run_t *run) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  common_target_list_t targets;
  uvperf_error_t error;
  int rc;

  make_targets(run, &targets);
  options.events = run->attrs->events;
  options.targets = targets.targets;
  options.nr_targets = targets.nr;
  options.flags = UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER;
  options.fallbacks = UVPERF_FALLBACK_ALL;
  options.side_band = record_attrs_side_band(run->options);
  options.ring_bytes = run->options->ring_bytes;
  if (run->options->limits.overwrites) {
    options.flags |= UVPERF_SET_OVERWRITE;
    options.side_band &= RECORD_SIDE_IN_RINGS;
  }
  rc = common_session_open_set(&run->session, &run->set, &options, &error);
  run->has_set = rc == 0;
  run->set.handle.data = run;
  if (rc == 0)
    rc = open_side(run, &options, &error);
  common_target_list_free(&targets);
  if (rc == UV_ECANCELED) /* by a signal, which ends this program */
    return 1;
  if (rc != 0)
    return record_messages_refused(run->options, &error);
  return common_events_filter(&run->options->events, common_list_parse,
                              run->attrs->list, &run->set);
}

static int is_open(const record_run_t *run, size_t attr) {
  size_t nr = uvperf_reading_info(run->reading)->nr_places, i;

  for (i = 0; i < nr; i++) {
    if (uvperf_set_fd(&run->set, attr,
                      uvperf_reading_place(run->reading, i)->serial) >= 0)
      return 1;
  }
  return 0;
}

/* A file in which one of the events never happens would be misleading, so that
 * is an error. */
static int check_events(record_run_t *run) {
  size_t attr;
  int rc = uvperf_reading_new(&run->reading);

  if (rc == 0)
    rc = uvperf_set_read(&run->set, run->reading, NULL);
  if (rc != 0)
    return common_say_code("cannot read the events", rc);
  for (attr = 0; attr < uvperf_set_nr_attrs(&run->set); attr++) {
    if (!is_open(run, attr))
      return record_messages_event_refused(run->attrs, &run->set, attr);
  }
  return 0;
}

/* /proc is read when mappings and tasks are already recorded. So a change
 * meanwhile is seen in /proc, in a record, or in both, which does no harm.
 * Samples begin later; otherwise they would show this program reading /proc.
 * The mappings and tasks of a command are recorded from its execve(2) on. */
static int write_beginning(record_run_t *run) {
  uvperf_error_t error;
  int rc = 0;

  if (!record_options_is_command(run->options) || run->options->delay.is_set)
    rc = record_enable_side_band(run->attrs, &run->set, run->reading);
  if (rc != 0)
    return common_say_code("cannot record tasks and mappings", rc);
  if (run->side.has_set &&
      record_side_start(&run->side, &run->ahead, &error) != 0)
    return common_say_error(&error);
  return record_run_file_begin(run);
}

static int enable(record_run_t *run) {
  uvperf_error_t error;

  if (run->options->delay.is_set) {
    record_enable_later(&run->enable, run->attrs);
    record_messages_enabled(run->options, NULL, 0);
  } else if (uvperf_enable(&run->set.handle, UVPERF_ALL, &error) != 0)
    return common_say_error(&error);
  return 0;
}

/* Times count from the command's execve(2). */
static int go(record_run_t *run) {
  const record_options_t *options = run->options;
  uint64_t duration_ms = options->duration_ms;
  int rc = common_session_go(&run->session);

  run->has_begun = rc == 0;
  if (rc != 0)
    return rc;
  if (duration_ms > 0 && options->delay.nr > 0)
    duration_ms += options->delay.times[0];
  common_session_start(&run->session, TICK_MS, duration_ms);
  common_session_delay(&run->session, &options->delay);
  if (options->limits.switch_signal)
    listen_to_usr2(run);
  common_control_start(&run->control);
  record_run_file_wait(run);
  return 0;
}

static int start(record_run_t *run) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_error_t error;

  options.flags = UVPERF_START_SLICE_END | UVPERF_START_NO_ENABLE;
  uvperf_on_cpu(&run->set.handle, on_cpu);
  run->side.owner = run;
  run->side.born = run->options->all ? NULL : &run->born;
  if (run->side.has_set)
    uvperf_on_cpu(&run->side.set.handle, on_side_cpu);
  if (uvperf_start(&run->set.handle, &options, on_record, &error) != 0)
    return common_say_error(&error);
  if (write_beginning(run) != 0 || enable(run) != 0)
    return 1;
  record_messages_opened(run->options, run->attrs, &run->set);
  record_messages_recording(run->options, &run->set);
  return go(run);
}

static int open_and_start(common_session_t *session) {
  record_run_t *run = session->data;
  int status;

  uv_timer_init(&session->loop, &run->switching);
  uv_signal_init(&session->loop, &run->usr2);
  run->switching.data = run->usr2.data = run;
  status = common_control_init(&run->control, &session->loop);
  if (status == 0)
    status = open_set(run);
  if (status == 0)
    status = check_events(run);
  if (status == 0)
    status = record_run_file_open(run);
  if (status != 0)
    return status;
  common_session_listen(session);
  return start(run);
}

int record_run(record_run_t *run, const common_signals_t *signals) {
  static const common_session_t init = COMMON_SESSION_INIT;
  int status;

  run->session = init;
  run->names.max = (size_t)run->options->limits.max_files;
  run->session.data = run;
  run->session.on_stop = on_stop;
  run->session.on_tick = on_tick;
  run->session.on_delay = on_delay;
  run->session.on_command = on_command;
  run->session.on_close = on_close;
  run->session.is_quiet = run->options->quiet;
  run->session.command.signals = *signals;
  status = common_control_open(&run->control, run->options->control);
  run->control.data = run;
  run->control.on_command = on_control;
  if (status == 0)
    status = common_session_main(&run->session, run->options->command,
                                 open_and_start);
  common_control_free(&run->control);
  common_tally_free(&run->ids);
  common_ids_free(&run->born);
  common_buffer_free(&run->ahead);
  common_buffer_free(&run->taken);
  uvperf_reading_free(run->side.reading);
  record_names_free(&run->names);
  free(run->enable.is_off);
  uvperf_reading_free(run->reading);
  uvperf_reading_free(run->losses);
  uvperf_reading_free(run->before);
  return status != 0 ? status : run->failed;
}
