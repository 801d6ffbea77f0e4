/* SPDX-License-Identifier: MIT */
/* How long the rest of the loop waits while a ring is flooded: the round trip
 * of a socket on the loop. Its p99 may be longer than without the flood by one
 * slice and one callback, but no more.
 *
 * A thread on the producer's CPU answers. On the loop itself the question would
 * wait for one slice, and the answer for another. This way the answer arrives
 * long before the end of the slice that follows the question, so one wait for
 * the loop is measured. Both threads have a real-time priority, with the flood
 * and without: otherwise they would wait for the producer and for other tasks
 * on their CPUs, which would measure the scheduler. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "benchmarks.h"
#include "traced_child.h"
#include "uvperf.h"

#define RING_BYTES (512 * 1024)
#define SLICE_US   1000 /* the library's default */
#define MOST_TRIPS 1000
#define MOST_MS    20000 /* of a run: longer means a fault */
#define US         1000  /* ns */
#define SAMPLE_TYPE                                                            \
  (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |      \
   PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW)

typedef struct case_s {
  const char *name;
  uint32_t callback_us; /* 0: it counts */
  size_t trips;
} case_t;

/* A slow one costs a slice, or itself, each trip. */
static const case_t cases[] = {
    {"fast callback", 0, MOST_TRIPS},
    {"callback of 20 us", 20, 300},
    {"callback of 2 ms", 2000, 200},
};

/* -- precedence ----------------------------------------------------------- */

/* For the calling thread, but not for threads and children that it makes. */
static int set_precedence(int policy, int priority) {
  const struct sched_param param = {.sched_priority = priority};

  return sched_setscheduler(0, policy | SCHED_RESET_ON_FORK, &param) == 0
             ? 0
             : -errno;
}

static int take_precedence(void) {
  return set_precedence(SCHED_FIFO, 1);
}

static void give_precedence(void) {
  set_precedence(SCHED_OTHER, 0);
}

/* -- the answering thread ------------------------------------------------- */

typedef struct answerer_s {
  uv_thread_t thread;
  uv_sem_t ready;
  int code; /* why it is not */
  int fd;
} answerer_t;

/* Until the other end is closed. */
static void answer(void *arg) {
  answerer_t *answerer = arg;
  char byte;

  answerer->code = bench_pin(bench_producer_cpu);
  if (answerer->code == 0)
    answerer->code = take_precedence();
  uv_sem_post(&answerer->ready);
  while (recv(answerer->fd, &byte, 1, 0) == 1 &&
         send(answerer->fd, &byte, 1, MSG_NOSIGNAL) == 1)
    continue;
}

static void answerer_stop(answerer_t *answerer) {
  uv_thread_join(&answerer->thread);
  close(answerer->fd);
  uv_sem_destroy(&answerer->ready);
}

/* Gives the fd to ask by, which is the caller's, and to be closed before the
 * answerer is stopped. 0 or a negative UV_E*. */
static int answerer_start(answerer_t *answerer, int *fd) {
  uv_os_sock_t fds[2];
  int code;

  code = uv_socketpair(SOCK_STREAM, 0, fds, UV_NONBLOCK_PIPE, 0);
  if (code != 0)
    return code;
  *fd = fds[0];
  answerer->fd = fds[1];
  uv_sem_init(&answerer->ready, 0);
  code = uv_thread_create(&answerer->thread, answer, answerer);
  if (code != 0) {
    uv_sem_destroy(&answerer->ready);
    close(fds[1]);
  } else {
    uv_sem_wait(&answerer->ready);
    code = answerer->code;
    if (code == 0)
      return 0;
    shutdown(fds[0], SHUT_RDWR);
    answerer_stop(answerer);
  }
  close(fds[0]);
  return code;
}

/* -- a run ---------------------------------------------------------------- */

typedef struct run_s {
  const case_t *about;
  answerer_t answerer;
  traced_child_t child;
  uv_loop_t loop;
  uv_pipe_t socket;
  uv_timer_t deadline;
  uvperf_event_t event;
  int is_late;
  int is_over; /* the remaining answers are only counted */
  uint64_t delivered;
  uint64_t began; /* the trip */
  size_t nr;      /* of finished trips */
  double trips[MOST_TRIPS];
} run_t;

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  run_t *run = handle->data;
  uint64_t until;

  if (status != 0 || record->type != PERF_RECORD_SAMPLE)
    return;
  run->delivered += 1;
  if (run->about->callback_us == 0 || run->is_over)
    return;
  until = uv_hrtime() + run->about->callback_us * US;
  while (uv_hrtime() < until)
    continue;
}

