/* SPDX-License-Identifier: MIT */
/* Signals, timers and the command on one loop. This file does not depend on
 * events, except that some close slowly. */
#include "common/session.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "common/files.h"
#include "common/loop.h"
#include "common/say.h"

/* How long a command may take to end after SIGTERM. */
#define END_MS 2000

/* A close that takes longer is reported. */
#define CLOSE_MS 300
/* In the kernel, closing a tracepoint takes a grace period of RCU
 * (perf_trace_event_unreg in kernel/trace/trace_event_perf.c). */
#define TRACEPOINT_MS 40

/* The exit statuses of a shell. */
#define EXIT_NOT_RUN   126
#define EXIT_NOT_FOUND 127

/* -- closing --------------------------------------------------------------- */

void common_session_close_set(common_session_t *session, uvperf_set_t *set) {
  size_t nr = uvperf_set_nr_attrs(set), i;

  for (i = 0; i < nr; i++)
    session->nr_tracepoints +=
        uvperf_set_item(set, i)->attr->type == PERF_TYPE_TRACEPOINT;
  session->nr_events += uvperf_set_nr_open(set);
  uvperf_close(&set->handle, NULL);
}

/* The kernel closes a process's files before the process is gone, so ending the
 * program saves no time. */
static void report_closing(const common_session_t *session) {
  if (session->nr_tracepoints > 0)
    common_say("closing %zu tracepoint%s: the kernel needs about %.1f s, even "
               "if Ctrl-C ends this program\n",
               session->nr_tracepoints, session->nr_tracepoints == 1 ? "" : "s",
               (double)session->nr_tracepoints * TRACEPOINT_MS / 1000);
  else if (session->nr_events > 0)
    common_say("closing %zu event%s\n", session->nr_events,
               session->nr_events == 1 ? "" : "s");
  else if (session->is_cancelled)
    common_say("closing the events that are already open\n");
}

static void on_slow(uv_timer_t *timer) {
  common_session_t *session = timer->data;

  session->state = COMMON_SESSION_SLOW;
  if (!session->is_quiet && isatty(STDERR_FILENO))
    report_closing(session);
}

/* From here on, the signals do not keep the loop running. The loop's time is
 * from before on_close, which may have taken long. */
static void close_all(common_session_t *session) {
  session->stopping = 1;
  session->on_close(session);
  session->state = COMMON_SESSION_CLOSING;
  uv_update_time(&session->loop);
  uv_timer_start(&session->end, on_slow, CLOSE_MS, 0);
  uv_unref((uv_handle_t *)&session->end);
  uv_unref((uv_handle_t *)&session->interrupt);
  uv_unref((uv_handle_t *)&session->terminate);
  uv_unref((uv_handle_t *)&session->hangup);
  uv_close((uv_handle_t *)&session->child, NULL);
  uv_close((uv_handle_t *)&session->tick, NULL);
  uv_close((uv_handle_t *)&session->delay, NULL);
}

/* A signal that came while the session ended is still in libuv's pipe. Closing
 * the handle would lose this signal, so the loop runs once more. Later signals
 * stay pending. */
static void close_signals(common_session_t *session) {
  common_signals_hold();
  session->state = COMMON_SESSION_CLOSED;
  uv_close((uv_handle_t *)&session->end, NULL);
  uv_ref((uv_handle_t *)&session->interrupt);
  uv_ref((uv_handle_t *)&session->terminate);
  uv_ref((uv_handle_t *)&session->hangup);
  uv_run(&session->loop, UV_RUN_NOWAIT);
  uv_close((uv_handle_t *)&session->interrupt, NULL);
  uv_close((uv_handle_t *)&session->terminate, NULL);
  uv_close((uv_handle_t *)&session->hangup, NULL);
  uv_run(&session->loop, UV_RUN_DEFAULT);
}

/* A second signal right after the first is ignored, because timeout(1) sends a
 * signal to the program and another to its group. */
static void on_late_signal(common_session_t *session, int number) {
  if (session->on_late_signal != NULL && session->on_late_signal(session))
    return;
  if (session->state == COMMON_SESSION_SLOW)
    common_signals_end_by(number);
}

