/* SPDX-License-Identifier: MIT */
/* Live: BPF programs write into a ring buffer, and what the reader delivers,
 * with what they could not write, is what they wrote. */
#include "live.h"
#include "live_bpf.h"
#include "live_bpf_array.h"
#include "live_bpf_ring.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define MOST_CPUS 64

/* What the callback has seen. */
typedef struct seen_s {
  uvperf_bpf_reader_t reader;
  uv_loop_t *loop;
  const live_bpf_producer_t *producer; /* NULL: records of a reserve */
  uint64_t records;
  uint64_t bytes; /* of data */
  uint64_t strange;
  uint64_t faults;
  uint64_t next[MOST_CPUS]; /* the least number that may come */
  int delay_us;             /* of each callback */
  uint64_t stop_after;
  int closes;
} seen_t;

static void check_record(seen_t *seen, const uvperf_record_t *record) {
  live_bpf_numbered_t header = {0, 0, 0};
  uint64_t number = 0;
  size_t size = record->sample.raw.size;

  memcpy(&header, record->sample.raw.data,
         size < sizeof(header) ? 8 : sizeof(header));
  if (seen->producer == NULL)
    number = header.number;
  else if (!live_bpf_producer_check(seen->producer, -1, record->sample.raw.data,
                                    size, &number))
    seen->strange += 1;
  if (seen->producer == NULL)
    header.cpu = 0;
  seen->strange += header.cpu >= MOST_CPUS ||
                   number < seen->next[header.cpu % MOST_CPUS] ||
                   record->cpu != UINT32_MAX || record->bytes != NULL ||
                   record->type != PERF_RECORD_SAMPLE;
  seen->next[header.cpu % MOST_CPUS] = number + 1;
  seen->records += 1;
  seen->bytes += size;
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  seen_t *seen = (seen_t *)handle;

  if (status != 0 || record->type == UVPERF_RECORD_NONE) {
    seen->faults += status != 0;
    return;
  }
  check_record(seen, record);
  if (seen->delay_us != 0)
    usleep((useconds_t)seen->delay_us);
  if (seen->records != seen->stop_after)
    return;
  if (seen->closes)
    uvperf_close(handle, NULL);
  else
    assert_int_equal(uvperf_stop(handle), 0);
}

static void begin(seen_t *seen, uv_loop_t *loop, int map,
                  const live_bpf_producer_t *producer) {
  uvperf_error_t error;

  memset(seen, 0, sizeof(*seen));
  seen->loop = loop;
  seen->producer = producer;
  if (uvperf_bpf_reader_init(loop, &seen->reader, map, NULL, &error) != 0)
    fail_msg("%s", error.reason);
}

static void start(seen_t *seen, int32_t flush_ms) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_error_t error;

  options.flush_ms = flush_ms;
  if (uvperf_start(&seen->reader.handle, &options, on_record, &error) != 0)
    fail_msg("%s", error.reason);
}

static void end(seen_t *seen) {
  if (!uvperf_is_closing(&seen->reader.handle))
    uvperf_close(&seen->reader.handle, NULL);
  uv_run(seen->loop, UV_RUN_DEFAULT);
  assert_int_equal(seen->strange, 0);
  assert_int_equal(seen->faults, 0);
}

/* -- writers --------------------------------------------------------------- */

typedef struct writer_s {
  pthread_t thread;
  const live_bpf_producer_t *producer;
  int cpu;
  uint64_t nr;
  int code;
  atomic_int is_done;
} writer_t;

static void *write_all(void *arg) {
  writer_t *writer = arg;

  writer->code =
      live_bpf_producer_run_on(writer->producer, writer->cpu, writer->nr);
  atomic_store(&writer->is_done, 1);
  return NULL;
}

/* Writes nr payloads on each CPU, while the loop runs. Then delivers what is
 * left, and compares. */
static void write_and_compare(seen_t *seen, const live_bpf_producer_t *producer,
                              uint64_t nr) {
  writer_t writers[MOST_CPUS] = {{0}};
  int cpus[MOST_CPUS];
  size_t nr_cpus = live_cpus(cpus, MOST_CPUS);
  uint64_t refused = 0, written = 0;
  size_t i, running;

  for (i = 0; i < nr_cpus; i++) {
    writers[i].producer = producer;
    writers[i].cpu = cpus[i];
    writers[i].nr = nr;
    assert_int_equal(
        pthread_create(&writers[i].thread, NULL, write_all, &writers[i]), 0);
  }
  do {
    uv_run(seen->loop, UV_RUN_NOWAIT);
    running = 0;
    for (i = 0; i < nr_cpus; i++)
      running += !atomic_load(&writers[i].is_done);
  } while (running != 0);
  for (i = 0; i < nr_cpus; i++) {
    pthread_join(writers[i].thread, NULL);
    assert_int_equal(writers[i].code, 0);
    written += live_bpf_producer_runs(producer, cpus[i]);
    refused += live_bpf_producer_gave(producer, cpus[i], -EAGAIN);
  }
  if (!uvperf_is_closing(&seen->reader.handle))
    uvperf_flush(&seen->reader.handle);
  print_message("%llu written, %llu refused, %llu delivered\n",
                (unsigned long long)written, (unsigned long long)refused,
                (unsigned long long)seen->records);
  assert_int_equal(written, nr * nr_cpus);
  if (seen->stop_after == 0)
    assert_int_equal(seen->records + refused, written);
}

static void records_of_all_cpus_come_whole(void **state) {
  live_bpf_producer_t producer;
  seen_t seen;
  int map = live_bpf_ring_make(__func__, 1 << 16);

  live_bpf_producer_open_ring(&producer, map, 16, 3000);
  begin(&seen, *state, map, &producer);
  start(&seen, 0);
  write_and_compare(&seen, &producer, 20000);
  end(&seen);
  live_bpf_producer_close(&producer);
  close(map);
}

/* -- reserve --------------------------------------------------------------- */

static void discarded_records_are_skipped(void **state) {
  live_bpf_reserve_t reserve;
  uvperf_stats_t stats;
  seen_t seen;
  int map = live_bpf_ring_make(__func__, 1 << 16);

  live_bpf_reserve_open(&reserve, map, 40);
  begin(&seen, *state, map, NULL);
  start(&seen, -1);
  reserve.state->discard = 1;
  assert_int_equal(live_bpf_reserve_run(&reserve, 1000), 0);
  while (seen.records < 500)
    uv_run(*state, UV_RUN_ONCE);
  uvperf_stats(&seen.reader.handle, &stats);
  assert_int_equal(stats.records, 500);
  assert_int_equal(stats.bytes, 1000 * 48);
  end(&seen);
  live_bpf_reserve_close(&reserve);
  close(map);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(records_of_all_cpus_come_whole),
      support_loop_test(discarded_records_are_skipped),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
