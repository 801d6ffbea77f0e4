/* SPDX-License-Identifier: MIT */
/* Live: events and sets that are opened on libuv's thread pool, which has one
 * thread here, count and record as if opened by init. */
#include "live_set.h"

#include <stdlib.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "live_busy_pool.h"
#include "live_thread.h"

typedef struct opened_s {
  live_set_t live; /* first: the set's `data` is both */
  live_collector_t collector;
  uint64_t opened;
  int status;
  uvperf_error_t error;
} opened_t;

static void note(opened_t *opened, int status, const uvperf_error_t *error) {
  opened->opened += 1;
  opened->status = status;
  if (error != NULL)
    opened->error = *error;
}

static void on_set_open(uvperf_handle_t *base, int status,
                        const uvperf_error_t *error) {
  note(base->data, status, error);
}

static void on_event_open(uvperf_handle_t *base, int status,
                          const uvperf_error_t *error) {
  live_collector_t *collector = base->data;

  note(collector->hook_data, status, error);
}

static void begin_set(uv_loop_t *loop, opened_t *opened, live_plan_t *plan) {
  memset(opened, 0, sizeof(*opened));
  opened->live.set.handle.data = opened;
  assert_int_equal(uvperf_reading_new(&opened->live.reading), 0);
  plan->options.open_cb = on_set_open;
  assert_int_equal(
      uvperf_set_init(loop, &opened->live.set, &plan->options, &opened->error),
      0);
}

static void open_set(uv_loop_t *loop, opened_t *opened, live_plan_t *plan) {
  begin_set(loop, opened, plan);
  assert_true(live_run_until(loop, &opened->opened, 1));
  assert_int_equal(opened->status, 0);
}

static void begin_event(uv_loop_t *loop, opened_t *opened,
                        const struct perf_event_attr *attr) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;

  options.open_cb = on_event_open;
  memset(opened, 0, sizeof(*opened));
  opened->collector.event.handle.data = &opened->collector;
  opened->collector.hook_data = opened;
  assert_int_equal(uvperf_event_init(loop, &opened->collector.event, attr,
                                     &options, &opened->error),
                   0);
}

/* -- counts and records ---------------------------------------------------- */

/* SELF is the thread that asked, not that which opens. */
static void set_opened_on_the_pool_counts_the_calling_thread(void **state) {
  opened_t opened;
  live_plan_t plan;

  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(__func__, LIVE_SYSCALL));
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  plan.options.flags |= UVPERF_SET_ENABLED;
  begin_set(*state, &opened, &plan);
  memset(&plan, 0x5a, sizeof(plan)); /* it was copied */
  assert_true(live_run_until(*state, &opened.opened, 1));
  assert_int_equal(opened.status, 0);
  assert_int_equal(uvperf_reset(&opened.live.set.handle, UVPERF_ALL, NULL), 0);
  live_syscall(1000);
  assert_int_equal(live_set_read(&opened.live, 0).value, 1000);
  assert_int_equal(uvperf_disable(&opened.live.set.handle, UVPERF_ALL, NULL),
                   0);
  live_syscall(10);
  assert_int_equal(live_set_read(&opened.live, 0).value, 1000);
  live_set_close(&opened.live);
}

static void event_opened_on_the_pool_records_the_calling_thread(void **state) {
  struct perf_event_attr attr;
  uint64_t next = 0;
  opened_t opened;

  support_need_own_events(__func__);
  live_comm_attr(&attr);
  begin_event(*state, &opened, &attr);
  memset(&attr, 0x5a, sizeof(attr));
  assert_true(live_run_until(*state, &opened.opened, 1));
  assert_int_equal(opened.status, 0);
  live_start(&opened.collector, NULL);
  live_comm(&next, 100);
  assert_true(live_run_until(*state, &opened.collector.comms, 100));
  live_close(&opened.collector);
  assert_int_equal(opened.collector.records, 100);
}

