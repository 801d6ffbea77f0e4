/* SPDX-License-Identifier: MIT */
/* The cost of a record from the ring to the callback, or to the caller of
 * uvperf_next, in memory: without wakeups and the kernel. The yardsticks read
 * the same bytes and call the same callback: a walk from header to header, the
 * same touching each byte once, and a reader written for just this attr. */
#include <stdlib.h>
#include <string.h>

#include "bare_ring.h"
#include "bench.h"
#include "benchmarks.h"
#include "ring_image.h"

#define PASSES     24 /* of the ring, in a run */
#define CACHE_LINE 64

#define WHERE                                                                  \
  (PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |     \
   PERF_SAMPLE_PERIOD)
#define FIXED      (WHERE | PERF_SAMPLE_ID)
#define IDENTIFIED (WHERE | PERF_SAMPLE_IDENTIFIER)

typedef struct subject_s {
  ring_image_t image;
  uvperf_record_cb cb; /* read from memory, so that it stays a call */
  /* On a cache line of its own: otherwise its neighbours would affect the cost
   * of counting at random. */
  _Alignas(CACHE_LINE) uint64_t delivered;
  /* The yardsticks'. */
  _Alignas(CACHE_LINE) struct perf_event_mmap_page page;
  uvperf_record_t record;
  uint64_t sum;
  bare_ring_t bare;
} subject_t;

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  subject_t *subject = handle->data;

  subject->delivered += 1;
}

/* -- contenders ----------------------------------------------------------- */

static int check_run(subject_t *subject, uint64_t before, double began,
                     double *values) {
  uint64_t nr = subject->image.nr * PASSES;

  values[0] = (bench_cpu_ns() - began) / (double)nr;
  return subject->delivered - before == nr
             ? 0
             : bench_fail("a reader", "has not delivered all");
}

static int run_uvperf(void *arg, double *values) {
  subject_t *subject = arg;
  ring_image_t *image = &subject->image;
  uint64_t before = subject->delivered;
  double began = bench_cpu_ns();
  int i;

  for (i = 0; i < PASSES; i++) {
    ring_image_offer(image);
    uvperf_flush(&image->events[0].handle);
  }
  return check_run(subject, before, began, values);
}

static int run_next(void *arg, double *values) {
  subject_t *subject = arg;
  ring_image_t *image = &subject->image;
  uint64_t before = subject->delivered;
  double began = bench_cpu_ns();
  const uvperf_record_t *record;
  int i;

  for (i = 0; i < PASSES; i++) {
    ring_image_offer(image);
    while (uvperf_next(&image->events[0].handle, &record) == 0)
      subject->delivered += 1;
  }
  return check_run(subject, before, began, values);
}

/* For the yardsticks: reads the bytes of the ring between tail and head. Head
 * and tail are in a page of their own, because the library's tail is its
 * own. */
typedef void (*reader_fn)(subject_t *subject, const uint8_t *data,
                          uint64_t tail, uint64_t head);

static int run_reader(subject_t *subject, reader_fn read, double *values) {
  struct perf_event_mmap_page *page = &subject->page;
  uint64_t before = subject->delivered;
  double began = bench_cpu_ns();
  uint64_t head;
  int i;

  for (i = 0; i < PASSES; i++) {
    page->data_head += RING_IMAGE_BYTES;
    head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
    read(subject, subject->image.data, page->data_tail, head);
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
  }
  return check_run(subject, before, began, values);
}

/* Whole records only, so that no header goes round the end of the ring; and the
 * image fills the ring, so that no record does. */
static const struct perf_event_header *header_at(const uint8_t *data,
                                                 uint64_t tail) {
  return (const struct perf_event_header *)(data +
                                            (tail & (RING_IMAGE_BYTES - 1)));
}

static void walk(subject_t *subject, const uint8_t *data, uint64_t tail,
                 uint64_t head) {
  const struct perf_event_header *header;
  uvperf_record_cb cb = subject->cb;

  while (tail != head) {
    header = header_at(data, tail);
    cb(&subject->image.events[0].handle, 0, &subject->record);
    tail += header->size;
  }
}

static int run_walk(void *arg, double *values) {
  return run_reader(arg, walk, values);
}

static void touch(subject_t *subject, const uint8_t *data, uint64_t tail,
                  uint64_t head) {
  const struct perf_event_header *header;
  uvperf_record_cb cb = subject->cb;
  uint64_t sum = 0;
  const uint64_t *word, *end;

  while (tail != head) {
    header = header_at(data, tail);
    word = (const uint64_t *)header;
    end = word + header->size / sizeof(*word);
    for (; word != end; word++)
      sum += *word;
    cb(&subject->image.events[0].handle, 0, &subject->record);
    tail += header->size;
  }
  subject->sum += sum;
}

static int run_touch(void *arg, double *values) {
  return run_reader(arg, touch, values);
}

/* A reader of samples with BARE_RING_SAMPLE_TYPE only. The rest of the ring is
 * filled with another record, which is skipped. */
static void on_sample(void *arg, const bare_sample_t *sample) {
  subject_t *subject = arg;

  subject->delivered += 1;
}

