/* SPDX-License-Identifier: MIT */
/* Live: the kernel writes a record longer than 64 KiB over others in the ring,
 * because header.size has 16 bits. Such a ring is skipped up to its head, and
 * delivery continues. */
#include "live_bpf_reader.h"
#include "live_stream.h"

#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define RING_BYTES 65536

/* Reads the kernel's write position and the limit of it, by a mapping of the
 * test's own. */
static void read_page(int fd, uint64_t *head, uint64_t *tail) {
  size_t bytes = support_page_bytes() + RING_BYTES;
  struct perf_event_mmap_page *page;

  page = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  assert_true(page != MAP_FAILED);
  *head = page->data_head;
  *tail = page->data_tail;
  munmap(page, bytes);
}

/* -- a payload of a BPF program ------------------------------------------- */

static void expect_reader_sum(const live_bpf_reader_t *live, size_t index) {
  uvperf_ring_info_t ring;
  uint64_t head, tail;

  assert_int_equal(uvperf_ring(&live->reader.handle, index, &ring), 0);
  read_page(ring.fd, &head, &tail);
  assert_int_equal(ring.waiting, 0);
  assert_int_equal(ring.stats.bytes + ring.stats.skipped_bytes, head);
  assert_int_equal(tail, head);
}

static void send_too_much(live_bpf_reader_t *live, int cpu) {
  static uint8_t payload[LIVE_BPF_TOO_MUCH];

  memset(payload, 0xab, sizeof(payload));
  assert_int_equal(
      live_bpf_output_on(&live->output, cpu, payload, LIVE_BPF_TOO_MUCH), 0);
}

static void reader_goes_on_after_a_payload_of_66000_bytes(void **state) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();
  uvperf_stats_t stats;
  live_bpf_reader_t live;
  int cpus[8];
  size_t nr = live_cpus(cpus, 8);
  size_t i;
  uint64_t round;

  options.ring_bytes = RING_BYTES;
  live_bpf_reader_make(__func__, &live, 0);
  live_bpf_reader_open(*state, &live, &options);
  live_bpf_reader_start(&live, NULL);
  live_run_ms(*state, 5);
  for (round = 1; round <= 5; round++) {
    live_bpf_reader_send_all(&live, cpus[0], 500);
    send_too_much(&live, cpus[0]);
    for (i = 1; i < nr; i++)
      live_bpf_reader_send_all(&live, cpus[i], 1);
    assert_true(live_run_until(*state, &live.faults, round));
    assert_int_equal(live.fault, UV_EPROTO);
    assert_int_equal(live.fault_ring.cpu, cpus[0]);
    assert_true(live.fault_ring.stats.skipped_bytes > 0);
    live_bpf_reader_send_all(&live, cpus[0], 10);
    assert_true(live_run_until(*state, &live.samples, round * (10 + nr - 1)));
    assert_int_equal(live.faults, round);
    assert_int_equal(uvperf_is_active(&live.reader.handle), 1);
    for (i = 0; i < nr; i++)
      expect_reader_sum(&live, i);
    /* A restart makes no difference. */
    assert_int_equal(uvperf_stop(&live.reader.handle), 0);
    live_bpf_reader_start(&live, NULL);
  }
  assert_int_equal(live.strange, 0);
  uvperf_stats(&live.reader.handle, &stats);
  assert_int_equal(stats.corrupt, 5);
  assert_true(stats.skipped_bytes > 5 * 500 * 40);
  live_bpf_reader_end(&live);
}

/* -- a stack with the registers of the interrupt -------------------------- */

/* Another event, which the library would refuse, writes into a ring at each
 * live_called: the registers that the kernel adds to the stack overwrite the
 * header and the bytes before it, once around the ring. */
static int open_neighbour(const struct perf_event_attr *like, int cpu,
                          int ring_fd) {
  struct perf_event_attr attr;
  int fd;

  live_called_attr(&attr, PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_INTR);
  attr.sample_regs_intr = 7;
  attr.sample_stack_user = 65528 - 7 * 8 + 16;
  attr.use_clockid = like->use_clockid;
  attr.clockid = like->clockid;
  attr.disabled = 0;
  fd = (int)syscall(SYS_perf_event_open, &attr, 0, cpu, -1,
                    PERF_FLAG_FD_CLOEXEC);
  assert_true(fd >= 0);
  assert_int_equal(ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, (long)ring_fd), 0);
  return fd;
}

