/* SPDX-License-Identifier: MIT */
/* The life-cycle of a run: fork, open, enable, exec, wait, read. Does not know
 * how counts are printed. */
#include "stat/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/say.h"
#include "stat/messages.h"
#include "stat/targets.h"
#include "stat/tool.h"

/* How often the tasks of -p and -t are checked. */
#define ALIVE_MS 100

/* Checks for a pending signal. Between two runs no loop handles signals, so
 * signals are blocked. Otherwise a signal would end the program before it has
 * printed anything. And if a command is killed before its exec, its end would
 * be missed. */
static int is_signal_waiting(void) {
  sigset_t set;

  return sigpending(&set) == 0 &&
         (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1 ||
          sigismember(&set, SIGHUP) == 1);
}

/* -- reading --------------------------------------------------------------- */

/* The set's reading is valid only in the callback, so it is copied. */
static void on_read(uvperf_set_t *set, int status,
                    const uvperf_reading_t *reading,
                    const uvperf_reading_t *delta) {
  stat_run_t *run = set->handle.data;

  if (status == 0)
    status = uvperf_reading_copy(run->reported, reading);
  if (status != 0) {
    common_say_code("cannot read an interval", status);
    return;
  }
  run->on_interval(run, delta);
  if (++run->nr_intervals == run->options->nr_intervals)
    common_session_stop_soon(&run->session);
}

/* Reports the counts after the last whole interval. */
static void report_rest(stat_run_t *run) {
  const stat_options_t *options = run->options;

  if (options->interval_ms == 0 || run->started_ns == 0 ||
      (options->nr_intervals > 0 && run->nr_intervals == options->nr_intervals))
    return;
  if (uvperf_reading_delta(run->delta, run->reported, run->reading) == 0)
    run->on_interval(run, run->delta);
}

/* All events are stopped before the first event is read. So events that are
 * compared have counted for the same time. */
static void on_stop(common_session_t *session) {
  stat_run_t *run = session->data;
  int rc;

  common_control_stop(&run->control->channel);
  run->elapsed_ns = run->started_ns == 0 ? 0 : uv_hrtime() - run->started_ns;
  uvperf_set_read_stop(&run->set);
  uvperf_disable(&run->set.handle, UVPERF_ALL, NULL);
  rc = uvperf_set_read(&run->set, run->reading, NULL);
  if (rc != 0) {
    run->failed = common_say_code("cannot read the events", rc);
    return;
  }
  if (run->started_ns == 0)
    stat_messages_too_short(run->options);
  report_rest(run);
  run->has_counted = 1;
}

/* The first interval begins before the events count, so that no counts are
 * missed. */
static int start_intervals(stat_run_t *run) {
  uint64_t interval_ms = run->options->interval_ms;
  uvperf_error_t error;

  if (uvperf_set_read(&run->set, run->reported, &error) == 0 &&
      uvperf_set_read_start(&run->set, interval_ms, on_read, &error) == 0)
    return 0;
  common_say("cannot read intervals: %s\n", error.reason);
  return 1;
}

static int enable(stat_run_t *run) {
  const stat_options_t *options = run->options;
  uvperf_error_t error;

  if (options->interval_ms > 0 && start_intervals(run) != 0)
    return 1;
  if (uvperf_enable(&run->set.handle, UVPERF_ALL, &error) != 0)
    return common_say_error(&error);
  stat_messages_counting(options, &run->set);
  /* Enabling thousands of events takes a while. The intervals include this
   * time. */
  run->started_ns = options->interval_ms > 0
                        ? uvperf_reading_info(run->reported)->time
                        : uv_hrtime();
  return 0;
}

/* Begins to count because of -D or --control. */
static void begin(stat_run_t *run) {
  if (enable(run) != 0) {
    run->failed = 1;
    common_session_stop_soon(&run->session);
    return;
  }
  common_session_start(&run->session, 0, run->options->timeout_ms);
}

static void on_delay(common_session_t *session, int begins) {
  stat_run_t *run = session->data;

  (void)begins;
  if (run->started_ns == 0)
    begin(run);
}

static void set_enabled(stat_run_t *run, int is_on) {
  run->control->is_on = is_on;
  if (is_on && run->started_ns == 0)
    begin(run);
  else if (is_on)
    uvperf_enable(&run->set.handle, UVPERF_ALL, NULL);
  else
    uvperf_disable(&run->set.handle, UVPERF_ALL, NULL);
}

static void on_control(common_control_t *control,
                       enum common_control_command command, const char *rest) {
  stat_run_t *run = control->data;

  switch (command) {
    case COMMON_CONTROL_ENABLE:
    case COMMON_CONTROL_DISABLE:
      if (rest[0] == '\0')
        set_enabled(run, command == COMMON_CONTROL_ENABLE);
      else if (common_control_may_say(control))
        common_say(
            "--control: enable and disable take no name here; they are for all "
            "events\n");
      break;
    case COMMON_CONTROL_EVLIST:
      stat_messages_events(&run->set);
      break;
    case COMMON_CONTROL_SNAPSHOT:
      if (common_control_may_say(control))
        common_say("--control: counts have no snapshots; use uvperf-record for "
                   "these\n");
      break;
    case COMMON_CONTROL_STOP:
      common_session_stop_soon(&run->session);
      break;
    case COMMON_CONTROL_PING:
      break;
  }
}

static void on_tick(common_session_t *session) {
  stat_run_t *run = session->data;

  if (!stat_alive_any(&run->alive))
    common_session_stop(session);
}

