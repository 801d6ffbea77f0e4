/* SPDX-License-Identifier: MIT */
/* Sets without any privilege, at perf_event_paranoid 2: they work for the
 * process's own tasks, and a refused event does not affect the rest. */
#include "live_set.h"
#include "live_unprivileged.h"

#include <sys/prctl.h>

/* Found by root, before the child drops the privilege to read it. */
static uint64_t tracepoint;

static void plan_user(live_plan_t *plan, uint64_t config) {
  live_plan_software(plan, config);
  plan->attrs[plan->options.nr_attrs - 1].exclude_kernel = 1;
}

/* A group of page faults and time, and calls of getpgid. */
static void plan_own(live_plan_t *plan) {
  live_plan_begin(plan);
  plan_user(plan, PERF_COUNT_SW_PAGE_FAULTS);
  plan_user(plan, PERF_COUNT_SW_TASK_CLOCK);
  live_plan_syscall(plan, tracepoint);
  plan->attrs[2].exclude_kernel = 1;
  live_plan_group(plan, 2);
  live_plan_target(plan, UVPERF_TARGET_SELF);
}

static void close_all(live_unprivileged_report_t *report, uv_loop_t *loop,
                      live_set_t *live) {
  if (live != NULL) {
    uvperf_close(&live->set.handle, NULL);
    uvperf_reading_free(live->reading);
  }
  uv_run(loop, UV_RUN_DEFAULT);
  if (uv_loop_close(loop) != 0)
    live_unprivileged_wrong(report, "the loop was not empty");
}

/* 0, or -1 and a complaint. */
static int open_set(live_unprivileged_report_t *report, uv_loop_t *loop,
                    live_set_t *live, const live_plan_t *plan) {
  uvperf_error_t error;
  int rc;

  memset(live, 0, sizeof(*live));
  rc = uvperf_set_init(loop, &live->set, &plan->options, &error);
  uvperf_event_list_free(plan->list);
  if (rc != 0 || uvperf_reading_new(&live->reading) != 0) {
    live_unprivileged_wrong(report, "%d: %s", error.code, error.reason);
    return -1;
  }
  live->set.handle.data = live;
  uvperf_enable(&live->set.handle, UVPERF_ALL, NULL);
  return 0;
}

static void count(live_unprivileged_report_t *report, live_set_t *live,
                  size_t attr, uint64_t least, uint64_t most) {
  uvperf_count_t total = {0};

  uvperf_set_read(&live->set, live->reading, NULL);
  uvperf_reading_total(live->reading, attr, &total);
  if (total.state != UVPERF_COUNT_COUNTING || total.value < least ||
      total.value > most)
    live_unprivileged_wrong(report, "attr %d is %s, %d", (int)attr,
                            uvperf_count_state_name(total.state),
                            (int)total.value);
}

static void own_thread_is_counted(live_unprivileged_report_t *report) {
  char *region = live_region();
  live_plan_t plan;
  live_set_t live;
  uv_loop_t loop;

  uv_loop_init(&loop);
  plan_own(&plan);
  if (open_set(report, &loop, &live, &plan) != 0) {
    close_all(report, &loop, NULL);
    return;
  }
  live_touch(region);
  live_syscall(7);
  count(report, &live, 0, LIVE_PAGES, UINT64_MAX);
  count(report, &live, 1, 1, UINT64_MAX);
  count(report, &live, 2, 7, 7);
  live_region_free(region);
  close_all(report, &loop, &live);
}

static void own_thread_is_read_on_the_loop(live_unprivileged_report_t *report) {
  live_plan_t plan;
  live_set_t live;
  uv_loop_t loop;

  uv_loop_init(&loop);
  live_plan_begin(&plan);
  live_plan_syscall(&plan, tracepoint);
  plan.attrs[0].exclude_kernel = 1;
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  if (open_set(report, &loop, &live, &plan) != 0) {
    close_all(report, &loop, NULL);
    return;
  }
  if (uvperf_set_read_start(&live.set, 1, live_set_on_read, NULL) != 0)
    live_unprivileged_wrong(report, "read_start failed");
  live_syscall(9);
  live_run_until(&loop, &live.callbacks, 3);
  if (live.sum != 9)
    live_unprivileged_wrong(report, "the deltas are %d", (int)live.sum);
  close_all(report, &loop, &live);
}