static void on_deadline(uv_timer_t *deadline) {
  run_t *run = deadline->data;

  run->is_late = 1;
  uv_stop(&run->loop);
}

static void ask(run_t *run) {
  uv_buf_t question = uv_buf_init("?", 1);

  run->began = uv_hrtime();
  if (uv_try_write((uv_stream_t *)&run->socket, &question, 1) != 1)
    uv_stop(&run->loop);
}

static void on_room(uv_handle_t *socket, size_t suggested, uv_buf_t *buf) {
  static char byte;

  *buf = uv_buf_init(&byte, 1);
}

static void on_answer(uv_stream_t *socket, ssize_t nr, const uv_buf_t *buf) {
  run_t *run = socket->data;

  if (nr == 0)
    return;
  if (nr > 0)
    run->trips[run->nr++] = (double)(uv_hrtime() - run->began) / US;
  if (nr < 0 || run->nr == run->about->trips)
    uv_stop(&run->loop);
  else
    ask(run);
}

/* From its first wakeup on. */
static int start_flood(run_t *run) {
  const traced_plan_t plan = {.nr = UINT32_MAX};

  if (traced_child_go(&run->child, &plan) != 0)
    return 1;
  while (run->delivered == 0 && !run->is_late)
    uv_run(&run->loop, UV_RUN_ONCE);
  return 0;
}

static int make_trips(run_t *run) {
  ask(run);
  uv_run(&run->loop, UV_RUN_DEFAULT);
  if (run->nr == run->about->trips)
    return 0;
  return bench_fail("round trips", run->is_late ? "take too long" : "failed");
}

/* All that the kernel counted was delivered, or had no room. */
static int check(run_t *run, int is_flooded) {
  uvperf_count_t count;
  int code;

  run->is_over = 1;
  uvperf_flush(&run->event.handle);
  code = uvperf_event_read(&run->event, &count, NULL);
  if (code != 0)
    return bench_fail("uvperf_event_read", uv_strerror(code));
  if (run->delivered + count.lost != count.value)
    return bench_fail("delivered and lost", "are not what was counted");
  if (is_flooded != (run->delivered != 0))
    return bench_fail("the flood", is_flooded ? "did not come" : "came");
  return 0;
}

static void on_socket_closed(uv_handle_t *socket) {
  run_t *run = socket->data;

  answerer_stop(&run->answerer);
}

/* The rest of the loop, besides the event. */
static int open_loop(run_t *run) {
  int code, fd;

  code = uv_loop_init(&run->loop);
  if (code != 0)
    return bench_fail("uv_loop_init", uv_strerror(code));
  code = answerer_start(&run->answerer, &fd);
  if (code != 0) {
    uv_loop_close(&run->loop);
    return bench_fail("the answerer", uv_strerror(code));
  }
  uv_pipe_init(&run->loop, &run->socket, 0);
  uv_timer_init(&run->loop, &run->deadline);
  run->socket.data = run->deadline.data = run;
  uv_pipe_open(&run->socket, fd);
  uv_read_start((uv_stream_t *)&run->socket, on_room, on_answer);
  uv_timer_start(&run->deadline, on_deadline, MOST_MS, 0);
  return 0;
}

static int open_event(run_t *run, const struct perf_event_attr *attr) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_error_t error;

  options.pid = run->child.pid;
  options.ring_bytes = RING_BYTES;
  run->event.handle.data = run;
  if (uvperf_event_init(&run->loop, &run->event, attr, &options, &error) != 0)
    return bench_fail("the event", error.reason);
  if (uvperf_start(&run->event.handle, NULL, on_record, &error) == 0)
    return 0;
  uvperf_close(&run->event.handle, NULL);
  return bench_fail("the event", error.reason);
}

static void close_loop(run_t *run) {
  uv_close((uv_handle_t *)&run->socket, on_socket_closed);
  uv_close((uv_handle_t *)&run->deadline, NULL);
  while (uv_run(&run->loop, UV_RUN_DEFAULT) != 0)
    continue;
  uv_loop_close(&run->loop);
}

/* At any moment; does nothing if it has ended. */
static void end_child(traced_child_t *child) {
  if (child->pid == 0)
    return;
  kill(child->pid, SIGKILL);
  traced_child_end(child);
  child->pid = 0;
}

