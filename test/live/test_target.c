/* SPDX-License-Identifier: MIT */
/* Live: the places of targets on this machine, and that this kernel opens
 * events there. */
#include "fake_kernel.h"
#include "live.h"
#include "make_host.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/target.h"
#include "live_thread.h"
#include "sys/sys.h"

static uvperf_target_t target_of(uint32_t type, int pid) {
  uvperf_target_t target = UVPERF_TARGET_INIT;

  target.type = type;
  target.pid = pid;
  return target;
}

static int expand_one(const uvperf_target_t *target, int has_rings,
                      uvperf__target_spots_t *spots, uvperf_error_t *error) {
  uvperf__target_context_t look = {has_rings, 0, 0, 0, 0, "target.cpus"};

  return uvperf__target_expand(&look, target, spots, error);
}

static void expand(const uvperf_target_t *target,
                   uvperf__target_spots_t *spots) {
  uvperf_error_t error = {0};

  assert_int_equal(uvperf__target_check(target, &error), 0);
  if (expand_one(target, 0, spots, &error) != 0)
    fail_msg("%s", error.reason);
}

static int ends(const uvperf__spot_t *spot) {
  uint64_t since = live_now();
  int rc;

  while ((rc = uvperf__task_is_gone(spot->pid, spot->start)) == 0 &&
         live_now() - since < 20000000000u)
    sched_yield();
  return rc == 1;
}

/* Opens an event at each place as a set does. A thread of an earlier test may
 * still be ending. */
static void open_all(const uvperf__target_spots_t *spots) {
  unsigned long flags = PERF_FLAG_FD_CLOEXEC;
  struct perf_event_attr attr;
  size_t i;
  int fd;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.disabled = 1;
  attr.exclude_kernel = 1;
  attr.inherit = spots->inherit ? 1 : 0;
  attr.enable_on_exec = spots->on_exec ? 1 : 0;
  if (spots->cgroup_fd >= 0)
    flags |= PERF_FLAG_PID_CGROUP;
  for (i = 0; i < spots->nr_spots; i++) {
    fd = uvperf__sys_open(
        &attr, spots->cgroup_fd >= 0 ? spots->cgroup_fd : spots->spots[i].pid,
        spots->spots[i].cpu, -1, flags);
    if (fd == -ESRCH && ends(&spots->spots[i]))
      continue;
    if (fd < 0)
      fail_msg("pid %d, cpu %d: %d", spots->spots[i].pid, spots->spots[i].cpu,
               fd);
    assert_int_equal(uvperf__sys_close(fd), 0);
  }
}

/* On each CPU that is online, once. */
static void expect_online(const uvperf__target_spots_t *spots) {
  int cpus[1024];
  size_t nr = 1024, i;

  assert_int_equal(uvperf_cpus(UVPERF_CPUS_ONLINE, cpus, &nr), 0);
  assert_int_equal(spots->nr_spots, nr);
  for (i = 0; i < nr; i++) {
    assert_int_equal(spots->spots[i].cpu, cpus[i]);
    assert_int_equal(spots->spots[i].pid, -1);
    assert_true(spots->spots[i].start == 0);
  }
}

static void cpus_that_are_online_are_opened(void **state) {
  uvperf_target_t target = target_of(UVPERF_TARGET_CPUS, 0);
  uvperf__target_spots_t spots;

  support_need_cpu_wide(__func__);
  expand(&target, &spots);
  expect_online(&spots);
  open_all(&spots);
  uvperf__target_free(&spots);
}

/* What a thread finds for itself as a target. */
typedef struct own_s {
  uvperf__target_spots_t spots;
  int rc;
  int tid;
} own_t;

static void expand_self(void *arg) {
  uvperf_target_t target = target_of(UVPERF_TARGET_SELF, 0);
  own_t *own = arg;

  own->tid = (int)live_tid();
  own->rc = expand_one(&target, 0, &own->spots, NULL);
}

static void self_is_a_thread_that_others_can_name(void **state) {
  live_thread_t thread;
  own_t own;

  support_need_own_events(__func__);
  live_thread_start(&thread, expand_self, &own);
  live_thread_do(&thread);
  assert_int_equal(own.rc, 0);
  assert_int_equal(own.spots.nr_spots, 1);
  assert_int_equal(own.spots.spots[0].pid, own.tid);
  assert_int_not_equal(own.tid, getpid());
  assert_int_equal(own.spots.spots[0].cpu, -1);
  assert_int_equal(uvperf__task_is_gone(own.tid, own.spots.spots[0].start), 0);
  assert_int_not_equal(own.spots.spots[0].start, 0);
  open_all(&own.spots);
  live_thread_end(&thread);
  uvperf__target_free(&own.spots);
}

static void nothing(void *arg) {
}

