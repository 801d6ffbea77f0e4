/* SPDX-License-Identifier: MIT */
/* Maps of this kernel: which files entries live with, which entries a close
 * removes, and what an fd may do. */
#include "support.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring/bpf_map.h"
#include "check_explain.h"
#include "fake_kernel.h"
#include "live_bpf.h"
#include "live_bpf_array.h"
#include "sys/bpf.h"
#include "sys/sys.h"
#include "uvperf.h"

#define ENTRIES 4

static int open_event(void) {
  struct perf_event_attr attr;
  int fd;

  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_type = PERF_SAMPLE_RAW;
  attr.sample_period = 1;
  fd = uvperf__sys_open(&attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  return fd;
}

static void open_map(uvperf__bpf_map_t *map, int fd, const char *path) {
  uvperf_error_t error;

  if (uvperf__bpf_map_open(map, fd, path, 0, &error) != 0)
    fail_msg("%s", error.reason);
}

static void put(const uvperf__bpf_map_t *map, uint32_t key, int event) {
  uvperf_error_t error;

  if (uvperf__bpf_map_put(map, key, event, &error) != 0)
    fail_msg("%s", error.reason);
}

/* Whether an entry of the map is filled, by an fd of it: it is emptied. */
static int had_entry(int fd, uint32_t key) {
  int rc = uvperf__sys_bpf_delete(fd, key);

  assert_true(rc == 0 || rc == -ENOENT);
  return rc == 0;
}

/* Another fd of the same map, in a file of its own. */
static int another_file(int fd, uint32_t flags) {
  uvperf__bpf_map_info_t info;
  int other;

  assert_int_equal(uvperf__sys_bpf_info(fd, &info), 0);
  other = uvperf__sys_bpf_map_by_id(info.id, flags);
  assert_true(other >= 0);
  return other;
}

static int make_array(const char *test) {
  live_bpf_array_need_files(test);
  return live_bpf_array_make(test, ENTRIES);
}

static int make_map(uint32_t type, uint32_t flags) {
  union bpf_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.map_type = type;
  attr.key_size = 4;
  attr.value_size = 4;
  attr.max_entries = ENTRIES;
  attr.map_flags = flags;
  return live_bpf_call(BPF_MAP_CREATE, &attr);
}

/* -- entries of others ---------------------------------------------------- */

static void close_takes_out_its_own_entries_alone(void **state) {
  int fd = make_array(__func__);
  int event = open_event();
  uvperf__bpf_map_t map;

  open_map(&map, fd, NULL);
  assert_true(uvperf__bpf_map_clears(&map));
  put(&map, 0, event);
  put(&map, 1, event);
  /* By another file, as a second reader does: it replaces our event. */
  assert_int_equal(uvperf__sys_bpf_update(fd, 1, (uint32_t)event), 0);
  assert_int_equal(uvperf__sys_bpf_update(fd, 2, (uint32_t)event), 0);
  uvperf__bpf_map_close(&map);
  assert_false(had_entry(fd, 0));
  assert_true(had_entry(fd, 1));
  assert_true(had_entry(fd, 2));
  close(event);
  close(fd);
}

/* A file that is shared with the caller closes with the last of both fds, so
 * the library removes its entries itself. */
static void shared_file_keeps_entries_until_both_are_closed(void **state) {
  int fd = make_array(__func__);
  int watcher = another_file(fd, 0);
  int event = open_event();
  uvperf__bpf_map_t map;

  fake_fail(FAKE_BPF_MAP_BY_ID, 1, -EPERM);
  open_map(&map, fd, NULL);
  assert_false(map.is_own);
  assert_false(uvperf__bpf_map_clears(&map));
  put(&map, 0, event);
  close(fd);
  assert_true(had_entry(watcher, 0));
  put(&map, 0, event);
  uvperf__bpf_map_close(&map);
  assert_false(had_entry(watcher, 0));
  close(event);
  close(watcher);
}

static void map_that_preserves_keeps_its_events(void **state) {
  int probe = live_bpf_array_make(__func__, ENTRIES);
  int fd = make_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, BPF_F_PRESERVE_ELEMS);
  int event = open_event();
  uvperf__bpf_map_t map;

  close(probe);
  assert_true(fd >= 0);
  open_map(&map, fd, NULL);
  assert_true(map.keeps);
  assert_false(uvperf__bpf_map_clears(&map));
  put(&map, 0, event);
  put(&map, 1, event);
  assert_int_equal(uvperf__bpf_map_take(&map, 1, NULL), 0);
  assert_int_equal(uvperf__bpf_map_take(&map, 1, NULL), 0);
  uvperf__bpf_map_close(&map);
  assert_true(had_entry(fd, 0));
  assert_false(had_entry(fd, 1));
  close(event);
  close(fd);
}

/* -- pinned --------------------------------------------------------------- */

