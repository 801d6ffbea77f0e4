/* SPDX-License-Identifier: MIT */
/* Live: a set of root's in the order of time, beside hostile processes. Some
 * without privileges sample page faults with clocks and fields of their own,
 * rename themselves, map files with odd names and fork. Then one with
 * privileges damages rings by BPF payloads that no record can hold. Delivery
 * never stops. */
#include "live_stream.h"

#include <unistd.h>

#include "live_bpf_array.h"
#include "live_thread.h"
#include "live_neighbour.h"
#include "set/internal.h"

#define NS_PER_MS UINT64_C(1000000)

/* How long a record may take to its callback: until the next check, plus the
 * slack, plus a foreign clock that is too little ahead to be recognized. The
 * rest is for a busy machine: two CPUs, on which neighbours, beats and other
 * tests run beside the loop. */
#define FLUSH_MS 100
#define SLACK_MS 1
#define AHEAD_MS 1
#define BUSY_MS  2000
#define BOUND_NS ((FLUSH_MS + SLACK_MS + AHEAD_MS + BUSY_MS) * NS_PER_MS)

/* No two clocks of the kernel are this far apart by chance. */
#define FAR_NS (UINT64_C(3600000) * NS_PER_MS)

#define QUIET_MS  4000 /* without oversized payloads */
#define SPOILT_MS 6000 /* with them, */
#define SPOIL_MS  300  /* one each */

/* A payload that no record can hold writes over its own header in it. */
#define RING_BYTES 65536

#define CPUS       2
#define NEIGHBOURS 3

/* The index of an attr. Their samples have one layout, so that each can be
 * decoded when its id is a neighbour's. */
enum {
  FAULTS,
  BEATS,
  OUTPUT
};
#define FIELDS (PERF_SAMPLE_TID | PERF_SAMPLE_RAW)

/* A thread that makes a system call every millisecond, on one CPU, and the
 * records of that. */
typedef struct heart_s {
  live_thread_t thread;
  int cpu;
  int is_over;
  uint64_t beats;      /* calls made */
  uint64_t delivered;  /* and records received */
  uint64_t last_ns;    /* when the last came */
  uint64_t longest_ns; /* between two that came, */
  uint64_t delay_ns;   /* and from a call to its callback */
} heart_t;

typedef struct fixture_s {
  uv_loop_t *loop;
  live_stream_t stream;
  live_plan_t plan;
  heart_t hearts[CPUS];
  size_t nr_cpus;
  live_neighbour_t neighbours[NEIGHBOURS];
  int array; /* BPF */
  live_bpf_output_t output;
  live_worker_t spoiler;
  uint64_t comms, mmaps, forks;
  uint64_t far;    /* samples with a time that is far from now */
  uint64_t faults; /* callbacks without a record that name a CPU of ours */
} fixture_t;

static fixture_t fixture;

/* -- beats ----------------------------------------------------------------- */

static void beat(void *arg) {
  heart_t *heart = arg;
  cpu_set_t cpus;

  CPU_ZERO(&cpus);
  CPU_SET((size_t)heart->cpu, &cpus);
  sched_setaffinity(0, sizeof(cpus), &cpus);
  while (!__atomic_load_n(&heart->is_over, __ATOMIC_ACQUIRE)) {
    live_syscall(1);
    heart->beats += 1;
    usleep(1000);
  }
}

static void start_beats(void) {
  size_t i;

  for (i = 0; i < fixture.nr_cpus; i++) {
    fixture.hearts[i].is_over = 0;
    fixture.hearts[i].last_ns = live_now();
    live_thread_go(&fixture.hearts[i].thread);
  }
}

static void stop_beats(void) {
  size_t i;

  for (i = 0; i < fixture.nr_cpus; i++) {
    __atomic_store_n(&fixture.hearts[i].is_over, 1, __ATOMIC_RELEASE);
    live_thread_wait(&fixture.hearts[i].thread);
  }
}

