/* SPDX-License-Identifier: MIT */
/* Time order at full speed: on each CPU a process calls getppid(2) as fast as
 * it can, a tracepoint writes a record for each call, and a set delivers them
 * in the order of their time. Tells how many came, how many were lost, and
 * whether the library's account of it is that of the producers.
 *
 *   order [RECORDS [RING_BYTES]]
 *
 * Exits with 1 if the accounts differ. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "uvperf.h"

#define MOST_CPUS 64

typedef struct producer_s {
  int cpu;
  pid_t pid;
  int go; /* a byte written to it is the start */
} producer_t;

typedef struct bench_s {
  uv_loop_t loop;
  uvperf_set_t set;
  producer_t producers[MOST_CPUS];
  size_t nr_producers;
  size_t nr_running;
  uint64_t each; /* calls of one producer */
  uv_signal_t child;
  uint64_t delivered;
  uint64_t others; /* records that are no samples */
  uint64_t inversions;
  uint64_t newest; /* time of the youngest record so far */
  uint64_t began, ended;
} bench_t;

/* -- producers ------------------------------------------------------------ */

static void produce(int cpu, int go, uint64_t calls) {
  uint64_t i;
  char byte;

  if (bench_pin(cpu) != 0 || read(go, &byte, 1) != 1)
    _exit(1);
  for (i = 0; i < calls; i++)
    syscall(SYS_getppid);
  _exit(0);
}

static int fork_producers(bench_t *bench) {
  int cpus[MOST_CPUS];
  size_t nr = MOST_CPUS;
  size_t i;
  int pipes[2];

  if (uvperf_cpus_online(cpus, &nr) != 0)
    return bench_fail("the CPUs", "cannot be listed, or are too many");
  for (i = 0; i < nr; i++) {
    if (pipe(pipes) != 0)
      return bench_fail("pipe", strerror(errno));
    bench->producers[i].cpu = cpus[i];
    bench->producers[i].go = pipes[1];
    bench->producers[i].pid = fork();
    if (bench->producers[i].pid < 0)
      return bench_fail("fork", strerror(errno));
    if (bench->producers[i].pid == 0) {
      close(pipes[1]);
      produce(cpus[i], pipes[0], bench->each);
    }
    close(pipes[0]);
    bench->nr_producers++;
  }
  bench->nr_running = nr;
  return 0;
}

static void on_child(uv_signal_t *handle, int number) {
  bench_t *bench = handle->data;

  (void)number;
  while (waitpid(-1, NULL, WNOHANG) > 0)
    bench->nr_running--;
  if (bench->nr_running > 0)
    return;
  bench->ended = uv_hrtime();
  uv_close((uv_handle_t *)handle, NULL);
  uv_stop(&bench->loop);
}

/* -- the set -------------------------------------------------------------- */

static void on_record(uvperf_set_t *set, int status,
                      const uvperf_record_t *record) {
  bench_t *bench = set->data;

  if (status != 0 || record == NULL) {
    fprintf(stderr, "order: a record with status %d\n", status);
    exit(1);
  }
  if (record->type == PERF_RECORD_SAMPLE)
    bench->delivered++;
  else
    bench->others++;
  if (record->time < bench->newest)
    bench->inversions++;
  else
    bench->newest = record->time;
}

/* Of this machine's processes the producers alone. */
static int set_filter(bench_t *bench, uvperf_error_t *error) {
  char filter[MOST_CPUS * 32] = "";
  size_t used = 0;
  size_t i;

  for (i = 0; i < bench->nr_producers; i++)
    used += (size_t)snprintf(filter + used, sizeof(filter) - used,
                             "%scommon_pid == %d", i == 0 ? "" : " || ",
                             (int)bench->producers[i].pid);
  return uvperf_set_set_filter(&bench->set, 0, filter, error);
}

