/* SPDX-License-Identifier: MIT */
/* What a record of a BPF program costs its reader: CPU time of the thread that
 * reads, by uvperf_bpf_reader_t on a loop and by libbpf's perf_buffer__poll,
 * with a watermark of half the ring and with a wakeup for each record. The
 * program runs on one CPU, its reader on another. Short runs alternate, and
 * each reader runs twice in a round, so that it is compared with itself too:
 * that is the noise.
 *
 *   bpf [ROUNDS [RECORDS_PER_SECOND]]
 *
 * 0 a second is as fast as the program runs. Exits with 1 if what was delivered
 * and what was lost is not what was sent. */
#include <linux/perf_event.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "bench.h"
#include "bpf_numbered.h"
#include "uvperf.h"

#define PAYLOAD_BYTES 64
#define RING_BYTES    (512 * 1024)
#define RUN_MS        400
#define MOST_ROUNDS   99

typedef struct wakeup_s {
  const char *name;
  uint32_t wakeup_bytes; /* 0: each record wakes */
  uint32_t rate;         /* records a second, unless told otherwise */
  uint32_t batch;        /* records of a system call */
} wakeup_t;

static const wakeup_t modes[] = {
    {"watermark of half the ring", RING_BYTES / 2, 1000000, 100},
    {"a wakeup for each record", 0, 50000, 1},
};

/* One run of one reader. */
typedef struct run_s {
  const wakeup_t *mode;
  bpf_numbered_t *numbered;
  int producer_cpu;
  uint32_t nr; /* records */
  uint32_t rate;
  int code; /* of the producer */
  atomic_int is_over;
  uint64_t delivered;
  uint64_t sum; /* of the numbers that were delivered */
  uint64_t wakeups;
  /* The readers'. */
  uv_loop_t loop;
  uv_async_t over;
  uvperf_bpf_reader_t reader;
  struct perf_buffer *buffer;
} run_t;

/* A reader: more can be put into the table below. */
typedef struct reader_s {
  const char *name;
  int (*open)(run_t *run);
  /* Reads until the run is over, and then what is left. */
  void (*read)(run_t *run);
  void (*close)(run_t *run);
} reader_t;

/* What is done with a record, by whichever reader it comes. */
static void take(run_t *run, const void *data) {
  uint64_t number;

  memcpy(&number, data, sizeof(number));
  run->sum += number;
  run->delivered++;
}

/* -- uvperf --------------------------------------------------------------- */

static void on_sample(uvperf_bpf_reader_t *reader, int status,
                      const uvperf_bpf_sample_t *sample) {
  if (status == 0 && sample->data != NULL)
    take(reader->data, sample->data);
}

static void on_over(uv_async_t *async) {
  uv_stop(async->loop);
}

static int open_uvperf(run_t *run) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf_error_t error;

  options.ring_bytes = RING_BYTES;
  options.wakeup_bytes = run->mode->wakeup_bytes;
  options.wakeup_events = run->mode->wakeup_bytes == 0;
  uv_loop_init(&run->loop);
  uv_async_init(&run->loop, &run->over, on_over);
  run->reader.data = run;
  if (uvperf_bpf_reader_init(&run->loop, &run->reader, run->numbered->maps[0],
                             &options, &error) != 0 ||
      uvperf_bpf_reader_start(&run->reader, NULL, on_sample, &error) != 0)
    return bench_fail("the reader", error.reason);
  /* Whatever it does once is done. */
  uv_run(&run->loop, UV_RUN_NOWAIT);
  uv_run(&run->loop, UV_RUN_NOWAIT);
  return 0;
}

static void read_uvperf(run_t *run) {
  uv_run(&run->loop, UV_RUN_DEFAULT);
  uvperf_bpf_reader_flush(&run->reader);
}

static void close_uvperf(run_t *run) {
  uvperf_stats_t stats;

  uvperf_bpf_reader_stats(&run->reader, &stats);
  run->wakeups = stats.wakeups;
  uvperf_bpf_reader_close(&run->reader, NULL);
  uv_close((uv_handle_t *)&run->over, NULL);
  uv_run(&run->loop, UV_RUN_DEFAULT);
  uv_loop_close(&run->loop);
}

