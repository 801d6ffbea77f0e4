/* SPDX-License-Identifier: MIT */
/* Live: CGROUP records of cgroups (v2) that the test makes, checked against
 * their directories. */
#include "live_sideband.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES 16

/* Below a cgroup of the test's own, with names of 1 to NAMES letters. */
typedef struct groups_s {
  live_truth_t truth;
  live_cgroup_t parent;
  const char *parent_path; /* as the kernel names it */
  uint64_t ids[NAMES];
  uint64_t found;
} groups_t;

static const char letters[] = "abcdefghijklmnop";

/* The path in the hierarchy is the last part of that in the file system. */
static const char *path_in_hierarchy(const live_cgroup_t *cgroup) {
  return strrchr(cgroup->path, '/');
}

static void check_cgroup(live_collector_t *collector,
                         const uvperf_record_t *record) {
  const uvperf_cgroup_t *cgroup = &record->cgroup;
  groups_t *groups = collector->hook_data;
  char path[128];

  /* An event of a CPU has records of others, and COMM. */
  if (record->type != PERF_RECORD_CGROUP ||
      strncmp(cgroup->path, groups->parent_path, strlen(groups->parent_path)) !=
          0)
    return;
  assert_true(groups->found < NAMES);
  snprintf(path, sizeof(path), "%s/%.*s", groups->parent_path,
           (int)groups->found + 1, letters);
  assert_string_equal(cgroup->path, path);
  assert_int_equal(cgroup->path_size, strlen(path));
  assert_true(cgroup->id == groups->ids[groups->found]);
  live_assert_trailer(collector, record, &groups->truth);
  groups->found += 1;
}

static void make_each_length(groups_t *groups) {
  char path[600];
  int i;

  for (i = 0; i < NAMES; i++) {
    snprintf(path, sizeof(path), "%s/%.*s", groups->parent.path, i + 1,
             letters);
    assert_int_equal(mkdir(path, 0700), 0);
    groups->ids[i] = live_cgroup_id(path);
    assert_int_equal(rmdir(path), 0);
  }
}

static void watch_cgroups(const char *test, uv_loop_t *loop,
                          const struct perf_event_attr *attr, int is_cpu_wide) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  groups_t groups;
  cpu_set_t old;

  memset(&groups, 0, sizeof(groups));
  live_cgroup_make(test, &groups.parent);
  groups.parent_path = path_in_hierarchy(&groups.parent);
  live_truth_pin(&groups.truth, &old);
  if (is_cpu_wide) {
    options.pid = -1;
    options.cpu = groups.truth.cpu;
    options.flags |= UVPERF_EVENT_CPU;
  }
  live_begin(loop, &collector, attr, &options, check_cgroup, &groups);
  make_each_length(&groups);
  live_end_among_others(&collector, &groups.found, NAMES);
  live_unpin(&old);
  live_cgroup_remove(&groups.parent);
}

static void sideband_cgroup_of_each_length_has_id_and_path(void **state) {
  struct perf_event_attr attr;
  int has_trailer;

  support_need_own_events(__func__);
  for (has_trailer = 0; has_trailer <= 1; has_trailer++) {
    live_sideband_attr(&attr, has_trailer);
    attr.cgroup = 1;
    watch_cgroups(__func__, *state, &attr, 0);
  }
}

/* An event of a CPU is only asked if it has one of the bits of is_sb_event();
 * cgroup is not among them. */
static void sideband_cgroup_on_a_cpu_comes_with_comm(void **state) {
  struct perf_event_attr attr;
  int has_trailer;

  support_need_cpu_wide(__func__);
  for (has_trailer = 0; has_trailer <= 1; has_trailer++) {
    live_sideband_attr(&attr, has_trailer);
    attr.cgroup = 1;
    attr.comm = 1;
    watch_cgroups(__func__, *state, &attr, 1);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(sideband_cgroup_of_each_length_has_id_and_path),
      support_loop_test(sideband_cgroup_on_a_cpu_comes_with_comm),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
