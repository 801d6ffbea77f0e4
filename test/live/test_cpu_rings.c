/* SPDX-License-Identifier: MIT */
/* Live: records of events are in the ring of their CPU. */
#include "make_cpu_rings.h"
#include "live.h"

#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>

#include "sys/sys.h"

/* An event of a thread's COMM records on a CPU, in the ring there. */
static int open_comm(uvperf__cpu_ring_t *ring, pid_t pid) {
  struct perf_event_attr attr;
  int fd;

  uvperf_attr_software(&attr, PERF_COUNT_SW_DUMMY);
  attr.exclude_kernel = 1;
  attr.comm = 1;
  attr.write_backward = ring->ring.overwrite != 0;
  fd = uvperf__sys_open(&attr, pid, ring->cpu, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(uvperf__cpu_ring_join(ring, fd), 0);
  return fd;
}

static void comm_on(int cpu, unsigned nr) {
  cpu_set_t old;

  live_pin(cpu, &old);
  for (; nr > 0; nr--)
    assert_int_equal(prctl(PR_SET_NAME, "rings"), 0);
  live_unpin(&old);
}

/* How many records wait; they are read then. */
static unsigned drain(uvperf__cpu_ring_t *ring) {
  static _Alignas(8) uint8_t scratch[UVPERF__RING_SCRATCH_BYTES];
  const void *bytes;
  unsigned nr = 0;
  size_t size;

  assert_int_equal(uvperf__ring_begin(&ring->ring), 0);
  while (uvperf__ring_next(&ring->ring, scratch, &bytes, &size) == 1) {
    uvperf__ring_consume(&ring->ring, size);
    nr++;
  }
  uvperf__ring_end(&ring->ring);
  return nr;
}

static void wakeup_comes_after_the_quarter(void **state) {
  uvperf__cpu_rings_options_t options = cpu_rings_defaults;
  uvperf__cpu_rings_t *rings;
  uvperf__cpu_ring_t *ring;
  uint64_t written = 0;
  uint64_t before = 0;
  int fd;

  support_need_own_events(__func__);
  options.ring_bytes = 8 * support_page_bytes();
  rings = make_cpu_rings(&options);
  ring = cpu_rings_of(rings, live_last_cpu());
  fd = open_comm(ring, 0);
  while (uvperf__sys_poll(ring->fd, POLLIN) == 0) {
    before = written;
    comm_on(ring->cpu, 1);
    written = uvperf__ring_head(&ring->ring);
    assert_true(written < ring->ring.size);
  }
  assert_true(before <= ring->ring.size / 4);
  assert_true(written > ring->ring.size / 4);
  uvperf__sys_close(fd);
  uvperf__cpu_rings_free(rings);
}

/* An interrupt that wakes no process comes once a round, not with each
 * quarter. */
static void overwritable_ring_asks_for_a_wakeup_once_a_round(void **state) {
  uvperf__cpu_rings_options_t options = cpu_rings_defaults;
  uvperf__cpu_rings_t *rings;
  uvperf__cpu_ring_t *ring;
  uint64_t before = 0;
  uint64_t written = 0;
  int fd;

  support_need_own_events(__func__);
  options.ring_bytes = 2 * support_page_bytes();
  options.overwrite = 1;
  rings = make_cpu_rings(&options);
  ring = cpu_rings_of(rings, live_last_cpu());
  fd = open_comm(ring, 0);
  while (uvperf__sys_poll(ring->fd, POLLIN) == 0) {
    before = written;
    comm_on(ring->cpu, 1);
    written = -uvperf__ring_head(&ring->ring);
    assert_true(written < 2 * ring->ring.size);
  }
  assert_true(before <= ring->ring.size);
  assert_true(written > ring->ring.size);
  uvperf__sys_close(fd);
  uvperf__cpu_rings_free(rings);
}

/* It stays there: only an event of the CPU on which it ends reports its end. */
static void two_comms(void *arg) {
  cpu_set_t old;

  live_pin(live_last_cpu(), &old);
  comm_on(live_last_cpu(), 2);
}

static void owner_outlives_the_tasks_that_write(void **state) {
  uvperf__cpu_rings_t *rings;
  uvperf__cpu_ring_t *ring;
  live_worker_t worker;
  int fd;

  support_need_own_events(__func__);
  live_worker_fork(&worker, two_comms, NULL);
  rings = make_cpu_rings(&cpu_rings_defaults);
  ring = cpu_rings_of(rings, live_last_cpu());
  fd = open_comm(ring, worker.pid);
  live_worker_do(&worker);
  live_worker_end(&worker);
  /* The event reports its end, and the owner of the ring does not. */
  assert_int_equal(uvperf__sys_poll(fd, POLLIN) & POLLHUP, POLLHUP);
  assert_int_equal(uvperf__sys_poll(ring->fd, POLLIN) & POLLHUP, 0);
  /* Two of COMM and the task's EXIT. */
  assert_int_equal(drain(ring), 3);
  uvperf__cpu_ring_leave(ring);
  uvperf__sys_close(fd);
  fd = open_comm(ring, 0);
  comm_on(ring->cpu, 1);
  assert_int_equal(drain(ring), 1);
  uvperf__sys_close(fd);
  uvperf__cpu_rings_free(rings);
}

static void events_of_all_tasks_write_into_it(void **state) {
  uvperf__cpu_rings_t *rings;
  uvperf__cpu_ring_t *ring;
  int own, all;

  support_need_cpu_wide(__func__);
  rings = make_cpu_rings(&cpu_rings_defaults);
  ring = cpu_rings_of(rings, live_last_cpu());
  own = open_comm(ring, 0);
  all = open_comm(ring, -1);
  comm_on(ring->cpu, 5);
  assert_true(drain(ring) >= 10);
  uvperf__sys_close(own);
  uvperf__sys_close(all);
  uvperf__cpu_rings_free(rings);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test(wakeup_comes_after_the_quarter),
      cmocka_unit_test(overwritable_ring_asks_for_a_wakeup_once_a_round),
      cmocka_unit_test(owner_outlives_the_tasks_that_write),
      cmocka_unit_test(events_of_all_tasks_write_into_it),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
