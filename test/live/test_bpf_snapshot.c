/* SPDX-License-Identifier: MIT */
/* Live: overwritable rings of a reader: no sample is delivered by itself, and a
 * snapshot has the newest samples of each CPU, whole and in order. */
#include "live_bpf_reader.h"

#include "fake_kernel.h"

static void begin(const char *test, uv_loop_t *loop, live_bpf_reader_t *live,
                  size_t ring_bytes) {
  uvperf_bpf_reader_options_t options = live_bpf_reader_options();

  options.ring_bytes = ring_bytes;
  options.flags = UVPERF_BPF_READER_OVERWRITE;
  live_bpf_reader_make(test, live, 0);
  live_bpf_reader_open(loop, live, &options);
  live_bpf_reader_start(live, NULL);
}

/* Resets the counts, so that the order of samples is checked from the start. */
static void forget(live_bpf_reader_t *live) {
  memset(live->last, 0, sizeof(live->last));
  memset(live->by_cpu, 0, sizeof(live->by_cpu));
  live->samples = live->strange = live->others = live->records = 0;
}

static void take(live_bpf_reader_t *live, uint32_t flags) {
  forget(live);
  assert_int_equal(uvperf_snapshot(&live->reader.handle, flags, NULL, NULL), 0);
}

/* -- contents ------------------------------------------------------------- */

typedef struct newest_s {
  uint64_t number; /* of the first one received */
  uint64_t next;   /* the next one expected */
  uint64_t nr;
  uint64_t wrong;
} newest_t;

static void expect_descending(live_bpf_reader_t *live, int status,
                              const uvperf_record_t *sample) {
  newest_t *newest = live->hook_data;
  uint64_t number;

  if (status != 0 || sample->type == UVPERF_RECORD_NONE ||
      sample->sample.raw.size < sizeof(number)) {
    newest->wrong += status != 0;
    return;
  }
  memcpy(&number, sample->sample.raw.data, sizeof(number));
  if (newest->nr == 0)
    newest->number = number;
  else
    newest->wrong += number != newest->next;
  newest->next = number - 1;
  newest->nr++;
}

static void newest_of_a_ring_that_went_round_come_first(void **state) {
  size_t page = support_page_bytes();
  live_bpf_reader_t live;
  uvperf_stats_t stats;
  newest_t newest;
  int i;

  begin(__func__, *state, &live, page);
  for (i = 1; i <= 20; i++) {
    live_bpf_reader_send_all(&live, 0, 50 * (uint64_t)i);
    memset(&newest, 0, sizeof(newest));
    live.on_sample = expect_descending;
    live.hook_data = &newest;
    take(&live, i % 2 ? 0 : UVPERF_SNAPSHOT_NO_WAIT);
    assert_int_equal(newest.wrong, 0);
    assert_int_equal(newest.number, live.sent - 1);
    assert_true(newest.nr >= (i == 1 ? 50 : page / 40 / 2));
    assert_true(newest.nr <= page / 40);
  }
  uvperf_stats(&live.reader.handle, &stats);
  assert_int_equal(stats.corrupt, 0);
  assert_int_equal(stats.cut_records > 0, page % 40 != 0);
  live_bpf_reader_end(&live);
}

static void oldest_first_is_in_the_order_of_each_cpu(void **state) {
  live_bpf_reader_t live;
  int last = live_last_cpu();
  int i;

  begin(__func__, *state, &live, support_page_bytes());
  for (i = 0; i < 300; i++)
    assert_int_equal(
        live_bpf_reader_send(&live, i % 3 ? 0 : last, 16 + (size_t)i), 0);
  take(&live, UVPERF_SNAPSHOT_OLDEST_FIRST);
  assert_true(live.by_cpu[0] > 0);
  assert_true(live.by_cpu[last] > 0);
  assert_int_equal(live.strange, 0);
  assert_int_equal(live.last[0] > live.last[last] ? live.last[0]
                                                  : live.last[last],
                   live.sent);
  live_bpf_reader_end(&live);
}

#define LIVE(test)                                                             \
  support_loop_test_setup_teardown(test, fake_kernel_loop_setup,               \
                                   fake_kernel_loop_teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      LIVE(newest_of_a_ring_that_went_round_come_first),
      LIVE(oldest_first_is_in_the_order_of_each_cpu),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