static int open_set(bench_t *bench, size_t ring_bytes) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_target_t cpus = UVPERF_TARGET_INIT;
  const struct perf_event_attr *pointer;
  struct perf_event_attr attr;
  uvperf_error_t error;

  if (uvperf_attr_parse(&attr, "syscalls:sys_enter_getppid", &error) != 0)
    return bench_fail("syscalls:sys_enter_getppid", error.reason);
  uvperf_attr_set_period(&attr, 1);
  attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                     PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
  pointer = &attr;
  cpus.type = UVPERF_TARGET_CPUS;
  options.attrs = &pointer;
  options.nr_attrs = 1;
  options.targets = &cpus;
  options.nr_targets = 1;
  options.flags = UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER;
  options.ring_bytes = ring_bytes;
  bench->set.data = bench;
  if (uvperf_set_init(&bench->loop, &bench->set, &options, &error) != 0 ||
      set_filter(bench, &error) != 0 ||
      uvperf_set_start(&bench->set, NULL, on_record, &error) != 0)
    return bench_fail("the set", error.reason);
  return 0;
}

/* -- the account ---------------------------------------------------------- */

static int report(bench_t *bench) {
  uint64_t produced = bench->each * bench->nr_producers;
  double seconds = (double)(bench->ended - bench->began) / 1e9;
  uvperf_set_count_t count;
  uvperf_reading_t *reading;
  uvperf_ring_info_t ring;
  uvperf_stats_t stats;
  uint64_t bytes = 0;
  size_t i;

  if (uvperf_reading_new(&reading) != 0 ||
      uvperf_set_read(&bench->set, reading) != 0)
    return bench_fail("reading", "no memory");
  uvperf_reading_total(reading, 0, &count);
  uvperf_reading_free(reading);
  uvperf_set_stats(&bench->set, &stats);
  for (i = 0; uvperf_set_ring(&bench->set, i, &ring) == 0; i++)
    bytes += ring.bytes;
  printf("%llu produced in %.2f s, %.2f million/s\n",
         (unsigned long long)produced, seconds,
         (double)produced / seconds / 1e6);
  printf("%llu delivered (%.3f %%), %llu lost\n",
         (unsigned long long)bench->delivered,
         100 * (double)bench->delivered / (double)produced,
         (unsigned long long)count.lost);
  printf("%llu inversions, %llu late, %llu other records\n",
         (unsigned long long)bench->inversions,
         (unsigned long long)stats.late_records,
         (unsigned long long)bench->others);
  printf(
      "%zu rings, %llu bytes; most waiting %llu; %llu wakeups, %llu slices\n",
      i, (unsigned long long)bytes, (unsigned long long)stats.high_water_bytes,
      (unsigned long long)stats.wakeups, (unsigned long long)stats.slices);
  if (bench->delivered + count.lost != produced)
    return bench_fail("delivered + lost", "is not what was produced");
  if (bench->inversions != stats.late_records)
    return bench_fail("late_records", "is not the number of inversions");
  return 0;
}

static int run(bench_t *bench) {
  uint64_t before;
  size_t i;

  uv_signal_init(&bench->loop, &bench->child);
  bench->child.data = bench;
  uv_signal_start(&bench->child, on_child, SIGCHLD);
  bench->began = uv_hrtime();
  before = bench_allocations();
  for (i = 0; i < bench->nr_producers; i++)
    if (write(bench->producers[i].go, "", 1) != 1)
      return bench_fail("write", strerror(errno));
  uv_run(&bench->loop, UV_RUN_DEFAULT);
  uvperf_set_flush(&bench->set);
  uvperf_set_stop(&bench->set);
  printf("%llu allocations while delivering\n",
         (unsigned long long)(bench_allocations() - before));
  return report(bench);
}

int main(int argc, char **argv) {
  uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 0) : 5000000;
  size_t ring_bytes = argc > 2 ? (size_t)strtoull(argv[2], NULL, 0) : 0;
  static bench_t bench;
  int status;
  long nr = sysconf(_SC_NPROCESSORS_ONLN);

  if (records == 0 || nr <= 0)
    return bench_fail("usage", "order [RECORDS [RING_BYTES]]");
  bench_count_allocations();
  bench.each = records / (uint64_t)nr;
  uv_loop_init(&bench.loop);
  status = fork_producers(&bench);
  if (status == 0)
    status = open_set(&bench, ring_bytes);
  if (status == 0)
    status = run(&bench);
  if (status != 0)
    return status;
  uvperf_set_close(&bench.set, NULL);
  uv_run(&bench.loop, UV_RUN_DEFAULT);
  return uv_loop_close(&bench.loop) == 0 ? 0
                                         : bench_fail("uv_loop_close", "EBUSY");
}