static void count_samples(uvperf_handle_t *handle, int status,
                          const uvperf_record_t *record) {
  opened_t *opened = handle->data;

  if (status == 0 && record->type == PERF_RECORD_SAMPLE)
    opened->opened += 1;
}

/* The rings existed and were written before they were read. */
static void set_enabled_while_it_is_opened_keeps_records(void **state) {
  opened_t opened;
  live_plan_t plan;

  support_need_cpu_wide(__func__);
  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(__func__, LIVE_SYSCALL));
  plan.attrs[0].sample_period = 1;
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  plan.options.flags |=
      UVPERF_SET_ENABLED | UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER;
  open_set(*state, &opened, &plan);
  live_syscall(50);
  opened.opened = 0;
  assert_int_equal(
      uvperf_start(&opened.live.set.handle, NULL, count_samples, NULL), 0);
  assert_true(live_run_until(*state, &opened.opened, 50));
  live_set_close(&opened.live);
}

static void set_that_cannot_be_opened_says_why_on_the_loop(void **state) {
  size_t fds = support_count_fds();
  opened_t opened;
  live_plan_t plan;

  support_need_own_events(__func__);
  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_DUMMY);
  plan.attrs[0].type = 4242;
  plan.attrs[0].exclude_kernel = 1;
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  begin_set(*state, &opened, &plan);
  assert_true(live_run_until(*state, &opened.opened, 1));
  assert_int_equal(opened.status, UV_ENOENT);
  assert_int_equal(opened.error.cause, UVPERF_CAUSE_NO_EVENT);
  assert_int_equal(uvperf_enable(&opened.live.set.handle, UVPERF_ALL, NULL),
                   UV_EBADF);
  live_set_close(&opened.live);
  assert_int_equal(support_count_fds(), fds);
}

/* -- a pool that is busy --------------------------------------------------- */

static void walk(uv_handle_t *handle, void *arg) {
  uvperf_walk_close(handle);
}

static void plan_own(live_plan_t *plan) {
  live_plan_begin(plan);
  live_plan_software(plan, PERF_COUNT_SW_PAGE_FAULTS);
  plan->attrs[0].exclude_kernel = 1;
  live_plan_target(plan, UVPERF_TARGET_SELF);
}

/* The loop is stopped, run again and walked while nothing can be opened. */
static void handles_closed_before_the_pool_is_free_are_canceled(void **state) {
  size_t fds = support_count_fds();
  struct perf_event_attr attr;
  opened_t set, event;
  live_plan_t plan;
  live_busy_pool_t busy;

  support_need_own_events(__func__);
  plan_own(&plan);
  live_comm_attr(&attr);
  live_busy_pool_begin(&busy, *state);
  begin_set(*state, &set, &plan);
  begin_event(*state, &event, &attr);
  uv_stop(*state);
  live_run_ms(*state, 20);
  assert_int_equal(set.opened + event.opened, 0);
  assert_int_equal(uv_loop_close(*state), UV_EBUSY);
  uv_walk(*state, walk, NULL);
  live_run_ms(*state, 5);
  assert_int_equal(uvperf_is_closing(&set.live.set.handle), 1);
  live_busy_pool_end(&busy);
  assert_true(live_run_until(*state, &event.opened, 1));
  assert_int_equal(set.status, UV_ECANCELED);
  assert_int_equal(event.status, UV_ECANCELED);
  live_set_close(&set.live);
  uvperf_close(&event.collector.event.handle, NULL);
  live_run_ms(*state, 5);
  assert_int_equal(support_count_fds(), fds);
}

static void on_target(uvperf_set_t *set, int status, void *data, uint32_t index,
                      const uvperf_error_t *error) {
  note(data, status, error);
  assert_int_equal(index, 0);
}

