/* SPDX-License-Identifier: MIT */
/* BPF ring buffers, and a program that reserves records in them. Programs that
 * write numbered payloads are in live_bpf_array.h. */
#ifndef UVPERF_TEST_LIVE_BPF_RING_H
#define UVPERF_TEST_LIVE_BPF_RING_H

#include <stddef.h>
#include <stdint.h>

#include "support.h"

/* Returns the fd of a ring buffer of this number of bytes. Skips the test if
 * there can be none (before Linux 5.8): call it before anything is opened. */
int live_bpf_ring_make(const char *test, uint32_t bytes);

/* A program that reserves a record of a constant size, stores a number in its
 * first 8 bytes, waits, and submits or discards it. */
typedef struct live_bpf_reserve_s {
  int prog;
  int map;
  volatile struct live_bpf_reserve_state_s *state;
} live_bpf_reserve_t;

struct live_bpf_reserve_state_s {
  /* Set by the test. */
  uint64_t flags;   /* BPF_RB_NO_WAKEUP… */
  uint64_t discard; /* numbers with one of these bits are discarded */
  uint64_t spin;    /* how often it reads the clock before it submits, at most
                     * LIVE_BPF_SPIN times */
  /* Counted by the program. */
  uint64_t number;  /* of the next record, also of one without room */
  uint64_t refused; /* there was no room */
};

#define LIVE_BPF_SPIN 1000

/* `size` is 8 or more. Only a program that can spin uses `spin`, if the kernel
 * accepts its loop. */
void live_bpf_reserve_open(live_bpf_reserve_t *reserve, int ring, int32_t size,
                           int can_spin);
void live_bpf_reserve_close(live_bpf_reserve_t *reserve);

/* Runs it nr times. Only one thread may run it at a time. Returns 0 or
 * -errno. */
int live_bpf_reserve_run(const live_bpf_reserve_t *reserve, uint32_t nr);

#endif
