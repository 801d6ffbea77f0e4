/* SPDX-License-Identifier: MIT */
#include "record_live.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "record/synth.h"
#include "tool_run.h"

static char *const args[] = {(char *)"record", (char *)"-e",
                             (char *)"cpu-clock", NULL};

/* perf(1) requires the same sample_type for all events. */
static void clock_attr(struct perf_event_attr *attr) {
  uvperf_attr_software(attr, PERF_COUNT_SW_CPU_CLOCK);
  uvperf_attr_set_period(attr, 1000000);
  attr->sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP |
                      PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
                      PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW;
  attr->sample_id_all = 1;
  attr->read_format = PERF_FORMAT_ID;
  attr->use_clockid = 1;
  attr->clockid = CLOCK_MONOTONIC;
  attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
}

static void hits_attr(struct perf_event_attr *attr, uint64_t tracepoint) {
  clock_attr(attr);
  uvperf_attr_set_period(attr, 1);
  attr->type = PERF_TYPE_TRACEPOINT;
  attr->config = tracepoint;
  attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 0;
}

static void init(uv_loop_t *loop, uvperf_event_t *event,
                 const struct perf_event_attr *attr, uint32_t flags) {
  uvperf_event_options_t options = UVPERF_EVENT_OPTIONS_INIT;
  uvperf_error_t error;

  options.flags = UVPERF_EVENT_IDENTIFY | flags;
  if (uvperf_event_init(loop, event, attr, &options, &error) != 0)
    fail_msg("%s", error.reason);
}

/* Does the recorded work: sets a name, maps a program, hits the tracepoint, and
 * uses the CPU long enough for some samples. */
static void work(const record_live_t *live) {
  struct timespec begin, now;
  void *mapping;
  FILE *file;

  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);

  prctl(PR_SET_NAME, "recorded");
  file = fopen("/proc/self/exe", "re");
  assert_non_null(file);
  mapping =
      mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(file), 0);
  assert_true(mapping != MAP_FAILED);
  live_syscall(live->hits);
  do
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec <
         begin.tv_nsec + 20000000);
  munmap(mapping, 4096);
  fclose(file);
}

static void count(record_live_t *live, const uvperf_record_t *record) {
  live->written[record->type]++;
  if (record->type != PERF_RECORD_SAMPLE)
    return;
  assert_non_null(record->source);
  if (record->source->attr->type != PERF_TYPE_TRACEPOINT) {
    live->clock_samples++;
    return;
  }
  if (live->hit_samples++ == 0)
    live->first_time = record->time;
  live->last_time = record->time;
}

typedef struct writing_s {
  record_live_t *live;
  record_file_t *file;
} writing_t;

static int write_synthesized(void *arg, const void *bytes, size_t size) {
  writing_t *writing = arg;
  struct perf_event_header header;

  memcpy(&header, bytes, sizeof(header));
  assert_int_equal(header.size, size);
  assert_true(header.type < RECORD_LIVE_TYPES);
  writing->live->written[header.type]++;
  return record_file_write(writing->file, bytes, size);
}

static void synthesize(writing_t *writing, const struct perf_event_attr *attr) {
  int32_t one[] = {(int32_t)live_tid(), 0};
  common_ids_t tids = {one, 1, 1}, cpus = {one + 1, 1, 1};
  record_synth_t synth = {write_synthesized, writing, attr, 0, 0, 0, NULL, 0};

  assert_int_equal(record_synth_kernel(&synth), 0);
  assert_int_equal(record_synth_thread_map(&synth, &tids), 0);
  assert_int_equal(record_synth_cpu_map(&synth, &cpus), 0);
  assert_int_equal(record_synth_all(&synth), 0);
}

static uint64_t id_of(uvperf_event_t *event) {
  uvperf_count_t value;

  assert_int_equal(uvperf_event_read(event, &value, NULL), 0);
  assert_true(value.id != 0);
  return value.id;
}

static void write_records(writing_t *writing, uvperf_event_t *event) {
  const uvperf_record_t *record;
  int rc;

  while ((rc = uvperf_next(&event->handle, &record)) == 0) {
    count(writing->live, record);
    assert_int_equal(
        record_file_write(writing->file, record->bytes, record->size), 0);
  }
  assert_int_equal(rc, UV_EAGAIN);
  assert_int_equal(record_file_round(writing->file), 0);
}

static void add(const record_live_t *live, record_file_t *file,
                uvperf_event_t *event, const char *name) {
  size_t index;

  index =
      record_file_add_event(file, uvperf_handle_attr(&event->handle, 0), name);
  if (live->late_id != index + 1)
    record_file_add_id(file, index, id_of(event));
}

/* Copies the file in the state that a kill would leave now. */
static void copy(const record_live_t *live) {
  tool_run_t run = {.args = {"/bin/cp", live->path, live->synced}};

  tool_run_exits(&run, 0);
}

static void close_event(uv_loop_t *loop, uvperf_event_t *event) {
  uvperf_close(&event->handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
}

void record_live_make(const char *test, uv_loop_t *loop, record_live_t *live) {
  uvperf_event_t clock, hits;
  struct perf_event_attr attr;
  writing_t writing = {live, NULL};
  uint64_t tracepoint = 0;

  support_need_kernel_side(test);
  if (!live->without_tracepoint)
    tracepoint = support_need_tracepoint(test, LIVE_SYSCALL);
  clock_attr(&attr);
  init(loop, &clock, &attr, 0);
  if (!live->without_tracepoint) {
    hits_attr(&attr, tracepoint);
    init(loop, &hits, &attr, UVPERF_EVENT_NO_RING);
    assert_int_equal(uvperf_event_set_output(&hits, &clock, NULL), 0);
  }
  writing.file = record_file_open(live->path);
  assert_non_null(writing.file);
  add(live, writing.file, &clock, "cpu-clock:pppH");
  if (!live->without_tracepoint)
    add(live, writing.file, &hits, LIVE_SYSCALL);
  if (live->is_group)
    record_file_set_group(writing.file, 0, 2);
  synthesize(&writing, uvperf_handle_attr(&clock.handle, 0));
  if (live->late_id != 0)
    assert_int_equal(record_file_sync(writing.file), 0);
  assert_int_equal(uvperf_enable(&clock.handle, 0, NULL), 0);
  if (!live->without_tracepoint)
    assert_int_equal(uvperf_enable(&hits.handle, 0, NULL), 0);
  work(live);
  if (!live->without_tracepoint)
    assert_int_equal(uvperf_disable(&hits.handle, 0, NULL), 0);
  assert_int_equal(uvperf_disable(&clock.handle, 0, NULL), 0);
  if (live->late_id != 0)
    record_file_add_id(writing.file, live->late_id - 1,
                       id_of(live->late_id == 1 ? &clock : &hits));
  write_records(&writing, &clock);
  if (live->synced != NULL) {
    assert_int_equal(record_file_sync(writing.file), 0);
    copy(live);
  }
  assert_int_equal(record_file_close(writing.file, (char **)(uintptr_t)args),
                   0);
  close_event(loop, &clock);
  if (!live->without_tracepoint)
    close_event(loop, &hits);
}