static void target_removed_before_the_pool_is_free_is_canceled(void **state) {
  uvperf_target_t target = UVPERF_TARGET_INIT;
  uint32_t index = 99;
  live_plan_t plan;
  live_busy_pool_t busy;
  opened_t opened;
  size_t fds;

  memset(&opened, 0, sizeof(opened));
  live_plan_begin(&plan);
  live_plan_syscall(&plan, support_need_tracepoint(__func__, LIVE_SYSCALL));
  live_set_begin(*state, &opened.live, &plan.options);
  fds = support_count_fds();
  live_busy_pool_begin(&busy, *state);
  target.data = &opened;
  assert_int_equal(
      uvperf_set_add(&opened.live.set, &target, on_target, &index, NULL), 0);
  assert_int_equal(index, 0);
  assert_int_equal(uvperf_set_remove(&opened.live.set, 0, NULL, NULL), 0);
  live_run_ms(*state, 5);
  assert_int_equal(opened.opened, 0);
  live_busy_pool_end(&busy);
  assert_true(live_run_until(*state, &opened.opened, 1));
  assert_int_equal(opened.status, UV_ECANCELED);
  assert_int_equal(support_count_fds(), fds);
  assert_int_equal(
      uvperf_set_add(&opened.live.set, &target, NULL, &index, NULL), 0);
  assert_int_equal(index, 1);
  live_syscall(3);
  assert_int_equal(live_set_read(&opened.live, 0).value, 3);
  live_set_close(&opened.live);
}

/* -- closing at any moment ------------------------------------------------- */

#define THREADS 100

static void on_gone(uv_timer_t *timer) {
  opened_t *opened = timer->data;

  uvperf_close(&opened->live.set.handle, live_set_on_close);
  uv_close((uv_handle_t *)timer, NULL);
}

static void stand_still(void *arg) {
}

/* A set of many events, closed by a timer a little later each time. */
static void set_closed_while_threads_are_opened_leaves_no_fd(void **state) {
  static live_thread_t threads[THREADS];
  uint64_t canceled = 0, opened_all = 0;
  size_t i, fds;
  live_plan_t plan;

  support_need_own_events(__func__);
  for (i = 0; i < THREADS; i++)
    live_thread_start(&threads[i], stand_still, NULL);
  fds = support_count_fds();
  plan_own(&plan);
  plan.targets[0].type = UVPERF_TARGET_PROCESS;
  plan.targets[0].pid = getpid();
  for (i = 0; i < 40; i++) {
    opened_t opened;
    uv_timer_t timer;

    begin_set(*state, &opened, &plan);
    uv_timer_init(*state, &timer);
    timer.data = &opened;
    uv_timer_start(&timer, on_gone, i / 4, 0);
    while (!opened.live.closed)
      uv_run(*state, UV_RUN_ONCE);
    live_set_wait_closed(&opened.live);
    assert_int_equal(opened.opened, 1);
    canceled += opened.status == UV_ECANCELED;
    opened_all += opened.status == 0;
    assert_int_equal(canceled + opened_all, i + 1);
    assert_int_equal(support_count_fds(), fds);
  }
  assert_true(canceled > 0);
  for (i = 0; i < THREADS; i++)
    live_thread_end(&threads[i]);
}

/* -- fork ------------------------------------------------------------------ */

static int use_another(void *arg) {
  uv_loop_t *loop = arg;
  opened_t opened;
  live_plan_t plan;

  if (uv_loop_fork(loop) != 0)
    return 1;
  plan_own(&plan);
  open_set(loop, &opened, &plan);
  live_set_close(&opened.live);
  return uv_loop_close(loop) == UV_EBUSY ? 0 : 2;
}

static void child_forked_while_a_set_is_opened_opens_another(void **state) {
  opened_t opened;
  live_plan_t plan;
  live_busy_pool_t busy;
  pid_t child;

  support_need_own_events(__func__);
  plan_own(&plan);
  live_busy_pool_begin(&busy, *state);
  begin_set(*state, &opened, &plan);
  child = support_fork(use_another, *state);
  assert_int_equal(support_wait(child), 0);
  assert_int_equal(opened.opened, 0);
  live_busy_pool_end(&busy);
  assert_true(live_run_until(*state, &opened.opened, 1));
  assert_int_equal(opened.status, 0);
  live_set_close(&opened.live);
}

