/* SPDX-License-Identifier: MIT */
/* Two rings that the kernel writes from two CPUs while they are merged. */
#include "support.h"

#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <time.h>

#include <linux/perf_event.h>

#include "decode/decoder.h"
#include "decode/merge.h"
#include "live_thread.h"
#include "sys/sys.h"

#define PRODUCERS 2
#define RENAMES   60000

/* A thread that renames itself, and the ring in which the kernel records
 * that. */
typedef struct producer_s {
  live_thread_t thread;
  int cpu;
  uint32_t produced;
  int is_done;
  int fd;
  uint64_t id;
  uvperf_source_t source;
  uvperf__ring_t ring;
  uint32_t heard;  /* the number in the name that came last */
  uint32_t comms;  /* received */
  uint64_t lost;   /* lost, by LOST records */
  int is_unsorted; /* a name came before an older one */
} producer_t;

typedef struct stream_s {
  struct perf_event_attr attr;
  uvperf_decoder_t *decoder;
  uvperf__merge_t *merge;
  uint64_t scratch[UVPERF__RING_SCRATCH_BYTES / sizeof(uint64_t)];
  producer_t producers[PRODUCERS];
  uint64_t latest; /* time */
  uint64_t late;   /* counted here */
  uint64_t reported_late;
  uint64_t beyond; /* younger than the horizon */
} stream_t;

static stream_t stream;

static void rename_to(uint32_t number) {
  char name[16];

  snprintf(name, sizeof(name), "m%u", number);
  prctl(PR_SET_NAME, name);
}

static void produce(void *arg) {
  producer_t *producer = arg;
  uint32_t i, nr = producer->produced == 0 ? RENAMES : 1;
  cpu_set_t set;

  CPU_ZERO(&set);
  CPU_SET((size_t)producer->cpu, &set);
  sched_setaffinity(0, sizeof(set), &set);
  for (i = 0; i < nr; i++)
    rename_to(++producer->produced);
  __atomic_store_n(&producer->is_done, 1, __ATOMIC_RELEASE);
}

static void init_attr(void) {
  struct perf_event_attr *attr = &stream.attr;

  attr->size = sizeof(*attr);
  attr->type = PERF_TYPE_SOFTWARE;
  attr->config = PERF_COUNT_SW_DUMMY;
  attr->comm = 1;
  attr->exclude_kernel = 1;
  attr->sample_id_all = 1;
  attr->sample_type =
      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
  attr->use_clockid = 1;
  attr->clockid = CLOCK_MONOTONIC;
}

static void open_producer(producer_t *producer) {
  live_thread_start(&producer->thread, produce, producer);
  producer->fd = uvperf__sys_open(&stream.attr, (pid_t)producer->thread.tid, -1,
                                  -1, PERF_FLAG_FD_CLOEXEC);
  assert_true(producer->fd >= 0);
  assert_int_equal(
      uvperf__sys_ioctl_ptr(producer->fd, PERF_EVENT_IOC_ID, &producer->id), 0);
  /* 16 pages: it laps, and loses records. */
  assert_int_equal(uvperf__ring_map(&producer->ring, producer->fd,
                                    16 * support_page_bytes(), 0),
                   0);
  producer->source.size = sizeof(producer->source);
  producer->source.attr = &stream.attr;
  producer->source.ids = &producer->id;
  producer->source.nr_ids = 1;
  assert_int_equal(uvperf__decoder_add(stream.decoder, &producer->source), 0);
  assert_int_equal(uvperf__merge_add(stream.merge, &producer->ring, NULL), 0);
}

static void close_producer(producer_t *producer) {
  live_thread_end(&producer->thread);
  uvperf__ring_unmap(&producer->ring);
  assert_int_equal(uvperf__sys_close(producer->fd), 0);
}

