/* SPDX-License-Identifier: MIT */
/* Live: the checks of go-perf's TestReadRecord, if no other test has them:
 * records of a child that exits at once, and samples in several loops at a
 * time. Switches of a CPU are in test_goperf_switch.c, and call chains in
 * test_goperf_registers.c. The whole list is in ORIGINS. */
#include "live_thread.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

/* -- Comm ----------------------------------------------------------------- */

#define NAME "commtest"

/* This process keeps only that end of the pipe which releases the child. */
typedef struct child_s {
  int go[2];
  int code;
  pid_t pid;
} child_t;

static int rename_and_exit(void *arg) {
  child_t *child = arg;
  char byte;

  close(child->go[1]);
  if (read(child->go[0], &byte, 1) != 0 || prctl(PR_SET_NAME, NAME) != 0)
    return 1;
  return child->code;
}

static int exit_when_released(void *arg) {
  child_t *child = arg;
  char byte;

  close(child->go[1]);
  return read(child->go[0], &byte, 1) == 0 ? child->code : 1;
}

static void child_fork(child_t *child, support_child_fn run) {
  assert_int_equal(pipe(child->go), 0);
  child->code = 42;
  child->pid = support_fork(run, child);
  close(child->go[0]);
}

static void child_end(child_t *child) {
  close(child->go[1]);
  assert_int_equal(support_wait(child->pid), 42);
}

/* EXIT has the process id of the real parent twice, whichever of the parent's
 * threads has forked: perf_event_task_output() in kernel/events/core.c. */
static void assert_exit(const uvperf_record_t *record, const child_t *child) {
  assert_int_equal(record->type, PERF_RECORD_EXIT);
  assert_int_equal(record->task.pid, child->pid);
  assert_int_equal(record->task.tid, child->pid);
  assert_int_equal(record->task.ppid, getpid());
  assert_int_equal(record->task.ptid, getpid());
  assert_int_equal(record->pid, child->pid);
  assert_int_equal(record->tid, child->pid);
}

/* An event with `comm` gets the EXIT of its task, too. */
static void check_comm(live_collector_t *collector,
                       const uvperf_record_t *record) {
  const child_t *child = collector->hook_data;

  if (collector->records > 0) {
    assert_exit(record, child);
    return;
  }
  assert_int_equal(record->type, PERF_RECORD_COMM);
  assert_int_equal(record->comm.pid, child->pid);
  assert_int_equal(record->comm.tid, child->pid);
  assert_string_equal(record->comm.comm, NAME);
  assert_int_equal(uvperf_record_is_exec(record), 0);
  assert_int_equal(record->pid, child->pid);
  assert_int_equal(record->tid, child->pid);
}

static void open_child(uv_loop_t *loop, live_collector_t *collector,
                       struct perf_event_attr *attr, child_t *child,
                       void (*check)(live_collector_t *,
                                     const uvperf_record_t *)) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  options.pid = child->pid;
  live_init(loop, collector, attr, &options);
  collector->hook = check;
  collector->hook_data = child;
  live_start(collector, NULL);
}

static void assert_ended(live_collector_t *collector, uint64_t records) {
  assert_true(
      live_run_until(collector->event.handle.loop, &collector->ends, 1));
  assert_int_equal(collector->records, records);
  assert_int_equal(collector->end_status, UV_EOF);
  assert_int_equal(collector->after_end, 0);
  live_close(collector);
}

static void take_comm(uv_loop_t *loop, struct perf_event_attr *attr,
                      int is_waiting) {
  live_collector_t collector;
  child_t child;

  child_fork(&child, rename_and_exit);
  open_child(loop, &collector, attr, &child, check_comm);
  if (is_waiting)
    live_run_ms(loop, 2);
  child_end(&child);
  assert_ended(&collector, 2);
}

/* go-perf TestReadRecord/Comm, which go-perf skips as flaky. Its child had to
 * wait until it was seen: a child that exits at once hangs up first, and a
 * wakeup per sample never reports a COMM. Here the child exits at once, and
 * both kinds of wakeup deliver the record, without a flush timer. */
static void record_comm_of_a_child_that_exits_at_once_comes(void **state) {
  struct perf_event_attr attr;
  int i;

  support_need_own_events(__func__);
  for (i = 0; i < 20; i++) {
    live_comm_attr(&attr);
    attr.comm_exec = 1;
    if (i % 2)
      uvperf_attr_set_wakeup_events(&attr, 1);
    take_comm(*state, &attr, i & 2);
  }
}

/* -- Exit ----------------------------------------------------------------- */

