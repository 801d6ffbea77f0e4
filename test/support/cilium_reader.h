/* SPDX-License-Identifier: MIT */
/* Shared by the tests that follow cilium/ebpf's: a reader of a map of its own,
 * payloads like those of cilium's tests, and the one CPU that sends them. */
#ifndef UVPERF_TEST_CILIUM_READER_H
#define UVPERF_TEST_CILIUM_READER_H

#include "live_bpf_reader.h"

typedef struct cilium_reader_s cilium_reader_t;
struct cilium_reader_s {
  live_bpf_reader_t live;
  int cpu; /* the caller is pinned to it */
  cpu_set_t old;
  uint64_t callbacks;
  uint64_t samples; /* records with data */
  uint64_t losses;  /* LOST records */
  /* The last sample, and as much of its data as fits. */
  int32_t sample_cpu;
  uint64_t remaining;
  size_t size;
  uint8_t data[512];
  /* Called with each sample after it was noted; may be NULL. */
  void (*on_sample)(cilium_reader_t *cilium);
  void *hook_data;
};

/* Options for rings of one page, as cilium's tests use; the others wake for
 * each sample, or for every second one. */
uvperf_bpf_reader_options_t cilium_reader_page(void);
uvperf_bpf_reader_options_t cilium_reader_each_one(void);
uvperf_bpf_reader_options_t cilium_reader_every_second(void);

/* Opens the reader, not started. Skips as live_bpf_array_make. */
void cilium_reader_open(uv_loop_t *loop, cilium_reader_t *cilium,
                        const char *test,
                        const uvperf_bpf_reader_options_t *options);
/* Starts it; options NULL means live_bpf_reader_plain. */
void cilium_reader_start(cilium_reader_t *cilium,
                         const uvperf_stream_options_t *options);
/* Closes everything. Fails the test if anything but samples and losses came. */
void cilium_reader_close(cilium_reader_t *cilium);
/* The same if the reader is already closed. */
void cilium_reader_close_rest(cilium_reader_t *cilium);

/* Sends a payload like theirs: its size, a number, and 0xff. Returns what the
 * BPF helper returned. */
int cilium_reader_put_out(cilium_reader_t *cilium, uint8_t size,
                          uint8_t number);
/* Fails the test unless the last sample is this one. */
void cilium_reader_expect(const cilium_reader_t *cilium, uint8_t size,
                          uint8_t number);

/* Runs the loop until this number of samples has come, and no more. */
void cilium_reader_wait_for(cilium_reader_t *cilium, uint64_t samples);
/* Runs the loop for ms; nothing may come meanwhile, and the reader stays
 * active. */
void cilium_reader_silence(cilium_reader_t *cilium, uint64_t ms);
/* Runs the first turns after a start, which drain the rings without a
 * wakeup. */
void cilium_reader_run_pending(cilium_reader_t *cilium);

#endif
