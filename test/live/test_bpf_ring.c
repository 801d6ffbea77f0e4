/* SPDX-License-Identifier: MIT */
/* Live: BPF programs write into a ring buffer. What the reader delivers, with
 * what they could not write, is what they wrote, and each record is whole.
 * UVPERF_RING_RECORDS in the environment is how many records each CPU writes in
 * each way, instead of 3,000. */
#include "live.h"
#include "live_bpf.h"
#include "live_bpf_array.h"
#include "live_bpf_ring.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define MOST_CPUS 64

/* How records are written and read. */
typedef struct way_s {
  const char *name;
  uint32_t map_bytes;
  uint32_t least, most;  /* bytes of a record */
  uint64_t flags;        /* BPF_RB_NO_WAKEUP… */
  uint32_t chunk;        /* written in one system call; then a pause */
  int callback_us;       /* how long a callback takes */
  uint64_t restart_each; /* records, after which it stops and starts again */
  int pulls;             /* uvperf_next instead of the callback */
} way_t;

/* What came. */
typedef struct seen_s {
  uvperf_bpf_reader_t reader;
  uv_loop_t *loop;
  const way_t *way;
  const live_bpf_producer_t *producer; /* NULL: records of a reserve */
  uint64_t records;
  uint64_t strange;
  uint64_t faults;
  uint64_t next[MOST_CPUS]; /* the least number that may come */
  uint64_t stops_at;        /* records; 0: never */
  int closes;               /* then, instead of a stop */
} seen_t;

static const way_t usual = {.name = "usual",
                            .map_bytes = 1 << 16,
                            .least = 16,
                            .most = 3000,
                            .chunk = 100};

static uint64_t nr_of_way(void) {
  const char *text = getenv("UVPERF_RING_RECORDS");

  return text == NULL ? 3000 : strtoull(text, NULL, 10);
}

static int is_written(seen_t *seen, const uvperf_record_t *record,
                      uint32_t *cpu, uint64_t *number) {
  live_bpf_numbered_t header = {0, 0, 0};
  uint32_t size = record->sample.raw.size;

  if (size < sizeof(header)) {
    *number = seen->next[0];
    return seen->producer == NULL || seen->way->least < sizeof(header);
  }
  memcpy(&header, record->sample.raw.data, sizeof(header));
  *number = header.number;
  *cpu = seen->producer == NULL ? 0 : header.cpu;
  return *cpu < MOST_CPUS && *number >= seen->next[*cpu] &&
         (seen->producer == NULL ||
          live_bpf_producer_check(seen->producer, -1, record->sample.raw.data,
                                  size, number));
}

static void take(seen_t *seen, const uvperf_record_t *record) {
  uint64_t number = 0;
  uint32_t cpu = 0;

  if (!is_written(seen, record, &cpu, &number) || record->cpu != UINT32_MAX ||
      record->bytes != NULL || record->type != PERF_RECORD_SAMPLE)
    seen->strange += 1;
  seen->next[cpu % MOST_CPUS] = number + 1;
  seen->records += 1;
}

static void burn(int us) {
  uint64_t end = live_now() + (uint64_t)us * 1000;

  while (live_now() < end)
    continue;
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  seen_t *seen = (seen_t *)handle;
  const way_t *way = seen->way;

  if (record->type == UVPERF_RECORD_NONE) {
    seen->faults += status != 0;
    return;
  }
  take(seen, record);
  if (way->callback_us != 0)
    burn(way->callback_us);
  if (seen->records == seen->stops_at && seen->closes)
    uvperf_close(handle, NULL);
  else if (seen->records == seen->stops_at ||
           (way->restart_each != 0 && seen->records % way->restart_each == 0))
    assert_int_equal(uvperf_stop(handle), 0);
}

static void begin(seen_t *seen, uv_loop_t *loop, const way_t *way, int map,
                  const live_bpf_producer_t *producer) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf_error_t error;

  memset(seen, 0, sizeof(*seen));
  seen->loop = loop;
  seen->way = way;
  seen->producer = producer;
  options.wakeup_events = 1;
  if (uvperf_bpf_reader_init(loop, &seen->reader, map, &options, &error) != 0)
    fail_msg("%s", error.reason);
}

static void start(seen_t *seen) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_error_t error;

  options.flush_ms = 5;
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

/* One turn. A reader that has stopped itself is started again. */
static void turn(seen_t *seen) {
  const uvperf_record_t *record;
  int rc;

  if (!seen->way->pulls) {
    if (seen->stops_at == 0 && !uvperf_is_active(&seen->reader.handle))
      start(seen);
    uv_run(seen->loop, UV_RUN_NOWAIT);
    return;
  }
  while ((rc = uvperf_next(&seen->reader.handle, &record)) == 0)
    take(seen, record);
  assert_int_equal(rc, UV_EAGAIN);
}

