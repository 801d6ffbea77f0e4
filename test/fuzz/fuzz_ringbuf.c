/* SPDX-License-Identifier: MIT */
/* libFuzzer's target for the reader of a BPF ring buffer: any bytes in the ring
 * and any positions, read by callbacks, by next and by snapshots.
 *
 *   CC=clang cmake -S . -B build/fuzz -DUVPERF_FUZZ=ON
 *   make -C build/fuzz fuzz_ringbuf
 *   mkdir -p build/corpus_ringbuf
 *   build/fuzz/test/fuzz/fuzz_ringbuf -max_total_time=300 build/corpus_ringbuf
 *
 * Its findings go into build/corpus_ringbuf. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/bpf.h"
#include "uvperf.h"

#define PAGE         4096
#define RING_BYTES   4096
#define RB_OVERWRITE (1u << 19)

/* A ring that is read, and one that overwrites. */
typedef struct subject_s {
  int memory;         /* the pages of consumer and producer, and the data */
  uint64_t *consumer; /* the same memory, for the fuzzer */
  uint64_t *producer;
  uint8_t *data;
  uvperf_bpf_reader_t reader;
} subject_t;

static subject_t subjects[2];
static subject_t *opened; /* the one whose map is opened */
static uv_loop_t loop;

/* -- the kernel ------------------------------------------------------------ */

int __wrap_uvperf__sys_bpf_info(int fd, uvperf__bpf_map_info_t *info);
int __wrap_uvperf__sys_bpf_map_by_id(uint32_t id, uint32_t flags);
int __wrap_uvperf__sys_mmap(void **address, size_t size, int prot, int fd,
                            off_t offset);
int __wrap_uvperf__sys_munmap(void *address, size_t size);

int __wrap_uvperf__sys_bpf_info(int fd, uvperf__bpf_map_info_t *info) {
  memset(info, 0, sizeof(*info));
  info->type = 27; /* BPF_MAP_TYPE_RINGBUF */
  info->max_entries = RING_BYTES;
  info->map_flags = opened == &subjects[1] ? RB_OVERWRITE : 0;
  return 0;
}

int __wrap_uvperf__sys_bpf_map_by_id(uint32_t id, uint32_t flags) {
  return eventfd(0, EFD_CLOEXEC);
}

/* The data twice, as the kernel maps them. Then comes a page that cannot be
 * read. */
int __wrap_uvperf__sys_mmap(void **address, size_t size, int prot, int fd,
                            off_t offset) {
  uint8_t *at =
      mmap(NULL, size + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  size_t first = size == PAGE ? PAGE : PAGE + RING_BYTES;

  if (at == MAP_FAILED || mmap(at, first, prot, MAP_SHARED | MAP_FIXED,
                               opened->memory, offset) == MAP_FAILED)
    abort();
  if (first != size &&
      mmap(at + first, RING_BYTES, prot, MAP_SHARED | MAP_FIXED, opened->memory,
           (off_t)(2 * PAGE)) == MAP_FAILED)
    abort();
  *address = at;
  return 0;
}

int __wrap_uvperf__sys_munmap(void *address, size_t size) {
  return munmap(address, size + PAGE);
}

/* -- reading --------------------------------------------------------------- */

static void check_record(const uvperf_record_t *record) {
  static volatile uint8_t sink;
  const uint8_t *data = record->sample.raw.data;
  uint32_t size = record->sample.raw.size;

  if (record->type == UVPERF_RECORD_NONE)
    return;
  if (size > RING_BYTES - 8 || record->remaining > RING_BYTES)
    abort();
  if (size != 0)
    sink = (uint8_t)(data[0] + data[size - 1]);
}

static void on_record(uvperf_handle_t *handle, int status,
                      const uvperf_record_t *record) {
  check_record(record);
}

static void subject_open(subject_t *subject) {
  uvperf_bpf_reader_options_t options = UVPERF_BPF_READER_OPTIONS_INIT;

  opened = subject;
  *subject->consumer = *subject->producer = subject->producer[2] = 0;
  if (subject == &subjects[1])
    options.flags = UVPERF_BPF_READER_OVERWRITE;
  if (uvperf_bpf_reader_init(&loop, &subject->reader, 0, &options, NULL) != 0 ||
      uvperf_start(&subject->reader.handle, NULL, on_record, NULL) != 0)
    abort();
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  subject_t *subject;
  size_t i;

  uv_loop_init(&loop);
  for (i = 0; i < 2; i++) {
    subject = &subjects[i];
    subject->memory = memfd_create("ringbuf", MFD_CLOEXEC);
    if (ftruncate(subject->memory, 2 * PAGE + RING_BYTES) != 0)
      abort();
    subject->consumer =
        mmap(NULL, 2 * PAGE + RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED,
             subject->memory, 0);
    subject->producer = subject->consumer + PAGE / sizeof(uint64_t);
    subject->data = (uint8_t *)subject->producer + PAGE;
    subject_open(subject);
  }
  return 0;
}

/* Reads the ring in the way that `how` says. */
static void subject_read(subject_t *subject, unsigned int how) {
  uvperf_handle_t *handle = &subject->reader.handle;
  const uvperf_record_t *record;
  int rc;

  if (subject == &subjects[1]) {
    uvperf_snapshot(handle, how & 3, NULL, NULL);
    return;
  }
  if (how & 1) {
    uvperf_flush(handle);
    return;
  }
  uvperf_stop(handle);
  while ((rc = uvperf_next(handle, &record)) == 0 || rc == UV_EPROTO)
    check_record(record);
  uvperf_start(handle, NULL, on_record, NULL);
}

/* Two bytes say what is done, and four where the positions go. Then come bytes
 * of the ring, from the producer's position on. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  subject_t *subject;
  uint16_t moves[2];
  size_t at;

  if (size < 6)
    return 0;
  subject = &subjects[bytes[0] & 1];
  memcpy(moves, bytes + 2, sizeof(moves));
  for (at = 6; at < size && at < 6 + RING_BYTES; at++)
    subject->data[(*subject->producer + at - 6) % RING_BYTES] = bytes[at];
  *subject->producer += moves[0];
  if (bytes[0] & 2)
    *subject->producer &= ~UINT64_C(7);
  if (bytes[0] & 1)
    subject->producer[2] = *subject->producer - moves[1];
  else if (bytes[0] & 4)
    *subject->consumer += moves[1];
  subject_read(subject, bytes[1]);
  if (*subject->producer % 8 == 0)
    return 0;
  /* A head between two records has ended the ring. */
  uvperf_close(&subject->reader.handle, NULL);
  uv_run(&loop, UV_RUN_NOWAIT);
  subject_open(subject);
  return 0;
}
