/* SPDX-License-Identifier: MIT */
/* Names of tracepoints, in a tracefs of the test's own and in the real one. */
#include "check_parse.h"
#include "make_host.h"
#include "make_tree.h"

#include <sys/stat.h>
#include <unistd.h>

#include "name/parse.h"

#define EVENTS "/sys/kernel/tracing/events"

#define ARG  UVPERF_CAUSE_ARGUMENT
#define NONE UVPERF_CAUSE_NO_EVENT

#define ID(id)      .type = PERF_TYPE_TRACEPOINT, .config = (id)
#define ONLY_USER   .exclude_kernel = 1, .exclude_hv = 1
#define ONLY_KERNEL .exclude_user = 1, .exclude_hv = 1

static int tracefs_setup(void **state) {
  if (make_host_setup(state) != 0)
    return -1;
  make_host_write(EVENTS "/sched/sched_switch/id", "316\n");
  make_host_write(EVENTS "/sched/sched_wakeup/id", "319\n");
  make_host_write(EVENTS "/syscalls/sys_enter_openat/id", "614\n");
  make_host_write(EVENTS "/kvm-s390/kvm_s390_create_vm/id", "7\n");
  make_host_write(EVENTS "/odd/u/id", "8\n");
  make_host_write(EVENTS "/odd/uh.x/id", "9\n");
  make_host_write(EVENTS "/odd/no_id/format", "name: no_id\n");
  return 0;
}

static void tracepoints_have_their_id_and_nothing_else(void **state) {
  static const name_good_t good[] = {
      {"sched:sched_switch", {ID(316)}},
      {"syscalls:sys_enter_openat", {ID(614)}},
      {"kvm-s390:kvm_s390_create_vm", {ID(7)}},
      {"syscalls:sys_enter_openat:k", {ID(614), ONLY_KERNEL}},
      {"syscalls:sys_enter_openat:H", {ID(614), .exclude_guest = 1}},
      {"sched:sched_switch/period=1,call-graph=fp/u",
       {ID(316), .sample_period = 1, .sample_type = PERF_SAMPLE_CALLCHAIN,
        ONLY_USER}},
      {"sched:sched_switch//:u", {ID(316), ONLY_USER}},
      {" sched:sched_wakeup ", {ID(319)}},
      /* These might be modifiers. */
      {"odd:u", {ID(8)}},
      {"odd:u:u", {ID(8), ONLY_USER}},
      {"odd:u/period=2/", {ID(8), .sample_period = 2}},
      {"odd:uh.x", {ID(9)}},
  };

  check_parse_good(good, COUNT_OF(good));
}

static void missing_tracepoints_are_reported_with_the_nearest(void **state) {
  static const name_bad_t bad[] = {
      {"sched:sched_swich", -ENOENT, NONE, 7, "did you mean 'sched_switch'?"},
      {"sched:whatever", -ENOENT, NONE, 7, "'sched' has no tracepoint"},
      {" shced:sched_switch", -ENOENT, NONE, 2, "did you mean 'sched'?"},
      {"cycels:uz", -ENOENT, NONE, 1, "did you mean 'cycles'?"},
      {"odd:no_id", -ENOENT, NONE, 5, "has no tracepoint 'no_id'"},
      {"odd:k", -ENOENT, NONE, 1, "no event 'odd'"},
      {"sched_switch", -ENOENT, NONE, 1, "did you mean 'sched:sched_switch'?"},
      {"sched_switch:u", -ENOENT, NONE, 1, "mean 'sched:sched_switch'?"},
      {"sched_*", -ENOENT, NONE, 1, "no event 'sched_*'"},
      {"..:sched", -ENOENT, NONE, 1, "no tracepoint category '..'"},
      {"sched:..", -ENOENT, NONE, 7, "'sched' has no tracepoint"},
      {"sched:", -ENOENT, NONE, 7, "has no tracepoint ''"},
      {"sched:sched_switch:z", -EINVAL, ARG, 20, "no modifier 'z'"},
      {"sched:sched_switch/config=1/", -EINVAL, ARG, 20, "part of"},
      {"sched:sched_switch/prev_comm=1/", -ENOENT, NONE, 20, "no term"},
  };

  check_parse_bad(bad, COUNT_OF(bad));
}