/* -- writers --------------------------------------------------------------- */

typedef struct writer_s {
  pthread_t thread;
  const live_bpf_producer_t *producer;
  uint32_t chunk;
  int cpu;
  uint64_t nr;
  int code;
  atomic_int is_done;
} writer_t;

static void *write_all(void *arg) {
  writer_t *writer = arg;
  uint64_t left, nr;

  for (left = writer->nr; left > 0 && writer->code == 0; left -= nr) {
    nr = writer->chunk != 0 && left > writer->chunk ? writer->chunk : left;
    writer->code = live_bpf_producer_run_on(writer->producer, writer->cpu, nr);
    if (writer->chunk != 0)
      usleep(50);
  }
  atomic_store(&writer->is_done, 1);
  return NULL;
}

/* Writes on each CPU while the loop runs. Returns how many were written and not
 * refused. */
static uint64_t write_and_read(seen_t *seen, uint64_t nr) {
  const live_bpf_producer_t *producer = seen->producer;
  writer_t writers[MOST_CPUS] = {{0}};
  int cpus[MOST_CPUS];
  size_t nr_cpus = live_cpus(cpus, MOST_CPUS);
  uint64_t refused = 0;
  size_t i, running;

  for (i = 0; i < nr_cpus; i++) {
    writers[i].producer = producer;
    writers[i].chunk = seen->way->chunk;
    writers[i].cpu = cpus[i];
    writers[i].nr = nr;
    assert_int_equal(
        pthread_create(&writers[i].thread, NULL, write_all, &writers[i]), 0);
  }
  do {
    turn(seen);
    running = 0;
    for (i = 0; i < nr_cpus; i++)
      running += !atomic_load(&writers[i].is_done);
  } while (running != 0);
  for (i = 0; i < nr_cpus; i++) {
    pthread_join(writers[i].thread, NULL);
    assert_int_equal(writers[i].code, 0);
    assert_int_equal(live_bpf_producer_runs(producer, cpus[i]), nr);
    refused += live_bpf_producer_gave(producer, cpus[i], -EAGAIN);
  }
  print_message("%s: %llu written, %llu refused, %llu delivered so far\n",
                seen->way->name, (unsigned long long)(nr * nr_cpus),
                (unsigned long long)refused, (unsigned long long)seen->records);
  return nr * nr_cpus - refused;
}

static void write_in_way(void **state, const char *test, const way_t *way) {
  live_bpf_producer_t producer;
  int map = live_bpf_ring_make(test, way->map_bytes);
  uint64_t accepted;
  uvperf_stats_t stats;
  seen_t seen;

  live_bpf_producer_open_ring(&producer, map, way->least, way->most);
  live_bpf_producer_set_flags(&producer, way->flags);
  begin(&seen, *state, way, map, &producer);
  if (!way->pulls)
    start(&seen);
  accepted = write_and_read(&seen, nr_of_way());
  while (seen.records < accepted)
    turn(&seen);
  turn(&seen);
  assert_int_equal(seen.records, accepted);
  uvperf_stats(&seen.reader.handle, &stats);
  assert_int_equal(stats.records, accepted);
  assert_int_equal(stats.corrupt + stats.skipped_bytes, 0);
  end(&seen);
  live_bpf_producer_close(&producer);
  close(map);
}

static const way_t ways[] = {
    {.name = "all CPUs",
     .map_bytes = 1 << 16,
     .least = 16,
     .most = 3000,
     .chunk = 100},
    {.name = "full speed", .map_bytes = 1 << 18, .least = 16, .most = 200},
    {.name = "less than a header",
     .map_bytes = 1 << 16,
     .least = 1,
     .most = 15,
     .chunk = 100},
    {.name = "up to 60,000 bytes",
     .map_bytes = 1 << 20,
     .least = 16,
     .most = LIVE_BPF_MOST,
     .chunk = 10},
    {.name = "one page",
     .map_bytes = 4096,
     .least = 16,
     .most = 1000,
     .chunk = 4},
    {.name = "16 MiB",
     .map_bytes = 1 << 24,
     .least = 2000,
     .most = 40000,
     .chunk = 100},
    {.name = "no wakeup",
     .map_bytes = 1 << 16,
     .least = 16,
     .most = 100,
     .flags = BPF_RB_NO_WAKEUP,
     .chunk = 100},
    {.name = "forced wakeup",
     .map_bytes = 1 << 16,
     .least = 16,
     .most = 100,
     .flags = BPF_RB_FORCE_WAKEUP,
     .chunk = 100},
    {.name = "stop and start",
     .map_bytes = 1 << 18,
     .least = 16,
     .most = 100,
     .chunk = 50,
     .restart_each = 37},
    {.name = "pull",
     .map_bytes = 1 << 16,
     .least = 16,
     .most = 3000,
     .chunk = 100,
     .pulls = 1},
    {.name = "slow callback",
     .map_bytes = 1 << 16,
     .least = 16,
     .most = 100,
     .chunk = 20,
     .callback_us = 20},
};

