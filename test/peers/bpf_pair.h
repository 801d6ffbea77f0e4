/* SPDX-License-Identifier: MIT */
/* A uvperf_bpf_reader_t and a perf_buffer of libbpf, side by side: one program
 * writes the same payloads into two maps, one for each reader. The rings have
 * the same size and the same wakeups. The pair notes the records that each
 * reader delivers. */
#ifndef UVPERF_TEST_BPF_PAIR_H
#define UVPERF_TEST_BPF_PAIR_H

#include "live_bpf.h"

#include <stdatomic.h>

#include <bpf/libbpf.h>

#include "../bench/bpf_numbered.h"
#include "uvperf.h"

#define BPF_PAIR_CPUS 64

/* A record as its reader delivered it. */
typedef struct bpf_pair_heard_s {
  uint64_t number; /* of a whole payload; of a loss: its count */
  uint64_t hash;   /* of all bytes except the padding */
  uint32_t size;   /* 0: a loss */
} bpf_pair_heard_t;

typedef struct bpf_pair_ear_s {
  bpf_pair_heard_t *heard;
  size_t nr;
  size_t room;
  uint64_t payloads;
  uint64_t lost;
  /* The number of payloads whose place in the ring is free again, because the
   * loop has turned since they came. Producers check this number. */
  atomic_uint_fast64_t read;
} bpf_pair_ear_t;

/* The plan for both readers. */
typedef struct bpf_pair_plan_s {
  uint32_t least, most;  /* bytes of a payload */
  uint32_t pages;        /* of the maps; 0: enough */
  uint32_t wakeup_bytes; /* 0: each record */
  uint32_t entries;      /* of the maps; 0: enough */
} bpf_pair_plan_t;

enum {
  BPF_PAIR_OURS,
  BPF_PAIR_THEIRS,
  BPF_PAIR_SIDES
};

typedef struct bpf_pair_s {
  bpf_numbered_t numbered;
  uvperf_bpf_reader_t ours;
  int is_closed;
  struct perf_buffer *theirs;
  uv_timer_t look; /* checks libbpf's rings */
  bpf_pair_ear_t ears[BPF_PAIR_SIDES][BPF_PAIR_CPUS];
  uint64_t corrupt; /* UV_EPROTO with a record */
  uint64_t strange; /* anything that no test expects */
} bpf_pair_t;

/* Makes both readers and starts ours. libbpf's rings are checked each
 * millisecond. Skips the test if privileges are missing, so call it before
 * anything is opened. */
bpf_pair_t *bpf_pair_open(const char *test, uv_loop_t *loop,
                          const bpf_pair_plan_t *plan);
/* Closes and frees both readers. Fails the test if anything strange has
 * come. */
void bpf_pair_close(uv_loop_t *loop, bpf_pair_t *pair);

/* Sends payloads on a CPU. The thread is not pinned afterwards. */
void bpf_pair_send(bpf_pair_t *pair, int cpu, uint32_t nr);

/* Runs the loop until both have delivered everything in the rings. Returns 1,
 * or 0 after 20 seconds. */
int bpf_pair_read(uv_loop_t *loop, bpf_pair_t *pair, const int *cpus,
                  size_t nr_cpus);

/* Expects that both readers delivered the same records of a CPU in the same
 * order. */
void bpf_pair_assert_same(const bpf_pair_t *pair, int cpu);

/* Expects that all payloads of a CPU were delivered in order, or reported as
 * lost at the right place. */
void bpf_pair_assert_complete(const bpf_pair_t *pair, int side, int cpu);

#endif
