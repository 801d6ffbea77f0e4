/* SPDX-License-Identifier: MIT */
/* Live: the programs on which the tests of BPF readers rely do what they
 * promise, checked with an event and a ring of this file's own. */
#include "live_bpf_array.h"

#include <unistd.h>

#include "live.h"
#include "ring/ring.h"
#include "sys/sys.h"

typedef struct fixture_s {
  int array;
  int cpu;
  int fd;
  cpu_set_t old;
  uvperf__ring_t ring;
} fixture_t;

/* A ring in the entry of this CPU, on which the caller stays. */
static void open_fixture(fixture_t *fixture, const char *test,
                         size_t ring_bytes) {
  struct perf_event_attr attr;

  fixture->array = live_bpf_array_make(test, 0);
  fixture->cpu = live_last_cpu();
  live_pin(fixture->cpu, &fixture->old);
  uvperf_attr_software(&attr, PERF_COUNT_SW_BPF_OUTPUT);
  attr.sample_type = PERF_SAMPLE_RAW;
  uvperf_attr_set_period(&attr, 1);
  attr.disabled = 0;
  fixture->fd =
      uvperf__sys_open(&attr, -1, fixture->cpu, -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(fixture->fd >= 0);
  assert_int_equal(uvperf__ring_map(&fixture->ring, fixture->fd,
                                    uvperf__ring_round(ring_bytes), 0),
                   0);
}

static void put(const fixture_t *fixture) {
  assert_int_equal(
      live_bpf_array_put(fixture->array, (uint32_t)fixture->cpu, fixture->fd),
      0);
}

static void close_fixture(fixture_t *fixture) {
  uvperf__ring_unmap(&fixture->ring);
  close(fixture->fd);
  close(fixture->array);
  live_unpin(&fixture->old);
}

/* The next payload in the ring, with the kernel's padding. Returns its size, or
 * 0 at the ring's end. Adds the counts of LOST records to *lost. */
static size_t take(fixture_t *fixture, const uint8_t **payload,
                   uint64_t *lost) {
  static _Alignas(8) uint8_t scratch[UVPERF__RING_SCRATCH_BYTES];
  const struct perf_event_header *header;
  const uint64_t *words;
  const void *bytes;
  uint32_t raw;
  size_t size;

  assert_int_equal(uvperf__ring_begin(&fixture->ring), 0);
  while (uvperf__ring_next(&fixture->ring, scratch, &bytes, &size) == 1) {
    /* The tail is published after each quarter: the returned bytes stay
     * valid. */
    uvperf__ring_consume(&fixture->ring, size);
    header = bytes;
    words = bytes;
    if (header->type == PERF_RECORD_LOST) {
      *lost += words[2];
      continue;
    }
    assert_int_equal(header->type, PERF_RECORD_SAMPLE);
    memcpy(&raw, words + 1, sizeof(raw));
    assert_int_equal(raw + 12, size);
    *payload = (const uint8_t *)bytes + 12;
    return raw;
  }
  uvperf__ring_end(&fixture->ring);
  return 0;
}

static void output_hands_out_what_it_is_given(void **state) {
  static const size_t sizes[] = {0, 1, 4, 5, 12, 4096, LIVE_BPF_MOST};
  live_bpf_output_t output;
  const uint8_t *found;
  uint8_t *payload;
  uint64_t lost = 0;
  fixture_t fixture;
  size_t i, k;

  open_fixture(&fixture, __func__, 4 * LIVE_BPF_MOST);
  payload = calloc(1, LIVE_BPF_MOST);
  assert_non_null(payload);
  live_bpf_output_open(&output, fixture.array);
  assert_int_equal(live_bpf_output(&output, payload, 8), -ENOENT);
  put(&fixture);
  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
    for (k = 0; k < sizes[i]; k++)
      payload[k] = live_bpf_byte(i, k);
    assert_int_equal(live_bpf_output(&output, payload, sizes[i]), 0);
    assert_int_equal(take(&fixture, &found, &lost),
                     (sizes[i] + 11) / 8 * 8 - 4);
    assert_memory_equal(found, payload, sizes[i]);
  }
  assert_int_equal(take(&fixture, &found, &lost), 0);
  assert_int_equal(lost, 0);
  assert_int_equal(live_bpf_array_take(fixture.array, (uint32_t)fixture.cpu),
                   0);
  assert_int_equal(live_bpf_output(&output, payload, 8), -ENOENT);
  live_bpf_output_close(&output);
  close_fixture(&fixture);
  free(payload);
}

/* __bpf_perf_event_output in kernel/trace/bpf_trace.c. */
static void output_to_an_index_is_for_that_cpu_alone(void **state) {
  int cpus[CPU_SETSIZE];
  size_t nr = live_cpus(cpus, CPU_SETSIZE);
  live_bpf_output_t output;
  const uint8_t *payload;
  uint64_t lost = 0;
  cpu_set_t old;
  uint32_t index;
  fixture_t fixture;

  open_fixture(&fixture, __func__, 4096);
  index = (uint32_t)fixture.cpu;
  live_bpf_output_open(&output, fixture.array);
  assert_int_equal(live_bpf_output_to(&output, index, "12345678", 8), -ENOENT);
  put(&fixture);
  assert_int_equal(live_bpf_output_to(&output, index, "12345678", 8), 0);
  assert_int_equal(take(&fixture, &payload, &lost), 12);
  assert_int_equal(live_bpf_output_to(&output, 1 << 20, "12345678", 8), -E2BIG);
  if (nr > 1) {
    live_pin(cpus[0], &old);
    assert_int_equal(live_bpf_output_to(&output, index, "12345678", 8),
                     -EOPNOTSUPP);
    live_unpin(&old);
  }
  assert_int_equal(take(&fixture, &payload, &lost), 0);
  live_bpf_output_close(&output);
  close_fixture(&fixture);
}

/* The check finds each wrong bit, except of a number some thousands away, which
 * it returns; and another CPU or size. */
static void check_finds_each_fault(void **state) {
  live_bpf_producer_t producer;
  const uint8_t *payload;
  uint8_t copy[40];
  uint64_t lost = 0;
  uint64_t number;
  fixture_t fixture;
  size_t size, i;

  open_fixture(&fixture, __func__, 4096);
  put(&fixture);
  live_bpf_producer_open(&producer, fixture.array, 36, 36);
  assert_int_equal(live_bpf_producer_run(&producer, 3), 0);
  size = take(&fixture, &payload, &lost);
  assert_int_equal(size, 36);
  memcpy(copy, payload, size);
  for (i = 0; i < 8 * size; i++) {
    copy[i / 8] ^= (uint8_t)(1 << i % 8);
    if (live_bpf_producer_check(&producer, fixture.cpu, copy, size, &number))
      assert_in_range(number, 4096, UINT64_MAX);
    copy[i / 8] ^= (uint8_t)(1 << i % 8);
  }
  assert_true(
      live_bpf_producer_check(&producer, fixture.cpu, copy, size, &number));
  assert_false(
      live_bpf_producer_check(&producer, fixture.cpu + 1, copy, size, &number));
  assert_false(
      live_bpf_producer_check(&producer, fixture.cpu, copy, size - 8, &number));
  live_bpf_producer_close(&producer);
  close_fixture(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(output_hands_out_what_it_is_given),
      cmocka_unit_test(output_to_an_index_is_for_that_cpu_alone),
      cmocka_unit_test(check_finds_each_fault),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
