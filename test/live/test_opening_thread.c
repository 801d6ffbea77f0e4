/* SPDX-License-Identifier: MIT */
/* Live: a handle continues when the first thread of the process has ended, to
 * which the rings' own events belong. No test has a flush timer: records come
 * by wakeups only. A thread that opens a handle and ends is also in
 * test_life_opening.c. */
#include "live_bpf_reader.h"
#include "live_stream.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "host/mounts.h"

static void run_in_a_thread(void (*run)(void *), void *arg) {
  uv_thread_t thread;

  if (uv_thread_create(&thread, run, arg) != 0)
    abort();
  uv_thread_join(&thread);
}

/* -- a set of all CPUs ---------------------------------------------------- */

typedef struct follower_s {
  uv_loop_t *loop;
  live_plan_t plan;
  uvperf_set_t set;
  int code;       /* of the last call */
  uint64_t heard; /* COMM records of the thread that runs the loop */
  uint64_t faults;
  int closed;
} follower_t;

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  follower_t *follower = handle->data;

  if (record->type == UVPERF_RECORD_NONE)
    follower->faults += status != 0;
  else if (record->type == PERF_RECORD_COMM)
    follower->heard += record->comm.tid == live_tid();
}

static void open_set(void *arg) {
  follower_t *follower = arg;

  live_stream_plan(&follower->plan);
  live_stream_plan_comm(&follower->plan);
  live_plan_target(&follower->plan, UVPERF_TARGET_CPUS);
  follower->code = uvperf_set_init(follower->loop, &follower->set,
                                   &follower->plan.options, NULL);
  follower->set.handle.data = follower;
}

static int start_set(follower_t *follower) {
  return uvperf_start(&follower->set.handle, &live_stream_plain, on_record,
                      NULL);
}

/* On each CPU that it may use, so that each ring wakes. */
static void hear_itself(void *arg) {
  follower_t *follower = arg;
  uint64_t next = 0;
  int cpus[64];
  cpu_set_t old;
  size_t nr = live_cpus(cpus, 64);
  size_t i;

  for (i = 0; i < 2 * nr; i++) {
    live_pin(cpus[i % nr], &old);
    follower->heard = 0;
    live_comm(&next, 1);
    follower->code =
        live_run_until(follower->loop, &follower->heard, 1) ? 0 : UV_ETIMEDOUT;
    live_unpin(&old);
    if (follower->code != 0)
      return;
  }
}

static void on_close(uvperf_handle_t *handle) {
  ((follower_t *)handle->data)->closed = 1;
}

static int close_set(follower_t *follower) {
  uvperf_close(&follower->set.handle, on_close);
  while (uv_run(follower->loop, UV_RUN_DEFAULT) != 0)
    continue;
  return follower->closed ? 0 : 1;
}

static void set_of_cpus_goes_on_without_its_opening_thread(void **state) {
  follower_t follower = {0};

  support_need_cpu_wide(__func__);
  follower.loop = *state;
  run_in_a_thread(open_set, &follower);
  assert_int_equal(follower.code, 0);
  assert_int_equal(start_set(&follower), 0);
  hear_itself(&follower);
  assert_int_equal(follower.code, 0);
  assert_int_equal(follower.faults, 0);
  assert_int_equal(close_set(&follower), 0);
}

/* -- the first thread has ended ------------------------------------------- */

/* The rest is a process of its own, in which nothing may assert: it ends with a
 * code. */
typedef struct orphan_s {
  uv_loop_t loop;
  follower_t follower;
  int opens_late; /* when the first thread has ended */
  uv_thread_t thread;
} orphan_t;

static void wait_for_the_end_of_the_first_thread(void) {
  struct perf_event_attr attr;
  int fd;

  live_comm_attr(&attr);
  do {
    fd = (int)syscall(SYS_perf_event_open, &attr, getpid(), -1, -1,
                      PERF_FLAG_FD_CLOEXEC);
    if (fd >= 0)
      close(fd);
  } while (fd >= 0);
  if (errno != ESRCH)
    _exit(10);
}

/* Not pthread_exit: in a forked child it leaves the list of threads of musl
 * 1.2.3 locked. */
static void end_this_thread(void) {
  syscall(SYS_exit, 0);
}

/* Four threads run the loop one after the other. A spare belongs to the thread
 * that runs the loop, so the polled fd hangs up several times. */
static void follow_a_set(void *arg) {
  orphan_t *orphan = arg;
  follower_t *follower = &orphan->follower;
  int i;

  wait_for_the_end_of_the_first_thread();
  if (orphan->opens_late)
    run_in_a_thread(open_set, follower);
  if (follower->code != 0 || start_set(follower) != 0)
    _exit(2);
  for (i = 0; i < 4; i++) {
    run_in_a_thread(hear_itself, follower);
    if (follower->code != 0)
      _exit(3 + i);
  }
  if (follower->faults != 0 || close_set(follower) != 0)
    _exit(7);
  _exit(uv_loop_close(&orphan->loop) == 0 ? 0 : 8);
}

/* The first thread. */
static int be_orphan(void *arg) {
  orphan_t *orphan = arg;

  alarm(100); /* in case it hangs */
  if (uv_loop_init(&orphan->loop) != 0)
    return 1;
  orphan->follower.loop = &orphan->loop;
  if (!orphan->opens_late)
    open_set(&orphan->follower);
  if (uv_thread_create(&orphan->thread, follow_a_set, orphan) != 0)
    return 1;
  end_this_thread();
  return 1;
}