static int measure_event(run_t *run, int is_flooded) {
  int rc = 0;

  /* Work that is done only once is done. */
  uv_run(&run->loop, UV_RUN_NOWAIT);
  uv_run(&run->loop, UV_RUN_NOWAIT);
  if (is_flooded)
    rc = start_flood(run);
  if (rc == 0)
    rc = make_trips(run);
  end_child(&run->child);
  return rc == 0 ? check(run, is_flooded) : rc;
}

static int measure(run_t *run, const struct perf_event_attr *attr,
                   int is_flooded) {
  int rc;

  if (traced_child_start(&run->child, bench_producer_cpu) != 0)
    return 1;
  rc = open_loop(run);
  if (rc == 0) {
    rc = open_event(run, attr);
    if (rc == 0) {
      rc = measure_event(run, is_flooded);
      uvperf_close(&run->event.handle, NULL);
    }
    close_loop(run);
  }
  end_child(&run->child);
  return rc;
}

/* -- contenders ----------------------------------------------------------- */

typedef struct subject_s {
  const case_t *about;
  const struct perf_event_attr *attr;
  int is_flooded;
  double allowance_us; /* in addition to the measured value */
} subject_t;

static int run_subject(void *arg, double *values) {
  const subject_t *subject = arg;
  static run_t run;
  int rc = take_precedence();

  if (rc != 0)
    return bench_fail("a real-time priority", strerror(-rc));
  memset(&run, 0, sizeof(run));
  run.about = subject->about;
  rc = measure(&run, subject->attr, subject->is_flooded);
  give_precedence();
  if (rc != 0)
    return 1;
  values[0] = bench_quantile(run.trips, run.nr, 0.99) + subject->allowance_us;
  return 0;
}

static int run_case(bench_report_t *report, const case_t *about,
                    const struct perf_event_attr *attr) {
  static const bench_metric_t metric = {"p99 round trip", "us"};
  subject_t flooded = {about, attr, 1, 0};
  subject_t allowed = {about, attr, 0, SLICE_US + about->callback_us};
  subject_t calm = {about, attr, 0, 0};
  const bench_contender_t contenders[] = {
      {"flooded", run_subject, &flooded, {0}},
      {"slice+callback+calm", run_subject, &allowed, {1}},
      {"calm", run_subject, &calm, {0}},
  };
  const bench_comparison_t comparison = {about->name, &metric, 1, contenders,
                                         3};

  return bench_compare(report, &comparison);
}

/* -- needs ---------------------------------------------------------------- */

static const char *missing_event(struct perf_event_attr *attr) {
  uvperf_event_t event;
  uv_loop_t loop;
  int code;

  if (uvperf_attr_parse(attr, TRACED_CHILD_EVENT, NULL) != 0)
    return "tracefs, and " TRACED_CHILD_EVENT " there";
  attr->sample_period = 1;
  attr->sample_type = SAMPLE_TYPE;
  attr->watermark = 1;
  attr->wakeup_watermark = RING_BYTES / 2;
  attr->read_format = UVPERF_FORMAT_LOST;
  if (uv_loop_init(&loop) != 0)
    return "memory";
  code = uvperf_event_init(&loop, &event, attr, NULL, NULL);
  if (code == 0)
    uvperf_close(&event.handle, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  uv_loop_close(&loop);
  if (code == UV_EINVAL)
    return "Linux 6.0 (PERF_FORMAT_LOST)";
  return code != 0 ? "root or CAP_PERFMON" : NULL;
}

static const char *missing_answerer(void) {
  answerer_t answerer;
  int code, fd;

  code = answerer_start(&answerer, &fd);
  if (code == 0) {
    close(fd);
    answerer_stop(&answerer);
  }
  return code != 0 ? "root or CAP_SYS_NICE" : NULL;
}

static int run(bench_report_t *report) {
  struct perf_event_attr attr;
  const char *missing = missing_event(&attr);
  size_t i;
  int rc = 0;

  if (missing == NULL)
    missing = missing_answerer();
  if (missing != NULL) {
    bench_report_skip(report, missing);
    return 0;
  }
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]) && rc == 0; i++)
    rc = run_case(report, &cases[i], &attr);
  return rc;
}

const bench_t bench_fairness = {
    "fairness", "a socket on the loop while a ring is flooded", run};
