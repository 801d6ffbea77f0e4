/* SPDX-License-Identifier: MIT */
#include "live_measure.h"

/* -- sets ----------------------------------------------------------------- */

static void open_with(uv_loop_t *loop, live_measure_run_t *run,
                      uvperf_set_options_t *options,
                      const uvperf_target_t *target) {
  uvperf_target_t self = UVPERF_TARGET_INIT;
  uvperf_error_t error;

  options->targets = target != NULL ? target : &self;
  options->nr_targets = 1;
  memset(&error, 0, sizeof(error));
  if (uvperf_set_init(loop, &run->set, options, &error) != 0)
    fail_msg("a set does not open: %s", error.reason);
  assert_int_equal(uvperf_reading_new(&run->reading), 0);
}

void live_measure_open(uv_loop_t *loop, live_measure_run_t *run,
                       const char *names, const uvperf_target_t *target) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;

  options.names = names;
  open_with(loop, run, &options, target);
}

void live_measure_do(live_measure_run_t *run, uvperf_measure_fn fn, void *arg) {
  assert_int_equal(uvperf_reset(&run->set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_enable(&run->set.handle, UVPERF_ALL, NULL), 0);
  fn(arg);
  assert_int_equal(uvperf_disable(&run->set.handle, UVPERF_ALL, NULL), 0);
  assert_int_equal(uvperf_set_read(&run->set, run->reading, NULL), 0);
}

static void on_close(uvperf_handle_t *handle) {
  int *closed = handle->data;

  *closed = 1;
}

void live_measure_close(live_measure_run_t *run) {
  uv_loop_t *loop = run->set.handle.loop;
  int closed = 0;

  uvperf_reading_free(run->reading);
  run->reading = NULL;
  run->set.handle.data = &closed;
  uvperf_close(&run->set.handle, on_close);
  while (!closed)
    uv_run(loop, UV_RUN_ONCE);
}

/* -- counts --------------------------------------------------------------- */

uvperf_count_t live_measure_total(const live_measure_run_t *run, size_t attr) {
  uvperf_count_t count;

  memset(&count, 0xa5, sizeof(count));
  assert_int_equal(uvperf_reading_total(run->reading, attr, &count), 0);
  return count;
}

void live_measure_count_is(const uvperf_count_t *count, uint64_t value) {
  assert_string_equal(uvperf_count_state_name(count->state), "counting");
  assert_int_equal(count->code, 0);
  assert_int_equal(count->value, value);
  assert_int_equal(count->scaled, value);
  assert_true(count->time_enabled > 0);
  assert_int_equal(count->time_running, count->time_enabled);
  assert_true(count->ratio == 1);
  assert_int_equal(count->nr_missing, 0);
}

void live_measure_is(const live_measure_run_t *run, size_t attr,
                     uint64_t value) {
  uvperf_count_t count = live_measure_total(run, attr);

  live_measure_count_is(&count, value);
}

uvperf_meter_t *live_measure_meter(const char *names,
                                   const uvperf_target_t *target) {
  uvperf_set_options_t options = UVPERF_SET_OPTIONS_INIT;
  uvperf_meter_t *meter;
  uvperf_error_t error;

  options.names = names;
  options.targets = target;
  options.nr_targets = target != NULL;
  if (uvperf_meter_new(&meter, &options, &error) != 0)
    fail_msg("%s: %s", names, error.reason);
  return meter;
}

/* -- work ----------------------------------------------------------------- */

void live_measure_nothing(void *arg) {
}

void live_measure_syscalls(void *arg) {
  live_syscall(*(const uint64_t *)arg);
}

void live_measure_writes(void *arg) {
  live_write(*(const uint64_t *)arg);
}

void live_measure_touch(void *arg) {
  live_touch(arg);
}

void live_measure_note(void *arg) {
  *(int *)arg += 1;
}

const char *live_measure_writes_name(char name[LIVE_MEASURE_NAME_BYTES]) {
  snprintf(name, LIVE_MEASURE_NAME_BYTES, "mem:%#llx/8:w:u",
           (unsigned long long)(uintptr_t)&live_word);
  return name;
}

const char *live_measure_calls_name(char name[LIVE_MEASURE_NAME_BYTES]) {
  snprintf(name, LIVE_MEASURE_NAME_BYTES, "mem:%#llx:x:u",
           (unsigned long long)(uintptr_t)live_called);
  return name;
}
