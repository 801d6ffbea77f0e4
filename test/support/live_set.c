/* SPDX-License-Identifier: MIT */
#include "live_set.h"

#include <unistd.h>

/* -- plans ---------------------------------------------------------------- */

void live_plan_begin(live_plan_t *plan) {
  const uvperf_set_options_t init = UVPERF_SET_OPTIONS_INIT;

  memset(plan, 0, sizeof(*plan));
  plan->options = init;
  plan->options.attrs = plan->pointers;
  plan->options.targets = plan->targets;
}

struct perf_event_attr *live_plan_attr(live_plan_t *plan) {
  size_t index = plan->options.nr_attrs;

  assert_in_range(index, 0, LIVE_SET_MOST - 1);
  plan->pointers[index] = &plan->attrs[index];
  plan->options.nr_attrs += 1;
  return &plan->attrs[index];
}

void live_plan_software(live_plan_t *plan, uint64_t config) {
  uvperf_attr_software(live_plan_attr(plan), config);
}

void live_plan_syscall(live_plan_t *plan, uint64_t tracepoint) {
  uvperf_attr_tracepoint(live_plan_attr(plan), tracepoint);
}

struct perf_event_attr *live_plan_hardware(live_plan_t *plan, uint64_t config) {
  struct perf_event_attr *attr = live_plan_attr(plan);

  uvperf_attr_init(attr, PERF_TYPE_HARDWARE, config);
  attr->exclude_kernel = 1;
  return attr;
}

void live_plan_group(live_plan_t *plan, size_t nr) {
  size_t i;

  for (i = 0; i < plan->options.nr_attrs; i++)
    uvperf_event_list_add(&plan->list, &plan->attrs[i], NULL,
                          i % nr == 0 ? -1 : (int)(i - i % nr), NULL);
  assert_int_equal(uvperf_event_list_count(plan->list), i);
  plan->options.events = plan->list;
  plan->options.attrs = NULL;
  plan->options.nr_attrs = 0;
}

uvperf_target_t *live_plan_target(live_plan_t *plan, uint32_t type) {
  const uvperf_target_t init = UVPERF_TARGET_INIT;
  uvperf_target_t *target = &plan->targets[plan->options.nr_targets];

  assert_in_range(plan->options.nr_targets, 0, LIVE_SET_MOST - 1);
  plan->options.nr_targets += 1;
  *target = init;
  target->type = type;
  return target;
}

/* -- sets ----------------------------------------------------------------- */

void live_set_open(uv_loop_t *loop, live_set_t *live,
                   const uvperf_set_options_t *options) {
  uvperf_set_options_t own;
  uvperf_error_t error;
  int rc;

  memset(live, 0, sizeof(*live));
  error.reason[0] = '\0';
  if (options->nr_targets == 0) {
    own = *options;
    own.flags |= UVPERF_SET_TARGETS_LATER;
    options = &own;
  }
  rc = uvperf_set_init(loop, &live->set, options, &error);
  if (rc != 0)
    fail_msg("uvperf_set_init: %d: %s", rc, error.reason);
  live->set.handle.data = live;
  assert_int_equal(uvperf_reading_new(&live->reading), 0);
}

void live_set_begin(uv_loop_t *loop, live_set_t *live,
                    const uvperf_set_options_t *options) {
  live_set_open(loop, live, options);
  assert_int_equal(uvperf_enable(&live->set.handle, UVPERF_ALL, NULL), 0);
}

uvperf_count_t live_set_read(live_set_t *live, size_t attr) {
  uvperf_count_t count;

  assert_int_equal(uvperf_set_read(&live->set, live->reading, NULL), 0);
  assert_int_equal(uvperf_reading_total(live->reading, attr, &count), 0);
  return count;
}

void live_set_on_read(uvperf_set_t *set, int status,
                      const uvperf_reading_t *reading,
                      const uvperf_reading_t *delta) {
  live_set_t *live = set->handle.data;

  live->callbacks += 1;
  live->status = status;
  live->failures += status != 0;
  if (status == 0) {
    uvperf_reading_total(reading, 0, &live->total);
    uvperf_reading_total(delta, 0, &live->delta);
    live->sum += live->delta.value;
    live->interval_ns = uvperf_reading_info(delta)->interval;
  }
  if (live->hook != NULL)
    live->hook(live);
}

void live_set_on_close(uvperf_handle_t *handle) {
  live_set_t *live = handle->data;

  live->closed += 1;
}

void live_set_wait_closed(live_set_t *live) {
  uv_loop_t *loop = live->set.handle.loop;

  while (live->closed == 0 && uv_loop_alive(loop))
    uv_run(loop, UV_RUN_ONCE);
  assert_int_equal(live->closed, 1);
  uvperf_reading_free(live->reading);
  live->reading = NULL;
}

void live_set_close(live_set_t *live) {
  uvperf_close(&live->set.handle, live_set_on_close);
  live_set_wait_closed(live);
}

uvperf_count_t live_read_fd(int fd) {
  uvperf_count_t count;
  uint64_t words[8];

  memset(&count, 0, sizeof(count));
  assert_true(read(fd, words, sizeof(words)) >= 3 * (ssize_t)sizeof(words[0]));
  count.value = words[0];
  count.time_enabled = words[1];
  count.time_running = words[2];
  return count;
}

void live_assert_not_before(const uvperf_count_t *count,
                            const uvperf_count_t *older) {
  assert_true(count->value >= older->value);
  assert_true(count->time_enabled >= older->time_enabled);
  assert_true(count->time_running >= older->time_running);
}
