/* SPDX-License-Identifier: MIT */
/* Scripted: snapshots of a ring buffer that another thread overwrites
 * meanwhile. unit/bpf/test_ringbuf.c has the records that a reader delivers. */
#include "ring/bpf_snapshot.h"

#include <pthread.h>
#include <stdatomic.h>

#include "fake_kernel.h"
#include "fake_ringbuf.h"
#include "ring/bpf_ring.h"
#include "support.h"

typedef struct fixture_s {
  fake_ringbuf_t fake;
  uvperf__ring_t ring;
  int fd;
  atomic_int is_over;
} fixture_t;

static fixture_t fixture;

static void begin(void) {
  fake_ringbuf_begin(&fixture.fake, support_page_bytes());
  fixture.fake.map->info.map_flags = 1u << 19; /* BPF_F_RB_OVERWRITE */
  fixture.fd = fake_map_open(fixture.fake.map);
  assert_int_equal(
      uvperf__bpf_ring_map(&fixture.ring, fixture.fd, fixture.fake.bytes), 0);
}

static void end(void) {
  uvperf__ring_unmap(&fixture.ring);
  fake_ringbuf_end(&fixture.fake);
  fake_map_close(fixture.fd);
  fake_assert_clean();
}

/* Each record has its number, three times or more. */
static void put_number(uint64_t number) {
  uint64_t words[40];
  size_t nr = (size_t)(3 + number % 37), i;

  for (i = 0; i < nr; i++)
    words[i] = number;
  fake_ringbuf_put(&fixture.fake, words, (uint32_t)(nr * sizeof(words[0])), 0);
}

static void *put_numbers(void *arg) {
  fixture_t *own = arg;
  uint64_t number;

  for (number = 1; !atomic_load(&own->is_over); number++)
    put_number(number);
  return NULL;
}

/* Takes a snapshot, and checks that it has ascending numbers. Returns how
 * many, and the last. */
static size_t take(uint32_t flags, uint64_t *last) {
  uvperf__snapshot_t snapshot = {.ring = &fixture.ring};
  const void *bytes;
  size_t size, nr = 0, i;
  uint64_t number;

  uvperf__snapshots_begin(&snapshot, 1);
  assert_int_equal(uvperf__snapshots_copy(&snapshot, 1, flags), 0);
  uvperf__snapshots_install(&snapshot, 1);
  assert_int_equal(snapshot.code, 0);
  assert_int_equal(uvperf__ring_begin(&snapshot.image), 0);
  while (uvperf__bpf_ring_next(&snapshot.image, NULL, &bytes, &size) == 1) {
    memcpy(&number, (const uint8_t *)bytes + 8, sizeof(number));
    assert_true(nr == 0 || number == *last + 1);
    assert_int_equal(snapshot.image.length, (3 + number % 37) * 8);
    for (i = 8; i < size; i += 8)
      assert_memory_equal((const uint8_t *)bytes + i, &number, 8);
    uvperf__ring_consume(&snapshot.image, size);
    *last = number;
    nr++;
  }
  assert_true(snapshot.image.tail == snapshot.image.head);
  uvperf__snapshots_free(&snapshot, 1);
  return nr;
}

static void snapshot_has_all_that_was_not_overwritten(void **state) {
  uint64_t last = 0, number;

  begin();
  assert_int_equal(take(UVPERF_SNAPSHOT_OLDEST_FIRST, &last), 0);
  for (number = 1; number <= 1000; number++)
    put_number(number);
  assert_true(take(UVPERF_SNAPSHOT_OLDEST_FIRST, &last) > 10);
  assert_true(last == 1000);
  assert_int_equal(take(UVPERF_SNAPSHOT_OLDEST_FIRST, &last), 0);
  assert_true(take(UVPERF_SNAPSHOT_OLDEST_FIRST | UVPERF_SNAPSHOT_ALL, &last) >
              10);
  assert_true(last == 1000);
  end();
}

/* What a snapshot has is whole and in order, though all of the ring may be
 * overwritten while it is copied. */
static void snapshots_are_sound_while_a_thread_overwrites(void **state) {
  uint64_t last = 0, before;
  pthread_t thread;
  size_t nr = 0;
  int i;

  begin();
  atomic_store(&fixture.is_over, 0);
  assert_int_equal(pthread_create(&thread, NULL, put_numbers, &fixture), 0);
  for (i = 0; i < 20000; i++) {
    before = last;
    nr += take(UVPERF_SNAPSHOT_OLDEST_FIRST, &last);
    assert_true(last >= before);
  }
  atomic_store(&fixture.is_over, 1);
  pthread_join(thread, NULL);
  take(UVPERF_SNAPSHOT_OLDEST_FIRST, &last);
  print_message("%zu records in snapshots\n", nr);
  assert_true(last != 0);
  end();
}

static void memory_that_is_short_is_reported(void **state) {
  uvperf__snapshot_t snapshot = {.ring = &fixture.ring};

  begin();
  uvperf__snapshots_begin(&snapshot, 1);
  fake_fail(FAKE_CALLOC, 1, -ENOMEM);
  assert_int_equal(uvperf__snapshots_copy(&snapshot, 1, 0), -ENOMEM);
  end();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      fake_kernel_test(snapshot_has_all_that_was_not_overwritten),
      fake_kernel_test(snapshots_are_sound_while_a_thread_overwrites),
      fake_kernel_test(memory_that_is_short_is_reported),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