static void check_exit(live_collector_t *collector,
                       const uvperf_record_t *record) {
  assert_exit(record, collector->hook_data);
}

static void task_attr(struct perf_event_attr *attr) {
  live_comm_attr(attr);
  attr->comm = 0;
  attr->task = 1;
}

static void fork_in_thread(void *arg) {
  child_fork(arg, exit_when_released);
}

/* go-perf TestReadRecord/Exit, for a child of this thread and a child of
 * another thread. go-perf does not check the parent. */
static void record_exit_names_the_child_and_its_parents_process(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  live_thread_t thread;
  child_t child;
  int i;

  support_need_own_events(__func__);
  for (i = 0; i < 2; i++) {
    live_thread_start(&thread, fork_in_thread, &child);
    if (i == 0)
      child_fork(&child, exit_when_released);
    else
      live_thread_do(&thread);
    task_attr(&attr);
    open_child(*state, &collector, &attr, &child, check_exit);
    child_end(&child);
    assert_ended(&collector, 1);
    live_thread_end(&thread);
  }
}

/* -- SampleGetpid --------------------------------------------------------- */

typedef struct who_s {
  uint32_t tid;
} who_t;

static void check_who(live_collector_t *collector,
                      const uvperf_record_t *record) {
  const who_t *who = collector->hook_data;

  assert_int_equal(record->type, PERF_RECORD_SAMPLE);
  assert_int_equal(record->pid, getpid());
  assert_int_equal(record->tid, who->tid);
}

/* go-perf TestReadRecord/SampleGetpid: one call is a count of 1 and one
 * sample. */
static void record_of_one_system_call_names_who_made_it(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_count_t count;
  who_t who;
  uint64_t id;

  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  who.tid = live_tid();
  live_syscall_attr(&attr, id, PERF_SAMPLE_TID);
  live_begin(*state, &collector, &attr, NULL, check_who, &who);
  live_syscall(1);
  assert_int_equal(uvperf_event_read(&collector.event, &count, NULL), 0);
  assert_int_equal(count.value, 1);
  live_end(&collector, 1);
}

/* -- SampleGetpidConcurrent ----------------------------------------------- */

#define PAIRS 3
#define TRIPS 6

/* A thread that makes calls, and a thread whose loop reads the records of these
 * calls. Both wait for each other in each trip. */
typedef struct pair_s {
  uint64_t tracepoint;
  live_thread_t caller;
  uv_thread_t reader;
  uv_sem_t seen;
  uvperf_event_t event;
  uv_timer_t guard;
  uint64_t samples;
  uint64_t strangers; /* records of other threads, or missing ones */
  uint64_t count;
  int failed;
} pair_t;

static void call_and_wait(void *arg) {
  pair_t *pair = arg;
  int i;

  for (i = 0; i < TRIPS; i++) {
    live_syscall(1);
    uv_sem_wait(&pair->seen);
  }
}

/* Ends a wait for something that will not come. */
static void on_guard(uv_timer_t *timer) {
  pair_t *pair = timer->data;
  int i;

  pair->failed = 1;
  for (i = 0; i < TRIPS; i++)
    uv_sem_post(&pair->seen);
  uv_stop(timer->loop);
}

static void on_trip(uvperf_handle_t *handle, int status,
                    const uvperf_record_t *record) {
  pair_t *pair = handle->data;

  if (status == 0 && record->type == PERF_RECORD_SAMPLE &&
      record->tid == pair->caller.tid)
    pair->samples += 1;
  else
    pair->strangers += 1;
  uv_sem_post(&pair->seen);
  if (pair->samples == TRIPS)
    uv_stop(handle->loop);
}

static int read_pair(pair_t *pair, uv_loop_t *loop) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_stream_options_t stream = UVPERF_STREAM_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_count_t count;
  int rc;

  options.pid = (int32_t)pair->caller.tid;
  live_syscall_attr(&attr, pair->tracepoint, PERF_SAMPLE_TID);
  uvperf_attr_set_wakeup_events(&attr, 1);
  rc = uvperf_event_init(loop, &pair->event, &attr, &options, NULL);
  if (rc != 0)
    return rc;
  pair->event.handle.data = pair;
  stream.flush_ms = -1;
  rc = uvperf_start(&pair->event.handle, &stream, on_trip, NULL);
  live_thread_go(&pair->caller);
  uv_run(loop, UV_RUN_DEFAULT);
  live_thread_wait(&pair->caller);
  if (rc == 0)
    rc = uvperf_event_read(&pair->event, &count, NULL);
  if (rc == 0)
    pair->count = count.value;
  uvperf_close(&pair->event.handle, NULL);
  return rc;
}

