/* SPDX-License-Identifier: MIT */
/* Live: an options.open that does not return holds up nothing but the handle
 * that is being opened, and that not for ever. */
#include "live_set.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "loop/handle.h"

#define LIMIT_MS 20

/* What options.open does. */
typedef struct hook_s {
  uv_sem_t begun; /* posted when it is called */
  uv_sem_t go;    /* it waits for this, unless takes_ns is set */
  uint64_t takes_ns;
  int ends_when_late; /* it waits until the call is given up, no longer */
  _Atomic(uvperf__calls_t *) given_up;
  atomic_uint calls;
} hook_t;

/* An event or a set that is opened on the pool. */
typedef struct opened_s {
  uvperf_event_t event;
  uvperf_set_t set;
  uvperf_handle_t *handle; /* of one of them */
  live_plan_t plan;
  hook_t hook;
  uint64_t opened; /* calls of the callback */
  int status;
  int cause;
  uint64_t closed;
} opened_t;

static void wait_until_late(hook_t *hook) {
  uvperf__calls_t *calls;

  do
    calls = atomic_load(&hook->given_up);
  while (calls == NULL);
  while (atomic_load(&calls->began_ms) & 1) /* a time */
    continue;
}

static int hang(const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
                int group_fd, unsigned long flags, void *arg) {
  hook_t *hook = arg;
  uint64_t end = uv_hrtime() + hook->takes_ns;

  atomic_fetch_add(&hook->calls, 1);
  uv_sem_post(&hook->begun);
  if (hook->ends_when_late)
    wait_until_late(hook);
  else if (hook->takes_ns == 0)
    uv_sem_wait(&hook->go);
  while (uv_hrtime() < end)
    continue;
  return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group_fd, flags);
}

static void on_open(uvperf_handle_t *handle, int status,
                    const uvperf_error_t *error) {
  opened_t *opened = handle->data;

  assert_int_equal(opened->closed, 0);
  opened->opened += 1;
  opened->status = status;
  opened->cause = error == NULL ? 0 : (int)error->cause;
}

static void on_close(uvperf_handle_t *handle) {
  ((opened_t *)handle->data)->closed += 1;
}

static void begin_event(uv_loop_t *loop, opened_t *opened,
                        uint32_t timeout_ms) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;

  live_comm_attr(&attr);
  options.open = hang;
  options.open_arg = &opened->hook;
  options.open_timeout_ms = timeout_ms;
  options.open_cb = on_open;
  opened->handle = &opened->event.handle;
  opened->handle->data = opened;
  assert_int_equal(
      uvperf_event_init(loop, &opened->event, &attr, &options, NULL), 0);
}

static void begin_set(uv_loop_t *loop, opened_t *opened, uint32_t timeout_ms) {
  live_plan_begin(&opened->plan);
  live_plan_software(&opened->plan, PERF_COUNT_SW_PAGE_FAULTS);
  opened->plan.attrs[0].exclude_kernel = 1;
  live_plan_target(&opened->plan, UVPERF_TARGET_SELF);
  opened->plan.options.open = hang;
  opened->plan.options.open_arg = &opened->hook;
  opened->plan.options.open_timeout_ms = timeout_ms;
  opened->plan.options.open_cb = on_open;
  opened->handle = &opened->set.handle;
  opened->handle->data = opened;
  assert_int_equal(
      uvperf_set_init(loop, &opened->set, &opened->plan.options, NULL), 0);
}

static void (*const begin[])(uv_loop_t *loop, opened_t *opened,
                             uint32_t timeout_ms) = {begin_event, begin_set};

static void prepare(opened_t *opened, uint64_t takes_ns) {
  memset(opened, 0, sizeof(*opened));
  assert_int_equal(uv_sem_init(&opened->hook.begun, 0), 0);
  assert_int_equal(uv_sem_init(&opened->hook.go, 0), 0);
  opened->hook.takes_ns = takes_ns;
}

