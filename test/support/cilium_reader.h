/* SPDX-License-Identifier: MIT */
/* What the tests that follow cilium/ebpf's share: a reader of a map of its own,
 * payloads as those of cilium's tests, and the one CPU that hands them out. */
#ifndef UVPERF_TEST_CILIUM_READER_H
#define UVPERF_TEST_CILIUM_READER_H

#include "live_bpf_reader.h"

typedef struct cilium_reader_s cilium_reader_t;
struct cilium_reader_s {
  live_bpf_reader_t live;
  int cpu; /* on which the caller stays */
  cpu_set_t old;
  uint64_t callbacks;
  uint64_t samples; /* records with data */
  uint64_t losses;  /* records that tell a loss */
  /* The last sample, and as much of its data as there is room for. */
  int32_t sample_cpu;
  uint64_t remaining;
  size_t size;
  uint8_t data[512];
  /* Called with each sample, when it is here; may be NULL. */
  void (*on_sample)(cilium_reader_t *cilium);
  void *hook_data;
};

/* Rings of a page, which is what cilium's tests ask for; and such that each
 * sample wakes, or each second. */
uvperf_bpf_reader_options_t cilium_reader_page(void);
uvperf_bpf_reader_options_t cilium_reader_each_one(void);
uvperf_bpf_reader_options_t cilium_reader_every_second(void);

/* Opens it, not started. Skips as live_bpf_array_make. */
void cilium_reader_open(uv_loop_t *loop, cilium_reader_t *cilium,
                        const char *test,
                        const uvperf_bpf_reader_options_t *options);
/* Starts it; NULL for live_bpf_reader_plain. */
void cilium_reader_start(cilium_reader_t *cilium,
                         const uvperf_stream_options_t *options);
/* Closes all, and fails the test if anything but samples and losses came. */
void cilium_reader_close(cilium_reader_t *cilium);
/* The same where the reader is closed. */
void cilium_reader_close_rest(cilium_reader_t *cilium);

/* Hands out a payload as theirs are, its size, a number, and 0xff: what the
 * helper gave. */
int cilium_reader_put_out(cilium_reader_t *cilium, uint8_t size,
                          uint8_t number);
/* The last sample is that one. */
void cilium_reader_expect(const cilium_reader_t *cilium, uint8_t size,
                          uint8_t number);

/* Runs the loop until so many samples have come, and no more. */
void cilium_reader_wait_for(cilium_reader_t *cilium, uint64_t samples);
/* Nothing comes by itself for so long, and waiting goes on. */
void cilium_reader_silence(cilium_reader_t *cilium, uint64_t ms);
/* The first turns after a start look at the rings anyway: runs these. */
void cilium_reader_run_pending(cilium_reader_t *cilium);

#endif