/* -- libbpf --------------------------------------------------------------- */

static void on_libbpf_sample(void *ctx, int cpu, void *data, uint32_t size) {
  (void)cpu;
  (void)size;
  take(ctx, data);
}

static enum bpf_perf_event_ret
on_libbpf_record(void *ctx, int cpu, struct perf_event_header *header) {
  (void)cpu;
  /* The header, and PERF_SAMPLE_RAW's size. */
  if (header->type == PERF_RECORD_SAMPLE)
    take(ctx, (const char *)(header + 1) + sizeof(uint32_t));
  return LIBBPF_PERF_EVENT_CONT;
}

static int open_libbpf(run_t *run) {
  size_t pages = RING_BYTES / (size_t)sysconf(_SC_PAGESIZE);
  int map = run->numbered->maps[0];
  struct perf_event_attr attr;

  if (run->mode->wakeup_bytes == 0) {
    run->buffer =
        perf_buffer__new(map, pages, on_libbpf_sample, NULL, run, NULL);
  } else {
    uvperf_attr_software(&attr, PERF_COUNT_SW_BPF_OUTPUT);
    attr.sample_type = PERF_SAMPLE_RAW;
    attr.sample_period = 1;
    attr.watermark = 1;
    attr.wakeup_watermark = run->mode->wakeup_bytes;
    run->buffer =
        perf_buffer__new_raw(map, pages, &attr, on_libbpf_record, run, NULL);
  }
  return run->buffer == NULL ? bench_fail("perf_buffer__new", "failed") : 0;
}

static void read_libbpf(run_t *run) {
  while (!atomic_load(&run->is_over))
    run->wakeups += perf_buffer__poll(run->buffer, 100) > 0;
  perf_buffer__consume(run->buffer);
}

static void close_libbpf(run_t *run) {
  perf_buffer__free(run->buffer);
}

/* -- runs ----------------------------------------------------------------- */

static const reader_t readers[] = {
    {"uvperf", open_uvperf, read_uvperf, close_uvperf},
    {"libbpf", open_libbpf, read_libbpf, close_libbpf},
};
#define READERS (sizeof(readers) / sizeof(readers[0]))

/* What came of all runs of a reader, of which there are two in a round. */
typedef struct result_s {
  double cost[2][MOST_ROUNDS]; /* ns of a delivered record */
  double user, sys;            /* ns of all */
  uint64_t delivered, lost, wakeups;
} result_t;

static void produce(void *arg) {
  run_t *run = arg;
  uint64_t began = uv_hrtime();
  uint32_t sent;

  prctl(PR_SET_NAME, "producer"); /* a profile tells the two apart */
  run->code = bench_pin(run->producer_cpu);
  for (sent = 0; run->code == 0 && sent < run->nr; sent += run->mode->batch) {
    while (run->rate != 0 &&
           uv_hrtime() - began < (uint64_t)sent * 1000000000 / run->rate)
      ;
    run->code = bpf_numbered_send(run->numbered, run->mode->batch);
  }
  atomic_store(&run->is_over, 1);
  if (run->over.loop != NULL)
    uv_async_send(&run->over);
}

/* The reader's thread is the caller's. */
static int measure(const reader_t *reader, run_t *run, bench_time_t *time) {
  bench_time_t before;
  uv_thread_t producer;

  if (reader->open(run) != 0)
    return 1;
  if (uv_thread_create(&producer, produce, run) != 0)
    return bench_fail("a thread", "cannot be made");
  before = bench_time();
  reader->read(run);
  *time = bench_time_since(&before);
  uv_thread_join(&producer);
  reader->close(run);
  return run->code == 0 ? 0 : bench_fail("the program", strerror(-run->code));
}