/* A thread with a loop of its own. */
static void run_pair(void *arg) {
  pair_t *pair = arg;
  uv_loop_t loop;

  if (uv_loop_init(&loop) != 0)
    abort();
  uv_timer_init(&loop, &pair->guard);
  pair->guard.data = pair;
  uv_timer_start(&pair->guard, on_guard, 20000, 0);
  if (read_pair(pair, &loop) != 0)
    pair->failed = 1;
  uv_close((uv_handle_t *)&pair->guard, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  if (uv_loop_close(&loop) != 0)
    pair->failed = 1;
}

static void start_pair(pair_t *pair, uint64_t tracepoint) {
  memset(pair, 0, sizeof(*pair));
  pair->tracepoint = tracepoint;
  uv_sem_init(&pair->seen, 0);
  live_thread_start(&pair->caller, call_and_wait, pair);
  assert_int_equal(uv_thread_create(&pair->reader, run_pair, pair), 0);
}

static void end_pair(pair_t *pair) {
  uv_thread_join(&pair->reader);
  live_thread_end(&pair->caller);
  uv_sem_destroy(&pair->seen);
  assert_int_equal(pair->failed, 0);
  assert_int_equal(pair->samples, TRIPS);
  assert_int_equal(pair->strangers, 0);
  assert_int_equal(pair->count, TRIPS);
}

/* go-perf TestReadRecord/SampleGetpidConcurrent: six round trips, in three
 * loops at a time. Each wakeup must come, or that trip is the last. */
static void record_round_trips_in_several_loops_are_all_seen(void **state) {
  pair_t pairs[PAIRS];
  uint64_t id;
  int i;

  (void)state;
  id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  for (i = 0; i < PAIRS; i++)
    start_pair(&pairs[i], id);
  for (i = 0; i < PAIRS; i++)
    end_pair(&pairs[i]);
}

/* -- ExampleMmapRecord_plugin --------------------------------------------- */

/* Maps this program's file as a plug-in is mapped. */
static void map_self(void *arg) {
  void **address = arg;
  int fd;

  fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  *address = mmap(NULL, support_page_bytes(), PROT_READ | PROT_EXEC,
                  MAP_PRIVATE, fd, 0);
  close(fd);
}

/* The child has written its address of the mapping into shared memory. */
static void check_plugin(live_collector_t *collector,
                         const uvperf_record_t *record) {
  void *const *shared = collector->hook_data;
  char path[256];
  ssize_t size;

  size = readlink("/proc/self/exe", path, sizeof(path) - 1);
  assert_in_range(size, 1, sizeof(path) - 1);
  path[size] = '\0';
  assert_int_equal(record->type, PERF_RECORD_MMAP);
  assert_true(record->mmap.addr == (uintptr_t)*shared);
  assert_int_equal(record->mmap.len, support_page_bytes());
  assert_string_equal(record->mmap.filename, path);
}

/* go-perf ExampleMmapRecord_plugin: a monitor waits for the mappings of a
 * process that lives on. Each record comes when the mapping is made, without a
 * flush timer. */
static void record_mmap_of_a_living_child_comes_at_once(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  live_worker_t worker;
  void **shared;
  uint64_t nr;

  support_need_own_events(__func__);
  shared = mmap(NULL, support_page_bytes(), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_ptr_not_equal(shared, MAP_FAILED);
  live_worker_fork(&worker, map_self, shared);
  live_comm_attr(&attr);
  attr.comm = 0;
  attr.mmap = 1;
  options.pid = worker.pid;
  live_init(*state, &collector, &attr, &options);
  collector.hook = check_plugin;
  collector.hook_data = shared;
  live_start(&collector, NULL);
  live_run_ms(*state, 2);
  for (nr = 1; nr <= 3; nr++) {
    live_worker_do(&worker);
    assert_true(live_run_until(*state, &collector.records, nr));
  }
  live_run_ms(*state, 5);
  assert_int_equal(collector.records, 3);
  live_close(&collector);
  live_worker_end(&worker);
  assert_int_equal(munmap(shared, support_page_bytes()), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(record_comm_of_a_child_that_exits_at_once_comes),
      support_loop_test(record_exit_names_the_child_and_its_parents_process),
      support_loop_test(record_of_one_system_call_names_who_made_it),
      support_loop_test(record_round_trips_in_several_loops_are_all_seen),
      support_loop_test(record_mmap_of_a_living_child_comes_at_once),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