/* -- stopping -------------------------------------------------------------- */

static void on_kill(uv_timer_t *timer) {
  common_session_t *session = timer->data;

  if (session->command.pid != 0)
    kill(session->command.pid, SIGKILL);
}

static void stop(common_session_t *session) {
  session->stopping = 1;
  uv_timer_stop(&session->tick);
  uv_timer_stop(&session->delay);
  uv_timer_stop(&session->end);
  session->on_stop(session);
}

void common_session_stop(common_session_t *session) {
  if (session->stopping)
    return;
  stop(session);
  if (session->command.pid == 0) {
    close_all(session);
    return;
  }
  /* The loop continues until the command has been reaped. */
  kill(session->command.pid, SIGTERM);
  uv_timer_start(&session->end, on_kill, END_MS, 0);
}

static void on_end(uv_timer_t *timer) {
  common_session_stop(timer->data);
}

void common_session_stop_soon(common_session_t *session) {
  if (!session->stopping)
    uv_timer_start(&session->end, on_end, 0, 0);
}

static void on_signal(uv_signal_t *handle, int number) {
  common_session_t *session = handle->data;

  session->signal = number;
  if (session->opening != NULL) {
    if (!uvperf_is_closing(&session->opening->handle))
      uvperf_close(&session->opening->handle, NULL);
    return;
  }
  if (session->state != COMMON_SESSION_OPEN) {
    on_late_signal(session, number);
    return;
  }
  /* A terminal sends SIGINT to the command too. The command can choose to go
   * on. */
  if (number == SIGINT && session->leave_int && session->command.pid != 0 &&
      !session->stopping)
    return;
  if (!session->stopping)
    common_session_stop(session);
  else
    on_kill(&session->end); /* The second signal kills the command. */
}

static void on_child(uv_signal_t *handle, int number) {
  common_session_t *session = handle->data;
  int status;

  (void)number;
  if (!common_command_reap(&session->command, &status))
    return;
  if (!session->stopping) {
    stop(session);
    session->command_status = common_command_exit(status);
    if (session->on_command != NULL)
      session->on_command(session, status);
  }
  close_all(session);
}

static void on_tick(uv_timer_t *timer) {
  common_session_t *session = timer->data;

  session->on_tick(session);
}

/* -- beginning and end ----------------------------------------------------- */

int common_session_fork(common_session_t *session, char **command) {
  int rc;

  if (command == NULL)
    return 0;
  rc = common_command_fork(&session->command, command);
  if (rc != 0)
    common_say("cannot start the command: fork: %s\n", strerror(-rc));
  return rc != 0;
}

int common_session_init(common_session_t *session) {
  if (common_loop_init(&session->loop) != 0)
    return 1;
  common_loop_start_pool(&session->loop, &session->pool);
  uv_signal_init(&session->loop, &session->interrupt);
  uv_signal_init(&session->loop, &session->terminate);
  uv_signal_init(&session->loop, &session->hangup);
  uv_signal_init(&session->loop, &session->child);
  uv_timer_init(&session->loop, &session->tick);
  uv_timer_init(&session->loop, &session->end);
  uv_timer_init(&session->loop, &session->delay);
  session->interrupt.data = session->terminate.data = session->hangup.data =
      session->child.data = session->tick.data = session->end.data =
          session->delay.data = session;
  return 0;
}

/* A tool that nohup(1) has started continues without the terminal. */
static void start_signals(common_session_t *session) {
  uv_signal_start(&session->interrupt, on_signal, SIGINT);
  uv_signal_start(&session->terminate, on_signal, SIGTERM);
  if (!common_signals_is_ignored(SIGHUP))
    uv_signal_start(&session->hangup, on_signal, SIGHUP);
}

static void on_open(uvperf_handle_t *base, int status,
                    const uvperf_error_t *error) {
  common_session_t *session = base->data;

  session->opening = NULL;
  session->open_status = status;
  if (error != NULL)
    session->open_error = *error;
  if (!uvperf_is_closing(base) && status != 0)
    uvperf_close(base, NULL);
}

