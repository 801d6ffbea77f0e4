/* SPDX-License-Identifier: MIT */
/* What the tests that follow cilium/ebpf's share: a reader of a map of its own,
 * payloads as those of cilium's tests, and the one CPU that hands them out. */
#ifndef UVPERF_TEST_CILIUM_READER_H
#define UVPERF_TEST_CILIUM_READER_H

#include "live_bpf_reader.h"

typedef struct cilium_world_s cilium_world_t;
struct cilium_world_s {
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
  void (*on_sample)(cilium_world_t *world);
  void *hook_data;
};

/* Rings of a page, which is what cilium's tests ask for; and such that each
 * sample wakes, or each second. */
uvperf_bpf_reader_options_t cilium_world_page(void);
uvperf_bpf_reader_options_t cilium_world_each_one(void);
uvperf_bpf_reader_options_t cilium_world_every_second(void);

/* Opens it, not started. Skips as live_bpf_array_make. */
void cilium_world_open(uv_loop_t *loop, cilium_world_t *world, const char *test,
                       const uvperf_bpf_reader_options_t *options);
/* Starts it; NULL for live_bpf_reader_plain. */
void cilium_world_start(cilium_world_t *world,
                        const uvperf_stream_options_t *options);
/* Closes all, and fails the test if anything but samples and losses came. */
void cilium_world_close(cilium_world_t *world);
/* The same where the reader is closed. */
void cilium_world_close_rest(cilium_world_t *world);

/* Hands out a payload as theirs are, its size, a number, and 0xff: what the
 * helper gave. */
int cilium_world_put_out(cilium_world_t *world, uint8_t size, uint8_t number);
/* The last sample is that one. */
void cilium_world_expect(const cilium_world_t *world, uint8_t size,
                         uint8_t number);

/* Runs the loop until so many samples have come, and no more. */
void cilium_world_wait_for(cilium_world_t *world, uint64_t samples);
/* Nothing comes by itself for so long, and waiting goes on. */
void cilium_world_silence(cilium_world_t *world, uint64_t ms);
/* The first turns after a start look at the rings anyway: runs these. */
void cilium_world_settle(cilium_world_t *world);

#endif
