/* SPDX-License-Identifier: MIT */
/* How long an operation keeps the loop's thread, and how long the form of it
 * that does not block: the longest of the call that begins it and of the turns
 * of the loop until it is done. Waits for events are not counted, nor are waits
 * for a CPU (run_delay of schedstat), which other tasks cause.
 *
 * An operation is a row of the table at the end of this file. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "benchmarks.h"
#include "uvperf.h"

#define TRACEPOINTS "syscalls:sys_enter_*"
#define CALL        "syscalls:sys_enter_getppid"
#define THREADS     2000
#define FILES       8192
#define RING_BYTES  (1024 * 1024)
#define PAUSE_US    1200000 /* the kernel's hooks go a second after an event */
#define ROUNDS      9       /* at most: some operations take long */

/* Shared by the steps of an operation. */
typedef struct block_s {
  uv_loop_t loop;
  uv_work_t work;
  int (*on_pool)(struct block_s *block);
  int pool_rc;
  uvperf_set_t set;
  uvperf_event_t event;
  uvperf_event_list_t *list;
  uvperf_meter_t *meter;
  pid_t child;
  int is_done;
  size_t records;
} block_t;

static block_t fixture;

/* A step returns 0, or 1 after printing what failed. */
typedef int (*step_fn)(block_t *block);

static int do_nothing(block_t *block) {
  return 0;
}

/* -- sets ----------------------------------------------------------------- */

static void on_closed(uvperf_handle_t *handle) {
  ((block_t *)handle->data)->is_done = 1;
}

static int free_list(block_t *block) {
  uvperf_event_list_free(block->list);
  block->list = NULL;
  return 0;
}

static int close_set(block_t *block) {
  block->is_done = 0;
  uvperf_close(&block->set.handle, on_closed);
  while (!block->is_done)
    uv_run(&block->loop, UV_RUN_ONCE);
  return free_list(block);
}

static int parse(block_t *block, const char *names) {
  uvperf_error_t error;

  if (uvperf_event_list_parse(&block->list, names, &error) != 0)
    return bench_fail(names, error.reason);
  return 0;
}

/* A round whose handle is not open measures nothing. */
static void on_opened(uvperf_handle_t *base, int status,
                      const uvperf_error_t *error) {
  if (status != 0)
    exit(bench_fail("opening on the pool", error->reason));
  ((block_t *)base->data)->is_done = 1;
}

static int open_set(block_t *block, const uvperf_target_t *target,
                    uint32_t flags, uvperf_open_cb open_cb) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  struct perf_event_attr sample;
  uvperf_error_t error;

  uvperf_attr_init(&sample, 0, 0);
  sample.sample_type = PERF_SAMPLE_IDENTIFIER; /* no more than the ring has */
  options.events = block->list;
  options.targets = target;
  options.nr_targets = 1;
  options.flags = flags;
  options.open_cb = open_cb;
  if (flags & UVPERF_SET_RECORDS) {
    options.ring_bytes = RING_BYTES;
    options.sample = &sample;
  }
  block->set.handle.data = block;
  if (uvperf_set_init(&block->loop, &block->set, &options, &error) != 0)
    return bench_fail("a set", error.reason);
  return 0;
}

/* -- threads -------------------------------------------------------------- */

static void *wait_for_end(void *arg) {
  for (;;)
    pause();
  return NULL;
}

/* A process of THREADS waiting threads; writes to `fd` when they wait. */
static void be_threads(int fd) {
  pthread_attr_t attr;
  pthread_t thread;
  int i;

  pthread_attr_init(&attr);
  pthread_attr_setstacksize(&attr, 64 * 1024);
  for (i = 1; i < THREADS; i++)
    if (pthread_create(&thread, &attr, wait_for_end, NULL) != 0)
      _exit(1);
  if (write(fd, "", 1) != 1)
    _exit(1);
  wait_for_end(NULL);
}

