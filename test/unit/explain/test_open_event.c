/* SPDX-License-Identifier: MIT */
/* Reasons that depend on the host's files, as the user of an event gets them:
 * the files are made up, and the kernel refuses the event. check_explain_rows.h
 * explains the row. The words of a failed uvperf_event_init are "pid N" and
 * "cpu N". */
#include "check_explain_rows.h"
#include "fake_kernel.h"

#include "uvperf/event.h"

/* The kernel refuses the event by this code. */
static int explain_init(const step_t *step, int code,
                        struct perf_event_attr *attr, uvperf_error_t *error) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_event_t event;
  uv_loop_t loop;
  size_t i;
  int rc;

  for (i = 1; i < step->nr; i += 2)
    if (step_is(step, i, "pid")) {
      options.pid = (int)step_value(step, i + 1);
    } else {
      options.flags = UVPERF_EVENT_CPU;
      options.cpu = (int)step_value(step, i + 1);
    }
  assert_int_equal(uv_loop_init(&loop), 0);
  fake_kernel_reset();
  fake_fail(FAKE_OPEN, 1, code);
  rc = uvperf_event_init(&loop, &event, attr, &options, error);
  fake_assert_clean();
  uv_run(&loop, UV_RUN_DEFAULT);
  assert_int_equal(uv_loop_close(&loop), 0);
  return rc;
}

static const explain_subject_t subject = {NULL, explain_init, NULL};

/* Each call has the files of the lines before it. */
static const explain_row_t rows[] = {
    {"event_that_is_refused_says_what_the_host_lacks",
     "attr cpu_clock\n"
     "EACCES -> permission kernel side needs kernel.perf_event_paranoid <= 1 "
     "(it is 2)\n"
     "attr user_clock\n"
     "EACCES pid -1 cpu 0 -> permission whole CPU needs "
     "kernel.perf_event_paranoid <= 0 (it is 2)\n"
     "attr 8 0\n"
     "EACCES -> permission a uprobe needs CAP_SYS_ADMIN\n"
     "file release 5.7.19\n"
     "attr cpu_clock\n"
     "EACCES -> permission (it is 2) or CAP_SYS_ADMIN\n"
     "file paranoid 3\n"
     "attr user_clock\n"
     "EACCES -> permission (it is 3) or CAP_SYS_ADMIN\n"
     "file status CapEff:\t0000000000200000\n"
     "EACCES -> permission perhaps by a security module\n"
     "ENOSYS -> no_perf an emulator or sandbox\n"
     "attr 9 99\n"
     "ENOENT -> no_event event 0x63 of PMU msr\n"
     "attr 42 1\n"
     "ENOENT -> no_event no PMU has this type\n"
     "file /sys/bus/event_source/devices/new/type 42\n"
     "ENOENT -> no_event event 0x1 of PMU new\n"
     "attr 20 1\n"
     "EINVAL cpu 1 -> argument cpumask, 0,64\n"
     "attr tracepoint 99999\n"
     "EINVAL -> no_event no tracepoint has this id\n"
     "attr tracepoint 1\n"
     "EINVAL -> not_supported perf can open ftrace:function only\n"
     "attr user_clock freq=1 sample_period=60000\n"
     "EINVAL -> sample_rate perf_event_max_sample_rate, 50000\n"
     "file /proc/sys/kernel/perf_event_max_sample_rate 5000\n"
     "attr user_clock freq=1 sample_period=6000\n"
     "EINVAL -> sample_rate perf_event_max_sample_rate, 5000 \n"},
};

int main(void) {
  return EXPLAIN_ROWS(&subject, rows);
}
