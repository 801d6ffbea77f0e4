/* SPDX-License-Identifier: MIT */
/* Scripted: rings that hold what no kernel writes. A damaged record comes raw.
 * A ring without sense is skipped up to its head and is read on. A head that
 * splits a record ends its ring, and the last one ends the delivery. */
#include "life.h"

#include <poll.h>

static fake_event_t *ring_of(const life_t *life, size_t cpu) {
  return life->events[2 * cpu + 1];
}

static void write_on(life_t *life, size_t cpu, uint64_t nr) {
  for (; nr > 0; nr--) {
    life->written += (life->written + cpu) % 2;
    life_write(life, 1);
  }
}

static void append(life_t *life, size_t cpu, const void *bytes, size_t size) {
  if (life->kind & LIFE_FLIGHTS)
    fake_ring_prepend(ring_of(life, cpu), bytes, size);
  else
    fake_ring_append(ring_of(life, cpu), bytes, size);
  fake_event_wake(ring_of(life, cpu));
}

/* A record of a size that it cannot have. */
static void spoil(life_t *life, size_t cpu, uint16_t size) {
  const struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, size};
  uint64_t words[4] = {0};

  memcpy(words, &header, sizeof(header));
  append(life, cpu, words, sizeof(words));
}

static void split(life_t *life, size_t cpu) {
  if (life->kind & LIFE_FLIGHTS)
    ring_of(life, cpu)->page->data_head -= 4;
  else
    ring_of(life, cpu)->page->data_head += 4;
  fake_event_wake(ring_of(life, cpu));
}

static uint64_t count_corrupt(const life_t *life) {
  uvperf_stats_t stats;

  uvperf_stats(life->handle, &stats);
  return stats.corrupt;
}

/* The delivered, skipped and waiting bytes are everything that the kernel has
 * written. */
static void expect_sums(const life_t *life, uint64_t corrupt) {
  uvperf_stats_t sum;
  uvperf_ring_info_t ring;
  uint64_t skipped = 0;
  size_t nr = uvperf_nr_rings(life->handle);
  size_t i;

  for (i = 0; i < nr; i++) {
    assert_int_equal(uvperf_ring(life->handle, i, &ring), 0);
    assert_int_equal(ring.status, 0);
    assert_int_equal(ring.stats.bytes + ring.stats.skipped_bytes + ring.waiting,
                     ring_of(life, i)->page->data_head);
    skipped += ring.stats.skipped_bytes;
  }
  uvperf_stats(life->handle, &sum);
  assert_int_equal(sum.skipped_bytes, skipped);
  assert_int_equal(sum.corrupt, corrupt);
  assert_int_equal(uvperf_is_active(life->handle), 1);
}

/* -- records -------------------------------------------------------------- */

static void take_by_next(life_t *life) {
  life_enable(life);
  assert_int_equal(life_next(life), 0);
  assert_int_equal(life_next(life), UV_EPROTO);
  assert_int_equal(life_next(life), 0);
  assert_int_equal(life_next(life), UV_EAGAIN);
}

/* Also by next, which is one way more. */
static void record_that_is_not_sound_comes_raw(life_t *life) {
  uint64_t words[2] = {0, 100};
  const struct perf_event_header header = {PERF_RECORD_SAMPLE, 0, 16};
  const int is_flight = (life->kind & LIFE_FLIGHTS) != 0;
  enum life_way way;
  uvperf_stats_t stats;

  memcpy(words, &header, sizeof(header));
  for (way = 0; way <= LIFE_WAYS; way++) {
    if (way == LIFE_WAYS ? is_flight : !life_has(life, way))
      continue;
    life_open(life);
    if (way != LIFE_WAYS)
      life_start(life);
    write_on(life, 0, 1);
    append(life, 0, words, sizeof(words));
    write_on(life, 0, 1);
    if (way == LIFE_WAYS)
      take_by_next(life);
    else
      life_deliver(life, way);
    life_expect(life, way == LIFE_POOL ? "1 raw 1 done" : "1 raw 1");
    uvperf_stats(life->handle, &stats);
    assert_int_equal(stats.corrupt, 1);
    assert_int_equal(stats.records, 3);
    life_end(life);
  }
}

/* -- rings ---------------------------------------------------------------- */