static void hear(const uvperf_record_t *record) {
  uint64_t now = live_now();
  heart_t *heart;
  size_t i;

  for (i = 0; i < fixture.nr_cpus; i++) {
    heart = &fixture.hearts[i];
    if (record->tid != heart->thread.tid)
      continue;
    heart->delivered += 1;
    if (now - heart->last_ns > heart->longest_ns)
      heart->longest_ns = now - heart->last_ns;
    heart->last_ns = now;
    if (now > record->time && now - record->time > heart->delay_ns)
      heart->delay_ns = now - record->time;
  }
}

/* -- delivery -------------------------------------------------------------- */

static int is_ours(int cpu) {
  size_t i;

  for (i = 0; i < fixture.nr_cpus; i++)
    if (fixture.hearts[i].cpu == cpu)
      return 1;
  return 0;
}

static int is_far(uint64_t time, uint64_t now) {
  return time > now + FAR_NS || time + FAR_NS < now;
}

/* The kernel can write a neighbour's time into our samples, but none is
 * delivered with it. */
static void see_time(const uvperf_record_t *record) {
  uint64_t now = live_now(), written;

  if (!(record->present & PERF_SAMPLE_TIME))
    return;
  assert_false(is_far(record->time, now));
  if (record->type != PERF_RECORD_SAMPLE)
    return;
  /* After the header, the id and the task. */
  memcpy(&written, (const uint8_t *)record->bytes + 24, sizeof(written));
  fixture.far += (uint64_t)is_far(written, now);
}

static void see(live_stream_t *stream, const uvperf_record_t *record) {
  if (record->type == UVPERF_RECORD_NONE) {
    fixture.faults += (uint64_t)is_ours((int)record->cpu);
    return;
  }
  see_time(record);
  fixture.comms += record->type == PERF_RECORD_COMM;
  fixture.mmaps += record->type == PERF_RECORD_MMAP2;
  fixture.forks += record->type == PERF_RECORD_FORK;
  if (record->type == PERF_RECORD_SAMPLE && record->source != NULL &&
      record->source->attr_index == BEATS)
    hear(record);
}

static void plan_set(uint64_t tracepoint) {
  live_plan_t *plan = &fixture.plan;
  struct perf_event_attr *attr;

  live_stream_plan(plan);
  live_stream_plan_mode(plan, 1);
  plan->options.wakeup_bytes = 0;
  plan->options.ring_bytes = RING_BYTES;
  plan->options.slack_us = SLACK_MS * 1000;
  plan->options.side_band = UVPERF_SIDE_BAND_TASKS | UVPERF_SIDE_BAND_MMAP;
  live_touch_attr(live_plan_attr(plan), FIELDS);
  live_syscall_attr(live_plan_attr(plan), tracepoint, FIELDS);
  attr = live_plan_attr(plan);
  uvperf_attr_software(attr, PERF_COUNT_SW_BPF_OUTPUT);
  uvperf_attr_set_period(attr, 1);
  attr->sample_type = FIELDS;
  live_stream_plan_target(plan, UVPERF_TARGET_CPUS, 0);
}

/* Where programs on a CPU find the set's event. */
static void put_outputs(void) {
  uvperf_set_t *set = &fixture.stream.live.set;
  const uvperf_reading_t *reading;
  const uvperf_place_t *place;
  size_t i;

  live_set_read(&fixture.stream.live, OUTPUT);
  reading = fixture.stream.live.reading;
  for (i = 0; i < uvperf_reading_info(reading)->nr_places; i++) {
    place = uvperf_reading_place(reading, i);
    assert_int_equal(
        live_bpf_array_put(fixture.array, (uint32_t)place->cpu,
                           uvperf_set_fd(set, OUTPUT, place->serial)),
        0);
  }
}

static void open_set(uint64_t tracepoint) {
  uvperf_stream_options_t options = UVPERF_STREAM_OPTIONS_INIT;
  uvperf_error_t error;
  char filter[128];
  size_t i, length = 0;

  plan_set(tracepoint);
  live_stream_open(fixture.loop, &fixture.stream, &fixture.plan.options);
  for (i = 0; i < fixture.nr_cpus; i++)
    length += (size_t)snprintf(filter + length, sizeof(filter) - length,
                               "%scommon_pid == %u", i > 0 ? " || " : "",
                               fixture.hearts[i].thread.tid);
  assert_int_equal(uvperf_apply_filter(&fixture.stream.live.set.handle, BEATS,
                                       filter, &error),
                   0);
  put_outputs();
  fixture.stream.on_record = see;
  options.flush_ms = FLUSH_MS;
  live_stream_start(&fixture.stream, &options);
}

