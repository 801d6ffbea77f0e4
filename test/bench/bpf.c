/* SPDX-License-Identifier: MIT */
/* The cost of a record of a BPF program for its reader: CPU time of the reading
 * thread, with uvperf_bpf_reader_t on a loop and with libbpf's
 * perf_buffer__poll or ring_buffer__poll. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bench.h"
#include "benchmarks.h"
#include "bpf_numbered.h"
#include "uvperf.h"

#define RING_BYTES (512 * 1024)
#define POLL_MS    100

/* Two lines, as processors fetch them in pairs. */
#define CACHE_LINES 128

/* A case. The rate is one at which readers have nothing to lose, and sleep
 * between wakeups: at full speed it would be measured who loses more. */
typedef struct case_s {
  const char *name;
  double bound;          /* against libbpf */
  uint32_t wakeup_bytes; /* 0: each record wakes */
  uint32_t rate;         /* records a second */
  uint32_t batch;        /* records of a system call */
  uint32_t nr;           /* records of a run, in whole batches */
  int is_ring;           /* a ring buffer */
} case_t;

static const case_t cases[] = {
    {"watermark of half the ring", 0.95, RING_BYTES / 2, 1000000, 100, 150000,
     0},
    {"a wakeup for each record", 1.15, 0, 20000, 1, 3000, 0},
    {"ring buffer, in batches", 1.15, 0, 1000000, 100, 150000, 1},
    {"ring buffer, one by one", 1.15, 0, 20000, 1, 3000, 1},
};

/* Data of the producing thread: nothing that the readers write is near it, so
 * that neither waits for the other's cache. */
typedef struct producer_s {
  uv_thread_t thread;
  const bpf_numbered_t *numbered;
  const case_t *about;
  uv_async_t *over; /* or NULL */
  int code;
} producer_t;

/* One run of one reader. */
typedef struct run_s {
  _Alignas(CACHE_LINES) producer_t producer;
  _Alignas(CACHE_LINES) atomic_int is_over;
  _Alignas(CACHE_LINES) const case_t *about;
  const bpf_numbered_t *numbered;
  uint64_t delivered;
  uint64_t sum; /* sum of the delivered numbers */
  /* The readers'. */
  uv_loop_t loop;
  uv_async_t over;
  uvperf_bpf_reader_t reader;
  struct perf_buffer *buffer;
  struct ring_buffer *ring;
} run_t;

typedef struct reader_s {
  const char *name;
  /* Returns 0, or 1 after printing what failed, with nothing open. */
  int (*open)(run_t *run);
  /* Reads until the run has ended, and then the rest. */
  void (*read)(run_t *run);
  void (*close)(run_t *run);
} reader_t;

/* Handles a record, from either reader. */
static inline void take(run_t *run, const void *data) {
  uint64_t number;

  memcpy(&number, data, sizeof(number));
  run->sum += number;
  run->delivered++;
}

/* -- uvperf --------------------------------------------------------------- */

static void on_sample(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *sample) {
  if (status == 0 && sample->type == PERF_RECORD_SAMPLE)
    take(handle->data, sample->sample.raw.data);
}

static void on_over(uv_async_t *async) {
  uv_stop(async->loop);
}

static void close_loop(run_t *run) {
  uv_close((uv_handle_t *)&run->over, NULL);
  uv_run(&run->loop, UV_RUN_DEFAULT);
  uv_loop_close(&run->loop);
}

static int start_reader(run_t *run) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf_error_t error;

  options.ring_bytes = run->about->is_ring ? 0 : RING_BYTES;
  options.wakeup_bytes = run->about->wakeup_bytes;
  options.wakeup_events = run->about->wakeup_bytes == 0;
  run->reader.handle.data = run;
  if (uvperf_bpf_reader_init(&run->loop, &run->reader, run->numbered->map,
                             &options, &error) != 0)
    return bench_fail("the reader", error.reason);
  if (uvperf_start(&run->reader.handle, NULL, on_sample, &error) == 0)
    return 0;
  uvperf_close(&run->reader.handle, NULL);
  return bench_fail("the reader", error.reason);
}

