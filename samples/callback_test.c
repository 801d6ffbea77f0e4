/* SPDX-License-Identifier: MIT */
/* Tests a record callback as the tests of your program would, also in CI. The
 * test makes most records itself, which needs no kernel and no privileges. It
 * also uses records of the kernel, if the kernel lets a process sample its own
 * page faults. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <uvperf.h>

/* -- the tested code ------------------------------------------------------- */

typedef struct summary_s {
  uint64_t begin; /* of the memory whose page faults are counted */
  size_t size;
  uint64_t faults, lost, damaged;
  int has_ended;
} summary_t;

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  summary_t *summary = handle->data;

  if (status == UV_EOF)
    summary->has_ended = 1;
  else if (status != 0 || record->type == UVPERF_RECORD_NONE)
    summary->damaged++;
  else if (record->type == PERF_RECORD_LOST)
    summary->lost += record->lost.lost;
  else if (record->type == PERF_RECORD_SAMPLE)
    summary->faults += record->addr - summary->begin < summary->size;
}

static void fill_attr(struct perf_event_attr *attr) {
  uvperf_attr_software(attr, PERF_COUNT_SW_PAGE_FAULTS);
  uvperf_attr_set_period(attr, 1);
  attr->sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_ADDR;
  attr->exclude_kernel = 1;
}

/* -- its tests ------------------------------------------------------------- */

#define CHECK(condition) check(condition, __LINE__)

static void check(int is_true, int line) {
  if (!is_true) {
    fprintf(stderr, "%s:%d: failed\n", __FILE__, line);
    exit(1);
  }
}

/* Layouts: enum perf_event_type in <linux/perf_event.h>. */
static struct {
  struct perf_event_header header;
  uint32_t pid, tid;
  uint64_t addr;
} sample = {{PERF_RECORD_SAMPLE, 0, sizeof(sample)}, 12, 13, 0x5000};

static struct {
  struct perf_event_header header;
  uint64_t id, lost;
} lost = {{PERF_RECORD_LOST, 0, sizeof(lost)}, 1, 7};

/* Calls back as a handle does. */
static void feed(uvperf_decoder_t *decoder, uvperf_handle_t *handle,
                 const void *bytes, size_t size) {
  const uvperf_record_t *record;
  int status = uvperf_decode(decoder, bytes, size, &record);

  on_record(handle, status, record);
}

static void test_with_made_records(void) {
  summary_t summary = {.begin = 0x5000, .size = 0x1000};
  uvperf_handle_t handle = {.data = &summary}; /* on_record uses only this */
  uvperf_record_t none = {.type = UVPERF_RECORD_NONE};
  uvperf_source_t source = {.size = sizeof(source)};
  const uvperf_source_t *sources[] = {&source};
  struct perf_event_attr attr;
  uvperf_decoder_t *decoder;

  fill_attr(&attr);
  source.attr = &attr;
  CHECK(uvperf_decoder_new(&decoder, sources, 1) == 0);
  feed(decoder, &handle, &sample, sizeof(sample));
  sample.addr = 0x6000; /* after the memory */
  feed(decoder, &handle, &sample, sizeof(sample));
  feed(decoder, &handle, &lost, sizeof(lost));
  sample.header.size = 16; /* without its address */
  feed(decoder, &handle, &sample, sizeof(sample));
  on_record(&handle, UV_EOF, &none);
  uvperf_decoder_free(decoder);
  CHECK(summary.faults == 1 && summary.lost == 7);
  CHECK(summary.damaged == 1 && summary.has_ended);
  printf("made records: passed\n");
}

static void test_with_records_of_the_kernel(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  uv_loop_t *loop = uv_default_loop();
  summary_t summary = {.size = 10 * page};
  struct perf_event_attr attr;
  uvperf_error_t error;
  uvperf_event_t event;
  volatile char *memory;
  size_t i;

  fill_attr(&attr);
  if (uvperf_event_init(loop, &event, &attr, NULL, &error) != 0) {
    CHECK(error.cause == UVPERF_CAUSE_PERMISSION ||
          error.cause == UVPERF_CAUSE_NO_PERF); /* else a test would be lost */
    printf("records of the kernel: skipped: %s\n", error.reason);
    return;
  }
  memory = mmap(NULL, summary.size, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(memory != MAP_FAILED);
  summary.begin = (uintptr_t)memory;
  event.handle.data = &summary;
  CHECK(uvperf_start(&event.handle, NULL, on_record, &error) == 0);
  for (i = 0; i < summary.size; i += page)
    memory[i] = 1;
  CHECK(uvperf_disable(&event.handle, 0, NULL) == 0);
  CHECK(uvperf_flush(&event.handle) == 0); /* delivers without the loop */
  uvperf_close(&event.handle, NULL);
  uv_run(loop, UV_RUN_DEFAULT);
  CHECK(uv_loop_close(loop) == 0);
  munmap((void *)(uintptr_t)memory, summary.size);
  CHECK(summary.faults == 10 && summary.lost == 0 && summary.damaged == 0);
  printf("records of the kernel: passed\n");
}

int main(void) {
  /* The library may have another version than the headers. Minor versions of
   * 0.x are not compatible. */
  CHECK(uvperf_version() >> 8 == UVPERF_VERSION_HEX >> 8);
  test_with_made_records();
  test_with_records_of_the_kernel();
  CHECK(fflush(stdout) == 0 && !ferror(stdout));
  return 0;
}