static uvperf_stats_t stats_now(void) {
  uvperf_stats_t stats;

  uvperf_stats(&fixture.stream.live.set.handle, &stats);
  return stats;
}

/* -- the neighbours -------------------------------------------------------- */

static void start_neighbours(void) {
  const live_neighbour_plan_t plans[NEIGHBOURS] = {
      {0, CLOCK_REALTIME,
       PERF_SAMPLE_TID | PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, 1},
      {0, LIVE_NEIGHBOUR_NO_CLOCK,
       PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_ADDR | PERF_SAMPLE_IDENTIFIER, 1},
      {0, CLOCK_MONOTONIC_RAW, PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CPU, 0}};
  live_neighbour_plan_t plan;
  size_t i;

  for (i = 0; i < NEIGHBOURS; i++) {
    plan = plans[i];
    plan.cpu = fixture.hearts[i % fixture.nr_cpus].cpu;
    live_neighbour_start(&fixture.neighbours[i], &plan);
  }
}

/* One payload on each CPU. */
static void spoil(void *arg) {
  static uint8_t payload[LIVE_BPF_TOO_MUCH];
  size_t i;

  memset(payload, 0xab, sizeof(payload));
  for (i = 0; i < fixture.nr_cpus; i++)
    live_bpf_output_on(&fixture.output, fixture.hearts[i].cpu, payload,
                       sizeof(payload));
}

/* -- the test -------------------------------------------------------------- */

static void print_phase(const char *name) {
  uvperf_stats_t stats = stats_now();
  size_t i;

  print_message(
      "%s: %llu records, %llu corrupt, %llu bad times, %llu late, "
      "%llu lost, %llu bytes of surplus, %llu skipped, %llu comms, "
      "%llu maps, %llu forks\n",
      name, (unsigned long long)stats.records,
      (unsigned long long)stats.corrupt, (unsigned long long)stats.bad_times,
      (unsigned long long)stats.late_records,
      (unsigned long long)stats.lost_records,
      (unsigned long long)stats.surplus_bytes,
      (unsigned long long)stats.skipped_bytes,
      (unsigned long long)fixture.comms, (unsigned long long)fixture.mmaps,
      (unsigned long long)fixture.forks);
  for (i = 0; i < fixture.nr_cpus; i++)
    print_message("  CPU %d: %llu of %llu beats, longest gap %llu us, longest "
                  "delay %llu us\n",
                  fixture.hearts[i].cpu,
                  (unsigned long long)fixture.hearts[i].delivered,
                  (unsigned long long)fixture.hearts[i].beats,
                  (unsigned long long)(fixture.hearts[i].longest_ns / 1000),
                  (unsigned long long)(fixture.hearts[i].delay_ns / 1000));
}

static void expect_no_stop(void) {
  uint64_t now = live_now();
  size_t i;

  for (i = 0; i < fixture.nr_cpus; i++) {
    assert_true(fixture.hearts[i].delivered > 0);
    assert_true(fixture.hearts[i].longest_ns < BOUND_NS);
    assert_true(fixture.hearts[i].delay_ns < BOUND_NS);
    assert_true(now - fixture.hearts[i].last_ns < BOUND_NS);
  }
}

