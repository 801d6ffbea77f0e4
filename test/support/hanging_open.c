/* SPDX-License-Identifier: MIT */
#include "hanging_open.h"

#include "fake_pool.h"
#include "live.h"
#include "sys/sys.h"

/* Much longer than any test needs. */
#define MOST_MS 20000

static void run_until(uv_loop_t *loop, const int *counter) {
  int ms;

  for (ms = 0; *counter == 0 && ms < MOST_MS; ms++) {
    live_run_ms(loop, 1);
    fake_pool_finish();
  }
  assert_int_equal(*counter, 1);
}

static void hang(const hanging_open_t *hanging) {
  fake_pool_hang();
  if (hanging->handle != NULL)
    uvperf_close(hanging->handle, hanging->close_cb);
  run_until(hanging->loop, hanging->opened);
  if (hanging->handle != NULL)
    run_until(hanging->loop, hanging->closed);
}

int hanging_open(const struct perf_event_attr *attr, int32_t pid, int32_t cpu,
                 int group_fd, unsigned long flags, void *arg) {
  hanging_open_t *hanging = arg;
  struct perf_event_attr own = *attr;

  hanging->calls += 1;
  if (hanging->calls == hanging->hangs_at) {
    hang(hanging);
    if (hanging->code != 0)
      return hanging->code;
  }
  return uvperf__sys_open(&own, pid, cpu, group_fd, flags);
}