/* The first job of a process begins when the pool exists. */
static void wait_until_begun(uv_loop_t *loop, opened_t *opened) {
  while (uv_sem_trywait(&opened->hook.begun) != 0)
    uv_run(loop, UV_RUN_NOWAIT);
}

/* Its function hangs. */
static void begin_hanging(uv_loop_t *loop, opened_t *opened, size_t kind) {
  prepare(opened, 0);
  begin[kind](loop, opened, LIMIT_MS);
  wait_until_begun(loop, opened);
}

/* The function returns, and all that is left on the loop ends. */
static void end_hanging(uv_loop_t *loop, opened_t *opened) {
  assert_int_equal(opened->closed, 1);
  assert_int_equal(opened->opened, 1);
  assert_int_equal(uv_loop_close(loop), UV_EBUSY);
  uv_sem_post(&opened->hook.go);
  while (uv_run(loop, UV_RUN_ONCE) != 0)
    continue;
  assert_int_equal(opened->hook.calls, 1);
}

/* UV_RUN_ONCE, as in live_run_until, would wait for the call after the callback
 * of a timer. */
static int run_until(uv_loop_t *loop, const uint64_t *counter) {
  uint64_t end = live_now() + UINT64_C(20000000000);

  while (*counter == 0 && live_now() < end)
    live_run_ms(loop, 1);
  return *counter == 1;
}

static void close_opened(uv_loop_t *loop, opened_t *opened) {
  uvperf_close(opened->handle, on_close);
  assert_true(run_until(loop, &opened->closed));
}

/* -- others ---------------------------------------------------------------- */

static uint64_t nr_snapped;

static void on_snapped(uvperf_handle_t *handle, int status) {
  assert_int_equal(status, 0);
  nr_snapped += 1;
}

/* The other handles' requests come after the call. */
static void others_go_on_while_a_call_hangs(void **state) {
  uint64_t id = support_need_tracepoint(__func__, LIVE_SYSCALL);
  size_t fds = support_count_fds();
  live_collector_t flight, slow;
  struct perf_event_attr attr;
  opened_t opened;
  size_t kind;

  for (kind = 0; kind < 2; kind++) {
    live_comm_attr(&attr);
    attr.write_backward = 1;
    live_init(*state, &flight, &attr, NULL);
    live_start(&flight, NULL);
    uvperf_attr_tracepoint(&attr, id);
    live_init(*state, &slow, &attr, NULL);
    begin_hanging(*state, &opened, kind);
    nr_snapped = 0;
    assert_int_equal(uvperf_snapshot(&flight.event.handle, 0, on_snapped, NULL),
                     0);
    live_close(&slow);
    assert_true(run_until(*state, &nr_snapped));
    assert_int_equal(opened.status, UV_ETIMEDOUT);
    assert_int_equal(opened.cause, UVPERF_CAUSE_ARGUMENT);
    live_close(&flight);
    close_opened(*state, &opened);
    end_hanging(*state, &opened);
    assert_int_equal(support_count_fds(), fds);
  }
}

/* -- closing --------------------------------------------------------------- */

/* Another handle can be opened meanwhile. */
static void handle_closed_while_a_call_hangs_is_closed(void **state) {
  size_t fds = support_count_fds();
  opened_t opened, other;
  size_t kind;

  support_need_own_events(__func__);
  for (kind = 0; kind < 2; kind++) {
    begin_hanging(*state, &opened, kind);
    close_opened(*state, &opened);
    assert_int_equal(opened.status, UV_ECANCELED);
    prepare(&other, 1);
    begin[kind](*state, &other, 0);
    assert_true(run_until(*state, &other.opened));
    assert_int_equal(other.status, 0);
    close_opened(*state, &other);
    end_hanging(*state, &opened);
    assert_int_equal(support_count_fds(), fds);
  }
}

/* -- fork ------------------------------------------------------------------ */

