/* SPDX-License-Identifier: MIT */
#include "block.h"

#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_ASKED  (1 << 20)
#define PERF_ROUNDS 3

/* -- the time of a thread -------------------------------------------------- */

/* The second number of schedstat: how long the thread waited for a CPU; 0 if
 * the kernel does not count it. */
static double waited_ns(int schedstat) {
  char text[128] = "";
  double waited = 0;

  if (pread(schedstat, text, sizeof(text) - 1, 0) > 0)
    sscanf(text, "%*s %lf", &waited);
  return waited;
}

/* For the loop's thread. */
static int schedstat;

typedef struct stretch_s {
  double began;
  double waited;
} stretch_t;

static stretch_t begin_stretch(void) {
  stretch_t stretch = {.waited = waited_ns(schedstat)};

  stretch.began = (double)uv_hrtime();
  return stretch;
}

/* How long it was, without the wait for a CPU. */
static double end_stretch(stretch_t stretch) {
  double took = (double)uv_hrtime() - stretch.began;

  return took - (waited_ns(schedstat) - stretch.waited);
}

/* Waits for events, outside of the measured time; at most a millisecond,
 * because handles started in the last turn are polled from the next one on. */
static void wait_for_events(uv_loop_t *loop) {
  struct pollfd backend = {.fd = uv_backend_fd(loop), .events = POLLIN};

  poll(&backend, 1, uv_backend_timeout(loop) == 0 ? 0 : 1);
}

/* -- requests beside ------------------------------------------------------- */

static struct {
  uv_fs_t request;
  double began;
  double times[MOST_ASKED];
  block_t *block;
  int goes_on;
  int is_pending;
} asker;

static void ask(void);

static void on_stat(uv_fs_t *request) {
  uv_fs_req_cleanup(request);
  asker.is_pending = 0;
  asker.times[asker.block->nr_asked++] = (double)uv_hrtime() - asker.began;
  if (asker.goes_on && asker.block->nr_asked < MOST_ASKED)
    ask();
}

static void ask(void) {
  asker.began = (double)uv_hrtime();
  asker.is_pending =
      uv_fs_stat(&asker.block->loop, &asker.request, "/", on_stat) == 0;
}

static void start_asking(block_t *block) {
  block->nr_asked = 0;
  asker.block = block;
  asker.goes_on = 1;
  ask();
}

static double stop_asking(block_t *block) {
  asker.goes_on = 0;
  while (asker.is_pending)
    uv_run(&block->loop, UV_RUN_ONCE);
  return block->nr_asked == 0
             ? NAN
             : bench_quantile(asker.times, block->nr_asked, 0.99);
}

/* -- a round -------------------------------------------------------------- */

typedef struct times_s {
  double longest; /* ns */
  double asked;   /* p99 */
} times_t;

static block_t fixture;

static void on_pool(uv_work_t *work) {
  block_t *block = work->data;

  block->pool_rc = block->step->begin(block);
}

static void on_pool_done(uv_work_t *work, int status) {
  block_t *block = work->data;

  (void)status;
  block->step = NULL;
}

static int begin_step(block_t *block, const block_step_t *step) {
  int rc;

  block->pool_rc = 0;
  if (!step->on_pool)
    return step->begin(block);
  block->step = step;
  block->work.data = block;
  rc = uv_queue_work(&block->loop, &block->work, on_pool, on_pool_done);
  return rc == 0 ? 0 : bench_fail("uv_queue_work", uv_strerror(rc));
}

static int is_done(const block_t *block, const block_step_t *step) {
  return block->step == NULL && (step->is_done == NULL || step->is_done(block));
}

static int run_step(block_t *block, const block_step_t *step, times_t *times) {
  stretch_t stretch;
  double took;
  int rc;

  if (step->asks)
    start_asking(block);
  stretch = begin_stretch();
  rc = begin_step(block, step);
  times->longest = end_stretch(stretch);
  while (rc == 0 && !is_done(block, step)) {
    wait_for_events(&block->loop);
    stretch = begin_stretch();
    uv_run(&block->loop, UV_RUN_NOWAIT);
    took = end_stretch(stretch);
    if (took > times->longest)
      times->longest = took;
  }
  if (step->asks)
    times->asked = stop_asking(block);
  return rc != 0 ? rc : block->pool_rc;
}

static int open_fixture(block_t *block) {
  memset(block, 0, sizeof(*block));
  schedstat = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  if (uv_loop_init(&block->loop) != 0 ||
      uvperf_reading_new(&block->reading) != 0)
    return bench_fail("a loop", "cannot be made");
  return 0;
}

static int run_steps(block_t *block, const block_operation_t *operation,
                     times_t *times) {
  size_t i;
  int rc = 0;

  for (i = 0; i < BLOCK_STEPS && rc == 0; i++)
    if (operation->steps[i].begin != NULL)
      rc = run_step(block, &operation->steps[i], &times[i]);
  return rc;
}

