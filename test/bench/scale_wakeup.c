/* SPDX-License-Identifier: MIT */
/* One record at a time, each with a wakeup of its own: a thread changes its
 * name after the reader has had the record before and sleeps again. All rings
 * except the active one are of a thread that never runs. The yardsticks are the
 * library with one ring, which has the bound, and a hand-written uv_poll loop
 * with as many. */
#include "scale.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bare_ring.h"
#include "uvperf.h"

#define RECORDS     1000 /* of a run */
#define GAP_NS      20000
#define PATIENCE_NS 5000000000

/* Two lines, as processors fetch them in pairs. */
#define CACHE_LINES 128

/* -- threads that are measured -------------------------------------------- */

typedef struct target_s {
  uv_thread_t thread;
  uv_sem_t is_known;
  uv_sem_t go;
  pid_t tid;
  int is_over; /* written before `go` */
  int is_late; /* a record was not delivered in time */
  uv_async_t *done;
  _Alignas(CACHE_LINES) atomic_uint_fast64_t delivered;
} target_t;

static int wait_until_delivered(target_t *target, uint64_t nr) {
  uint64_t since = uv_hrtime();

  while (atomic_load_explicit(&target->delivered, memory_order_acquire) < nr)
    if (uv_hrtime() - since > PATIENCE_NS)
      return 0;
  return 1;
}

/* Long enough for the reader to go to sleep. */
static void let_sleep(void) {
  uint64_t since = uv_hrtime();

  while (uv_hrtime() - since < GAP_NS)
    continue;
}

static void produce(target_t *target) {
  uint64_t nr;

  target->is_late = 0;
  for (nr = 1; nr <= RECORDS && !target->is_late; nr++) {
    let_sleep();
    prctl(PR_SET_NAME, nr % 2 == 0 ? "even" : "odd");
    target->is_late = !wait_until_delivered(target, nr);
  }
  uv_async_send(target->done);
}

static void be_target(void *arg) {
  target_t *target = arg;

  bench_pin(bench_producer_cpu);
  target->tid = (pid_t)syscall(SYS_gettid);
  uv_sem_post(&target->is_known);
  for (;;) {
    uv_sem_wait(&target->go);
    if (target->is_over)
      return;
    produce(target);
  }
}

static int begin_target(target_t *target) {
  int rc;

  memset(target, 0, sizeof(*target));
  rc = uv_sem_init(&target->is_known, 0);
  if (rc == 0)
    rc = uv_sem_init(&target->go, 0);
  if (rc == 0)
    rc = uv_thread_create(&target->thread, be_target, target);
  if (rc != 0)
    return bench_fail("a thread", uv_strerror(rc));
  uv_sem_wait(&target->is_known);
  return 0;
}

static void end_target(target_t *target) {
  target->is_over = 1;
  uv_sem_post(&target->go);
  uv_thread_join(&target->thread);
  uv_sem_destroy(&target->go);
  uv_sem_destroy(&target->is_known);
}

/* -- readers -------------------------------------------------------------- */

typedef struct polled_ring_s {
  uv_poll_t poll;
  bare_ring_t ring;
} polled_ring_t;

/* Rings on a loop of their own: uvperf's, or the hand-written ones. */
typedef struct reader_s {
  size_t nr;
  target_t *active; /* in the first ring */
  pid_t idle;       /* in all others */
  uv_loop_t loop;
  uv_async_t done;
  uvperf_event_t *events;
  polled_ring_t *bare;
  size_t nr_open;
  int (*enable)(struct reader_s *reader, int enable);
} reader_t;

/* A record for each new name of a thread, and a wakeup for each record. */
static void fill_attr(struct perf_event_attr *attr) {
  uvperf_attr_software(attr, PERF_COUNT_SW_DUMMY);
  attr->comm = 1;
  attr->watermark = 1;
  attr->wakeup_watermark = 1;
  attr->disabled = 1;
}

static void take(void *arg, const struct perf_event_header *header) {
  target_t *active = arg;

  if (header->type == PERF_RECORD_COMM)
    atomic_fetch_add_explicit(&active->delivered, 1, memory_order_release);
}

/* -- uvperf --------------------------------------------------------------- */

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  if (status == 0 && record->type != UVPERF_RECORD_NONE)
    take(handle->data, record->bytes);
}

static int open_event(reader_t *reader, uvperf_event_t *event) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_error_t error;

  fill_attr(&attr);
  options.pid = event == reader->events ? reader->active->tid : reader->idle;
  options.ring_bytes = SCALE_RING_BYTES;
  event->handle.data = reader->active;
  if (uvperf_event_init(&reader->loop, event, &attr, &options, &error) != 0)
    return bench_fail("an event", error.reason);
  reader->nr_open += 1;
  if (uvperf_start(&event->handle, NULL, on_record, &error) != 0)
    return bench_fail("an event", error.reason);
  return 0;
}

static int enable_event(reader_t *reader, int enable) {
  return enable ? uvperf_enable(&reader->events[0].handle, 0, NULL)
                : uvperf_disable(&reader->events[0].handle, 0, NULL);
}

static int open_uvperf(reader_t *reader) {
  int rc = 0;

  reader->enable = enable_event;
  reader->events = calloc(reader->nr, sizeof(reader->events[0]));
  if (reader->events == NULL)
    return bench_fail("events", "no memory");
  while (reader->nr_open < reader->nr && rc == 0)
    rc = open_event(reader, &reader->events[reader->nr_open]);
  return rc;
}

/* -- by hand -------------------------------------------------------------- */

static void on_poll(uv_poll_t *poll, int status, int events) {
  bare_ring_drain(poll->data);
}

