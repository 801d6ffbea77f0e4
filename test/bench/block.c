/* SPDX-License-Identifier: MIT */
/* How long each operation keeps the loop's thread: the longest of the call that
 * begins it and of the turns of the loop until it is done. Waits for events are
 * not counted, nor are waits for a CPU (run_delay of schedstat), which other
 * tasks cause. Next to it is the time of a perf(1) command that does the same,
 * from its start to its end.
 *
 * An operation is a row of the table at the end of this file: a function that
 * begins it, and one that says whether it is done. A variant, such as one that
 * leaves the slow calls to libuv's thread pool, is another row. */
#include "block.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "benchmarks.h"

#define TRACEPOINTS "syscalls:sys_enter_*"
#define CALL        "syscalls:sys_enter_getppid"
#define THREADS     2000
#define FILES       8192
#define RING_BYTES  (1024 * 1024)
#define PAUSE_US    1200000 /* the kernel's hooks go a second after an event */

/* -- sets ----------------------------------------------------------------- */

static void on_closed(uvperf_handle_t *handle) {
  ((block_t *)handle->data)->is_closed = 1;
}

static int is_closed(const block_t *block) {
  return block->is_closed;
}

static int close_set(block_t *block) {
  uvperf_event_list_free(block->list);
  block->list = NULL;
  block->is_closed = 0;
  block->set.handle.data = block;
  uvperf_close(&block->set.handle, on_closed);
  return 0;
}

static int parse(block_t *block, const char *names) {
  uvperf_error_t error;

  if (uvperf_event_list_parse(&block->list, names, &error) != 0)
    return bench_fail(names, error.reason);
  return 0;
}

static void fill_options(block_t *block, uvperf_set_options_t *options,
                         struct perf_event_attr *sample,
                         const uvperf_target_t *target, uint32_t flags) {
  uvperf_attr_init(sample, 0, 0);
  sample->sample_type = PERF_SAMPLE_IDENTIFIER; /* no more than the ring has */
  options->events = block->list;
  options->targets = target;
  options->nr_targets = 1;
  options->flags = flags;
  if (flags & UVPERF_SET_RECORDS) {
    options->ring_bytes = RING_BYTES;
    options->sample = sample;
  }
}

/* A round whose handle is not open measures nothing. */
static void on_opened(uvperf_handle_t *base, int status,
                      const uvperf_error_t *error) {
  if (status != 0)
    exit(bench_fail("opening on the pool", error->reason));
  ((block_t *)base->data)->is_opened = 1;
}

static int is_opened(const block_t *block) {
  return block->is_opened;
}

static int open_set(block_t *block, const uvperf_target_t *target,
                    uint32_t flags, uvperf_open_cb open_cb) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  struct perf_event_attr sample;
  uvperf_error_t error;

  fill_options(block, &options, &sample, target, flags);
  block->is_opened = 0;
  block->set.handle.data = block;
  options.open_cb = open_cb;
  if (uvperf_set_init(&block->loop, &block->set, &options, &error) != 0)
    return bench_fail("a set", error.reason);
  return 0;
}

static int open_on_cpus(block_t *block, uint32_t flags,
                        uvperf_open_cb open_cb) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = UVPERF_TARGET_CPUS;
  return open_set(block, &target, flags, open_cb);
}

/* -- tracepoints ---------------------------------------------------------- */

static int parse_tracepoints(block_t *block) {
  return parse(block, TRACEPOINTS);
}

static int free_list(block_t *block) {
  uvperf_event_list_free(block->list);
  block->list = NULL;
  return 0;
}

static int open_tracepoints(block_t *block) {
  return open_on_cpus(block, 0, NULL);
}

static int open_tracepoints_on_pool(block_t *block) {
  return open_on_cpus(block, 0, on_opened);
}

/* -- threads -------------------------------------------------------------- */

static void *wait_for_end(void *arg) {
  (void)arg;
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

/* Once: they stay until block_end. */
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
  snprintf(block->text, sizeof(block->text), "%d", (int)block->child);
  return nr == 1 ? parse(block, "page-faults")
                 : bench_fail("threads", "cannot be made");
}

static int open_process(block_t *block, uint32_t flags,
                        uvperf_open_cb open_cb) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = UVPERF_TARGET_PROCESS;
  target.pid = block->child;
  return open_set(block, &target, flags, open_cb);
}

static int open_threads(block_t *block) {
  return open_process(block, 0, NULL);
}

static int open_threads_on_pool(block_t *block) {
  return open_process(block, UVPERF_SET_ENABLED, on_opened);
}

static int enable(block_t *block) {
  uvperf_error_t error;

  if (uvperf_enable(&block->set.handle, UVPERF_ALL, &error) != 0)
    return bench_fail("uvperf_enable", error.reason);
  return 0;
}

static int read_set(block_t *block) {
  int rc = uvperf_set_read(&block->set, block->reading, NULL);

  if (rc == 0 && uvperf_reading_info(block->reading)->nr_places < THREADS)
    return bench_fail("a set", "has not all threads");
  return rc == 0 ? 0 : bench_fail("uvperf_set_read", uv_strerror(rc));
}

