/* SPDX-License-Identifier: MIT */
/* A session receives every signal, whenever it comes. If it can, it opens sets
 * while its loop runs. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live_busy_pool.h"
#include "common/session.h"
#include "tool_run.h"

#define LIMITED_UID 65534
#define NR_EVENTS   100

typedef struct seen_s {
  common_signals_t signals;
  int number; /* signal that comes while the session stops; 0: none */
  int nr_stops, nr_closes, nr_late;
  uv_timer_t slow; /* closes late, and raises SIGINT meanwhile */
} seen_t;

static seen_t seen;

static void on_stop(common_session_t *it) {
  seen.nr_stops++;
  if (seen.number != 0)
    raise(seen.number);
}

static void on_close(common_session_t *it) {
  seen.nr_closes++;
}

static void raise_interrupt(uv_timer_t *slow) {
  raise(SIGINT);
}

static void close_slowly(common_session_t *it) {
  seen.nr_closes++;
  uv_timer_init(&it->loop, &seen.slow);
  uv_timer_start(&seen.slow, raise_interrupt, 50, 50);
}

static int on_late_signal(common_session_t *it) {
  if (++seen.nr_late == 3)
    uv_close((uv_handle_t *)&seen.slow, NULL);
  return 1;
}

static common_session_t session;

static void begin(void) {
  static const common_session_t init = COMMON_SESSION_INIT;

  session = init;
  session.data = &seen;
  session.on_stop = on_stop;
  session.on_close = on_close;
  common_signals_take(&seen.signals);
  assert_int_equal(common_session_init(&session), 0);
  common_session_listen(&session);
}

static void end(void) {
  common_signals_end_session(&seen.signals);
  assert_int_equal(seen.nr_closes, 1);
}

/* Such a signal was lost once, so a series of runs went on. */
static void signal_while_the_session_stops_is_reported(void **state) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  size_t i;

  for (i = 0; i < COUNT_OF(numbers); i++) {
    seen = (seen_t){.number = numbers[i]};
    begin();
    common_session_stop_soon(&session);
    assert_int_equal(common_session_run(&session, 0), 0);
    assert_int_equal(session.signal, numbers[i]);
    assert_int_equal(seen.nr_stops, 1);
    end();
  }
}

static void session_without_a_signal_reports_none(void **state) {
  seen = (seen_t){.number = 0};

  begin();
  common_session_stop_soon(&session);
  assert_int_equal(common_session_run(&session, 0), 0);
  assert_int_equal(session.signal, 0);
  end();
}

/* Events that were not opened are not stopped. */
static void signal_before_a_failure_stops_nothing(void **state) {
  seen = (seen_t){.number = 0};

  begin();
  raise(SIGINT);
  assert_int_equal(common_session_run(&session, 3), 3);
  assert_int_equal(session.signal, SIGINT);
  assert_int_equal(seen.nr_stops, 0);
  end();
}

/* nohup(1) makes its command ignore SIGHUP like this. */
static void ignored_hangup_is_not_reported(void **state) {
  seen = (seen_t){.number = SIGHUP};

  signal(SIGHUP, SIG_IGN);
  begin();
  common_session_stop_soon(&session);
  assert_int_equal(common_session_run(&session, 0), 0);
  assert_int_equal(session.signal, 0);
  end();
  assert_true(common_signals_is_ignored(SIGHUP));
  signal(SIGHUP, SIG_DFL);
}

static void signal_while_closing_lasts_ends_the_program(void **state) {
  int status;
  pid_t pid;

  seen = (seen_t){.number = 0};
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    alarm(60);
    begin();
    session.on_close = close_slowly;
    common_session_stop_soon(&session);
    _exit(common_session_run(&session, 0));
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGINT);
}

static void signal_while_closing_is_for_the_owner_first(void **state) {
  seen = (seen_t){.number = 0};

  begin();
  session.on_close = close_slowly;
  session.on_late_signal = on_late_signal;
  common_session_stop_soon(&session);
  assert_int_equal(common_session_run(&session, 0), 0);
  assert_int_equal(seen.nr_late, 3);
  assert_int_equal(session.signal, SIGINT);
  end();
}

/* Closes slowly with a terminal as stderr, and returns its text. */
static void close_on_a_terminal(char *text, size_t size) {
  int is_quiet = session.is_quiet, old = dup(STDERR_FILENO), fds[2];

  seen = (seen_t){.number = 0};
  tool_run_open_terminal(fds);
  begin();
  session.is_quiet = is_quiet;
  session.nr_tracepoints = 360;
  session.on_close = close_slowly;
  session.on_late_signal = on_late_signal;
  seen.nr_late = -10; /* closed at the 13th signal, after 650 ms */
  common_session_stop_soon(&session);
  dup2(fds[1], STDERR_FILENO);
  common_session_run(&session, 0);
  dup2(old, STDERR_FILENO);
  close(old);
  close(fds[1]);
  text[0] = '\0';
  while (tool_run_append(fds[0], text, size))
    continue;
  close(fds[0]);
  end();
}