/* The child has no thread of the pool: the call is the parent's. */
static int open_another(void *arg) {
  opened_t *opened = arg;
  uv_loop_t *loop = opened->handle->loop;
  opened_t other;

  if (uv_loop_fork(loop) != 0)
    return 1;
  prepare(&other, 1);
  begin_event(loop, &other, 0);
  if (!run_until(loop, &other.opened) || other.status != 0)
    return 2;
  close_opened(loop, &other);
  live_run_ms(loop, 2 * LIMIT_MS);
  uvperf_close(opened->handle, on_close);
  live_run_ms(loop, 2 * LIMIT_MS);
  return opened->opened + opened->closed == 0 ? 0 : 3;
}

static void child_forked_while_a_call_hangs_opens_another(void **state) {
  opened_t opened;

  support_need_own_events(__func__);
  begin_hanging(*state, &opened, 0);
  assert_int_equal(support_wait(support_fork(open_another, &opened)), 0);
  assert_true(run_until(*state, &opened.opened));
  assert_int_equal(opened.status, UV_ETIMEDOUT);
  assert_int_equal(support_wait(support_fork(open_another, &opened)), 3);
  close_opened(*state, &opened);
  end_hanging(*state, &opened);
}

/* -- around the limit ------------------------------------------------------ */

/* The loop gives it up meanwhile. */
static void call_that_returns_at_once_when_it_is_late_leaves_nothing(void **s) {
  size_t fds = support_count_fds();
  opened_t opened, other;
  unsigned i;

  support_need_own_events(__func__);
  for (i = 0; i < 100; i++) {
    prepare(&opened, 0);
    opened.hook.ends_when_late = 1;
    begin[i % 2](*s, &opened, 2);
    prepare(&other, 1);
    begin_event(*s, &other, 0);
    atomic_store(&opened.hook.given_up,
                 ((uvperf__handle_t *)opened.handle->impl)->jobs->job.calls);
    assert_true(run_until(*s, &opened.opened));
    assert_int_equal(opened.status, UV_ETIMEDOUT);
    assert_true(run_until(*s, &other.opened));
    close_opened(*s, &other);
    close_opened(*s, &opened);
    while (uv_run(*s, UV_RUN_ONCE) != 0)
      continue;
  }
  assert_int_equal(support_count_fds(), fds);
}

/* Whether it was in time or not, no fd is left. */
static void call_that_is_nearly_late_leaves_nothing(void **state) {
  size_t fds = support_count_fds();
  unsigned in_time = 0, late = 0, i;
  opened_t opened;

  support_need_own_events(__func__);
  for (i = 0; i < 100; i++) {
    prepare(&opened, 1900000 + i % 10 * UINT64_C(40000));
    begin[i % 2](*state, &opened, 2);
    assert_true(run_until(*state, &opened.opened));
    in_time += opened.status == 0;
    late += opened.status == UV_ETIMEDOUT;
    close_opened(*state, &opened);
    while (uv_run(*state, UV_RUN_ONCE) != 0)
      continue;
  }
  assert_int_equal(in_time + late, 100);
  assert_int_equal(support_count_fds(), fds);
}

/* The caller's thread waits for its function. */
static void init_without_a_callback_has_no_limit(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  live_collector_t collector;
  opened_t opened;

  support_need_own_events(__func__);
  prepare(&opened, 5000000);
  live_comm_attr(&attr);
  options.open = hang;
  options.open_arg = &opened.hook;
  options.open_timeout_ms = 1;
  live_init(*state, &collector, &attr, &options);
  live_close(&collector);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(others_go_on_while_a_call_hangs),
      support_loop_test(handle_closed_while_a_call_hangs_is_closed),
      support_loop_test(child_forked_while_a_call_hangs_opens_another),
      support_loop_test(
          call_that_returns_at_once_when_it_is_late_leaves_nothing),
      support_loop_test(call_that_is_nearly_late_leaves_nothing),
      support_loop_test(init_without_a_callback_has_no_limit),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
