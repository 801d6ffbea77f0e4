/* SPDX-License-Identifier: MIT */
#include "scripted_opening.h"

#include "fake_clock.h"
#include "fake_pool.h"

#define MS UINT64_C(1000000)

static void on_open(uvperf_handle_t *base, int status,
                    const uvperf_error_t *error) {
  scripted_opening_t *opened = base->data;

  assert_int_equal(opened->closed, 0);
  assert_int_equal(status == 0, error == NULL);
  opened->opened += 1;
  opened->status = status;
  if (error != NULL)
    opened->error = *error;
}

void scripted_opening_on_close(uvperf_handle_t *handle) {
  ((scripted_opening_t *)handle->data)->closed += 1;
}

/* Two attrs on two CPUs, with rings. */
void scripted_opening_plan(scripted_opening_t *opened, uint32_t flags) {
  memset(opened, 0, sizeof(*opened));
  evlist_make_setup(NULL);
  counters_script(opened->events, 6);
  evlist_make(&opened->make, 2);
  opened->make.attrs[0].type = PERF_TYPE_TRACEPOINT;
  opened->make.attrs[1].config = PERF_COUNT_SW_CPU_CLOCK;
  opened->make.attrs[1].sample_period = 1000;
  evlist_add_cpus(&opened->make, "0-1");
  opened->make.options.flags = UVPERF_SET_RECORDS | flags;
  opened->make.options.ring_bytes = 1;
  opened->set.handle.data = opened;
  fake_pool_hold();
}

int scripted_opening_begin(uv_loop_t *loop, scripted_opening_t *opened) {
  opened->make.options.open_cb = on_open;
  return uvperf_set_init(loop, &opened->set, &opened->make.options,
                         &opened->error);
}

/* Runs the loop until nothing of it is left. */
void scripted_opening_close(uv_loop_t *loop, scripted_opening_t *opened) {
  uvperf_close(&opened->set.handle, scripted_opening_on_close);
  do
    fake_pool_finish();
  while (uv_run(loop, UV_RUN_NOWAIT) != 0 || fake_pool_waits());
  assert_int_equal(opened->closed, 1);
  assert_int_equal(opened->opened, 1);
  fake_assert_clean();
}

int scripted_opening_take_time(struct perf_event_attr *attr) {
  static uint64_t now;

  (void)attr;
  now += 2 * MS;
  fake_clock_set(now);
  return 0;
}