static void on_reading(uvperf_set_t *set, int status,
                       const uvperf_reading_t *reading,
                       const uvperf_reading_t *delta) {
  (void)delta;
  if (status == 0 && uvperf_reading_info(reading)->nr_places >= THREADS)
    ((block_t *)set->handle.data)->nr_readings += 1;
}

static int start_reading(block_t *block) {
  int rc;

  block->set.handle.data = block;
  block->nr_readings = 0;
  rc = uvperf_set_read_start(&block->set, 10, on_reading, NULL);
  return rc == 0 ? 0 : bench_fail("uvperf_set_read_start", uv_strerror(rc));
}

static int has_read(const block_t *block) {
  return block->nr_readings > 0;
}

/* -- a snapshot ----------------------------------------------------------- */

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  if (status == 0 && record->type != UVPERF_RECORD_NONE)
    ((block_t *)handle->data)->records += 1;
}

static int open_rings(block_t *block) {
  uvperf_error_t error;
  int i, rc;

  rc = parse(block, CALL "/period=1/");
  if (rc == 0)
    rc = open_on_cpus(block, UVPERF_SET_RECORDS | UVPERF_SET_OVERWRITE, NULL);
  if (rc != 0)
    return rc;
  block->set.handle.data = block;
  block->records = 0;
  if (uvperf_start(&block->set.handle, NULL, on_record, &error) != 0)
    return bench_fail("uvperf_start", error.reason);
  for (rc = 0; rc < 2; rc++) {
    bench_pin(rc == 0 ? bench_producer_cpu : bench_consumer_cpu);
    for (i = 0; i < RING_BYTES / 32; i++)
      syscall(SYS_getppid);
  }
  block_use_both_cpus();
  return 0;
}

static int take_snapshot(block_t *block) {
  int rc = uvperf_snapshot(&block->set.handle, 0, NULL, NULL);

  if (rc == 0 && block->records < 2 * RING_BYTES / 128)
    return bench_fail("a snapshot", "of rings that are not full");
  return rc == 0 ? 0 : bench_fail("uvperf_snapshot", uv_strerror(rc));
}

/* The same records once more. */
static void on_snapshot(uvperf_handle_t *base, int status) {
  block_t *block = base->data;

  block->is_taken = 1;
  if (status != 0 || block->records < 4 * RING_BYTES / 128)
    exit(bench_fail("uvperf_snapshot", uv_strerror(status)));
}

static int start_snapshot(block_t *block) {
  int rc = uvperf_snapshot(&block->set.handle, UVPERF_SNAPSHOT_ALL, on_snapshot,
                           NULL);

  block->is_taken = 0;
  return rc == 0 ? 0 : bench_fail("uvperf_snapshot", uv_strerror(rc));
}

static int is_taken(const block_t *block) {
  return block->is_taken;
}

/* -- the first event of a process ----------------------------------------- */

static int open_event(block_t *block, uvperf_open_cb open_cb) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_error_t error;

  uvperf_attr_software(&attr, PERF_COUNT_SW_PAGE_FAULTS);
  block->is_opened = 0;
  block->event.handle.data = block;
  options.open_cb = open_cb;
  if (uvperf_event_init(&block->loop, &block->event, &attr, &options, &error) !=
      0)
    return bench_fail("an event", error.reason);
  return 0;
}

static int open_first(block_t *block) {
  return open_event(block, NULL);
}

static int open_first_on_pool(block_t *block) {
  return open_event(block, on_opened);
}

/* -- names ---------------------------------------------------------------- */

static int on_name(const uvperf_event_name_t *name, void *arg) {
  (void)name;
  (void)arg;
  return 0;
}

static int walk_names(block_t *block) {
  int rc = uvperf_event_name_walk(NULL, 0, on_name, block);

  return rc == 0 ? 0 : bench_fail("uvperf_event_name_walk", uv_strerror(rc));
}

/* The largest of some programs, in which a symbol is searched for. */
static const char *large_program(double *mib) {
  static const char *const paths[] = {"/usr/bin/node", "/usr/local/bin/node",
                                      "/proc/self/exe"};
  struct stat status;
  size_t i;

  for (i = 0; i < sizeof(paths) / sizeof(paths[0]) - 1; i++)
    if (stat(paths[i], &status) == 0)
      break;
  *mib = stat(paths[i], &status) == 0 ? (double)status.st_size / 1048576 : 0;
  return paths[i];
}

static int name_uprobe(block_t *block) {
  double mib;

  snprintf(block->text, sizeof(block->text), "%s", large_program(&mib));
  snprintf(block->name, sizeof(block->name), "uprobe by symbol, %s, %.0f MiB",
           strrchr(block->text, '/') + 1, mib);
  return 0;
}