/* -- a process without threads --------------------------------------------- */

/* No thread can be made from now on: libuv would call abort(3). */
static int forbid_threads(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAGAIN),
  };
  const struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]),
                                     filter};

  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return errno;
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 ? 0 : errno;
}

static int do_without_threads(void *arg) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uint64_t id = *(const uint64_t *)arg;
  struct perf_event_attr attr;
  live_plan_t plan;
  live_set_t live;
  uv_loop_t loop;
  opened_t opened;
  int rc;

  if (forbid_threads() != 0 || uv_loop_init(&loop) != 0)
    return 1;
  memset(&opened, 0, sizeof(opened));
  live_comm_attr(&attr);
  options.open_cb = on_event_open;
  rc = uvperf_event_init(&loop, &opened.collector.event, &attr, &options,
                         &opened.error);
  if (rc != UV_EAGAIN || opened.error.cause != UVPERF_CAUSE_MEMORY)
    return 2;
  live_plan_begin(&plan);
  live_plan_syscall(&plan, id);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  plan.options.open_cb = on_set_open;
  rc = uvperf_set_init(&loop, &opened.live.set, &plan.options, &opened.error);
  if (rc != UV_EAGAIN || opened.error.cause != UVPERF_CAUSE_MEMORY)
    return 3;
  plan.options.open_cb = NULL;
  /* A tracepoint, which the pool would close. */
  live_set_begin(&loop, &live, &plan.options);
  live_set_close(&live);
  while (uv_run(&loop, UV_RUN_NOWAIT) != 0)
    continue;
  return uv_loop_close(&loop) == 0 ? 0 : 4;
}

static void process_that_may_make_no_threads_does_without(void **state) {
  uint64_t id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  pid_t child;

  child = support_fork(do_without_threads, &id);
  assert_int_equal(support_wait(child), 0);
}

/* The user may have another thread, but not as many as libuv makes. */
#define UNUSED_UID 54321
#define MOST_TASKS 2

static int do_with_few_threads(void *arg) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  const struct rlimit limit = {MOST_TASKS, MOST_TASKS};
  struct perf_event_attr attr;
  opened_t opened;
  uv_loop_t loop;

  alarm(60); /* instead of waiting for ever */
  if (setresuid(UNUSED_UID, UNUSED_UID, UNUSED_UID) != 0 ||
      setrlimit(RLIMIT_NPROC, &limit) != 0 || uv_loop_init(&loop) != 0)
    return 1;
  memset(&opened, 0, sizeof(opened));
  opened.collector.event.handle.data = &opened.collector;
  opened.collector.hook_data = &opened;
  live_comm_attr(&attr);
  options.open_cb = on_event_open;
  setenv("UV_THREADPOOL_SIZE", "4", 1);
  if (uvperf_event_init(&loop, &opened.collector.event, &attr, &options,
                        &opened.error) != 0)
    return 2;
  if (opened.opened != 0 || uv_run(&loop, UV_RUN_DEFAULT) != 0 ||
      opened.opened != 1 || opened.status != 0)
    return 3;
  uvperf_close(&opened.collector.event.handle, NULL);
  return uv_run(&loop, UV_RUN_DEFAULT) == 0 && uv_loop_close(&loop) == 0 ? 0
                                                                         : 4;
}

static void process_that_may_make_few_threads_opens_on_the_loop(void **state) {
  support_need_own_events(__func__);
  support_need_root(__func__);
  assert_int_equal(support_wait(support_fork(do_with_few_threads, NULL)), 0);
}

/* Threads are being made. This test is the first: libuv calls abort(3) at the
 * end of a child whose parent has a pool. */