/* Once: they stay until the end. */
static int make_threads(block_t *block) {
  int fds[2];
  ssize_t nr;
  char byte;

  if (block->child > 0)
    return parse(block, "page-faults");
  if (pipe2(fds, O_CLOEXEC) != 0)
    return bench_fail("a pipe", strerror(errno));
  block->child = fork();
  if (block->child == 0)
    be_threads(fds[1]);
  close(fds[1]);
  nr = read(fds[0], &byte, 1);
  close(fds[0]);
  return nr == 1 ? parse(block, "page-faults")
                 : bench_fail("threads", "cannot be made");
}

static int open_process(block_t *block, uvperf_open_cb open_cb) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = UVPERF_TARGET_PROCESS;
  target.pid = block->child;
  return open_set(block, &target, UVPERF_SET_ENABLED, open_cb);
}

static int open_threads(block_t *block) {
  block->is_done = 1;
  return open_process(block, NULL);
}

static int open_threads_on_pool(block_t *block) {
  return open_process(block, on_opened);
}

/* -- a snapshot ----------------------------------------------------------- */

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  if (status == 0 && record->type != UVPERF_RECORD_NONE)
    ((block_t *)handle->data)->records += 1;
}

/* The calling thread, and those that it makes, may use both CPUs. */
static void use_both_cpus(void) {
  cpu_set_t cpus;

  CPU_ZERO(&cpus);
  CPU_SET((size_t)bench_producer_cpu, &cpus);
  CPU_SET((size_t)bench_consumer_cpu, &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
}

static int fill_rings(block_t *block) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uvperf_error_t error;
  int i, rc;

  target.type = UVPERF_TARGET_CPUS;
  rc = parse(block, CALL "/period=1/");
  if (rc == 0)
    rc = open_set(block, &target, UVPERF_SET_RECORDS | UVPERF_SET_OVERWRITE,
                  NULL);
  if (rc != 0)
    return rc;
  block->records = 0;
  if (uvperf_start(&block->set.handle, NULL, on_record, &error) != 0)
    return bench_fail("uvperf_start", error.reason);
  for (rc = 0; rc < 2; rc++) {
    bench_pin(rc == 0 ? bench_producer_cpu : bench_consumer_cpu);
    for (i = 0; i < RING_BYTES / 32; i++)
      syscall(SYS_getppid);
  }
  use_both_cpus();
  return 0;
}

static void on_snapshot(uvperf_handle_t *base, int status) {
  block_t *block = base->data;

  block->is_done = 1;
  if (status != 0 || block->records < 2 * RING_BYTES / 128)
    exit(bench_fail("uvperf_snapshot", uv_strerror(status)));
}

static int take_snapshot(block_t *block) {
  int rc = uvperf_snapshot(&block->set.handle, 0, NULL, NULL);

  on_snapshot(&block->set.handle, rc);
  return 0;
}

static int start_snapshot(block_t *block) {
  int rc = uvperf_snapshot(&block->set.handle, 0, on_snapshot, NULL);

  return rc == 0 ? 0 : bench_fail("uvperf_snapshot", uv_strerror(rc));
}

/* -- the first event of a process ----------------------------------------- */

static int open_event(block_t *block, uvperf_open_cb open_cb) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  block->event.handle.data = block;
  options.open_cb = open_cb;
  if (uvperf_event_init(&block->loop, &block->event, &attr, &options, &error) !=
      0)
    return bench_fail("an event", error.reason);
  return 0;
}

static int open_first(block_t *block) {
  block->is_done = 1;
  return open_event(block, NULL);
}

static int open_first_on_pool(block_t *block) {
  return open_event(block, on_opened);
}

/* -- names ---------------------------------------------------------------- */

static int parse_now(block_t *block) {
  block->is_done = 1;
  return parse(block, TRACEPOINTS);
}

static int parse_uprobe(block_t *block) {
  block->is_done = 1;
  return parse(block, "uprobe/path=\"/proc/self/exe\",symbol=main/");
}

static void work(uv_work_t *request) {
  block_t *block = request->data;

  block->pool_rc = block->on_pool(block);
}