static void process_is_all_its_threads(void **state) {
  uvperf_target_t target = target_of(UVPERF_TARGET_PROCESS, getpid());
  uvperf__target_spots_t spots;
  live_thread_t threads[5];
  size_t i, j, found = 0;

  support_need_own_events(__func__);
  for (i = 0; i < 5; i++)
    live_thread_start(&threads[i], nothing, NULL);
  expand(&target, &spots);
  assert_int_equal(spots.inherit, 1);
  assert_int_equal(spots.on_exec, 0);
  for (i = 0; i < spots.nr_spots; i++) {
    found += spots.spots[i].pid == getpid();
    for (j = 0; j < 5; j++)
      found += spots.spots[i].pid == (int)threads[j].tid;
  }
  assert_int_equal(found, 6);
  open_all(&spots);
  uvperf__target_free(&spots);
  target.cpus = "0";
  expand(&target, &spots);
  assert_int_equal(spots.spots[0].cpu, 0);
  open_all(&spots);
  uvperf__target_free(&spots);
  for (i = 0; i < 5; i++)
    live_thread_end(&threads[i]);
}

static void refused(const uvperf_target_t *target, int code, int cause,
                    const char *piece) {
  size_t fds = support_count_fds();
  uvperf__target_spots_t spots;
  uvperf_error_t error = {0};

  assert_int_equal(expand_one(target, 0, &spots, &error), code);
  assert_int_equal(error.cause, cause);
  if (strstr(error.reason, piece) == NULL)
    fail_msg("'%s' is not in '%s'", piece, error.reason);
  assert_int_equal(support_count_fds(), fds);
}

static void thread_is_no_process(void **state) {
  live_thread_t thread;
  uvperf_target_t target;
  char text[16];

  live_thread_start(&thread, nothing, NULL);
  target = target_of(UVPERF_TARGET_PROCESS, (int)thread.tid);
  snprintf(text, sizeof(text), "%d", (int)getpid());
  refused(&target, -ESRCH, UVPERF_CAUSE_NO_TASK, text);
  live_thread_end(&thread);
}

static int end_at_once(void *arg) {
  return 0;
}

static void process_that_has_ended_is_esrch(void **state) {
  pid_t child = support_fork(end_at_once, NULL);
  uvperf_target_t target = target_of(UVPERF_TARGET_PROCESS, child);
  siginfo_t info;

  assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
  refused(&target, -ESRCH, UVPERF_CAUSE_NO_TASK, "");
  assert_int_equal(support_wait(child), 0);
  refused(&target, -ESRCH, UVPERF_CAUSE_NO_TASK, "");
}

static void cgroup_is_opened_on_each_cpu(void **state) {
  uvperf_target_t target = target_of(UVPERF_TARGET_CGROUP, 0);
  size_t fds = support_count_fds();
  uvperf__target_spots_t spots;
  live_cgroup_t cgroup;

  support_need_cpu_wide(__func__);
  live_cgroup_make(__func__, &cgroup);
  target.cgroup = cgroup.path;
  expand(&target, &spots);
  expect_online(&spots);
  assert_int_equal(spots.inherit, 0);
  open_all(&spots);
  uvperf__target_free(&spots);
  target.cpus = "0";
  expand(&target, &spots);
  assert_int_equal(spots.nr_spots, 1);
  assert_int_equal(spots.spots[0].cpu, 0);
  uvperf__target_free(&spots);
  live_cgroup_remove(&cgroup);
  assert_int_equal(support_count_fds(), fds);
}

/* The directory is open by then. */
static void cgroup_is_closed_if_its_cpus_cannot_be_listed(void **state) {
  uvperf_target_t target = target_of(UVPERF_TARGET_CGROUP, 0);
  uvperf__target_spots_t spots;
  live_cgroup_t cgroup;
  unsigned nth;
  size_t fds;

  live_cgroup_make(__func__, &cgroup);
  make_host_write("/proc/self/mounts", "c /cg cgroup2 rw 0 0\n");
  make_host_link("/cg", cgroup.path);
  target.cgroup = "/";
  refused(&target, -ENOENT, UVPERF_CAUSE_NO_CPU, "/sys");
  fake_host_set(NULL);
  target.cgroup = cgroup.path;
  fds = support_count_fds();
  for (nth = 1; nth <= 2; nth++) {
    fake_kernel_reset();
    fake_fail(FAKE_CALLOC, nth, -ENOMEM);
    assert_int_equal(expand_one(&target, 0, &spots, NULL), -ENOMEM);
    assert_int_equal(spots.cgroup_fd, -1);
    assert_int_equal(support_count_fds(), fds);
    fake_assert_clean();
  }
  live_cgroup_remove(&cgroup);
}

static int tree_setup(void **state) {
  fake_kernel_reset();
  return make_host_setup(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(cpus_that_are_online_are_opened,
                             fake_kernel_setup),
      cmocka_unit_test_setup(self_is_a_thread_that_others_can_name,
                             fake_kernel_setup),
      cmocka_unit_test_setup(process_is_all_its_threads, fake_kernel_setup),
      cmocka_unit_test_setup(thread_is_no_process, fake_kernel_setup),
      cmocka_unit_test_setup(process_that_has_ended_is_esrch,
                             fake_kernel_setup),
      cmocka_unit_test_setup(cgroup_is_opened_on_each_cpu, fake_kernel_setup),
      cmocka_unit_test_setup_teardown(
          cgroup_is_closed_if_its_cpus_cannot_be_listed, tree_setup,
          make_host_teardown),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