static void path_without_a_pin_is_reported(void **state) {
  uvperf__bpf_map_t map;
  uvperf_error_t error;

  live_bpf_need(__func__, BPF_PROG_TYPE_SCHED_CLS);
  assert_int_equal(uvperf__bpf_map_open(&map, -1, "/nowhere/at/all", 0, &error),
                   -ENOENT);
  explain_check(&error, -ENOENT, UVPERF_CAUSE_ARGUMENT, "/nowhere/at/all");
  assert_int_equal(
      uvperf__bpf_map_open(&map, -1, "/proc/self/status/x", 0, &error),
      -ENOTDIR);
  explain_check(&error, -ENOTDIR, UVPERF_CAUSE_ARGUMENT, "/proc/self/status/x");
  assert_int_equal(
      uvperf__bpf_map_open(&map, -1, "/proc/self/status", 0, &error), -EACCES);
  explain_check(&error, -EACCES, UVPERF_CAUSE_PERMISSION, "bpffs");
  assert_int_equal(map.fd, -1);
}

/* -- its type ------------------------------------------------------------- */

static void refuses(int fd, int code, const char *piece) {
  size_t fds = support_count_fds();
  uvperf__bpf_map_t map;
  uvperf_error_t error;

  assert_int_equal(uvperf__bpf_map_open(&map, fd, NULL, 0, &error), code);
  explain_check(&error, code, UVPERF_CAUSE_ARGUMENT, piece);
  assert_int_equal(uvperf__bpf_map_open(&map, fd, NULL, 0, NULL), code);
  assert_int_equal(map.fd, -1);
  assert_int_equal(support_count_fds(), fds);
}

static void fd_of_no_such_map_is_refused(void **state) {
  live_bpf_t program;
  int fd, ends[2];

  live_bpf_need(__func__, BPF_PROG_TYPE_SCHED_CLS);
  fd = make_map(BPF_MAP_TYPE_HASH, 0);
  assert_true(fd >= 0);
  refuses(fd, -EINVAL, "BPF_MAP_TYPE_HASH");
  close(fd);
  refuses(fd, -EBADF, "");
  live_bpf_load_shortest(&program, BPF_PROG_TYPE_SCHED_ACT, "");
  refuses(program.fd, -EINVAL, "BTF");
  live_bpf_close(&program);
  assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
  refuses(ends[0], -EINVAL, "");
  close(ends[0]);
  close(ends[1]);
}

/* -- access --------------------------------------------------------------- */

static void map_that_may_only_be_read_says_so(void **state) {
  int probe = make_array(__func__);
  int event = open_event();
  int fd = another_file(probe, BPF_F_RDONLY);
  uvperf__bpf_map_t map;
  uvperf_error_t error;
  int shared;

  for (shared = 0; shared < 2; shared++) {
    if (shared)
      fake_fail(FAKE_BPF_MAP_BY_ID, 1, -EPERM);
    open_map(&map, fd, NULL);
    assert_int_equal(uvperf__bpf_map_put(&map, 0, event, &error), -EPERM);
    explain_check(&error, -EPERM, UVPERF_CAUSE_PERMISSION, "BPF_F_RDONLY");
    assert_int_equal(uvperf__bpf_map_take(&map, 0, &error), -EPERM);
    explain_check(&error, -EPERM, UVPERF_CAUSE_PERMISSION, "BPF_F_RDONLY");
    uvperf__bpf_map_close(&map);
  }
  assert_false(had_entry(probe, 0));
  close(fd);
  close(event);
  close(probe);
}

static void event_that_inherits_is_refused(void **state) {
  int fd = live_bpf_array_make(__func__, ENTRIES);
  struct perf_event_attr attr;
  uvperf__bpf_map_t map;
  uvperf_error_t error;
  int event;

  uvperf_attr_init(&attr, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
  attr.inherit = 1;
  event = uvperf__sys_open(&attr, 0, 0, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(event >= 0);
  open_map(&map, fd, NULL);
  assert_int_equal(uvperf__bpf_map_put(&map, 0, event, &error), -EOPNOTSUPP);
  explain_check(&error, -EOPNOTSUPP, UVPERF_CAUSE_NOT_SUPPORTED, "inherit");
  uvperf__bpf_map_close(&map);
  close(event);
  close(fd);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(close_takes_out_its_own_entries_alone,
                             fake_kernel_setup),
      cmocka_unit_test_setup(shared_file_keeps_entries_until_both_are_closed,
                             fake_kernel_setup),
      cmocka_unit_test_setup(map_that_preserves_keeps_its_events,
                             fake_kernel_setup),
      cmocka_unit_test_setup(path_without_a_pin_is_reported, fake_kernel_setup),
      cmocka_unit_test_setup(fd_of_no_such_map_is_refused, fake_kernel_setup),
      cmocka_unit_test_setup(map_that_may_only_be_read_says_so,
                             fake_kernel_setup),
      cmocka_unit_test_setup(event_that_inherits_is_refused, fake_kernel_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
