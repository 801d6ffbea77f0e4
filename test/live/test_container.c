/* SPDX-License-Identifier: MIT */
/* What works in the settings of containers, and the errors that a user gets for
 * the rest. test_container_suite.c runs other tests in these settings. */
#include "live_container.h"
#include "check_explain.h"
#include "live.h"

#include <unistd.h>

#include "host/system.h"

/* Not an event name: a reader of the map with fd 0. */
#define READER "reader"

typedef struct attempt_s {
  const char *event; /* its name, as perf(1) takes it */
  int pid;
  int cpu;
  int code; /* 0 if it works; then the rest is ignored */
  int cause;
  const char *named; /* in the reason */
} attempt_t;

static const attempt_t eperm[] = {
    {"page-faults:u", 0, -1, UV_EPERM, UVPERF_CAUSE_NO_PERF, "seccomp"},
    {"cpu-clock", -1, 0, UV_EPERM, UVPERF_CAUSE_NO_PERF, "seccomp"},
    {READER, 0, -1, UV_EPERM, UVPERF_CAUSE_PERMISSION, "CAP_BPF"},
};

static const attempt_t enosys[] = {
    {"page-faults:u", 0, -1, UV_ENOSYS, UVPERF_CAUSE_NO_PERF, "seccomp"},
    {"cpu-clock", -1, 0, UV_ENOSYS, UVPERF_CAUSE_NO_PERF, "seccomp"},
    {READER, 0, -1, UV_ENOSYS, UVPERF_CAUSE_NOT_SUPPORTED, "seccomp"},
};

/* CAP_PERFMON lifts all but these. */
static const attempt_t perfmon[] = {
    {"page-faults:u", 0, -1, 0, 0, NULL},
    {"page-faults", 0, -1, 0, 0, NULL},
    {"cpu-clock", -1, 0, 0, 0, NULL},
    {"dummy", 1, -1, 0, 0, NULL},
    {"sched:sched_switch", 0, -1, UV_EACCES, UVPERF_CAUSE_PERMISSION,
     "tracefs"},
    {"uprobe/path=\"/bin/sh\",offset=0/", 0, -1, UV_EACCES,
     UVPERF_CAUSE_PERMISSION, "CAP_SYS_ADMIN"},
};

static const attempt_t user_namespace[] = {
    {"page-faults:u", 0, -1, 0, 0, NULL},
    {"page-faults", 0, -1, UV_EACCES, UVPERF_CAUSE_PERMISSION,
     "exclude_kernel"},
    {"cpu-clock", -1, 0, UV_EACCES, UVPERF_CAUSE_PERMISSION,
     "perf_event_paranoid"},
    {"dummy:u", 1, -1, UV_EACCES, UVPERF_CAUSE_PERMISSION, "65534"},
    {"uprobe/path=\"/bin/sh\",offset=0/", 0, -1, UV_EACCES,
     UVPERF_CAUSE_PERMISSION, "CAP_SYS_ADMIN"},
};

/* Measuring writes nothing there. */
static const attempt_t read_only[] = {
    {"page-faults", 0, -1, 0, 0, NULL},
    {"cpu-clock", -1, 0, 0, 0, NULL},
    {"sched:sched_switch", 0, -1, 0, 0, NULL},
    {"uprobe/path=\"/bin/sh\",offset=0/", 0, -1, 0, 0, NULL},
};

static const attempt_t no_tracefs[] = {
    {"page-faults", 0, -1, 0, 0, NULL},
    {"cpu-clock", -1, 0, 0, 0, NULL},
    {"sched:sched_switch", 0, -1, UV_ENOENT, UVPERF_CAUSE_NO_EVENT, "tracefs"},
};

static const attempt_t docker[] = {
    {"page-faults", 0, -1, 0, 0, NULL},
    {"cpu-clock", -1, 0, 0, 0, NULL},
    {"dummy", 1, -1, 0, 0, NULL},
    {"sched:sched_switch", 0, -1, UV_ENOENT, UVPERF_CAUSE_NO_EVENT, "tracefs"},
    {"uprobe/path=\"/bin/sh\",offset=0/", 0, -1, UV_EACCES,
     UVPERF_CAUSE_PERMISSION, "CAP_SYS_ADMIN"},
};

/* The setting that the child enters; explain_in_child passes no argument. */
static live_container_setting_t setting;
static const attempt_t *attempt;

static void ask_for_perfmon(uvperf_error_t *error) {
  uvperf_limits_t limits;
  live_container_enter(setting);
  uvperf_system_limits(&limits);
  error->code = (int)limits.has_perfmon;
}

static void open_reader(uv_loop_t *loop, uvperf_error_t *error) {
  static uvperf_bpf_reader_t reader;

  uvperf_bpf_reader_init(loop, &reader, 0, NULL, error);
}