static int run_in_child(const block_operation_t *operation, times_t *times) {
  const size_t size = BLOCK_STEPS * sizeof(times[0]);
  int fds[2];
  ssize_t nr;
  pid_t child;

  if (pipe2(fds, O_CLOEXEC) != 0)
    return bench_fail("a pipe", strerror(errno));
  child = fork();
  if (child == 0)
    _exit(open_fixture(&fixture) != 0 ||
          run_steps(&fixture, operation, times) != 0 ||
          write(fds[1], times, size) != (ssize_t)size);
  close(fds[1]);
  nr = read(fds[0], times, size);
  close(fds[0]);
  waitpid(child, NULL, 0);
  return nr == (ssize_t)size ? 0 : bench_fail("a fresh process", "failed");
}

/* -- perf(1) -------------------------------------------------------------- */

/* The time of a command in ns, without its wait for a CPU; NAN if it failed. */
static double time_command(const char *command) {
  char line[640], path[64];
  int status, waited;
  double began = (double)uv_hrtime();
  double took;
  siginfo_t info;
  pid_t child;

  snprintf(line, sizeof(line), "exec %s >/dev/null 2>&1 </dev/null", command);
  child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", line, (char *)NULL);
    _exit(127);
  }
  if (child < 0 || waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) != 0)
    return NAN;
  snprintf(path, sizeof(path), "/proc/%d/schedstat", (int)child);
  took = (double)uv_hrtime() - began;
  waited = open(path, O_RDONLY | O_CLOEXEC);
  took -= waited_ns(waited);
  close(waited);
  waitpid(child, &status, 0);
  return status == 0 ? took : NAN;
}

/* -- all rounds ----------------------------------------------------------- */

typedef struct results_s {
  double longest[BENCH_MOST_ROUNDS];
  double asked[BENCH_MOST_ROUNDS];
  double perf[PERF_ROUNDS];
  size_t nr_perf;
} results_t;

static int has_perf;

static void time_perf(const block_t *block, const block_step_t *step,
                      results_t *results) {
  char command[640];
  double took;

  if (!has_perf || step->perf == NULL || results->nr_perf == PERF_ROUNDS)
    return;
  snprintf(command, sizeof(command), step->perf, block->text);
  took = time_command(command);
  if (!isnan(took))
    results->perf[results->nr_perf++] = took;
}

static int run_round(const block_operation_t *operation, size_t round,
                     results_t *results) {
  times_t times[BLOCK_STEPS];
  size_t i;
  int rc;

  memset(times, 0, sizeof(times));
  usleep(operation->pause_us);
  rc = operation->in_fresh_process ? run_in_child(operation, times)
                                   : run_steps(&fixture, operation, times);
  for (i = 0; i < BLOCK_STEPS && rc == 0; i++) {
    results[i].longest[round] = times[i].longest;
    results[i].asked[round] = times[i].asked;
  }
  return rc;
}

static void report_step(bench_report_t *report, const block_step_t *step,
                        results_t *results, size_t rounds) {
  char name[160], asked[192];

  snprintf(name, sizeof(name), "%s%s",
           *step->name == '\0' ? fixture.name : step->name,
           step->on_pool ? ", on the pool" : "");
  bench_report_times(report, name, results->longest, rounds, results->perf,
                     results->nr_perf);
  snprintf(asked, sizeof(asked), "%s: uv_fs_stat, p99", name);
  if (step->asks)
    bench_report_times(report, asked, results->asked, rounds, NULL, 0);
}

int block_measure(bench_report_t *report, const block_operation_t *operation) {
  results_t *results = calloc(BLOCK_STEPS, sizeof(*results));
  size_t rounds = report->rounds;
  size_t round, i;
  int rc = results == NULL ? bench_fail("results", "no memory") : 0;

  if (rounds > operation->rounds)
    rounds = operation->rounds;
  for (round = 0; round < rounds && rc == 0; round++) {
    bench_report_progress(report, "operations", round);
    rc = run_round(operation, round, results);
  }
  /* After a round, not within: what perf(1) opens must not be there. */
  for (i = 0; i < BLOCK_STEPS && rc == 0; i++)
    for (round = 0; round < PERF_ROUNDS; round++)
      time_perf(&fixture, &operation->steps[i], &results[i]);
  for (i = 0; i < BLOCK_STEPS && rc == 0; i++)
    if (operation->steps[i].name != NULL)
      report_step(report, &operation->steps[i], &results[i], rounds);
  free(results);
  return rc;
}

void block_use_both_cpus(void) {
  cpu_set_t cpus;

  CPU_ZERO(&cpus);
  CPU_SET((size_t)bench_producer_cpu, &cpus);
  CPU_SET((size_t)bench_consumer_cpu, &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
}

int block_begin(bench_report_t *report) {
  block_use_both_cpus();
  has_perf = !isnan(time_command("perf --version"));
  if (!has_perf)
    bench_report_skip(report, "perf(1), for its times beside");
  return open_fixture(&fixture);
}

void block_end(void) {
  if (fixture.child > 0) {
    kill(fixture.child, SIGKILL);
    waitpid(fixture.child, NULL, 0);
  }
  close(schedstat);
  uvperf_reading_free(fixture.reading);
  uv_run(&fixture.loop, UV_RUN_DEFAULT);
  uv_loop_close(&fixture.loop);
  bench_pin(bench_consumer_cpu);
}