/* Each beat came or is lost. */
static void run_quiet_phase(void) {
  uint64_t made = 0, came = 0;
  uvperf_stats_t stats;
  size_t i;

  start_beats();
  live_run_ms(fixture.loop, QUIET_MS);
  stop_beats();
  assert_int_equal(uvperf_flush(&fixture.stream.live.set.handle), 0);
  print_phase("without oversized payloads");
  expect_no_stop();
  stats = stats_now();
  assert_int_equal(stats.skipped_bytes, 0);
  assert_int_equal(stats.corrupt, 0);
  assert_true(fixture.far > 0);
  assert_true(stats.bad_times >= fixture.far);
  assert_true(stats.surplus_bytes > 0);
  assert_true(fixture.comms > 0 && fixture.mmaps > 0 && fixture.forks > 0);
  for (i = 0; i < fixture.nr_cpus; i++) {
    made += fixture.hearts[i].beats;
    came += fixture.hearts[i].delivered;
  }
  assert_int_equal(came + live_set_read(&fixture.stream.live, BEATS).lost,
                   made);
}

static void run_spoilt_phase(void) {
  uvperf_stats_t stats;
  int left;

  start_beats();
  for (left = SPOILT_MS; left > 0; left -= SPOIL_MS) {
    live_worker_do(&fixture.spoiler);
    live_run_ms(fixture.loop, SPOIL_MS);
  }
  stop_beats();
  assert_int_equal(uvperf_flush(&fixture.stream.live.set.handle), 0);
  print_phase("with oversized payloads");
  expect_no_stop();
  stats = stats_now();
  assert_true(stats.skipped_bytes > 0);
  assert_true(fixture.faults > 0);
  assert_int_equal(fixture.faults, fixture.stream.faults);
  assert_int_equal(fixture.stream.fault, UV_EPROTO);
}

/* Each byte that the kernel wrote was delivered or is counted as skipped. */
static void expect_exact_heads(void) {
  uvperf_set_t *set = &fixture.stream.live.set;
  const set_t *impl = set->handle.impl;
  uvperf__cpu_rings_t *rings = uvperf__evlist_rings(impl->evlist);
  uvperf_ring_info_t ring;
  uvperf_error_t error;
  size_t i;

  assert_int_equal(uvperf_disable(&set->handle, UVPERF_ALL, &error), 0);
  assert_int_equal(uvperf_flush(&set->handle), 0);
  for (i = 0; i < uvperf_nr_rings(&set->handle); i++) {
    assert_int_equal(uvperf_ring(&set->handle, i, &ring), 0);
    assert_int_equal(ring.waiting, 0);
    assert_int_equal(ring.stats.bytes + ring.stats.skipped_bytes,
                     uvperf__ring_head(&uvperf__cpu_rings_at(rings, i)->ring));
  }
}

/* The neighbours are forked before anything is open that they could inherit. */
static void begin(const char *test, uv_loop_t *loop) {
  uint64_t tracepoint;
  int cpus[CPUS];
  size_t i;

  support_need_root(test);
  live_neighbour_need_shared_samples(test);
  tracepoint = support_need_tracepoint(test, LIVE_SYSCALL);
  memset(&fixture, 0, sizeof(fixture));
  fixture.loop = loop;
  fixture.array = live_bpf_array_make(test, 0);
  fixture.nr_cpus = live_cpus(cpus, CPUS);
  for (i = 0; i < fixture.nr_cpus; i++)
    fixture.hearts[i].cpu = cpus[i];
  live_bpf_output_open(&fixture.output, fixture.array);
  live_worker_fork(&fixture.spoiler, spoil, NULL);
  start_neighbours();
  for (i = 0; i < fixture.nr_cpus; i++)
    live_thread_start(&fixture.hearts[i].thread, beat, &fixture.hearts[i]);
  open_set(tracepoint);
}

static void end(void) {
  size_t i;

  for (i = 0; i < NEIGHBOURS; i++)
    live_neighbour_end(&fixture.neighbours[i]);
  live_worker_end(&fixture.spoiler);
  for (i = 0; i < fixture.nr_cpus; i++)
    live_thread_end(&fixture.hearts[i].thread);
  live_stream_close(&fixture.stream);
  live_bpf_output_close(&fixture.output);
  close(fixture.array);
}

static void set_beside_hostile_neighbours_goes_on(void **state) {
  begin(__func__, *state);
  run_quiet_phase();
  run_spoilt_phase();
  expect_exact_heads();
  end();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      support_loop_test(set_beside_hostile_neighbours_goes_on),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