/* Own events must count, too. */
static void open_event(uv_loop_t *loop, uvperf_error_t *error) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  const struct perf_event_attr *attr;
  static uvperf_event_t event;
  uvperf_event_list_t *list;
  uvperf_count_t count;

  options.pid = attempt->pid;
  options.cpu = attempt->cpu;
  if (options.cpu >= 0)
    options.flags |= UVPERF_EVENT_CPU;
  if (uvperf_event_list_parse(&list, attempt->event, error) != 0)
    return;
  attr = uvperf_event_list_get(list, 0)->attr;
  if (uvperf_event_init(loop, &event, attr, &options, error) != 0 ||
      uvperf_enable(&event.handle, 0, error) != 0)
    return;
  memset(error, 0, sizeof(*error));
  if (strncmp(attempt->event, "page-faults", 11) != 0)
    return;
  live_touch(live_region());
  if (uvperf_event_read(&event, &count, NULL) != 0 || count.value == 0)
    error->code = UV_EIO;
}

static void try_attempt(uvperf_error_t *error) {
  uv_loop_t loop;

  live_container_enter(setting);
  uv_loop_init(&loop);
  if (strcmp(attempt->event, READER) == 0)
    open_reader(&loop, error);
  else
    open_event(&loop, error);
}

/* Before Linux 6.16, and in stable kernels of that time, CAP_PERFMON was
 * enough. */
static int is_answered_otherwise(const char *event) {
  return strncmp(event, "uprobe/", 7) == 0 &&
         (access("/sys/bus/event_source/devices/uprobe", F_OK) != 0 ||
          uvperf__system_is_before(6, 16) != 0);
}

static void expect_in(const char *test, live_container_setting_t where,
                      int has_perfmon, const attempt_t *attempts, size_t nr) {
  uvperf_error_t error;
  size_t i;

  explain_need_paranoid(test, 2, 2);
  live_container_need(test, where);
  setting = where;
  assert_int_equal(explain_in_child(ask_for_perfmon).code, has_perfmon);
  for (i = 0; i < nr; i++) {
    attempt = &attempts[i];
    if (attempt->code != 0 && is_answered_otherwise(attempt->event))
      continue;
    error = explain_in_child(try_attempt);
    if (attempt->code == 0 && error.code != 0)
      fail_msg("%s: %d: %s", attempt->event, error.code, error.reason);
    if (attempt->code != 0)
      explain_check(&error, attempt->code, attempt->cause, attempt->named);
  }
}

static void
everything_under_a_filter_that_says_eperm_has_its_reason(void **state) {
  expect_in(__func__, LIVE_CONTAINER_EPERM, 0, eperm, COUNT_OF(eperm));
}

static void
everything_under_a_filter_that_says_enosys_has_its_reason(void **state) {
  expect_in(__func__, LIVE_CONTAINER_ENOSYS, 0, enosys, COUNT_OF(enosys));
}

static void user_with_perfmon_measures_all_but_uprobes(void **state) {
  support_need_tracefs(__func__, "sched:sched_switch");
  expect_in(__func__, LIVE_CONTAINER_PERFMON, 1, perfmon, COUNT_OF(perfmon));
  expect_in(__func__, LIVE_CONTAINER_PERFMON_BPF, 1, perfmon,
            COUNT_OF(perfmon));
}

static void root_of_a_user_namespace_measures_as_a_user(void **state) {
  expect_in(__func__, LIVE_CONTAINER_USER_NAMESPACE, 0, user_namespace,
            COUNT_OF(user_namespace));
}

static void root_with_sys_read_only_measures_all(void **state) {
  support_need_tracefs(__func__, "sched:sched_switch");
  expect_in(__func__, LIVE_CONTAINER_READ_ONLY, 1, read_only,
            COUNT_OF(read_only));
}

static void root_without_tracefs_lacks_names_of_tracepoints(void **state) {
  expect_in(__func__, LIVE_CONTAINER_NO_TRACEFS, 1, no_tracefs,
            COUNT_OF(no_tracefs));
}

static void docker_with_perfmon_lacks_uprobes_and_tracefs(void **state) {
  expect_in(__func__, LIVE_CONTAINER_DOCKER, 1, docker, COUNT_OF(docker));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(
          everything_under_a_filter_that_says_eperm_has_its_reason),
      cmocka_unit_test(
          everything_under_a_filter_that_says_enosys_has_its_reason),
      cmocka_unit_test(user_with_perfmon_measures_all_but_uprobes),
      cmocka_unit_test(root_of_a_user_namespace_measures_as_a_user),
      cmocka_unit_test(root_with_sys_read_only_measures_all),
      cmocka_unit_test(root_without_tracefs_lacks_names_of_tracepoints),
      cmocka_unit_test(docker_with_perfmon_lacks_uprobes_and_tracefs),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