static int parse_uprobe(block_t *block) {
  char names[600];

  snprintf(names, sizeof(names), "uprobe/path=\"%s\",symbol=main/",
           block->text);
  return parse(block, names);
}

/* -- measuring a function ------------------------------------------------- */

static void call(void *arg) {
  (void)arg;
  syscall(SYS_getppid);
}

static int measure_call(block_t *block) {
  uvperf_count_t count;
  uvperf_error_t error;

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

  if (uvperf_meter_measure(block->meter, call, block, &count, 1, &error) != 0)
    return bench_fail("uvperf_meter_measure", error.reason);
  return count.value == 1 ? 0 : bench_fail("a call", "is not counted as one");
}

static int free_meter(block_t *block) {
  uvperf_meter_free(block->meter);
  return 0;
}

/* -- the table ------------------------------------------------------------ */

static int do_nothing(block_t *block) {
  (void)block;
  return 0;
}

static int has_asked(const block_t *block) {
  return block->nr_asked >= 1000;
}

/* The steps of a round, one after the other. A step without a name is not
 * reported. %s in a command is the round's `text`. */
static const block_operation_t operations[] = {
    {.in_fresh_process = 1,
     .pause_us = PAUSE_US,
     .rounds = 9,
     .steps = {{"first event of a process", open_first, NULL,
                .perf = "perf stat -e page-faults true"}}},
    {.in_fresh_process = 1,
     .pause_us = PAUSE_US,
     .rounds = 9,
     .steps = {{"first event of a process, on the pool", open_first_on_pool,
                is_opened}}},
    {.rounds = 1000,
     .steps = {{"parse " TRACEPOINTS, parse_tracepoints, NULL,
                .perf = "perf list '" TRACEPOINTS "'"},
               {NULL, free_list, NULL},
               {"parse " TRACEPOINTS, parse_tracepoints, NULL, .on_pool = 1},
               {NULL, free_list, NULL}}},
    {.rounds = 1000,
     .steps = {{"walk all names", walk_names, NULL, .perf = "perf list"},
               {"walk all names", walk_names, NULL, .on_pool = 1}}},
    {.rounds = 1000,
     .steps = {{NULL, name_uprobe, NULL},
               {"", parse_uprobe, NULL, .perf = "perf probe -x %s -F main"},
               {NULL, free_list, NULL},
               {"", parse_uprobe, NULL, .on_pool = 1},
               {NULL, free_list, NULL}}},
    {.rounds = 1000,
     .steps = {{"measure a call by a tracepoint", measure_call, NULL,
                .perf = "perf stat -e " CALL " true"},
               {NULL, make_meter, NULL},
               {"the same by a meter", measure_again, NULL},
               {NULL, free_meter, NULL}}},
    {.rounds = 1000,
     .steps = {{NULL, open_rings, NULL},
               {"snapshot of 2 rings of 1 MiB", take_snapshot, NULL},
               {"snapshot of 2 rings of 1 MiB, asynchronous", start_snapshot,
                is_taken},
               {NULL, close_set, is_closed}}},
    {.rounds = 7,
     .steps = {{NULL, make_threads, NULL},
               {"2,000 threads: open", open_threads, NULL,
                .perf = "perf stat -e page-faults -p %s true"},
               {"2,000 threads: start", enable, NULL},
               {"2,000 threads: one read", read_set, NULL},
               {"2,000 threads: start reading", start_reading, NULL},
               {"2,000 threads: a reading on the loop", do_nothing, has_read},
               {"2,000 threads: close", close_set, is_closed}}},
    {.rounds = 7,
     .steps = {{NULL, make_threads, NULL},
               {"2,000 threads: open and start, on the pool",
                open_threads_on_pool, is_opened},
               {"2,000 threads: close", close_set, is_closed}}},
    {.rounds = 3,
     .steps = {{"idle", do_nothing, has_asked, .asks = 1},
               {NULL, parse_tracepoints, NULL},
               {"open a set of " TRACEPOINTS, open_tracepoints, NULL,
                .perf = "perf stat -a -e '" TRACEPOINTS "' true"},
               {"close it", close_set, is_closed, .asks = 1}}},
    {.rounds = 3,
     .steps = {{NULL, parse_tracepoints, NULL},
               {"open a set of " TRACEPOINTS ", on the pool",
                open_tracepoints_on_pool, is_opened, .asks = 1},
               {NULL, close_set, is_closed}}},
};

static int run(bench_report_t *report) {
  size_t i;
  int rc = 0;

  if (geteuid() != 0) {
    bench_report_skip(report, "root");
    return 0;
  }
  if (!bench_has_files(FILES)) {
    bench_report_skip(report, "8,192 open files");
    return 0;
  }
  if (block_begin(report) != 0)
    return 1;
  for (i = 0; i < sizeof(operations) / sizeof(operations[0]) && rc == 0; i++)
    rc = block_measure(report, &operations[i]);
  block_end();
  return rc;
}

const bench_t bench_block = {
    "block", "how long the loop's thread is kept by what takes long", run};
