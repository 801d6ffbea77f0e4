/* SPDX-License-Identifier: MIT */
/* The commands of bpf(2), against the real kernel: each gives a result or
 * -errno; and the scripted maps that stand for them. */
#include "support.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "fake_kernel.h"
#include "fake_map.h"
#include "live_bpf.h"
#include "live_bpf_array.h"
#include "sys/bpf.h"
#include "sys/sys.h"
#include "uvperf/attr.h"

static struct perf_event_attr task_clock(void) {
  struct perf_event_attr attr;

  uvperf_attr_software(&attr, PERF_COUNT_SW_TASK_CLOCK);
  attr.exclude_kernel = 1;
  return attr;
}

static int open_event(int inherit) {
  struct perf_event_attr attr = task_clock();
  int fd;

  attr.inherit = inherit != 0;
  fd = uvperf__sys_open(&attr, 0, 0, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  return fd;
}

/* -- links ---------------------------------------------------------------- */

static void bpf_link_is_an_fd_that_is_closed_on_exec(void **state) {
  int program = live_bpf_constant(__func__, BPF_PROG_TYPE_PERF_EVENT, 1);
  struct perf_event_attr attr = task_clock();
  int event, link;

  attr.sample_period = 1000000;
  event = uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(event >= 0);
  link = uvperf__sys_bpf_link(program, event, 0);
  if (link == -EINVAL)
    support_skip(__func__, "BPF links of perf events: Linux 5.15");
  assert_true(link >= 0);
  assert_int_equal(fcntl(link, F_GETFD), FD_CLOEXEC);
  /* This distinguishes a kernel with links from one without, which returns
   * EINVAL. */
  assert_int_equal(uvperf__sys_bpf_link(program, -1, 1), -EBADF);
  assert_int_equal(uvperf__sys_bpf_link(program, event, 0), -EEXIST);
  assert_int_equal(uvperf__sys_close(link), 0);
  /* It was the link that held it there. */
  assert_int_equal(uvperf__sys_ioctl(event, PERF_EVENT_IOC_SET_BPF, program),
                   0);
  assert_int_equal(uvperf__sys_close(event), 0);
  close(program);
}

/* -- maps ----------------------------------------------------------------- */

/* Its entries do not go with the caller's fd. */
static void map_by_id_is_a_file_of_its_own(void **state) {
  uvperf__bpf_map_info_t info;
  int map, event, own;

  live_bpf_array_need_files(__func__);
  map = live_bpf_array_make(__func__, 3);
  event = open_event(0);
  assert_int_equal(uvperf__sys_bpf_info(map, &info), 0);
  own = uvperf__sys_bpf_map_by_id(info.id, 0);
  assert_true(own >= 0);
  assert_int_equal(fcntl(own, F_GETFD), FD_CLOEXEC);
  assert_int_equal(uvperf__sys_access(own), O_RDWR);
  assert_int_equal(uvperf__sys_bpf_update(own, 1, (uint32_t)event), 0);
  assert_int_equal(uvperf__sys_close(own), 0);
  assert_int_equal(uvperf__sys_bpf_delete(map, 1), -ENOENT);
  close(event);
  close(map);
}

static void dup_is_of_the_same_file_and_closed_on_exec(void **state) {
  int ends[2];
  int copy;

  assert_int_equal(pipe2(ends, 0), 0);
  copy = uvperf__sys_dup(ends[1]);
  assert_true(copy >= 0 && copy != ends[1]);
  assert_int_equal(fcntl(copy, F_GETFD), FD_CLOEXEC);
  assert_int_equal(uvperf__sys_access(copy), O_WRONLY);
  assert_int_equal(uvperf__sys_access(ends[0]), O_RDONLY);
  assert_int_equal(uvperf__sys_dup(-1), -EBADF);
  assert_int_equal(uvperf__sys_access(-1), -EBADF);
  close(copy);
  close(ends[0]);
  close(ends[1]);
}

/* -- scripted maps -------------------------------------------------------- */

static void fake_map_is_as_the_kernels(void **state) {
  fake_map_t *map = fake_map_add(3);
  int fd = fake_map_open(map);
  uvperf__bpf_map_info_t info;
  int event, own, copy;

  fake_event_add(1);
  event = open_event(0);
  assert_int_equal(uvperf__sys_bpf_info(fd, &info), 0);
  assert_int_equal(info.max_entries, 3);
  own = uvperf__sys_bpf_map_by_id(info.id, 0);
  copy = uvperf__sys_dup(fd);
  assert_int_equal(uvperf__sys_bpf_update(own, 0, (uint32_t)event), 0);
  assert_int_equal(uvperf__sys_bpf_update(copy, 1, (uint32_t)event), 0);
  assert_int_equal(fake_map_at(map, 0), 0);
  assert_int_equal(fake_map_at(map, 2), FAKE_MAP_EMPTY);
  assert_int_equal(uvperf__sys_bpf_update(fd, 3, (uint32_t)event), -E2BIG);
  assert_int_equal(uvperf__sys_bpf_delete(fd, 2), -ENOENT);
  assert_int_equal(fake_map_count(map), 2);
  fake_map_close(fd);
  assert_int_equal(fake_map_count(map), 2);
  assert_int_equal(uvperf__sys_close(copy), 0);
  assert_int_equal(fake_map_count(map), 1);
  fake_map_put_foreign(map, 0);
  assert_int_equal(uvperf__sys_close(own), 0);
  assert_int_equal(fake_map_at(map, 0), FAKE_MAP_FOREIGN);
  assert_int_equal(uvperf__sys_close(event), 0);
  fake_assert_clean();
}

static void fake_map_calls_can_be_made_to_fail(void **state) {
  uvperf__bpf_map_info_t info;

  fake_fail(FAKE_BPF_INFO, 1, -1001);
  fake_fail(FAKE_BPF_MAP_BY_ID, 1, -1002);
  fake_fail(FAKE_BPF_PINNED, 1, -1003);
  fake_fail(FAKE_BPF_UPDATE, 1, -1004);
  fake_fail(FAKE_BPF_DELETE, 1, -1005);
  fake_fail(FAKE_DUP, 1, -1006);
  fake_fail(FAKE_ACCESS, 1, -1007);
  assert_int_equal(uvperf__sys_bpf_info(-1, &info), -1001);
  assert_int_equal(uvperf__sys_bpf_map_by_id(0, 0), -1002);
  assert_int_equal(uvperf__sys_bpf_pinned("/"), -1003);
  assert_int_equal(uvperf__sys_bpf_update(-1, 5, 0), -1004);
  assert_int_equal(uvperf__sys_bpf_delete(-1, 6), -1005);
  assert_int_equal(uvperf__sys_dup(-1), -1006);
  assert_int_equal(uvperf__sys_access(-1), -1007);
  assert_string_equal(fake_log(),
                      "bpf info failed, bpf map by id failed, bpf pinned "
                      "failed, bpf update 5 failed, bpf delete 6 failed, dup "
                      "failed");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(bpf_link_is_an_fd_that_is_closed_on_exec,
                             fake_kernel_setup),
      cmocka_unit_test_setup(map_by_id_is_a_file_of_its_own, fake_kernel_setup),
      cmocka_unit_test_setup(dup_is_of_the_same_file_and_closed_on_exec,
                             fake_kernel_setup),
      cmocka_unit_test_setup(fake_map_is_as_the_kernels, fake_kernel_setup),
      cmocka_unit_test_setup(fake_map_calls_can_be_made_to_fail,
                             fake_kernel_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
