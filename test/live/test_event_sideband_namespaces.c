/* SPDX-License-Identifier: MIT */
/* Live: NAMESPACES of a task that leaves one, and of a new task, checked
 * against /proc/<pid>/ns. */
#include "live_sideband.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* In the order of the *_NS_INDEX of <linux/perf_event.h>. */
static const char *const kinds[NR_NAMESPACES] = {"net",  "uts", "ipc",   "pid",
                                                 "user", "mnt", "cgroup"};

typedef struct spaces_s {
  live_truth_t truth;
  pid_t task; /* whose record it is */
  uvperf_namespace_t own[NR_NAMESPACES];
  uvperf_namespace_t link[NR_NAMESPACES]; /* of the first such record */
  uint64_t found;
} spaces_t;

/* The kernel's new_encode_dev(). */
static uint64_t encode_device(dev_t device) {
  uint64_t min = minor(device);

  return (min & 0xff) | (uint64_t)major(device) << 8 |
         (min & ~(uint64_t)0xff) << 12;
}

static void find_namespaces(pid_t pid, uvperf_namespace_t *links) {
  struct stat stat_of;
  char path[64];
  size_t i;

  for (i = 0; i < NR_NAMESPACES; i++) {
    snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, kinds[i]);
    /* One that this kernel has not: perf_ns_link_info is 0. */
    memset(&links[i], 0, sizeof(links[i]));
    if (stat(path, &stat_of) != 0)
      continue;
    links[i].dev = encode_device(stat_of.st_dev);
    links[i].inode = stat_of.st_ino;
  }
}

static void assert_namespaces(const uvperf_namespace_t *links,
                              const uvperf_namespace_t *expected) {
  size_t i;

  for (i = 0; i < NR_NAMESPACES; i++) {
    assert_true(links[i].dev == expected[i].dev);
    assert_true(links[i].inode == expected[i].inode);
  }
}

/* Records of other tasks are ignored. */
static void check_namespaces(live_collector_t *collector,
                             const uvperf_record_t *record) {
  const uvperf_namespaces_t *namespaces = &record->namespaces;
  spaces_t *spaces = collector->hook_data;

  if (record->type != PERF_RECORD_NAMESPACES ||
      namespaces->tid != (uint32_t)spaces->task)
    return;
  assert_int_equal(namespaces->pid, spaces->task);
  live_assert_trailer(collector, record, &spaces->truth);
  /* Newer kernels may append some. */
  assert_true(namespaces->nr >= NR_NAMESPACES);
  assert_int_equal(uvperf_record_cpu_mode(record->misc), 0);
  memcpy(spaces->link, namespaces->links, sizeof(spaces->link));
  spaces->found += 1;
}

static void leave_uts(void *arg) {
  if (unshare(CLONE_NEWUTS) != 0)
    _exit(1);
}

static void watch_worker(uv_loop_t *loop, const struct perf_event_attr *attr,
                         int is_cpu_wide) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_namespace_t after[NR_NAMESPACES];
  live_collector_t collector;
  live_worker_t worker;
  spaces_t spaces;
  cpu_set_t old;

  memset(&spaces, 0, sizeof(spaces));
  live_truth_pin(&spaces.truth, &old);
  live_worker_fork(&worker, leave_uts, NULL);
  spaces.task = spaces.truth.pid = spaces.truth.tid = worker.pid;
  find_namespaces(worker.pid, spaces.own);
  options.pid = is_cpu_wide ? -1 : worker.pid;
  options.cpu = is_cpu_wide ? spaces.truth.cpu : 0;
  options.flags = is_cpu_wide ? UVPERF_EVENT_CPU : 0;
  live_begin(loop, &collector, attr, &options, check_namespaces, &spaces);
  live_worker_do(&worker);
  find_namespaces(worker.pid, after);
  live_worker_end(&worker);
  live_end_among_others(&collector, &spaces.found, 1);
  live_unpin(&old);
  assert_namespaces(spaces.link, after);
  assert_true(after[UTS_NS_INDEX].inode != spaces.own[UTS_NS_INDEX].inode);
  spaces.link[UTS_NS_INDEX] = spaces.own[UTS_NS_INDEX];
  assert_namespaces(spaces.link, spaces.own); /* otherwise nothing has
                                               * changed */
}

static void sideband_namespaces_after_unshare_are_the_tasks(void **state) {
  struct perf_event_attr attr;
  int has_trailer;

  support_need_admin(__func__);
  for (has_trailer = 0; has_trailer <= 1; has_trailer++) {
    live_sideband_attr(&attr, has_trailer);
    attr.namespaces = 1;
    watch_worker(*state, &attr, 0);
  }
}

/* An event of a CPU is only asked if it has one of the bits of is_sb_event();
 * namespaces is not among them. */
static void sideband_namespaces_on_a_cpu_come_with_comm(void **state) {
  struct perf_event_attr attr;
  int has_trailer;

  support_need_admin(__func__);
  support_need_cpu_wide(__func__);
  for (has_trailer = 0; has_trailer <= 1; has_trailer++) {
    live_sideband_attr(&attr, has_trailer);
    attr.namespaces = 1;
    attr.comm = 1;
    watch_worker(*state, &attr, 1);
  }
}

static int exit_at_once(void *arg) {
  return 0;
}

/* perf_event_fork() records the namespaces of a new task, for its parent. */
static void sideband_namespaces_of_a_new_task_are_its_parents(void **state) {
  live_collector_t collector;
  struct perf_event_attr attr;
  spaces_t spaces;
  cpu_set_t old;

  support_need_admin(__func__);
  memset(&spaces, 0, sizeof(spaces));
  live_truth_pin(&spaces.truth, &old);
  find_namespaces(getpid(), spaces.own);
  live_sideband_attr(&attr, 1);
  attr.namespaces = 1;
  live_begin(*state, &collector, &attr, NULL, check_namespaces, &spaces);
  spaces.task = support_fork(exit_at_once, NULL);
  assert_int_equal(support_wait(spaces.task), 0);
  live_end(&collector, 1);
  live_unpin(&old);
  assert_int_equal(spaces.found, 1);
  assert_namespaces(spaces.link, spaces.own);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sideband_namespaces_after_unshare_are_the_tasks),
      support_loop_test(sideband_namespaces_on_a_cpu_come_with_comm),
      support_loop_test(sideband_namespaces_of_a_new_task_are_its_parents),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
