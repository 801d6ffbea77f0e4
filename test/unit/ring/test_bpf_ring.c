/* SPDX-License-Identifier: MIT */
/* Scripted: the records of a BPF ring buffer, one by one. */
#include "ring/bpf_ring.h"

#include <pthread.h>
#include <stdatomic.h>

#include "fake_kernel.h"
#include "fake_ringbuf.h"
#include "model_run.h"
#include "support.h"

typedef struct fixture_s {
  fake_ringbuf_t fake;
  uvperf__ring_t ring;
  int fd;
  model_run_t random;
  atomic_int is_over;
} fixture_t;

static fixture_t fixture;

static void begin_at(uint64_t position, size_t pages) {
  fake_ringbuf_begin(&fixture.fake, pages * support_page_bytes());
  fake_ringbuf_move(&fixture.fake, position);
  fixture.fd = fake_map_open(fixture.fake.map);
  assert_int_equal(
      uvperf__bpf_ring_map(&fixture.ring, fixture.fd, fixture.fake.bytes), 0);
}

static void end(void) {
  uvperf__ring_unmap(&fixture.ring);
  assert_null(fixture.ring.page);
  fake_ringbuf_end(&fixture.fake);
  fake_map_close(fixture.fd);
  fake_assert_clean();
}

static void put(uint32_t size, uint32_t bits) {
  static const uint8_t data[64];

  assert_true(size <= sizeof(data));
  assert_true(fake_ringbuf_put(&fixture.fake, data, size, bits) != UINT64_MAX);
}

/* The record at the tail has this first word; the tail moves past it. */
static void takes(uint32_t length) {
  const void *bytes;
  size_t size;

  assert_int_equal(uvperf__ring_begin(&fixture.ring), 0);
  assert_int_equal(uvperf__bpf_ring_next(&fixture.ring, NULL, &bytes, &size),
                   1);
  assert_int_equal(fixture.ring.length, length);
  assert_int_equal(size, uvperf__bpf_record_size(length));
  assert_ptr_equal(bytes, fixture.ring.data +
                              (fixture.ring.tail & (fixture.ring.size - 1)));
  uvperf__ring_consume(&fixture.ring, size);
}

static void finds(int rc) {
  const void *bytes;
  size_t size;

  assert_int_equal(uvperf__ring_begin(&fixture.ring), 0);
  assert_int_equal(uvperf__bpf_ring_next(&fixture.ring, NULL, &bytes, &size),
                   rc);
}

static void sizes_are_rounded_up_to_8(void **state) {
  static const struct {
    uint32_t length;
    size_t size;
  } sizes[] = {{0, 8},
               {1, 16},
               {8, 16},
               {9, 24},
               {UVPERF__BPF_DISCARD | 9, 24},
               {UVPERF__BPF_BUSY | UVPERF__BPF_DISCARD | 17, 32},
               {UVPERF__BPF_DISCARD - 1, (size_t)UVPERF__BPF_DISCARD + 8}};
  size_t i;

  for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
    assert_int_equal(uvperf__bpf_record_size(sizes[i].length), sizes[i].size);
}

static void busy_or_discarded_records_fit_into_no_run(void **state) {
  assert_int_equal(uvperf__bpf_ring_run_size(0), 8);
  assert_int_equal(uvperf__bpf_ring_run_size(9), 24);
  assert_true(uvperf__bpf_ring_run_size(UVPERF__BPF_DISCARD) >= 1 << 30);
  assert_true(uvperf__bpf_ring_run_size(UVPERF__BPF_BUSY) >= 1 << 30);
  assert_true(uvperf__bpf_ring_run_size(UINT32_MAX) >= 1 << 30);
}

static void records_are_found_until_one_is_busy(void **state) {
  begin_at(0, 1);
  finds(0);
  put(5, 0);
  put(0, 0);
  put(20, UVPERF__BPF_DISCARD);
  put(7, UVPERF__BPF_BUSY);
  put(8, 0);
  takes(5);
  takes(0);
  takes(20 | UVPERF__BPF_DISCARD);
  finds(0);
  *fake_ringbuf_word(&fixture.fake, 16 + 8 + 32) = 7;
  takes(7);
  takes(8);
  finds(0);
  end();
}