/* Its samples and the side-band, in the order of time. */
static void own_records_come(live_unprivileged_report_t *report) {
  const uvperf_record_t *record;
  char *region = live_region();
  int samples = 0, comms = 0;
  live_plan_t plan;
  live_set_t live;
  uv_loop_t loop;
  size_t nr;

  uv_loop_init(&loop);
  live_plan_begin(&plan);
  live_touch_attr(live_plan_attr(&plan), PERF_SAMPLE_IP);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  plan.options.flags = UVPERF_SET_RECORDS | UVPERF_SET_TIME_ORDER;
  plan.options.side_band = UVPERF_SIDE_BAND_TASKS | UVPERF_SIDE_BAND_MMAP |
                           UVPERF_SIDE_BAND_SWITCH | UVPERF_SIDE_BAND_KSYMBOL;
  if (open_set(report, &loop, &live, &plan) != 0) {
    close_all(report, &loop, NULL);
    return;
  }
  if (uvperf_set_failures(&live.set, &nr) != NULL)
    live_unprivileged_wrong(report, "%d failures", (int)nr);
  live_touch(region);
  prctl(PR_SET_NAME, "nobody");
  while (uvperf_next(&live.set.handle, &record) == 0 &&
         record->source != NULL) {
    samples += record->type == PERF_RECORD_SAMPLE;
    comms += record->type == PERF_RECORD_COMM;
  }
  if (samples < LIVE_PAGES || comms == 0)
    live_unprivileged_wrong(report, "%d samples, %d names", samples, comms);
  live_region_free(region);
  close_all(report, &loop, &live);
}

/* The kernel side is refused, the user side is counted. */
static void kernel_side_is_refused_alone(live_unprivileged_report_t *report) {
  const uvperf_set_failure_t *failures;
  live_plan_t plan;
  live_set_t live;
  uv_loop_t loop;
  size_t nr;

  uv_loop_init(&loop);
  live_plan_begin(&plan);
  live_plan_software(&plan, PERF_COUNT_SW_TASK_CLOCK);
  plan_user(&plan, PERF_COUNT_SW_TASK_CLOCK);
  live_plan_target(&plan, UVPERF_TARGET_SELF);
  if (open_set(report, &loop, &live, &plan) != 0) {
    close_all(report, &loop, NULL);
    return;
  }
  failures = uvperf_set_failures(&live.set, &nr);
  if (nr != 1 || failures[0].error.cause != UVPERF_CAUSE_PERMISSION ||
      failures[0].error.attr_index != 0)
    live_unprivileged_wrong(report, "%d failures", (int)nr);
  count(report, &live, 1, 1, UINT64_MAX);
  close_all(report, &loop, &live);
}

/* All CPUs, and another user's process. */
static void refuse(live_unprivileged_report_t *report, uint32_t type,
                   int32_t pid) {
  uvperf_error_t error = {0};
  uvperf_target_t *target;
  live_plan_t plan;
  uvperf_set_t set;
  uv_loop_t loop;

  uv_loop_init(&loop);
  live_plan_begin(&plan);
  plan_user(&plan, PERF_COUNT_SW_TASK_CLOCK);
  target = live_plan_target(&plan, type);
  target->pid = pid;
  if (uvperf_set_init(&loop, &set, &plan.options, &error) != UV_EACCES ||
      error.cause != UVPERF_CAUSE_PERMISSION)
    live_unprivileged_wrong(report, "type %d is not refused: %d %s", (int)type,
                            error.code, error.reason);
  close_all(report, &loop, NULL);
}

static void others_are_refused(live_unprivileged_report_t *report) {
  refuse(report, UVPERF_TARGET_CPUS, 0);
  refuse(report, UVPERF_TARGET_PROCESS, 1);
}

static void unprivileged_sets_work(void **state) {
  static const live_unprivileged_line_t lines[] = {
      {"own thread", own_thread_is_counted},
      {"on the loop", own_thread_is_read_on_the_loop},
      {"records", own_records_come},
      {"kernel side", kernel_side_is_refused_alone},
      {"others", others_are_refused},
  };

  tracepoint = support_need_tracepoint(__func__, LIVE_SYSCALL);
  live_unprivileged_run(__func__, lines, COUNT_OF(lines));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(unprivileged_sets_work),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