/* Stores the times of all commands that this program has waited for so far. */
static void take_times(uint64_t *user_ns, uint64_t *system_ns) {
  struct rusage usage;

  memset(&usage, 0, sizeof(usage));
  getrusage(RUSAGE_CHILDREN, &usage);
  *user_ns = (uint64_t)usage.ru_utime.tv_sec * 1000000000 +
             (uint64_t)usage.ru_utime.tv_usec * 1000;
  *system_ns = (uint64_t)usage.ru_stime.tv_sec * 1000000000 +
               (uint64_t)usage.ru_stime.tv_usec * 1000;
}

static int is_interrupted(const stat_run_t *run) {
  return run->session.signal != 0 || run->control->channel.has_stopped;
}

static void on_close(common_session_t *session) {
  stat_run_t *run = session->data;
  uint64_t user_before = run->user_ns, system_before = run->system_ns;

  if (run->has_counted && !run->failed) {
    take_times(&run->user_ns, &run->system_ns);
    run->user_ns -= user_before;
    run->system_ns -= system_before;
    run->is_interrupted = is_interrupted(run);
    run->on_counted(run);
  }
  common_control_close(&run->control->channel);
  if (run->has_set)
    common_session_close_set(session, &run->set);
}

static int on_late_signal(common_session_t *session) {
  stat_run_t *run = session->data;

  return run->on_late_signal(run);
}

/* -- the run --------------------------------------------------------------- */

/* Returns 1 if counting begins with the run. With -D or --control counting may
 * begin later. */
static int counts_from_start(const stat_run_t *run) {
  return run->control->is_on && run->options->delay.nr == 0;
}

/* Opens a set that has the events but counts nothing. */
static int open_no_target(stat_run_t *run, uvperf_set_options_t *options,
                          uvperf_error_t *error) {
  options->targets = NULL;
  options->nr_targets = 0;
  options->flags |= UVPERF_SET_TARGETS_LATER;
  return uvperf_set_init(&run->session.loop, &run->set, options, error);
}

static int open_set(stat_run_t *run) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  common_target_list_t targets;
  uvperf_error_t error;
  int rc, status = 0;

  stat_targets_make(&targets, run->options, run->session.command.pid,
                    counts_from_start(run));
  options.events = run->events;
  options.targets = targets.targets;
  options.nr_targets = targets.nr;
  options.fallbacks = UVPERF_FALLBACK_USER;
  rc = uvperf_set_init(&run->session.loop, &run->set, &options, &error);
  if (rc != 0 && stat_refused_runs(run->options, &error)) {
    stat_refused_find(&run->refused, run->events, &targets, &error);
    rc = open_no_target(run, &options, &error);
  }
  if (rc != 0)
    status = stat_messages_refused(run->options, &error);
  common_target_list_free(&targets);
  if (rc != 0)
    return status;
  run->set.handle.data = run;
  run->has_set = 1;
  run->on_open(run, &run->set);
  return common_events_filter(&run->options->events, stat_tool_parse,
                              run->events, &run->set);
}

static int make_readings(stat_run_t *run) {
  int rc = uvperf_reading_new(&run->reading);

  if (rc == 0)
    rc = uvperf_reading_new(&run->reported);
  if (rc == 0)
    rc = uvperf_reading_new(&run->delta);
  return rc == 0 ? 0 : common_say_code("cannot make a reading", rc);
}

static int start(stat_run_t *run) {
  const stat_options_t *options = run->options;
  int of_tasks = options->pids.nr + options->tids.nr > 0, status;
  int is_on = counts_from_start(run);

  if (is_on && enable(run) != 0)
    return 1;
  status = common_session_go(&run->session);
  /* A command determines how long to count. */
  common_session_start(&run->session,
                       of_tasks && options->command == NULL ? ALIVE_MS : 0,
                       is_on ? options->timeout_ms : 0);
  common_session_delay(&run->session, &options->delay);
  common_control_start(&run->control->channel);
  return status;
}

static int open_and_start(common_session_t *session) {
  stat_run_t *run = session->data;
  int status = common_control_init(&run->control->channel, &session->loop);

  if (status == 0)
    status = open_set(run);
  if (status == 0)
    status = make_readings(run);
  if (status != 0)
    return status;
  common_session_listen(session);
  return start(run);
}

int stat_control_open(stat_control_t *control, const stat_options_t *options) {
  control->is_on = !options->delay.is_set;
  return common_control_open(&control->channel, options->control);
}

int stat_run(stat_run_t *run) {
  static const common_session_t init = COMMON_SESSION_INIT;
  int status;

  run->session = init;
  run->session.data = run;
  run->session.on_stop = on_stop;
  run->session.on_tick = on_tick;
  run->session.on_delay = on_delay;
  run->session.on_close = on_close;
  run->session.on_late_signal = on_late_signal;
  run->session.leave_int = 1;
  stat_alive_begin(&run->alive, run->options);
  run->control->channel.data = run;
  run->control->channel.on_command = on_control;
  common_signals_hold();
  run->session.command.signals = *run->signals;
  take_times(&run->user_ns, &run->system_ns); /* before this run */
  status =
      common_session_main(&run->session, run->options->command, open_and_start);
  stat_alive_end(&run->alive);
  uvperf_reading_free(run->reported);
  uvperf_reading_free(run->delta);
  run->is_interrupted = is_interrupted(run) || is_signal_waiting();
  return status != 0 ? status : run->failed;
}

void stat_run_free(stat_run_t *run) {
  uvperf_reading_free(run->reading);
  stat_refused_free(&run->refused);
}