static void after_work(uv_work_t *request, int status) {
  block_t *block = request->data;

  block->is_done = 1;
  if (status != 0 || block->pool_rc != 0)
    exit(bench_fail("uv_queue_work", "failed"));
}

static int queue(block_t *block, step_fn step) {
  int rc;

  block->on_pool = step;
  block->work.data = block;
  rc = uv_queue_work(&block->loop, &block->work, work, after_work);
  return rc == 0 ? 0 : bench_fail("uv_queue_work", uv_strerror(rc));
}

static int parse_tracepoints(block_t *block) {
  return parse(block, TRACEPOINTS);
}

static int queue_parse(block_t *block) {
  return queue(block, parse_tracepoints);
}

static int parse_symbol(block_t *block) {
  return parse(block, "uprobe/path=\"/proc/self/exe\",symbol=main/");
}

static int queue_uprobe(block_t *block) {
  return queue(block, parse_symbol);
}

/* -- measuring a function ------------------------------------------------- */

static void call(void *arg) {
  syscall(SYS_getppid);
}

static int measure_call(block_t *block) {
  uvperf_count_t count;
  uvperf_error_t error;

  block->is_done = 1;
  if (uvperf_measure_events(CALL, call, block, &count, 1, &error) != 0)
    return bench_fail("uvperf_measure_events", error.reason);
  return 0;
}

static int make_meter(block_t *block) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_error_t error;

  options.names = CALL;
  if (uvperf_meter_new(&block->meter, &options, &error) != 0)
    return bench_fail("uvperf_meter_new", error.reason);
  return 0;
}

static int measure_again(block_t *block) {
  uvperf_count_t count;
  uvperf_error_t error;

  block->is_done = 1;
  if (uvperf_meter_measure(block->meter, call, block, &count, 1, &error) != 0)
    return bench_fail("uvperf_meter_measure", error.reason);
  return count.value == 1 ? 0 : bench_fail("a call", "is not counted as one");
}

static int free_meter(block_t *block) {
  uvperf_meter_free(block->meter);
  return 0;
}

/* -- the time of the loop's thread ---------------------------------------- */

/* The second number of schedstat: how long the thread waited for a CPU; 0 if
 * the kernel does not count it. */
static double waited_ns(void) {
  FILE *file = fopen("/proc/thread-self/schedstat", "re");
  double waited = 0;

  if (file != NULL && fscanf(file, "%*s %lf", &waited) != 1)
    waited = 0;
  if (file != NULL)
    fclose(file);
  return waited;
}

/* Runs a step, or a turn of the loop. Returns how long it took in us, without
 * waits for a CPU. */
static double time_step(block_t *block, step_fn step, int *rc) {
  double waited = waited_ns();
  double began = (double)uv_hrtime(), took;

  if (step != NULL)
    *rc = step(block);
  else
    uv_run(&block->loop, UV_RUN_NOWAIT);
  took = (double)uv_hrtime() - began;
  return (took - (waited_ns() - waited)) / 1000;
}

/* Waits for events, outside of the measured time; at most a millisecond,
 * because handles started in the last turn are polled from the next one on. */
static void wait_for_events(uv_loop_t *loop) {
  struct pollfd backend = {.fd = uv_backend_fd(loop), .events = POLLIN};

  poll(&backend, 1, uv_backend_timeout(loop) == 0 ? 0 : 1);
}

static int time_operation(block_t *block, step_fn begin, double *longest) {
  double took;
  int rc = 0;

  block->is_done = 0;
  *longest = time_step(block, begin, &rc);
  while (rc == 0 && !block->is_done) {
    wait_for_events(&block->loop);
    took = time_step(block, NULL, &rc);
    if (took > *longest)
      *longest = took;
  }
  return rc;
}

/* -- contenders ----------------------------------------------------------- */

typedef struct operation_s {
  const char *name;
  const char *ways[2];
  step_fn prepare, begins[2], finish;
  int in_fresh_process;
} operation_t;

