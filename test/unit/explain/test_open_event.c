/* SPDX-License-Identifier: MIT */
/* Reasons that depend on the host's files, as the user of an event gets them:
 * the files are made up, and the kernel refuses the event. */
#include "check_explain.h"
#include "fake_kernel.h"
#include "make_host.h"

#include <errno.h>

#include "uvperf/event.h"

#define SYSCTL "/proc/sys/kernel/"

typedef struct refused_s {
  uint32_t type;
  uint64_t config;
  uint64_t frequency;
  int is_user;      /* without the kernel side */
  int cpu;          /* -1: any */
  int pid;          /* of a thread, 0: the calling one, -1: all */
  int code;         /* of the kernel */
  const char *path; /* a file that is written before; NULL: none */
  const char *text;
  int cause;
  const char *piece;
} refused_t;

static int open_event_setup(void **state) {
  return make_host_machine_setup(NULL) != 0 ? -1
                                            : fake_kernel_loop_setup(state);
}

static int open_event_teardown(void **state) {
  int rc = fake_kernel_loop_teardown(state);

  return make_host_teardown(NULL) != 0 ? -1 : rc;
}

static void expect_refused(uv_loop_t *loop, const refused_t *row) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uvperf_error_t error;

  uvperf_attr_init(&attr, row->type, row->config);
  attr.exclude_kernel = row->is_user != 0;
  if (row->frequency != 0)
    uvperf_attr_set_frequency(&attr, row->frequency);
  options.pid = row->pid;
  if (row->cpu >= 0) {
    options.flags = UVPERF_EVENT_CPU;
    options.cpu = row->cpu;
  }
  if (row->path != NULL)
    make_host_write(row->path, row->text);
  fake_kernel_reset();
  fake_fail(FAKE_OPEN, 1, row->code);
  memset(&error, 0, sizeof(error));
  assert_int_equal(uvperf_event_init(loop, &event, &attr, &options, &error),
                   row->code);
  explain_check(&error, row->code, row->cause, row->piece);
  fake_assert_clean();
}

/* The machine of make_host_machine_setup, and the files of the rows so far. */
static void event_that_is_refused_says_what_the_host_lacks(void **state) {
  static const refused_t rows[] = {
      {1, 0, 0, 0, -1, 0, -EACCES, NULL, NULL, UVPERF_CAUSE_PERMISSION,
       "kernel side needs kernel.perf_event_paranoid <= 1 (it is 2)"},
      {1, 0, 0, 1, 0, -1, -EACCES, NULL, NULL, UVPERF_CAUSE_PERMISSION,
       "whole CPU needs kernel.perf_event_paranoid <= 0 (it is 2)"},
      {8, 0, 0, 0, -1, 0, -EACCES, NULL, NULL, UVPERF_CAUSE_PERMISSION,
       "a uprobe needs CAP_SYS_ADMIN"},
      {1, 0, 0, 0, -1, 0, -EACCES, SYSCTL "osrelease", "5.7.19\n",
       UVPERF_CAUSE_PERMISSION, "(it is 2) or CAP_SYS_ADMIN"},
      {1, 0, 0, 1, -1, 0, -EACCES, SYSCTL "perf_event_paranoid", "3\n",
       UVPERF_CAUSE_PERMISSION, "(it is 3) or CAP_SYS_ADMIN"},
      {1, 0, 0, 1, -1, 0, -EACCES, "/proc/self/status",
       "CapEff:\t0000000000200000\n", UVPERF_CAUSE_PERMISSION,
       "perhaps by a security module"},
      {1, 0, 0, 1, -1, 0, -ENOSYS, NULL, NULL, UVPERF_CAUSE_NO_PERF,
       "an emulator or sandbox"},
      {9, 99, 0, 0, -1, 0, -ENOENT, NULL, NULL, UVPERF_CAUSE_NO_EVENT,
       "event 0x63 of PMU msr"},
      {42, 1, 0, 0, -1, 0, -ENOENT, NULL, NULL, UVPERF_CAUSE_NO_EVENT,
       "no PMU has this type"},
      {42, 1, 0, 0, -1, 0, -ENOENT, "/sys/bus/event_source/devices/new/type",
       "42\n", UVPERF_CAUSE_NO_EVENT, "event 0x1 of PMU new"},
      {20, 1, 0, 0, 1, 0, -EINVAL, NULL, NULL, UVPERF_CAUSE_ARGUMENT,
       "cpumask, 0,64"},
      {2, 99999, 0, 0, -1, 0, -EINVAL, NULL, NULL, UVPERF_CAUSE_NO_EVENT,
       "no tracepoint has this id"},
      {2, 1, 0, 0, -1, 0, -EINVAL, NULL, NULL, UVPERF_CAUSE_NOT_SUPPORTED,
       "perf can open ftrace:function only"},
      {1, 0, 60000, 1, -1, 0, -EINVAL, NULL, NULL, UVPERF_CAUSE_SAMPLE_RATE,
       "perf_event_max_sample_rate, 50000"},
      {1, 0, 6000, 1, -1, 0, -EINVAL, SYSCTL "perf_event_max_sample_rate",
       "5000\n", UVPERF_CAUSE_SAMPLE_RATE, "perf_event_max_sample_rate, 5000 "},
  };
  size_t i;

  for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
    expect_refused(*state, &rows[i]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test_setup_teardown(
          event_that_is_refused_says_what_the_host_lacks, open_event_setup,
          open_event_teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
