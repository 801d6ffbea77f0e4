/* SPDX-License-Identifier: MIT */
/* Rings that the kernel itself maps and writes. */
#include "support.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <linux/perf_event.h>

#include "fake_kernel.h"
#include "ring/ring.h"
#include "sys/sys.h"

/* A uid without processes: its perf_event_mlock_kb is unused. */
#define SOME_UID 61234

static int open_comm_event(void) {
  struct perf_event_attr attr;

  memset(&attr, 0, sizeof(attr));
  attr.size = sizeof(attr);
  attr.type = PERF_TYPE_SOFTWARE;
  attr.config = PERF_COUNT_SW_DUMMY;
  attr.comm = 1;
  attr.exclude_kernel = 1;
  return uvperf__sys_open(&attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static void map_of_a_real_ring_maps_one_page_more(void **state) {
  uvperf__ring_t ring;
  size_t rings_before;
  size_t bytes_before;
  size_t bytes;
  int fd;

  support_need_own_events(__func__);
  rings_before = support_count_rings(&bytes_before);
  fd = open_comm_event();
  assert_true(fd >= 0);
  assert_int_equal(uvperf__ring_map(&ring, fd, 8 * support_page_bytes(), 0), 0);
  assert_int_equal(support_count_rings(&bytes), rings_before + 1);
  assert_int_equal(bytes, bytes_before + 9 * support_page_bytes());
  assert_int_equal(ring.page->data_size, 8 * support_page_bytes());
  assert_ptr_equal(ring.data, (uint8_t *)ring.page + ring.page->data_offset);
  uvperf__ring_unmap(&ring);
  assert_int_equal(support_count_rings(&bytes), rings_before);
  assert_int_equal(uvperf__sys_close(fd), 0);
}

static void map_of_a_size_the_kernel_refuses_is_einval(void **state) {
  uvperf__ring_t ring;
  size_t bytes;
  size_t rings;
  int fd;

  support_need_own_events(__func__);
  rings = support_count_rings(&bytes);
  fd = open_comm_event();
  assert_true(fd >= 0);
  assert_int_equal(uvperf__ring_map(&ring, fd, 3 * support_page_bytes(), 0),
                   -EINVAL);
  assert_int_equal(support_count_rings(&bytes), rings);
  assert_int_equal(uvperf__sys_close(fd), 0);
}

/* Renames the thread, which the kernel records, and reads that record. */
static void rename_and_read(uvperf__ring_t *ring, unsigned i) {
  static uint64_t scratch[UVPERF__RING_SCRATCH_BYTES / sizeof(uint64_t)];
  struct perf_event_header header;
  const uint8_t *record;
  const void *bytes;
  uint32_t ids[2];
  char name[16];
  size_t size;

  memset(name, 0, sizeof(name));
  snprintf(name, sizeof(name), "ring-%u", i);
  assert_int_equal(prctl(PR_SET_NAME, name), 0);
  assert_int_equal(uvperf__ring_has_data(ring), 1);
  assert_int_equal(uvperf__ring_begin(ring), 0);
  assert_int_equal(uvperf__ring_next(ring, scratch, &bytes, &size), 1);
  record = bytes;
  memcpy(&header, record, sizeof(header));
  memcpy(ids, record + sizeof(header), sizeof(ids));
  assert_int_equal(header.type, PERF_RECORD_COMM);
  assert_int_equal(header.size, size);
  assert_int_equal(ids[0], getpid());
  assert_int_equal(ids[1], gettid());
  assert_string_equal((const char *)record + 16, name);
  uvperf__ring_consume(ring, size);
  assert_int_equal(uvperf__ring_next(ring, scratch, &bytes, &size), 0);
  uvperf__ring_end(ring);
  assert_int_equal(ring->page->data_tail, ring->page->data_head);
}

static void stream_of_a_real_ring_arrives_over_many_laps(void **state) {
  uvperf__ring_t ring;
  char name[16];
  unsigned i;
  int fd;

  support_need_own_events(__func__);
  assert_int_equal(prctl(PR_GET_NAME, name), 0);
  fd = open_comm_event();
  assert_true(fd >= 0);
  assert_int_equal(uvperf__ring_map(&ring, fd, support_page_bytes(), 0), 0);
  for (i = 0; ring.tail < 8 * support_page_bytes(); i++)
    rename_and_read(&ring, i);
  uvperf__ring_unmap(&ring);
  assert_int_equal(uvperf__sys_close(fd), 0);
  assert_int_equal(prctl(PR_SET_NAME, name), 0);
}

enum {
  CHILD_HALVED = 0,
  CHILD_NO_UID,
  CHILD_NO_EVENT,
  CHILD_NO_RING,
  CHILD_BAD_SIZE,
  CHILD_NEVER_HALVED
};

/* Uses up what perf_event_mlock_kb allows an unprivileged user. RLIMIT_MEMLOCK,
 * which counts when that is used up, leaves room for a small ring only. */
static int map_until_halved(void *arg) {
  const rlim_t room = 25 * support_page_bytes();
  const struct rlimit limit = {room, room};
  uvperf__ring_t ring;
  long tries;
  int fd;

  if (setrlimit(RLIMIT_MEMLOCK, &limit) != 0 || setuid(SOME_UID) != 0)
    return CHILD_NO_UID;
  for (tries = 4 * sysconf(_SC_NPROCESSORS_CONF) + 8; tries > 0; tries--) {
    fd = open_comm_event();
    if (fd < 0)
      return CHILD_NO_EVENT;
    if (uvperf__ring_map_default(&ring, fd, 0, 0) != 0)
      return CHILD_NO_RING;
    if (ring.size != ring.page->data_size || ring.size < support_page_bytes())
      return CHILD_BAD_SIZE;
    if (ring.size < UVPERF__RING_DEFAULT_BYTES)
      return CHILD_HALVED;
  }
  return CHILD_NEVER_HALVED;
}

static int paranoid(void) {
  FILE *file;
  int level;

  file = fopen("/proc/sys/kernel/perf_event_paranoid", "r");
  assert_non_null(file);
  assert_int_equal(fscanf(file, "%d", &level), 1);
  fclose(file);
  return level;
}

static void map_default_above_mlock_kb_is_halved(void **state) {
  support_need_root(__func__);
  support_need_own_events(__func__);
  /* At -1 there is no limit, see perf_mmap. */
  if (paranoid() > 2 || paranoid() < 0)
    support_skip(__func__, "perf_event_paranoid from 0 to 2");
  assert_int_equal(support_wait(support_fork(map_until_halved, NULL)),
                   CHILD_HALVED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(map_of_a_real_ring_maps_one_page_more,
                             fake_kernel_setup),
      cmocka_unit_test_setup(map_of_a_size_the_kernel_refuses_is_einval,
                             fake_kernel_setup),
      cmocka_unit_test_setup(stream_of_a_real_ring_arrives_over_many_laps,
                             fake_kernel_setup),
      cmocka_unit_test_setup(map_default_above_mlock_kb_is_halved,
                             fake_kernel_setup),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