static int open_ring(reader_t *reader, polled_ring_t *polled) {
  struct perf_event_attr attr;
  int rc;

  fill_attr(&attr);
  rc = bare_ring_open(&polled->ring, &attr,
                      polled == reader->bare ? reader->active->tid
                                             : reader->idle,
                      SCALE_RING_BYTES, NULL, reader->active);
  if (rc != 0)
    return bench_fail("perf_event_open", strerror(-rc));
  polled->ring.other = take;
  polled->poll.data = &polled->ring;
  reader->nr_open += 1;
  rc = uv_poll_init(&reader->loop, &polled->poll, polled->ring.fd);
  if (rc == 0)
    rc = uv_poll_start(&polled->poll, UV_READABLE, on_poll);
  return rc == 0 ? 0 : bench_fail("uv_poll", uv_strerror(rc));
}

static int enable_bare(reader_t *reader, int enable) {
  return ioctl(reader->bare[0].ring.fd,
               enable ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

static int open_bare(reader_t *reader) {
  int rc = 0;

  reader->enable = enable_bare;
  reader->bare = calloc(reader->nr, sizeof(reader->bare[0]));
  if (reader->bare == NULL)
    return bench_fail("rings", "no memory");
  while (reader->nr_open < reader->nr && rc == 0)
    rc = open_ring(reader, &reader->bare[reader->nr_open]);
  return rc;
}

/* -- of either ------------------------------------------------------------ */

static void on_done(uv_async_t *done) {
  uv_stop(done->loop);
}

static void close_reader(reader_t *reader) {
  size_t i;

  for (i = 0; i < reader->nr_open; i++)
    if (reader->events != NULL)
      uvperf_close(&reader->events[i].handle, NULL);
    else
      uv_close((uv_handle_t *)&reader->bare[i].poll, NULL);
  uv_close((uv_handle_t *)&reader->done, NULL);
  uv_run(&reader->loop, UV_RUN_DEFAULT);
  uv_loop_close(&reader->loop);
  for (i = 0; i < reader->nr_open && reader->bare != NULL; i++)
    bare_ring_close(&reader->bare[i].ring);
  free(reader->events);
  free(reader->bare);
}

/* Its rings are enabled and registered, the active one is disabled. */
static int open_reader(reader_t *reader, size_t nr, target_t *targets,
                       int (*open)(reader_t *reader)) {
  int rc;

  memset(reader, 0, sizeof(*reader));
  reader->nr = nr;
  reader->active = &targets[0];
  reader->idle = targets[1].tid;
  rc = uv_loop_init(&reader->loop);
  if (rc != 0)
    return bench_fail("a loop", uv_strerror(rc));
  rc = uv_async_init(&reader->loop, &reader->done, on_done);
  if (rc == 0)
    rc = open(reader);
  uv_run(&reader->loop, UV_RUN_NOWAIT);
  uv_run(&reader->loop, UV_RUN_NOWAIT);
  if (rc == 0)
    rc = reader->enable(reader, 0);
  if (rc != 0)
    close_reader(reader);
  return rc;
}

static int run_reader(void *arg, double *values) {
  reader_t *reader = arg;
  target_t *active = reader->active;
  double began;

  if (reader->enable(reader, 1) != 0)
    return bench_fail("enabling", "refused");
  active->done = &reader->done;
  atomic_store(&active->delivered, 0);
  began = bench_cpu_ns();
  uv_sem_post(&active->go);
  uv_run(&reader->loop, UV_RUN_DEFAULT);
  values[0] = (bench_cpu_ns() - began) / RECORDS;
  if (reader->enable(reader, 0) != 0)
    return bench_fail("disabling", "refused");
  return atomic_load(&active->delivered) == RECORDS && !active->is_late
             ? 0
             : bench_fail("a reader", "has not delivered all");
}

/* -- cases ---------------------------------------------------------------- */

static int compare(bench_report_t *report, const char *name, reader_t *many,
                   reader_t *bare, reader_t *one) {
  static const bench_metric_t metric = {"CPU per wakeup", "ns"};
  const bench_contender_t contenders[] = {
      {"uvperf", run_reader, many, {0}},
      {"uv_poll loop", run_reader, bare, {0}},
      {"uvperf, 1 ring", run_reader, one, {1.15}},
  };
  const bench_comparison_t comparison = {name, &metric, 1, contenders,
                                         many->nr == 1 ? 2 : 3};

  return bench_compare(report, &comparison);
}

static int run_case(bench_report_t *report, const char *name, size_t nr,
                    target_t *targets) {
  reader_t many, bare, one;
  int rc = 1;

  if (open_reader(&many, nr, targets, open_uvperf) != 0)
    return 1;
  if (open_reader(&bare, nr, targets, open_bare) == 0) {
    if (open_reader(&one, 1, targets, open_uvperf) == 0) {
      rc = compare(report, name, &many, &bare, &one);
      close_reader(&one);
    }
    close_reader(&bare);
  }
  close_reader(&many);
  return rc;
}

static int run_cases(bench_report_t *report, target_t *targets) {
  static const struct {
    const char *name;
    size_t nr;
  } cases[] = {{"1 ring", 1},
               {"16 rings, one active", 16},
               {"256 rings, one active", 256},
               {"1,000 rings, one active", SCALE_MOST_RINGS}};
  size_t i;
  int rc = 0;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]) && rc == 0; i++)
    rc = run_case(report, cases[i].name, cases[i].nr, targets);
  return rc;
}

int scale_wakeup(bench_report_t *report) {
  static target_t targets[2]; /* the one that runs, and the one that does not */
  int rc;

  if (begin_target(&targets[0]) != 0)
    return 1;
  rc = begin_target(&targets[1]);
  if (rc == 0) {
    rc = run_cases(report, targets);
    end_target(&targets[1]);
  }
  end_target(&targets[0]);
  return rc;
}