static int open_uvperf(run_t *run) {
  int code = uv_loop_init(&run->loop);

  if (code != 0)
    return bench_fail("uv_loop_init", uv_strerror(code));
  code = uv_async_init(&run->loop, &run->over, on_over);
  if (code != 0) {
    uv_loop_close(&run->loop);
    return bench_fail("uv_async_init", uv_strerror(code));
  }
  if (start_reader(run) != 0) {
    close_loop(run);
    return 1;
  }
  run->producer.over = &run->over;
  /* Work that is done only once is done. */
  uv_run(&run->loop, UV_RUN_NOWAIT);
  uv_run(&run->loop, UV_RUN_NOWAIT);
  return 0;
}

static void read_uvperf(run_t *run) {
  uv_run(&run->loop, UV_RUN_DEFAULT);
  uvperf_flush(&run->reader.handle);
}

static void close_uvperf(run_t *run) {
  uvperf_close(&run->reader.handle, NULL);
  close_loop(run);
}

/* -- libbpf --------------------------------------------------------------- */

static void on_libbpf_sample(void *ctx, int cpu, void *data, uint32_t size) {
  take(ctx, data);
}

static enum bpf_perf_event_ret
on_libbpf_record(void *ctx, int cpu, struct perf_event_header *header) {
  /* The header, and PERF_SAMPLE_RAW's size. */
  if (header->type == PERF_RECORD_SAMPLE)
    take(ctx, (const char *)(header + 1) + sizeof(uint32_t));
  return LIBBPF_PERF_EVENT_CONT;
}

/* Only the raw buffer can have a watermark. */
static int open_libbpf(run_t *run) {
  size_t pages = RING_BYTES / (size_t)sysconf(_SC_PAGESIZE);
  int map = run->numbered->map;
  struct perf_event_attr attr;

  if (run->about->wakeup_bytes == 0) {
    run->buffer =
        perf_buffer__new(map, pages, on_libbpf_sample, NULL, run, NULL);
  } else {
    uvperf_attr_software(&attr, PERF_COUNT_SW_BPF_OUTPUT);
    attr.sample_type = PERF_SAMPLE_RAW;
    attr.sample_period = 1;
    attr.watermark = 1;
    attr.wakeup_watermark = run->about->wakeup_bytes;
    run->buffer =
        perf_buffer__new_raw(map, pages, &attr, on_libbpf_record, run, NULL);
  }
  return run->buffer == NULL ? bench_fail("perf_buffer__new", strerror(errno))
                             : 0;
}

static void read_libbpf(run_t *run) {
  while (!atomic_load_explicit(&run->is_over, memory_order_acquire))
    perf_buffer__poll(run->buffer, POLL_MS);
  perf_buffer__consume(run->buffer);
}

static void close_libbpf(run_t *run) {
  perf_buffer__free(run->buffer);
}

static int on_libbpf_ring(void *ctx, void *data, size_t size) {
  (void)size;
  take(ctx, data);
  return 0;
}

static int open_libbpf_ring(run_t *run) {
  run->ring = ring_buffer__new(run->numbered->map, on_libbpf_ring, run, NULL);
  return run->ring == NULL ? bench_fail("ring_buffer__new", strerror(errno))
                           : 0;
}

static void read_libbpf_ring(run_t *run) {
  while (!atomic_load_explicit(&run->is_over, memory_order_acquire))
    ring_buffer__poll(run->ring, POLL_MS);
  ring_buffer__consume(run->ring);
}

static void close_libbpf_ring(run_t *run) {
  ring_buffer__free(run->ring);
}

/* -- a run ---------------------------------------------------------------- */

static const reader_t uvperf = {"uvperf", open_uvperf, read_uvperf,
                                close_uvperf};
static const reader_t libbpf = {"libbpf", open_libbpf, read_libbpf,
                                close_libbpf};
static const reader_t libbpf_ring = {"libbpf", open_libbpf_ring,
                                     read_libbpf_ring, close_libbpf_ring};

