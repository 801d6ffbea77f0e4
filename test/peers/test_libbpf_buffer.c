/* SPDX-License-Identifier: MIT */
/* Live: the checks of libbpf's test of its perf_buffer,
 * prog_tests/perf_buffer.c in the kernel's selftests. Here a turn of the loop
 * replaces perf_buffer__poll, and a flush replaces perf_buffer__consume_buffer.
 * The whole list is in ORIGINS. */
#include "live_bpf_reader.h"

static void close_buffers(live_bpf_reader_t *live) {
  assert_int_equal(live->strange, 0);
  assert_int_equal(live->records, live->samples);
  assert_int_equal(live->faults, 0);
  live_bpf_reader_end(live);
}

/* Each online CPU sends its number in the payload, and has its own ring. */
static void buffer_reads_each_cpu_that_is_online(void **state) {
  int cpus[CPU_SETSIZE];
  size_t nr = live_cpus(cpus, CPU_SETSIZE);
  live_bpf_reader_t live;
  size_t online = 0;
  size_t i;

  live_bpf_reader_begin(__func__, *state, &live);
  assert_int_equal(uvperf_cpus(UVPERF_CPUS_ONLINE, NULL, &online), UV_ENOBUFS);
  assert_int_equal(uvperf_nr_rings(&live.reader.handle), online);
  for (i = 0; i < nr; i++)
    live_bpf_reader_send_all(&live, cpus[i], 1);
  assert_true(live_run_until(*state, &live.samples, nr));
  for (i = 0; i < nr; i++)
    assert_int_equal(live.by_cpu[cpus[i]], 1);
  close_buffers(&live);
}

/* Each ring has its own fd, and a flush delivers its records at once, without a
 * turn of the loop. */
static void buffer_of_each_cpu_is_consumed_without_the_loop(void **state) {
  int cpus[CPU_SETSIZE];
  size_t nr = live_cpus(cpus, CPU_SETSIZE);
  uvperf_ring_info_t ring;
  live_bpf_reader_t live;
  int32_t last_fd = -1;
  size_t i;

  live_bpf_reader_begin(__func__, *state, &live);
  for (i = 0; i < uvperf_nr_rings(&live.reader.handle); i++) {
    assert_int_equal(uvperf_ring(&live.reader.handle, i, &ring), 0);
    assert_true(ring.fd > last_fd);
    last_fd = ring.fd;
  }
  for (i = 0; i < nr; i++) {
    assert_int_equal(uvperf_flush(&live.reader.handle), 0);
    assert_int_equal(live.samples, i);
    live_bpf_reader_send_all(&live, cpus[i], 1);
    assert_int_equal(uvperf_flush(&live.reader.handle), 0);
    assert_int_equal(live.samples, i + 1);
    assert_int_equal(live.by_cpu[cpus[i]], 1);
  }
  close_buffers(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(buffer_reads_each_cpu_that_is_online),
      support_loop_test(buffer_of_each_cpu_is_consumed_without_the_loop),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
