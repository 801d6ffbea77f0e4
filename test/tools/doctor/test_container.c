/* SPDX-License-Identifier: MIT */
/* The doctor's answers with the settings of containers. Its remedies suit a
 * container: they leave out what cannot be done in one. */
#include "live_container.h"
#include "doctor_run.h"
#include "check_explain.h"
#include "uvperf.h"

#include <sys/resource.h>
#include <unistd.h>

typedef struct answer_s {
  const char *group;
  const char *key;
  const char *error;  /* the errno's name; "": the answer is yes */
  const char *remedy; /* a part of the text */
} answer_t;

static live_container_setting_t setting;

static void enter(void) {
  live_container_enter(setting);
}

static void expect_in(const char *test, live_container_setting_t where,
                      const answer_t *answers, size_t nr) {
  static tool_run_t run;
  size_t i;

  explain_need_paranoid(test, 2, 2);
  live_container_need(test, where);
  setting = where;
  doctor_run(&run, DOCTOR_PATH, enter, 0);
  for (i = 0; i < nr; i++) {
    doctor_expect(&run, answers[i].group, answers[i].key, "errno",
                  answers[i].error);
    if (answers[i].error[0] != '\0')
      doctor_expect_part(&run, answers[i].group, answers[i].key, "remedy",
                         answers[i].remedy);
  }
  doctor_expect_remedies(&run);
}

static void filter_is_lifted_by_a_capability_or_a_profile(void **state) {
  static const answer_t eperm[] = {
      {"targets", "own_user", "EPERM", "seccomp=PROFILE"}};
  static const answer_t enosys[] = {
      {"targets", "own_user", "ENOSYS", "seccomp=PROFILE"}};

  expect_in(__func__, LIVE_CONTAINER_EPERM, eperm, COUNT_OF(eperm));
  expect_in(__func__, LIVE_CONTAINER_ENOSYS, enosys, COUNT_OF(enosys));
}

static void docker_with_perfmon_learns_what_else_to_add(void **state) {
  static const answer_t answers[] = {
      {"targets", "own_kernel", "", NULL},
      {"targets", "process_1", "", NULL},
      {"targets", "cpu", "", NULL},
      {"targets", "cgroup", "", NULL},
      {"records", "namespaces", "", NULL},
      {"events", "tracepoint", "ENODEV",
       "-v /sys/kernel/tracing:/sys/kernel/tracing"},
      {"symbols", "kernel", "EACCES", "--cap-add SYSLOG"},
  };

  expect_in(__func__, LIVE_CONTAINER_DOCKER, answers, COUNT_OF(answers));
}

/* None of these can be changed inside of the user namespace. */
static void user_namespace_learns_what_to_do_outside(void **state) {
  static const answer_t answers[] = {
      {"targets", "own_user", "", NULL},
      {"targets", "own_kernel", "EACCES", "kernel.perf_event_paranoid=1"},
      {"events", "tracepoint", "EACCES", "mount -o remount,gid=GROUP"},
      {"symbols", "kernel", "EACCES", "user namespace"},
  };

  support_need_public_build(__func__);
  support_need_tracefs(__func__, "sched:sched_switch");
  expect_in(__func__, LIVE_CONTAINER_USER_NAMESPACE, answers,
            COUNT_OF(answers));
}

static void what_perfmon_does_not_lift_is_reported(void **state) {
  static const answer_t answers[] = {
      {"targets", "own_kernel", "", NULL},
      {"targets", "cpu", "", NULL},
      {"events", "tracepoint", "EACCES", "mount -o"},
  };

  support_need_public_build(__func__);
  support_need_tracefs(__func__, "sched:sched_switch");
  expect_in(__func__, LIVE_CONTAINER_PERFMON, answers, COUNT_OF(answers));
  expect_in(__func__, LIVE_CONTAINER_PERFMON_BPF, answers, COUNT_OF(answers));
}

static void lock_no_more(void) {
  const struct rlimit none = {0, 0};

  if (setrlimit(RLIMIT_MEMLOCK, &none) != 0)
    _exit(1);
  live_container_enter(LIVE_CONTAINER_DOCKER);
}

/* The container's root is the same user as this process. The ring of this
 * process uses all the locked memory of the user. */
static void docker_without_locked_memory_learns_its_option(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  static tool_run_t run;
  struct perf_event_attr attr;
  uvperf_event_t event;

  live_container_need(__func__, LIVE_CONTAINER_DOCKER);
  explain_need_paranoid(__func__, 0, 2);
  explain_user_clock(&attr);
  options.ring_bytes = (size_t)(2048 * doctor_setting("perf_event_mlock_kb") *
                                sysconf(_SC_NPROCESSORS_ONLN));
  assert_int_equal(uvperf_event_init(*state, &event, &attr, &options, NULL), 0);
  doctor_run(&run, DOCTOR_PATH, lock_no_more, 0);
  doctor_expect(&run, "rings", "default", "cause", "locked_memory");
  doctor_expect_part(&run, "rings", "default", "remedy",
                     "--ulimit memlock=BYTES");
  uvperf_close(&event.handle, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(filter_is_lifted_by_a_capability_or_a_profile),
      cmocka_unit_test(docker_with_perfmon_learns_what_else_to_add),
      cmocka_unit_test(user_namespace_learns_what_to_do_outside),
      cmocka_unit_test(what_perfmon_does_not_lift_is_reported),
      support_loop_test(docker_without_locked_memory_learns_its_option),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