static void spoil_and_go_on(life_t *life, uint16_t size) {
  uint64_t nr;

  life_open(life);
  life_start(life);
  life_turns(life, 3);
  for (nr = 1; nr <= 20; nr++) {
    write_on(life, 1, 1);
    spoil(life, 1, size);
    write_on(life, 1, 1); /* is skipped */
    life_expect(life, "1 EPROTO");
    assert_int_equal(life->cpu, life->kind & LIFE_EVENTS ? UINT32_MAX : 1);
    write_on(life, 0, 1);
    life_expect(life, "1");
    expect_sums(life, nr);
  }
  /* And a restart changes nothing. */
  life_stop(life);
  life_start(life);
  ring_of(life, 1)->page->data_head += 1024 * 1024 + 8;
  assert_int_equal(uvperf_flush(life->handle), 0);
  assert_int_equal(uvperf_flush(life->handle), 0);
  life_expect_now(life, "EPROTO");
  write_on(life, 1, 1);
  write_on(life, 0, 1);
  life_expect(life, "2");
  expect_sums(life, 21);
  life_end(life);
}

static void ring_without_sense_is_skipped_and_read_on(life_t *life) {
  spoil_and_go_on(life, 0);
  spoil_and_go_on(life, 4);
  spoil_and_go_on(life, 12);
  spoil_and_go_on(life, 65528);
}

static void expect_split(const life_t *life, size_t cpu) {
  uvperf_ring_info_t ring;

  assert_int_equal(life->cpu,
                   life->kind & LIFE_EVENTS ? UINT32_MAX : (uint32_t)cpu);
  assert_int_equal(uvperf_ring(life->handle,
                               uvperf_nr_rings(life->handle) > 1 ? cpu : 0,
                               &ring),
                   0);
  assert_int_equal(ring.status, UV_EPROTO);
}

/* The events stay enabled, and in the map. */
static void ring_with_a_split_head_leaves_the_others(life_t *life) {
  size_t nr;

  life_open(life);
  nr = uvperf_nr_rings(life->handle);
  life_start(life);
  if (nr > 1) {
    write_on(life, 0, 1);
    split(life, 0);
    life_expect(life, "1 EPROTO");
    expect_split(life, 0);
    write_on(life, 1, 1);
    life_expect(life, "1");
    assert_int_equal(uvperf_flush(life->handle), 0);
    assert_int_equal(uvperf_is_active(life->handle), 1);
    life_stop(life);
    life_start(life);
  }
  write_on(life, 1, 1);
  split(life, 1);
  life_expect(life, "1 EPROTO");
  expect_split(life, 1);
  assert_int_equal(count_corrupt(life), nr);
  assert_int_equal(uvperf_is_active(life->handle), 0);
  assert_int_equal(uv_loop_alive(life->loop), 0);
  assert_true(life_is_enabled(life));
  life_stop(life);
  assert_int_equal(life_try_start(life), UV_EPROTO);
  assert_int_equal(life->error.cause, UVPERF_CAUSE_UNKNOWN);
  assert_int_equal(uvperf_is_active(life->handle), 0);
  assert_int_equal(uvperf_flush(life->handle), 0);
  life_expect(life, "%s", "");
}

static void begin_split(life_t *life) {
  life_open(life);
  life_start_with(life, 0, UVPERF_START_SLICE_END);
  write_on(life, 1, 1);
  split(life, 1);
}

/* A flush is no slice. */
static void ring_with_a_split_head_in_a_flush_is_reported_there(life_t *life) {
  begin_split(life);
  assert_int_equal(uvperf_flush(life->handle), 0);
  life_expect_now(life, "1 EPROTO");
  if (uvperf_nr_rings(life->handle) > 1) {
    split(life, 0);
    assert_int_equal(uvperf_flush(life->handle), 0);
    life_expect_now(life, "EPROTO");
  }
  assert_int_equal(uvperf_is_active(life->handle), 0);
}

/* The end of the slice before it comes first, and who stops there. */
static void last_ring_that_ends_is_reported_after_a_start(life_t *life) {
  begin_split(life);
  life_act(life, LIFE_SLICE, 1, life_stop);
  if (uvperf_nr_rings(life->handle) > 1) {
    life_expect(life, "1 EPROTO slice");
    life_start_with(life, 0, UVPERF_START_SLICE_END);
    write_on(life, 0, 1);
    split(life, 0);
    life_act(life, LIFE_SLICE, 1, life_stop);
  }
  life_expect(life, "1 slice");
  life_start_with(life, 0, UVPERF_START_SLICE_END);
  life_expect(life, "EPROTO");
  assert_int_equal(count_corrupt(life), uvperf_nr_rings(life->handle));
  assert_int_equal(uvperf_is_active(life->handle), 0);
}