static int exit_at_once(void *arg) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  static uvperf_event_t event;
  static opened_t opened;
  struct perf_event_attr attr;
  static uv_loop_t loop;

  alarm(60);
  setenv("UV_THREADPOOL_SIZE", "1024", 1);
  if (uv_loop_init(&loop) != 0)
    return 1;
  live_comm_attr(&attr);
  options.open_cb = on_event_open;
  opened.collector.hook_data = &opened;
  event.handle.data = &opened.collector;
  if (uvperf_event_init(&loop, &event, &attr, &options, NULL) != 0)
    return 2;
  exit(0);
}

static void process_that_exits_while_the_pool_is_tried_ends(void **state) {
  int i;

  support_need_own_events(__func__);
  for (i = 0; i < 3; i++)
    assert_int_equal(support_wait(support_fork(exit_at_once, NULL)), 0);
}

/* -- a child of clone(2) --------------------------------------------------- */

static int opened_at_once(void *arg) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  const struct perf_event_attr *attr = arg;
  uvperf_event_t event;
  uvperf_error_t error;
  uv_loop_t loop;

  alarm(60); /* instead of waiting for ever */
  options.open_cb = on_event_open;
  if (uv_loop_init(&loop) != 0 ||
      uvperf_event_init(&loop, &event, attr, &options, &error) != UV_ENOTSUP ||
      error.code != UV_ENOTSUP)
    return 1;
  if (uvperf_event_init(&loop, &event, attr, NULL, NULL) != 0)
    return 2;
  uvperf_close(&event.handle, NULL);
  return uv_run(&loop, UV_RUN_DEFAULT) == 0 && uv_loop_close(&loop) == 0 ? 0
                                                                         : 3;
}

/* The C library knows the right id of this thread. */
static void *open_on_thread(void *arg) {
  return opened_at_once(arg) == 0 ? arg : NULL;
}

static int opened_at_once_on_a_thread(void *arg) {
  pthread_t thread;
  void *result = NULL;

  return pthread_create(&thread, NULL, open_on_thread, arg) == 0 &&
                 pthread_join(thread, &result) == 0 && result == arg
             ? 0
             : 1;
}

/* The parent's pool has threads, and libuv does not know that the child has
 * none. A tracepoint is normally closed by the pool. */
static void cloned_child_does_without_the_pool(void **state) {
  struct perf_event_attr attr;
  opened_t opened;

  uvperf_attr_tracepoint(&attr,
                         support_need_tracepoint(__func__, LIVE_SYSCALL));
  begin_event(*state, &opened, &attr);
  assert_true(live_run_until(*state, &opened.opened, 1));
  assert_int_equal(opened.status, 0);
  assert_int_equal(support_wait(support_clone(opened_at_once, &attr)), 0);
  assert_int_equal(
      support_wait(support_clone(opened_at_once_on_a_thread, &attr)), 0);
  live_close(&opened.collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(process_that_exits_while_the_pool_is_tried_ends),
      support_loop_test(set_opened_on_the_pool_counts_the_calling_thread),
      support_loop_test(event_opened_on_the_pool_records_the_calling_thread),
      support_loop_test(set_enabled_while_it_is_opened_keeps_records),
      support_loop_test(set_that_cannot_be_opened_says_why_on_the_loop),
      support_loop_test(handles_closed_before_the_pool_is_free_are_canceled),
      support_loop_test(target_removed_before_the_pool_is_free_is_canceled),
      support_loop_test(set_closed_while_threads_are_opened_leaves_no_fd),
      support_loop_test(child_forked_while_a_set_is_opened_opens_another),
      cmocka_unit_test(process_that_may_make_no_threads_does_without),
      cmocka_unit_test(process_that_may_make_few_threads_opens_on_the_loop),
      support_loop_test(cloned_child_does_without_the_pool),
  };

  setenv("UV_THREADPOOL_SIZE", "1", 1);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