typedef struct contender_s {
  const operation_t *operation;
  step_fn begin;
} contender_t;

static int run_here(const contender_t *contender, double *longest) {
  if (contender->operation->prepare(&fixture) != 0 ||
      time_operation(&fixture, contender->begin, longest) != 0)
    return 1;
  return contender->operation->finish(&fixture);
}

static int run_in_child(const contender_t *contender, double *longest) {
  int fds[2];
  ssize_t nr;
  pid_t child;

  usleep(PAUSE_US);
  if (pipe2(fds, O_CLOEXEC) != 0)
    return bench_fail("a pipe", strerror(errno));
  child = fork();
  if (child == 0)
    _exit(uv_loop_init(&fixture.loop) != 0 ||
          run_here(contender, longest) != 0 ||
          write(fds[1], longest, sizeof(*longest)) < 0);
  close(fds[1]);
  nr = read(fds[0], longest, sizeof(*longest));
  close(fds[0]);
  waitpid(child, NULL, 0);
  return nr == sizeof(*longest) ? 0 : bench_fail("a fresh process", "failed");
}

static int run_contender(void *arg, double *values) {
  const contender_t *contender = arg;

  return contender->operation->in_fresh_process
             ? run_in_child(contender, values)
             : run_here(contender, values);
}

static int compare(bench_report_t *report, const operation_t *operation) {
  static const bench_metric_t metric = {"longest block", "us"};
  contender_t ways[] = {{operation, operation->begins[0]},
                        {operation, operation->begins[1]}};
  const bench_contender_t contenders[] = {
      {operation->ways[0], run_contender, &ways[0], {0}},
      {operation->ways[1], run_contender, &ways[1], {0}},
  };
  const bench_comparison_t comparison = {operation->name, &metric, 1,
                                         contenders, 2};

  return bench_compare(report, &comparison);
}

static const operation_t operations[] = {
    {"first event of a process",
     {"on the pool", "on the loop"},
     do_nothing,
     {open_first_on_pool, open_first},
     do_nothing,
     1},
    {"parse " TRACEPOINTS,
     {"on the pool", "on the loop"},
     do_nothing,
     {queue_parse, parse_now},
     free_list,
     0},
    {"uprobe by symbol",
     {"on the pool", "on the loop"},
     do_nothing,
     {queue_uprobe, parse_uprobe},
     free_list,
     0},
    {"a call by a tracepoint",
     {"meter", "uvperf_measure_"},
     make_meter,
     {measure_again, measure_call},
     free_meter,
     0},
    {"snapshot of 2 x 1 MiB",
     {"on the pool", "on the loop"},
     fill_rings,
     {start_snapshot, take_snapshot},
     close_set,
     0},
    {"open 2,000 threads",
     {"on the pool", "on the loop"},
     make_threads,
     {open_threads_on_pool, open_threads},
     close_set,
     0},
};

static int run(bench_report_t *report) {
  size_t rounds = report->rounds;
  size_t i;
  int rc = 0;

  if (geteuid() != 0 || !bench_has_files(FILES)) {
    bench_report_skip(report, "root, and 8,192 open files");
    return 0;
  }
  use_both_cpus();
  if (uv_loop_init(&fixture.loop) != 0)
    return bench_fail("a loop", "cannot be made");
  if (report->rounds > ROUNDS)
    report->rounds = ROUNDS;
  for (i = 0; i < sizeof(operations) / sizeof(operations[0]) && rc == 0; i++)
    rc = compare(report, &operations[i]);
  report->rounds = rounds;
  if (fixture.child > 0) {
    kill(fixture.child, SIGKILL);
    waitpid(fixture.child, NULL, 0);
  }
  uv_run(&fixture.loop, UV_RUN_DEFAULT);
  uv_loop_close(&fixture.loop);
  bench_pin(bench_consumer_cpu);
  return rc;
}

const bench_t bench_block = {
    "block", "how long the loop's thread is kept by what takes long", run};