static void slow_close_is_reported_once_unless_it_is_quiet(void **state) {
  char text[1024];
  const char *closing;

  session = (common_session_t){.is_quiet = 0};
  tool_run_need_terminal(__func__);
  close_on_a_terminal(text, sizeof(text));
  closing = strstr(text, "closing 360 tracepoints: the kernel needs about "
                         "14.4 s, ");
  assert_non_null(closing);
  assert_null(strstr(closing + 1, "closing"));
  session.is_quiet = 1;
  close_on_a_terminal(text, sizeof(text));
  assert_string_equal(text, "");
}

/* The signal stays pending for the next listener: libuv's threads do not
 * receive it. */
static void signal_after_the_session_waits(void **state) {
  sigset_t pending;

  seen = (seen_t){.number = 0};
  begin();
  common_session_stop_soon(&session);
  assert_int_equal(common_session_run(&session, 0), 0);
  kill(getpid(), SIGTERM);
  assert_int_equal(sigpending(&pending), 0);
  assert_true(sigismember(&pending, SIGTERM));
  end();
}

static int open_set(uvperf_set_t *set) {
  static const struct perf_event_attr *attrs[NR_EVENTS];
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t self = UVPERF_TARGET_INIT;
  struct perf_event_attr attr;
  uvperf_error_t error;
  size_t i;

  if (uvperf_attr_parse(&attr, "dummy:u", &error) != 0)
    return error.code;
  for (i = 0; i < NR_EVENTS; i++)
    attrs[i] = &attr;
  options.attrs = attrs;
  options.nr_attrs = NR_EVENTS;
  options.targets = &self;
  options.nr_targets = 1;
  return common_session_open_set(&session, set, &options, &error);
}

/* The signal comes while the pool's only thread is busy, so that no event is
 * open; a turn later the thread is free. */
static void interrupt_then_release(uv_timer_t *timer) {
  if (uv_timer_get_repeat(timer) != 0) {
    live_busy_pool_end(timer->data);
    uv_timer_stop(timer);
    return;
  }
  raise(SIGINT);
  uv_timer_start(timer, interrupt_then_release, 1, 1);
}

static void signal_while_a_set_opens_ends_the_program(void **state) {
  live_busy_pool_t busy;
  uvperf_set_t set;
  uv_timer_t timer;
  int status;
  pid_t pid;

  seen = (seen_t){.number = 0};
  support_need_own_events(__func__);
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    alarm(60);
    setenv("UV_THREADPOOL_SIZE", "1", 1);
    begin();
    live_busy_pool_begin(&busy, &session.loop);
    uv_timer_init(&session.loop, &timer);
    timer.data = &busy;
    uv_timer_start(&timer, interrupt_then_release, 0, 0);
    status = open_set(&set);
    uv_close((uv_handle_t *)&timer, NULL);
    if (status != UV_ECANCELED)
      _exit(2);
    _exit(common_session_run(&session, 1));
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFSIGNALED(status));
  assert_int_equal(WTERMSIG(status), SIGINT);
}

/* Without threads no set is opened on the pool, and libuv would call abort(3)
 * if its pool were started. */
static void session_without_threads_opens_and_runs(void **state) {
  struct rlimit one = {1, 1};
  uvperf_set_t set;
  int status;
  pid_t pid;

  seen = (seen_t){.number = 0};
  support_need_own_events(__func__);
  if (getuid() == 0)
    support_need_root(__func__); /* which may become another user */
  pid = fork();
  assert_true(pid >= 0);
  if (pid == 0) {
    alarm(60);
    /* The limit does not apply to root. */
    if (setrlimit(RLIMIT_NPROC, &one) != 0 ||
        (getuid() == 0 && setuid(LIMITED_UID) != 0))
      _exit(2);
    begin();
    status = open_set(&set);
    if (status == UV_EAGAIN)
      _exit(3);
    if (status == 0) /* not 0: this user may not open events */
      uvperf_close(&set.handle, NULL);
    common_session_stop_soon(&session);
    _exit(common_session_run(&session, 0));
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(signal_while_the_session_stops_is_reported),
      cmocka_unit_test(session_without_a_signal_reports_none),
      cmocka_unit_test(signal_before_a_failure_stops_nothing),
      cmocka_unit_test(ignored_hangup_is_not_reported),
      cmocka_unit_test(signal_while_closing_lasts_ends_the_program),
      cmocka_unit_test(signal_while_closing_is_for_the_owner_first),
      cmocka_unit_test(slow_close_is_reported_once_unless_it_is_quiet),
      cmocka_unit_test(signal_after_the_session_waits),
      cmocka_unit_test(signal_while_a_set_opens_ends_the_program),
      cmocka_unit_test(session_without_threads_opens_and_runs),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
