/* SPDX-License-Identifier: MIT */
/* Live: a program that waits with poll(2) takes samples one by one; also from
 * one ring only. */
#include "live_bpf_reader.h"

#include <poll.h>

#define MOST_CPU 64

static int is_readable(const uvperf_bpf_reader_t *reader, size_t index) {
  uvperf_ring_info_t ring;
  struct pollfd fd;

  assert_int_equal(uvperf_ring(&reader->handle, index, &ring), 0);
  fd = (struct pollfd){ring.fd, POLLIN, 0};
  return poll(&fd, 1, 0) == 1 && fd.revents == POLLIN;
}

/* One after the other, so that rings go round. */
static void next_takes_what_programs_on_each_cpu_have_sent(void **state) {
  const uvperf_record_t *sample;
  live_bpf_reader_t live;
  uvperf_stats_t stats;
  int cpus[MOST_CPU];
  size_t nr, i;
  int turn;

  live_bpf_reader_make(__func__, &live, 0);
  live_bpf_reader_open(*state, &live, NULL);
  nr = live_cpus(cpus, MOST_CPU);
  assert_int_equal(uvperf_bpf_reader_publish(&live.reader, NULL), 0);
  assert_int_equal(uvperf_next(&live.reader.handle, &sample), UV_EAGAIN);
  for (turn = 0; turn < 20; turn++) {
    for (i = 0; i < nr; i++)
      live_bpf_reader_send_all(&live, cpus[i], 200);
    assert_int_equal(uvperf_has_record(&live.reader.handle), 1);
    while (uvperf_next(&live.reader.handle, &sample) == 0)
      live_bpf_reader_on_sample(&live.reader.handle, 0, sample);
    assert_int_equal(uvperf_has_record(&live.reader.handle), 0);
  }
  assert_int_equal(live.samples, 20 * 200 * nr);
  assert_int_equal(live.strange + live.others, 0);
  uvperf_stats(&live.reader.handle, &stats);
  assert_int_equal(stats.records, live.samples);
  assert_int_equal(stats.lost_records, 0);
  live_bpf_reader_end(&live);
}

/* As with libbpf's perf_buffer__buffer_fd() and
 * perf_buffer__consume_buffer(). */
static void ring_whose_fd_is_readable_is_flushed_alone(void **state) {
  live_bpf_reader_t live;
  uvperf_ring_info_t ring;
  int cpus[MOST_CPU];
  size_t nr, nr_rings, i;

  live_bpf_reader_make(__func__, &live, 0);
  live_bpf_reader_open(*state, &live, NULL);
  nr = live_cpus(cpus, MOST_CPU);
  /* Sets the callback; the loop never runs. */
  live_bpf_reader_start(&live, NULL);
  nr_rings = uvperf_nr_rings(&live.reader.handle);
  for (i = 0; i < nr_rings; i++)
    assert_false(is_readable(&live.reader, i));
  live_bpf_reader_send_all(&live, cpus[0], 3);
  live_bpf_reader_send_all(&live, cpus[nr - 1], 4);
  for (i = 0; i < nr_rings; i++) {
    assert_int_equal(uvperf_ring(&live.reader.handle, i, &ring), 0);
    if (ring.cpu == cpus[0])
      assert_true(is_readable(&live.reader, i));
  }
  assert_int_equal(uvperf_flush(&live.reader.handle), 0);
  assert_int_equal(live.samples, 7);
  assert_int_equal(live.strange, 0);
  live_bpf_reader_end(&live);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(next_takes_what_programs_on_each_cpu_have_sent),
      support_loop_test(ring_whose_fd_is_readable_is_flushed_alone),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