static uint64_t now(void) {
  struct timespec time;

  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void hear(const uvperf__merged_t *merged) {
  producer_t *producer = &stream.producers[merged->ring];
  const uvperf_record_t *record;
  uint32_t number;

  assert_int_equal(
      uvperf_decode(stream.decoder, merged->bytes, merged->size, &record), 0);
  assert_ptr_equal(record->source, &producer->source);
  assert_int_equal(merged->has_time, 1);
  assert_true(merged->time == record->time);
  if (record->type == PERF_RECORD_LOST) {
    producer->lost += record->lost.lost;
    return;
  }
  assert_int_equal(record->type, PERF_RECORD_COMM);
  assert_int_equal(record->tid, producer->thread.tid);
  number = (uint32_t)strtoul(record->comm.comm + 1, NULL, 10);
  producer->is_unsorted |= number <= producer->heard;
  producer->heard = number;
  producer->comms++;
}

static size_t take(uint64_t horizon) {
  uvperf__merged_t merged;
  size_t taken = 0;
  int rc;

  uvperf__merge_heads(stream.merge);
  uvperf__merge_begin(stream.merge, 0, UINT64_MAX);
  while ((rc = uvperf__merge_next(stream.merge, horizon, &merged)) == 1) {
    hear(&merged);
    stream.beyond += merged.time > horizon;
    if (merged.time < stream.latest)
      stream.late++;
    else
      stream.latest = merged.time;
    stream.reported_late +=
        (unsigned)uvperf__merge_consume(stream.merge, &merged);
    taken++;
  }
  uvperf__merge_end(stream.merge);
  assert_int_equal(rc, 0);
  return taken;
}

static int are_done(void) {
  size_t i;

  for (i = 0; i < PRODUCERS; i++)
    if (!__atomic_load_n(&stream.producers[i].is_done, __ATOMIC_ACQUIRE))
      return 0;
  return 1;
}

static void merge_of_two_real_rings_is_in_order_and_complete(void **state) {
  int cpus[PRODUCERS];
  size_t nr_cpus, i;

  (void)state;
  support_need_own_events(__func__);
  memset(&stream, 0, sizeof(stream));
  nr_cpus = live_cpus(cpus, PRODUCERS);
  init_attr();
  assert_int_equal(uvperf__decoder_make(&stream.decoder), 0);
  assert_int_equal(uvperf__merge_new(&stream.merge, stream.decoder), 0);
  stream.merge->scratch = stream.scratch;
  for (i = 0; i < PRODUCERS; i++) {
    stream.producers[i].cpu = cpus[i % nr_cpus];
    open_producer(&stream.producers[i]);
  }
  for (i = 0; i < PRODUCERS; i++)
    live_thread_go(&stream.producers[i].thread);
  while (!are_done())
    take(now() - 50000);
  for (i = 0; i < PRODUCERS; i++)
    live_thread_wait(&stream.producers[i].thread);
  take(UINT64_MAX);
  /* One more, after which LOST reports what did not fit before. */
  for (i = 0; i < PRODUCERS; i++)
    live_thread_do(&stream.producers[i].thread);
  take(UINT64_MAX);
  assert_int_equal(take(UINT64_MAX), 0);
  for (i = 0; i < PRODUCERS; i++) {
    producer_t *producer = &stream.producers[i];

    assert_int_equal(producer->heard, RENAMES + 1);
    assert_int_equal(producer->comms + producer->lost, RENAMES + 1);
    assert_int_equal(producer->is_unsorted, 0);
    close_producer(producer);
  }
  print_message("%u and %u came, %llu late\n", stream.producers[0].comms,
                stream.producers[1].comms, (unsigned long long)stream.late);
  assert_int_equal(stream.beyond, 0);
  assert_true(stream.reported_late == stream.late);
  uvperf__merge_free(stream.merge);
  uvperf_decoder_free(stream.decoder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(merge_of_two_real_rings_is_in_order_and_complete),
  };

  return cmocka_run_group_tests(tests, NULL, NULL);
}