/* One run, put into the result. */
static int run_once(const reader_t *reader, const run_t *plan, size_t round,
                    size_t half, result_t *result) {
  bpf_numbered_state_t *state = &plan->numbered->states[plan->producer_cpu];
  uint64_t full = state->to[0].full;
  uint64_t next = state->next;
  run_t *run = calloc(1, sizeof(*run));
  bench_time_t time;

  if (run == NULL)
    return bench_fail("a run", "no memory");
  *run = *plan;
  if (measure(reader, run, &time) != 0)
    return 1;
  full = state->to[0].full - full;
  if (run->delivered + full != state->next - next)
    return bench_fail(reader->name, "delivered and lost are not what was sent");
  result->cost[half][round] =
      (double)(time.user + time.sys) / (double)run->delivered;
  result->user += (double)time.user;
  result->sys += (double)time.sys;
  result->delivered += run->delivered;
  result->lost += full;
  result->wakeups += run->wakeups;
  free(run);
  return 0;
}

static void report(const wakeup_t *mode, uint32_t rate, result_t *results,
                   size_t rounds) {
  double medians[READERS][2];
  size_t i;

  printf("%s, %u bytes, ", mode->name, (unsigned)PAYLOAD_BYTES);
  if (rate == 0)
    printf("as fast as it goes\n");
  else
    printf("%u a second\n", (unsigned)rate);
  for (i = 0; i < READERS; i++) {
    medians[i][0] = bench_quantile(results[i].cost[0], rounds, 0.5);
    medians[i][1] = bench_quantile(results[i].cost[1], rounds, 0.5);
    printf("  %s: %.1f and %.1f ns a record (%.0f %% in the kernel), "
           "%.1f records a wakeup, %llu lost of %llu; against itself %.3f\n",
           readers[i].name, medians[i][0], medians[i][1],
           100 * results[i].sys / (results[i].user + results[i].sys),
           (double)results[i].delivered / (double)results[i].wakeups,
           (unsigned long long)results[i].lost,
           (unsigned long long)(results[i].delivered + results[i].lost),
           medians[i][0] / medians[i][1]);
  }
  for (i = 1; i < READERS; i++)
    printf("  %s / %s: %.3f\n", readers[0].name, readers[i].name,
           (medians[0][0] + medians[0][1]) / (medians[i][0] + medians[i][1]));
}

/* All rounds of a mode. */
static int run_mode(run_t *plan, size_t rounds) {
  static result_t results[READERS];
  size_t round, half, i;

  memset(results, 0, sizeof(results));
  for (round = 0; round < rounds; round++)
    for (half = 0; half < 2; half++)
      for (i = 0; i < READERS; i++)
        if (run_once(&readers[i], plan, round, half, &results[i]) != 0)
          return 1;
  report(plan->mode, plan->rate, results, rounds);
  return 0;
}

/* What RUN_MS have at this rate, or at the mode's if it is 0, in whole batches
 * and at least one. */
static uint32_t nr_of_run(const wakeup_t *mode, uint32_t rate) {
  uint64_t nr = (uint64_t)(rate != 0 ? rate : mode->rate) * RUN_MS / 1000;

  nr = (nr + mode->batch - 1) / mode->batch;
  return (uint32_t)(nr != 0 ? nr : 1) * mode->batch;
}

int main(int argc, char **argv) {
  size_t rounds = argc > 1 ? (size_t)strtoul(argv[1], NULL, 0) : 11;
  static run_t plan;
  bpf_numbered_t numbered;
  int cpus[2];
  size_t i;
  int status;

  if (rounds == 0 || rounds > MOST_ROUNDS)
    return bench_fail("usage", "bpf [ROUNDS [RECORDS_PER_SECOND]]");
  if (bench_cpus(cpus, 2) < 2)
    return bench_fail("CPUs", "it takes two");
  status = bpf_numbered_open(&numbered, 1, 0, PAYLOAD_BYTES, PAYLOAD_BYTES);
  if (status != 0)
    return bench_fail("BPF programs", strerror(-status));
  bench_pin(cpus[1]);
  plan.numbered = &numbered;
  plan.producer_cpu = cpus[0];
  for (i = 0; i < sizeof(modes) / sizeof(modes[0]) && status == 0; i++) {
    plan.mode = &modes[i];
    plan.rate = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : modes[i].rate;
    plan.nr = nr_of_run(&modes[i], plan.rate);
    status = run_mode(&plan, rounds);
  }
  bpf_numbered_close(&numbered);
  return status;
}
