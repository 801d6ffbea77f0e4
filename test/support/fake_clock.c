/* SPDX-License-Identifier: MIT */
#include "fake_clock.h"

#include "support.h"

#include "evlist/internal.h"

static uint64_t now_ns;
static uint64_t counters_ns;
static uint64_t counters_step;
static uint64_t looks;

uint64_t __real_uv_hrtime(void);
uint64_t __real_uvperf__evlist_now(void);

/* Threads of the pool read the clock, too. */
uint64_t __wrap_uv_hrtime(void) {
  uint64_t now = __atomic_load_n(&now_ns, __ATOMIC_RELAXED);

  __atomic_fetch_add(&looks, 1, __ATOMIC_RELAXED);
  return now != 0 ? now : __real_uv_hrtime();
}

void fake_clock_set(uint64_t ns) {
  __atomic_store_n(&now_ns, ns, __ATOMIC_RELAXED);
}

uint64_t fake_clock_looks(void) {
  return looks;
}

uint64_t __wrap_uvperf__evlist_now(void) {
  if (counters_ns == 0)
    return __real_uvperf__evlist_now();
  counters_ns += counters_step;
  return counters_ns;
}

void fake_clock_set_counters(uint64_t ns) {
  counters_ns = ns;
  counters_step = 0;
}

void fake_clock_step_counters(uint64_t ns) {
  counters_step = ns;
}

typedef struct found_s {
  uv_timer_t *timer;
  unsigned nr;
} found_t;

/* Not the timer of a watch, which never fires. */
static void find(uv_handle_t *handle, void *arg) {
  found_t *found = arg;

  if (handle->type != UV_TIMER || !uv_is_active(handle) ||
      uv_timer_get_due_in((uv_timer_t *)handle) > INT64_MAX)
    return;
  found->timer = (uv_timer_t *)handle;
  found->nr += 1;
}

uv_timer_t *fake_clock_timer(uv_loop_t *loop) {
  found_t found = {NULL, 0};

  uv_walk(loop, find, &found);
  assert_int_equal(found.nr, 1);
  return found.timer;
}

void fake_clock_fire(uv_timer_t *timer) {
  uv_timer_stop(timer);
  timer->timer_cb(timer);
}