static void ring_is_ready_if_a_finished_record_follows(void **state) {
  begin_at(0, 1);
  assert_false(uvperf__bpf_ring_is_ready(&fixture.ring, 0));
  put(8, 0);
  assert_true(uvperf__bpf_ring_is_ready(&fixture.ring, 0));
  assert_false(uvperf__bpf_ring_is_ready(&fixture.ring, 16));
  put(8, UVPERF__BPF_BUSY);
  assert_true(uvperf__bpf_ring_is_ready(&fixture.ring, 0));
  assert_false(uvperf__bpf_ring_is_ready(&fixture.ring, 16));
  *fake_ringbuf_word(&fixture.fake, 16) = 8;
  assert_true(uvperf__bpf_ring_is_ready(&fixture.ring, 16));
  *fake_ringbuf_word(&fixture.fake, 16) = 8 | UVPERF__BPF_DISCARD;
  assert_true(uvperf__bpf_ring_is_ready(&fixture.ring, 16));
  end();
}

static void ring_begins_where_the_last_reader_was(void **state) {
  begin_at(UINT64_C(0xfffffffffffffff8), 1);
  assert_true(fixture.ring.tail == UINT64_C(0xfffffffffffffff8));
  put(8, 0);
  takes(8);
  uvperf__ring_end(&fixture.ring);
  assert_true(*fixture.fake.consumer == 8);
  end();
}

static void larger_ring_than_memory_is_refused(void **state) {
  uvperf__ring_t ring;

  assert_int_equal(uvperf__bpf_ring_map(&ring, -1, SIZE_MAX / 2), -ENOMEM);
}

static void second_mapping_that_fails_undoes_the_first(void **state) {
  uvperf__ring_t ring;

  fake_ringbuf_begin(&fixture.fake, support_page_bytes());
  fixture.fd = fake_map_open(fixture.fake.map);
  fake_fail(FAKE_MMAP, 2, -EAGAIN);
  assert_int_equal(uvperf__bpf_ring_map(&ring, fixture.fd, fixture.fake.bytes),
                   -EAGAIN);
  assert_int_equal(fake_count(FAKE_MUNMAP), 1);
  fixture.ring = ring;
  end();
}

/* -- memory that another thread changes ------------------------------------ */

/* Writes any first words, and any positions near the right one. */
static void *spoil(void *arg) {
  fixture_t *own = arg;
  uint64_t random;

  while (!atomic_load(&own->is_over)) {
    random = model_run_draw(&own->random, UINT64_MAX);
    __atomic_store_n(fake_ringbuf_word(&own->fake, random & ~UINT64_C(7)),
                     (uint32_t)(random >> 20) >> (random >> 59),
                     __ATOMIC_RELEASE);
    if (random % 16 == 0)
      __atomic_store_n(own->fake.producer,
                       *own->fake.producer + (random >> 40) % 512 - 16,
                       __ATOMIC_RELEASE);
  }
  return NULL;
}

/* A record lies in the mapping, whatever it says, and has the size that its
 * first word had when it was read. */
static void record_stays_in_the_mapping_though_bytes_change(void **state) {
  const uint8_t *last;
  const void *bytes;
  pthread_t thread;
  size_t size, nr = 0;
  int i, rc;

  begin_at(0, 2);
  model_run_seed(&fixture.random, 1);
  last = fixture.ring.data + 2 * fixture.ring.size;
  atomic_store(&fixture.is_over, 0);
  assert_int_equal(pthread_create(&thread, NULL, spoil, &fixture), 0);
  for (i = 0; i < 300000; i++) {
    rc = uvperf__ring_begin(&fixture.ring);
    if (rc == 0)
      rc = uvperf__bpf_ring_next(&fixture.ring, NULL, &bytes, &size);
    uvperf__bpf_ring_is_ready(&fixture.ring, (size_t)i % 4096 * 8);
    if (rc == 1) {
      assert_true((const uint8_t *)bytes >= fixture.ring.data);
      assert_true((const uint8_t *)bytes + size <= last);
      assert_int_equal(size, uvperf__bpf_record_size(fixture.ring.length));
      uvperf__ring_consume(&fixture.ring, size);
      nr++;
    } else if (rc < 0 && uvperf__ring_skip(&fixture.ring) != 0) {
      __atomic_store_n(fixture.fake.producer,
                       *fixture.fake.producer & ~UINT64_C(7), __ATOMIC_RELEASE);
    }
  }
  atomic_store(&fixture.is_over, 1);
  pthread_join(thread, NULL);
  print_message("%zu records\n", nr);
  end();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sizes_are_rounded_up_to_8),
      cmocka_unit_test(busy_or_discarded_records_fit_into_no_run),
      fake_kernel_test(records_are_found_until_one_is_busy),
      fake_kernel_test(ring_is_ready_if_a_finished_record_follows),
      fake_kernel_test(ring_begins_where_the_last_reader_was),
      fake_kernel_test(larger_ring_than_memory_is_refused),
      fake_kernel_test(second_mapping_that_fails_undoes_the_first),
      fake_kernel_test(record_stays_in_the_mapping_though_bytes_change),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