static void accepted_records_come_whole_in_each_way(void **state) {
  size_t i;

  for (i = 0; i < COUNT_OF(ways); i++)
    write_in_way(state, __func__, &ways[i]);
}

/* -- close ----------------------------------------------------------------- */

/* What it has not read is left for the next reader. */
static void reader_that_closes_in_a_callback_leaves_the_rest(void **state) {
  live_bpf_producer_t producer;
  int map = live_bpf_ring_make(__func__, 1 << 18);
  uint64_t accepted, before;
  seen_t seen;

  live_bpf_producer_open_ring(&producer, map, 16, 100);
  begin(&seen, *state, &usual, map, &producer);
  seen.stops_at = 100;
  seen.closes = 1;
  start(&seen);
  accepted = write_and_read(&seen, 1000);
  end(&seen);
  assert_int_equal(seen.records, 100);
  before = seen.records;
  begin(&seen, *state, &usual, map, &producer);
  start(&seen);
  assert_int_equal(uvperf_flush(&seen.reader.handle), 0);
  assert_int_equal(before + seen.records, accepted);
  end(&seen);
  live_bpf_producer_close(&producer);
  close(map);
}

/* -- reserve --------------------------------------------------------------- */

static void *reserve_all(void *arg) {
  const live_bpf_reserve_t *reserve = arg;

  live_bpf_reserve_run(reserve, 1000);
  return NULL;
}

/* Every second record is discarded, and each is busy for some microseconds. */
static void records_that_are_busy_or_discarded_hold_up_or_go(void **state) {
  live_bpf_reserve_t reserve;
  pthread_t thread;
  uvperf_stats_t stats;
  seen_t seen;
  int map = live_bpf_ring_make(__func__, 1 << 16);

  live_bpf_reserve_open(&reserve, map, 40, 1);
  begin(&seen, *state, &usual, map, NULL);
  start(&seen);
  reserve.state->discard = 1;
  reserve.state->spin = LIVE_BPF_SPIN;
  assert_int_equal(pthread_create(&thread, NULL, reserve_all, &reserve), 0);
  while (seen.records + reserve.state->refused < 500)
    turn(&seen);
  pthread_join(thread, NULL);
  assert_int_equal(uvperf_flush(&seen.reader.handle), 0);
  assert_int_equal(reserve.state->refused, 0);
  uvperf_stats(&seen.reader.handle, &stats);
  assert_int_equal(stats.records, 500);
  assert_int_equal(stats.bytes, 1000 * 48);
  end(&seen);
  live_bpf_reserve_close(&reserve);
  close(map);
}

/* The programs' own count is in the statistics. */
static void records_without_room_are_counted(void **state) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;
  uvperf_bpf_counter_t lost = {
      .offset = offsetof(struct live_bpf_reserve_state_s, refused)};
  live_bpf_reserve_t reserve;
  uvperf_bpf_reader_t reader;
  uvperf_stats_t stats;
  uvperf_error_t error;
  int map = live_bpf_ring_make(__func__, 4096);

  live_bpf_reserve_open(&reserve, map, 1000, 0);
  lost.map_fd = reserve.map;
  options.lost = &lost;
  if (uvperf_bpf_reader_init(*state, &reader, map, &options, &error) != 0)
    fail_msg("%s", error.reason);
  assert_int_equal(live_bpf_reserve_run(&reserve, 10), 0);
  uvperf_stats(&reader.handle, &stats);
  assert_int_equal(stats.lost_records, 6);
  assert_int_equal(stats.lost_is_read, 1);
  uvperf_close(&reader.handle, NULL);
  uv_run(*state, UV_RUN_DEFAULT);
  live_bpf_reserve_close(&reserve);
  close(map);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(accepted_records_come_whole_in_each_way),
      support_loop_test(reader_that_closes_in_a_callback_leaves_the_rest),
      support_loop_test(records_that_are_busy_or_discarded_hold_up_or_go),
      support_loop_test(records_without_room_are_counted),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