static void set_goes_on_without_the_first_thread(void **state) {
  static orphan_t orphan;

  support_need_cpu_wide(__func__);
  memset(&orphan, 0, sizeof(orphan));
  assert_int_equal(support_wait(support_fork(be_orphan, &orphan)), 0);
}

static void set_opened_without_the_first_thread_goes_on(void **state) {
  static orphan_t orphan;

  support_need_cpu_wide(__func__);
  memset(&orphan, 0, sizeof(orphan));
  orphan.opens_late = 1;
  assert_int_equal(support_wait(support_fork(be_orphan, &orphan)), 0);
}

/* -- a uprobe there ------------------------------------------------------- */

/* /proc/self has no fds then. */
static void probe_by_symbol(void *arg) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_event_list_t *events;
  uvperf_event_t event;
  uvperf_count_t count;
  uv_loop_t loop;

  wait_for_the_end_of_the_first_thread();
  if (uvperf_event_list_parse(&events, arg, NULL) != 0)
    _exit(1);
  if (uv_loop_init(&loop) != 0 ||
      uvperf_event_init(&loop, &event, uvperf_event_list_get(events, 0)->attr,
                        &options, NULL) != 0)
    _exit(2);
  uvperf_event_list_free(events);
  if (uvperf_enable(&event.handle, 0, NULL) != 0)
    _exit(3);
  live_called(1);
  if (uvperf_event_read(&event, &count, NULL) != 0 || count.value != 1)
    _exit(4);
  uvperf_close(&event.handle, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  _exit(uv_loop_close(&loop) == 0 ? 0 : 5);
}

typedef struct work_s {
  void (*run)(void *arg);
  void *arg;
} work_t;

static int be_working_orphan(void *arg) {
  const work_t *work = arg;
  uv_thread_t thread;

  alarm(100);
  if (uv_thread_create(&thread, work->run, work->arg) != 0)
    return 6;
  end_this_thread();
  return 1;
}

static void uprobe_by_symbol_needs_no_first_thread(void **state) {
  char path[512] = "", name[600];
  work_t work = {probe_by_symbol, name};

  support_need_uprobes(__func__);
  assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
  snprintf(name, sizeof(name), "uprobe/path=\"%s\",symbol=live_called/", path);
  assert_int_equal(support_wait(support_fork(be_working_orphan, &work)), 0);
}

/* -- mounts there --------------------------------------------------------- */

static int count_mount(const uvperf__mount_t *mount, void *arg) {
  *(int *)arg += 1;
  return 0;
}

/* /proc/self has no mounts then. */
static void find_mounts(void *arg) {
  int nr = 0;

  wait_for_the_end_of_the_first_thread();
  if (uvperf__mounts_each(count_mount, &nr) != 0)
    _exit(1);
  _exit(nr > 0 ? 0 : 2);
}

static void mounts_are_found_without_the_first_thread(void **state) {
  work_t work = {find_mounts, NULL};

  assert_int_equal(support_wait(support_fork(be_working_orphan, &work)), 0);
}

/* -- a BPF reader there --------------------------------------------------- */

typedef struct reader_orphan_s {
  uv_loop_t loop;
  live_bpf_reader_t *live;
} reader_orphan_t;

static void receive(void *arg) {
  reader_orphan_t *orphan = arg;
  live_bpf_reader_t *live = orphan->live;
  int i;

  wait_for_the_end_of_the_first_thread();
  for (i = 1; i <= 3; i++) {
    if (live_bpf_reader_send(live, 0, 24) != 0)
      _exit(3);
    if (!live_run_until(&orphan->loop, &live->samples, (uint64_t)i))
      _exit(4);
  }
  uvperf_close(&live->reader.handle, NULL);
  while (uv_run(&orphan->loop, UV_RUN_DEFAULT) != 0)
    continue;
  _exit(live->faults == 0 && uv_loop_close(&orphan->loop) == 0 ? 0 : 5);
}

static int be_reader_orphan(void *arg) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  reader_orphan_t *orphan = arg;
  live_bpf_reader_t *live = orphan->live;
  uv_thread_t thread;

  alarm(100);
  if (uv_loop_init(&orphan->loop) != 0 ||
      uvperf_bpf_reader_init(&orphan->loop, &live->reader, live->array,
                             &options, NULL) != 0)
    return 1;
  live->reader.handle.data = live;
  if (uvperf_start(&live->reader.handle, &live_bpf_reader_plain,
                   live_bpf_reader_on_sample, NULL) != 0 ||
      uv_thread_create(&thread, receive, orphan) != 0)
    return 2;
  end_this_thread();
  return 1;
}

static void reader_goes_on_without_the_first_thread(void **state) {
  static reader_orphan_t orphan;
  live_bpf_reader_t live;

  live_bpf_reader_make(__func__, &live, 0);
  orphan.live = &live;
  assert_int_equal(support_wait(support_fork(be_reader_orphan, &orphan)), 0);
  live_bpf_reader_unmake(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_of_cpus_goes_on_without_its_opening_thread),
      cmocka_unit_test(set_goes_on_without_the_first_thread),
      cmocka_unit_test(set_opened_without_the_first_thread_goes_on),
      cmocka_unit_test(uprobe_by_symbol_needs_no_first_thread),
      cmocka_unit_test(mounts_are_found_without_the_first_thread),
      cmocka_unit_test(reader_goes_on_without_the_first_thread),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