static void tracepoints_of_patterns_are_for_lists(void **state) {
  static const name_bad_t bad[] = {
      {"sched:sched_*", -EINVAL, ARG, 1, "uvperf_event_list_parse"},
      {"sched:sched_w?keup", -EINVAL, ARG, 1, "uvperf_event_list_parse"},
      {"*:*", -EINVAL, ARG, 1, "uvperf_event_list_parse"},
      {"sched:x*", -ENOENT, NONE, 1, "no tracepoint matches 'sched:x*'"},
      {"x*:*", -ENOENT, NONE, 1, "no tracepoint matches"},
  };

  check_parse_bad(bad, COUNT_OF(bad));
}

static void tracepoints_of_long_names_are_unknown(void **state) {
  struct perf_event_attr attr;
  char name[1000];
  uvperf_error_t error;

  memset(name, 'x', sizeof(name));
  name[sizeof(name) - 1] = '\0';
  name[500] = ':';
  assert_int_equal(uvperf_attr_parse_sized(&attr, sizeof(attr), name, &error),
                   -ENOENT);
  assert_int_equal(error.column, 1);
  memcpy(name, "sched:", 6);
  assert_int_equal(uvperf_attr_parse_sized(&attr, sizeof(attr), name, &error),
                   -ENOENT);
}

static void tracepoints_without_tracefs_say_what_to_do(void **state) {
  static const name_bad_t bad[] = {
      {"sched:sched_switch", -ENOENT, NONE, 1,
       "cannot find sched:sched_switch: tracefs is not mounted; run mount -t "
       "tracefs tracefs /sys/kernel/tracing (for a container, -v "
       "/sys/kernel/tracing:/sys/kernel/tracing)"},
      {"*:*", -ENOENT, NONE, 1, "mount -t tracefs"},
  };

  check_parse_bad(bad, COUNT_OF(bad));
}

/* Parses as a user who may not read tracefs: 0 if that is reported
 * correctly. */
static int parse_as_nobody(void *arg) {
  struct perf_event_attr attr;
  uvperf_error_t error;

  if (setgid(65534) != 0 || setuid(65534) != 0)
    return 2;
  if (uvperf_attr_parse_sized(&attr, sizeof(attr), "sched:sched_switch",
                              &error) != -EACCES)
    return 3;
  if (error.cause != UVPERF_CAUSE_PERMISSION || error.column != 1)
    return 4;
  return strstr(error.reason,
                "cannot find sched:sched_switch: this process may not read "
                "tracefs; run it as root, let root mount it with "
                "gid=GROUP,mode=750, or write the id, type=2,config=ID") ==
         NULL;
}

static void
tracepoints_that_may_not_be_read_are_a_matter_of_permission(void **state) {
  char path[128];

  support_need_root(__func__);
  snprintf(path, sizeof(path), "%s/sys/kernel/tracing", make_host_root());
  assert_int_equal(chmod(path, 0700), 0);
  assert_int_equal(chmod(make_host_root(), 0755), 0);
  assert_int_equal(support_wait(support_fork(parse_as_nobody, NULL)), 0);
}

static void tracepoints_of_this_machine_have_the_id_of_tracefs(void **state) {
  uint64_t id = support_need_tracefs(__func__, "sched:sched_switch");
  struct perf_event_attr attr;

  assert_int_equal(uvperf_attr_parse(&attr, "sched:sched_switch", NULL), 0);
  assert_int_equal(attr.type, PERF_TYPE_TRACEPOINT);
  assert_int_equal(attr.config, id);
}

#define TEST(f)                                                                \
  cmocka_unit_test_setup_teardown(f, tracefs_setup, make_host_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(tracepoints_have_their_id_and_nothing_else),
      TEST(missing_tracepoints_are_reported_with_the_nearest),
      TEST(tracepoints_of_patterns_are_for_lists),
      TEST(tracepoints_of_long_names_are_unknown),
      MAKE_HOST_TEST(tracepoints_without_tracefs_say_what_to_do),
      TEST(tracepoints_that_may_not_be_read_are_a_matter_of_permission),
      cmocka_unit_test(tracepoints_of_this_machine_have_the_id_of_tracefs),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