/* A ring that makes no sense is skipped. One whose head is split has ended. */
static void next_of_a_damaged_ring_goes_on(life_t *life) {
  const int has_two = life->kind != LIFE_EVENT;
  uvperf_ring_info_t ring;

  life_open(life);
  life_enable(life);
  life_write(life, 1); /* into the first */
  spoil(life, 0, 0);
  assert_int_equal(life_next(life), 0);
  assert_int_equal(life_next(life), UV_EPROTO);
  life_expect_now(life, "1 EPROTO");
  assert_int_equal(uvperf_ring(life->handle, 0, &ring), 0);
  assert_int_equal(ring.status, 0);
  assert_int_equal(ring.stats.corrupt, 1);
  assert_int_equal(ring.stats.bytes + ring.stats.skipped_bytes,
                   ring_of(life, 0)->page->data_head);
  assert_int_equal(life_next(life), UV_EAGAIN);
  life_write(life, 2);
  assert_int_equal(life_next(life), 0);
  assert_int_equal(life_next(life), 0);
  assert_int_equal(life_next(life), UV_EAGAIN);
  split(life, 0);
  assert_int_equal(life_next(life), UV_EPROTO);
  assert_int_equal(uvperf_ring(life->handle, 0, &ring), 0);
  if (has_two) {
    assert_int_equal(ring.status, UV_EPROTO);
    assert_int_equal(life_next(life), UV_EAGAIN);
    life_write(life, 1); /* into the other */
    assert_int_equal(life_next(life), 0);
    assert_int_equal(life_next(life), UV_EAGAIN);
    split(life, 1);
    assert_int_equal(life_next(life), UV_EPROTO);
  }
  assert_int_equal(life_next(life), UV_EOF);
  assert_int_equal(life_next(life), UV_EOF);
  /* Others report it once more by the callback. */
  assert_int_equal(life_try_start(life), has_two ? 0 : UV_EPROTO);
  assert_int_equal(count_corrupt(life), 2 + has_two);
  life_expect_now(life, has_two ? "2 EPROTO 1 EPROTO" : "2 EPROTO");
}

/* -- owners --------------------------------------------------------------- */

/* The owner is a dummy of the first thread. The measured targets have not
 * ended. */
static void ring_whose_owner_hangs_up_is_polled_by_a_spare(life_t *life) {
  uvperf_ring_info_t ring;
  fake_event_t *spare;

  life_open(life);
  life_start(life);
  life_turns(life, 3);
  spare = fake_event_add(200);
  ring_of(life, 0)->revents = POLLHUP;
  fake_event_wake(ring_of(life, 0));
  life_expect(life, "%s", "");
  assert_int_equal(spare->cpu, 0);
  assert_int_equal(uvperf_ring(life->handle, 0, &ring), 0);
  assert_int_equal(ring.fd, spare->fd);
  assert_int_equal(ring.status, 0);
  write_on(life, 0, 1);
  fake_event_wake(spare);
  life_expect(life, "1");
  /* The owner is readable for ever, but is not polled any more. */
  fake_event_quiet(spare);
  assert_true(live_run_ms(life->loop, 200) < 100);
}

static void ring_whose_owner_hangs_up_without_spare_is_an_error(life_t *life) {
  life_open(life);
  life_start(life);
  life_turns(life, 3);
  write_on(life, 0, 1);
  fake_fail(FAKE_OPEN, 1, -EMFILE);
  ring_of(life, 0)->revents = POLLHUP;
  life_expect(life, "1 EMFILE");
  write_on(life, 0, 1);
  write_on(life, 1, 1);
  life_expect(life, "1");
  assert_int_equal(uvperf_is_active(life->handle), 1);
}

/* -- snapshots ------------------------------------------------------------ */

static void snap(life_t *life, uint32_t flags, const char *expected) {
  assert_int_equal(life_snap(life, UVPERF_SNAPSHOT_OLDEST_FIRST | flags), 0);
  life_expect_now(life, "%s", expected);
}