static void event_goes_on_beside_a_neighbour_with_large_stacks(void **state) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  live_collector_t collector;
  struct perf_event_attr attr;
  uvperf_stats_t stats;
  uint64_t head, tail;
  uint64_t next = 0;
  int fd;

  support_need_breakpoints(__func__);
  live_comm_attr(&attr);
  options.ring_bytes = RING_BYTES;
  live_begin(*state, &collector, &attr, &options, NULL, NULL);
  fd = open_neighbour(uvperf_handle_attr(&collector.event.handle, 0), -1,
                      uvperf_event_fd(&collector.event));
  live_comm(&next, 3);
  live_called(0);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.corrupt, 1);
  assert_true(stats.skipped_bytes > 0);
  live_comm(&next, 2);
  assert_int_equal(uvperf_flush(&collector.event.handle), 0);
  assert_int_equal(uvperf_is_active(&collector.event.handle), 1);
  uvperf_stats(&collector.event.handle, &stats);
  assert_int_equal(stats.corrupt, 1);
  assert_true(stats.records >= 2);
  read_page(uvperf_event_fd(&collector.event), &head, &tail);
  assert_int_equal(stats.bytes + stats.skipped_bytes, head);
  assert_int_equal(tail, head);
  close(fd);
  live_close(&collector);
}

static uvperf_ring_info_t ring_of(const uvperf_set_t *set, int cpu) {
  uvperf_ring_info_t ring;
  size_t i;

  for (i = 0; uvperf_ring(&set->handle, i, &ring) == 0 && ring.cpu != cpu; i++)
    continue;
  assert_int_equal(ring.cpu, cpu);
  return ring;
}

static void set_goes_on_beside_a_neighbour_with_large_stacks(void **state) {
  struct perf_event_attr *attr;
  uvperf_ring_info_t ring;
  live_stream_t stream;
  uint64_t head, tail;
  live_plan_t plan;
  uint64_t next, comms;
  cpu_set_t old;
  size_t mode;
  int cpu;
  int fd;

  support_need_breakpoints(__func__);
  live_cpus(&cpu, 1);
  live_pin(cpu, &old);
  for (mode = 0; mode < LIVE_STREAM_MODES; mode++) {
    live_stream_plan(&plan);
    attr = live_stream_plan_comm(&plan);
    attr->use_clockid = 1;
    attr->clockid = CLOCK_MONOTONIC;
    live_stream_plan_target(&plan, UVPERF_TARGET_SELF, 0);
    plan.options.ring_bytes = RING_BYTES;
    live_stream_plan_mode(&plan, mode);
    live_stream_open(*state, &stream, &plan.options);
    live_stream_start(&stream, NULL);
    ring = ring_of(&stream.live.set, cpu);
    fd = open_neighbour(attr, cpu, ring.fd);
    next = 0;
    live_comm(&next, 3);
    live_called(0);
    assert_int_equal(uvperf_flush(&stream.live.set.handle), 0);
    assert_int_equal(stream.faults, 1);
    assert_int_equal(stream.fault, UV_EPROTO);
    assert_int_equal(stream.fault_ring.cpu, cpu);
    assert_int_equal(uvperf_stop(&stream.live.set.handle), 0);
    live_stream_start(&stream, NULL);
    comms = stream.comms;
    live_comm(&next, 5);
    assert_true(live_run_until(*state, &stream.comms, comms + 5));
    assert_int_equal(stream.faults, 1);
    ring = ring_of(&stream.live.set, cpu);
    read_page(ring.fd, &head, &tail);
    assert_int_equal(ring.stats.bytes + ring.stats.skipped_bytes + ring.waiting,
                     head);
    close(fd);
    live_stream_close(&stream);
  }
  live_unpin(&old);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(reader_goes_on_after_a_payload_of_66000_bytes),
      support_loop_test(event_goes_on_beside_a_neighbour_with_large_stacks),
      support_loop_test(set_goes_on_beside_a_neighbour_with_large_stacks),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