static int run_by_hand(void *arg, double *values) {
  subject_t *subject = arg;
  uint64_t before = subject->delivered;
  double began = bench_cpu_ns();
  int i;

  subject->bare.tail = subject->page.data_tail;
  for (i = 0; i < PASSES; i++) {
    subject->page.data_head += RING_IMAGE_BYTES;
    bare_ring_drain(&subject->bare);
    subject->delivered += subject->image.nr_fillers;
  }
  return check_run(subject, before, began, values);
}

/* -- cases ---------------------------------------------------------------- */

typedef struct case_s {
  const char *name;
  double bound;  /* against the walk; 0: none */
  uint32_t type; /* 0: PERF_RECORD_SAMPLE */
  /* For each attr, up to the first that is 0. */
  uint64_t sample_types[RING_IMAGE_ATTRS];
  uint64_t callchain_nr;
  uint32_t raw_size;
} case_t;

static const case_t cases[] = {
    {.name = "sample, 56 bytes", .bound = 1.7, .sample_types = {FIXED}},
    {.name = "16 frames, 192 bytes",
     .bound = 2.5,
     .sample_types = {FIXED | PERF_SAMPLE_CALLCHAIN},
     .callchain_nr = 16},
    {.name = "64 frames, 576 bytes",
     .bound = 2.5,
     .sample_types = {FIXED | PERF_SAMPLE_CALLCHAIN},
     .callchain_nr = 64},
    {.name = "of a tracepoint",
     .sample_types = {FIXED | PERF_SAMPLE_RAW},
     .raw_size = 36},
    {.name = "of a BPF program",
     .sample_types = {PERF_SAMPLE_RAW},
     .raw_size = 68},
    {.name = "MMAP2 with trailer",
     .type = PERF_RECORD_MMAP2,
     .sample_types = {FIXED}},
    {.name = "two attrs, same fields",
     .bound = 2.5,
     .sample_types = {IDENTIFIED, IDENTIFIED}},
    {.name = "two attrs, other fields",
     .bound = 2.5,
     .sample_types = {IDENTIFIED, IDENTIFIED | PERF_SAMPLE_ADDR}},
};

static size_t nr_attrs_of(const case_t *about) {
  size_t nr = 0;

  while (nr < RING_IMAGE_ATTRS && about->sample_types[nr] != 0)
    nr++;
  return nr;
}

/* In an order that a branch predictor cannot learn. */
static void fill(ring_image_t *image, const case_t *about,
                 const struct perf_event_attr *attrs) {
  static record_builder_t builder;
  record_values_t values;
  uint64_t state = 1;
  size_t which;

  record_values_init(&values);
  values.callchain_nr = about->callchain_nr;
  values.raw_size = about->raw_size;
  values.text = "/usr/lib/x86_64-linux-gnu/libc.so.6";
  do {
    which = record_random(&state) % nr_attrs_of(about);
    values.time += 1000;
    values.id = ring_image_id(image, which);
    record_build(&builder, about->type != 0 ? about->type : PERF_RECORD_SAMPLE,
                 &attrs[which], &values);
  } while (ring_image_put(image, &builder));
  ring_image_fill(image);
}

static int open_case(subject_t *subject, const case_t *about) {
  struct perf_event_attr attrs[RING_IMAGE_ATTRS];
  size_t nr_attrs = nr_attrs_of(about);
  size_t i;

  memset(subject, 0, sizeof(*subject));
  for (i = 0; i < nr_attrs; i++) {
    uvperf_attr_software(&attrs[i], PERF_COUNT_SW_DUMMY);
    attrs[i].sample_period = 1; /* otherwise a callback is refused */
    attrs[i].sample_type = about->sample_types[i];
    attrs[i].sample_id_all = 1;
  }
  subject->cb = on_record;
  if (ring_image_open(&subject->image, attrs, nr_attrs, on_record, subject) !=
      0)
    return 1;
  fill(&subject->image, about, attrs);
  subject->bare.page = &subject->page;
  subject->bare.data = subject->image.data;
  subject->bare.size = RING_IMAGE_BYTES;
  subject->bare.cb = on_sample;
  subject->bare.arg = subject;
  return 0;
}

static int run_case(bench_report_t *report, const case_t *about) {
  static const bench_metric_t metric = {"CPU per record", "ns"};
  static subject_t subject;
  const bench_contender_t contenders[] = {
      {"uvperf", run_uvperf, &subject, {0}},
      {"header walk", run_walk, &subject, {about->bound}},
      {"each byte once", run_touch, &subject, {0}},
      {"by uvperf_next", run_next, &subject, {0}},
      {"written by hand", run_by_hand, &subject, {0}},
  };
  int has_hand = about->sample_types[0] == BARE_RING_SAMPLE_TYPE;
  const bench_comparison_t comparison = {about->name, &metric, 1, contenders,
                                         has_hand ? 5 : 4};
  int rc;

  if (open_case(&subject, about) != 0)
    return 1;
  rc = bench_compare(report, &comparison);
  ring_image_close(&subject.image);
  return rc;
}

static int run(bench_report_t *report) {
  size_t i;
  int rc = 0;

  for (i = 0; i < sizeof(cases) / sizeof(cases[0]) && rc == 0; i++)
    rc = run_case(report, &cases[i]);
  return rc;
}

const bench_t bench_decode = {
    "decode", "a record in memory, from the ring to the callback", run};