static void snapshot_of_an_unsound_ring_has_what_is_newer(life_t *life) {
  const int is_order = life->kind == LIFE_ORDER_FLIGHT;
  const int has_two = !(life->kind & LIFE_EVENTS);
  uvperf_stats_t stats;
  enum life_way way;
  uint64_t skipped;

  for (way = LIFE_SNAPSHOT; way < LIFE_WAYS; way++) {
    life_open(life);
    life_start(life);
    write_on(life, 0, 1);
    spoil(life, 0, 20);
    skipped = 0 - ring_of(life, 0)->page->data_head;
    write_on(life, 0, 2);
    if (has_two)
      write_on(life, 1, 1);
    life_deliver(life, way);
    life_expect(life, "%s%s",
                !has_two   ? "2 EPROTO"
                : is_order ? "3 EPROTO"
                           : "2 EPROTO 1",
                way == LIFE_POOL ? " done" : "");
    assert_int_equal(count_corrupt(life), 1);
    /* It has not ended by that. Skipped bytes are counted once. */
    snap(life, 0, "");
    write_on(life, 0, 1);
    snap(life, 0, "1");
    snap(life, UVPERF_SNAPSHOT_ALL,
         !has_two   ? "3 EPROTO"
         : is_order ? "4 EPROTO"
                    : "3 EPROTO 1");
    uvperf_stats(life->handle, &stats);
    assert_int_equal(stats.corrupt, 2);
    assert_int_equal(stats.skipped_bytes, skipped);
    life_end(life);
  }
}

static void silence(life_t *life) {
  life_stop(life);
  assert_int_equal(uvperf_start(life->handle, NULL, NULL, NULL), 0);
}

/* After its last record only the damage is left to report. An event can be
 * started without a callback. */
static void snapshot_that_is_stopped_reports_no_damage(life_t *life) {
  static const life_fn acts[] = {life_stop, silence};
  enum life_way way;
  size_t i;

  for (way = LIFE_SNAPSHOT; way < LIFE_WAYS; way++)
    for (i = 0; i < (life->kind & LIFE_EVENTS ? 2 : 1); i++) {
      life_open(life);
      life_start(life);
      spoil(life, 0, 20);
      write_on(life, 0, 2);
      life_act(life, LIFE_RECORD, 2, acts[i]);
      life_deliver(life, way);
      life_expect(life, way == LIFE_POOL ? "2 done ECANCELED" : "2");
      assert_int_equal(count_corrupt(life), 0);
      life_end(life);
    }
}

static void snapshot_of_a_split_head_is_reported_each_time(life_t *life) {
  life_open(life);
  life_start(life);
  write_on(life, 0, 1);
  split(life, 0);
  snap(life, 0, "EPROTO");
  snap(life, 0, "EPROTO");
  ring_of(life, 0)->page->data_head += 4;
  snap(life, 0, "1");
}

int main(void) {
  const unsigned int one =
      LIFE_EVENT | LIFE_SET | LIFE_ORDER | LIFE_READER | LIFE_SCRIPTED;
  const unsigned int two = one & ~(unsigned int)LIFE_EVENT;
  const unsigned int flights = LIFE_FLIGHTS | LIFE_SCRIPTED;
  const life_test_t tests[] = {
      LIFE_TEST(record_that_is_not_sound_comes_raw, one | flights),
      LIFE_TEST(ring_without_sense_is_skipped_and_read_on, one),
      LIFE_TEST(ring_with_a_split_head_leaves_the_others, one),
      LIFE_TEST(ring_with_a_split_head_in_a_flush_is_reported_there, one),
      LIFE_TEST(last_ring_that_ends_is_reported_after_a_start, one),
      LIFE_TEST(next_of_a_damaged_ring_goes_on, one),
      LIFE_TEST(ring_whose_owner_hangs_up_is_polled_by_a_spare, two),
      LIFE_TEST(ring_whose_owner_hangs_up_without_spare_is_an_error, two),
      LIFE_TEST(snapshot_of_an_unsound_ring_has_what_is_newer, flights),
      LIFE_TEST(snapshot_that_is_stopped_reports_no_damage, flights),
      LIFE_TEST(snapshot_of_a_split_head_is_reported_each_time, flights),
  };

  return life_main(tests, sizeof(tests) / sizeof(tests[0]));
}