static void produce(void *arg) {
  run_t *run = arg;
  producer_t *producer = &run->producer;
  const case_t *about = producer->about;
  uint64_t began = uv_hrtime();
  uint32_t sent;

  prctl(PR_SET_NAME, "producer"); /* a profile can distinguish the two */
  producer->code = bench_pin(bench_producer_cpu);
  for (sent = 0; producer->code == 0 && sent < about->nr;
       sent += about->batch) {
    while (uv_hrtime() - began < (uint64_t)sent * 1000000000 / about->rate)
      continue;
    producer->code = bpf_numbered_send(producer->numbered, about->batch);
  }
  atomic_store_explicit(&run->is_over, 1, memory_order_release);
  if (producer->over != NULL)
    uv_async_send(producer->over);
}

/* For the reading thread, which is the caller's. */
static int measure(const reader_t *reader, run_t *run, double *ns) {
  double began;
  int code;

  if (reader->open(run) != 0)
    return 1;
  code = uv_thread_create(&run->producer.thread, produce, run);
  if (code == 0) {
    began = bench_cpu_ns();
    reader->read(run);
    *ns = bench_cpu_ns() - began;
    uv_thread_join(&run->producer.thread);
    code = run->producer.code;
  }
  reader->close(run);
  return code == 0 ? 0 : bench_fail("the producer", strerror(-code));
}

/* All numbers from `first` on that were sent were delivered, once, or had no
 * room in the ring. */
static int check(const run_t *run, const bpf_numbered_state_t *state,
                 uint64_t first, uint64_t lost) {
  uint64_t nr = state->next - first;

  if (nr != run->about->nr || run->delivered + lost != nr)
    return bench_fail("delivered and lost", "are not what was sent");
  if (lost == 0 && run->sum != nr * first + nr * (nr - 1) / 2)
    return bench_fail("delivered", "is not what was sent");
  return run->delivered != 0 ? 0 : bench_fail("delivered", "nothing");
}

typedef struct subject_s {
  const reader_t *reader;
  const case_t *about;
  const bpf_numbered_t *numbered;
} subject_t;

static int run_reader(void *arg, double *values) {
  const subject_t *subject = arg;
  const bpf_numbered_state_t *state =
      &subject->numbered->states[bench_producer_cpu];
  uint64_t full = state->full;
  uint64_t next = state->next;
  static run_t run;
  double ns = 0;

  memset(&run, 0, sizeof(run));
  run.about = run.producer.about = subject->about;
  run.numbered = run.producer.numbered = subject->numbered;
  if (measure(subject->reader, &run, &ns) != 0 ||
      check(&run, state, next, state->full - full) != 0)
    return 1;
  values[0] = ns / (double)run.delivered;
  return 0;
}

/* -- cases ---------------------------------------------------------------- */

static int run_case(bench_report_t *report, const case_t *about,
                    const bpf_numbered_t *numbered) {
  static const bench_metric_t metric = {"CPU per record", "ns"};
  subject_t measured = {&uvperf, about, numbered};
  subject_t yardstick = {about->is_ring ? &libbpf_ring : &libbpf, about,
                         numbered};
  const bench_contender_t contenders[] = {
      {uvperf.name, run_reader, &measured, {0}},
      {libbpf.name, run_reader, &yardstick, {about->bound}},
  };
  const bench_comparison_t comparison = {about->name, &metric, 1, contenders,
                                         2};

  return bench_compare(report, &comparison);
}

static int run(bench_report_t *report) {
  bpf_numbered_t numbered[2];
  int rc = bpf_numbered_open(&numbered[0], 0);
  size_t i;

  if (rc == -EPERM || rc == -EACCES) {
    bench_report_skip(report, "root, or CAP_BPF, CAP_PERFMON, CAP_NET_ADMIN");
    return 0;
  }
  if (rc != 0)
    return bench_fail("BPF programs", strerror(-rc));
  rc = bpf_numbered_open(&numbered[1], RING_BYTES);
  if (rc != 0)
    bpf_numbered_close(&numbered[0]);
  if (rc != 0)
    return bench_fail("BPF ring buffers", strerror(-rc));
  for (i = 0; i < sizeof(cases) / sizeof(cases[0]) && rc == 0; i++)
    rc = run_case(report, &cases[i], &numbered[cases[i].is_ring]);
  bpf_numbered_close(&numbered[0]);
  bpf_numbered_close(&numbered[1]);
  return rc;
}

const bench_t bench_bpf = {"bpf", "what BPF programs hand out, beside libbpf",
                           run};