int common_session_open_set(common_session_t *session, uvperf_set_t *set,
                            const uvperf_set_options_t *options,
                            uvperf_error_t *error) {
  uvperf_set_options_t own = *options;
  int rc;

  own.open_cb = on_open;
  rc = uvperf_set_init(&session->loop, set, &own, error);
  if (rc == UV_EAGAIN || rc == UV_EPERM) /* no thread can be created */
    return uvperf_set_init(&session->loop, set, options, error);
  if (rc != 0)
    return rc;
  set->handle.data = session;
  session->opening = set;
  start_signals(session);
  while (session->opening != NULL)
    uv_run(&session->loop, UV_RUN_ONCE);
  session->is_cancelled = session->open_status == UV_ECANCELED;
  *error = session->open_error;
  return session->open_status;
}

void common_session_listen(common_session_t *session) {
  start_signals(session);
  uv_signal_start(&session->child, on_child, SIGCHLD);
  common_signals_let_come();
}

void common_session_start(common_session_t *session, uint64_t tick_ms,
                          uint64_t duration_ms) {
  /* The loop's time is the time of its last turn. */
  uv_update_time(&session->loop);
  if (tick_ms > 0)
    uv_timer_start(&session->tick, on_tick, tick_ms, tick_ms);
  if (duration_ms > 0)
    uv_timer_start(&session->end, on_end, duration_ms, 0);
}

static void on_delay(uv_timer_t *timer);

/* Counts from the start, because the loop may have been late at the previous
 * time. */
static void wait_for_delay(common_session_t *session) {
  const common_delay_t *delays = session->delays;
  uint64_t next = delays->times[session->nr_delays];
  uint64_t now = uv_now(&session->loop) - session->delay_start;

  uv_timer_start(&session->delay, on_delay, next > now ? next - now : 0, 0);
}

static void on_delay(uv_timer_t *timer) {
  common_session_t *session = timer->data;

  session->on_delay(session, session->nr_delays % 2 == 0);
  session->nr_delays++;
  if (session->nr_delays < session->delays->nr)
    wait_for_delay(session);
  else if (session->nr_delays > 1)
    common_session_stop(session);
}

void common_session_delay(common_session_t *session,
                          const common_delay_t *delay) {
  uv_update_time(&session->loop);
  session->delays = delay;
  session->delay_start = uv_now(&session->loop);
  if (delay->is_set && delay->nr > 0)
    wait_for_delay(session);
}

/* stat and record have perf's -d, which takes no value. */
int common_session_go(common_session_t *session) {
  const char *name = session->command.name;
  int rc;

  if (session->command.pid == 0)
    return 0;
  rc = common_command_go(&session->command);
  if (rc == 0)
    return 0;
  common_say("cannot run '%s': %s%s\n", name, strerror(-rc),
             strspn(name, "0123456789.") == strlen(name)
                 ? "; for a time in seconds write --duration"
                 : "");
  return rc == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_RUN;
}

int common_session_run(common_session_t *session, int status) {
  int rc;

  if (status != 0)
    close_all(session);
  uv_run(&session->loop, UV_RUN_DEFAULT);
  close_signals(session);
  rc = uv_loop_close(&session->loop);
  if (rc == 0 && session->is_cancelled) {
    common_signals_let_come();
    common_signals_end_by(session->signal);
  }
  if (rc == 0)
    return status;
  common_say("cannot close the event loop: %s\n", uv_strerror(rc));
  return 1;
}

int common_session_main(common_session_t *session, char **command,
                        int (*begin)(common_session_t *session)) {
  int status = common_session_fork(session, command);
  struct rlimit files;

  if (status != 0)
    return status;
  /* The command keeps its own limit, because it is already forked. */
  common_files_raise(&files);
  status = common_session_init(session);
  if (status == 0)
    status = common_session_run(session, begin(session));
  common_files_restore(&files);
  common_command_end(&session->command);
  return status;
}
