/* SPDX-License-Identifier: MIT */
/* The sizes and numbers of rings that the doctor reports match the limits of
 * locked memory. */
#include "doctor_run.h"
#include "check_explain.h"
#include "uvperf.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

/* The user of tool_run.h's as_nobody 2. */
#define OTHER 65533

static long long number_of(const tool_run_t *run, const char *group,
                           const char *key) {
  return atoll(doctor_member(run, group, key, "value"));
}

static void lock_no_more(void) {
  const struct rlimit none = {0, 0};

  if (setrlimit(RLIMIT_MEMLOCK, &none) != 0)
    _exit(1);
}

static void lock_1_mib_more(void) {
  const struct rlimit limit = {1 << 20, 1 << 20};

  if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0)
    _exit(1);
}

/* Expects the largest sizes of rings that fit into `budget` bytes of locked
 * memory. Each ring has one more page. */
static void expect_rings_of(const tool_run_t *run, long long budget) {
  long long page = (long long)support_page_bytes();
  long long largest = number_of(run, "rings", "largest");
  long long each = number_of(run, "rings", "largest_on_all");
  long cpus = sysconf(_SC_NPROCESSORS_ONLN);

  assert_true(largest >= page && largest + page <= budget);
  assert_true(largest == 64 << 20 || 2 * largest + page > budget);
  assert_true(each >= page && (each + page) * cpus <= budget);
  assert_true(each == 512 << 10 || (2 * each + page) * cpus > budget);
}

static long long mlock_bytes(void) {
  return doctor_setting("perf_event_mlock_kb") * 1024 *
         sysconf(_SC_NPROCESSORS_ONLN);
}

/* The limit is for all rings of the user together. The user has no other rings
 * here. */
static void rings_are_as_large_as_may_be_locked(void **state) {
  static const struct {
    void (*limit)(void);
    long long more;
  } cases[] = {{lock_no_more, 0}, {lock_1_mib_more, 1 << 20}};
  static tool_run_t run;
  size_t i;

  explain_need_paranoid(__func__, 0, 2);
  support_need_root(__func__);
  for (i = 0; i < COUNT_OF(cases); i++) {
    doctor_run(&run, DOCTOR_PATH, cases[i].limit, 2);
    expect_rings_of(&run, mlock_bytes() + cases[i].more);
  }
}

/* Holds a ring of 256 KiB as that user, and writes a byte when it has it.
 * It dies with the test program, because later tests need that locked
 * memory. */
static int hold_ring(void *arg) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  const int *ready = arg;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uv_loop_t loop;

  if (setgroups(0, NULL) != 0 || setresgid(OTHER, OTHER, OTHER) != 0 ||
      setresuid(OTHER, OTHER, OTHER) != 0)
    return 1;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  explain_user_clock(&attr);
  options.ring_bytes = 256 << 10;
  if (uv_loop_init(&loop) != 0 ||
      uvperf_event_init(&loop, &event, &attr, &options, NULL) != 0 ||
      write(*ready, "", 1) != 1)
    return 1;
  pause();
  return 0;
}

static void rings_of_the_users_other_processes_count(void **state) {
  long long held = (256 << 10) + (long long)support_page_bytes();
  static tool_run_t run;
  int ready[2];
  pid_t child;
  char byte;

  explain_need_paranoid(__func__, 0, 2);
  support_need_root(__func__);
  assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
  child = support_fork(hold_ring, &ready[1]);
  close(ready[1]);
  assert_int_equal(read(ready[0], &byte, 1), 1);
  close(ready[0]);
  doctor_run(&run, DOCTOR_PATH, lock_no_more, 2);
  kill(child, SIGKILL);
  assert_int_equal(support_wait(child), 128 + SIGKILL);
  expect_rings_of(&run, mlock_bytes() - held);
  doctor_expect(&run, "rings", "default_on_all", "cause", "locked_memory");
  doctor_expect_part(&run, "rings", "default_on_all", "remedy", "ulimit -l");
}

static void ring_of_the_default_size_is_that_of_init(void **state) {
  static tool_run_t run;
  struct perf_event_attr attr;
  uvperf_event_t event;
  uv_loop_t loop;
  size_t bytes;

  support_need_own_events(__func__);
  assert_int_equal(uv_loop_init(&loop), 0);
  explain_user_clock(&attr);
  uvperf_attr_set_period(&attr, 1000000);
  assert_int_equal(uvperf_event_init(&loop, &event, &attr, NULL, NULL), 0);
  bytes = support_ring_bytes(&event.handle);
  uvperf_close(&event.handle, NULL);
  uv_run(&loop, UV_RUN_DEFAULT);
  assert_int_equal(uv_loop_close(&loop), 0);
  doctor_run(&run, DOCTOR_PATH, NULL, 0);
  assert_int_equal(number_of(&run, "rings", "default"), bytes);
  assert_true(number_of(&run, "rings", "largest") >= (long long)bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rings_are_as_large_as_may_be_locked),
      cmocka_unit_test(rings_of_the_users_other_processes_count),
      cmocka_unit_test(ring_of_the_default_size_is_that_of_init),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
